//! Live criterion processes, stepped benchmark by benchmark over a socket.
//!
//! criterion then neither analyses nor plots nor writes files, and after each benchmark it waits to be
//! told to continue.

use std::collections::HashSet;
use std::io::{ErrorKind, Read, Write};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::path::Path;
use std::time::{Duration, Instant};

use crate::build::Launch;
use crate::harness::output::Output;
use crate::harness::patience::{Patience, seconds};
use crate::harness::{Benchmarks, Effort, Failure, ProcessResult, Session, Step, Wanted};
use crate::lockstep::{Attachment, Unfit};
use crate::model::{Measurement, Sample, TimeLimits};
use crate::system::process::{Process, describe_exit};
use crate::system::{Result, interrupt};

use super::own_time::OwnTimes;
use super::protocol::{Decoder, Incoming, Outgoing, ProtocolError, RUNNER_HELLO, RawId, Version};
use super::{Extent, filter};

/// A filter that matches nothing: every benchmark then says its id and is skipped.
const NOTHING: &str = "cargo-bench-compare lists the benchmarks";

/// A criterion executable with a socket.
#[derive(Debug)]
pub struct SocketBenchmarks {
    launch: Launch,
    limits: TimeLimits,
    version: Option<Version>,
    own_times: OwnTimes,
}

impl SocketBenchmarks {
    /// The executable that a launch starts.
    pub fn new(launch: Launch, limits: TimeLimits) -> Self {
        Self { launch, limits, version: None, own_times: OwnTimes::default() }
    }
}

impl Benchmarks for SocketBenchmarks {
    fn list(&mut self) -> Result<ProcessResult<Vec<String>>> {
        // Without arguments for times: which ones it accepts depends on the version, which it tells now.
        let arguments = vec![NOTHING.to_owned()];
        let started = SocketSession::start(&self.launch, &arguments, None, &self.limits)?;
        let mut session = match started {
            Ok(Some(session)) => session,
            Ok(None) => return Ok(Ok(Vec::new())),
            Err(failure) => return Ok(Err(failure)),
        };
        loop {
            match session.step()? {
                Step::Measured(_) | Step::Again => {}
                Step::Finished => break,
                Step::Failed(failure) => return Ok(Err(failure)),
            }
        }
        self.version = session.version;
        Ok(Ok(session.encountered))
    }

    fn unfit(&self) -> Option<Unfit> {
        self.launch.has_runner().then_some(Unfit::Runner)
    }

    fn start(
        &self,
        wanted: Wanted<'_>,
        effort: Effort,
        attachment: Option<&Attachment>,
        executable: Option<&Path>,
    ) -> Result<ProcessResult<Box<dyn Session>>> {
        let whole_seconds = self.version.is_some_and(|v| (v.major, v.minor) < (0, 4));
        let asked = Extent::of(effort);
        let least = if whole_seconds { asked.speed_for_seconds() } else { 1 };
        let speed = attachment.map_or(1, |_| self.own_times.speed(wanted.ids()).max(least));
        let asked = asked.at_speed(speed);
        let asked = if whole_seconds { asked.in_whole_seconds() } else { asked };
        let mut arguments: Vec<String> = filter(wanted).into_iter().collect();
        arguments.extend(asked.arguments());
        let launch = self.launch.of(executable);
        let in_step = attachment.map(|attachment| InStep {
            attachment,
            clocks: Clocks {
                speed,
                asked,
                own_times: self.own_times.clone(),
                wanted: wanted.ids().iter().cloned().collect(),
            },
        });
        let session = SocketSession::start(&launch, &arguments, in_step, &self.limits)?;
        Ok(session.map(|session| match session {
            Some(session) => Box::new(session) as Box<dyn Session>,
            None => Box::new(EndedAtOnce),
        }))
    }
}

/// A process that ended well without any criterion in it: a `main` that decided to do nothing here.
struct EndedAtOnce;

impl Session for EndedAtOnce {
    fn resume(&mut self) {}

    fn poll(&mut self, _wait: Duration, _can_run: bool) -> Result<Option<Step>> {
        Ok(Some(Step::Finished))
    }
}

/// Where the conversation with a process stands.
#[derive(Debug, Clone, PartialEq)]
enum State {
    /// It is connected, and waits for the greeting.
    Fresh,
    /// It was greeted, and has to answer.
    Greeted,
    /// It runs until it has something to say.
    Running,
    /// It has measured, with these iterations, and was asked for the times in the unit for machines.
    Converting(Vec<f64>),
    /// It waits for `Continue`.
    Parked,
    /// It is gone.
    Ended,
}

/// What a process in step gets that another does not.
struct InStep<'a> {
    attachment: &'a Attachment,
    clocks: Clocks,
}

/// The clocks that a process in step sees.
#[derive(Debug)]
struct Clocks {
    /// How many times faster they go than time itself.
    speed: u32,
    /// What it was asked for, by these clocks.
    asked: Extent,
    /// What is known of its benchmarks.
    own_times: OwnTimes,
    /// Those that it was started for.
    wanted: HashSet<String>,
}

impl Clocks {
    /// Whether the benchmark announces that it will take far longer than it could if it were started anew.
    fn are_too_slow(&self, id: &str, message: &Incoming) -> bool {
        let is_news = self.own_times.hear(id, message, &self.asked, self.speed);
        is_news && self.wanted.contains(id)
    }
}

#[derive(Debug)]
struct SocketSession {
    process: Process,
    output: Output,
    stream: TcpStream,
    decoder: Decoder,
    patience: Patience,
    /// Where they are not those of the system.
    clocks: Option<Clocks>,
    state: State,
    version: Option<Version>,
    current: Option<String>,
    encountered: Vec<String>,
    ids: HashSet<String>,
}

/// Why a conversation ended.
enum Broken {
    /// The process closed its end, which is how it says goodbye.
    Closed,
    TimedOut,
    /// A benchmark will take far longer than it has to.
    TooSlow,
    Rubbish(ProtocolError),
}

impl SocketSession {
    /// Starts the process and waits until it has connected, where it waits for the greeting. `None` if it
    /// ended well without connecting.
    fn start(
        launch: &Launch,
        arguments: &[String],
        in_step: Option<InStep<'_>>,
        limits: &TimeLimits,
    ) -> Result<ProcessResult<Option<Self>>> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
        listener.set_nonblocking(true)?;
        let mut command = launch.command(arguments);
        command.env("CARGO_CRITERION_PORT", listener.local_addr()?.port().to_string());
        if let Some(InStep { attachment, clocks }) = &in_step {
            attachment.attach_with_speed(&mut command, clocks.speed);
        }
        let clocks = in_step.map(|in_step| in_step.clocks);
        let mut output = Output::capture(&mut command)?;
        let mut process = match Process::spawn(command) {
            Ok(process) => process,
            Err(error) => {
                return Ok(Err(Failure::outside_benchmarks(format!("cannot be started: {error}"))));
            }
        };
        let timeout = limits.general();
        let deadline = Instant::now() + timeout;
        loop {
            match listener.accept() {
                Ok((stream, _)) => {
                    stream.set_nodelay(true)?;
                    return Ok(Ok(Some(Self {
                        process,
                        output,
                        stream,
                        decoder: Decoder::default(),
                        patience: Patience::new(limits.clone()),
                        clocks,
                        state: State::Fresh,
                        version: None,
                        current: None,
                        encountered: Vec::new(),
                        ids: HashSet::new(),
                    })));
                }
                Err(error) if error.kind() == ErrorKind::WouldBlock => {}
                Err(error) => return Err(error.into()),
            }
            let reason = if let Some(status) = process.exit_status()? {
                if status.success() {
                    return Ok(Ok(None));
                }
                format!("the process {} before its first benchmark", describe_exit(status))
            } else if Instant::now() >= deadline {
                process.kill();
                format!("no benchmark began within {}", seconds(timeout))
            } else {
                interrupt::check()?;
                std::thread::sleep(Duration::from_micros(500));
                continue;
            };
            return Ok(Err(Failure::outside_benchmarks(reason + &output.tail())));
        }
    }

    /// Takes what the process says as it comes, until one benchmark is measured. `None` if there is nothing
    /// more to take at present.
    fn converse(&mut self) -> std::result::Result<Option<Measurement>, Broken> {
        loop {
            if self.state == State::Greeted {
                let Some(version) = self.decoder.hello().map_err(Broken::Rubbish)? else {
                    return Ok(None);
                };
                self.version = Some(version);
                self.state = State::Running;
            }
            let Some(message) = self.decoder.message().map_err(Broken::Rubbish)? else {
                return Ok(None);
            };
            self.patience.renew(announced_by(&message));
            if let (Some(clocks), Some(id)) = (&self.clocks, &self.current)
                && clocks.are_too_slow(id, &message)
            {
                return Err(Broken::TooSlow);
            }
            if let Some(measurement) = self.answer(message)? {
                return Ok(Some(measurement));
            }
        }
    }

    /// Does what a message asks for. Gives a measurement if that completes one.
    fn answer(&mut self, message: Incoming) -> std::result::Result<Option<Measurement>, Broken> {
        match (std::mem::replace(&mut self.state, State::Running), message) {
            (State::Converting(iters), Incoming::ScaledValues { scaled_values, unit }) => {
                let Some(benchmark) = self.current.take() else {
                    return Err(rubbish("it measured a benchmark that it had not begun"));
                };
                if scaled_values.len() != iters.len() {
                    return Err(rubbish("it sent more times than iterations, or fewer"));
                }
                // What was not measured with a clock is what it says.
                let clocks = self.clocks.as_ref().filter(|_| unit == "ns");
                let speed = clocks.map_or(1.0, |clocks| f64::from(clocks.speed));
                let samples = iters
                    .into_iter()
                    .zip(scaled_values)
                    .map(|(iterations, total)| Sample { iterations, total: total / speed })
                    .collect();
                self.state = State::Parked;
                return Ok(Some(Measurement::new(benchmark, unit, samples)));
            }
            (State::Running, Incoming::BeginningBenchmark { id }) => {
                let id = self.encounter(&id);
                self.patience.begin(&id);
                self.current = Some(id);
            }
            (State::Running, Incoming::SkippingBenchmark { id }) => _ = self.encounter(&id),
            (State::Running, Incoming::FinishedBenchmarkGroup {}) => {
                self.send(&Outgoing::Continue.frame())?;
            }
            (State::Running, Incoming::MeasurementComplete { iters, times }) => {
                self.send(&Outgoing::ScaleForMachines { values: times }.frame())?;
                self.state = State::Converting(iters);
            }
            (
                State::Running,
                Incoming::BeginningBenchmarkGroup {}
                | Incoming::Warmup { .. }
                | Incoming::MeasurementStart { .. },
            ) => {}
            (_, message) => {
                return Err(rubbish(&format!("it sent a message out of turn: {message:?}")));
            }
        }
        Ok(None)
    }

    /// Notes an id, with ` #2` and so on where it has occurred before.
    fn encounter(&mut self, id: &RawId) -> String {
        let full = id.full();
        let numbered = (2..).map(|number| format!("{full} #{number}"));
        // There may be an id that looks like a second occurrence of another.
        let id = std::iter::once(full.clone())
            .chain(numbered)
            .find(|id| self.ids.insert(id.clone()))
            .expect("there is always another number");
        self.encountered.push(id.clone());
        id
    }

    fn send(&mut self, bytes: &[u8]) -> std::result::Result<(), Broken> {
        // Whatever is wrong with the socket, the process at its other end is gone.
        let sent = self.stream.set_nonblocking(false).and_then(|()| self.stream.write_all(bytes));
        sent.map_err(|_| Broken::Closed)
    }

    /// Waits at most so long for bytes to arrive. False if there are none.
    fn receive(&mut self, wait: Duration) -> std::result::Result<bool, Broken> {
        let mut buffer = [0; 16 * 1024];
        let prepared = if wait.is_zero() {
            self.stream.set_nonblocking(true)
        } else {
            self.stream
                .set_nonblocking(false)
                .and_then(|()| self.stream.set_read_timeout(Some(wait)))
        };
        match prepared.and_then(|()| self.stream.read(&mut buffer)) {
            Ok(0) => Err(Broken::Closed),
            Ok(count) => {
                self.decoder.feed(&buffer[..count]);
                acknowledge(&self.stream);
                Ok(true)
            }
            Err(error)
                if matches!(
                    error.kind(),
                    ErrorKind::WouldBlock | ErrorKind::TimedOut | ErrorKind::Interrupted
                ) =>
            {
                Ok(false)
            }
            Err(_) => Err(Broken::Closed),
        }
    }

    fn try_poll(
        &mut self,
        wait: Duration,
        can_run: bool,
    ) -> std::result::Result<Option<Measurement>, Broken> {
        if self.state == State::Ended {
            return Err(Broken::Closed);
        }
        loop {
            if let Some(measurement) = self.converse()? {
                return Ok(Some(measurement));
            }
            if !self.receive(wait)? {
                break;
            }
        }
        if self.patience.is_exhausted(can_run) { Err(Broken::TimedOut) } else { Ok(None) }
    }

    /// The connection is closed: how did the process end?
    fn conclude(&mut self) -> Result<Step> {
        let status = self.process.wait_until(Some(Instant::now() + self.patience.timeout()))?;
        let reason = match status {
            Some(status) if status.success() => match &self.current {
                None => return Ok(Step::Finished),
                Some(_) => "the process ended in the middle of it".to_owned(),
            },
            Some(status) => format!("the process {}", describe_exit(status)),
            None => {
                self.process.kill();
                format!("the process did not end within {}", seconds(self.patience.timeout()))
            }
        };
        Ok(self.failed(&reason))
    }

    fn failed(&mut self, reason: &str) -> Step {
        let reason = format!("{reason}{}", self.output.tail());
        Step::Failed(Failure { benchmark: self.current.take(), reason })
    }
}

impl Session for SocketSession {
    fn resume(&mut self) {
        self.patience.renew(Duration::ZERO);
        let (message, next) = match self.state {
            State::Fresh => (RUNNER_HELLO.to_vec(), State::Greeted),
            State::Parked => (Outgoing::Continue.frame(), State::Running),
            _ => return,
        };
        self.state = if self.send(&message).is_ok() { next } else { State::Ended };
    }

    fn poll(&mut self, wait: Duration, can_run: bool) -> Result<Option<Step>> {
        interrupt::check()?;
        let broken = match self.try_poll(wait, can_run) {
            Ok(measurement) => return Ok(measurement.map(Step::Measured)),
            Err(broken) => broken,
        };
        self.state = State::Ended;
        let why = match broken {
            Broken::Closed => return self.conclude().map(Some),
            Broken::TooSlow => {
                self.process.kill();
                return Ok(Some(Step::Again));
            }
            Broken::TimedOut => {
                format!(
                    "no sign of progress for {}; it was ended",
                    seconds(self.patience.timeout())
                )
            }
            Broken::Rubbish(ProtocolError(what)) => {
                format!("it does not follow criterion's protocol: {what}")
            }
        };
        self.process.kill();
        Ok(Some(self.failed(&why)))
    }
}

/// Says at once that bytes have arrived. criterion writes the length of a message and the message one after the other,
/// and its kernel holds the second back until the first is acknowledged, for which ours would take its time: 40 ms,
/// twice for each benchmark and side.
#[cfg(target_os = "linux")]
fn acknowledge(stream: &TcpStream) {
    use std::os::linux::net::TcpStreamExt;
    // Without it all goes well, only slower.
    _ = stream.set_quickack(true);
}

#[cfg(not(target_os = "linux"))]
fn acknowledge(_stream: &TcpStream) {}

/// How long the process says that it will take from this message to the next one.
fn announced_by(message: &Incoming) -> Duration {
    match message {
        Incoming::Warmup { nanos: nanoseconds }
        | Incoming::MeasurementStart { estimate_ns: nanoseconds, .. } => {
            Duration::try_from_secs_f64(nanoseconds / 1e9).unwrap_or(Duration::MAX)
        }
        _ => Duration::ZERO,
    }
}

fn rubbish(what: &str) -> Broken {
    Broken::Rubbish(ProtocolError(what.to_owned()))
}

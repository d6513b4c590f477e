//! Live criterion processes, stepped benchmark by benchmark over a socket.
//!
//! criterion then neither analyses nor plots nor writes files, and after each benchmark it waits to be
//! told to continue.

use std::collections::HashSet;
use std::io::{ErrorKind, Read, Write};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::time::{Duration, Instant};

use crate::build::Launch;
use crate::error::{Error, Result};
use crate::harness::output::Output;
use crate::harness::{Benchmarks, Failure, Measurement, Sample, Session, Step, Wanted};
use crate::interrupt;
use crate::process::{Process, describe_exit};

use super::protocol::{Decoder, Incoming, Outgoing, ProtocolError, RUNNER_HELLO, RawId, Version};
use super::{SHORT_TIMES, WHOLE_SECONDS, filter};

/// How often a wait looks at the process, the clock and the interrupt flag. Data wakes it at once.
const POLL: Duration = Duration::from_millis(20);

/// A filter that matches nothing: every benchmark then says its id and is skipped.
const NOTHING: &str = "cargo-bench-compare lists the benchmarks";

/// A criterion executable with a socket.
#[derive(Debug)]
pub struct SocketBenchmarks {
    launch: Launch,
    timeout: Duration,
    version: Option<Version>,
}

impl SocketBenchmarks {
    /// The executable that a launch starts.
    pub fn new(launch: Launch, timeout: Duration) -> Self {
        Self { launch, timeout, version: None }
    }
}

impl Benchmarks for SocketBenchmarks {
    fn list(&mut self) -> Result<std::result::Result<Vec<String>, Failure>> {
        // Without arguments for times: which ones it accepts depends on the version, which it tells now.
        let arguments = vec![NOTHING.to_owned()];
        let mut session = match SocketSession::start(&self.launch, &arguments, self.timeout)? {
            Ok(Some(session)) => session,
            Ok(None) => return Ok(Ok(Vec::new())),
            Err(failure) => return Ok(Err(failure)),
        };
        loop {
            match session.step()? {
                Step::Measured(_) => {}
                Step::Finished => break,
                Step::Failed(failure) => return Ok(Err(failure)),
            }
        }
        self.version = session.version;
        Ok(Ok(session.encountered))
    }

    fn start(&self, wanted: Wanted<'_>) -> Result<std::result::Result<Box<dyn Session>, Failure>> {
        let whole_seconds = self.version.is_some_and(|v| (v.major, v.minor) < (0, 4));
        let times = if whole_seconds { WHOLE_SECONDS } else { SHORT_TIMES };
        let mut arguments: Vec<String> = filter(wanted).into_iter().collect();
        arguments.extend(times.arguments());
        let session = SocketSession::start(&self.launch, &arguments, self.timeout)?;
        Ok(session.map(|session| match session {
            Some(session) => Box::new(session) as Box<dyn Session>,
            None => Box::new(EndedAtOnce),
        }))
    }
}

/// A process that ended well without any criterion in it: a `main` that decided to do nothing here.
struct EndedAtOnce;

impl Session for EndedAtOnce {
    fn step(&mut self) -> Result<Step> {
        Ok(Step::Finished)
    }
}

/// Where a process stands between two steps.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    /// Connected, and waiting for the greeting.
    Fresh,
    /// Waiting for `Continue`.
    Parked,
    /// Gone.
    Ended,
}

#[derive(Debug)]
struct SocketSession {
    process: Process,
    output: Output,
    stream: TcpStream,
    decoder: Decoder,
    timeout: Duration,
    state: State,
    version: Option<Version>,
    current: Option<String>,
    encountered: Vec<String>,
    ids: HashSet<String>,
}

/// Why a conversation ended.
enum Broken {
    Interrupted(Error),
    /// The process closed its end, which is how it says goodbye.
    Closed,
    TimedOut,
    Rubbish(ProtocolError),
}

impl SocketSession {
    /// Starts the process and waits until it has connected, where it waits for the greeting. `None` if it
    /// ended well without connecting.
    fn start(
        launch: &Launch,
        arguments: &[String],
        timeout: Duration,
    ) -> Result<std::result::Result<Option<Self>, Failure>> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
        listener.set_nonblocking(true)?;
        let mut command = launch.command(arguments);
        command.env("CARGO_CRITERION_PORT", listener.local_addr()?.port().to_string());
        let mut output = Output::capture(&mut command)?;
        let mut process = match Process::spawn(command) {
            Ok(process) => process,
            Err(error) => {
                return Ok(Err(Failure::outside_benchmarks(format!("cannot be started: {error}"))));
            }
        };
        let deadline = Instant::now() + timeout;
        loop {
            match listener.accept() {
                Ok((stream, _)) => {
                    stream.set_nonblocking(false)?;
                    stream.set_nodelay(true)?;
                    stream.set_read_timeout(Some(POLL))?;
                    return Ok(Ok(Some(Self {
                        process,
                        output,
                        stream,
                        decoder: Decoder::default(),
                        timeout,
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

    /// Goes on until one benchmark is measured.
    fn run_one(&mut self) -> std::result::Result<Measurement, Broken> {
        match self.state {
            State::Fresh => {
                self.send(RUNNER_HELLO)?;
                let deadline = Instant::now() + self.timeout;
                self.version = Some(self.receive(deadline, Decoder::hello)?);
            }
            State::Parked => self.send(&Outgoing::Continue.frame())?,
            State::Ended => return Err(Broken::Closed),
        }
        self.state = State::Ended;
        let mut announced = Duration::ZERO;
        loop {
            let deadline = Instant::now() + self.timeout + announced;
            match self.receive(deadline, Decoder::message)? {
                Incoming::BeginningBenchmark { id } => {
                    self.current = Some(self.encounter(&id));
                }
                Incoming::SkippingBenchmark { id } => _ = self.encounter(&id),
                Incoming::Warmup { nanos } => announced = nanoseconds(nanos),
                Incoming::MeasurementStart { estimate_ns } => announced = nanoseconds(estimate_ns),
                Incoming::FinishedBenchmarkGroup {} => self.send(&Outgoing::Continue.frame())?,
                Incoming::MeasurementComplete { iters, times } => {
                    let request = Outgoing::ScaleForMachines { values: times };
                    self.send(&request.frame())?;
                    let deadline = Instant::now() + self.timeout;
                    let answer = self.receive(deadline, Decoder::message)?;
                    let Incoming::ScaledValues { scaled_values, unit } = answer else {
                        return Err(unexpected(&answer));
                    };
                    let Some(benchmark) = self.current.take() else {
                        return Err(rubbish("it measured a benchmark that it had not begun"));
                    };
                    if scaled_values.len() != iters.len() {
                        return Err(rubbish("it sent more times than iterations, or fewer"));
                    }
                    let samples = iters
                        .into_iter()
                        .zip(scaled_values)
                        .map(|(iterations, total)| Sample { iterations, total })
                        .collect();
                    self.state = State::Parked;
                    return Ok(Measurement { benchmark, unit, samples });
                }
                Incoming::BeginningBenchmarkGroup {} => {}
                other => return Err(unexpected(&other)),
            }
        }
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
        self.stream.write_all(bytes).map_err(|_| Broken::Closed)
    }

    /// Waits for something that the decoder can make sense of.
    fn receive<T>(
        &mut self,
        deadline: Instant,
        decode: impl Fn(&mut Decoder) -> std::result::Result<Option<T>, ProtocolError>,
    ) -> std::result::Result<T, Broken> {
        let mut buffer = [0; 16 * 1024];
        loop {
            if let Some(value) = decode(&mut self.decoder).map_err(Broken::Rubbish)? {
                return Ok(value);
            }
            match self.stream.read(&mut buffer) {
                Ok(0) => return Err(Broken::Closed),
                Ok(count) => self.decoder.feed(&buffer[..count]),
                Err(error)
                    if matches!(
                        error.kind(),
                        ErrorKind::WouldBlock | ErrorKind::TimedOut | ErrorKind::Interrupted
                    ) =>
                {
                    interrupt::check().map_err(Broken::Interrupted)?;
                    if Instant::now() >= deadline {
                        return Err(Broken::TimedOut);
                    }
                }
                Err(_) => return Err(Broken::Closed),
            }
        }
    }

    /// The connection is closed: how did the process end?
    fn conclude(&mut self) -> Result<Step> {
        let status = self.process.wait_until(Some(Instant::now() + self.timeout))?;
        let reason = match status {
            Some(status) if status.success() => match &self.current {
                None => return Ok(Step::Finished),
                Some(_) => "the process ended in the middle of it".to_owned(),
            },
            Some(status) => format!("the process {}", describe_exit(status)),
            None => {
                self.process.kill();
                format!("the process did not end within {}", seconds(self.timeout))
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
    fn step(&mut self) -> Result<Step> {
        match self.run_one() {
            Ok(measurement) => Ok(Step::Measured(measurement)),
            Err(Broken::Interrupted(error)) => Err(error),
            Err(Broken::Closed) => self.conclude(),
            Err(Broken::TimedOut) => {
                self.process.kill();
                let text =
                    format!("no sign of progress for {}; it was ended", seconds(self.timeout));
                Ok(self.failed(&text))
            }
            Err(Broken::Rubbish(ProtocolError(what))) => {
                self.process.kill();
                Ok(self.failed(&format!("it does not follow criterion's protocol: {what}")))
            }
        }
    }
}

fn rubbish(what: &str) -> Broken {
    Broken::Rubbish(ProtocolError(what.to_owned()))
}

fn unexpected(message: &Incoming) -> Broken {
    rubbish(&format!("it sent a message out of turn: {message:?}"))
}

/// An announced time; what is no time counts as none.
fn nanoseconds(nanoseconds: f64) -> Duration {
    Duration::try_from_secs_f64(nanoseconds / 1e9).unwrap_or_default()
}

fn seconds(duration: Duration) -> String {
    humantime::format_duration(duration).to_string()
}

//! The wire format of `CARGO_CRITERION_PORT`, by which cargo-criterion drives criterion's executables.
//!
//! After a greeting from each end come frames: a big-endian u32 length, then one CBOR value. Pure: bytes
//! in, messages out.

use serde::{Deserialize, Serialize};

/// What the runner says first: its name, and a version that nobody looks at.
pub const RUNNER_HELLO: &[u8; 18] = b"cargo-criterion\x01\x01\x00";

/// What the benchmark answers: `Criterion`, its version, then protocol and format as big-endian u16.
const BENCHMARK_HELLO_LENGTH: usize = 9 + 3 + 2 + 2;

/// Frames beyond this are not criterion's.
const LARGEST_FRAME: usize = 256 << 20;

/// What a benchmark sends. Fields that nobody needs are left out.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub enum Incoming {
    /// A group begins.
    BeginningBenchmarkGroup {},
    /// A group is over; the benchmark waits for [`Outgoing::Continue`].
    FinishedBenchmarkGroup {},
    /// A benchmark begins.
    BeginningBenchmark {
        /// Which.
        id: RawId,
    },
    /// A benchmark does not match the filter.
    SkippingBenchmark {
        /// Which.
        id: RawId,
    },
    /// Its warm-up begins.
    Warmup {
        /// How long it will take.
        nanos: f64,
    },
    /// Its measurement begins.
    MeasurementStart {
        /// How long it will take, in nanoseconds.
        estimate_ns: f64,
        /// How many samples will be taken.
        sample_count: u64,
        /// How many iterations they have together.
        iter_count: u64,
    },
    /// It is measured; the benchmark waits for [`Outgoing::Continue`].
    MeasurementComplete {
        /// Iterations of each sample.
        iters: Vec<f64>,
        /// The measured value of each sample, in the benchmark's own unit.
        times: Vec<f64>,
    },
    /// The answer to [`Outgoing::ScaleForMachines`].
    ScaledValues {
        /// The values in `unit`.
        scaled_values: Vec<f64>,
        /// `ns` for times.
        unit: String,
    },
    /// The answer to a request that we never make.
    FormattedValue {},
}

/// A benchmark's id in parts.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct RawId {
    group_id: String,
    function_id: Option<String>,
    value_str: Option<String>,
}

impl RawId {
    /// The full id, against which criterion matches its filter: the parts with `/` between them.
    pub fn full(&self) -> String {
        let rest = [&self.function_id, &self.value_str];
        let parts = std::iter::once(&self.group_id).chain(rest.into_iter().flatten());
        parts.map(String::as_str).collect::<Vec<_>>().join("/")
    }
}

/// What the runner sends.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub enum Outgoing {
    /// Converts values into the unit for machines, and names it.
    ScaleForMachines {
        /// In the benchmark's own unit.
        values: Vec<f64>,
    },
    /// Goes on.
    Continue,
}

impl Outgoing {
    /// The message as a frame.
    pub fn frame(&self) -> Vec<u8> {
        let mut frame = vec![0; 4];
        ciborium::into_writer(self, &mut frame).expect("writing to memory succeeds");
        let length = u32::try_from(frame.len() - 4).expect("messages are small");
        frame[..4].copy_from_slice(&length.to_be_bytes());
        frame
    }
}

/// criterion's own version.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Version {
    /// The first number.
    pub major: u8,
    /// The second.
    pub minor: u8,
    /// The third.
    pub patch: u8,
}

/// Bytes that do not follow the protocol.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProtocolError(pub String);

/// Takes bytes as they arrive, and gives what they mean.
#[derive(Debug, Default)]
pub struct Decoder {
    received: Vec<u8>,
}

impl Decoder {
    /// Adds bytes that have arrived.
    pub fn feed(&mut self, bytes: &[u8]) {
        self.received.extend_from_slice(bytes);
    }

    /// The greeting, once all of it is there.
    pub fn hello(&mut self) -> Result<Option<Version>, ProtocolError> {
        let known = self.received.len().min(9);
        if self.received[..known] != b"Criterion"[..known] {
            return Err(ProtocolError("its greeting is not criterion's".to_owned()));
        }
        if self.received.len() < BENCHMARK_HELLO_LENGTH {
            return Ok(None);
        }
        let hello: Vec<u8> = self.received.drain(..BENCHMARK_HELLO_LENGTH).collect();
        let [major, minor, patch, p1, p0, f1, f0] = hello[9..] else { unreachable!() };
        let (protocol, format) = (u16::from_be_bytes([p1, p0]), u16::from_be_bytes([f1, f0]));
        if (protocol, format) != (1, 1) {
            return Err(ProtocolError(format!(
                "criterion {major}.{minor}.{patch} speaks version {protocol}.{format} of its protocol; \
                 only 1.1 is known"
            )));
        }
        Ok(Some(Version { major, minor, patch }))
    }

    /// The next message, once all of it is there.
    pub fn message(&mut self) -> Result<Option<Incoming>, ProtocolError> {
        let Some(length) = self.received.first_chunk::<4>() else { return Ok(None) };
        let length = u32::from_be_bytes(*length) as usize;
        if length > LARGEST_FRAME {
            return Err(ProtocolError(format!("it announced a message of {length} bytes")));
        }
        let Some(body) = self.received.get(4..4 + length) else { return Ok(None) };
        let message = ciborium::from_reader(body)
            .map_err(|error| ProtocolError(format!("it sent a message that is none: {error}")))?;
        self.received.drain(..4 + length);
        Ok(Some(message))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ciborium::cbor;
    use proptest::prelude::*;

    fn frame(value: &ciborium::Value) -> Vec<u8> {
        let mut body = Vec::new();
        ciborium::into_writer(value, &mut body).unwrap();
        let length = u32::try_from(body.len()).unwrap().to_be_bytes();
        [&length[..], &body].concat()
    }

    fn complete() -> ciborium::Value {
        cbor!({"MeasurementComplete" => {
            "id" => {"group_id" => "g", "function_id" => null, "value_str" => "10", "throughput" => [{"Bytes" => 7}]},
            "iters" => [1.0, 2.0],
            "times" => [10.0, 21.0],
            "sampling_method" => "Linear",
            "benchmark_config" => {"warm_up_time" => {"secs" => 1, "nanos" => 0}},
        }})
        .unwrap()
    }

    #[test]
    fn the_greeting_is_read_even_in_pieces() {
        let mut decoder = Decoder::default();
        for byte in b"Criterion\x00\x05\x01\x00\x01\x00" {
            decoder.feed(&[*byte]);
            assert_eq!(decoder.hello(), Ok(None));
        }
        decoder.feed(b"\x01");
        assert_eq!(decoder.hello(), Ok(Some(Version { major: 0, minor: 5, patch: 1 })));
    }

    #[test]
    fn strangers_and_newer_protocols_are_refused() {
        let hello = |bytes: &[u8]| {
            let mut decoder = Decoder::default();
            decoder.feed(bytes);
            decoder.hello()
        };
        assert!(hello(b"HTTP/1.1 400").is_err());
        let newer = hello(b"Criterion\x01\x00\x00\x00\x02\x00\x01").unwrap_err();
        assert!(newer.0.contains("criterion 1.0.0"), "{newer:?}");
    }

    #[test]
    fn unknown_fields_are_skipped_and_ids_are_joined() {
        let mut decoder = Decoder::default();
        decoder.feed(&frame(&complete()));
        let expected =
            Incoming::MeasurementComplete { iters: vec![1.0, 2.0], times: vec![10.0, 21.0] };
        assert_eq!(decoder.message(), Ok(Some(expected)));
        assert_eq!(decoder.message(), Ok(None));
        let id =
            RawId { group_id: "g".to_owned(), function_id: None, value_str: Some("10".to_owned()) };
        assert_eq!(id.full(), "g/10");
    }

    #[test]
    fn continue_is_a_bare_word() {
        assert_eq!(Outgoing::Continue.frame(), frame(&cbor!("Continue").unwrap()));
    }

    proptest! {
        #[test]
        fn messages_do_not_depend_on_how_they_are_cut(cut in 1usize..40) {
            let bytes = [frame(&complete()), frame(&complete())].concat();
            let mut decoder = Decoder::default();
            let mut messages = 0;
            for piece in bytes.chunks(cut) {
                decoder.feed(piece);
                while decoder.message().unwrap().is_some() {
                    messages += 1;
                }
            }
            prop_assert_eq!(messages, 2);
        }

        #[test]
        fn rubbish_never_panics(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
            let mut decoder = Decoder::default();
            decoder.feed(&bytes);
            let _ = decoder.hello();
            while let Ok(Some(_)) = decoder.message() {}
        }
    }
}

//! What a driver and its own workers tell each other: JSON, with a length of four bytes before it.

use super::settings::Settings;
use super::stamps::Stamp;
use crate::failure::{Exit, Failure};
use duologue::channel::Channel;
use duologue::job::control::{Costs, Mail, Reason};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use std::path::PathBuf;
use std::time::Duration;

/// The most bytes of a message: lists of values are among what a worker is told.
const MOST: usize = 1 << 26;

/// The version of the command that both must have, to the letter: what they tell each other has no version of its own.
pub const BUILD: &str = env!("CARGO_PKG_VERSION");

/// From a driver.
#[derive(Serialize, Deserialize)]
#[serde(tag = "is", rename_all = "snake_case")]
pub enum Order {
    /// The job.
    Welcome(Box<Work>),
    /// Make a key for this attempt, listen if this party's workers do, and read the inputs of the shard.
    Prepare { shard: u32, attempt: u32, pool: PoolUse },
    /// Meet the other party's worker, which has this key, and listens at this address if it is the side that does.
    Start { shard: u32, attempt: u32, key: String, address: String },
    /// Stop what this attempt does.
    Stop { shard: u32, attempt: u32 },
    /// The job is over.
    End,
    /// The worker is refused, and why.
    Refused { why: String },
}

/// What an attempt does with a pool.
#[derive(Serialize, Deserialize, Clone, Copy, PartialEq, Eq, Debug)]
#[serde(rename_all = "snake_case")]
pub enum PoolUse {
    /// It has none, and makes what it draws.
    Without,
    /// It makes one for the next attempt, and computes nothing.
    Make,
    /// It takes from the one that this attempt has made.
    Take(u32),
}

/// All that a worker must know of a job.
#[derive(Serialize, Deserialize, Clone)]
pub struct Work {
    pub party: String,
    /// The job's number, and the digest of its plan, in hexadecimal; without a plan workers only look whether they reach each other.
    pub job: String,
    pub plan: Option<String>,
    /// The public keys of the parties, Alice's first, for which those of workers stand; none where workers run no program.
    pub parties: Option<[String; 2]>,
    /// The folder of the job.
    pub state: PathBuf,
    /// The inputs by name, and what they come from: files by their whole paths.
    pub inputs: Vec<(Option<String>, String)>,
    /// What these were when the job was begun.
    pub stamps: Vec<Stamp>,
    pub listens: bool,
    pub settings: Settings,
}

/// From a worker.
#[derive(Serialize, Deserialize)]
#[serde(tag = "is", rename_all = "snake_case")]
pub enum Answer {
    /// The first: its version, the number of its process, and the one under which the driver started it, if that is who did.
    Hello { build: String, process: u32, number: Option<u64> },
    /// The job is known and its folder is there: it is free.
    Here,
    /// It cannot take the job, and why; it ends.
    Cannot { why: String },
    /// It has a key for this attempt, and listens there.
    Ready { shard: u32, attempt: u32, key: String, address: String },
    /// The outputs are on the disk.
    Done { shard: u32, attempt: u32, micros: u64, sent: u64, received: u64, predicted: Option<u64> },
    /// There are none: why in a number, and in words.
    Failed { shard: u32, attempt: u32, reason: u8, why: String },
}

impl Answer {
    pub fn done(shard: u32, attempt: u32, costs: Costs) -> Answer {
        let Costs { micros, sent, received, predicted } = costs;
        Answer::Done { shard, attempt, micros, sent, received, predicted }
    }
}

/// The reason that a worker's failure is for the drivers.
pub fn reason(failure: &Failure) -> Reason {
    match failure.exit {
        Exit::Peer => Reason::Misbehaved,
        Exit::Incompatible => Reason::Incompatible,
        Exit::Input | Exit::CommandLine | Exit::Malformed | Exit::Refused | Exit::Wrong => Reason::Input,
        Exit::Machine => Reason::Machine,
        Exit::Gone | Exit::Timeout | Exit::Cancelled => Reason::Connection,
    }
}

/// Messages between a driver and a worker of its own.
pub struct Line(Mail);

impl Line {
    pub fn new(channel: Channel, silence: Duration) -> Line {
        Line(Mail::new(channel, 4, MOST, silence))
    }

    /// Allows the other one to be silent for so long from now on.
    pub fn set_silence(&mut self, silence: Duration) {
        self.0.set_silence(silence);
    }

    /// Sends a message; whether that succeeds is told by [`poll`](Self::poll).
    pub fn send(&mut self, message: &impl Serialize) -> Result<(), Failure> {
        let body = serde_json::to_vec(message).map_err(|why| Failure::malformed("a message to a worker", why))?;
        self.0.send(&[&(body.len() as u32).to_le_bytes()[..], &body].concat());
        Ok(())
    }

    /// The next message, if it has come.
    pub fn poll<T: DeserializeOwned>(&mut self) -> Result<Option<T>, Failure> {
        let Some(body) = self.0.poll()? else { return Ok(None) };
        let read = serde_json::from_slice(&body);
        read.map(Some).map_err(|why| Failure::malformed("a message between a driver and its worker", why))
    }
}

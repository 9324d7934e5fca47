//! What a session says of its work: results, costs, progress.

use super::wire::Wire;
use crate::channel::Counters;
use crate::clock::Instant;
use crate::conditions::Conditions;
use crate::correlation::Demand;
use crate::data::Outputs;
use crate::executor::{Engine, Feeds, Phase};
use crate::ot::Extension;
use crate::protocol::terms::Terms;
use circuit::program::Binding;
use std::fmt;
use std::ops::ControlFlow;
use std::sync::Arc;
use std::time::Duration;

/// The cost of one phase.
#[derive(Clone, Copy, Default, PartialEq, Debug)]
pub struct PhaseReport {
    /// Wall-clock time.
    pub time: Duration,
    /// Bytes of the protocol sent, without headers and encryption.
    pub sent: u64,
    /// Bytes of the protocol received.
    pub received: u64,
    /// How often this party turned from sending to receiving.
    pub rounds: u64,
}

impl PhaseReport {
    /// What both took.
    pub(super) fn and(self, other: PhaseReport) -> PhaseReport {
        PhaseReport {
            time: self.time + other.time,
            sent: self.sent + other.sent,
            received: self.received + other.received,
            rounds: self.rounds + other.rounds,
        }
    }
}

/// The terms and the cost of a run.
#[derive(Clone, Copy, PartialEq, Debug)]
#[non_exhaustive]
pub struct Report {
    /// The terms that it ran under.
    pub terms: Terms,
    /// AND gates over all lanes.
    pub ands: u64,
    /// Lanes of a tile.
    pub tile: usize,
    /// Correlations that the program draws.
    pub demand: Demand,
    /// The maker of the session's correlations that was chosen or used, if one was; it is final once there are base OTs.
    pub maker: Option<Extension>,
    /// The conditions for which that was chosen; none where it was named, is a pool's, or where the demand alone decided.
    pub conditions: Option<Conditions>,
    /// Before inputs, with a choice of the program and its options just before. When setup is streamed, the time is the sum of its parts, and the bytes and rounds of those that
    /// were made between inputs count as online.
    pub setup: PhaseReport,
    /// With inputs.
    pub online: PhaseReport,
}

/// The results of a run. Its `Debug` shows no value.
#[derive(Debug)]
#[non_exhaustive]
pub struct Outcome {
    /// The outputs of this party.
    pub outputs: Outputs,
    /// Its terms and its cost.
    pub report: Report,
}

/// A program whose setup is done: it runs once. Its `Debug` shows nothing of the setup.
#[must_use = "its setup is lost unless Session::online uses it"]
pub struct Prepared {
    pub(super) engine: Box<dyn Engine>,
    pub(super) binding: Arc<Binding>,
    pub(super) public: Feeds,
    pub(super) session: [u8; 32],
    pub(super) ordinal: u64,
    pub(super) report: Report,
}

impl fmt::Debug for Prepared {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = self.binding.program().name();
        f.debug_struct("Prepared").field("program", &name).field("report", &self.report).finish_non_exhaustive()
    }
}

/// How far a session is with what it does.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct Progress {
    /// Before or after inputs are used.
    pub phase: Phase,
    /// Whatever is counted.
    pub unit: Unit,
    /// How many are done.
    pub done: u64,
    /// Of how many. Correlations are made in several batches, each counted from 0, so this is the total of the batch. Where
    /// setup is streamed, ANDs are reported online alone.
    pub total: u64,
}

/// Whatever [`Progress`] counts.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[non_exhaustive]
pub enum Unit {
    /// ANDs of a program, over all lanes.
    Ands,
    /// Correlations that are made.
    Correlations,
}

/// Sees the progress of a session, and says whether to go on.
pub(crate) type Observer = Box<dyn FnMut(&Progress) -> ControlFlow<()> + Send>;

/// A moment of a session, to measure from.
pub(super) struct Mark {
    time: Instant,
    counters: Counters,
}

impl Mark {
    pub fn new(wire: &Wire) -> Mark {
        Mark { time: Instant::now(), counters: wire.channel.counters() }
    }

    pub fn until_now(&self, wire: &Wire) -> PhaseReport {
        let now = wire.channel.counters();
        PhaseReport {
            time: self.time.elapsed(),
            sent: now.bytes_sent - self.counters.bytes_sent,
            received: now.bytes_received - self.counters.bytes_received,
            rounds: now.rounds - self.counters.rounds,
        }
    }
}

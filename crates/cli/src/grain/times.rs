//! What gates take on one core, and what it takes to share them out.

use super::halvings;
use serde::Serialize;

/// An AND, or an XOR; what is local in another way counts as an XOR.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    And,
    Xor,
}

/// Nanoseconds, and the least that is shared out.
#[derive(Clone, Copy, PartialEq, Debug, Serialize)]
pub struct Times {
    /// An AND on one core.
    pub and: f64,
    /// An XOR on one core.
    pub xor: f64,
    /// Sixteen bytes that were written on another core: to read them, or to write them anew.
    pub label: f64,
    /// Until two cores have begun together and know that both have ended. Of k cores ⌈log₂ k⌉ times as much.
    pub barrier: f64,
    /// Gates of a layer that stay on one core.
    pub piece: u64,
    /// Lanes of a map that stay on one core.
    pub part: u64,
}

impl Times {
    /// As measured for garbling one lane (`docs/roofline.md`): layers of ANDs alone; a 512-bit product less its ANDs; 16
    /// bytes at 14 GB/s between cores; a chunk shared out between two threads that are awake.
    pub const ONE_LANE: Times = Times { and: 6.8, xor: 2.1, label: 1.1, barrier: 4_800.0, piece: 16, part: 32 };

    /// As measured for garbling AES-128 over 64 lanes at once.
    pub const MANY_LANES: Times = Times { and: 4.2, xor: 0.25, ..Times::ONE_LANE };

    /// What was measured for about so many lanes.
    pub fn measured(lanes: u64) -> Times {
        if lanes < Times::ONE_LANE.part { Times::ONE_LANE } else { Times::MANY_LANES }
    }

    fn gate(&self, kind: Kind) -> f64 {
        match kind {
            Kind::And => self.and,
            Kind::Xor => self.xor,
        }
    }

    /// What a gate takes more if all that it reads and writes was on another core: two operands and a result, and of an AND
    /// two rows of a table, which one core sends.
    fn elsewhere(&self, kind: Kind) -> f64 {
        match kind {
            Kind::And => 5.0 * self.label,
            Kind::Xor => 3.0 * self.label,
        }
    }

    /// A gate on one of so many cores.
    fn shared_gate(&self, kind: Kind, cores: u32) -> f64 {
        self.gate(kind) + self.elsewhere(kind) * f64::from(cores - 1) / f64::from(cores)
    }

    /// How long so many cores wait for each other.
    pub(super) fn barrier(&self, cores: u32) -> f64 {
        self.barrier * f64::from(cores.next_power_of_two().ilog2())
    }

    /// A layer on exactly so many cores.
    pub(super) fn shared(&self, kind: Kind, gates: u64, cores: u32) -> f64 {
        let most = (gates.div_ceil(self.piece).div_ceil(u64::from(cores)) * self.piece).min(gates);
        most as f64 * self.shared_gate(kind, cores) + self.barrier(cores)
    }

    /// A layer on as many of the cores as are best for it: how many, and the time.
    pub(super) fn layer(&self, kind: Kind, gates: u64, cores: u32) -> (u32, f64) {
        let options = halvings(cores).map(|cores| (cores, self.shared(kind, gates, cores)));
        options.min_by(|a, b| a.1.total_cmp(&b.1)).expect("there is a core")
    }

    /// The gates of a layer from which on some of the cores are faster than one, in whole pieces for each.
    pub fn pays_from(&self, kind: Kind, cores: u32) -> Option<u64> {
        let from = |cores: u32| {
            let gain = self.gate(kind) - self.shared_gate(kind, cores) / f64::from(cores);
            let whole = u64::from(cores) * self.piece;
            (gain > 0.0).then(|| ((self.barrier(cores) / gain) as u64 / whole + 1) * whole)
        };
        halvings(cores).filter(|&cores| cores > 1).filter_map(from).min()
    }
}

//! The kinds of correlations.

use crate::correlation::Demand;

/// Kinds of correlations, each with numbers of its own.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum CorrelationKind {
    CotsByAlice,
    CotsByBob,
    Triples,
}

impl CorrelationKind {
    pub(super) const ALL: [CorrelationKind; 3] =
        [CorrelationKind::CotsByAlice, CorrelationKind::CotsByBob, CorrelationKind::Triples];

    /// How the names of their files begin.
    pub(super) const NAMES: &[&str] = &["cots-by-alice", "cots-by-bob", "triples"];

    /// The most correlations of a batch file: at most 4 MiB, as little memory as is read for a few of them.
    pub(super) fn most(self) -> usize {
        match self {
            CorrelationKind::Triples => 1 << 20,
            _ => 1 << 18,
        }
    }

    /// Bytes of so many.
    pub(super) fn bytes(self, count: usize) -> usize {
        match self {
            CorrelationKind::Triples => 24 * count.div_ceil(64),
            _ => 16 * count,
        }
    }

    pub(super) fn words(self) -> &'static str {
        ["correlated OTs by alice", "correlated OTs by bob", "triples"][self as usize]
    }
}

pub(super) fn each(demand: &Demand) -> [u64; 3] {
    [demand.cots_by_alice, demand.cots_by_bob, demand.triples]
}

pub(super) fn demand([cots_by_alice, cots_by_bob, triples]: [u64; 3]) -> Demand {
    Demand { cots_by_alice, cots_by_bob, triples }
}

pub(super) fn zip(a: [u64; 3], b: [u64; 3], with: impl Fn(u64, u64) -> u64) -> [u64; 3] {
    std::array::from_fn(|i| with(a[i], b[i]))
}

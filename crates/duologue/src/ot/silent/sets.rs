//! The sets of parameters of learning parity with noise, and the lengths that follow from them.

use std::fmt;

/// A set of parameters of learning parity with noise, named by log k. The best one depends on the link and on the
/// processor's caches.
///
/// Ferret's form: regular noise, one position of weight 1 in each of t blocks of 2^depth, a secret of k bits and a
/// local code of weight 10. With as many samples, the noise is twice that of the sets published with Ferret, which have
/// less than 128 bits against an attack that makes use of the ten ones of a row (`docs/ot/lpn.md` computes both).
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Set {
    log: u8,
}

/// The number of COTs whose choice bits mask the receiver's message of the check: one for each bit of the field.
pub(super) const MASKS: usize = 128;

impl Set {
    /// All sets: tables of 1, 2, 4 and 8 MiB.
    pub const ALL: [Self; 4] = [Set { log: 16 }, Set { log: 17 }, Set { log: 18 }, Set { log: 19 }];

    /// The logarithm of the table's length.
    pub fn log(self) -> u8 {
        self.log
    }

    /// The number of COTs that a round makes for its user.
    pub fn batch(self) -> usize {
        self.schedule().every.outputs()
    }

    /// Bytes of a round: the sender's corrections and hash, and the receiver's masked sum.
    pub fn traffic(self) -> [usize; 2] {
        [self.schedule().every.message() + super::HASH, super::MASKED]
    }

    pub(super) fn schedule(self) -> Schedule {
        let every = match self.log {
            16 => return Schedule { boot: None, every: Round::feeding_itself(1700, 16, 9) },
            17 => Round::feeding_itself(2340, 17, 10),
            18 => Round::feeding_itself(3040, 18, 11),
            19 => Round::feeding_itself(3800, 19, 12),
            log => unreachable!("no set has a table of 2^{log} blocks"),
        };
        Schedule::new(every)
    }
}

/// Of the name of a published set, which earlier versions had: why it is gone, and what to use.
pub(crate) fn why_gone(name: &str) -> Option<String> {
    let gone = ["silent16", "silent17", "silent18", "silent19"].contains(&name);
    gone.then(|| {
        format!(
            "'{name}' is gone: by our own count its LPN has less than 100 bits of security against an attack that uses the \
             ten ones of a row; use {name}w, with twice the noise, which has 128"
        )
    })
}

impl fmt::Display for Set {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "silent{}w", self.log)
    }
}

/// The rounds of a maker.
#[derive(Clone, Copy, Debug)]
pub(super) struct Schedule {
    /// The bootstrap: a round of the smallest set that only feeds the first of the others.
    pub boot: Option<Round>,
    pub every: Round,
}

impl Schedule {
    /// A schedule whose bootstrap has the noise rate and k of the smallest set, and only as many trees as are needed:
    /// fewer samples of the same noise.
    fn new(every: Round) -> Self {
        let depth = 9;
        let trees = every.base().div_ceil(1 << depth);
        Schedule { boot: Some(Round { trees, log: 16, depth, next: every.base() }), every }
    }

    /// The number of COTs that the first round takes from another maker.
    pub(super) fn seeds(&self) -> usize {
        self.boot.unwrap_or(self.every).base()
    }
}

/// One round: from `base` COTs to `trees` · 2^`depth` of them.
#[derive(Clone, Copy, Debug)]
pub(super) struct Round {
    /// The number of trees, t.
    pub trees: usize,
    /// The logarithm of k.
    pub log: u32,
    pub depth: usize,
    /// The number of COTs that go to the next round, from the last trees of this one.
    pub next: usize,
}

impl Round {
    pub(super) const fn feeding_itself(trees: usize, log: u32, depth: usize) -> Self {
        let round = Round { trees, log, depth, next: 0 };
        Round { next: round.base(), ..round }
    }

    /// The number of COTs that the round takes: k for the secret of the code, then for each tree one a level, then the
    /// masks.
    pub(super) const fn base(&self) -> usize {
        (1 << self.log) + self.trees * self.depth + MASKS
    }

    pub(super) fn leaves(&self) -> usize {
        1 << self.depth
    }

    /// The number of COTs that the round delivers: those of whole trees.
    pub(super) fn outputs(&self) -> usize {
        (self.trees - self.next.div_ceil(self.leaves())) * self.leaves()
    }

    /// Bytes of the corrections, a block for each level of each tree.
    pub(super) fn message(&self) -> usize {
        self.trees * self.depth * 16
    }
}

//! Parameters of learning parity with noise, and the lengths that follow from them.

/// Parameters of learning parity with noise, named by log k: which is the best depends on the link and on the
/// processor's caches.
///
/// Ferret's form: regular noise, one position of weight 1 in each of t blocks of 2^depth, a secret of k bits and a local
/// code of weight 10. These are the published sets. They aim at 128 bits and have them where the code is a random one;
/// `docs/ot/lpn.md` computes what the attacks cost, and less for rows of ten ones.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Set {
    /// A table of 1 MiB; rounds of 795,648 COTs of 1.37 bits.
    Log16,
    /// A table of 2 MiB; rounds of 2,250,752 COTs of 0.73 bit.
    Log17,
    /// A table of 4 MiB; rounds of 5,943,296 COTs of 0.39 bit.
    Log18,
    /// A table of 8 MiB; rounds of 15,007,744 COTs of 0.21 bit.
    Log19,
}

/// Choice bits that mask what the receiver tells for the check: one for each bit of the field.
pub(super) const MASKS: usize = 128;

impl Set {
    /// All of them, the smallest first.
    pub const ALL: [Self; 4] = [Set::Log16, Set::Log17, Set::Log18, Set::Log19];

    /// The logarithm of the table's length.
    pub fn log(self) -> u8 {
        match self {
            Set::Log16 => 16,
            Set::Log17 => 17,
            Set::Log18 => 18,
            Set::Log19 => 19,
        }
    }

    /// The set of this name.
    pub fn from_log(log: u8) -> Option<Self> {
        Self::ALL.into_iter().find(|set| set.log() == log)
    }

    /// COTs that a round makes for its user.
    pub fn batch(self) -> usize {
        self.schedule().every.harvested()
    }

    /// Bytes of a round: corrections and hash of the sender, the masked sum of the receiver.
    pub fn traffic(self) -> [usize; 2] {
        [self.schedule().every.message() + super::HASH, super::MASKED]
    }

    pub(super) fn schedule(self) -> Schedule {
        match self {
            Set::Log16 => Schedule { boot: None, every: Round::feeding_itself(850, 16, 10) },
            Set::Log17 => Schedule::new(Round::feeding_itself(1170, 17, 11)),
            Set::Log18 => Schedule::new(Round::feeding_itself(1520, 18, 12)),
            Set::Log19 => Schedule::new(Round::feeding_itself(1900, 19, 13)),
        }
    }
}

/// The rounds of a maker.
#[derive(Clone, Copy, Debug)]
pub(super) struct Schedule {
    /// A round of the smallest set that only feeds the first of the others.
    pub boot: Option<Round>,
    pub every: Round,
}

impl Schedule {
    /// The noise rate and k of the smallest set, and only as many trees as are needed: fewer samples of the same noise.
    fn new(every: Round) -> Self {
        let trees = every.base().div_ceil(1 << 10);
        Schedule { boot: Some(Round { trees, log: 16, depth: 10, next: every.base() }), every }
    }

    /// COTs of another maker that the first round takes.
    pub(super) fn seeds(&self) -> usize {
        self.boot.unwrap_or(self.every).base()
    }
}

/// One round: from `base` COTs to `trees` · 2^`depth` of them.
#[derive(Clone, Copy, Debug)]
pub(super) struct Round {
    /// t.
    pub trees: usize,
    /// log k.
    pub log: u32,
    pub depth: usize,
    /// COTs that go to the next round: the last trees of this one.
    pub next: usize,
}

impl Round {
    pub(super) const fn feeding_itself(trees: usize, log: u32, depth: usize) -> Self {
        let round = Round { trees, log, depth, next: 0 };
        Round { next: round.base(), ..round }
    }

    /// COTs that it takes: k for the secret of the code, then for each tree one a level, then the masks.
    pub(super) const fn base(&self) -> usize {
        (1 << self.log) + self.trees * self.depth + MASKS
    }

    pub(super) fn leaves(&self) -> usize {
        1 << self.depth
    }

    /// COTs that are harvested: those of whole trees.
    pub(super) fn harvested(&self) -> usize {
        (self.trees - self.next.div_ceil(self.leaves())) * self.leaves()
    }

    /// Bytes of the corrections: a block for each level of each tree.
    pub(super) fn message(&self) -> usize {
        self.trees * self.depth * 16
    }
}

//! The sets of parameters of learning parity with noise, and the lengths that follow from them.

use std::fmt;
use std::ops::RangeInclusive;

/// A set of parameters of learning parity with noise. The best one depends on the demand, on the link and on the
/// processor's caches.
///
/// Regular noise in all: one position of weight 1 in each of t blocks of 2^depth.
///
/// - `silent16w` to `silent19w`, named by log k: Ferret's form, *primal*, with a secret of k bits and a local code of
///   weight 10. With as many samples, the noise is twice that of the sets published with Ferret, which have less than
///   128 bits against an attack that makes use of the ten ones of a row (`docs/ot/lpn.md` computes both).
/// - `silent16d` to `silent20d`, named by the logarithm of a round's outputs, rounded down: *dual*, the syndrome of
///   the noise under [a code of rate one half](kernels::syndrome). Little is sent before the first COT.
/// - `silent`: of the dual sets' rounds, for each batch the smallest that makes all that is wanted, else the largest;
///   the first batch without a round if it is small.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Set {
    log: u8,
    kind: Kind,
}

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
enum Kind {
    Wide,
    Dual,
    /// The dual ones by demand.
    Demand,
}

/// The depths of the dual sets' trees.
const DEPTHS: RangeInclusive<usize> = 10..=14;

/// The trees of the dual sets, t.
const TREES: usize = 144;

/// COTs of a first batch, at most, that `silent` takes from the other maker without a round: so many take as many bytes
/// as the smallest round by itself, without its seeds and the other maker's trees.
const DIRECT: usize = 12_160;

/// Outputs of a dual round that are made at once: of whole groups of the code and of whole words.
pub(super) const PIECE: usize = 384;

/// The number of COTs whose choice bits mask the receiver's message of the check: one for each bit of the field.
pub(super) const MASKS: usize = 128;

impl Set {
    /// All sets: with tables of 1, 2, 4 and 8 MiB, then the dual ones from the smallest round to the largest, and by
    /// demand.
    pub const ALL: [Self; 10] = [
        Set::wide(16),
        Set::wide(17),
        Set::wide(18),
        Set::wide(19),
        Set::dual(16),
        Set::dual(17),
        Set::dual(18),
        Set::dual(19),
        Set::dual(20),
        Set::BY_DEMAND,
    ];

    /// `silent18d`: of the dual sets' rounds one whose leaves lie in 9 MiB, which computes less for each COT than larger ones.
    pub const DUAL_18: Self = Set::dual(18);

    /// The dual sets by demand.
    pub const BY_DEMAND: Self = Set { log: 16, kind: Kind::Demand };

    const fn wide(log: u8) -> Self {
        Set { log, kind: Kind::Wide }
    }

    const fn dual(log: u8) -> Self {
        Set { log, kind: Kind::Dual }
    }

    /// The number of the set's name: the logarithm of the table's length, or of a dual round's outputs, by demand of the
    /// smallest.
    pub fn log(self) -> u8 {
        self.log
    }

    /// The number of COTs that a round makes for its user, at most.
    pub fn batch(self) -> usize {
        self.schedule().every.outputs()
    }

    /// Bytes of a round, at most: the sender's corrections and hash, and the receiver's masked sum.
    pub fn traffic(self) -> [usize; 2] {
        [self.schedule().every.message() + super::HASH, super::MASKED]
    }

    pub(super) fn schedule(self) -> Schedule {
        let every = match self.log {
            _ if self.kind == Kind::Demand => {
                return Schedule { direct: DIRECT, ..Schedule::by_demand(TREES, DEPTHS) };
            }
            log if self.kind == Kind::Dual => return Schedule::of_one(Round::dual(TREES, usize::from(log) - 6)),
            16 => return Schedule::of_one(Round::feeding_itself(1700, 16, 9)),
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
        match self.kind {
            Kind::Wide => write!(f, "silent{}w", self.log),
            Kind::Dual => write!(f, "silent{}d", self.log),
            Kind::Demand => f.write_str("silent"),
        }
    }
}

/// The rounds of a maker.
#[derive(Clone, Copy, Debug)]
pub(super) struct Schedule {
    /// The bootstrap: a round of the smallest set that only feeds the first of the others.
    pub boot: Option<Round>,
    /// The largest round, from whose base all others can start.
    pub every: Round,
    /// The least depth of a round.
    pub least: usize,
    /// COTs of the first batch, at most, that the other maker makes without a round: fewer than any round makes.
    pub direct: usize,
}

impl Schedule {
    /// A schedule whose bootstrap has the noise rate and k of the smallest set, and only as many trees as are needed:
    /// fewer samples of the same noise.
    fn new(every: Round) -> Self {
        let depth = 9;
        let trees = every.base().div_ceil(1 << depth);
        let boot = Round { trees, form: Form::Local { log: 16 }, depth, next: every.base() };
        Schedule { boot: Some(boot), ..Self::of_one(every) }
    }

    /// All rounds are this one.
    pub(super) const fn of_one(every: Round) -> Self {
        Schedule { boot: None, every, least: every.depth, direct: 0 }
    }

    /// Dual rounds of these depths; each feeds the largest.
    pub(super) const fn by_demand(trees: usize, depths: RangeInclusive<usize>) -> Self {
        Schedule { least: *depths.start(), ..Self::of_one(Round::dual(trees, *depths.end())) }
    }

    fn rounds(&self) -> impl Iterator<Item = Round> {
        let every = self.every;
        (self.least..=every.depth).map(move |depth| Round { depth, ..every })
    }

    /// The round that is run if so many COTs are wanted: the smallest that makes all of them, else the largest.
    pub(super) fn for_demand(&self, wanted: u64) -> Round {
        self.rounds().find(|round| round.outputs() as u64 >= wanted).unwrap_or(self.every)
    }

    /// The number of COTs of the next batch if so many are wanted; `begun` says whether it is not the first one.
    pub(super) fn batch(&self, wanted: u64, begun: bool) -> usize {
        match usize::try_from(wanted) {
            Ok(few) if !begun && few <= self.direct => few,
            _ => self.for_demand(wanted).outputs(),
        }
    }

    /// Whether a first batch of so many needs no round.
    pub(super) fn needs_no_round(&self, batch: usize) -> bool {
        (1..=self.direct).contains(&batch)
    }

    /// The round that makes so many.
    pub(super) fn making(&self, outputs: usize) -> Option<Round> {
        self.rounds().find(|round| round.outputs() == outputs)
    }

    /// The number of COTs that the first round takes from another maker.
    pub(super) fn seeds(&self) -> usize {
        self.boot.unwrap_or(self.every).base()
    }
}

/// The code of a round.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Form {
    /// The local code, with a secret of k = 2^log.
    Local { log: u32 },
    /// The syndrome of the noise.
    Syndrome,
}

/// One round: from `base` COTs to `trees` · 2^`depth` of them, or half as many.
#[derive(Clone, Copy, Debug)]
pub(super) struct Round {
    /// The number of trees, t.
    pub trees: usize,
    pub form: Form,
    pub depth: usize,
    /// The number of COTs that go to the next round, the last of this one.
    pub next: usize,
}

impl Round {
    pub(super) const fn feeding_itself(trees: usize, log: u32, depth: usize) -> Self {
        Self::next_its_base(Round { trees, form: Form::Local { log }, depth, next: 0 })
    }

    /// A dual round that feeds itself.
    pub(super) const fn dual(trees: usize, depth: usize) -> Self {
        Self::next_its_base(Round { trees, form: Form::Syndrome, depth, next: 0 })
    }

    const fn next_its_base(self) -> Self {
        Round { next: self.base(), ..self }
    }

    /// The length of the code's secret, k.
    pub(super) const fn secret(&self) -> usize {
        match self.form {
            Form::Local { log } => 1 << log,
            Form::Syndrome => 0,
        }
    }

    /// The number of COTs that the round uses up: those of the secret, then for each tree one a level, then the masks.
    pub(super) const fn base(&self) -> usize {
        self.secret() + self.trees * self.depth + MASKS
    }

    pub(super) fn leaves(&self) -> usize {
        1 << self.depth
    }

    /// The number of COTs that the round delivers: those of whole trees, or of whole pieces.
    pub(super) fn outputs(&self) -> usize {
        match self.form {
            Form::Local { .. } => (self.trees - self.next.div_ceil(self.leaves())) * self.leaves(),
            Form::Syndrome => (self.trees * self.leaves() / 2 - self.next) / PIECE * PIECE,
        }
    }

    /// Bytes of the corrections, a block for each level of each tree.
    pub(super) fn message(&self) -> usize {
        self.trees * self.depth * 16
    }
}

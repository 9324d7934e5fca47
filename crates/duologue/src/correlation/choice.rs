//! The choice of the maker of correlations: the one that is predicted to be done first.
//!
//! ```text
//! predicted = waiting + max(sending, computing) + min(sending, computing) / parts
//!
//! waiting      the exact messages of base OTs and refill on a line of endless rate
//! sending      what they take longer on the line of its rate
//! computing    AES blocks of the maker / speed
//! parts        batches, if a party sends one while it makes the next (SoftSpoken); else 1
//! ```
//!
//! Lengths follow from the makers' parameters (`MakerLengths`); computing is counted in AES blocks, from a table of
//! measured makers. Both parties compute the same from the same [`Conditions`], in integers. Where the demand is so small
//! that nothing is worth measuring, the choice is SoftSpoken 4 by the demand alone.
//!
//! **Security**: every maker that is chosen has 128 bits by the project's own estimates. The dual sets of silent OT
//! (`silent16d` to `silent20d`, and `silent`, which takes them by demand) are never chosen: their code is our own, and
//! nobody else has reviewed it. Who takes them knowingly can choose among them ([`least`]).

use super::{Demand, MakerLengths};
use crate::Party;
use crate::channel::{Link, together, travel};
use crate::conditions::{Conditions, Findings};
use crate::ot::{Extension, silent};
use std::fmt;
use std::time::Duration;

/// The number of the rule by which makers are chosen, which is among the terms: parties with other candidates, other
/// costs or another formula would choose otherwise. Raise it with any change that moves a choice.
const RULE: u32 = 3;

/// Computing of a maker, in hundredths of an AES block at the party that computes more.
#[derive(Clone, Copy)]
struct Computing {
    /// The beginning of a session: base OTs, and what comes before the first batch.
    start: u64,
    /// Of one COT in each direction.
    pair: u64,
    /// Of a COT in one direction alone.
    one_way: u64,
    triple: u64,
}

/// The costs of makers, and whether they are candidates.
///
/// From the raw figures `docs/measured/correlations/2026-11-21-intel-xeon-processor-2-cores.json`, where R blocks take a
/// second: `start` is what setup took less its first batch, `pair` 2·R over COTs a second, `one_way` and `triple` R over
/// theirs. A test of the project's tools computes them again.
const COSTS: [(Extension, bool, Computing); 12] = [
    (softspoken(4), true, computing(597_430_257, 973, 510, 1243)),
    (softspoken(1), false, computing(580_713_455, 2381, 676, 2345)),
    (softspoken(2), true, computing(662_435_677, 1056, 458, 1323)),
    (softspoken(3), true, computing(619_098_609, 862, 420, 1391)),
    (softspoken(5), true, computing(619_098_567, 1267, 552, 1433)),
    (softspoken(6), true, computing(668_626_206, 1478, 748, 1794)),
    (softspoken(7), true, computing(699_580_494, 2350, 1082, 2506)),
    (softspoken(8), true, computing(773_871_202, 3508, 1720, 3798)),
    (Extension::Silent(silent::Set::ALL[0]), true, computing(1_293_742_114, 1717, 1142, 1923)),
    (Extension::Silent(silent::Set::ALL[1]), true, computing(1_626_082_442, 2000, 1744, 2037)),
    (Extension::Silent(silent::Set::ALL[2]), true, computing(1_431_814_502, 2176, 2268, 2776)),
    (Extension::Silent(silent::Set::ALL[3]), true, computing(2_980_018_898, 2941, 2789, 3159)),
];

/// The costs of the larger dual sets, which are never among the [`candidates`]: for who [chooses among them](least).
///
/// From the raw figures `docs/measured/correlations/2026-11-26-intel-xeon-processor-16-cores.json`, in the same way.
const DUAL: [(Extension, Computing); 3] = [
    (Extension::Silent(silent::Set::ALL[6]), computing(2_169_360_682, 3185, 1676, 3305)),
    (Extension::Silent(silent::Set::ALL[7]), computing(3_463_800_338, 3663, 2349, 3532)),
    (Extension::Silent(silent::Set::ALL[8]), computing(8_275_114_206, 4128, 3874, 4324)),
];

const fn softspoken(k: u8) -> Extension {
    Extension::SoftSpoken { k }
}

const fn computing(start: u64, pair: u64, one_way: u64, triple: u64) -> Computing {
    Computing { start, pair, one_way, triple }
}

impl Computing {
    fn of(extension: Extension) -> Option<&'static Computing> {
        let measured = COSTS.iter().map(|(of, _, computing)| (of, computing));
        let all = measured.chain(DUAL.iter().map(|(of, computing)| (of, computing)));
        all.filter(|(of, _)| **of == extension).map(|(_, computing)| computing).next()
    }

    /// AES blocks for a session's first correlations.
    fn blocks(&self, made: &Demand) -> u128 {
        u128::from(self.start / 100) + self.later_blocks(made)
    }

    /// The same where there are base OTs and a first batch.
    fn later_blocks(&self, made: &Demand) -> u128 {
        let (alice, bob) = (made.cots_by_alice, made.cots_by_bob);
        let (pairs, rest) = (alice.min(bob), alice.abs_diff(bob));
        let each = [(pairs, self.pair), (rest, self.one_way), (made.triples, self.triple)];
        let sum: u128 = each.into_iter().map(|(count, cost)| u128::from(count) * u128::from(cost)).sum();
        sum / 100
    }
}

/// AES blocks, in hundredths, that a maker is taken to compute: before its first batch, for a COT in each direction, for
/// one in one direction alone, for a triple.
#[doc(hidden)]
pub fn computing_of(extension: Extension) -> Option<[u64; 4]> {
    Computing::of(extension).map(|&Computing { start, pair, one_way, triple }| [start, pair, one_way, triple])
}

/// AES blocks that a session is taken to compute for these correlations, with its first base OTs if it begins; none by a
/// maker that was not measured.
pub(crate) fn computing_blocks(extension: Extension, made: &Demand, begins: bool) -> u64 {
    let blocks = |computing: &Computing| if begins { computing.blocks(made) } else { computing.later_blocks(made) };
    u64::try_from(Computing::of(extension).map_or(0, blocks)).unwrap_or(u64::MAX)
}

/// The makers that may be chosen; in a tie the first.
pub fn candidates() -> impl Iterator<Item = Extension> {
    COSTS.iter().filter(|(_, candidate, _)| *candidate).map(|&(extension, ..)| extension)
}

/// Correlations of a kind beyond which a choice is no other one.
const MOST: u64 = 1 << 26;

/// COTs of a batch, at most, where COTs are kept as such: 64 MB of them.
const MOST_KEPT: u64 = 1 << 22;

/// How long a new session is predicted to take for these correlations, from its first base OT on; none of a maker that
/// was not measured. Conditions out of their bounds count as the nearest ones within.
///
/// ```
/// use duologue::correlation::{Demand, choice};
/// use duologue::{Conditions, channel::Link, ot::Extension};
/// let line: Link = "10ms,100Mbit".parse()?;
/// let [usual, best] = [Extension::DEFAULT, choice::choose(Demand::of_triples(1_000_000), &Conditions::of(&line))];
/// let seconds = |maker| choice::predict(maker, Demand::of_triples(1_000_000), &Conditions::of(&line));
/// assert!(seconds(best) < seconds(usual));
/// # Ok::<(), duologue::Error>(())
/// ```
pub fn predict(extension: Extension, demand: Demand, conditions: &Conditions) -> Option<Duration> {
    let (computing, conditions) = (Computing::of(extension)?, conditions.bounded());
    let mut makers = [Party::Alice, Party::Bob].map(|party| MakerLengths::new(party, extension));
    let [(alice, made), (bob, _)] = makers.each_mut().map(|maker| maker.refill(demand));
    let travels = [conditions.endless_links(), conditions.links()].map(|[from_alice, from_bob]| {
        let bytes = [&alice, &bob].map(|party| party.iter().map(|exchange| (exchange.sent, exchange.read)));
        travel([&from_alice, &from_bob], bytes)
    });
    Some(together(travels, conditions.computing(computing.blocks(&made)), makers[0].parts()))
}

/// The maker that is predicted to be done first; in a tie SoftSpoken 4. Conditions out of their bounds count as the nearest
/// ones within.
pub fn choose(demand: Demand, conditions: &Conditions) -> Extension {
    let demand = demand.at_most(&Demand { cots_by_alice: MOST, cots_by_bob: MOST, triples: MOST });
    let fitting = candidates().filter(|extension| fits(*extension, &demand));
    let predicted = fitting.filter_map(|maker| Some((predict(maker, demand, conditions)?, maker)));
    // The first of those that are equal.
    predicted.min_by_key(|(time, _)| *time).map_or(Extension::DEFAULT, |(_, maker)| maker)
}

/// Of these makers the one that is predicted to be done first; in a tie, or if none was measured, the first. Conditions out of their bounds
/// count as the nearest ones within.
pub fn least(makers: &[Extension], demand: Demand, conditions: &Conditions) -> Option<Extension> {
    let predicted = makers.iter().filter_map(|&maker| Some((predict(maker, demand, conditions)?, maker)));
    predicted.min_by_key(|(time, _)| *time).map(|(_, maker)| maker).or(makers.first().copied())
}

/// The maker that sends the fewest bytes in a new session; in a tie SoftSpoken 4.
pub(crate) fn leanest(demand: Demand) -> Extension {
    let demand = demand.at_most(&Demand { cots_by_alice: MOST, cots_by_bob: MOST, triples: MOST });
    let bytes = |maker: &Extension| -> usize {
        let (exchanges, _) = MakerLengths::new(Party::Alice, *maker).refill(demand);
        exchanges.into_iter().map(|exchange| exchange.sent + exchange.read).sum()
    };
    candidates().filter(|maker| fits(*maker, &demand)).min_by_key(bytes).unwrap_or(Extension::DEFAULT)
}

/// Whether memory for a batch is bounded as that of SoftSpoken is, more or less: a silent set makes whole batches. Triples
/// take a few bits each, COTs 16 bytes.
fn fits(extension: Extension, demand: &Demand) -> bool {
    let cots = demand.cots_by_alice.max(demand.cots_by_bob);
    cots == 0 || extension.lengths().batch(cots) as u64 <= MOST_KEPT
}

/// Bytes of a probe in each direction at most: with what else is said of it a bit more than half of 256 kB both ways.
const LONGEST_PROBE: usize = 64 << 10;

/// Bytes of a probe that are worth a measurement.
const SHORTEST_PROBE: usize = 4 << 10;

/// The part of what SoftSpoken 4 would send that a probe may be.
const PART: usize = 32;

/// What a probe says before it begins: the demand that it is made for, 8 bytes each for COTs by Alice, COTs by Bob,
/// triples.
pub(crate) const PROBE_HEAD: usize = 24;

/// Bytes of the probe in each direction, before whose end a maker is chosen for so much; zero where nothing is measured.
pub fn probe_length(demand: &Demand) -> usize {
    let demand = demand.at_most(&Demand { cots_by_alice: MOST, cots_by_bob: MOST, triples: MOST });
    let (exchanges, _) = MakerLengths::new(Party::Alice, Extension::DEFAULT).refill(demand);
    let sent: usize = exchanges.iter().map(|exchange| exchange.sent).sum();
    let received: usize = exchanges.iter().map(|exchange| exchange.read).sum();
    match (sent.max(received) / PART).min(LONGEST_PROBE) {
        length @ SHORTEST_PROBE.. => length / PIECES * PIECES,
        _ => 0,
    }
}

/// Bytes of the probe in each direction before the protocol is chosen, where so many bytes are sent at least: some are always
/// worth it, for rounds differ.
pub(crate) fn probe_for(bytes: u64) -> usize {
    let part = usize::try_from(bytes / PART as u64).unwrap_or(usize::MAX);
    part.clamp(SHORTEST_PROBE, LONGEST_PROBE) / PIECES * PIECES
}

/// A probe is sent in so many pieces, whose arrivals are timed.
pub(crate) const PIECES: usize = 8;

/// The bytes that a probe of this length adds in each direction to the two exchanges of the base OTs.
pub(crate) fn probing(length: usize) -> [usize; 2] {
    if length == 0 { [0; 2] } else { [PROBE_HEAD + length, Findings::LEN] }
}

/// What the terms say of the maker: its name, or that it is chosen, perhaps for an assumed line.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct MakerTerm {
    /// The maker; none where it is chosen.
    pub extension: Option<Extension>,
    /// The line that it is chosen for; none where that is measured.
    pub link: Option<Link>,
}

/// What the terms and a demand say of the maker.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Decision {
    /// This one, for these conditions where any were assumed.
    Chosen(Extension, Option<Conditions>),
    /// The line and the processors are measured first, with a probe of so many bytes in each direction.
    Measure(usize),
}

impl MakerTerm {
    pub fn new(extension: impl Into<Option<Extension>>) -> Self {
        MakerTerm { extension: extension.into(), link: None }
    }

    /// The choice where nothing need be measured, with the line that it was made for; else the length of the probe.
    pub fn decide(&self, demand: &Demand) -> Decision {
        match (self.extension, self.link) {
            (Some(extension), _) => Decision::Chosen(extension, None),
            (None, Some(link)) => {
                let conditions = Conditions::of(&link);
                Decision::Chosen(choose(*demand, &conditions), Some(conditions))
            }
            (None, None) => match probe_length(demand) {
                0 => Decision::Chosen(Extension::DEFAULT, None),
                length => Decision::Measure(length),
            },
        }
    }
}

impl fmt::Display for MakerTerm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.extension, self.link) {
            (Some(extension), _) => extension.fmt(f),
            (None, None) => write!(f, "auto by rule {RULE}"),
            (None, Some(link)) => write!(f, "auto by rule {RULE} for {link}"),
        }
    }
}

#[cfg(test)]
mod tests;

//! Circuit PSI: which strings two parties have in common as shares, with values of both, for programs to go on with.
//!
//! Rindal, Schoppmann: *VOLE-PSI* (EUROCRYPT 2021, ePrint 2021/266), §5, figure 9; the idea is that of Pinkas, Schneider, Tkachenko, Yanai:
//! *Efficient circuit-based PSI with linear communication* (EUROCRYPT 2019). The receiver places each of its strings x in one of three
//! bins that hang on it (cuckoo hashing, `bins.rs`); the sender knows of each of its strings y all three. With the pseudorandom
//! function F of the [intersection](super), of strings and which of the three functions it was:
//!
//! ```text
//! setup              VOLE, as for rows
//! receiver → sender  a seed of bins; a seed, and a + P, for the (x, i) of x in bin i(x)
//! sender             a random target t and mask u for each bin
//! sender → receiver  a table Q under which each (y, i) decodes to (t of bin i(y), value of y ⊕ u of the bin) ⊕ F(y, i)
//! receiver           (r, s) of a bin: F(x, i) ⊕ decode(Q, (x, i)); of an empty bin random bits
//! ```
//!
//! So r = t in a bin where x is the sender's too, and s ⊕ u is the sender's value; in all others r and s are random, and r = t
//! with less than 2⁻⁴⁰ for all bins together, as they have 40 + log₂(bins) bits. r is the receiver's, t the sender's: a program compares them
//! by the call for [equality](crate::equality) ([`shares`]).
//!
//! A value of the sender's can be *added* to u in place of XORed, modulo 2⁶⁴ or a smaller power: then the receiver has v + u, the sender −u,
//! and no bit of it has to be converted for a [sum](crate::conditional_sum).
//!
//! **Security**: semi-honest parties; that of [the intersection](super). Q is a table of values masked by F, and for (y, i) that
//! the receiver did not encode F is random to it: it looks random, but for what the targets and masked values of its own strings say, which are
//! random too. The seed of bins is one with which all strings have a bin; it tells the sender that, and that was so with 1 − 2⁻⁴⁰
//! for any strings. **In which bin a string is hangs on all strings of the receiver**: a program must give to the sender nothing that hangs on
//! the order of bins, and to the receiver nothing of a bin but what it may know of that string.
//!
//! **Departs** from the paper: sparse columns of Q are cut to the bits that are read, as XOR goes bit by bit; dense ones, whose
//! coefficients are from the field, travel whole.

mod bins;
mod layout;
mod online;
mod programs;

use super::check_strings;
use super::setup::Setup;
use duologue::call::{Call, CallLengths, CallProtocol, CallWork, Context, OnlineStage, SetupStage, Zeroizing};
use duologue::circuit::program::{CallPort, Functionality, Holder};
use duologue::circuit::{BitMatrix, Error, Party, bits};
use layout::Layout;
use online::{Receiver, Sender};
pub(crate) use programs::compared;
pub use programs::{COUNT_WIDTH, MOST_VALUE_WIDTH, Shares, joined, shares, size, sum, threshold};
use std::collections::HashMap;
use std::sync::Arc;

/// The most strings of a party.
pub const MOST: u64 = 1 << 23;

/// Bits of a tag that are enough for [`MOST`] strings.
pub const MOST_TAG: u32 = 64;

/// Bits of a tag and of all of the sender's values together, at most.
const MOST_ENTRY: u32 = 128;

/// The bins of so many strings of the receiver, at most [`MOST`]: a public number, a multiple of 64.
pub fn bins(strings: u64) -> u64 {
    bins::count(strings as usize) as u64
}

/// Who does what, and how many bits tell strings apart.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Terms {
    /// The party whose strings are placed in bins. With fewer strings it takes fewer bytes.
    pub receiver: Party,
    /// Bits of a tag: at least 40 and the logarithm of the number of bins.
    pub tag: u32,
}

impl Terms {
    /// For any numbers of strings.
    pub fn new(receiver: Party) -> Terms {
        Terms { receiver, tag: MOST_TAG }
    }

    /// For these numbers of Alice's and Bob's strings: the receiver has fewer, or is `first` of as many.
    pub fn of_sizes([alice, bob]: [u64; 2], first: Party) -> Terms {
        let receiver = match alice.cmp(&bob) {
            std::cmp::Ordering::Less => Party::Alice,
            std::cmp::Ordering::Equal => first,
            std::cmp::Ordering::Greater => Party::Bob,
        };
        Terms { receiver, tag: layout::tag_bits(alice.min(bob) as usize) }
    }

    /// As parameters of the call, with how the values travel.
    fn parameters(self, values: &[Carried]) -> Vec<u8> {
        [self.receiver as u8, self.tag as u8].into_iter().chain(values.iter().map(|value| value.number())).collect()
    }

    /// From the parameters of a call: with how each value travels.
    fn read(parameters: &[u8]) -> Result<(Terms, Vec<Carried>), Error> {
        let party = |number: u8| [Party::Alice, Party::Bob].into_iter().find(|&party| party as u8 == number);
        let read = parameters.split_first_chunk().and_then(|(&[receiver, tag], values)| {
            let values = values.iter().map(|&number| Carried::read(number)).collect::<Option<_>>()?;
            Some((Terms { receiver: party(receiver)?, tag: u32::from(tag) }, values))
        });
        let fits = |(terms, _): &(Terms, _)| (1..=MOST_TAG).contains(&terms.tag);
        read.filter(fits).ok_or_else(|| {
            let why = "the receiver (0 Alice, 1 Bob), 1 to 64 bits of a tag, and of each value whose it is, a byte each, or 2 \
                       for one of the sender's that is added, or 16 and a number of bytes below 8, modulo which it is added";
            Error::usage(why)
        })
    }
}

/// How a value that belongs to strings travels.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Carried {
    /// It is this party's; the sender's become XOR shares.
    Of(Party),
    /// It is the sender's, a signed number, and becomes a sum of two numbers of so many bytes.
    Added(u8),
}

impl Carried {
    /// The parameter that stands for it.
    fn number(self) -> u8 {
        match self {
            Carried::Of(party) => party as u8,
            Carried::Added(8) => 2,
            Carried::Added(bytes) => 16 + bytes,
        }
    }

    fn read(number: u8) -> Option<Carried> {
        match number {
            0 => Some(Carried::Of(Party::Alice)),
            1 => Some(Carried::Of(Party::Bob)),
            2 => Some(Carried::Added(8)),
            17..=23 => Some(Carried::Added(number - 16)),
            _ => None,
        }
    }

    /// Whose the value is.
    fn owner(self, receiver: Party) -> Party {
        match self {
            Carried::Of(party) => party,
            Carried::Added(_) => receiver.peer(),
        }
    }

    /// Bits of a value of so many that travel, or that are in bins.
    fn width(self, bits: u32) -> u32 {
        match self {
            Carried::Of(_) => bits,
            Carried::Added(bytes) => 8 * u32::from(bytes),
        }
    }

    /// What becomes of a value.
    fn results(self, value: &CallPort, receiver: Party) -> Vec<CallPort> {
        let ty = bits(self.width(value.ty.width));
        match self {
            Carried::Of(owner) if owner == receiver => vec![*value],
            Carried::Of(_) => vec![CallPort { ty: value.ty, holder: Holder::Shared }],
            Carried::Added(_) => {
                [receiver, receiver.peer()].map(|party| CallPort { ty, holder: Holder::Party(party) }).into()
            }
        }
    }
}

/// Strings in common, as tags. Alice's strings and Bob's, of equal width up to 128 bits, then any values of either, a lane for each of its
/// strings; the sender's together with a tag have at most 128 bits. Its parameters are the receiver, the bits of a tag and whose the values are,
/// a byte each; 2 is one of the sender's that is added in 64 bits, 16 + n one that is added in n bytes. Every result has a lane for each of the [`bins`] of the receiver's strings:
///
/// * Alice's tags and Bob's, which are equal where a string of the receiver is in the bin that the sender has too;
/// * of each value of the receiver what belongs to the string in the bin, which it knows; zero if there is none;
/// * of each value of the sender shares of what belongs to the string that both have; of something random where there is none.
///   Of one that is added, a signed number, the receiver has a number of as many bits, then the sender one: it is their sum.
///
/// Of equal strings of a party the first one counts, with its values. Which bin a string is in is random; the plain meaning has them in order.
#[derive(Clone, Copy, Debug)]
pub struct CircuitPsi;

impl Functionality for CircuitPsi {
    fn name(&self) -> &str {
        "duologue:circuit_psi"
    }

    fn version(&self) -> u32 {
        1
    }

    fn results(&self, parameters: &[u8], args: &[CallPort]) -> Result<Vec<CallPort>, Error> {
        let (terms, carried) = Terms::read(parameters)?;
        let [a, b, values @ ..] = args else {
            return Err(Error::usage(format!("Alice's strings and Bob's, not {} arguments", args.len())));
        };
        check_strings([a, b])?;
        let all = || carried.iter().copied().zip(values);
        let sent = all().filter(|(carried, _)| carried.owner(terms.receiver) != terms.receiver);
        let entry = sent.fold(terms.tag, |entry, (how, value)| entry.saturating_add(how.width(value.ty.width)));
        let held = all().all(|(how, value)| value.holder == Holder::Party(how.owner(terms.receiver)));
        let too_wide = all()
            .find(|(how, value)| matches!(how, Carried::Added(_)) && !(1..=how.width(0)).contains(&value.ty.width));
        match () {
            () if carried.len() != values.len() || !held => {
                Err(Error::usage("values of the parties that the parameters name, in this order, and no shared ones"))
            }
            () if entry > MOST_ENTRY => {
                let why = format!("the sender's values and a tag have {entry} bits, and {MOST_ENTRY} fit");
                Err(Error::usage(why))
            }
            () => match too_wide {
                Some((how, _)) => Err(Error::usage(format!("a value of 1 to {} bits, which is added", how.width(0)))),
                None => {
                    let tag = |party| CallPort { ty: bits(terms.tag), holder: Holder::Party(party) };
                    let values = all().flat_map(|(how, value)| how.results(value, terms.receiver));
                    Ok([Party::Alice, Party::Bob].map(tag).into_iter().chain(values).collect())
                }
            },
        }
    }

    fn lanes(&self, parameters: &[u8], args: &[u64]) -> Result<Vec<u64>, Error> {
        let (terms, carried) = Terms::read(parameters)?;
        let &[a, b, ref values @ ..] = args else { return Ok(Vec::new()) };
        if let Some(many) = [a, b].into_iter().find(|&lanes| lanes > MOST) {
            return Err(Error::usage(format!("at most {MOST} strings of a party, not {many}")));
        }
        let own = |party: Party| [a, b][party as usize];
        let owners = carried.iter().map(|how| how.owner(terms.receiver));
        if let Some((owner, lanes)) = owners.zip(values).find(|&(owner, &lanes)| own(owner) != lanes) {
            return Err(Error::usage(format!("a value for each of {owner}'s {} strings, not {lanes}", own(owner))));
        }
        let (bins, least) = (bins(own(terms.receiver)), layout::tag_bits(own(terms.receiver) as usize));
        if terms.tag < least {
            let why = format!("tags of {least} bits or more for {} strings, not {}", own(terms.receiver), terms.tag);
            return Err(Error::usage(why));
        }
        let added = carried.iter().filter(|how| matches!(how, Carried::Added(_))).count();
        Ok(vec![bins; args.len() + added])
    }

    fn evaluate(&self, parameters: &[u8], args: &[BitMatrix]) -> Vec<BitMatrix> {
        let (Ok((terms, carried)), [a, b, values @ ..]) = (Terms::read(parameters), args) else {
            return Vec::new();
        };
        let [mine, others] = if terms.receiver == Party::Alice { [a, b] } else { [b, a] };
        let (lanes, theirs) = (bins::count(mine.lanes()), firsts(others).into_iter().collect::<HashMap<_, _>>());
        let placed = firsts(mine);
        let mut results = [0, 1].map(|_| BitMatrix::zeros(terms.tag as usize, lanes)).to_vec();
        let sent = terms.receiver.peer() as usize;
        (0..lanes).for_each(|bin| results[sent].set(0, bin, true));
        for (bin, (string, _)) in placed.iter().enumerate() {
            results[sent].set(0, bin, !theirs.contains_key(string));
        }
        for (value, how) in values.iter().zip(carried) {
            let rows = how.width(value.rows() as u32) as usize;
            let mut result = BitMatrix::zeros(rows, lanes);
            for (bin, (string, row)) in placed.iter().enumerate() {
                let row = if how.owner(terms.receiver) == terms.receiver { Some(row) } else { theirs.get(string) };
                let Some(&row) = row else { continue };
                // A number that is added has its sign as often as there is room.
                (0..rows).for_each(|bit| result.set(bit, bin, value.get(bit.min(value.rows() - 1), row)));
            }
            results.push(result);
            if matches!(how, Carried::Added(_)) {
                results.push(BitMatrix::zeros(rows, lanes));
            }
        }
        results
    }
}

/// Each string once, with the lane where it comes first, in this order.
fn firsts(strings: &BitMatrix) -> Vec<(Vec<bool>, usize)> {
    let mut seen = std::collections::HashSet::new();
    let all = (0..strings.lanes()).map(|lane| (strings.lane(lane), lane));
    all.filter(|(string, _)| seen.insert(string.clone())).collect()
}

impl CallProtocol for CircuitPsi {
    fn lengths(&self, call: &Call, party: Party) -> duologue::Result<CallLengths> {
        Ok(Layout::new(call)?.lengths(party))
    }

    fn work(&self, call: &Call) -> Option<CallWork> {
        Layout::new(call).ok().map(|layout| layout.work())
    }

    fn setup(&self, call: &Arc<Call>, context: &Context) -> duologue::Result<SetupStage> {
        let layout = Layout::new(call)?;
        let vole = (!layout.is_empty()).then_some((layout.vole, layout.receiver));
        Ok(Box::new(Setup::new(vole, layout.lengths(context.party).stored, context)?))
    }

    fn online(
        &self,
        call: &Arc<Call>,
        party: Party,
        setup: Zeroizing<Vec<u8>>,
        args: Vec<Option<BitMatrix>>,
    ) -> duologue::Result<OnlineStage> {
        let layout = Layout::new(call)?;
        Ok(match party == layout.receiver {
            true => Box::new(Receiver::new(layout, setup, &args)?),
            false => Box::new(Sender::new(layout, setup, &args)?),
        })
    }
}

#[cfg(test)]
mod tests;

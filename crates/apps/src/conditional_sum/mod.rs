//! The sum of private values over the lanes in which a shared bit is set, as a call; of several bits a lane, a sum for each.
//!
//! A correlated OT multiplies a bit by a number: Gilboa, *Two party RSA key generation* (CRYPTO 1999, §4); with the bit as an XOR share
//! of both, as the conversion of shares in Demmler, Schneider, Zohner: *ABY* (NDSS 2015, §III-E). Where the condition is
//! e = e_S ⊕ e_R and the OT sender has the value v, e·v = e_S·v + e_R·(1 − 2·e_S)·v. All numbers are modulo 2ᴸ. With a random OT of
//! setup (m₀ and m₁ at the sender; c and m_c at the receiver) for each lane:
//!
//! ```text
//! receiver → sender   d = c ⊕ e_R
//! sender → receiver   y = m_d − m_{1⊕d} + (1 − 2·e_S)·v
//! sender's share      Σ e_S·v − m_d               receiver's share   Σ m_c + e_R·y
//! ```
//!
//! **Security**: semi-honest parties, that of the random OTs. The sender sees d, which c masks. The receiver sees y, of which
//! m_{1⊕d} is unknown to it where e_R is 0, and m_d where it is 1. Each lane has messages of its own, so each party's share is random.
//!
//! **Cost** of each value, or of counting, and of each bit: a random OT a lane in setup, which sends nothing else; L + 1 bits a lane online,
//! in two messages for all.

mod stages;

use duologue::call::{Call, CallLengths, CallProtocol, Context, Exchange, OnlineStage, SetupStage, Zeroizing};
use duologue::circuit::program::{CallPort, Functionality, Holder};
use duologue::circuit::{BitMatrix, Error, Party, bits};
use duologue::correlation::Demand;
use stages::{Online, Setup};
use std::ops::Range;
use std::sync::Arc;

/// The most bits of a value.
const MOST_WIDTH: u32 = 64;

/// Lanes that travel in an exchange.
const CHUNK: usize = 1 << 16;

/// The most random OTs of a call: lanes times bits of a condition times values.
const MOST_OTS: u64 = 1 << 26;

/// The most bits of a condition.
pub const MOST_CONDITIONS: u16 = 1 << 12;

/// The sum of all values over the lanes in which a bit is set. Its arguments are the bits, whoever holds them, and any values, signed numbers
/// of up to 64 bits of one party each, of as many lanes; without values the lanes are counted. The first parameter is a byte, how many
/// bytes the sum has, at most 8, modulo which it is. The results are Alice's number and Bob's, of one lane: their sum is the sum. A
/// condition of several bits has two more bytes of parameters, how many they are; the results have a lane for each.
#[derive(Clone, Copy, Debug)]
pub struct ConditionalSum;

/// Parameters for sums of so many bytes under so many bits.
pub fn parameters(bytes: u8, conditions: u16) -> Vec<u8> {
    [&[bytes][..], &conditions.to_le_bytes()].concat()
}

/// How many bytes a sum has, and how many bits a condition.
fn read(parameters: &[u8]) -> Result<(usize, usize), Error> {
    let (bytes, conditions) = match *parameters {
        [bytes] => (bytes, 1),
        [bytes, low, high] => (bytes, u16::from_le_bytes([low, high])),
        _ => (0, 1),
    };
    match (1..=8).contains(&bytes) && (1..=MOST_CONDITIONS).contains(&conditions) {
        true => Ok((bytes.into(), conditions.into())),
        false => Err(Error::usage(format!(
            "one byte, how many bytes the sum has: 1 to 8; and perhaps two, how many bits a condition has: 1 to {MOST_CONDITIONS}"
        ))),
    }
}

impl Functionality for ConditionalSum {
    fn name(&self) -> &str {
        "duologue:conditional_sum"
    }

    fn version(&self) -> u32 {
        1
    }

    fn results(&self, parameters: &[u8], args: &[CallPort]) -> Result<Vec<CallPort>, Error> {
        let (bytes, conditions) = read(parameters)?;
        let [condition, values @ ..] = args else { return Err(Error::usage("a bit and values, not nothing")) };
        let fits = |value: &CallPort| value.holder != Holder::Shared && (1..=MOST_WIDTH).contains(&value.ty.width);
        match () {
            () if condition.ty.width as usize != conditions => {
                let bits = if conditions == 1 { "one bit".into() } else { format!("{conditions} bits") };
                Err(Error::usage(format!("a condition of {bits}, not {}", condition.ty.width)))
            }
            () if !values.iter().all(fits) => {
                Err(Error::usage(format!("values of 1 to {MOST_WIDTH} bits that one party has, and no shared ones")))
            }
            () => {
                let part = |party| CallPort { ty: bits(8 * bytes as u32), holder: Holder::Party(party) };
                Ok([Party::Alice, Party::Bob].map(part).into())
            }
        }
    }

    fn lanes(&self, parameters: &[u8], args: &[u64]) -> Result<Vec<u64>, Error> {
        let conditions = read(parameters)?.1 as u64;
        let lanes = args.first().copied().unwrap_or_default();
        let ots = lanes.saturating_mul(conditions).saturating_mul(args.len().saturating_sub(1).max(1) as u64);
        match () {
            () if !args.iter().all(|&others| others == lanes) => {
                Err(Error::usage(format!("as many conditions as values, not {args:?}")))
            }
            // One bit of a condition, whatever its lanes, is computed in chunks that are stored.
            () if conditions > 1 && ots > MOST_OTS => {
                Err(Error::usage(format!("at most {MOST_OTS} lanes times bits times values, not {ots}")))
            }
            () => Ok(vec![conditions; 2]),
        }
    }

    fn evaluate(&self, parameters: &[u8], args: &[BitMatrix]) -> Vec<BitMatrix> {
        let (Ok((bytes, conditions)), [condition, values @ ..]) = (read(parameters), args) else { return Vec::new() };
        let values: Vec<Vec<i64>> = values.iter().map(|value| value.to_numbers().unwrap_or_default()).collect();
        let sum = |bit: usize| {
            let set = (0..condition.lanes()).filter(|&lane| condition.get(bit, lane));
            set.fold(0u64, |sum, lane| match &values[..] {
                [] => sum + 1,
                values => values.iter().fold(sum, |sum, own| sum.wrapping_add(own[lane] as u64)),
            })
        };
        let sums: Vec<u64> = (0..conditions).map(sum).collect();
        vec![numbers(bytes, &sums), numbers(bytes, &vec![0; conditions])]
    }
}

/// Numbers of so many bytes, modulo these, as lanes.
fn numbers(bytes: usize, numbers: &[u64]) -> BitMatrix {
    let mut lanes = BitMatrix::zeros(8 * bytes, numbers.len());
    for (lane, number) in numbers.iter().enumerate() {
        (0..8 * bytes).for_each(|bit| lanes.set(bit, lane, number >> bit & 1 == 1));
    }
    lanes
}

/// Sizes and messages: public terms alone.
#[derive(Clone)]
struct Layout {
    /// Bytes of a sum.
    bytes: usize,
    lanes: usize,
    /// Bits of a condition.
    conditions: usize,
    /// Of each value who has it and sends the OTs; if lanes are counted, Alice.
    senders: Vec<Party>,
}

/// The messages online.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Message {
    /// d, from the receiver of the OTs.
    Masked,
    /// y, from their sender.
    Corrections,
}

impl Layout {
    fn new(call: &Call) -> duologue::Result<Layout> {
        let lanes = call.args.first().map_or(0, |condition| condition.lanes);
        let lanes =
            usize::try_from(lanes).map_err(|_| duologue::Error::usage("more lanes than this machine can count"))?;
        let held = call.args.iter().skip(1).filter_map(|value| match value.holder {
            Holder::Party(party) => Some(party),
            Holder::Shared => None,
        });
        let senders: Vec<Party> = if call.args.len() > 1 { held.collect() } else { vec![Party::Alice] };
        let (bytes, conditions) = read(&call.parameters)?;
        Ok(Layout { bytes, lanes, conditions, senders })
    }

    /// The value and the bit of the condition that a term multiplies.
    fn factors(&self, term: usize) -> (usize, usize) {
        (term / self.conditions, term % self.conditions)
    }

    /// Who sends the OTs of a term.
    fn sender(&self, term: usize) -> Party {
        self.senders[self.factors(term).0]
    }

    /// The lanes of all chunks.
    fn chunks(&self) -> impl Iterator<Item = Range<usize>> + use<> {
        let lanes = self.lanes;
        (0..lanes).step_by(CHUNK).map(move |from| from..lanes.min(from + CHUNK))
    }

    /// The terms, each a value times a bit of the condition, and their chunks, in the order of setup.
    fn parts(&self) -> impl Iterator<Item = (usize, Range<usize>)> + '_ {
        (0..self.senders.len() * self.conditions).flat_map(|term| self.chunks().map(move |lanes| (term, lanes)))
    }

    /// The messages in their order, each of a term and a chunk.
    fn exchanges(&self) -> Vec<(Message, usize, Range<usize>)> {
        let all = |message| self.parts().map(move |(term, lanes)| (message, term, lanes));
        [Message::Masked, Message::Corrections].into_iter().flat_map(all).collect()
    }

    /// Who sends a message of a term.
    fn writer(&self, message: Message, term: usize) -> Party {
        let sender = self.sender(term);
        if message == Message::Corrections { sender } else { sender.peer() }
    }

    /// Bytes of a message.
    fn length(&self, message: Message, lanes: &Range<usize>) -> usize {
        if message == Message::Corrections { self.bytes * lanes.len() } else { lanes.len().div_ceil(8) }
    }

    /// Bytes that a party stores of a chunk of a term: both messages of each lane, or the choices and the chosen ones.
    fn stored(&self, party: Party, term: usize, lanes: &Range<usize>) -> usize {
        match self.sender(term) == party {
            true => 2 * self.bytes * lanes.len(),
            false => 8 * lanes.len().div_ceil(64) + self.bytes * lanes.len(),
        }
    }

    fn lengths(&self, party: Party) -> CallLengths {
        let draw = |(term, lanes): (usize, Range<usize>)| Exchange {
            demand: Demand::of_cots(self.sender(term), lanes.len() as u64),
            ..Exchange::default()
        };
        let exchange = |(message, term, lanes): (Message, usize, Range<usize>)| {
            let bytes = self.length(message, &lanes);
            let (sent, read) = if self.writer(message, term) == party { (bytes, 0) } else { (0, bytes) };
            Exchange { sent, read, ..Exchange::default() }
        };
        CallLengths {
            setup: self.parts().map(draw).collect(),
            stored: self.parts().map(|(term, lanes)| self.stored(party, term, &lanes)).sum(),
            online: self.exchanges().into_iter().map(exchange).collect(),
        }
    }
}

impl CallProtocol for ConditionalSum {
    fn lengths(&self, call: &Call, party: Party) -> duologue::Result<CallLengths> {
        Ok(Layout::new(call)?.lengths(party))
    }

    fn setup(&self, call: &Arc<Call>, context: &Context) -> duologue::Result<SetupStage> {
        Ok(Box::new(Setup::new(Layout::new(call)?, context.party)))
    }

    fn online(
        &self,
        call: &Arc<Call>,
        party: Party,
        setup: Zeroizing<Vec<u8>>,
        args: Vec<Option<BitMatrix>>,
    ) -> duologue::Result<OnlineStage> {
        Ok(Box::new(Online::new(Layout::new(call)?, party, setup, args)?))
    }
}

#[cfg(test)]
mod tests;

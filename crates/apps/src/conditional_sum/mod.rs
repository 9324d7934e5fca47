//! The sum of private values over the lanes in which a shared bit is set, as a call.
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
//! **Cost** of each value, or of counting: a random OT a lane in setup, which sends nothing else; L + 1 bits a lane online, in two messages.

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

/// The sum of all values over the lanes in which a bit is set. Its arguments are the bits, whoever holds them, and any values, signed numbers
/// of up to 64 bits of one party each, of as many lanes; without values the lanes are counted. The parameter is a byte, how many
/// bytes the sum has, at most 8, modulo which it is. The results are Alice's number and Bob's, of one lane: their sum is the sum.
#[derive(Clone, Copy, Debug)]
pub struct ConditionalSum;

fn bytes_of(parameters: &[u8]) -> Result<usize, Error> {
    match parameters {
        &[bytes @ 1..=8] => Ok(bytes.into()),
        _ => Err(Error::usage("one byte, how many bytes the sum has: 1 to 8")),
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
        let bytes = bytes_of(parameters)?;
        let [condition, values @ ..] = args else { return Err(Error::usage("a bit and values, not nothing")) };
        let fits = |value: &CallPort| value.holder != Holder::Shared && (1..=MOST_WIDTH).contains(&value.ty.width);
        match () {
            () if condition.ty.width != 1 => {
                Err(Error::usage(format!("a condition of one bit, not {}", condition.ty.width)))
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

    fn lanes(&self, _: &[u8], args: &[u64]) -> Result<Vec<u64>, Error> {
        match args.iter().all(|lanes| lanes == &args[0]) {
            true => Ok(vec![1, 1]),
            false => Err(Error::usage(format!("as many conditions as values, not {args:?}"))),
        }
    }

    fn evaluate(&self, parameters: &[u8], args: &[BitMatrix]) -> Vec<BitMatrix> {
        let (Ok(bytes), [condition, values @ ..]) = (bytes_of(parameters), args) else { return Vec::new() };
        let set = |lane: &usize| condition.get(0, *lane);
        let values = values.iter().map(|value| value.to_numbers::<i64>().unwrap_or_default());
        let sums =
            values.map(|value| (0..condition.lanes()).filter(set).fold(0, |sum: i64, i| sum.wrapping_add(value[i])));
        let sum = match args.len() {
            1 => (0..condition.lanes()).filter(set).count() as i64,
            _ => sums.fold(0, i64::wrapping_add),
        };
        vec![number(bytes, sum as u64), number(bytes, 0)]
    }
}

/// A number of so many bytes, modulo these, as one lane.
fn number(bytes: usize, number: u64) -> BitMatrix {
    let mut lane = BitMatrix::zeros(8 * bytes, 1);
    (0..8 * bytes).for_each(|bit| lane.set(bit, 0, number >> bit & 1 == 1));
    lane
}

/// Sizes and messages: public terms alone.
#[derive(Clone)]
struct Layout {
    /// Bytes of a sum.
    bytes: usize,
    lanes: usize,
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
        Ok(Layout { bytes: bytes_of(&call.parameters)?, lanes, senders })
    }

    /// The lanes of all chunks.
    fn chunks(&self) -> impl Iterator<Item = Range<usize>> + use<> {
        let lanes = self.lanes;
        (0..lanes).step_by(CHUNK).map(move |from| from..lanes.min(from + CHUNK))
    }

    /// The values and their chunks, in the order of setup.
    fn parts(&self) -> impl Iterator<Item = (usize, Range<usize>)> + '_ {
        (0..self.senders.len()).flat_map(|value| self.chunks().map(move |lanes| (value, lanes)))
    }

    /// The messages in their order, each of a value and a chunk.
    fn exchanges(&self) -> Vec<(Message, usize, Range<usize>)> {
        let all = |message| self.parts().map(move |(value, lanes)| (message, value, lanes));
        [Message::Masked, Message::Corrections].into_iter().flat_map(all).collect()
    }

    /// Who sends a message of a value.
    fn writer(&self, message: Message, value: usize) -> Party {
        let sender = self.senders[value];
        if message == Message::Corrections { sender } else { sender.peer() }
    }

    /// Bytes of a message.
    fn length(&self, message: Message, lanes: &Range<usize>) -> usize {
        if message == Message::Corrections { self.bytes * lanes.len() } else { lanes.len().div_ceil(8) }
    }

    /// Bytes that a party stores of a chunk of a value: both messages of each lane, or the choices and the chosen ones.
    fn stored(&self, party: Party, value: usize, lanes: &Range<usize>) -> usize {
        match self.senders[value] == party {
            true => 2 * self.bytes * lanes.len(),
            false => 8 * lanes.len().div_ceil(64) + self.bytes * lanes.len(),
        }
    }

    fn lengths(&self, party: Party) -> CallLengths {
        let draw = |(value, lanes): (usize, Range<usize>)| Exchange {
            demand: Demand::of_cots(self.senders[value], lanes.len() as u64),
            ..Exchange::default()
        };
        let exchange = |(message, value, lanes): (Message, usize, Range<usize>)| {
            let bytes = self.length(message, &lanes);
            let (sent, read) = if self.writer(message, value) == party { (bytes, 0) } else { (0, bytes) };
            Exchange { sent, read, ..Exchange::default() }
        };
        CallLengths {
            setup: self.parts().map(draw).collect(),
            stored: self.parts().map(|(value, lanes)| self.stored(party, value, &lanes)).sum(),
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

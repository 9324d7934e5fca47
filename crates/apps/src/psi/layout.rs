//! Sizes, roles, messages and their chunks: public terms alone.

use super::okvs::Shape;
use super::oprf;
use super::{Learns, learns};
use crate::vole::Parameters;
use duologue::Result;
use duologue::call::{Call, CallLengths, CallWork, Exchange};
use duologue::circuit::Party;
use std::ops::Range;

/// Blocks of a table, and tags, that travel in an exchange.
const CHUNK: usize = 1 << 16;

/// Tags whose bits travel in an exchange.
const BITS: usize = 1 << 23;

/// Bits by which a pair of different strings must differ more than log₂ of the number of pairs.
pub const STATISTICAL: u32 = 40;

/// The layout of a call.
#[derive(Clone, Copy)]
pub struct Layout {
    pub learns: Learns,
    /// The party that encodes its strings.
    pub receiver: Party,
    /// Strings of the receiver and of the sender.
    pub encoded: usize,
    pub tagged: usize,
    pub shape: Shape,
    pub vole: Parameters,
    /// Bytes of a tag.
    pub tag: usize,
}

/// The messages online.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Message {
    /// The seed and the masked table, from the receiver, in blocks.
    Table,
    /// From the sender, in ascending order.
    Tags,
    /// From the receiver, a bit for each tag.
    Found,
}

impl Layout {
    pub fn new(call: &Call) -> Result<Layout> {
        let learns = learns(&call.parameters)?;
        let [a, b] = [0, 1].map(|number| call.args.get(number).map_or(0, |arg| arg.lanes as usize));
        let receiver = match learns {
            Learns::Only(party) => party,
            // The larger set travels in fewer bytes as tags.
            Learns::Both if b < a => Party::Bob,
            Learns::Both => Party::Alice,
        };
        let [encoded, tagged] = if receiver == Party::Alice { [a, b] } else { [b, a] };
        let shape = Shape::new(encoded);
        let bits = STATISTICAL + ceil_log(encoded) + ceil_log(tagged);
        let (vole, tag) = (Parameters::new(shape.len()), bits.div_ceil(8) as usize);
        Ok(Layout { learns, receiver, encoded, tagged, shape, vole, tag })
    }

    /// Whether there can be nothing in both sets: then nothing is computed.
    pub fn is_empty(&self) -> bool {
        self.encoded == 0 || self.tagged == 0
    }

    /// Blocks of the receiver's message: the seed and the table.
    fn blocks(&self) -> usize {
        1 + self.shape.len()
    }

    /// The messages in their order, with what of each travels in an exchange.
    pub fn exchanges(&self) -> Vec<(Message, Range<usize>)> {
        if self.is_empty() {
            return Vec::new();
        }
        let found = if self.learns == Learns::Both { self.tagged } else { 0 };
        let all = [
            (Message::Table, self.blocks(), CHUNK),
            (Message::Tags, self.tagged, CHUNK),
            (Message::Found, found, BITS),
        ];
        let chunks = |(message, len, chunk): (Message, usize, usize)| {
            (0..len).step_by(chunk).map(move |from| (message, from..len.min(from + chunk)))
        };
        all.into_iter().flat_map(chunks).collect()
    }

    /// Bytes of a part of a message.
    fn bytes(&self, message: Message, part: &Range<usize>) -> usize {
        match message {
            Message::Table => 16 * part.len(),
            Message::Tags => self.tag * part.len(),
            Message::Found => part.len().div_ceil(8),
        }
    }

    /// Who sends a message.
    fn writer(&self, message: Message) -> Party {
        if message == Message::Tags { self.receiver.peer() } else { self.receiver }
    }

    pub fn lengths(&self, party: Party) -> CallLengths {
        if self.is_empty() {
            return CallLengths::default();
        }
        let exchange = |(message, part): (Message, Range<usize>)| {
            let bytes = self.bytes(message, &part);
            let (sent, read) = if self.writer(message) == party { (bytes, 0) } else { (0, bytes) };
            Exchange { sent, read, ..Exchange::default() }
        };
        CallLengths {
            setup: self.vole.exchanges(party, self.receiver.peer()),
            stored: oprf::stored(self.shape)[usize::from(party != self.receiver)],
            online: self.exchanges().into_iter().map(exchange).collect(),
        }
    }
}

/// Blocks that VOLE computes for each string that is encoded.
pub const VOLE_BLOCKS: u64 = 230;

impl Layout {
    /// Fitted to runs of 2¹⁴ to 2²⁰ strings a party: a table of many strings leaves the caches, and tags are sorted.
    pub fn work(&self) -> CallWork {
        if self.is_empty() {
            return CallWork::default();
        }
        let (encoded, tagged) = (self.encoded as u64, self.tagged as u64);
        let of_each = 210 + 154 * encoded.min(1 << 20) / (1 << 20);
        let online = of_each * encoded + 7 * u64::from(ceil_log(self.tagged)) * tagged;
        CallWork { setup: VOLE_BLOCKS * encoded, online }
    }
}

/// ⌈log₂⌉ of a number that is not zero; 0 for zero.
pub fn ceil_log(number: usize) -> u32 {
    usize::BITS - number.saturating_sub(1).leading_zeros()
}

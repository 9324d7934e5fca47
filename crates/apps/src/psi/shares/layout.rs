//! Sizes, roles, messages and their chunks: public terms alone.

use super::{Carried, Terms, bins};
use crate::psi::layout::{STATISTICAL, VOLE_BLOCKS, ceil_log};
use crate::psi::okvs::Shape;
use crate::psi::oprf;
use crate::vole::Parameters;
use duologue::Result;
use duologue::call::{Call, CallLengths, CallWork, Exchange};
use duologue::circuit::Party;
use std::ops::Range;

/// Blocks of the receiver's table that travel in an exchange.
const BLOCKS: usize = 1 << 16;

/// Entries of the sender's table that travel in an exchange.
const ENTRIES: usize = 1 << 17;

/// The layout of a call.
#[derive(Clone)]
pub struct Layout {
    pub receiver: Party,
    /// Bits of a tag.
    pub tag: u32,
    /// Strings of the receiver and of the sender.
    pub placed: usize,
    pub hinted: usize,
    pub bins: usize,
    /// Of the values in their order: how they travel, and with how many bits.
    pub values: Vec<(Carried, usize)>,
    /// The receiver's table.
    pub shape: Shape,
    pub vole: Parameters,
    /// The sender's table.
    pub hints: Shape,
    /// Bytes of an entry of its sparse columns.
    pub entry: usize,
}

/// The messages online.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Message {
    /// The seed of bins, from the receiver.
    Bins,
    /// The seed and the masked table, from the receiver, in blocks.
    Table,
    /// The seed and the dense columns of the sender's table, in blocks.
    Dense,
    /// Its sparse columns, in entries.
    Sparse,
}

/// Bits of a tag for so many strings in bins.
pub fn tag_bits(placed: usize) -> u32 {
    STATISTICAL + ceil_log(bins::count(placed))
}

impl Layout {
    pub fn new(call: &Call) -> Result<Layout> {
        let (Terms { receiver, tag }, carried) = Terms::read(&call.parameters)?;
        let [a, b] = [0, 1].map(|number| call.args.get(number).map_or(0, |arg| arg.lanes as usize));
        let [placed, hinted] = if receiver == Party::Alice { [a, b] } else { [b, a] };
        let values = carried.into_iter().zip(call.args.iter().skip(2));
        let values: Vec<_> = values.map(|(how, arg)| (how, how.width(arg.ty.width) as usize)).collect();
        let sent = values.iter().filter(|(how, _)| how.owner(receiver) != receiver).map(|(_, width)| width);
        let entry = (tag as usize + sent.sum::<usize>()).div_ceil(8);
        let (shape, hints) = (Shape::new(placed), Shape::new(bins::FUNCTIONS * hinted));
        let (vole, bins) = (Parameters::new(shape.len()), bins::count(placed));
        Ok(Layout { receiver, tag, placed, hinted, bins, values, shape, vole, hints, entry })
    }

    /// Whether there can be nothing in both sets: then nothing is computed.
    pub fn is_empty(&self) -> bool {
        self.placed == 0 || self.hinted == 0
    }

    /// The messages in their order, with what of each travels in an exchange.
    pub fn exchanges(&self) -> Vec<(Message, Range<usize>)> {
        if self.is_empty() {
            return Vec::new();
        }
        let all = [
            (Message::Bins, 1, 1),
            (Message::Table, 1 + self.shape.len(), BLOCKS),
            (Message::Dense, 1 + self.hints.dense, 1 + self.hints.dense),
            (Message::Sparse, self.hints.sparse, ENTRIES),
        ];
        let chunks = |(message, len, chunk): (Message, usize, usize)| {
            (0..len).step_by(chunk).map(move |from| (message, from..len.min(from + chunk)))
        };
        all.into_iter().flat_map(chunks).collect()
    }

    /// Who sends a message.
    fn writer(&self, message: Message) -> Party {
        if matches!(message, Message::Bins | Message::Table) { self.receiver } else { self.receiver.peer() }
    }

    pub fn lengths(&self, party: Party) -> CallLengths {
        if self.is_empty() {
            return CallLengths::default();
        }
        let exchange = |(message, part): (Message, Range<usize>)| {
            let bytes = part.len() * if message == Message::Sparse { self.entry } else { 16 };
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

impl Layout {
    /// Fitted to runs of 2¹⁴ and 2¹⁷ strings a party: strings are put into bins, hints of three tables are encoded.
    pub fn work(&self) -> CallWork {
        if self.is_empty() {
            return CallWork::default();
        }
        let (placed, hinted) = (self.placed as u64, self.hinted as u64);
        CallWork { setup: VOLE_BLOCKS * placed, online: 385 * placed + 780 * hinted }
    }
}

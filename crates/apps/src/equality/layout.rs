//! How strings are cut into chunks, levels and pieces, and what follows for lengths: public terms alone.

use duologue::call::{Call, CallLengths, CallWork, Exchange};
use duologue::circuit::Party;
use duologue::correlation::Demand;

/// Bits of a piece.
pub const PIECE: usize = 4;

/// Values of a piece.
pub const VALUES: usize = 1 << PIECE;

/// Bits of all strings of a chunk, about: so many OTs lie in the caches.
const CHUNK_BITS: usize = 1 << 16;

/// The layout of a call.
pub struct Layout {
    pub width: usize,
    pub lanes: usize,
    /// Pieces of a string on each level.
    pub pieces: Vec<usize>,
    /// Lanes of each chunk but the last.
    chunk: usize,
}

impl Layout {
    pub fn new(call: &Call) -> Layout {
        let arg = call.args.first();
        let (width, lanes) = arg.map_or((1, 0), |arg| (arg.ty.width as usize, arg.lanes as usize));
        let chunk = (CHUNK_BITS / width.max(1)).clamp(64, 1 << 16).next_multiple_of(64);
        let mut pieces = Vec::new();
        // A bit takes a level, too: shares have to look random to whoever sees both.
        while pieces.last().is_none_or(|&last| last > 1) {
            pieces.push(pieces.last().unwrap_or(&width).div_ceil(PIECE));
        }
        Layout { width, lanes, pieces, chunk }
    }

    pub fn levels(&self) -> usize {
        self.pieces.len()
    }

    pub fn chunks(&self) -> usize {
        self.lanes.div_ceil(self.chunk)
    }

    /// The first lane of a chunk, and how many it has.
    pub fn lanes_of(&self, chunk: usize) -> (usize, usize) {
        let from = chunk * self.chunk;
        (from, self.chunk.min(self.lanes - from))
    }

    /// Words of a row of a chunk.
    pub fn stride(&self, chunk: usize) -> usize {
        self.lanes_of(chunk).1.div_ceil(64)
    }

    /// Rows that a party stores of a chunk: of each piece the bits of all values, or choice and chosen bit.
    pub fn stored_rows(&self, party: Party) -> usize {
        let rows = |level| if sender(level) == party { VALUES } else { PIECE + 1 };
        (0..self.levels()).map(|level| self.pieces[level] * rows(level)).sum()
    }

    /// Rows of the message of this number: the answers of the level before, and the masked pieces of the next.
    pub fn rows_of(&self, message: usize) -> usize {
        let answers = message.checked_sub(1).map_or(0, |level| (VALUES - 1) * self.pieces[level]);
        answers + self.pieces.get(message).map_or(0, |pieces| PIECE * pieces)
    }

    /// Messages: one more than levels.
    pub fn messages(&self) -> usize {
        self.levels() + 1
    }

    /// The random OTs of a chunk that a party sends.
    pub fn ots(&self, chunk: usize, by: Party) -> usize {
        let pieces = (0..self.levels()).filter(|&level| sender(level) == by).map(|level| self.pieces[level]);
        PIECE * pieces.sum::<usize>() * self.lanes_of(chunk).1
    }

    pub fn lengths(&self, party: Party) -> CallLengths {
        let chunks = 0..self.chunks();
        let demand = |chunk| Demand {
            cots_by_alice: self.ots(chunk, Party::Alice) as u64,
            cots_by_bob: self.ots(chunk, Party::Bob) as u64,
            ..Demand::NONE
        };
        let stored = chunks.clone().map(|chunk| 8 * self.stride(chunk) * self.stored_rows(party)).sum();
        let setup = chunks.clone().map(|chunk| Exchange { demand: demand(chunk), ..Exchange::default() }).collect();
        let message = |(message, chunk)| {
            let bytes = (self.rows_of(message) * self.lanes_of(chunk).1).div_ceil(8);
            let (sent, read) = if writer(message) == party { (bytes, 0) } else { (0, bytes) };
            Exchange { sent, read, ..Exchange::default() }
        };
        let messages = (0..self.messages()).flat_map(|number| chunks.clone().map(move |chunk| (number, chunk)));
        CallLengths { setup, stored, online: messages.map(message).collect() }
    }
}

impl Layout {
    /// Fitted to runs of 2¹⁴ to 2²⁰ strings of 128 bits: setup is within 35 % of what they took.
    pub fn work(&self) -> CallWork {
        let pieces = (self.pieces.iter().sum::<usize>() as u64).saturating_mul(self.lanes as u64);
        let [setup, online] = [31 * PIECE as u64, 4].map(|blocks| pieces.saturating_mul(blocks));
        CallWork { setup, online }
    }
}

/// Who sends the OTs of a level.
pub fn sender(level: usize) -> Party {
    if level.is_multiple_of(2) { Party::Alice } else { Party::Bob }
}

/// Who writes a message: the receiver of the OTs of its level.
pub fn writer(message: usize) -> Party {
    sender(message).peer()
}

//! Setup and online: all bits of a chunk lie in rows, 64 lanes to a word, so that nothing is indexed by a secret.

use super::layout::{Layout, PIECE, VALUES, sender, writer};
use crate::packed::{BitReader, BitWriter};
use duologue::Result;
use duologue::call::{Drawn, Outbox, Stage, Zeroizing};
use duologue::circuit::{BitMatrix, Party};
use duologue::correlation::derived::{ReceivedTables, SentTables};
use kernels::transpose::transpose_64;

/// All values of a piece but 0, as a set of bits.
const OTHERS: u64 = (1 << VALUES) - 2;

/// Setup: a chunk at a time, random OTs become rows that are stored.
pub struct Setup {
    layout: Layout,
    party: Party,
    next: usize,
    stored: Zeroizing<Vec<u8>>,
}

impl Setup {
    pub fn new(layout: Layout, party: Party) -> Setup {
        let stored = Zeroizing::new(Vec::with_capacity(layout.lengths(party).stored));
        Setup { layout, party, next: 0, stored }
    }

    /// The rows of one piece: in each word 64 OTs, one a lane.
    fn store(&mut self, rows: usize, lanes: usize, bits_of: impl Fn(usize) -> u64) {
        let stride = lanes.div_ceil(64);
        let mut words = Zeroizing::new(vec![0u64; rows * stride]);
        let mut square = Zeroizing::new([0u64; 64]);
        for word in 0..stride {
            let bits = |i| if 64 * word + i < lanes { bits_of(64 * word + i) } else { 0 };
            *square = std::array::from_fn(bits);
            transpose_64(&mut square);
            (0..rows).for_each(|row| words[row * stride + word] = square[row]);
        }
        words.iter().for_each(|word| self.stored.extend_from_slice(&word.to_le_bytes()));
    }
}

impl Stage for Setup {
    type Output = Zeroizing<Vec<u8>>;

    fn step(&mut self, drawn: Drawn, _: &[u8], _: &mut Outbox) -> Result<()> {
        let lanes = self.layout.lanes_of(self.next).1;
        let SentTables { tables } = &drawn.ots.sent.bit_of(VALUES as u32)?;
        let ReceivedTables { choices, bits } = &drawn.ots.received.bit_of(VALUES as u32)?;
        let (mut sent, mut received) = (0, 0);
        for level in 0..self.layout.levels() {
            for _ in 0..self.layout.pieces[level] {
                if sender(level) == self.party {
                    // m_0 in row 0, m_x ⊕ m_0 in the others.
                    self.store(VALUES, lanes, |lane| {
                        let table = tables[sent + lane];
                        table ^ (table & 1).wrapping_neg() & OTHERS
                    });
                    sent += lanes;
                } else {
                    self.store(PIECE + 1, lanes, |lane| {
                        u64::from(choices[received + lane]) | u64::from(bits[received + lane]) << PIECE
                    });
                    received += lanes;
                }
            }
        }
        self.next += 1;
        Ok(())
    }

    fn finish(self: Box<Self>, _: &[u8]) -> Result<Zeroizing<Vec<u8>>> {
        Ok(self.stored)
    }
}

/// Online: message after message, each chunk by chunk.
pub struct Online {
    layout: Layout,
    party: Party,
    chunks: Vec<Chunk>,
    next: usize,
}

/// What a party has of a chunk.
struct Chunk {
    /// Its string of the level, row by row.
    string: Zeroizing<Vec<u64>>,
    /// The rows that setup stored, and how many words of them are used.
    stored: Zeroizing<Vec<u64>>,
    used: usize,
    /// The peer's masked pieces that are to be answered.
    masked: Vec<Vec<u64>>,
    /// Words of a row.
    stride: usize,
    lanes: usize,
}

impl Online {
    pub fn new(layout: Layout, party: Party, setup: Zeroizing<Vec<u8>>, args: &[Option<BitMatrix>]) -> Online {
        let mut bytes = &setup[..];
        let mut chunks = Vec::new();
        for chunk in 0..layout.chunks() {
            let (stride, lanes) = (layout.stride(chunk), layout.lanes_of(chunk).1);
            let size = 8 * stride * layout.stored_rows(party);
            let words = bytes.split_off(..size).unwrap_or_default().as_chunks().0;
            let stored = Zeroizing::new(words.iter().map(|&word| u64::from_le_bytes(word)).collect());
            let (string, masked) = (string(&layout, chunk, args), Vec::new());
            chunks.push(Chunk { string, stored, used: 0, masked, stride, lanes });
        }
        Online { layout, party, chunks, next: 0 }
    }

    /// What came with the last exchange: the answers of a level, and masked pieces of the next.
    fn read(&mut self, inbox: &[u8]) -> Result<()> {
        let Some(last) = self.next.checked_sub(1) else { return Ok(()) };
        let (message, number) = (last / self.chunks.len(), last % self.chunks.len());
        if writer(message) == self.party {
            return Ok(());
        }
        let chunk = &mut self.chunks[number];
        let mut bits = BitReader::new(inbox, (self.layout.rows_of(message) * chunk.lanes) as u64)?;
        if let Some(level) = message.checked_sub(1) {
            let shares = chunk.choose(self.layout.pieces[level], &mut bits);
            chunk.go_on(self.party, shares);
        }
        if let Some(&pieces) = self.layout.pieces.get(message) {
            chunk.masked = (0..PIECE * pieces).map(|_| bits.row(chunk.lanes)).collect();
        }
        Ok(())
    }

    fn write(&mut self, outbox: &mut Outbox) {
        let (message, number) = (self.next / self.chunks.len(), self.next % self.chunks.len());
        if writer(message) != self.party {
            return;
        }
        let (chunk, mut out) = (&mut self.chunks[number], BitWriter::default());
        if message > 0 {
            let shares = chunk.answer(&mut out);
            chunk.go_on(self.party, shares);
        }
        if let Some(&pieces) = self.layout.pieces.get(message) {
            chunk.mask(pieces, &mut out);
        }
        outbox.extend_from_slice(&out.bytes());
    }
}

impl Stage for Online {
    type Output = Vec<Option<BitMatrix>>;

    fn step(&mut self, _: Drawn, inbox: &[u8], outbox: &mut Outbox) -> Result<()> {
        self.read(inbox)?;
        self.write(outbox);
        self.next += 1;
        Ok(())
    }

    /// The last bit of each lane: u at Alice, the complement of v at Bob.
    fn finish(mut self: Box<Self>, inbox: &[u8]) -> Result<Vec<Option<BitMatrix>>> {
        self.read(inbox)?;
        let mut equal = BitMatrix::zeros(1, self.layout.lanes);
        let words = self.chunks.iter().flat_map(|chunk| &chunk.string[..]);
        for (to, &word) in equal.row_mut(0).iter_mut().zip(words) {
            *to = if self.party == Party::Bob { !word } else { word };
        }
        equal.clear_padding();
        Ok(vec![Some(equal)])
    }
}

impl Chunk {
    /// Receiver: d = c ⊕ v of each piece. The choices stay until the answer comes.
    fn mask(&self, pieces: usize, out: &mut BitWriter) {
        for (piece, i) in (0..pieces).flat_map(|piece| (0..PIECE).map(move |i| (piece, i))) {
            let first = self.used + ((PIECE + 1) * piece + i) * self.stride;
            let choices = &self.stored[first..first + self.stride];
            let masked: Vec<u64> = choices.iter().zip(self.row(PIECE * piece + i)).map(|(c, v)| c ^ v).collect();
            out.row(&masked, self.lanes);
        }
    }

    /// Sender: writes y_1 … y_15 of each piece; the own shares r.
    fn answer(&mut self, out: &mut BitWriter) -> Zeroizing<Vec<u64>> {
        let (stride, masked) = (self.stride, std::mem::take(&mut self.masked));
        let mut shares = Zeroizing::new(Vec::with_capacity(masked.len() / PIECE * stride));
        for (piece, d) in masked.chunks(PIECE).enumerate() {
            let mut table = self.take(VALUES);
            for word in 0..stride {
                let bit = |i: usize| self.word(PIECE * piece + i, word) ^ d[i][word];
                let one_hot = one_hot(std::array::from_fn(bit));
                table[word] ^= one_hot[0];
                for x in 1..VALUES {
                    table[x * stride + word] ^= one_hot[x] ^ one_hot[0];
                }
            }
            table[stride..].chunks(stride).for_each(|row| out.row(row, self.lanes));
            shares.extend_from_slice(&table[..stride]);
        }
        shares
    }

    /// Receiver: m_c ⊕ y_c of each piece.
    fn choose(&mut self, pieces: usize, bits: &mut BitReader<'_>) -> Zeroizing<Vec<u64>> {
        let mut shares = Zeroizing::new(Vec::with_capacity(pieces * self.stride));
        for _ in 0..pieces {
            let answers: Vec<Vec<u64>> = (1..VALUES).map(|_| bits.row(self.lanes)).collect();
            let own = self.take(PIECE + 1);
            for word in 0..self.stride {
                let choice = std::array::from_fn(|i| own[i * self.stride + word]);
                let answer = |x: usize| x.checked_sub(1).map_or(0, |x| answers[x][word]);
                shares.push(own[PIECE * self.stride + word] ^ select(choice, std::array::from_fn(answer)));
            }
        }
        shares
    }

    /// The shares of a level become the string of the next: a share pair of 1 is a bit that is equal to the complement of
    /// the other's.
    fn go_on(&mut self, party: Party, mut shares: Zeroizing<Vec<u64>>) {
        if party == Party::Bob {
            shares.iter_mut().for_each(|word| *word = !*word);
        }
        self.string = shares;
    }

    /// The next rows of what setup stored.
    fn take(&mut self, rows: usize) -> Zeroizing<Vec<u64>> {
        let from = self.used;
        self.used += rows * self.stride;
        Zeroizing::new(self.stored[from..self.used].to_vec())
    }

    fn row(&self, row: usize) -> impl Iterator<Item = u64> {
        (0..self.stride).map(move |word| self.word(row, word))
    }

    /// A word of the string; beyond its end there are zeros.
    fn word(&self, row: usize, word: usize) -> u64 {
        self.string.get(row * self.stride + word).copied().unwrap_or(0)
    }
}

/// The party's string of a chunk, row by row: a = b if and only if its parts of both, added up, are those of the peer.
fn string(layout: &Layout, chunk: usize, args: &[Option<BitMatrix>]) -> Zeroizing<Vec<u64>> {
    let (from, stride) = (layout.lanes_of(chunk).0 / 64, layout.stride(chunk));
    let mut string = Zeroizing::new(vec![0; layout.width * stride]);
    for arg in args.iter().flatten() {
        for (row, words) in string.chunks_mut(stride).enumerate() {
            words.iter_mut().zip(&arg.row(row)[from..]).for_each(|(to, word)| *to ^= word);
        }
    }
    string
}

/// Bit by bit, [x = p] for all x.
fn one_hot(p: [u64; PIECE]) -> [u64; VALUES] {
    let pair = |low: u64, high: u64| [!low & !high, low & !high, !low & high, low & high];
    let (low, high) = (pair(p[0], p[1]), pair(p[2], p[3]));
    std::array::from_fn(|x| low[x % 4] & high[x / 4])
}

/// Bit by bit, the value at place `c`.
fn select(c: [u64; PIECE], mut values: [u64; VALUES]) -> u64 {
    let mut count = VALUES;
    for bit in c {
        count /= 2;
        for i in 0..count {
            let [zero, one] = [values[2 * i], values[2 * i + 1]];
            values[i] = zero ^ (zero ^ one) & bit;
        }
    }
    values[0]
}

//! The sum of a number of Alice's and one of Bob's as XOR shares, lane by lane.
//!
//! J. Sklansky, "Conditional-sum addition logic" (IRE Transactions on Electronic Computers, 1960): whether bits j to i pass a
//! carry on, p, and whether they make one, g, for ranges that double from level to level. A level is one message each way, in
//! which both factors of each AND are opened under the masks of a triple.

use crate::argmin::rows::Rows;
use crate::packed::{BitReader, BitWriter};
use duologue::Result;
use duologue::circuit::Party;

/// An AND of a level.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum And {
    /// Both numbers' bits at a place make a carry.
    Make(usize),
    /// The range that ends at the first place makes a carry of the one that the range before makes.
    Carry(usize, usize),
    /// Both ranges pass a carry on.
    Pass(usize, usize),
}

/// Levels of ANDs for numbers of so many bits; the uppermost carry is not wanted.
pub fn levels(bits: usize) -> usize {
    1 + bits.saturating_sub(1).next_power_of_two().ilog2() as usize
}

/// The ANDs of a level.
pub fn ands_of(bits: usize, level: usize) -> Vec<And> {
    let places = 0..bits.saturating_sub(1);
    let Some(level) = level.checked_sub(1) else { return places.map(And::Make).collect() };
    let mut ands = Vec::new();
    for place in places.filter(|place| place >> level & 1 == 1) {
        let before = (place >> level << level) - 1;
        ands.push(And::Carry(place, before));
        // A range from the lowest place on has no carry to pass.
        if place >> (level + 1) > 0 {
            ands.push(And::Pass(place, before));
        }
    }
    ands
}

/// All ANDs.
pub fn ands(bits: usize) -> usize {
    (0..levels(bits)).map(|level| ands_of(bits, level).len()).sum()
}

/// A party's triples, used up in order.
pub struct Triples<'a>([BitReader<'a>; 3]);

impl<'a> Triples<'a> {
    /// So many triples: all first factors, then all second ones, then all products.
    pub fn new(bytes: &'a [u8], count: usize) -> Result<Triples<'a>> {
        let each = count.div_ceil(8);
        let part = |i: usize| BitReader::new(bytes.get(i * each..(i + 1) * each).unwrap_or_default(), count as u64);
        Ok(Triples([part(0)?, part(1)?, part(2)?]))
    }

    /// Passes over those of a level.
    pub fn skip(&mut self, bits: usize, level: usize, lanes: usize) {
        self.take(ands_of(bits, level).len(), lanes);
    }

    /// The triples of the next rows.
    fn take(&mut self, rows: usize, lanes: usize) -> [Rows; 3] {
        self.0.each_mut().map(|bits| read(bits, rows, lanes))
    }
}

/// An addition under way.
pub struct Adder {
    party: Party,
    bits: usize,
    /// The party's own number, which is its share of the sum without carries.
    own: Rows,
    pass: Rows,
    make: Rows,
    level: usize,
    /// The masked factors of this level, and the triples that mask them.
    open: Option<(Rows, [Rows; 3])>,
}

impl Adder {
    pub fn new(party: Party, own: Rows, bits: usize) -> Adder {
        let make = Rows::zeros(bits, own.lanes());
        Adder { party, bits, pass: own.clone(), own, make, level: 0, open: None }
    }

    /// This party's half of the opening of a level.
    pub fn say(&mut self, triples: &mut Triples<'_>) -> Vec<u8> {
        let ands = ands_of(self.bits, self.level);
        let lanes = self.own.lanes();
        let taken = triples.take(ands.len(), lanes);
        let mut half = taken[0].clone().then(&taken[1]);
        for (i, &and) in ands.iter().enumerate() {
            // At first Alice's number is one factor, and Bob's the other.
            let factors = match (and, self.party) {
                (And::Make(place), Party::Alice) => [Some(self.own.row(place)), None],
                (And::Make(place), Party::Bob) => [None, Some(self.own.row(place))],
                (And::Carry(place, before), _) => [Some(self.pass.row(place)), Some(self.make.row(before))],
                (And::Pass(place, before), _) => [Some(self.pass.row(place)), Some(self.pass.row(before))],
            };
            for (factor, row) in factors.into_iter().zip([i, ands.len() + i]) {
                factor.into_iter().for_each(|factor| xor(half.row_mut(row), factor));
            }
        }
        let mut out = BitWriter::default();
        (0..half.rows()).for_each(|row| out.row(half.row(row), lanes));
        self.open = Some((half, taken));
        out.bytes()
    }

    /// Ends a level with the peer's half.
    ///
    /// # Errors
    /// [`duologue::Error::Peer`] if it has another length.
    pub fn hear(&mut self, peer: &[u8]) -> Result<()> {
        let Some((mut opened, [a, b, mut c])) = self.open.take() else { return Ok(()) };
        let lanes = self.own.lanes();
        let mut reader = BitReader::new(peer, (opened.rows() * lanes) as u64)?;
        opened.xor(&read(&mut reader, opened.rows(), lanes));
        let ands = ands_of(self.bits, self.level);
        for (i, and) in ands.iter().enumerate() {
            let (e, f) = (opened.row(i), opened.row(ands.len() + i));
            for word in 0..e.len() {
                let both = if self.party == Party::Alice { e[word] & f[word] } else { 0 };
                c.row_mut(i)[word] ^= e[word] & b.row(i)[word] ^ f[word] & a.row(i)[word] ^ both;
            }
            match *and {
                And::Make(place) | And::Carry(place, _) => xor(self.make.row_mut(place), c.row(i)),
                And::Pass(place, _) => self.pass.row_mut(place).copy_from_slice(c.row(i)),
            }
        }
        self.level += 1;
        Ok(())
    }

    /// Shares of the sum, after the last level.
    pub fn finish(mut self) -> Rows {
        for place in 1..self.bits {
            xor(self.own.row_mut(place), self.make.row(place - 1));
        }
        self.own
    }
}

fn xor(to: &mut [u64], from: &[u64]) {
    to.iter_mut().zip(from).for_each(|(to, from)| *to ^= from);
}

fn read(bits: &mut BitReader<'_>, rows: usize, lanes: usize) -> Rows {
    let mut read = Rows::zeros(rows, lanes);
    (0..rows).for_each(|row| read.row_mut(row).copy_from_slice(&bits.row(lanes)));
    read
}

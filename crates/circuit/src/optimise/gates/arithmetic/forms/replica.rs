//! A circuit of a form, made of adders of the kind that another circuit of it has, as far as samples say.
//!
//! The terms of a form gather in columns. Of each column those three (or two) are added first whose sum is a node of the
//! other circuit, and whose carry is one too. Whatever is added first, the result is the form: each adder is one. But the
//! nearer both circuits are, the easier it is to prove that they are equal.

use super::super::super::network::{Kind, Network};
use super::super::super::samples::{Patterns, Samples, flipped};
use super::super::super::window::{Table, and, xor};
use super::super::terms::{Power, Terms};
use super::fit::{Atom, Form};
use super::residues::Residue;
use crate::builder::Builder;
use crate::graph::{Bit, Circuit};
use crate::words::Bits;
use rustc_hash::FxHashSet;

/// Words of samples.
pub const WORDS: usize = 32;
/// Orders of a column that are tried until each of its sums is a node of the other circuit.
const ORDERS: usize = 24;
/// Columns with more bits are not looked at.
const MOST_BITS: usize = 1_200;
/// Words of the filter before the set of what is known.
const FILTER: usize = 1 << 12;

type Values = Table<WORDS>;

/// How a coefficient of an AND is added up.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Pairs {
    Once,
    /// Each twice, as half of what it counts: x_i·x_j and x_j·x_i.
    Twice,
}

/// A hash of values that respects XOR.
type Hash = u128;

fn hash(values: &Values) -> Hash {
    values.iter().zip(0..).fold(0, |hash, (&word, i)| hash ^ u128::from(word).rotate_left(37 * i % 128))
}

/// Values of another circuit's nodes, but for complements.
pub struct Known {
    ones: Hash,
    hashes: FxHashSet<Hash>,
    filter: Vec<u64>,
    inputs: Vec<Values>,
}

impl Known {
    pub fn of(part: &Circuit) -> Self {
        let network = Network::read(part);
        let mut patterns = Patterns::<WORDS>::new(network.inputs().len());
        let samples = Samples::new(&network, &mut patterns);
        let mut known = Known {
            ones: hash(&[u64::MAX; WORDS]),
            hashes: FxHashSet::default(),
            filter: vec![0; FILTER],
            inputs: network.inputs().map(|input| samples.of(input)).collect(),
        };
        for node in (0..samples.end()).filter(|&node| network.nodes[node as usize].kind != Kind::Dead) {
            let hash = known.canonical(hash(&samples.of(node)));
            known.hashes.insert(hash);
            known.filter[hash as usize / 64 % FILTER] |= 1 << (hash % 64);
        }
        known
    }

    fn canonical(&self, hash: Hash) -> Hash {
        hash.min(hash ^ self.ones)
    }

    fn has(&self, hash: Hash) -> bool {
        let hash = self.canonical(hash);
        self.filter[hash as usize / 64 % FILTER] >> (hash % 64) & 1 == 1 && self.hashes.contains(&hash)
    }
}

/// A bit of a column.
#[derive(Clone, Copy)]
struct Addend {
    bit: Bit,
    values: Values,
    hash: Hash,
}

impl Addend {
    fn new(bit: Bit, values: Values) -> Self {
        Addend { bit, values, hash: hash(&values) }
    }

    fn flip(&self, flip: bool) -> Self {
        Addend::new(self.bit.flip(flip), flipped(&self.values, Bit::new(0, flip)))
    }
}

/// The circuit of a form with these inputs' ports; its outputs are the digits.
pub fn replica(part: &Circuit, known: &Known, form: &Form, pairs: Pairs) -> Option<Circuit> {
    let mut c = Builder::new(part.name());
    let inputs: Vec<Bit> = part.inputs().iter().flat_map(|port| c.input(port.name.clone(), port.ty)).collect();
    let mut maker = Maker { c, known, columns: vec![Vec::new(); form.width] };
    maker.enter(form, &inputs, pairs);
    let digits = maker.sum()?;
    maker.c.output("y", &Bits(digits));
    maker.c.try_finish().ok()
}

struct Maker<'a> {
    c: Builder,
    known: &'a Known,
    columns: Vec<Vec<Addend>>,
}

impl Maker<'_> {
    fn enter(&mut self, form: &Form, inputs: &[Bit], pairs: Pairs) {
        let mut terms = Terms::default();
        for (number, (_, coefficient)) in (1..).zip(&form.terms) {
            let add = |weight| terms.add(Bit::new(number, false), Power { weight: weight as i32, negative: false });
            coefficient.weights().for_each(add);
        }
        let mut constant = form.constant.clone();
        for (number, powers) in terms.nodes(form.width as i32) {
            let (atom, _) = form.terms[number as usize - 1];
            let addend = self.atom(atom, inputs);
            let twice = matches!(atom, Atom::And(_)) && pairs == Pairs::Twice;
            for Power { weight, negative } in powers {
                let weight = weight as usize;
                let places = if twice && weight > 0 { vec![weight - 1; 2] } else { vec![weight] };
                for place in places {
                    // −x is ¬x − 1.
                    self.columns[place].push(addend.flip(negative));
                    if negative {
                        constant.subtract(&Residue::power(place, form.width));
                    }
                }
            }
        }
        constant.weights().for_each(|weight| self.columns[weight].push(Addend::new(Bit::TRUE, [u64::MAX; WORDS])));
    }

    fn atom(&mut self, atom: Atom, inputs: &[Bit]) -> Addend {
        let of = |i: usize| (inputs[i], &self.known.inputs[i]);
        match atom {
            Atom::Input(i) => Addend::new(of(i).0, *of(i).1),
            Atom::And([i, j]) => {
                let ((a, x), (b, y)) = (of(i), of(j));
                Addend::new(self.c.and(a, b), and(x, y))
            }
            Atom::Xor([i, j]) => {
                let ((a, x), (b, y)) = (of(i), of(j));
                Addend::new(self.c.xor(a, b), xor(x, y))
            }
        }
    }

    /// The digits; nothing if a column is too large.
    fn sum(&mut self) -> Option<Vec<Bit>> {
        let mut digits = Vec::new();
        for place in 0..self.columns.len() {
            let mut column = std::mem::take(&mut self.columns[place]);
            if column.len() > MOST_BITS {
                return None;
            }
            if place + 1 == self.columns.len() {
                digits.push(self.c.xor_all(column.iter().map(|addend| addend.bit)));
                break;
            }
            for adder in order(self.known, &column) {
                let [x, y, z] = adder.map(|i| column.get(i).copied());
                let (x, y) = (x?, y?);
                let z = z.unwrap_or(Addend::new(Bit::FALSE, [0; WORDS]));
                column.push(Addend::new(self.c.xor_all([x, y, z].map(|addend| addend.bit)), parity(&x, &y, &z)));
                let carry = Addend::new(self.majority([x.bit, y.bit, z.bit]), carry(&x, &y, &z));
                if carry.bit != Bit::FALSE {
                    self.columns[place + 1].push(carry);
                }
            }
            digits.push(column.last().map_or(Bit::FALSE, |addend| addend.bit));
        }
        Some(digits)
    }
}

impl Maker<'_> {
    fn majority(&mut self, [x, y, z]: [Bit; 3]) -> Bit {
        let (left, right) = (self.c.xor(x, z), self.c.xor(y, z));
        let both = self.c.and(left, right);
        self.c.xor(z, both)
    }
}

fn parity(x: &Addend, y: &Addend, z: &Addend) -> Values {
    std::array::from_fn(|i| x.values[i] ^ y.values[i] ^ z.values[i])
}

fn carry(x: &Addend, y: &Addend, z: &Addend) -> Values {
    std::array::from_fn(|i| x.values[i] & y.values[i] | z.values[i] & (x.values[i] ^ y.values[i]))
}

/// The addends of an adder, by their places in the column and the sums after it; nowhere for a zero.
type Adder = [usize; 3];

const NOWHERE: usize = usize::MAX;

/// The adders of a column, in the order in which most of their sums are known.
fn order(known: &Known, column: &[Addend]) -> Vec<Adder> {
    let mut best: Option<(usize, Vec<Adder>)> = None;
    for attempt in 0..ORDERS {
        let mut search = Search { known, addends: column.to_vec(), left: places(column.len(), attempt), attempt };
        let found = search.adders();
        if best.as_ref().is_none_or(|best| found.0 < best.0) {
            best = Some(found);
        }
        if best.as_ref().is_some_and(|best| best.0 == 0) {
            break;
        }
    }
    if let Some((misses, _)) = &best { if *misses > 0 { eprintln!("DBG misses {misses} of column of {}", column.len()); } }
    best.map_or(Vec::new(), |(_, adders)| adders)
}

/// The places of a column, turned.
fn places(count: usize, attempt: usize) -> Vec<usize> {
    let mut places: Vec<usize> = (0..count).collect();
    places.rotate_left(if count == 0 { 0 } else { attempt / 2 * count.div_ceil(ORDERS / 2) % count });
    places
}

struct Search<'a> {
    known: &'a Known,
    addends: Vec<Addend>,
    /// What is not added yet.
    left: Vec<usize>,
    attempt: usize,
}

/// An adder that may be one of the other circuit, the best first.
type Candidate = (u8, Adder);

impl Search<'_> {
    /// The adders of a column, and how many sums are not known.
    fn adders(&mut self) -> (usize, Vec<Adder>) {
        let (mut unknown, mut adders) = (0, Vec::new());
        let mut candidates: Vec<Candidate> = Vec::new();
        for end in 1..self.left.len() {
            self.candidates(end, &mut candidates);
        }
        while self.left.len() > 1 {
            let best = (0..candidates.len()).min_by_key(|&i| (candidates[i].0, i));
            let adder = match best {
                Some(best) => candidates[best].1,
                None => {
                    unknown += 1;
                    std::array::from_fn(|i| self.left.get(i).copied().unwrap_or(NOWHERE))
                }
            };
            self.left.retain(|place| !adder.contains(place));
            candidates.retain(|(_, other)| !other.iter().any(|place| *place != NOWHERE && adder.contains(place)));
            let [x, y, z] = self.of(adder);
            // The bit is of no interest here.
            self.addends.push(Addend::new(Bit::FALSE, parity(&x, &y, &z)));
            self.left.push(self.addends.len() - 1);
            self.candidates(self.left.len() - 1, &mut candidates);
            adders.push(adder);
        }
        (unknown, adders)
    }

    fn of(&self, adder: Adder) -> [Addend; 3] {
        adder.map(|place| match place {
            NOWHERE => Addend::new(Bit::FALSE, [0; WORDS]),
            place => self.addends[place],
        })
    }

    /// Enters those adders that the bit at this end of what is left has with those before it.
    fn candidates(&self, end: usize, candidates: &mut Vec<Candidate>) {
        let hash = |at: usize| self.addends[self.left[at]].hash;
        let last = hash(end);
        for second in 0..end {
            let pair = last ^ hash(second);
            if self.known.has(pair) {
                self.enter([self.left[second], self.left[end], NOWHERE], candidates);
            }
            // Of two that are equal, and a third, the sum is the third: that is no adder.
            if pair == 0 {
                continue;
            }
            for first in 0..second {
                if hash(first) != hash(second) && hash(first) != last && self.known.has(pair ^ hash(first)) {
                    self.enter([self.left[first], self.left[second], self.left[end]], candidates);
                }
            }
        }
    }

    fn enter(&self, adder: Adder, candidates: &mut Vec<Candidate>) {
        let [x, y, z] = self.of(adder);
        let same = x.hash == y.hash;
        let has_carry = self.known.has(hash(&carry(&x, &y, &z)));
        let is_half = adder[2] == NOWHERE;
        let rank = match (has_carry, is_half) {
            _ if same => 3,
            (true, false) => 0,
            (true, true) => 1 + self.attempt as u8 % 2,
            (false, false) => 2 - self.attempt as u8 % 2,
            // Of the last two bits the sum is the digit.
            (false, true) if self.left.len() == 2 => 3,
            (false, true) => return,
        };
        candidates.push((rank, adder));
    }
}

//! A circuit of a form, made of adders of the kind that another circuit of it has, as far as samples say.
//!
//! The terms of a form gather in columns. Of each column those three (or two) are added first whose sum is a node of the
//! other circuit, and whose carry is one too. Whatever is added first, the result is the form: each adder is one. But the
//! nearer both circuits are, the easier it is to prove that they are equal.

use super::super::super::network::{Kind, Network};
use super::super::super::samples::{Patterns, Samples, flipped};
use super::super::super::window::{Table, and, xor};
use super::super::terms::{Power, Terms};
use super::facts::Facts;
use super::fit::{Atom, Form};
use super::residues::Residue;
use crate::builder::Builder;
use crate::graph::{Bit, Circuit};
use crate::words::Bits;
use rustc_hash::FxHashSet;
use std::collections::VecDeque;

/// Words of samples.
pub const WORDS: usize = 32;
/// Orders of a column that are tried until each of its sums is a node of the other circuit, and triples of all these.
const ORDERS: usize = 12;
const MOST_TRIPLES: usize = 1 << 24;
/// One of so many adders of a replica may have a sum that is not known, and a few.
const MOST_UNKNOWN: usize = 8;
const FEW_UNKNOWN: usize = 12;
/// Columns with more bits are not looked at.
pub const MOST_BITS: usize = 300;
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
        let mut patterns = Patterns::<WORDS>::graded(network.inputs().len());
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
    /// Its value where all inputs are set.
    full: bool,
}

impl Addend {
    fn new(bit: Bit, values: Values, full: bool) -> Self {
        Addend { bit, values, hash: hash(&values), full }
    }

    fn zero() -> Self {
        Addend::new(Bit::FALSE, [0; WORDS], false)
    }

    fn flip(&self, flip: bool) -> Self {
        Addend::new(self.bit.flip(flip), flipped(&self.values, Bit::new(0, flip)), self.full ^ flip)
    }
}

/// A circuit of a form.
pub struct Replica {
    /// Its outputs are the digits, and bits of which something is known.
    pub circuit: Circuit,
    /// Outputs of which not all are set.
    pub never: Vec<Vec<usize>>,
    /// Whether most sums of its adders are known.
    pub is_near: bool,
}

/// The circuit of a form with the inputs of a part.
pub fn replica(part: &Circuit, known: &Known, form: &Form, pairs: Pairs) -> Option<Replica> {
    let mut c = Builder::new(part.name());
    let inputs: Vec<Bit> = part.inputs().iter().flat_map(|port| c.input(port.name.clone(), port.ty)).collect();
    let mut maker =
        Maker { c, known, columns: vec![Vec::new(); form.width], facts: Facts::of(form), adders: 0, unknown: 0 };
    maker.enter(form, &inputs, pairs);
    let digits = maker.sum()?;
    maker.facts.close(&digits);
    let is_near = !maker.is_far();
    let Maker { mut c, facts, .. } = maker;
    c.output("y", &Bits(digits));
    if !facts.bits.is_empty() {
        c.output("z", &Bits(facts.bits));
    }
    let never = facts.clauses.iter().map(|clause| clause.iter().map(|place| form.width + place).collect());
    Some(Replica { never: never.collect(), is_near, circuit: c.try_finish().ok()? })
}

struct Maker<'a> {
    c: Builder,
    known: &'a Known,
    columns: Vec<Vec<Addend>>,
    facts: Facts,
    adders: usize,
    /// Adders whose sums are not known.
    unknown: usize,
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
                        self.facts.forget();
                        constant.subtract(&Residue::power(place, form.width));
                    }
                }
            }
        }
        constant
            .weights()
            .for_each(|weight| self.columns[weight].push(Addend::new(Bit::TRUE, [u64::MAX; WORDS], true)));
    }

    fn atom(&mut self, atom: Atom, inputs: &[Bit]) -> Addend {
        let of = |i: usize| (inputs[i], &self.known.inputs[i]);
        match atom {
            Atom::Input(i) => Addend::new(of(i).0, *of(i).1, true),
            Atom::And([i, j]) => {
                let ((a, x), (b, y)) = (of(i), of(j));
                Addend::new(self.c.and(a, b), and(x, y), true)
            }
            Atom::Xor([i, j]) => {
                let ((a, x), (b, y)) = (of(i), of(j));
                Addend::new(self.c.xor(a, b), xor(x, y), false)
            }
        }
    }

    /// The digits; nothing if a column is too large.
    fn sum(&mut self) -> Option<Vec<Bit>> {
        let mut digits: Vec<(Bit, bool)> = Vec::new();
        for place in 0..self.columns.len() {
            let column = std::mem::take(&mut self.columns[place]);
            let digit = match place + 1 == self.columns.len() {
                true => (self.c.xor_all(column.iter().map(|addend| addend.bit)), false),
                false => self.column(&digits, column)?,
            };
            digits.push(digit);
        }
        Some(digits.into_iter().map(|(digit, _)| digit).collect())
    }

    /// The digit of a column, whose carries go to the next; nothing if it is too large.
    fn column(&mut self, digits: &[(Bit, bool)], mut column: Vec<Addend>) -> Option<(Bit, bool)> {
        if column.len() > MOST_BITS {
            return None;
        }
        let (unknown, adders) = if self.is_far() { in_turn(column.len()) } else { order(self.known, &column) };
        self.unknown += unknown;
        self.adders += adders.len();
        let mut left: Vec<usize> = (0..column.len()).collect();
        let mut carried = Vec::new();
        self.moment(digits, &column, &left, &carried);
        for adder in adders {
            let of = |place: usize| column.get(place).copied().unwrap_or(Addend::zero());
            let [x, y, z] = adder.map(of);
            left.retain(|place| !adder.contains(place));
            left.push(column.len());
            let [one, other, third] = [x.full, y.full, z.full];
            let sum = self.c.xor_all([x, y, z].map(|addend| addend.bit));
            column.push(Addend::new(sum, parity(&x, &y, &z), one ^ other ^ third));
            let full = one & other | third & (one ^ other);
            let carry = Addend::new(self.majority([x.bit, y.bit, z.bit]), carry(&x, &y, &z), full);
            if carry.bit != Bit::FALSE {
                self.columns[digits.len() + 1].push(carry);
                carried.push((carry.bit, carry.full));
            }
            self.moment(digits, &column, &left, &carried);
        }
        Some(column.last().map_or((Bit::FALSE, false), |addend| (addend.bit, addend.full)))
    }

    /// Whether so many sums are not known that nothing will be proved.
    fn is_far(&self) -> bool {
        self.unknown > FEW_UNKNOWN && MOST_UNKNOWN * self.unknown > self.adders
    }

    fn moment(&mut self, digits: &[(Bit, bool)], column: &[Addend], left: &[usize], carried: &[(Bit, bool)]) {
        let left: Vec<(Bit, bool)> = left.iter().map(|&place| (column[place].bit, column[place].full)).collect();
        self.facts.enter(digits, &left, carried);
    }

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

/// The adders of a column in any order.
fn in_turn(count: usize) -> (usize, Vec<Adder>) {
    let mut left: VecDeque<usize> = (0..count).collect();
    let mut adders = Vec::new();
    while left.len() > 1 {
        let mut next = || left.pop_front().unwrap_or(NOWHERE);
        adders.push([next(), next(), next()]);
        left.push_back(count + adders.len() - 1);
    }
    (0, adders)
}

/// The adders of a column, in the order in which most of their sums are known, and how many are not.
fn order(known: &Known, column: &[Addend]) -> (usize, Vec<Adder>) {
    let mut best: Option<(usize, Vec<Adder>)> = None;
    let orders = (6 * MOST_TRIPLES / column.len().pow(3).max(1)).clamp(1, ORDERS);
    for attempt in 0..orders {
        let mut search = Search { known, addends: column.to_vec(), left: places(column.len(), attempt), attempt };
        let found = search.adders();
        if best.as_ref().is_none_or(|best| found.0 < best.0) {
            best = Some(found);
        }
        if best.as_ref().is_some_and(|best| best.0 == 0) {
            break;
        }
    }
    best.unwrap_or_default()
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
            self.addends.push(Addend::new(Bit::FALSE, parity(&x, &y, &z), false));
            self.left.push(self.addends.len() - 1);
            self.candidates(self.left.len() - 1, &mut candidates);
            adders.push(adder);
        }
        (unknown, adders)
    }

    fn of(&self, adder: Adder) -> [Addend; 3] {
        adder.map(|place| match place {
            NOWHERE => Addend::zero(),
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

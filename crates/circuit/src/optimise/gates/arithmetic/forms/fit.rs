//! The quadratic form that a word is of its inputs, if it is one: by values where few inputs are set.
//!
//! A word y of k bits that is Σ c_i·x_i + Σ c_ij·x_i·x_j + c modulo 2^k has c = y(0), c_i = y(e_i) − c and
//! c_ij = y(e_i + e_j) − c_i − c_j − c. These say what the form must be if there is one; samples that there may be. The proof
//! is not here.

use super::super::super::check;
use super::residues::Residue;
use crate::graph::Circuit;
use crate::matrix::BitMatrix;
use crate::simulate::Simulator;
use std::collections::BTreeMap;

/// Gates times words of lanes that finding coefficients may take.
const MOST_WORK: usize = 1 << 28;
/// Values that are computed together.
const LANES_AT_ONCE: usize = 1 << 12;
/// Pairs that count.
const MOST_PAIRS: usize = 20_000;
/// Lanes on which a form is compared with the word.
const LANES: usize = 512;
/// Lanes on which the lowest bit is looked at.
const FIRST_LANES: usize = 256;

/// What is added up: an input, the AND of two, or their XOR.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Atom {
    Input(usize),
    And([usize; 2]),
    Xor([usize; 2]),
}

/// constant + Σ coefficient·atom.
pub struct Form {
    pub width: usize,
    pub constant: Residue,
    pub terms: Vec<(Atom, Residue)>,
}

impl Form {
    /// The most that it can be, if that is less than 2^width, and reached only where all inputs are set.
    pub fn most(&self) -> Option<u128> {
        if self.terms.iter().any(|(atom, _)| matches!(atom, Atom::Xor(_))) {
            return None;
        }
        let limit = 1u128.checked_shl(self.width as u32)?;
        let all = self.terms.iter().map(|(_, coefficient)| coefficient).chain([&self.constant]);
        let most =
            all.map(|number| number.weights().map(|weight| 1u128 << weight).sum()).try_fold(0u128, u128::checked_add);
        most.filter(|&most| most < limit)
    }
}

/// The form that the outputs of a circuit, as one word, seem to be of its inputs.
pub fn fit(part: &Circuit) -> Option<Form> {
    let mut word = Word { simulator: Simulator::new(part), inputs: part.input_width(), gates: part.gates().len() };
    if !word.may_be_quadratic() {
        return None;
    }
    let form = word.form()?;
    word.agrees(&form).then(|| form.with_xors())
}

struct Word {
    simulator: Simulator,
    inputs: usize,
    gates: usize,
}

impl Word {
    /// Whether the third derivative of the lowest bit is zero on some lanes.
    fn may_be_quadratic(&mut self) -> bool {
        let mut random = lanes("derivatives");
        let [base, x, y, z] = [0; 4].map(|_| {
            let mut lanes = BitMatrix::zeros(self.inputs, FIRST_LANES);
            check::draw(&mut lanes, 0, &mut random);
            lanes
        });
        let mut sum = [0u64; FIRST_LANES / 64];
        for subset in 0..8 {
            let mut at = base.clone();
            for direction in [(1, &x), (2, &y), (4, &z)].iter().filter(|(bit, _)| subset & bit != 0) {
                at = at.xor(direction.1);
            }
            sum.iter_mut().zip(self.simulator.run(&at).row(0)).for_each(|(sum, value)| *sum ^= value);
        }
        sum.iter().all(|&word| word == 0)
    }

    /// The only form that the word can be; nothing if that has too many pairs.
    fn form(&mut self) -> Option<Quadratic> {
        let inputs = self.inputs;
        if (inputs / 64 + 1).saturating_mul(self.gates) > MOST_WORK {
            return None;
        }
        let constant = self.values(&[vec![]]).remove(0);
        let mut linear = Vec::with_capacity(inputs);
        for first in (0..inputs).step_by(LANES_AT_ONCE) {
            let sets: Vec<Vec<usize>> = (first..inputs.min(first + LANES_AT_ONCE)).map(|i| vec![i]).collect();
            linear.extend(self.values(&sets));
        }
        linear.iter_mut().for_each(|value| value.subtract(&constant));
        let mut form = Quadratic { constant, linear, pairs: BTreeMap::new() };
        // Of very many inputs only a linear form can be found.
        let blocks = inputs * inputs.saturating_sub(1) / 128 + 1;
        if blocks.saturating_mul(self.gates) <= MOST_WORK {
            let mut all = (0..inputs).flat_map(|j| (0..j).map(move |i| vec![i, j])).peekable();
            while all.peek().is_some() {
                let sets: Vec<Vec<usize>> = all.by_ref().take(LANES_AT_ONCE).collect();
                self.pairs(&sets, &mut form)?;
            }
        }
        Some(form)
    }

    /// Enters the coefficients of pairs.
    fn pairs(&mut self, sets: &[Vec<usize>], form: &mut Quadratic) -> Option<()> {
        for (set, mut value) in sets.iter().zip(self.values(sets)) {
            value.subtract(&form.constant);
            set.iter().for_each(|&i| value.subtract(&form.linear[i]));
            if !value.is_zero() {
                form.pairs.insert([set[0], set[1]], value);
            }
        }
        (form.pairs.len() <= MOST_PAIRS).then_some(())
    }

    /// The word's values where exactly these inputs are set.
    fn values(&mut self, sets: &[Vec<usize>]) -> Vec<Residue> {
        let mut inputs = BitMatrix::zeros(self.inputs, sets.len());
        for (lane, set) in sets.iter().enumerate() {
            set.iter().for_each(|&input| inputs.set(input, lane, true));
        }
        let outputs = self.simulator.run(&inputs);
        (0..sets.len()).map(|lane| Residue::of_bits(&outputs.lane(lane))).collect()
    }

    fn agrees(&mut self, form: &Quadratic) -> bool {
        samples(self.inputs).iter().all(|inputs| {
            let outputs = self.simulator.run(inputs);
            (0..inputs.lanes()).all(|lane| form.value(&inputs.lane(lane)) == Residue::of_bits(&outputs.lane(lane)))
        })
    }
}

/// Lanes on which what is found is compared with the word.
pub fn samples(inputs: usize) -> Vec<BitMatrix> {
    let mut random = lanes("samples");
    let made = (0..4).map(|kind| {
        let mut lanes = BitMatrix::zeros(inputs, LANES / 4);
        check::draw(&mut lanes, kind, &mut random);
        lanes
    });
    made.collect()
}

fn lanes(of: &str) -> blake3::OutputReader {
    let mut hasher = blake3::Hasher::new_derive_key("duologue v1 optimiser: forms");
    hasher.update(of.as_bytes());
    hasher.finalize_xof()
}

/// constant + Σ linear·x + Σ pairs·x·y.
struct Quadratic {
    constant: Residue,
    linear: Vec<Residue>,
    pairs: BTreeMap<[usize; 2], Residue>,
}

impl Quadratic {
    fn value(&self, inputs: &[bool]) -> Residue {
        let mut value = self.constant.clone();
        self.linear.iter().zip(inputs).filter(|(_, set)| **set).for_each(|(coefficient, _)| value.add(coefficient));
        let pairs = self.pairs.iter().filter(|([i, j], _)| inputs[*i] && inputs[*j]);
        pairs.for_each(|(_, coefficient)| value.add(coefficient));
        value
    }

    /// The form with XORs where l·y − 2l·x·y = l·(x ⊕ y) − l·x: a word that is complemented by a bit.
    fn with_xors(mut self) -> Form {
        let mut terms = Vec::new();
        for (pair, coefficient) in self.pairs {
            let turns =
                |&&[_, y]: &&[usize; 2]| !self.linear[y].is_zero() && self.linear[y].minus_twice() == coefficient;
            match [[pair[1], pair[0]], pair].iter().find(turns) {
                Some(&[x, y]) => {
                    let zero = Residue::zero(self.constant.width());
                    let own = std::mem::replace(&mut self.linear[y], zero);
                    self.linear[x].subtract(&own);
                    terms.push((Atom::Xor(pair), own));
                }
                None => terms.push((Atom::And(pair), coefficient)),
            }
        }
        let linear = self.linear.into_iter().enumerate().map(|(i, coefficient)| (Atom::Input(i), coefficient));
        terms.extend(linear.filter(|(_, coefficient)| !coefficient.is_zero()));
        terms.sort_by_key(|&(atom, _)| atom);
        Form { width: self.constant.width(), constant: self.constant, terms }
    }
}

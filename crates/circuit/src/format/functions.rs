//! Gates that a file describes by the values they take.

use crate::builder::Builder;
use crate::graph::Bit;
use crate::optimise::gates::affine::Synthesis;
use crate::optimise::gates::affine::recipe::{Form, ONE, terms};
use crate::optimise::gates::affine::truth::INPUTS;

/// The most inputs of a gate that is known by its table.
pub(super) const MOST_INPUTS: usize = INPUTS;

/// Makes gates of few ANDs from tables.
pub(super) struct Functions {
    synthesis: Synthesis,
}

impl Functions {
    pub fn new() -> Self {
        Functions { synthesis: Synthesis::new() }
    }

    /// The function of these inputs whose value at x is bit x of the table, the first input being the lowest bit of x.
    pub fn of_table(&mut self, c: &mut Builder, table: u64, inputs: &[Bit]) -> Bit {
        if let &[a, b] = inputs {
            return of_two(c, table, a, b);
        }
        let mut bits = [Bit::FALSE; 16];
        bits[..inputs.len()].copy_from_slice(inputs);
        // Inputs that are not there change nothing.
        let table = (inputs.len()..MOST_INPUTS).fold(table, |table, i| table | table << (1 << i));
        let recipe = self.synthesis.recipe(table);
        for (j, &[a, b]) in recipe.ands.iter().enumerate() {
            let (a, b) = (sum(c, &bits, a), sum(c, &bits, b));
            bits[MOST_INPUTS + j] = c.and(a, b);
        }
        sum(c, &bits, recipe.output)
    }
}

/// ab ⊕ ua ⊕ vb = (a ⊕ v)(b ⊕ u) ⊕ uv: the AND of the two nodes, which the builder makes once.
fn of_two(c: &mut Builder, table: u64, a: Bit, b: Bit) -> Bit {
    let [zero, one, two, three] = [0, 1, 2, 3].map(|x| table >> x & 1 == 1);
    let (u, v) = (zero ^ one, zero ^ two);
    match zero ^ one ^ two ^ three {
        true => c.and(a.flip(v), b.flip(u)).flip(zero ^ (u && v)),
        false => {
            let (a, b) = (if u { a } else { Bit::FALSE }, if v { b } else { Bit::FALSE });
            c.xor(a, b).flip(zero)
        }
    }
}

fn sum(c: &mut Builder, bits: &[Bit; 16], form: Form) -> Bit {
    let constant = Bit::constant(form & ONE != 0);
    terms(form).fold(constant, |sum, term| c.xor(sum, bits[term]))
}

/// The AND of many bits, as shallow as can be.
pub(super) fn all(c: &mut Builder, mut bits: Vec<Bit>) -> Bit {
    while bits.len() > 1 {
        let pair = |pair: &[Bit]| pair.iter().skip(1).fold(pair[0], |both, &bit| c.and(both, bit));
        bits = bits.chunks(2).map(pair).collect();
    }
    bits.first().copied().unwrap_or(Bit::TRUE)
}

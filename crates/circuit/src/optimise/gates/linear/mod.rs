//! The XORs of a circuit anew: each operand of an AND and each output is a sum of inputs and outputs of ANDs, and sums that
//! several of these have in common are computed once (`paar.rs`).
//!
//! A sum of two terms of a form is there as soon as both are, and whatever reads the form waits for both: no order breaks, and
//! no layer of ANDs is added. Forms that are expanded to inputs and ANDs may lose what is shared already; so XORs that are
//! read several times stay terms if they are longer than a bound, for several bounds. With the least of them all stay, and
//! then no XOR can be lost: the forms are trees of XORs, and a pair in common saves one.
//!
//! No form gets longer than `LONGEST` (one of its parts stays a term else), and a bound is passed over if the pairs of terms
//! in all its forms are too many for the gates of the circuit. Hence a circuit of n gates has O(n) pairs, and the whole takes
//! time n log n and memory O(n).

mod paar;

use crate::builder::Builder;
use crate::graph::{Bit, Circuit, Gate};
use paar::Sums;

/// The most terms of a form.
const LONGEST: usize = 128;
/// The most terms of a XOR that is read several times and expanded, in each attempt.
const EXPANDED: [usize; 5] = [1, 3, 8, 24, LONGEST];
/// Pairs of terms in the forms of a circuit, besides those for each of its gates.
const PAIRS: usize = 1 << 22;
/// Pairs of terms for each gate.
const PAIRS_OF_GATE: usize = 32;

/// The circuit with as few XORs as are found, of no more ANDs and layers; it may be the circuit itself.
pub fn extract(circuit: &Circuit) -> Circuit {
    let measure = |circuit: &Circuit| (circuit.and_count(), circuit.gates().len());
    let tries = EXPANDED.iter().filter_map(|&expanded| {
        let forms = Forms::new(circuit, expanded)?;
        let made = forms.write(circuit)?;
        (made.depth() <= circuit.depth()).then_some(made)
    });
    let best = tries.min_by_key(measure);
    best.filter(|best| measure(best) < measure(circuit)).unwrap_or_else(|| circuit.clone())
}

/// The sums that have to be there, over terms: nodes of the circuit, and sums in common.
struct Forms {
    /// By XOR; those that have to be there are not empty.
    terms: Vec<Vec<u32>>,
    sums: Sums,
}

impl Forms {
    /// Nothing if the forms have too many pairs of terms.
    fn new(circuit: &Circuit, expanded: usize) -> Option<Forms> {
        let mut expansion = Expansion::new(circuit, expanded);
        expansion.run()?;
        let mut terms = expansion.terms;
        let mut sums = Sums { first: circuit.gates().len() as u32, pairs: Vec::new() };
        sums.extract(terms.iter_mut().filter(|form| form.len() > 1).collect());
        Some(Forms { terms, sums })
    }

    /// The circuit with these XORs; nothing if the names of its ports are no good.
    fn write(&self, circuit: &Circuit) -> Option<Circuit> {
        let mut writing = Writing {
            c: Builder::new(circuit.name()),
            bits: vec![Bit::FALSE; circuit.gates().len()],
            sums: vec![None; self.sums.pairs.len()],
        };
        let inputs: Vec<Bit> =
            circuit.inputs().iter().flat_map(|port| writing.c.input(port.name.clone(), port.ty)).collect();
        circuit.input_nodes().iter().zip(inputs).for_each(|(&node, bit)| writing.bits[node as usize] = bit);
        for (node, gate) in circuit.gates().iter().enumerate() {
            writing.bits[node] = match *gate {
                Gate::False | Gate::Input => continue,
                Gate::Xor(..) => {
                    let form = &self.terms[node];
                    form.iter().fold(Bit::FALSE, |sum, &term| {
                        let bit = writing.term(&self.sums, term);
                        writing.c.xor(sum, bit)
                    })
                }
                Gate::And(a, b) => {
                    let [a, b] = [a, b].map(|bit| writing.of(bit));
                    writing.c.and(a, b)
                }
            };
        }
        let outputs: Vec<Bit> = circuit.output_bits().iter().map(|&bit| writing.of(bit)).collect();
        writing.c.outputs(circuit.outputs(), &outputs);
        writing.c.try_finish().ok()
    }
}

struct Writing {
    c: Builder,
    bits: Vec<Bit>,
    sums: Vec<Option<Bit>>,
}

impl Writing {
    fn of(&self, bit: Bit) -> Bit {
        self.bits[bit.node() as usize].flip(bit.complemented())
    }

    /// A node, or a sum, which is built when it is first read: it has no more terms below it than a form, nor levels.
    fn term(&mut self, sums: &Sums, term: u32) -> Bit {
        let Some(sum) = term.checked_sub(sums.first) else { return self.bits[term as usize] };
        if let Some(bit) = self.sums[sum as usize] {
            return bit;
        }
        let [a, b] = sums.pairs[sum as usize].map(|term| self.term(sums, term));
        *self.sums[sum as usize].insert(self.c.xor(a, b))
    }
}

/// The forms of a circuit in the making.
struct Expansion<'a> {
    circuit: &'a Circuit,
    expanded: usize,
    /// XORs that read a node, and have not been expanded yet.
    readers: Vec<u32>,
    /// Nodes that an AND or an output reads.
    needed: Vec<bool>,
    /// Nodes that stay terms.
    stays: Vec<bool>,
    terms: Vec<Vec<u32>>,
    /// Pairs of terms in forms.
    pairs: usize,
}

impl<'a> Expansion<'a> {
    fn new(circuit: &'a Circuit, expanded: usize) -> Self {
        let gates = circuit.gates();
        let (mut readers, mut needed) = (vec![0; gates.len()], vec![false; gates.len()]);
        circuit.output_bits().iter().for_each(|bit| needed[bit.node() as usize] = true);
        for gate in gates {
            match *gate {
                Gate::Xor(a, b) => [a, b].iter().for_each(|bit| readers[bit.node() as usize] += 1),
                Gate::And(a, b) => [a, b].iter().for_each(|bit| needed[bit.node() as usize] = true),
                Gate::False | Gate::Input => {}
            }
        }
        let stays = gates.iter().map(|gate| matches!(gate, Gate::Input | Gate::And(..))).collect();
        Expansion { circuit, expanded, readers, needed, stays, terms: vec![Vec::new(); gates.len()], pairs: 0 }
    }

    fn run(&mut self) -> Option<()> {
        let most = PAIRS + PAIRS_OF_GATE * self.circuit.gates().len();
        for (node, gate) in self.circuit.gates().iter().enumerate() {
            let Gate::Xor(a, b) = *gate else { continue };
            self.expand(node, [a, b].map(|bit| bit.node() as usize));
            if self.pairs > most {
                return None;
            }
        }
        Some(())
    }

    fn expand(&mut self, node: usize, [a, b]: [usize; 2]) {
        let mut terms = self.sum(a, b);
        for _ in 0..2 {
            if terms.len() > LONGEST {
                let longer = if self.length(a) >= self.length(b) { a } else { b };
                self.keep(longer);
                terms = self.sum(a, b);
            }
        }
        self.terms[node] = terms;
        let shared = self.readers[node] + u32::from(self.needed[node]) > 1;
        if shared && self.terms[node].len() > self.expanded {
            self.keep(node);
        } else if self.needed[node] {
            self.count(node);
        }
        [a, b].into_iter().for_each(|below| self.release(below));
    }

    fn keep(&mut self, node: usize) {
        self.stays[node] = true;
        self.count(node);
    }

    fn count(&mut self, node: usize) {
        let length = self.terms[node].len();
        self.pairs += length * length.saturating_sub(1) / 2;
    }

    /// A form that nobody reads any more goes.
    fn release(&mut self, node: usize) {
        self.readers[node] -= 1;
        if self.readers[node] == 0 && !self.needed[node] && !self.stays[node] {
            self.terms[node] = Vec::new();
        }
    }

    fn length(&self, node: usize) -> usize {
        if self.stays[node] { 1 } else { self.terms[node].len() }
    }

    fn of(&self, node: usize) -> Vec<u32> {
        if self.stays[node] { vec![node as u32] } else { self.terms[node].clone() }
    }

    /// The terms that one of two nodes has.
    fn sum(&self, a: usize, b: usize) -> Vec<u32> {
        let [a, b] = [a, b].map(|node| self.of(node));
        let (mut a, mut b) = (a.into_iter().peekable(), b.into_iter().peekable());
        let mut sum = Vec::new();
        loop {
            match (a.peek(), b.peek()) {
                (Some(x), Some(y)) if x == y => {
                    a.next();
                    b.next();
                }
                (Some(x), Some(y)) => sum.extend(if x < y { a.next() } else { b.next() }),
                _ => break,
            }
        }
        sum.extend(a.chain(b));
        sum
    }
}

#[cfg(test)]
mod tests {
    use super::super::check::agree;
    use super::*;
    use crate::blocks::aes::{RoundKeys, encrypt, expand_key};
    use crate::blocks::{Goal, multiply};
    use crate::words::Bits;
    use proptest::prelude::*;

    /// Random gates of which most are XORs, over the last so many bits.
    fn random(inputs: u32, gates: &[(u16, u16, u8)], near: usize) -> Circuit {
        let mut c = Builder::new("random");
        let mut bits = c.bits("x", inputs).0;
        for &(a, b, what) in gates {
            let pick = |place: u16| bits[bits.len() - 1 - place as usize % bits.len().min(near)];
            let (a, b) = (pick(a).flip(what & 1 == 1), pick(b).flip(what & 2 == 2));
            bits.push(if what < 200 { c.xor(a, b) } else { c.and(a, b) });
        }
        let last = bits.split_off(bits.len().saturating_sub(12));
        c.output("y", &Bits(last));
        c.finish()
    }

    /// No more layers, and fewer ANDs, whatever the XORs, or as many and no more XORs: equal ANDs may come to light.
    fn no_worse(old: &Circuit, new: &Circuit) -> bool {
        let measure = |circuit: &Circuit| (circuit.and_count(), circuit.gates().len());
        new.depth() <= old.depth() && measure(new) <= measure(old)
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]
        #[test]
        fn functions_stay(
            inputs in 1u32..12,
            gates in prop::collection::vec(any::<(u16, u16, u8)>(), 0..400),
            near in 2usize..60,
        ) {
            let circuit = random(inputs, &gates, near);
            let made = extract(&circuit);
            prop_assert!(no_worse(&circuit, &made));
            prop_assert!(agree(&circuit, &made));
            for expanded in EXPANDED {
                let all = Forms::new(&circuit, expanded).unwrap().write(&circuit).unwrap();
                prop_assert!(agree(&circuit, &all) && all.depth() <= circuit.depth());
                prop_assert!(expanded > 1 || no_worse(&circuit, &all));
            }
            prop_assert_eq!(extract(&circuit), made);
        }
    }

    /// (a ⊕ b ⊕ x)·d and b ⊕ d ⊕ x ⊕ ad have b ⊕ x in common.
    #[test]
    fn a_sum_in_common_is_computed_once() {
        let mut c = Builder::new("common");
        let [a, b, x, d] = c.bits("x", 4).0.try_into().unwrap();
        let (ab, bd, ad) = (c.xor(a, b), c.xor(b, d), c.and(a, d));
        let (abx, bdx) = (c.xor(ab, x), c.xor(bd, x));
        let outputs = [c.and(abx, d), c.xor(bdx, ad)];
        c.output("y", &Bits(outputs.to_vec()));
        let circuit = c.finish();
        let made = extract(&circuit);
        assert_eq!((circuit.gates().len(), made.gates().len()), (12, 11));
        assert!(agree(&circuit, &made));
    }

    #[test]
    fn blocks_do_not_get_worse() {
        let mut c = Builder::new("multiply");
        let (a, b) = (c.uint("a", 32), c.uint("b", 32));
        let product = multiply(&mut c, &a, &b, Goal::Size);
        c.output("product", &product);
        let product = c.finish();
        let mut c = Builder::new("aes");
        let (key, block) = (c.bits("key", 128), c.bits("block", 128));
        let keys: RoundKeys = expand_key(&mut c, &key, Goal::Size);
        let text = encrypt(&mut c, &keys, &block, Goal::Size);
        c.output("text", &text);
        for circuit in [product, c.finish()] {
            let made = extract(&circuit);
            assert!(no_worse(&circuit, &made), "{}", circuit.name());
            assert!(agree(&circuit, &made), "{}", circuit.name());
        }
    }

    /// Every prefix of a long sum is read: forms stay short, and their pairs few, however far XORs are expanded.
    #[test]
    fn long_sums_have_few_pairs() {
        let mut c = Builder::new("prefixes");
        let x = c.bits("x", 50_000).0;
        let mut sum = Bit::FALSE;
        let mut next = |&bit: &Bit| {
            sum = c.xor(sum, bit);
            sum
        };
        let prefixes: Vec<Bit> = x.iter().map(&mut next).collect();
        c.output("y", &Bits(prefixes));
        let circuit = c.finish();
        let most = PAIRS + PAIRS_OF_GATE * circuit.gates().len() + LONGEST * LONGEST;
        for expanded in EXPANDED {
            let mut expansion = Expansion::new(&circuit, expanded);
            let _ = expansion.run();
            assert!(expansion.pairs <= most);
            assert!(expansion.terms.iter().all(|form| form.len() <= LONGEST));
        }
        assert_eq!(extract(&circuit).gates().len(), circuit.gates().len());
    }
}

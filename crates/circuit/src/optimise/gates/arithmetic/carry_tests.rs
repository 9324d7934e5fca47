//! Carries of prefix trees, and near misses of them.

use super::super::check::agree;
use super::*;
use crate::builder::Builder;
use crate::graph::Bit;
use crate::words::Bits;

/// In which order spans of bits are joined.
#[derive(Clone, Copy, Debug)]
enum Tree {
    /// Groups of three, and then over the groups.
    Groups,
    /// Halves (Sklansky).
    Halves,
    /// Distances that double (Kogge and Stone).
    Doubling,
}

const TREES: [Tree; 3] = [Tree::Groups, Tree::Halves, Tree::Doubling];

/// Whether a span of bits generates a carry, and whether it propagates one.
type Span = (Bit, Bit);

struct Prefix {
    c: Builder,
    a: Vec<Bit>,
    b: Vec<Bit>,
    spans: Vec<Span>,
    /// The join that forgets its upper part.
    wrong: Option<usize>,
    joins: usize,
}

impl Prefix {
    fn new(n: u32, by_or: bool, turned: bool, wrong: Option<usize>) -> Self {
        let mut c = Builder::new("prefix");
        let a = c.bits("a", n).0;
        let b: Vec<Bit> = c.bits("b", n).0.into_iter().map(|bit| bit.flip(turned)).collect();
        let pairs: Vec<(Bit, Bit)> = a.iter().copied().zip(b.iter().copied()).collect();
        let spans = pairs
            .into_iter()
            .map(|(a, b)| {
                let both = c.and(a, b);
                let neither = c.and(!a, !b);
                (both, if by_or { !neither } else { c.and(!both, !neither) })
            })
            .collect();
        Prefix { c, a, b, spans, wrong, joins: 0 }
    }

    fn join(&mut self, high: Span, low: Span) -> Span {
        self.joins += 1;
        if self.wrong == Some(self.joins) {
            return low;
        }
        let passed = self.c.and(high.1, low.0);
        (!self.c.and(!high.0, !passed), self.c.and(high.1, low.1))
    }

    /// The spans from the lowest bit to each.
    fn prefixes(&mut self, tree: Tree) -> Vec<Span> {
        let mut all = self.spans.clone();
        let n = all.len();
        match tree {
            Tree::Groups => {
                for i in (0..n).filter(|i| i % 3 > 0) {
                    all[i] = self.join(all[i], all[i - 1]);
                }
                for i in 3..n {
                    all[i] = self.join(all[i], all[i / 3 * 3 - 1]);
                }
            }
            Tree::Halves => {
                for level in 0..usize::BITS - n.leading_zeros() {
                    for i in (0..n).filter(|i| i >> level & 1 == 1) {
                        all[i] = self.join(all[i], all[(i >> level << level) - 1]);
                    }
                }
            }
            Tree::Doubling => {
                let mut distance = 1;
                while distance < n {
                    let before = all.clone();
                    (distance..n).for_each(|i| all[i] = self.join(before[i], before[i - distance]));
                    distance *= 2;
                }
            }
        }
        all
    }

    fn sum(mut self, tree: Tree) -> Circuit {
        let carries: Vec<Bit> = self.prefixes(tree).into_iter().map(|(carry, _)| carry).collect();
        let mut sum = Vec::new();
        for i in 0..self.a.len() {
            let parity = self.c.xor(self.a[i], self.b[i]);
            sum.push(if i == 0 { parity } else { self.c.xor(parity, carries[i - 1]) });
        }
        sum.extend(carries.last());
        self.c.output("sum", &Bits(sum));
        self.c.finish()
    }

    /// Only the highest carry.
    fn carry(mut self, tree: Tree) -> Circuit {
        let carry = self.prefixes(tree).last().expect("bits").0;
        self.c.output("carry", &Bits(vec![carry]));
        self.c.finish()
    }
}

fn styles() -> impl Iterator<Item = (Tree, bool, bool)> {
    let flags = [(false, false), (false, true), (true, false), (true, true)];
    TREES.into_iter().flat_map(move |tree| flags.map(|(by_or, turned)| (tree, by_or, turned)))
}

/// What a circuit of two words gives.
fn value(circuit: &Circuit, n: u32, [a, b]: [u64; 2]) -> u64 {
    let bits: Vec<bool> = [a, b].iter().flat_map(|&word| (0..n).map(move |i| word >> i & 1 == 1)).collect();
    circuit.evaluate(&bits).iter().rev().fold(0, |value, &bit| value << 1 | u64::from(bit))
}

fn rebuilt(circuit: &Circuit) -> Circuit {
    rebuild(circuit, Goal::Size).expect("no circle")
}

#[test]
fn carries_that_look_ahead_ripple() {
    for (n, (tree, by_or, turned)) in [7, 16, 37].into_iter().flat_map(|n| styles().map(move |style| (n, style))) {
        let sum = rebuilt(&Prefix::new(n, by_or, turned, None).sum(tree));
        let carry = rebuilt(&Prefix::new(n, by_or, turned, None).carry(tree));
        let of = [sum.and_count(), carry.and_count()];
        assert_eq!(of, [u64::from(n); 2], "{n}, {tree:?}, {by_or}, {turned}");
        let mask = (1u64 << n) - 1;
        for i in 0..100u64 {
            let a = i.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 9 & mask;
            // Most carries come from far below.
            let b = (!a & mask).wrapping_add(i % 5).wrapping_sub(1 << (i % u64::from(n))) & mask;
            let expected = a + if turned { !b & mask } else { b };
            assert_eq!(value(&sum, n, [a, b]), expected, "{a} and {b}");
            assert_eq!(value(&carry, n, [a, b]), expected >> n, "{a} and {b}");
        }
    }
}

/// The span of bits `i` and `i + 1`, in which no gate reads two bits of one pair; a mistake forgets one of its products.
fn span_of_products(prefix: &mut Prefix, i: usize, mistake: bool) -> Span {
    let ([a0, a1], [b0, b1]) = ([prefix.a[i], prefix.a[i + 1]], [prefix.b[i], prefix.b[i + 1]]);
    let c = &mut prefix.c;
    let mut either = |products: &[[Bit; 3]]| {
        let none = products.iter().fold(Bit::TRUE, |none, &[x, y, z]| {
            let both = c.and(x, y);
            let product = c.and(both, z);
            c.and(none, !product)
        });
        !none
    };
    let generates = [[a0, b1, b0], [a0, a1, b0], [a1, b0, b1], [a1, !b0, b1]];
    let propagates = either(&[[a0, a1, Bit::TRUE], [a0, b1, Bit::TRUE], [b0, a1, Bit::TRUE], [b0, b1, Bit::TRUE]]);
    (either(&generates[usize::from(mistake)..]), propagates)
}

/// Pairs in the middle of a chain that no gate reads are found among its inputs.
#[test]
fn pairs_need_no_gate_of_their_own() {
    for (n, tree) in [9u32, 24].into_iter().flat_map(|n| TREES.map(|tree| (n, tree))) {
        for (mistake, expected) in [(false, Some(u64::from(n))), (true, None)] {
            let mut prefix = Prefix::new(n, false, false, None);
            prefix.spans[3] = span_of_products(&mut prefix, 3, mistake);
            prefix.spans.remove(4);
            let circuit = prefix.carry(tree);
            let made = rebuilt(&circuit);
            assert!(agree(&circuit, &made), "{n}, {tree:?}");
            assert!(expected.is_none_or(|ands| made.and_count() == ands), "{n}, {tree:?}: {}", made.and_count());
        }
    }
}

/// One join of a tree forgets its upper part: whatever is found, all inputs give what they gave.
#[test]
fn wrong_joins_stay_as_they_are() {
    for (wrong, (tree, by_or, turned)) in (1..=20).flat_map(|wrong| styles().map(move |style| (wrong, style))) {
        for of in [Prefix::sum, Prefix::carry] {
            let circuit = of(Prefix::new(6, by_or, turned, Some(wrong)), tree);
            assert!(agree(&circuit, &rebuilt(&circuit)), "{tree:?}, {by_or}, {turned}, {wrong}");
        }
    }
}

/// A carry but for one of 2^24 inputs, of which samples know nothing: it is not taken for one.
#[test]
fn samples_are_no_proof() {
    for tree in TREES {
        let mut prefix = Prefix::new(12, false, false, None);
        let carry = prefix.prefixes(tree).last().expect("bits").0;
        let words = [prefix.a.clone(), prefix.b.clone()].concat();
        let rare = words.iter().enumerate().fold(Bit::TRUE, |all, (i, &bit)| prefix.c.and(all, bit.flip(i % 2 == 1)));
        let almost = prefix.c.xor(carry, rare);
        prefix.c.output("almost", &Bits(vec![almost]));
        let circuit = prefix.c.finish();
        let made = rebuilt(&circuit);
        assert_eq!(value(&made, 12, [0x555; 2]), value(&circuit, 12, [0x555; 2]), "{tree:?}");
        assert!(agree(&circuit, &made), "{tree:?}");
    }
}

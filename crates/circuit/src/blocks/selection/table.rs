//! Look-up by a secret index: in a public table, and reading and writing an array of secrets.
//!
//! A public table is a handful of Boolean functions of the index. Split off its top bit t, such a function is
//! low ⊕ t·(low ⊕ high): one AND for each function, or fewer where their differences depend on each other, and the rest
//! are functions of one bit less. Once there are more of these than the remaining index has values, a full decoder
//! ([`one_hot`]) gives them all for nothing more. So the cost follows from ranks over GF(2): it is never above that of
//! the decoder, a table that is affine costs nothing, and an output that is the XOR of others comes free.
//!
//! The S-boxes of AES, SM4, Camellia and others are the inversion in GF(2^8) between affine maps, which is found out and has a
//! circuit of its own.

use crate::blocks::Goal;
use crate::blocks::logic::select::{multiplexer, one_hot, one_hot_below};
use crate::blocks::selection::inversion::Inversion;
use crate::builder::Builder;
use crate::graph::Bit;
use crate::words::Word;

/// The values of a Boolean function, in the order of its index.
type Truth = Vec<bool>;

/// Entry `index` of a public table, in `width` bits; an index beyond the table drops its top bit.
///
/// For k bits of index and m of output. Size: at most the least of m·(2^b − 1) + 2^a − a − 1 over a + b = k, depth ⌈log
/// a⌉ + b: 26 ANDs for one output of 8 bits, 81 for 8 of 8 bits, 2^k − k − 1 for very many. Depth: ⌈log k⌉, which
/// nothing can undercut, and at most the least of m·(2^b − 1) + 2^a + 2^b − k − 2 over those splits that are as
/// shallow, or 2^k − k − 1. Size, where eight outputs, of which the others are sums, are the inversion in GF(2^8) between
/// affine maps: 32 ANDs of depth 6.
///
/// # Panics
/// If the index does not have ⌈log n⌉ bits for n entries, or there are more than 128 bits to an entry.
pub fn lookup(c: &mut Builder, index: &[Bit], table: &[u128], width: usize, goal: Goal) -> Vec<Bit> {
    assert!(width <= 128, "a table of at most 128 bits, not {width}");
    let size = 1usize << index.len();
    assert!(size / 2 < table.len() && table.len() <= size, "{} entries, {} bits of index", table.len(), index.len());
    let entry = |i: usize| table.get(i).unwrap_or_else(|| &table[i - size / 2]);
    let function = |bit: usize| (0..size).map(|i| entry(i) >> bit & 1 == 1).collect();
    let mut basis = Basis::affine(index.len());
    let outputs: Vec<Truth> = (0..width).map(function).collect();
    let sums: Vec<Vec<usize>> = outputs.iter().map(|output| basis.express(output.clone())).collect();
    let functions = basis.vectors.split_off(1 + index.len());
    let found = match goal {
        Goal::Size => by_inversion(c, index, &outputs, &sums).unwrap_or_else(|| by_bits(c, index, functions)),
        Goal::Depth => by_halves(c, index, &functions),
    };
    let known = [&[Bit::TRUE], index, &found].concat();
    sums.iter().map(|sum| c.xor_all(sum.iter().map(|&i| known[i]))).collect()
}

/// The secret table look-up: word `index` of an array; an index beyond it drops its top bit.
///
/// The [`multiplexer`] under its other name, at its cost: (n − 1)·w ANDs, depth ⌈log n⌉ (size), or one decoder more
/// and depth ⌈log log n⌉ + 1 (depth).
///
/// # Panics
/// If the array is empty, the widths differ, or the index does not have ⌈log n⌉ bits.
pub fn read<W: Word + Clone>(c: &mut Builder, index: &[Bit], array: &[W], goal: Goal) -> W {
    multiplexer(c, index, array, goal)
}

/// The array with its word `index` replaced; an index beyond it drops its top bit.
///
/// n·w ANDs and a decoder ([`one_hot_below`]: n − ⌈log n⌉ ANDs for size), one layer deeper than the decoder.
///
/// # Panics
/// If the array is empty, the widths differ, or the index does not have ⌈log n⌉ bits.
pub fn write<W: Word>(c: &mut Builder, index: &[Bit], array: &[W], value: &W, goal: Goal) -> Vec<W> {
    let hot = one_hot_below(c, index, array.len(), goal);
    array.iter().zip(hot).map(|(word, hot)| crate::blocks::mux(c, hot, value, word)).collect()
}

/// The functions of the index that `sums` are made of, if the outputs that brought them are an inversion.
fn by_inversion(c: &mut Builder, index: &[Bit], outputs: &[Truth], sums: &[Vec<usize>]) -> Option<Vec<Bit>> {
    let byte: [Bit; 8] = index.try_into().ok()?;
    let mut known = [&[Bit::TRUE], index].concat();
    let mut next = known.len();
    let mut new = Vec::new();
    for (output, sum) in outputs.iter().zip(sums) {
        let (last, others) = sum.split_last().unwrap_or((&0, &[]));
        if *last == next {
            new.push((output, others));
            next += 1;
        }
    }
    let bits: [&Truth; 8] = new.iter().map(|(output, _)| *output).collect::<Vec<_>>().try_into().ok()?;
    let value = |place: usize| (0..8).map(|bit| u8::from(bits[bit][place]) << bit).sum();
    let values = Inversion::find(&std::array::from_fn(value))?.build(c, byte);
    for ((_, others), value) in new.iter().zip(values) {
        let function = c.xor_all(others.iter().map(|&i| known[i]).chain([value]));
        known.push(function);
    }
    Some(known.split_off(1 + index.len()))
}

/// Functions of the index, its top bit split off as long as that saves ANDs.
fn by_bits(c: &mut Builder, index: &[Bit], functions: Vec<Truth>) -> Vec<Bit> {
    let Some((&top, rest)) = index.split_last() else {
        return functions.iter().map(|function| Bit::constant(function[0])).collect();
    };
    let half = 1 << rest.len();
    let mut basis = Basis::of_constants(half);
    let sums: Vec<Vec<usize>> =
        functions.iter().map(|function| basis.express(differences(function, 1, half))).collect();
    if basis.vectors.len() == half {
        return by_decoder(c, index, &functions);
    }
    let count = functions.len();
    let lower = functions.into_iter().map(|mut function| {
        function.truncate(half);
        function
    });
    let mut lower = by_bits(c, rest, lower.chain(basis.vectors.into_iter().skip(1)).collect());
    let changes = changes(c, top, &lower.split_off(count));
    sums.iter().zip(lower).map(|(sum, low)| c.xor_all(sum.iter().map(|&i| changes[i]).chain([low]))).collect()
}

/// Functions of the index, as deep as its decoder: one AND for each value of the high part and each function.
fn by_halves(c: &mut Builder, index: &[Bit], functions: &[Truth]) -> Vec<Bit> {
    let Some(low_bits) = cheapest_split(index.len(), functions.len()) else {
        return by_decoder(c, index, functions);
    };
    let (low, high) = index.split_at(low_bits);
    let (low, high) = (one_hot(c, low), one_hot(c, high));
    let mut sums: Vec<Bit> = functions.iter().map(|function| select_ones(c, &low, &function[..low.len()])).collect();
    for (row, &hot) in high.iter().enumerate().skip(1) {
        let mut basis = Basis::of_constants(low.len());
        let row = |function: &Truth| basis.express(differences(function, row, low.len()));
        let parts: Vec<Vec<usize>> = functions.iter().map(row).collect();
        let vectors: Vec<Bit> = basis.vectors[1..].iter().map(|vector| select_ones(c, &low, vector)).collect();
        let changes = changes(c, hot, &vectors);
        for (sum, part) in sums.iter_mut().zip(parts) {
            *sum = c.xor_all(part.into_iter().map(|i| changes[i]).chain([*sum]));
        }
    }
    sums
}

fn by_decoder(c: &mut Builder, index: &[Bit], functions: &[Truth]) -> Vec<Bit> {
    let hot = one_hot(c, index);
    functions.iter().map(|function| select_ones(c, &hot, function)).collect()
}

/// The low bits of the cheapest split that is as shallow as the decoder of all k bits; none if that is cheaper.
fn cheapest_split(k: usize, outputs: usize) -> Option<usize> {
    let decoder = |bits: usize| (1usize << bits) - bits - 1;
    let cost = |low: usize| {
        let (high, rank) = (k - low, outputs.min((1 << low) - 1));
        ((1 << high) - 1) * rank + decoder(low) + decoder(high)
    };
    let shallow = |bits: usize| 2 * bits.next_power_of_two() <= k.next_power_of_two();
    let splits = (1..k).filter(|&low| shallow(low) && shallow(k - low));
    splits.min_by_key(|&low| cost(low)).filter(|&low| cost(low) < decoder(k))
}

/// A function of which the decoded index is given: the XOR of the outputs where it is one.
fn select_ones(c: &mut Builder, hot: &[Bit], function: &[bool]) -> Bit {
    c.xor_all(hot.iter().zip(function).filter(|(_, one)| **one).map(|(&hot, _)| hot))
}

/// The products of a bit with the vectors of a basis, the constant first.
fn changes(c: &mut Builder, bit: Bit, vectors: &[Bit]) -> Vec<Bit> {
    let products = vectors.iter().map(|&vector| c.and(bit, vector));
    [bit].into_iter().chain(products).collect()
}

/// How a function differs in a row of its values from the first row.
fn differences(function: &Truth, row: usize, length: usize) -> Truth {
    function[..length].iter().zip(&function[row * length..]).map(|(first, value)| first ^ value).collect()
}

/// Independent vectors over GF(2), the constant one first; vector i is zero at the pivots of those before it.
struct Basis {
    vectors: Vec<Truth>,
    pivots: Vec<usize>,
}

impl Basis {
    fn of_constants(length: usize) -> Self {
        Basis { vectors: vec![vec![true; length]], pivots: vec![0] }
    }

    /// The constant, and the bits of an index: what needs no AND.
    fn affine(bits: usize) -> Self {
        let mut basis = Basis::of_constants(1 << bits);
        for bit in 0..bits {
            basis.vectors.push((0..1 << bits).map(|i| i >> bit & 1 == 1).collect());
            basis.pivots.push(1 << bit);
        }
        basis
    }

    /// The vectors that sum to this one; there is one more if it was independent.
    fn express(&mut self, mut vector: Truth) -> Vec<usize> {
        let mut sum = Vec::new();
        for (i, (known, &pivot)) in self.vectors.iter().zip(&self.pivots).enumerate() {
            if vector[pivot] {
                vector.iter_mut().zip(known).for_each(|(bit, known)| *bit ^= known);
                sum.push(i);
            }
        }
        if let Some(pivot) = vector.iter().position(|&bit| bit) {
            sum.push(self.vectors.len());
            self.vectors.push(vector);
            self.pivots.push(pivot);
        }
        sum
    }
}

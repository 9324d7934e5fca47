//! Products, squares and sums of them, by signed digits.
//!
//! With digits ±1 in place of bits a product of digits is an XOR, so partial products cost nothing: for x = ¬(a ⊕ b),
//! 2ab = x + a + b − 1. Summed over all digits, with X the sum of the x_ij · 2^(i+j),
//!
//! > 2ab = X + (2^m − 1)·a + (2^n − 1)·b − (2^n − 1)(2^m − 1)
//!
//! for unsigned numbers of n and m bits; a factor in two's complement has −1 in place of 2^n − 1. The school method
//! thus needs about n² + 2n ANDs, not 2n², and all partial products are there at depth 0. In a square only digits i < j
//! meet: about n²/2 ANDs. Sums of products share their columns and the sums of the factors.
//!
//! Wide products for size follow Karatsuba and Ofman ("Multiplication of multidigit numbers on automata", 1962).

use std::collections::BTreeMap;

use super::columns::Columns;
use super::factor::{Factor, Product};
use super::sum::sum_width;
use crate::blocks::Goal;
use crate::builder::Builder;
use crate::graph::Bit;
use crate::words::Word;

/// a · b in n + m bits, signed if the words are: it cannot overflow.
///
/// Two words of n bits, size: n² + 2n + 5 ANDs below 28 bits, then fewer by Karatsuba's method: 1,013 for 32 bits,
/// 3,386 for 64, 10,785 for 128, 103,107 for 512; depth 2n − 1. Depth: a carry-save tree and the shallow adder, about
/// n² + 6n + n·log n ANDs of depth 2·log n + 1: 389 ANDs of depth 9 for 16 bits, 1,365 of depth 11 for 32, 4,892 of
/// depth 13 for 64, 271,733 of depth 19 for 512. Short integers in two's complement need fewer.
pub fn multiply<W: Word>(c: &mut Builder, a: &W, b: &W, goal: Goal) -> W {
    W::from_bits(product(c, Product::of(Factor::of(a), Factor::of(b)), a.width() + b.width(), goal))
}

/// a · b mod 2^n, the same for signed and unsigned words.
///
/// Size: (n² + 3n − 2) / 2 ANDs of depth n below 68 bits (559 for 32 bits, 2,143 for 64). Depth: 635 ANDs of depth 10
/// for 32 bits, 2,353 of depth 12 for 64.
///
/// # Panics
/// If the widths differ.
pub fn multiply_low<W: Word>(c: &mut Builder, a: &W, b: &W, goal: Goal) -> W {
    assert_eq!(a.width(), b.width(), "operands of one width");
    let factors = Product::of(Factor::unsigned(a.bits()), Factor::unsigned(b.bits()));
    W::from_bits(product(c, factors, a.width(), goal))
}

/// a² in 2n bits, unsigned or signed as a is.
///
/// Size: ⌈n²/2⌉ + n − 3 ANDs of depth 2n − 3 from 7 to 35 bits (541 for 32), then fewer by Karatsuba's method: 1,867
/// for 64 bits. Depth: 225 ANDs of depth 8 for 16 bits, 776 of depth 10 for 32, 2,708 of depth 12 for 64.
pub fn square<W: Word>(c: &mut Builder, a: &W, goal: Goal) -> W {
    W::from_bits(product(c, Product::square(Factor::of(a)), 2 * a.width(), goal))
}

/// a² mod 2^n, the same for signed and unsigned words.
///
/// Size: at most n² / 4 ANDs of depth n − 3 from 4 to 67 bits (254 for 32 bits). Depth: 330 ANDs of depth 9 for 32 bits.
pub fn square_low<W: Word>(c: &mut Builder, a: &W, goal: Goal) -> W {
    W::from_bits(product(c, Product::square(Factor::unsigned(a.bits())), a.width(), goal))
}

/// A number of any width: its bits, and whether they are in two's complement.
#[doc(hidden)]
pub type Number<'a> = (&'a [Bit], bool);

/// The sum of words, some of them subtracted, and of products, modulo 2^width: all of them in one sum of columns.
#[doc(hidden)]
pub fn sum_of_terms(
    c: &mut Builder,
    words: &[(Number, bool)],
    products: &[(Number, Number)],
    width: usize,
    goal: Goal,
) -> Vec<Bit> {
    let factor = |(bits, signed): Number| Factor { bits: bits.to_vec(), signed }.cut(width);
    let mut products: Vec<Product> = products.iter().map(|&(a, b)| factors(factor(a), factor(b))).collect();
    if let (true, [_]) = (words.is_empty(), &products[..]) {
        return product(c, products.remove(0), width, goal);
    }
    let mut columns = Columns::new(width);
    if !products.is_empty() {
        products_into(c, &mut columns, 0, &products, goal);
    }
    for &(word, subtract) in words {
        let word = factor(word);
        if subtract { word.subtract_from(&mut columns, 0) } else { word.add_to(&mut columns, 0) }
    }
    columns.sum(c, goal)
}

fn factors(a: Factor, b: Factor) -> Product {
    if a.bits == b.bits && a.signed == b.signed { Product::square(a) } else { Product::of(a, b) }
}

fn product(c: &mut Builder, product: Product, width: usize, goal: Goal) -> Vec<Bit> {
    let start = product.factors().flat_map(|factor| &factor.bits).map(|&bit| c.depth(bit)).max().unwrap_or(0);
    // A layer too many is in the corrections.
    let corrected = !product.is_square() && width > 2 * SHORT;
    let mut columns = Columns::new(width);
    products_into(c, &mut columns, 0, &[product], goal);
    match goal {
        Goal::Size if corrected => columns.sum_within(c, start + width as u32 - 1),
        _ => columns.sum(c, goal),
    }
}

/// Adds the sum of the products · 2^shift; what lies beyond the width of the columns is not built.
pub(crate) fn products_into(c: &mut Builder, columns: &mut Columns, shift: usize, products: &[Product], goal: Goal) {
    let Some(width) = columns.width().checked_sub(shift) else { return };
    let products: Vec<Product> = products.iter().map(|product| product.map(|factor| factor.cut(width))).collect();
    match goal {
        Goal::Size if karatsuba_pays(width, &products) => karatsuba(c, columns, shift, &products),
        _ => school(c, columns, shift, &products, goal),
    }
}

/// Adds a·b·2^(shift − drop) without the products of digits of weight below 2^drop.
///
/// If `drop` is at most the width of either factor, signs apart, only positive terms are left out, and what is added
/// lies between a·b / 2^drop − drop and a·b / 2^drop (times 2^shift). On average (drop − 1) / 4 is missing where bits
/// are random, so that a constant of drop / 2 centres the bound, and one of drop / 4 the mean.
pub(crate) fn product_high_into(
    c: &mut Builder,
    columns: &mut Columns,
    shift: usize,
    (a, b): (&Factor, &Factor),
    drop: usize,
) {
    let mut doubled = Columns::new(columns.width() - shift + 1);
    for (i, &x) in a.bits.iter().enumerate() {
        for (j, &y) in b.bits.iter().enumerate().skip(drop.saturating_sub(i)) {
            digit(c, &mut doubled, i + j - drop, (x, y), a.negative(i) != b.negative(j));
        }
    }
    for (a, b) in [(a, b), (b, a)] {
        // Bit i meets the bits of b from drop − i on.
        for (i, &bit) in a.bits.iter().enumerate().filter(|(i, _)| i + b.width() > drop) {
            if !b.signed {
                doubled.add_or_subtract(i + b.width() - drop, bit, a.negative(i));
            }
            doubled.add_or_subtract(i.max(drop) - drop, bit, !a.negative(i));
        }
    }
    columns.add_half(shift, doubled);
}

/// About a · b / 2^drop in n + m − drop bits: products of digits of weight below 2^drop are left out.
///
/// The result is at most a · b / 2^drop and above a · b / 2^drop − drop. Two words of 32 bits without 32 bits: 614 ANDs
/// of depth 32 (size) or 716 of depth 10 (depth). Above 64 bits a full product by Karatsuba's method is smaller.
///
/// # Panics
/// If `drop` is more than the width of a factor, or not less than that of a signed one.
pub fn multiply_high<W: Word>(c: &mut Builder, a: &W, b: &W, drop: usize, goal: Goal) -> W {
    let (left, right) = (Factor::of(a), Factor::of(b));
    let most = |factor: &Factor| factor.width() - usize::from(factor.signed);
    assert!(drop <= most(&left).min(most(&right)), "bits dropped from a product");
    let mut columns = Columns::new(a.width() + b.width() - drop);
    product_high_into(c, &mut columns, 0, (&left, &right), drop);
    W::from_bits(columns.sum(c, goal))
}

fn school(c: &mut Builder, columns: &mut Columns, shift: usize, products: &[Product], goal: Goal) {
    let width = columns.width() - shift;
    let (mut single, mut doubled) = (Columns::new(width), Columns::new(width + 1));
    // Σ (2^k − 1)·a over the factors a that meet an unsigned factor of k bits.
    let mut scaled: BTreeMap<usize, Vec<&[Bit]>> = BTreeMap::new();
    let mut squared: BTreeMap<usize, Vec<&[Bit]>> = BTreeMap::new();
    for product in products {
        let (a, b) = (product.left(), product.right());
        if product.is_square() {
            if a.width() <= SHORT && products.len() == 1 {
                square_bits(c, &mut single, a);
                continue;
            }
            square_digits(c, &mut single, a);
            match a.signed {
                true => a.subtract_from(&mut single, 0),
                false => squared.entry(a.width()).or_default().push(&a.bits),
            }
            continue;
        }
        if a.width().min(b.width()) == 1 || a.width().max(b.width()) <= SHORT && products.len() == 1 {
            product_bits(c, &mut single, a, b);
            continue;
        }
        product_digits(c, &mut doubled, a, b);
        for (a, b) in [(a, b), (b, a)] {
            match (a.signed, b.signed) {
                (false, false) => scaled.entry(b.width()).or_default().push(&a.bits),
                (_, true) => a.subtract_from(&mut doubled, 0),
                (true, false) => {
                    a.add_to(&mut doubled, b.width());
                    a.subtract_from(&mut doubled, 0);
                }
            }
        }
    }
    scale(c, &mut single, squared, goal);
    scale(c, &mut doubled, scaled, goal);
    columns.add_columns(shift, single);
    columns.add_half(shift, doubled);
}

/// Adds 2^k − 1 times the sum of the words that stand at k.
fn scale(c: &mut Builder, columns: &mut Columns, words: BTreeMap<usize, Vec<&[Bit]>>, goal: Goal) {
    for (k, words) in words {
        for word in few_words(c, &words, goal) {
            columns.add_word(k, &word);
            columns.subtract_word(0, &word);
        }
    }
}

/// Up to this width the corrections of one product outweigh its products of bits.
const SHORT: usize = 4;

/// Adds the products of the bits of a and b.
fn product_bits(c: &mut Builder, columns: &mut Columns, a: &Factor, b: &Factor) {
    for (i, &x) in a.bits.iter().enumerate() {
        for (j, &y) in b.bits.iter().enumerate() {
            let both = c.and(x, y);
            columns.add_or_subtract(i + j, both, a.negative(i) != b.negative(j));
        }
    }
}

/// Adds the squares of the bits of a, and twice their products.
fn square_bits(c: &mut Builder, columns: &mut Columns, a: &Factor) {
    for (j, &y) in a.bits.iter().enumerate() {
        columns.add_bit(2 * j, y);
        for (i, &x) in a.bits[..j].iter().enumerate() {
            let both = c.and(x, y);
            columns.add_or_subtract(i + j + 1, both, a.negative(j));
        }
    }
}

/// Adds the products of the digits of a and b, doubled.
fn product_digits(c: &mut Builder, doubled: &mut Columns, a: &Factor, b: &Factor) {
    for (i, &x) in a.bits.iter().enumerate() {
        for (j, &y) in b.bits.iter().enumerate().take(doubled.width().saturating_sub(i)) {
            digit(c, doubled, i + j, (x, y), a.negative(i) != b.negative(j));
        }
    }
}

/// Adds the products of the digits i < j of a.
fn square_digits(c: &mut Builder, columns: &mut Columns, a: &Factor) {
    for (j, &y) in a.bits.iter().enumerate() {
        for (i, &x) in a.bits.iter().enumerate().take(j.min(columns.width().saturating_sub(j))) {
            digit(c, columns, i + j, (x, y), a.negative(j));
        }
    }
}

/// Adds x_ij − 1, or 1 − x_ij if just one of the digits counts negative.
fn digit(c: &mut Builder, columns: &mut Columns, place: usize, (x, y): (Bit, Bit), negative: bool) {
    let differ = c.xor(x, y);
    columns.add_or_subtract(place, differ, !negative);
}

/// Words of this sum, exactly: one for size, at most two for depth.
fn few_words(c: &mut Builder, words: &[&[Bit]], goal: Goal) -> Vec<Vec<Bit>> {
    let most = if goal == Goal::Size { 1 } else { 2 };
    if words.len() <= most {
        return words.iter().map(|word| word.to_vec()).collect();
    }
    // No carry leaves the columns: all bits are positive and the largest sum fits.
    let mut columns = Columns::new(sum_width(words.iter().map(|word| word.len())));
    words.iter().for_each(|word| columns.add_word(0, word));
    match goal {
        Goal::Size => vec![columns.sum(c, goal)],
        Goal::Depth => <[_; 2]>::from(columns.carry_save(c)).to_vec(),
    }
}

/// Widths from which on Karatsuba's method needs fewer ANDs than the school method.
mod crossover {
    /// 28 bits: 807 ANDs, not 839; 32 bits: 1,013, not 1,087; 64 bits: 3,386, not 4,223.
    pub const PRODUCT: usize = 28;
    /// 16 products share their last additions, which leaves the sums of halves to pay for.
    pub const SUM: usize = 16;
    /// 36 bits: 670 ANDs, not 681; 64 bits: 1,867, not 2,109.
    pub const SQUARE: usize = 36;
    /// Signs cost two additions of n bits. 32 bits: 1,063 ANDs, not 1,086; 30 bits: 936, not 958.
    pub const SIGNS: usize = 4;
    /// A product modulo 2^n profits in one half only. 80 bits: 3,248 ANDs, not 3,319; 64 bits: 2,151, not 2,143.
    pub const LOW: usize = 68;
}

fn karatsuba_pays(width: usize, products: &[Product]) -> bool {
    let factors = || products.iter().flat_map(Product::factors);
    let most = factors().map(Factor::width).max().unwrap_or(0);
    let least = match products {
        _ if width < 3 * most.div_ceil(2) => crossover::LOW,
        _ if products.iter().any(Product::is_square) => crossover::SQUARE,
        [_] | [_, _] => crossover::PRODUCT,
        _ => crossover::SUM,
    };
    let signs = if factors().any(|factor| factor.signed) { crossover::SIGNS } else { 0 };
    most >= least + signs && factors().all(|factor| factor.width() > most.div_ceil(2))
}

/// Three sums of products of half the width in place of four.
///
/// With a = a₀ + 2^h·a₁, b alike, z₀ = Σ a₀b₀ and z₂ = Σ a₁b₁, the sum of products is
/// (1 − 2^h)·z₀ + 2^h·Σ (a₀ + a₁)(b₀ + b₁) + (2^2h − 2^h)·z₂. The upper half of z₀ and the lower half of z₂ meet twice,
/// with opposite signs, so their difference is built once.
fn karatsuba(c: &mut Builder, columns: &mut Columns, shift: usize, products: &[Product]) {
    let products = &without_signs(c, columns, shift, products);
    let h = products.iter().flat_map(Product::factors).map(Factor::width).max().unwrap_or(0).div_ceil(2);
    let low: Vec<Product> = products.iter().map(|product| product.map(|factor| factor.low(h))).collect();
    let high: Vec<Product> = products.iter().map(|product| product.map(|factor| factor.high(h))).collect();
    if columns.width() < shift + 3 * h {
        // What the third product saves lies mostly beyond the width.
        products_into(c, columns, shift, &low, Goal::Size);
        let (squares, others): (Vec<_>, Vec<_>) = low.iter().zip(&high).partition(|(low, _)| low.is_square());
        let cross = |low: &Product, high: &Product| Product::of(low.left().clone(), high.right().clone());
        let twice: Vec<Product> = squares.iter().map(|(low, high)| cross(low, high)).collect();
        let once: Vec<Product> = others.iter().flat_map(|(low, high)| [cross(low, high), cross(high, low)]).collect();
        products_into(c, columns, shift + h, &once, Goal::Size);
        products_into(c, columns, shift + h + 1, &twice, Goal::Size);
        return products_into(c, columns, shift + 2 * h, &high, Goal::Size);
    }
    let sums: Vec<Product> = products.iter().map(|product| product.map(|factor| sum_of_halves(c, factor, h))).collect();
    products_into(c, columns, shift + h, &sums, Goal::Size);
    let (z0, z2) = (sum_of_products(c, &low), sum_of_products(c, &high));
    let ((z0_low, z0_high), (z2_low, z2_high)) = (z0.split_at(h), z2.split_at(h.min(z2.len())));
    let mut middle = Columns::new(z0_high.len().max(h) + 1);
    middle.add_word(0, z0_high);
    middle.subtract_word(0, z2_low);
    let middle = middle.sum(c, Goal::Size);
    columns.add_word(shift, z0_low);
    columns.subtract_word(shift + h, z0_low);
    columns.add_signed(shift + h, &middle);
    columns.subtract_signed(shift + 2 * h, &middle);
    columns.subtract_word(shift + 2 * h, z2_high);
    columns.add_word(shift + 3 * h, z2_high);
}

/// The products with unsigned factors: a = a' − 2^(n−1), where a' has the sign turned.
fn without_signs(c: &mut Builder, columns: &mut Columns, shift: usize, products: &[Product]) -> Vec<Product> {
    let turned: Vec<Product> = products.iter().map(|product| product.map(Factor::turned)).collect();
    let mut scaled: BTreeMap<usize, Vec<&[Bit]>> = BTreeMap::new();
    for (product, turned) in products.iter().zip(&turned) {
        let [(a, plain_a), (b, plain_b)] = [(product.left(), turned.left()), (product.right(), turned.right())];
        for (a, other) in [(a, plain_b), (b, plain_a)].into_iter().filter(|(a, _)| a.signed) {
            scaled.entry(a.width() - 1).or_default().push(&other.bits);
        }
        if a.signed && b.signed {
            columns.add_power(shift + a.width() + b.width() - 2);
        }
    }
    for (k, words) in scaled {
        few_words(c, &words, Goal::Size).iter().for_each(|word| columns.subtract_word(shift + k, word));
    }
    turned
}

fn sum_of_halves(c: &mut Builder, factor: &Factor, h: usize) -> Factor {
    let (low, high) = factor.bits.split_at(h);
    Factor::unsigned(&few_words(c, &[low, high], Goal::Size)[0])
}

fn sum_of_products(c: &mut Builder, products: &[Product]) -> Vec<Bit> {
    let mut columns = Columns::new(sum_width(products.iter().map(Product::width)));
    products_into(c, &mut columns, 0, products, Goal::Size);
    columns.sum(c, Goal::Size)
}

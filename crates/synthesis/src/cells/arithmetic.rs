//! Sums, products, quotients, powers and comparisons.

use super::{Inputs, are_signed, extended, misshapen};
use crate::error::{Error, Result};
use crate::netlist::{Cell, Signal};
use crate::number::{Known, Number};
use circuit::blocks::divide::divide_widths;
use circuit::blocks::multiply::sum_of_terms;
use circuit::blocks::sum::negate_if;
use circuit::blocks::{self, Goal, modular};
use circuit::{Bit, Builder, UInt, Word};

/// What is added up.
pub(crate) enum Term {
    /// A number, or its negative.
    Word(Number, bool),
    /// A number, or its negative if the bit is set.
    Signed(Number, Bit),
    /// The product of two numbers.
    Product(Number, Number),
}

/// The terms of a sum, a difference, a negative or a product.
pub(super) fn linear(c: &mut Builder, inputs: &Inputs) -> Result<Vec<Bit>> {
    let (a, b) = inputs.pair();
    let terms = match inputs.cell.kind.as_str() {
        "$neg" => vec![Term::Word(inputs.number("A"), true)],
        "$mul" => {
            inputs.bounded()?;
            vec![Term::Product(a, b)]
        }
        "$sub" => vec![Term::Word(a, false), Term::Word(b, true)],
        _ => vec![Term::Word(a, false), Term::Word(b, false)],
    };
    Ok(sum(c, terms, inputs.width(), inputs.goal))
}

/// The sum of terms modulo 2^width.
pub(crate) fn sum(c: &mut Builder, terms: Vec<Term>, width: usize, goal: Goal) -> Vec<Bit> {
    let (mut words, mut products, mut carries) = (Vec::new(), Vec::new(), Vec::new());
    for term in terms {
        match term {
            Term::Signed(word, negative) => {
                // −a is ¬a + 1.
                let bits = word.extended(width).into_iter().map(|bit| c.xor(bit, negative)).collect();
                words.push((Number { bits, signed: false }, false));
                carries.push(negative);
            }
            Term::Word(word, _) if word.bits.is_empty() => {}
            Term::Word(word, subtract) => words.push((word, subtract)),
            Term::Product(a, b) => match (a.constant(), b.constant()) {
                (Some(k), _) => multiples(&b, &k, a.signed, width, &mut words),
                (_, Some(k)) => multiples(&a, &k, b.signed, width, &mut words),
                _ => products.push((a, b)),
            },
        }
    }
    if let ([(a, false), (b, false)], [], Some(carry)) = (&words[..], &products[..], one_carry(&carries)) {
        return add_with_carry(c, &a.extended(width), &b.extended(width), carry, goal);
    }
    words.extend(carries.into_iter().map(|carry| (Number::unsigned(&[carry]), false)));
    match (&words[..], &products[..]) {
        ([], []) => vec![Bit::FALSE; width],
        ([], [(a, b)]) => product(c, a, b, width, goal),
        ([(a, false)], []) => a.extended(width),
        ([(a, true)], []) => blocks::negate(c, &a.uint(width), goal).0,
        ([(a, false), (b, false)], []) => blocks::add(c, &a.uint(width), &b.uint(width), goal).0,
        ([(a, false), (b, true)] | [(b, true), (a, false)], []) => {
            blocks::subtract(c, &a.uint(width), &b.uint(width), goal).0
        }
        _ => columns(c, &words, &products, width, goal),
    }
}

/// The carry that these are together, unless they are more: a bit and its complement are one.
fn one_carry(carries: &[Bit]) -> Option<Bit> {
    match *carries {
        [carry] => Some(carry),
        [first, second] if first == !second => Some(Bit::TRUE),
        _ => None,
    }
}

/// a + b and a carry, which comes out of two copies of it below the words.
fn add_with_carry(c: &mut Builder, a: &[Bit], b: &[Bit], carry: Bit, goal: Goal) -> Vec<Bit> {
    let [a, b] = [a, b].map(|word| UInt([&[carry], word].concat()));
    blocks::add(c, &a, &b, goal).0.split_off(1)
}

fn columns<'a>(
    c: &mut Builder,
    words: &'a [(Number, bool)],
    products: &'a [(Number, Number)],
    width: usize,
    goal: Goal,
) -> Vec<Bit> {
    let of = |number: &'a Number| (&number.bits[..], number.signed);
    let words: Vec<_> = words.iter().map(|(word, subtract)| (of(word), *subtract)).collect();
    let products: Vec<_> = products.iter().map(|(a, b)| (of(a), of(b))).collect();
    sum_of_terms(c, &words, &products, width, goal)
}

/// a · b modulo 2^width, made no wider than it is.
fn product(c: &mut Builder, a: &Number, b: &Number, width: usize, goal: Goal) -> Vec<Bit> {
    let full = a.width() + b.width();
    let bits = sum_of_terms(c, &[], &[((&a.bits, a.signed), (&b.bits, b.signed))], width.min(full), goal);
    // A product that is cut is as wide as it has to be.
    Number { bits, signed: a.signed || b.signed }.extended(width)
}

/// The multiples of a number of which a product with a constant is the sum: one for each digit of the constant in the
/// form with the fewest of them.
fn multiples(a: &Number, constant: &[bool], signed: bool, width: usize, words: &mut Vec<(Number, bool)>) {
    let sign = signed && constant.last() == Some(&true);
    let bit = |i: usize| constant.get(i).copied().unwrap_or(sign);
    let mut carry = false;
    for i in 0..width {
        let (low, above) = (bit(i) != carry, bit(i + 1));
        if low {
            words.push((multiple(a, i), above));
        }
        carry = if low { above } else { carry && bit(i) };
    }
}

/// a · 2^places.
fn multiple(a: &Number, places: usize) -> Number {
    Number { bits: [&vec![Bit::FALSE; places][..], &a.bits].concat(), signed: a.signed }
}

/// A quotient or a remainder; by zero, anything.
pub(super) fn division(c: &mut Builder, inputs: &Inputs) -> Result<Vec<Bit>> {
    inputs.bounded()?;
    let (a, b) = inputs.pair();
    let (kind, width) = (inputs.cell.kind.as_str(), inputs.width());
    let [a_sign, b_sign] = [a.sign(), b.sign()];
    let [a_size, b_size] = [&a, &b].map(|number| size(c, number, inputs.goal));
    let (quotient, remainder) = divide_sizes(c, &a_size, &b_size, inputs.goal);
    let differ = c.xor(a_sign, b_sign);
    let some = select_any(c, &remainder);
    // Rounded down instead of towards zero: one less if the signs differ and something is left.
    let lower = c.and(differ, some);
    Ok(match kind {
        "$div" => negated(c, differ, &quotient, width, inputs.goal),
        "$mod" => negated(c, a_sign, &remainder, width, inputs.goal),
        "$divfloor" => {
            let towards_zero = Number { bits: negated(c, differ, &quotient, width, inputs.goal), signed: false };
            sum(
                c,
                vec![Term::Word(towards_zero, false), Term::Word(Number::unsigned(&[lower]), true)],
                width,
                inputs.goal,
            )
        }
        _ => {
            let towards_zero = Number { bits: negated(c, a_sign, &remainder, width, inputs.goal), signed: false };
            let more: Vec<Bit> = b.extended(width).into_iter().map(|bit| c.and(bit, lower)).collect();
            let more = Number { bits: more, signed: false };
            sum(c, vec![Term::Word(towards_zero, false), Term::Word(more, false)], width, inputs.goal)
        }
    })
}

/// The absolute value, which is unsigned.
fn size(c: &mut Builder, number: &Number, goal: Goal) -> Vec<Bit> {
    let bits = UInt(number.bits.clone());
    let size = if number.signed { negate_if(c, number.sign(), &bits, goal).0 } else { bits.0 };
    Number::unsigned(&size).bits
}

/// ⌊a / b⌋ and a mod b.
fn divide_sizes(c: &mut Builder, a: &[Bit], b: &[Bit], goal: Goal) -> (Vec<Bit>, Vec<Bit>) {
    if a.is_empty() || b.is_empty() {
        return (Vec::new(), Vec::new());
    }
    let (quotient, remainder) = divide_widths(c, a, b, goal);
    match small(b) {
        // A remainder modulo a constant is cheaper than the one that a division leaves.
        Some(modulus) if modulus > 1 => {
            (quotient, modular::remainder_constant(c, &UInt(a.to_vec()), modulus, goal).bits().to_vec())
        }
        _ => (quotient, remainder),
    }
}

/// A constant below 2^100.
fn small(bits: &[Bit]) -> Option<u128> {
    let digits: Option<Vec<bool>> = bits.iter().map(|bit| bit.known()).collect();
    let digits = digits.filter(|digits| digits.len() < 100)?;
    Some(digits.iter().rev().fold(0, |sum, &digit| sum << 1 | u128::from(digit)))
}

/// An unsigned number, or its negative, modulo 2^width.
fn negated(c: &mut Builder, negative: Bit, bits: &[Bit], width: usize, goal: Goal) -> Vec<Bit> {
    let number = Number::unsigned(bits);
    if negative == Bit::FALSE {
        return number.extended(width);
    }
    // The sign is all that a shorter number has above its bits.
    let short = width.min(number.width() + 1);
    let turned = negate_if(c, negative, &number.uint(short), goal);
    Number { bits: turned.0, signed: true }.extended(width)
}

fn select_any(c: &mut Builder, bits: &[Bit]) -> Bit {
    super::select::any(c, bits.to_vec())
}

/// The most bits of an exponent, times those of the result squared.
const MOST_POWER: usize = 1 << 22;

/// A power: squares and products modulo 2^width.
pub(super) fn power(c: &mut Builder, inputs: &Inputs) -> Result<Vec<Bit>> {
    let (base, exponent, width) = (inputs.number("A"), inputs.number("B"), inputs.width());
    if exponent.width().saturating_mul(width).saturating_mul(width) > MOST_POWER {
        let why = format!("a power of {width} bits with an exponent of {} bits", exponent.width());
        return Err(Error::design(&inputs.cell.place, why, "the most is 128 bits with an exponent of 256"));
    }
    let plain = match exponent.signed {
        true => &exponent.bits[..exponent.width() - 1],
        false => &exponent.bits,
    };
    let mut power = Number { bits: UInt::constant(1, width as u32).0, signed: false };
    let mut square = Number { bits: base.extended(width), signed: false };
    for &bit in plain {
        let with = product_or_multiple(c, &power, &square, width, inputs.goal);
        power.bits = with.iter().zip(&power.bits).map(|(&with, &without)| c.mux(bit, with, without)).collect();
        square.bits = product_or_multiple(c, &square, &square, width, inputs.goal);
    }
    if !exponent.signed {
        return Ok(power.bits);
    }
    let below = reciprocal(c, &base, &exponent, width);
    let bits = below.iter().zip(&power.bits);
    Ok(bits.map(|(&below, &power)| c.mux(exponent.sign(), below, power)).collect())
}

fn product_or_multiple(c: &mut Builder, a: &Number, b: &Number, width: usize, goal: Goal) -> Vec<Bit> {
    let [a, b] = [a, b].map(|number| Number::unsigned(&number.bits));
    sum(c, vec![Term::Product(a, b)], width, goal)
}

/// A power of a negative exponent: 1 of 1, 1 or −1 of −1, else 0; of 0, anything.
fn reciprocal(c: &mut Builder, base: &Number, exponent: &Number, width: usize) -> Vec<Bit> {
    let low = base.bits.first().copied().unwrap_or(Bit::FALSE);
    let rest: Vec<Bit> = base.bits.iter().skip(1).map(|&bit| c.xor(bit, base.sign())).collect();
    let others = select_any(c, &rest);
    let unit = c.and(low, !others);
    let odd = exponent.bits.first().copied().unwrap_or(Bit::FALSE);
    let negative = c.and(odd, base.sign());
    let sign = c.and(unit, negative);
    (0..width).map(|i| if i == 0 { unit } else { sign }).collect()
}

/// A sum of products as the parameter `CONFIG` lays it out.
pub(super) fn multiply_accumulate(c: &mut Builder, inputs: &Inputs) -> Result<Vec<Bit>> {
    inputs.bounded()?;
    let (width, goal) = (inputs.width(), inputs.goal);
    let config = Config::new(inputs)?;
    let mut a = inputs.bits("A");
    let mut terms: Vec<Term> =
        inputs.bits("B").iter().map(|&bit| Term::Word(Number::unsigned(&[bit]), false)).collect();
    for (signed, subtract, sizes) in config {
        let mut factor = |size: usize| {
            let (bits, rest) =
                a.split_at_checked(size).ok_or_else(|| misshapen(inputs.cell, "CONFIG is longer than A"))?;
            a = rest;
            Ok::<_, Error>(Number::new(bits, signed))
        };
        let (left, right) = (factor(sizes[0])?, factor(sizes[1])?);
        terms.push(match (sizes[1], subtract) {
            (0, _) => Term::Word(left, subtract),
            (_, false) => Term::Product(left, right),
            (_, true) => {
                let bits = sum(c, vec![Term::Product(left, right)], width, goal);
                Term::Word(Number { bits, signed: false }, true)
            }
        });
    }
    Ok(sum(c, terms, width, goal))
}

/// The parameter of a `$macc`: how many bits a length has, then for each product whether it is signed, whether it is
/// subtracted, and the lengths of its factors.
struct Config {
    bits: Vec<Option<bool>>,
    lengths: usize,
    at: usize,
}

impl Config {
    fn new(inputs: &Inputs) -> Result<Self> {
        let bits = inputs.cell.parameter("CONFIG").map(|config| config.bits()).unwrap_or_default();
        let mut config = Config { bits, lengths: 0, at: 0 };
        config.lengths = config.number(4).max(1);
        let products = inputs.cell.number("CONFIG_WIDTH")?;
        config.bits.truncate(products);
        Ok(config)
    }

    fn number(&mut self, bits: usize) -> usize {
        let digits = (self.at..self.at + bits).map(|i| self.bits.get(i).copied().flatten().unwrap_or(false));
        let number = digits.enumerate().fold(0, |sum, (i, digit)| sum | usize::from(digit) << i);
        self.at += bits;
        number
    }
}

impl Iterator for Config {
    type Item = (bool, bool, [usize; 2]);

    fn next(&mut self) -> Option<(bool, bool, [usize; 2])> {
        if self.at + 2 + 2 * self.lengths > self.bits.len() {
            return None;
        }
        let (signed, subtract) = (self.number(1) == 1, self.number(1) == 1);
        Some((signed, subtract, [self.number(self.lengths), self.number(self.lengths)]))
    }
}

/// a + b or a − b with a carry that comes in, all carries that go out, and a ⊕ b.
pub(super) fn alu(c: &mut Builder, inputs: &Inputs) -> Result<Vec<(&'static str, Vec<Bit>)>> {
    let (a, b) = inputs.pair();
    let (width, carry, invert) = (inputs.width(), inputs.one("CI")?, inputs.one("BI")?);
    let a = a.extended(width);
    let b: Vec<Bit> = b.extended(width).into_iter().map(|bit| c.xor(bit, invert)).collect();
    // The carry comes out of two copies of it below the words.
    let [long_a, long_b] = [&a, &b].map(|word| UInt([&[carry], &word[..], &[Bit::FALSE]].concat()));
    let sum = blocks::add(c, &long_a, &long_b, inputs.goal).0;
    let differ: Vec<Bit> = a.iter().zip(&b).map(|(&a, &b)| c.xor(a, b)).collect();
    let carries = (1..=width).map(|i| match i == width {
        true => sum[i + 1],
        false => c.xor(sum[i + 1], differ[i]),
    });
    let carries: Vec<Bit> = carries.collect();
    Ok(vec![("X", differ), ("Y", sum[1..=width].to_vec()), ("CO", carries)])
}

/// Full adders side by side: X are the carries, Y the sums.
pub(super) fn full_adders(c: &mut Builder, inputs: &Inputs) -> Result<Vec<(&'static str, Vec<Bit>)>> {
    let width = inputs.bits("A").len();
    let (a, b, carry) = (inputs.bits("A"), inputs.exactly("B", width)?, inputs.exactly("C", width)?);
    let add = |((&a, &b), &carry): ((&Bit, &Bit), &Bit)| {
        let (left, right) = (c.xor(a, carry), c.xor(b, carry));
        let differ = c.and(left, right);
        (c.xor(carry, differ), c.xor(left, b))
    };
    let (carries, sums) = a.iter().zip(b).zip(carry).map(add).unzip();
    Ok(vec![("X", carries), ("Y", sums)])
}

/// Carries from what each bit generates and passes on.
pub(super) fn look_ahead(c: &mut Builder, inputs: &Inputs) -> Result<Vec<(&'static str, Vec<Bit>)>> {
    let generate = inputs.bits("G");
    let (pass, mut carry) = (inputs.exactly("P", generate.len())?, inputs.one("CI")?);
    let mut step = |(&generate, &pass)| {
        let passed = c.and(pass, carry);
        carry = c.or(generate, passed);
        carry
    };
    Ok(vec![("CO", generate.iter().zip(pass).map(&mut step).collect())])
}

/// A comparison. Nothing here is ever `x`, so `===` is `==`.
pub(super) fn compare(c: &mut Builder, inputs: &Inputs) -> Vec<Bit> {
    let (a, b) = inputs.pair();
    let width = a.common_width(&b);
    let outcome = match inputs.cell.kind.as_str() {
        // No bit is ever `x`, so nothing equals a constant that has one.
        "$eq" | "$eqx" if against_unknown(inputs.cell) => Bit::FALSE,
        "$ne" | "$nex" if against_unknown(inputs.cell) => Bit::TRUE,
        "$eq" | "$eqx" => blocks::equal(c, &a.uint(width), &b.uint(width)),
        "$ne" | "$nex" => !blocks::equal(c, &a.uint(width), &b.uint(width)),
        "$lt" => greater(c, &b, &a, inputs.goal),
        "$gt" => greater(c, &a, &b, inputs.goal),
        "$le" => !greater(c, &a, &b, inputs.goal),
        _ => !greater(c, &b, &a, inputs.goal),
    };
    UInt::from(outcome).resized(inputs.width()).0
}

/// Whether one operand has an `x` where the other has none.
fn against_unknown(cell: &Cell) -> bool {
    let (a, b, signed) = (cell.input("A"), cell.input("B"), are_signed(cell));
    let is_unknown = |word: &[Signal], i| extended(word, signed, i) == Signal::Unknown;
    (0..a.len().max(b.len())).any(|i| is_unknown(a, i) != is_unknown(b, i))
}

fn greater(c: &mut Builder, a: &Number, b: &Number, goal: Goal) -> Bit {
    let width = a.common_width(b);
    match a.signed || b.signed {
        _ if width == 0 => Bit::FALSE,
        true => blocks::greater(c, &a.int(width), &b.int(width), goal),
        false => blocks::greater(c, &a.uint(width), &b.uint(width), goal),
    }
}

//! The gates of each operation, by the blocks of the library. The page `python-programs.md` says what each means.

use super::node::{Callee, Op, is_integer};
use duologue::circuit::blocks::fixed::{self, Fixed, Overflow};
use duologue::circuit::blocks::float::{self, Float, Format, Mode};
use duologue::circuit::blocks::sort::{Direction, Record};
use duologue::circuit::blocks::{self, Goal, modular, multiply, sort, table};
use duologue::circuit::{Bit, Bits, Builder, Int, Kind, Type, UInt, Word};

/// Bits with their type.
pub type Operand<'a> = (&'a [Bit], Type);

const MODE: Mode = Mode::Ieee;

/// The bits of the result of an operation on every lane.
pub fn gates(c: &mut Builder, op: Op, ty: Type, args: &[Operand], goal: Goal) -> Vec<Bit> {
    match (op, args) {
        (Op::Slice(from), &[(a, _)]) => a[from as usize..(from + ty.width) as usize].to_vec(),
        (Op::Cast, &[a]) => cast(c, a, ty, goal),
        (Op::Not, &[(a, _)]) => a.iter().map(|&bit| !bit).collect(),
        (Op::CountOnes, &[(a, _)]) => blocks::population_count(c, &Bits(a.to_vec())).resized(ty.width as usize).0,
        (Op::Select, &[(condition, _), (a, _), (b, _)]) => {
            a.iter().zip(b).map(|(&a, &b)| c.mux(condition[0], a, b)).collect()
        }
        (Op::And, &[(a, _), (b, _)]) => a.iter().zip(b).map(|(&a, &b)| c.and(a, b)).collect(),
        (Op::Or, &[(a, _), (b, _)]) => a.iter().zip(b).map(|(&a, &b)| c.or(a, b)).collect(),
        (Op::Xor, &[(a, _), (b, _)]) => a.iter().zip(b).map(|(&a, &b)| c.xor(a, b)).collect(),
        (Op::ShiftLeft | Op::ShiftRight, &[a, b]) => shift(c, op, a, b, goal),
        (_, &[a]) => match a.1.kind {
            Kind::Fixed { .. } => unary_fixed(c, op, &fixed_of(a), goal).units.0,
            Kind::Float { .. } => unary_float(op, &float_of(a)).bits,
            _ => unary_integer(c, op, a, goal),
        },
        (_, &[a, b]) => match a.1.kind {
            Kind::Float { .. } => binary_float(c, op, &float_of(a), &float_of(b), goal),
            Kind::Fixed { .. } => binary_fixed(c, op, a, b, goal),
            Kind::Int => binary_integer(c, op, &int(a), &int(b), goal),
            _ => binary_integer(c, op, &uint(a), &uint(b), goal),
        },
        _ => Vec::new(),
    }
}

fn uint((bits, _): Operand) -> UInt {
    UInt(bits.to_vec())
}

fn int((bits, _): Operand) -> Int {
    Int(bits.to_vec())
}

fn fixed_of((bits, ty): Operand) -> Fixed {
    let Kind::Fixed { fraction } = ty.kind else { unreachable!("a fixed-point number") };
    Fixed::new(Int(bits.to_vec()), fraction as usize)
}

fn format_of(ty: Type) -> Format {
    let Kind::Float { exponent } = ty.kind else { unreachable!("a floating-point number") };
    Format { exponent, fraction: ty.width - 1 - exponent }
}

fn float_of((bits, ty): Operand) -> Float {
    Float::new(format_of(ty), bits.to_vec())
}

fn unary_integer(c: &mut Builder, op: Op, a: Operand, goal: Goal) -> Vec<Bit> {
    match op {
        Op::Negate => blocks::negate(c, &uint(a), goal).0,
        Op::Absolute if a.1.kind == Kind::Int => blocks::absolute(c, &int(a), goal).0,
        _ => a.0.to_vec(),
    }
}

fn unary_fixed(c: &mut Builder, op: Op, a: &Fixed, goal: Goal) -> Fixed {
    match op {
        Op::Negate => fixed::negate(c, a, Overflow::Wrap, goal),
        _ => fixed::absolute(c, a, Overflow::Wrap, goal),
    }
}

fn unary_float(op: Op, a: &Float) -> Float {
    if op == Op::Negate { a.negate() } else { a.abs() }
}

/// Operations of whole numbers; of bits, equality alone.
fn binary_integer<W: Word + Clone + Integer>(c: &mut Builder, op: Op, a: &W, b: &W, goal: Goal) -> Vec<Bit> {
    let relation = |bit: Bit| vec![bit];
    match op {
        Op::Add => blocks::add(c, a, b, goal).bits().to_vec(),
        Op::Subtract => blocks::subtract(c, a, b, goal).bits().to_vec(),
        Op::Multiply => product(c, a.bits(), b.bits(), goal),
        Op::Quotient | Op::Remainder => W::divided(c, op, a, b, goal),
        Op::Minimum => blocks::min(c, a, b, goal).bits().to_vec(),
        Op::Maximum => blocks::max(c, a, b, goal).bits().to_vec(),
        Op::Equal => relation(blocks::equal(c, a, b)),
        Op::NotEqual => relation(!blocks::equal(c, a, b)),
        Op::Less => relation(blocks::less(c, a, b, goal)),
        _ => relation(blocks::less_or_equal(c, a, b, goal)),
    }
}

fn binary_fixed(c: &mut Builder, op: Op, a: Operand, b: Operand, goal: Goal) -> Vec<Bit> {
    let (x, y) = (fixed_of(a), fixed_of(b));
    match op {
        Op::Multiply if a.0 == b.0 => fixed::square(c, &x, Overflow::Wrap, goal).units.0,
        Op::Multiply => fixed::multiply(c, &x, &y, Overflow::Wrap, goal).units.0,
        Op::Divide => fixed::divide(c, &x, &y, Overflow::Wrap, goal).units.0,
        _ => binary_integer(c, op, &x.units, &y.units, goal),
    }
}

fn binary_float(c: &mut Builder, op: Op, a: &Float, b: &Float, goal: Goal) -> Vec<Bit> {
    let relation = |bit: Bit| vec![bit];
    match op {
        Op::Add => float::add(c, a, b, MODE, goal).bits,
        Op::Subtract => float::subtract(c, a, b, MODE, goal).bits,
        Op::Multiply if a == b => float::square(c, a, MODE, goal).bits,
        Op::Multiply => float::multiply(c, a, b, MODE, goal).bits,
        Op::Divide => float::divide(c, a, b, MODE, goal).bits,
        // Where one is NaN the result is, unlike in the block.
        Op::Minimum => pick(c, a, b, float::less_or_equal, goal).bits,
        Op::Maximum => pick(c, a, b, float::greater_or_equal, goal).bits,
        Op::Equal => relation(float::equal(c, a, b, MODE, goal)),
        Op::NotEqual => relation(!float::equal(c, a, b, MODE, goal)),
        Op::Less => relation(float::less(c, a, b, MODE, goal)),
        _ => relation(float::less_or_equal(c, a, b, MODE, goal)),
    }
}

type Relation = fn(&mut Builder, &Float, &Float, Mode, Goal) -> Bit;

/// a if the relation holds or a is NaN, else b.
fn pick(c: &mut Builder, a: &Float, b: &Float, relation: Relation, goal: Goal) -> Float {
    let holds = relation(c, a, b, MODE, goal);
    let nan = float::is_nan(c, a);
    let first = c.or(holds, nan);
    Float::select(c, first, a, b)
}

/// The product modulo 2^n.
fn product(c: &mut Builder, a: &[Bit], b: &[Bit], goal: Goal) -> Vec<Bit> {
    let word = |bits: &[Bit]| UInt(bits.to_vec());
    let by_constant = |c: &mut Builder, bits: &[Bit], k: u128| {
        let product = modular::multiply_constant(c, &word(bits), k, goal);
        product.resized(bits.len()).0
    };
    match (number(a), number(b)) {
        (_, Some(k)) => by_constant(c, a, k),
        (Some(k), _) => by_constant(c, b, k),
        _ => match (narrow(a), narrow(b)) {
            (x, y) if x.0.len() + y.0.len() < 2 * a.len() => exact_product(c, x, y, a.len(), goal),
            _ if a == b => multiply::square_low(c, &word(a), goal).0,
            _ => blocks::multiply_low(c, &word(a), &word(b), goal).0,
        },
    }
}

/// The bits that a number needs, and whether the last of them is its sign: what was widened has zeros, or copies of the
/// sign, above.
fn narrow(bits: &[Bit]) -> (&[Bit], bool) {
    let Some((&top, below)) = bits.split_last() else { return (bits, false) };
    let copies = below.iter().rev().take_while(|&&bit| bit == top).count();
    match top {
        Bit::FALSE => (&bits[..(bits.len() - 1 - copies).max(1)], false),
        _ => (&bits[..bits.len() - copies], copies > 0),
    }
}

/// The product modulo 2^width of numbers of fewer bits.
fn exact_product(c: &mut Builder, a: (&[Bit], bool), b: (&[Bit], bool), width: usize, goal: Goal) -> Vec<Bit> {
    if let ([bit], false) = if a.0.len() == 1 { a } else { b } {
        let (other, signed) = if a.0.len() == 1 { b } else { a };
        let other = if signed { Int(other.to_vec()).resized(width).0 } else { UInt(other.to_vec()).resized(width).0 };
        return other.into_iter().map(|of| c.and(of, *bit)).collect();
    }
    let needed = width.min(a.0.len() + b.0.len());
    let product = multiply::sum_of_terms(c, &[], &[(a, b)], needed, goal);
    if a.1 || b.1 { Int(product).resized(width).0 } else { UInt(product).resized(width).0 }
}

/// The number that constant bits are, if they are constants.
fn number(bits: &[Bit]) -> Option<u128> {
    let is_constant = bits.len() <= 100 && bits.iter().all(|bit| bit.plain() == Bit::FALSE);
    is_constant.then(|| bits.iter().rev().fold(0, |number, &bit| number << 1 | u128::from(bit == Bit::TRUE)))
}

/// Whole numbers with or without a sign.
trait Integer: Sized {
    /// The quotient rounded down, or the remainder, of the sign of the divisor; by zero, zero.
    fn divided(c: &mut Builder, op: Op, a: &Self, b: &Self, goal: Goal) -> Vec<Bit>;
}

impl Integer for UInt {
    fn divided(c: &mut Builder, op: Op, a: &UInt, b: &UInt, goal: Goal) -> Vec<Bit> {
        match number(&b.0) {
            Some(power) if power.is_power_of_two() => by_power_of_two(op, &a.0, power, Bit::FALSE),
            Some(m) if m > 0 && op == Op::Remainder => modular::remainder_constant(c, a, m, goal).resized(a.width()).0,
            _ => {
                let (quotient, remainder) = blocks::divide(c, a, b, goal);
                or_zero(c, if op == Op::Quotient { quotient.0 } else { remainder.0 }, &b.0)
            }
        }
    }
}

impl Integer for Int {
    fn divided(c: &mut Builder, op: Op, a: &Int, b: &Int, goal: Goal) -> Vec<Bit> {
        let (sign, other) = (a.0[a.width() - 1], b.0[b.width() - 1]);
        match number(&b.0) {
            Some(power) if power.is_power_of_two() && other == Bit::FALSE => {
                return by_power_of_two(op, &a.0, power, sign);
            }
            _ => {}
        }
        let (quotient, remainder) = blocks::divide_signed(c, a, b, goal);
        // Towards zero so far: one less where something remains and the signs differ.
        let remains = is_some(c, (&remainder.0, duologue::circuit::int(1)));
        let differ = c.xor(sign, other);
        let less = c.and(remains, differ);
        let floored = match op {
            Op::Quotient => blocks::subtract(c, &quotient, &Int(UInt::from(less).resized(a.width()).0), goal),
            _ => {
                let added = Int(b.0.iter().map(|&bit| c.and(bit, less)).collect());
                blocks::add(c, &remainder, &added, goal)
            }
        };
        or_zero(c, floored.0, &b.0)
    }
}

/// Division by a constant power of two: no gates.
fn by_power_of_two(op: Op, a: &[Bit], power: u128, sign: Bit) -> Vec<Bit> {
    let shift = power.trailing_zeros() as usize;
    let (lower, upper) = a.split_at(shift);
    let (kept, fill) = if op == Op::Quotient { (upper, sign) } else { (lower, Bit::FALSE) };
    kept.iter().copied().chain(std::iter::repeat(fill)).take(a.len()).collect()
}

/// Zeros if the divisor is zero.
fn or_zero(c: &mut Builder, result: Vec<Bit>, divisor: &[Bit]) -> Vec<Bit> {
    let some = is_some(c, (divisor, duologue::circuit::uint(1)));
    result.into_iter().map(|bit| c.and(bit, some)).collect()
}

/// By an amount as it is in bits, so that negative ones are large.
fn shift(c: &mut Builder, op: Op, a: Operand, b: Operand, goal: Goal) -> Vec<Bit> {
    let amount = match b.1.kind {
        Kind::Int => UInt(int(b).resized(b.0.len().max(a.0.len())).0),
        _ => uint(b),
    };
    match (op, a.1.kind) {
        (Op::ShiftLeft, _) => blocks::shift_left(c, &uint(a), &amount, goal).0,
        (_, Kind::Int) => blocks::shift_right(c, &int(a), &amount, goal).0,
        _ => blocks::shift_right(c, &uint(a), &amount, goal).0,
    }
}

fn cast(c: &mut Builder, a: Operand, to: Type, goal: Goal) -> Vec<Bit> {
    let (bits, from) = a;
    let width = to.width as usize;
    match (from.kind, to.kind) {
        (_, Kind::Bits) if width == 1 => vec![is_some(c, a)],
        (Kind::Bits, _) if bits.len() == 1 => of_bit(bits[0], to),
        (Kind::Bits, _) | (_, Kind::Bits) => bits.to_vec(),
        (Kind::UInt, Kind::UInt | Kind::Int) => uint(a).resized(width).0,
        (Kind::Int, Kind::UInt | Kind::Int) => int(a).resized(width).0,
        (Kind::Fixed { .. }, Kind::UInt | Kind::Int) => fixed::to_int(c, &fixed_of(a), goal).resized(width).0,
        (Kind::Float { .. }, Kind::UInt) => float::to_uint(c, &float_of(a), to.width, MODE, goal).0,
        (Kind::Float { .. }, Kind::Int) => float::to_int(c, &float_of(a), to.width, MODE, goal).0,
        (_, Kind::Fixed { fraction }) => to_fixed(c, a, width, fraction as usize, goal).units.0,
        (_, Kind::Float { .. }) => to_float(c, a, format_of(to), goal).bits,
    }
}

/// Whether it is not zero; of floats, whatever the sign.
fn is_some(c: &mut Builder, (bits, ty): Operand) -> Bit {
    let bits = if matches!(ty.kind, Kind::Float { .. }) { &bits[..bits.len() - 1] } else { bits };
    let zero = UInt(vec![Bit::FALSE; bits.len()]);
    !blocks::equal(c, &UInt(bits.to_vec()), &zero)
}

/// 0 or 1 of a type.
fn of_bit(bit: Bit, to: Type) -> Vec<Bit> {
    let one: Vec<bool> = match to.kind {
        Kind::Fixed { fraction } => (0..to.width).map(|place| place == fraction).collect(),
        Kind::Float { exponent } => {
            let fraction = to.width - 1 - exponent;
            (0..to.width).map(|place| (fraction..fraction + exponent - 1).contains(&place)).collect()
        }
        _ => (0..to.width).map(|place| place == 0).collect(),
    };
    one.into_iter().map(|one| if one { bit } else { Bit::FALSE }).collect()
}

fn to_fixed(c: &mut Builder, a: Operand, width: usize, fraction: usize, goal: Goal) -> Fixed {
    let whole = |c: &mut Builder, a: &Int| fixed::from_int(c, a, width, fraction, Overflow::Wrap);
    match a.1.kind {
        Kind::UInt => whole(c, &Int(uint(a).resized(a.0.len() + 1).0)),
        Kind::Int => whole(c, &int(a)),
        Kind::Fixed { .. } => fixed::convert(c, &fixed_of(a), width, fraction, Overflow::Wrap, goal),
        _ => float::to_fixed(c, &float_of(a), width, fraction, MODE, goal),
    }
}

fn to_float(c: &mut Builder, a: Operand, format: Format, goal: Goal) -> Float {
    match a.1.kind {
        Kind::UInt => float::from_uint(c, &uint(a), format, MODE, goal),
        Kind::Int => float::from_int(c, &int(a), format, MODE, goal),
        Kind::Fixed { .. } => float::from_fixed(c, &fixed_of(a), format, MODE, goal),
        _ => float::convert(c, &float_of(a), format, MODE, goal),
    }
}

/// The results of a call on every lane.
pub fn called(c: &mut Builder, callee: &Callee, args: &[Operand], ty: Type, goal: Goal) -> Vec<Vec<Bit>> {
    let all = || args.iter().flat_map(|(bits, _)| bits.iter().copied()).collect::<Vec<_>>();
    match callee {
        Callee::Circuit(circuit) => {
            let outputs = c.append(circuit, &all());
            let mut rest = &outputs[..];
            let word = |port: &duologue::circuit::Port| {
                let (word, after) = rest.split_at(port.ty.width as usize);
                rest = after;
                word.to_vec()
            };
            circuit.outputs().iter().map(word).collect()
        }
        Callee::Concat => vec![all()],
        Callee::Dot => vec![dot(c, args, ty, goal)],
        Callee::Table(entries) => {
            let index = index_of(&args[0], entries.len());
            vec![table::lookup(c, &index, entries, ty.width as usize, goal)]
        }
        Callee::Read => {
            let index = index_of(&args[0], args.len() - 1);
            let words: Vec<Bits> = args[1..].iter().map(|(bits, _)| Bits(bits.to_vec())).collect();
            vec![table::read(c, &index, &words, goal).0]
        }
        Callee::Sort { descending } => sorted(c, args, *descending, goal),
        Callee::Reduce(_) | Callee::Scan(..) | Callee::Stack => Vec::new(),
    }
}

/// The low bits of an index, as many as a table of so many entries needs.
fn index_of((bits, _): &Operand, entries: usize) -> Vec<Bit> {
    let width = entries.next_power_of_two().ilog2() as usize;
    UInt(bits.to_vec()).resized(width).0
}

fn dot(c: &mut Builder, args: &[Operand], ty: Type, goal: Goal) -> Vec<Bit> {
    let (left, right) = args.split_at(args.len() / 2);
    if matches!(ty.kind, Kind::Fixed { .. }) {
        let [left, right] = [left, right].map(|side| side.iter().map(|&a| fixed_of(a)).collect::<Vec<_>>());
        return fixed::dot_product(c, &left, &right, Overflow::Wrap, goal).units.0;
    }
    debug_assert!(is_integer(ty), "a type that has a dot product");
    let products: Vec<_> = left.iter().zip(right).map(|((a, _), (b, _))| ((*a, false), (*b, false))).collect();
    multiply::sum_of_terms(c, &[], &products, ty.width as usize, goal)
}

fn sorted(c: &mut Builder, args: &[Operand], descending: bool, goal: Goal) -> Vec<Vec<Bit>> {
    fn of<W: Word + Clone>(c: &mut Builder, args: &[Operand], direction: Direction, goal: Goal) -> Vec<Vec<Bit>> {
        let records: Vec<Record<W>> = args.iter().map(|(bits, _)| Record::from(W::from_bits(bits.to_vec()))).collect();
        sort::sort(c, &records, direction, goal).into_iter().map(|record| record.key.bits().to_vec()).collect()
    }
    let direction = if descending { Direction::Descending } else { Direction::Ascending };
    match args[0].1.kind {
        Kind::Int | Kind::Fixed { .. } => of::<Int>(c, args, direction, goal),
        _ => of::<UInt>(c, args, direction, goal),
    }
}

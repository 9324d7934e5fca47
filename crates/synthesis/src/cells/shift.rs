//! Shifts, and parts of a word that begin at a secret place.

use super::Inputs;
use crate::number::Number;
use circuit::blocks::{Goal, mux, negate, shift_left, shift_right};
use circuit::{Bit, Builder, Int, UInt};

pub(super) fn shift(c: &mut Builder, inputs: &Inputs) -> Vec<Bit> {
    let (word, amount, width) = (inputs.number("A"), inputs.number("B"), inputs.width());
    match inputs.cell.kind.as_str() {
        "$shl" | "$sshl" => left(c, &word, &Number::unsigned(inputs.bits("B")), width, inputs.goal),
        "$sshr" if word.signed => arithmetic(c, inputs, width),
        "$shr" | "$sshr" => right(c, &operand(inputs), &Number::unsigned(inputs.bits("B")), width, inputs.goal),
        "$shiftx" => part(c, inputs, &amount, width),
        _ => either(c, &operand(inputs), &amount, width, inputs.goal),
    }
}

/// The word in as many bits as it or the result has, whichever has more; there zeros come in.
fn operand(inputs: &Inputs) -> Number {
    let bits = inputs.number("A").extended(inputs.bits("A").len().max(inputs.width()));
    Number { bits, signed: false }
}

fn left(c: &mut Builder, word: &Number, amount: &Number, width: usize, goal: Goal) -> Vec<Bit> {
    shift_left(c, &word.uint(width), &UInt(amount.bits.clone()), goal).0
}

fn right(c: &mut Builder, word: &Number, amount: &Number, width: usize, goal: Goal) -> Vec<Bit> {
    let word = Number::unsigned(&word.bits);
    Number { bits: shift_right(c, &UInt(word.bits), &UInt(amount.bits.clone()), goal).0, signed: false }.extended(width)
}

/// The sign comes in.
fn arithmetic(c: &mut Builder, inputs: &Inputs, width: usize) -> Vec<Bit> {
    let (word, amount) = (inputs.number("A"), Number::unsigned(inputs.bits("B")));
    let shifted = shift_right(c, &Int(word.bits), &UInt(amount.bits), inputs.goal);
    Number { bits: shifted.0, signed: true }.extended(width)
}

/// To the right, or to the left if the amount is negative.
fn either(c: &mut Builder, word: &Number, amount: &Number, width: usize, goal: Goal) -> Vec<Bit> {
    if !amount.signed {
        return right(c, word, amount, width, goal);
    }
    let back = negate(c, &UInt(amount.bits.clone()), goal);
    let forth = Number::unsigned(&amount.bits[..amount.width() - 1]);
    let to_right = right(c, word, &forth, width, goal);
    let to_left = left(c, word, &Number::unsigned(&back.0), width, goal);
    mux(c, amount.sign(), &UInt(to_left), &UInt(to_right)).0
}

/// Bits of a word from a secret place on; what lies outside of the word may be anything.
fn part(c: &mut Builder, inputs: &Inputs, amount: &Number, width: usize) -> Vec<Bit> {
    let word = Number { bits: inputs.bits("A").to_vec(), signed: false };
    if amount.signed && width > 1 {
        return either(c, &operand(inputs), amount, width, inputs.goal);
    }
    // A place beyond the word is outside of it as a whole, and so is one below it for a single bit.
    let places = word.width().max(1).next_power_of_two().ilog2() as usize;
    let low = Number::unsigned(&amount.bits[..amount.width().min(places)]);
    right(c, &word, &low, width, inputs.goal)
}

//! Cells of which a bit of the result depends on a few bits of the operands: gates side by side, selections, wiring.

use super::{are_signed, extended, misshapen};
use crate::error::Result;
use crate::netlist::{Cell, Signal};
use circuit::{Bit, Builder};

/// Whether a cell is built a bit at a time.
pub(crate) fn is_bitwise(kind: &str) -> bool {
    const KINDS: [&str; 12] =
        ["$not", "$pos", "$buf", "$and", "$or", "$xor", "$xnor", "$mux", "$pmux", "$bwmux", "$concat", "$slice"];
    KINDS.contains(&kind)
}

/// What bit `i` of the result reads.
pub(crate) fn operands(cell: &Cell, i: usize) -> Result<Vec<Signal>> {
    let at = |port: &str, place: usize| {
        let signal = cell.input(port).get(place).copied();
        signal.ok_or_else(|| misshapen(cell, format!("{port} has no bit {place}")))
    };
    match cell.kind.as_str() {
        "$not" | "$pos" | "$buf" => Ok(vec![extended(cell.input("A"), cell.flag("A_SIGNED"), i)]),
        "$and" | "$or" | "$xor" | "$xnor" => {
            Ok(["A", "B"].map(|port| extended(cell.input(port), are_signed(cell), i)).to_vec())
        }
        "$mux" => Ok(vec![at("A", i)?, at("B", i)?, at("S", 0)?]),
        "$bwmux" => Ok(vec![at("A", i)?, at("B", i)?, at("S", i)?]),
        "$concat" => match cell.input("A").get(i) {
            Some(&signal) => Ok(vec![signal]),
            None => Ok(vec![at("B", i - cell.input("A").len())?]),
        },
        "$slice" => Ok(vec![extended(cell.input("A"), false, cell.number("OFFSET")? + i)]),
        _ => {
            let (width, cases) = (cell.output("Y").len(), cell.input("S"));
            let mut signals = vec![at("A", i)?];
            for case in 0..cases.len() {
                signals.push(at("B", case * width + i)?);
            }
            Ok([&signals[..], cases].concat())
        }
    }
}

/// The bit of the result that reads these operands.
pub(crate) fn bit(c: &mut Builder, cell: &Cell, signals: &[Signal], bits: &[Bit]) -> Bit {
    match (cell.kind.as_str(), bits) {
        ("$not", &[a]) => !a,
        ("$and", &[a, b]) => c.and(a, b),
        ("$or", &[a, b]) => c.or(a, b),
        ("$xor", &[a, b]) => c.xor(a, b),
        ("$xnor", &[a, b]) => !c.xor(a, b),
        ("$mux" | "$bwmux", &[a, b, select]) => match signals {
            [Signal::Unknown, ..] => b,
            [_, Signal::Unknown, _] => a,
            _ => c.mux(select, b, a),
        },
        ("$pmux", _) => cases(c, signals, bits),
        _ => bits.first().copied().unwrap_or(Bit::FALSE),
    }
}

/// One of many cases, of which at most one is selected, or the default. Each case adds what it differs from the
/// default; where that may be anything, it is the last case that is not.
fn cases(c: &mut Builder, signals: &[Signal], bits: &[Bit]) -> Bit {
    let count = bits.len() / 2;
    let known: Vec<usize> = (1..=count).filter(|&case| signals[case] != Signal::Unknown).collect();
    let base = match (signals[0], known.last()) {
        (Signal::Unknown, Some(&last)) => last,
        _ => 0,
    };
    known.into_iter().fold(bits[base], |sum, case| {
        let differ = c.xor(bits[case], bits[base]);
        let change = c.and(bits[count + case], differ);
        c.xor(sum, change)
    })
}

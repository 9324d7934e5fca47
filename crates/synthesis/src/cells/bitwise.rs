//! Cells of which a bit of the result depends on a few bits of the operands: gates side by side, selections, wiring.

use super::{are_signed, extended, misshapen};
use crate::choices::EXCLUSIVE;
use crate::error::Result;
use crate::netlist::{Cell, Signal};
use circuit::{Bit, Builder};
use rustc_hash::FxHashMap;

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
        "$slice" => Ok(vec![extended(cell.input("A"), false, cell.number("OFFSET")?.saturating_add(i))]),
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
        ("$pmux", _) if cell.flag(EXCLUSIVE) => exclusive_cases(c, signals, bits),
        ("$pmux", _) => cases(c, signals, bits),
        _ => bits.first().copied().unwrap_or(Bit::FALSE),
    }
}

/// One of many cases, of which at most one is selected, or the default. Each case adds what it differs from the
/// default, those that differ alike together; where the default may be anything, it is the last case that is not.
fn exclusive_cases(c: &mut Builder, signals: &[Signal], bits: &[Bit]) -> Bit {
    let count = bits.len() / 2;
    let known: Vec<usize> = (1..=count).filter(|&case| signals[case] != Signal::Unknown).collect();
    let base = match (signals[0], known.last()) {
        (Signal::Unknown, Some(&last)) => last,
        _ => 0,
    };
    let (mut changes, mut places): (Vec<(Bit, Bit)>, FxHashMap<Bit, usize>) = Default::default();
    for case in known {
        let (differ, select) = (c.xor(bits[case], bits[base]), bits[count + case]);
        let place = *places.entry(differ).or_insert(changes.len());
        match changes.get_mut(place) {
            Some(change) => change.1 = c.xor(change.1, select),
            None => changes.push((differ, select)),
        }
    }
    changes.into_iter().fold(bits[base], |sum, (differ, select)| {
        let change = c.and(select, differ);
        c.xor(sum, change)
    })
}

/// The case of the highest select that is set, which is the first one in the source, or the default.
fn cases(c: &mut Builder, signals: &[Signal], bits: &[Bit]) -> Bit {
    let count = bits.len() / 2;
    let mut found = (signals[0], bits[0]);
    for case in (1..=count).filter(|&case| signals[case] != Signal::Unknown) {
        found = match found {
            (Signal::Unknown, _) => (signals[case], bits[case]),
            (_, before) => (Signal::Zero, c.mux(bits[count + case], bits[case], before)),
        };
    }
    found.1
}

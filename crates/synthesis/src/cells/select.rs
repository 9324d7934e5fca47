//! Gates, reductions to one bit, and selections by index.

use super::{Inputs, misshapen};
use crate::error::{Error, Result};
use crate::netlist::Kind;
use crate::number::Known;
use circuit::blocks::{Goal, mux, table};
use circuit::format::cells;
use circuit::{Bit, Builder, UInt};

/// The most bits of an index: 2^16 words.
pub(super) const MOST_INDEX: usize = 16;

/// The AND of all bits, as shallow as can be.
fn all(c: &mut Builder, mut bits: Vec<Bit>) -> Bit {
    while bits.len() > 1 {
        let pair = |pair: &[Bit]| pair.iter().skip(1).fold(pair[0], |both, &bit| c.and(both, bit));
        bits = bits.chunks(2).map(pair).collect();
    }
    bits.first().copied().unwrap_or(Bit::TRUE)
}

/// The OR of all bits.
pub(super) fn any(c: &mut Builder, bits: Vec<Bit>) -> Bit {
    !all(c, bits.into_iter().map(|bit| !bit).collect())
}

/// A reduction to one bit, in as many bits as the result has.
pub(super) fn reduction(c: &mut Builder, inputs: &Inputs) -> Vec<Bit> {
    let (a, b) = (inputs.bits("A").to_vec(), inputs.bits("B").to_vec());
    let bit = match inputs.cell.kind.as_str() {
        "$reduce_and" => all(c, a),
        "$reduce_xor" => c.xor_all(a),
        "$reduce_xnor" => !c.xor_all(a),
        "$logic_not" => !any(c, a),
        "$logic_and" => {
            let (a, b) = (any(c, a), any(c, b));
            c.and(a, b)
        }
        _ => any(c, [a, b].concat()),
    };
    UInt::from(bit).resized(inputs.width()).0
}

/// The word of an index among as many as it has values.
pub(super) fn by_index(c: &mut Builder, inputs: &Inputs) -> Result<Vec<Bit>> {
    let (index, width) = (index(inputs, "S")?, inputs.width());
    let words = inputs.exactly("A", width << index.len())?;
    read(c, index, words, width, inputs.goal)
}

/// The bits that select, unless there are too many.
fn index<'a>(inputs: &Inputs<'a>, port: &str) -> Result<&'a [Bit]> {
    let index = inputs.bits(port);
    match index.len() <= MOST_INDEX {
        true => Ok(index),
        false => {
            let why = format!("{} of an index of {} bits; the most are {MOST_INDEX}", inputs.cell.kind, index.len());
            Err(Error::design(&inputs.cell.place, why, "select in fewer words"))
        }
    }
}

/// The word of an index among words that stand behind one another: those that are constant are a table.
pub(super) fn read(c: &mut Builder, index: &[Bit], words: &[Bit], width: usize, goal: Goal) -> Result<Vec<Bit>> {
    let constants: Option<Vec<bool>> = words.iter().map(|bit| bit.known()).collect();
    match constants {
        _ if width == 0 => Ok(Vec::new()),
        Some(bits) => Ok(look_up(c, index, &bits, width, goal)),
        None => {
            let words: Vec<UInt> = words.chunks(width).map(|word| UInt(word.to_vec())).collect();
            Ok(table::read(c, index, &words, goal).0)
        }
    }
}

/// A public table of any width, 128 bits of an entry at a time.
fn look_up(c: &mut Builder, index: &[Bit], bits: &[bool], width: usize, goal: Goal) -> Vec<Bit> {
    let part = |from: usize| {
        let part = 128.min(width - from);
        let number = |entry: &[bool]| (0..part).fold(0, |sum, i| sum | u128::from(entry[from + i]) << i);
        let entries: Vec<u128> = bits.chunks(width).map(number).collect();
        table::lookup(c, index, &entries, part, goal)
    };
    (0..width).step_by(128).flat_map(part).collect()
}

/// The word at the place that is selected among zeros.
pub(super) fn demultiplexer(c: &mut Builder, inputs: &Inputs) -> Result<Vec<Bit>> {
    let select = index(inputs, "S")?;
    let width = inputs.bits("A").len() << select.len();
    if width != inputs.width() {
        return Err(misshapen(inputs.cell, format!("Y has {} bits, not {width}", inputs.width())));
    }
    let mut words = inputs.bits("A").to_vec();
    for &bit in select {
        let above: Vec<Bit> = words.iter().map(|&word| c.and(word, bit)).collect();
        let below = words.iter().zip(&above).map(|(&word, &above)| c.xor(word, above));
        words = below.chain(above.iter().copied()).collect();
    }
    Ok(words)
}

/// The entry of a table of bits.
pub(super) fn table(c: &mut Builder, inputs: &Inputs) -> Result<Bit> {
    let index = index(inputs, "A")?;
    let bits = inputs.cell.parameter("LUT").map(|table| table.bits()).unwrap_or_default();
    let entry = |i: usize| bits.get(i).copied().flatten().unwrap_or(false);
    let bits: Vec<bool> = (0..1 << index.len()).map(entry).collect();
    Ok(look_up(c, index, &bits, 1, inputs.goal)[0])
}

/// A sum of products: for each product two bits an input, whether it must be 0 and whether it must be 1.
pub(super) fn products(c: &mut Builder, inputs: &Inputs) -> Result<Bit> {
    let (a, depth) = (inputs.bits("A"), inputs.cell.number("DEPTH")?);
    let bits = inputs.cell.parameter("TABLE").map(|table| table.bits()).unwrap_or_default();
    if (2 * a.len().max(1)).saturating_mul(depth) > bits.len() {
        return Err(misshapen(inputs.cell, "TABLE is too short"));
    }
    let product = |row: usize| {
        let place = 2 * a.len() * row;
        let at = |i: usize| bits.get(place + i).copied().flatten().unwrap_or(false);
        let zeros = a.iter().enumerate().filter(|(i, _)| at(2 * i)).map(|(_, &bit)| !bit);
        let ones = a.iter().enumerate().filter(|(i, _)| at(2 * i + 1)).map(|(_, &bit)| bit);
        all(c, zeros.chain(ones).collect())
    };
    let products: Vec<Bit> = (0..depth).map(product).collect();
    Ok(any(c, products))
}

/// Whether bits are equal, bit by bit.
pub(super) fn equal_bits(c: &mut Builder, inputs: &Inputs) -> Result<Vec<Bit>> {
    let width = inputs.width();
    let (a, b) = (inputs.exactly("A", width)?, inputs.exactly("B", width)?);
    Ok(a.iter().zip(b).map(|(&a, &b)| !c.xor(a, b)).collect())
}

/// A selection between bits by several bits, or a gate of our library; none if it is no such gate. The other gates of single
/// bits are no cells, unless their ports do not fit.
pub(super) fn gate(c: &mut Builder, kind: &str, inputs: &Inputs) -> Result<Option<Bit>> {
    Ok(Some(match kind {
        "$_MUX4_" => tree(c, inputs, "ABCD", "ST")?,
        "$_MUX8_" => tree(c, inputs, "ABCDEFGH", "STU")?,
        "$_MUX16_" => tree(c, inputs, "ABCDEFGHIJKLMNOP", "STUV")?,
        _ if Kind::of(kind).is_some() => {
            return Err(misshapen(inputs.cell, "its ports have other names or several bits"));
        }
        _ => match cells::find(kind) {
            Some(cell) => {
                let bits: Vec<Bit> = cell.inputs.iter().map(|pin| inputs.one(pin)).collect::<Result<_>>()?;
                cell.build(c, &bits)
            }
            None => return Ok(None),
        },
    }))
}

fn tree(c: &mut Builder, inputs: &Inputs, words: &str, index: &str) -> Result<Bit> {
    let bits = |ports: &str| ports.chars().map(|port| inputs.one(&port.to_string())).collect::<Result<Vec<Bit>>>();
    let mut words = bits(words)?;
    for bit in bits(index)? {
        words = words.chunks(2).map(|pair| mux(c, bit, &UInt(vec![pair[1]]), &UInt(vec![pair[0]])).0[0]).collect();
    }
    Ok(words[0])
}

//! What each cell of a netlist computes, by the library's blocks.
//!
//! Cells of bits (`$and`, `$mux`, wiring) are built a bit at a time, because one of their bits may depend on another;
//! all others as a whole. The meaning of each cell is that of Yosys' own models in `simlib.v`.

mod arithmetic;
mod bitwise;
mod extreme;
mod memory;
mod select;
mod shift;
mod state;

use crate::error::{Error, Result};
use crate::extremes::{GREATEST, LEAST};
use crate::netlist::{Cell, Signal};
use crate::number::Number;
use circuit::blocks::Goal;
use circuit::{Bit, Builder};

pub(crate) use arithmetic::{Term, sum};
pub(crate) use bitwise::{bit, is_bitwise, operands};
pub(crate) use state::{is_state, refuse};

/// The widest operands of products, quotients and powers.
pub(crate) const MOST_BITS: usize = 4096;

/// A cell and the values of what it reads.
pub(crate) struct Inputs<'a> {
    pub cell: &'a Cell,
    /// In the order of the cell's inputs.
    pub values: &'a [Vec<Bit>],
    pub goal: Goal,
}

impl<'a> Inputs<'a> {
    /// The bits of a port; none if there is no such port.
    fn bits(&self, port: &str) -> &'a [Bit] {
        let place = self.cell.inputs.iter().position(|(name, _)| name == port);
        place.and_then(|place| self.values.get(place)).map_or(&[], |bits| bits)
    }

    /// The bits of a port that has so many.
    fn exactly(&self, port: &str, width: usize) -> Result<&'a [Bit]> {
        let bits = self.bits(port);
        match bits.len() == width {
            true => Ok(bits),
            false => Err(misshapen(self.cell, format!("{port} has {} bits, not {width}", bits.len()))),
        }
    }

    /// The bit of a port that has one.
    fn one(&self, port: &str) -> Result<Bit> {
        Ok(self.exactly(port, 1)?[0])
    }

    /// The number at a port that says itself whether it is signed.
    fn number(&self, port: &str) -> Number {
        Number::new(self.bits(port), self.cell.flag(&format!("{port}_SIGNED")))
    }

    /// Both operands, which are signed only if both say so.
    fn pair(&self) -> (Number, Number) {
        let signed = are_signed(self.cell);
        (Number::new(self.bits("A"), signed), Number::new(self.bits("B"), signed))
    }

    /// The bits of the result.
    fn width(&self) -> usize {
        self.cell.output("Y").len()
    }

    /// Refuses operands beyond what is sensible.
    fn bounded(&self) -> Result<()> {
        let widest = self.values.iter().map(Vec::len).chain([self.width()]).max().unwrap_or(0);
        if widest <= MOST_BITS {
            return Ok(());
        }
        let why = format!("{} of {widest} bits; the most are {MOST_BITS}", self.cell.kind);
        Err(Error::design(&self.cell.place, why, "split the operation into shorter words"))
    }
}

/// Whether both operands of a cell are signed.
pub(crate) fn are_signed(cell: &Cell) -> bool {
    cell.flag("A_SIGNED") && cell.flag("B_SIGNED")
}

/// The error of a cell whose ports do not fit.
pub(crate) fn misshapen(cell: &Cell, why: impl Into<String>) -> Error {
    Error::netlist(format!("{} at {}: {}", cell.kind, cell.place, why.into()))
}

/// The outputs of a cell that is built as a whole, by port.
pub(crate) fn build(c: &mut Builder, inputs: &Inputs) -> Result<Vec<(&'static str, Vec<Bit>)>> {
    let y = |bits: Vec<Bit>| Ok(vec![("Y", bits)]);
    match inputs.cell.kind.as_str() {
        "$add" | "$sub" | "$neg" | "$mul" => y(arithmetic::linear(c, inputs)?),
        "$div" | "$mod" | "$divfloor" | "$modfloor" => y(arithmetic::division(c, inputs)?),
        "$pow" => y(arithmetic::power(c, inputs)?),
        "$macc" => y(arithmetic::multiply_accumulate(c, inputs)?),
        "$alu" => arithmetic::alu(c, inputs),
        "$fa" => arithmetic::full_adders(c, inputs),
        "$lcu" => arithmetic::look_ahead(c, inputs),
        "$lt" | "$le" | "$gt" | "$ge" | "$eq" | "$ne" | "$eqx" | "$nex" => y(arithmetic::compare(c, inputs)),
        "$shl" | "$sshl" | "$shr" | "$sshr" | "$shift" | "$shiftx" => y(shift::shift(c, inputs)),
        "$reduce_and" | "$reduce_or" | "$reduce_bool" | "$reduce_xor" | "$reduce_xnor" | "$logic_not"
        | "$logic_and" | "$logic_or" => y(select::reduction(c, inputs)),
        "$bmux" => y(select::by_index(c, inputs)?),
        "$demux" => y(select::demultiplexer(c, inputs)?),
        "$lut" => y(vec![select::table(c, inputs)?]),
        "$sop" => y(vec![select::products(c, inputs)?]),
        "$bweqx" => y(select::equal_bits(c, inputs)?),
        "$mem" | "$mem_v2" => Ok(vec![("RD_DATA", memory::reads(c, inputs)?)]),
        LEAST | GREATEST => extreme::best(c, inputs),
        kind => match select::gate(c, kind, inputs)? {
            Some(bit) => y(vec![bit]),
            None => Err(refuse(inputs.cell)),
        },
    }
}

/// The signal at a place of a port, with what stands above its top.
pub(crate) fn extended(signals: &[Signal], signed: bool, place: usize) -> Signal {
    match signals.get(place) {
        Some(&signal) => signal,
        None => signals.last().copied().filter(|_| signed).unwrap_or(Signal::Zero),
    }
}

//! The technology library: cells for tools that map to a library of their user's, with the ANDs that each costs here.
//!
//! After the technology library of *Automated synthesis of optimized circuits for secure computation* (Demmler, Dessouky,
//! Koushanfar, Sadeghi, Schneider, Zeitouni, CCS 2015, §4.1): XOR and NOT are free, and what one AND can do costs one.
//! `verilog/duologue.lib` is [`liberty`]. Mapped netlists come back as BLIF (`.gate`) and as Verilog or JSON, by Yosys.

use crate::builder::Builder;
use crate::graph::Bit;

/// The output of every cell.
pub const OUTPUT: &str = "Y";

/// A cell of one output.
#[derive(Debug)]
pub struct Cell {
    /// Its name.
    pub name: &'static str,
    /// Its inputs.
    pub inputs: &'static [&'static str],
    /// What it computes, in the notation of Liberty.
    pub function: &'static str,
    /// What it costs.
    pub ands: u32,
    build: fn(&mut Builder, &[Bit]) -> Bit,
}

impl Cell {
    /// The cell on bits, in the order of its inputs.
    ///
    /// # Panics
    /// If there are not as many as it has inputs.
    pub fn build(&self, c: &mut Builder, bits: &[Bit]) -> Bit {
        assert_eq!(bits.len(), self.inputs.len(), "inputs of {}", self.name);
        (self.build)(c, bits)
    }
}

const ONE: &[&str] = &["A"];
const TWO: &[&str] = &["A", "B"];
const THREE: &[&str] = &["A", "B", "C"];

const fn free(
    name: &'static str,
    inputs: &'static [&'static str],
    function: &'static str,
    build: fn(&mut Builder, &[Bit]) -> Bit,
) -> Cell {
    Cell { name, inputs, function, ands: 0, build }
}

const fn and(
    name: &'static str,
    inputs: &'static [&'static str],
    function: &'static str,
    build: fn(&mut Builder, &[Bit]) -> Bit,
) -> Cell {
    Cell { name, inputs, function, ands: 1, build }
}

/// All cells. Pins are those of Yosys' gates of the same meaning: a multiplexer gives B where S is 1.
pub static CELLS: [Cell; 13] = [
    free("DUO_BUF", ONE, "A", |_, x| x[0]),
    free("DUO_NOT", ONE, "!A", |_, x| !x[0]),
    free("DUO_XOR", TWO, "A^B", |c, x| c.xor(x[0], x[1])),
    free("DUO_XNOR", TWO, "!(A^B)", |c, x| !c.xor(x[0], x[1])),
    free("DUO_XOR3", THREE, "A^B^C", |c, x| c.xor_all(x.iter().copied())),
    and("DUO_AND", TWO, "A&B", |c, x| c.and(x[0], x[1])),
    and("DUO_NAND", TWO, "!(A&B)", |c, x| !c.and(x[0], x[1])),
    and("DUO_OR", TWO, "A|B", |c, x| c.or(x[0], x[1])),
    and("DUO_NOR", TWO, "!(A|B)", |c, x| !c.or(x[0], x[1])),
    and("DUO_ANDNOT", TWO, "A&!B", |c, x| c.and(x[0], !x[1])),
    and("DUO_ORNOT", TWO, "A|!B", |c, x| c.or(x[0], !x[1])),
    and("DUO_MUX", &["A", "B", "S"], "(S&B)|(!S&A)", |c, x| c.mux(x[2], x[1], x[0])),
    and("DUO_MAJ", THREE, "(A&B)|(A&C)|(B&C)", majority),
];

/// The carry of a full adder.
fn majority(c: &mut Builder, x: &[Bit]) -> Bit {
    let differ = c.xor(x[0], x[1]);
    c.mux(differ, x[2], x[0])
}

/// The cell of a name.
pub fn find(name: &str) -> Option<&'static Cell> {
    CELLS.iter().find(|cell| cell.name == name)
}

/// The area of what is free: tools take a cell of none for a cell of an unknown one.
const FREE: f64 = 0.001;

/// The library as a Liberty file.
pub fn liberty() -> String {
    let cells: String = CELLS.iter().map(entry).collect();
    format!(
        "/* Cells for two-party computation: the area is the number of ANDs. XOR and NOT are free, but for {FREE}\n   \
         that keeps tools from using them without need. */\n\
         library(duologue) {{\n  delay_model : table_lookup;\n  time_unit : \"1ns\";\n  voltage_unit : \"1V\";\n  \
         current_unit : \"1mA\";\n  capacitive_load_unit(1, pf);\n{cells}}}\n"
    )
}

fn entry(cell: &Cell) -> String {
    let area = if cell.ands == 0 { FREE } else { cell.ands.into() };
    let pins: String =
        cell.inputs.iter().map(|pin| format!("    pin({pin}) {{ direction : input; capacitance : 1; }}\n")).collect();
    let output = format!("    pin({OUTPUT}) {{ direction : output; function : \"{}\"; }}\n", cell.function);
    format!("  cell({}) {{\n    area : {area};\n{pins}{output}  }}\n", cell.name)
}

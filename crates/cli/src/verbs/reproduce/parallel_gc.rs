//! Tables 1 and 2, and what Figures 4 and 6 and the text say in numbers, of Barni, Bernaschi, Lazzeretti, Pignata and Sabellico,
//! *Parallel Implementation of GC-Based MPC Protocols in the Semi-Honest Setting* (DPM 2013).
//!
//! `parallel_gc.csv` has the paper's figures. Its machine had eight cores of 2.4 GHz on 100 Mbit/s, whose latency it does not say:
//! here it is 0.2 ms. Its labels had 80 bits, ours have 128.

mod elements;
mod figures;
mod layers;

use super::{Figures, Table};
use duologue::Scheme;

pub const TABLES: &[Table] = &[
    Table {
        name: "parallel-gc/1",
        about: "Parallel GC, Table 1: iris identification among 1,023 people by Yao over 100 Mbit/s, 0.2 ms",
        unit: "s",
        notes: ELEMENTS,
        rows: |effort| elements::rows("1", &IRIS, effort),
    },
    Table {
        name: "parallel-gc/2",
        about: "Parallel GC, Table 2: a block of AES by Yao over 100 Mbit/s, 0.2 ms",
        unit: "s",
        notes: ELEMENTS,
        rows: |effort| elements::rows("2", &AES, effort),
    },
    Table {
        name: "parallel-gc/figure4",
        about: "Parallel GC, Figure 4: iris identification over 100 Mbit/s, 0.2 ms, by threads",
        unit: "s",
        notes: FIGURES_NOTE,
        rows: |effort| figures::rows("figure4", &IRIS, effort),
    },
    Table {
        name: "parallel-gc/figure6",
        about: "Parallel GC, Figure 6: AES of an image of 256 x 256 bytes over 100 Mbit/s, 0.2 ms, by threads",
        unit: "s",
        notes: FIGURES_NOTE,
        rows: |effort| figures::rows("figure6", &IMAGE, effort),
    },
    Table {
        name: "parallel-gc/layers",
        about: "Parallel GC, sections 3.1 and 4.1: gates, layers and the share of XORs",
        unit: "gates",
        notes: LAYERS,
        rows: layers::rows,
    },
];

/// A program at a size.
pub struct Subject {
    /// As rows name it.
    pub name: &'static str,
    /// The program but for the goal.
    pub program: &'static str,
    /// The public size.
    pub size: u64,
    /// The evaluator's input bits, for each of which there is an OT.
    pub choices: u64,
    /// Rows of Figure 6 have a block's milliseconds, too.
    pub each: bool,
}

impl Subject {
    /// The program that suits a protocol: of fewest ANDs for Yao, of least depth for GMW.
    pub fn program(&self, scheme: Scheme) -> String {
        format!("{}:{}", self.program, if scheme == Scheme::Yao { "size" } else { "depth" })
    }
}

/// Codes of 2,048 bits and a common mask, which is applied beforehand.
const IRIS: Subject = Subject { name: "iris", program: "app:iris:2048", size: 1_023, choices: 2_048, each: false };

const AES: Subject = Subject { name: "aes", program: "block:aes128", size: 1, choices: 128, each: false };

/// 4,096 blocks.
const IMAGE: Subject = Subject { name: "aes_image", program: "app:aes:128", size: 4_096, choices: 128, each: true };

const ELEMENTS: &str = "\
`s`, `fg`, `cg`, `cg+fg` are the paper's ways: one thread, and eight that share out layers, blocks, or both. Beside `s` and `huang`
stands one thread of ours, by half-gates. `two_threads`, without a figure of the paper, are two that share out lanes. Garbling and evaluation are each party by itself, without
a line. Beside eight threads stands a simulation (~): the time of one thread, divided by what `duologue cost --cores 8` says. `ot_precomputation`
is the share of the evaluator's input bits in a block of OTs, as in the paper. `table_tx` and
`secrets_tx` are computed from exact bytes (*); the latter are Alice's and Bob's together. `whole` is a run over the line from building
the circuit to closing, beside it all of the paper's rows together.";

const FIGURES_NOTE: &str = "\
The figures are images; beside ours are the numbers that the text says, and of iris those of Table 1, one thread and eight. Columns are threads a party. One is a run over the line; of two the computing is
measured without a line, of more it is simulated (~): that of one thread, divided by what `duologue cost --cores` says of coarse grain.
To that come exact bytes on the line. Offline is setup with base OTs; `online_each` is of one block.";

const LAYERS: &str = "\
`layers` are the paper's: XORs count as ANDs do. `and_layers` are those in which GMW waits. `xor_share` is in percent, in the paper the mean of
its circuits.";

/// The line of the paper.
const LINE: &str = "0.2ms,100Mbit";

/// The paper's figures of some rows together, if there is one of any.
fn together(table: &str, rows: &[&str], column: &str) -> Option<f64> {
    rows.iter().filter_map(|row| FIGURES.of(table, row, column)).reduce(|a, b| a + b)
}

const FIGURES: Figures = Figures(include_str!("parallel_gc.csv"));

#[cfg(test)]
mod tests;

//! Tables 1 to 5 of Demmler, Dessouky, Koushanfar, Sadeghi, Schneider and Zeitouni, *Automated Synthesis of Optimized Circuits
//! for Secure Computation* (CCS 2015).
//!
//! `automated_synthesis.csv` has the paper's figures by the number of their table. Both have 128 bits of security; the paper ran
//! two machines of 3.5 GHz on 1 Gbit/s, whose latency it does not say: here it is 0.2 ms.

mod circuits;
mod operations;

use super::{Figures, Table};

pub const TABLES: &[Table] = &[
    Table {
        name: "automated-synthesis/1",
        about: "Automated synthesis, Table 1: circuits by synthesis and by hand",
        unit: "ANDs",
        notes: CIRCUITS,
        rows: circuits::rows,
    },
    Table {
        name: "automated-synthesis/2",
        about: "Automated synthesis, Table 2: a division of integers over 1 Gbit/s, 0.2 ms",
        unit: "ms",
        notes: TIMES,
        rows: |effort| operations::rows("2", effort),
    },
    Table {
        name: "automated-synthesis/3",
        about: "Automated synthesis, Table 3: a dot product of 16 or 32 integers over 1 Gbit/s, 0.2 ms",
        unit: "ms",
        notes: TIMES,
        rows: |effort| operations::rows("3", effort),
    },
    Table {
        name: "automated-synthesis/4",
        about: "Automated synthesis, Table 4: an operation on floating-point numbers over 1 Gbit/s, 0.2 ms",
        unit: "ms",
        notes: FLOATS,
        rows: |effort| operations::rows("4", effort),
    },
    Table {
        name: "automated-synthesis/5",
        about: "Automated synthesis, Table 5: a test of proximity on Earth over 1 Gbit/s, 0.2 ms",
        unit: "ms",
        notes: PROXIMITY,
        rows: |effort| operations::rows("5", effort),
    },
];

const CIRCUITS: &str = "\
`hand` are the circuits that the paper compares with, `synthesised` its own; ours are the same in both columns. Of depth are the circuits
with `lf`, of size `kmul` and those with `rc`. Sums and differences are taken modulo 2^n.";

const TIMES: &str = "\
Milliseconds of one of as many as run at once, which is the column. The phases are Alice's, base OTs among setup; `overall` is from
building the circuit to closing, both parties on this machine, a thread each, over TCP with a simulated line; outputs were those in the
clear. Runs of GMW and of masked GMW take the circuit of least depth, from 1,000 at once that of fewest ANDs, as Yao's do in any
case; the paper's took that of least depth always, Table 3 the one of fewest ANDs. Yao streams where its tables are large, so
that they travel online. Beside rivals, named as the paper cites them, stands our GMW. Where the paper's program could not run, no figure is beside ours.
`circuit` is that of least depth, `circuit_size` that of fewest ANDs, `compile` how long it took to build. A star marks what was computed.";

const FLOATS: &str = "\
Milliseconds of one of as many as run at once, which is the column; phases, circuits and marks are those of Table 2. Neither ours nor, by
its counts of ANDs, the paper's have denormals or NaN. 42 bits are 9 of exponent and 32 of fraction. The text of the paper that we have lacks the rows of exp2 and log2:
`(lost)`. It says of exp2 and div that synthesis took less than an hour, which stands beside their 64 bits.";

const PROXIMITY: &str = "\
Milliseconds of one of as many as run at once, which is the column; phases, circuits and marks are those of Table 2. `he` and `gc` compute
with integers, by homomorphic encryption and by garbled circuits; the paper has them without a width, and beside them stands our GMW
of 64 bits. Of homomorphic encryption the paper has a range.";

const FIGURES: Figures = Figures(include_str!("automated_synthesis.csv"));

#[cfg(test)]
mod tests;

//! Tables 1 to 7 of Schneider and Zohner, *GMW vs. Yao? Efficient Secure Two-Party Computation with Low Depth Circuits* (FC 2013).
//!
//! `gmw_vs_yao.csv` has the paper's figures by the number of their table; those of Table 7 are its formulas, evaluated. The
//! paper's machines had four cores of 2.5 GHz each and 80 bits of security; here are 128.

mod applications;
mod circuits;
mod steps;

use super::{Figures, Table};

pub const TABLES: &[Table] = &[
    Table {
        name: "gmw-vs-yao/1",
        about: "GMW vs. Yao, Table 1: a product of 512 bits by GMW over 1 Gbit/s, 0.2 ms",
        unit: "s",
        notes: PRODUCT,
        rows: steps::product,
    },
    Table {
        name: "gmw-vs-yao/2",
        about: "GMW vs. Yao, Table 2: primitives on one core",
        unit: "1/s",
        notes: PRIMITIVES,
        rows: |_| Ok(steps::primitives()),
    },
    Table {
        name: "gmw-vs-yao/3",
        about: "GMW vs. Yao, Table 3: what an AND, a wire and an input take",
        unit: "bit",
        notes: CONCEPTS,
        rows: steps::concepts,
    },
    Table {
        name: "gmw-vs-yao/4",
        about: "GMW vs. Yao, Table 4: the mobile social network over 1 Gbit/s and 0.2, 10 and 100 ms",
        unit: "s",
        notes: TIMES,
        rows: |effort| applications::times("4", applications::SOCIAL, effort),
    },
    Table {
        name: "gmw-vs-yao/5",
        about: "GMW vs. Yao, Table 5: Eigenfaces over 1 Gbit/s, 0.2 ms",
        unit: "s",
        notes: TIMES,
        rows: |effort| applications::times("5", applications::EIGENFACES, effort),
    },
    Table {
        name: "gmw-vs-yao/6",
        about: "GMW vs. Yao, Table 6: SCiFI over 1 Gbit/s, 0.2 and 100 ms",
        unit: "s",
        notes: TIMES,
        rows: |effort| applications::times("6", applications::SCIFI, effort),
    },
    Table {
        name: "gmw-vs-yao/7",
        about: "GMW vs. Yao, Table 7: ANDs and depth of circuits for numbers of 16, 32 and 64 bits",
        unit: "ANDs",
        notes: CIRCUITS,
        rows: circuits::rows,
    },
];

const PRODUCT: &str = "\
The phases are Alice's, base OTs among setup; overall is from building the circuit to closing. Beside the paper's first seven steps
stands one product by GMW with one thread and the maker softspoken4; `simd` is one of 32 products in a run, as in the paper. Columns
without a figure of the paper are other makers of correlations, masked GMW, and two threads: `--backend portable` before the verb
gives all of them without the processor's instructions for AES. The paper ran four threads in setup, with 80 bits of security.
Outputs were those in the clear. A star marks what was computed.";

const PRIMITIVES: &str = "\
We have no SHA-1: beside it stands our hash of OTs, AES-128 under a key of its own for each block, and beside AES our
AES-128 under one key. A call of SHA-1 gives 160 bits, one of ours 128.";

const CONCEPTS: &str = "\
Per AND: what a SHA-256 has more of in 48 lanes than in 16, by lengths; `computation` is AES blocks of a party in that phase, counted in runs,
beside the paper's calls of SHA-1 and AES: in setup the mean of both parties, of GMW 2.5 and 1.8 in the paper. Under GMW, where nobody
garbles, `garbler` is Bob. GMW's correlations are by softspoken4. Bob garbles. Ours has 128 bits of security, the paper 80.
`input_bits`: what another
input of Bob takes in both directions and phases, `input_bits_evaluator` one of Alice; streamed, the garbler's labels come of a seed.";

const TIMES: &str = "\
The phases are Alice's, base OTs among setup; overall is from building the circuit to closing, both parties on this machine, a
thread each, over TCP with a simulated line. Outputs were those in the clear. Beside `huang` stands our Yao, which streams where that is
long, so that tables travel online; beside all others stands our GMW. `zohner` is the paper's own row. A star marks what was computed.";

const CIRCUITS: &str = "\
The paper's formulas, evaluated; networks and minima are of 16 numbers. Beside constructions of linear depth stands ours of least ANDs,
beside those of low depth ours of least depth. Differences are taken modulo 2^n.";

const FIGURES: Figures = Figures(include_str!("gmw_vs_yao.csv"));

#[cfg(test)]
mod tests;

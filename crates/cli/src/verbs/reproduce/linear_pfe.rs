//! Tables 1 to 3 of Holz, Kiss, Rathee, Schneider, *Linear-Complexity Private Function Evaluation is Practical* (ESORICS 2020):
//! bytes and times of a private function of n gates, 64 bits in.
//!
//! `linear_pfe.csv` has the paper's totals. Universal circuits have n nodes, inputs, copies and outputs included, in the paper
//! as here; of linear methods n are the gates. A further method is a line in [`METHODS`].

mod classical;
mod encrypted;

use super::trial::{Ran, Trial, over_tcp};
use super::{Cell, Effort, Figures, How, Table};
use crate::failure::{Exit, Failure};
use apps::universal::{encode_function, universal};
use duologue::channel::{Channel, Link};
use duologue::circuit::private::{Function, Node};
use duologue::circuit::universal::{NOTHING, Node as Gate, Nodes, Size};
use duologue::circuit::{Bit, BitMatrix, Port, bits};
use duologue::{Inputs, Options, Scheme};
use he::bfv::Bfv;
use he::djn::Djn;
use he::elgamal::ElGamal;
use kernels::Block;
use kernels::generator::Generator;
use pfe::{Alice, Bob, Padding, Wired};
use std::time::Duration;

pub const TABLES: &[Table] = &[
    Table {
        name: "linear-pfe/1",
        about: "Linear-complexity PFE, Table 1: bytes of a private function of n gates",
        unit: "MiB",
        notes: NOTES,
        rows: |_| sent(),
    },
    Table {
        name: "linear-pfe/2",
        about: "Linear-complexity PFE, Table 2: time over 10 Gbit/s, 1 ms",
        unit: "s",
        notes: TIMES,
        rows: |effort| times("2", "1ms,10Gbit", effort),
    },
    Table {
        name: "linear-pfe/3",
        about: "Linear-complexity PFE, Table 3: time over 100 Mbit/s, 100 ms",
        unit: "s",
        notes: TIMES,
        rows: |effort| times("3", "100ms,100Mbit", effort),
    },
];

const NOTES: &str = "\
Ours is all payload of both directions of one run, base OTs included. A star marks arithmetic: universal circuits that a party
garbles who does not know the control bits, 32 bytes a switch and 16 for the label of its control bit; and `bfv_unsafe`, which is
BFV as the paper's program has it: its answers show which function it is. `elgamal`, `bfv` and `djn` are the
paper's methods on NANDs; beside dh stands its ElGamal, beside universal its estimate for the circuits of Liu et al.";

const TIMES: &str = "\
Ours is from connecting to closing, both parties on this machine, one thread each, over TCP with a simulated line; the paper
had 16 cores a party. A star marks what was computed: a run of 100 gates over the line, exact bytes at its rate, and computing
of 10,000 gates without a line in proportion, one after another.";

/// n.
const COLUMNS: [u64; 5] = [100, 1_000, 10_000, 100_000, 1_000_000];

/// Bits of the data, in the paper too.
const INPUTS: u32 = 64;

/// Results of a function by `dh`, as many as the paper's, by the labels that it returns.
const OUTPUTS: u32 = 32;

/// A row.
struct Method {
    row: &'static str,
    /// The row of the paper that it stands beside.
    beside: &'static str,
    /// Bytes that Alice sends, and Bob.
    bytes: fn(u64) -> Result<[u64; 2], Failure>,
    /// How a run is made; none where bytes are arithmetic.
    run: Option<RunOf>,
    /// What a run computes, in any unit.
    work: fn(u64) -> u64,
}

/// A run of a function of n gates.
type RunOf = fn(u64, Option<Link>) -> Result<Ran, Failure>;

const METHODS: &[Method] = &[
    Method { row: "dh", beside: "elgamal", bytes: |n| Ok(dh::bytes(n)), run: Some(dh::run), work: |n| n },
    katz_malka("elgamal", |n| Ok(encrypted::bytes::<ElGamal>(n)), encrypted::run::<ElGamal>),
    katz_malka("bfv", |n| Ok(encrypted::bytes::<Bfv>(n)), encrypted::run::<Bfv>),
    arithmetic("bfv_unsafe", "bfv", |n| Ok(encrypted::unsafe_bfv(n))),
    katz_malka("djn", |n| Ok(encrypted::bytes::<Djn>(n)), encrypted::run::<Djn>),
    Method { row: "universal", beside: "uc_liu", bytes: garbled::bytes, run: Some(garbled::run), work: garbled::work },
    arithmetic("universal_liu", "uc_liu", |n| Ok([classical::liu(n), 0])),
    arithmetic("universal_alhassan", "uc_alhassan", |n| Ok([classical::alhassan(n), 0])),
];

const fn arithmetic(row: &'static str, beside: &'static str, bytes: fn(u64) -> Result<[u64; 2], Failure>) -> Method {
    Method { row, beside, bytes, run: None, work: |n| n }
}

const fn katz_malka(row: &'static str, bytes: fn(u64) -> Result<[u64; 2], Failure>, run: RunOf) -> Method {
    Method { row, beside: row, bytes, run: Some(run), work: |n| n }
}

const MEBIBYTE: f64 = (1 << 20) as f64;

fn sent() -> Result<Vec<Cell>, Failure> {
    let mut cells = Vec::new();
    for method in METHODS {
        for n in COLUMNS {
            let bytes: u64 = (method.bytes)(n)?.iter().sum();
            let how = if method.run.is_some() { How::Exact } else { How::Computed };
            cells.push(cell("1", method, n, bytes as f64 / MEBIBYTE, how));
        }
    }
    Ok(cells)
}

fn cell(table: &str, method: &Method, n: u64, ours: f64, how: How) -> Cell {
    Cell { paper: FIGURES.of(table, method.beside, n), ..Cell::new(method.row, n, ours, how) }
}

const FIGURES: Figures = Figures(include_str!("linear_pfe.csv"));

/// Runs of more gates are computed, from one of so many.
const MOST_MEASURED: u64 = 10_000;

/// What is measured where all else is computed.
const QUICK: (&str, u64) = ("universal", 1_000);

fn times(table: &str, line: &str, effort: &Effort) -> Result<Vec<Cell>, Failure> {
    let (line, mut cells): (Link, _) = (line.parse()?, Vec::new());
    for method in METHODS.iter().filter(|method| effort.wants(method.row)) {
        let (Some(run), work) = (method.run, method.work) else { continue };
        let base = if effort.quick { COLUMNS[1] } else { MOST_MEASURED };
        let (begin, computing) = (run(COLUMNS[0], Some(line))?.time, run(base, None)?.time);
        effort.console.note(format!("{}: {:.3} s of computing for {base} gates", method.row, computing.as_secs_f64()));
        for n in COLUMNS {
            let measured = if effort.quick { (method.row, n) == QUICK } else { n <= MOST_MEASURED };
            let cell = |time: Duration, how| cell(table, method, n, time.as_secs_f64(), how);
            cells.push(if measured {
                cell(checked(run(n, Some(line))?, (method.bytes)(n)?)?, How::Measured)
            } else {
                let rest = computing.mul_f64(work(n) as f64 / work(base) as f64);
                cell(begin + on_line(&line, (method.bytes)(n)?) + rest, How::Computed)
            });
        }
    }
    Ok(cells)
}

/// The time of a run whose bytes are those that were counted.
fn checked(ran: Ran, counted: [u64; 2]) -> Result<Duration, Failure> {
    let counted: u64 = counted.iter().sum();
    if ran.bytes == counted {
        return Ok(ran.time);
    }
    let why = format!("a run took {} bytes, not the {counted} that were counted", ran.bytes);
    Err(Failure::new(Exit::Wrong, why))
}

/// How long bytes take that go both ways at once.
fn on_line(line: &Link, bytes: [u64; 2]) -> Duration {
    let most = bytes.into_iter().max().unwrap_or(0) as f64;
    Duration::from_secs_f64(line.bits_per_second.map_or(0.0, |bits| 8.0 * most / bits as f64))
}

/// Diffie-Hellman labels.
mod dh {
    use super::*;

    /// Bytes of a first message, a point, a table.
    const HELLO: u64 = 72;
    const POINT: u64 = 32;
    const TABLE: u64 = 99;

    pub fn bytes(gates: u64) -> [u64; 2] {
        let (inputs, outputs) = (u64::from(INPUTS), u64::from(OUTPUTS));
        // Of Bob a byte says that there is a run, and one that there is no other.
        [HELLO + POINT * (gates + 2 * outputs), HELLO + 2 + POINT * (1 + inputs) + TABLE * gates]
    }

    /// ANDs of two bits, each uniform among all before.
    fn function(gates: u64) -> Result<Function, Failure> {
        let mut rng = Generator::from_seed(Block::new(20));
        let mut nodes = vec![Node::False];
        nodes.extend([Node::Input; INPUTS as usize]);
        for _ in 0..gates {
            let mut draw = [0; 3];
            rng.words(&mut draw);
            let before = |word: u64| Bit::new(1 + (word % (nodes.len() as u64 - 1)) as u32, word >> 63 == 1);
            nodes.push(Node::Majority([Bit::constant(draw[2] & 1 == 1), before(draw[0]), before(draw[1])]));
        }
        let end = nodes.len() as u32;
        Ok(Function::new(nodes, (end - OUTPUTS..end).map(|node| Bit::new(node, false)).collect())?)
    }

    pub fn run(gates: u64, line: Option<Link>) -> Result<Ran, Failure> {
        let function = function(gates)?;
        let x: Vec<bool> = (0..INPUTS).map(|bit| 0x9e37_79b9_7f4a_7c15u64 >> bit & 1 == 1).collect();
        let expected = function.evaluate(&x);
        let mut wired = Wired::new(function, Padding::default())?;
        let alice = |channel: Channel| {
            let mut alice = Alice::connect(channel, &mut wired, 1)?;
            while alice.serve()? {}
            alice.close().map(|counters| counters.bytes_sent)
        };
        let bob = |channel: Channel| {
            let mut bob = Bob::connect(channel, INPUTS)?;
            let result = bob.run(&x)?;
            let sent = bob.close()?.bytes_sent;
            if result == expected { Ok(sent) } else { Err(duologue::Error::usage("a wrong result")) }
        };
        over_tcp(line, alice, bob)
    }
}

/// A universal circuit that Alice garbles.
mod garbled {
    use super::*;

    fn size(nodes: u64) -> Result<Size, Failure> {
        Ok(Size::new(INPUTS, nodes as u32 - INPUTS - 1, 1)?)
    }

    /// Switches, and three for each gate.
    pub fn work(nodes: u64) -> u64 {
        size(nodes).map_or(0, |size| size.switches() + 3 * size.tables() as u64)
    }

    /// Gates that read the two nodes before them.
    fn chain(size: Size) -> Result<Nodes, Failure> {
        let gates = (INPUTS..INPUTS + size.gates).map(|gate| Gate { operands: [gate - 1, gate - 2], table: 0b1001 });
        let last = Gate { operands: [INPUTS + size.gates - 1, NOTHING], table: 0b1010 };
        Ok(Nodes::new(size, gates.chain([last]).collect())?)
    }

    fn trial(size: Size) -> Result<Trial, Failure> {
        let port = |name, width| Port::new(name, bits(width));
        let program = universal(&[port("x", INPUTS)], &[port("y", 1)], size.gates)?;
        Ok(Trial::of(program.bind(&[])?, Options::new(Scheme::Gmw)))
    }

    pub fn bytes(nodes: u64) -> Result<[u64; 2], Failure> {
        let cost = trial(size(nodes)?)?.cost()?;
        let sum = |part: fn(&duologue::cost::Traffic) -> u64| part(&cost.setup) + part(&cost.online);
        Ok([sum(|traffic| traffic.alice_to_bob), sum(|traffic| traffic.bob_to_alice)])
    }

    pub fn run(nodes: u64, line: Option<Link>) -> Result<Ran, Failure> {
        let size = size(nodes)?;
        let function = Inputs::new().with("function", encode_function(&chain(size)?));
        let x = Inputs::new().with("x", BitMatrix::zeros(INPUTS as usize, 1));
        trial(size)?.with_inputs([function, x]).run(line)
    }
}

#[cfg(test)]
mod tests;

//! Tables 2, 3 and 5 of Ziegeldorf, Hiller, Henze, Wirtz, Wehrle, *Bandwidth-optimized Secure Two-Party Computation of Minima*
//! (CANS 2015): the least of 1,000 values of l bits with its argument of l bits.
//!
//! `boma.csv` has the paper's figures. Its columns are key sizes: short is 80 bits of security with RSA moduli of 1,024 bits,
//! medium 112 with 2,048, long 128 with 3,072. Circuits and our own protocols have 128 bits here in every column.

use super::encrypted::{Encrypted, Shape};
use super::trial::{Ran, Trial, bytes};
use super::{Cell, Effort, Figures, How, Table};
use crate::failure::{Exit, Failure};
use apps::argmin::encrypted::Method;
use apps::argmin::{self, Direction, Found, Held};
use duologue::channel::Link;
use duologue::circuit::blocks::Goal;
use duologue::circuit::program::Recipient;
use duologue::{Garbling, Options, Party, Scheme, Timing};
use std::time::Duration;

pub const TABLES: &[Table] = &[
    Table {
        name: "boma/2",
        about: "BOMA, Table 2: bytes for protected inputs",
        unit: "MiB",
        notes: NOTES,
        rows: |_| sent("2", SHARED),
    },
    Table {
        name: "boma/3",
        about: "BOMA, Table 3: time over a line of 1, 2, 5 and 10 Mbit/s",
        unit: "s",
        notes: TIMES,
        rows: times,
    },
    Table {
        name: "boma/5",
        about: "BOMA, Table 5: bytes where each party has half of the inputs",
        unit: "MiB",
        notes: NOTES,
        rows: |_| sent("5", HALVES),
    },
];

const NOTES: &str = "\
Ours is all payload of both directions in a new session: terms, base OTs, setup, online; rows of a pool are the online
phase alone. In Table 5 protocols over ciphertexts take those of the client's half besides: a star marks that sum. Circuits and our own protocols have 128 bits of security in every column. Beside our own protocol, in all its
rows, stands the paper's BOMA.";

const TIMES: &str = "\
Ours is from connecting to closing, both parties on this machine, one thread each, over TCP with a simulated line; a star
marks what was computed from exact bytes and measured computing. Circuits and our own protocols have 128 bits of security in
every column. Beside our own protocol stands the paper's BOMA.";

const VALUES: u64 = 1000;

/// A column: a level of security, the bits of its keys, and the bits of a value.
#[derive(Clone, Copy)]
struct Column {
    level: &'static str,
    key_bits: u32,
    width: u32,
}

const COLUMNS: [Column; 9] = {
    const fn of(level: &'static str, key_bits: u32, width: u32) -> Column {
        Column { level, key_bits, width }
    }
    let [short, medium, long] = [("short", 1024), ("medium", 2048), ("long", 3072)];
    [
        of(short.0, short.1, 32),
        of(short.0, short.1, 64),
        of(short.0, short.1, 128),
        of(medium.0, medium.1, 32),
        of(medium.0, medium.1, 64),
        of(medium.0, medium.1, 128),
        of(long.0, long.1, 32),
        of(long.0, long.1, 64),
        of(long.0, long.1, 128),
    ]
};

/// A row: its name, the row of the paper that it stands beside, and its protocol.
struct Protocol {
    row: &'static str,
    beside: &'static str,
    what: What,
    /// Whether correlations come from a pool.
    pool: bool,
}

/// A protocol: of 128 bits of security for values of so many bits, or over ciphertexts of the column's key.
#[derive(Clone, Copy)]
enum What {
    Plain(fn(u32) -> Result<Trial, Failure>),
    Encrypted(Method),
}

const fn row(row: &'static str, beside: &'static str, trial: fn(u32) -> Result<Trial, Failure>) -> Protocol {
    Protocol { row, beside, what: What::Plain(trial), pool: false }
}

const fn encrypted(row: &'static str, beside: &'static str, method: Method) -> Protocol {
    Protocol { row, beside, what: What::Encrypted(method), pool: false }
}

impl What {
    fn shape(method: Method, column: Column) -> Shape {
        Shape { method, key_bits: column.key_bits, width: column.width, values: VALUES }
    }

    /// A trial that can be counted.
    fn counted(self, column: Column) -> Result<Trial, Failure> {
        match self {
            What::Plain(trial) => trial(column.width)?,
            What::Encrypted(method) => What::shape(method, column).counted()?,
        }
        .leanest()
    }

    /// A trial that can be run.
    fn ready(self, column: Column, keys: &mut Ciphertexts) -> Result<Trial, Failure> {
        match self {
            What::Plain(trial) => trial(column.width)?,
            What::Encrypted(method) => What::shape(method, column).ready(keys.of(column)?)?,
        }
        .leanest()
    }

    /// Of private halves over ciphertexts, bytes before and after: the client's values and arguments go to the server encrypted,
    /// the result comes back.
    fn encryptions(self, column: Column) -> u64 {
        match self {
            What::Plain(_) => 0,
            What::Encrypted(_) => (VALUES + 2) * u64::from(2 * column.key_bits / 8),
        }
    }

    /// Whether a figure of another level is the same.
    fn is_same(self, one: Column, other: Column) -> bool {
        one.width == other.width && (one.key_bits == other.key_bits || matches!(self, What::Plain(_)))
    }
}

/// Keys and numbers under them by the bits of the keys, made when they are needed: the longest take ten seconds.
#[derive(Default)]
struct Ciphertexts(Vec<(u32, Encrypted)>);

impl Ciphertexts {
    fn of(&mut self, column: Column) -> Result<&Encrypted, Failure> {
        if let Some(found) = self.0.iter().position(|(key_bits, _)| *key_bits == column.key_bits) {
            return Ok(&self.0[found].1);
        }
        self.0.push((column.key_bits, Encrypted::new(column.key_bits, VALUES)?));
        Ok(&self.0[self.0.len() - 1].1)
    }
}

/// Values that both parties share.
const SHARED: &[Protocol] = &[
    row("kolesnikov", "kolesnikov", |l| circuit(l, Found::Index, THREE_HALVES, BOTH)),
    row("kolesnikov_half_gates", "kolesnikov", |l| circuit(l, Found::Index, HALF_GATES, BOTH)),
    row("huang", "huang", |l| circuit(l, Found::Walk(l), THREE_HALVES, BOTH)),
    row("huang_half_gates", "huang", |l| circuit(l, Found::Walk(l), HALF_GATES, BOTH)),
    row("aby_yao", "aby_yao", |l| strings(l, THREE_HALVES)),
    row("aby_yao_half_gates", "aby_yao", |l| strings(l, HALF_GATES)),
    row("schneider", "schneider", |l| circuit(l, Found::Index, GMW, BOTH)),
    row("aby_gmw", "aby_gmw", |l| strings(l, GMW)),
    encrypted("erkin", "erkin", Method::Erkin),
    encrypted("boma", "boma", Method::Boma),
    encrypted("duologue", "boma", Method::Duologue),
    Protocol { pool: true, ..encrypted("duologue_pool", "boma", Method::Duologue) },
    row("duologue_shared", "boma", shared),
    Protocol { pool: true, ..row("duologue_shared_pool", "boma", shared) },
    row("duologue_xor", "boma", |l| strings(l, CHAINS)),
    row("duologue_xor_one", "boma", strings_by_ots),
];

/// Private halves, whose result Bob gets.
const HALVES: &[Protocol] = &[
    row("kolesnikov", "kolesnikov", |l| circuit(l, Found::Index, THREE_HALVES, EACH)),
    row("kolesnikov_half_gates", "kolesnikov", |l| circuit(l, Found::Index, HALF_GATES, EACH)),
    row("huang", "huang", |l| circuit(l, Found::Walk(l), THREE_HALVES, EACH)),
    row("huang_half_gates", "huang", |l| circuit(l, Found::Walk(l), HALF_GATES, EACH)),
    row("aby_yao", "aby_yao", |l| circuit(l, Found::Argument(l), THREE_HALVES, EACH)),
    row("aby_yao_half_gates", "aby_yao", |l| circuit(l, Found::Argument(l), HALF_GATES, EACH)),
    row("schneider", "schneider", |l| circuit(l, Found::Index, GMW, EACH)),
    row("aby_gmw", "aby_gmw", |l| circuit(l, Found::Argument(l), GMW, EACH)),
    encrypted("erkin", "erkin", Method::Erkin),
    encrypted("boma", "boma", Method::Boma),
    row("duologue", "boma", halves),
    Protocol { pool: true, ..row("duologue_pool", "boma", halves) },
];

/// A protocol for circuits, and what is kept low.
#[derive(Clone, Copy)]
struct Engine(Scheme, Garbling, Goal);

const HALF_GATES: Engine = Engine(Scheme::Yao, Garbling::HalfGates, Goal::Size);
const THREE_HALVES: Engine = Engine(Scheme::Yao, Garbling::ThreeHalves, Goal::Size);
const GMW: Engine = Engine(Scheme::Gmw, Garbling::HalfGates, Goal::Depth);
const CHAINS: Engine = Engine(Scheme::Gmw, Garbling::HalfGates, Goal::Size);

const BOTH: Held = Held::Shared(VALUES);
const EACH: Held = Held::Halves([VALUES / 2; 2]);

fn circuit(l: u32, found: Found, Engine(scheme, garbling, goal): Engine, held: Held) -> Result<Trial, Failure> {
    let sizes: &[(&str, u64)] = match held {
        Held::Shared(_) => &[("values", VALUES)],
        Held::Halves(_) => HALF,
    };
    Trial::new(&argmin::levels(l, found, goal, held), sizes, options(scheme, garbling))
}

/// Streamed, so that shared inputs of Yao take no labels.
fn options(scheme: Scheme, garbling: Garbling) -> Options {
    let timing = if scheme == Scheme::Yao { Timing::Streamed } else { Timing::Auto };
    Options::new(scheme).garbling(garbling).timing(timing)
}

fn strings(l: u32, Engine(scheme, garbling, goal): Engine) -> Result<Trial, Failure> {
    let program = argmin::strings(l, Some(l), goal);
    Trial::new(&program, &[("values", VALUES)], options(scheme, garbling))
}

/// Ours, with OTs of one party, which take fewer bytes by the maker that is taken.
fn shared(l: u32) -> Result<Trial, Failure> {
    let program = argmin::shared(l, Some(l), Direction::One, &[]);
    Trial::new(&program, &[("values", VALUES)], Options::new(Scheme::Gmw))
}

/// The same of values that are shared by XOR.
fn strings_by_ots(l: u32) -> Result<Trial, Failure> {
    let program = argmin::strings_by_ots(l, Some(l), Direction::One);
    Trial::new(&program, &[("values", VALUES)], Options::new(Scheme::Gmw))
}

const HALF: &[(&str, u64)] = &[("alice", VALUES / 2), ("bob", VALUES / 2)];

fn halves(l: u32) -> Result<Trial, Failure> {
    let program = argmin::halves(l, Some(l), Recipient::Party(Party::Bob));
    Trial::new(&program, HALF, Options::new(Scheme::Gmw))
}

/// Bytes of all protocols, which are exact.
fn sent(table: &str, protocols: &[Protocol]) -> Result<Vec<Cell>, Failure> {
    let mut cells: Vec<Cell> = Vec::new();
    for protocol in protocols {
        let mut known: Vec<(Column, f64)> = Vec::new();
        for column in COLUMNS {
            let same = known.iter().find(|(other, _)| protocol.what.is_same(*other, column)).map(|&(_, ours)| ours);
            let ours = same.map_or_else(|| mebibytes(protocol, column), Ok)?;
            known.push((column, ours));
            let given = if table == "5" { protocol.what.encryptions(column) } else { 0 };
            let (ours, how) = match given {
                0 => (ours, How::Exact),
                given => (ours + given as f64 / MEBIBYTE, How::Computed),
            };
            cells.push(cell(table, protocol, format!("{}/{}", column.level, column.width), ours, how));
        }
    }
    Ok(cells)
}

const MEBIBYTE: f64 = (1 << 20) as f64;

fn mebibytes(protocol: &Protocol, column: Column) -> Result<f64, Failure> {
    let cost = protocol.what.counted(column)?.cost()?;
    let online = cost.online.alice_to_bob + cost.online.bob_to_alice;
    Ok(if protocol.pool { online } else { bytes(&cost) } as f64 / MEBIBYTE)
}

fn cell(table: &str, protocol: &Protocol, column: String, ours: f64, how: How) -> Cell {
    let paper = FIGURES.of(table, protocol.beside, &column);
    Cell { paper, ..Cell::new(protocol.row, column, ours, how) }
}

const FIGURES: Figures = Figures(include_str!("boma.csv"));

/// Beyond this time a cell is computed.
const PATIENCE: Duration = Duration::from_secs(60);

/// The protocols of Table 3 that were measured in the paper, and ours.
const TIMED: &[&str] =
    &["aby_yao", "aby_yao_half_gates", "aby_gmw", "boma", "duologue", "duologue_shared", "duologue_xor"];

/// Mbit/s.
const RATES: [u32; 4] = [1, 2, 5, 10];

/// What is measured where all else is computed.
const QUICK: (&str, u32, u32) = ("duologue_shared", 32, 10);

fn times(effort: &Effort) -> Result<Vec<Cell>, Failure> {
    let (mut cells, mut keys) = (Vec::new(), Ciphertexts::default());
    for protocol in SHARED.iter().filter(|protocol| TIMED.contains(&protocol.row) && effort.wants(protocol.row)) {
        let mut known: Vec<(Column, Vec<(f64, How)>)> = Vec::new();
        for column in COLUMNS {
            let same = known.iter().find(|(other, _)| protocol.what.is_same(*other, column));
            let times = match same {
                Some((_, times)) => times.clone(),
                None => over_all_rates(protocol, column, &mut keys, effort)?,
            };
            for (rate, &(time, how)) in RATES.iter().zip(&times) {
                let name = format!("{}/{}/{rate}", column.level, column.width);
                cells.push(cell("3", protocol, name, time, how));
            }
            known.push((column, times));
        }
    }
    Ok(cells)
}

fn over_all_rates(
    protocol: &Protocol,
    column: Column,
    keys: &mut Ciphertexts,
    effort: &Effort,
) -> Result<Vec<(f64, How)>, Failure> {
    let trial = protocol.what.ready(column, keys)?;
    let computing = trial.run(None)?.time;
    let Column { level, width, .. } = column;
    effort.console.note(format!(
        "{}, {level}, {width} bits: {:.3} s of computing",
        protocol.row,
        computing.as_secs_f64()
    ));
    let mut times = Vec::new();
    for rate in RATES {
        let link: Link = format!("1ms,{rate}Mbit").parse()?;
        let chosen = (protocol.row, width, rate) == QUICK;
        let (time, how) = time(&trial, &link, computing, chosen || !effort.quick)?;
        effort.console.note(format!("{}, {level}, {width} bits, {rate} Mbit/s: {time:.2} s", protocol.row));
        times.push((time, how));
    }
    Ok(times)
}

/// Measured if there is the patience for it; else computed.
fn time(trial: &Trial, link: &Link, computing: Duration, measure: bool) -> Result<(f64, How), Failure> {
    let computed = trial.computed(link, computing)?;
    if computed > PATIENCE || !measure {
        return Ok((computed.as_secs_f64(), How::Computed));
    }
    let Ran { time, bytes: sent } = trial.run(Some(*link))?;
    let counted = bytes(&trial.cost()?);
    if sent != counted {
        return Err(Failure::new(Exit::Wrong, format!("a run took {sent} bytes, not the {counted} that were counted")));
    }
    Ok((time.as_secs_f64(), How::Measured))
}

#[cfg(test)]
mod tests;

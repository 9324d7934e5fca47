//! Tables 1 to 3: what GMW's parts and settings take.

use super::FIGURES;
use crate::failure::Failure;
use crate::verbs::reproduce::timed::{Timed, measured_or_computed};
use crate::verbs::reproduce::trial::{Trial, bytes};
use crate::verbs::reproduce::{Cell, Effort, How};
use duologue::channel::Link;
use duologue::circuit::{Bits, Builder, Circuit, Program};
use duologue::cost::{Cost, Traffic};
use duologue::ot::Extension;
use duologue::{Garbling, Options, Party, Scheme, Timing};
use kernels::Block;
use kernels::aes::Aes128;
use kernels::ot_hash::OtHash;
use std::hint::black_box;
use std::time::{Duration, Instant};

/// A setting of Table 1: the columns that it stands in, and the setting.
struct Setting {
    columns: &'static [&'static str],
    scheme: Scheme,
    /// Products in a run.
    lanes: u32,
    maker: &'static str,
    threads: usize,
}

const USUAL: Setting = Setting {
    columns: &["none", "triples", "prf", "balancing", "gmp", "bytewise", "sha1"],
    scheme: Scheme::Gmw,
    lanes: 1,
    maker: "softspoken4",
    threads: 1,
};

const SETTINGS: &[Setting] = &[
    USUAL,
    Setting { columns: &["simd"], lanes: 32, ..USUAL },
    Setting { columns: &["softspoken2"], maker: "softspoken2", ..USUAL },
    Setting { columns: &["softspoken8"], maker: "softspoken8", ..USUAL },
    Setting { columns: &["silent"], maker: "silent", ..USUAL },
    Setting { columns: &["masked"], scheme: Scheme::MaskedGmw, ..USUAL },
    Setting { columns: &["masked_simd"], scheme: Scheme::MaskedGmw, lanes: 32, ..USUAL },
    Setting { columns: &["two_threads"], threads: 2, ..USUAL },
];

/// Table 1.
pub fn product(effort: &Effort) -> Result<Vec<Cell>, Failure> {
    let line: Link = "0.2ms,1Gbit".parse()?;
    let mut cells = Vec::new();
    for (index, setting) in SETTINGS.iter().enumerate() {
        let options = Options::new(setting.scheme).extension(setting.maker.parse::<Extension>()?);
        let timed = Timed::new("block:multiply:512:depth", u64::from(setting.lanes), options)?.threads(setting.threads);
        let computing = timed.run(None)?;
        let (phases, how) = measured_or_computed(&timed, &line, &computing, !effort.quick || index == 0)?;
        let each = phases.each(setting.lanes);
        effort.console.note(format!("{}: {:.3} s in all", setting.columns.join(", "), each.overall.as_secs_f64()));
        for (phase, time) in each.named() {
            cells
                .extend(setting.columns.iter().map(|column| FIGURES.cell("1", phase, column, time.as_secs_f64(), how)));
        }
    }
    Ok(cells)
}

/// Table 2.
pub fn primitives() -> Vec<Cell> {
    let rate = |run: &mut dyn FnMut(&mut [Block])| rate(run);
    let (hash, aes) = (OtHash::new(Block::new(7)), Aes128::new(Block::new(8)));
    let keys = vec![Block::new(9); BATCH];
    let hashes = rate(&mut |out| hash.chosen(0, black_box(&keys), out));
    let blocks = rate(&mut |out| aes.encrypt(out));
    let rows = [("sha1_polarssl", hashes), ("sha1_openssl", hashes), ("aes128_openssl", blocks)];
    let cells = rows.into_iter().flat_map(|(row, rate)| {
        let bits = Cell { unit: Some("bit/s"), ..FIGURES.cell("2", row, "bits", 128.0 * rate, How::Measured) };
        [FIGURES.cell("2", row, "iterations", rate, How::Measured), bits]
    });
    cells.collect()
}

/// Blocks that stay in the caches.
const BATCH: usize = 1 << 10;

/// Blocks a second: the most of several spans, which others on the machine disturb least.
fn rate(run: &mut dyn FnMut(&mut [Block])) -> f64 {
    let mut blocks = vec![Block::new(1); BATCH];
    let mut span = || {
        let (begin, mut batches) = (Instant::now(), 0u32);
        while begin.elapsed() < Duration::from_millis(50) {
            run(black_box(&mut blocks));
            batches += 1;
        }
        f64::from(batches) * BATCH as f64 / begin.elapsed().as_secs_f64()
    };
    (0..5).map(|_| span()).fold(0.0, f64::max)
}

/// The protocols of Table 3 by their columns.
fn protocols() -> [(&'static str, Options); 4] {
    let options = |scheme| Options::new(scheme).extension(Extension::DEFAULT);
    let yao = options(Scheme::Yao).garbler(Party::Bob).timing(Timing::Streamed);
    [
        ("yao", yao),
        ("gmw", options(Scheme::Gmw)),
        ("yao_three_halves", yao.garbling(Garbling::ThreeHalves)),
        ("gmw_masked", options(Scheme::MaskedGmw)),
    ]
}

/// Table 3.
pub fn concepts(effort: &Effort) -> Result<Vec<Cell>, Failure> {
    let mut cells = Vec::new();
    for (column, options) in protocols() {
        let of_column = |(row, ours, how): (&'static str, f64, How)| {
            let unit = row.contains("computation").then_some("blocks");
            Cell { unit, ..FIGURES.cell("3", row, column, ours, how) }
        };
        cells.extend(and(options)?.into_iter().map(of_column));
        let wire = if options.scheme == Scheme::Yao { 8.0 * size_of::<Block>() as f64 } else { 1.0 };
        let rest = [
            ("wire_bits", wire),
            ("input_bits", input(options, Party::Bob)?),
            ("input_bits_evaluator", input(options, Party::Alice)?),
        ];
        cells.extend(rest.map(|(row, ours)| of_column((row, ours, How::Exact))));
    }
    effort.console.note("AES blocks were counted in runs, all else follows from lengths");
    cells.sort_by_key(|cell| ROWS.iter().position(|row| *row == cell.row));
    Ok(cells)
}

/// The rows of Table 3.
const ROWS: [&str; 9] = [
    "setup_computation",
    "setup_bits_each_way",
    "online_computation_garbler",
    "online_computation_evaluator",
    "online_bits_bob_to_alice",
    "online_bits_alice_to_bob",
    "wire_bits",
    "input_bits",
    "input_bits_evaluator",
];

/// What more lanes of SHA-256 take, for each AND that they have more.
fn and(options: Options) -> Result<Vec<(&'static str, f64, How)>, Failure> {
    let of_lanes = |lanes| -> Result<(Cost, [[u64; 2]; 2]), Failure> {
        let timed = Timed::new("block:sha256_compress", lanes, options)?;
        Ok((timed.trial().cost()?, timed.blocks()?))
    };
    let ((less, few), (more, many)) = (of_lanes(16)?, of_lanes(48)?);
    let ands = (more.ands - less.ands) as f64;
    let bits = |of: fn(&Cost) -> u64| 8.0 * (of(&more) as f64 - of(&less) as f64) / ands;
    let blocks = |phase: usize, party: Party| {
        let of = |counted: [[u64; 2]; 2]| counted[party as usize][phase] as f64;
        (of(many) - of(few)) / ands
    };
    let both_ways = |traffic: &Traffic| traffic.alice_to_bob + traffic.bob_to_alice;
    let each_way = 8.0 * (both_ways(&more.setup) as f64 - both_ways(&less.setup) as f64) / ands / 2.0;
    Ok(vec![
        ("setup_computation", (blocks(0, Party::Alice) + blocks(0, Party::Bob)) / 2.0, How::Measured),
        ("setup_bits_each_way", each_way, How::Exact),
        ("online_computation_garbler", blocks(1, Party::Bob), How::Measured),
        ("online_computation_evaluator", blocks(1, Party::Alice), How::Measured),
        ("online_bits_bob_to_alice", bits(|cost| cost.online.bob_to_alice), How::Exact),
        ("online_bits_alice_to_bob", bits(|cost| cost.online.alice_to_bob), How::Exact),
    ])
}

/// Bits of both directions and both phases that another bit of a party's takes, without any AND, in hundredths.
fn input(options: Options, owner: Party) -> Result<f64, Failure> {
    let sent = |width| -> Result<f64, Failure> {
        let program = Program::of_circuit(&parity(width), &[owner.into()]);
        Ok(8.0 * bytes(&Trial::new(&program, &[("lanes", LANES)], options)?.cost()?) as f64)
    };
    let each = (sent(512)? - sent(256)?) / (LANES as f64 * 256.0);
    // Never -0.
    Ok((100.0 * each).round() / 100.0 + 0.0)
}

const LANES: u64 = 64;

/// The sum of all bits modulo 2.
fn parity(width: u32) -> Circuit {
    let mut c = Builder::new("parity");
    let bits = c.bits("bits", width);
    let sum = bits.0.iter().copied().reduce(|sum, bit| c.xor(sum, bit));
    c.output("sum", &Bits(sum.into_iter().collect()));
    c.finish()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::io::console::Console;

    /// What is known of the protocols: half-gates send two blocks for an AND, three halves one and a half and eight bits; GMW
    /// two bits each way, masked GMW one. Shares of inputs, and labels of the garbler's where it streams, come of seeds that both
    /// have.
    #[test]
    fn lengths_are_those_of_the_constructions() {
        let effort = Effort { quick: true, row: None, console: &Console::new(true, false) };
        let cells = concepts(&effort).unwrap();
        let ours = |row: &str, column: &str| {
            cells.iter().find(|cell| cell.row == row && cell.column == column).map(|cell| cell.ours).unwrap()
        };
        let row = |row: &str| ["yao", "gmw", "yao_three_halves", "gmw_masked"].map(|column| ours(row, column));
        let near =
            |row: [f64; 4], known: [f64; 4]| row.iter().zip(known).all(|(ours, known)| (ours - known).abs() < 0.1);
        ROWS.iter().for_each(|name| println!("{name}: {:?}", row(name)));
        assert!(near(row("online_bits_bob_to_alice"), [256.0, 2.0, 200.0, 1.0]));
        assert!(near(row("online_bits_alice_to_bob"), [0.0, 2.0, 0.0, 1.0]));
        assert!(near(row("online_computation_garbler"), [4.0, 0.0, 6.0, 0.0]));
        assert!(near(row("online_computation_evaluator"), [2.0, 0.0, 3.0, 0.0]));
        assert_eq!((row("wire_bits"), row("input_bits")), ([128.0, 1.0, 128.0, 1.0], [0.0, 0.0, 0.0, 1.0]));
        assert_eq!(cells.len(), 4 * ROWS.len());
        for row in &ROWS[..8] {
            assert!(["yao", "gmw"].iter().all(|column| FIGURES.of("3", row, column).is_some()), "{row}");
        }
    }
}

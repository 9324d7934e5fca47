//! Tables 1 and 2: the elements of a run of Yao.

use super::{FIGURES, LINE, Subject, together};
use crate::failure::Failure;
use crate::grain::{Speedup, Times, Work};
use crate::verbs::bench::engines::case;
use crate::verbs::reproduce::timed::{PROTOCOLS, Timed, measured_or_computed};
use crate::verbs::reproduce::{Cell, Effort, How};
use duologue::channel::Link;
use duologue::correlation::Demand;
use duologue::ot::Extension;
use duologue::terms::{Garbling, Timing};
use duologue::{Options, Party, Scheme, bench};
use std::time::Duration;

/// A way of the paper by its column, and what the simulation has of it; one without is of one thread.
type Way = (&'static str, Option<fn(&Speedup) -> f64>);

const WAYS: [Way; 5] = [
    ("s", None),
    ("huang", None),
    ("fg", Some(|speedup| speedup.fine)),
    ("cg", Some(|speedup| speedup.coarse)),
    ("cg+fg", Some(|speedup| speedup.both)),
];

/// The paper's cores.
const CORES: u32 = 8;

const PHASES: [&str; 6] =
    ["garbling", "ot_precomputation", "table_tx", "bobs_secret_tx", "alices_secret_tx", "evaluation"];

/// The last two but one, of which ours travel together.
const SECRETS: [&str; 2] = ["bobs_secret_tx", "alices_secret_tx"];

/// The columns that a table of the paper has.
fn ways(table: &str) -> impl Iterator<Item = Way> {
    WAYS.into_iter().filter(move |way| PHASES.iter().any(|row| FIGURES.of(table, row, way.0).is_some()))
}

pub fn rows(table: &str, subject: &Subject, effort: &Effort) -> Result<Vec<Cell>, Failure> {
    let timed = Timed::new(&subject.program(Scheme::Yao), subject.size, ahead(Scheme::Yao))?;
    let mut cells = Vec::new();
    cells.extend(computing(table, &timed)?);
    cells.extend(travelling(table, subject, &timed)?);
    for (name, scheme) in PROTOCOLS {
        let row = format!("whole/{name}");
        if effort.wants(&row) {
            cells.extend(whole(table, subject, (&row, scheme), effort)?);
        }
    }
    Ok(cells)
}

/// All that can comes before inputs; half-gates, as the paper's row reduction has it at best.
pub fn ahead(scheme: Scheme) -> Options {
    Options::new(scheme).garbling(Garbling::HalfGates).timing(Timing::Ahead)
}

/// Garbling and evaluating, by one thread, by two, and as simulated for the paper's cores.
fn computing(table: &str, timed: &Timed) -> Result<Vec<Cell>, Failure> {
    let work = Work::new(timed.binding())?;
    let speedup = work.speedup(CORES, &Times::measured(work.lanes()));
    let (one, two) = (alone(timed, 1)?, alone(timed, 2)?);
    let mut cells = Vec::new();
    for (index, row) in ["garbling", "evaluation"].into_iter().enumerate() {
        for (column, gain) in ways(table) {
            let (ours, how) = match gain {
                None => (one[index], How::Measured),
                Some(gain) => (one[index] / gain(&speedup), How::Simulated),
            };
            cells.push(FIGURES.cell(table, row, column, ours, how));
        }
        cells.push(FIGURES.cell(table, row, "two_threads", two[index], How::Measured));
    }
    Ok(cells)
}

/// Seconds in which each party computes by itself, the garbler's first: medians. Outputs are those in the clear.
fn alone(timed: &Timed, threads: usize) -> Result<[f64; 2], Failure> {
    let binding = timed.binding();
    let (inputs, workers) = (case::all_inputs(binding), bench::Workers { count: threads, place: |_| {} });
    let runs = bench::cold(binding, &Options::new(Scheme::Yao).garbling(Garbling::HalfGates), &inputs, workers, RUNS)?;
    case::check(binding, runs.iter().flat_map(|run| &run.outputs))?;
    let median = |of: &dyn Fn(&bench::Alone) -> Duration| {
        let mut times: Vec<Duration> = runs.iter().map(of).collect();
        times.sort();
        times[times.len() / 2].as_secs_f64()
    };
    Ok([median(&|run| run.times[run.garbler as usize]), median(&|run| run.times[run.garbler.peer() as usize])])
}

const RUNS: usize = 5;

/// OTs ahead of time, and what travels: tables by their number, secrets by the bytes of the online phase.
fn travelling(table: &str, subject: &Subject, timed: &Timed) -> Result<Vec<Cell>, Failure> {
    let line: Link = LINE.parse()?;
    let cost = timed.cost(&line)?;
    let tables = line.bits_per_second.map_or(0.0, |rate| cost.ands as f64 * TABLE_BITS / rate as f64);
    let secrets = timed.computed(&line, &Default::default())?.online.as_secs_f64();
    let ots = precomputation(subject.choices)?;
    let mut cells = Vec::new();
    for (column, _) in ways(table) {
        cells.push(FIGURES.cell(table, "ot_precomputation", column, ots, How::Measured));
        cells.push(FIGURES.cell(table, "table_tx", column, tables, How::Computed));
        let paper = together(table, &SECRETS, column);
        cells.push(Cell { paper, ..FIGURES.cell(table, "secrets_tx", column, secrets, How::Computed) });
    }
    Ok(cells)
}

/// Two labels of 128 bits.
const TABLE_BITS: f64 = 256.0;

/// So many OTs' share of a block of them.
fn precomputation(choices: u64) -> Result<f64, Failure> {
    let workers = bench::Workers { count: 1, place: |_| {} };
    let runs = bench::correlating(Extension::DEFAULT, Demand::of_cots(Party::Bob, BLOCK), 1, workers, 3)?;
    let least = runs.iter().map(|run| run.time).min().unwrap_or_default();
    Ok(least.as_secs_f64() * choices as f64 / BLOCK as f64)
}

const BLOCK: u64 = 1 << 19;

/// A run over the line.
fn whole(table: &str, subject: &Subject, (row, scheme): (&str, Scheme), effort: &Effort) -> Result<Vec<Cell>, Failure> {
    let timed = Timed::new(&subject.program(scheme), subject.size, Options::new(scheme).garbling(Garbling::HalfGates))?;
    let measure = !effort.quick || scheme == Scheme::Yao;
    let (phases, how) = measured_or_computed(&timed, &LINE.parse()?, &timed.run(None)?, measure)?;
    let of_one_thread = ways(table).filter(|way| way.1.is_none());
    let cells = of_one_thread.map(|(column, _)| {
        let paper = together(table, &PHASES, column);
        Cell { paper, ..FIGURES.cell(table, row, column, phases.overall.as_secs_f64(), how) }
    });
    Ok(cells.collect())
}

//! `duologue cost --cores`: what several cores would make of a program, by simulation.

use super::title;
use crate::args::Grain;
use crate::failure::Failure;
use crate::grain::{Gates, Speedup, Times, Work};
use crate::io::console::{count, seconds, table, thousands};
use crate::io::sizes;
use duologue::circuit::Binding;
use serde::Serialize;
use std::collections::BTreeMap;
use std::fmt;

#[derive(Serialize)]
pub(super) struct CoresReport {
    program: String,
    sizes: BTreeMap<String, u64>,
    gates: Gates,
    /// Nanoseconds, and the least that is shared out.
    times: Times,
    /// Of one core.
    seconds: f64,
    speedups: Vec<Speedup>,
}

impl CoresReport {
    pub fn new(binding: &Binding, args: &Grain) -> Result<CoresReport, Failure> {
        let work = Work::new(binding)?;
        let times = args.times(work.lanes());
        Ok(CoresReport {
            program: binding.program().name().to_string(),
            sizes: sizes::map(binding),
            gates: work.gates(),
            times,
            seconds: work.serial(&times) / 1e9,
            speedups: args.cores.iter().map(|&cores| work.speedup(cores, &times)).collect(),
        })
    }
}

impl Grain {
    /// What is given, and else what was measured for maps of so many lanes.
    fn times(&self, lanes: u64) -> Times {
        let measured = Times::measured(lanes);
        Times {
            and: self.and.unwrap_or(measured.and),
            xor: self.xor.unwrap_or(measured.xor),
            label: self.label.unwrap_or(measured.label),
            barrier: self.barrier.unwrap_or(measured.barrier),
            piece: self.piece.unwrap_or(measured.piece),
            part: self.part.unwrap_or(measured.part),
        }
    }
}

const HEAD: [&str; 8] = ["cores", "fine", "coarse", "both", "bound", "shared", "ANDs from", "XORs from"];

fn row(speedup: &Speedup) -> Vec<String> {
    let from = |gates: Option<u64>| gates.map_or("never".into(), thousands);
    let times = [speedup.fine, speedup.coarse, speedup.both, speedup.bound].map(|times| format!("{times:.2}"));
    let shared = format!("{:.0} %", 100.0 * speedup.shared);
    let rest = [shared, from(speedup.ands_from), from(speedup.xors_from)];
    [speedup.cores.to_string()].into_iter().chain(times).chain(rest).collect()
}

impl fmt::Display for CoresReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Gates { ands, xors, layers, median, widest } = self.gates;
        let Times { and, xor, label, barrier, piece, part } = self.times;
        writeln!(f, "{}\n", title(&self.program, &self.sizes))?;
        writeln!(
            f,
            "  {} in {}, of {} where the median AND is, {} at most; {}",
            count(ands, "AND"),
            count(layers, "layer"),
            thousands(median),
            thousands(widest),
            count(xors, "XOR")
        )?;
        writeln!(f, "  garbled in {} by one core, at {and} ns an AND and {xor} ns an XOR\n", seconds(self.seconds))?;
        let head = HEAD.map(String::from).to_vec();
        let rows: Vec<_> = [head].into_iter().chain(self.speedups.iter().map(row)).collect();
        writeln!(f, "{}", table("rrrrrrrr", &rows))?;
        writeln!(
            f,
            "How many times as fast as one core, by simulation: {label} ns for 16 bytes of another core, {} for a barrier of two",
            seconds(barrier / 1e9)
        )?;
        writeln!(
            f,
            "cores, layers shared out by {piece} gates and maps by {part} lanes. Shared: the part of one core's time in layers that"
        )?;
        writeln!(f, "fine grain shares out; from: gates of a layer from which on that pays.")
    }
}

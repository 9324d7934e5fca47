//! The figures, for people and for programs.

use super::figures::{Figure, Plan, Value};
use super::party::{Measured, Run};
use crate::conventions::ENGINES;
use crate::io::console::table;
use crate::verbs::bench::machine::{Machine, median};
use duologue::Garbling;
use serde::Serialize;
use std::collections::BTreeMap;
use std::fmt;

/// Measurements by the names of the jobs.
pub type Taken = BTreeMap<&'static str, Measured>;

/// Everything that was measured.
#[derive(Serialize)]
pub struct EngineReport {
    #[serde(flatten)]
    pub machine: Machine,
    /// Whether lanes were cut to a hundredth.
    pub quick: bool,
    /// How ANDs were garbled.
    pub garbling: String,
    pub figures: Vec<FigureRow>,
}

/// A figure.
#[derive(Serialize)]
pub struct FigureRow {
    pub name: &'static str,
    pub value: f64,
    pub unit: &'static str,
    /// Over R.
    pub ratio: Option<f64>,
    pub goal: &'static str,
    /// Over the same in memory.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub of_memory: Option<f64>,
    /// Over the lower of the engine alone (of a mover, in the same role) and of the channel alone, and those in ANDs a
    /// second.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub of_possible: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub engine: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub channel: Option<f64>,
    /// ANDs of a run.
    pub ands: u64,
    /// The value of each run.
    pub runs: Vec<f64>,
}

impl EngineReport {
    pub fn new(plan: &Plan, taken: &Taken, machine: Machine, quick: bool) -> EngineReport {
        let blocks = machine.openssl_blocks_per_second;
        let line = |figure| FigureRow::new(figure, taken, plan.garbling, blocks);
        let figures = plan.figures.iter().filter_map(|figure| line(figure)).collect();
        EngineReport { machine, quick, garbling: plan.garbling.to_string(), figures }
    }
}

impl FigureRow {
    /// Nothing if this system does not tell.
    fn new(figure: &Figure, taken: &Taken, garbling: Garbling, blocks: Option<f64>) -> Option<FigureRow> {
        let measured: Vec<&Measured> = figure.jobs.iter().filter_map(|name| taken.get(name)).collect();
        let first = measured.first()?;
        let runs: Vec<f64> = match figure.value {
            Value::Memory => vec![measured.iter().map(|m| m.memory).max()?? as f64 / 1e6],
            Value::GainSetup | Value::GainOnline | Value::Gain => gains(figure.value, first, measured.get(1)?),
            value => first.runs.iter().map(|run| counted(value, first, run)).collect(),
        };
        let value = median(runs.clone());
        let rate = |value, name| taken.get(name).map(|measured| rate(value, measured));
        let bare =
            |channel| rate(Value::Throughput, channel).map(|gigabytes| gigabytes * 1e9 / garbling.table() as f64);
        let [memory, engine, channel] = match *figure.beside {
            [alone, channel] => [None, rate(figure.value, alone), bare(channel)],
            [memory, alone, channel] => [
                rate(Value::Whole, memory),
                rate(Value::Setup, alone)
                    .zip(rate(Value::Online, alone))
                    .map(|(garble, evaluate)| garble.min(evaluate)),
                bare(channel),
            ],
            _ => [None; 3],
        };
        Some(FigureRow {
            name: figure.name,
            value,
            unit: figure.value.unit(),
            ratio: blocks.filter(|_| figure.value.unit() == "AND/s").map(|blocks| value / blocks),
            goal: figure.goal,
            of_memory: memory.map(|memory| value / memory),
            of_possible: engine.zip(channel).map(|(engine, channel)| value / engine.min(channel)),
            engine,
            channel,
            ands: first.ands,
            runs,
        })
    }

    fn row(&self) -> Vec<String> {
        let part = |number: Option<f64>| number.map_or(String::new(), |number| format!("{number:.2}"));
        vec![
            self.name.to_string(),
            self.amount(),
            self.ratio.map_or(String::new(), |ratio| format!("{ratio:.3} R")),
            self.goal.to_string(),
            part(self.of_memory),
            part(self.of_possible),
            self.engine.map_or(String::new(), millions),
            self.channel.map_or(String::new(), millions),
        ]
    }

    fn amount(&self) -> String {
        match self.unit {
            "AND/s" => millions(self.value),
            "µs" | "MB" => format!("{:.0} {}", self.value, self.unit),
            unit => format!("{:.2} {unit}", self.value),
        }
    }
}

/// The median over the runs.
fn rate(value: Value, measured: &Measured) -> f64 {
    median(measured.runs.iter().map(|run| counted(value, measured, run)).collect())
}

fn counted(value: Value, measured: &Measured, run: &Run) -> f64 {
    let ands = |seconds: f64| measured.ands as f64 / seconds.max(1e-9);
    match value {
        Value::Setup => ands(run.setup),
        Value::Online => ands(run.online),
        Value::Whole => ands(run.setup + run.online),
        Value::Microseconds => run.call * 1e6,
        Value::Milliseconds => run.online * 1e3,
        Value::Throughput => run.online_bytes.iter().sum::<u64>() as f64 / run.online.max(1e-9) / 1e9,
        Value::Memory => measured.memory.unwrap_or(0) as f64 / 1e6,
        Value::GainSetup | Value::GainOnline | Value::Gain => 0.0,
    }
}

/// The speed of each run against the median of the others.
fn gains(value: Value, measured: &Measured, others: &Measured) -> Vec<f64> {
    let gain = |value, run| counted(value, measured, run) / rate(value, others);
    let gains = |run| match value {
        Value::GainSetup => gain(Value::Setup, run),
        Value::GainOnline => gain(Value::Online, run),
        _ => gain(Value::Setup, run).min(gain(Value::Online, run)),
    };
    measured.runs.iter().map(gains).collect()
}

pub fn millions(number: f64) -> String {
    format!("{:.1} M/s", number / 1e6)
}

/// The heading of the table.
const HEAD: [&str; 8] = ["FIGURE", "value", "in R", "goal", "of memory", "of what could be", "engine", "channel"];

impl EngineReport {
    /// Rows without the heading.
    fn rows(&self) -> Vec<Vec<String>> {
        self.figures.iter().map(FigureRow::row).collect()
    }
}

impl fmt::Display for EngineReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{}", self.machine)?;
        if self.quick {
            writeln!(f, "a hundredth of the lanes: of no use but to try the command out\n")?;
        }
        let rows: Vec<Vec<String>> = [HEAD.map(String::from).to_vec()].into_iter().chain(self.rows()).collect();
        writeln!(f, "{}\n{ENGINES}", table("lrrlrrrr", &rows))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::verbs::bench::engines::figures::FIGURES;

    fn measured(setup: f64, online: f64) -> Measured {
        let run = Run { setup, online, call: 2e-4, online_bytes: [0, 1 << 30], ..Run::default() };
        Measured { ands: 1000, runs: vec![run; 3], memory: Some(50_000_000), ..Measured::default() }
    }

    #[test]
    fn a_figure_is_compared() {
        let taken: Taken = [
            ("yao_alone", measured(1.0, 0.5)),
            ("yao_cold", measured(1.0, 0.5)),
            ("yao_cold2", measured(0.5, 0.4)),
            ("yao_memory", measured(0.5, 1.5)),
            ("channel_tcp", measured(0.0, 1.0)),
            ("channel_sink", measured(0.0, 1.0)),
            ("channel_replay", measured(0.0, 1.0)),
            ("yao_mover", measured(2.0, 2.0)),
            ("yao_tcp", measured(1.0, 3.0)),
        ]
        .into();
        let line = |name| {
            let figure = FIGURES.iter().find(|figure| figure.name == name).expect("a figure");
            FigureRow::new(figure, &taken, Garbling::HalfGates, Some(4000.0)).expect("measured")
        };
        assert_eq!((line("garble").value, line("garble").ratio), (1000.0, Some(0.25)));
        assert_eq!(line("evaluate").value, 2000.0);
        let gains = ["threads2_garble", "threads2_evaluate", "threads2"].map(|name| line(name).value);
        assert_eq!(gains, [2.0, 1.25, 1.25]);
        let mover = ["mover_garble", "mover_evaluate"].map(line);
        assert_eq!(mover[0].engine, Some(1000.0));
        assert_eq!(mover.map(|mover| mover.of_possible), [Some(0.5), Some(0.25)]);
        let tcp = line("yao_tcp");
        assert_eq!((tcp.value, tcp.of_memory, tcp.of_possible), (250.0, Some(0.5), Some(0.25)));
        assert_eq!(tcp.channel, Some((1u64 << 30) as f64 / 32.0));
        let channel = line("channel_tcp");
        assert_eq!((channel.value, channel.ratio), ((1u64 << 30) as f64 / 1e9, None));
    }
}

//! Measurements, for people and for programs.

use super::figures::{BASE, Best, Figure, Plan};
use super::party::{Measured, Run};
use crate::args::BenchCorrelations;
use crate::conventions::CORRELATIONS;
use crate::io::console::{bytes, seconds, table};
use crate::verbs::bench::machine::{self, Machine};
use serde::Serialize;
use std::fmt;

/// Everything that was measured.
#[derive(Serialize)]
pub struct CorrelationReport {
    #[serde(flatten)]
    pub machine: Machine,
    /// The simulated line, if there is one.
    pub link: Option<String>,
    pub tls: bool,
    pub figures: Vec<MakerRow>,
}

/// A figure.
#[derive(Clone, Serialize)]
pub struct MakerRow {
    pub name: String,
    pub value: f64,
    pub unit: &'static str,
    /// The value over R.
    pub ratio: Option<f64>,
    /// Bits of each correlation, in both directions together.
    pub bits: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub maker: Option<String>,
    /// Until the first batch is there.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub setup_ms: Option<f64>,
    /// Bytes that a party's process had at most.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub memory: Option<u64>,
    /// The value of each run.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub runs: Vec<f64>,
}

impl CorrelationReport {
    pub fn new(
        args: &BenchCorrelations,
        plan: &Plan,
        measured: &[(Figure, Measured)],
        base: Option<[f64; 2]>,
        machine: Machine,
    ) -> CorrelationReport {
        let blocks = machine.openssl_blocks_per_second;
        let mut figures: Vec<MakerRow> =
            measured.iter().map(|(figure, measured)| MakerRow::new(*figure, measured, blocks)).collect();
        let best: Vec<MakerRow> = plan.best.iter().filter_map(|best| fastest(best, &figures)).collect();
        figures.extend(best);
        figures.extend(
            BASE.into_iter().zip(base.into_iter().flatten()).map(|(name, value)| MakerRow::milliseconds(name, value)),
        );
        CorrelationReport {
            machine,
            link: args.link.map(|link| link.to_string()),
            tls: args.tls || args.peer.peer_key.is_some(),
            figures,
        }
    }
}

/// The best under its own name.
fn fastest(best: &Best, figures: &[MakerRow]) -> Option<MakerRow> {
    let candidates = figures.iter().filter(|line| best.of.contains(&&*line.name));
    let fastest = candidates.max_by(|a, b| a.value.total_cmp(&b.value))?;
    Some(MakerRow { name: best.name.into(), ..fastest.clone() })
}

impl MakerRow {
    fn new(figure: Figure, measured: &Measured, blocks: Option<f64>) -> MakerRow {
        let value = speed(&measured.runs);
        MakerRow {
            name: figure.name(),
            value,
            unit: figure.kind.unit(),
            ratio: blocks.map(|blocks| value / blocks),
            bits: Some(bits(&measured.runs)),
            maker: Some(figure.maker.to_string()),
            setup_ms: Some(measured.setup * 1e3),
            memory: measured.memory,
            runs: measured.runs.iter().map(rate).collect(),
        }
    }

    fn milliseconds(name: &str, value: f64) -> MakerRow {
        let name = name.to_string();
        MakerRow {
            name,
            value,
            unit: "ms",
            ratio: None,
            bits: None,
            maker: None,
            setup_ms: None,
            memory: None,
            runs: vec![],
        }
    }

    fn row(&self) -> Vec<String> {
        let figure = |number: Option<f64>, digits| number.map_or(String::new(), |n| format!("{n:.digits$}"));
        let value = if self.unit == "ms" { format!("{:.2} ms", self.value) } else { millions(self.value) };
        vec![
            self.name.clone(),
            self.maker.clone().unwrap_or_default(),
            value,
            figure(self.ratio, 3),
            figure(self.bits, 2),
            self.setup_ms.map_or(String::new(), |ms| seconds(ms / 1e3)),
            self.memory.map_or(String::new(), bytes),
        ]
    }
}

/// Correlations a second: the median of the runs.
fn speed(runs: &[Run]) -> f64 {
    machine::median(runs.iter().map(rate).collect())
}

fn rate(run: &Run) -> f64 {
    run.made as f64 / run.seconds.max(1e-9)
}

fn bits(runs: &[Run]) -> f64 {
    let sum = |part: fn(&Run) -> u64| runs.iter().map(part).sum::<u64>() as f64;
    8.0 * sum(|run| run.bytes) / sum(|run| run.made)
}

fn millions(number: f64) -> String {
    format!("{:.1} M/s", number / 1e6)
}

impl fmt::Display for CorrelationReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{}", self.machine)?;
        let line = self.link.as_ref().map_or("no simulated line".to_string(), |link| format!("a line of {link}"));
        writeln!(f, "{}, {line}\n", if self.tls { "TLS" } else { "TCP without encryption" })?;
        let head = ["FIGURE", "maker", "speed", "in R", "bits", "setup", "memory"].map(String::from).to_vec();
        let rows: Vec<Vec<String>> = [head].into_iter().chain(self.figures.iter().map(MakerRow::row)).collect();
        writeln!(f, "{}\n{CORRELATIONS}", table("llrrrrr", &rows))
    }
}

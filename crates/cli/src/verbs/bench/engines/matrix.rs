//! Circuits × protocols × lanes × threads × lines.

use super::case::{Case, Task};
use super::party::{Measured, Run};
use super::report::millions;
use crate::args::BenchEngines;
use crate::conventions::CIRCUITS;
use crate::failure::Failure;
use crate::io::console::{Console, bytes, seconds, table, thousands};
use crate::verbs::bench::machine::{self, Machine, median};
use duologue::channel::Link;
use duologue::{Garbling, Scheme, cost};
use serde::Serialize;
use std::fmt;

/// A circuit by a short name: for Yao the one with fewest ANDs, for GMW the one with fewest layers.
struct Known {
    name: &'static str,
    yao: &'static str,
    gmw: &'static str,
}

const KNOWN: [Known; 6] = [
    Known { name: "aes128", yao: "block:aes128", gmw: "block:aes128:depth" },
    Known { name: "sha256", yao: "block:sha256", gmw: "block:sha256:depth" },
    Known { name: "product512", yao: "block:multiply:512", gmw: "block:multiply:512:depth" },
    Known { name: "argmin", yao: "block:min_index:128x32", gmw: "block:min_index:128x32:depth" },
    Known { name: "scifi", yao: "app:scifi", gmw: "app:scifi" },
    Known { name: "sort", yao: "block:sort_odd_even:64x32x0", gmw: "block:sort_odd_even:64x32x0:depth" },
];

/// The cases to be measured: every combination.
pub struct Asked {
    circuits: Vec<String>,
    protocols: Vec<Scheme>,
    garbling: Garbling,
    lanes: Vec<u64>,
    threads: Vec<u32>,
    links: Vec<Option<Link>>,
    most: u64,
}

impl Asked {
    pub fn of(args: &BenchEngines) -> Asked {
        let named = |circuit: &String| match circuit == "all" {
            true => KNOWN.iter().map(|known| known.name.to_string()).collect(),
            false => vec![circuit.clone()],
        };
        Asked {
            circuits: args.circuits.iter().flat_map(named).collect(),
            protocols: args.protocols.clone(),
            garbling: args.garbling,
            lanes: args.lanes.clone(),
            threads: args.threads.clone(),
            links: args.link.iter().map(|link| link.0).collect(),
            most: args.most,
        }
    }

    fn cases(&self, runs: u32) -> Vec<(&str, Case)> {
        let mut cases = Vec::new();
        for circuit in &self.circuits {
            for (&lanes, &threads) in self.lanes.iter().flat_map(|lanes| self.threads.iter().map(move |t| (lanes, t))) {
                for link in &self.links {
                    for &scheme in &self.protocols {
                        let link = link.map(|link| link.to_string());
                        let case =
                            Case::new(Task::Run { streamed: false }, scheme, program(circuit, scheme), lanes, runs);
                        let garbling = self.garbling.to_string();
                        cases.push((&**circuit, Case { threads, strands: threads, link, garbling, ..case }));
                    }
                }
            }
        }
        cases
    }
}

fn program(circuit: &str, scheme: Scheme) -> &str {
    let known = KNOWN.iter().find(|known| known.name == circuit);
    known.map_or(circuit, |known| if scheme == Scheme::Yao { known.yao } else { known.gmw })
}

/// All combinations that were measured.
#[derive(Serialize)]
pub struct Matrix {
    #[serde(flatten)]
    pub machine: Machine,
    pub cases: Vec<CaseRow>,
    /// Combinations that have too many ANDs.
    pub left_out: Vec<String>,
}

/// One combination. Times are medians of the runs.
#[derive(Serialize)]
pub struct CaseRow {
    pub circuit: String,
    pub program: String,
    pub protocol: String,
    pub lanes: u64,
    pub threads: u32,
    pub link: Option<String>,
    pub ands: u64,
    pub session_ms: f64,
    pub setup_ms: f64,
    pub online_ms: f64,
    /// Bytes of the protocol of a run, in both directions together.
    pub setup_bytes: u64,
    pub online_bytes: u64,
    /// How often Alice turned from sending to receiving online.
    pub rounds: u64,
    /// Bytes that a party's process had at most.
    pub memory: Option<u64>,
    /// ANDs by the time of setup and online together.
    pub ands_per_second: f64,
}

/// Measures every combination that is small enough. What cannot be built is an error before anything is measured.
pub fn measure(
    asked: &Asked,
    runs: u32,
    console: &Console,
    mut measure: impl FnMut(&Case) -> Result<Measured, Failure>,
) -> Result<Matrix, Failure> {
    let (mut cases, mut left_out) = (Vec::new(), Vec::new());
    for (circuit, case) in asked.cases(runs) {
        let ands = ands(&case)?;
        match ands <= asked.most {
            true => cases.push((circuit, case)),
            false => left_out.push(format!("{}: {} ANDs", describe(circuit, &case), thousands(ands))),
        }
    }
    let mut blocks = vec![machine::openssl()];
    let mut lines = Vec::new();
    for (circuit, case) in &cases {
        console.note(describe(circuit, case));
        lines.push(CaseRow::new(circuit, case, &measure(case)?));
    }
    blocks.push(machine::openssl());
    left_out.dedup();
    Ok(Matrix { machine: Machine::new(blocks), cases: lines, left_out })
}

/// Before lanes are multiplied, so that what is far too large is not even scheduled.
fn ands(case: &Case) -> Result<u64, Failure> {
    let few = Case { lanes: case.lanes.min(1 << 10), ..case.clone() };
    let ands = cost::cost_with(&few.bind()?, &case.options(), &apps::calls())?.ands;
    Ok((ands as u128 * u128::from(case.lanes) / u128::from(few.lanes)).try_into().unwrap_or(u64::MAX))
}

fn describe(circuit: &str, case: &Case) -> String {
    let link = case.link.as_ref().map_or(String::new(), |link| format!(", {link}"));
    let threads = if case.threads == 1 { String::new() } else { format!(", {} threads", case.threads) };
    format!("{circuit}, {}, {} lanes{threads}{link}", case.title(), thousands(case.lanes))
}

impl CaseRow {
    fn new(circuit: &str, case: &Case, measured: &Measured) -> CaseRow {
        let middle = |of: fn(&Run) -> f64| median(measured.runs.iter().map(of).collect());
        let bytes = |of: fn(&Run) -> [u64; 2]| middle_bytes(measured, of);
        CaseRow {
            circuit: circuit.into(),
            program: case.program.clone(),
            protocol: case.title(),
            lanes: case.lanes,
            threads: case.threads,
            link: case.link.clone(),
            ands: measured.ands,
            session_ms: measured.session * 1e3,
            setup_ms: middle(|run| run.setup) * 1e3,
            online_ms: middle(|run| run.online) * 1e3,
            setup_bytes: bytes(|run| run.setup_bytes),
            online_bytes: bytes(|run| run.online_bytes),
            rounds: measured.runs.last().map_or(0, |run| run.rounds),
            memory: measured.memory,
            ands_per_second: measured.ands as f64 / middle(|run| run.setup + run.online).max(1e-9),
        }
    }

    fn row(&self) -> Vec<String> {
        vec![
            self.circuit.clone(),
            self.protocol.clone(),
            thousands(self.lanes),
            self.threads.to_string(),
            self.link.clone().unwrap_or_else(|| "none".into()),
            thousands(self.ands),
            seconds(self.session_ms / 1e3),
            seconds(self.setup_ms / 1e3),
            seconds(self.online_ms / 1e3),
            bytes(self.setup_bytes),
            bytes(self.online_bytes),
            self.rounds.to_string(),
            self.memory.map_or(String::new(), bytes),
            millions(self.ands_per_second),
        ]
    }
}

/// Correlations are made in batches, so that not every run makes as many: the mean of the runs.
fn middle_bytes(measured: &Measured, of: fn(&Run) -> [u64; 2]) -> u64 {
    let sum: u64 = measured.runs.iter().flat_map(of).sum();
    sum / measured.runs.len().max(1) as u64
}

/// The heading of the table.
const HEAD: [&str; 14] = [
    "CIRCUIT", "protocol", "lanes", "threads", "link", "ANDs", "session", "setup", "online", "setup", "online",
    "rounds", "memory", "all",
];

impl fmt::Display for Matrix {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{}\n", self.machine)?;
        let rows = [HEAD.map(String::from).to_vec()].into_iter().chain(self.cases.iter().map(CaseRow::row));
        writeln!(f, "{}\n{CIRCUITS}", table("llrrlrrrrrrrrr", &rows.collect::<Vec<_>>()))?;
        for case in &self.left_out {
            writeln!(f, "left out (--most): {case}")?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_known_circuit_is_built() {
        for known in &KNOWN {
            for scheme in Scheme::ALL {
                let case = Case::new(Task::Run { streamed: false }, scheme, program(known.name, scheme), 3, 1);
                assert!(ands(&case).is_ok_and(|ands| ands >= 900 * 3), "{}", known.name);
            }
        }
    }

    #[test]
    fn all_combinations_are_asked_for() {
        let asked = Asked {
            circuits: vec!["product512".into(), "aes128".into()],
            protocols: Scheme::ALL.to_vec(),
            garbling: Garbling::default(),
            lanes: vec![1, 10_000],
            threads: vec![1, 2],
            links: vec![None, Some(Link::LAN)],
            most: 20_000_000,
        };
        let cases = asked.cases(1);
        assert_eq!(cases.len(), 2 * Scheme::ALL.len() * 2 * 2 * 2);
        let large = cases.iter().find(|(name, case)| *name == "product512" && case.lanes == 10_000).expect("a case");
        assert!(ands(&large.1).is_ok_and(|ands| ands > asked.most));
    }
}

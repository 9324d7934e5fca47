//! Tables 4 to 6: applications by phases, over lines of several latencies.

use super::FIGURES;
use crate::failure::Failure;
use crate::verbs::reproduce::timed::{Phases, Timed, measured_or_computed};
use crate::verbs::reproduce::{Cell, Effort};
use duologue::channel::Link;
use duologue::{Options, Scheme};
use std::time::Duration;

/// A program at a size.
pub struct Application {
    /// As the table's columns begin.
    name: &'static str,
    program: &'static str,
    /// The public size.
    size: u64,
    /// What follows in columns, and the line.
    lines: &'static [(&'static str, &'static str)],
    frameworks: &'static [Framework],
}

/// A row of the paper, and the protocol of ours that stands beside it.
type Framework = (&'static str, Scheme);

const LATENCIES: &[(&str, &str)] = &[("/0.2", "0.2ms,1Gbit"), ("/10", "10ms,1Gbit"), ("/100", "100ms,1Gbit")];
const NEAR_AND_FAR: &[(&str, &str)] = &[LATENCIES[0], LATENCIES[2]];
const LAN: &[(&str, &str)] = &[("/lan", "0.2ms,1Gbit")];
const NO_NAME: &[(&str, &str)] = &[("", "0.2ms,1Gbit")];

const GMW: Scheme = Scheme::Gmw;

#[cfg(test)]
impl Application {
    /// `row/phase column` of every cell that could be there.
    pub fn columns(&self) -> Vec<String> {
        let rows = self.frameworks.iter().flat_map(|(row, _)| Phases::NAMES.map(|phase| format!("{row}/{phase}")));
        let cells = |row: String| self.lines.iter().map(move |(line, _)| format!("{row} {}{line}", self.name));
        rows.flat_map(cells).collect()
    }
}

pub const SOCIAL: &[Application] = &[social("size", "app:social:255:size"), social("depth", "app:social:255:depth")];

const fn social(name: &'static str, program: &'static str) -> Application {
    Application { name, program, size: 128, lines: LATENCIES, frameworks: &[("choi", GMW), ("zohner", GMW)] }
}

pub const EIGENFACES: &[Application] = &[eigenfaces("320", 320), eigenfaces("1000", 1_000)];

const fn eigenfaces(name: &'static str, size: u64) -> Application {
    let frameworks = &[("erkin", GMW), ("henecka", GMW), ("sadeghi", GMW), ("zohner", GMW)];
    Application { name, program: "app:eigenfaces:10304:depth", size, lines: NO_NAME, frameworks }
}

pub const SCIFI: &[Application] = &[
    scifi("100", 100, LAN, &[("osadchy", GMW)]),
    scifi("100", 100, NEAR_AND_FAR, BOTH),
    scifi("320", 320, NEAR_AND_FAR, BOTH),
    scifi("50000", 50_000, NEAR_AND_FAR, &[("zohner", GMW)]),
];

const BOTH: &[Framework] = &[("huang", Scheme::Yao), ("zohner", GMW)];

const fn scifi(
    name: &'static str,
    size: u64,
    lines: &'static [(&'static str, &'static str)],
    frameworks: &'static [Framework],
) -> Application {
    Application { name, program: "app:scifi:900", size, lines, frameworks }
}

/// All cells of a table that the paper has, each protocol run once for all rows that it stands beside.
pub fn times(table: &str, applications: &[Application], effort: &Effort) -> Result<Vec<Cell>, Failure> {
    let mut cells = Vec::new();
    for application in applications {
        for scheme in [GMW, Scheme::Yao] {
            let beside = |framework: &&Framework| framework.1 == scheme && wants(effort, framework.0);
            let rows: Vec<&str> = application.frameworks.iter().filter(beside).map(|framework| framework.0).collect();
            if !rows.is_empty() {
                cells.extend(beside_rows(table, application, scheme, &rows, effort)?);
            }
        }
    }
    Ok(cells)
}

fn wants(effort: &Effort, framework: &str) -> bool {
    Phases::NAMES.iter().any(|phase| effort.wants(&format!("{framework}/{phase}")))
}

fn beside_rows(
    table: &str,
    application: &Application,
    scheme: Scheme,
    rows: &[&str],
    effort: &Effort,
) -> Result<Vec<Cell>, Failure> {
    let Application { name, program, size, lines, .. } = application;
    let timed = Timed::new(program, *size, Options::new(scheme))?;
    let computing = timed.run(None)?;
    let mut cells = Vec::new();
    for (index, (latency, line)) in lines.iter().enumerate() {
        let (column, line): (_, Link) = (format!("{name}{latency}"), line.parse()?);
        let measure = !effort.quick || table == "4" && index == 0 && *name == "size";
        let (phases, how) = measured_or_computed(&timed, &line, &computing, measure)?;
        effort.console.note(format!("{column}, {scheme}: {:.3} s in all", phases.overall.as_secs_f64()));
        for row in rows {
            let named = phases.named().into_iter().map(|(phase, time)| (format!("{row}/{phase}"), time));
            let has = |(row, _): &(String, Duration)| FIGURES.of(table, row, &column).is_some();
            cells.extend(
                named.filter(has).map(|(row, time)| FIGURES.cell(table, &row, &column, time.as_secs_f64(), how)),
            );
        }
    }
    Ok(cells)
}

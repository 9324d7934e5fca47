//! Figures 4 and 6: phases by threads.

use super::elements::ahead;
use super::{FIGURES, LINE, Subject};
use crate::failure::Failure;
use crate::grain::{Times, Work};
use crate::verbs::reproduce::timed::{PROTOCOLS, Phases, Timed, measured_or_computed};
use crate::verbs::reproduce::{Cell, Effort, How};
use duologue::Scheme;
use duologue::channel::Link;

/// Threads beyond those that are measured.
const SIMULATED: [u32; 3] = [4, 8, 16];

pub fn rows(table: &str, subject: &Subject, effort: &Effort) -> Result<Vec<Cell>, Failure> {
    let mut cells = Vec::new();
    for (name, scheme) in PROTOCOLS {
        let rows = ["offline", "online", "total", "online_each"].map(|phase| format!("{name}/{phase}"));
        if rows.iter().any(|row| effort.wants(row)) {
            cells.extend(by_threads(&Rows { table, subject, name }, scheme, effort)?);
        }
    }
    Ok(cells)
}

/// The rows of a protocol in a figure.
struct Rows<'a> {
    table: &'a str,
    subject: &'a Subject,
    name: &'a str,
}

fn by_threads(rows: &Rows, scheme: Scheme, effort: &Effort) -> Result<Vec<Cell>, Failure> {
    let subject = rows.subject;
    let line: Link = LINE.parse()?;
    let timed = Timed::new(&subject.program(scheme), subject.size, ahead(scheme))?;
    let one = timed.run(None)?;
    // One run is short enough for a minute.
    let measure = !effort.quick || scheme == Scheme::MaskedGmw;
    let (phases, how) = measured_or_computed(&timed, &line, &one, measure)?;
    effort.console.note(format!("{}, {}: {:.2} s in all", subject.name, rows.name, phases.overall.as_secs_f64()));
    let mut cells = rows.beside(1, &phases, how);
    let timed = timed.threads(2);
    let two = timed.computed(&line, &timed.run(None)?)?;
    cells.extend(rows.beside(2, &two, How::Computed));
    // What is simulated is garbling.
    if scheme == Scheme::Yao {
        let work = Work::new(timed.binding())?;
        for threads in SIMULATED {
            let gain = work.speedup(threads, &Times::measured(work.lanes())).coarse;
            let phases = timed.computed(&line, &one.faster(gain))?;
            cells.extend(rows.beside(threads, &phases, How::Simulated));
        }
    }
    Ok(cells)
}

impl Rows<'_> {
    /// What so many threads take.
    fn beside(&self, threads: u32, phases: &Phases, how: How) -> Vec<Cell> {
        let [offline, online] = [phases.setup, phases.online].map(|time| time.as_secs_f64());
        let of = |phase: &str, ours| {
            FIGURES.cell(self.table, &format!("{}/{phase}", self.name), &threads.to_string(), ours, how)
        };
        let mut cells = vec![of("offline", offline), of("online", online), of("total", offline + online)];
        if self.subject.each {
            cells.push(Cell { unit: Some("ms"), ..of("online_each", 1e3 * online / self.subject.size as f64) });
        }
        cells
    }
}

//! `duologue reproduce auto`: whether the protocol that `--protocol auto` takes is the best, by running it beside the
//! candidates that are predicted to be best.
//!
//! A cell is a program at a size over a simulated line. Both parties are in this process, a thread each, and meet over TCP; a
//! run is timed from connecting to closing. Drafts of candidates are made before, as the command makes them before it looks
//! for the peer. Runs of a cell take turns, so that a machine that is slow for a while is so for all.

use super::trial::{over_tcp, zeros};
use super::{Effort, date};
use crate::failure::Failure;
use crate::io::console::{self, seconds};
use crate::program;
use crate::verbs::bench::machine;
use crate::verbs::candidates::{Candidates, Predicted};
use duologue::channel::{Channel, Link};
use duologue::circuit::{Binding, Program};
use duologue::cost::choice::{Candidate, Wish};
use duologue::session::Ranking;
use duologue::{Conditions, Options, Party, Scheme, Session};
use serde::{Deserialize, Serialize};
use std::fmt;
use std::time::{Duration, Instant, SystemTime};

/// The programs, each with the number that all of its sizes have.
const PROGRAMS: [(&str, u64); 10] = [
    ("block:add:64", 1),
    ("block:aes128", 1),
    ("block:multiply:64", 100),
    ("block:aes128", 100),
    ("block:sha256:64", 10),
    ("app:scifi", 320),
    ("app:social", 128),
    ("app:proximity_haversine:64", 100),
    ("app:eigenfaces:256", 100),
    ("block:aes128", 4096),
];

const LINES: [&str; 4] = ["lan", "10ms,100Mbit", "30ms,20Mbit", "transatlantic"];

/// Of these, what `--quick` runs.
const QUICK: [usize; 4] = [0, 5, 10, 15];

/// Runs of each candidate, of which the median counts.
const RUNS: usize = 5;

/// As many as are predicted to be best are run.
const BEST: usize = 4;

/// A candidate is not run that is predicted to take so many times as long as the best.
const HOPELESS: f64 = 3.0;

/// A choice is right that takes no more than this part or this time more than the best.
const TOLERANCE: (f64, f64) = (0.10, 0.005);

/// A prediction is right that is off by no more than this part.
const PREDICTION: f64 = 0.25;

/// Whether a choice that took so many seconds is right, where the best took so many.
pub fn is_right(seconds: f64, best: f64) -> bool {
    let (part, time) = TOLERANCE;
    seconds <= best * (1.0 + part) || seconds <= best + time
}

/// Whether a time is well predicted.
pub fn is_predicted(predicted: f64, took: f64) -> bool {
    (predicted / took - 1.0).abs() <= PREDICTION
}

pub fn run(effort: &Effort) -> Result<Report, Failure> {
    let cells = PROGRAMS.iter().flat_map(|program| LINES.iter().map(move |line| (program, line)));
    let mut rows = Vec::new();
    for (number, ((program, size), line)) in cells.enumerate() {
        let name = format!("{program} {size}, {line}");
        if (effort.quick && !QUICK.contains(&number)) || !effort.wants(&name) {
            continue;
        }
        let runs = if effort.quick { 1 } else { RUNS };
        let row = Cell::new(program, *size, line.parse()?)?.row(name, runs)?;
        effort.console.note(&row);
        rows.push(row);
    }
    if rows.is_empty() {
        let why = format!("auto has no cell '{}'", effort.row.unwrap_or_default());
        return Err(Failure::input(why).hint("one is 'block:aes128 1, lan'; without --row all are run"));
    }
    let (machine, commit, date) = (machine::describe(), machine::commit(), date(SystemTime::now()));
    Ok(Report { machine, commit, date, rows })
}

/// A program over a line, with what is chosen among.
struct Cell {
    candidates: Candidates,
    link: Link,
    drafting: Duration,
}

impl Cell {
    fn new(text: &str, size: u64, link: Link) -> Result<Cell, Failure> {
        let (candidates, drafting) = drafted(text, size)?;
        Ok(Cell { candidates, link, drafting })
    }

    fn row(&self, name: String, runs: usize) -> Result<Row, Failure> {
        let (mut auto, mut phases, mut ranking) = (Vec::new(), Vec::new(), None);
        let mut fixed: Vec<(Candidate, Vec<Duration>)> = Vec::new();
        for run in 0..runs {
            let (time, both, ranked) = self.by_auto()?;
            auto.push(time);
            phases.push(both);
            if run == 0 {
                let least = ranked.best().total().as_secs_f64();
                let near = |candidate: &&Candidate| candidate.total().as_secs_f64() <= HOPELESS * least;
                fixed.extend(ranked.candidates.iter().take(BEST).filter(near).map(|one| (one.clone(), Vec::new())));
                ranking = Some(ranked);
            }
            for (candidate, times) in &mut fixed {
                times.push(self.by(candidate)?);
            }
        }
        let ranking = ranking.ok_or_else(|| Failure::input("nothing was run"))?;
        let measured = fixed.iter().map(|(candidate, times)| Measured {
            candidate: self.candidates.predicted(candidate),
            seconds: median(times),
        });
        Ok(Row {
            cell: name,
            conditions: (&ranking.conditions).into(),
            drafting: self.drafting.as_secs_f64(),
            ranking: self.ranking(&ranking.conditions)?.as_secs_f64(),
            chosen: self.candidates.predicted(ranking.best()),
            seconds: median(&auto),
            phases: median(&phases),
            measured: measured.collect(),
        })
    }

    fn ranking(&self, conditions: &Conditions) -> Result<Duration, Failure> {
        let begin = Instant::now();
        self.candidates.choices.rank(Wish::Total, conditions)?;
        Ok(begin.elapsed())
    }

    /// A run of what is chosen when the parties meet: all of it, its phases as Alice saw them, and why.
    fn by_auto(&self) -> Result<(Duration, Duration, Ranking), Failure> {
        let (mut ranking, mut phases) = (None, Duration::ZERO);
        let choose = |session: &mut Session| session.choose(&self.candidates.choices, Wish::Total);
        let alice = |channel| {
            let chosen = |session: &mut Session| Ok(ranking.insert(choose(session)?).best().clone());
            let report = self.party(Party::Alice, channel, chosen)?;
            phases = report.setup.time + report.online.time;
            Ok(report.setup.sent + report.online.sent)
        };
        let bob = |channel| {
            let report = self.party(Party::Bob, channel, |session| Ok(choose(session)?.best().clone()))?;
            Ok(report.setup.sent + report.online.sent)
        };
        let time = over_tcp(Some(self.link), alice, bob)?.time;
        Ok((time, phases, ranking.ok_or_else(|| Failure::input("nothing was chosen"))?))
    }

    /// A run of a protocol that is named.
    fn by(&self, candidate: &Candidate) -> Result<Duration, Failure> {
        let party = |party| {
            move |channel| {
                let report = self.party(party, channel, |_| Ok(candidate.clone()))?;
                Ok(report.setup.sent + report.online.sent)
            }
        };
        Ok(over_tcp(Some(self.link), party(Party::Alice), party(Party::Bob))?.time)
    }

    fn party(
        &self,
        party: Party,
        channel: Channel,
        choose: impl FnOnce(&mut Session) -> duologue::Result<Candidate>,
    ) -> duologue::Result<duologue::Report> {
        let mut session = Session::connect(channel, party)?;
        session.register_all(&apps::calls());
        let chosen = choose(&mut session)?;
        let report = session.run(&chosen.binding, &chosen.options, &zeros(&chosen.binding, party))?.report;
        session.close()?;
        Ok(report)
    }
}

/// What is chosen among for a program all of whose sizes are `size`, and how long drafting that took.
fn drafted(text: &str, size: u64) -> Result<(Candidates, Duration), Failure> {
    let bind = |program: &Program| -> Result<Binding, Failure> {
        let sizes: Vec<(&str, u64)> = program.sizes().iter().map(|range| (&*range.name, size)).collect();
        Ok(program.bind(&sizes)?)
    };
    let binding = bind(&program::load(text, &[])?)?;
    let begin = Instant::now();
    let candidates = Candidates::new((text, &binding), bind, (&Options::new(Scheme::Yao), None), &apps::calls())?;
    Ok((candidates, begin.elapsed()))
}

fn median(times: &[Duration]) -> f64 {
    let mut times = times.to_vec();
    times.sort();
    times.get(times.len() / 2).map_or(0.0, Duration::as_secs_f64)
}

/// All cells that were run.
#[derive(Serialize, Deserialize)]
pub struct Report {
    machine: String,
    commit: Option<String>,
    date: String,
    rows: Vec<Row>,
}

/// What a cell's runs took.
#[derive(Serialize, Deserialize)]
struct Row {
    cell: String,
    /// As the first run by auto measured them.
    conditions: crate::verbs::run::Measured,
    /// Seconds that drafting the candidates took before the parties met, and that ranking them takes then.
    drafting: f64,
    ranking: f64,
    /// What was chosen in the first run, and predicted of it.
    chosen: Predicted,
    /// Of the runs by auto, the median, from connecting to closing.
    seconds: f64,
    /// The median of setup and online phase, with the choice: what is predicted.
    phases: f64,
    /// Of the candidates that were predicted to be best, named.
    measured: Vec<Measured>,
}

/// A candidate's runs, named, and their median.
#[derive(Serialize, Deserialize)]
struct Measured {
    #[serde(flatten)]
    candidate: Predicted,
    seconds: f64,
}

impl Row {
    /// The fastest that was measured.
    fn best(&self) -> Option<&Measured> {
        self.measured.iter().min_by(|a, b| a.seconds.total_cmp(&b.seconds))
    }

    fn is_right(&self, seconds: f64) -> bool {
        self.best().is_none_or(|best| is_right(seconds, best.seconds))
    }

    /// Predicted over measured.
    fn predicted(&self) -> f64 {
        self.chosen.predicted.total() / self.phases
    }

    fn is_predicted(&self) -> bool {
        is_predicted(self.chosen.predicted.total(), self.phases)
    }
}

impl fmt::Display for Row {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let best = self
            .best()
            .map_or(String::new(), |best| format!("best {}, {}", seconds(best.seconds), best.candidate.name()));
        let (took, predicted) = (seconds(self.seconds), self.predicted());
        write!(
            f,
            "{}: {took} by {}, phases predicted {predicted:.2} times as long; {best}",
            self.cell,
            self.chosen.name()
        )?;
        let marks = [(self.is_right(self.seconds), "NOT THE BEST"), (self.is_predicted(), "MISPREDICTED")];
        marks.iter().filter(|(fine, _)| !fine).try_for_each(|(_, mark)| write!(f, "; {mark}"))
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{}, commit {}, {}\n", self.machine, self.commit.as_deref().unwrap_or("unknown"), self.date)?;
        let heads = ["", "auto", "took", "phases", "predicted", "best", "took"].map(String::from).to_vec();
        let mut lines = vec![heads];
        lines.extend(self.rows.iter().map(|row| {
            let best = row.best().map_or_else(Default::default, |best| (best.candidate.short(), seconds(best.seconds)));
            let marks = [(row.is_right(row.seconds), "!"), (row.is_predicted(), "?")];
            let marks: String = marks.iter().filter(|(fine, _)| !fine).map(|(_, mark)| *mark).collect();
            let predicted = format!("{}{marks}", seconds(row.chosen.predicted.total()));
            let [took, phases] = [row.seconds, row.phases].map(seconds);
            vec![row.cell.clone(), row.chosen.short(), took, phases, predicted, best.0, best.1]
        }));
        writeln!(f, "{}", console::table("llrrrlr", &lines))?;
        let count = |right: fn(&Row) -> bool| self.rows.iter().filter(|row| right(row)).count();
        let (all, right) = (self.rows.len(), count(|row| row.is_right(row.seconds)));
        let predicted = count(Row::is_predicted);
        writeln!(f, "Of {all} cells, {right} are within 10 % or 5 ms of the best (! where not),")?;
        writeln!(f, "{predicted} predicted within 25 % (? where not).")?;
        writeln!(f, "Medians; took is from connecting to closing, phases are setup and online with the choice;")?;
        write!(f, "best is of the {BEST} that were predicted to be best, named.")
    }
}

#[cfg(test)]
mod tests;

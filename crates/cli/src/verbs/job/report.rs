//! What a job took, shard by shard.

use super::merge::Merged;
use super::state::Kept;
use crate::failure::Failure;
use crate::io::console::{self, Console, bytes, seconds};
use crate::io::shown;
use crate::verbs::run::report::Phase;
use duologue::Party;
use duologue::job::Plan;
use serde::Serialize;
use std::fmt;
use std::time::Duration;

/// A job as one party saw it.
#[derive(Serialize)]
pub struct JobReport {
    program: String,
    digest: String,
    plan: String,
    party: String,
    seconds: f64,
    shards: Vec<ShardReport>,
    #[serde(skip_serializing_if = "Option::is_none")]
    predicted: Option<Predicted>,
    /// The last program, if there was one.
    #[serde(skip_serializing_if = "Option::is_none")]
    last: Option<LastReport>,
    #[serde(flatten)]
    merged: Option<Merged>,
}

/// A shard: what its last attempt took, of the slower side, and how many attempts there were in all.
#[derive(Serialize)]
struct ShardReport {
    lanes: u64,
    attempts: u32,
    seconds: f64,
    sent: u64,
    received: u64,
    /// What its run was predicted to take on this party's side, if it was.
    #[serde(skip_serializing_if = "Option::is_none")]
    predicted: Option<f64>,
}

/// What the last program took.
#[derive(Serialize)]
pub struct LastReport {
    protocol: String,
    setup: Phase,
    online: Phase,
    #[serde(skip_serializing_if = "Option::is_none")]
    predicted: Option<f64>,
}

impl LastReport {
    pub fn new(report: &duologue::Report, predicted: Option<Duration>) -> LastReport {
        let (protocol, predicted) = (report.terms.scheme.to_string(), predicted.map(|time| time.as_secs_f64()));
        LastReport { protocol, setup: Phase::new(&report.setup), online: Phase::new(&report.online), predicted }
    }
}

/// What all shards together were predicted to take and took, of those that were predicted.
#[derive(Serialize)]
struct Predicted {
    seconds: f64,
    took: f64,
    /// How many times as long as predicted the slowest one took.
    slowest: f64,
}

impl Predicted {
    fn of(shards: &[ShardReport]) -> Option<Predicted> {
        let both: Vec<(f64, f64)> = shards.iter().filter_map(|one| Some((one.predicted?, one.seconds))).collect();
        let &(predicted, took) = both.iter().max_by(|a, b| a.1.total_cmp(&b.1))?;
        Some(Predicted {
            seconds: both.iter().map(|both| both.0).sum(),
            took: both.iter().map(|both| both.1).sum(),
            // A prediction is in microseconds.
            slowest: took / predicted.max(1e-6),
        })
    }
}

impl fmt::Display for Predicted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Predicted { seconds: predicted, took, slowest } = self;
        let (predicted, took) = (seconds(*predicted), seconds(*took));
        writeln!(
            f,
            "  predicted for these {predicted}, and they took {took}; the slowest {slowest:.2} times as long as predicted"
        )
    }
}

impl JobReport {
    pub fn new(
        plan: &Plan,
        party: Party,
        kept: &Kept,
        last: Option<LastReport>,
        time: Duration,
        merged: Option<Merged>,
    ) -> Result<JobReport, Failure> {
        let shard = |((shard, progress), costs): ((u32, &_), &duologue::job::control::Costs)| {
            let duologue::job::control::Progress { begun, .. } = progress;
            let lanes = plan.range(shard);
            ShardReport {
                lanes: lanes.end - lanes.start,
                attempts: *begun,
                seconds: Duration::from_micros(costs.micros).as_secs_f64(),
                sent: costs.sent,
                received: costs.received,
                predicted: costs.predicted.map(|micros| Duration::from_micros(micros).as_secs_f64()),
            }
        };
        let shards: Vec<ShardReport> = (0..).zip(&kept.shards).zip(&kept.costs).map(shard).collect();
        Ok(JobReport {
            program: plan.program().name().into(),
            digest: duologue::hex(&plan.program().digest()?),
            plan: duologue::hex(&plan.digest()),
            party: party.to_string(),
            seconds: time.as_secs_f64(),
            predicted: Predicted::of(&shards),
            shards,
            last,
            merged,
        })
    }

    /// Outputs are the result; what they took is a note.
    pub fn show(&self, console: &Console) -> Result<(), Failure> {
        if console.json() {
            return console.show_json(self);
        }
        console.note(self.summary().trim_end());
        match &self.merged {
            Some(merged) => console::print(merged.to_string().as_bytes()),
            None => Ok(()),
        }
    }

    fn summary(&self) -> String {
        let mut order: Vec<usize> = (0..self.shards.len()).collect();
        order.sort_by(|a, b| self.shards[*b].seconds.total_cmp(&self.shards[*a].seconds));
        let row = |&shard: &usize| {
            let ShardReport { lanes, attempts, seconds: time, sent, received, predicted } = &self.shards[shard];
            vec![
                format!("shard {shard}"),
                console::count(*lanes, "lane"),
                seconds(*time),
                predicted.map_or(String::new(), |time| format!("predicted {}", seconds(time))),
                format!("{} sent", bytes(*sent)),
                format!("{} received", bytes(*received)),
                console::count((*attempts).into(), "attempt"),
            ]
        };
        let rows: Vec<Vec<String>> = order.iter().take(SHOWN).map(row).collect();
        let (name, count) = (shown::name(&self.program), console::count(self.shards.len() as u64, "shard"));
        let title = format!("{name} by {count} in {}, the slowest first", seconds(self.seconds));
        let more = match self.shards.len().saturating_sub(SHOWN) {
            0 => String::new(),
            more => format!("  and {more} more; all with --json\n"),
        };
        let last = self.last.as_ref().map_or(String::new(), |last| {
            let time = last.setup.seconds + last.online.seconds;
            let predicted = last.predicted.map_or(String::new(), |time| format!(", predicted {}", seconds(time)));
            format!("  the last program by {}: {}{predicted}\n", last.protocol, seconds(time))
        });
        let predicted = self.predicted.as_ref().map_or(String::new(), Predicted::to_string);
        format!("{title}\n{}{more}{predicted}{last}", console::table("lrrrrrr", &rows))
    }
}

/// Shards that are listed one by one.
const SHOWN: usize = 20;

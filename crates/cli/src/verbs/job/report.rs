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
}

/// What the last program took.
#[derive(Serialize)]
pub struct LastReport {
    protocol: String,
    setup: Phase,
    online: Phase,
}

impl LastReport {
    pub fn new(report: &duologue::Report) -> LastReport {
        let protocol = report.terms.scheme.to_string();
        LastReport { protocol, setup: Phase::new(&report.setup), online: Phase::new(&report.online) }
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
            }
        };
        Ok(JobReport {
            program: plan.program().name().into(),
            digest: duologue::hex(&plan.program().digest()?),
            plan: duologue::hex(&plan.digest()),
            party: party.to_string(),
            seconds: time.as_secs_f64(),
            shards: (0..).zip(&kept.shards).zip(&kept.costs).map(shard).collect(),
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
            let ShardReport { lanes, attempts, seconds: time, sent, received } = &self.shards[shard];
            vec![
                format!("shard {shard}"),
                console::count(*lanes, "lane"),
                seconds(*time),
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
            format!("  the last program by {}: {}\n", last.protocol, seconds(time))
        });
        format!("{title}\n{}{more}{last}", console::table("lrrrrr", &rows))
    }
}

/// Shards that are listed one by one.
const SHOWN: usize = 20;

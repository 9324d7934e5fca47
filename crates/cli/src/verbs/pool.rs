//! `duologue pool`: what a pool, or a folder of prepared runs, has left.

use super::shelf;
use crate::args::ShowPool;
use crate::failure::Failure;
use crate::report::{Console, hex, table, thousands};
use duologue::PhaseReport;
use duologue::correlation::pool::{Pool, SealKey, Status};
use duologue::prepared::PreparedRuns;
use serde::Serialize;
use std::fmt;
use std::path::Path;

pub fn run(args: &ShowPool, console: &Console) -> Result<(), Failure> {
    if PreparedRuns::is_in(&args.pool) {
        return shelf::show(&args.pool, args.pool_key.as_ref(), args.verify, console);
    }
    let seal = args.pool_key.as_ref().map(SealKey::load).transpose()?;
    let pool = Pool::open(&args.pool, seal)?;
    if args.verify {
        pool.verify()?;
        console.note("All of it is as it was written.");
    }
    console.show(&Report::new(&args.pool, &pool.status(), None))
}

/// What a pool is and has, and what was just added.
#[derive(Serialize)]
pub struct Report {
    pool: String,
    identity: String,
    party: String,
    peer_key: Option<String>,
    correlations: String,
    sealed: bool,
    destroyed: Option<String>,
    bytes: u64,
    kinds: Vec<Kind>,
    #[serde(skip_serializing_if = "Option::is_none")]
    made: Option<Made>,
}

#[derive(Serialize)]
struct Kind {
    kind: &'static str,
    made: u64,
    used: u64,
    left: u64,
}

/// What making them took.
#[derive(Serialize)]
pub struct Made {
    pub seconds: f64,
    pub sent: u64,
    pub received: u64,
}

impl From<&PhaseReport> for Made {
    fn from(made: &PhaseReport) -> Self {
        Made { seconds: made.time.as_secs_f64(), sent: made.sent, received: made.received }
    }
}

impl Report {
    pub fn new(folder: &Path, status: &Status, made: Option<&PhaseReport>) -> Report {
        let Status { origin, made: all, used, left, .. } = status;
        let kind = |kind, made, used, left| Kind { kind, made, used, left };
        Report {
            pool: folder.display().to_string(),
            identity: hex(&origin.identity),
            party: origin.party.to_string(),
            peer_key: origin.keys.map(|keys| keys[origin.party.peer() as usize].to_string()),
            correlations: origin.extension.to_string(),
            sealed: status.sealed,
            destroyed: status.destroyed.clone(),
            bytes: status.bytes,
            kinds: vec![
                kind("COTs by alice", all.cots_by_alice, used.cots_by_alice, left.cots_by_alice),
                kind("COTs by bob", all.cots_by_bob, used.cots_by_bob, left.cots_by_bob),
                kind("triples", all.triples, used.triples, left.triples),
            ],
            made: made.map(Made::from),
        }
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let seal = if self.sealed { "sealed" } else { "not sealed" };
        writeln!(f, "{}: {}'s half of pool {}, {seal}", self.pool, self.party, &self.identity[..16])?;
        let peer = self.peer_key.as_deref().unwrap_or("none: made over a plaintext channel");
        writeln!(f, "  peer key      {peer}")?;
        writeln!(f, "  made by       {}", self.correlations)?;
        writeln!(f, "  on disk       {} bytes", thousands(self.bytes))?;
        if let Some(why) = &self.destroyed {
            writeln!(f, "  its correlated OTs are destroyed: {why}")?;
        }
        if let Some(made) = &self.made {
            let (sent, received) = (thousands(made.sent), thousands(made.received));
            writeln!(f, "  just now      {:.2} s, {sent} bytes sent, {received} received", made.seconds)?;
        }
        let row =
            |kind: &Kind| vec![kind.kind.into(), thousands(kind.left), thousands(kind.used), thousands(kind.made)];
        let head = ["", "left", "used", "made"].map(String::from).to_vec();
        let rows: Vec<Vec<String>> = std::iter::once(head).chain(self.kinds.iter().map(row)).collect();
        write!(f, "{}", table("lrrr", &rows))
    }
}

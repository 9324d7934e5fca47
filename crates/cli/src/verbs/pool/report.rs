//! A pool as it is shown.

use crate::io::console::{count, hex, table, thousands};
use crate::verbs::made::Made;
use duologue::PhaseReport;
use duologue::correlation::pool::Status;
use serde::Serialize;
use std::fmt;
use std::path::Path;

/// Origin and contents of a pool, and what was just added.
#[derive(Serialize)]
pub struct PoolReport {
    pool: String,
    identity: String,
    party: String,
    peer_key: Option<String>,
    correlations: String,
    /// The attempt at a part of a job that made it, for the next one.
    #[serde(skip_serializing_if = "Option::is_none")]
    part: Option<String>,
    sealed: bool,
    destroyed: Option<String>,
    bytes: u64,
    kinds: Vec<KindRow>,
    #[serde(skip_serializing_if = "Option::is_none")]
    made: Option<Made>,
}

#[derive(Serialize)]
struct KindRow {
    kind: &'static str,
    made: u64,
    used: u64,
    left: u64,
}

impl PoolReport {
    pub fn new(folder: &Path, status: &Status, made: Option<&PhaseReport>) -> PoolReport {
        let Status { origin, made: all, used, left, .. } = status;
        let kind = |kind, made, used, left| KindRow { kind, made, used, left };
        PoolReport {
            pool: folder.display().to_string(),
            identity: hex(&origin.identity),
            party: origin.party.to_string(),
            peer_key: origin.keys.map(|keys| keys[origin.party.peer() as usize].to_string()),
            correlations: origin.extension.to_string(),
            part: origin.part.map(|part| part.to_string()),
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

impl fmt::Display for PoolReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let seal = if self.sealed { "sealed" } else { "not sealed" };
        writeln!(f, "{}: {}'s half of pool {}, {seal}", self.pool, self.party, &self.identity[..16])?;
        let peer = self.peer_key.as_deref().unwrap_or("none: made over a plaintext channel");
        writeln!(f, "  peer key      {peer}")?;
        writeln!(f, "  made by       {}", self.correlations)?;
        if let Some(part) = &self.part {
            writeln!(f, "  made in       {part}, for the attempt after it")?;
        }
        writeln!(f, "  on disk       {}", count(self.bytes, "byte"))?;
        if let Some(why) = &self.destroyed {
            writeln!(f, "  its correlated OTs are destroyed: {why}")?;
        }
        if let Some(made) = &self.made {
            let (sent, received) = (count(made.sent, "byte"), thousands(made.received));
            writeln!(f, "  just now      {:.2} s, {sent} sent, {received} received", made.seconds)?;
        }
        let row =
            |kind: &KindRow| vec![kind.kind.into(), thousands(kind.left), thousands(kind.used), thousands(kind.made)];
        let head = ["", "left", "used", "made"].map(String::from).to_vec();
        let rows: Vec<Vec<String>> = std::iter::once(head).chain(self.kinds.iter().map(row)).collect();
        write!(f, "{}", table("lrrr", &rows))
    }
}

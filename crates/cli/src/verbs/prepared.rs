//! Folders of prepared runs: opened, and shown.

use super::made::Made;
use crate::failure::Failure;
use crate::io::console::{Console, count, hex, seconds, table, thousands};
use duologue::PhaseReport;
use duologue::correlation::pool::SealKey;
use duologue::prepared::{PreparedRuns, Status};
use serde::Serialize;
use std::collections::BTreeMap;
use std::fmt;
use std::path::{Path, PathBuf};

/// The folder that a run is taken from, whose next run is as it was written.
pub fn open(folder: &Path, key: Option<&PathBuf>) -> Result<PreparedRuns, Failure> {
    let runs = PreparedRuns::open(folder, key.map(SealKey::load).transpose()?)?;
    runs.verify_next()?;
    Ok(runs)
}

/// The folder that runs go into, made if it is not there.
pub fn open_or_create(folder: &Path, key: Option<&PathBuf>) -> Result<PreparedRuns, Failure> {
    let seal = key.map(SealKey::load).transpose()?;
    Ok(if PreparedRuns::is_in(folder) {
        PreparedRuns::open(folder, seal)?
    } else {
        PreparedRuns::create(folder, seal)?
    })
}

/// `duologue pool` of a folder of prepared runs.
pub fn show(folder: &Path, key: Option<&PathBuf>, verify: bool, console: &Console) -> Result<(), Failure> {
    let seal = key.map(SealKey::load).transpose()?;
    let runs = PreparedRuns::open(folder, seal)?;
    if verify {
        runs.verify()?;
        console.note("All of it is as it was written.");
    }
    console.show(&PreparedReport::new(folder, &runs.status()?, None))
}

/// Origin and contents of a folder of prepared runs, and what was just added.
#[derive(Serialize)]
pub struct PreparedReport {
    prepared: String,
    identity: String,
    party: String,
    peer_key: Option<String>,
    /// The program, its sizes, who garbles and so on.
    terms: BTreeMap<String, String>,
    sealed: bool,
    bytes: u64,
    left: u64,
    used: u64,
    made: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    just_now: Option<Made>,
}

impl PreparedReport {
    pub fn new(folder: &Path, status: &Status, made: Option<&PhaseReport>) -> PreparedReport {
        let Status { origin, .. } = status;
        PreparedReport {
            prepared: folder.display().to_string(),
            identity: hex(&origin.identity),
            party: origin.party.to_string(),
            peer_key: origin.keys.map(|keys| keys[origin.party.peer() as usize].to_string()),
            terms: origin.terms.iter().map(|(name, value)| (name.clone(), value.replace("\\'", "'"))).collect(),
            sealed: status.sealed,
            bytes: status.bytes,
            left: status.left,
            used: status.used,
            made: status.made,
            just_now: made.map(Made::from),
        }
    }

    fn term(&self, name: &str) -> &str {
        self.terms.get(name).map_or("", String::as_str)
    }
}

impl fmt::Display for PreparedReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let seal = if self.sealed { "sealed" } else { "not sealed" };
        writeln!(f, "{}: {}'s half of prepared runs {}, {seal}", self.prepared, self.party, &self.identity[..16])?;
        let peer = self.peer_key.as_deref().unwrap_or("none: made over a plaintext channel");
        let mut rows = vec![
            ("peer key", peer.to_string()),
            ("program", self.term("the program").to_string()),
            ("sizes", self.term("its sizes").to_string()),
            ("garbler", format!("{}, by {}", self.term("who garbles"), self.term("how ANDs are garbled"))),
            ("on disk", count(self.bytes, "byte")),
            ("runs", format!("{} left, {} used", thousands(self.left), thousands(self.used))),
        ];
        if let Some(Made { seconds: time, sent, received }) = &self.just_now {
            let (sent, received) = (count(*sent, "byte"), thousands(*received));
            rows.push(("just now", format!("{}, {sent} sent, {received} received", seconds(*time))));
        }
        let rows: Vec<Vec<String>> = rows.into_iter().map(|(name, value)| vec![name.into(), value]).collect();
        write!(f, "{}", table("ll", &rows))
    }
}

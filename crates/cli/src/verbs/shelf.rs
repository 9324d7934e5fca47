//! Runs that are prepared for later: `duologue run --prepare-to` and `--prepared`, and what such a folder has left.

use super::pool::Made;
use super::run::known_keys;
use crate::args::{Later, Run};
use crate::failure::Failure;
use crate::input::Given;
use crate::report::{Console, hex, seconds, table, thousands};
use circuit::Binding;
use circuit::program::Owner;
use duologue::channel::Security;
use duologue::correlation::pool::SealKey;
use duologue::prepared::{PreparedRuns, Status};
use duologue::{Inputs, Options, Outcome, PhaseReport, Session};
use serde::Serialize;
use std::collections::BTreeMap;
use std::fmt;
use std::path::{Path, PathBuf};

/// What is asked for of a folder of prepared runs, which is open.
pub enum Asked {
    /// Setup alone, until there are so many.
    Prepare(PreparedRuns, u64),
    /// Online alone.
    Run(PreparedRuns),
}

impl Asked {
    /// What is wrong with the folder is found out before the peer is bothered.
    pub fn open(args: &Later, options: &Options) -> Result<Option<Asked>, Failure> {
        if args.prepare_to.is_some() {
            options.for_shelf()?;
        }
        let seal = args.prepared_key.as_ref().map(SealKey::load).transpose()?;
        Ok(match (&args.prepare_to, &args.prepared) {
            (Some(folder), _) if PreparedRuns::is_in(folder) => {
                Some(Asked::Prepare(PreparedRuns::open(folder, seal)?, args.times))
            }
            (Some(folder), _) => Some(Asked::Prepare(PreparedRuns::create(folder, seal)?, args.times)),
            (None, Some(folder)) => {
                let shelf = PreparedRuns::open(folder, seal)?;
                shelf.verify_next()?;
                Some(Asked::Run(shelf))
            }
            (None, None) => None,
        })
    }
}

/// Only public inputs are known before a run; the others have no business here.
pub fn public(binding: &Binding, given: Vec<Given>) -> Result<Inputs, Failure> {
    let mut inputs = Inputs::new();
    for Given { name, value } in given {
        if binding.input(&name).is_some_and(|port| port.who != Owner::Public) {
            let why = format!("the input '{name}' is not public: a run is prepared without it");
            return Err(Failure::input(why).hint("--size NAME=NUMBER gives a size that would follow from it"));
        }
        inputs.set(&name, value);
    }
    Ok(inputs)
}

/// Setup alone.
pub fn prepare(
    mut session: Session,
    (mut shelf, times): (PreparedRuns, u64),
    args: &Run,
    (binding, options, public): (&Binding, &Options, &Inputs),
    security: &Security,
    console: &Console,
) -> Result<(), Failure> {
    let keys = known_keys(security, args.party);
    let made = session.prepare_to(&mut shelf, keys, binding, options, public, times)?;
    session.close()?;
    let folder = args.later.prepare_to.as_deref().unwrap_or(Path::new(""));
    console.show(&Report::new(folder, &shelf.status()?, Some(&made)))
}

/// Online alone.
pub fn online(
    session: &mut Session,
    shelf: &mut PreparedRuns,
    args: &Run,
    (binding, inputs): (&Binding, &Inputs),
    security: &Security,
) -> Result<Outcome, Failure> {
    Ok(session.online_from(shelf, known_keys(security, args.party), binding, inputs)?)
}

/// `duologue pool` of a folder of prepared runs.
pub fn show(folder: &Path, key: Option<&PathBuf>, verify: bool, console: &Console) -> Result<(), Failure> {
    let seal = key.map(SealKey::load).transpose()?;
    let shelf = PreparedRuns::open(folder, seal)?;
    if verify {
        shelf.verify()?;
        console.note("All of it is as it was written.");
    }
    console.show(&Report::new(folder, &shelf.status()?, None))
}

/// What a folder of prepared runs is and has, and what was just added.
#[derive(Serialize)]
struct Report {
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

impl Report {
    fn new(folder: &Path, status: &Status, made: Option<&PhaseReport>) -> Report {
        let Status { origin, .. } = status;
        Report {
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

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let seal = if self.sealed { "sealed" } else { "not sealed" };
        writeln!(f, "{}: {}'s half of prepared runs {}, {seal}", self.prepared, self.party, &self.identity[..16])?;
        let peer = self.peer_key.as_deref().unwrap_or("none: made over a plaintext channel");
        let mut rows = vec![
            ("peer key", peer.to_string()),
            ("program", self.term("the program").to_string()),
            ("sizes", self.term("its sizes").to_string()),
            ("garbler", format!("{}, by {}", self.term("who garbles"), self.term("how ANDs are garbled"))),
            ("on disk", format!("{} bytes", thousands(self.bytes))),
            ("runs", format!("{} left, {} used", thousands(self.left), thousands(self.used))),
        ];
        if let Some(Made { seconds: time, sent, received }) = &self.just_now {
            let (sent, received) = (thousands(*sent), thousands(*received));
            rows.push(("just now", format!("{}, {sent} bytes sent, {received} received", seconds(*time))));
        }
        let rows: Vec<Vec<String>> = rows.into_iter().map(|(name, value)| vec![name.into(), value]).collect();
        write!(f, "{}", table("ll", &rows))
    }
}

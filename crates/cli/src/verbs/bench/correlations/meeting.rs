//! How the parties of a figure meet: two processes here, or one here and one elsewhere.

use super::figures::Figure;
use super::machine;
use super::party::{self, Measured, Run};
use crate::args::BenchCorrelations;
use crate::failure::Failure;
use crate::paths;
use crate::process::{Process, itself};
use crate::report::Console;
use crate::verbs::keys;
use crate::verbs::run::LISTENING;
use duologue::Party;
use duologue::channel::{Channel, Identity, Limits, Link, Listener, Security};
use std::process::{Command, Stdio};
use std::sync::Arc;
use tempfile::TempDir;

/// One party's way to its peer, which it meets anew for every figure.
pub struct Door<'a> {
    args: &'a BenchCorrelations,
    party: Party,
    listener: Option<Listener>,
    security: Security,
}

impl<'a> Door<'a> {
    pub fn open(args: &'a BenchCorrelations, party: Party, console: &Console) -> Result<Self, Failure> {
        let listener = args.listen.as_deref().map(|address| listen(address, console)).transpose()?;
        let core = args.core.or(machine::cores().map(|[core, _]| core));
        if !machine::stay_on(core) {
            console.note("this system does not keep processes on a core: figures may vary");
        }
        Ok(Door { args, party, listener, security: security(args)? })
    }

    pub fn measure(&mut self, figure: Figure) -> Result<Measured, Failure> {
        let limits = Limits::default();
        let channel = match &mut self.listener {
            Some(listener) => listener.accept(&self.security, &limits)?,
            None => Channel::connect(self.args.connect.as_deref().unwrap_or_default(), &self.security, &limits)?,
        };
        let channel = match self.args.link {
            Some(link) => channel.shaped(link)?,
            None => channel,
        };
        party::measure(channel, self.party, figure, self.args.count, self.args.runs)
    }
}

fn listen(address: &str, console: &Console) -> Result<Listener, Failure> {
    let listener = Listener::bind(address)?;
    // A port that the system chose is a result: nobody finds us without it.
    let here = format!("{LISTENING}{}", listener.local_addr()?);
    if address.ends_with(":0") {
        console.tell(here);
    } else {
        console.note(here);
    }
    Ok(listener)
}

/// Nothing secret is sent, so that a line need not be encrypted.
fn security(args: &BenchCorrelations) -> Result<Security, Failure> {
    let Some(peer) = args.peer_key else { return Ok(Security::PlaintextForBenchmarks) };
    let key = args.key.clone().map_or_else(paths::key, Ok)?;
    Ok(Security::Tls { identity: Arc::new(keys::load(&key)?), peer })
}

/// Both parties as processes of this command.
pub struct Pair<'a> {
    args: &'a BenchCorrelations,
    cores: Option<[usize; 2]>,
    /// Their keys, if the line between them is encrypted.
    keys: Option<Keys>,
}

struct Keys {
    folder: TempDir,
    public: [String; 2],
}

impl Keys {
    fn new() -> Result<Keys, Failure> {
        let folder = TempDir::new().map_err(Failure::io("making a temporary folder"))?;
        let key = |party: Party| {
            let identity = Identity::generate()?;
            identity.save(folder.path().join(party.to_string()))?;
            Ok::<_, duologue::Error>(identity.public().to_string())
        };
        let public = [key(Party::Alice)?, key(Party::Bob)?];
        Ok(Keys { folder, public })
    }
}

/// Triples of a spot check.
pub const SPOT: u64 = 1_000_000;

impl<'a> Pair<'a> {
    pub fn new(args: &'a BenchCorrelations, cores: Option<[usize; 2]>) -> Result<Self, Failure> {
        let keys = if args.tls { Some(Keys::new()?) } else { None };
        Ok(Pair { args, cores, keys })
    }

    pub fn measure(&self, figure: Figure, link: Option<Link>) -> Result<Measured, Failure> {
        self.meet(figure, link, self.args.count, self.args.runs)
    }

    /// One run of a million over a line.
    pub fn spot(&self, figure: Figure, link: Link) -> Result<Measured, Failure> {
        self.meet(figure, Some(link), SPOT, 1)
    }

    fn meet(&self, figure: Figure, link: Option<Link>, count: u64, runs: u32) -> Result<Measured, Failure> {
        let command = |party| self.command(party, figure, link, count, runs);
        let mut bob = command(Party::Bob)?;
        bob.args(["--listen", "127.0.0.1:0"]).stderr(Stdio::piped());
        let mut bob = Process::start("Bob", &mut bob)?;
        let address = bob.address()?;
        let mut alice = command(Party::Alice)?;
        alice.args(["--connect", &address]).stderr(Stdio::inherit());
        let alice = Process::start("Alice", &mut alice)?;
        Ok(slower(&alice.report()?, &bob.report()?))
    }

    fn command(
        &self,
        party: Party,
        figure: Figure,
        link: Option<Link>,
        count: u64,
        runs: u32,
    ) -> Result<Command, Failure> {
        let mut command = itself()?;
        command.args(["bench", "correlations", "--raw", "--quiet", "--as", &party.to_string()]);
        command.args(["--only", &figure.name(), "--count", &count.to_string(), "--runs", &runs.to_string()]);
        if let Some(cores) = self.cores {
            command.args(["--core", &cores[party as usize].to_string()]);
        }
        if let Some(link) = link {
            command.args(["--link", &link.to_string()]);
        }
        if let Some(keys) = &self.keys {
            command.arg("--key").arg(keys.folder.path().join(party.to_string()));
            command.args(["--peer-key", &keys.public[party.peer() as usize]]);
        }
        Ok(command)
    }
}

/// Of two parties, whichever took longer, and more memory; what they made is the same.
fn slower(alice: &Measured, bob: &Measured) -> Measured {
    let run = |(a, b): (&Run, &Run)| Run { seconds: a.seconds.max(b.seconds), ..*a };
    Measured {
        setup: alice.setup.max(bob.setup),
        first: alice.first,
        runs: alice.runs.iter().zip(&bob.runs).map(run).collect(),
        memory: alice.memory.max(bob.memory),
    }
}

//! How the parties of a figure meet: two processes here, or one here and one elsewhere.

use super::machine;
use crate::args::BenchParty;
use crate::config::Config;
use crate::failure::Failure;
use crate::interrupt;
use crate::io::console::Console;
use crate::peer::{bind, identity, shaped};
use crate::process::{Process, itself};
use duologue::Party;
use duologue::channel::{Channel, Identity, Limits, Link, Listener, Security};
use serde::de::DeserializeOwned;
use std::process::{Command, Stdio};
use std::sync::Arc;
use tempfile::TempDir;

/// One party's way to its peer, which it meets anew for every figure.
pub struct Door {
    address: String,
    listener: Option<Listener>,
    security: Security,
}

impl Door {
    pub fn open(args: &BenchParty, console: &Console) -> Result<Self, Failure> {
        let config = Config::load()?;
        let listener = args.listen.as_deref().map(|address| bind(address, console)).transpose()?;
        let address = args.connect.as_deref().map_or(Ok(""), |address| config.address(address))?.to_string();
        Ok(Door { address, listener, security: security(args, &config)? })
    }

    pub fn meet(&mut self, link: Option<Link>) -> Result<Channel, Failure> {
        interrupt::settle()?;
        let (limits, canceller) = (Limits::default(), interrupt::canceller()?);
        let channel = match &mut self.listener {
            Some(listener) => listener.accept_with(&self.security, &limits, &canceller)?,
            None => Channel::connect_with(&self.address, &self.security, &limits, &canceller)?,
        };
        shaped(channel, link)
    }
}

/// Keeps this process on its core: the one that was given, or the first.
pub fn stay(args: &BenchParty, console: &Console) {
    let core = args.core.or(machine::cores().map(|[core, _]| core));
    if !machine::stay_on(core) {
        console.note("this system does not keep processes on a core: figures may vary");
    }
}

/// Nothing secret is sent, so that a line need not be encrypted.
fn security(args: &BenchParty, config: &Config) -> Result<Security, Failure> {
    let Some(peer) = &args.peer_key else { return Ok(Security::PlaintextForBenchmarks) };
    let (peer, key) = (config.peer_key(peer)?, config.key(args.key.as_ref())?);
    Ok(Security::Tls { identity: Arc::new(identity(&key)?), peer })
}

/// Both parties as processes of this command.
pub struct Pair {
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

impl Pair {
    pub fn new(tls: bool) -> Result<Self, Failure> {
        let keys = if tls { Some(Keys::new()?) } else { None };
        Ok(Pair { cores: machine::cores(), keys })
    }

    /// Runs `bench` with these arguments as both parties; what each of them reports, Alice's first.
    pub fn run<T: DeserializeOwned>(&self, arguments: &[&str]) -> Result<[T; 2], Failure> {
        let mut bob = self.command(Party::Bob, arguments)?;
        bob.args(["--listen", "127.0.0.1:0"]).stderr(Stdio::piped());
        let mut bob = Process::start("Bob", &mut bob)?;
        let address = bob.address()?;
        let mut alice = self.command(Party::Alice, arguments)?;
        alice.args(["--connect", &address]).stderr(Stdio::inherit());
        let alice = Process::start("Alice", &mut alice)?;
        Ok([alice.report()?, bob.report()?])
    }

    fn command(&self, party: Party, arguments: &[&str]) -> Result<Command, Failure> {
        let mut command = itself()?;
        command.arg("bench").args(arguments).args(["--quiet", "--as", &party.to_string()]);
        if let Some(cores) = self.cores {
            command.args(["--core", &cores[party as usize].to_string()]);
        }
        if let Some(keys) = &self.keys {
            command.arg("--key").arg(keys.folder.path().join(party.to_string()));
            command.args(["--peer-key", &keys.public[party.peer() as usize]]);
        }
        Ok(command)
    }
}

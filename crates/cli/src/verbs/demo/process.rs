//! Two processes of this command, one for each party.

use crate::failure::Failure;
use crate::process::{Process, itself};
use crate::verbs::run::RunReport;
use duologue::channel::Link;
use duologue::ot::Extension;
use duologue::{Party, Scheme};
use std::path::Path;
use std::process::{Command, Stdio};

/// A run of both parties.
pub struct Pair<'a> {
    /// Where their files are.
    pub folder: &'a Path,
    /// Their public keys, Alice's first.
    pub keys: &'a [String; 2],
    pub scheme: Scheme,
    pub faces: usize,
    pub link: Option<Link>,
    pub quiet: bool,
}

impl Pair<'_> {
    /// The reports of both parties, Alice's first.
    pub fn run(&self) -> Result<(RunReport, RunReport), Failure> {
        let mut bob = self.bob()?;
        let address = bob.address()?;
        let alice = self.alice(&address)?.report()?;
        Ok((alice, bob.report()?))
    }

    /// Alice's progress is shown as it is; her results are read.
    fn alice(&self, address: &str) -> Result<Process, Failure> {
        let mut command = self.command(Party::Alice)?;
        command.args(["--connect", address, "--input", "query=query.npy"]);
        command.args(["--size", &format!("faces={}", self.faces)]);
        if self.quiet {
            command.arg("--quiet");
        }
        Process::start("Alice", command.stderr(Stdio::inherit()))
    }

    fn bob(&self) -> Result<Process, Failure> {
        let mut command = self.command(Party::Bob)?;
        command.args(["--listen", "127.0.0.1:0", "--quiet"]);
        command.args(["--input", "gallery=gallery.npy", "--input", "limits=limits.npy"]);
        Process::start("Bob", command.stderr(Stdio::piped()))
    }

    fn command(&self, party: Party) -> Result<Command, Failure> {
        let mut command = itself()?;
        command.current_dir(self.folder);
        command.args(["run", "scifi.duo", "--as", &party.to_string(), "--yes", "--json"]);
        // What is shown does not depend on what is measured on the way.
        command.args(["--protocol", &self.scheme.to_string(), "--correlations", &Extension::DEFAULT.to_string()]);
        command.args(["--key", &format!("{party}.key")]);
        command.args(["--peer-key", &self.keys[party.peer() as usize]]);
        if let Some(link) = self.link {
            command.args(["--link", &link.to_string()]);
        }
        Ok(command)
    }
}

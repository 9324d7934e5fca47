//! Two processes of this command, one for each party.

use crate::failure::{Exit, Failure};
use crate::verbs::run::{LISTENING, Report};
use duologue::channel::Link;
use duologue::{Party, Scheme};
use std::env;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread;

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
    /// What each party printed, Alice's first.
    pub fn run(&self) -> Result<(Report, Report), Failure> {
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
        let itself = env::current_exe().map_err(Failure::io("finding this command"))?;
        let mut command = Command::new(itself);
        command.current_dir(self.folder).stdin(Stdio::null()).stdout(Stdio::piped());
        command.args(["run", "scifi.duo", "--as", &party.to_string(), "--yes", "--json"]);
        command.args(["--protocol", &self.scheme.to_string()]);
        command.args(["--key", &format!("{party}.key")]);
        command.args(["--peer-key", &self.keys[party.peer() as usize]]);
        if let Some(link) = self.link {
            command.args(["--link", &link.to_string()]);
        }
        Ok(command)
    }
}

/// A party's process. Dropped before it ends, it is stopped.
struct Process {
    who: &'static str,
    child: Child,
}

impl Process {
    fn start(who: &'static str, command: &mut Command) -> Result<Process, Failure> {
        let child = command.spawn().map_err(Failure::io(format!("starting {who}")))?;
        Ok(Process { who, child })
    }

    /// The address at which it listens. What else it says is passed on, also while it runs.
    fn address(&mut self) -> Result<String, Failure> {
        let mut address = None;
        if let Some(errors) = self.child.stderr.take() {
            let mut lines = BufReader::new(errors).lines().map_while(Result::ok);
            address = lines.find_map(|line| match line.strip_prefix(LISTENING) {
                Some(address) => Some(address.to_string()),
                None => pass_on(&line),
            });
            thread::spawn(move || lines.for_each(|line| drop(pass_on(&line))));
        }
        address.ok_or_else(|| Failure::new(Exit::Machine, format!("{} does not listen", self.who)))
    }

    /// The report that it prints before it ends well.
    fn report(mut self) -> Result<Report, Failure> {
        let mut text = String::new();
        if let Some(mut stdout) = self.child.stdout.take() {
            let read = stdout.read_to_string(&mut text);
            read.map_err(Failure::io(format!("reading what {} says", self.who)))?;
        }
        let status = self.child.wait().map_err(Failure::io(format!("waiting for {}", self.who)))?;
        if !status.success() {
            return Err(Failure::new(Exit::Machine, format!("{} failed: {status}", self.who)));
        }
        serde_json::from_str(&text).map_err(|why| Failure::malformed(format!("{}'s report", self.who), why))
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // Fails if it has ended already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn pass_on(line: &str) -> Option<String> {
    // Nobody misses it if our standard error is gone.
    let _ = writeln!(io::stderr(), "{line}");
    None
}

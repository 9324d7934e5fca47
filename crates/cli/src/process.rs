//! Processes of this command that it starts itself.

use crate::args::BACKEND;
use crate::config::CONFIG;
use crate::failure::{Exit, Failure};
use kernels::Backend;
use serde::de::DeserializeOwned;
use std::env;
use std::ffi::OsString;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::process::{Child, Command, Stdio};
use std::sync::OnceLock;
use std::thread;

/// The text on standard error before the address at which a process listens.
pub const LISTENING: &str = "listening on ";

/// How this command is started, if not by its own file: within another program.
pub static STARTED_BY: OnceLock<Vec<OsString>> = OnceLock::new();

/// This command again; what it prints is read. It has the flags that it gets, and no defaults of the user's.
pub fn itself() -> Result<Command, Failure> {
    let mut command = match STARTED_BY.get().and_then(|words| words.split_first()) {
        Some((program, words)) => {
            let mut command = Command::new(program);
            command.args(words);
            command
        }
        None => Command::new(env::current_exe().map_err(Failure::io("finding this command"))?),
    };
    command.stdin(Stdio::null()).stdout(Stdio::piped()).env(BACKEND, Backend::detect().name()).env(CONFIG, "");
    Ok(command)
}

/// The variable that names an interpreter of Python with our package.
const PYTHON: &str = "DUOLOGUE_PYTHON";

/// Python with our package, as far as one knows: what the user names, or the one within which this command runs.
pub fn python() -> OsString {
    let itself = || STARTED_BY.get().and_then(|words| words.first().cloned());
    env::var_os(PYTHON).filter(|name| !name.is_empty()).or_else(itself).unwrap_or_else(|| "python3".into())
}

/// A party's process. Dropped before it ends, it is stopped.
pub struct Process {
    who: &'static str,
    child: Child,
}

impl Process {
    pub fn start(who: &'static str, command: &mut Command) -> Result<Process, Failure> {
        let child = command.spawn().map_err(Failure::io(format!("starting {who}")))?;
        Ok(Process { who, child })
    }

    /// The address at which it listens. What else it says is passed on, also while it runs.
    pub fn address(&mut self) -> Result<String, Failure> {
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
    pub fn report<T: DeserializeOwned>(mut self) -> Result<T, Failure> {
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

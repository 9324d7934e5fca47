//! Failures by who is to blame, and the exit code of each.

use crate::io::shown;
use std::fmt::Display;
use std::io::{self, Write};

/// Why the command ends without its result; the number is the exit code.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Exit {
    /// An input that cannot be used.
    Input = 1,
    /// The command line cannot be read; clap says so of most that cannot.
    CommandLine = 2,
    /// The peer broke the protocol.
    Peer = 3,
    /// The parties do not agree on what to do.
    Incompatible = 4,
    /// The peer stopped or closed the connection.
    Gone = 5,
    /// The peer was silent for too long.
    Timeout = 6,
    /// A file does not have its form.
    Malformed = 7,
    /// The operating system refused.
    Machine = 8,
    /// The result is not the expected one.
    Wrong = 9,
    /// Nobody consented.
    Refused = 10,
    /// The user stopped it: 128 and the number of the signal, as shells have it.
    Cancelled = 130,
}

/// The table of exit codes for `--help`.
pub const EXIT_CODES: &str = "\
Exit codes:
   0  done
   1  an input, a size or a setting cannot be used
   2  the command line cannot be read
   3  the peer misbehaved: it sent what no honest party sends
   4  the parties do not agree (program, sizes, protocol, party, version)
   5  the peer stopped or closed the connection
   6  nothing came from the peer in time
   7  a file does not have its form
   8  the operating system refused (files, sockets, disk full)
   9  demo, bench: a result differs from the one computed in the clear
  10  you did not consent to the run
 130  you stopped it (Ctrl-C); the peer was told, if that could be";

/// An error as the user sees it, with a hint that may help.
#[derive(Debug)]
pub struct Failure {
    pub exit: Exit,
    pub message: String,
    pub hint: Option<String>,
    /// The library's error that it is, for a program in which the command is embedded.
    pub source: Option<Box<duologue::Error>>,
}

impl Failure {
    pub fn new(exit: Exit, message: impl Display) -> Self {
        let message = message.to_string();
        Failure { exit, message, hint: None, source: None }
    }

    /// An input that cannot be used.
    pub fn input(message: impl Display) -> Self {
        Failure::new(Exit::Input, message)
    }

    /// The file `path` does not have its form.
    pub fn malformed(path: impl Display, why: impl Display) -> Self {
        Failure::new(Exit::Malformed, format!("{path}: {why}"))
    }

    /// The operating system refused while doing `what`.
    pub fn io(what: impl Display) -> impl FnOnce(io::Error) -> Self {
        let what = what.to_string();
        move |why| Failure::new(Exit::Machine, format!("{what}: {why}"))
    }

    pub fn hint(mut self, hint: impl Display) -> Self {
        self.hint = Some(hint.to_string());
        self
    }

    /// Prints it and gives the exit code. If standard error is gone there is nobody to tell.
    pub fn report(self) -> u8 {
        let mut stderr = io::stderr();
        let _ = writeln!(stderr, "error: {}", shown::line(&self.message));
        if let Some(hint) = &self.hint {
            let _ = writeln!(stderr, "hint: {}", shown::line(hint));
        }
        self.exit as u8
    }
}

impl From<duologue::Error> for Failure {
    fn from(error: duologue::Error) -> Self {
        use duologue::Error;
        let exit = match &error {
            Error::Usage(_) => Exit::Input,
            Error::Cancelled => Exit::Cancelled,
            Error::Peer(_) => Exit::Peer,
            Error::Incompatible { .. } => Exit::Incompatible,
            Error::Aborted(_) | Error::Closed(_) | Error::Dead(_) => Exit::Gone,
            Error::Timeout { .. } => Exit::Timeout,
            Error::Malformed { .. } => Exit::Malformed,
            _ => Exit::Machine,
        };
        let (failure, hint) = (Failure::new(exit, &error), advice(&error));
        let failure = Failure { source: Some(Box::new(error)), ..failure };
        match hint {
            Some(hint) => failure.hint(hint),
            None => failure,
        }
    }
}

/// Whether the name of a host has no address. The standard library has no kind of error for that.
fn is_lookup(error: &io::Error) -> bool {
    error.raw_os_error().is_none() && error.to_string().contains("lookup address")
}

fn advice(error: &duologue::Error) -> Option<&'static str> {
    use duologue::Error;
    Some(match error {
        Error::Incompatible { what: "encryption", .. } => "both parties give --peer-key, or both --insecure-plaintext",
        Error::Incompatible { what: "the link", .. } => "both parties give --link, or neither",
        Error::Incompatible { what: "the method", .. } => "both parties give the same --method",
        Error::Incompatible { what: "the version of the protocol", .. } => "both parties need the same duologue",
        Error::Incompatible { what, .. } if what.starts_with("who is who") => {
            "one party runs with --as alice, the other with --as bob"
        }
        Error::Incompatible { what, .. } if what.contains("key") => {
            "each party gives the key that the other's `duologue keys` shows"
        }
        Error::Incompatible { ours, theirs, .. } if [ours, theirs].map(String::as_str).contains(&"a new pool") => {
            "one party has a pool, the other has none: if nothing was ever made in it (see `duologue pool FOLDER`), remove \
             that folder and fill both again"
        }
        Error::Incompatible { .. } => "both parties must give the same program, sizes and settings",
        Error::Aborted(_) | Error::Closed(_) => "look at what the peer's side printed",
        Error::Timeout { what: "connection", .. } => {
            "is the peer running, and does it connect to this address and port?"
        }
        Error::Timeout { .. } => "is the peer still running? --silence allows it more time",
        Error::Io { what, source } if what.starts_with("no connection") && is_lookup(source) => {
            "is the name of the host right?"
        }
        Error::Io { what, .. } if what.starts_with("no connection") => {
            "is the peer listening there? a firewall may be in between; --wait allows more time"
        }
        _ => return None,
    })
}

impl From<duologue::circuit::Error> for Failure {
    fn from(error: duologue::circuit::Error) -> Self {
        Failure::input(error)
    }
}

impl From<values::Error> for Failure {
    fn from(error: values::Error) -> Self {
        use values::Error;
        let exit = match &error {
            Error::Malformed { .. } => Exit::Malformed,
            Error::Read { .. } => Exit::Machine,
            _ => Exit::Input,
        };
        Failure::new(exit, &error)
    }
}

impl From<synthesis::Error> for Failure {
    fn from(error: synthesis::Error) -> Self {
        use synthesis::Error;
        let exit = match &error {
            Error::Tool { .. } => Exit::Machine,
            Error::Source { .. } | Error::Design { .. } | Error::Netlist(_) => Exit::Malformed,
            _ => Exit::Input,
        };
        let failure = Failure::new(exit, &error);
        match error.hint() {
            Some(hint) => failure.hint(hint),
            None => failure,
        }
    }
}

//! Errors by who is to blame, so that a caller knows what to do next.
//!
//! Every message names what was expected and what came; none contains a secret.

use std::borrow::Cow;
use std::io;

/// The result of everything that can fail in this crate.
pub type Result<T> = std::result::Result<T, Error>;

/// Why a computation did not produce its result.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The peer broke the protocol: it sent something that no honest party sends. The session is dead.
    #[error("the peer misbehaved: {0}")]
    Peer(String),
    /// Both parties are honest but do not agree on what to do; found before an input is used.
    #[error("the parties do not agree on {what}: ours is {ours}, theirs is {theirs}{}", first(.place.as_deref()))]
    Incompatible {
        /// The term that they do not agree on.
        what: &'static str,
        /// This party's value of it.
        ours: String,
        /// The peer's value of it.
        theirs: String,
        /// Of two programs, where they differ first, if both parties told it.
        place: Option<String>,
    },
    /// Bytes of a file or an argument do not have their form.
    #[error("malformed {what}: {why}")]
    Malformed {
        /// The file or argument.
        what: String,
        /// The form that was expected and the bytes that came.
        why: String,
    },
    /// The caller asked for something that cannot be.
    #[error("{0}")]
    Usage(String),
    /// This party stopped it: the observer, or a `Canceller`, also while waiting for the peer.
    #[error("cancelled")]
    Cancelled,
    /// The peer told us that it stopped, and why.
    #[error("the peer stopped: {0}")]
    Aborted(String),
    /// The peer closed the connection before the end.
    #[error("the peer closed the connection {0}")]
    Closed(Cow<'static, str>),
    /// Nothing came within the deadline.
    #[error("no {what} from the peer for {seconds} s")]
    Timeout {
        /// The message that did not come.
        what: &'static str,
        /// The deadline.
        seconds: u64,
    },
    /// The operating system refused.
    #[error("{what}: {source}")]
    Io {
        /// The operation that failed.
        what: String,
        /// The error of the operating system.
        source: io::Error,
    },
    /// This session failed before: nothing that it holds may be used again.
    #[error("this session failed before ({0}) and its secrets are destroyed: connect again")]
    Dead(String),
}

impl From<circuit::Error> for Error {
    /// What is wrong with a circuit or a program is the caller's, or the form of a file.
    fn from(error: circuit::Error) -> Self {
        match error {
            circuit::Error::Syntax { format, line, why } => {
                Error::Malformed { what: format!("{format} file, line {line}"), why }
            }
            error => Error::usage(error.to_string()),
        }
    }
}

fn first(place: Option<&str>) -> String {
    place.map_or(String::new(), |place| format!("; they differ first in {place}"))
}

impl Error {
    /// An [`Error::Peer`] with this message.
    pub fn peer(what: impl Into<String>) -> Self {
        Error::Peer(what.into())
    }

    /// An [`Error::Usage`] with this message.
    pub fn usage(what: impl Into<String>) -> Self {
        Error::Usage(what.into())
    }

    /// What the peer hears of this failure besides its kind: words that were fixed beforehand, so nothing of our files,
    /// and nothing of which check its message failed.
    pub(crate) fn last_words(&self) -> &'static str {
        match self {
            Error::Peer(_) => "what its side printed says why",
            Error::Incompatible { what, .. } => what,
            Error::Malformed { .. } | Error::Usage(_) | Error::Io { .. } => "the reason lies on its machine",
            Error::Cancelled => "somebody cancelled it",
            Error::Aborted(_) | Error::Closed(_) => "it had heard that we stopped",
            Error::Timeout { .. } => "it waited for us in vain",
            Error::Dead(_) => "it had failed before",
        }
    }

    /// Turns an error of the operating system into an [`Error::Io`] that names the operation that failed.
    pub fn io(what: impl Into<String>) -> impl FnOnce(io::Error) -> Self {
        let what = what.into();
        move |source| Error::Io { what, source }
    }
}

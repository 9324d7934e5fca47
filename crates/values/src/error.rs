//! What can go wrong with the values of people, and where.

use std::fmt;
use std::io;

/// The result of everything that can fail in this crate.
pub type Result<T> = std::result::Result<T, Error>;

/// An error with its place. No error repeats a value, which may be a secret.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A value is not of the form that its port takes.
    #[error("{place}: expected {expected}")]
    Value {
        /// Where it stands.
        place: Place,
        /// What is expected there.
        expected: String,
    },
    /// What was asked for cannot be: a form that no column has, say.
    #[error("{0}")]
    Usage(String),
    /// A file does not have its form.
    #[error("{file}: {why}")]
    Malformed {
        /// The name of the file.
        file: String,
        /// The reason.
        why: String,
    },
    /// The operating system refused.
    #[error("reading {file}: {source}")]
    Read {
        /// The name of the file.
        file: String,
        /// Its words.
        source: io::Error,
    },
}

impl Error {
    pub(crate) fn value(place: Place, expected: impl Into<String>) -> Self {
        Error::Value { place, expected: expected.into() }
    }

    pub(crate) fn malformed(file: &str, why: impl fmt::Display) -> Self {
        Error::Malformed { file: file.into(), why: why.to_string() }
    }

    pub(crate) fn read(file: &str) -> impl FnOnce(io::Error) -> Self {
        |source| Error::Read { file: file.into(), source }
    }
}

/// Where a value stands, as far as it is known.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Place {
    /// The name of the file.
    pub file: Option<String>,
    /// The line of a file of text, counted from 1.
    pub line: Option<u64>,
    /// The row of a table that has no lines, counted from 0.
    pub row: Option<u64>,
    /// The lane, counted from 0.
    pub lane: Option<u64>,
    /// The name of the column.
    pub column: Option<String>,
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let number = |what: &str, number: Option<u64>| number.map(|number| format!("{what} {number}"));
        let column = self.column.as_ref().map(|name| format!("column '{name}'"));
        let parts = [self.file.clone(), number("line", self.line), number("row", self.row), number("lane", self.lane)];
        let parts: Vec<String> = parts.into_iter().chain([column]).flatten().collect();
        f.write_str(&parts.join(", "))
    }
}

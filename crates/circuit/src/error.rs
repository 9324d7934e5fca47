//! The errors of circuits, programs and files.

/// The result of everything that can fail in this crate.
pub type Result<T> = std::result::Result<T, Error>;

/// An error of a circuit, a program or a file, with its place.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A circuit, program or matrix contradicts itself.
    #[error("{place}: {why}")]
    Invalid {
        /// Where: "circuit 'add', gate 7".
        place: String,
        /// The reason: the expected value and the actual one.
        why: String,
    },
    /// A text file does not have its form.
    #[error("{format} file, line {line}: {why}")]
    Syntax {
        /// The format by name.
        format: &'static str,
        /// The line, counted from one.
        line: usize,
        /// The reason: the expected value and the actual one.
        why: String,
    },
    /// A name that nobody knows.
    #[error("no {what} is named '{name}'{}", hint(.near))]
    Unknown {
        /// The kind of thing that was looked for: "block".
        what: &'static str,
        /// The name given.
        name: String,
        /// Known names that look like it.
        near: Vec<String>,
    },
    /// The caller asked for something that cannot be.
    #[error("{0}")]
    Usage(String),
}

impl Error {
    /// Something at `place` contradicts itself.
    pub fn invalid(place: impl Into<String>, why: impl Into<String>) -> Self {
        Error::Invalid { place: place.into(), why: why.into() }
    }

    /// The caller asked for something that cannot be.
    pub fn usage(why: impl Into<String>) -> Self {
        Error::Usage(why.into())
    }
}

fn hint(near: &[String]) -> String {
    match near {
        [] => String::new(),
        names => format!(": did you mean {}?", names.join(", ")),
    }
}

/// `1 byte`, `2 bytes`.
#[doc(hidden)]
pub fn counted(number: u64, noun: &str) -> String {
    let plural = if number == 1 { "" } else { "s" };
    format!("{number} {noun}{plural}")
}

//! What can be wrong with a circuit, a program or a file, and where.

/// The result of everything that can fail in this crate.
pub type Result<T> = std::result::Result<T, Error>;

/// What is wrong, and where.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A circuit, program or matrix contradicts itself.
    #[error("{place}: {why}")]
    Invalid {
        /// Where: "circuit 'add', gate 7".
        place: String,
        /// What was expected and what came.
        why: String,
    },
    /// A text file does not have its form.
    #[error("{format} file, line {line}: {why}")]
    Syntax {
        /// The format by name.
        format: &'static str,
        /// The line, counted from one.
        line: usize,
        /// What was expected and what came.
        why: String,
    },
    /// A name that nobody knows.
    #[error("no {what} is named '{name}'{}", hint(.near))]
    Unknown {
        /// What was looked for: "block".
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

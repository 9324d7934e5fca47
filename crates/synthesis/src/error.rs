//! What can go wrong between Verilog and a circuit.

/// The result of everything that can fail here.
pub type Result<T> = std::result::Result<T, Error>;

/// An error by who is to blame.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// Yosys is not there, or cannot be run.
    #[error("{why}")]
    Tool {
        /// The reason.
        why: String,
        /// How to get one that works.
        hint: String,
    },
    /// Yosys refuses the sources, in its own words.
    #[error("{why}")]
    Source {
        /// What it said.
        why: String,
        /// What to do, if that is more than to mend the source.
        hint: String,
    },
    /// The design asks for what no circuit can do, or what is not supported.
    #[error("{place}: {why}")]
    Design {
        /// File and line, or the name of the cell.
        place: String,
        /// What stands there.
        why: String,
        /// What to write instead.
        hint: String,
    },
    /// The netlist does not have its form.
    #[error("netlist: {0}")]
    Netlist(String),
    /// The caller asked for something that cannot be.
    #[error("{why}")]
    Usage {
        /// The reason.
        why: String,
        /// What to do.
        hint: String,
    },
    /// The circuit cannot be made: a name that is none, say.
    #[error(transparent)]
    Circuit(#[from] circuit::Error),
}

impl Error {
    pub(crate) fn netlist(why: impl Into<String>) -> Self {
        Error::Netlist(why.into())
    }

    pub(crate) fn design(place: impl Into<String>, why: impl Into<String>, hint: impl Into<String>) -> Self {
        Error::Design { place: place.into(), why: why.into(), hint: hint.into() }
    }

    pub(crate) fn usage(why: impl Into<String>, hint: impl Into<String>) -> Self {
        Error::Usage { why: why.into(), hint: hint.into() }
    }

    /// What the user can do about it.
    pub fn hint(&self) -> Option<&str> {
        match self {
            Error::Tool { hint, .. } | Error::Design { hint, .. } | Error::Usage { hint, .. } => Some(hint),
            Error::Source { hint, .. } if !hint.is_empty() => Some(hint),
            _ => None,
        }
    }
}

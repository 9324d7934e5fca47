//! Functionalities: the plain meaning of calls.
//!
//! A call is a step that a two-party protocol of its own computes, not a circuit. Here stands what it computes, on plain
//! bits and without cryptography; how two parties compute it is none of this crate's business. A program carries the
//! functionalities that it calls, so that it is bound, evaluated and checked without a global list; whoever reads a
//! file hands them in.

use super::Party;
use crate::error::{Error, Result};
use crate::graph::Type;
use crate::matrix::BitMatrix;
use std::sync::Arc;

/// Who holds an argument or a result of a call.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Holder {
    /// One party knows it, and the other nothing of it.
    Party(Party),
    /// Each party has an XOR share.
    Shared,
}

/// An argument or a result of a call.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct CallPort {
    /// The type of one lane.
    pub ty: Type,
    /// Who holds it.
    pub holder: Holder,
}

/// The plain meaning of a call, for all parameters of its version. Every method is a function of its arguments alone, and
/// the same on every platform.
pub trait Functionality: Send + Sync {
    /// Its name, at most 255 bytes without control characters. Names with the prefix of a crate do not meet.
    fn name(&self) -> &str;

    /// Its version. Whatever changes the meaning, or what its protocol sends, changes it.
    fn version(&self) -> u32;

    /// The results for these arguments. A value that one party supplies as an input, or that a call gives to one party,
    /// is held by that party; all others are shared.
    ///
    /// # Errors
    /// [`Error::Usage`] that says what is wrong with the parameters, or the number or types of arguments.
    fn results(&self, parameters: &[u8], args: &[CallPort]) -> Result<Vec<CallPort>>;

    /// The numbers of lanes of the results, for those of the arguments.
    ///
    /// # Errors
    /// [`Error::Usage`] if they do not fit together.
    fn lanes(&self, parameters: &[u8], args: &[u64]) -> Result<Vec<u64>>;

    /// The results on plain values: bits × lanes of each argument. Types and lanes were checked.
    fn evaluate(&self, parameters: &[u8], args: &[BitMatrix]) -> Vec<BitMatrix>;
}

/// Functionalities by name and version.
#[derive(Clone, Default)]
pub struct Functionalities(Vec<Arc<dyn Functionality>>);

impl Functionalities {
    /// None at all.
    pub fn new() -> Self {
        Functionalities::default()
    }

    /// Adds one, in place of any other of the same name and version.
    pub fn add(&mut self, functionality: Arc<dyn Functionality>) {
        self.0.retain(|known| !is_called(&**known, functionality.name(), functionality.version()));
        self.0.push(functionality);
    }

    /// These and one more.
    #[must_use]
    pub fn with(mut self, functionality: Arc<dyn Functionality>) -> Self {
        self.add(functionality);
        self
    }

    /// The functionality of this name and version.
    ///
    /// # Errors
    /// [`Error::Usage`] if there is none, with the versions that there are.
    pub fn find(&self, name: &str, version: u32) -> Result<&Arc<dyn Functionality>> {
        let found = self.0.iter().find(|known| is_called(&***known, name, version));
        found.ok_or_else(|| {
            let versions = self.0.iter().filter(|known| known.name() == name).map(|known| known.version().to_string());
            Error::usage(match versions.collect::<Vec<_>>().join(", ") {
                none if none.is_empty() => format!("calls '{name}' version {version}, which was not handed in"),
                known => format!("calls '{name}' version {version}, of which only version {known} was handed in"),
            })
        })
    }
}

fn is_called(functionality: &dyn Functionality, name: &str, version: u32) -> bool {
    functionality.name() == name && functionality.version() == version
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    /// Gives its arguments back as shares.
    pub struct Same;

    impl Functionality for Same {
        fn name(&self) -> &str {
            "test:same"
        }

        fn version(&self) -> u32 {
            1
        }

        fn results(&self, _: &[u8], args: &[CallPort]) -> Result<Vec<CallPort>> {
            Ok(args.iter().map(|arg| CallPort { ty: arg.ty, holder: Holder::Shared }).collect())
        }

        fn lanes(&self, _: &[u8], args: &[u64]) -> Result<Vec<u64>> {
            Ok(args.to_vec())
        }

        fn evaluate(&self, _: &[u8], args: &[BitMatrix]) -> Vec<BitMatrix> {
            args.to_vec()
        }
    }
}

//! The two parties of a program.

use std::fmt;

/// Who owns an input or learns an output.
///
/// A party is not a role: who garbles, who sends oblivious transfers and who listens are chosen apart from it.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Party {
    /// The first party.
    Alice,
    /// The second party.
    Bob,
}

impl Party {
    /// The other party.
    pub fn peer(self) -> Party {
        match self {
            Party::Alice => Party::Bob,
            Party::Bob => Party::Alice,
        }
    }
}

impl fmt::Display for Party {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Party::Alice => "alice",
            Party::Bob => "bob",
        })
    }
}

//! The ways of garbling an AND that a user can choose.

use crate::{Error, Result};
use kernels::half_gates::HalfGates;
use kernels::three_halves::ThreeHalves;
use std::fmt;
use std::str::FromStr;

/// How Yao garbles an AND.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
#[non_exhaustive]
pub enum Garbling {
    /// 32 bytes an AND, four hash calls to garble it and two to evaluate it.
    #[default]
    HalfGates,
    /// 25 bytes an AND, six calls and three, each followed by more work: for links that are slower than the garbler.
    ThreeHalves,
}

impl Garbling {
    /// Both of them.
    pub const ALL: [Garbling; 2] = [Garbling::HalfGates, Garbling::ThreeHalves];

    /// Its name in options and terms.
    pub const fn name(self) -> &'static str {
        match self {
            Garbling::HalfGates => "half-gates",
            Garbling::ThreeHalves => "three-halves",
        }
    }

    /// Bytes of an AND's table.
    pub const fn table(self) -> usize {
        match self {
            Garbling::HalfGates => HalfGates::TABLE,
            Garbling::ThreeHalves => ThreeHalves::TABLE,
        }
    }
}

impl FromStr for Garbling {
    type Err = Error;

    fn from_str(name: &str) -> Result<Self> {
        let found = Garbling::ALL.into_iter().find(|garbling| garbling.name() == name);
        found.ok_or_else(|| Error::usage(format!("no way of garbling is called '{name}'")))
    }
}

impl fmt::Display for Garbling {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

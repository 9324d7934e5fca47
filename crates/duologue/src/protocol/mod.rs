//! The protocols, and the list of those that a user can choose.
//!
//! The rest of the crate knows of a protocol what its [`Descriptor`] says. To add one: a folder with its two roles, its
//! lengths, its descriptor and its tests, and a line in `schemes!` beside its `mod`.

pub(crate) mod gmw;
pub(crate) mod masked_gmw;
pub(crate) mod mixed;
pub mod plain;
pub mod terms;
#[cfg(test)]
mod tests;
pub(crate) mod yao;

use crate::executor::{Engine, Lengths, PlanCache, Program, Window};
use crate::{Error, Party, Result};
use circuit::{Order, Schedule};
use kernels::Block;
use kernels::generator::Generator;
use std::fmt;
use std::ops::RangeInclusive;
use std::str::FromStr;
use terms::{Options, Terms};
use zeroize::Zeroizing;

/// Lists the protocols: the variant that names one, and its descriptor.
macro_rules! schemes {
    ($($(#[$about:meta])* $name:ident = $descriptor:expr),* $(,)?) => {
        /// Which protocol runs a program.
        #[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
        #[non_exhaustive]
        pub enum Scheme { $($(#[$about])* $name),* }

        impl Scheme {
            /// All of them.
            pub const ALL: [Scheme; [$(stringify!($name)),*].len()] = [$(Scheme::$name),*];

            /// Its name in options and terms.
            pub fn name(self) -> &'static str {
                self.descriptor().name()
            }

            /// Whether one party garbles in it: what terms say of that is of no use in the others.
            pub fn has_garbler(self) -> bool {
                self.descriptor().has_garbler()
            }

            pub(crate) fn descriptor(self) -> &'static dyn Descriptor {
                match self { $(Scheme::$name => &$descriptor),* }
            }
        }
    };
}

schemes! {
    /// Garbled circuits: few rounds, 32 bytes an AND, or 25 by [`Garbling::ThreeHalves`](terms::Garbling::ThreeHalves).
    Yao = yao::YaoScheme,
    /// Secret sharing: a round for each layer, half a byte an AND online.
    Gmw = gmw::GmwScheme,
    /// Secret sharing with public masked bits: a quarter of a byte an AND online and ANDs of up to four inputs, for which
    /// setup, always ahead, makes and sends more.
    MaskedGmw = masked_gmw::MaskedGmwScheme,
    /// GMW for steps with many ANDs in a layer, Yao for the others; [`Options::share_from`](terms::Options::share_from) says
    /// which these are.
    Mixed = mixed::MixedScheme,
}

impl FromStr for Scheme {
    type Err = Error;

    fn from_str(name: &str) -> Result<Self> {
        let found = Scheme::ALL.into_iter().find(|scheme| scheme.name() == name);
        found.ok_or_else(|| Error::usage(format!("no protocol is called '{name}'")))
    }
}

impl fmt::Display for Scheme {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// How a protocol wants programs cut into tiles.
pub(crate) struct Tiling {
    pub order: Order,
    /// Memory of one bit of one lane, in bits.
    pub cell_bits: usize,
    /// The fewest and the most lanes of a tile, unless a user asks for others.
    pub lanes: RangeInclusive<usize>,
    pub window: Window,
}

/// A protocol, as the rest of the crate knows it.
pub(crate) trait Descriptor: Sync {
    /// Its name in options and terms.
    fn name(&self) -> &'static str;

    /// Whether one party garbles, which terms then say.
    fn has_garbler(&self) -> bool {
        false
    }

    /// Tiles of a program, of whose inputs the longest has so many lanes.
    fn tiling(&self, most_lanes: u64) -> Tiling;

    /// Bytes that setup keeps for the online phase if it comes ahead, about.
    fn kept(&self, options: &Options, schedule: &Schedule) -> u64;

    /// Whether setup comes ahead of the inputs.
    ///
    /// # Errors
    /// [`Error::Usage`] if it cannot be as the options say.
    fn is_ahead(&self, options: &Options, schedule: &Schedule) -> Result<bool> {
        Ok(options.timing.allows(self.kept(options, schedule)))
    }

    /// Whether a whole run can be prepared in one session for another.
    ///
    /// # Errors
    /// [`Error::Usage`] that says what can be prepared instead.
    fn can_store_runs(&self) -> Result<()> {
        Err(Error::usage(format!("runs of {} cannot be prepared for another session", self.name())))
    }

    /// The lengths of one party.
    fn lengths(&self, terms: &Terms, party: Party, plans: &PlanCache) -> Box<dyn Lengths>;

    /// One party of a program that begins now; both call this at the same moment.
    fn engine(&self, terms: &Terms, program: Program, keys: &mut dyn KeySource) -> Result<Box<dyn Engine>>;

    /// One party of a program whose setup was stored.
    fn resume(&self, _: &Terms, _: Program, _: Resumed<'_>) -> Result<Box<dyn Engine>> {
        self.can_store_runs().and(Err(Error::usage("this protocol resumes no runs")))
    }
}

/// Whatever a program needs besides its terms whose setup was stored.
pub(crate) struct Resumed<'a> {
    pub party: Party,
    /// The program's secret: Δ at the garbler, S at the evaluator.
    pub secret: Zeroizing<Block>,
    /// The number of the program's first AND.
    pub and0: u64,
    /// Lowered plans of the session.
    pub plans: &'a PlanCache,
}

/// The secrets of one program, and the link to the peer for what opens it.
pub(crate) trait KeySource {
    /// This party.
    fn party(&self) -> Party;

    /// The identifier of the session, made of both parties' hellos.
    fn session(&self) -> [u8; 32];

    /// Which program of the session this is.
    fn ordinal(&self) -> u64;

    /// The numbers that the session has used before.
    fn base(&self) -> Base;

    /// Δ of the session's COTs.
    fn delta(&mut self) -> Result<Block>;

    /// Secrets of this party for this program.
    fn own(&self, label: &[u8; 8]) -> Generator;

    /// A generator that only the two parties know, by label and number.
    fn pairwise(&self, label: &[u8; 8], number: u64) -> Generator;

    /// Lowered plans of the session.
    fn plans(&self) -> &PlanCache;

    /// Sends to the peer.
    fn send(&mut self, bytes: &[u8]) -> Result<()>;

    /// Reads so many bytes of the peer's, with which it opens the program; nothing if they need not have come yet: then the link
    /// has them when the protocol is [opened](crate::executor::Protocol::open).
    fn opening(&mut self, len: usize) -> Result<Option<Vec<u8>>>;
}

/// The numbers of a session before a program: ANDs, none twice under one Δ and S, and input bits.
#[derive(Clone, Copy, Default)]
pub(crate) struct Base {
    pub and0: u64,
    pub in0: u64,
}

impl Base {
    /// The numbers after as many more.
    pub fn add(&mut self, more: Base) {
        self.and0 += more.and0;
        self.in0 += more.in0;
    }
}

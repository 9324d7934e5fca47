//! What the two parties agree on before a program runs.
//!
//! Every setting that decides what is sent, and by whom, is a term: a name and a value in text. The terms of both
//! parties are exchanged and must be equal; the first that differs is named on both sides. Settings that are local
//! (threads, verbosity) are no terms.

use crate::executor::Window;
use crate::ot::Extension;
use crate::protocol::gmw;
use crate::{Error, Party, Result};
use circuit::program::{Binding, Owner};
use circuit::{Order, Schedule};
use kernels::half_gates::Ciphertexts;
use kernels::three_halves;
use std::fmt;
use std::str::FromStr;

/// Which protocol runs a program.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Scheme {
    /// Garbled circuits: few rounds, 32 bytes an AND, or 25 by [`Garbling::ThreeHalves`].
    Yao,
    /// Secret sharing: a round for each layer, half a byte an AND online.
    Gmw,
    /// Secret sharing with public masked bits: a quarter of a byte an AND online and ANDs of up to four inputs, for which
    /// setup, always ahead, makes and sends more.
    Masked,
}

impl Scheme {
    /// All of them.
    pub const ALL: [Scheme; 3] = [Scheme::Yao, Scheme::Gmw, Scheme::Masked];
}

impl FromStr for Scheme {
    type Err = Error;

    fn from_str(name: &str) -> Result<Self> {
        let found = Scheme::ALL.into_iter().find(|scheme| scheme.to_string() == name);
        found.ok_or_else(|| Error::usage(format!("no protocol is called '{name}'")))
    }
}

impl fmt::Display for Scheme {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Scheme::Yao => "yao",
            Scheme::Gmw => "gmw",
            Scheme::Masked => "gmw-masked",
        })
    }
}

/// How Yao garbles an AND.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum Garbling {
    /// 32 bytes an AND, four hash calls to garble it and two to evaluate it.
    #[default]
    HalfGates,
    /// 25 bytes an AND, six calls and three, each followed by more work: for lines that are slower than the garbler.
    ThreeHalves,
}

impl Garbling {
    /// Both of them.
    pub const ALL: [Garbling; 2] = [Garbling::HalfGates, Garbling::ThreeHalves];

    /// Bytes of an AND's table.
    pub const fn table(self) -> usize {
        match self {
            Garbling::HalfGates => size_of::<Ciphertexts>(),
            Garbling::ThreeHalves => size_of::<three_halves::Table>(),
        }
    }
}

impl FromStr for Garbling {
    type Err = Error;

    fn from_str(name: &str) -> Result<Self> {
        let found = Garbling::ALL.into_iter().find(|garbling| garbling.to_string() == name);
        found.ok_or_else(|| Error::usage(format!("no way of garbling is called '{name}'")))
    }
}

impl fmt::Display for Garbling {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Garbling::HalfGates => "half-gates",
            Garbling::ThreeHalves => "three-halves",
        })
    }
}

/// When setup happens.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum Timing {
    /// Ahead if what must be kept fits into memory easily, else streamed.
    #[default]
    Auto,
    /// All of it before the first input is used.
    Ahead,
    /// Just before it is needed, in bounded memory.
    Streamed,
}

/// What a caller may choose; both parties choose alike.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Options {
    /// The protocol.
    pub scheme: Scheme,
    /// Who garbles; by default whoever supplies more input bits, since the garbler's are cheaper.
    pub garbler: Option<Party>,
    /// How it garbles.
    pub garbling: Garbling,
    /// When setup happens.
    pub timing: Timing,
    /// The most lanes of a tile; by default what fits into the processor's cache.
    pub tile: Option<usize>,
    /// What makes correlations, when they are not from a pool; one for all programs of a session.
    pub extension: Extension,
}

impl Options {
    /// A protocol with everything else chosen by rule.
    pub fn new(scheme: Scheme) -> Options {
        Options {
            scheme,
            garbler: None,
            garbling: Garbling::default(),
            timing: Timing::Auto,
            tile: None,
            extension: Extension::DEFAULT,
        }
    }
}

impl Options {
    /// The same for [`Session::prepare_to`](crate::Session::prepare_to): only Yao can be prepared as a whole, and only
    /// ahead of time.
    ///
    /// # Errors
    /// [`Error::Usage`] that says what is there for GMW.
    pub fn for_shelf(&self) -> Result<Options> {
        match (self.scheme, self.timing) {
            (Scheme::Gmw | Scheme::Masked, _) => Err(Error::usage(
                "whole runs are prepared for yao only; what gmw makes ahead of time are triples in a pool: \
                 `duologue prepare --triples`",
            )),
            (_, Timing::Streamed) => Err(Error::usage("a run that is prepared cannot be streamed")),
            _ => Ok(Options { timing: Timing::Ahead, ..*self }),
        }
    }
}

/// Options with every rule applied to one program.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Terms {
    /// The protocol.
    pub scheme: Scheme,
    /// Who garbles.
    pub garbler: Party,
    /// How.
    pub garbling: Garbling,
    /// Whether all of setup comes first.
    pub ahead: bool,
    /// What may be under way at once.
    pub window: Window,
    /// What makes correlations.
    pub extension: Extension,
}

/// The working set of a tile, in bytes: a share of a core's second-level cache, beside which there is room for what is
/// sent.
const CACHE: usize = 1 << 20;

/// What setup ahead of time may keep unless it is asked for, in bytes.
const KEEP: u64 = 64 << 20;

/// The most ANDs of the masked mode, which keeps its setup: a gigabyte or two.
const MASKED: u64 = 1 << 31;

impl Terms {
    /// Applies the rules; the schedule is derived on the way.
    ///
    /// # Errors
    /// If the program is too large at these sizes.
    pub(crate) fn resolve(binding: &Binding, options: &Options) -> Result<(Terms, Schedule)> {
        let garbler = options.garbler.unwrap_or_else(|| heavier_owner(binding));
        let most_lanes = binding.inputs().iter().map(|port| port.lanes).max().unwrap_or(1);
        let (order, cell_bits, lanes) = match options.scheme {
            Scheme::Yao if most_lanes < 16 => (Order::Layered, 128, 16..=1 << 12),
            Scheme::Yao => (Order::DepthFirst, 128, 16..=1 << 12),
            Scheme::Gmw | Scheme::Masked => (Order::Layered, 1, 64..=1 << 16),
        };
        let fitting = |slots: usize| {
            let lanes_that_fit = CACHE * 8 / (slots.max(1) * cell_bits);
            let rounded = (lanes_that_fit + 1).next_power_of_two() / 2;
            options.tile.unwrap_or(rounded.clamp(*lanes.start(), *lanes.end()))
        };
        let schedule = Schedule::new(binding, order, fitting).map_err(|error| Error::usage(error.to_string()))?;
        let window = match options.scheme {
            Scheme::Yao => Window { cells: 16 << 20, maps: 1 << 20 },
            Scheme::Gmw | Scheme::Masked => Window { cells: 64 << 20, maps: 96 << 20 },
        };
        let kept = match options.scheme {
            Scheme::Yao => {
                schedule.totals.and0.saturating_mul(options.garbling.table() as u64)
                    + schedule.totals.in0.saturating_mul(32)
            }
            Scheme::Gmw => (schedule.totals.and0 + schedule.totals.in0) / 2 + gmw::vector_cots(&schedule) * 32,
            Scheme::Masked if schedule.totals.and0 > MASKED => {
                return Err(Error::usage(format!(
                    "gmw-masked keeps the setup of all {} ANDs in memory, at most {MASKED}: gmw streams",
                    schedule.totals.and0
                )));
            }
            Scheme::Masked => 0,
        };
        let ahead = match options.timing {
            Timing::Streamed if options.scheme == Scheme::Masked => {
                return Err(Error::usage("gmw-masked cannot stream its setup: every task would take a round trip"));
            }
            Timing::Auto if options.scheme == Scheme::Masked => true,
            Timing::Auto => kept <= KEEP,
            Timing::Ahead => true,
            Timing::Streamed => false,
        };
        let Options { scheme, garbling, extension, .. } = *options;
        Ok((Terms { scheme, garbler, garbling, ahead, window, extension }, schedule))
    }
}

/// The party with more secret input bits; Bob if they are equal, so that Alice learns outputs without a message.
fn heavier_owner(binding: &Binding) -> Party {
    let bits = |party| -> u64 {
        let own = binding.inputs().iter().filter(|port| port.who == Owner::Party(party));
        own.map(|port| port.lanes * u64::from(port.ty.width)).sum()
    };
    if bits(Party::Alice) > bits(Party::Bob) { Party::Alice } else { Party::Bob }
}

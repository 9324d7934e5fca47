//! The choices of a run: what a user asks for, and what it becomes for one program.
//!
//! Every choice that decides what is sent, and by whom, is compared by the parties before anything else. Local settings
//! (threads, verbosity) are none.

pub use super::yao::Garbling;
use super::{Scheme, Tiling};
use crate::channel::Link;
use crate::correlation::MakerTerm;
pub use crate::executor::Window;
use crate::ot::Extension;
use crate::{Error, Party, Result};
use circuit::Schedule;
use circuit::program::{Binding, Owner, Technique, Way};

/// When setup happens.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
#[non_exhaustive]
pub enum Timing {
    /// Ahead if what must be kept fits into memory easily, else streamed.
    #[default]
    Auto,
    /// All of it before the first input is used.
    Ahead,
    /// Just before it is needed, in bounded memory.
    Streamed,
}

/// The choices of a caller; both parties choose alike.
///
/// ```
/// use duologue::{Garbling, Options, Party, Scheme, Timing};
/// let options = Options::new(Scheme::Yao).garbler(Party::Alice).garbling(Garbling::ThreeHalves).timing(Timing::Ahead);
/// assert_eq!(options.garbler, Some(Party::Alice));
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
#[must_use = "options are nothing until a session takes them"]
pub struct Options {
    /// The protocol.
    pub scheme: Scheme,
    /// Who garbles; by default whoever supplies more input bits, since the garbler's are cheaper.
    pub garbler: Option<Party>,
    /// How it garbles.
    pub garbling: Garbling,
    /// When setup happens.
    pub timing: Timing,
    /// The ANDs a layer from which a step of a mixed program is shared; steps of fewer are garbled. By default the first of the
    /// program's [cuts](Binding::cuts); if it has none, all is shared.
    pub share_from: Option<u64>,
    /// The most lanes of a tile; by default what fits into the processor's cache.
    pub tile: Option<usize>,
    /// How many tiles take turns on the wire where Yao's tables are streamed, from 1 to 256; what is beyond counts as the
    /// nearest of these. A party with as many threads
    /// gives each of them one; with fewer or more it sends and reads the same bytes.
    pub strands: usize,
    /// The maker of correlations, when they are not from a pool; one for all programs of a session. None is chosen when the
    /// session first needs one, [by demand, line and processor](crate::correlation::choice).
    pub extension: Option<Extension>,
    /// The line that is assumed where something is chosen by it; by default it is measured.
    pub link: Option<Link>,
}

impl Options {
    /// A protocol with everything else chosen by rule.
    pub fn new(scheme: Scheme) -> Options {
        Options {
            scheme,
            garbler: None,
            garbling: Garbling::default(),
            timing: Timing::Auto,
            share_from: None,
            tile: None,
            strands: 1,
            extension: None,
            link: None,
        }
    }

    /// Sets the protocol, and nothing else.
    pub fn scheme(self, scheme: Scheme) -> Options {
        Options { scheme, ..self }
    }

    /// Sets who garbles, or that the rule decides.
    pub fn garbler(self, garbler: impl Into<Option<Party>>) -> Options {
        Options { garbler: garbler.into(), ..self }
    }

    /// Sets how the garbler garbles.
    pub fn garbling(self, garbling: Garbling) -> Options {
        Options { garbling, ..self }
    }

    /// Sets when setup happens.
    pub fn timing(self, timing: Timing) -> Options {
        Options { timing, ..self }
    }

    /// Sets the ANDs a layer from which a step of a mixed program is shared, or that the rule decides.
    pub fn share_from(self, ands: impl Into<Option<u64>>) -> Options {
        Options { share_from: ands.into(), ..self }
    }

    /// Sets the most lanes of a tile, or that the rule decides.
    pub fn tile(self, lanes: impl Into<Option<usize>>) -> Options {
        Options { tile: lanes.into(), ..self }
    }

    /// Sets how many tiles take turns on the wire where Yao's tables are streamed, from 1 to 256.
    pub fn strands(self, strands: usize) -> Options {
        Options { strands, ..self }
    }

    /// Sets the maker of correlations, or that it is chosen.
    pub fn extension(self, extension: impl Into<Option<Extension>>) -> Options {
        Options { extension: extension.into(), ..self }
    }

    /// Sets the line that is assumed where something is chosen by it, or that it is measured.
    pub fn link(self, link: impl Into<Option<Link>>) -> Options {
        Options { link: link.into(), ..self }
    }

    /// These options for runs that are prepared for a later session, whose setup is always ahead.
    ///
    /// # Errors
    /// [`Error::Usage`] if the protocol's runs cannot be prepared, or setup shall be streamed.
    pub fn for_prepared_runs(&self) -> Result<Options> {
        self.scheme.descriptor().can_store_runs()?;
        match self.timing {
            Timing::Streamed => Err(Error::usage("a run that is prepared cannot be streamed")),
            _ => Ok(Options { timing: Timing::Ahead, ..*self }),
        }
    }
}

/// Options with every rule applied to one program.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct Terms {
    /// The protocol.
    pub scheme: Scheme,
    /// Who garbles, where somebody does.
    pub garbler: Party,
    /// How.
    pub garbling: Garbling,
    /// Whether all of setup comes first.
    pub ahead: bool,
    /// The ANDs a layer from which a step is shared, where the program is mixed; else 0.
    pub share_from: u64,
    /// How much may be under way at once.
    pub window: Window,
    /// How many tiles take turns on the wire: one but for Yao when it is streamed.
    pub strands: usize,
    /// The maker of correlations; none where it is chosen.
    pub extension: Option<Extension>,
    /// The line that it is chosen for; none where that is measured, or nothing is chosen.
    pub link: Option<Link>,
}

/// The working set of a tile, in bytes: a share of a core's second-level cache, beside which there is room for what is
/// sent.
const CACHE: usize = 1 << 20;

/// The most strands; each has the memory of a tile and some chunks at both parties.
const MAX_STRANDS: usize = 256;

/// Bytes that setup ahead of time may keep unless a caller asks for it.
const MAX_STORED: u64 = 64 << 20;

impl Timing {
    /// Whether setup may come ahead, if it stores so many bytes until then.
    pub(super) fn allows(self, stored: u64) -> bool {
        match self {
            Timing::Auto => stored <= MAX_STORED,
            Timing::Ahead => true,
            Timing::Streamed => false,
        }
    }
}

impl Terms {
    /// Applies the rules; the schedule is derived on the way.
    ///
    /// # Errors
    /// If the program is too large at these sizes.
    pub(crate) fn resolve(binding: &Binding, options: &Options) -> Result<(Terms, Schedule)> {
        let schedule = schedule(binding, options)?;
        Ok((Terms::of(binding, options, &schedule)?, schedule))
    }

    /// Applies the rules to a program whose [`schedule`] is there.
    pub(crate) fn of(binding: &Binding, options: &Options, schedule: &Schedule) -> Result<Terms> {
        let descriptor = options.scheme.descriptor();
        let Tiling { window, .. } = descriptor.tiling(most_lanes(binding));
        let ahead = descriptor.is_ahead(options, schedule)?;
        let Options { scheme, garbling, extension, .. } = *options;
        let share_from = share_from(binding, options);
        let garbler = options.garbler.unwrap_or_else(|| heavier_owner(binding));
        let link = options.link.filter(|_| extension.is_none());
        let strands = if descriptor.has_garbler() && !ahead { options.strands.clamp(1, MAX_STRANDS) } else { 1 };
        Ok(Terms { scheme, garbler, garbling, ahead, share_from, window, strands, extension, link })
    }

    /// What they say of the maker of correlations.
    pub(crate) fn maker(&self) -> MakerTerm {
        MakerTerm { extension: self.extension, link: self.link }
    }
}

/// The schedule of a program: of the options it depends on the protocol, the tile, and of a mixed program on what is shared.
///
/// # Errors
/// If the program is too large at these sizes.
pub(crate) fn schedule(binding: &Binding, options: &Options) -> Result<Schedule> {
    let [shared, garbled] = [Technique::Sharing, Technique::Garbling].map(|technique| {
        let tiling = options.scheme.of_part(Some(technique)).descriptor().tiling(most_lanes(binding));
        (tiling.order, tile(tiling, options.tile))
    });
    Ok(match options.scheme {
        Scheme::Mixed => {
            let ways: [Way<'_>; 2] = [(shared.0, &shared.1), (garbled.0, &garbled.1)];
            Schedule::mixed(binding, share_from(binding, options), &ways)?
        }
        _ => Schedule::new(binding, shared.0, shared.1)?,
    })
}

fn share_from(binding: &Binding, options: &Options) -> u64 {
    match options.scheme {
        Scheme::Mixed => options.share_from.or_else(|| binding.cuts().first().copied()).unwrap_or(0),
        _ => 0,
    }
}

/// The most lanes of a tile, by the slots of the largest plan.
fn tile(Tiling { cell_bits, lanes, .. }: Tiling, wanted: Option<usize>) -> impl Fn(usize) -> usize {
    move |slots| {
        let lanes_that_fit = CACHE * 8 / (slots.max(1) * cell_bits);
        let rounded = (lanes_that_fit + 1).next_power_of_two() / 2;
        wanted.unwrap_or(rounded.clamp(*lanes.start(), *lanes.end()))
    }
}

fn most_lanes(binding: &Binding) -> u64 {
    binding.inputs().iter().map(|port| port.lanes).max().unwrap_or(1)
}

/// The party with more secret input bits; Bob if they are equal, so that Alice learns outputs without a message.
fn heavier_owner(binding: &Binding) -> Party {
    let bits = |party| -> u64 {
        let own = binding.inputs().iter().filter(|port| port.who == Owner::Party(party));
        own.map(|port| port.lanes * u64::from(port.ty.width)).sum()
    };
    if bits(Party::Alice) > bits(Party::Bob) { Party::Alice } else { Party::Bob }
}

//! Which maker of COTs a session has, and what it sends, counted without making anything.

use std::fmt;
use std::str::FromStr;

use kernels::generator::Generator;

use super::{CotReceiver, CotSender, ReceiverSeeds, SenderSeeds, os_generator, silent, softspoken};
use crate::{Error, Result};

/// A maker of COTs; both parties have the same.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Extension {
    /// [`softspoken`](super::softspoken) with trees of 2^k leaves: 128/k − 1 bits a COT.
    SoftSpoken {
        /// From 1 to 8.
        k: u8,
    },
    /// [`silent`], of this set of parameters: 1.4 to 0.2 bits a COT, in large batches.
    Silent(silent::Set),
}

/// The sender and the receiver that a party is.
pub type Makers = (Box<dyn CotSender>, Box<dyn CotReceiver>);

impl Extension {
    /// What a session has unless it is told otherwise: little traffic at little computing.
    pub const DEFAULT: Self = Extension::SoftSpoken { k: 4 };

    /// Every maker.
    pub fn all() -> impl Iterator<Item = Self> {
        let softspoken = (1..=8).map(|k| Extension::SoftSpoken { k });
        softspoken.chain(silent::Set::ALL.map(Extension::Silent))
    }

    /// Both sides that a party has: in one direction it sends, in the other it receives. `threads` share the work.
    pub fn makers(self, seeds: (SenderSeeds, ReceiverSeeds), threads: usize) -> Result<Makers> {
        Ok(self.makers_with(&os_generator()?, seeds, threads))
    }

    /// The same with given secrets.
    pub(crate) fn makers_with(self, rng: &Generator, seeds: (SenderSeeds, ReceiverSeeds), threads: usize) -> Makers {
        (self.sender(seeds.0, rng.derive(b"sender  ", 0), threads), self.receiver(seeds.1, threads))
    }

    /// What makes the few COTs that silent OT starts from: little traffic.
    const SEEDS: Self = Extension::SoftSpoken { k: 8 };

    fn sender(self, seeds: SenderSeeds, rng: Generator, threads: usize) -> Box<dyn CotSender> {
        match self {
            Extension::SoftSpoken { k } => Box::new(softspoken::Sender::new(seeds, k, threads)),
            Extension::Silent(set) => {
                let id = seeds.id;
                let inner = Self::SEEDS.sender(seeds, rng.derive(b"inner   ", 0), threads);
                Box::new(silent::Sender::new(id, inner, set, rng, threads))
            }
        }
    }

    /// A receiver's randomness is in its seeds.
    fn receiver(self, seeds: ReceiverSeeds, threads: usize) -> Box<dyn CotReceiver> {
        match self {
            Extension::SoftSpoken { k } => Box::new(softspoken::Receiver::new(seeds, k, threads)),
            Extension::Silent(set) => {
                let id = seeds.id;
                let inner = Self::SEEDS.receiver(seeds, threads);
                Box::new(silent::Receiver::new(id, inner, set, threads))
            }
        }
    }

    /// A maker that has made nothing.
    pub fn lengths(self) -> CotLengths {
        match self {
            Extension::SoftSpoken { k } => CotLengths::SoftSpoken { k, begun: false },
            Extension::Silent(set) => CotLengths::Silent(silent::SilentLengths::new(set, Self::SEEDS.lengths())),
        }
    }
}

impl fmt::Display for Extension {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Extension::SoftSpoken { k } => write!(f, "softspoken{k}"),
            Extension::Silent(set) => set.fmt(f),
        }
    }
}

impl FromStr for Extension {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        Self::all().find(|extension| extension.to_string() == text).ok_or_else(|| {
            let all = "softspoken1 to softspoken8, silent16 to silent19, silent16w to silent19w";
            Error::usage(format!("'{text}' is no maker of correlations: {all}"))
        })
    }
}

/// Where a maker has got to, in lengths alone: the same batches, exchanges and bytes as its two sides.
#[derive(Clone, Debug)]
pub enum CotLengths {
    /// Of [`softspoken`].
    SoftSpoken {
        /// Its k.
        k: u8,
        /// Whether a batch was begun.
        begun: bool,
    },
    /// Of [`silent`].
    Silent(silent::SilentLengths),
}

impl CotLengths {
    /// As [`CotMaker::batch`](super::CotMaker::batch).
    pub fn batch(&self, wanted: u64) -> usize {
        match self {
            CotLengths::SoftSpoken { .. } => softspoken::batch(wanted),
            CotLengths::Silent(silent) => silent.batch(),
        }
    }

    /// As [`CotMaker::ready`](super::CotMaker::ready).
    pub fn ready(&self) -> bool {
        match self {
            CotLengths::SoftSpoken { .. } => true,
            CotLengths::Silent(silent) => silent.ready(),
        }
    }

    /// As [`CotMaker::idle`](super::CotMaker::idle).
    pub fn idle(&self) -> bool {
        match self {
            CotLengths::SoftSpoken { .. } => true,
            CotLengths::Silent(silent) => silent.idle(),
        }
    }

    /// An exchange, before which a batch is begun unless it is of none: the bytes of the sender and of the receiver.
    pub fn exchange(&mut self, batch: usize) -> [usize; 2] {
        match self {
            CotLengths::SoftSpoken { .. } if batch == 0 => [0, 0],
            CotLengths::SoftSpoken { k, begun } => softspoken::message_lens(*k, batch, !std::mem::replace(begun, true)),
            CotLengths::Silent(silent) => silent.exchange(batch > 0),
        }
    }
}

//! The choice of a session's maker of COTs, and the bytes that it sends, counted without making anything.

use std::fmt;
use std::str::FromStr;

use kernels::generator::Generator;

use super::silent::SilentLengths;
use super::softspoken::SoftSpokenLengths;
use super::{CotReceiver, CotSender, ReceiverSeeds, SenderSeeds, os_generator, silent, softspoken};
use crate::threads::Threads;
use crate::{Error, Result};

/// A maker of COTs. Both parties use one and the same.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Extension {
    /// The maker [`softspoken`](super::softspoken) with trees of 2^k leaves: 128/k − 1 bits a COT.
    SoftSpoken {
        /// The planes of a group, from 1 to 8.
        k: u8,
    },
    /// The maker [`silent`] with this set of parameters: 2.6 to 0.2 bits a COT, in large batches.
    Silent(silent::Set),
}

/// A party's COT sender and COT receiver, one for each direction.
pub type Makers = (Box<dyn CotSender>, Box<dyn CotReceiver>);

impl Extension {
    /// The default of a session: little traffic at little computing.
    pub const DEFAULT: Self = Extension::SoftSpoken { k: 4 };

    /// Every maker.
    pub fn all() -> impl Iterator<Item = Self> {
        let softspoken = (1..=8).map(|k| Extension::SoftSpoken { k });
        softspoken.chain(silent::Set::ALL.map(Extension::Silent))
    }

    /// A party's makers of both directions, on seeds of both. `threads` share the work.
    #[doc(hidden)]
    pub fn makers(self, seeds: (SenderSeeds, ReceiverSeeds), threads: usize) -> Result<Makers> {
        Ok(self.makers_with(&os_generator()?, seeds, &Threads::new(threads)?))
    }

    /// The makers of [`makers`](Self::makers), with secrets drawn from `rng`.
    pub(crate) fn makers_with(self, rng: &Generator, seeds: (SenderSeeds, ReceiverSeeds), threads: &Threads) -> Makers {
        (self.sender(seeds.0, rng, threads), self.receiver(seeds.1, threads))
    }

    /// Silent OT starts from a few COTs that SoftSpoken makes with trees of 2^8 leaves, which send the least.
    const SEED_K: u8 = 8;

    pub(crate) fn sender(self, seeds: SenderSeeds, rng: &Generator, threads: &Threads) -> Box<dyn CotSender> {
        match self {
            Extension::SoftSpoken { k } => Box::new(softspoken::Sender::new(seeds, k, threads)),
            Extension::Silent(set) => {
                let id = seeds.id;
                let inner = softspoken::Sender::new(seeds, Self::SEED_K, threads);
                Box::new(silent::Sender::new(id, Box::new(inner), set, rng.derive(b"sender  ", 0), threads))
            }
        }
    }

    /// A receiver's randomness is in its seeds.
    pub(crate) fn receiver(self, seeds: ReceiverSeeds, threads: &Threads) -> Box<dyn CotReceiver> {
        match self {
            Extension::SoftSpoken { k } => Box::new(softspoken::Receiver::new(seeds, k, threads)),
            Extension::Silent(set) => {
                let id = seeds.id;
                let inner = softspoken::Receiver::new(seeds, Self::SEED_K, threads);
                Box::new(silent::Receiver::new(id, Box::new(inner), set, threads))
            }
        }
    }

    /// The lengths of this maker's batches and messages, from its first exchange on.
    #[doc(hidden)]
    pub fn lengths(self) -> CotLengths {
        match self {
            Extension::SoftSpoken { k } => CotLengths::SoftSpoken(SoftSpokenLengths::new(k)),
            Extension::Silent(set) => CotLengths::Silent(SilentLengths::new(set, SoftSpokenLengths::new(Self::SEED_K))),
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
            let all = "softspoken1 to softspoken8, silent, silent16d to silent20d, silent16w to silent19w";
            let unknown = || format!("'{text}' is no maker of correlations: {all}");
            Error::usage(silent::why_gone(text).unwrap_or_else(unknown))
        })
    }
}

/// The progress of a maker in lengths alone: it has the batches, exchanges and bytes of the maker's two sides.
#[derive(Clone, Debug)]
pub enum CotLengths {
    /// The lengths of [`softspoken`].
    SoftSpoken(SoftSpokenLengths),
    /// The lengths of [`silent`].
    Silent(SilentLengths),
}

impl CotLengths {
    /// As [`CotMaker::batch`](super::CotMaker::batch).
    pub fn batch(&self, wanted: u64) -> usize {
        match self {
            CotLengths::SoftSpoken(softspoken) => softspoken.batch(wanted),
            CotLengths::Silent(silent) => silent.batch(wanted),
        }
    }

    /// As [`CotMaker::ready`](super::CotMaker::ready).
    pub fn ready(&self) -> bool {
        match self {
            CotLengths::SoftSpoken(_) => true,
            CotLengths::Silent(silent) => silent.ready(),
        }
    }

    /// As [`CotMaker::idle`](super::CotMaker::idle).
    pub fn idle(&self) -> bool {
        match self {
            CotLengths::SoftSpoken(_) => true,
            CotLengths::Silent(silent) => silent.idle(),
        }
    }

    /// As [`CotMaker::one_way`](super::CotMaker::one_way).
    pub fn one_way(&self) -> bool {
        matches!(self, CotLengths::SoftSpoken(_))
    }

    /// The next exchange, before which a batch of `batch` COTs is begun unless that is zero: the bytes of the sender
    /// and of the receiver.
    pub fn exchange(&mut self, batch: usize) -> [usize; 2] {
        match self {
            CotLengths::SoftSpoken(softspoken) => softspoken.exchange(batch),
            CotLengths::Silent(silent) => silent.exchange(batch),
        }
    }
}

//! Which maker of COTs a session has, and what it sends, counted without making anything.

use std::fmt;
use std::str::FromStr;

use kernels::generator::Generator;

use super::{CotReceiver, CotSender, ReceiverSeeds, SenderSeeds, os_generator, softspoken};
use crate::{Error, Result};

/// A maker of COTs; both parties have the same.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Extension {
    /// [`softspoken`](super::softspoken) with trees of 2^k leaves: 128/k − 1 bits a COT.
    SoftSpoken {
        /// From 1 to 8.
        k: u8,
    },
}

/// The sender and the receiver that a party is.
pub type Makers = (Box<dyn CotSender>, Box<dyn CotReceiver>);

impl Extension {
    /// What a session has unless it is told otherwise: little traffic at little computing.
    pub const DEFAULT: Self = Extension::SoftSpoken { k: 4 };

    /// Both sides that a party has: in one direction it sends, in the other it receives. `threads` share the work.
    pub fn makers(self, seeds: (SenderSeeds, ReceiverSeeds), threads: usize) -> Result<Makers> {
        Ok(self.makers_with(&os_generator()?, seeds, threads))
    }

    /// The same with given secrets.
    pub(crate) fn makers_with(self, rng: &Generator, seeds: (SenderSeeds, ReceiverSeeds), threads: usize) -> Makers {
        let sender = self.sender(seeds.0, rng.derive(b"sender  ", 0), threads);
        (sender, self.receiver(seeds.1, rng.derive(b"receiver", 0), threads))
    }

    fn sender(self, seeds: SenderSeeds, _rng: Generator, threads: usize) -> Box<dyn CotSender> {
        match self {
            Extension::SoftSpoken { k } => Box::new(softspoken::Sender::new(seeds, k, threads)),
        }
    }

    fn receiver(self, seeds: ReceiverSeeds, _rng: Generator, threads: usize) -> Box<dyn CotReceiver> {
        match self {
            Extension::SoftSpoken { k } => Box::new(softspoken::Receiver::new(seeds, k, threads)),
        }
    }

    /// A maker that has made nothing.
    pub fn outline(self) -> Outline {
        Outline { extension: self, begun: false }
    }
}

impl fmt::Display for Extension {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Extension::SoftSpoken { k } => write!(f, "softspoken{k}"),
        }
    }
}

impl FromStr for Extension {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let k = text.strip_prefix("softspoken").and_then(|k| k.parse().ok()).filter(|k| (1..=8).contains(k));
        k.map(|k| Extension::SoftSpoken { k })
            .ok_or_else(|| Error::usage(format!("'{text}' is no maker of correlations: softspoken1 to softspoken8")))
    }
}

/// Where a maker has got to, in lengths alone: the same batches, exchanges and bytes as its two sides.
#[derive(Clone, Debug)]
pub struct Outline {
    extension: Extension,
    /// Whether a batch was begun.
    begun: bool,
}

impl Outline {
    /// As [`CotMaker::batch`](super::CotMaker::batch).
    pub fn batch(&self, wanted: u64) -> usize {
        softspoken::batch(wanted)
    }

    /// As [`CotMaker::ready`](super::CotMaker::ready).
    pub fn ready(&self) -> bool {
        true
    }

    /// As [`CotMaker::idle`](super::CotMaker::idle).
    pub fn idle(&self) -> bool {
        true
    }

    /// An exchange, before which a batch is begun unless it is of none: the bytes of the sender and of the receiver.
    pub fn exchange(&mut self, batch: usize) -> [usize; 2] {
        let Extension::SoftSpoken { k } = self.extension;
        match batch {
            0 => [0, 0],
            _ => [0, softspoken::message_len(k, batch, !std::mem::replace(&mut self.begun, true))],
        }
    }
}

//! First messages: who is who, and what the holder of the data learns of the function.

use crate::proposal::Method;
use duologue::{Error, Result};
use std::ops::Range;

/// Gates and outputs that travel together.
pub const CHUNK: u64 = 512;

/// The most gates of a function.
pub const MOST_GATES: u64 = 1 << 28;

/// The most input bits, and the most output bits.
pub const MOST_BITS: u32 = 1 << 20;

/// The most runs of a function: what they send together can still be counted in 64 bits.
pub const MOST_RUNS: u32 = 1 << 20;

const MAGIC: [u8; 8] = *b"duo-priv";
const VERSION: u16 = 1;

impl Method {
    /// # Errors
    /// [`Error::Incompatible`] if the peer's is another.
    fn agree(self, theirs: u8) -> Result<()> {
        if self.number() == usize::from(theirs) {
            return Ok(());
        }
        let theirs = Method::ALL.iter().find(|method| method.number() == usize::from(theirs));
        let theirs = theirs.map_or("one that this version does not know", |method| method.name());
        Err(Error::Incompatible { what: "the method", ours: self.name().into(), theirs: theirs.into(), place: None })
    }
}

/// Bytes of a first message, of either party.
pub(crate) const HELLO: usize = 8 + 2 + 1 + 1 + 4 + 4 + 8 + 8 + 4 + 32;

/// Everything that the holder of the data learns of the function.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Sizes {
    /// Input bits.
    pub inputs: u32,
    /// Output bits.
    pub outputs: u32,
    /// Gates, with those that pad it.
    pub gates: u64,
    /// Additions outside gates, with those that pad it: they show in the time that its holder takes.
    pub additions: u64,
}

impl Sizes {
    /// Points that are sent of the function: one a gate, one an output.
    pub const fn queries(&self) -> u64 {
        self.gates + self.outputs as u64
    }

    /// What is out of range, if something is.
    pub(crate) fn check(&self) -> std::result::Result<(), String> {
        match *self {
            Sizes { inputs, .. } if !(1..=MOST_BITS).contains(&inputs) => {
                Err(format!("{inputs} input bits, and there are 1 to {MOST_BITS}"))
            }
            Sizes { outputs, .. } if !(1..=MOST_BITS).contains(&outputs) => {
                Err(format!("{outputs} output bits, and there are 1 to {MOST_BITS}"))
            }
            Sizes { gates, .. } if gates > MOST_GATES => Err(format!("{gates} gates, at most {MOST_GATES}")),
            Sizes { additions, .. } if additions > 64 * MOST_GATES => Err(format!("{additions} additions")),
            _ => Ok(()),
        }
    }
}

/// What is wrong with a number of runs, if something is.
pub(crate) fn check_runs(runs: u32) -> std::result::Result<(), String> {
    match runs {
        1..=MOST_RUNS => Ok(()),
        _ => Err(format!("{runs} runs, and there are 1 to {MOST_RUNS}")),
    }
}

/// The queries of a chunk.
pub(crate) fn chunk(queries: u64, number: u64) -> Range<u64> {
    (number * CHUNK).min(queries)..((number + 1) * CHUNK).min(queries)
}

/// What the holder of a function offers, and shows before the other party consents.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Offer {
    /// What is learnt of the function.
    pub sizes: Sizes,
    /// How often it may be run.
    pub runs: u32,
    /// The number of the wired function, drawn at random.
    pub id: [u8; 32],
}

/// In place of a number of bits: as many as the function takes.
pub(crate) const ANY: u32 = 0;

/// A first message.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Hello {
    /// Alice's.
    Offer(Offer),
    /// Bob's: the bits of his data.
    Data { inputs: u32 },
}

impl Offer {
    /// # Errors
    /// [`Error::Usage`] if there are no runs, or too many: a peer would refuse it.
    pub(crate) fn new(sizes: Sizes, runs: u32, id: [u8; 32]) -> Result<Self> {
        let why = |why| Error::usage(format!("no private function has {why}"));
        check_runs(runs).map_err(why).map(|()| Offer { sizes, runs, id })
    }

    /// Whether the function takes data of so many bits.
    pub(crate) fn takes(&self, x: &[bool]) -> Result<()> {
        let (given, inputs) = (x.len(), self.sizes.inputs as usize);
        let why = || Error::usage(format!("the data has {given} bits, and the function takes {inputs}"));
        if given == inputs { Ok(()) } else { Err(why()) }
    }

    /// What a run is bound to: the offer as it travels.
    pub(crate) fn to_bytes(&self, method: Method) -> Vec<u8> {
        Hello::Offer(self.clone()).to_bytes(method)
    }
}

impl Hello {
    pub fn to_bytes(&self, method: Method) -> Vec<u8> {
        let nothing = Sizes { inputs: 0, outputs: 0, gates: 0, additions: 0 };
        let (role, sizes, runs, id) = match self {
            Hello::Offer(Offer { sizes, runs, id }) => (0, *sizes, *runs, *id),
            Hello::Data { inputs } => (1, Sizes { inputs: *inputs, ..nothing }, 0, [0; 32]),
        };
        let mut bytes = Vec::with_capacity(HELLO);
        bytes.extend(MAGIC);
        bytes.extend(VERSION.to_le_bytes());
        bytes.extend([method.number() as u8, role]);
        bytes.extend(sizes.inputs.to_le_bytes());
        bytes.extend(sizes.outputs.to_le_bytes());
        bytes.extend(sizes.gates.to_le_bytes());
        bytes.extend(sizes.additions.to_le_bytes());
        bytes.extend(runs.to_le_bytes());
        bytes.extend(id);
        bytes
    }

    /// Reads a first message.
    ///
    /// # Errors
    /// [`Error::Peer`] if no party of this protocol sends it, [`Error::Incompatible`] if one of another version or method does.
    pub fn from_bytes(bytes: &[u8], ours: Method) -> Result<Hello> {
        let mut fields = Fields(bytes);
        if fields.take()? != MAGIC {
            return Err(Error::peer("it does not evaluate private functions: both parties give `duologue private`"));
        }
        same("the version of private functions", u64::from(VERSION), u64::from(u16::from_le_bytes(fields.take()?)))?;
        let [method, role] = fields.take()?;
        ours.agree(method)?;
        let (inputs, outputs) = (u32::from_le_bytes(fields.take()?), u32::from_le_bytes(fields.take()?));
        let (gates, additions) = (u64::from_le_bytes(fields.take()?), u64::from_le_bytes(fields.take()?));
        let (runs, id) = (u32::from_le_bytes(fields.take()?), fields.take()?);
        let sizes = Sizes { inputs, outputs, gates, additions };
        match (role, fields.0.is_empty()) {
            (0, true) => match sizes.check().and_then(|()| check_runs(runs)) {
                Ok(()) => Ok(Hello::Offer(Offer { sizes, runs, id })),
                Err(why) => Err(Error::peer(format!("it offers a function of {why}"))),
            },
            (1, true) if Hello::Data { inputs }.to_bytes(ours) == bytes => Ok(Hello::Data { inputs }),
            _ => Err(Error::peer("its first message is none")),
        }
    }
}

/// # Errors
/// [`Error::Incompatible`] if the numbers differ.
pub(crate) fn same(what: &'static str, ours: u64, theirs: u64) -> Result<()> {
    let [ours, theirs] = [ours, theirs].map(|number| (number, number.to_string()));
    if ours.0 == theirs.0 {
        Ok(())
    } else {
        Err(Error::Incompatible { what, ours: ours.1, theirs: theirs.1, place: None })
    }
}

/// Fields of fixed length, one after the other.
pub(crate) struct Fields<'a>(pub &'a [u8]);

impl Fields<'_> {
    pub fn take<const N: usize>(&mut self) -> Result<[u8; N]> {
        let (field, rest) = self.0.split_first_chunk().ok_or_else(|| Error::peer("its first message is too short"))?;
        self.0 = rest;
        Ok(*field)
    }

    pub fn number(&mut self) -> Result<u64> {
        self.take().map(u64::from_le_bytes)
    }
}

//! Private set intersection: which of a party's strings the other party has too, as a call.
//!
//! Rindal, Schoppmann: *VOLE-PSI* (EUROCRYPT 2021, ePrint 2021/266), figure 8, semi-honest, with the key-value store of
//! Raghuraman and Rindal (CCS 2022, ePrint 2022/320; `okvs.rs`) and VOLE of our own silent OT (`vole`). The *receiver* encodes its
//! strings x with values H(x) in a table P, which decodes to H(x) for these and to something else for all others:
//!
//! ```text
//! setup    receiver: a, c           sender: Δ, b with c = b + Δ·a
//! receiver → sender                 a seed, and a + P
//! sender                            k = b + Δ·(a + P) = c + Δ·P
//!                                   F(y) = h(y, decode(k, y) − Δ·H(y))     for x in both: h(x, decode(c, x))
//! sender → receiver                 F(y) of all its y, in ascending order
//! receiver                          F(x) = h(x, decode(c, x)): x is in both if F(x) has come
//! receiver → sender                 if both learn: a bit for each F(y), whether it is in both
//! ```
//!
//! F(y) has 40 + log₂(n·m) bits, in whole bytes, so that two different strings of n and m have the same with less than 2⁻⁴⁰. In
//! ascending order they say nothing of the order of the sender's strings. Of equal strings of the sender one F(y) is sent, and in
//! place of the others random bits: nobody learns how often it has a string.
//!
//! **Security**: semi-honest parties; that of VOLE, BLAKE3 as a random oracle, AES under public keys as random
//! permutations. To the sender a + P is random. For a y that is not the receiver's, P decodes to H(y) with 2⁻¹²⁸, and h is asked
//! for Δ times something else than zero, which the receiver cannot guess. Both learn how many strings either has.
//!
//! **Departs** from the paper: h has y besides, and the values H(x) and the rows come from AES under keys that hang on the seed, which
//! the receiver draws when both inputs are fixed, and on the session, in which the sender has a part.

mod layout;
mod okvs;
mod online;
mod oprf;
mod proposal;
mod setup;
pub mod shares;
mod tags;

use duologue::Conditions;
use duologue::call::{Call, CallLengths, CallProtocol, CallWork, Context, OnlineStage, SetupStage, Zeroizing};
use duologue::circuit::program::{CallPort, Functionality, Holder, Recipient};
use duologue::circuit::{BitMatrix, Error, Party, Program, bits};
use duologue::correlation::{Demand, choice};
use duologue::ot::Extension;
use duologue::ot::silent::Set;
use layout::Layout;
use online::{Receiver, Sender};
pub use proposal::{Proposal, Reveal};
use setup::Setup;
use std::collections::HashSet;
use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

/// The most strings of a party.
pub const MOST: u64 = okvs::MOST as u64;

/// From so many strings of either party on the OTs of shares are made by silent OT.
const SILENT: u64 = 1 << 14;

/// The maker of OTs for [`shares`] of these numbers of strings; for few none is named. With many a hundred OTs a string are to be made, and
/// silent OT sends a tenth of what others would: by the dual set whose round computes least for each OT, or where `line` tells what it takes, by the
/// one that is predicted to be done first. Larger rounds wait less often for the line.
pub fn silent_for(sizes: [u64; 2], line: Option<(&Conditions, &Demand)>) -> Option<Extension> {
    if sizes[0].min(sizes[1]) < SILENT {
        return None;
    }
    let chosen = line.and_then(|(conditions, demand)| choice::least(&SETS.map(Extension::Silent), *demand, conditions));
    Some(chosen.unwrap_or(Extension::Silent(SETS[0])))
}

/// The sets among which that is.
const SETS: [Set; 3] = [Set::DUAL_18, Set::ALL[7], Set::ALL[8]];

/// Bytes of the probe by which the line is measured for it, in each direction.
pub const PROBE: usize = 16 << 10;

/// Whether the line is worth a measurement.
pub fn is_measured(sizes: [u64; 2]) -> bool {
    sizes[0].min(sizes[1]) >= SILENT
}

/// Bits of a string, at most: longer ones are hashed.
pub const MOST_WIDTH: u32 = 128;

/// Who learns which of its strings are in both sets.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Learns {
    /// One party.
    Only(Party),
    /// Both parties.
    Both,
}

impl Learns {
    /// All there are, by their numbers as a parameter.
    pub const ALL: [Learns; 3] = [Learns::Only(Party::Alice), Learns::Only(Party::Bob), Learns::Both];

    /// Whether this party does.
    pub fn includes(self, party: Party) -> bool {
        self == Learns::Both || self == Learns::Only(party)
    }

    /// The number that stands for it.
    pub fn number(self) -> u8 {
        match self {
            Learns::Only(Party::Alice) => 0,
            Learns::Only(Party::Bob) => 1,
            Learns::Both => 2,
        }
    }
}

impl fmt::Display for Learns {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Learns::Only(party) => write!(f, "{}", party.to_string().to_lowercase()),
            Learns::Both => f.write_str("both"),
        }
    }
}

impl FromStr for Learns {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let found = Learns::ALL.into_iter().find(|learns| learns.to_string() == text);
        found.ok_or_else(|| "alice, bob or both".into())
    }
}

/// Which strings are in both sets. Two arguments of equal width, up to 128 bits: Alice's strings and Bob's, of any numbers.
/// The parameter is a byte, the number of who learns; that party gets a bit for each of its strings, in their order; if
/// both learn, Alice's bits are the first result.
#[derive(Clone, Copy, Debug)]
pub struct Psi;

/// Which of Alice's strings `a` of `width` bits Bob has among his `b`, or the other way round, or both. There are `as` and `bs` of
/// them, public sizes; who learns gets the bits `a_in_both` or `b_in_both`.
pub fn psi(width: u32, learns: Learns) -> Program {
    let mut p = Program::new("psi");
    let [a, b] = [("a", "as", Party::Alice), ("b", "bs", Party::Bob)].map(|(name, size, party)| {
        let lanes = p.size(size, 0..=MOST);
        p.input(name, party, bits(width), lanes)
    });
    let psi: Arc<dyn Functionality> = Arc::new(Psi);
    let learners = [Party::Alice, Party::Bob].into_iter().filter(|&party| learns.includes(party));
    for (found, party) in p.call(&psi, &[learns.number()], &[a, b]).into_iter().zip(learners) {
        p.output(output_of(party), Recipient::Party(party), found);
    }
    p
}

/// The name of the output of [`psi`] that a party gets.
pub fn output_of(party: Party) -> &'static str {
    if party == Party::Alice { "a_in_both" } else { "b_in_both" }
}

fn learns(parameters: &[u8]) -> Result<Learns, Error> {
    let found = Learns::ALL.into_iter().find(|learns| parameters == [learns.number()]);
    found.ok_or_else(|| Error::usage("one byte, who learns: 0 Alice, 1 Bob, 2 both"))
}

/// Refuses strings that are not Alice's and Bob's, of one width that fits.
fn check_strings([a, b]: [&CallPort; 2]) -> Result<(), Error> {
    let (widths, whole) = ([a.ty.width, b.ty.width], 1..=MOST_WIDTH);
    match () {
        () if widths[0] != widths[1] => {
            Err(Error::usage(format!("strings of equal width, not {} and {} bits", widths[0], widths[1])))
        }
        () if !whole.contains(&widths[0]) => {
            Err(Error::usage(format!("strings of 1 to {MOST_WIDTH} bits, not {}", widths[0])))
        }
        () if [a.holder, b.holder] != [Holder::Party(Party::Alice), Holder::Party(Party::Bob)] => {
            Err(Error::usage("Alice's strings and Bob's, in this order, and no shared ones"))
        }
        () => Ok(()),
    }
}

impl Functionality for Psi {
    fn name(&self) -> &str {
        "duologue:psi"
    }

    fn version(&self) -> u32 {
        1
    }

    fn results(&self, parameters: &[u8], args: &[CallPort]) -> Result<Vec<CallPort>, Error> {
        let learns = learns(parameters)?;
        let [a, b] = args else {
            return Err(Error::usage(format!("two arguments, not {}", args.len())));
        };
        check_strings([a, b])?;
        let parties = [Party::Alice, Party::Bob].into_iter().filter(|&party| learns.includes(party));
        Ok(parties.map(|party| CallPort { ty: bits(1), holder: Holder::Party(party) }).collect())
    }

    fn lanes(&self, parameters: &[u8], args: &[u64]) -> Result<Vec<u64>, Error> {
        let learns = learns(parameters)?;
        if let Some(many) = args.iter().find(|&&lanes| lanes > MOST) {
            return Err(Error::usage(format!("at most {MOST} strings of a party, not {many}")));
        }
        let own = [Party::Alice, Party::Bob].into_iter().zip(args);
        Ok(own.filter(|(party, _)| learns.includes(*party)).map(|(_, &lanes)| lanes).collect())
    }

    fn evaluate(&self, parameters: &[u8], args: &[BitMatrix]) -> Vec<BitMatrix> {
        let (Ok(learns), [a, b]) = (learns(parameters), args) else { return Vec::new() };
        let own = [(Party::Alice, a, b), (Party::Bob, b, a)];
        let own = own.into_iter().filter(|(party, ..)| learns.includes(*party));
        own.map(|(_, own, others)| members(own, others)).collect()
    }
}

/// Of each string whether it is among the others.
fn members(own: &BitMatrix, others: &BitMatrix) -> BitMatrix {
    let others: HashSet<Vec<bool>> = (0..others.lanes()).map(|lane| others.lane(lane)).collect();
    let mut found = BitMatrix::zeros(1, own.lanes());
    (0..own.lanes()).for_each(|lane| found.set(0, lane, others.contains(&own.lane(lane))));
    found
}

impl CallProtocol for Psi {
    fn lengths(&self, call: &Call, party: Party) -> duologue::Result<CallLengths> {
        Ok(Layout::new(call)?.lengths(party))
    }

    fn work(&self, call: &Call) -> Option<CallWork> {
        Layout::new(call).ok().map(|layout| layout.work())
    }

    fn setup(&self, call: &Arc<Call>, context: &Context) -> duologue::Result<SetupStage> {
        let layout = Layout::new(call)?;
        let vole = (!layout.is_empty()).then_some((layout.vole, layout.receiver));
        Ok(Box::new(Setup::new(vole, layout.lengths(context.party).stored, context)?))
    }

    fn online(
        &self,
        call: &Arc<Call>,
        party: Party,
        setup: Zeroizing<Vec<u8>>,
        args: Vec<Option<BitMatrix>>,
    ) -> duologue::Result<OnlineStage> {
        let layout = Layout::new(call)?;
        let own = args.into_iter().flatten().next().ok_or_else(|| duologue::Error::usage("no strings"))?;
        Ok(match party == layout.receiver {
            true => Box::new(Receiver::new(layout, setup, &own)?),
            false => Box::new(Sender::new(layout, setup, &own)),
        })
    }
}

/// The string that stands for a key of any length: the first 128 bits of BLAKE3 under a key of this use. Different keys have the same
/// with 2⁻¹²⁸.
pub fn string_of(key: &[u8]) -> [u8; 16] {
    let hash = blake3::keyed_hash(KEYS, key);
    *hash.as_bytes().first_chunk().expect("16 of 32 bytes")
}

/// The key under which keys are hashed.
const KEYS: &[u8; 32] = b"duologue v1 PSI: strings of keys";

#[cfg(test)]
mod tests;

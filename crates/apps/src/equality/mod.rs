//! Equality of strings by 1-of-16 OT, as a call.
//!
//! A string of w bits is cut into pieces of four. Of each piece the parties get an XOR share of whether it is equal; these
//! shares are strings of w/4 bits, equal (one of them complemented) if and only if all pieces were, and so on until there
//! is one bit. The idea is that of equality in 1-of-N OTs: Pinkas, Schneider, Zohner, *Scalable private set intersection
//! based on OT extension* (TOPS 2018); sharing the result and the tree over it: Couteau, *New protocols for secure
//! equality test and comparison* (ACNS 2018), where additive shares are used in place of ours.
//!
//! For a piece u of the OT sender, v of the receiver, and a random OT of one bit in 16 from setup (m_x for all x at the
//! sender; c and m_c at the receiver):
//!
//! ```text
//! receiver → sender   d = c ⊕ v
//! sender → receiver   y_x = m_x ⊕ r ⊕ [x = u ⊕ d]  for x = 1 … 15, with r = m_0 ⊕ [0 = u ⊕ d], so that y_0 = 0
//! sender's share      r                  receiver's share   m_c ⊕ y_c
//! ```
//!
//! The sender of one level is the receiver of the next, so that its y and d share a message.
//!
//! **Security**: semi-honest parties, that of the random OTs. The sender sees d, which c masks. Of the y the receiver
//! knows the mask of y_c alone, which is its share and masked by r (m_0 is unknown to it unless c = 0, and then y_0 is no
//! message); all others look random.
//!
//! **Cost** for p = ⌈w/4⌉ + ⌈w/16⌉ + … pieces of a string: 4·p random OTs in setup, which sends nothing else; 19·p bits
//! online, and one message more than there are levels.

mod layout;
mod stages;

use duologue::call::{Call, CallLengths, CallProtocol, CallWork, Context, OnlineStage, SetupStage, Zeroizing};
use duologue::circuit::program::{CallPort, Functionality, Holder, Recipient};
use duologue::circuit::{BitMatrix, Error, Party, Program, bits};
use layout::Layout;
use stages::{Online, Setup};
use std::sync::Arc;

/// The most bits of a string.
pub const MOST_WIDTH: u32 = 1 << 12;

/// Equality of strings: two arguments of equal width and lanes, whoever holds them; one shared bit for each lane. It has no
/// parameters.
#[derive(Clone, Copy, Debug)]
pub struct Equality;

/// Compares Alice's strings of `width` bits with Bob's, lane by lane; both learn which are equal. The lanes are the public
/// size `lanes`.
pub fn equality(width: u32) -> Program {
    let mut p = Program::new("equality");
    let lanes = p.size("lanes", 0..=1 << 32);
    let a = p.input("a", Party::Alice, bits(width), lanes);
    let b = p.input("b", Party::Bob, bits(width), lanes);
    let equality: Arc<dyn Functionality> = Arc::new(Equality);
    for equal in p.call(&equality, &[], &[a, b]) {
        p.output("equal", Recipient::Both, equal);
    }
    p
}

impl Functionality for Equality {
    fn name(&self) -> &str {
        "duologue:equality"
    }

    fn version(&self) -> u32 {
        2
    }

    fn results(&self, parameters: &[u8], args: &[CallPort]) -> duologue::circuit::Result<Vec<CallPort>> {
        let [a, b] = args else {
            return Err(Error::usage(format!("two arguments, not {}", args.len())));
        };
        let (a, b) = (a.ty.width, b.ty.width);
        match () {
            () if !parameters.is_empty() => Err(Error::usage(format!("no parameters, not {} bytes", parameters.len()))),
            () if a != b => Err(Error::usage(format!("strings of equal width, not {a} and {b} bits"))),
            () if !(1..=MOST_WIDTH).contains(&a) => {
                Err(Error::usage(format!("strings of 1 to {MOST_WIDTH} bits, not {a}")))
            }
            () => Ok(vec![CallPort { ty: bits(1), holder: Holder::Shared }]),
        }
    }

    fn lanes(&self, _: &[u8], args: &[u64]) -> duologue::circuit::Result<Vec<u64>> {
        match args {
            [a, b] if a == b => Ok(vec![*a]),
            _ => Err(Error::usage(format!("as many strings on both sides, not {args:?}"))),
        }
    }

    fn evaluate(&self, _: &[u8], args: &[BitMatrix]) -> Vec<BitMatrix> {
        let [a, b] = args else { return Vec::new() };
        let mut equal = BitMatrix::zeros(1, a.lanes());
        (0..a.lanes()).for_each(|lane| equal.set(0, lane, a.lane(lane) == b.lane(lane)));
        vec![equal]
    }
}

impl CallProtocol for Equality {
    fn lengths(&self, call: &Call, party: Party) -> duologue::Result<CallLengths> {
        if call.args.iter().any(|arg| usize::try_from(arg.lanes).is_err()) {
            return Err(duologue::Error::usage("more strings than this machine can count"));
        }
        Ok(Layout::new(call).lengths(party))
    }

    fn work(&self, call: &Call) -> Option<CallWork> {
        Some(Layout::new(call).work())
    }

    fn setup(&self, call: &Arc<Call>, context: &Context) -> duologue::Result<SetupStage> {
        Ok(Box::new(Setup::new(Layout::new(call), context.party)))
    }

    fn online(
        &self,
        call: &Arc<Call>,
        party: Party,
        setup: Zeroizing<Vec<u8>>,
        args: Vec<Option<BitMatrix>>,
    ) -> duologue::Result<OnlineStage> {
        Ok(Box::new(Online::new(Layout::new(call), party, setup, &args)))
    }
}

#[cfg(test)]
mod tests;

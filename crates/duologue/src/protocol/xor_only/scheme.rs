//! What the rest of the crate knows of XOR-only.

use super::XorOnly;
use super::lengths::XorOnlyLengths;
use crate::executor::{Engine, Executor, Lengths, PlanCache, Program};
use crate::protocol::gmw;
use crate::protocol::terms::{Options, Terms};
use crate::protocol::{Descriptor, KeySource, Tiling};
use crate::{Error, Party, Result};
use circuit::Schedule;

/// GMW without ANDs.
pub(crate) struct XorOnlyScheme;

impl Descriptor for XorOnlyScheme {
    fn name(&self) -> &'static str {
        "xor-only"
    }

    fn tiling(&self, _: u64) -> Tiling {
        gmw::tiling()
    }

    fn is_ahead(&self, options: &Options, schedule: &Schedule) -> Result<bool> {
        match schedule.totals.and0 {
            0 => Ok(options.timing.allows(0)),
            ands => Err(Error::usage(format!("xor-only makes no ANDs, and this program has {ands}: gmw does"))),
        }
    }

    fn lengths(&self, _: &Terms, party: Party, _: &PlanCache) -> Box<dyn Lengths> {
        Box::new(XorOnlyLengths { party })
    }

    fn engine(&self, _: &Terms, program: Program, keys: &mut dyn KeySource) -> Result<Box<dyn Engine>> {
        let lengths = XorOnlyLengths { party: keys.party() };
        let xor = XorOnly { lengths, pairwise: keys.pairwise(b"xor only", 0), in0: keys.base().in0 };
        Ok(Box::new(Executor::new(xor, program)?))
    }
}

//! What the rest of the crate knows of masked GMW.

use super::MaskedGmw;
use super::lengths::MaskedGmwLengths;
use crate::executor::{Engine, Executor, Lengths, PlanCache, Program};
use crate::protocol::gmw;
use crate::protocol::terms::{Options, Terms, Timing};
use crate::protocol::{Descriptor, KeySource, Tiling};
use crate::{Error, Party, Result};
use circuit::Schedule;

/// GMW on masked bits.
pub(crate) struct MaskedGmwScheme;

/// The most ANDs of a program, whose setup is in memory: a gigabyte or two.
const MAX_ANDS: u64 = 1 << 31;

impl Descriptor for MaskedGmwScheme {
    fn name(&self) -> &'static str {
        "gmw-masked"
    }

    fn tiling(&self, _: u64) -> Tiling {
        gmw::tiling()
    }

    fn kept(&self, _: &Options, schedule: &Schedule) -> u64 {
        schedule.totals.and0
    }

    fn is_ahead(&self, options: &Options, schedule: &Schedule) -> Result<bool> {
        let ands = schedule.totals.and0;
        if ands > MAX_ANDS {
            return Err(Error::usage(format!(
                "gmw-masked keeps the setup of all {ands} ANDs in memory, at most {MAX_ANDS}: gmw streams"
            )));
        }
        match options.timing {
            Timing::Auto | Timing::Ahead => Ok(true),
            Timing::Streamed => {
                Err(Error::usage("gmw-masked cannot stream its setup: every task would take a round trip"))
            }
        }
    }

    fn can_store_runs(&self) -> Result<()> {
        Err(gmw::prepares_triples())
    }

    fn lengths(&self, _: &Terms, party: Party, plans: &PlanCache) -> Box<dyn Lengths> {
        Box::new(MaskedGmwLengths { party, plans: plans.clone() })
    }

    fn engine(&self, _: &Terms, program: Program, keys: &mut dyn KeySource) -> Result<Box<dyn Engine>> {
        let lengths = MaskedGmwLengths { party: keys.party(), plans: keys.plans().for_program() };
        let masked = MaskedGmw::new(lengths, keys.own(b"masking "));
        Ok(Box::new(Executor::new(masked, program)?))
    }
}

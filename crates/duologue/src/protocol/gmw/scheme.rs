//! What the rest of the crate knows of GMW.

use super::Gmw;
use super::lengths::GmwLengths;
use super::triples::{Vectors, vector_cots};
use crate::executor::{Engine, Executor, Lengths, PlanCache, Program, Window};
use crate::protocol::terms::{Options, Terms};
use crate::protocol::{Descriptor, KeySource, Tiling};
use crate::{Error, Party, Result};
use circuit::{Order, Schedule};

/// GMW on triples.
pub(crate) struct GmwScheme;

impl Descriptor for GmwScheme {
    fn name(&self) -> &'static str {
        "gmw"
    }

    fn tiling(&self, _: u64) -> Tiling {
        tiling()
    }

    fn kept(&self, _: &Options, schedule: &Schedule) -> u64 {
        (schedule.totals.and0 + schedule.totals.in0) / 2 + vector_cots(schedule) * 32
    }

    fn can_store_runs(&self) -> Result<()> {
        Err(prepares_triples())
    }

    fn lengths(&self, _: &Terms, party: Party, plans: &PlanCache) -> Box<dyn Lengths> {
        Box::new(GmwLengths { party, plans: plans.clone() })
    }

    fn engine(&self, _: &Terms, program: Program, keys: &mut dyn KeySource) -> Result<Box<dyn Engine>> {
        let (party, pairwise) = (keys.party(), keys.pairwise(b"gmw     ", 0));
        let foreseen = vector_cots(&program.schedule) > 0;
        let delta = foreseen.then(|| keys.delta()).transpose()?;
        let vectors = delta.map(|delta| Vectors::new(delta, party, (&keys.session(), keys.ordinal())));
        let gmw = Gmw::new(party, pairwise, keys.base().in0, vectors, keys.plans().for_program());
        Ok(Box::new(Executor::new(gmw, program)?))
    }
}

/// Tiles of shares, packed wire by wire.
pub(crate) fn tiling() -> Tiling {
    let window = Window { cells: 64 << 20, maps: 96 << 20 };
    Tiling { order: Order::Layered, cell_bits: 1, lanes: 64..=1 << 16, window }
}

/// Runs of secret sharing are not stored; their triples are.
pub(crate) fn prepares_triples() -> Error {
    Error::usage(
        "whole runs are prepared for yao only; what gmw makes ahead of time are triples in a pool: \
         `duologue pool fill --triples`",
    )
}

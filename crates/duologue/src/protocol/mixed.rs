//! Mixed programs: wide steps by GMW, narrow ones by Yao.
//!
//! A program is cut at its steps into parts, as it is [cut at its calls](crate::call): `circuit::Schedule::mixed` says where. What
//! crosses is shared. From GMW to Yao a shared bit takes one COT and a bit from the evaluator, as any
//! [input of shares](super::yao) does, and where tables are made ahead a label goes back; from Yao to GMW nothing travels: the
//! share of a bit is the point-and-permute bit of its label (Demmler, Schneider, Zohner: *ABY*, NDSS 2015, §III.E and IV).
//!
//! **Security** is that of GMW and of half-gates, against semi-honest parties: a part begins and ends with uniform shares, and
//! has numbers and keys of its own, as if it were a program by itself.

use super::terms::{Options, Terms};
use super::{Descriptor, KeySource, Scheme, Tiling, gmw};
use crate::executor::{Engine, Lengths, PlanCache, Program};
use crate::{Error, Party, Result};
use circuit::Schedule;
use circuit::program::{ProgramPart, Technique};

/// Parts of two protocols.
pub(crate) struct MixedScheme;

impl Scheme {
    /// The protocol of a part.
    pub(crate) fn of_part(self, technique: Option<Technique>) -> Scheme {
        match (self, technique) {
            (Scheme::Mixed, Some(Technique::Garbling)) => Scheme::Yao,
            (Scheme::Mixed, _) => Scheme::Gmw,
            (other, _) => other,
        }
    }
}

impl Terms {
    /// The terms of a part.
    pub(crate) fn of_part(&self, technique: Option<Technique>) -> Terms {
        let scheme = self.scheme.of_part(technique);
        if scheme == self.scheme {
            return *self;
        }
        let descriptor = scheme.descriptor();
        let strands = if descriptor.has_garbler() { self.strands } else { 1 };
        Terms { scheme, strands, window: descriptor.tiling(0).window, ..*self }
    }

    /// A part with its terms.
    pub(crate) fn for_part(&self, part: &ProgramPart, program: Program) -> (Terms, Program) {
        let terms = self.of_part(part.technique);
        (terms, Program { window: terms.window, strands: terms.strands, ..program })
    }
}

impl Descriptor for MixedScheme {
    fn name(&self) -> &'static str {
        "mixed"
    }

    fn has_garbler(&self) -> bool {
        true
    }

    fn tiling(&self, most_lanes: u64) -> Tiling {
        Scheme::Gmw.descriptor().tiling(most_lanes)
    }

    fn kept(&self, options: &Options, schedule: &Schedule) -> u64 {
        let kept =
            |part: &ProgramPart| Scheme::Mixed.of_part(part.technique).descriptor().kept(options, &part.schedule);
        schedule.programs().map(kept).fold(0, u64::saturating_add)
    }

    fn can_store_runs(&self) -> Result<()> {
        Err(gmw::prepares_triples())
    }

    /// Those of the program as a whole, in which somebody waits.
    fn lengths(&self, terms: &Terms, party: Party, plans: &PlanCache) -> Box<dyn Lengths> {
        Scheme::Gmw.descriptor().lengths(terms, party, plans)
    }

    fn engine(&self, _: &Terms, _: Program, _: &mut dyn KeySource) -> Result<Box<dyn Engine>> {
        Err(Error::usage("a mixed program runs in parts"))
    }
}

//! The figures and their names.

use crate::failure::Failure;
use duologue::Party;
use duologue::correlation::Demand;
use duologue::ot::Extension;

/// Every maker.
pub fn makers() -> Vec<Extension> {
    Extension::all().collect()
}

/// A kind of correlation.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    /// COTs, each party the sender of as many.
    Cots,
    /// COTs that Alice sends, and nothing else.
    OneWay,
    /// Boolean triples, each of a COT in both directions.
    Triples,
    /// Random OTs of 128 bits, each party the sender of as many; so are the next two.
    RandomOts,
    /// Random OTs of one bit.
    RandomBits,
    /// Random OTs of one message in sixteen, all sixteen computed.
    OneOf16,
    /// Triples of a bit and a vector of 128 bits.
    BitVectors,
}

impl Kind {
    /// By every maker.
    pub const ALL: [Kind; 3] = [Kind::Cots, Kind::OneWay, Kind::Triples];

    /// The kinds that are derived from the COTs of the default maker.
    pub const DERIVED: [Kind; 4] = [Kind::RandomOts, Kind::RandomBits, Kind::OneOf16, Kind::BitVectors];

    /// The demand for this many triples, or COTs in each direction.
    pub fn demand(self, count: u64) -> Demand {
        match self {
            Kind::OneWay => Demand::of_cots(Party::Alice, count),
            Kind::Triples => Demand::of_triples(count),
            _ => Demand::of_cots(Party::Alice, count) + Demand::of_cots(Party::Bob, count),
        }
    }

    pub fn unit(self) -> &'static str {
        match self {
            Kind::Cots | Kind::OneWay => "COT/s",
            Kind::Triples | Kind::BitVectors => "triples/s",
            _ => "OT/s",
        }
    }
}

/// A kind of correlation by a maker.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Figure {
    pub maker: Extension,
    pub kind: Kind,
}

impl Figure {
    pub fn name(&self) -> String {
        match self.kind {
            Kind::Cots => self.maker.to_string(),
            Kind::OneWay => format!("{}_one_way", self.maker),
            Kind::Triples => format!("triples_{}", self.maker),
            Kind::RandomOts => "random_ot".into(),
            Kind::RandomBits => "random_bit_ot".into(),
            Kind::OneOf16 => "random_ot_1_of_16".into(),
            Kind::BitVectors => "bit_vector_triples_128".into(),
        }
    }
}

/// Of a figure of a silent maker that there is not: the reason.
fn why_gone(name: &str) -> Option<String> {
    let maker = name.trim_start_matches("triples_").trim_end_matches("_one_way");
    let failure = Failure::from(maker.parse::<Extension>().err().filter(|_| maker.starts_with("silent"))?);
    Some(failure.message)
}

/// A name for the fastest of some figures.
pub struct Best {
    pub name: &'static str,
    pub of: &'static [&'static str],
}

/// The silent makers of 1.3 bits a COT and more, and those of half a bit and less.
const BEST: [Best; 4] = [
    Best { name: "silent_fast", of: &["silent16w", "silent17w", "silent16d", "silent17d"] },
    Best { name: "silent_small", of: &["silent19w", "silent19d", "silent20d"] },
    Best { name: "triples_fast", of: &["triples_silent16w", "triples_silent17w"] },
    Best { name: "triples_small", of: &["triples_silent19w"] },
];

/// 128 base OTs at the slower of both parties, and what a new session takes: 128 in each direction.
pub const BASE: [&str; 2] = ["base_ot_ms", "base_ot_both_ways_ms"];

/// The figures that are measured and those that are shown.
pub struct Plan {
    pub figures: Vec<Figure>,
    pub best: Vec<&'static Best>,
    pub base: bool,
}

impl Plan {
    /// Everything, or what has one of these names.
    pub fn new(only: &[String]) -> Result<Plan, Failure> {
        let all = Plan::all();
        for name in only {
            if !all.names().contains(name) {
                let failure = Failure::input(format!("no figure is called '{name}'"));
                let there = || format!("there are {}", all.names().join(", "));
                return Err(failure.hint(why_gone(name).unwrap_or_else(there)));
            }
        }
        let Plan { figures, best, base } = all;
        let named = |name: &str| only.is_empty() || only.iter().any(|wanted| wanted == name);
        let best: Vec<_> = best.into_iter().filter(|best| named(best.name)).collect();
        let needed = |name: &str| named(name) || best.iter().any(|best| best.of.contains(&name));
        let figures = figures.into_iter().filter(|figure| needed(&figure.name())).collect();
        Ok(Plan { figures, best, base: base && BASE.iter().any(|name| named(name)) })
    }

    fn all() -> Plan {
        let each = |maker| Kind::ALL.map(|kind| Figure { maker, kind });
        let derived = Kind::DERIVED.map(|kind| Figure { maker: Extension::DEFAULT, kind });
        let figures: Vec<Figure> = makers().into_iter().flat_map(each).chain(derived).collect();
        let there = |best: &&Best| figures.iter().any(|figure| best.of.contains(&&*figure.name()));
        let best = BEST.iter().filter(there).collect();
        Plan { figures, best, base: true }
    }

    fn names(&self) -> Vec<String> {
        let figures = self.figures.iter().map(Figure::name);
        let others = self.best.iter().map(|best| best.name).chain(BASE);
        figures.chain(others.map(String::from)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_plan_has_what_it_needs() {
        let names = |only: &[&str]| {
            let only: Vec<String> = only.iter().map(|name| name.to_string()).collect();
            let plan = Plan::new(&only).ok()?;
            Some((plan.figures.iter().map(Figure::name).collect::<Vec<_>>(), plan.best.len(), plan.base))
        };
        assert_eq!(names(&["triples_softspoken4"]), Some((vec!["triples_softspoken4".into()], 0, false)));
        assert_eq!(names(&["base_ot_ms"]), Some((vec![], 0, true)));
        assert_eq!(names(&["softspoken9"]), None);
        assert_eq!(names(&[]).map(|(figures, _, base)| (figures.len(), base)), Some((3 * makers().len() + 4, true)));
        let fast = ["triples_silent16w", "triples_silent17w"].map(String::from).to_vec();
        assert_eq!(names(&["triples_fast"]), Some((fast, 1, false)));
    }
}

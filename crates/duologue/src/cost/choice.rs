//! The choice of the protocol: of several options for one program, the ones that are predicted to serve a wish best.
//!
//! All that is compared is counted or computed in integers, from public terms and a line that both parties name, so both
//! choose alike. Whoever chooses otherwise all the same, by another version, is told by the terms of the run, which have
//! the protocol and how it garbles.
//!
//! **Security**: all candidates have 128 bits against semi-honest parties, as each protocol's page says.

use super::{Cost, cost_over};
use crate::call::Calls;
use crate::channel::Link;
use crate::{Conditions, Error, Garbling, Options, Result, Scheme, Timing};
use circuit::program::Binding;
use std::fmt;
use std::str::FromStr;
use std::time::Duration;

/// What shall be least.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
#[non_exhaustive]
pub enum Wish {
    /// The time of setup and of the online phase.
    #[default]
    Total,
    /// The time from the inputs on.
    Online,
    /// The bytes of both phases in both directions.
    Bytes,
}

impl Wish {
    /// All of them.
    pub const ALL: [Wish; 3] = [Wish::Total, Wish::Online, Wish::Bytes];

    /// Its name on the command line.
    pub const fn name(self) -> &'static str {
        match self {
            Wish::Total => "total",
            Wish::Online => "online",
            Wish::Bytes => "bytes",
        }
    }
}

impl FromStr for Wish {
    type Err = Error;

    fn from_str(name: &str) -> Result<Self> {
        let found = Wish::ALL.into_iter().find(|wish| wish.name() == name);
        found.ok_or_else(|| Error::usage(format!("no wish is called '{name}'")))
    }
}

impl fmt::Display for Wish {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// Options, and what a program is predicted to take by them.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Candidate {
    /// The options.
    pub options: Options,
    /// Exact bytes and rounds.
    pub cost: Cost,
    /// The time of setup with the base OTs of a new session, between two cores of the reference machine.
    pub setup: Duration,
    /// The time from the inputs on.
    pub online: Duration,
}

impl Candidate {
    /// The time of both phases.
    pub fn total(&self) -> Duration {
        self.setup + self.online
    }

    /// The bytes of both phases in both directions.
    pub fn bytes(&self) -> u64 {
        [self.cost.setup, self.cost.online].iter().map(|phase| phase.alice_to_bob + phase.bob_to_alice).sum()
    }

    /// What decides: what is wished, then the other two.
    fn rank(&self, wish: Wish) -> [u128; 3] {
        let [total, online] = [self.total(), self.online].map(|time| time.as_nanos());
        let bytes = u128::from(self.bytes());
        match wish {
            Wish::Total => [total, online, bytes],
            Wish::Online => [online, total, bytes],
            Wish::Bytes => [bytes, total, online],
        }
    }
}

impl fmt::Display for Candidate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Options { scheme, garbling, .. } = self.options;
        if scheme.has_garbler() { write!(f, "{scheme} by {garbling}") } else { scheme.fmt(f) }
    }
}

/// These options by every protocol that can have its setup as they say; by Yao with this garbling, or else with each.
pub fn candidates(options: &Options, garbling: Option<Garbling>) -> Vec<Options> {
    let fitting = |scheme: &Scheme| *scheme != Scheme::MaskedGmw || options.timing != Timing::Streamed;
    let ways = |scheme: Scheme| {
        let all = if scheme.has_garbler() { &Garbling::ALL[..] } else { &Garbling::ALL[..1] };
        let wanted = garbling.filter(|_| scheme.has_garbler());
        let ways = all.iter().filter(move |&&way| wanted.is_none_or(|wanted| way == wanted));
        ways.map(move |&way| options.scheme(scheme).garbling(way))
    };
    Scheme::ALL.into_iter().filter(fitting).flat_map(ways).collect()
}

/// The candidates for a bound program in a new session over a line, best first; of equal ones in the order given.
///
/// # Errors
/// As [`cost_over`], of any candidate.
pub fn rank(
    binding: &Binding,
    candidates: &[Options],
    calls: &Calls,
    link: &Link,
    wish: Wish,
) -> Result<Vec<Candidate>> {
    let conditions = Conditions::of(link);
    let candidate = |options: &Options| {
        let cost = cost_over(binding, options, calls, link)?;
        let (setup, online) = cost.predict_under(&conditions);
        Ok(Candidate { options: *options, cost, setup, online })
    };
    let mut ranked = candidates.iter().map(candidate).collect::<Result<Vec<_>>>()?;
    ranked.sort_by_key(|candidate| candidate.rank(wish));
    Ok(ranked)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Party;
    use circuit::Program;
    use circuit::blocks::{self, Goal};
    use circuit::program::Owner;

    fn bound(block: &str, lanes: u64) -> Binding {
        let block = blocks::find(block).unwrap();
        let circuit = block.circuit(&block.usual(), Goal::Size).unwrap();
        let owners = [Owner::Party(Party::Alice), Owner::Party(Party::Bob)];
        Program::of_circuit(&circuit, &owners).bind(&[("lanes", lanes)]).unwrap()
    }

    fn ranked(binding: &Binding, line: &str, wish: Wish) -> Vec<Candidate> {
        let all = candidates(&Options::new(Scheme::Yao), None);
        rank(binding, &all, &Calls::new(), &line.parse().unwrap(), wish).unwrap()
    }

    /// A slow line makes bytes dear, a long one rounds: AES has 6,400 ANDs, 40 or more after one another.
    #[test]
    fn the_line_decides() {
        let binding = bound("aes128", 1000);
        let long = &ranked(&binding, "300ms,10Gbit", Wish::Online)[0];
        assert_eq!(long.options.scheme, Scheme::Yao, "{long}");
        let slow = &ranked(&binding, "0.2ms,1Mbit", Wish::Online)[0];
        assert_eq!(slow.options.scheme, Scheme::MaskedGmw, "{slow}");
        let fast = ranked(&binding, "0ms,1Mbit", Wish::Total);
        let of = |way| fast.iter().position(|one| one.options.scheme.has_garbler() && one.options.garbling == way);
        assert!(of(Garbling::ThreeHalves) < of(Garbling::HalfGates), "25 bytes an AND take less time than 32");
    }

    /// Each wish has the least of what it names, by costs that are counted one by one.
    #[test]
    fn the_best_is_the_least_of_what_is_wished() {
        for (block, lanes) in [("aes128", 1), ("aes128", 300), ("add", 1), ("multiply", 77)] {
            let binding = bound(block, lanes);
            for line in ["lan", "internet", "transatlantic", "3ms,500kbit"] {
                let link: Link = line.parse().unwrap();
                let figures = candidates(&Options::new(Scheme::Yao), None).into_iter().map(|options| {
                    let cost = cost_over(&binding, &options, &Calls::new(), &link).unwrap();
                    let (setup, online) = cost.predict(&link, crate::conditions::REFERENCE_SPEED);
                    let phases = [cost.setup, cost.online];
                    let bytes: u64 = phases.iter().map(|phase| phase.alice_to_bob + phase.bob_to_alice).sum();
                    (setup + online, online, bytes)
                });
                let figures: Vec<_> = figures.collect();
                let best = |wish| ranked(&binding, line, wish).swap_remove(0);
                assert_eq!(Some(best(Wish::Total).total()), figures.iter().map(|of| of.0).min(), "{block}, {line}");
                assert_eq!(Some(best(Wish::Online).online), figures.iter().map(|of| of.1).min(), "{block}, {line}");
                assert_eq!(Some(best(Wish::Bytes).bytes()), figures.iter().map(|of| of.2).min(), "{block}, {line}");
            }
        }
    }

    #[test]
    fn what_is_told_restricts_the_candidates() {
        let names = |options: Options, garbling| {
            let all = candidates(&options, garbling).into_iter();
            all.map(|one| (one.scheme, one.garbling)).collect::<Vec<_>>()
        };
        let (yao, half, three) = (Options::new(Scheme::Yao), Garbling::HalfGates, Garbling::ThreeHalves);
        let [gmw, masked] = [(Scheme::Gmw, half), (Scheme::MaskedGmw, half)];
        assert_eq!(names(yao, None), [(Scheme::Yao, half), (Scheme::Yao, three), gmw, masked]);
        assert_eq!(names(yao, Some(three)), [(Scheme::Yao, three), gmw, masked]);
        assert_eq!(names(yao.timing(Timing::Streamed), Some(half)), [(Scheme::Yao, half), gmw]);
    }
}

//! The cost protocol: what a program will take, without running it.
//!
//! A bit is the number of ANDs on its path. The tasks run through the same executor as those of the real protocols,
//! with the same windows; in place of messages there are their lengths, so that bytes and rounds are exact. Each party
//! is simulated, and its exchanges are recorded: with the properties of a link they give the time of a run.

pub mod choice;
mod correlating;
pub(crate) mod draft;
mod dry;
mod work;

pub use correlating::{Correlating, Supply};
use draft::{Draft, Source, Start};
use work::Pace;
pub use work::Work;

use crate::call::{CallWork, Calls};
use crate::channel::{self, Link};
use crate::clock::Clock;
use crate::correlation::Demand;
use crate::correlation::choice::{Decision, choose};
use crate::executor::{Phase, PlanCache};
use crate::ot::Extension;
use crate::protocol::terms::Terms;
use crate::session::{self, fields};
use crate::{Conditions, Options, Result};

use circuit::program::Binding;
use std::sync::Arc;
use std::time::Duration;

/// The predicted cost of a run.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Cost {
    /// The terms that it runs under.
    pub terms: Terms,
    /// AND gates over all lanes.
    pub ands: u64,
    /// ANDs on the longest path from an input to an output.
    pub depth: u32,
    /// Lanes of a tile.
    pub tile: usize,
    /// Correlations that it draws.
    pub demand: Demand,
    /// What makes them: the maker that the options name, or the one that is chosen.
    pub maker: Extension,
    /// Traffic before inputs, with the base OTs of a new session.
    pub setup: Traffic,
    /// Traffic with inputs, with what of setup is streamed.
    pub online: Traffic,
    /// Memory of values and tasks under way and of what setup keeps, at the party that needs more, in bytes.
    pub memory: u64,
    /// What each party computes besides correlations.
    pub work: Work,
    /// What making correlations is taken to compute, in AES blocks.
    pub making: u64,
    /// What calls are taken to compute.
    pub calls: CallWork,
    /// The names of calls whose computing is not counted, since it was not measured: predicted times are too short by it.
    pub uncounted: Vec<String>,
    /// Whether the bytes of circuits go one way, so that nobody waits for them.
    one_way: bool,
    /// The work of each protocol that takes part.
    works: Vec<(Terms, Work)>,
    /// Parts in which correlations are made, one while another is sent.
    parts: u32,
    exchanges: [Vec<PhaseExchange>; 2],
}

/// Bytes of the protocol in each direction, and how often each party turns from sending to receiving: one that has the
/// last word turns once less than the other.
#[derive(Clone, Copy, Default, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct Traffic {
    /// Bytes from Alice to Bob.
    pub alice_to_bob: u64,
    /// Bytes from Bob to Alice.
    pub bob_to_alice: u64,
    /// Turns of Alice.
    pub alice_rounds: u64,
    /// Turns of Bob.
    pub bob_rounds: u64,
}

impl Traffic {
    /// Turns of the party that turns more often.
    pub fn rounds(&self) -> u64 {
        self.alice_rounds.max(self.bob_rounds)
    }
}

/// How fast a machine computes, in ANDs a second.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Speed {
    /// Before inputs.
    pub setup: f64,
    /// With inputs.
    pub online: f64,
}

/// Bytes that one party sends and then waits for, in one phase.
#[derive(Clone, Copy, Debug)]
struct PhaseExchange {
    phase: Phase,
    sent: usize,
    read: usize,
    /// Whether the party waits for what it reads after all that it sent.
    turn: bool,
}

/// Counts what `options` would make of a bound program without calls in a new session.
///
/// # Errors
/// If the program cannot be encoded.
pub fn cost(binding: &Binding, options: &Options) -> Result<Cost> {
    cost_with(binding, options, &Calls::new())
}

/// Counts what `options` would make of a bound program that may call these protocols, in a new session over a local network.
///
/// # Errors
/// If the program cannot be encoded, or calls another protocol.
pub fn cost_with(binding: &Binding, options: &Options, calls: &Calls) -> Result<Cost> {
    cost_over(binding, options, calls, &Link::LAN)
}

/// As [`cost_with`] over another line, which decides where the maker of correlations is chosen. With what is sent to measure
/// it; the line that is found, and the parties' processors, may be others than this line and the reference processor.
///
/// # Errors
/// As [`cost_with`].
pub fn cost_over(binding: &Binding, options: &Options, calls: &Calls, link: &Link) -> Result<Cost> {
    count(binding, options, calls, Some(link))
}

/// As [`cost_with`] in a session whose pool has all correlations: what making them took is not counted.
///
/// # Errors
/// As [`cost_with`].
#[doc(hidden)]
pub fn cost_from_pool(binding: &Binding, options: &Options, calls: &Calls) -> Result<Cost> {
    count(binding, options, calls, None)
}

/// Over a line on which correlations are made, or without a line from a pool.
fn count(binding: &Binding, options: &Options, calls: &Calls, link: Option<&Link>) -> Result<Cost> {
    let (terms, schedule) = Terms::resolve(binding, options)?;
    let mut draft = Draft::new(binding, (terms, Arc::new(schedule)), (calls, &PlanCache::default()))?;
    draft.opening += fields::bytes_of_outline(binding);
    let Some(link) = link else {
        // As if all were in memory: what taking it from the pool takes is not counted either.
        let source = Source { stock: draft.demand, ..Source::default() };
        return Ok(draft.cost(&source, &Start::Terms { probe: 0 }));
    };
    let (maker, probe) = match terms.maker().decide(&draft.demand) {
        Decision::Chosen(maker, _) => (maker, 0),
        Decision::Measure(probe) => (choose(draft.demand, &Conditions::of(link)), probe),
    };
    Ok(draft.cost(&Source { maker, ..Source::default() }, &Start::Terms { probe }))
}

/// AES blocks a second of one core of this machine, for [`Cost::predict`]; takes a fraction of a millisecond.
pub fn blocks_per_second() -> u64 {
    session::blocks_per_second(&Clock::System)
}

impl Cost {
    /// The bytes of both phases in both directions.
    fn bytes(&self) -> u64 {
        [self.setup, self.online].iter().map(|phase| phase.alice_to_bob + phase.bob_to_alice).sum()
    }

    /// The time of setup and of the online phase over a line: both parties' exchanges one after another, each byte
    /// taking its place on the line, and the time of computing besides.
    pub fn time(&self, link: &Link, speed: &Speed) -> (Duration, Duration) {
        let [setup, all] = [Phase::Setup, Phase::Online].map(|phase| self.travel([link; 2], phase));
        let compute = |rate: f64| Duration::from_secs_f64(self.ands as f64 / rate.max(1.0));
        (setup + compute(speed.setup), all.saturating_sub(setup) + compute(speed.online))
    }

    /// The predicted time of setup and of the online phase over a line, between two processors that compute so many AES blocks
    /// a second, a core each. Where bytes go one way a party computes while others travel, and so it does while it makes
    /// correlations in many parts; else it waits for them. A line or a
    /// speed out of the bounds of [`Conditions`] counts as the nearest within.
    pub fn predict(&self, link: &Link, blocks_per_second: u64) -> (Duration, Duration) {
        self.predict_under(&Conditions::of(link).with_speed(blocks_per_second))
    }

    /// The same by what both parties know of their lines and processors, in integers, so that both predict alike.
    fn predict_under(&self, conditions: &Conditions) -> (Duration, Duration) {
        let travels = [conditions.endless_links(), conditions.links()]
            .map(|links| [Phase::Setup, Phase::Online].map(|phase| self.travel([&links[0], &links[1]], phase)));
        let [setup, online] = self.blocks();
        let phase = |travels: [Duration; 2], blocks: u64, parts: u32| {
            let parts = if self.one_way { u32::MAX } else { parts };
            channel::together(travels, conditions.computing(blocks.into()), parts)
        };
        let after = travels.map(|[before, all]| all.saturating_sub(before));
        (phase(travels.map(|[before, _]| before), setup, self.parts), phase(after, online, 1))
    }

    /// AES blocks that setup and the online phase are taken to compute.
    fn blocks(&self) -> [u64; 2] {
        let [setup, online] = [(0, self.setup), (1, self.online)].map(|(phase, traffic)| {
            let rounds = [traffic.rounds()].into_iter().chain(std::iter::repeat(0));
            let blocks = self.works.iter().zip(rounds);
            let blocks = blocks.map(|((terms, work), rounds)| Pace::of(terms)[phase].blocks(work, rounds));
            blocks.fold(0, u64::saturating_add)
        });
        let before = self.making.saturating_add(self.calls.setup);
        let online = online.saturating_add(self.calls.online);
        match self.terms.ahead {
            true => [setup.saturating_add(before), online],
            false => [0, online.saturating_add(before)],
        }
    }

    /// When the last byte up to the end of a phase has come.
    fn travel(&self, links: [&Link; 2], last: Phase) -> Duration {
        travel(links, &self.exchanges, last)
    }
}

/// When the last byte of both parties' exchanges up to the end of a phase has come, without computing.
fn travel(links: [&Link; 2], exchanges: &[Vec<PhaseExchange>; 2], last: Phase) -> Duration {
    let until = |exchange: &&PhaseExchange| last == Phase::Online || exchange.phase == Phase::Setup;
    let bytes = |exchange: &PhaseExchange| (exchange.sent, exchange.read);
    channel::travel(links, exchanges.each_ref().map(|party| party.iter().take_while(until).map(bytes)))
}

fn traffic(exchanges: &[Vec<PhaseExchange>; 2], phase: Phase) -> Traffic {
    let sent = |party: usize| {
        let during = exchanges[party].iter().filter(|exchange| exchange.phase == phase);
        during.map(|exchange| exchange.sent as u64).sum()
    };
    let rounds = |party: usize| turns(&exchanges[party], phase);
    Traffic { alice_to_bob: sent(0), bob_to_alice: sent(1), alice_rounds: rounds(0), bob_rounds: rounds(1) }
}

/// Turns from sending to receiving within a phase.
fn turns(exchanges: &[PhaseExchange], phase: Phase) -> u64 {
    let (mut sending, mut turns) = (false, 0);
    for exchange in exchanges {
        sending |= exchange.sent > 0;
        if exchange.read > 0 && exchange.turn {
            turns += u64::from(sending && exchange.phase == phase);
            sending = false;
        }
    }
    turns
}

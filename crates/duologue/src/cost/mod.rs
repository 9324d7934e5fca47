//! The cost protocol: what a program will take, without running it.
//!
//! A bit is the number of ANDs on its path. The tasks run through the same executor as those of the real protocols,
//! with the same windows; in place of messages there are their lengths, so that bytes and rounds are exact. Each party
//! is simulated, and its exchanges are recorded: with the properties of a link they give the time of a run.

mod correlating;
mod dry;
mod work;

pub use correlating::{Correlating, Supply};
pub use work::Work;

use crate::agreement;
use crate::call::Calls;
use crate::channel::{self, Channel, Link};
use crate::correlation::Demand;
use crate::executor::Phase;
use crate::ot::Extension;
use crate::protocol::terms::Terms;
use crate::session::fields;
use crate::{Error, Inputs, Options, Party, Report, Result, Scheme, Session, Timing};
use circuit::blocks::{self, Goal};
use circuit::program::{Binding, Owner, Recipient};
use circuit::{BitMatrix, Program, Schedule, bits};
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
    calls.check(&schedule)?;
    let schedule = Arc::new(schedule);
    let opening = opening(binding, &terms, &schedule)?;
    let mut exchanges: [Vec<PhaseExchange>; 2] = Default::default();
    let (mut demand, mut depth, mut memory, mut maker, mut making) = (Demand::NONE, 0, 0, Extension::DEFAULT, 0);
    for party in [Party::Alice, Party::Bob] {
        let found = dry::run(party, (binding, &schedule), &terms, (opening, calls, link))?;
        (demand, depth, maker) = (found.demand, found.depth, found.maker);
        memory = memory.max(found.peak + found.stored);
        making = found.making;
        exchanges[party as usize] = found.exchanges;
    }
    Ok(Cost {
        terms,
        ands: schedule.totals.and0,
        depth,
        tile: schedule.tile,
        demand,
        maker,
        setup: traffic(&exchanges, Phase::Setup),
        online: traffic(&exchanges, Phase::Online),
        memory,
        work: Work::of(&schedule),
        making,
        exchanges,
    })
}

impl Speed {
    /// Measures this machine: both parties of a few AES blocks, each in a thread of its own.
    ///
    /// # Errors
    /// If the measurement cannot run.
    pub fn measure(scheme: Scheme) -> Result<Speed> {
        let aes = blocks::find("aes128").and_then(|block| block.circuit(&[], Goal::Size));
        let aes = aes?;
        let mut p = Program::new("speed");
        let [key, text] = ["key", "text"].map(|name| p.input(name, Owner::Shared, bits(128), LANES as u64));
        let cipher = p.map(&aes, &[key, text]);
        p.output("cipher", Recipient::Shared, cipher);
        let binding = p.bind(&[])?;
        let inputs = ["key", "text"].iter().fold(Inputs::new(), |i, name| i.with(name, BitMatrix::zeros(128, LANES)));
        let run = |channel, party| -> Result<Report> {
            let mut session = Session::connect(channel, party)?;
            let options = Options::new(scheme).timing(Timing::Ahead).extension(Extension::DEFAULT);
            // The first run pays for the base OTs of the session.
            session.run(&binding, &options, &inputs)?;
            Ok(session.run(&binding, &options, &inputs)?.report)
        };
        let (alice, bob) = Channel::pair();
        let report = std::thread::scope(|scope| {
            let bob = scope.spawn(|| run(bob, Party::Bob));
            let report = run(alice, Party::Alice);
            bob.join().map_err(|_| Error::usage("the measurement failed"))?.and(report)
        })?;
        let rate = |time: Duration| report.ands as f64 / time.as_secs_f64().max(1e-9);
        Ok(Speed { setup: rate(report.setup.time), online: rate(report.online.time) })
    }
}

/// Lanes of the measurement: long enough for the pipelines, short enough for the patience of whoever asks.
const LANES: usize = 256;

impl Cost {
    /// The time of setup and of the online phase over a line: both parties' exchanges one after another, each byte
    /// taking its place on the line, and the time of computing besides.
    pub fn time(&self, link: &Link, speed: &Speed) -> (Duration, Duration) {
        let [setup, all] = [Phase::Setup, Phase::Online].map(|phase| self.travel(link, phase));
        let compute = |rate: f64| Duration::from_secs_f64(self.ands as f64 / rate.max(1.0));
        (setup + compute(speed.setup), all.saturating_sub(setup) + compute(speed.online))
    }

    /// When the last byte up to the end of a phase has come.
    fn travel(&self, link: &Link, last: Phase) -> Duration {
        let exchanges = self.exchanges[0].iter().zip(&self.exchanges[1]);
        travel(link, exchanges.take_while(|(alice, _)| last == Phase::Online || alice.phase == Phase::Setup))
    }
}

/// When the last byte of both parties' exchanges has come, without computing.
fn travel<'a>(link: &Link, exchanges: impl Iterator<Item = (&'a PhaseExchange, &'a PhaseExchange)>) -> Duration {
    let bytes = |exchange: &PhaseExchange| (exchange.sent, exchange.read);
    channel::travel([link; 2], exchanges.map(|(alice, bob)| [bytes(alice), bytes(bob)]))
}

/// Bytes of the terms and of what opens a run: equal for both parties, since the terms are.
fn opening(binding: &Binding, terms: &Terms, schedule: &Schedule) -> Result<usize> {
    let none = blake3::hash(b"");
    let fields = fields::run(binding, terms, schedule, &fields::Moment::default(), &none)?;
    Ok(4 + agreement::encode(&fields).len())
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
        if exchange.read > 0 {
            turns += u64::from(sending && exchange.phase == phase);
            sending = false;
        }
    }
    turns
}

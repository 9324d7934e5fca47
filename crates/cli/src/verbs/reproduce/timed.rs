//! A program of the library that is run by phases, and whose outputs are compared with those in the clear.

use super::How;
use super::trial::{Trial, over_tcp};
use crate::failure::{Exit, Failure};
use crate::program;
use crate::verbs::bench::engines::case;
use duologue::channel::{Channel, Link};
use duologue::circuit::{Binding, Program};
use duologue::cost::{self, Cost, Speed};
use duologue::{Options, Outcome, Party, Scheme, Session};
use kernels::work::aes_blocks;
use std::time::{Duration, Instant};

/// A bound program with inputs, and how long it took to build.
pub struct Timed {
    binding: Binding,
    options: Options,
    threads: usize,
    building: Duration,
}

/// The protocols that are measured, as rows name them.
pub const PROTOCOLS: [(&str, Scheme); 3] = [("gmw", Scheme::Gmw), ("masked", Scheme::MaskedGmw), ("yao", Scheme::Yao)];

/// What the phases of a run took: setup with base OTs, online, and all from building the program to closing.
#[derive(Clone, Copy, Default)]
pub struct Phases {
    pub setup: Duration,
    pub online: Duration,
    pub overall: Duration,
}

impl Phases {
    pub const NAMES: [&str; 3] = ["setup", "online", "overall"];

    pub fn named(&self) -> [(&'static str, Duration); 3] {
        let [setup, online, overall] = Phases::NAMES;
        [(setup, self.setup), (online, self.online), (overall, self.overall)]
    }

    /// Of each of so many that were run at once.
    pub fn each(&self, count: u32) -> Phases {
        Phases { setup: self.setup / count, online: self.online / count, overall: self.overall / count }
    }

    /// The same by so many times as fast.
    pub fn faster(&self, gain: f64) -> Phases {
        let of = |time: Duration| time.div_f64(gain);
        Phases { setup: of(self.setup), online: of(self.online), overall: of(self.overall) }
    }

    /// What `by` more take, if another run of `more` more took `longer`.
    pub fn extended(&self, longer: &Phases, more: f64, by: f64) -> Phases {
        let extended = |of: fn(&Phases) -> Duration| of(self) + of(longer).saturating_sub(of(self)).mul_f64(by / more);
        Phases { setup: extended(|p| p.setup), online: extended(|p| p.online), overall: extended(|p| p.overall) }
    }

    /// The median of each phase.
    pub fn medians(runs: &[Phases]) -> Phases {
        let median = |of: fn(&Phases) -> Duration| {
            let mut times: Vec<Duration> = runs.iter().map(of).collect();
            times.sort();
            times[times.len() / 2]
        };
        Phases { setup: median(|p| p.setup), online: median(|p| p.online), overall: median(|p| p.overall) }
    }
}

impl Timed {
    /// A program by its name, all of whose public sizes are `size`.
    pub fn new(name: &str, size: u64, options: Options) -> Result<Timed, Failure> {
        let begin = Instant::now();
        let program = program::load(name, &[])?;
        Timed::of(&program, begin.elapsed(), size, options)
    }

    /// A program that took so long to build.
    pub fn of(program: &Program, building: Duration, size: u64, options: Options) -> Result<Timed, Failure> {
        let begin = Instant::now();
        let sizes: Vec<(&str, u64)> = program.sizes().iter().map(|range| (&*range.name, size)).collect();
        let binding = program.bind(&sizes)?;
        Ok(Timed { binding, options, threads: 1, building: building + begin.elapsed() })
    }

    pub fn threads(self, threads: usize) -> Timed {
        Timed { threads, ..self }
    }

    pub fn binding(&self) -> &Binding {
        &self.binding
    }

    pub fn trial(&self) -> Trial {
        Trial::of(self.binding.clone(), self.options)
    }

    /// Both parties' run over TCP with a simulated line, its phases as Alice saw them.
    pub fn run(&self, link: Option<Link>) -> Result<Phases, Failure> {
        let (time, [alice, _]) = self.both(link)?;
        let report = alice.outcome.report;
        Ok(Phases { setup: report.setup.time, online: report.online.time, overall: self.building + time })
    }

    /// The least of each phase in so many runs without a line.
    pub fn least(&self, runs: usize) -> Result<Phases, Failure> {
        let mut least = self.run(None)?;
        for _ in 1..runs {
            let Phases { setup, online, overall } = self.run(None)?;
            let (setup, online) = (least.setup.min(setup), least.online.min(online));
            least = Phases { setup, online, overall: least.overall.min(overall) };
        }
        Ok(least)
    }

    /// AES blocks that each party computes in a run with one thread, Alice first: in setup, and online.
    pub fn blocks(&self) -> Result<[[u64; 2]; 2], Failure> {
        Ok(self.both(None)?.1.map(|ran| ran.blocks))
    }

    /// A run, whose outputs are compared with those in the clear.
    fn both(&self, link: Option<Link>) -> Result<(Duration, [Ran; 2]), Failure> {
        let (mut alice, mut bob) = (None, None);
        let keep = |ran: &mut Option<Ran>, party, channel| {
            let report = ran.insert(self.party(party, channel)?).outcome.report;
            Ok(report.setup.sent + report.online.sent)
        };
        let alices = |channel| keep(&mut alice, Party::Alice, channel);
        let time = over_tcp(link, alices, |channel| keep(&mut bob, Party::Bob, channel))?.time;
        let (Some(alice), Some(bob)) = (alice, bob) else {
            return Err(Failure::new(Exit::Wrong, "a run ended without a result"));
        };
        case::check(&self.binding, [&alice.outcome.outputs, &bob.outcome.outputs])?;
        Ok((time, [alice, bob]))
    }

    fn party(&self, party: Party, channel: Channel) -> duologue::Result<Ran> {
        let inputs = case::own_inputs(&self.binding, party);
        let begin = aes_blocks();
        let mut session = Session::connect(channel, party)?;
        session.set_threads(self.threads);
        let prepared = session.prepare(&self.binding, &self.options, &inputs)?;
        let ready = aes_blocks();
        let outcome = session.online(prepared, &inputs)?;
        session.close()?;
        Ok(Ran { outcome, blocks: [ready - begin, aes_blocks() - ready] })
    }

    /// Exact bytes and rounds over a line.
    pub fn cost(&self, link: &Link) -> Result<Cost, Failure> {
        Ok(cost::cost_over(&self.binding, &self.options, &Default::default(), link)?)
    }

    /// The phases over a line from exact bytes, and from computing that was measured without a line.
    pub fn computed(&self, link: &Link, computing: &Phases) -> Result<Phases, Failure> {
        let instant = Speed { setup: f64::INFINITY, online: f64::INFINITY };
        let cost = self.cost(link)?;
        let (setup, online) = cost.time(link, &instant);
        let Phases { setup: make, online: run, overall } = *computing;
        // What is streamed is made online.
        let (before, during) = if cost.terms.ahead { (make, run) } else { (Duration::ZERO, make + run) };
        Ok(Phases { setup: setup + before, online: online + during, overall: setup + online + overall })
    }
}

/// Beyond this time a cell is computed.
const PATIENCE: Duration = Duration::from_secs(120);

/// The medians of runs up to this time.
const SHORT: Duration = Duration::from_secs(5);

/// Measured if that is wanted and there is the patience for it; else computed.
pub fn measured_or_computed(
    timed: &Timed,
    line: &Link,
    computing: &Phases,
    measure: bool,
) -> Result<(Phases, How), Failure> {
    let computed = timed.computed(line, computing)?;
    if !measure || computed.overall > PATIENCE {
        return Ok((computed, How::Computed));
    }
    let first = timed.run(Some(*line))?;
    let more = if first.overall < SHORT { 2 } else { 0 };
    let mut runs = vec![first];
    for _ in 0..more {
        runs.push(timed.run(Some(*line))?);
    }
    Ok((Phases::medians(&runs), How::Measured))
}

/// A party's run.
struct Ran {
    outcome: Outcome,
    /// AES blocks that it computed in its own thread in setup, and online.
    blocks: [u64; 2],
}

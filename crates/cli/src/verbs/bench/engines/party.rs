//! One party of the measurement of one case: a session of its own.

use super::case::{Case, Task, check, own_inputs};
use crate::failure::Failure;
use duologue::channel::Channel;
use duologue::circuit::program::Binding;
use duologue::correlation::Demand;
use duologue::session::PhaseReport;
use duologue::{Inputs, Outcome, Outputs, Party, Precomputation, Scheme, Session};
use serde::{Deserialize, Serialize};
use std::thread;
use std::time::{Duration, Instant};

/// The measurements of a party, or of both together.
#[derive(Clone, PartialEq, Default, Debug, Serialize, Deserialize)]
pub struct Measured {
    /// ANDs of a run over all lanes.
    pub ands: u64,
    /// Seconds until the session is there: greeting, base OTs, the first batch of correlations.
    pub session: f64,
    pub runs: Vec<Run>,
    /// Bytes of memory that the process had at most, where the system tells; none if the parties share one.
    pub memory: Option<u64>,
}

/// One run. Times are in seconds, bytes those of the protocol: from Alice to Bob, and from Bob to Alice.
#[derive(Clone, Copy, PartialEq, Default, Debug, Serialize, Deserialize)]
pub struct Run {
    pub setup: f64,
    pub online: f64,
    /// From the call to the outputs.
    pub call: f64,
    pub setup_bytes: [u64; 2],
    pub online_bytes: [u64; 2],
    pub rounds: u64,
}

impl Measured {
    /// The longer time and the larger memory of two parties; bytes and rounds are the same.
    pub fn both([alice, bob]: [Measured; 2]) -> Measured {
        let run = |(a, b): (&Run, &Run)| Run {
            setup: a.setup.max(b.setup),
            online: a.online.max(b.online),
            call: a.call.max(b.call),
            ..*a
        };
        Measured {
            ands: alice.ands,
            session: alice.session.max(bob.session),
            runs: alice.runs.iter().zip(&bob.runs).map(run).collect(),
            memory: alice.memory.max(bob.memory),
        }
    }
}

/// Bytes of a stream that a party sends at once.
const PIECE: usize = 1 << 18;

/// Does a case over a channel. Everything learned is compared with the result in the clear, when all is measured.
pub fn measure(channel: Channel, party: Party, case: &Case) -> Result<Measured, Failure> {
    if let Task::Stream { bytes } | Task::Replay { bytes } = case.task {
        return stream(channel, party, bytes, case.runs);
    }
    let binding = case.bind()?;
    let inputs = own_inputs(&binding, party);
    let start = Instant::now();
    let mut session = Session::connect(channel, party)?;
    session.register_all(&apps::calls());
    session.set_threads(case.threads as usize);
    warm_up(&mut session, case)?;
    let opened = start.elapsed().as_secs_f64();
    let mut side = Side { party, case, binding: &binding, inputs: &inputs, session, learned: Vec::new(), ands: 0 };
    let runs = side.runs()?;
    let memory = crate::verbs::run::peak_memory();
    side.session.close()?;
    check(&binding, &side.learned)?;
    Ok(Measured { ands: side.ands, session: opened, runs, memory })
}

/// The time for the other party to wait for us, before a run whose clock begins with connecting.
const IN_WAIT: Duration = Duration::from_millis(50);

/// Runs that have a connection and a session each. The time is Alice's, who is the one that connects on one machine.
pub fn from_connecting(
    mut meet: impl FnMut() -> Result<Channel, Failure>,
    party: Party,
    case: &Case,
) -> Result<Measured, Failure> {
    let binding = case.bind()?;
    let inputs = own_inputs(&binding, party);
    let (mut measured, mut learned) = (Measured::default(), Vec::new());
    for _ in 0..case.runs {
        if party == Party::Alice {
            thread::sleep(IN_WAIT);
        }
        let precomputation = Precomputation::new()?.with_program(&binding, &case.options())?;
        let start = Instant::now();
        let mut session = Session::connect_with(meet()?, party, precomputation)?;
        if case.task == Task::First {
            let outcome = session.run(&binding, &case.options(), &inputs)?;
            measured.ands = outcome.report.ands;
            learned.push(outcome.outputs);
        } else {
            warm_up(&mut session, case)?;
        }
        let time = if party == Party::Alice { start.elapsed().as_secs_f64() } else { 0.0 };
        measured.runs.push(Run { online: time, call: time, ..Run::default() });
        session.close()?;
    }
    check(&binding, &learned)?;
    Ok(measured)
}

/// Base OTs and a batch of correlations, which nobody uses.
fn warm_up(session: &mut Session, case: &Case) -> Result<(), Failure> {
    let options = case.options();
    let demand = match options.scheme {
        Scheme::Yao => Demand::of_cots(Party::Alice, 1) + Demand::of_cots(Party::Bob, 1),
        _ => Demand::of_triples(1),
    };
    session.correlate(options.extension, demand, |stock| stock.forget(&stock.available()))?;
    Ok(())
}

/// One party's end of a session in which a case is run.
struct Side<'a> {
    party: Party,
    case: &'a Case,
    binding: &'a Binding,
    inputs: &'a Inputs,
    session: Session,
    learned: Vec<Outputs>,
    ands: u64,
}

impl Side<'_> {
    fn runs(&mut self) -> Result<Vec<Run>, Failure> {
        match self.case.task {
            Task::Online { at_once } => {
                let mut runs = Vec::new();
                while runs.len() < self.case.runs as usize {
                    let count = (self.case.runs as usize - runs.len()).min(at_once.max(1) as usize);
                    self.prepared(count, &mut runs)?;
                }
                Ok(runs)
            }
            _ => (0..self.case.runs).map(|_| self.whole()).collect(),
        }
    }

    fn whole(&mut self) -> Result<Run, Failure> {
        let start = Instant::now();
        let outcome = self.session.run(self.binding, &self.case.options(), self.inputs)?;
        Ok(self.note(outcome, start))
    }

    /// Prepares some programs, then runs them all.
    fn prepared(&mut self, count: usize, runs: &mut Vec<Run>) -> Result<(), Failure> {
        let mut ready = Vec::new();
        for _ in 0..count {
            ready.push(self.session.prepare(self.binding, &self.case.options(), self.inputs)?);
        }
        for prepared in ready {
            let start = Instant::now();
            let outcome = self.session.online(prepared, self.inputs)?;
            runs.push(self.note(outcome, start));
        }
        Ok(())
    }

    fn note(&mut self, Outcome { outputs, report, .. }: Outcome, start: Instant) -> Run {
        let call = start.elapsed().as_secs_f64();
        self.learned.push(outputs);
        self.ands = report.ands;
        let bytes = |phase: &PhaseReport| match self.party {
            Party::Alice => [phase.sent, phase.received],
            Party::Bob => [phase.received, phase.sent],
        };
        Run {
            setup: report.setup.time.as_secs_f64(),
            online: report.online.time.as_secs_f64(),
            call,
            setup_bytes: bytes(&report.setup),
            online_bytes: bytes(&report.online),
            rounds: report.online.rounds,
        }
    }
}

/// Bytes from Bob to Alice; a byte from Alice says when, and another that all is there.
fn stream(mut channel: Channel, party: Party, bytes: u64, runs: u32) -> Result<Measured, Failure> {
    let mut piece = vec![0x5a; PIECE];
    let pieces = bytes.div_ceil(PIECE as u64);
    let mut measured = Measured::default();
    for _ in 0..runs {
        let start = Instant::now();
        match party {
            Party::Alice => {
                channel.send(&[0])?;
                for _ in 0..pieces {
                    channel.recv_into(&mut piece)?;
                }
                channel.send(&[0])?;
                channel.flush()?;
            }
            Party::Bob => {
                channel.recv(1)?;
                for _ in 0..pieces {
                    channel.send(&piece)?;
                }
                channel.recv(1)?;
            }
        }
        let online_bytes = [0, pieces * PIECE as u64];
        measured.runs.push(Run { online: start.elapsed().as_secs_f64(), online_bytes, ..Run::default() });
    }
    channel.finish()?;
    Ok(measured)
}

//! A program's runs by given options, drafted before it is known over which line and from which correlations: from a draft
//! follows the [`Cost`] of a run once that is known.

use super::dry::{self, Event, Wanted};
use super::{Cost, PhaseExchange, Work, traffic};
use crate::agreement;
use crate::call::{CallWork, Calls};
use crate::conditions::Findings;
use crate::correlation::choice::computing_blocks;
use crate::correlation::{Demand, MakerExchange, MakerLengths};
use crate::executor::{Phase, PlanCache};
use crate::ot::{Based, Extension};
use crate::protocol::terms::Terms;
use crate::session::at_once;
use crate::session::fields::{self, Moment};
use crate::{Party, Result};
use circuit::Schedule;
use circuit::program::Binding;
use std::sync::Arc;

/// What both parties do in a run, whatever makes the correlations.
#[derive(Clone)]
pub(crate) struct Draft {
    pub terms: Terms,
    pub schedule: Arc<Schedule>,
    /// Correlations that it draws.
    pub demand: Demand,
    /// The digest of all that both parties compare before they run it in a new session.
    pub digest: blake3::Hash,
    /// Memory at the party that needs more, in bytes.
    pub memory: u64,
    depth: u32,
    one_way: bool,
    /// What calls compute, and those of which it is not known.
    calls: (CallWork, Vec<String>),
    /// Bytes of the terms.
    pub opening: usize,
    events: [Vec<Event>; 2],
}

/// Where the correlations of a run come from.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Source {
    /// What makes those that are not there.
    pub maker: Extension,
    /// The base OTs that the session has.
    pub based: Based,
    /// What it has in memory.
    pub stock: Demand,
    /// What its pool has.
    pub pool: Demand,
}

impl Default for Source {
    /// That of a new session.
    fn default() -> Self {
        let (stock, pool) = (Demand::NONE, Demand::NONE);
        Source { maker: Extension::DEFAULT, based: Based::default(), stock, pool }
    }
}

/// How the parties come to a run.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Start {
    /// With its terms; a probe of so many bytes goes with the base OTs.
    Terms { probe: usize },
    /// With a choice whose terms have so many bytes; those of the run travel with what comes next.
    Choice { terms: usize, measuring: Measuring },
}

/// What is measured for a choice, by a probe of so many bytes in each direction.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Measuring {
    Nothing,
    /// The line and the processors alone.
    Alone(usize),
    /// Meanwhile base OTs are made for a demand.
    WithBaseOts(usize, Demand),
}

impl Draft {
    /// The draft of a schedule under terms that follow from it.
    ///
    /// # Errors
    /// If the program cannot be encoded, or calls a protocol that is none of `calls`.
    pub fn new(
        binding: &Binding,
        (terms, schedule): (Terms, Arc<Schedule>),
        (calls, plans): (&Calls, &PlanCache),
    ) -> Result<Draft> {
        calls.check(&schedule)?;
        let of_calls = calls.work(&schedule)?;
        let lengths = terms.scheme.descriptor().lengths(&terms, Party::Alice, plans);
        let (mut demand, mut depth, mut memory) = (Demand::NONE, 0, 0);
        let mut events: [Vec<Event>; 2] = Default::default();
        for party in [Party::Alice, Party::Bob] {
            let found = dry::run(party, (binding, &schedule), &terms, (calls, plans))?;
            (demand, depth) = (found.demand, found.depth);
            memory = memory.max(found.peak + found.stored);
            events[party as usize] = found.events;
        }
        let none = blake3::hash(b"");
        let opening = agreement::encode(&fields::run(binding, &terms, &schedule, &Moment::default(), &none)?);
        let (one_way, digest, opening) = (lengths.scheduling().one_way, blake3::hash(&opening), 4 + opening.len());
        Ok(Draft { terms, schedule, demand, digest, memory, depth, one_way, calls: of_calls, opening, events })
    }

    /// The cost of a run that takes its correlations from there and begins so.
    pub fn cost(&self, source: &Source, start: &Start) -> Cost {
        let [alice, bob] = [Party::Alice, Party::Bob].map(|party| {
            let mut line = Line::new(party, source, start, self.opening);
            self.events[party as usize].iter().for_each(|event| line.follow(event));
            line
        });
        let (made, parts, exchanges) = (alice.made, alice.parts.max(bob.parts), [alice.exchanges, bob.exchanges]);
        Cost {
            terms: self.terms,
            ands: self.schedule.totals.and0,
            depth: self.depth,
            tile: self.schedule.tile,
            demand: self.demand,
            maker: source.maker,
            setup: traffic(&exchanges, Phase::Setup),
            online: traffic(&exchanges, Phase::Online),
            memory: self.memory,
            work: Work::of(&self.schedule),
            works: Work::by_protocol(&self.terms, &self.schedule),
            making: computing_blocks(source.maker, &made, begins(source, start, &made)),
            calls: self.calls.0,
            uncounted: self.calls.1.clone(),
            one_way: self.one_way,
            parts,
            exchanges,
        }
    }
}

/// Whether the session's first base OTs are made.
fn begins(source: &Source, start: &Start, made: &Demand) -> bool {
    let for_a_choice = matches!(start, Start::Choice { measuring: Measuring::WithBaseOts(..), .. });
    for_a_choice || (*made != Demand::NONE && !source.based.any())
}

/// The exchanges of one party, with those that make correlations.
struct Line {
    lengths: MakerLengths,
    phase: Phase,
    available: Demand,
    pool: Demand,
    made: Demand,
    /// Parts of the largest refill, one of which is made while another is sent.
    parts: u32,
    /// Bytes of terms, and of what opens programs behind them, that go with the next exchange.
    terms: Option<(usize, usize)>,
    exchanges: Vec<PhaseExchange>,
}

impl Line {
    fn new(us: Party, source: &Source, start: &Start, opening: usize) -> Line {
        let lengths = MakerLengths::new(us, source.maker).based(source.based);
        let (available, pool) = (source.stock, source.pool);
        let (phase, made, exchanges) = (Phase::Setup, Demand::NONE, Vec::new());
        let mut line = Line { lengths, phase, available, pool, made, parts: 1, terms: None, exchanges };
        match *start {
            Start::Terms { probe } => {
                line.lengths = line.lengths.probing(probe);
                line.exchange(opening, opening);
            }
            Start::Choice { terms, measuring } => {
                line.choose(terms, measuring);
                line.terms = Some((opening, opening));
            }
        }
        line
    }

    /// The terms of a choice with a probe, and what was found, with base OTs.
    fn choose(&mut self, terms: usize, measuring: Measuring) {
        let (probe, demand) = match measuring {
            Measuring::Nothing => return self.exchange(terms, terms),
            Measuring::Alone(probe) => (probe, Demand::NONE),
            Measuring::WithBaseOts(probe, demand) => (probe, demand),
        };
        let mut exchanges = self.lengths.base(&demand).into_iter();
        for length in [terms + probe, Findings::LEN] {
            let base = exchanges.next().unwrap_or_else(|| (0, 0).into());
            self.exchange(length + base.sent, length + base.read);
        }
        exchanges.for_each(|exchange| self.make(exchange));
    }

    fn follow(&mut self, event: &Event) {
        match event {
            Event::Opening { sent, read } => match &mut self.terms {
                Some(terms) => *terms = (terms.0 + sent, terms.1 + read),
                None => self.exchange(*sent, *read),
            },
            Event::Exchange { sent, read } => self.exchange(*sent, *read),
            Event::Supply(wanted) => self.supply(wanted),
            Event::Online => {
                // Nobody uses an input before the terms are compared.
                if self.terms.is_some() {
                    self.exchange(0, 0);
                }
                self.phase = Phase::Online;
            }
        }
    }

    fn exchange(&mut self, sent: usize, read: usize) {
        self.make((sent, read).into());
    }

    /// An exchange, with the terms that are awaited.
    fn make(&mut self, MakerExchange { sent, read, turn }: MakerExchange) {
        let (terms, phase) = (self.terms.take(), self.phase);
        let turn = turn || terms.is_some();
        let (first, then) = terms.unwrap_or_default();
        self.exchanges.push(PhaseExchange { phase, sent: sent + first, read: read + then, turn });
    }

    fn supply(&mut self, &Wanted { drawn, demand, ahead }: &Wanted) {
        self.available = self.available.missing_from(&drawn);
        if demand != Demand::NONE && demand.missing_from(&self.available) == Demand::NONE {
            return;
        }
        let wanted = at_once(&demand, &ahead).missing_from(&self.available);
        let taken = wanted.at_most(&self.pool);
        if taken != Demand::NONE {
            self.pool = self.pool.missing_from(&taken);
            self.available += taken;
            // Digests of what both take.
            self.exchange(32, 32);
        }
        let missing = wanted.missing_from(&taken);
        if missing != Demand::NONE {
            let (exchanges, made) = self.lengths.refill(missing);
            self.parts = self.parts.max(self.lengths.parts());
            exchanges.into_iter().for_each(|exchange| self.make(exchange));
            self.available += made;
            self.made += made;
        }
    }
}

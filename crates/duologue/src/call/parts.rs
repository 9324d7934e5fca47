//! A program with calls under way: its parts, each an engine of whatever protocol, and its calls, one after the other.

use crate::clock::Instant;
use crate::correlation::{Demand, Stock};
use crate::executor::{Delivered, Engine, Feeds, Link, Phase, Program, Ran, RunSink, RunSource, StoredSize};
use crate::outbox::{Inbox, Outbox};
use crate::{Error, Result};
use circuit::BitMatrix;
use circuit::program::{CallPart, Holder, Origin, Owner, Part, Parts, ProgramPart, Target, Value};
use kernels::Block;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;
use zeroize::Zeroizing;

/// One side of a call: of a party, in plain, or in lengths alone.
pub(crate) trait CallRun: Send {
    /// The correlations that setup draws.
    fn demand(&self) -> Demand {
        Demand::NONE
    }

    /// Bytes that setup stores.
    fn stored(&self) -> u64 {
        0
    }

    /// Setup, whose result stays here.
    fn setup(&mut self, _: &mut Stock, _: &mut dyn Link) -> Result<()> {
        Ok(())
    }

    /// Takes the result of setup.
    fn take_ready(&mut self) -> Option<Zeroizing<Vec<u8>>> {
        None
    }

    /// Gives back the result of a setup.
    fn restore(&mut self, _: Zeroizing<Vec<u8>>) -> Result<()> {
        Ok(())
    }

    /// The results on arguments, as far as this side holds them.
    fn online(
        &mut self,
        args: Vec<Option<BitMatrix>>,
        stock: &mut Stock,
        link: &mut dyn Link,
    ) -> Result<Vec<Option<BitMatrix>>>;
}

/// A call in plain.
pub(crate) struct PlainCall {
    functionality: Arc<dyn circuit::program::Functionality>,
    parameters: Vec<u8>,
}

impl PlainCall {
    pub fn new(part: &CallPart) -> Self {
        PlainCall { functionality: part.functionality.clone(), parameters: part.call.parameters.clone() }
    }
}

impl CallRun for PlainCall {
    fn online(
        &mut self,
        args: Vec<Option<BitMatrix>>,
        _: &mut Stock,
        _: &mut dyn Link,
    ) -> Result<Vec<Option<BitMatrix>>> {
        let args: Option<Vec<BitMatrix>> = args.into_iter().collect();
        let args = args.ok_or_else(|| Error::usage("an argument of a call is missing"))?;
        Ok(self.functionality.evaluate(&self.parameters, &args).into_iter().map(Some).collect())
    }
}

/// A part or a call under way.
enum Running {
    Program(Box<dyn Engine>),
    Call(Box<dyn CallRun>),
}

impl Running {
    fn demand(&self) -> Demand {
        match self {
            Running::Program(engine) => engine.demand(),
            Running::Call(call) => call.demand(),
        }
    }

    fn stored_size(&self) -> StoredSize {
        match self {
            Running::Program(engine) => engine.stored_size(),
            Running::Call(call) => StoredSize { labels: call.stored(), tables: 0 },
        }
    }
}

/// A program with calls under way.
pub(crate) struct InParts {
    program: Program,
    parts: Arc<Parts>,
    running: Vec<Running>,
}

/// Bytes of a part's secret. Those of all parts, in order, are the first labels of a stored run.
pub(crate) const SECRET: u64 = 16;

impl InParts {
    /// Begins a program of these parts. `begin` makes the engine of each part, and `call` one side of each call, in their
    /// order; both get a source of keys.
    pub fn new<K>(
        program: Program,
        parts: &Arc<Parts>,
        keys: &mut K,
        mut begin: impl FnMut(&mut K, (&ProgramPart, Program)) -> Result<Box<dyn Engine>>,
        mut call: impl FnMut(&mut K, &CallPart) -> Result<Box<dyn CallRun>>,
    ) -> Result<Self> {
        let mut running = Vec::new();
        for part in &parts.list {
            running.push(match part {
                Part::Program(part) => Running::Program(begin(keys, (part, program_of(&program, part)))?),
                Part::Call(part) => Running::Call(call(keys, part)?),
            });
        }
        Ok(InParts { program, parts: parts.clone(), running })
    }

    /// Work of each part, for whoever watches: ANDs, and correlations of calls.
    fn works(&self) -> Vec<u64> {
        let works = self.parts.list.iter().zip(&self.running).map(|(part, running)| match part {
            Part::Program(part) => part.schedule.totals.and0,
            Part::Call(_) => running.demand().total(),
        });
        works.collect()
    }

    /// Does something with each part in turn; who watches sees the progress of the whole program.
    fn each(
        &mut self,
        link: &mut dyn Link,
        mut act: impl FnMut(&mut Running, &mut dyn Link) -> Result<()>,
    ) -> Result<()> {
        let (works, mut before) = (self.works(), 0);
        let total = works.iter().sum();
        for (running, work) in self.running.iter_mut().zip(works) {
            act(running, &mut PartLink { link: &mut *link, before, work, total })?;
            before += work;
        }
        Ok(())
    }

    fn run(self, inputs: &Feeds, stock: &mut Stock, link: &mut dyn Link) -> Result<Ran> {
        let (works, ahead, schedule) = (self.works(), self.program.ahead, self.program.schedule.clone());
        let (total, mut before) = (works.iter().sum(), 0);
        let mut values = Values { program: &self.program, inputs, made: BTreeMap::new() };
        let mut outputs: Delivered = self.program.binding.outputs().iter().map(|_| None).collect();
        let (mut streamed_setup, mut peak) = (Duration::ZERO, 0);
        for ((part, running), work) in self.parts.list.iter().zip(self.running).zip(works) {
            let link = &mut PartLink { link: &mut *link, before, work, total };
            match (part, running) {
                (Part::Program(part), Running::Program(engine)) => {
                    let ran = engine.online(&values.feeds(part), stock, link)?;
                    streamed_setup += ran.streamed_setup;
                    peak = peak.max(ran.peak);
                    for (target, value) in part.outputs.iter().zip(ran.outputs) {
                        match *target {
                            Target::Output(port) => outputs[port] = value,
                            Target::Value(name) => drop(values.made.insert(name, value.map(Arc::new))),
                        }
                    }
                }
                (Part::Call(part), Running::Call(mut call)) => {
                    if !ahead {
                        let start = Instant::now();
                        call.setup(stock, link)?;
                        streamed_setup += start.elapsed();
                    }
                    let results = call.online(values.args(part), stock, link)?;
                    let results = results.into_iter().map(|result| result.map(Arc::new));
                    values.made.extend(part.results.iter().copied().zip(results));
                }
                _ => return Err(Error::usage("the parts of a program are not those that run")),
            }
            before += work;
        }
        for &(port, value) in &self.parts.direct {
            outputs[port] = values.made.get(&value).cloned().flatten().map(Arc::unwrap_or_clone);
        }
        Ok(Ran { outputs, streamed_setup, peak, schedule })
    }
}

/// A part as a program of its own.
fn program_of(whole: &Program, part: &ProgramPart) -> Program {
    let ports = part.binding.inputs().iter().zip(&part.inputs);
    let public = ports.map(|(port, origin)| match (port.who, origin) {
        (Owner::Public, Origin::Input(place)) => whole.public.get(*place).cloned().flatten(),
        _ => None,
    });
    Program {
        party: whole.party,
        binding: part.binding.clone(),
        schedule: part.schedule.clone(),
        window: whole.window,
        ahead: whole.ahead,
        public: public.collect(),
        threads: whole.threads.clone(),
        strands: whole.strands,
        movers: whole.movers,
    }
}

/// What a party has of the values between parts.
struct Values<'a> {
    program: &'a Program,
    inputs: &'a Feeds,
    made: BTreeMap<Value, Option<Arc<BitMatrix>>>,
}

impl Values<'_> {
    fn get(&self, origin: Origin) -> Option<Arc<BitMatrix>> {
        match origin {
            Origin::Input(place) => self.inputs.get(place).cloned().flatten(),
            Origin::Made(value) => self.made.get(&value).cloned().flatten(),
        }
    }

    fn feeds(&self, part: &ProgramPart) -> Feeds {
        part.inputs.iter().map(|&origin| self.get(origin)).collect()
    }

    /// What the peer holds is absent.
    fn args(&self, part: &CallPart) -> Vec<Option<BitMatrix>> {
        let peer = self.program.party.map(|party| Holder::Party(party.peer()));
        let arg =
            |(&origin, holder)| if Some(holder) == peer { None } else { self.get(origin).map(Arc::unwrap_or_clone) };
        part.args.iter().zip(part.call.args.iter().map(|arg| arg.holder)).map(arg).collect()
    }
}

impl Engine for InParts {
    fn demand(&self) -> Demand {
        self.running.iter().map(Running::demand).sum()
    }

    fn stored_size(&self) -> StoredSize {
        let mut size = StoredSize { labels: SECRET * self.parts.programs().count() as u64, tables: 0 };
        self.running.iter().for_each(|running| size += running.stored_size());
        size
    }

    /// Each part has its own, which is stored with it; none in place of them all.
    fn program_secret(&self) -> Option<Zeroizing<Block>> {
        let mut engines = self.running.iter().filter_map(|running| match running {
            Running::Program(engine) => Some(engine),
            Running::Call(_) => None,
        });
        engines.all(|engine| engine.program_secret().is_some()).then(Zeroizing::default)
    }

    fn setup(&mut self, stock: &mut Stock, link: &mut dyn Link) -> Result<()> {
        let (threads, ahead) = (self.program.threads.clone(), self.program.ahead);
        threads.install(|| {
            self.each(link, |running, link| match running {
                Running::Program(engine) => engine.setup(stock, link),
                Running::Call(call) if ahead => call.setup(stock, link),
                Running::Call(_) => Ok(()),
            })
        })
    }

    fn setup_to(&mut self, run: &mut dyn RunSink, stock: &mut Stock, link: &mut dyn Link) -> Result<()> {
        for running in &self.running {
            if let Running::Program(engine) = running {
                let secret = engine.program_secret().ok_or_else(|| Error::usage("this protocol stores no runs"))?;
                run.labels(&Zeroizing::new(secret.to_bytes())[..])?;
            }
        }
        let threads = self.program.threads.clone();
        threads.install(|| {
            self.each(link, |running, link| match running {
                Running::Program(engine) => engine.setup_to(run, stock, link),
                Running::Call(call) => {
                    call.setup(stock, link)?;
                    run.labels(&call.take_ready().ok_or_else(|| Error::usage("the setup of a call has no result"))?)
                }
            })
        })
    }

    fn resume(&mut self, run: &Arc<dyn RunSource>, mut at: StoredSize) -> Result<()> {
        at.labels += SECRET * self.parts.programs().count() as u64;
        for running in &mut self.running {
            match running {
                Running::Program(engine) => engine.resume(run, at)?,
                Running::Call(call) => {
                    let mut stored = Zeroizing::new(vec![0; call.stored() as usize]);
                    run.labels(at, &mut stored)?;
                    call.restore(stored)?;
                }
            }
            at += running.stored_size();
        }
        Ok(())
    }

    fn online(self: Box<Self>, inputs: &Feeds, stock: &mut Stock, link: &mut dyn Link) -> Result<Ran> {
        let threads = self.program.threads.clone();
        threads.install(|| self.run(inputs, stock, link))
    }
}

/// The link of one part: its progress is part of the whole program's.
struct PartLink<'a> {
    link: &'a mut dyn Link,
    before: u64,
    work: u64,
    total: u64,
}

impl Link for PartLink<'_> {
    fn send(&mut self, bytes: &[u8]) -> Result<()> {
        self.link.send(bytes)
    }

    fn give(&mut self, outbox: &mut Outbox) -> Result<()> {
        self.link.give(outbox)
    }

    fn flush(&mut self) -> Result<()> {
        self.link.flush()
    }

    fn receive(&mut self, count: usize, inbox: &mut Inbox) -> Result<()> {
        self.link.receive(count, inbox)
    }

    fn receive_more(&mut self, count: usize, inbox: &mut Inbox) -> Result<()> {
        self.link.receive_more(count, inbox)
    }

    fn supply(&mut self, stock: &mut Stock, demand: Demand, ahead: Demand) -> Result<()> {
        self.link.supply(stock, demand, ahead)
    }

    fn opening(&mut self) -> Result<Vec<u8>> {
        self.link.opening()
    }

    fn overlaps(&self) -> bool {
        self.link.overlaps()
    }

    fn progress(&mut self, phase: Phase, done: u64, total: u64) -> Result<()> {
        let done = u128::from(self.work) * u128::from(done) / u128::from(total.max(1));
        self.link.progress(phase, self.before + done as u64, self.total)
    }
}

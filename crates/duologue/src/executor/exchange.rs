//! Tasks that wait for the peer, and the exchange that they share.

use super::groups::{Exchanged, Group, Groups};
use super::queue::{UnderWay, is_output};
use super::tables::Tables;
use super::{Exchanges, Flow, Job, Link, Made, Program, Protocol, Scheduling, Stage, unforeseen};
use crate::outbox::{Inbox, Outbox};
use crate::threads::Threads;
use crate::{Error, Result};

/// The stage of a task online, held to its lengths.
pub(super) struct Steps<P: Protocol> {
    /// Absent once the task is done.
    stage: Option<P::Online>,
    exchanges: Exchanges,
    tables: Tables,
    /// Bytes that it waits for.
    expect: usize,
}

impl<P: Protocol> Steps<P> {
    /// Before the first step.
    pub fn new(protocol: &P, job: &Job, stage: P::Online, tables: Tables) -> Self {
        Steps { stage: Some(stage), exchanges: protocol.lengths().online(job), tables, expect: 0 }
    }

    /// Goes on until the task waits for the peer or is done; its result.
    pub fn step(&mut self, protocol: &P, job: &Job, inbox: &[u8], outbox: &mut Outbox) -> Result<Step<P>> {
        let Some(stage) = &mut self.stage else { return Err(Error::usage("a task goes on that is done")) };
        let before = outbox.len();
        let mut flow = stage.step(protocol, job, inbox, outbox)?;
        loop {
            match (flow, self.exchanges.next()) {
                (Flow::Exchange, Some(next)) if outbox.len() - before == next.sent => match next.tables {
                    Some(bytes) => flow = stage.step(protocol, job, self.tables.next(bytes)?, outbox)?,
                    None => {
                        self.expect = next.read;
                        return Ok(None);
                    }
                },
                (Flow::Done(made), None) if outbox.len() == before => {
                    // To give back megabytes takes its time, too, which the threads share.
                    self.stage = None;
                    return Ok(Some(made));
                }
                _ => return Err(unforeseen()),
            }
        }
    }

    /// Bytes that the task waits for.
    pub fn expects(&self) -> usize {
        self.expect
    }

    /// Bytes that the task reads in the exchange after the one that it waits in, if it certainly goes on then, and the peer
    /// needs nothing of that exchange.
    fn reads_next(&self) -> Option<usize> {
        self.exchanges.peek().filter(|next| next.tables.is_none() && next.sent == 0).map(|next| next.read)
    }
}

/// The result of a task that has had its turn; none if it waits for the next exchange.
pub(super) type Step<P> = Option<Made<<P as Protocol>::Value>>;

/// A task under way online.
pub(super) struct Running<P: Protocol> {
    pub job: Job,
    pub steps: Steps<P>,
}

/// A task that has had its turn.
pub(super) type Stepped<P> = (Running<P>, Step<P>);

/// A task, and the bytes that came for it.
struct Turn<'a, P: Protocol> {
    running: Running<P>,
    bytes: &'a [u8],
}

/// Groups of tasks that are stepped side by side, for each thread: whoever is done early takes one more.
const GROUPS: usize = 4;

/// Bytes that a group of tasks reads at least, if threads move bytes while others compute.
const GROUP: usize = if cfg!(test) { 1 } else { 64 << 10 };

/// Bytes of an exchange that are worth a thread's attention, which costs some microseconds: 32 kB are those of 130,000
/// ANDs by GMW. Tests share out everything.
const WORTH: usize = if cfg!(test) { 1 } else { 32 << 10 };

/// The tasks that wait for the next exchange, and the bytes that go out and come in with it.
pub(super) struct Round<P: Protocol> {
    scheduling: Scheduling,
    /// Whether all of setup came ahead, so that nothing is sent between two exchanges.
    ahead_of_time: bool,
    threads: Threads,
    waiting: Vec<Running<P>>,
    /// Tasks whose first steps threads will share.
    begun: Vec<Running<P>>,
    /// Bytes for the next exchange, in this order; a task that begins writes to the last.
    outboxes: Vec<Outbox>,
    inbox: Inbox,
    /// Outboxes that were sent while a step was taken, and the bytes that came meanwhile: all that the next exchange reads.
    sent: Vec<Outbox>,
    ahead: Option<Inbox>,
    /// Memory for the bytes of groups.
    inboxes: Vec<Inbox>,
}

impl<P: Protocol> Round<P> {
    pub fn new(scheduling: Scheduling, program: &Program) -> Self {
        Round {
            scheduling,
            ahead_of_time: program.ahead,
            threads: program.threads.clone(),
            waiting: Vec::new(),
            begun: Vec::new(),
            outboxes: vec![Outbox::default()],
            inbox: Inbox::default(),
            sent: Vec::new(),
            ahead: None,
            inboxes: Vec::new(),
        }
    }

    /// Whether a task waits for the peer.
    pub fn is_waiting(&self) -> bool {
        !self.waiting.is_empty()
    }

    /// How far the tasks are that have begun.
    pub fn under_way(&self) -> UnderWay {
        let mut all = self.waiting.iter().chain(&self.begun);
        let only_outputs = all.all(|running| is_output(&running.job.task));
        match (self.waiting.is_empty(), self.begun.is_empty()) {
            (false, _) => UnderWay::Waiting { only_outputs },
            (true, false) => UnderWay::Begun { only_outputs },
            (true, true) => UnderWay::Nothing,
        }
    }

    /// A task waits for the next exchange.
    pub fn wait(&mut self, running: Running<P>) {
        self.waiting.push(running);
    }

    /// Whether threads will share the first step of a task, after which it waits for the peer: nobody waits for it
    /// meanwhile, so that it is all the same when that step is taken, if what is sent keeps its order.
    pub fn may_begin_later(&self, job: &Job) -> bool {
        self.scheduling.side_by_side && self.threads.count() > 1 && job.ands() > 0
    }

    /// Leaves the first step of a task to [`step_begun`](Self::step_begun).
    pub fn begin_later(&mut self, running: Running<P>) {
        self.begun.push(running);
    }

    /// The outbox of a task that takes its first step now.
    pub fn outbox(&mut self) -> &mut Outbox {
        self.outboxes.last_mut().expect("there is one at least")
    }

    /// Takes the first steps that were left.
    pub fn step_begun(&mut self, protocol: &P) -> Result<Vec<Stepped<P>>> {
        if self.begun.is_empty() {
            return Ok(Vec::new());
        }
        let mut before = std::mem::take(&mut self.outboxes);
        let begun = std::mem::take(&mut self.begun).into_iter();
        let turns = begun.map(|running| Turn { running, bytes: &[] }).collect();
        let stepped = self.step(protocol, turns, usize::MAX);
        before.append(&mut self.outboxes);
        self.outboxes = before;
        stepped
    }

    /// One round: everything written goes out, and everybody gets what it waits for.
    ///
    /// Tasks whose steps may be taken side by side are taken group by group (`groups`). Else, with three threads and more,
    /// one of them sends what nobody waits for an answer to, and reads what will certainly be asked for next, while the
    /// others take the step. Only an exchange in which this party sends nothing is read ahead:
    /// the peer then reads nothing in it, so that never both wait for what the other sends after its step.
    pub fn exchange(&mut self, protocol: &P, link: &mut dyn Link) -> Result<Vec<Stepped<P>>> {
        let expected: usize = self.waiting.iter().map(|running| running.steps.expect).sum();
        let (threads, written) = (self.threads.clone(), self.outboxes.iter().map(|outbox| outbox.len()).sum());
        if self.scheduling.side_by_side && expected >= WORTH && link.overlaps() {
            send(link, &mut self.outboxes)?;
            return self.exchange_in_groups(protocol, expected, link);
        }
        let overlaps = threads.count() > 2 && link.overlaps();
        let worth = |bytes: usize| overlaps && bytes >= WORTH;
        let mut outgoing = Vec::new();
        if expected == 0 && worth(written) {
            outgoing = std::mem::replace(&mut self.outboxes, std::mem::take(&mut self.sent));
        } else {
            send(link, &mut self.outboxes)?;
        }
        let inbox = self.incoming(expected, link)?;
        let next = if overlaps { self.reads_next().filter(|&bytes| worth(bytes)) } else { None };
        let mut ahead = std::mem::take(&mut self.inbox);
        let turns = self.turns(&inbox);
        let (moved, stepped) = if outgoing.is_empty() && next.is_none() {
            (Ok(()), self.step(protocol, turns, inbox.len()))
        } else {
            let moving = || {
                send(link, &mut outgoing)?;
                next.map_or(Ok(()), |bytes| link.receive(bytes, &mut ahead))
            };
            threads.both(moving, || self.step(protocol, turns, inbox.len()))
        };
        let stepped = stepped?;
        moved?;
        (self.inbox, self.sent, self.ahead) = (inbox, outgoing, next.map(|_| ahead));
        Ok(stepped)
    }

    /// The tasks that wait, in groups: those of a group are next to each other, and read about as much as those of any other.
    fn groups(&mut self, expected: usize) -> Vec<Group<P>> {
        let most = GROUPS * self.threads.count();
        let size = expected.div_ceil(most).max(GROUP);
        let mut groups: Vec<Group<P>> = Vec::new();
        for running in std::mem::take(&mut self.waiting) {
            let bytes = running.steps.expect;
            match groups.last_mut().filter(|group| group.expect == 0 || group.expect + bytes / 2 <= size) {
                Some(group) => group.add(running),
                None => {
                    let outbox = self.outboxes.get_mut(groups.len()).map(std::mem::take).unwrap_or_default();
                    groups.push(Group { running: vec![running], expect: bytes, outbox });
                }
            }
        }
        groups
    }

    /// Reads what all wait for, and steps them, group by group.
    fn exchange_in_groups(&mut self, protocol: &P, expected: usize, link: &mut dyn Link) -> Result<Vec<Stepped<P>>> {
        let groups = self.groups(expected);
        let mut workers = vec![(); groups.len().min(self.threads.count())];
        let groups = Groups::new(groups, std::mem::take(&mut self.inboxes), link, self.ahead_of_time);
        self.threads.each(&mut workers, |()| groups.work(protocol));
        let Exchanged { stepped, outboxes, inboxes } = groups.end()?;
        (self.outboxes, self.inboxes) = (outboxes, inboxes);
        Ok(stepped)
    }

    /// The bytes that all wait for, unless they have come before.
    fn incoming(&mut self, expected: usize, link: &mut dyn Link) -> Result<Inbox> {
        match self.ahead.take() {
            Some(ahead) if ahead.len() == expected => Ok(ahead),
            Some(_) => Err(unforeseen()),
            None => {
                link.receive(expected, &mut self.inbox)?;
                Ok(std::mem::take(&mut self.inbox))
            }
        }
    }

    /// Bytes of the next exchange, if all tasks under way go on until then: no other task can begin.
    fn reads_next(&self) -> Option<usize> {
        if !self.scheduling.one_way {
            return None;
        }
        self.waiting.iter().map(|running| running.steps.reads_next()).sum()
    }

    /// Everybody's part of what came.
    fn turns<'a>(&mut self, mut inbox: &'a [u8]) -> Vec<Turn<'a, P>> {
        let turn = |running: Running<P>| {
            let bytes = inbox.split_off(..running.steps.expect).expect("exactly the sum was read");
            Turn { running, bytes }
        };
        std::mem::take(&mut self.waiting).into_iter().map(turn).collect()
    }

    /// Steps tasks with what came for them, which is so many bytes.
    fn step(&mut self, protocol: &P, turns: Vec<Turn<'_, P>>, bytes: usize) -> Result<Vec<Stepped<P>>> {
        let many = GROUPS * self.threads.count();
        // Where maps are one way they are stepped alone, and this is for inputs and outputs.
        let apart = self.scheduling.side_by_side || self.scheduling.one_way;
        let shared = apart && self.threads.count() > 1 && bytes >= WORTH;
        let size = turns.len().div_ceil(if shared { many } else { 1 }).max(1);
        let mut turns = turns.into_iter();
        let mut groups = Vec::new();
        while turns.len() > 0 {
            let outbox = self.outboxes.get_mut(groups.len()).map(std::mem::take).unwrap_or_default();
            groups.push((turns.by_ref().take(size).collect::<Vec<_>>(), Vec::with_capacity(size), outbox));
        }
        self.threads.each(&mut groups, |(turns, stepped, outbox)| {
            for Turn { mut running, bytes } in turns.drain(..) {
                let step = running.steps.step(protocol, &running.job, bytes, outbox);
                stepped.push(step.map(|step| (running, step)));
            }
        });
        self.outboxes.clear();
        let mut all = Vec::new();
        for (_, stepped, outbox) in groups {
            self.outboxes.push(outbox);
            all.extend(stepped);
        }
        all.into_iter().collect()
    }
}

/// Sends all there is.
fn send(link: &mut dyn Link, outboxes: &mut [Outbox]) -> Result<()> {
    for outbox in outboxes {
        link.give(outbox)?;
    }
    link.flush()
}

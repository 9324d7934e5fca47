//! Maps that nobody waits for: their bytes go one way, so that several of them may be under way at once.
//!
//! Maps are gathered as if each was made when its turn comes: its readers are ready at once, but its cell is made with
//! those of the others, when something else is to begin or enough are there. They are dealt out to *strands*: a map that
//! reads what another one makes follows it, and any other goes where there is least to do. Each strand is done by one
//! thread, from its first map to its last.
//!
//! How many strands there are is agreed on, since the order of the bytes follows from it: the exchanges of the strands
//! take turns, one of each, without those that are done. So the chunks of a map are sent and read while they are in the
//! cache, however many threads either party has. With one strand the order is map after map; a party with several threads
//! has several strands for itself, whose bytes wait for their turn.
//!
//! If a thread fails or panics, those that wait for boxes go home at once, and those that compute after their exchange. One
//! that is in the middle of sending or reading goes home when the channel lets it: when bytes move, when it is cancelled,
//! or by its deadlines (`channel::Limits`). Until then the run does not end.

use super::exchange::Steps;
use super::lengths::Exchanges;
use super::mail::{Boxes, Mail, Place, Turn, Wire};
use super::queue::Queue;
use super::store::{Store, args_from, view};
use super::tables::Tables;
use super::{Arg, Executor, Job, Link, Made, Phase, Program, Protocol, unforeseen};
use crate::outbox::{Inbox, Outbox};
use crate::threads::{AWAKE, Threads};
use crate::{Error, Result};
use circuit::BitMatrix;
use circuit::program::{CellId, Task, TaskKind};
use std::collections::{BTreeMap, VecDeque};
use std::sync::{Arc, Mutex, PoisonError};

/// Maps and views that are gathered at most. Part of what the parties agree on, like the window.
const MANY: usize = 256;

/// ANDs from which on threads make several maps side by side.
const WORTH: u64 = if cfg!(test) { 1 } else { 10_000 };

/// Bytes of a strand that wait to be sent or to be used, beside one chunk: some chunks if what they send goes out in turn, else a tile.
const ROOM: [usize; 2] = if cfg!(test) { [1, 1 << 12] } else { [1 << 20, 16 << 20] };

/// Maps and views whose cells are still to be made.
pub(super) struct Gathered<P: Protocol> {
    /// In the order in which they were taken.
    works: Vec<Work<P>>,
    /// How many strands the parties have agreed on.
    agreed: usize,
    /// Whether there are several strands or threads.
    gathers: bool,
    /// ANDs of each strand.
    loads: Vec<u64>,
    /// The strand of each cell.
    homes: BTreeMap<CellId, usize>,
    /// Empty boxes of each strand: fresh memory takes its time.
    boxes: Vec<Boxes>,
}

/// A map or a view.
struct Work<P: Protocol> {
    job: Job,
    strand: usize,
    /// Of a map.
    ready: Option<(P::Prepared, Tables)>,
}

impl<P: Protocol> Gathered<P> {
    pub fn new(program: &Program) -> Self {
        let own = program.threads.count().saturating_sub(program.movers).max(1);
        let strands = if program.strands > 1 { program.strands } else { own };
        let (agreed, gathers) = (program.strands, strands.max(program.threads.count()) > 1);
        let boxes = (0..strands).map(|_| Boxes::default()).collect();
        Gathered { works: Vec::new(), agreed, gathers, loads: vec![0; strands], homes: BTreeMap::new(), boxes }
    }

    pub fn is_empty(&self) -> bool {
        self.works.is_empty()
    }

    /// ANDs of all that was gathered.
    pub fn ands(&self) -> u64 {
        self.loads.iter().sum()
    }

    /// Whether maps are gathered at all: with one strand and one thread there is nothing to gain.
    pub fn gathers(&self) -> bool {
        self.gathers
    }

    /// Whether there are too many, in number or in bytes of cells.
    pub fn is_enough(&self, most: usize, queue: &Queue) -> bool {
        let bytes: usize = self.works.iter().map(|work| queue.cell_bytes(&work.job.task)).sum();
        self.works.len() >= MANY || bytes > most
    }

    /// Whether a task reads what several strands make.
    pub fn joins(&self, task: &Task) -> bool {
        let mut homes = task.args.iter().filter_map(|arg| self.homes.get(arg));
        homes.next().is_some_and(|first| homes.any(|other| other != first))
    }

    /// Adds a map, or a view, which has nothing to be prepared. It reads what one strand makes at most.
    pub fn add(&mut self, mut job: Job, ready: Option<(P::Prepared, Tables)>) {
        let home = job.task.args.iter().find_map(|arg| self.homes.get(arg)).copied();
        let least = || (0..self.loads.len()).min_by_key(|&strand| self.loads[strand]).unwrap_or(0);
        let strand = home.unwrap_or_else(least);
        self.loads[strand] += job.ands();
        self.homes.insert(job.task.cell, strand);
        job.threads = Threads::default();
        self.works.push(Work { job, strand, ready });
    }

    /// Makes all cells that were gathered. `done` is the number of ANDs before them.
    pub fn run(
        &mut self,
        executor: &Executor<P>,
        values: &mut Store<P::Value>,
        link: &mut dyn Link,
        done: u64,
    ) -> Result<()> {
        let here = Threads::default();
        let is_worth = self.ands() >= WORTH;
        let threads = if is_worth { &executor.program.threads } else { &here };
        let read: Vec<CellId> = self.works.iter().flat_map(|work| work.job.task.args.iter().copied()).collect();
        let order = Order::new(self, executor, link, done);
        let room = ROOM[usize::from(self.agreed < self.loads.len())];
        let mail = Mail::new(order, std::mem::take(&mut self.boxes), room, AWAKE);
        let common = Common { protocol: &executor.protocol, public: &executor.public, values, mail: &mail };
        let made = common.follow_all(self.strands(), threads);
        self.boxes = mail.end();
        for cells in made? {
            cells.into_iter().for_each(|(cell, value)| values.put(cell, value));
        }
        // Cells are erased, which takes its time.
        let mut unread = Vec::new();
        values.release(&read, |_, cell| unread.push(Some(cell)));
        threads.each(&mut unread, |cell| drop(cell.take()));
        Ok(())
    }

    /// The strands that have something to do.
    fn strands(&mut self) -> Vec<Strand<P>> {
        let mut strands: Vec<_> = (0..self.loads.len()).map(Strand::new).collect();
        for work in std::mem::take(&mut self.works) {
            strands[work.strand].works.push_back(work);
        }
        self.loads.fill(0);
        self.homes.clear();
        strands.retain(|strand| !strand.works.is_empty());
        strands
    }
}

/// The order of the exchanges, and the link by which they are made.
struct Order<'a> {
    link: &'a mut dyn Link,
    /// Maps whose exchanges take turns: those of each strand, or all in one list.
    lists: Vec<VecDeque<Exchanging>>,
    /// The list whose turn it is, and its next exchange.
    at: usize,
    next: Option<Turn>,
    done: u64,
    total: u64,
}

/// The exchanges of a map that are left.
struct Exchanging {
    strand: usize,
    exchanges: Exchanges,
    ands: u64,
}

impl<'a> Order<'a> {
    fn new<P: Protocol>(
        gathered: &Gathered<P>,
        executor: &Executor<P>,
        link: &'a mut dyn Link,
        done: u64,
    ) -> Order<'a> {
        let mut lists: Vec<_> = (0..gathered.agreed).map(|_| VecDeque::new()).collect();
        for Work { job, strand, .. } in gathered.works.iter().filter(|work| work.ready.is_some()) {
            let exchanges = executor.protocol.lengths().online(job);
            let exchanging = Exchanging { strand: *strand, exchanges, ands: job.ands() };
            lists[if gathered.agreed == 1 { 0 } else { *strand }].push_back(exchanging);
        }
        let total = executor.program.schedule.totals.and0;
        let mut order = Order { link, lists, at: 0, next: None, done, total };
        order.find_next();
        order
    }

    /// The next exchange of the list whose turn it is, or of the first one after it that has some.
    fn find_next(&mut self) {
        self.next = None;
        for _ in 0..self.lists.len() {
            self.next = self.lists[self.at].front_mut().and_then(Exchanging::next);
            while self.next.is_none() && !self.lists[self.at].is_empty() {
                self.done += self.lists[self.at].pop_front().map_or(0, |map| map.ands);
                self.next = self.lists[self.at].front_mut().and_then(Exchanging::next);
            }
            if self.next.is_some() {
                return;
            }
            self.at = (self.at + 1) % self.lists.len();
        }
    }
}

impl Exchanging {
    /// The next exchange with the peer; tables that wait here are none.
    fn next(&mut self) -> Option<Turn> {
        let with_peer = self.exchanges.find(|exchange| exchange.tables.is_none())?;
        Some(Turn { strand: self.strand, sent: with_peer.sent, read: with_peer.read })
    }
}

impl Wire for Order<'_> {
    type Error = Error;

    fn next(&self) -> Option<Turn> {
        self.next
    }

    fn exchange(&mut self, outbox: &mut Outbox, inbox: &mut Inbox) -> Result<()> {
        let turn = self.next.ok_or_else(unforeseen)?;
        if outbox.len() != turn.sent {
            return Err(unforeseen());
        }
        self.link.give(outbox)?;
        self.link.flush()?;
        self.link.receive(turn.read, inbox)?;
        self.at = (self.at + 1) % self.lists.len();
        self.find_next();
        self.link.progress(Phase::Online, self.done, self.total)
    }
}

/// Whatever the threads share.
struct Common<'a, 'b, P: Protocol> {
    protocol: &'a P,
    public: &'a [Option<Arc<BitMatrix>>],
    /// Cells that were there before.
    values: &'a Store<P::Value>,
    mail: &'a Mail<Order<'b>>,
}

/// Cells that a strand made.
type Cells<P> = BTreeMap<CellId, <P as Protocol>::Value>;

/// The tasks of a thread beside its strands.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Relaying {
    /// It makes exchanges while it waits, and when it is done.
    Between,
    /// Another thread makes them.
    Never,
}

impl<P: Protocol> Common<'_, '_, P> {
    /// Goes through all strands, each on one thread; the cells that they made. A thread that has no strand makes the
    /// exchanges.
    fn follow_all(&self, strands: Vec<Strand<P>>, threads: &Threads) -> Result<Vec<Cells<P>>> {
        let (count, is_apart) = (strands.len(), threads.count() > strands.len());
        let relaying = if is_apart { Relaying::Never } else { Relaying::Between };
        let mut shares: Vec<Vec<Strand<P>>> = (0..threads.count()).map(|_| Vec::new()).collect();
        strands.into_iter().enumerate().for_each(|(i, strand)| shares[i % threads.count()].push(strand));
        let shares: Vec<_> = shares.into_iter().map(Mutex::new).collect();
        let failed = Mutex::new(None);
        threads.on_all(|thread| {
            let _guard = StopOnPanic(self.mail);
            let mut ours = shares[thread].lock().unwrap_or_else(PoisonError::into_inner);
            let relaying = if thread == count { Relaying::Between } else { relaying };
            if thread <= count
                && let Err(why) = self.follow(&mut ours, relaying)
            {
                failed.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(why);
                self.mail.stop();
            }
        });
        if let Some(why) = failed.into_inner().unwrap_or_else(PoisonError::into_inner) {
            return Err(why);
        }
        let shares = shares.into_iter().flat_map(|share| share.into_inner().unwrap_or_else(PoisonError::into_inner));
        Ok(shares.map(|strand| strand.made).collect())
    }

    /// Goes through the strands of a thread.
    fn follow(&self, ours: &mut [Strand<P>], relaying: Relaying) -> Result<()> {
        let relays = relaying == Relaying::Between;
        loop {
            let mut waits = true;
            for i in 0..ours.len() {
                let strand = &mut ours[i];
                let Some((inbox, mut outbox)) = strand.place().and_then(|place| self.mail.take(place)) else {
                    continue;
                };
                strand.go_on(self, &inbox, &mut outbox)?;
                self.mail.put(strand.number, (inbox, outbox));
                waits = false;
                if relays {
                    self.mail.relay(&places(ours))?;
                }
            }
            let left = places(ours);
            if left.is_empty() && (!relays || self.mail.is_over()) {
                return Ok(());
            }
            if waits && relays {
                self.mail.relay(&left)?;
            }
            if waits && !self.mail.wait(&left, relays) {
                return Ok(());
            }
        }
    }
}

fn places<P: Protocol>(strands: &[Strand<P>]) -> Vec<Place> {
    strands.iter().filter_map(Strand::place).collect()
}

/// Nobody waits for a thread that panics.
struct StopOnPanic<'a, W: Wire>(&'a Mail<W>);

impl<W: Wire> Drop for StopOnPanic<'_, W> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.0.stop();
        }
    }
}

/// Maps and views that one thread makes, one after the other.
struct Strand<P: Protocol> {
    number: usize,
    works: VecDeque<Work<P>>,
    /// The map under way.
    current: Option<(Job, Steps<P>)>,
    /// Whether it waits for bytes.
    reads: bool,
    made: Cells<P>,
}

impl<P: Protocol> Strand<P> {
    fn new(number: usize) -> Self {
        Strand { number, works: VecDeque::new(), current: None, reads: false, made: BTreeMap::new() }
    }

    /// Its needs; none if it is done.
    fn place(&self) -> Option<Place> {
        let is_left = self.current.is_some() || !self.works.is_empty();
        is_left.then_some(Place { strand: self.number, reads: self.reads })
    }

    /// Goes on with the bytes that it waited for until a map has another exchange, or all is done.
    fn go_on(&mut self, common: &Common<'_, '_, P>, mut inbox: &[u8], outbox: &mut Outbox) -> Result<()> {
        loop {
            if self.current.is_none() {
                let Some(work) = self.works.pop_front() else { return Ok(()) };
                self.begin(common, work)?;
                continue;
            }
            let Some((job, steps)) = &mut self.current else { continue };
            match steps.step(common.protocol, job, std::mem::take(&mut inbox), outbox)? {
                None => {
                    self.reads = steps.expects() > 0;
                    return Ok(());
                }
                Some(Made::Value(value)) => {
                    self.made.insert(job.task.cell, value);
                    (self.current, self.reads) = (None, false);
                }
                Some(Made::Output(_)) => return Err(unforeseen()),
            }
        }
    }

    /// Begins a map; a view is made at once.
    fn begin(&mut self, common: &Common<'_, '_, P>, Work { job, ready, .. }: Work<P>) -> Result<()> {
        let task = &job.task;
        let cell = |id: CellId| self.made.get(&id).or_else(|| common.values.get(id));
        let args: Vec<Arg<'_, P::Value>> = args_from(task, cell, common.public);
        match (&task.kind, ready) {
            (TaskKind::View { wiring }, _) => {
                let value = view(wiring, task, &args, |public| common.protocol.lift(public));
                drop(args);
                self.made.insert(task.cell, value);
            }
            (_, Some((prepared, tables))) => {
                let stage = common.protocol.online(&job, prepared, &args, None)?;
                drop(args);
                let steps = Steps::new(common.protocol, &job, stage, tables);
                self.current = Some((job, steps));
            }
            _ => return Err(Error::usage("a map was not prepared")),
        }
        Ok(())
    }
}

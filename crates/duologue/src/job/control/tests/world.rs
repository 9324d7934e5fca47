//! Two drivers with their workers in virtual time, where whatever can be lost is lost at some time.

use super::super::*;
use crate::Party;
use crate::channel::PublicKey;
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::time::Duration;

/// What goes wrong.
#[derive(Clone, Copy, Default, Debug)]
pub struct Fate {
    /// In so many of the first steps, the following happens.
    pub chaos: usize,
    /// So many times a driver dies, and both go on with what they kept.
    pub crashes: usize,
    /// In so many of 100 cases: a worker is lost; a session fails; a worker stops answering.
    pub lost: u64,
    pub failing: u64,
    pub stuck: u64,
    /// Whether pools are made first, and by those who meet again after a crash perhaps.
    pub pools: bool,
    /// A driver dies when it has done so many actions, and with it whatever else it had decided.
    pub dies_after: Option<(usize, usize)>,
    /// From this step on nothing passes between the drivers, for so long.
    pub partition: Option<(usize, Duration)>,
}

/// The last step by which everything must be over.
const MOST_STEPS: usize = 40_000;

pub struct World {
    random: u64,
    now: Duration,
    fate: Fate,
    workers: [usize; 2],
    drivers: [Driver; 2],
    sessions: u64,
    /// Who has prepared what; the sessions that there were.
    prepared: BTreeSet<(usize, Attempt)>,
    met: BTreeSet<Attempt>,
    /// Whether attempts make pools now; which of these each party's attempts take, and who has taken one.
    pooling: bool,
    takes: BTreeMap<(usize, Attempt), Option<u32>>,
    taken: BTreeSet<(usize, Attempt)>,
    partition: Option<Duration>,
    /// How many actions each driver has done; which one has died.
    done: [usize; 2],
    dead: Option<usize>,
    /// How often both went on with what they kept.
    pub resumed: usize,
}

struct Driver {
    machine: Machine,
    /// Of each shard, and of the last program behind them.
    kept: Vec<Progress>,
    /// The session whose outputs are on the disk.
    outputs: BTreeMap<Attempt, u64>,
    /// The same of pools.
    pools: BTreeMap<Attempt, u64>,
    inbox: VecDeque<Message>,
    workers: BTreeMap<WorkerId, Worker>,
    next: WorkerId,
    end: Option<End>,
}

#[derive(Clone, PartialEq)]
struct Worker {
    at: At,
    /// It hears nothing any more.
    is_stuck: bool,
}

#[derive(Clone, PartialEq)]
enum At {
    Rest,
    Preparing(Attempt),
    Ready(Attempt),
    /// With the number in the key of the worker that it is to meet, since then.
    Meeting(Attempt, WorkerId, Duration),
    /// It was told to stop, and says sooner or later that it has; perhaps that it was done before.
    Stopping(Attempt),
}

const PARTIES: [Party; 2] = [Party::Alice, Party::Bob];
const DEADLINE: Duration = Duration::from_secs(100);
/// What a party may be silent, unless told.
pub const SILENCE: Duration = Duration::from_secs(30);

impl World {
    pub fn new(seed: u64, shards: usize, workers: [usize; 2], fate: Fate) -> World {
        let driver = |_| Driver::new(vec![Progress::default(); shards + 1]);
        let mut world = World {
            random: seed | 1,
            now: Duration::ZERO,
            fate,
            workers,
            drivers: [0, 1].map(driver),
            sessions: 0,
            prepared: BTreeSet::new(),
            met: BTreeSet::new(),
            pooling: fate.pools,
            takes: BTreeMap::new(),
            taken: BTreeSet::new(),
            partition: None,
            done: [0, 0],
            dead: None,
            resumed: 0,
        };
        world.meet();
        world
    }

    pub fn ends(&self) -> [Option<End>; 2] {
        [self.drivers[0].end, self.drivers[1].end]
    }

    /// How many attempts were begun, those at the last program among them.
    pub fn attempts(&self) -> usize {
        self.drivers[0].kept.iter().map(|progress| progress.begun as usize).sum()
    }

    /// How many actions a driver has done.
    pub fn actions(&self, party: usize) -> usize {
        self.done[party]
    }

    /// How many pools a party has taken from.
    pub fn taken(&self, party: usize) -> usize {
        self.taken.iter().filter(|(whose, _)| *whose == party).count()
    }

    pub fn run(&mut self) {
        for step in 0..MOST_STEPS {
            if self.fate.partition.is_some_and(|(from, _)| from == step) {
                self.partition = Some(self.now);
            }
            if self.ends() == [Some(End::Finished); 2] && self.pooling {
                self.pooling = false;
                self.meet();
            }
            if self.drivers.iter().all(|driver| driver.end.is_some()) && self.last() {
                return self.check_outputs();
            }
            self.step(step < self.fate.chaos);
            if self.dead.is_some() {
                self.resume();
            }
        }
        panic!("it never ends: {:?}, {:?}", self.ends(), self.fate);
    }

    /// What both parties have of a finished shard comes from one session.
    fn check_outputs(&self) {
        let [alice, bob] = &self.drivers;
        if alice.end != Some(End::Finished) {
            return;
        }
        for (shard, (a, b)) in alice.kept.iter().zip(&bob.kept).enumerate() {
            let number = a.finished.expect("it is finished");
            assert_eq!(a.finished, b.finished);
            let attempt = Attempt { shard: shard as u32, number };
            let outputs = [alice, bob].map(|driver| driver.outputs.get(&attempt));
            assert!(outputs[0].is_some() && outputs[0] == outputs[1], "{attempt}: {outputs:?}");
        }
    }

    fn draw(&mut self, below: u64) -> u64 {
        self.random ^= self.random << 13;
        self.random ^= self.random >> 7;
        self.random ^= self.random << 17;
        (self.random >> 11) % below
    }

    fn happens(&mut self, percent: u64) -> bool {
        self.draw(100) < percent
    }

    /// The drivers meet, by the bytes of their hellos.
    fn meet(&mut self) {
        let hello = |party: usize, drivers: &[Driver; 2]| Hello {
            party: PARTIES[party],
            fields: vec![("the job", "a job".into())],
            job: None,
            shards: drivers[party].kept.clone(),
        };
        let hellos = [0, 1].map(|party| hello(party, &self.drivers));
        let bytes = [0, 1].map(|party| hellos[party].encode(&[party as u8; 32]).unwrap());
        let mut agreed = [0, 1].map(|party| hellos[party].agree(&[party as u8; 32], &bytes[1 - party]).unwrap());
        assert_eq!(agreed[0], agreed[1]);
        for (party, driver) in self.drivers.iter_mut().enumerate() {
            driver.kept = agreed[party].shards.clone();
            // The last program is the drivers' own.
            agreed[party].shards.pop();
            if self.pooling {
                agreed[party].leave_pools();
            }
            driver.machine = Machine::new(PARTIES[party], &agreed[party], DEADLINE).patient(SILENCE);
            driver.inbox.clear();
            driver.workers.clear();
            driver.end = None;
        }
        [0, 1].iter().for_each(|party| self.act(*party));
    }

    /// A driver is gone, or the line between them: who is left still hears some of what was on its way, and ends. Both go on with what
    /// they kept.
    fn resume(&mut self) {
        for party in [0, 1].into_iter().filter(|party| self.dead == Some(1 - party)).collect::<Vec<_>>() {
            for _ in 0..self.draw(4) {
                self.deliver(party);
                self.act(party);
            }
        }
        (self.dead, self.partition) = (None, None);
        self.resumed += 1;
        if self.fate.pools {
            self.lose_pools();
        }
        self.meet();
    }

    /// Perhaps a party has lost its pools; whoever meets again may make pools first.
    fn lose_pools(&mut self) {
        let loser = self.draw(4) as usize;
        if let Some(driver) = self.drivers.get_mut(loser) {
            driver.pools.clear();
            driver.kept.iter_mut().for_each(|progress| progress.pool = None);
        }
        self.pooling = self.draw(2) == 0;
    }

    fn step(&mut self, chaos: bool) {
        if chaos && self.fate.crashes > 0 && self.draw(60) == 0 {
            self.fate.crashes -= 1;
            self.dead = Some(self.draw(2) as usize);
            return;
        }
        let party = self.draw(2) as usize;
        match self.draw(5) {
            0 => self.pass(party),
            1 => self.work(party, chaos),
            2 => self.session(party, chaos),
            3 => self.staff(party, chaos),
            _ => {
                let step = Duration::from_millis(self.draw(500));
                self.now += step;
                [0, 1].iter().for_each(|party| self.tick(*party));
            }
        }
        self.act(party);
        self.act(1 - party);
    }

    fn tick(&mut self, party: usize) {
        if self.drivers[party].end.is_none() {
            self.drivers[party].machine.tick(self.now).expect("an honest driver is in time");
        }
    }

    /// Some messages pass, unless none does; after too long a silence the drivers lose each other.
    fn pass(&mut self, party: usize) {
        let (Some(since), Some((_, length))) = (self.partition, self.fate.partition) else {
            return (0..=self.draw(8)).for_each(|_| self.deliver(party));
        };
        let held = self.now - since;
        if held >= length {
            self.partition = None;
        } else if held >= SILENCE {
            self.resume();
        }
    }

    fn deliver(&mut self, party: usize) {
        if let Some(message) = self.drivers[party].inbox.pop_front()
            && self.drivers[party].end.is_none()
        {
            self.drivers[party].machine.hear(message, self.now).expect("an honest driver said it");
        }
    }

    fn some_worker(&mut self, party: usize) -> Option<WorkerId> {
        let count = self.drivers[party].workers.len() as u64;
        let place = if count > 0 { self.draw(count) as usize } else { return None };
        self.drivers[party].workers.keys().nth(place).copied()
    }

    fn at(&self, party: usize, worker: WorkerId) -> Option<At> {
        let known = self.drivers[party].workers.get(&worker);
        known.filter(|worker| !worker.is_stuck).map(|worker| worker.at.clone())
    }

    fn put(&mut self, party: usize, worker: WorkerId, at: At) {
        if let Some(worker) = self.drivers[party].workers.get_mut(&worker) {
            worker.at = at;
        }
    }

    /// A worker gets ready, has stopped, is lost, or does nothing from now on.
    fn work(&mut self, party: usize, chaos: bool) {
        let Some(worker) = self.some_worker(party) else { return };
        if chaos && self.happens(self.fate.lost) {
            self.drivers[party].workers.remove(&worker);
            return self.drivers[party].machine.worker_lost(worker, self.now);
        }
        if chaos && self.happens(self.fate.stuck) {
            self.drivers[party].workers.entry(worker).and_modify(|worker| worker.is_stuck = true);
        }
        match self.at(party, worker) {
            Some(At::Preparing(attempt)) => {
                self.put(party, worker, At::Ready(attempt));
                let offer = Offer { key: key(worker), address: String::new() };
                self.drivers[party].machine.worker_ready(worker, attempt, offer);
            }
            Some(At::Stopping(attempt)) => {
                let was_done = self.draw(2) == 0;
                let failed = Verdict::Failed(Reason::Other);
                let verdict = if was_done { Verdict::Done(Costs::default()) } else { failed };
                self.finish(party, worker, attempt, verdict);
            }
            _ => {}
        }
    }

    /// Workers come up to their number.
    fn staff(&mut self, party: usize, chaos: bool) {
        let few = self.drivers[party].workers.len() < self.workers[party];
        if few && (!chaos || self.draw(2) == 0) {
            let driver = &mut self.drivers[party];
            driver.next += 1;
            driver.workers.insert(driver.next, Worker { at: At::Rest, is_stuck: false });
            driver.machine.worker_came(driver.next, self.now);
        }
    }

    /// Two workers that were told of each other meet: both are done, or one is, or none.
    fn session(&mut self, party: usize, chaos: bool) {
        let Some(ours) = self.some_worker(party) else { return };
        let Some(At::Meeting(attempt, theirs, since)) = self.at(party, ours) else { return };
        let is_there = match self.drivers[1 - party].workers.get(&theirs) {
            Some(Worker { at: At::Meeting(at, back, _), is_stuck }) if *at == attempt && *back == ours => !is_stuck,
            // It was not told yet whom it is to meet.
            Some(Worker { at: At::Ready(at), .. }) if *at == attempt => false,
            // Whom it waits for is gone, or was told to stop.
            _ => return self.finish(party, ours, attempt, Verdict::Failed(Reason::Connection)),
        };
        if is_there {
            return self.meet_workers(attempt, if party == 0 { [ours, theirs] } else { [theirs, ours] }, chaos);
        }
        // Workers wait for each other as long as for a word.
        if self.now - since >= SILENCE {
            self.finish(party, ours, attempt, Verdict::Failed(Reason::Connection));
        }
    }

    fn meet_workers(&mut self, attempt: Attempt, workers: [WorkerId; 2], chaos: bool) {
        self.begin_session(attempt);
        self.check_pools(attempt);
        let fails = [0, 1].map(|_| chaos && self.happens(self.fate.failing));
        for (party, worker) in workers.into_iter().enumerate() {
            let verdict = match fails[party] {
                true => Verdict::Failed([Reason::Machine, Reason::Connection][self.draw(2) as usize]),
                false => {
                    let driver = &mut self.drivers[party];
                    let made = if self.pooling { &mut driver.pools } else { &mut driver.outputs };
                    made.insert(attempt, self.sessions);
                    Verdict::Done(Costs::default())
                }
            };
            self.finish(party, worker, attempt, verdict);
        }
    }

    /// Two workers take the two halves of one pool, or neither takes any.
    fn check_pools(&self, attempt: Attempt) {
        let [ours, theirs] = [0, 1].map(|party| self.takes[&(party, attempt)]);
        assert_eq!(ours, theirs, "{attempt}");
        if let Some(number) = ours {
            let halves = [0, 1].map(|party| self.drivers[party].pools.get(&Attempt { number, ..attempt }));
            assert!(halves[0].is_some() && halves[0] == halves[1], "{attempt}: {halves:?}");
        }
    }

    /// A worker gets a pool: one that the attempt before has made, and that nobody was given before.
    fn take(&mut self, party: usize, attempt: Attempt, pool: Option<u32>) {
        self.takes.insert((party, attempt), pool);
        if let Some(number) = pool {
            assert!(!self.pooling && number + 1 == attempt.number, "{attempt} takes the pool of {number}");
            assert!(self.taken.insert((party, Attempt { number, ..attempt })), "a pool is taken twice");
        }
    }

    fn begin_session(&mut self, attempt: Attempt) {
        assert!(self.met.insert(attempt), "{attempt} met twice");
        self.sessions += 1;
    }

    fn finish(&mut self, party: usize, worker: WorkerId, attempt: Attempt, verdict: Verdict) {
        self.put(party, worker, At::Rest);
        self.drivers[party].machine.worker_ended(worker, attempt, verdict, self.now);
    }

    /// The last program, when all shards are finished, unless a driver dies in it; whether the job is over.
    fn last(&mut self) -> bool {
        let shard = self.drivers[0].kept.len() - 1;
        if self.ends() != [Some(End::Finished); 2] || self.drivers[0].kept[shard].finished.is_some() {
            return true;
        }
        // One after the other they begin it, have the outputs of its session on the disk, and say so in the log.
        let [dies, first] = [if self.fate.crashes > 0 { self.draw(8) } else { 6 }, self.draw(2)];
        let order = if first == 0 { [0, 1] } else { [1, 0] };
        let number = self.drivers[order[0]].kept[shard].begun + 1;
        let attempt = Attempt { shard: shard as u32, number };
        for (step, party) in [order; 3].concat().into_iter().enumerate().take(dies as usize) {
            if step == 2 {
                self.begin_session(attempt);
            }
            let driver = &mut self.drivers[party];
            match step {
                0 | 1 => {
                    assert_eq!(driver.kept[shard].begun + 1, number, "the last program has one number");
                    driver.kept[shard] = Progress { begun: number, ..Progress::default() };
                }
                2 | 3 => drop(driver.outputs.insert(attempt, self.sessions)),
                _ => driver.kept[shard].finished = Some(number),
            }
        }
        if dies < 6 {
            self.fate.crashes -= 1;
            self.resume();
        }
        dies >= 6
    }

    fn act(&mut self, party: usize) {
        loop {
            let actions = self.drivers[party].machine.actions();
            if actions.is_empty() {
                return;
            }
            for action in actions {
                if self.dead == Some(party) {
                    return;
                }
                self.do_one(party, action);
                self.done[party] += 1;
                if self.fate.dies_after == Some((party, self.done[party])) {
                    self.dead = Some(party);
                }
            }
        }
    }

    fn do_one(&mut self, party: usize, action: Action) {
        match action {
            Action::Send(message) => {
                let bytes = message.encode();
                assert_eq!(bytes.len(), 2 + usize::from(u16::from_le_bytes([bytes[0], bytes[1]])));
                self.drivers[1 - party].inbox.push_back(Message::decode(&bytes[2..]).unwrap());
            }
            Action::Begun(attempt) => {
                let kept = &mut self.drivers[party].kept[attempt.shard as usize];
                *kept = Progress { begun: attempt.number, ..Progress::default() };
            }
            Action::Finished(attempt, _) => {
                let kept = &mut self.drivers[party].kept[attempt.shard as usize];
                assert_eq!(*kept, Progress { begun: attempt.number, ..Progress::default() });
                *(if self.pooling { &mut kept.pool } else { &mut kept.finished }) = Some(attempt.number);
            }
            Action::Prepare(worker, attempt, pool) => {
                assert!(self.prepared.insert((party, attempt)), "{attempt} was used before");
                self.take(party, attempt, pool);
                assert!(self.drivers[party].kept[attempt.shard as usize].begun == attempt.number, "it is kept first");
                self.put(party, worker, At::Preparing(attempt));
            }
            Action::Start(worker, attempt, offer) => {
                let peer = (0..).find(|id| key(*id) == offer.key).expect("a key");
                assert!(self.drivers[party].workers[&worker].at == At::Ready(attempt));
                self.put(party, worker, At::Meeting(attempt, peer, self.now));
            }
            Action::Stop(worker, attempt) => self.put(party, worker, At::Stopping(attempt)),
            Action::Drop(worker) | Action::GiveUp(worker) => drop(self.drivers[party].workers.remove(&worker)),
            Action::Failed(..) => {}
            Action::Over(end) => self.drivers[party].end = Some(end),
        }
    }
}

impl Driver {
    fn new(kept: Vec<Progress>) -> Driver {
        let agreed = Agreed { job: [0; 32], shards: kept.clone() };
        Driver {
            machine: Machine::new(Party::Bob, &agreed, DEADLINE),
            kept,
            outputs: BTreeMap::new(),
            pools: BTreeMap::new(),
            inbox: VecDeque::new(),
            workers: BTreeMap::new(),
            next: 0,
            end: None,
        }
    }
}

/// A key for each number: a multiple of the base point, as every public key is.
fn key(number: WorkerId) -> PublicKey {
    use curve25519_dalek::{EdwardsPoint, Scalar};
    let point = EdwardsPoint::mul_base(&Scalar::from(number + 1));
    PublicKey::from_bytes(point.compress().to_bytes()).expect("a point of large order")
}

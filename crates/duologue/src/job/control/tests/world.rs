//! Two drivers with their workers in virtual time, where whatever can be lost is lost at some time.

use super::super::*;
use crate::Party;
use crate::channel::PublicKey;
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::time::Duration;

/// What goes wrong: in the first `chaos` steps workers are lost and sessions fail, in so many of 100 cases each; and both drivers
/// lose each other and what they know, except what they kept, so many times.
#[derive(Clone, Copy)]
pub struct Fate {
    pub chaos: usize,
    pub crashes: usize,
    pub lost: u64,
    pub failing: u64,
    /// Whether pools are made first, and by those who meet again after a crash perhaps.
    pub pools: bool,
}

/// The last step by which everything must be over.
const MOST_STEPS: usize = 20_000;

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
}

struct Driver {
    machine: Machine,
    kept: Vec<Progress>,
    /// The session whose outputs are on the disk.
    outputs: BTreeMap<Attempt, u64>,
    /// The same of pools.
    pools: BTreeMap<Attempt, u64>,
    inbox: VecDeque<Message>,
    workers: BTreeMap<WorkerId, At>,
    next: WorkerId,
    end: Option<End>,
}

#[derive(Clone, PartialEq)]
enum At {
    Rest,
    Preparing(Attempt),
    Ready(Attempt),
    /// With the number in the key of the worker that it is to meet.
    Meeting(Attempt, WorkerId),
}

const PARTIES: [Party; 2] = [Party::Alice, Party::Bob];
const DEADLINE: Duration = Duration::from_secs(100);

impl World {
    pub fn new(seed: u64, shards: usize, workers: [usize; 2], fate: Fate) -> World {
        let driver = |_| Driver::new(vec![Progress::default(); shards]);
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
        };
        world.meet();
        world
    }

    pub fn ends(&self) -> [Option<End>; 2] {
        [self.drivers[0].end, self.drivers[1].end]
    }

    pub fn attempts(&self) -> usize {
        self.met.len()
    }

    /// How many pools a party has taken from.
    pub fn taken(&self, party: usize) -> usize {
        self.taken.iter().filter(|(whose, _)| *whose == party).count()
    }

    pub fn run(&mut self) {
        for step in 0..MOST_STEPS {
            if self.ends() == [Some(End::Finished); 2] && self.pooling {
                self.pooling = false;
                self.meet_again();
            }
            if self.drivers.iter().all(|driver| driver.end.is_some()) {
                return self.check_outputs();
            }
            self.step(step < self.fate.chaos);
        }
        panic!("it never ends: {:?}", self.ends());
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
            if self.pooling {
                agreed[party].leave_pools();
            }
            driver.machine = Machine::new(PARTIES[party], &agreed[party], DEADLINE);
            driver.inbox.clear();
            driver.workers.clear();
        }
        [0, 1].iter().for_each(|party| self.act(*party));
    }

    fn meet_again(&mut self) {
        self.drivers.iter_mut().for_each(|driver| driver.end = None);
        self.meet();
    }

    /// Both drivers are lost, and perhaps a party's pools; whoever meets again may make pools first.
    fn crash(&mut self) {
        let loser = self.draw(4) as usize;
        if let Some(driver) = self.drivers.get_mut(loser) {
            driver.pools.clear();
            driver.kept.iter_mut().for_each(|progress| progress.pool = None);
        }
        self.pooling = self.fate.pools && self.draw(2) == 0;
        self.meet_again();
    }

    fn step(&mut self, chaos: bool) {
        if chaos && self.fate.crashes > 0 && self.draw(60) == 0 {
            let ended = self.drivers.iter().any(|driver| matches!(driver.end, Some(End::Failed(..))));
            self.fate.crashes -= 1;
            if !ended {
                return self.crash();
            }
        }
        let party = self.draw(2) as usize;
        match self.draw(5) {
            0 => self.deliver(party),
            1 => self.work(party, chaos),
            2 => self.session(chaos),
            3 => self.staff(party, chaos),
            _ => {
                let step = Duration::from_millis(self.draw(500));
                self.now += step;
                self.drivers[party].machine.tick(self.now).expect("an honest driver is in time");
            }
        }
        self.act(party);
        self.act(1 - party);
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

    /// A worker gets ready, or is lost.
    fn work(&mut self, party: usize, chaos: bool) {
        let Some(worker) = self.some_worker(party) else { return };
        let lost = chaos && self.draw(100) < self.fate.lost;
        let (driver, now) = (&mut self.drivers[party], self.now);
        if lost {
            driver.workers.remove(&worker);
            return driver.machine.worker_lost(worker, now);
        }
        if let Some(At::Preparing(attempt)) = driver.workers.get(&worker).cloned() {
            driver.workers.insert(worker, At::Ready(attempt));
            driver.machine.worker_ready(worker, attempt, Offer { key: key(worker), address: String::new() });
        }
    }

    /// Workers come up to their number.
    fn staff(&mut self, party: usize, chaos: bool) {
        let few = self.drivers[party].workers.len() < self.workers[party];
        if few && (!chaos || self.draw(2) == 0) {
            let driver = &mut self.drivers[party];
            driver.next += 1;
            driver.workers.insert(driver.next, At::Rest);
            driver.machine.worker_came(driver.next, self.now);
        }
    }

    /// Two workers that were told of each other meet: both are done, or one is, or none.
    fn session(&mut self, chaos: bool) {
        let Some(alices) = self.some_worker(0) else { return };
        let Some(At::Meeting(attempt, bobs)) = self.drivers[0].workers.get(&alices).cloned() else { return };
        match self.drivers[1].workers.get(&bobs) {
            Some(At::Meeting(at, back)) if *at == attempt && *back == alices => {}
            // Whom it waits for is gone, or was told to stop.
            _ => return self.finish(0, alices, attempt, Verdict::Failed(Reason::Connection)),
        }
        assert!(self.met.insert(attempt), "{attempt} met twice");
        self.sessions += 1;
        self.check_pools(attempt);
        let fails = [0, 1].map(|_| chaos && self.draw(100) < self.fate.failing);
        for (party, worker) in [(0, alices), (1, bobs)] {
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

    fn finish(&mut self, party: usize, worker: WorkerId, attempt: Attempt, verdict: Verdict) {
        self.drivers[party].workers.insert(worker, At::Rest);
        self.drivers[party].machine.worker_ended(worker, attempt, verdict, self.now);
    }

    fn act(&mut self, party: usize) {
        loop {
            let actions = self.drivers[party].machine.actions();
            if actions.is_empty() {
                return;
            }
            actions.into_iter().for_each(|action| self.do_one(party, action));
        }
    }

    fn do_one(&mut self, party: usize, action: Action) {
        let now = self.now;
        match action {
            Action::Send(message) => {
                let bytes = message.encode();
                assert_eq!(bytes.len(), 2 + usize::from(u16::from_le_bytes([bytes[0], bytes[1]])));
                self.drivers[1 - party].inbox.push_back(Message::decode(&bytes[2..]).unwrap());
            }
            Action::Begun(attempt) => {
                self.drivers[party].kept[attempt.shard as usize] =
                    Progress { begun: attempt.number, ..Progress::default() };
            }
            Action::Finished(attempt, _) => {
                let kept = &mut self.drivers[party].kept[attempt.shard as usize];
                assert_eq!(*kept, Progress { begun: attempt.number, ..Progress::default() });
                *(if self.pooling { &mut kept.pool } else { &mut kept.finished }) = Some(attempt.number);
            }
            Action::Prepare(worker, attempt, pool) => {
                assert!(self.prepared.insert((party, attempt)), "{attempt} was used before");
                self.take(party, attempt, pool);
                self.drivers[party].workers.insert(worker, At::Preparing(attempt));
            }
            Action::Start(worker, attempt, offer) => {
                let peer = (0..).find(|id| key(*id) == offer.key).expect("a key");
                let driver = &mut self.drivers[party];
                assert!(driver.workers.insert(worker, At::Meeting(attempt, peer)) == Some(At::Ready(attempt)));
            }
            Action::Stop(worker, attempt) => {
                let driver = &mut self.drivers[party];
                driver.workers.insert(worker, At::Rest);
                driver.machine.worker_ended(worker, attempt, Verdict::Failed(Reason::Connection), now);
            }
            Action::Drop(worker) => drop(self.drivers[party].workers.remove(&worker)),
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
pub fn key(number: WorkerId) -> PublicKey {
    use curve25519_dalek::{EdwardsPoint, Scalar};
    let point = EdwardsPoint::mul_base(&Scalar::from(number + 1));
    PublicKey::from_bytes(point.compress().to_bytes()).expect("a point of large order")
}

//! The loop of a driver: it hears the other driver and its own workers, and does what its [`Machine`] decides.

use super::meeting::{Launched, Parting};
use super::order::{Answer, BUILD, Line, Order, PoolUse, Work};
use super::reception::Reception;
use crate::failure::{Exit, Failure};
use crate::io::console::{Console, seconds};
use duologue::Party;
use duologue::channel::{Canceller, Channel, PublicKey};
use duologue::job::control::{
    Action, Attempt, Costs, End, MOST_ADDRESS, Machine, Mail, Message, Offer, Reason, Verdict, WorkerId,
};
use std::collections::BTreeMap;
use std::thread;
use std::time::{Duration, Instant};

/// How long a driver sleeps when nothing has happened.
const PAUSE: Duration = Duration::from_millis(2);

/// What is kept of attempts, and told of them in the end.
pub trait Log {
    /// An attempt is begun: nothing is done about it before this has returned.
    fn begun(&mut self, _: Attempt) -> Result<(), Failure>;

    /// A worker of ours was told where the other party's listens; the address is empty if it does not.
    fn met(&mut self, _: Attempt, _worker: String, _address: String) {}

    /// The outputs are on the disk of both parties.
    fn finished(&mut self, _: Attempt, _: Costs) -> Result<(), Failure>;

    /// There are none, and why.
    fn failed(&mut self, _: Attempt, _why: String) {}

    /// How many shards there are.
    fn shards(&self) -> usize;
}

/// A driver that has agreed with the other party's.
pub struct Driver<'a> {
    pub party: Party,
    pub machine: Machine,
    pub peer: Mail,
    pub peer_key: PublicKey,
    pub log: &'a mut dyn Log,
    /// Whether the outputs of a worker that is done are where this driver finds them.
    pub has_outputs: &'a dyn Fn(Attempt) -> bool,
    pub reception: Reception,
    pub launched: Launched,
    /// What workers are told.
    pub work: Work,
    pub silence: Duration,
    /// How long there may be no worker at all.
    pub wait: Duration,
    pub canceller: Canceller,
    pub console: &'a Console,
    pub workers: Workers,
    /// Whether attempts make pools, and compute nothing.
    pub makes_pools: bool,
    /// Whether each worker makes one attempt alone.
    pub once: bool,
}

/// The workers that are there.
pub struct Workers {
    there: BTreeMap<WorkerId, Worker>,
    came: u64,
    /// How many attempts they were ready for.
    ready: u64,
    /// When one that has the job was last there; when there was last something to do that does not wait for the other party.
    seen: Instant,
    stirred: Instant,
    /// Why the last one that could not take the job could not.
    unable: Option<String>,
    /// What they said of failures, the last of each attempt.
    words: BTreeMap<Attempt, String>,
}

struct Worker {
    line: Line,
    /// For people; none before it has said who it is.
    name: Option<String>,
    /// Under which the driver started it, if it did.
    number: Option<u64>,
    /// Whether it has the job.
    is_here: bool,
}

impl Workers {
    pub fn new() -> Workers {
        let (now, there, words) = (Instant::now(), BTreeMap::new(), BTreeMap::new());
        Workers { there, came: 0, ready: 0, seen: now, stirred: now, unable: None, words }
    }

    /// Takes in somebody with the key of workers.
    pub fn add(&mut self, channel: Channel, silence: Duration) {
        self.came += 1;
        let line = Line::new(channel, silence);
        self.there.insert(self.came, Worker { line, name: None, number: None, is_here: false });
    }

    /// Of those that the driver has started itself and that have said who they are.
    fn numbers(&self) -> Vec<u64> {
        self.there.values().filter_map(|worker| worker.number).collect()
    }

    fn name(&self, worker: WorkerId) -> String {
        let name = self.there.get(&worker).and_then(|worker| worker.name.clone());
        format!("worker {worker}{}", name.map_or(String::new(), |name| format!(" ({name})")))
    }
}

impl Driver<'_> {
    /// Has all shards computed. The channel to the other driver, on which nothing is under way.
    pub fn run(mut self) -> Result<(Channel, Parting), Failure> {
        let ended = self.go_on();
        for worker in self.workers.there.values_mut() {
            // Whoever is gone needs no end.
            let _ = worker.line.send(&Order::End);
        }
        match &ended {
            Ok(()) => {}
            Err(failure) if failure.exit == Exit::Cancelled => self.peer.abort_after(&duologue::Error::Cancelled),
            Err(failure) => self.peer.abort_after(&duologue::Error::usage(failure.message.clone())),
        }
        let parting = self.launched.end(&self.workers.numbers());
        ended.map(|()| (self.peer.into_channel(), parting))
    }

    fn go_on(&mut self) -> Result<(), Failure> {
        let start = Instant::now();
        (self.workers.seen, self.workers.stirred) = (start, start);
        loop {
            if self.canceller.is_cancelled() {
                return Err(duologue::Error::Cancelled.into());
            }
            let now = start.elapsed();
            let news = self.hear_peer(now)? | self.receive()? | self.hear_workers(now)?;
            self.machine.tick(now).map_err(|why| self.break_with(why))?;
            if let Some(end) = self.act(now)? {
                return self.conclude(end);
            }
            // In every pass: a peer that never stops talking is to be found out, too.
            self.look_for_workers()?;
            if !news {
                thread::sleep(PAUSE);
            }
        }
    }

    /// Whoever has come to the control port.
    fn receive(&mut self) -> Result<bool, Failure> {
        match self.reception.poll()? {
            None => Ok(false),
            Some(mut channel) if channel.peer_key() == Some(self.peer_key) => {
                channel.abort_after(&self.is_here_already());
                Ok(true)
            }
            Some(channel) => {
                self.workers.add(channel, self.silence);
                Ok(true)
            }
        }
    }

    /// What a second driver of the other party hears. The first one may be gone without a word, as when its machine lost power.
    fn is_here_already(&self) -> duologue::Error {
        let ours = format!("one that is connected, and counts as lost after {} s of silence", self.silence.as_secs());
        duologue::Error::Incompatible {
            what: "which driver has the job",
            ours,
            theirs: "another one".into(),
            place: None,
        }
    }

    fn hear_peer(&mut self, now: Duration) -> Result<bool, Failure> {
        let heard = self.peer.poll().and_then(|body| match body {
            Some(body) => self.machine.hear(Message::decode(&body)?, now).map(|()| true),
            None => Ok(false),
        });
        heard.map_err(|why| self.break_with(why))
    }

    /// The other driver hears what it did, if it was the cause.
    fn break_with(&mut self, why: duologue::Error) -> Failure {
        self.peer.abort_after(&why);
        why.into()
    }

    fn hear_workers(&mut self, now: Duration) -> Result<bool, Failure> {
        let mut news = false;
        for id in self.workers.there.keys().copied().collect::<Vec<_>>() {
            let heard = self.workers.there.get_mut(&id).map(|worker| worker.line.poll::<Answer>());
            match heard {
                Some(Ok(Some(answer))) => self.hear(id, answer, now)?,
                Some(Err(why)) => self.lose(id, &why.message, now),
                _ => continue,
            }
            news = true;
        }
        Ok(news)
    }

    fn hear(&mut self, id: WorkerId, answer: Answer, now: Duration) -> Result<(), Failure> {
        let at = |shard, attempt| Attempt { shard, number: attempt };
        match answer {
            Answer::Hello { build, process, number } => self.welcome(id, &build, (process, number), now),
            Answer::Here => self.take_in(id, now),
            Answer::Cannot { why } => {
                self.console.note(format!("{} cannot begin: {why}", self.workers.name(id)));
                self.workers.there.remove(&id);
                self.workers.unable = Some(why);
            }
            Answer::Ready { shard, attempt, key, address } => match key.parse() {
                Ok(key) if address.len() <= MOST_ADDRESS => {
                    self.workers.ready += 1;
                    self.machine.worker_ready(id, at(shard, attempt), Offer { key, address });
                }
                _ => self.lose(id, "it has no key, or an address that is none", now),
            },
            Answer::Done { shard, attempt, micros, sent, received, predicted } => {
                let costs = Costs { micros, sent, received, predicted };
                let verdict = self.verified(id, at(shard, attempt), costs);
                self.ended(id, at(shard, attempt), verdict, now);
            }
            Answer::Failed { shard, attempt, reason, why } => {
                let (attempt, reason) = (at(shard, attempt), Reason::of_code(reason).unwrap_or(Reason::Machine));
                if self.machine.is_at(id, attempt) {
                    self.workers.words.insert(attempt, why);
                }
                self.ended(id, attempt, Verdict::Failed(reason), now);
            }
        }
        Ok(())
    }

    /// A worker says that it is done: with another folder than its driver's of the same name its outputs would be lost.
    fn verified(&mut self, id: WorkerId, attempt: Attempt, costs: Costs) -> Verdict {
        if !self.machine.is_at(id, attempt) || (self.has_outputs)(attempt) {
            return Verdict::Done(costs);
        }
        let name = self.workers.name(id);
        let why = format!("{name} is done, and its outputs are not there: its folder of the job is not the driver's");
        self.workers.words.insert(attempt, why);
        Verdict::Failed(Reason::Machine)
    }

    fn ended(&mut self, id: WorkerId, attempt: Attempt, verdict: Verdict, now: Duration) {
        self.machine.worker_ended(id, attempt, verdict, now);
        if self.once {
            self.tell(id, &Order::End, now);
            self.workers.there.remove(&id);
        }
    }

    /// A worker says who it is, and is told of the job. One of another version is refused alone: the others go on.
    fn welcome(&mut self, id: WorkerId, build: &str, (process, number): (u32, Option<u64>), now: Duration) {
        let Some(worker) = self.workers.there.get_mut(&id).filter(|worker| worker.name.is_none()) else { return };
        let name = format!("process {process}");
        if build != BUILD {
            let why = format!("a worker ({name}) is duologue {build}, its driver duologue {BUILD}");
            let _ = worker.line.send(&Order::Refused { why: why.clone() });
            self.console.note(&why);
            self.workers.there.remove(&id);
            self.workers.unable = Some(why);
            return;
        }
        (worker.name, worker.number) = (Some(name), number);
        self.tell(id, &Order::Welcome(Box::new(self.work.clone())), now);
    }

    /// A worker has the job.
    fn take_in(&mut self, id: WorkerId, now: Duration) {
        let is_new = |worker: &&mut Worker| worker.name.is_some() && !worker.is_here;
        let Some(worker) = self.workers.there.get_mut(&id).filter(is_new) else { return };
        worker.is_here = true;
        self.console.note(format!("{} is there", self.workers.name(id)));
        self.machine.worker_came(id, now);
    }

    fn lose(&mut self, id: WorkerId, why: &str, now: Duration) {
        self.console.note(format!("{} is gone: {why}", self.workers.name(id)));
        self.give_up(id);
        self.machine.worker_lost(id, now);
    }

    /// Forgets a worker. One that we have started ourselves and that does not answer would never be replaced while it lives.
    fn give_up(&mut self, id: WorkerId) {
        let Some(worker) = self.workers.there.remove(&id) else { return };
        if let Some(number) = worker.number {
            self.launched.give_up(number);
        }
        // Telling a worker that is gone takes a while, and other workers are to be heard meanwhile.
        let parting = thread::Builder::new().name("duologue-parting".into()).spawn(move || drop(worker));
        // Without a thread it was dropped here.
        drop(parting);
    }

    /// Does what is decided, which may decide more; how the job has ended, if it has.
    fn act(&mut self, now: Duration) -> Result<Option<End>, Failure> {
        loop {
            let actions = self.machine.actions();
            if actions.is_empty() {
                return Ok(None);
            }
            for action in actions {
                if let Action::Over(end) = action {
                    return Ok(Some(end));
                }
                self.do_one(action, now)?;
            }
        }
    }

    fn do_one(&mut self, action: Action, now: Duration) -> Result<(), Failure> {
        match action {
            Action::Begun(attempt) => self.log.begun(attempt)?,
            Action::Finished(attempt, costs) => {
                self.log.finished(attempt, costs)?;
                let time = seconds(Duration::from_micros(costs.micros).as_secs_f64());
                let (done, all) = (self.machine.done(), self.log.shards());
                self.console.note(format!("{attempt}: done in {time}, {done} of {all}"));
            }
            Action::Failed(attempt, party, reason) => {
                let words = self.workers.words.get(&attempt).map_or(String::new(), |words| format!(": {words}"));
                let why = format!("{attempt} failed on the side of {party}: {reason}{words}");
                self.console.note(&why);
                self.log.failed(attempt, why);
            }
            Action::Send(message) => self.peer.send(&message.encode()),
            Action::Prepare(id, Attempt { shard, number }, pool) => {
                let pool = match (self.makes_pools, pool) {
                    (true, _) => PoolUse::Make,
                    (false, Some(made)) => PoolUse::Take(made),
                    (false, None) => PoolUse::Without,
                };
                self.tell(id, &Order::Prepare { shard, attempt: number, pool }, now);
            }
            Action::Start(id, attempt, Offer { key, address }) => {
                let Attempt { shard, number } = attempt;
                let order = Order::Start { shard, attempt: number, key: key.to_string(), address: address.clone() };
                self.log.met(attempt, self.workers.name(id), address);
                self.tell(id, &order, now);
                self.console.note(format!("{attempt}: the workers meet"));
            }
            Action::Stop(id, Attempt { shard, number }) => {
                self.tell(id, &Order::Stop { shard, attempt: number }, now);
            }
            Action::Drop(id) => {
                self.console.note(format!("{} does not stop: it is given up", self.workers.name(id)));
                self.give_up(id);
            }
            Action::GiveUp(id) => {
                let name = self.workers.name(id);
                self.console.note(format!("{name} is given up: its machine has failed twice in a row"));
                self.give_up(id);
            }
            Action::Over(_) => {}
        }
        Ok(())
    }

    fn tell(&mut self, id: WorkerId, order: &Order, now: Duration) {
        let told = self.workers.there.get_mut(&id).map(|worker| worker.line.send(order));
        if let Some(Err(why)) = told {
            self.lose(id, &why.message, now);
        }
    }

    /// Starts workers again that have ended, and gives up if there is none for too long, here or at the other party.
    fn look_for_workers(&mut self) -> Result<(), Failure> {
        let ready = self.workers.ready;
        let looked = match &mut self.launched {
            Launched::Here(_) if self.once => Ok(()),
            launched => launched.look(ready),
        };
        looked.map_err(|failure| self.unable(failure))?;
        let has_one = self.workers.there.values().any(|worker| worker.is_here);
        let waits_for_more = self.once && self.machine.is_short_of_workers();
        if (has_one && !waits_for_more) || self.machine.done() == self.log.shards() {
            self.workers.seen = Instant::now();
        }
        if !self.machine.waits_for_them() {
            self.workers.stirred = Instant::now();
        }
        let wait = self.wait.as_secs();
        // The other driver has the same patience with its own workers, and more time to tell of it.
        if self.workers.stirred.elapsed() >= self.wait + self.silence {
            let is_done = self.machine.done() == self.log.shards();
            let what = if is_done { "the other driver did not end the job" } else { "the other party gave no worker" };
            let why = format!("{what} within {} s", (self.wait + self.silence).as_secs());
            return Err(Failure::new(Exit::Timeout, why).hint(PEER_PRINTED));
        }
        if self.workers.seen.elapsed() < self.wait {
            return Ok(());
        }
        let more = if waits_for_more && self.workers.ready > 0 { "further " } else { "" };
        let failure = Failure::new(Exit::Timeout, format!("no {more}worker of this party came within {wait} s"));
        Err(self.unable(failure.hint("each is `duologue job worker` with this driver's address and keys")))
    }

    /// There are no workers: why the last one that came could not take the job, if one came.
    fn unable(&self, failure: Failure) -> Failure {
        match &self.workers.unable {
            Some(why) => Failure { message: format!("{}; the last one: {why}", failure.message), ..failure },
            None => failure,
        }
    }

    fn conclude(&self, end: End) -> Result<(), Failure> {
        let (attempt, party, reason) = match end {
            End::Finished => return Ok(()),
            End::TheirFailure => {
                return Err(Failure::new(Exit::Gone, "the other driver has given the job up").hint(PEER_PRINTED));
            }
            End::Failed(attempt, party, reason) => (attempt, party, reason),
        };
        let ours = party == self.party;
        let words = self.workers.words.get(&attempt).filter(|_| ours);
        let why = match words {
            Some(words) => format!("{attempt}: {words}"),
            None => format!("{attempt} failed on the side of {party}: {reason}"),
        };
        let failure = Failure::new(exit(reason, ours), why);
        Err(if ours { failure } else { failure.hint(PEER_PRINTED) })
    }
}

const PEER_PRINTED: &str = "look at what the peer's side printed; what is finished stays finished, with --resume";

/// The exit code of a job that ends for this reason.
fn exit(reason: Reason, ours: bool) -> Exit {
    match reason {
        Reason::Misbehaved if ours => Exit::Peer,
        Reason::Incompatible => Exit::Incompatible,
        Reason::Deadline => Exit::Timeout,
        Reason::Input if ours => Exit::Input,
        Reason::Machine | Reason::WorkerLost if ours => Exit::Machine,
        _ => Exit::Gone,
    }
}

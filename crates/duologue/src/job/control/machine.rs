//! A driver's decisions: which worker tries which shard with which worker of the other party, and what follows when one fails.
//!
//! It sees no socket and no file: it takes what happened with the time at which it did, and gives [`Action`]s to be done in their
//! order. Alice's driver leads: it alone begins attempts, when both parties have a free worker, the lowest shard first. Each driver
//! gives the attempt a worker of its own, tells the other one its worker's key and address, and how its side ended. An attempt is
//! over when both have said so: it finishes the shard if both sides are done, else the next attempt has the next number. So both
//! drivers count alike, whoever fails first, and a message about any other attempt than the one under way is a misbehaviour.
//!
//! The pool that an attempt has made is used by the next one at the shard, and by no other: whatever becomes of that, the one after it
//! makes correlations of its own.
//!
//! Where a side fails, the other one's worker is stopped; whatever it still says is passed over. A shard that fails [`MOST_FAILURES`]
//! times ends the job, and so does a failure that another attempt would not mend ([`Reason::is_final`]). Stragglers are not
//! duplicated: two workers would compute on the same inputs, and one in vain.
//!
//! A worker whose machine fails rests until another worker of its party has done an attempt, or for [`REST`] if none is at one, and is
//! given up at its second failure in a row, as long as there are others: it would fail at once, be free at once, and use up the attempts
//! that these would finish. Whoever comes in its place rests as well: it may be on the same machine.

use super::hello::{Agreed, MOST_ATTEMPTS, Progress};
use super::message::{Attempt, Costs, Message, Offer, Reason, Verdict};
use crate::{Error, Party, Result};
use std::collections::BTreeMap;
use std::time::Duration;

/// How often a shard may fail.
pub const MOST_FAILURES: u32 = 3;

/// How often in a row an attempt at a shard may find no worker free: whatever starts workers starts some that do nothing.
pub const MOST_UNMANNED: u32 = 100;

/// How long a worker rests whose machine has failed.
pub const REST: Duration = Duration::from_secs(30);

/// How often in a row a worker's machine may fail where there are other workers.
pub const MOST_MACHINE_FAILURES: u32 = 2;

/// How long a worker that was told to stop may take.
pub const GRACE: Duration = Duration::from_secs(10);

/// A worker of this party, by a number that its driver gives it.
pub type WorkerId = u64;

/// What a driver does, in this order.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Action {
    /// Keep on the disk that this attempt was begun, before anything else is done.
    Begun(Attempt),
    /// Keep on the disk that this attempt finished its shard, at this cost of the slower side.
    Finished(Attempt, Costs),
    /// Tell the other driver.
    Send(Message),
    /// Have a worker make a key, listen if it is the side that listens, and read its inputs; and use the pool that this attempt has made,
    /// if one has.
    Prepare(WorkerId, Attempt, Option<u32>),
    /// Have it meet the other party's worker.
    Start(WorkerId, Attempt, Offer),
    /// Have it stop what it does.
    Stop(WorkerId, Attempt),
    /// Break with a worker that does not stop.
    Drop(WorkerId),
    /// Break with a worker whose machine fails.
    GiveUp(WorkerId),
    /// An attempt has failed: on which side first, and why.
    Failed(Attempt, Party, Reason),
    /// The job is over.
    Over(End),
}

/// How a job ends.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum End {
    /// All shards are finished, and nothing is on its way any more.
    Finished,
    /// A shard has failed for good, on this party's side and for this reason.
    Failed(Attempt, Party, Reason),
    /// The other driver says that it has failed, and we do not know of it.
    TheirFailure,
}

/// What a worker is at.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Work {
    Free,
    Busy(Attempt),
    /// It was told to stop at this time.
    Stopping(Attempt, Duration),
    /// Its machine failed at this time: others go first.
    Resting(Duration),
}

/// A worker of ours.
#[derive(Clone, Copy)]
struct Hand {
    work: Work,
    /// How often in a row its machine has failed.
    failures: u32,
}

/// Whose side of an attempt.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Side {
    Ours,
    Theirs,
}

/// An attempt that is under way.
struct Under {
    number: u32,
    since: Duration,
    worker: Option<WorkerId>,
    /// Whether ours is ready.
    offered: bool,
    theirs_ready: Option<Offer>,
    /// How each side ended: this party's, then the other one's.
    ended: [Option<Verdict>; 2],
}

impl Under {
    /// Whether the workers were told to meet.
    fn both_are_ready(&self) -> bool {
        self.offered && self.theirs_ready.is_some()
    }
}

#[derive(Default)]
struct Shard {
    begun: u32,
    failures: u32,
    /// How many attempts in a row have found no worker.
    unmanned: u32,
    finished: bool,
    /// The last attempt, if it made a pool: the next one takes it.
    pool: Option<u32>,
    under: Option<Under>,
}

/// The state of a job, as one driver sees it.
pub struct Machine {
    party: Party,
    deadline: Duration,
    /// How much later than ours the other driver may say how its side ended.
    patience: Duration,
    once: bool,
    /// A worker was given up since the last one of ours was done.
    suspects: bool,
    shards: Vec<Shard>,
    workers: BTreeMap<WorkerId, Hand>,
    /// Of the leader: free workers of the other party. Of the other driver: those that it has named and that got no attempt.
    credits: u64,
    /// We have told the other driver that we are finished; it has told us.
    finished: [bool; 2],
    over: bool,
    actions: Vec<Action>,
}

impl Machine {
    /// A job of which both drivers know the same. An attempt may take `deadline`.
    pub fn new(party: Party, agreed: &Agreed, deadline: Duration) -> Machine {
        let shard = |&Progress { begun, finished, pool }: &Progress| Shard {
            begun,
            finished: finished.is_some(),
            pool,
            ..Shard::default()
        };
        let mut machine = Machine {
            party,
            deadline,
            patience: 2 * GRACE,
            once: false,
            suspects: false,
            shards: agreed.shards.iter().map(shard).collect(),
            workers: BTreeMap::new(),
            credits: 0,
            finished: [false; 2],
            over: false,
            actions: Vec::new(),
        };
        machine.look_for_the_end();
        machine
    }

    /// Every worker makes one attempt and is done with, and a shard that fails is not tried again: a look at all routes between workers.
    pub fn once(self) -> Machine {
        Machine { once: true, ..self }
    }

    /// Allows the other driver this much time, beyond the deadline of an attempt and [`GRACE`], to say how its side ended.
    pub fn patient(self, silence: Duration) -> Machine {
        Machine { patience: GRACE + silence, ..self }
    }

    /// What is to be done since it was asked last.
    pub fn actions(&mut self) -> Vec<Action> {
        std::mem::take(&mut self.actions)
    }

    /// How many shards are finished.
    pub fn done(&self) -> usize {
        self.shards.iter().filter(|shard| shard.finished).count()
    }

    /// Whether every worker that is there is at an attempt or done with, and there are shards that nobody is at.
    pub fn is_short_of_workers(&self) -> bool {
        self.workers.is_empty() && self.shards.iter().any(|shard| !shard.finished && shard.under.is_none())
    }

    /// Whether no attempt is under way, though workers of ours are free or all shards are finished: it is for the other party to go on.
    pub fn waits_for_them(&self) -> bool {
        let waits = self.free_worker().is_some() || self.done() == self.shards.len();
        waits && self.shards.iter().all(|shard| shard.under.is_none())
    }

    /// Whether a worker is at this attempt.
    pub fn is_at(&self, worker: WorkerId, attempt: Attempt) -> bool {
        self.workers.get(&worker).is_some_and(|hand| hand.work == Work::Busy(attempt))
    }

    /// A worker of ours came, and is free.
    pub fn worker_came(&mut self, worker: WorkerId, now: Duration) {
        let may_fail = self.suspects && self.is_at_work();
        self.workers.insert(worker, Hand { work: Work::Resting(now), failures: may_fail.into() });
        if !may_fail {
            self.free(worker);
        }
        self.begin(now);
    }

    /// A worker of ours is gone.
    pub fn worker_lost(&mut self, worker: WorkerId, now: Duration) {
        match self.workers.remove(&worker).map(|hand| hand.work) {
            Some(Work::Free) if !self.leads() => self.send(Message::Gone),
            Some(Work::Busy(attempt)) => self.end(attempt, Side::Ours, Verdict::Failed(Reason::WorkerLost), now),
            _ => {}
        }
        self.wake_if_alone();
        self.begin(now);
    }

    /// A worker of ours is ready to meet the other party's. It says so once.
    pub fn worker_ready(&mut self, worker: WorkerId, attempt: Attempt, offer: Offer) {
        if !self.is_at(worker, attempt) {
            return;
        }
        match self.under(attempt) {
            Some(under) if !under.offered => under.offered = true,
            _ => return,
        }
        self.send(Message::Ready(attempt, offer));
        self.start(attempt);
    }

    /// A worker of ours has ended what it was at.
    pub fn worker_ended(&mut self, worker: WorkerId, attempt: Attempt, verdict: Verdict, now: Duration) {
        match self.workers.get(&worker).map(|hand| hand.work) {
            Some(Work::Busy(at)) if at == attempt => {
                let verdict = self.believed(attempt, verdict);
                self.release(worker, Some(verdict), now);
                self.end(attempt, Side::Ours, verdict, now);
                self.begin(now);
            }
            Some(Work::Stopping(at, _)) if at == attempt => {
                self.release(worker, None, now);
                self.begin(now);
            }
            _ => {}
        }
    }

    /// A worker that has met nobody is not done, whatever it says; the other driver would take it for a misbehaviour of ours.
    fn believed(&mut self, attempt: Attempt, verdict: Verdict) -> Verdict {
        let has_met = self.under(attempt).is_some_and(|under| under.both_are_ready());
        match verdict {
            Verdict::Done(_) if !has_met => Verdict::Failed(Reason::WorkerLost),
            verdict => verdict,
        }
    }

    /// The other driver says something.
    ///
    /// # Errors
    /// [`Error::Peer`] if no driver says that now: the job ends.
    pub fn hear(&mut self, message: Message, now: Duration) -> Result<()> {
        if self.finished[1] {
            return Err(Error::peer("its driver went on after the end of the job"));
        }
        match message {
            Message::Free if self.leads() && self.credits < 1 << 32 => self.credits += 1,
            Message::Gone if self.leads() => self.credits = self.credits.saturating_sub(1),
            Message::Begin(attempt) if !self.leads() => self.begin_theirs(attempt, now)?,
            Message::Ready(attempt, offer) => {
                let under = self.expect(attempt)?;
                if under.theirs_ready.is_some() || under.ended[Side::Theirs as usize].is_some() {
                    return Err(replayed(attempt));
                }
                under.theirs_ready = Some(offer);
                self.start(attempt);
            }
            Message::Ended(attempt, verdict) => {
                let under = self.expect(attempt)?;
                let is_too_early = matches!(verdict, Verdict::Done(_)) && !under.both_are_ready();
                if under.ended[Side::Theirs as usize].is_some() || is_too_early {
                    return Err(replayed(attempt));
                }
                self.end(attempt, Side::Theirs, verdict, now);
            }
            Message::Finished if self.done() == self.shards.len() => self.finished[1] = true,
            Message::Failed => self.over(End::TheirFailure),
            Message::Free | Message::Gone | Message::Begin(_) | Message::Finished => {
                return Err(Error::peer("its driver sent what the other party's driver sends, or too early"));
            }
        }
        self.begin(now);
        self.look_for_the_end();
        Ok(())
    }

    /// Time passes: what takes too long is ended.
    ///
    /// # Errors
    /// [`Error::Peer`] if the other driver has not said how its side of an attempt ended, long after the deadline: the job ends.
    pub fn tick(&mut self, now: Duration) -> Result<()> {
        let most = self.deadline.saturating_add(self.patience);
        let mut under = self.shards.iter().filter_map(|shard| shard.under.as_ref());
        if under.any(|under| under.ended[Side::Theirs as usize].is_none() && now.saturating_sub(under.since) >= most) {
            let most = most.as_secs();
            return Err(Error::peer(format!("its driver did not say within {most} s how an attempt at a shard ended")));
        }
        let late = |under: &Under| {
            under.ended[Side::Ours as usize].is_none() && now.saturating_sub(under.since) >= self.deadline
        };
        let late = self.shards.iter().zip(0..).filter_map(|(shard, number)| {
            let under = shard.under.as_ref().filter(|under| late(under))?;
            Some(Attempt { shard: number, number: under.number })
        });
        for attempt in late.collect::<Vec<_>>() {
            self.end(attempt, Side::Ours, Verdict::Failed(Reason::Deadline), now);
        }
        let stuck = |work: Work| matches!(work, Work::Stopping(_, since) if now.saturating_sub(since) >= GRACE);
        let stuck: Vec<WorkerId> =
            self.workers.iter().filter(|(_, hand)| stuck(hand.work)).map(|(worker, _)| *worker).collect();
        for worker in stuck {
            self.workers.remove(&worker);
            self.act(Action::Drop(worker));
        }
        self.wake_if_alone();
        if !self.is_at_work() {
            self.wake(|since| now.saturating_sub(since) >= REST);
        }
        self.begin(now);
        Ok(())
    }

    fn leads(&self) -> bool {
        self.party == Party::Alice
    }

    fn act(&mut self, action: Action) {
        if !self.over {
            self.actions.push(action);
        }
    }

    fn send(&mut self, message: Message) {
        // Nothing follows the end.
        if !self.finished[0] {
            self.act(Action::Send(message));
        }
    }

    fn over(&mut self, end: End) {
        self.act(Action::Over(end));
        self.over = true;
    }

    fn under(&mut self, attempt: Attempt) -> Option<&mut Under> {
        let under = self.shards.get_mut(attempt.shard as usize)?.under.as_mut()?;
        (under.number == attempt.number).then_some(under)
    }

    /// The attempt under way that the other driver speaks of.
    fn expect(&mut self, attempt: Attempt) -> Result<&mut Under> {
        self.under(attempt).ok_or_else(|| replayed(attempt))
    }

    fn set(&mut self, worker: WorkerId, work: Work) {
        if let Some(hand) = self.workers.get_mut(&worker) {
            hand.work = work;
        }
    }

    fn free(&mut self, worker: WorkerId) {
        self.set(worker, Work::Free);
        if !self.leads() && !self.finished[0] {
            self.credits += 1;
            self.send(Message::Free);
        }
    }

    /// A worker has ended an attempt, thus unless it was stopped.
    fn release(&mut self, worker: WorkerId, verdict: Option<Verdict>, now: Duration) {
        if self.once {
            self.workers.remove(&worker);
            return;
        }
        match verdict {
            Some(Verdict::Failed(Reason::Machine)) => self.rest(worker, now),
            Some(Verdict::Done(_)) => {
                self.suspects = false;
                self.workers.entry(worker).and_modify(|hand| hand.failures = 0);
                self.free(worker);
                self.wake(|_| true);
            }
            _ => self.free(worker),
        }
    }

    fn rest(&mut self, worker: WorkerId, now: Duration) {
        let others = self.workers.len() > 1;
        let Some(hand) = self.workers.get_mut(&worker) else { return };
        (hand.work, hand.failures) = (Work::Resting(now), hand.failures + 1);
        if hand.failures >= MOST_MACHINE_FAILURES && others {
            self.workers.remove(&worker);
            self.suspects = true;
            self.act(Action::GiveUp(worker));
        }
        self.wake_if_alone();
    }

    /// Whether a worker of ours is at an attempt.
    fn is_at_work(&self) -> bool {
        self.workers.values().any(|hand| matches!(hand.work, Work::Busy(_)))
    }

    /// Those that rest since such a time are free again.
    fn wake(&mut self, since: impl Fn(Duration) -> bool) {
        let rested = |work: Work| matches!(work, Work::Resting(at) if since(at));
        let rested: Vec<WorkerId> =
            self.workers.iter().filter(|(_, hand)| rested(hand.work)).map(|(worker, _)| *worker).collect();
        rested.into_iter().for_each(|worker| self.free(worker));
    }

    /// Where all rest there is nobody whom they could let go first.
    fn wake_if_alone(&mut self) {
        if self.workers.values().all(|hand| matches!(hand.work, Work::Resting(_))) {
            self.wake(|_| true);
        }
    }

    /// One whose machine has not failed, if there is one.
    fn free_worker(&self) -> Option<WorkerId> {
        let free = self.workers.iter().filter(|(_, hand)| hand.work == Work::Free);
        free.min_by_key(|(worker, hand)| (hand.failures, **worker)).map(|(worker, _)| *worker)
    }

    /// Begins as many attempts as there are free workers on both sides.
    fn begin(&mut self, now: Duration) {
        while self.leads() && self.credits > 0 && !self.over {
            let is_open = |shard: &Shard| !shard.finished && shard.under.is_none();
            let open = self.shards.iter().position(is_open);
            let (Some(shard), Some(worker)) = (open, self.free_worker()) else { return };
            self.credits -= 1;
            let attempt = Attempt { shard: shard as u32, number: self.shards[shard].begun + 1 };
            self.go_under(attempt, Some(worker), now);
        }
    }

    /// Begins an attempt that the leader has begun.
    fn begin_theirs(&mut self, attempt: Attempt, now: Duration) -> Result<()> {
        let shard = self.shards.get(attempt.shard as usize).ok_or_else(|| replayed(attempt))?;
        let is_next = shard.begun.checked_add(1) == Some(attempt.number) && attempt.number <= MOST_ATTEMPTS;
        if shard.finished || shard.under.is_some() || !is_next {
            return Err(replayed(attempt));
        }
        let left = self.credits.checked_sub(1);
        self.credits = left.ok_or_else(|| Error::peer("its driver began more attempts than we have workers"))?;
        let worker = self.free_worker();
        self.go_under(attempt, worker, now);
        if worker.is_none() {
            self.end(attempt, Side::Ours, Verdict::Failed(Reason::NoWorker), now);
        }
        Ok(())
    }

    fn go_under(&mut self, attempt: Attempt, worker: Option<WorkerId>, now: Duration) {
        self.act(Action::Begun(attempt));
        if self.leads() {
            self.send(Message::Begin(attempt));
        }
        let shard = &mut self.shards[attempt.shard as usize];
        shard.begun = attempt.number;
        let pool = shard.pool.take();
        let number = attempt.number;
        shard.under =
            Some(Under { number, since: now, worker, offered: false, theirs_ready: None, ended: [None, None] });
        if let Some(worker) = worker {
            self.set(worker, Work::Busy(attempt));
            self.act(Action::Prepare(worker, attempt, pool));
        }
    }

    /// The workers meet when both are ready.
    fn start(&mut self, attempt: Attempt) {
        let Some(under) = self.under(attempt) else { return };
        let open = under.offered && under.ended == [None, None];
        if let (true, Some(worker), Some(offer)) = (open, under.worker, under.theirs_ready.clone()) {
            self.act(Action::Start(worker, attempt, offer));
        }
    }

    /// A side of an attempt has ended. Where the other one fails, ours is stopped.
    fn end(&mut self, attempt: Attempt, side: Side, verdict: Verdict, now: Duration) {
        let Some(under) = self.under(attempt).filter(|under| under.ended[side as usize].is_none()) else { return };
        under.ended[side as usize] = Some(verdict);
        let worker = under.worker;
        if side == Side::Ours {
            self.send(Message::Ended(attempt, verdict));
        }
        if let (Verdict::Failed(_), Some(worker)) = (verdict, worker.filter(|worker| self.is_at(*worker, attempt))) {
            self.set(worker, Work::Stopping(attempt, now));
            self.act(Action::Stop(worker, attempt));
        }
        if side == Side::Theirs && matches!(verdict, Verdict::Failed(_)) {
            self.end(attempt, Side::Ours, Verdict::Failed(Reason::Other), now);
        }
        self.conclude(attempt, now);
    }

    /// Both sides have ended: the shard is finished, or has failed once more.
    fn conclude(&mut self, attempt: Attempt, now: Duration) {
        let ended = self.under(attempt).map(|under| under.ended);
        let Some([Some(ours), Some(theirs)]) = ended else { return };
        let party = self.party;
        let shard = &mut self.shards[attempt.shard as usize];
        shard.under = None;
        let (side, reason) = match (ours, theirs) {
            (Verdict::Done(ours), Verdict::Done(theirs)) => {
                shard.finished = true;
                let slower = if ours.micros >= theirs.micros { ours.micros } else { theirs.micros };
                self.act(Action::Finished(attempt, Costs { micros: slower, ..ours }));
                return self.look_for_the_end();
            }
            (ours, theirs) => first(party, ours, theirs),
        };
        shard.failures += u32::from(reason != Reason::NoWorker);
        shard.unmanned = if reason == Reason::NoWorker { shard.unmanned + 1 } else { 0 };
        let is_last = reason.is_final() || shard.failures >= MOST_FAILURES || shard.unmanned >= MOST_UNMANNED;
        self.act(Action::Failed(attempt, side, reason));
        if self.once {
            self.shards[attempt.shard as usize].finished = true;
            return self.look_for_the_end();
        }
        if is_last {
            self.send(Message::Failed);
            return self.over(End::Failed(attempt, side, reason));
        }
        self.begin(now);
    }

    fn look_for_the_end(&mut self) {
        if self.done() < self.shards.len() {
            return;
        }
        self.send(Message::Finished);
        self.finished[0] = true;
        if self.finished[1] {
            self.over(End::Finished);
        }
    }
}

/// The failure that both drivers take for the cause: the gravest one, of two alike Alice's.
fn first(party: Party, ours: Verdict, theirs: Verdict) -> (Party, Reason) {
    let (alice, bob) = if party == Party::Alice { (ours, theirs) } else { (theirs, ours) };
    let failures =
        [(Party::Alice, alice), (Party::Bob, bob)].into_iter().filter_map(|(party, verdict)| match verdict {
            Verdict::Failed(reason) => Some((party, reason)),
            Verdict::Done(_) => None,
        });
    let rank = |reason: Reason| match reason {
        reason if reason.is_final() => 0,
        Reason::WorkerLost | Reason::Machine => 1,
        Reason::Deadline | Reason::NoWorker => 2,
        Reason::Connection => 3,
        _ => 4,
    };
    failures.min_by_key(|(_, reason)| rank(*reason)).unwrap_or((party, Reason::Other))
}

fn replayed(attempt: Attempt) -> Error {
    Error::peer(format!("its driver spoke of {attempt}, which is not under way, or said twice what is said once"))
}

//! The tasks of an exchange in groups, which threads take in their order.
//!
//! Whoever is free sends what has been written so far, reads what came for the next group and steps it. So one thread moves
//! bytes while others compute, and what came for a group is in the cache of whoever needs it.
//!
//! What is sent in this way belongs to the next exchange, whose first bytes go to the peer before the last ones of this
//! exchange are read. It is sent only if setup comes ahead: else correlations may be made between the two exchanges.
//! Neither party waits for it now: all that this exchange reads was sent by the peer before it began to read, and a
//! channel takes in what comes while it cannot write. The order of the bytes is that of the tasks, however many threads
//! there are.

use super::exchange::{Running, Stepped};
use super::{Link, Protocol, unforeseen};
use crate::outbox::{Inbox, Outbox};
use crate::{Error, Result};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::vec;

/// Tasks that are next to each other, the bytes that they read, and room for those that they send.
pub(super) struct Group<P: Protocol> {
    pub running: Vec<Running<P>>,
    pub expect: usize,
    pub outbox: Outbox,
}

/// A group that has had its turn.
struct Done<P: Protocol> {
    stepped: Vec<Stepped<P>>,
    outbox: Outbox,
}

/// The groups of an exchange.
pub(super) struct Groups<'a, P: Protocol>(Mutex<State<'a, P>>);

struct State<'a, P: Protocol> {
    link: &'a mut dyn Link,
    /// Groups whose turn is still to come.
    left: vec::IntoIter<Group<P>>,
    /// The groups whose turn has come, each when it is done, and how many of them were sent.
    done: Vec<Option<Done<P>>>,
    sent: usize,
    /// Whether what is written is sent at once.
    sends: bool,
    /// Empty boxes.
    inboxes: Vec<Inbox>,
    failed: Option<Error>,
}

/// The end of an exchange: its tasks, in their order, and the boxes.
pub(super) struct Exchanged<P: Protocol> {
    pub stepped: Vec<Stepped<P>>,
    pub outboxes: Vec<Outbox>,
    pub inboxes: Vec<Inbox>,
}

/// A group's turn: its number, and what came for it.
struct Turn<P: Protocol> {
    number: usize,
    group: Group<P>,
    inbox: Inbox,
}

/// The end of a group's turn.
struct Ended<P: Protocol> {
    number: usize,
    done: Result<Done<P>>,
    inbox: Inbox,
}

impl<P: Protocol> Group<P> {
    pub fn add(&mut self, running: Running<P>) {
        self.expect += running.steps.expects();
        self.running.push(running);
    }

    /// Steps its tasks with what came for them.
    fn step(mut self, protocol: &P, inbox: &[u8]) -> Result<Done<P>> {
        let mut rest = inbox;
        let mut stepped = Vec::with_capacity(self.running.len());
        for mut running in self.running {
            let bytes = rest.split_off(..running.steps.expects()).ok_or_else(unforeseen)?;
            let step = running.steps.step(protocol, &running.job, bytes, &mut self.outbox)?;
            stepped.push((running, step));
        }
        Ok(Done { stepped, outbox: self.outbox })
    }
}

impl<P: Protocol> Turn<P> {
    fn step(self, protocol: &P) -> Ended<P> {
        let done = self.group.step(protocol, &self.inbox);
        Ended { number: self.number, done, inbox: self.inbox }
    }
}

impl<'a, P: Protocol> Groups<'a, P> {
    /// With empty boxes; `sends` says whether what the groups write is sent at once.
    pub fn new(groups: Vec<Group<P>>, inboxes: Vec<Inbox>, link: &'a mut dyn Link, sends: bool) -> Self {
        let (left, done) = (groups.into_iter(), Vec::new());
        Groups(Mutex::new(State { link, left, done, sent: 0, sends, inboxes, failed: None }))
    }

    /// Takes group after group until none is left or something failed: a thread's work.
    pub fn work(&self, protocol: &P) {
        let mut before = None;
        while let Some(turn) = self.turn(before.take()) {
            before = Some(turn.step(protocol));
        }
    }

    /// Takes back a group that had its turn, and reads what came for the next.
    fn turn(&self, before: Option<Ended<P>>) -> Option<Turn<P>> {
        let mut state = self.state();
        state.turn(before).unwrap_or_else(|why| {
            state.failed.get_or_insert(why);
            None
        })
    }

    /// The state; a thread that panicked with it has left the link in the middle of something.
    fn state(&self) -> MutexGuard<'_, State<'a, P>> {
        self.0.lock().unwrap_or_else(|poisoned| {
            let mut state = poisoned.into_inner();
            state.failed.get_or_insert_with(|| Error::usage("a thread of this party panicked"));
            state
        })
    }

    /// What all of them made.
    pub fn end(self) -> Result<Exchanged<P>> {
        let state = self.0.into_inner().unwrap_or_else(PoisonError::into_inner);
        if let Some(why) = state.failed {
            return Err(why);
        }
        let mut all = Exchanged { stepped: Vec::new(), outboxes: Vec::new(), inboxes: state.inboxes };
        for done in state.done {
            let done = done.ok_or_else(unforeseen)?;
            all.stepped.extend(done.stepped);
            all.outboxes.push(done.outbox);
        }
        Ok(all)
    }
}

impl<P: Protocol> State<'_, P> {
    fn turn(&mut self, before: Option<Ended<P>>) -> Result<Option<Turn<P>>> {
        if let Some(Ended { number, done, inbox }) = before {
            self.inboxes.push(inbox);
            self.done[number] = Some(done?);
        }
        if self.failed.is_some() {
            return Ok(None);
        }
        self.send()?;
        let Some(group) = self.left.next() else { return Ok(None) };
        let (number, mut inbox) = (self.done.len(), self.inboxes.pop().unwrap_or_default());
        match number {
            0 => self.link.receive(group.expect, &mut inbox)?,
            _ => self.link.receive_more(group.expect, &mut inbox)?,
        }
        self.done.push(None);
        Ok(Some(Turn { number, group, inbox }))
    }

    /// Sends what the groups wrote, as far as all before them are done.
    fn send(&mut self) -> Result<()> {
        while self.sends
            && let Some(Some(done)) = self.done.get_mut(self.sent)
        {
            self.link.give(&mut done.outbox)?;
            self.sent += 1;
        }
        Ok(())
    }
}

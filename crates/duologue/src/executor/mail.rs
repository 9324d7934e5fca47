//! Boxes of bytes between the threads that follow strands and the one of them that has the way to the peer.
//!
//! A strand fills boxes with what it sends and empties those with what it reads, in its own order. The exchanges with the
//! peer have an order too, which does not depend on who is quick. One thread at a time makes those whose turn it is: one
//! that has just filled a box, that waits for one, or that has nothing else to do.

use crate::clock::Instant;
use crate::outbox::{Inbox, Outbox};
use std::collections::VecDeque;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// An exchange of a strand with the peer, in bytes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Turn {
    pub strand: usize,
    pub sent: usize,
    pub read: usize,
}

/// The way to the peer, and the order of the exchanges.
pub trait Wire {
    type Error;

    /// The next exchange; none if all were made.
    fn next(&self) -> Option<Turn>;

    /// Makes it: sends what the outbox holds and empties it, then fills the inbox.
    fn exchange(&mut self, outbox: &mut Outbox, inbox: &mut Inbox) -> Result<(), Self::Error>;
}

/// A strand that a thread follows, and whether it needs a full box to go on.
#[derive(Clone, Copy)]
pub struct Place {
    pub strand: usize,
    pub reads: bool,
}

/// Boxes that wait on their way to the peer and from it, and empty ones.
#[derive(Default)]
pub struct Boxes {
    out: VecDeque<Outbox>,
    come: VecDeque<Inbox>,
    spare: Vec<Outbox>,
}

/// The boxes of all strands, and the way to the peer.
pub struct Mail<W> {
    state: Mutex<State<W>>,
    changed: Condvar,
    /// Bytes of a strand that may wait in either direction beside one box.
    room: usize,
    /// The time for which a thread that waits stays awake.
    awake: Duration,
}

struct State<W> {
    strands: Vec<Boxes>,
    /// Absent while a thread makes exchanges.
    wire: Option<W>,
    /// Whether all exchanges were made.
    is_over: bool,
    /// Whether somebody failed.
    is_stopped: bool,
}

impl<W: Wire> Mail<W> {
    pub fn new(wire: W, strands: Vec<Boxes>, room: usize, awake: Duration) -> Self {
        let is_over = wire.next().is_none();
        let state = State { strands, wire: Some(wire), is_over, is_stopped: false };
        Mail { state: Mutex::new(state), changed: Condvar::new(), room, awake }
    }

    /// The boxes, with their memory.
    pub fn end(self) -> Vec<Boxes> {
        self.state.into_inner().unwrap_or_else(PoisonError::into_inner).strands
    }

    /// The way to the peer, and the boxes.
    #[cfg(test)]
    pub fn into_parts(self) -> (Option<W>, Vec<Boxes>) {
        let state = self.state.into_inner().unwrap_or_else(PoisonError::into_inner);
        (state.wire, state.strands)
    }

    /// What a strand needs to go on: the box that came for it if it reads one, and an empty one. None if it has to wait.
    pub fn take(&self, place: Place) -> Option<(Inbox, Outbox)> {
        let mut state = self.state();
        if state.is_stopped || !state.can_go(place, self.room) {
            return None;
        }
        let boxes = &mut state.strands[place.strand];
        let inbox = if place.reads { boxes.come.pop_front()? } else { Inbox::default() };
        Some((inbox, boxes.spare.pop().unwrap_or_default()))
    }

    /// A strand has emptied its inbox and perhaps filled its outbox.
    pub fn put(&self, strand: usize, (mut inbox, outbox): (Inbox, Outbox)) {
        let mut state = self.state();
        let boxes = &mut state.strands[strand];
        inbox.clear();
        boxes.keep(inbox);
        match outbox.is_empty() {
            true => boxes.keep(outbox),
            false => boxes.out.push_back(outbox),
        }
        drop(state);
        self.changed.notify_all();
    }

    /// Makes the exchanges that can be made now, unless another thread does. It reads no further once one of these strands
    /// can go on.
    pub fn relay(&self, ours: &[Place]) -> Result<(), W::Error> {
        let mut state = self.state();
        let Some(mut wire) = state.wire.take() else { return Ok(()) };
        while let Some(turn) = state.ready(&wire, self.room) {
            if state.is_stopped || turn.sent == 0 && state.any_can_go(ours, self.room) {
                break;
            }
            let [mut outbox, mut inbox] = state.strands[turn.strand].lend(turn);
            drop(state);
            let made = wire.exchange(&mut outbox, &mut inbox);
            state = self.state();
            state.strands[turn.strand].give_back(turn, [outbox, inbox]);
            state.is_stopped |= made.is_err();
            self.changed.notify_all();
            made?;
        }
        state.is_over = wire.next().is_none();
        state.wire = Some(wire);
        drop(state);
        self.changed.notify_all();
        Ok(())
    }

    /// Waits until one of these strands can go on or, if `relays`, exchanges can be made or all were. False if somebody
    /// failed.
    pub fn wait(&self, ours: &[Place], relays: bool) -> bool {
        let since = Instant::now();
        let mut state = self.state();
        loop {
            if state.is_stopped {
                return false;
            }
            let can_relay = || state.wire.as_ref().is_some_and(|wire| state.ready(wire, self.room).is_some());
            if state.any_can_go(ours, self.room) || relays && (state.is_over || can_relay()) {
                return true;
            }
            state = if !self.awake.is_zero() && since.elapsed() < self.awake {
                drop(state);
                std::thread::yield_now();
                self.state()
            } else {
                self.changed.wait(state).unwrap_or_else(PoisonError::into_inner)
            };
        }
    }

    /// Whether all exchanges were made.
    pub fn is_over(&self) -> bool {
        self.state().is_over
    }

    /// Lets nobody wait any longer.
    pub fn stop(&self) {
        self.state().is_stopped = true;
        self.changed.notify_all();
    }

    fn state(&self) -> MutexGuard<'_, State<W>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<W: Wire> State<W> {
    fn can_go(&self, place: Place, room: usize) -> bool {
        let boxes = &self.strands[place.strand];
        has_room(&boxes.out, room) && !(place.reads && boxes.come.is_empty())
    }

    fn any_can_go(&self, places: &[Place], room: usize) -> bool {
        places.iter().any(|&place| self.can_go(place, room))
    }

    /// The next exchange, if what it sends is there and there is room for what it reads.
    fn ready(&self, wire: &W, room: usize) -> Option<Turn> {
        let turn = wire.next()?;
        let boxes = &self.strands[turn.strand];
        let can_send = turn.sent == 0 || !boxes.out.is_empty();
        (can_send && (turn.read == 0 || has_room(&boxes.come, room))).then_some(turn)
    }
}

impl Boxes {
    /// Keeps an empty box for later. One without memory is worth nothing, and would lie on top of those that have some.
    fn keep(&mut self, empty: Outbox) {
        if empty.capacity() > 0 {
            self.spare.push(empty);
        }
    }

    /// How many there are.
    #[cfg(test)]
    pub fn count(&self) -> usize {
        self.out.len() + self.come.len() + self.spare.len()
    }

    /// The boxes of an exchange.
    fn lend(&mut self, turn: Turn) -> [Outbox; 2] {
        let outbox = if turn.sent > 0 { self.out.pop_front() } else { None };
        let inbox = if turn.read > 0 { self.spare.pop() } else { None };
        [outbox, inbox].map(Option::unwrap_or_default)
    }

    fn give_back(&mut self, turn: Turn, [outbox, inbox]: [Outbox; 2]) {
        if turn.sent > 0 {
            self.spare.push(outbox);
        }
        if turn.read > 0 {
            self.come.push_back(inbox);
        }
    }
}

fn has_room(waiting: &VecDeque<Outbox>, room: usize) -> bool {
    waiting.iter().map(|one| one.len()).sum::<usize>() < room
}

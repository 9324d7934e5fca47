//! The engine of a channel: one thread moves bytes both ways through a non-blocking [`Pipe`].
//!
//! When a write would block, incoming frames are drained to an inbox until the pipe takes more:
//! two parties that both send 100 MB before they read cannot deadlock. Nothing is drained while
//! writes go through, so a party that only receives holds the sender back by not reading.

mod end;
mod receive;
mod send;
mod waiting;

use std::io::{self, ErrorKind};

use super::frame::{AbortCode, HEADER};
use super::incoming::Incoming;
use super::pipe::Pipe;
use super::shaped::Shaped;
use super::{Canceller, Counters, Limits, Link, memory};
use crate::clock::{Clock, Instant};
use crate::error::{Error, Result};
use waiting::Waiting;

pub(super) struct Duplex {
    pipe: Box<dyn Pipe>,
    clock: Clock,
    limits: Limits,
    pub counters: Counters,
    pub canceller: Canceller,
    /// When we found that we were cancelled.
    cancelled_at: Option<Instant>,
    /// Room for a header, then the payload of small sends.
    gathered: Vec<u8>,
    /// Whole control frames, or the tail of one, that the pipe has not taken yet.
    control: Vec<u8>,
    /// A data frame is written in part: nothing else may be written before its rest.
    midframe: bool,
    sent_since_flush: bool,
    sent_since_turn: bool,
    last_write: Instant,
    incoming: Incoming,
    state: State,
    /// An error that a heartbeat met while the owner was busy.
    heartbeat_error: Option<Error>,
    /// We have sent our end, after which no heartbeat may follow; the peer has sent its end.
    ended: bool,
    peer_ended: bool,
    /// Nothing that is written now can arrive.
    peer_gone: bool,
    /// The state of the operation under way, if it had to wait for the peer.
    waiting: Option<Waiting>,
    /// It has waited since bytes came; whether waits begin with looking again and again.
    blocked: bool,
    spins: bool,
    /// Bytes came, or payload moved, since `waiting` was brought up to date.
    heard: bool,
    moved: bool,
}

enum State {
    Open,
    Finished,
    Failed { why: String, code: AbortCode },
}

impl Duplex {
    pub fn new(clock: Clock, pipe: Box<dyn Pipe>, limits: Limits) -> Self {
        Duplex {
            pipe,
            limits,
            counters: Counters::default(),
            canceller: Canceller::default(),
            cancelled_at: None,
            gathered: vec![0; HEADER],
            control: Vec::new(),
            midframe: false,
            sent_since_flush: false,
            sent_since_turn: false,
            last_write: clock.now(),
            incoming: Incoming::new(),
            state: State::Open,
            heartbeat_error: None,
            ended: false,
            peer_ended: false,
            peer_gone: false,
            waiting: None,
            blocked: false,
            spins: true,
            heard: false,
            moved: false,
            clock,
        }
    }

    /// Puts a simulated link between us and the pipe.
    pub fn shape(&mut self, link: Link) -> Result<()> {
        if self.counters.wire_sent + self.counters.wire_received > 0 {
            return Err(Error::usage("a channel is shaped before anything is sent over it"));
        }
        let nowhere = Box::new(memory::pair(1).0);
        let pipe = std::mem::replace(&mut self.pipe, nowhere);
        self.pipe = Box::new(Shaped::by_clock(self.clock.clone(), pipe, link));
        Ok(())
    }

    pub fn is_open(&self) -> bool {
        matches!(self.state, State::Open)
    }

    /// Whether an operation may start.
    #[inline]
    pub fn check(&mut self) -> Result<()> {
        if let Some(error) = self.heartbeat_error.take() {
            return Err(error);
        }
        match &self.state {
            State::Open if self.canceller.is_cancelled() => Err(Error::Cancelled),
            State::Open => Ok(()),
            State::Finished => Err(Error::usage("this channel is finished: open another one")),
            State::Failed { why, .. } => Err(Error::Dead(why.clone())),
        }
    }

    pub fn fail(&mut self, error: &Error) {
        self.state = State::Failed { why: error.to_string(), code: AbortCode::of(error) };
    }
}

fn blocks(e: &io::Error) -> bool {
    matches!(e.kind(), ErrorKind::WouldBlock | ErrorKind::Interrupted)
}

/// Whose fault it is that reading or writing failed.
fn blame(e: io::Error, when: &'static str) -> Error {
    match e.kind() {
        ErrorKind::ConnectionReset
        | ErrorKind::ConnectionAborted
        | ErrorKind::BrokenPipe
        | ErrorKind::UnexpectedEof => Error::Closed(when.into()),
        ErrorKind::InvalidData => e.downcast::<Error>().unwrap_or_else(|e| Error::Peer(e.to_string())),
        _ => Error::io(when)(e),
    }
}

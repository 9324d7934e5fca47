//! The end: both have said so, or one of them stops and tells why.

use std::io;
use std::time::Duration;

use super::super::frame::{self, AbortCode};
use super::{Duplex, State, blocks};
use crate::clock::Instant;
use crate::error::{Error, Result};
use circuit::error::counted;

/// How long an abort may take to reach the peer, if its channel was dropped.
const LEAVING: Duration = Duration::from_millis(250);

impl Duplex {
    /// Sends our end, waits for the peer's.
    pub fn finish(&mut self) -> Result<()> {
        self.flush()?;
        self.refuse_leftovers()?;
        self.control.extend_from_slice(&frame::end());
        self.ended = true;
        self.flush()?;
        self.waiting = None;
        while !self.peer_ended {
            self.refuse_leftovers()?;
            if !self.next_frame()? && self.read(&mut [])?.0 == 0 {
                self.block(false)?;
            }
        }
        self.refuse_leftovers()?;
        self.state = State::Finished;
        self.pipe.close_write();
        Ok(())
    }

    fn refuse_leftovers(&self) -> Result<()> {
        match self.incoming.pending() {
            0 => Ok(()),
            n => Err(Error::peer(format!(
                "it sent {} or more that the protocol does not have",
                counted(n as u64, "byte")
            ))),
        }
    }

    /// Tells the peer that we stop, within `budget`, if it can still be told.
    pub fn abort(&mut self, code: AbortCode, message: &str, budget: Duration) {
        let until = self.clock.now() + budget;
        let tellable = !self.midframe && !self.peer_gone && !matches!(self.state, State::Finished);
        if tellable {
            self.control.extend(frame::abort(code, message));
            self.push_until(until);
        }
        self.pipe.close_write();
        if tellable && self.pipe.close_may_lose_data() {
            self.discard_until(until);
        }
        self.peer_gone = true;
        if self.is_open() {
            self.state = State::Failed { why: format!("we stopped it: {message}"), code };
        }
    }

    /// The owner left without a word: says so, unless all is said.
    pub fn leave(&mut self) {
        let (code, message) = match &self.state {
            State::Open => (AbortCode::Away, "its channel was dropped before the end"),
            State::Failed { code, .. } => (*code, "it left after an error"),
            State::Finished => return,
        };
        self.abort(code, message, LEAVING);
    }

    /// Writes the control frames that wait; reads and throws away, lest the peer be stuck in its own sending.
    fn push_until(&mut self, until: Instant) {
        let mut waste = [0; 4096];
        while self.clock.now() < until {
            match (self.push_silently(), self.pipe.try_read(&mut waste)) {
                (Ok(()), _) => break,
                (Err(e), _) if !blocks(&e) => break,
                (_, Ok(1..)) => {}
                (_, Ok(0)) => break,
                _ if self.pipe.wait(true, self.time_until(until)).is_err() => break,
                _ => {}
            }
        }
    }

    fn push_silently(&mut self) -> io::Result<()> {
        while !self.control.is_empty() {
            let n = self.pipe.try_write(&self.control)?;
            self.counters.wire_sent += n as u64;
            self.control.drain(..n);
        }
        self.pipe.try_flush()
    }

    /// Reads until the peer has closed: it has then read our abort.
    fn discard_until(&mut self, until: Instant) {
        let mut waste = vec![0; 64 << 10];
        loop {
            let left = self.time_until(until);
            match self.pipe.try_read(&mut waste) {
                _ if left.is_zero() => break,
                Ok(1..) => {}
                Err(e) if blocks(&e) && self.pipe.wait(false, left).is_ok() => {}
                _ => break,
            }
        }
    }

    fn time_until(&self, until: Instant) -> Duration {
        until.saturating_duration_since(self.clock.now())
    }
}

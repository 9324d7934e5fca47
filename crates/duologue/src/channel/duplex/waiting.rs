//! Waiting: deadlines, cancellation, and our own signs of life.

use std::thread;
use std::time::Duration;

use super::super::{CANCELLATION, frame};
use super::Duplex;
use crate::clock::Instant;
use crate::error::{Error, Result};

/// How long a party that waits looks again and again before it sleeps: a neighbour's bytes come sooner than the
/// operating system would wake it.
const SPIN: Duration = Duration::from_micros(150);

/// A party whose last wait was longer sleeps at once: it is on a line on which nothing comes soon, or gave its processor away
/// to others that keep it for milliseconds.
const SOON: Duration = Duration::from_micros(300);

/// How long a party that was cancelled goes on with a frame that is written in part.
const FINISH_FRAME: Duration = Duration::from_secs(1);

/// When the operation under way last heard of the peer, and when payload last moved; at first, when it had to wait.
#[derive(Clone, Copy)]
pub(super) struct Waiting {
    heard: Instant,
    moved: Instant,
}

/// The time that is left to the peer.
pub(super) struct Left {
    /// Until the first of its deadlines.
    time: Duration,
    /// Since payload moved.
    idle: Duration,
}

impl Duplex {
    /// Waits until the pipe may be read (or written), a heartbeat is due, or a deadline has passed.
    pub(super) fn block(&mut self, for_write: bool) -> Result<()> {
        let left = self.check_time()?;
        self.beat()?;
        self.blocked |= !for_write;
        if !for_write && self.spins && left.idle < SPIN && self.clock.passes_by_itself() {
            thread::yield_now();
            return Ok(());
        }
        let timeout = left.time.min(self.until_heartbeat()).clamp(Duration::from_micros(1), CANCELLATION);
        self.pipe.wait(for_write || !self.control.is_empty(), timeout).map_err(Error::io("waiting for the peer"))
    }

    /// Bytes came: whether the next wait begins with looking again and again is told by how long this one was.
    pub(super) fn waited(&mut self) {
        if let (true, Some(waiting)) = (std::mem::take(&mut self.blocked), self.waiting) {
            self.spins = self.clock.now() - waiting.moved < SOON;
        }
    }

    /// Ends an operation that was cancelled, or whose peer has let its time pass.
    pub(super) fn check_time(&mut self) -> Result<Left> {
        self.stop_if_cancelled()?;
        let now = self.clock.now();
        let waiting = self.waiting.get_or_insert(Waiting { heard: now, moved: now });
        if std::mem::take(&mut self.heard) {
            waiting.heard = now;
        }
        if std::mem::take(&mut self.moved) {
            waiting.moved = now;
        }
        let idle = now - waiting.moved;
        let silence = left("sign of life", self.limits.silence, now - waiting.heard)?;
        let progress = left("progress", self.limits.progress, idle)?;
        Ok(Left { time: silence.min(progress), idle })
    }

    /// A frame that is written in part is finished first, if that is possible soon: nothing can be told inside it.
    #[inline]
    pub(super) fn stop_if_cancelled(&mut self) -> Result<()> {
        if !self.canceller.is_cancelled() {
            return Ok(());
        }
        let now = self.clock.now();
        let since = now - *self.cancelled_at.get_or_insert(now);
        if self.midframe && since < FINISH_FRAME { Ok(()) } else { Err(Error::Cancelled) }
    }

    fn until_heartbeat(&self) -> Duration {
        if self.midframe || self.ended || !self.control.is_empty() {
            return self.limits.heartbeat;
        }
        self.limits.heartbeat.saturating_sub(self.since_write())
    }

    fn since_write(&self) -> Duration {
        self.clock.now() - self.last_write
    }

    /// The heartbeat of a party that computes; an error waits for the party's next operation.
    pub fn beat_meanwhile(&mut self) {
        if self.heartbeat_error.is_none() {
            self.heartbeat_error = self.beat().err();
        }
    }

    /// Sends a heartbeat if nothing else was sent for long; never inside a data frame, never
    /// waiting.
    pub fn beat(&mut self) -> Result<()> {
        if self.midframe || !self.is_open() {
            return Ok(());
        }
        if !self.ended && self.control.is_empty() && self.since_write() >= self.limits.heartbeat {
            self.control.extend_from_slice(&frame::progress());
        }
        if self.push_control()? {
            self.push_pipe()?;
        }
        Ok(())
    }
}

fn left(what: &'static str, limit: Duration, since: Duration) -> Result<Duration> {
    match limit.checked_sub(since) {
        Some(left) if !left.is_zero() => Ok(left),
        _ => Err(Error::Timeout { what, seconds: limit.as_secs() }),
    }
}

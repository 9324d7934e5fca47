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
        if !for_write && self.looks_again(left.idle) && self.clock.passes_by_itself() {
            thread::yield_now();
            return Ok(());
        }
        let timeout = left.time.min(self.until_heartbeat()).clamp(Duration::from_micros(1), CANCELLATION);
        self.pipe.wait(for_write || !self.control.is_empty(), timeout).map_err(Error::io("waiting for the peer"))
    }

    /// Whether a party that has waited so long for bytes looks again instead of sleeping.
    fn looks_again(&self, idle: Duration) -> bool {
        self.spins && idle < SPIN
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

#[cfg(test)]
mod tests {
    use super::super::super::tests::virtual_time::{VirtualTime, pair};
    use super::super::super::{Limits, memory};
    use super::*;
    use crate::clock::Clock;

    /// How a wait begins is told by how long the last one was, by a clock that nothing but the waits moves.
    #[test]
    fn after_a_long_wait_a_party_sleeps_at_once() {
        let time = VirtualTime::new();
        let actor = time.enter();
        let (ours, _theirs) = pair(&time, memory::CAPACITY);
        let mut duplex = Duplex::new(Clock::Virtual(time.clone()), Box::new(ours), Limits::default());
        let micros = Duration::from_micros;
        assert!(duplex.looks_again(Duration::ZERO), "at first it looks again");
        for (wait, looks_again) in [(299, true), (300, false), (5_000, false), (10, true), (301, false)] {
            duplex.waiting = None;
            duplex.check_time().unwrap();
            duplex.blocked = true;
            actor.sleep(micros(wait));
            duplex.waited();
            assert_eq!(duplex.looks_again(Duration::ZERO), looks_again, "after {wait} µs");
            assert!(!duplex.looks_again(SPIN), "it never looks for longer than that");
            actor.sleep(micros(1_000 - 999 * u64::from(looks_again)));
            duplex.waited();
            assert_eq!(duplex.looks_again(Duration::ZERO), looks_again, "bytes that nobody waited for tell nothing");
        }
    }
}

//! A simulated link over another pipe, without a thread: latency and bandwidth on one machine.
//!
//! The sender computes when each segment would arrive over the link and writes that before it; the
//! receiver holds the segment back until then:
//!
//! ```text
//! departure = max(now, when the link is free)
//! the link is free again at departure + bytes / rate
//! arrival = that + round trip / 2
//! ```
//!
//! Each direction has a link of its own. Both ends must be shaped alike, on clocks that agree: two
//! processes of one machine do. The link has room for max(256 KiB, rate · round trip), as a sender
//! whose window is large enough; it loses nothing and knows no slow start, so it is what a paper's
//! `tc` gives, not a busy internet. A real pipe below that is slower than the link shows.
//!
//! ```text
//! arrival: u64, nanoseconds since 1970   length of the segment: u32   segment   (little-endian)
//! ```

use std::collections::VecDeque;
use std::io::{self, ErrorKind};
use std::time::Duration;

use super::link::Link;
use super::pipe::Pipe;
use super::{frame, mismatch};
use crate::clock::{Clock, Instant};

const HEADER: usize = 12;
/// A segment is received as a whole: short enough not to delay its own start noticeably.
const SEGMENT: usize = 16 << 10;
const LEAST_ROOM: usize = 256 << 10;
/// Bytes in flight that a receiver keeps without waiting for their arrival, at least.
const LEAST_IN_FLIGHT: usize = 64 << 20;
/// The most that a waiting system call may oversleep.
const COARSE: Duration = Duration::from_millis(2);

/// A pipe over a simulated link.
pub struct Shaped<P> {
    inner: P,
    link: Link,
    clock: Clock,
    /// When the simulation began, and when that was in time since 1970: from here on its time never jumps.
    start: Instant,
    epoch: Duration,
    /// When the last accepted byte has left.
    link_free: Duration,
    /// The most time that accepted bytes may need to leave.
    longest_queue: Duration,
    /// Segments that the pipe below has not taken yet.
    unsent: VecDeque<u8>,
    /// The segment that is being read from below: its header, then its body.
    partial: Vec<u8>,
    /// Segments in flight and arrived, each with the time of its arrival.
    in_flight: VecDeque<(Duration, Vec<u8>)>,
    /// Bytes taken of the first segment.
    taken: usize,
    /// Bytes of all segments in flight, and the most of them: twice what an honest sender puts on the link.
    held: usize,
    capacity: usize,
    ended: bool,
    /// Whether the pipe below took less than it was given, so that it says when it takes more.
    blocked_below: bool,
}

impl<P: Pipe> Shaped<P> {
    /// Shapes a pipe on which nothing was sent yet. The other end must do the same.
    pub fn new(inner: P, link: Link) -> Self {
        Shaped::by_clock(Clock::System, inner, link)
    }

    pub(super) fn by_clock(clock: Clock, inner: P, link: Link) -> Self {
        let room = link.transmission(LEAST_ROOM).max(link.round_trip);
        let rate = link.bits_per_second.unwrap_or(0) as f64 / 8.0;
        let in_flight = (rate * link.round_trip.as_secs_f64()) as usize;
        Shaped {
            inner,
            link,
            start: clock.now(),
            epoch: clock.since_epoch(),
            clock,
            link_free: Duration::ZERO,
            longest_queue: room,
            unsent: VecDeque::new(),
            partial: Vec::new(),
            in_flight: VecDeque::new(),
            taken: 0,
            held: 0,
            capacity: LEAST_IN_FLIGHT.max(in_flight.saturating_mul(4)),
            ended: false,
            blocked_below: false,
        }
    }

    /// Time since 1970.
    fn now(&self) -> Duration {
        self.epoch + (self.clock.now() - self.start)
    }

    /// How long the accepted bytes need to leave.
    fn queue(&self) -> Duration {
        self.link_free.saturating_sub(self.now())
    }

    fn enqueue(&mut self, segment: &[u8]) {
        let departure = self.link_free.max(self.now());
        self.link_free = departure + self.link.transmission(segment.len());
        let arrival = (self.link_free + self.link.round_trip / 2).as_nanos() as u64;
        self.unsent.extend(arrival.to_le_bytes());
        self.unsent.extend((segment.len() as u32).to_le_bytes());
        self.unsent.extend(segment);
    }

    fn push(&mut self) -> io::Result<()> {
        let pushed = self.push_below();
        self.blocked_below = matches!(&pushed, Err(e) if e.kind() == ErrorKind::WouldBlock);
        pushed
    }

    fn push_below(&mut self) -> io::Result<()> {
        while !self.unsent.is_empty() {
            let n = self.inner.try_write(self.unsent.as_slices().0)?;
            self.unsent.drain(..n);
        }
        self.inner.try_flush()
    }

    /// Takes bytes of the first segment if it has arrived.
    fn arrived(&mut self, into: &mut [u8]) -> usize {
        let Some((arrival, segment)) = self.in_flight.front() else {
            return 0;
        };
        if self.now() < *arrival {
            return 0;
        }
        let rest = &segment[self.taken..];
        let n = rest.len().min(into.len());
        into[..n].copy_from_slice(&rest[..n]);
        self.taken += n;
        if self.taken == segment.len() {
            self.held -= segment.len();
            self.in_flight.pop_front();
            self.taken = 0;
        }
        n
    }

    /// Reads from below until it has nothing more, or more than a link can carry.
    fn pull(&mut self) -> io::Result<()> {
        while !self.ended && self.held < self.capacity {
            let have = self.partial.len();
            let need = self.segment_len()?.unwrap_or(HEADER);
            self.partial.resize(need, 0);
            let read = self.inner.try_read(&mut self.partial[have..]);
            self.partial.truncate(have + *read.as_ref().unwrap_or(&0));
            match read? {
                0 if have > 0 => return Err(ErrorKind::UnexpectedEof.into()),
                0 => self.ended = true,
                _ => self.complete()?,
            }
        }
        Ok(())
    }

    /// Header and body, once the header is here.
    fn segment_len(&self) -> io::Result<Option<usize>> {
        let Some(len) = self.partial.get(8..HEADER) else {
            return Ok(None);
        };
        match len.try_into().map_or(0, u32::from_le_bytes) as usize {
            len @ 1..=SEGMENT => Ok(Some(HEADER + len)),
            _ if frame::is_session(&self.partial) => Err(io::Error::new(ErrorKind::InvalidData, mismatch::link(true))),
            _ => Err(io::Error::new(ErrorKind::InvalidData, "what comes is not of a simulated link")),
        }
    }

    fn complete(&mut self) -> io::Result<()> {
        if self.segment_len()? != Some(self.partial.len()) {
            return Ok(());
        }
        let mut segment = std::mem::take(&mut self.partial);
        let arrival = segment[..8].try_into().map_or(0, u64::from_le_bytes);
        segment.drain(..HEADER);
        self.held += segment.len();
        self.in_flight.push_back((Duration::from_nanos(arrival), segment));
        Ok(())
    }
}

impl<P: Pipe> Pipe for Shaped<P> {
    fn try_read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let n = self.arrived(into);
        if n > 0 {
            return Ok(n);
        }
        let pulled = self.pull();
        match (self.arrived(into), pulled) {
            (n @ 1.., _) => Ok(n),
            // Bytes in flight come before the end or the error.
            (0, _) if !self.in_flight.is_empty() => Err(ErrorKind::WouldBlock.into()),
            (0, pulled) => pulled.map(|()| 0),
        }
    }

    fn try_write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.push()?;
        let mut accepted = 0;
        for segment in bytes.chunks(SEGMENT) {
            if self.queue() > self.longest_queue || self.unsent.len() >= LEAST_ROOM {
                break;
            }
            self.enqueue(segment);
            accepted += segment.len();
        }
        match self.push() {
            Err(e) if e.kind() != ErrorKind::WouldBlock => Err(e),
            _ if accepted == 0 => Err(ErrorKind::WouldBlock.into()),
            _ => Ok(accepted),
        }
    }

    fn try_flush(&mut self) -> io::Result<()> {
        self.push()
    }

    fn wait(&mut self, for_write: bool, timeout: Duration) -> io::Result<()> {
        let now = self.now();
        let arrival = self.in_flight.front().map(|(arrival, _)| arrival.saturating_sub(now));
        // A full link is waited for until it is half empty: one wake-up for many segments.
        let full = for_write && self.queue() > self.longest_queue;
        let room = full.then(|| self.queue().saturating_sub(self.longest_queue / 2));
        if for_write && !full && !self.blocked_below {
            // The link was full and is no longer: of this the pipe below will say nothing.
            return Ok(());
        }
        match arrival.into_iter().chain(room).min().filter(|event| *event < timeout) {
            Some(event) if event <= COARSE => {
                self.clock.sleep_exactly(event);
                Ok(())
            }
            Some(event) => self.wait_below(for_write && !full, event - COARSE),
            None => self.wait_below(for_write && !full, timeout),
        }
    }

    fn close_write(&mut self) {
        // Bytes that the pipe below does not take now are lost, as on a broken link.
        let _ = self.push();
        self.inner.close_write();
    }

    fn close_may_lose_data(&self) -> bool {
        self.inner.close_may_lose_data()
    }
}

/// Whether a party's first bytes are those of a session over a simulated link.
pub(super) fn is_session(bytes: &[u8]) -> bool {
    bytes.get(HEADER..).is_some_and(frame::is_session)
}

impl<P: Pipe> Shaped<P> {
    fn wait_below(&mut self, for_write: bool, timeout: Duration) -> io::Result<()> {
        let takes_nothing = self.ended || self.held >= self.capacity;
        if takes_nothing && !self.in_flight.is_empty() {
            self.clock.sleep(timeout);
            return Ok(());
        }
        self.inner.wait(for_write || !self.unsent.is_empty(), timeout)
    }
}

//! A pair of pipes inside one process: two bounded queues of buffers under one lock.
//!
//! Bytes are copied outside the lock, once by the writer into a buffer, unless it gives its own away, and once by the
//! reader out of it; the lock is held only to move a buffer from one side to the other. Emptied buffers go back to the
//! writer.

use std::collections::VecDeque;
use std::io::{self, ErrorKind};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use super::pipe::Pipe;
use crate::clock::Instant;
use crate::outbox::Outbox;

/// Bytes that may lie unread in each direction, unless another bound is chosen.
pub const CAPACITY: usize = 4 << 20;
/// The most bytes in one buffer that is written; one that is given may have more. Small enough to stay in a core's cache
/// between the two copies.
const BUFFER: usize = 256 << 10;
/// Buffers of fewer bytes are not used again: a header would take the place of a large outbox.
const LEAST_REUSED: usize = 4 << 10;
/// Emptied buffers that wait for the writer at most.
const MOST_POOLED: usize = 32;

/// One end of a pair.
pub struct MemoryPipe {
    shared: Arc<Shared>,
    side: usize,
    /// The buffer being read, and how far.
    reading: Outbox,
    position: usize,
}

struct Shared {
    state: Mutex<State>,
    /// `wake[i]` tells side `i` that something changed.
    wake: [Condvar; 2],
}

struct State {
    /// `directions[i]` carries what side `i` writes.
    directions: [Direction; 2],
    /// Whether side `i` sleeps: waking costs a system call even when nobody sleeps.
    asleep: [bool; 2],
}

struct Direction {
    full: VecDeque<Outbox>,
    pool: Vec<Outbox>,
    /// Bytes in `full`.
    bytes: usize,
    capacity: usize,
    /// The writer will write no more.
    closed: bool,
    /// The reader is gone.
    broken: bool,
}

/// A pair that holds at most `capacity` unread bytes in each direction.
pub fn pair(capacity: usize) -> (MemoryPipe, MemoryPipe) {
    let direction = || Direction {
        full: VecDeque::new(),
        pool: Vec::new(),
        bytes: 0,
        capacity: capacity.max(1),
        closed: false,
        broken: false,
    };
    let state = Mutex::new(State { directions: [direction(), direction()], asleep: [false; 2] });
    let shared = Arc::new(Shared { state, wake: Default::default() });
    let end = |side| MemoryPipe { shared: shared.clone(), side, reading: Outbox::default(), position: 0 };
    (end(0), end(1))
}

impl Direction {
    /// How many bytes may be added, unless nobody will read them.
    fn room(&self) -> io::Result<usize> {
        if self.broken || self.closed {
            return Err(ErrorKind::BrokenPipe.into());
        }
        Ok(self.capacity - self.bytes)
    }

    /// An empty buffer for so many bytes.
    fn buffer(&mut self, bytes: usize) -> Outbox {
        let mut buffer = self.pool.pop_if(|_| bytes >= LEAST_REUSED).unwrap_or_default();
        buffer.clear();
        buffer
    }

    fn push(&mut self, buffer: Outbox) {
        self.bytes += buffer.len();
        self.full.push_back(buffer);
    }
}

impl MemoryPipe {
    fn state(&self) -> MutexGuard<'_, State> {
        self.shared.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn wake_other(&self, state: MutexGuard<'_, State>) {
        let asleep = state.asleep[1 - self.side];
        drop(state);
        if asleep {
            self.shared.wake[1 - self.side].notify_one();
        }
    }

    /// Takes the next full buffer and gives the emptied one back; false at the end.
    fn next_buffer(&mut self) -> io::Result<bool> {
        let emptied = std::mem::take(&mut self.reading);
        self.position = 0;
        let mut state = self.state();
        let direction = &mut state.directions[1 - self.side];
        if emptied.len() >= LEAST_REUSED && direction.pool.len() < MOST_POOLED {
            direction.pool.push(emptied);
        }
        let Some(buffer) = direction.full.pop_front() else {
            return if direction.closed { Ok(false) } else { Err(ErrorKind::WouldBlock.into()) };
        };
        direction.bytes -= buffer.len();
        self.wake_other(state);
        self.reading = buffer;
        Ok(true)
    }
}

impl Pipe for MemoryPipe {
    fn try_read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        if self.position == self.reading.len() && !self.next_buffer()? {
            return Ok(0);
        }
        let rest = &self.reading[self.position..];
        let n = rest.len().min(into.len());
        into[..n].copy_from_slice(&rest[..n]);
        self.position += n;
        Ok(n)
    }

    fn try_write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let mut state = self.state();
        let direction = &mut state.directions[self.side];
        let n = bytes.len().min(direction.room()?).min(BUFFER);
        if n == 0 {
            return Err(ErrorKind::WouldBlock.into());
        }
        let mut buffer = direction.buffer(n);
        drop(state);
        buffer.extend_from_slice(&bytes[..n]);
        // Only this side adds to this direction: the room is still there.
        let mut state = self.state();
        state.directions[self.side].push(buffer);
        self.wake_other(state);
        Ok(n)
    }

    fn try_give(&mut self, outbox: &mut Outbox) -> io::Result<usize> {
        let n = outbox.len();
        let mut state = self.state();
        let direction = &mut state.directions[self.side];
        if n == 0 || n > direction.room()? {
            return Err(ErrorKind::WouldBlock.into());
        }
        let buffer = direction.buffer(n);
        direction.push(std::mem::replace(outbox, buffer));
        self.wake_other(state);
        Ok(n)
    }

    fn wait(&mut self, for_write: bool, timeout: Duration) -> io::Result<()> {
        if self.position < self.reading.len() {
            return Ok(());
        }
        let until = Instant::now() + timeout;
        let mut state = self.state();
        loop {
            let (output, input) = (&state.directions[self.side], &state.directions[1 - self.side]);
            let readable = !input.full.is_empty() || input.closed;
            let writable = output.bytes < output.capacity || output.broken;
            let left = until.saturating_duration_since(Instant::now());
            if readable || (for_write && writable) || left.is_zero() {
                return Ok(());
            }
            state.asleep[self.side] = true;
            let wake = &self.shared.wake[self.side];
            state = wake.wait_timeout(state, left).unwrap_or_else(PoisonError::into_inner).0;
            state.asleep[self.side] = false;
        }
    }

    fn close_write(&mut self) {
        let mut state = self.state();
        state.directions[self.side].closed = true;
        self.wake_other(state);
    }
}

impl Drop for MemoryPipe {
    fn drop(&mut self) {
        let mut state = self.state();
        state.directions[self.side].closed = true;
        state.directions[1 - self.side].broken = true;
        self.wake_other(state);
    }
}

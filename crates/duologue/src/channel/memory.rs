//! A pair of pipes inside one process: two bounded queues of buffers under one lock.
//!
//! Bytes are copied outside the lock, once by the writer into a buffer and once by the reader out
//! of it; the lock is held only to move a buffer from one side to the other. Emptied buffers go
//! back to the writer.

use std::collections::VecDeque;
use std::io::{self, ErrorKind};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use super::pipe::Pipe;

/// Bytes that may lie unread in each direction, unless another bound is chosen.
pub const CAPACITY: usize = 4 << 20;
/// The most bytes in one buffer: small enough to stay in a core's cache between the two copies.
const BUFFER: usize = 256 << 10;

/// One end of a pair.
pub struct MemoryPipe {
    shared: Arc<Shared>,
    side: usize,
    /// The buffer being read, and how far.
    reading: Vec<u8>,
    position: usize,
}

struct Shared {
    state: Mutex<State>,
    /// `wake[i]` tells side `i` that something changed.
    wake: [Condvar; 2],
}

struct State {
    /// `lanes[i]` carries what side `i` writes.
    lanes: [Lane; 2],
    /// Whether side `i` sleeps: waking costs a system call even when nobody sleeps.
    asleep: [bool; 2],
}

struct Lane {
    full: VecDeque<Vec<u8>>,
    spare: Vec<Vec<u8>>,
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
    let lane = || Lane {
        full: VecDeque::new(),
        spare: Vec::new(),
        bytes: 0,
        capacity: capacity.max(1),
        closed: false,
        broken: false,
    };
    let state = Mutex::new(State { lanes: [lane(), lane()], asleep: [false; 2] });
    let shared = Arc::new(Shared { state, wake: Default::default() });
    let end = |side| MemoryPipe { shared: shared.clone(), side, reading: Vec::new(), position: 0 };
    (end(0), end(1))
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
        let lane = &mut state.lanes[1 - self.side];
        if emptied.capacity() > 0 {
            lane.spare.push(emptied);
        }
        let Some(buffer) = lane.full.pop_front() else {
            return if lane.closed { Ok(false) } else { Err(ErrorKind::WouldBlock.into()) };
        };
        lane.bytes -= buffer.len();
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
        let lane = &mut state.lanes[self.side];
        if lane.broken || lane.closed {
            return Err(ErrorKind::BrokenPipe.into());
        }
        let n = bytes.len().min(lane.capacity - lane.bytes).min(BUFFER);
        if n == 0 {
            return Err(ErrorKind::WouldBlock.into());
        }
        let mut buffer = lane.spare.pop().unwrap_or_default();
        drop(state);
        buffer.clear();
        buffer.extend_from_slice(&bytes[..n]);
        // Only this side adds to this lane: the room is still there.
        let mut state = self.state();
        state.lanes[self.side].bytes += n;
        state.lanes[self.side].full.push_back(buffer);
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
            let (output, input) = (&state.lanes[self.side], &state.lanes[1 - self.side]);
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
        state.lanes[self.side].closed = true;
        self.wake_other(state);
    }
}

impl Drop for MemoryPipe {
    fn drop(&mut self) {
        let mut state = self.state();
        state.lanes[self.side].closed = true;
        state.lanes[1 - self.side].broken = true;
        self.wake_other(state);
    }
}

//! The transport below a channel: a byte pipe that never blocks, and a way to wait for it.

use std::io::{self, ErrorKind};
use std::time::Duration;

use crate::outbox::Outbox;

/// A full-duplex stream of bytes without blocking calls.
///
/// A channel calls `try_read` or `try_write` until it says [`io::ErrorKind::WouldBlock`], and only
/// then `wait`; an implementation may rely on that order (edge-triggered readiness does).
pub trait Pipe: Send {
    /// Reads at least one byte. `Ok(0)` is the end of the stream, `WouldBlock` "nothing yet".
    fn try_read(&mut self, into: &mut [u8]) -> io::Result<usize>;

    /// Accepts at least one byte, or `WouldBlock`.
    fn try_write(&mut self, bytes: &[u8]) -> io::Result<usize>;

    /// Takes an outbox's bytes together with its memory, leaves it empty with other memory or none, and returns how many
    /// bytes these were. `WouldBlock` if it takes no memory, or not now: the bytes are there still, and can be written.
    fn try_give(&mut self, _outbox: &mut Outbox) -> io::Result<usize> {
        Err(ErrorKind::WouldBlock.into())
    }

    /// Hands over what `try_write` accepted and still holds; `WouldBlock` if something remains.
    fn try_flush(&mut self) -> io::Result<()> {
        Ok(())
    }

    /// Returns when the pipe is readable, writable if `for_write`, or `timeout` has passed; it may
    /// return early.
    fn wait(&mut self, for_write: bool, timeout: Duration) -> io::Result<()>;

    /// Says that nothing more will be written: the peer reads what is on the way, then the end.
    fn close_write(&mut self);

    /// Whether closing with unread input destroys bytes that the peer has not read yet, as TCP does: an
    /// abort then needs a wait for the peer's end of stream.
    fn close_may_lose_data(&self) -> bool {
        false
    }
}

impl Pipe for Box<dyn Pipe> {
    fn try_read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        (**self).try_read(into)
    }

    fn try_write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        (**self).try_write(bytes)
    }

    fn try_give(&mut self, outbox: &mut Outbox) -> io::Result<usize> {
        (**self).try_give(outbox)
    }

    fn try_flush(&mut self) -> io::Result<()> {
        (**self).try_flush()
    }

    fn wait(&mut self, for_write: bool, timeout: Duration) -> io::Result<()> {
        (**self).wait(for_write, timeout)
    }

    fn close_write(&mut self) {
        (**self).close_write();
    }

    fn close_may_lose_data(&self) -> bool {
        (**self).close_may_lose_data()
    }
}

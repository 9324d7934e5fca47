//! Sending: small sends are gathered, large ones go to the pipe as they are.

use std::io;
use std::time::Duration;

use super::super::frame::{self, HEADER, MAX_BODY};
use super::{Duplex, blame, blocks};
use crate::error::{Error, Result};
use crate::outbox::Outbox;

/// Payload of small sends that is gathered before it is written.
const GATHERED: usize = 32 << 10;

/// Bytes that are worth giving away with their memory: the other core has what comes back for them in its cache.
const GIVEN: usize = 64 << 10;

/// How long we look for the peer's abort after a write has failed.
const LOOK_FOR_ABORT: Duration = Duration::from_secs(1);

impl Duplex {
    #[inline]
    pub fn send(&mut self, bytes: &[u8]) -> Result<()> {
        self.count_sent(bytes.len());
        let mut rest = bytes;
        while self.gathered() + rest.len() > GATHERED {
            let now = rest.len().min(MAX_BODY - self.gathered());
            self.write_frame(&rest[..now])?;
            rest = &rest[now..];
            // Even a pipe that takes everything must not hide that the peer has stopped.
            self.listen()?;
        }
        self.gathered.extend_from_slice(rest);
        Ok(())
    }

    /// Sends what an outbox holds and empties it, and gives its memory away where that saves a copy: not that of much for
    /// little, since what comes back would have to grow.
    pub fn give(&mut self, outbox: &mut Outbox) -> Result<()> {
        if outbox.len() >= GIVEN && outbox.len() <= MAX_BODY - self.gathered() && outbox.fills_memory() {
            self.count_sent(outbox.len());
            self.give_frame(outbox)?;
            self.listen()?;
        } else {
            self.send(outbox)?;
        }
        outbox.clear();
        Ok(())
    }

    fn count_sent(&mut self, bytes: usize) {
        self.counters.bytes_sent += bytes as u64;
        self.sent_since_flush |= bytes > 0;
        self.sent_since_turn |= bytes > 0;
    }

    #[inline]
    pub fn flush(&mut self) -> Result<()> {
        if self.sent_since_flush {
            self.sent_since_flush = false;
            self.counters.flushes += 1;
        }
        if self.gathered() > 0 {
            self.write_frame(&[])?;
        }
        self.waiting = None;
        while !self.push_control()? || !self.push_pipe()? {
            self.make_room()?;
        }
        Ok(())
    }

    fn gathered(&self) -> usize {
        self.gathered.len() - HEADER
    }

    /// Writes one data frame: what is gathered, then `more`, which is not copied.
    fn write_frame(&mut self, more: &[u8]) -> Result<()> {
        self.begin_frame(more.len())?;
        self.write_all(more)?;
        self.midframe = false;
        Ok(())
    }

    /// Writes one data frame: what is gathered, then what an outbox holds, whose memory the pipe may keep.
    fn give_frame(&mut self, outbox: &mut Outbox) -> Result<()> {
        self.begin_frame(outbox.len())?;
        let given = self.pipe.try_give(outbox);
        if self.count_written(given)? == 0 {
            self.write_all(outbox)?;
        }
        self.midframe = false;
        Ok(())
    }

    /// Writes the header of a data frame and what is gathered, after which `more` bytes follow.
    fn begin_frame(&mut self, more: usize) -> Result<()> {
        self.stop_if_cancelled()?;
        self.waiting = None;
        while !self.push_control()? {
            self.make_room()?;
        }
        self.midframe = true;
        let mut gathered = std::mem::take(&mut self.gathered);
        let header = frame::data_header(gathered.len() - HEADER + more);
        gathered[..HEADER].copy_from_slice(&header);
        let written = self.write_all(&gathered);
        gathered.truncate(HEADER);
        self.gathered = gathered;
        written
    }

    fn write_all(&mut self, mut bytes: &[u8]) -> Result<()> {
        while !bytes.is_empty() {
            match self.write_some(bytes)? {
                0 => self.make_room()?,
                n => {
                    // A full pipe has room again: the peer reads.
                    (self.heard, self.moved) = (true, true);
                    bytes = &bytes[n..];
                }
            }
        }
        Ok(())
    }

    /// Writes once; 0 if that would block.
    fn write_some(&mut self, bytes: &[u8]) -> Result<usize> {
        let written = self.pipe.try_write(bytes);
        self.count_written(written)
    }

    /// Counts the bytes that the pipe took, 0 if it would block.
    fn count_written(&mut self, written: io::Result<usize>) -> Result<usize> {
        match written {
            Ok(n) => {
                self.counters.wire_sent += n as u64;
                self.last_write = self.clock.now();
                Ok(n)
            }
            Err(e) if blocks(&e) => Ok(0),
            Err(e) => Err(self.why_writing_failed(e)),
        }
    }

    /// Writes the control frames that wait; false if something remains.
    #[inline]
    pub(super) fn push_control(&mut self) -> Result<bool> {
        while !self.control.is_empty() {
            let control = std::mem::take(&mut self.control);
            let written = self.write_some(&control);
            self.control = control;
            match written? {
                0 => return Ok(false),
                n => drop(self.control.drain(..n)),
            }
        }
        Ok(true)
    }

    #[inline]
    pub(super) fn push_pipe(&mut self) -> Result<bool> {
        match self.pipe.try_flush() {
            Ok(()) => Ok(true),
            Err(e) if blocks(&e) => Ok(false),
            Err(e) => Err(self.why_writing_failed(e)),
        }
    }

    /// The pipe took nothing: takes in what has come, and waits if that is all.
    fn make_room(&mut self) -> Result<()> {
        match self.drain()? {
            true => self.block(true),
            false => self.check_time().map(drop),
        }
    }

    /// Finds the peer's abort if there is one: it may lie unread, or be under way on a simulated link.
    fn why_writing_failed(&mut self, e: io::Error) -> Error {
        // Whoever writes may not be the one that waits, and old deadlines say nothing of the abort.
        self.waiting = None;
        let end = self.clock.now() + LOOK_FOR_ABORT;
        let abort = loop {
            match self.drain() {
                Ok(_) if self.clock.now() < end => self.clock.sleep(Duration::from_millis(1)),
                said => break said.err().filter(|e| matches!(e, Error::Aborted(_))),
            }
        };
        self.peer_gone = true;
        abort.unwrap_or_else(|| blame(e, "while we were sending"))
    }
}

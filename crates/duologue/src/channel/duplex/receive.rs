//! Receiving: frames are taken apart, and whatever is no payload is acted on.

use std::io::ErrorKind;

use super::super::frame::Frame;
use super::{Duplex, blame, blocks};
use crate::error::{Error, Result};
use circuit::error::counted;

/// Reads after which a party that drains looks again whether it can write.
const DRAINED_READS: usize = 64;

impl Duplex {
    #[inline]
    pub fn recv_into(&mut self, out: &mut [u8]) -> Result<()> {
        self.flush()?;
        if !out.is_empty() && std::mem::take(&mut self.sent_since_turn) {
            self.counters.rounds += 1;
        }
        self.recv_more(out)
    }

    /// Receives without a turn: nothing is flushed or counted.
    pub fn recv_more(&mut self, out: &mut [u8]) -> Result<()> {
        self.waiting = None;
        let mut filled = 0;
        while filled < out.len() {
            let n = self.incoming.take(&mut out[filled..]);
            filled += n;
            if n > 0 || self.next_frame()? {
                continue;
            }
            if self.peer_ended {
                let missing = out.len() - filled;
                return Err(Error::peer(format!("it ended the session {} early", counted(missing as u64, "byte"))));
            }
            match self.read(&mut out[filled..])? {
                (0, _) => self.block(false)?,
                (_, direct) => filled += direct,
            }
        }
        self.counters.bytes_received += out.len() as u64;
        Ok(())
    }

    /// Payload that is here and was not asked for yet.
    pub fn pending(&mut self) -> Result<usize> {
        if !self.peer_ended {
            self.waiting = None;
            self.drain()?;
        }
        Ok(self.incoming.pending())
    }

    /// Payload that came before the operation that failed, if there is so much of it.
    pub fn came_before_the_end(&mut self, len: usize) -> Option<Vec<u8>> {
        let mut bytes = vec![0; len];
        (self.incoming.pending() >= len && self.incoming.take(&mut bytes) == len).then_some(bytes)
    }

    /// Takes in what has come, without waiting; false if more may have come than it took.
    pub(super) fn drain(&mut self) -> Result<bool> {
        let mut reads = 0;
        loop {
            self.incoming.store();
            if self.incoming.inbox.len() as u64 > self.limits.inbox {
                return Err(Error::peer(format!(
                    "it sent over {} bytes while it did not read ours",
                    self.limits.inbox
                )));
            }
            if self.next_frame()? {
                continue;
            }
            if reads == DRAINED_READS {
                return Ok(false);
            }
            reads += 1;
            if self.read(&mut [])?.0 == 0 {
                return Ok(true);
            }
        }
    }

    /// Looks for an abort without taking payload off a peer that should wait for us.
    pub(super) fn listen(&mut self) -> Result<()> {
        if self.incoming.pending() == 0 && !self.next_frame()? {
            self.read(&mut [])?;
            self.next_frame()?;
        }
        Ok(())
    }

    /// Acts on one frame if it is here.
    pub(super) fn next_frame(&mut self) -> Result<bool> {
        let Some(frame) = self.incoming.next_frame()? else {
            return Ok(false);
        };
        match frame {
            // Only an abort may follow the end: that our last bytes were wrong.
            Frame::Data { .. } | Frame::Progress | Frame::End if self.peer_ended => {
                return Err(Error::peer("it sent a frame after its end"));
            }
            Frame::Data { .. } => self.moved = true,
            // Whoever sends these without a pause would keep us reading for ever.
            Frame::Progress => {
                self.check_time()?;
            }
            Frame::End => self.peer_ended = true,
            Frame::Abort { code, message } => {
                self.peer_gone = true;
                // The peer lingers until it sees that we have read this.
                self.pipe.close_write();
                return Err(Error::Aborted(format!("{code}: {message}")));
            }
        }
        Ok(true)
    }

    /// Reads once: how many bytes came, 0 if none yet, and how many of them went to `out`.
    pub(super) fn read(&mut self, out: &mut [u8]) -> Result<(usize, usize)> {
        self.stop_if_cancelled()?;
        let before = self.incoming.pending();
        match self.incoming.read(&mut *self.pipe, out) {
            Ok((0, _)) => {
                self.peer_gone = true;
                let inside = self.incoming.inside_frame();
                Err(Error::Closed(if inside { "in the middle of a message" } else { "too early" }.into()))
            }
            Ok((n, direct)) => {
                self.counters.wire_received += n as u64;
                self.heard = true;
                self.waited();
                self.moved |= self.incoming.pending() > before || direct > 0;
                Ok((n, direct))
            }
            Err(e) if blocks(&e) => Ok((0, 0)),
            Err(e) => {
                self.peer_gone |= e.kind() != ErrorKind::InvalidData;
                Err(blame(e, "while we were receiving"))
            }
        }
    }
}

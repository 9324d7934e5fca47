//! Bytes from the pipe, cut into frames.

use std::io;

use super::frame::{self, Frame, MAX_CONTROL};
use super::inbox::Inbox;
use super::mismatch;
use super::pipe::Pipe;
use crate::error::Result;

/// Bytes read at once when the length of what comes is not known.
const BUFFER: usize = 64 << 10;

pub(super) struct Incoming {
    buffer: Box<[u8]>,
    start: usize,
    end: usize,
    /// Bytes of the current data frame that are not taken yet.
    body: usize,
    /// No frame has come yet.
    first: bool,
    pub inbox: Inbox,
}

impl Incoming {
    pub fn new() -> Self {
        let buffer = vec![0; BUFFER].into_boxed_slice();
        Incoming { buffer, start: 0, end: 0, body: 0, first: true, inbox: Inbox::default() }
    }

    /// Payload that is here already, in the order in which it came.
    pub fn take(&mut self, out: &mut [u8]) -> usize {
        if self.inbox.len() > 0 {
            return self.inbox.take(out);
        }
        let n = self.buffered_body().min(out.len());
        out[..n].copy_from_slice(&self.buffer[self.start..self.start + n]);
        self.consume_body(n);
        n
    }

    /// Moves the payload that is in the buffer to the inbox.
    pub fn store(&mut self) {
        let n = self.buffered_body();
        self.inbox.push(&self.buffer[self.start..self.start + n]);
        self.consume_body(n);
    }

    /// The next frame, if the body of the one before is taken and the buffer holds enough of it.
    pub fn next_frame(&mut self) -> Result<Option<Frame>> {
        if self.body > 0 {
            return Ok(None);
        }
        let bytes = &self.buffer[self.start..self.end];
        if self.first {
            mismatch::refuse(bytes)?;
        }
        let Some((frame, used)) = frame::decode(bytes)? else {
            return Ok(None);
        };
        self.first = false;
        self.start += used;
        if let Frame::Data { len } = frame {
            self.body = len;
        }
        Ok(Some(frame))
    }

    /// Reads once: straight into `out` if the current frame has much for it, else into the buffer.
    /// Says how many bytes came, and how many of them went to `out`.
    pub fn read(&mut self, pipe: &mut dyn Pipe, out: &mut [u8]) -> io::Result<(usize, usize)> {
        let direct = self.body.min(out.len());
        if self.start == self.end && direct >= BUFFER / 4 {
            let n = pipe.try_read(&mut out[..direct])?;
            self.body -= n;
            return Ok((n, n));
        }
        self.make_room();
        let n = pipe.try_read(&mut self.buffer[self.end..])?;
        self.end += n;
        Ok((n, 0))
    }

    /// Payload bytes that have come and were not taken.
    pub fn pending(&self) -> usize {
        self.inbox.len() + self.buffered_body()
    }

    pub fn inside_frame(&self) -> bool {
        self.body > 0 || self.start < self.end
    }

    fn buffered_body(&self) -> usize {
        self.body.min(self.end - self.start)
    }

    fn consume_body(&mut self, n: usize) {
        self.start += n;
        self.body -= n;
    }

    /// After this a whole control frame fits, whatever part of it is here.
    fn make_room(&mut self) {
        if self.start == self.end {
            (self.start, self.end) = (0, 0);
        } else if self.buffer.len() - self.start < MAX_CONTROL || self.end == self.buffer.len() {
            self.buffer.copy_within(self.start..self.end, 0);
            (self.start, self.end) = (0, self.end - self.start);
        }
    }
}

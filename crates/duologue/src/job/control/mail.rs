//! Messages over a [`Channel`], without waiting for them.

use crate::channel::Channel;
use crate::clock::Instant;
use crate::{Error, Result};
use std::time::Duration;

/// A channel that carries whole messages and is looked at from time to time. A peer that says nothing at all, not even that it is
/// alive, for [`silence`](Mail::new) is an error.
pub struct Mail {
    channel: Channel,
    /// Bytes of the length that stands before a message.
    head: usize,
    most: usize,
    silence: Duration,
    /// The length of the message that is on its way, once that is known.
    coming: Option<usize>,
    heard: Heard,
    /// What ended the channel, until all that came before is read.
    gone: Option<Error>,
}

/// How much had come when something came last, and when.
struct Heard {
    bytes: u64,
    at: Instant,
}

impl Mail {
    /// Messages of at most `most` bytes, with a length of `head` bytes before each (at most 4, little-endian).
    pub fn new(channel: Channel, head: usize, most: usize, silence: Duration) -> Mail {
        let heard = Heard { bytes: 0, at: channel.clock().now() };
        Mail { channel, head, most, silence, coming: None, heard, gone: None }
    }

    /// Sends bytes that have their length before them. If that fails, [`poll`](Self::poll) says so, after what the peer said before.
    pub fn send(&mut self, message: &[u8]) {
        let sent = self.channel.send(message).and_then(|()| self.channel.flush());
        if let (Err(why), None) = (sent, &self.gone) {
            self.gone = Some(why);
        }
    }

    /// The next message, if it has come.
    ///
    /// # Errors
    /// [`Error::Peer`] if it is too long, [`Error::Timeout`] if the peer is silent, and whatever ends the channel.
    pub fn poll(&mut self) -> Result<Option<Vec<u8>>> {
        let came = self.next()?;
        if came.is_none() {
            // Only now: whoever was itself away for so long hears first what came meanwhile.
            self.listen()?;
        }
        Ok(came)
    }

    fn next(&mut self) -> Result<Option<Vec<u8>>> {
        if self.coming.is_none() {
            let mut length = [0; 4];
            match self.take(self.head) {
                Ok(Some(head)) => length[..self.head].copy_from_slice(&head),
                Ok(None) => return Ok(None),
                Err(gone) => return self.after(gone),
            }
            self.coming = Some(self.checked(u32::from_le_bytes(length) as usize)?);
        }
        let Some(length) = self.coming else { return Ok(None) };
        match self.take(length) {
            Ok(Some(message)) => {
                self.coming = None;
                Ok(Some(message))
            }
            Ok(None) => Ok(None),
            Err(gone) => self.after(gone),
        }
    }

    /// So many bytes, if they have come.
    fn take(&mut self, length: usize) -> Result<Option<Vec<u8>>> {
        if self.channel.pending()? < length {
            return Ok(None);
        }
        self.channel.recv(length).map(Some)
    }

    /// The channel is gone: what the peer said before is heard first, whenever the end of the channel came to light.
    fn after(&mut self, gone: Error) -> Result<Option<Vec<u8>>> {
        let gone = self.gone.take().unwrap_or(gone);
        let Some(words) = self.last_words() else { return Err(gone) };
        self.gone = Some(gone);
        Ok(Some(words))
    }

    /// Allows the peer to be silent for so long from now on.
    pub fn set_silence(&mut self, silence: Duration) {
        self.silence = silence;
    }

    fn checked(&self, length: usize) -> Result<usize> {
        if length <= self.most {
            return Ok(length);
        }
        Err(Error::peer(format!("it sent a message of {length} bytes: at most {} were expected", self.most)))
    }

    fn last_words(&mut self) -> Option<Vec<u8>> {
        let length = match self.coming.take() {
            Some(length) => length,
            None => {
                let mut length = [0; 4];
                length[..self.head].copy_from_slice(&self.channel.came_before_the_end(self.head)?);
                self.checked(u32::from_le_bytes(length) as usize).ok()?
            }
        };
        self.channel.came_before_the_end(length)
    }

    fn listen(&mut self) -> Result<()> {
        let (bytes, now) = (self.channel.counters().wire_received, self.channel.clock().now());
        if bytes != self.heard.bytes {
            self.heard = Heard { bytes, at: now };
        }
        if now.saturating_duration_since(self.heard.at) < self.silence {
            return Ok(());
        }
        Err(Error::Timeout { what: "sign of life", seconds: self.silence.as_secs() })
    }

    /// Tells the peer that we stop, and why.
    pub fn abort_after(&mut self, error: &Error) {
        self.channel.abort_after(error);
    }

    /// The channel, when the last message has come.
    pub fn into_channel(self) -> Channel {
        self.channel
    }
}

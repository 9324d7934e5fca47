//! The engine of a channel: one thread moves bytes both ways through a non-blocking [`Pipe`].
//!
//! When a write would block, incoming frames are drained to an inbox until the pipe takes more:
//! two parties that both send 100 MB before they read cannot deadlock. Nothing is drained while
//! writes go through, so a party that only receives holds the sender back by not reading.

use std::io::{self, ErrorKind};
use std::time::{Duration, Instant};

use super::frame::{self, AbortCode, Frame, HEADER, MAX_BODY};
use super::incoming::Incoming;
use super::pipe::Pipe;
use super::shaped::Shaped;
use super::{Canceller, Counters, Limits, Link, memory};
use crate::error::{Error, Result};
use crate::outbox::Outbox;

/// Payload of small sends that is gathered before it is written.
const STAGE: usize = 32 << 10;

/// Bytes that are worth giving away with their memory: the other core has what comes back for them in its cache.
const GIVEN: usize = 64 << 10;

/// How long a party that waits looks again and again before it sleeps: a neighbour's bytes come sooner than the
/// operating system would wake it.
const AWAKE: Duration = Duration::from_micros(150);

/// How long a peer that takes nothing any more is listened to, and a frame is finished before we stop.
const LAST_WORDS: Duration = Duration::from_secs(1);

/// How often a party that waits looks whether it was cancelled.
const LOOK_UP: Duration = Duration::from_millis(100);

pub(super) struct Wire {
    pipe: Box<dyn Pipe>,
    limits: Limits,
    pub counters: Counters,
    pub canceller: Canceller,
    /// When we found that we are to stop.
    stopping: Option<Instant>,
    /// Room for a header, then the payload of small sends.
    stage: Vec<u8>,
    /// Whole control frames, or the tail of one, that the pipe has not taken yet.
    owed: Vec<u8>,
    /// A data frame is written in part: nothing else may be written before its rest.
    midframe: bool,
    sent_since_flush: bool,
    sent_since_turn: bool,
    last_write: Instant,
    incoming: Incoming,
    fate: Fate,
    /// What a heartbeat found out while the owner was busy.
    found: Option<Error>,
    /// We have sent our end, after which no heartbeat may follow; the peer has sent its end.
    ended: bool,
    peer_ended: bool,
    /// Nothing that is written now can arrive.
    peer_gone: bool,
    /// When the operation that waits now last heard of the peer.
    patience: Option<Patience>,
    /// Bytes came, or payload moved, since `patience` was looked at.
    sign: bool,
    motion: bool,
}

enum Fate {
    Open,
    Finished,
    Failed { why: String, code: AbortCode },
}

struct Patience {
    heard: Instant,
    moved: Instant,
    /// When payload last moved, or the operation began.
    awake: Instant,
}

// Sending.
impl Wire {
    pub fn send(&mut self, bytes: &[u8]) -> Result<()> {
        self.count_sent(bytes.len());
        let mut rest = bytes;
        while self.staged() + rest.len() > STAGE {
            let now = rest.len().min(MAX_BODY - self.staged());
            self.write_frame(&rest[..now])?;
            rest = &rest[now..];
            // Even a pipe that takes everything must not hide that the peer has stopped.
            self.listen()?;
        }
        self.stage.extend_from_slice(rest);
        Ok(())
    }

    /// Sends what an outbox holds and empties it, and gives its memory away where that saves a copy: not that of much for
    /// little, since what comes back would have to grow.
    pub fn give(&mut self, outbox: &mut Outbox) -> Result<()> {
        if outbox.len() >= GIVEN && outbox.len() <= MAX_BODY - self.staged() && outbox.fills_memory() {
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

    pub fn flush(&mut self) -> Result<()> {
        if self.sent_since_flush {
            self.sent_since_flush = false;
            self.counters.flushes += 1;
        }
        if self.staged() > 0 {
            self.write_frame(&[])?;
        }
        self.patience = None;
        while !self.push_owed()? || !self.push_pipe()? {
            self.drain()?;
            self.block(true)?;
        }
        Ok(())
    }

    fn staged(&self) -> usize {
        self.stage.len() - HEADER
    }

    /// Writes one data frame: what is staged, then `more`, which is not copied.
    fn write_frame(&mut self, more: &[u8]) -> Result<()> {
        self.begin_frame(more.len())?;
        self.write_all(more)?;
        self.midframe = false;
        Ok(())
    }

    /// The same with what an outbox holds.
    fn give_frame(&mut self, outbox: &mut Outbox) -> Result<()> {
        self.begin_frame(outbox.len())?;
        let given = self.pipe.try_give(outbox);
        if self.note(given)? == 0 {
            self.write_all(outbox)?;
        }
        self.midframe = false;
        Ok(())
    }

    /// Writes the header of a data frame and what is staged, after which so many bytes follow.
    fn begin_frame(&mut self, more: usize) -> Result<()> {
        self.patience = None;
        while !self.push_owed()? {
            self.drain()?;
            self.block(true)?;
        }
        self.midframe = true;
        let mut stage = std::mem::take(&mut self.stage);
        let header = frame::data_header(stage.len() - HEADER + more);
        stage[..HEADER].copy_from_slice(&header);
        let written = self.write_all(&stage);
        stage.truncate(HEADER);
        self.stage = stage;
        written
    }

    fn write_all(&mut self, mut bytes: &[u8]) -> Result<()> {
        while !bytes.is_empty() {
            match self.write_some(bytes)? {
                0 => {
                    self.drain()?;
                    self.block(true)?;
                }
                n => {
                    // A full pipe has room again: the peer reads.
                    (self.sign, self.motion) = (true, true);
                    bytes = &bytes[n..];
                }
            }
        }
        Ok(())
    }

    /// Writes once; 0 if that would block.
    fn write_some(&mut self, bytes: &[u8]) -> Result<usize> {
        let written = self.pipe.try_write(bytes);
        self.note(written)
    }

    /// How many bytes the pipe took.
    fn note(&mut self, written: io::Result<usize>) -> Result<usize> {
        match written {
            Ok(n) => {
                self.counters.wire_sent += n as u64;
                self.last_write = Instant::now();
                Ok(n)
            }
            Err(e) if blocks(&e) => Ok(0),
            Err(e) => Err(self.last_words(e)),
        }
    }

    /// Writes what is owed; false if something remains.
    fn push_owed(&mut self) -> Result<bool> {
        while !self.owed.is_empty() {
            let owed = std::mem::take(&mut self.owed);
            let written = self.write_some(&owed);
            self.owed = owed;
            match written? {
                0 => return Ok(false),
                n => drop(self.owed.drain(..n)),
            }
        }
        Ok(true)
    }

    fn push_pipe(&mut self) -> Result<bool> {
        match self.pipe.try_flush() {
            Ok(()) => Ok(true),
            Err(e) if blocks(&e) => Ok(false),
            Err(e) => Err(self.last_words(e)),
        }
    }

    /// A write failed: perhaps the peer has said why, and it lies unread, or is still on a simulated line.
    fn last_words(&mut self, e: io::Error) -> Error {
        let end = Instant::now() + LAST_WORDS;
        let said = loop {
            match self.drain() {
                Ok(()) if Instant::now() < end => std::thread::sleep(Duration::from_millis(1)),
                said => break said.err().filter(|e| matches!(e, Error::Aborted(_))),
            }
        };
        self.peer_gone = true;
        said.unwrap_or_else(|| blame(e, "while we were sending"))
    }
}

// Receiving.
impl Wire {
    pub fn recv_into(&mut self, out: &mut [u8]) -> Result<()> {
        self.flush()?;
        if !out.is_empty() && std::mem::take(&mut self.sent_since_turn) {
            self.counters.rounds += 1;
        }
        self.patience = None;
        let mut filled = 0;
        while filled < out.len() {
            let n = self.incoming.take(&mut out[filled..]);
            filled += n;
            if n > 0 || self.next_frame()? {
                continue;
            }
            if self.peer_ended {
                let missing = out.len() - filled;
                return Err(Error::peer(format!("it ended the session {missing} bytes early")));
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
            self.drain()?;
        }
        Ok(self.incoming.pending())
    }

    /// Takes in whatever has come, without waiting.
    fn drain(&mut self) -> Result<()> {
        loop {
            self.incoming.store();
            if self.incoming.inbox.len() as u64 > self.limits.inbox {
                return Err(Error::peer(format!(
                    "it sent over {} bytes while it did not read ours",
                    self.limits.inbox
                )));
            }
            if !self.next_frame()? && self.read(&mut [])?.0 == 0 {
                return Ok(());
            }
        }
    }

    /// Looks for an abort without taking payload off a peer that should wait for us.
    fn listen(&mut self) -> Result<()> {
        if self.incoming.pending() == 0 && !self.next_frame()? {
            self.read(&mut [])?;
            self.next_frame()?;
        }
        Ok(())
    }

    /// Digests one frame if it is here.
    fn next_frame(&mut self) -> Result<bool> {
        let Some(frame) = self.incoming.next_frame()? else {
            return Ok(false);
        };
        match frame {
            // Only an abort may follow the end: that our last bytes were wrong.
            Frame::Data { .. } | Frame::Progress | Frame::End if self.peer_ended => {
                return Err(Error::peer("it sent a frame after its end"));
            }
            Frame::Data { .. } => self.motion = true,
            Frame::Progress => {}
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
    fn read(&mut self, out: &mut [u8]) -> Result<(usize, usize)> {
        let before = self.incoming.pending();
        match self.incoming.read(&mut *self.pipe, out) {
            Ok((0, _)) => {
                self.peer_gone = true;
                let inside = self.incoming.inside_frame();
                Err(Error::Closed(if inside { "in the middle of a message" } else { "too early" }))
            }
            Ok((n, direct)) => {
                self.counters.wire_received += n as u64;
                self.sign = true;
                self.motion |= self.incoming.pending() > before || direct > 0;
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

// Waiting.
impl Wire {
    /// Waits until the pipe may be read (or written), a heartbeat is due, or patience ends.
    fn block(&mut self, for_write: bool) -> Result<()> {
        let now = Instant::now();
        self.stop_if_told(now)?;
        let patience = self.patience.get_or_insert(Patience { heard: now, moved: now, awake: now });
        let (sign, motion) = (std::mem::take(&mut self.sign), std::mem::take(&mut self.motion));
        if sign {
            patience.heard = now;
        }
        if motion {
            (patience.moved, patience.awake) = (now, now);
        }
        let awake = !for_write && now - patience.awake < AWAKE;
        let sign = left("sign of life", self.limits.silence, now - patience.heard)?;
        let progress = left("progress", self.limits.progress, now - patience.moved)?;
        self.beat()?;
        if awake {
            std::thread::yield_now();
            return Ok(());
        }
        let beat = self.limits.heartbeat.saturating_sub(self.last_write.elapsed());
        let silent = self.midframe || self.ended || !self.owed.is_empty();
        let beat = if silent { self.limits.heartbeat } else { beat };
        let timeout = sign.min(progress).min(beat).clamp(Duration::from_micros(1), LOOK_UP);
        self.pipe.wait(for_write || !self.owed.is_empty(), timeout).map_err(Error::io("waiting for the peer"))
    }

    /// A frame that is written in part is finished first, if that is possible soon: nothing can be told inside it.
    fn stop_if_told(&mut self, now: Instant) -> Result<()> {
        if !self.canceller.is_cancelled() {
            return Ok(());
        }
        let stopping = *self.stopping.get_or_insert(now);
        if self.midframe && now - stopping < LAST_WORDS { Ok(()) } else { Err(Error::Cancelled) }
    }

    /// The heartbeat of a party that computes; an error waits for the party's next operation.
    pub fn beat_meanwhile(&mut self) {
        if self.found.is_none() {
            self.found = self.beat().err();
        }
    }

    /// Sends a heartbeat if nothing else was sent for long; never inside a data frame, never
    /// waiting.
    fn beat(&mut self) -> Result<()> {
        if self.midframe || !self.is_open() {
            return Ok(());
        }
        if !self.ended && self.owed.is_empty() && self.last_write.elapsed() >= self.limits.heartbeat {
            self.owed.extend_from_slice(&frame::progress());
        }
        if self.push_owed()? {
            self.push_pipe()?;
        }
        Ok(())
    }
}

// The end.
impl Wire {
    pub fn new(pipe: Box<dyn Pipe>, limits: Limits) -> Self {
        Wire {
            pipe,
            limits,
            counters: Counters::default(),
            canceller: Canceller::default(),
            stopping: None,
            stage: vec![0; HEADER],
            owed: Vec::new(),
            midframe: false,
            sent_since_flush: false,
            sent_since_turn: false,
            last_write: Instant::now(),
            incoming: Incoming::new(),
            fate: Fate::Open,
            found: None,
            ended: false,
            peer_ended: false,
            peer_gone: false,
            patience: None,
            sign: false,
            motion: false,
        }
    }

    /// Puts a simulated line between us and the pipe.
    pub fn shape(&mut self, link: Link) -> Result<()> {
        if self.counters.wire_sent + self.counters.wire_received > 0 {
            return Err(Error::usage("a channel is shaped before anything is sent over it"));
        }
        let nowhere = Box::new(memory::pair(1).0);
        let pipe = std::mem::replace(&mut self.pipe, nowhere);
        self.pipe = Box::new(Shaped::new(pipe, link));
        Ok(())
    }

    pub fn is_open(&self) -> bool {
        matches!(self.fate, Fate::Open)
    }

    /// Whether an operation may start.
    pub fn check(&mut self) -> Result<()> {
        if let Some(error) = self.found.take() {
            return Err(error);
        }
        match &self.fate {
            Fate::Open if self.canceller.is_cancelled() => Err(Error::Cancelled),
            Fate::Open => Ok(()),
            Fate::Finished => Err(Error::usage("this channel is finished: open another one")),
            Fate::Failed { why, .. } => Err(Error::Dead(why.clone())),
        }
    }

    pub fn fail(&mut self, error: &Error) {
        self.fate = Fate::Failed { why: error.to_string(), code: AbortCode::of(error) };
    }

    /// Sends our end, waits for the peer's.
    pub fn finish(&mut self) -> Result<()> {
        self.flush()?;
        self.refuse_leftovers()?;
        self.owed.extend_from_slice(&frame::end());
        self.ended = true;
        self.flush()?;
        self.patience = None;
        while !self.peer_ended {
            self.refuse_leftovers()?;
            if !self.next_frame()? && self.read(&mut [])?.0 == 0 {
                self.block(false)?;
            }
        }
        self.refuse_leftovers()?;
        self.fate = Fate::Finished;
        self.pipe.close_write();
        Ok(())
    }

    fn refuse_leftovers(&self) -> Result<()> {
        match self.incoming.pending() {
            0 => Ok(()),
            n => Err(Error::peer(format!("it sent {n} bytes or more that the protocol does not have"))),
        }
    }

    /// Tells the peer that we stop, within `budget`, if it can still be told.
    pub fn abort(&mut self, code: AbortCode, message: &str, budget: Duration) {
        let until = Instant::now() + budget;
        let tellable = !self.midframe && !self.peer_gone && !matches!(self.fate, Fate::Finished);
        if tellable {
            self.owed.extend(frame::abort(code, message));
            self.push_until(until);
        }
        self.pipe.close_write();
        if tellable && self.pipe.loses_last_words() {
            self.discard_until(until);
        }
        self.peer_gone = true;
        if self.is_open() {
            self.fate = Fate::Failed { why: format!("we stopped it: {message}"), code };
        }
    }

    /// The owner left without a word: says so, unless all is said.
    pub fn leave(&mut self) {
        let (code, message) = match &self.fate {
            Fate::Open => (AbortCode::Away, "its channel was dropped before the end"),
            Fate::Failed { code, .. } => (*code, "it left after an error"),
            Fate::Finished => return,
        };
        self.abort(code, message, Duration::from_millis(250));
    }

    /// Writes what is owed; reads and throws away, lest the peer be stuck in its own sending.
    fn push_until(&mut self, until: Instant) {
        while Instant::now() < until {
            let mut waste = [0; 4096];
            match (self.push_silently(), self.pipe.try_read(&mut waste)) {
                (Ok(()), _) => break,
                (Err(e), _) if !blocks(&e) => break,
                (_, Ok(1..)) => {}
                (_, Ok(0)) => break,
                _ if self.pipe.wait(true, until.saturating_duration_since(Instant::now())).is_err() => {
                    break;
                }
                _ => {}
            }
        }
    }

    fn push_silently(&mut self) -> io::Result<()> {
        while !self.owed.is_empty() {
            let n = self.pipe.try_write(&self.owed)?;
            self.counters.wire_sent += n as u64;
            self.owed.drain(..n);
        }
        self.pipe.try_flush()
    }

    /// Reads until the peer has closed: it has then seen our last words.
    fn discard_until(&mut self, until: Instant) {
        let mut waste = vec![0; 64 << 10];
        loop {
            let left = until.saturating_duration_since(Instant::now());
            match self.pipe.try_read(&mut waste) {
                _ if left.is_zero() => break,
                Ok(1..) => {}
                Err(e) if blocks(&e) && self.pipe.wait(false, left).is_ok() => {}
                _ => break,
            }
        }
    }
}

fn blocks(e: &io::Error) -> bool {
    matches!(e.kind(), ErrorKind::WouldBlock | ErrorKind::Interrupted)
}

fn left(what: &'static str, limit: Duration, since: Duration) -> Result<Duration> {
    match limit.checked_sub(since) {
        Some(left) if !left.is_zero() => Ok(left),
        _ => Err(Error::Timeout { what, seconds: limit.as_secs() }),
    }
}

fn blame(e: io::Error, when: &'static str) -> Error {
    match e.kind() {
        ErrorKind::ConnectionReset
        | ErrorKind::ConnectionAborted
        | ErrorKind::BrokenPipe
        | ErrorKind::UnexpectedEof => Error::Closed(when),
        ErrorKind::InvalidData => Error::Peer(e.to_string()),
        _ => Error::io(when)(e),
    }
}

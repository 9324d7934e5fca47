//! TLS records: rustls works on buffers of ours, which ciphertext enters and leaves in large pieces.

use std::io::{self, ErrorKind};

use rustls::unbuffered::{ConnectionState, EncodeError, UnbufferedStatus};
use rustls::{CommonState, Error};

use super::super::frame;
use super::super::pipe::Pipe;
use super::{Connection, TlsPipe, invalid};

/// Ciphertext held for reading, and for writing.
pub(super) const BUFFER: usize = 256 << 10;
/// Plaintext encrypted at once; its records fit in [`BUFFER`].
pub(super) const WRITE: usize = 128 << 10;

/// Ciphertext that was used, and what came of it.
type Processed = (usize, std::result::Result<Step, Error>);

/// Work for the connection when it is ready for it.
pub(super) enum Task<'a> {
    Read(&'a mut [u8]),
    Write(&'a [u8]),
    Close,
}

/// The result of one step of the connection.
pub(super) enum Step {
    /// Plaintext came: the bytes that went to the reader are counted, the rest waits in the pipe.
    Plain(usize),
    /// A `Write` or `Close` is done.
    Done,
    /// Something moved: ask again.
    Again,
    /// More ciphertext is needed.
    NeedsMore,
    /// The peer will send nothing more.
    Closed,
    /// Nor shall we: there is nothing left to do, however often one asks.
    Over,
}

impl<P: Pipe> TlsPipe<P> {
    /// Waits for nothing: returns when plaintext came or the handshake moved.
    pub(super) fn fill(&mut self, into: &mut [u8]) -> io::Result<usize> {
        match self.step(Task::Read(into))? {
            Step::Plain(n) => return Ok(n),
            Step::Closed | Step::Over => self.peer_closed = true,
            Step::Again | Step::Done => {}
            Step::NeedsMore => {
                if let Err(e) = self.push()
                    && e.kind() != ErrorKind::WouldBlock
                {
                    return Err(e);
                }
                if self.incoming.bytes().len() > BUFFER / 2 {
                    return Err(invalid("a TLS message of absurd length"));
                }
                let room = self.incoming.room(BUFFER / 8);
                match self.inner.try_read(room)? {
                    0 => return Err(ErrorKind::UnexpectedEof.into()),
                    n => self.incoming.filled(n),
                }
                // rustls has taken nothing yet.
                if self.state().is_handshaking() && frame::is_session(self.incoming.bytes()) {
                    self.met_plaintext = true;
                }
            }
        }
        Ok(0)
    }

    pub(super) fn step(&mut self, task: Task<'_>) -> io::Result<Step> {
        if self.failed {
            return Err(invalid("the TLS connection failed before"));
        }
        let (used, step) = self.process(task, true);
        self.incoming.consume(used);
        step.map_err(|e| {
            self.failed = true;
            // rustls has an alert for the peer; without it the end of the stream must do.
            while self.state().wants_write() {
                let _ = self.process(Task::Close, false);
            }
            let _ = self.push();
            io::Error::new(ErrorKind::InvalidData, e)
        })
    }

    /// One step of rustls, with the ciphertext that is here or none.
    fn process(&mut self, task: Task<'_>, read: bool) -> Processed {
        let TlsPipe { incoming, outgoing, plain, .. } = self;
        let ciphertext = if read { incoming.bytes() } else { &mut [] };
        match &mut self.connection {
            Connection::Client(c) => process_state(c.process_tls_records(ciphertext), task, outgoing, plain),
            Connection::Server(c) => process_state(c.process_tls_records(ciphertext), task, outgoing, plain),
        }
    }

    pub(super) fn state(&self) -> &CommonState {
        match &self.connection {
            Connection::Client(c) => c,
            Connection::Server(c) => c,
        }
    }

    /// Hands ciphertext to the pipe below; `WouldBlock` if some remains.
    pub(super) fn push(&mut self) -> io::Result<()> {
        while !self.outgoing.is_empty() {
            let n = self.inner.try_write(self.outgoing.bytes())?;
            self.outgoing.consume(n);
        }
        self.inner.try_flush()
    }

    /// Takes plaintext that was decrypted and not read yet.
    pub(super) fn take_plain(&mut self, into: &mut [u8]) -> usize {
        let rest = &self.plain[self.taken..];
        let n = rest.len().min(into.len());
        into[..n].copy_from_slice(&rest[..n]);
        self.taken += n;
        if self.taken == self.plain.len() {
            self.plain.clear();
            self.taken = 0;
        }
        n
    }
}

/// Does what the state of a connection calls for.
fn process_state<D>(
    status: UnbufferedStatus<'_, '_, D>,
    task: Task<'_>,
    outgoing: &mut ByteBuffer,
    plain: &mut Vec<u8>,
) -> Processed {
    let mut used = status.discard;
    let step = match (status.state, task) {
        (Err(e), _) => Err(e),
        (Ok(ConnectionState::ReadTraffic(mut traffic)), task) => {
            let mut into: &mut [u8] = if let Task::Read(into) = task { into } else { &mut [] };
            let mut moved = 0;
            while let Some(Ok(record)) = traffic.next_record() {
                used += record.discard;
                let n = record.payload.len().min(into.len());
                let (now, later) = std::mem::take(&mut into).split_at_mut(n);
                now.copy_from_slice(&record.payload[..n]);
                plain.extend_from_slice(&record.payload[n..]);
                (into, moved) = (later, moved + n);
            }
            Ok(Step::Plain(moved))
        }
        (Ok(ConnectionState::EncodeTlsData(mut data)), _) => {
            encode(|room| data.encode(room), outgoing);
            Ok(Step::Again)
        }
        (Ok(ConnectionState::TransmitTlsData(data)), _) => {
            // It lies in `outgoing`, whose order is the order on the wire.
            data.done();
            Ok(Step::Again)
        }
        (Ok(ConnectionState::WriteTraffic(mut traffic)), Task::Write(bytes)) => {
            match traffic.encrypt(bytes, outgoing.room(WRITE + WRITE / 64)) {
                Ok(n) => {
                    outgoing.filled(n);
                    Ok(Step::Done)
                }
                Err(e) => Err(Error::General(e.to_string())),
            }
        }
        (Ok(ConnectionState::WriteTraffic(mut traffic)), Task::Close) => {
            let written = traffic.queue_close_notify(outgoing.room(1024)).unwrap_or(0);
            outgoing.filled(written);
            Ok(Step::Done)
        }
        (Ok(ConnectionState::PeerClosed), _) => Ok(Step::Closed),
        (Ok(ConnectionState::Closed), _) => Ok(Step::Over),
        (Ok(_), _) => Ok(Step::NeedsMore),
    };
    (used, step)
}

fn encode(mut into: impl FnMut(&mut [u8]) -> std::result::Result<usize, EncodeError>, outgoing: &mut ByteBuffer) {
    let mut room = 4096;
    loop {
        match into(outgoing.room(room)) {
            Ok(n) => return outgoing.filled(n),
            Err(EncodeError::InsufficientSize(e)) => room = e.required_size,
            Err(EncodeError::AlreadyEncoded) => return,
        }
    }
}

/// A queue of bytes in one piece of memory, which grows rarely and is zeroed once.
pub(super) struct ByteBuffer {
    buffer: Vec<u8>,
    start: usize,
    end: usize,
}

impl ByteBuffer {
    pub fn new(len: usize) -> Self {
        ByteBuffer { buffer: vec![0; len], start: 0, end: 0 }
    }

    pub fn is_empty(&self) -> bool {
        self.start == self.end
    }

    pub fn bytes(&mut self) -> &mut [u8] {
        &mut self.buffer[self.start..self.end]
    }

    pub fn consume(&mut self, n: usize) {
        self.start += n;
        if self.is_empty() {
            (self.start, self.end) = (0, 0);
        }
    }

    /// The free end, of at least `min` bytes.
    pub fn room(&mut self, min: usize) -> &mut [u8] {
        if self.buffer.len() - self.end < min {
            self.buffer.copy_within(self.start..self.end, 0);
            (self.start, self.end) = (0, self.end - self.start);
            let len = self.buffer.len().max(self.end + min);
            self.buffer.resize(len, 0);
        }
        &mut self.buffer[self.end..]
    }

    pub fn filled(&mut self, n: usize) {
        self.end += n;
    }
}

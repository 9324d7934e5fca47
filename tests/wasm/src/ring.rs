//! A pipe between two instances in WebAssembly, in workers of one page or process: two rings of bytes in a
//! `SharedArrayBuffer`.
//!
//! ```text
//! word 0, 1   changes that concern Alice, Bob: what a party that waits sleeps on
//! word 2..5   Alice's ring: bytes written, bytes read (both modulo 2³²), whether an end is closed
//! word 5..8   Bob's ring
//! byte 64     Alice's bytes, then Bob's
//! ```
//!
//! A ring is named after the party that writes it.

use duologue::Party;
use duologue::channel::Pipe;
use js_sys::{Atomics, Int32Array, SharedArrayBuffer, Uint8Array};
use send_wrapper::SendWrapper;
use std::io::{self, ErrorKind};
use std::time::Duration;
use wasm_bindgen::{JsError, JsValue};

/// Bytes of one ring; a power of two, so that counters may pass 2³².
const CAPACITY: u32 = 1 << 20;
/// Where the bytes begin.
const HEADER: u32 = 64;

/// One end of the pipe. JavaScript's values belong to one thread, and WebAssembly has no other.
pub struct Ring(SendWrapper<Views>);

struct Views {
    us: u32,
    words: Int32Array,
    bytes: Uint8Array,
}

#[derive(Clone, Copy)]
enum Word {
    Written,
    Read,
    Closed,
}

impl Ring {
    /// This party's end of a pipe in shared memory that began as zeros.
    ///
    /// # Errors
    /// If the memory has another size.
    pub fn new(shared: &SharedArrayBuffer, party: Party) -> Result<Ring, JsError> {
        if shared.byte_length() != HEADER + 2 * CAPACITY {
            return Err(JsError::new("the shared memory must have 64 bytes and twice 2^20"));
        }
        Ok(Ring(SendWrapper::new(Views {
            us: party as u32,
            words: Int32Array::new(shared),
            bytes: Uint8Array::new(shared),
        })))
    }
}

impl Views {
    fn them(&self) -> u32 {
        1 - self.us
    }

    fn load(&self, ring: u32, word: Word) -> io::Result<u32> {
        Atomics::load(&self.words, place(ring, word)).map(|value| value as u32).map_err(failed)
    }

    fn store(&self, ring: u32, word: Word, value: u32) -> io::Result<()> {
        Atomics::store(&self.words, place(ring, word), value as i32).map_err(failed)?;
        self.tell()
    }

    /// Tells the peer that something changed.
    fn tell(&self) -> io::Result<()> {
        Atomics::add(&self.words, self.them(), 1).map_err(failed)?;
        Atomics::notify(&self.words, self.them()).map(drop).map_err(failed)
    }

    /// Bytes in a ring; the peer may have written anything in its words.
    fn len(&self, ring: u32) -> io::Result<u32> {
        match self.load(ring, Word::Written)?.wrapping_sub(self.load(ring, Word::Read)?) {
            len @ 0..=CAPACITY => Ok(len),
            _ => Err(io::Error::new(ErrorKind::InvalidData, "more bytes in the ring than it holds")),
        }
    }

    /// The bytes of a ring from a count on, up to its border.
    fn piece(&self, ring: u32, from: u32, most: u32) -> Uint8Array {
        let (start, from) = (HEADER + ring * CAPACITY, from % CAPACITY);
        self.bytes.subarray(start + from, start + CAPACITY.min(from + most))
    }

    fn is_ready(&self, for_write: bool) -> io::Result<bool> {
        let closed = |ring| self.load(ring, Word::Closed).map(|closed| closed != 0);
        let readable = closed(self.them())? || self.len(self.them())? > 0;
        Ok(readable || for_write && (closed(self.us)? || self.len(self.us)? < CAPACITY))
    }
}

impl Pipe for Ring {
    fn try_read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let views = &self.0;
        // Asked first: whatever was written before it was closed is seen.
        let closed = views.load(views.them(), Word::Closed)? != 0;
        let most = views.len(views.them())?.min(into.len() as u32);
        if most == 0 {
            return if closed { Ok(0) } else { Err(ErrorKind::WouldBlock.into()) };
        }
        let read = views.load(views.them(), Word::Read)?;
        let piece = views.piece(views.them(), read, most);
        piece.copy_to(&mut into[..piece.length() as usize]);
        views.store(views.them(), Word::Read, read.wrapping_add(piece.length()))?;
        Ok(piece.length() as usize)
    }

    fn try_write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let views = &self.0;
        if views.load(views.us, Word::Closed)? != 0 {
            return Err(ErrorKind::BrokenPipe.into());
        }
        let most = (CAPACITY - views.len(views.us)?).min(bytes.len() as u32);
        if most == 0 {
            return Err(ErrorKind::WouldBlock.into());
        }
        let written = views.load(views.us, Word::Written)?;
        let piece = views.piece(views.us, written, most);
        piece.copy_from(&bytes[..piece.length() as usize]);
        views.store(views.us, Word::Written, written.wrapping_add(piece.length()))?;
        Ok(piece.length() as usize)
    }

    fn wait(&mut self, for_write: bool, timeout: Duration) -> io::Result<()> {
        let views = &self.0;
        // Looked at first: a change after it wakes us at once.
        let seen = Atomics::load(&views.words, views.us).map_err(failed)?;
        if views.is_ready(for_write)? {
            return Ok(());
        }
        let milliseconds = timeout.as_secs_f64() * 1e3;
        Atomics::wait_with_timeout(&views.words, views.us, seen, milliseconds).map(drop).map_err(failed)
    }

    fn close_write(&mut self) {
        // Words that are there can be written.
        let _ = self.0.store(self.0.us, Word::Closed, 1);
    }
}

impl Drop for Ring {
    fn drop(&mut self) {
        // Whoever writes to us learns that nobody reads.
        self.close_write();
        let _ = self.0.store(self.0.them(), Word::Closed, 1);
    }
}

fn place(ring: u32, word: Word) -> u32 {
    2 + 3 * ring + word as u32
}

fn failed(_: JsValue) -> io::Error {
    io::Error::other("the shared memory refused an atomic operation")
}

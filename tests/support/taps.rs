//! Pipes that see or harm what goes through them. The parent module brings `Pipe` into scope.
#![allow(dead_code)] // each test file uses its part

use super::Pipe;
use std::collections::VecDeque;
use std::io;
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// What was written to a pipe so far.
#[derive(Clone, Default)]
pub struct Log(Arc<Mutex<Vec<u8>>>);

impl Log {
    /// Every byte.
    pub fn bytes(&self) -> Vec<u8> {
        self.0.lock().unwrap().clone()
    }

    /// The bytes of the protocol: the bodies of data frames.
    pub fn payload(&self) -> Vec<u8> {
        let bytes = self.bytes();
        let (mut rest, mut payload) = (&bytes[..], Vec::new());
        while let Some((&[kind, a, b, c], body)) = rest.split_first_chunk::<4>() {
            let (body, after) = body.split_at(u32::from_le_bytes([a, b, c, 0]) as usize);
            if kind == 1 {
                payload.extend_from_slice(body);
            }
            rest = after;
        }
        payload
    }
}

/// A pipe that writes down what is written to it.
pub struct Tap<P>(pub P, pub Log);

impl<P: Pipe> Pipe for Tap<P> {
    fn try_read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        self.0.try_read(into)
    }

    fn try_write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let n = self.0.try_write(bytes)?;
        self.1.0.lock().unwrap().extend_from_slice(&bytes[..n]);
        Ok(n)
    }

    fn wait(&mut self, for_write: bool, timeout: Duration) -> io::Result<()> {
        self.0.wait(for_write, timeout)
    }

    fn close_write(&mut self) {
        self.0.close_write();
    }
}

/// What the man in the middle does when his byte comes along.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Harm {
    /// Changes one bit.
    Flip(u8),
    /// Takes it away.
    Drop,
    /// Sends it twice.
    Double,
    /// Takes it and everything after it away, and stays.
    Stall,
    /// Closes the connection.
    Cut,
    /// Replaces everything from here on.
    Garbage,
}

/// A pipe whose `at`-th written byte comes to harm.
pub struct Mangled<P> {
    inner: P,
    harm: Harm,
    at: u64,
    seen: u64,
    deferred: VecDeque<u8>,
}

impl<P: Pipe> Mangled<P> {
    pub fn new(inner: P, harm: Harm, at: u64) -> Self {
        Mangled { inner, harm, at, seen: 0, deferred: VecDeque::new() }
    }

    fn pay(&mut self) -> io::Result<()> {
        while !self.deferred.is_empty() {
            let n = self.inner.try_write(self.deferred.make_contiguous())?;
            self.deferred.drain(..n);
        }
        Ok(())
    }

    /// The byte, and what follows it in this write.
    fn harm(&mut self, bytes: &[u8]) -> usize {
        match self.harm {
            Harm::Flip(bit) => self.deferred.push_back(bytes[0] ^ 1 << (bit % 8)),
            Harm::Double => self.deferred.extend([bytes[0], bytes[0]]),
            Harm::Cut => self.inner.close_write(),
            Harm::Drop | Harm::Stall | Harm::Garbage => {}
        }
        1
    }

    fn after(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self.harm {
            Harm::Stall | Harm::Cut => Ok(bytes.len()),
            Harm::Garbage => {
                let garbage: Vec<u8> = (0..bytes.len()).map(|i| (self.seen as usize + i) as u8 ^ 0x5a).collect();
                self.inner.try_write(&garbage)
            }
            _ => self.inner.try_write(bytes),
        }
    }
}

impl<P: Pipe> Pipe for Mangled<P> {
    fn try_read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        self.inner.try_read(into)
    }

    fn try_write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.pay()?;
        let left = self.at.saturating_sub(self.seen) as usize;
        let n = match () {
            () if self.seen > self.at => self.after(bytes)?,
            () if left > 0 => self.inner.try_write(&bytes[..bytes.len().min(left)])?,
            () => self.harm(bytes),
        };
        self.seen += n as u64;
        Ok(n)
    }

    fn try_flush(&mut self) -> io::Result<()> {
        self.pay()?;
        self.inner.try_flush()
    }

    fn wait(&mut self, for_write: bool, timeout: Duration) -> io::Result<()> {
        self.inner.wait(for_write, timeout)
    }

    fn close_write(&mut self) {
        self.inner.close_write();
    }

    fn close_may_lose_data(&self) -> bool {
        self.inner.close_may_lose_data()
    }
}

/// A peer without secrets: it answers with our own bytes, made to look like another party's, up to
/// some number of them; then with bytes of its own; then it is gone. It never waits.
pub struct Mirror {
    mirrored: usize,
    seen: usize,
    to_read: VecDeque<u8>,
    tail: Vec<u8>,
    ended: bool,
}

/// Where on the wire a hello has its party and its point, after the header of its frame.
const PARTY: usize = 14;
const POINT: std::ops::Range<usize> = 17..49;

/// The base point of ristretto255 (RFC 9496, §4), which every hello may have.
const BASE: [u8; 32] = [
    0xe2, 0xf2, 0xae, 0x0a, 0x6a, 0xbc, 0x4e, 0x71, 0xa8, 0x84, 0xa9, 0x61, 0xc5, 0x00, 0x51, 0x5f, 0x58, 0xe3, 0x0b,
    0x6a, 0xa5, 0x82, 0xdd, 0x8d, 0xb6, 0xa6, 0x59, 0x45, 0xe0, 0x8d, 0x2d, 0x76,
];

impl Mirror {
    pub fn new(mirrored: usize, tail: Vec<u8>) -> Self {
        let mut mirror = Mirror { mirrored, seen: 0, to_read: VecDeque::new(), tail, ended: false };
        mirror.end_if_due();
        mirror
    }

    fn end_if_due(&mut self) {
        if self.seen >= self.mirrored && !self.ended {
            self.ended = true;
            self.to_read.extend(std::mem::take(&mut self.tail));
        }
    }

    fn reflect(&mut self, byte: u8) {
        if self.seen < self.mirrored {
            self.to_read.push_back(match self.seen {
                PARTY => byte ^ 1,
                at if POINT.contains(&at) => BASE[at - POINT.start],
                _ => byte,
            });
        }
        self.seen += 1;
        self.end_if_due();
    }
}

impl Pipe for Mirror {
    fn try_read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let n = self.to_read.len().min(into.len());
        if n == 0 && !self.ended && !into.is_empty() {
            return Err(io::ErrorKind::WouldBlock.into());
        }
        for (to, from) in into.iter_mut().zip(self.to_read.drain(..n)) {
            *to = from;
        }
        Ok(n)
    }

    fn try_write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        bytes.iter().for_each(|&byte| self.reflect(byte));
        Ok(bytes.len())
    }

    fn wait(&mut self, for_write: bool, _: Duration) -> io::Result<()> {
        if self.to_read.is_empty() && !for_write {
            // We wait for a mirror that waits for us: nothing will come but the tail.
            self.mirrored = 0;
            self.end_if_due();
        }
        Ok(())
    }

    fn close_write(&mut self) {}
}

//! A full-duplex pipe of frames between two parties.
//!
//! A [`Channel`] carries bytes both ways, in memory ([`Channel::pair`]), over TCP or over TLS 1.3
//! ([`Listener`], [`Channel::connect`]), or over any of them with a simulated link
//! ([`Channel::shaped`]). What it promises:
//!
//! - **Sending never deadlocks.** While a write would block, what comes is taken in: both parties
//!   may send a hundred megabytes before either reads. A party that only receives holds the sender
//!   back by not reading, so a stream needs no memory.
//! - **Nothing is forgotten.** Receiving flushes first.
//! - **A lost peer is noticed.** Parties that compute for long send heartbeats; no sign of life is
//!   an error after [`Limits::silence`], signs of life alone after [`Limits::progress`]. An abort is
//!   noticed while sending, and a channel that is dropped before its end tells the peer.
//! - **Waiting can be ended.** A [`Canceller`] ends what a channel does, from another thread, and before there is a
//!   channel the wait for the peer.
//! - **The peer's bytes are hostile.** Lengths are checked before anything is allocated, the caller
//!   says how much it expects, and what the peer says is made printable.
//!
//! There are no reader and writer threads: the caller's own thread moves the bytes, so a round costs
//! no wake-up within a party. One thread a channel sends heartbeats while its owner computes; where there are
//! no threads (in WebAssembly), a party that runs a program sends them between its steps.
//!
//! ```
//! use duologue::channel::Channel;
//! let (mut alice, mut bob) = Channel::pair();
//! alice.send(b"hello")?;                       // alice → bob
//! alice.flush()?;
//! assert_eq!(bob.recv(5)?, b"hello");
//! # Ok::<(), duologue::Error>(())
//! ```

mod duplex;
#[doc(hidden)]
pub mod frame;
mod inbox;
mod incoming;
mod keys;
mod link;
#[cfg(feature = "net")]
mod listener;
pub mod memory;
mod mismatch;
mod pipe;
mod shaped;
#[cfg(feature = "net")]
mod tcp;
#[cfg(feature = "net")]
mod tls;

#[cfg(test)]
pub(crate) mod tests;

use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, TryLockError, Weak};
use std::thread;
use std::time::Duration;

pub use frame::AbortCode;
#[cfg(feature = "net")]
pub use keys::Identity;
pub use keys::PublicKey;
pub use link::Link;
pub(crate) use link::{together, travel};
#[cfg(feature = "net")]
pub use listener::{Listener, Security, Stranger};
pub use pipe::Pipe;
pub use shaped::Shaped;
#[cfg(feature = "net")]
pub use tcp::TcpPipe;

use crate::clock::{Clock, Interval, Stop};
use crate::error::{Error, Result};
use crate::outbox::Outbox;
use crate::threads;
use duplex::Duplex;

/// How long an abort may take to reach the peer.
const ABORT: Duration = Duration::from_secs(1);

/// How often a party that waits looks whether it was cancelled.
const CANCELLATION: Duration = Duration::from_millis(100);

/// How long a channel waits, and how much it keeps.
///
/// ```
/// use duologue::channel::Limits;
/// use std::time::Duration;
/// let patient = Limits::default().meet(Duration::from_secs(3600));
/// assert_eq!(patient.silence, Duration::from_secs(30));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
#[must_use = "limits are nothing until a channel has them"]
pub struct Limits {
    /// How long nothing at all may come from a peer that we wait for; 30 s by default.
    pub silence: Duration,
    /// How long nothing but heartbeats may come from a peer that we wait for; 300 s by default.
    pub progress: Duration,
    /// How often a party that sends nothing else says that it is alive; every 5 s by default, and every millisecond at
    /// most.
    pub heartbeat: Duration,
    /// How long the parties look for each other before there is a channel; 120 s by default.
    pub meet: Duration,
    /// The most bytes kept for later because they came while we were sending; 4 GiB by default.
    pub inbox: u64,
}

impl Limits {
    /// Sets [`silence`](Self::silence).
    pub fn silence(self, silence: Duration) -> Limits {
        Limits { silence, ..self }
    }

    /// Sets [`progress`](Self::progress).
    pub fn progress(self, progress: Duration) -> Limits {
        Limits { progress, ..self }
    }

    /// Sets [`heartbeat`](Self::heartbeat).
    pub fn heartbeat(self, heartbeat: Duration) -> Limits {
        Limits { heartbeat, ..self }
    }

    /// Sets [`meet`](Self::meet).
    pub fn meet(self, meet: Duration) -> Limits {
        Limits { meet, ..self }
    }

    /// Sets [`inbox`](Self::inbox).
    pub fn inbox(self, inbox: u64) -> Limits {
        Limits { inbox, ..self }
    }
}

impl Default for Limits {
    fn default() -> Self {
        Limits {
            silence: Duration::from_secs(30),
            progress: Duration::from_secs(300),
            heartbeat: Duration::from_secs(5),
            meet: Duration::from_secs(120),
            inbox: 4 << 30,
        }
    }
}

/// How much went over a channel so far, and in how many rounds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Counters {
    /// Bytes that the protocol sent.
    pub bytes_sent: u64,
    /// Bytes that the protocol received.
    pub bytes_received: u64,
    /// All bytes sent: the protocol's, headers, heartbeats; before encryption.
    pub wire_sent: u64,
    /// All bytes received, likewise.
    pub wire_received: u64,
    /// How often something was flushed.
    pub flushes: u64,
    /// How often we turned from sending to receiving.
    pub rounds: u64,
}

/// Ends what a channel does, or the wait for the peer, from any thread. Its clones are one.
#[derive(Clone, Debug, Default)]
pub struct Canceller(Arc<AtomicBool>);

impl Canceller {
    /// A canceller for [`Channel::connect_with`] or [`Listener::accept_with`].
    pub fn new() -> Canceller {
        Canceller::default()
    }

    /// The operation under way and all that follow are [`Error::Cancelled`], at once or within a tenth of a second; what
    /// was being written gets a second to arrive.
    pub fn cancel(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    /// Whether it was called.
    pub fn is_cancelled(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }

    /// # Errors
    /// [`Error::Cancelled`] if it was called.
    #[cfg(feature = "net")]
    fn check(&self) -> Result<()> {
        if self.is_cancelled() { Err(Error::Cancelled) } else { Ok(()) }
    }

    /// Sleeps, but no longer than until it is called.
    #[cfg(feature = "net")]
    fn sleep(&self, time: Duration) -> Result<()> {
        let until = Clock::System.now() + time;
        while let left = until.saturating_duration_since(Clock::System.now())
            && !left.is_zero()
        {
            self.check()?;
            Clock::System.sleep(left.min(CANCELLATION));
        }
        self.check()
    }
}

/// One end of a full-duplex pipe of bytes.
pub struct Channel {
    duplex: Arc<Mutex<Duplex>>,
    clock: Clock,
    heartbeat: Duration,
    /// Ends the heartbeat's thread.
    stop: Option<Stop>,
    /// The keys that the ends have proved, ours first.
    keys: Option<[PublicKey; 2]>,
}

impl Channel {
    /// Two ends in one process with the usual limits.
    pub fn pair() -> (Channel, Channel) {
        let (a, b) = memory::pair(memory::CAPACITY);
        (Channel::over(a, Limits::default()), Channel::over(b, Limits::default()))
    }

    /// Connects to a party that listens at `host:port`, or will within [`Limits::meet`].
    ///
    /// # Errors
    /// [`Error::Usage`] if the address has no port; [`Error::Incompatible`] if a key is not the one that the other side
    /// pins; [`Error::Timeout`] or [`Error::Io`] if nobody was met in time.
    #[cfg(feature = "net")]
    pub fn connect(address: &str, security: &Security, limits: &Limits) -> Result<Channel> {
        Channel::connect_with(address, security, limits, &Canceller::new())
    }

    /// Like [`connect`](Self::connect), with a canceller that ends the wait, and after it whatever the channel does.
    /// While the operating system looks up a name it cannot be interrupted.
    ///
    /// # Errors
    /// As [`connect`](Self::connect), and [`Error::Cancelled`].
    #[cfg(feature = "net")]
    pub fn connect_with(address: &str, security: &Security, limits: &Limits, canceller: &Canceller) -> Result<Channel> {
        listener::connect(address, security, limits, canceller)
    }

    /// A channel over a transport of one's own.
    pub fn over(pipe: impl Pipe + 'static, limits: Limits) -> Channel {
        Channel::by_clock(Clock::System, pipe, limits)
    }

    fn by_clock(clock: Clock, pipe: impl Pipe + 'static, mut limits: Limits) -> Channel {
        limits.heartbeat = limits.heartbeat.max(Duration::from_millis(1));
        let duplex = Arc::new(Mutex::new(Duplex::new(clock.clone(), Box::new(pipe), limits)));
        Channel { duplex, clock, heartbeat: limits.heartbeat, stop: None, keys: None }
    }

    /// Declares that both ends have proved these keys, before anything is sent: for a transport of one's own that
    /// authenticates its ends. The session binds pools and prepared runs to them.
    pub fn authenticated(mut self, ours: PublicKey, peers: PublicKey) -> Channel {
        self.keys = Some([ours, peers]);
        self
    }

    /// The key that the peer has proved; none on a channel without keys.
    pub fn peer_key(&self) -> Option<PublicKey> {
        self.keys.map(|[_, peers]| peers)
    }

    /// The keys that the ends have proved, ours first.
    pub(crate) fn keys(&self) -> Option<[PublicKey; 2]> {
        self.keys
    }

    /// From now on this canceller ends what the channel does, in place of the one that it had.
    pub fn cancelled_by(self, canceller: &Canceller) -> Channel {
        self.lock().canceller = canceller.clone();
        self
    }

    /// Puts a simulated link in between, before anything is sent. The peer must do the same.
    pub fn shaped(self, link: Link) -> Result<Channel> {
        self.lock().shape(link)?;
        Ok(self)
    }

    /// Sends bytes. Small sends are gathered until [`flush`](Self::flush) or a receive.
    pub fn send(&mut self, bytes: &[u8]) -> Result<()> {
        self.with(|duplex| duplex.send(bytes))
    }

    /// Sends what an outbox holds, and empties it; its memory may be another's then.
    pub(crate) fn give(&mut self, outbox: &mut Outbox) -> Result<()> {
        self.with(|duplex| duplex.give(outbox))
    }

    /// Hands everything sent so far to the transport.
    pub fn flush(&mut self) -> Result<()> {
        self.with(Duplex::flush)
    }

    /// Receives exactly `len` bytes, however the peer cut them.
    pub fn recv(&mut self, len: usize) -> Result<Vec<u8>> {
        let mut bytes = vec![0; len];
        self.recv_into(&mut bytes)?;
        Ok(bytes)
    }

    /// Receives exactly `out.len()` bytes.
    pub fn recv_into(&mut self, out: &mut [u8]) -> Result<()> {
        self.with(|duplex| duplex.recv_into(out))
    }

    /// Receives what belongs to the turn that the last receive began, whatever was sent since: that may wait for
    /// [`flush`](Self::flush), and is of the next turn.
    pub(crate) fn recv_more(&mut self, out: &mut [u8]) -> Result<()> {
        self.with(|duplex| duplex.recv_more(out))
    }

    /// Bytes that have come and were not received yet, as far as can be told without waiting.
    pub fn pending(&mut self) -> Result<usize> {
        self.with(Duplex::pending)
    }

    /// Bytes that came before the peer stopped, although we noticed that first: none if fewer have come.
    pub(crate) fn came_before_the_end(&mut self, len: usize) -> Option<Vec<u8>> {
        self.lock().came_before_the_end(len)
    }

    /// Says that we sent everything and waits until the peer says so too. Data that nobody received
    /// is an error: the parties do not agree on what they do.
    pub fn finish(&mut self) -> Result<()> {
        self.with(Duplex::finish)
    }

    /// Tells the peer that we stop, and why, as well as that can be done within a second. What was
    /// sent and not flushed is dropped; the channel is dead.
    pub fn abort(&mut self, code: AbortCode, message: &str) {
        self.lock().abort(code, message, ABORT);
    }

    /// As [`abort`](Self::abort), after `error`: the peer hears of what kind it is, in words that were fixed beforehand, and
    /// never its text.
    pub fn abort_after(&mut self, error: &Error) {
        self.abort(AbortCode::of(error), error.last_words());
    }

    /// Sends a heartbeat if one is due and no thread does it.
    pub(crate) fn beat_without_threads(&mut self) -> Result<()> {
        if threads::ARE_THERE { Ok(()) } else { self.with(Duplex::beat) }
    }

    /// A handle that ends this channel's operations, also while they wait for the peer; the one that it was opened with,
    /// if there was one.
    pub fn canceller(&self) -> Canceller {
        self.lock().canceller.clone()
    }

    /// The clock that deadlines and simulated links go by.
    pub(crate) fn clock(&self) -> &Clock {
        &self.clock
    }

    /// How much went over the channel so far, and in how many rounds.
    pub fn counters(&self) -> Counters {
        self.lock().counters
    }

    fn with<T>(&mut self, work: impl FnOnce(&mut Duplex) -> Result<T>) -> Result<T> {
        self.start_heartbeat()?;
        let mut duplex = self.lock();
        duplex.check()?;
        let result = work(&mut duplex);
        if let Err(error) = &result {
            duplex.fail(error);
        }
        result
    }

    fn lock(&self) -> MutexGuard<'_, Duplex> {
        self.duplex.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Starts the heartbeat with the first operation, so that a channel can be reshaped before.
    fn start_heartbeat(&mut self) -> Result<()> {
        if self.stop.is_some() || !threads::ARE_THERE {
            return Ok(());
        }
        let (stop, interval) = self.clock.interval();
        let (duplex, every) = (Arc::downgrade(&self.duplex), self.heartbeat);
        thread::Builder::new()
            .name("duologue-heartbeat".into())
            .stack_size(128 << 10)
            .spawn(move || send_heartbeats(&duplex, every, &interval))
            .map_err(Error::io("starting the heartbeat's thread"))?;
        self.stop = Some(stop);
        Ok(())
    }
}

/// Sends heartbeats while the owner computes; a channel that is in use sends them by itself.
fn send_heartbeats(duplex: &Weak<Mutex<Duplex>>, every: Duration, interval: &Interval) {
    while interval.pause(every) {
        let Some(duplex) = duplex.upgrade() else { return };
        match duplex.try_lock() {
            Ok(mut duplex) => duplex.beat_meanwhile(),
            Err(TryLockError::WouldBlock) => {}
            Err(TryLockError::Poisoned(_)) => return,
        }
    }
}

impl Drop for Channel {
    fn drop(&mut self) {
        self.stop = None;
        self.lock().leave();
    }
}

impl fmt::Debug for Channel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Channel").finish_non_exhaustive()
    }
}

//! Peers that are late, in virtual time; and once each in real time, with limits that no machine is too slow for.

use super::virtual_time::{self, Actor, VirtualTime};
use super::*;
use std::io::{self, ErrorKind};
use std::sync::OnceLock;
use std::sync::mpsc::Sender;

const MS: Duration = Duration::from_millis(1);

/// A pipe over which time passes when its owner waits, and the peer acts at the start of each wait.
struct Stepped<F> {
    inner: Box<dyn Pipe>,
    time: VirtualTime,
    /// Lets the peer act; says whether it wrote something.
    peer: F,
    came: Vec<u8>,
}

/// A channel over a pipe of any kind in virtual time; its owner is the actor, and must be dropped before it.
pub fn stepped(inner: Box<dyn Pipe>, limits: Limits, peer: impl FnMut() -> bool + Send + 'static) -> (Actor, Channel) {
    let time = VirtualTime::new();
    let pipe = Stepped { inner, time: time.clone(), peer, came: Vec::new() };
    (time.enter(), Channel::by_clock(Clock::Virtual(time), pipe, limits))
}

impl<F: FnMut() -> bool + Send> Pipe for Stepped<F> {
    fn try_read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        if self.came.is_empty() {
            return self.inner.try_read(into);
        }
        let n = self.came.len().min(into.len());
        into[..n].copy_from_slice(&self.came[..n]);
        self.came.drain(..n);
        Ok(n)
    }

    fn try_write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.inner.try_write(bytes)
    }

    fn try_flush(&mut self) -> io::Result<()> {
        self.inner.try_flush()
    }

    /// The peer's bytes have come before time passes, however long that takes in reality.
    fn wait(&mut self, _for_write: bool, timeout: Duration) -> io::Result<()> {
        let mut buffer = [0; 64];
        let wrote = (self.peer)();
        while wrote && self.came.is_empty() {
            match self.inner.try_read(&mut buffer) {
                Ok(n) => self.came.extend_from_slice(&buffer[..n]),
                Err(e) if e.kind() == ErrorKind::WouldBlock => self.inner.wait(false, 10 * MS)?,
                Err(e) => return Err(e),
            }
        }
        self.time.sleep(timeout);
        Ok(())
    }

    fn close_write(&mut self) {
        self.inner.close_write();
    }
}

/// A pipe whose owner is cancelled when it has to wait for room in it for the first time, which somebody is told.
struct CancelledWhenFull {
    inner: Box<dyn Pipe>,
    canceller: Arc<OnceLock<Canceller>>,
    told: Option<Sender<()>>,
}

/// A channel over a pipe of any kind whose owner is cancelled in the middle of the first frame for which there is no room. Its time stands
/// still for as long as the actor lives: waits for the pipe are real, and no deadline comes.
pub fn cancelled_when_full(inner: Box<dyn Pipe>, limits: Limits, told: Sender<()>) -> (Actor, Channel) {
    let (time, canceller) = (VirtualTime::new(), Arc::default());
    let still = time.enter();
    let pipe = CancelledWhenFull { inner, canceller: Arc::clone(&canceller), told: Some(told) };
    let channel = Channel::by_clock(Clock::Virtual(time), pipe, limits);
    canceller.set(channel.canceller()).expect("set once");
    (still, channel)
}

impl Pipe for CancelledWhenFull {
    fn try_read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        self.inner.try_read(into)
    }

    fn try_write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.inner.try_write(bytes)
    }

    fn try_flush(&mut self) -> io::Result<()> {
        self.inner.try_flush()
    }

    fn wait(&mut self, for_write: bool, timeout: Duration) -> io::Result<()> {
        if for_write && let Some(told) = self.told.take() {
            self.canceller.get().expect("there is a channel").cancel();
            told.send(()).expect("somebody waits");
        }
        self.inner.wait(for_write, timeout)
    }

    fn close_write(&mut self) {
        self.inner.close_write();
    }

    fn close_may_lose_data(&self) -> bool {
        self.inner.close_may_lose_data()
    }
}

/// A peer that sends one frame again and again, faster than they can be read, and takes what we send only now and then.
struct Flood<F> {
    time: VirtualTime,
    frame: Vec<u8>,
    /// Reads so far; there is an end, which a test that works does not see.
    reads: usize,
    /// One write is taken after so many reads.
    takes_each: usize,
    each_read: F,
}

impl<F: FnMut(usize) + Send> Pipe for Flood<F> {
    fn try_read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let frames = self.frame.repeat(into.len().min(400) / self.frame.len());
        into[..frames.len()].copy_from_slice(&frames);
        self.reads += 1;
        (self.each_read)(self.reads);
        self.time.sleep(MS);
        Ok(if self.reads < 100_000 { frames.len() } else { 0 })
    }

    fn try_write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self.reads % self.takes_each {
            0 => Ok(bytes.len().min(10_000)),
            _ => Err(ErrorKind::WouldBlock.into()),
        }
    }

    fn wait(&mut self, _for_write: bool, timeout: Duration) -> io::Result<()> {
        self.time.sleep(timeout);
        Ok(())
    }

    fn close_write(&mut self) {}
}

fn flooded(
    frame: &[u8],
    takes_each: usize,
    limits: Limits,
    each_read: impl FnMut(usize) + Send + 'static,
) -> (Actor, Channel) {
    let time = VirtualTime::new();
    let pipe = Flood { time: time.clone(), frame: frame.to_vec(), reads: 0, takes_each, each_read };
    (time.enter(), Channel::by_clock(Clock::Virtual(time), pipe, limits))
}

/// A peer that takes nothing, breaks the pipe after 900 ms, and whose last frames come later.
struct Breaking {
    time: VirtualTime,
    broken_at: std::time::Instant,
    /// When each comes.
    frames: Vec<(std::time::Instant, Vec<u8>)>,
}

impl Pipe for Breaking {
    fn try_read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        if self.frames.first().is_none_or(|(at, _)| *at > self.time.now()) {
            return Err(ErrorKind::WouldBlock.into());
        }
        let (_, frame) = self.frames.remove(0);
        into[..frame.len()].copy_from_slice(&frame);
        Ok(frame.len())
    }

    fn try_write(&mut self, _: &[u8]) -> io::Result<usize> {
        Err(if self.time.now() < self.broken_at { ErrorKind::WouldBlock } else { ErrorKind::BrokenPipe }.into())
    }

    fn wait(&mut self, _for_write: bool, timeout: Duration) -> io::Result<()> {
        self.time.sleep(timeout);
        Ok(())
    }

    fn close_write(&mut self) {}
}

/// The deadline of the write that failed passes while the abort is under way, and a heartbeat comes before it.
#[test]
fn an_abort_is_found_after_a_write_failed_though_the_old_deadline_passes() {
    let time = VirtualTime::new();
    let (actor, start) = (time.enter(), time.now());
    let last_words = frame::abort(AbortCode::Failed, "disk full");
    let frames = vec![(start + 1100 * MS, frame::progress().to_vec()), (start + 1200 * MS, last_words)];
    let pipe = Breaking { time: time.clone(), broken_at: start + 900 * MS, frames };
    let short = Limits { progress: 1000 * MS, ..limits() };
    let mut channel = Channel::by_clock(Clock::Virtual(time), pipe, short);
    let error = channel.send(&vec![0; 3 << 20]).unwrap_err();
    assert!(matches!(&error, Error::Aborted(why) if why.contains("disk full")), "{error}");
    assert!((1200 * MS..1300 * MS).contains(&actor.since_start()), "{:?}", actor.since_start());
}

type Operation = fn(&mut Channel) -> Result<()>;

/// All that may wait for the peer.
const OPERATIONS: [(&str, Operation); 3] = [
    ("receives", |channel| channel.recv(1).map(drop)),
    ("finishes", Channel::finish),
    ("sends", |channel| channel.send(&vec![0; 3 << 20])),
];

#[test]
fn a_flood_of_heartbeats_puts_no_deadline_off() {
    for (what, operation) in OPERATIONS {
        let short = Limits { progress: 3000 * MS, ..limits() };
        // What is sent is taken at first, and no more.
        let (actor, mut channel) = flooded(&frame::progress(), usize::MAX, short, |_| {});
        let error = operation(&mut channel).unwrap_err();
        assert!(matches!(error, Error::Timeout { what: "progress", .. }), "{what}: {error}");
        let took = actor.since_start();
        assert!((short.progress..short.progress + 200 * MS).contains(&took), "{what}: {took:?}");
    }
}

/// An operation that is cancelled while a frame comes again and again: how long it went on.
fn cancelled_amid(frame: &[u8], what: &str, operation: impl FnOnce(&mut Channel) -> Result<()>) -> Duration {
    let canceller = Arc::new(Mutex::new(Canceller::default()));
    let theirs = canceller.clone();
    let cancel_once = move |reads| {
        if reads == 500 {
            theirs.lock().unwrap().cancel();
        }
    };
    let (actor, mut channel) = flooded(frame, usize::MAX, limits(), cancel_once);
    *canceller.lock().unwrap() = channel.canceller();
    let error = operation(&mut channel).unwrap_err();
    assert!(matches!(error, Error::Cancelled), "{what}: {error}");
    actor.since_start()
}

#[test]
fn a_flood_of_heartbeats_does_not_hide_that_we_are_cancelled() {
    for (what, operation) in OPERATIONS {
        // A frame that is written in part has a second.
        let took = cancelled_amid(&frame::progress(), what, operation);
        assert!((500 * MS..1700 * MS).contains(&took), "{what}: {took:?}");
    }
}

#[test]
fn a_flood_of_data_does_not_hide_that_we_are_cancelled() {
    let operations: [(&str, Operation); 2] =
        [("receives", |channel| channel.recv(1 << 20).map(drop)), ("sends", OPERATIONS[2].1)];
    for (what, operation) in operations {
        let took = cancelled_amid(b"\x01\x01\0\0x", what, operation);
        assert!((500 * MS..1700 * MS).contains(&took), "{what}: {took:?}");
    }
}

#[test]
fn a_flood_of_heartbeats_does_not_keep_a_sender_from_sending() {
    let (_actor, mut channel) = flooded(&frame::progress(), 150, limits(), |_| {});
    channel.send(&vec![0; 100_000]).unwrap();
    channel.flush().unwrap();
    assert_eq!(channel.pending().unwrap(), 0);
}

#[test]
fn a_flood_of_heartbeats_over_tcp_puts_no_deadline_off() {
    let (peer, pipe) = sockets("127.0.0.1:0", None);
    let mut channel = Channel::over(pipe, Limits { progress: 300 * MS, ..limits() });
    thread::scope(|scope| {
        scope.spawn(|| {
            let (mut peer, end) = (peer, Instant::now() + Duration::from_secs(30));
            let frames = frame::progress().repeat(10_000);
            while Instant::now() < end {
                match peer.try_write(&frames) {
                    // The rest of a frame that was cut would be no frame.
                    Ok(n) => write_raw(&mut peer, &frames[n..]),
                    Err(e) if e.kind() == ErrorKind::WouldBlock => peer.wait(true, 10 * MS).unwrap(),
                    Err(_) => return,
                }
            }
        });
        let error = channel.recv(1).unwrap_err();
        assert!(matches!(error, Error::Timeout { what: "progress", .. }), "{error}");
        drop(channel);
    });
}

/// Alice computes for longer than Bob endures silence, while he waits in the middle of a frame.
#[test]
fn a_busy_peer_is_waited_for() {
    let short = Limits { silence: 300 * MS, heartbeat: 30 * MS, ..limits() };
    let bytes = &pattern(9 << 20);
    for link in [None, Some("1ms,1Gbit".parse().unwrap())] {
        virtual_time::both(
            virtual_time::channels(link, short),
            |actor, a| {
                a.send(b"x").unwrap();
                a.flush().unwrap();
                actor.sleep(900 * MS);
                assert!(a.recv(bytes.len()).unwrap() == *bytes);
                a.send(b"y").unwrap();
                a.finish().unwrap();
            },
            |_, b| {
                b.recv(1).unwrap();
                // More than the pipe holds.
                b.send(bytes).unwrap();
                assert_eq!(b.recv(1).unwrap(), b"y");
                b.finish().unwrap();
            },
        );
    }
}

/// In real time: a heartbeat has twenty intervals to come before the peer is given up.
#[test]
fn a_busy_peer_is_waited_for_in_real_time() {
    let short = Limits { silence: 2000 * MS, heartbeat: 100 * MS, ..limits() };
    both(
        channels(tcp_pipes, short),
        |a| {
            a.send(b"x").unwrap();
            a.flush().unwrap();
            thread::sleep(3000 * MS);
            a.send(b"y").unwrap();
            a.finish().unwrap();
        },
        |b| {
            assert_eq!(b.recv(2).unwrap(), b"xy");
            b.finish().unwrap();
        },
    );
}

#[test]
fn a_silent_peer_is_given_up_in_real_time() {
    let (_peer, pipe) = tcp_pipes();
    let mut b = Channel::over(pipe, Limits { silence: 100 * MS, ..limits() });
    let start = Instant::now();
    let error = b.recv(1).unwrap_err();
    assert!(matches!(error, Error::Timeout { what: "sign of life", .. }), "{error}");
    assert!((100 * MS..2000 * MS).contains(&start.elapsed()), "{:?}", start.elapsed());
}

#[test]
fn waiting_for_the_peers_end_is_silent() {
    virtual_time::both(
        virtual_time::channels(None, Limits { heartbeat: 5 * MS, ..limits() }),
        |_, a| a.finish().unwrap(),
        |actor, b| {
            actor.sleep(60 * MS);
            assert_eq!(b.pending().unwrap(), 0);
            b.finish().unwrap();
            // The end, and no heartbeat after it.
            assert_eq!(b.counters().wire_received, 4);
        },
    );
}

#[test]
fn heartbeats_are_no_progress_for_a_sender_either() {
    let short = Limits { heartbeat: 10 * MS, progress: 300 * MS, ..limits() };
    virtual_time::both(
        virtual_time::channels(None, short),
        |actor, a| {
            // Alice says something, lives on, and never reads.
            a.send(b"something").unwrap();
            a.flush().unwrap();
            actor.sleep(2 * short.progress);
        },
        |actor, b| {
            let error = b.send(&vec![0; 16 << 20]).unwrap_err();
            assert!(matches!(error, Error::Timeout { what: "progress", .. }), "{error}");
            assert_eq!(actor.since_start(), short.progress);
        },
    );
}

/// However they come, heartbeats do not put a receiver's deadline off.
#[test]
fn a_stream_of_heartbeats_is_no_progress() {
    let (mut peer, pipe) = memory::pair(memory::CAPACITY);
    let often = move || {
        write_raw(&mut peer, &frame::progress());
        true
    };
    let short = Limits { progress: 300 * MS, heartbeat: MS, ..limits() };
    let (actor, mut channel) = stepped(Box::new(pipe), short, often);
    let error = channel.recv(1).unwrap_err();
    assert!(matches!(error, Error::Timeout { what: "progress", .. }), "{error}");
    assert_eq!(actor.since_start(), short.progress);
}

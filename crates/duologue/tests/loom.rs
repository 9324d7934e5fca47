//! The pipe in memory, and the boxes of strands, in the orders in which two threads may lock, sleep and wake each other: a
//! wake-up that is lost in one of them is a deadlock, as loom's waits never time out.
//!
//! Only these files lie open to loom, since they share state by `std::sync` alone; whatever goes through rayon, sockets or
//! clocks runs under the thread sanitizer (`make race`).

// These files say `std::sync`, and get loom's.
extern crate self as std;
extern crate std as real;
use real::*;

mod sync {
    pub use loom::sync::{Arc, Condvar, Mutex, MutexGuard};
    pub use real::sync::PoisonError;
}

mod clock {
    pub use real::time::Instant;
}

#[allow(dead_code)]
#[path = "../src/executor/mail.rs"]
mod mail;
#[allow(dead_code)]
#[path = "../src/channel/memory.rs"]
mod memory;
#[allow(dead_code)]
#[path = "../src/outbox.rs"]
mod outbox;
#[allow(dead_code)]
#[path = "../src/channel/pipe.rs"]
mod pipe;

use loom::thread;
use mail::{Boxes, Mail, Place, Turn, Wire};
use memory::MemoryPipe;
use outbox::Outbox;
use pipe::Pipe;
use std::io::{self, ErrorKind};
use std::sync::Arc;
use std::time::Duration;

/// Tries until it need not wait.
fn wait<T>(
    end: &mut MemoryPipe,
    for_write: bool,
    mut attempt: impl FnMut(&mut MemoryPipe) -> io::Result<T>,
) -> io::Result<T> {
    loop {
        match attempt(end) {
            Err(why) if why.kind() == ErrorKind::WouldBlock => end.wait(for_write, Duration::from_secs(3600))?,
            done => return done,
        }
    }
}

fn write(end: &mut MemoryPipe, bytes: &[u8]) -> io::Result<()> {
    let mut written = 0;
    while written < bytes.len() {
        written += wait(end, true, |end| end.try_write(&bytes[written..]))?;
    }
    Ok(())
}

/// Reads to the end of the stream.
fn read(end: &mut MemoryPipe) -> Vec<u8> {
    let mut all = Vec::new();
    loop {
        let mut some = [0; 2];
        match wait(end, false, |end| end.try_read(&mut some)).unwrap() {
            0 => return all,
            count => all.extend_from_slice(&some[..count]),
        }
    }
}

/// Runs both ends in every order with at most three switches away from a thread that could go on. Without that bound the
/// tests take some hundred times as long.
fn both(capacity: usize, ours: fn(MemoryPipe), theirs: fn(MemoryPipe)) {
    let mut orders = loom::model::Builder::new();
    orders.preemption_bound = Some(3);
    orders.check(move || {
        let (a, b) = memory::pair(capacity);
        let other = thread::spawn(move || theirs(b));
        ours(a);
        other.join().unwrap();
    });
}

#[test]
fn a_writer_waits_for_room_and_a_reader_for_bytes() {
    for capacity in [1, 2] {
        let writes = |mut end: MemoryPipe| {
            write(&mut end, &[1, 2]).unwrap();
            end.close_write();
        };
        both(capacity, writes, |mut end| assert_eq!(read(&mut end), [1, 2]));
    }
}

#[test]
fn an_answer_comes_to_who_waits_for_it() {
    let asks = |mut end: MemoryPipe| {
        write(&mut end, &[1]).unwrap();
        end.close_write();
        assert_eq!(read(&mut end), [2]);
    };
    let answers = |mut end: MemoryPipe| {
        assert_eq!(read(&mut end), [1]);
        write(&mut end, &[2]).unwrap();
    };
    both(1, asks, answers);
}

#[test]
fn a_given_outbox_waits_for_room_and_is_read() {
    let gives = |mut end: MemoryPipe| {
        write(&mut end, &[1]).unwrap();
        let mut outbox = Outbox::default();
        outbox.extend_from_slice(&[2, 3]);
        match end.try_give(&mut outbox) {
            Ok(given) => assert!(given == 2 && outbox.is_empty()),
            Err(_) => write(&mut end, &outbox).unwrap(),
        }
        end.close_write();
    };
    for capacity in [1, 2, 3] {
        both(capacity, gives, |mut end| assert_eq!(read(&mut end), [1, 2, 3]));
    }
}

#[test]
fn an_end_that_is_gone_wakes_who_writes_and_who_reads() {
    let writes = |mut end: MemoryPipe| {
        let failed = write(&mut end, &[1, 2, 3]).unwrap_err();
        assert_eq!(failed.kind(), ErrorKind::BrokenPipe);
    };
    both(1, writes, |mut end| assert_eq!(wait(&mut end, false, |end| end.try_read(&mut [0])).unwrap(), 1));
    both(1, |mut end| assert_eq!(read(&mut end), []), drop);
}

/// A peer who hears or says the number of each strand in turn.
struct Peer {
    turns: Vec<Turn>,
    /// The exchange that fails.
    fails: Option<usize>,
}

impl Wire for Peer {
    type Error = ();

    fn next(&self) -> Option<Turn> {
        self.turns.last().copied()
    }

    fn exchange(&mut self, outbox: &mut Outbox, inbox: &mut Outbox) -> Result<(), ()> {
        let turn = self.turns.pop().ok_or(())?;
        if Some(self.turns.len()) == self.fails {
            return Err(());
        }
        if turn.sent > 0 {
            assert_eq!(**outbox, [turn.strand as u8]);
            outbox.clear();
        }
        if turn.read > 0 {
            inbox.only(1)[0] = turn.strand as u8;
        }
        Ok(())
    }
}

/// Two strands of so many exchanges each, of which `sent` and `read` bytes go and come.
fn mail(rounds: usize, [sent, read]: [usize; 2], fails: Option<usize>) -> Mail<Peer> {
    let turns = (0..rounds).flat_map(|_| [1, 0].map(|strand| Turn { strand, sent, read })).collect();
    Mail::new(Peer { turns, fails }, vec![Boxes::default(), Boxes::default()], 1, Duration::ZERO)
}

/// Goes through a strand as an evaluator or a garbler does, and makes exchanges if it shall. Whether it came to the end.
fn follow(mail: &Mail<Peer>, strand: usize, rounds: usize, [sent, read]: [usize; 2], relays: bool) -> bool {
    // Whoever reads asks first.
    let (mut left, mut reads) = (rounds + usize::from(read > 0), false);
    loop {
        let place = Place { strand, reads };
        let ours = if left > 0 { &[place][..] } else { &[] };
        if let Some((inbox, mut outbox)) = ours.first().and_then(|&place| mail.take(place)) {
            assert!(!reads || *inbox == [strand as u8]);
            left -= 1;
            reads = read > 0;
            if sent > 0 {
                outbox.extend_from_slice(&[strand as u8]);
            }
            mail.put(strand, (inbox, outbox));
        } else if left == 0 && (!relays || mail.is_over()) {
            return true;
        }
        let ours = if left > 0 { &[Place { strand, reads }][..] } else { &[] };
        if relays && mail.relay(ours).is_err() {
            mail.stop();
            return false;
        }
        if (left > 0 || relays && !mail.is_over()) && !mail.wait(ours, relays) {
            return false;
        }
    }
}

fn orders() -> loom::model::Builder {
    let mut orders = loom::model::Builder::new();
    orders.preemption_bound = Some(3);
    orders
}

#[test]
fn two_threads_follow_strands_and_make_the_exchanges_between() {
    for bytes in [[1, 0], [0, 1]] {
        orders().check(move || {
            let ours = Arc::new(mail(2, bytes, None));
            let theirs = ours.clone();
            let other = thread::spawn(move || follow(&theirs, 1, 2, bytes, true));
            assert!(follow(&ours, 0, 2, bytes, true));
            assert!(other.join().unwrap() && ours.is_over());
        });
    }
}

#[test]
fn one_thread_makes_the_exchanges_of_another() {
    for bytes in [[1, 0], [0, 1]] {
        orders().check(move || {
            let turns = vec![Turn { strand: 0, sent: bytes[0], read: bytes[1] }; 2];
            let peer = Peer { turns, fails: None };
            let ours = Arc::new(Mail::new(peer, vec![Boxes::default()], 1, Duration::ZERO));
            let theirs = ours.clone();
            let other = thread::spawn(move || follow(&theirs, 0, 2, bytes, false));
            while !ours.is_over() {
                ours.relay(&[]).unwrap();
                assert!(ours.wait(&[], true));
            }
            assert!(other.join().unwrap());
        });
    }
}

#[test]
fn nobody_waits_for_an_exchange_that_failed() {
    for (bytes, fails) in [([1, 0], 0), ([0, 1], 1)] {
        orders().check(move || {
            let ours = Arc::new(mail(2, bytes, Some(fails)));
            let theirs = ours.clone();
            let other = thread::spawn(move || follow(&theirs, 1, 2, bytes, true));
            let done = follow(&ours, 0, 2, bytes, true);
            assert!(!done || !other.join().unwrap());
        });
    }
}

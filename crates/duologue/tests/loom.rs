//! The pipe in memory in the orders in which two threads may lock, sleep and wake each other: a wake-up that is lost in
//! one of them is a deadlock, as loom's waits never time out.
//!
//! Only this file lies open to loom, since it shares state by `std::sync` alone; whatever goes through rayon, sockets or
//! clocks runs under the thread sanitizer (`make race`).

// The pipe's file says `std::sync`, and gets loom's.
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
#[path = "../src/channel/memory.rs"]
mod memory;
#[allow(dead_code)]
#[path = "../src/outbox.rs"]
mod outbox;
#[allow(dead_code)]
#[path = "../src/channel/pipe.rs"]
mod pipe;

use loom::thread;
use memory::MemoryPipe;
use outbox::Outbox;
use pipe::Pipe;
use std::io::{self, ErrorKind};
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

//! A simulated link keeps what it promises, in virtual time to the microsecond; and once in real time.

use super::virtual_time::{self, Simulated, VirtualTime};
use super::*;
use std::io;

fn linked(text: &str) -> (VirtualTime, Channel, Channel) {
    virtual_time::channels(Some(text.parse().unwrap()), limits())
}

fn milliseconds(time: Duration, range: std::ops::Range<f64>) {
    let ms = time.as_secs_f64() * 1e3;
    assert!(range.contains(&ms), "{ms:.3} ms, expected {range:?}");
}

fn send(c: &mut Channel, len: usize) {
    c.send(&vec![7; len]).unwrap();
    c.flush().unwrap();
}

#[test]
fn one_message_takes_half_a_round_trip() {
    let (_, arrival) = virtual_time::both(
        linked("100ms"),
        |_, a| send(a, 100),
        |actor, b| {
            b.recv(100).unwrap();
            actor.since_start()
        },
    );
    milliseconds(arrival, 50.0..50.001);
}

/// By the system's clock a message is never too early, and late by less than 20 times.
#[test]
fn one_message_takes_half_a_round_trip_in_real_time() {
    let ends = memory::pair(memory::CAPACITY);
    let link = "100ms".parse().unwrap();
    let [a, b] = [ends.0, ends.1].map(|end| Channel::over(end, limits()).shaped(link).unwrap());
    let start = Instant::now();
    let (_, arrival) = both(
        (a, b),
        |a| send(a, 100),
        |b| {
            b.recv(100).unwrap();
            start.elapsed()
        },
    );
    milliseconds(arrival, 50.0..1000.0);
}

#[test]
fn an_exchange_takes_half_a_round_trip() {
    let party = |actor: &virtual_time::Actor, c: &mut Channel| {
        send(c, 100);
        c.recv(100).unwrap();
        actor.since_start()
    };
    let (a, b) = virtual_time::both(linked("100ms"), party, party);
    milliseconds(a, 50.0..50.001);
    milliseconds(b, 50.0..50.001);
}

/// How long it takes to ask and be answered so many times.
fn rounds(link: &str, count: u32) -> Duration {
    let (time, ()) = virtual_time::both(
        linked(link),
        |actor, a| {
            for _ in 0..count {
                send(a, 8);
                a.recv(8).unwrap();
            }
            assert_eq!(a.counters().rounds, u64::from(count));
            actor.since_start()
        },
        |_, b| {
            for _ in 0..count {
                b.recv(8).unwrap();
                send(b, 8);
            }
        },
    );
    time
}

#[test]
fn ten_rounds_take_ten_round_trips() {
    milliseconds(rounds("20ms", 10), 200.0..200.01);
}

#[test]
fn a_local_network_is_precise() {
    // Half a message of 12 bytes takes 0.1 µs.
    milliseconds(rounds("lan", 500), 100.0..100.2);
}

#[test]
fn the_rate_is_kept_in_each_direction_alone() {
    const LEN: usize = 10_000_000;
    let party = |actor: &virtual_time::Actor, c: &mut Channel| {
        send(c, LEN);
        c.recv(LEN).unwrap();
        actor.since_start()
    };
    let (a, b) = virtual_time::both(linked("10ms,100Mbit"), party, party);
    milliseconds(a, 805.0..806.0);
    milliseconds(b, 805.0..806.0);
}

#[test]
fn a_fast_link_is_fast() {
    const LEN: usize = 50_000_000;
    let (_, time) = virtual_time::both(
        linked("100ms,1Gbit"),
        |_, a| send(a, LEN),
        |actor, b| {
            b.recv(LEN).unwrap();
            actor.since_start()
        },
    );
    milliseconds(time, 450.0..451.0);
}

#[test]
fn what_was_sent_before_the_end_arrives() {
    let (time, mut a, mut b) = linked("40ms,10Mbit");
    let actor = time.enter();
    send(&mut a, 30_000);
    a.abort(AbortCode::Cancelled, "bye");
    assert_eq!(b.recv(30_000).unwrap(), [7; 30_000]);
    let error = b.recv(1).unwrap_err();
    assert!(matches!(error, Error::Aborted(_)), "{error}");
    milliseconds(actor.since_start(), 44.0..44.1);
    drop((a, b, actor));
}

#[test]
fn both_ends_must_be_shaped() {
    let (a, mut b) = Channel::pair();
    let mut a = a.shaped(Link::LAN).unwrap();
    send(&mut a, 10);
    assert!(matches!(b.recv(10), Err(Error::Peer(_))));
    b.flush().unwrap_err();
    assert!(matches!(b.shaped(Link::LAN), Err(Error::Usage(_))));
}

#[test]
fn a_used_channel_is_not_shaped() {
    let (mut a, _b) = Channel::pair();
    send(&mut a, 1);
    assert!(matches!(a.shaped(Link::LAN), Err(Error::Usage(_))));
}

/// A pipe that, like a socket, tells only that it has room *again*: it was never full.
struct OnlyEdges(Simulated, VirtualTime);

impl Pipe for OnlyEdges {
    fn try_read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        self.0.try_read(into)
    }

    fn try_write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.try_write(bytes)
    }

    fn wait(&mut self, _: bool, timeout: Duration) -> io::Result<()> {
        self.1.sleep(timeout);
        Ok(())
    }

    fn close_write(&mut self) {
        self.0.close_write();
    }
}

/// Between a refused write and the wait for room the link may have become free: then there is nothing to wait for, and
/// the pipe below, which took everything, would say nothing for ever.
#[test]
fn a_link_that_has_room_again_is_not_waited_for() {
    let time = VirtualTime::new();
    let actor = time.enter();
    let (a, _b) = virtual_time::pair(&time, 64 << 20);
    let link = Link { round_trip: Duration::ZERO, bits_per_second: Some(1_000_000_000) };
    let below = OnlyEdges(a, time.clone());
    let mut shaped = Shaped::by_clock(Clock::Virtual(time), below, link);
    let bytes = vec![0; 1 << 20];
    while shaped.try_write(&bytes).is_ok() {}
    actor.sleep(Duration::from_millis(50));
    shaped.wait(true, Duration::from_secs(3)).unwrap();
    assert_eq!(actor.since_start(), Duration::from_millis(50), "it waited for an event that cannot come");
}

//! A simulated line keeps what it promises: never faster, and not much slower.

use super::*;
use std::io;

fn line(text: &str) -> (Channel, Channel) {
    let link = text.parse().unwrap();
    let (a, b) = Channel::pair();
    (a.shaped(link).unwrap(), b.shaped(link).unwrap())
}

fn milliseconds(time: Duration, range: std::ops::Range<f64>) {
    let ms = time.as_secs_f64() * 1e3;
    assert!(range.contains(&ms), "{ms:.2} ms, expected {range:?}");
}

fn send(c: &mut Channel, len: usize) {
    c.send(&vec![7; len]).unwrap();
    c.flush().unwrap();
}

#[test]
fn one_message_takes_half_a_round_trip() {
    let start = Instant::now();
    let (_, arrival) = both(
        line("100ms"),
        |a| send(a, 100),
        |b| {
            b.recv(100).unwrap();
            start.elapsed()
        },
    );
    milliseconds(arrival, 50.0..75.0);
}

#[test]
fn an_exchange_takes_half_a_round_trip() {
    let party = |c: &mut Channel| {
        let start = Instant::now();
        send(c, 100);
        c.recv(100).unwrap();
        start.elapsed()
    };
    let (a, b) = both(line("100ms"), party, party);
    // Whoever starts later waits less.
    milliseconds(a.max(b), 50.0..75.0);
}

#[test]
fn ten_rounds_take_ten_round_trips() {
    let (time, ()) = both(
        line("20ms"),
        |a| {
            let start = Instant::now();
            for _ in 0..10 {
                send(a, 8);
                a.recv(8).unwrap();
            }
            assert_eq!(a.counters().rounds, 10);
            start.elapsed()
        },
        |b| {
            for _ in 0..10 {
                b.recv(8).unwrap();
                send(b, 8);
            }
        },
    );
    milliseconds(time, 200.0..240.0);
}

#[test]
fn a_local_network_is_precise() {
    let (time, ()) = both(
        line("lan"),
        |a| {
            let start = Instant::now();
            for _ in 0..500 {
                send(a, 8);
                a.recv(8).unwrap();
            }
            start.elapsed()
        },
        |b| {
            for _ in 0..500 {
                b.recv(8).unwrap();
                send(b, 8);
            }
        },
    );
    milliseconds(time, 100.0..400.0);
}

#[test]
fn the_rate_is_kept_in_each_direction_alone() {
    const LEN: usize = 10_000_000;
    let start = Instant::now();
    let party = |c: &mut Channel| {
        send(c, LEN);
        c.recv(LEN).unwrap();
        start.elapsed()
    };
    let (a, b) = both(line("10ms,100Mbit"), party, party);
    milliseconds(a.max(b), 805.0..950.0);
    milliseconds(a.min(b), 805.0..950.0);
}

#[test]
fn a_fast_line_is_fast() {
    const LEN: usize = 50_000_000;
    let start = Instant::now();
    let (_, time) = both(
        line("100ms,1Gbit"),
        |a| send(a, LEN),
        |b| {
            b.recv(LEN).unwrap();
            start.elapsed()
        },
    );
    milliseconds(time, 450.0..1500.0);
}

#[test]
fn what_was_sent_before_the_end_arrives() {
    let (mut a, mut b) = line("40ms,10Mbit");
    send(&mut a, 30_000);
    let start = Instant::now();
    a.abort(AbortCode::Cancelled, "bye");
    assert_eq!(b.recv(30_000).unwrap(), [7; 30_000]);
    let error = b.recv(1).unwrap_err();
    assert!(matches!(error, Error::Aborted(_)), "{error}");
    milliseconds(start.elapsed(), 40.0..90.0);
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
struct OnlyEdges(memory::MemoryPipe);

impl Pipe for OnlyEdges {
    fn try_read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        self.0.try_read(into)
    }

    fn try_write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.try_write(bytes)
    }

    fn wait(&mut self, _: bool, timeout: Duration) -> io::Result<()> {
        thread::sleep(timeout);
        Ok(())
    }

    fn close_write(&mut self) {
        self.0.close_write();
    }
}

/// Between a refused write and the wait for room the line may have become free: then there is nothing to wait for, and
/// the pipe below, which took everything, would say nothing for ever.
#[test]
fn a_line_that_has_room_again_is_not_waited_for() {
    let (a, _b) = memory::pair(64 << 20);
    let link = Link { round_trip: Duration::ZERO, bits_per_second: Some(1_000_000_000) };
    let mut line = Shaped::new(OnlyEdges(a), link);
    let bytes = vec![0; 1 << 20];
    while line.try_write(&bytes).is_ok() {}
    thread::sleep(Duration::from_millis(50));
    let start = Instant::now();
    line.wait(true, Duration::from_secs(3)).unwrap();
    assert!(start.elapsed() < Duration::from_secs(2), "it waited for an event that cannot come");
}

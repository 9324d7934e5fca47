//! One suite for every kind of channel: a transport gets all of it in one line.

use std::io::ErrorKind;
use std::net::{TcpListener, TcpStream};
use std::thread;
use std::time::{Duration, Instant};

use super::*;

/// Socket buffers far below what is sent at once. With less the kernel's window is smaller than a
/// packet of the loopback device, and every packet waits for a timer.
const TINY: usize = 64 << 10;

type Pipes = (Box<dyn Pipe>, Box<dyn Pipe>);

fn memory_pipes() -> Pipes {
    let (a, b) = memory::pair(memory::CAPACITY);
    (Box::new(a), Box::new(b))
}

fn tiny_memory_pipes() -> Pipes {
    let (a, b) = memory::pair(61);
    (Box::new(a), Box::new(b))
}

fn sockets(address: &str, buffers: Option<usize>) -> (TcpPipe, TcpPipe) {
    let listener = TcpListener::bind(address).unwrap();
    let a = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
    let b = listener.accept().unwrap().0;
    (TcpPipe::new(a, buffers).unwrap(), TcpPipe::new(b, buffers).unwrap())
}

fn tcp_pipes() -> Pipes {
    let (a, b) = sockets("127.0.0.1:0", None);
    (Box::new(a), Box::new(b))
}

fn tcp6_pipes() -> Pipes {
    let (a, b) = sockets("[::1]:0", None);
    (Box::new(a), Box::new(b))
}

fn tiny_tcp_pipes() -> Pipes {
    let (a, b) = sockets("127.0.0.1:0", Some(TINY));
    (Box::new(a), Box::new(b))
}

fn tls_pipes() -> Pipes {
    let (a, b) = sockets("127.0.0.1:0", None);
    encrypted(a, b)
}

fn tiny_tls_pipes() -> Pipes {
    let (a, b) = sockets("127.0.0.1:0", Some(TINY));
    encrypted(a, b)
}

fn encrypted(a: impl Pipe + 'static, b: impl Pipe + 'static) -> Pipes {
    let (alice, bob) = (Identity::generate().unwrap(), Identity::generate().unwrap());
    let until = Instant::now() + Duration::from_secs(10);
    let mut client = tls::TlsPipe::client(a, &alice, bob.public()).unwrap();
    let mut server = tls::TlsPipe::server(b, &bob, &[alice.public()]).unwrap();
    thread::scope(|scope| {
        scope.spawn(|| server.meet(until, &Canceller::new()).unwrap());
        client.meet(until, &Canceller::new()).unwrap();
    });
    (Box::new(client), Box::new(server))
}

fn shaped_pipes() -> Pipes {
    let (a, b) = memory::pair(memory::CAPACITY);
    let link: Link = "1ms,1Gbit".parse().unwrap();
    (Box::new(Shaped::new(a, link)), Box::new(Shaped::new(b, link)))
}

fn shaped_tls_pipes() -> Pipes {
    let (a, b) = tls_pipes();
    (Box::new(Shaped::new(a, Link::LAN)), Box::new(Shaped::new(b, Link::LAN)))
}

/// Limits that end a test that hangs, and that no machine is too slow for.
fn limits() -> Limits {
    let long = Duration::from_secs(100);
    Limits { silence: long, progress: long, meet: long, ..Limits::default() }
}

fn channels(pipes: fn() -> Pipes, limits: Limits) -> (Channel, Channel) {
    let (a, b) = pipes();
    (Channel::over(a, limits), Channel::over(b, limits))
}

/// Runs both parties, each in a thread.
fn both<A: Send, B: Send>(
    (mut a, mut b): (Channel, Channel),
    alice: impl FnOnce(&mut Channel) -> A + Send,
    bob: impl FnOnce(&mut Channel) -> B + Send,
) -> (A, B) {
    thread::scope(|scope| {
        let bob = scope.spawn(move || bob(&mut b));
        let alice = alice(&mut a);
        (alice, bob.join().unwrap())
    })
}

/// Bytes in which no two places look alike for long.
fn pattern(len: usize) -> Vec<u8> {
    (0..len as u64).map(|i| (i.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 56) as u8).collect()
}

/// Writes raw bytes to a pipe.
fn write_raw(pipe: &mut dyn Pipe, mut bytes: &[u8]) {
    while !bytes.is_empty() {
        match pipe.try_write(bytes) {
            Ok(n) => bytes = &bytes[n..],
            Err(e) if e.kind() == ErrorKind::WouldBlock => pipe.wait(true, Duration::from_millis(10)).unwrap(),
            Err(e) if e.kind() == ErrorKind::BrokenPipe => return,
            Err(e) if e.kind() == ErrorKind::ConnectionReset => return,
            Err(e) => panic!("{e}"),
        }
    }
    while pipe.try_flush().is_err() {
        pipe.wait(true, Duration::from_millis(10)).unwrap();
    }
}

mod deadlines;
mod hostile;
mod link;
mod meeting;
pub(crate) mod virtual_time;

mod cases {
    use super::*;

    pub fn echo_and_odd_sizes(pipes: fn() -> Pipes) {
        let sizes =
            [0, 1, 3, 4, 5, 1000, 32_767, 32_768, 32_769, 65_537, (1 << 20) - 1, 1 << 20, (1 << 20) + 1, 3_000_001];
        let (sent, received) = both(
            channels(pipes, limits()),
            |a| {
                for len in sizes {
                    a.send(&pattern(len)).unwrap();
                    assert!(a.recv(len).unwrap() == pattern(len), "{len} bytes");
                }
                a.finish().unwrap();
                a.counters()
            },
            |b| {
                for len in sizes {
                    let bytes = b.recv(len).unwrap();
                    b.send(&bytes).unwrap();
                }
                b.finish().unwrap();
                b.counters()
            },
        );
        let total = sizes.iter().sum::<usize>() as u64;
        for counters in [sent, received] {
            assert_eq!((counters.bytes_sent, counters.bytes_received), (total, total));
            assert!(counters.wire_sent > total && counters.wire_sent < total + 400);
        }
        assert_eq!((sent.wire_sent, sent.wire_received), (received.wire_received, received.wire_sent));
        assert_eq!((sent.rounds, sent.flushes), (13, 13));
        // Bob turns once less: nothing is received after his last answer.
        assert_eq!((received.rounds, received.flushes), (12, 13));
    }

    pub fn many_small_sends_cut_differently(pipes: fn() -> Pipes) {
        const TOTAL: usize = 300_000;
        let bytes = &pattern(TOTAL);
        both(
            channels(pipes, limits()),
            |a| {
                for piece in bytes.chunks(7) {
                    a.send(piece).unwrap();
                }
                a.finish().unwrap();
            },
            |b| {
                for piece in bytes.chunks(1013) {
                    assert_eq!(b.recv(piece.len()).unwrap(), piece);
                }
                b.finish().unwrap();
            },
        );
    }

    pub fn everybody_sends_first(pipes: fn() -> Pipes, len: usize) {
        let bytes = &pattern(len);
        let party = |c: &mut Channel| {
            c.send(bytes).unwrap();
            assert!(c.recv(len).unwrap() == *bytes);
            c.finish().unwrap();
        };
        both(channels(pipes, limits()), party, party);
    }

    /// Outboxes that hold little, fill their memory or not, are more than a frame, or come after small sends.
    pub fn given_outboxes_come_as_bytes(pipes: fn() -> Pipes) {
        let sizes = [500_000, 500_000, 100_000, 300_000, 1_500_000, 70_000, 5, 1_000_000];
        let (sent, received) = both(
            channels(pipes, limits()),
            |a| {
                let mut outbox = Outbox::default();
                for len in sizes {
                    a.send(b"head").unwrap();
                    outbox.extend_from_slice(&pattern(len));
                    a.give(&mut outbox).unwrap();
                    assert!(outbox.is_empty());
                }
                a.finish().unwrap();
                a.counters()
            },
            |b| {
                for len in sizes {
                    assert_eq!(b.recv(4).unwrap(), b"head");
                    assert!(b.recv(len).unwrap() == pattern(len), "{len} bytes");
                }
                b.finish().unwrap();
                b.counters()
            },
        );
        let total = sizes.iter().map(|len| 4 + len).sum::<usize>() as u64;
        assert_eq!((sent.bytes_sent, received.bytes_received), (total, total));
        assert_eq!((sent.wire_sent, sent.flushes), (received.wire_received, 1));
    }

    pub fn an_abort_is_noticed_while_sending(pipes: fn() -> Pipes) {
        let bytes = &pattern(1 << 20);
        let (error, ()) = both(
            channels(pipes, limits()),
            |a| loop {
                if let Err(error) = a.send(bytes) {
                    assert!(matches!(a.send(b"x"), Err(Error::Dead(_))));
                    break error;
                }
            },
            |b| {
                b.recv(1000).unwrap();
                b.abort(AbortCode::Cancelled, "enough");
            },
        );
        assert_eq!(error.to_string(), "the peer stopped: it was cancelled: enough");
    }

    pub fn an_abort_is_noticed_while_receiving(pipes: fn() -> Pipes) {
        let (error, ()) =
            both(channels(pipes, limits()), |a| a.recv(10).unwrap_err(), |b| b.abort(AbortCode::Failed, "disk full"));
        assert_eq!(error.to_string(), "the peer stopped: it failed: disk full");
    }

    pub fn what_came_before_an_abort_is_still_there(pipes: fn() -> Pipes) {
        let (came, ()) = both(
            channels(pipes, limits()),
            |a| {
                let error = loop {
                    match a.pending() {
                        Ok(_) => thread::yield_now(),
                        Err(error) => break error,
                    }
                };
                assert!(matches!(error, Error::Aborted(_)), "{error}");
                assert!(matches!(a.recv(3), Err(Error::Dead(_))));
                [3, 3, 2].map(|len| a.came_before_the_end(len))
            },
            |b| {
                b.send(b"12345").unwrap();
                b.flush().unwrap();
                b.abort(AbortCode::Failed, "disk full");
            },
        );
        assert_eq!(came, [Some(b"123".to_vec()), None, Some(b"45".to_vec())]);
    }

    pub fn a_wait_can_be_cancelled(pipes: fn() -> Pipes) {
        let (theirs, ()) = both(
            channels(pipes, limits()),
            |a| a.recv(10).unwrap_err(),
            |b| {
                let canceller = b.canceller();
                thread::scope(|scope| {
                    scope.spawn(|| {
                        thread::sleep(Duration::from_millis(20));
                        canceller.cancel();
                    });
                    assert!(matches!(b.recv(1), Err(Error::Cancelled)));
                });
                b.abort(AbortCode::Cancelled, "Ctrl-C");
            },
        );
        assert_eq!(theirs.to_string(), "the peer stopped: it was cancelled: Ctrl-C");
    }

    /// The peer reads nothing until a frame waits for it, and then the party is cancelled: the frame is finished, and what follows it
    /// is read. The party's time stands still, so that it gives up neither, however late the peer reads.
    pub fn a_frame_is_finished_before_a_cancelled_party_stops(pipes: fn() -> Pipes) {
        let (a, b) = pipes();
        let (cancelled, is_cancelled) = std::sync::mpsc::channel();
        let (_still, a) = deadlines::cancelled_when_full(a, limits(), cancelled);
        let (ours, theirs) = both(
            (a, Channel::over(b, limits())),
            |a| {
                let error = (0..).find_map(|_| a.send(&pattern(50_000)).err()).unwrap();
                a.abort(AbortCode::Cancelled, "Ctrl-C");
                error
            },
            move |b| {
                is_cancelled.recv().unwrap();
                (0..).find_map(|_| b.recv(1000).err()).unwrap()
            },
        );
        assert!(matches!(ours, Error::Cancelled), "{ours}");
        assert_eq!(theirs.to_string(), "the peer stopped: it was cancelled: Ctrl-C");
    }

    pub fn a_dropped_channel_tells(pipes: fn() -> Pipes) {
        let (mut a, b) = channels(pipes, limits());
        thread::scope(|scope| {
            scope.spawn(|| drop(b));
            let error = a.recv(1).unwrap_err();
            assert!(matches!(&error, Error::Aborted(why) if why.contains("went away")), "{error}");
        });
    }

    pub fn a_pipe_closed_mid_frame_is_closed(pipes: fn() -> Pipes) {
        for bytes in [&b""[..], b"\x01\x05", b"\x01\x05\x00\x00abc"] {
            let (mut raw, b) = pipes();
            let mut b = Channel::over(b, limits());
            thread::scope(|scope| {
                scope.spawn(move || {
                    write_raw(&mut *raw, bytes);
                    raw.close_write();
                });
                let error = b.recv(5).unwrap_err();
                assert!(matches!(error, Error::Closed(_)), "{error}");
            });
        }
    }

    pub fn hostile_bytes_are_the_peers_fault(pipes: fn() -> Pipes) {
        for bytes in [
            &b"GET / HTTP/1.1\r\n\r\n"[..],
            b"\x01\x01\x00\x10",
            b"\x01\xff\xff\xff",
            b"\x01\x00\x00\x00",
            b"\x02\xff\xff\x00",
            b"\x03\x01\x00\x00",
            b"\x00",
            b"\x04\x00\x00\x00",                              // the end, too early
            b"\x01\x01\x00\x00a\x04\x00\x00\x00\x01\x01\x00", // part of a message, then the end
        ] {
            let (mut raw, b) = pipes();
            let mut b = Channel::over(b, limits());
            thread::scope(|scope| {
                let writer = scope.spawn(move || {
                    write_raw(&mut *raw, bytes);
                    raw
                });
                let error = b.recv(2).unwrap_err();
                assert!(matches!(error, Error::Peer(_)), "{bytes:?}: {error}");
                drop(b);
                drop(writer.join());
            });
        }
    }

    pub fn a_silent_peer_is_given_up(pipes: fn() -> Pipes) {
        let (_peer, pipe) = pipes();
        let short = Limits { silence: Duration::from_millis(1234), ..limits() };
        let (actor, mut b) = deadlines::stepped(pipe, short, || false);
        let error = b.recv(1).unwrap_err();
        assert!(matches!(error, Error::Timeout { what: "sign of life", .. }), "{error}");
        assert_eq!(actor.since_start(), short.silence);
    }

    pub fn a_peer_that_only_lives_is_given_up(pipes: fn() -> Pipes) {
        let (mut peer, pipe) = pipes();
        let short = Limits { silence: Duration::from_millis(200), progress: Duration::from_millis(1234), ..limits() };
        write_raw(&mut *peer, b"\x01\x01\x00\x00x");
        let heartbeat = move || {
            write_raw(&mut *peer, &frame::progress());
            true
        };
        let (actor, mut b) = deadlines::stepped(pipe, short, heartbeat);
        assert_eq!(b.recv(1).unwrap(), b"x");
        let since = actor.since_start();
        let error = b.recv(1).unwrap_err();
        assert!(matches!(error, Error::Timeout { what: "progress", .. }), "{error}");
        assert_eq!(actor.since_start() - since, short.progress);
    }

    pub fn data_left_over_at_the_end_is_an_error(pipes: fn() -> Pipes) {
        let (left, right) = both(
            channels(pipes, limits()),
            |a| {
                a.send(b"one too many").unwrap();
                a.finish()
            },
            |b| {
                b.recv(11).unwrap();
                b.finish()
            },
        );
        assert!(matches!(right, Err(Error::Peer(_))), "{right:?}");
        // Whether Alice hears of it depends on whether Bob saw it before he said his end.
        assert!(matches!(left, Ok(()) | Err(Error::Aborted(_))), "{left:?}");
    }

    pub fn pending_sees_what_has_come(pipes: fn() -> Pipes) {
        let (mut a, mut b) = channels(pipes, limits());
        assert_eq!(b.pending().unwrap(), 0);
        thread::scope(|scope| {
            scope.spawn(|| {
                a.send(b"12345").unwrap();
                a.flush().unwrap();
            });
            assert_eq!(b.recv(2).unwrap(), b"12");
            // The rest of the message comes without our asking for it.
            while b.pending().unwrap() < 3 {
                thread::yield_now();
            }
            assert_eq!(b.recv(3).unwrap(), b"345");
            assert_eq!(b.pending().unwrap(), 0);
        });
    }
}

macro_rules! conformance {
    ($($kind:ident: $pipes:expr, $flood:expr;)*) => {$(
        mod $kind {
            use super::*;
            conformance!(@ $pipes; echo_and_odd_sizes many_small_sends_cut_differently given_outboxes_come_as_bytes
                an_abort_is_noticed_while_sending an_abort_is_noticed_while_receiving
                what_came_before_an_abort_is_still_there
                a_wait_can_be_cancelled a_frame_is_finished_before_a_cancelled_party_stops
                a_dropped_channel_tells a_pipe_closed_mid_frame_is_closed
                hostile_bytes_are_the_peers_fault a_silent_peer_is_given_up
                a_peer_that_only_lives_is_given_up
                data_left_over_at_the_end_is_an_error pending_sees_what_has_come);
            #[test]
            fn everybody_sends_first() {
                cases::everybody_sends_first($pipes, $flood);
            }
        }
    )*};
    (@ $pipes:expr; $($case:ident)*) => {$(
        #[test]
        fn $case() {
            cases::$case($pipes);
        }
    )*};
}

#[test]
fn a_given_outbox_is_not_copied_and_its_memory_comes_back() {
    let (mut a, mut b) = memory::pair(100_000);
    let mut outbox = Outbox::default();
    outbox.extend_from_slice(&pattern(100_001));
    assert_eq!(a.try_give(&mut outbox).unwrap_err().kind(), ErrorKind::WouldBlock, "more than there is room");
    assert!(*outbox == pattern(100_001));
    outbox.clear();
    outbox.extend_from_slice(&pattern(90_000));
    let memory = outbox.as_ptr();
    assert_eq!(a.try_give(&mut outbox).unwrap(), 90_000);
    let mut read = vec![0; 90_000];
    assert_eq!(b.try_read(&mut read).unwrap(), 90_000);
    assert!(outbox.is_empty() && read == pattern(90_000));
    assert_eq!(b.try_read(&mut read).unwrap_err().kind(), ErrorKind::WouldBlock, "which gives the buffer back");
    outbox.extend_from_slice(&pattern(80_000));
    assert_eq!(a.try_give(&mut outbox).unwrap(), 80_000);
    outbox.extend_from_slice(&pattern(10));
    assert_eq!(outbox.as_ptr(), memory);
    drop(b);
    assert_eq!(a.try_give(&mut outbox).unwrap_err().kind(), ErrorKind::BrokenPipe);
}

conformance! {
    in_memory: memory_pipes, 100_000_000;
    in_tiny_memory: tiny_memory_pipes, 100_000;
    over_tcp: tcp_pipes, 100_000_000;
    over_tcp6: tcp6_pipes, 10_000_000;
    over_tiny_tcp: tiny_tcp_pipes, 100_000_000;
    over_tls: tls_pipes, 100_000_000;
    over_tiny_tls: tiny_tls_pipes, 10_000_000;
    shaped_memory: shaped_pipes, 20_000_000;
    shaped_tls: shaped_tls_pipes, 20_000_000;
}

//! Peers that do what no honest party does.

use super::*;
use proptest::prelude::*;

/// A channel that has these bytes to read, and then the end of the stream.
fn fed(bytes: &[u8], dress: impl Fn(memory::MemoryPipe) -> Box<dyn Pipe>) -> Channel {
    let (mut raw, b) = memory::pair(1 << 20);
    write_raw(&mut raw, bytes);
    raw.close_write();
    // The other direction stays open: writes succeed and are never read.
    std::mem::forget(raw);
    Channel::over(dress(b), limits())
}

/// Receives and looks until an error, which must come.
fn exhaust(channel: &mut Channel) -> Error {
    loop {
        if let Err(error) = channel.recv(3).map(drop).and_then(|()| channel.pending().map(drop)) {
            return error;
        }
    }
}

fn is_the_peers(error: &Error) -> bool {
    matches!(error, Error::Peer(_) | Error::Closed(_) | Error::Aborted(_))
}

/// Bytes that look like frames more often than chance would have it.
fn almost_frames() -> impl Strategy<Value = Vec<u8>> {
    let frame = (0u8..6, 0u32..9, prop::collection::vec(any::<u8>(), 0..9)).prop_map(|(kind, len, body)| {
        let mut bytes = vec![kind];
        bytes.extend_from_slice(&len.to_le_bytes()[..3]);
        bytes.extend(body);
        bytes
    });
    prop::collection::vec(frame, 0..20).prop_map(|frames| frames.concat())
}

proptest! {
    #[test]
    fn any_bytes_end_in_an_error_of_the_peer(bytes in almost_frames()) {
        let error = exhaust(&mut fed(&bytes, |pipe| Box::new(pipe)));
        prop_assert!(is_the_peers(&error), "{}", error);
    }

    #[test]
    fn a_sender_survives_any_bytes(bytes in almost_frames()) {
        // The pipe is full at once, so that everything that comes is drained.
        let mut channel = fed(&bytes, |pipe| Box::new(pipe));
        let error = channel.send(&vec![0; 3 << 20]).unwrap_err();
        prop_assert!(is_the_peers(&error), "{}", error);
    }

    #[test]
    fn any_bytes_on_a_link_end_in_an_error_of_the_peer(
        len in 0u32..20,
        mut bytes in prop::collection::vec(any::<u8>(), 0..60),
    ) {
        // A segment that has arrived long ago, and a small length.
        if bytes.len() >= 12 {
            bytes[..8].fill(0);
            bytes[8..12].copy_from_slice(&len.to_le_bytes());
        }
        let error = exhaust(&mut fed(&bytes, |pipe| Box::new(Shaped::new(pipe, Link::LAN))));
        prop_assert!(is_the_peers(&error), "{}", error);
    }

    #[test]
    fn any_bytes_fail_a_handshake(
        bytes in prop::collection::vec(any::<u8>(), 0..300),
        record in any::<bool>(),
        server in any::<bool>(),
    ) {
        let mut bytes = bytes;
        if record && bytes.len() > 9 {
            // A handshake record, so that more than the header is looked at.
            let len = (bytes.len() - 5) as u16;
            bytes[..3].copy_from_slice(&[22, 3, 3]);
            bytes[3..5].copy_from_slice(&len.to_be_bytes());
        }
        let (mut raw, pipe) = memory::pair(1 << 20);
        write_raw(&mut raw, &bytes);
        raw.close_write();
        let us = Identity::generate().unwrap();
        let peer = Identity::generate().unwrap().public();
        let tls = match server {
            true => tls::TlsPipe::server(pipe, &us, &[peer]),
            false => tls::TlsPipe::client(pipe, &us, peer),
        };
        let error = tls.unwrap().meet(Instant::now() + limits().meet, &Canceller::new()).unwrap_err();
        prop_assert!(is_the_peers(&error), "{}", error);
    }
}

#[test]
fn a_flood_while_we_send_is_bounded() {
    let (mut raw, b) = memory::pair(4 << 20);
    write_raw(&mut raw, &[&frame::data_header(100_000)[..], &[0; 100_000]].concat().repeat(20));
    let mut b = Channel::over(b, Limits { inbox: 1 << 20, ..limits() });
    // Nobody reads what we send: the pipe is full soon, and then what comes is taken in.
    let error = b.send(&vec![0; 64 << 20]).unwrap_err();
    assert!(matches!(&error, Error::Peer(why) if why.contains("1048576")), "{error}");
}

#[test]
fn the_end_is_the_end() {
    let mut channel = fed(b"\x04\0\0\0\x03\0\0\0", |pipe| Box::new(pipe));
    let error = channel.send(&vec![0; 3 << 20]).unwrap_err();
    assert!(matches!(&error, Error::Peer(why) if why.contains("after its end")), "{error}");
}

#[test]
fn a_finished_channel_is_finished() {
    let (mut a, mut b) = Channel::pair();
    thread::scope(|scope| {
        scope.spawn(|| b.finish().unwrap());
        a.finish().unwrap();
    });
    assert!(matches!(a.send(b"x"), Err(Error::Usage(_))));
    assert!(matches!(b.recv(1), Err(Error::Usage(_))));
}

#[test]
fn receiving_nothing_is_no_turn() {
    let (mut a, mut b) = Channel::pair();
    a.send(b"x").unwrap();
    a.recv(0).unwrap();
    assert_eq!(a.counters().rounds, 0);
    b.send(b"y").unwrap();
    b.recv(1).unwrap();
    a.recv(1).unwrap();
    assert_eq!((a.counters().rounds, b.counters().rounds), (1, 1));
}

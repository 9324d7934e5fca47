//! What travels between drivers.

use super::super::*;
use crate::agreement::Fields;
use crate::channel::memory::{self, MemoryPipe};
use crate::channel::{AbortCode, Channel, Limits, Pipe, PublicKey};
use crate::{Error, Party};
use proptest::prelude::*;
use std::collections::VecDeque;
use std::io;

fn key() -> PublicKey {
    PublicKey::from_bytes(curve25519_dalek::constants::ED25519_BASEPOINT_COMPRESSED.to_bytes()).unwrap()
}

fn all() -> Vec<Message> {
    let attempt = Attempt { shard: 3, number: 2 };
    let offer = |address: &str| Offer { key: key(), address: address.into() };
    let costs = Costs { micros: 1, sent: u64::MAX, received: 3, predicted: None };
    vec![
        Message::Free,
        Message::Gone,
        Message::Begin(attempt),
        Message::Ready(attempt, offer("")),
        Message::Ready(attempt, offer("[2001:db8::1]:7000")),
        Message::Ended(attempt, Verdict::Done(costs)),
        Message::Ended(attempt, Verdict::Failed(Reason::Deadline)),
        Message::Finished,
        Message::Failed,
    ]
}

#[test]
fn messages_are_read_as_they_were_written() {
    for message in all() {
        let bytes = message.encode();
        assert_eq!(Message::decode(&bytes[2..]).unwrap(), message);
        assert!(bytes.len() - 2 <= MOST_BODY);
        // What is shorter or longer is none; an address may have any length.
        let shorter = Message::decode(&bytes[2..bytes.len() - 1]);
        assert!(shorter.is_err() || matches!(&shorter, Ok(Message::Ready(..))), "{shorter:?}");
        assert!(Message::decode(&[&bytes[2..], &[0]].concat()).is_err(), "{message:?}");
    }
    for body in [&[][..], &[9], &[4; 41], &[6, 0, 0, 0, 0, 1, 0, 0, 0, 77]] {
        assert!(matches!(Message::decode(body), Err(Error::Peer(_))), "{body:?}");
    }
}

#[test]
fn an_address_is_fit_for_a_terminal() {
    for address in ["a\u{1b}[2J:1", "a b:1", &"a".repeat(MOST_ADDRESS + 1), "\u{202e}:1"] {
        let message = Message::Ready(Attempt { shard: 0, number: 1 }, Offer { key: key(), address: address.into() });
        assert!(Message::decode(&message.encode()[2..]).is_err(), "{address:?}");
    }
}

/// Both drivers say hello over a channel.
fn meet(alice: Hello, bob: Hello) -> [Result<Agreed, Error>; 2] {
    let (mut a, mut b) = Channel::pair();
    std::thread::scope(|scope| {
        let bob = scope.spawn(move || bob.exchange(&mut b));
        [alice.exchange(&mut a), bob.join().unwrap()]
    })
}

fn hello(party: Party, shards: &[(u32, u32)]) -> Hello {
    let progress = |&(begun, finished): &(u32, u32)| Progress { begun, finished: (finished > 0).then_some(finished) };
    let fields: Fields = vec![("the program", "'sum' 01".into()), ("the number of shards", shards.len().to_string())];
    Hello { party, fields, job: None, shards: shards.iter().map(progress).collect() }
}

#[test]
fn a_shard_is_finished_if_both_have_the_same_attempt() {
    let alice = Hello { job: Some([7; 32]), ..hello(Party::Alice, &[(1, 1), (2, 2), (1, 0), (3, 3)]) };
    let bob = hello(Party::Bob, &[(1, 1), (3, 3), (2, 0), (3, 0)]);
    let [alice, bob] = meet(alice, bob).map(Result::unwrap);
    let expected: Vec<Progress> =
        [(1, Some(1)), (3, None), (2, None), (3, None)].map(|(begun, finished)| Progress { begun, finished }).into();
    assert_eq!((alice.job, &alice.shards), ([7; 32], &expected));
    assert_eq!(alice, bob);
}

/// A driver whose next attempt has begun has no finished one.
#[test]
fn a_hello_of_an_earlier_attempt_that_finished_is_refused() {
    for theirs in [(2, 1), (1, 2), (u32::MAX, 0)] {
        let theirs = hello(Party::Bob, &[theirs]).encode(&[1; 32]).unwrap();
        assert!(matches!(hello(Party::Alice, &[(0, 0)]).agree(&[0; 32], &theirs), Err(Error::Peer(_))));
    }
}

#[test]
fn a_new_job_has_a_number_of_its_own() {
    let numbers = [0, 1].map(|_| {
        let [alice, bob] = meet(hello(Party::Alice, &[(0, 0)]), hello(Party::Bob, &[(0, 0)])).map(Result::unwrap);
        assert_eq!(alice.job, bob.job);
        alice.job
    });
    assert_ne!(numbers[0], numbers[1]);
}

#[test]
fn jobs_that_differ_are_told_apart_on_both_sides() {
    let two = || hello(Party::Bob, &[(0, 0), (0, 0)]);
    let going_on = |party, job| Hello { job: Some([job; 32]), ..hello(party, &[(0, 0)]) };
    for (alice, bob, what) in [
        (hello(Party::Alice, &[(0, 0)]), two(), "the number of shards"),
        (hello(Party::Bob, &[(0, 0), (0, 0)]), two(), "who is who (one must be alice, the other bob)"),
        (going_on(Party::Alice, 1), going_on(Party::Bob, 2), "the job that goes on"),
    ] {
        for met in meet(alice, bob) {
            assert!(matches!(&met, Err(Error::Incompatible { what: came, .. }) if *came == what), "{what}: {met:?}");
        }
    }
}

#[test]
fn whoever_does_something_else_is_told_so() {
    let ours = hello(Party::Alice, &[(0, 0)]);
    for (head, words) in [(&b"duologue"[..], "run a program"), (b"duodoctr", "doctor"), (b"SSH-2.0-", "does not speak")]
    {
        let theirs = [head, &[3, 0], &[0; 200]].concat();
        let why = ours.agree(&[0; 32], &theirs).unwrap_err().to_string();
        assert!(why.contains(words), "{why}");
    }
    let mut other = hello(Party::Bob, &[(0, 0)]).encode(&[1; 32]).unwrap();
    other[8] += 1;
    let why = ours.agree(&[0; 32], &other).unwrap_err().to_string();
    assert!(why.contains("version of what drivers say"), "{why}");
}

#[test]
fn mail_comes_whole_and_in_order_even_from_a_peer_that_is_gone() {
    let (alice, bob) = Channel::pair();
    let (mut a, mut b) = (Mail::new(alice, 2, MOST_BODY, silence()), Mail::new(bob, 2, MOST_BODY, silence()));
    assert!(b.poll().unwrap().is_none());
    all().iter().for_each(|message| a.send(&message.encode()));
    drop(a);
    let came: Vec<Message> = (0..all().len()).map(|_| Message::decode(&next(&mut b)).unwrap()).collect();
    assert_eq!(came, all());
    assert!(matches!(b.poll(), Err(Error::Aborted(_) | Error::Closed(_))));
}

/// A message and the end behind it in one write: wherever the reader looks in between, the message is heard.
#[test]
fn the_last_message_is_heard_wherever_the_end_comes_to_light() {
    let message = Message::Ended(Attempt { shard: 3, number: 2 }, Verdict::Failed(Reason::Machine)).encode();
    let frame = 4 + message.len();
    for first in 1..=frame {
        let pipes = memory::pair(memory::CAPACITY);
        let mut alice = Channel::over(pipes.0, Limits::default());
        let halting = Halting { pipe: pipes.1, pieces: [first].into(), is_due: true };
        let mut bob = Mail::new(Channel::over(halting, Limits::default()), 2, MOST_BODY, silence());
        alice.send(&message).unwrap();
        alice.flush().unwrap();
        alice.abort(AbortCode::Failed, "");
        assert_eq!(next(&mut bob), message[2..], "{first} bytes came first");
        assert!(matches!(bob.poll(), Err(Error::Aborted(_))));
    }
}

/// Gives so many bytes, then nothing for one read, and then all.
struct Halting {
    pipe: MemoryPipe,
    pieces: VecDeque<usize>,
    is_due: bool,
}

impl Pipe for Halting {
    fn try_read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let Some(left) = self.pieces.front_mut() else {
            if std::mem::take(&mut self.is_due) {
                return Err(io::ErrorKind::WouldBlock.into());
            }
            return self.pipe.try_read(into);
        };
        let most = into.len().min(*left);
        let read = self.pipe.try_read(&mut into[..most])?;
        *left -= read;
        if *left == 0 {
            self.pieces.pop_front();
        }
        Ok(read)
    }

    fn try_write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.pipe.try_write(bytes)
    }

    fn wait(&mut self, for_write: bool, timeout: std::time::Duration) -> io::Result<()> {
        self.pipe.wait(for_write, timeout)
    }

    fn close_write(&mut self) {
        self.pipe.close_write();
    }
}

#[test]
fn an_address_of_a_worker_has_a_host_and_a_port() {
    let ready =
        |address: &str| Message::Ready(Attempt { shard: 0, number: 1 }, Offer { key: key(), address: address.into() });
    for address in ["node7", "node7:", ":7100", "node7:0", "node7:70000", "node7:x", "a b:1", "[::1]"] {
        assert!(Message::decode(&ready(address).encode()[2..]).is_err(), "{address}");
    }
}

#[test]
fn mail_that_is_too_long_is_refused() {
    let (mut alice, bob) = Channel::pair();
    let mut mail = Mail::new(bob, 4, 1000, silence());
    alice.send(&1001u32.to_le_bytes()).unwrap();
    alice.flush().unwrap();
    assert!(matches!(mail.poll(), Err(Error::Peer(_))));
}

fn silence() -> std::time::Duration {
    std::time::Duration::from_secs(60)
}

fn next(mail: &mut Mail) -> Vec<u8> {
    loop {
        match mail.poll().unwrap() {
            Some(message) => return message,
            None => std::thread::yield_now(),
        }
    }
}

proptest! {
    #[test]
    fn no_bytes_make_a_decoder_panic(body in prop::collection::vec(any::<u8>(), 0..60), kind in 0u8..10) {
        let _ = Message::decode(&body);
        let body = [&[kind], &body[..]].concat();
        if let Ok(message) = Message::decode(&body) {
            prop_assert_eq!(&message.encode()[2..], &body[..]);
        }
    }

    #[test]
    fn no_hello_makes_a_decoder_panic(cut in 0usize..200, at in 0usize..200, byte: u8) {
        let ours = hello(Party::Alice, &[(1, 1), (2, 0)]);
        let mut theirs = hello(Party::Bob, &[(1, 1), (2, 2)]).encode(&[9; 32]).unwrap();
        theirs.truncate(cut);
        if let Some(there) = theirs.get_mut(at) {
            *there = byte;
        }
        if let Ok(agreed) = ours.agree(&[1; 32], &theirs) {
            prop_assert_eq!(agreed.shards.len(), 2);
        }
    }
}

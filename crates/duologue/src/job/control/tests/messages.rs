//! What travels between drivers.

use super::super::*;
use crate::agreement::Fields;
use crate::channel::memory::{self, MemoryPipe};
use crate::channel::tests::virtual_time::{self, Actor, VirtualTime};
use crate::channel::{AbortCode, Channel, Limits, Pipe, PublicKey};
use crate::{Error, Party};
use proptest::prelude::*;
use std::io;
use std::time::Duration;

pub fn key() -> PublicKey {
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
    let progress =
        |&(begun, finished): &(u32, u32)| Progress { begun, finished: (finished > 0).then_some(finished), pool: None };
    let fields: Fields = vec![("the program", "'sum' 01".into()), ("the number of shards", shards.len().to_string())];
    Hello { party, fields, job: None, shards: shards.iter().map(progress).collect() }
}

#[test]
fn a_shard_is_finished_if_both_have_the_same_attempt() {
    let alice = Hello { job: Some([7; 32]), ..hello(Party::Alice, &[(1, 1), (2, 2), (1, 0), (3, 3)]) };
    let bob = hello(Party::Bob, &[(1, 1), (3, 3), (2, 0), (3, 0)]);
    let [alice, bob] = meet(alice, bob).map(Result::unwrap);
    let expected: Vec<Progress> = [(1, Some(1)), (3, None), (2, None), (3, None)]
        .map(|(begun, finished)| Progress { begun, finished, pool: None })
        .into();
    assert_eq!((alice.job, &alice.shards), ([7; 32], &expected));
    assert_eq!(alice, bob);
}

/// A pool counts where both have it, and neither has begun an attempt since: that one may have touched it.
#[test]
fn a_pool_is_there_if_both_have_it_and_nobody_has_touched_it() {
    let with = |party, shards: &[(u32, u32)]| {
        let made = |&(begun, pool): &(u32, u32)| Progress { begun, finished: None, pool: (pool > 0).then_some(pool) };
        Hello { shards: shards.iter().map(made).collect(), ..hello(party, &[(0, 0); 5]) }
    };
    let alice = with(Party::Alice, &[(1, 1), (2, 2), (3, 0), (1, 1), (2, 0)]);
    let bob = with(Party::Bob, &[(1, 1), (2, 0), (2, 2), (2, 2), (0, 0)]);
    let [mut alice, bob] = meet(alice, bob).map(Result::unwrap);
    let expected = [(1, Some(1)), (2, None), (3, None), (2, None), (2, None)];
    assert_eq!(alice.shards, expected.map(|(begun, pool)| Progress { begun, finished: None, pool }));
    assert_eq!(alice, bob);
    // A pool of ours that an attempt of ours has touched is none, whatever the other party says of its half.
    let ours = with(Party::Alice, &[(3, 2)]);
    let theirs = Hello { fields: ours.fields.clone(), ..with(Party::Bob, &[(2, 2)]) };
    let agreed = ours.agree(&[0; 32], &theirs.encode(&[1; 32]).unwrap()).unwrap();
    assert_eq!(agreed.shards, [Progress { begun: 3, finished: None, pool: None }]);
    alice.leave_pools();
    let done: Vec<bool> = alice.shards.iter().map(|progress| progress.finished.is_some()).collect();
    assert_eq!(done, [true, false, false, false, false]);
    for (begun, finished, pool) in [(2, None, Some(1)), (2, None, Some(3)), (2, Some(2), Some(2))] {
        let theirs = Hello { shards: vec![Progress { begun, finished, pool }], ..hello(Party::Bob, &[(0, 0)]) };
        let why = hello(Party::Alice, &[(0, 0)]).agree(&[0; 32], &theirs.encode(&[1; 32]).unwrap());
        assert!(matches!(why, Err(Error::Peer(_))), "{begun} {finished:?} {pool:?}");
    }
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
        let halting = halting(pipes.1, first);
        let mut bob = Mail::new(Channel::over(halting, Limits::default()), 2, MOST_BODY, silence());
        alice.send(&message).unwrap();
        alice.flush().unwrap();
        alice.abort(AbortCode::Failed, "");
        assert_eq!(next(&mut bob), message[2..], "{first} bytes came first");
        assert!(matches!(bob.poll(), Err(Error::Aborted(_))));
    }
}

/// A pipe of which something else decides what is read.
struct Reading<P, F> {
    pipe: P,
    read: F,
}

impl<P: Pipe, F: FnMut(&mut P, &mut [u8]) -> io::Result<usize> + Send> Pipe for Reading<P, F> {
    fn try_read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        (self.read)(&mut self.pipe, into)
    }

    fn try_write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.pipe.try_write(bytes)
    }

    fn wait(&mut self, for_write: bool, timeout: Duration) -> io::Result<()> {
        self.pipe.wait(for_write, timeout)
    }

    fn close_write(&mut self) {
        self.pipe.close_write();
    }
}

/// Gives so many bytes, then nothing for one read, and then all.
fn halting(pipe: MemoryPipe, first: usize) -> impl Pipe {
    let (mut left, mut is_due) = (first, true);
    let read = move |pipe: &mut MemoryPipe, into: &mut [u8]| {
        if left == 0 {
            return if std::mem::take(&mut is_due) {
                Err(io::ErrorKind::WouldBlock.into())
            } else {
                pipe.try_read(into)
            };
        }
        let most = into.len().min(left);
        let read = pipe.try_read(&mut into[..most])?;
        left -= read;
        Ok(read)
    };
    Reading { pipe, read }
}

#[test]
fn an_address_of_a_worker_has_a_host_and_a_port() {
    let ready =
        |address: &str| Message::Ready(Attempt { shard: 0, number: 1 }, Offer { key: key(), address: address.into() });
    for address in ["node7", "node7:", ":7100", "node7:0", "node7:70000", "node7:x", "a b:1", "[::1]"] {
        assert!(Message::decode(&ready(address).encode()[2..]).is_err(), "{address}");
    }
}

/// A line that holds what is said from one time on, for so long; then all of it comes.
fn holding(pipe: virtual_time::Simulated, time: VirtualTime, from: Duration, length: Duration) -> impl Pipe {
    let read = move |pipe: &mut virtual_time::Simulated, into: &mut [u8]| {
        let now = time.since_start();
        if from <= now && now < from + length {
            return Err(io::ErrorKind::WouldBlock.into());
        }
        pipe.try_read(into)
    };
    Reading { pipe, read }
}

const SECOND: Duration = Duration::from_secs(1);

/// Alice says a word each second, for a minute, over a line that is held after five seconds; Bob looks each tenth of a second. How many
/// words he has heard, and when what ended it.
fn heard(held: Duration, silence: Duration) -> (usize, Duration, Error) {
    let time = VirtualTime::new();
    let (a, b) = virtual_time::pair(&time, memory::CAPACITY);
    let held = holding(b, time.clone(), 5 * SECOND, held);
    let channels = (time.clone(), virtual_time::channel(&time, a), virtual_time::channel(&time, held));
    let says = |actor: &Actor, channel: &mut Channel| {
        for _ in 0..60 {
            // He may have given up.
            let _ = channel.send(&[1, 0, 7]).and_then(|()| channel.flush());
            actor.sleep(SECOND);
        }
    };
    let hears = |actor: &Actor, channel: &mut Channel| {
        let channel = std::mem::replace(channel, Channel::pair().0);
        let (mut mail, mut words) = (Mail::new(channel, 2, MOST_BODY, silence), 0);
        loop {
            match mail.poll() {
                Ok(Some(word)) => words += usize::from(word == [7]),
                Ok(None) => actor.sleep(SECOND / 10),
                Err(why) => return (words, time.since_start(), why),
            }
        }
    };
    virtual_time::both(channels, says, hears).1
}

/// Of the thirty seconds that a party may be silent unless told.
#[test]
fn a_line_that_holds_bytes_for_ten_seconds_loses_none_and_one_that_does_for_forty_is_noticed() {
    let silence = Limits::default().silence;
    assert_eq!(silence, 30 * SECOND);
    let (words, at, why) = heard(10 * SECOND, silence);
    assert!(matches!(why, Error::Aborted(_)), "she has ended: {why}");
    assert_eq!((words, at.as_secs()), (60, 60));
    let (words, at, why) = heard(40 * SECOND, silence);
    assert!(matches!(why, Error::Timeout { .. }), "{why}");
    // The last one before it was held came at four seconds.
    assert!((4..=6).contains(&words) && (34..=36).contains(&at.as_secs()), "{words} words, {at:?}");
}

/// A peer that reads inputs, say, for longer than anybody may be silent: only that it is alive is heard.
#[test]
fn whoever_says_nothing_but_that_it_is_alive_is_not_silent() {
    let quiet = Limits::default().silence * 20;
    virtual_time::both(
        virtual_time::channels(None, Limits::default()),
        |actor, alice| {
            alice.flush().unwrap();
            actor.sleep(quiet);
            alice.send(&[1, 0, 7]).unwrap();
            alice.finish().unwrap();
        },
        |actor, bob| {
            let channel = std::mem::replace(bob, Channel::pair().0);
            let mut mail = Mail::new(channel, 2, MOST_BODY, Limits::default().silence);
            let word = loop {
                match mail.poll().unwrap() {
                    Some(word) => break word,
                    None => actor.sleep(SECOND / 10),
                }
            };
            assert_eq!(word, [7]);
            mail.into_channel().finish().unwrap();
        },
    );
}

/// A driver that was stopped itself for longer than the other may be silent hears first what came meanwhile.
#[test]
fn whoever_was_away_does_not_take_the_other_for_silent() {
    virtual_time::both(
        virtual_time::channels(None, Limits::default()),
        |actor, alice| {
            alice.send(&[1, 0, 7]).unwrap();
            alice.flush().unwrap();
            actor.sleep(100 * SECOND);
            alice.finish().unwrap();
        },
        |actor, bob| {
            let channel = std::mem::replace(bob, Channel::pair().0);
            let mut mail = Mail::new(channel, 2, MOST_BODY, Limits::default().silence);
            actor.sleep(SECOND / 2);
            assert_eq!(mail.poll().unwrap(), Some(vec![7]));
            actor.sleep(90 * SECOND);
            assert!(mail.poll().unwrap().is_none());
            mail.into_channel().finish().unwrap();
        },
    );
}

#[test]
fn mail_that_is_too_long_is_refused() {
    let (mut alice, bob) = Channel::pair();
    let mut mail = Mail::new(bob, 4, 1000, silence());
    alice.send(&1001u32.to_le_bytes()).unwrap();
    alice.flush().unwrap();
    assert!(matches!(mail.poll(), Err(Error::Peer(_))));
}

fn silence() -> Duration {
    Duration::from_secs(60)
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
    fn no_hello_makes_a_decoder_panic(cut in 0usize..210, at in 0usize..210, byte: u8) {
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

//! A party of Yao over a real socket, with a thread that only moves bytes: the garbler against a sink, the evaluator against
//! a stream that was recorded.
//!
//! The engine has one thread and one strand; the thread that moves bytes and the other end of the socket, a thread of this
//! process, share what the engine leaves of the machine: the place of the second worker. The same bytes without any
//! engine, both ends at that place, are what the socket can carry: for the garbler from memory that is in a cache, for the
//! evaluator once through as much memory as the stream takes, which is in none.

use super::{Both, Dealt, Took, Workers};
use crate::channel::{Channel, Limits, TcpPipe};
use crate::clock::Instant;
use crate::correlation::{Demand, Stock};
use crate::executor::{Link, Phase};
use crate::outbox::{Inbox, Outbox};
use crate::{Error, Outputs, Party, Result};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::thread;
use std::time::Duration;

/// Bytes that are sent at once by who has no engine: about a chunk of tables.
const PIECE: usize = 1 << 19;

/// Runs each party so many times.
pub(super) fn repeat(both: &Both<'_>, workers: Workers, runs: usize) -> Result<Vec<[Took; 2]>> {
    let [alice, bob] = both.in_turns(true)?.map(|party| party.read);
    let run = |_| {
        let [one, other] = both.parties()?;
        // What a party reads is what the other one sends.
        let one = play(both, Party::Alice, one, (&alice, bob.len()), workers)?;
        Ok([one, play(both, Party::Bob, other, (&bob, alice.len()), workers)?])
    };
    (0..runs).map(run).collect()
}

/// A party from its setup to its outputs against the other end, which sends these bytes and reads so many.
fn play(
    both: &Both<'_>,
    party: Party,
    (mut engine, mut stock): Dealt,
    (heard, said): (&[u8], usize),
    workers: Workers,
) -> Result<Took> {
    let (ours, theirs) = sockets()?;
    thread::scope(|scope| {
        let other = scope.spawn(move || {
            (workers.place)(workers.count - 1);
            answer(theirs, heard, said)
        });
        let mut link = Wired(ours);
        engine.setup(&mut stock, &mut link)?;
        let since = Instant::now();
        let ran = engine.online(&both.feeds[party as usize], &mut stock, &mut link)?;
        let took = since.elapsed();
        link.0.flush()?;
        other.join().unwrap_or_else(|_| Err(Error::usage("the other end of a socket ended")))?;
        Ok((took, Outputs::new(both.binding, ran.outputs)))
    })
}

/// The end of the socket that has no engine.
fn answer(mut channel: Channel, heard: &[u8], mut said: usize) -> Result<Channel> {
    let mut piece = vec![0; PIECE];
    for bytes in heard.chunks(PIECE) {
        channel.send(bytes)?;
    }
    channel.flush()?;
    while said > 0 {
        let count = said.min(PIECE);
        channel.recv_into(&mut piece[..count])?;
        said -= count;
    }
    Ok(channel)
}

/// So many bytes from one end of a socket to the other, so often; both ends are at the place of the last worker. They are a
/// recorded stream, which is in no cache, or come from one piece of memory again and again.
///
/// # Errors
/// [`Error::Io`] if there is no socket.
pub fn bare(bytes: usize, recorded: bool, workers: Workers, runs: usize) -> Result<Vec<Duration>> {
    let stream = vec![0x5a; if recorded { bytes } else { 0 }];
    let run = |_| {
        let stream = &stream;
        let (mut ours, theirs) = sockets()?;
        thread::scope(|scope| {
            let place = || (workers.place)(workers.count - 1);
            let other = scope.spawn(move || {
                place();
                answer(theirs, &[], bytes)
            });
            let one = scope.spawn(move || {
                place();
                let mut outbox = Outbox::default();
                let since = Instant::now();
                stream.chunks(PIECE).try_for_each(|piece| ours.send(piece))?;
                for from in (stream.len()..bytes).step_by(PIECE) {
                    outbox.only(PIECE.min(bytes - from));
                    ours.give(&mut outbox)?;
                }
                ours.flush()?;
                Ok((since.elapsed(), ours))
            });
            let gone = || Error::usage("an end of a socket ended");
            let time = one.join().unwrap_or_else(|_| Err(gone()))?.0;
            other.join().unwrap_or_else(|_| Err(gone()))?;
            Ok(time)
        })
    };
    (0..runs).map(run).collect()
}

/// Both ends of a connection over the loopback interface.
fn sockets() -> Result<(Channel, Channel)> {
    let made = || {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
        let ours = TcpStream::connect(listener.local_addr()?)?;
        let (theirs, _) = listener.accept()?;
        Ok((TcpPipe::new(ours, None)?, TcpPipe::new(theirs, None)?))
    };
    let (ours, theirs) = made().map_err(Error::io("opening a socket"))?;
    Ok((Channel::over(ours, Limits::default()), Channel::over(theirs, Limits::default())))
}

/// The link over a channel of its own.
struct Wired(Channel);

impl Link for Wired {
    fn send(&mut self, bytes: &[u8]) -> Result<()> {
        if bytes.is_empty() { Ok(()) } else { self.0.send(bytes) }
    }

    fn give(&mut self, outbox: &mut Outbox) -> Result<()> {
        if outbox.is_empty() { Ok(()) } else { self.0.give(outbox) }
    }

    fn flush(&mut self) -> Result<()> {
        self.0.flush()
    }

    fn receive(&mut self, count: usize, inbox: &mut Inbox) -> Result<()> {
        let room = inbox.only(count);
        if count == 0 { Ok(()) } else { self.0.recv_into(room) }
    }

    fn supply(&mut self, _: &mut Stock, _: Demand, _: Demand) -> Result<()> {
        Ok(())
    }

    fn progress(&mut self, _: Phase, _: u64, _: u64) -> Result<()> {
        Ok(())
    }
}

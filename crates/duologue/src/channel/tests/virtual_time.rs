//! Channels in virtual time, which passes only while everybody waits.

use super::*;
pub use crate::clock::virtual_time::{Actor, AtDrop, Signal, VirtualTime};

/// An end of a pair in memory, in virtual time.
pub struct Simulated {
    inner: memory::MemoryPipe,
    time: VirtualTime,
    ours: Signal,
    /// Dropped after `inner`: the peer learns that it is gone.
    theirs: AtDrop,
}

pub fn pair(time: &VirtualTime, capacity: usize) -> (Simulated, Simulated) {
    let (a, b) = memory::pair(capacity);
    let signals = [time.signal(), time.signal()];
    let end = |inner, us: usize| Simulated {
        inner,
        time: time.clone(),
        ours: signals[us].clone(),
        theirs: AtDrop(signals[1 - us].clone()),
    };
    (end(a, 0), end(b, 1))
}

impl Pipe for Simulated {
    fn try_read(&mut self, into: &mut [u8]) -> std::io::Result<usize> {
        let read = self.inner.try_read(into)?;
        self.theirs.0.raise();
        Ok(read)
    }

    fn try_write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        let written = self.inner.try_write(bytes)?;
        self.theirs.0.raise();
        Ok(written)
    }

    fn wait(&mut self, _for_write: bool, timeout: Duration) -> std::io::Result<()> {
        self.time.wait(&self.ours, timeout);
        Ok(())
    }

    fn close_write(&mut self) {
        self.inner.close_write();
        self.theirs.0.raise();
    }
}

/// A channel in virtual time with the usual limits.
pub fn channel(time: &VirtualTime, pipe: impl Pipe + 'static) -> Channel {
    Channel::by_clock(Clock::Virtual(time.clone()), pipe, Limits::default())
}

/// Channels in virtual time, over a simulated link if there is one.
pub fn channels(link: Option<Link>, limits: Limits) -> (VirtualTime, Channel, Channel) {
    channels_over([link; 2], limits)
}

/// Channels in virtual time, over the links that Alice's and Bob's messages take.
pub fn channels_over(links: [Option<Link>; 2], limits: Limits) -> (VirtualTime, Channel, Channel) {
    channels_with(links, memory::CAPACITY, limits)
}

/// The same, where so many bytes may lie unread in each direction below the links.
pub fn channels_with(
    [alices, bobs]: [Option<Link>; 2],
    capacity: usize,
    limits: Limits,
) -> (VirtualTime, Channel, Channel) {
    let time = VirtualTime::new();
    let (a, b) = pair(&time, capacity);
    let end = |pipe: Simulated, link: Option<Link>| {
        let channel = Channel::by_clock(Clock::Virtual(time.clone()), pipe, limits);
        match link {
            Some(link) => channel.shaped(link).unwrap(),
            None => channel,
        }
    };
    let (a, b) = (end(a, alices), end(b, bobs));
    (time, a, b)
}

/// Runs both parties, each in a thread that takes part in the time; each drops its channel at its end.
pub fn both<A: Send, B: Send>(
    (time, a, b): (VirtualTime, Channel, Channel),
    alice: impl FnOnce(&Actor, &mut Channel) -> A + Send,
    bob: impl FnOnce(&Actor, &mut Channel) -> B + Send,
) -> (A, B) {
    let actors = (time.enter(), time.enter());
    thread::scope(|scope| {
        let bob = scope.spawn(move || {
            let (actor, mut b) = (actors.1, b);
            bob(&actor, &mut b)
        });
        let alice = {
            let (actor, mut a) = (actors.0, a);
            alice(&actor, &mut a)
        };
        (alice, bob.join().unwrap())
    })
}

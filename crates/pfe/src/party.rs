//! Both parties over a channel.

mod kept;

use crate::dh::{AnnouncedRun, Garbling, POINT, Queries, TABLE, Wired};
use crate::guarded::{AT_ONCE, Guarded, LATER, strange};
use crate::offer::{Offer, chunk};
use crate::proposal::Method;
use crate::{CHUNK, Sizes, Threads, os_generator};
use duologue::channel::{Channel, Counters};
use duologue::{Error, Result};
use kernels::generator::Generator;
use std::ops::ControlFlow;

pub use kept::{Kept, KeptAlice, KeptBob, Ready};

/// Chunks of queries that are under way before their tables are waited for: as many gates as are garbled in a second by
/// few threads, so that a round trip of a tenth of a second does not hold them up.
pub const AHEAD: u64 = 64;

/// The party that holds the function, over a channel.
///
/// ```
/// use duologue::channel::Channel;
/// use duologue::circuit::{Bits, Builder, private::thresholds};
/// use pfe::{Alice, Bob, Padding, Wired};
///
/// let mut c = Builder::new("two of three");
/// let x = c.bits("x", 3);
/// let (both, either) = (c.and(x.0[0], x.0[1]), c.or(x.0[0], x.0[1]));
/// let with_third = c.and(either, x.0[2]);
/// let two = c.or(both, with_third);
/// c.output("two", &Bits(vec![two]));
/// let function = thresholds(&c.finish())?;
///
/// let (to_bob, to_alice) = Channel::pair(); // between two machines: Listener and Channel::connect
/// let result = std::thread::scope(|scope| {
///     scope.spawn(|| {
///         let mut wired = Wired::new(function, Padding { gates: Some(20), ..Padding::default() })?;
///         let mut alice = Alice::connect(to_bob, &mut wired, 1)?;
///         while alice.serve()? {}
///         alice.close()
///     });
///     let mut bob = Bob::connect(to_alice, 3)?;
///     assert_eq!((bob.offer().sizes.gates, bob.offer().runs), (20, 1)); // all that he learns of it
///     let result = bob.run(&[true, false, true])?;
///     bob.close().map(|_| result)
/// })?;
/// assert_eq!(result, [true]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Alice<'a> {
    line: Guarded,
    wired: &'a Wired,
    offer: Offer,
    threads: Threads,
    /// Runs so far.
    done: u32,
    /// The queries, until all are sent, which is in the first run, and how many chunks are.
    queries: Option<Queries<'a>>,
    sent: u64,
}

impl<'a> Alice<'a> {
    /// Offers a wired function, for so many runs.
    ///
    /// # Errors
    /// [`Error::Usage`] if these are no runs, or more than [`MOST_RUNS`](crate::MOST_RUNS), before anything is sent;
    /// [`Error::Incompatible`] if the data has another number of bits, or the peer offers a function too.
    pub fn connect(channel: Channel, wired: &'a mut Wired, runs: u32) -> Result<Self> {
        let offer = Offer::new(wired.sizes, runs, wired.id)?;
        let mut line = Guarded::new(channel);
        line.offer(&offer, Method::Dh)?;
        Ok(Alice { line, wired, offer, threads: Threads::default(), done: 0, queries: None, sent: 0 })
    }

    /// Sets the threads that compute; the caller's alone unless told. What travels does not depend on them.
    pub fn compute_on(&mut self, threads: Threads) {
        self.threads = threads;
    }

    /// Sets who sees how far a run is, in points done and in all, and may end it.
    pub fn observe(&mut self, observer: impl FnMut(u64, u64) -> ControlFlow<()> + Send + 'static) {
        self.line.observe(observer);
    }

    /// Takes part in the next run that the peer asks for; false if it asks for none.
    ///
    /// # Errors
    /// [`Error::Peer`] if the peer sends what no honest party does, or asks for more runs than were offered.
    pub fn serve(&mut self) -> Result<bool> {
        self.ask()?;
        let Alice { line, wired, offer, threads, done, queries, sent } = self;
        let mut exchange = Exchange { offer, queries: queries.take(), sent };
        line.serve(offer.runs, done, |line, number, kind| {
            let announced = announced(line, (wired, offer), number, threads)?;
            serve(line, announced, &mut exchange, kind)
        })
    }

    /// Sends the first queries, which need nothing of Bob's: so they travel while he begins the first run.
    pub(crate) fn ask(&mut self) -> Result<()> {
        if self.done > 0 || self.sent > 0 {
            return Ok(());
        }
        let queries = Some(Queries::new(self.wired, &self.threads));
        let mut exchange = Exchange { offer: &self.offer, queries, sent: &mut self.sent };
        self.line.guarded(|line| exchange.ask(line, AHEAD))?;
        self.queries = exchange.queries;
        Ok(())
    }

    /// Says goodbye: what travelled in all.
    ///
    /// # Errors
    /// If the peer is not at its end.
    pub fn close(self) -> Result<Counters> {
        self.line.close()
    }
}

/// Hears how a run is announced.
fn announced<'a>(
    line: &mut Guarded,
    (wired, offer): (&'a Wired, &Offer),
    number: u32,
    threads: &Threads,
) -> Result<AnnouncedRun<'a>> {
    let announcement = line.receive::<POINT>()?;
    wired.announce(&announcement)?;
    AnnouncedRun::new(wired, offer, number, &announcement, threads)
}

/// Alice's side of a run.
fn serve(line: &mut Guarded, mut announced: AnnouncedRun, exchange: &mut Exchange, kind: u8) -> Result<()> {
    let labels = POINT * exchange.offer.sizes.inputs as usize;
    let outputs = match kind {
        AT_ONCE => {
            let mut evaluation = announced.begin(&line.channel.recv(labels)?)?;
            exchange.tables(line, |_, tables| evaluation.chunk(&tables))?;
            evaluation.finish()?
        }
        LATER => {
            let mut stored = Vec::new();
            exchange.tables(line, |number, tables| {
                announced.prepare(number);
                stored.push(tables);
                Ok(())
            })?;
            let mut evaluation = announced.begin(&line.channel.recv(labels)?)?;
            stored.into_iter().try_for_each(|tables| evaluation.chunk(&tables))?;
            evaluation.finish()?
        }
        kind => return Err(strange(kind)),
    };
    line.channel.send(&outputs)?;
    line.channel.flush()
}

/// Queries and tables of a run, as Alice exchanges them.
pub(crate) struct Exchange<'a, 'q> {
    pub offer: &'a Offer,
    /// In the first run.
    pub queries: Option<Queries<'q>>,
    /// Chunks of queries that are sent.
    pub sent: &'a mut u64,
}

impl Exchange<'_, '_> {
    fn chunks(&self) -> u64 {
        self.offer.sizes.queries().div_ceil(CHUNK)
    }

    /// Sends queries until so many chunks are under way.
    fn ask(&mut self, line: &mut Guarded, until: u64) -> Result<()> {
        let until = until.min(self.chunks());
        while let (Some(queries), true) = (&mut self.queries, *self.sent < until) {
            line.channel.send(&queries.chunk())?;
            line.channel.flush()?;
            *self.sent += 1;
        }
        Ok(())
    }

    /// Sends the queries, if there are any, and takes the tables of each chunk.
    pub fn tables(&mut self, line: &mut Guarded, mut take: impl FnMut(u64, Vec<u8>) -> Result<()>) -> Result<()> {
        let total = self.offer.sizes.queries();
        for number in 0..self.chunks() {
            self.ask(line, number + AHEAD)?;
            take(number, line.channel.recv(tables_of(self.offer, number))?)?;
            line.tell(chunk(total, number).end, total)?;
        }
        Ok(())
    }
}

/// Bytes of the tables of a chunk.
pub(crate) fn tables_of(offer: &Offer, number: u64) -> usize {
    let range = chunk(offer.sizes.queries(), number);
    (offer.sizes.gates.clamp(range.start, range.end) - range.start) as usize * TABLE
}

/// The party that holds the data and learns the result, over a channel; [`Alice`] has an example.
pub struct Bob {
    line: Guarded,
    offer: Offer,
    threads: Threads,
    secrets: Generator,
    /// How many runs there may be in all, and how many there were.
    most: u32,
    done: u32,
    /// Whether the end was said.
    ended: bool,
    /// The queries, 32 bytes each, if there may be another run.
    queries: Vec<Vec<u8>>,
}

/// A run that waits for the data: all tables are with the other party. Dropped without it, the session ends.
pub struct Garbled<'a> {
    bob: &'a mut Bob,
    /// None once it is run.
    garbling: Option<Garbling>,
}

impl Garbled<'_> {
    /// Evaluates the function on this data; once.
    ///
    /// # Errors
    /// As [`Bob::run`]. After data of another number of bits the run still waits.
    pub fn run(&mut self, x: &[bool]) -> Result<Vec<bool>> {
        self.bob.offer.takes(x)?;
        let garbling =
            self.garbling.take().ok_or_else(|| Error::usage("what was made ahead is for one run, which is done"))?;
        let labels = garbling.input_labels(x);
        self.bob.line.guarded(|line| line.channel.send(&labels))?;
        self.bob.end(garbling)
    }
}

impl Drop for Garbled<'_> {
    /// The peer waits for labels: it would take whatever comes next for them.
    fn drop(&mut self) {
        if self.garbling.is_some() {
            self.bob.line.cancel("a run that was made ahead was dropped");
        }
    }
}

impl Bob {
    /// Hears what is offered to the holder of data of so many bits; of any number, if none is given.
    ///
    /// # Errors
    /// [`Error::Incompatible`] if the function takes another number of bits, or the peer has data too.
    pub fn connect(channel: Channel, inputs: impl Into<Option<u32>>) -> Result<Self> {
        let mut line = Guarded::new(channel);
        let offer = line.hear_offer(inputs.into(), Method::Dh, |_| Ok(()))?;
        let most = offer.runs;
        let (threads, secrets) = (Threads::default(), os_generator()?);
        Ok(Bob { line, offer, threads, secrets, most, done: 0, ended: false, queries: Vec::new() })
    }

    /// What is offered: look at it before the first run.
    pub fn offer(&self) -> &Offer {
        &self.offer
    }

    /// Refuses what is not the function of these sizes and so many runs; the session ends then.
    ///
    /// # Errors
    /// [`Error::Peer`].
    pub fn expect(&mut self, sizes: &Sizes, runs: u32) -> Result<()> {
        self.line.expect(&self.offer, sizes, runs)
    }

    /// Says how many runs there will be in all, if fewer than offered: with the last of them what was kept for another, 32
    /// bytes a gate, goes. A higher number than before changes nothing.
    pub fn limit(&mut self, runs: u32) {
        self.most = self.most.min(runs);
    }

    /// Sets the threads that compute; the caller's alone unless told. What travels does not depend on them.
    pub fn compute_on(&mut self, threads: Threads) {
        self.threads = threads;
    }

    /// Sets who sees how far a run is, in points done and in all, and may end it.
    pub fn observe(&mut self, observer: impl FnMut(u64, u64) -> ControlFlow<()> + Send + 'static) {
        self.line.observe(observer);
    }

    /// Evaluates the function on this data.
    ///
    /// # Errors
    /// [`Error::Usage`] if it has other bits than announced, or no run is left; [`Error::Peer`] if the peer sends what no
    /// honest party does.
    pub fn run(&mut self, x: &[bool]) -> Result<Vec<bool>> {
        self.offer.takes(x)?;
        let garbling = self.garble(AT_ONCE, |garbling| garbling.input_labels(x))?;
        self.end(garbling)
    }

    /// Does whatever needs no data, for one run, which has to follow: the session ends if what is returned is dropped first.
    ///
    /// # Errors
    /// As [`run`](Self::run).
    pub fn prepare(&mut self) -> Result<Garbled<'_>> {
        let garbling = self.garble(LATER, |_| Vec::new())?;
        Ok(Garbled { bob: self, garbling: Some(garbling) })
    }

    /// Asks for no more runs: what travelled in all.
    ///
    /// # Errors
    /// If the peer is not at its end.
    pub fn close(mut self) -> Result<Counters> {
        if self.done == 0 {
            // The first queries are on their way.
            self.line.guarded(|line| {
                let total = self.offer.sizes.queries();
                let first = (0..total.div_ceil(CHUNK).min(AHEAD)).map(|number| chunk(total, number));
                first
                    .map(|range| line.channel.recv((range.end - range.start) as usize * POINT))
                    .try_for_each(|came| came.map(drop))
            })?;
        }
        if !self.ended {
            self.line.end()?;
        }
        self.line.close()
    }

    pub(crate) fn garble(&mut self, kind: u8, labels: impl FnOnce(&Garbling) -> Vec<u8>) -> Result<Garbling> {
        let Bob { line, offer, threads, secrets, most, done, queries, .. } = self;
        if *done >= *most {
            let why =
                format!("the function was offered for {} runs, and the {most} that were wanted are done", offer.runs);
            return Err(Error::usage(why));
        }
        line.guarded(|line| {
            let mut garbling = Garbling::new(offer, *done, secrets, threads);
            line.channel.send(&[kind])?;
            line.channel.send(garbling.announcement())?;
            line.channel.send(&labels(&garbling))?;
            line.channel.flush()?;
            let total = offer.sizes.queries();
            for number in 0..total.div_ceil(CHUNK) {
                let range = chunk(total, number);
                if *done == 0 {
                    queries.push(line.channel.recv((range.end - range.start) as usize * POINT)?);
                }
                let tables = garbling.chunk(&queries[number as usize])?;
                if *done + 1 == *most {
                    queries[number as usize] = Vec::new();
                }
                line.channel.send(&tables)?;
                line.channel.flush()?;
                line.tell(range.end, total)?;
            }
            *done += 1;
            Ok(garbling)
        })
    }

    /// The result. After the last run the end is said before it comes, so that the peer says goodbye with it.
    fn end(&mut self, garbling: Garbling) -> Result<Vec<bool>> {
        let outputs = POINT * self.offer.sizes.outputs as usize;
        if self.done == self.most && !self.ended {
            self.line.end()?;
            self.ended = true;
        }
        self.line.guarded(|line| garbling.finish(&line.channel.recv(outputs)?))
    }
}

//! Both parties over a channel.

use crate::dh::{Announced, Garbling, POINT, Queries, TABLE, Wired};
use crate::line::{AT_ONCE, LATER, Line};
use crate::offer::{Offer, chunk};
use crate::proposal::Method;
use crate::{CHUNK, Threads, os_generator};
use duologue::channel::{Channel, Counters};
use duologue::{Error, Result};
use kernels::generator::Generator;
use std::ops::ControlFlow;

/// Chunks of queries that are under way before their tables are waited for: as many gates as are garbled in a second by
/// few threads, so that a round trip of a tenth of a second does not hold them up.
const AHEAD: u64 = 64;

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
    line: Line,
    wired: &'a mut Wired,
    offer: Offer,
    threads: Threads,
    /// Runs so far; the queries went with the first.
    done: u32,
}

impl<'a> Alice<'a> {
    /// Offers a wired function, for so many runs.
    ///
    /// # Errors
    /// [`Error::Incompatible`] if the data has another number of bits, or the peer offers a function too.
    pub fn connect(channel: Channel, wired: &'a mut Wired, runs: u32) -> Result<Self> {
        let offer = Offer { sizes: wired.sizes, runs, id: wired.id };
        let mut line = Line::new(channel);
        line.offer(&offer, Method::Dh)?;
        Ok(Alice { line, wired, offer, threads: Threads::default(), done: 0 })
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
        let Alice { line, wired, offer, threads, done } = self;
        line.serve(offer.runs, done, |line, number, kind| serve(line, wired, offer, Run { number, kind }, threads))
    }

    /// Says goodbye: what travelled in all.
    ///
    /// # Errors
    /// If the peer is not at its end.
    pub fn close(self) -> Result<Counters> {
        self.line.close()
    }
}

/// Which run, and whether its labels come at once.
struct Run {
    number: u32,
    kind: u8,
}

/// Alice's side of a run.
fn serve(line: &mut Line, wired: &mut Wired, offer: &Offer, run: Run, threads: &Threads) -> Result<()> {
    let announcement = line.receive::<POINT>()?;
    if wired.announced.contains(&announcement) {
        return Err(Error::peer("it announces a run as it announced another"));
    }
    wired.announced.push(announcement);
    let wired = &*wired;
    let announced = Announced::new(wired, offer, run.number, &announcement, threads)?;
    let queries = (run.number == 0).then(|| Queries::new(wired, threads));
    let labels = POINT * offer.sizes.inputs as usize;
    let outputs = if run.kind == AT_ONCE {
        let mut evaluation = announced.begin(&line.channel.recv(labels)?)?;
        exchange(line, offer, queries, |_, tables| evaluation.chunk(&tables))?;
        evaluation.finish()?
    } else {
        let (mut announced, mut stored) = (announced, Vec::new());
        exchange(line, offer, queries, |number, tables| {
            announced.prepare(number);
            stored.push(tables);
            Ok(())
        })?;
        let mut evaluation = announced.begin(&line.channel.recv(labels)?)?;
        stored.into_iter().try_for_each(|tables| evaluation.chunk(&tables))?;
        evaluation.finish()?
    };
    line.channel.send(&outputs)?;
    line.channel.flush()
}

/// Sends the queries, if there are any, and takes the tables of each chunk.
fn exchange(
    line: &mut Line,
    offer: &Offer,
    mut queries: Option<Queries>,
    mut take: impl FnMut(u64, Vec<u8>) -> Result<()>,
) -> Result<()> {
    let (total, mut sent) = (offer.sizes.queries(), 0);
    let chunks = total.div_ceil(CHUNK);
    for number in 0..chunks {
        while let (Some(queries), true) = (&mut queries, sent < chunks.min(number + AHEAD)) {
            line.channel.send(&queries.chunk())?;
            line.channel.flush()?;
            sent += 1;
        }
        take(number, line.channel.recv(tables_of(offer, number))?)?;
        line.tell(chunk(total, number).end, total)?;
    }
    Ok(())
}

/// Bytes of the tables of a chunk.
fn tables_of(offer: &Offer, number: u64) -> usize {
    let range = chunk(offer.sizes.queries(), number);
    (offer.sizes.gates.clamp(range.start, range.end) - range.start) as usize * TABLE
}

/// The party that holds the data and learns the result, over a channel; [`Alice`] has an example.
pub struct Bob {
    line: Line,
    offer: Offer,
    threads: Threads,
    secrets: Generator,
    /// How many runs there may be in all, and how many there were.
    most: u32,
    done: u32,
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
        let mut line = Line::new(channel);
        let offer = line.hear_offer(inputs.into(), Method::Dh, |_| Ok(()))?;
        let most = offer.runs;
        let (threads, secrets) = (Threads::default(), os_generator()?);
        Ok(Bob { line, offer, threads, secrets, most, done: 0, queries: Vec::new() })
    }

    /// What is offered: look at it before the first run.
    pub fn offer(&self) -> &Offer {
        &self.offer
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
        self.line.end()?;
        self.line.close()
    }

    fn garble(&mut self, kind: u8, labels: impl FnOnce(&Garbling) -> Vec<u8>) -> Result<Garbling> {
        let Bob { line, offer, threads, secrets, most, done, queries } = self;
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

    fn end(&mut self, garbling: Garbling) -> Result<Vec<bool>> {
        let outputs = POINT * self.offer.sizes.outputs as usize;
        self.line.guarded(|line| garbling.finish(&line.channel.recv(outputs)?))
    }
}

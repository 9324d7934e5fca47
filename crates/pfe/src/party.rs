//! Both parties over a channel.

use crate::dh::{Evaluation, Garbling, POINT, Queries, TABLE, Wired};
use crate::offer::{ANY, HELLO, Hello, Method, Offer, chunk, same};
use crate::{CHUNK, os_generator};
use duologue::channel::{AbortCode, Channel, Counters};
use duologue::{Error, Result};
use kernels::generator::Generator;
use std::ops::ControlFlow;

/// Chunks of queries that are under way before their tables are waited for.
const AHEAD: u64 = 8;

/// What Bob says first: a run at once, a run whose labels come after all tables, or the end.
pub(crate) const AT_ONCE: u8 = 1;
pub(crate) const LATER: u8 = 2;
pub(crate) const END: u8 = 0;

/// What the parties may differ in.
pub(crate) const BITS: &str = "the bits of the data and of what the function takes";

/// Who sees how far a run is, in queries done and in all, and may end it.
type Observer = Box<dyn FnMut(u64, u64) -> ControlFlow<()> + Send>;

/// A channel that is told when its owner fails, and then does nothing more.
pub(crate) struct Line {
    pub(crate) channel: Channel,
    dead: Option<String>,
    pub(crate) observer: Option<Observer>,
}

impl Line {
    pub(crate) fn new(channel: Channel) -> Self {
        Line { channel, dead: None, observer: None }
    }

    /// Does some work; an error ends the line. The peer hears that we failed and nothing else: at which check, and of which
    /// gate, would be of the function or of the data.
    pub(crate) fn guarded<T>(&mut self, work: impl FnOnce(&mut Self) -> Result<T>) -> Result<T> {
        if let Some(why) = &self.dead {
            return Err(Error::Dead(why.clone()));
        }
        self.dead = Some("a run was interrupted".into());
        let result = work(self);
        match &result {
            Ok(_) => self.dead = None,
            Err(error) => {
                self.dead = Some(error.to_string());
                let code = match error {
                    Error::Incompatible { .. } => AbortCode::Incompatible,
                    Error::Cancelled => AbortCode::Cancelled,
                    _ => AbortCode::Failed,
                };
                self.channel.abort(code, "");
            }
        }
        result
    }

    /// Ends the line between runs.
    pub(crate) fn cancel(&mut self, why: &str) {
        if self.dead.is_none() {
            self.dead = Some(why.into());
            self.channel.abort(AbortCode::Cancelled, "");
        }
    }

    /// Exchanges first messages.
    pub(crate) fn greet(&mut self, ours: &Hello, method: Method) -> Result<Hello> {
        self.channel.send(&ours.to_bytes(method))?;
        self.channel.flush()?;
        Hello::from_bytes(&self.channel.recv(HELLO)?, method)
    }

    pub(crate) fn receive<const N: usize>(&mut self) -> Result<[u8; N]> {
        let mut bytes = [0; N];
        self.channel.recv_into(&mut bytes)?;
        Ok(bytes)
    }

    pub(crate) fn tell(&mut self, done: u64, total: u64) -> Result<()> {
        match self.observer.as_mut().map_or(ControlFlow::Continue(()), |observer| observer(done, total)) {
            ControlFlow::Continue(()) => Ok(()),
            ControlFlow::Break(()) => Err(Error::Cancelled),
        }
    }
}

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
        line.guarded(|line| match line.greet(&Hello::Offer(offer.clone()), Method::Dh)? {
            Hello::Data { inputs: ANY } => Ok(()),
            Hello::Data { inputs } => same(BITS, offer.sizes.inputs.into(), inputs.into()),
            Hello::Offer(_) => Err(both("the function")),
        })?;
        Ok(Alice { line, wired, offer, done: 0 })
    }

    /// Sets who sees how far a run is, in points done and in all, and may end it.
    pub fn observe(&mut self, observer: impl FnMut(u64, u64) -> ControlFlow<()> + Send + 'static) {
        self.line.observer = Some(Box::new(observer));
    }

    /// Takes part in the next run that the peer asks for; false if it asks for none.
    ///
    /// # Errors
    /// [`Error::Peer`] if the peer sends what no honest party does, or asks for more runs than were offered.
    pub fn serve(&mut self) -> Result<bool> {
        let Alice { line, wired, offer, done } = self;
        line.guarded(|line| {
            let [kind] = line.receive()?;
            match kind {
                END => Ok(false),
                AT_ONCE | LATER if *done >= offer.runs => {
                    Err(Error::peer(format!("it asks for more than the {} runs offered", offer.runs)))
                }
                AT_ONCE | LATER => {
                    serve(line, wired, offer, *done, kind)?;
                    *done += 1;
                    Ok(true)
                }
                kind => Err(Error::peer(format!("it asks for a run of kind {kind}"))),
            }
        })
    }

    /// Says goodbye: what travelled in all.
    ///
    /// # Errors
    /// If the peer is not at its end.
    pub fn close(mut self) -> Result<Counters> {
        self.line.guarded(|line| line.channel.finish())?;
        Ok(self.line.channel.counters())
    }
}

pub(crate) fn both(what: &str) -> Error {
    Error::Incompatible { what: "who is who", ours: format!("we have {what}"), theirs: format!("it has {what} too") }
}

/// Alice's side of a run.
fn serve(line: &mut Line, wired: &mut Wired, offer: &Offer, number: u32, kind: u8) -> Result<()> {
    let announcement = line.receive::<POINT>()?;
    if wired.announced.contains(&announcement) {
        return Err(Error::peer("it announces a run as it announced another"));
    }
    wired.announced.push(announcement);
    let wired = &*wired;
    let labels = POINT * offer.sizes.inputs as usize;
    let begin = |line: &mut Line| {
        let labels = line.channel.recv(labels)?;
        Evaluation::new(wired, offer, number, &announcement, &labels)
    };
    let mut evaluation = if kind == AT_ONCE { Some(begin(line)?) } else { None };
    let mut queries = (number == 0).then(|| Queries::new(wired));
    let (total, mut sent, mut stored) = (offer.sizes.queries(), 0, Vec::new());
    let chunks = total.div_ceil(CHUNK);
    for number in 0..chunks {
        while let (Some(queries), true) = (&mut queries, sent < chunks.min(number + AHEAD)) {
            line.channel.send(&queries.chunk())?;
            line.channel.flush()?;
            sent += 1;
        }
        let tables = line.channel.recv(tables_of(offer, number))?;
        match &mut evaluation {
            Some(evaluation) => evaluation.chunk(&tables)?,
            None => stored.push(tables),
        }
        line.tell(chunk(total, number).end, total)?;
    }
    let mut evaluation = match evaluation {
        Some(evaluation) => evaluation,
        None => begin(line)?,
    };
    stored.iter().try_for_each(|tables| evaluation.chunk(tables))?;
    line.channel.send(&evaluation.finish()?)?;
    line.channel.flush()
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
        self.bob.check(x)?;
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
        let inputs = inputs.into();
        let mut line = Line::new(channel);
        let offer =
            line.guarded(|line| match line.greet(&Hello::Data { inputs: inputs.unwrap_or(ANY) }, Method::Dh)? {
                Hello::Offer(offer) => {
                    inputs.map_or(Ok(()), |inputs| same(BITS, inputs.into(), offer.sizes.inputs.into()))?;
                    Ok(offer)
                }
                Hello::Data { .. } => Err(both("the data")),
            })?;
        let most = offer.runs;
        Ok(Bob { line, offer, secrets: os_generator()?, most, done: 0, queries: Vec::new() })
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

    /// Sets who sees how far a run is, in points done and in all, and may end it.
    pub fn observe(&mut self, observer: impl FnMut(u64, u64) -> ControlFlow<()> + Send + 'static) {
        self.line.observer = Some(Box::new(observer));
    }

    /// Evaluates the function on this data.
    ///
    /// # Errors
    /// [`Error::Usage`] if it has other bits than announced, or no run is left; [`Error::Peer`] if the peer sends what no
    /// honest party does.
    pub fn run(&mut self, x: &[bool]) -> Result<Vec<bool>> {
        self.check(x)?;
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
        self.line.guarded(|line| {
            line.channel.send(&[END])?;
            line.channel.finish()
        })?;
        Ok(self.line.channel.counters())
    }

    fn check(&self, x: &[bool]) -> Result<()> {
        let (given, inputs) = (x.len(), self.offer.sizes.inputs as usize);
        let why = || Error::usage(format!("the data has {given} bits, and the function takes {inputs}"));
        if given == inputs { Ok(()) } else { Err(why()) }
    }

    fn garble(&mut self, kind: u8, labels: impl FnOnce(&Garbling) -> Vec<u8>) -> Result<Garbling> {
        let Bob { line, offer, secrets, most, done, queries } = self;
        if *done >= *most {
            let why =
                format!("the function was offered for {} runs, and the {most} that were wanted are done", offer.runs);
            return Err(Error::usage(why));
        }
        line.guarded(|line| {
            let mut garbling = Garbling::new(offer, *done, secrets);
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

//! Sessions: two parties, one channel, many programs.
//!
//! ```
//! use duologue::channel::Channel;
//! use duologue::{Inputs, Options, Party, Scheme, Session, data};
//! use circuit::{Program, blocks, uint};
//!
//! // Who is richer? Alice learns it, and nobody learns anything else.
//! let mut p = Program::new("millionaires");
//! let a = p.input("alice", Party::Alice, uint(32), 1);
//! let b = p.input("bob", Party::Bob, uint(32), 1);
//! let richer = p.map(&blocks::find("greater")?.circuit(32, blocks::Goal::Size)?, &[a, b]);
//! p.output("alice is richer", Party::Alice, richer);
//! let job = p.bind(&[])?;
//!
//! let (to_bob, to_alice) = Channel::pair();
//! let bobs = job.clone();
//! let bob = std::thread::spawn(move || {
//!     let mut session = Session::connect(to_alice, Party::Bob)?;
//!     let inputs = Inputs::new().with("bob", data::uints(32, &[1_000_000]));
//!     session.run(&bobs, &Options::new(Scheme::Yao), &inputs)
//! });
//! let mut session = Session::connect(to_bob, Party::Alice)?;
//! let inputs = Inputs::new().with("alice", data::uints(32, &[2_000_000]));
//! let outcome = session.run(&job, &Options::new(Scheme::Yao), &inputs)?;
//! assert_eq!(data::to_uints(outcome.outputs.get("alice is richer").unwrap()), [1]);
//! bob.join().unwrap()?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use crate::channel::{AbortCode, Channel, Counters};
use crate::correlation::{self, Demand, Maker, Stock};
use crate::data::{Inputs, Outputs};
use crate::executor::{Executor, Feeds, Link, Phase, Ran};
use crate::garble::{Base, Evaluator, Garbler};
use crate::gmw::Gmw;
use crate::ot::{Setup, iknp};
use crate::protocol::Protocol;
use crate::terms::{self, Fields, Moment, Options, Scheme, Terms};
use crate::{Error, Party, Result};
use circuit::BitMatrix;
use circuit::program::{Binding, BoundPort, Owner, Schedule};
use kernels::Block;
use kernels::generator::Generator;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// The version of what travels; another one is refused by name.
pub const VERSION: u16 = 1;

const MAGIC: &[u8; 8] = b"duologue";

/// Computational and statistical security in bits.
const SECURITY: [u8; 2] = [128, 40];

/// Bytes of a hello: magic and version, then party, security and nonce.
const HELLO_HEAD: usize = 10;
const HELLO_REST: usize = 1 + 2 + 32;

/// Correlations of a kind that are made at once when setup is streamed.
const BLOCK: u64 = 1 << 19;

/// What one phase took.
#[derive(Clone, Copy, Default, PartialEq, Debug)]
pub struct PhaseReport {
    /// Wall-clock time.
    pub time: Duration,
    /// Bytes of the protocol sent, without headers and encryption.
    pub sent: u64,
    /// Bytes of the protocol received.
    pub received: u64,
    /// How often this party turned from sending to receiving.
    pub rounds: u64,
}

/// What a run took.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Report {
    /// The terms that it ran under.
    pub terms: Terms,
    /// AND gates over all lanes.
    pub ands: u64,
    /// Lanes of a tile.
    pub tile: usize,
    /// Correlations that the program draws.
    pub demand: Demand,
    /// Before inputs; when setup is streamed, the sum of its parts.
    pub setup: PhaseReport,
    /// With inputs.
    pub online: PhaseReport,
}

/// What a run delivers.
pub struct Outcome {
    /// The outputs of this party.
    pub outputs: Outputs,
    /// What it took.
    pub report: Report,
}

/// A program whose setup is done: it runs once.
pub struct Prepared {
    engine: Box<dyn Engine>,
    binding: Arc<Binding>,
    public: Feeds,
    session: [u8; 32],
    ordinal: u64,
    report: Report,
}

/// Sees how far a run is: the phase, ANDs done, ANDs in all. Says whether to go on.
pub type Observer = Box<dyn FnMut(Phase, u64, u64) -> bool + Send>;

/// One party's end of a session.
///
/// Its secrets come from the operating system, and nothing prints them:
///
/// ```compile_fail,E0624
/// use duologue::{Party, Session, channel::Channel};
/// fn predictable(channel: Channel, secrets: kernels::generator::Generator) {
///     let session = Session::with(channel, Party::Alice, secrets);
/// }
/// ```
/// ```compile_fail,E0277
/// fn print(session: &duologue::Session) {
///     println!("{session:?}");
/// }
/// ```
pub struct Session {
    party: Party,
    id: [u8; 32],
    /// This party's own secrets.
    secrets: Generator,
    /// What both parties know.
    pairwise: Generator,
    stock: Stock,
    wire: Wire,
    /// Numbers used under this session's Δ.
    base: Base,
    ordinal: u64,
    dead: Option<String>,
}

/// A protocol's executor, whichever protocol it is.
trait Engine: Send {
    fn demand(&self) -> Demand;
    fn setup(&mut self, stock: &mut Stock, link: &mut dyn Link) -> Result<()>;
    fn online(self: Box<Self>, inputs: &Feeds, stock: &mut Stock, link: &mut dyn Link) -> Result<Ran>;
}

impl<P: Protocol + Send> Engine for Executor<P> {
    fn demand(&self) -> Demand {
        Executor::demand(self)
    }

    fn setup(&mut self, stock: &mut Stock, link: &mut dyn Link) -> Result<()> {
        Executor::setup(self, stock, link)
    }

    fn online(self: Box<Self>, inputs: &Feeds, stock: &mut Stock, link: &mut dyn Link) -> Result<Ran> {
        Executor::online(*self, inputs, stock, link)
    }
}

impl Session {
    /// Greets the peer; both must speak the same version and be different parties.
    pub fn connect(channel: Channel, party: Party) -> Result<Session> {
        let secrets = crate::ot::os_generator()?;
        Session::with(channel, party, secrets)
    }

    /// The same with a given source of secrets: nothing of a session is drawn from anywhere else.
    pub(crate) fn with(mut channel: Channel, party: Party, secrets: Generator) -> Result<Session> {
        let hello = hello(party, &secrets);
        let theirs = match greet(&mut channel, &hello) {
            Ok(theirs) => theirs,
            Err(error) => {
                channel.abort(AbortCode::of(&error), &error.to_string());
                return Err(error);
            }
        };
        let (alice, bob) = if party == Party::Alice { (&hello, &theirs) } else { (&theirs, &hello) };
        let derive = |what: &str| {
            *blake3::Hasher::new_derive_key(what).update(alice).update(bob).finalize().as_bytes()
        };
        let id = derive("duologue v1 session id");
        let pairwise = Block::from_bytes(derive("duologue v1 shared generator")[..16].try_into().expect("16 bytes"));
        let correlating = Some(secrets.derive(b"setup   ", 0));
        Ok(Session {
            party,
            id,
            secrets,
            pairwise: Generator::from_seed(pairwise),
            stock: Stock::new(party),
            wire: Wire { channel, party, id, correlating, maker: None, observer: None },
            base: Base::default(),
            ordinal: 0,
            dead: None,
        })
    }

    /// This party.
    pub fn party(&self) -> Party {
        self.party
    }

    /// What went over the channel so far.
    pub fn counters(&self) -> Counters {
        self.wire.channel.counters()
    }

    /// The correlations drawn so far.
    pub fn drawn(&self) -> Demand {
        self.stock.drawn()
    }

    /// Sets who sees the progress of runs and may cancel them.
    pub fn observe(&mut self, observer: Option<Observer>) {
        self.wire.observer = observer;
    }

    /// Runs a program: setup, then online.
    ///
    /// # Errors
    /// [`Error::Usage`] if an input is missing or misshapen, before anything is sent; [`Error::Incompatible`] if the
    /// parties differ, before any input is used. Any other error ends the session.
    pub fn run(&mut self, binding: &Binding, options: &Options, inputs: &Inputs) -> Result<Outcome> {
        let feeds = self.feeds(binding, inputs)?;
        let prepared = self.set_up(binding, options, inputs, false)?;
        self.finish_run(prepared, &feeds)
    }

    /// Setup of a program; of the inputs only the public ones are used.
    ///
    /// # Errors
    /// As [`run`](Self::run).
    pub fn prepare(&mut self, binding: &Binding, options: &Options, public: &Inputs) -> Result<Prepared> {
        self.set_up(binding, options, public, true)
    }

    fn set_up(&mut self, binding: &Binding, options: &Options, public: &Inputs, alone: bool) -> Result<Prepared> {
        self.alive()?;
        let feeds = public.feeds(binding, |owner| owner == Owner::Public)?;
        let (terms, schedule) = Terms::resolve(binding, options);
        let start = Mark::new(&self.wire);
        let (session, ordinal, drawn) = (self.id, self.ordinal, self.stock.drawn());
        let moment = Moment { session, setup_alone: alone, ordinal, drawn };
        let fields = terms::fields(binding, &terms, &schedule, &moment, &digest(&feeds))?;
        let agreed = self.wire.agree(&fields);
        self.guard(agreed)?;
        let (binding, schedule) = (Arc::new(binding.clone()), Arc::new(schedule));
        let made = self.engine(&terms, (binding.clone(), schedule.clone()), &feeds);
        let mut engine = self.guard(made)?;
        let done = engine.setup(&mut self.stock, &mut self.wire);
        self.guard(done)?;
        self.base.and0 += schedule.totals.and0;
        self.base.in0 += schedule.totals.in0;
        self.ordinal += 1;
        let report = Report {
            terms,
            ands: schedule.totals.and0,
            tile: schedule.tile,
            demand: engine.demand(),
            setup: start.until_now(&self.wire),
            online: PhaseReport::default(),
        };
        Ok(Prepared { engine, binding, public: feeds, session, ordinal, report })
    }

    /// Runs a prepared program on inputs. The parties take their prepared programs in the same order; public inputs
    /// are those of setup.
    ///
    /// # Errors
    /// As [`run`](Self::run).
    pub fn online(&mut self, prepared: Prepared, inputs: &Inputs) -> Result<Outcome> {
        self.alive()?;
        if prepared.session != self.id {
            return Err(Error::usage("this program was prepared in another session"));
        }
        let feeds = self.feeds_after(&prepared, inputs)?;
        let agreed = self.wire.agree(&terms::online(&self.id, prepared.ordinal));
        self.guard(agreed)?;
        self.finish_run(prepared, &feeds)
    }

    fn finish_run(&mut self, prepared: Prepared, feeds: &Feeds) -> Result<Outcome> {
        let Prepared { engine, binding, mut report, .. } = prepared;
        let start = Mark::new(&self.wire);
        let ran = engine.online(feeds, &mut self.stock, &mut self.wire);
        let Ran { outputs, streamed_setup: streamed, .. } = self.guard(ran)?;
        report.online = start.until_now(&self.wire);
        report.online.time = report.online.time.saturating_sub(streamed);
        report.setup.time += streamed;
        Ok(Outcome { outputs: Outputs::new(&binding, outputs), report })
    }

    /// Ends the session in good order: both parties have said all.
    pub fn close(mut self) -> Result<()> {
        self.alive()?;
        self.wire.channel.finish()
    }

    fn feeds(&self, binding: &Binding, inputs: &Inputs) -> Result<Feeds> {
        inputs.check_owner(binding, self.party)?;
        inputs.feeds(binding, |owner| owner != Owner::Party(self.party.peer()))
    }

    /// The inputs of a prepared program. Public ones are not needed again, and may not be others.
    fn feeds_after(&self, prepared: &Prepared, inputs: &Inputs) -> Result<Feeds> {
        let Prepared { binding, public, .. } = prepared;
        let differs = |(port, used): &(&BoundPort<Owner>, &Option<BitMatrix>)| {
            used.is_some() && inputs.get(&port.name).is_some_and(|given| Some(given) != used.as_ref())
        };
        if let Some((port, _)) = binding.inputs().iter().zip(public).find(differs) {
            return Err(Error::usage(format!("the public input '{}' is not the one that setup used", port.name)));
        }
        inputs.check_owner(binding, self.party)?;
        inputs.feeds(binding, |owner| owner == Owner::Shared || owner == Owner::Party(self.party))
    }

    /// The executor of the agreed protocol for this party.
    fn engine(
        &mut self,
        terms: &Terms,
        job: (Arc<Binding>, Arc<Schedule>),
        public: &Feeds,
    ) -> Result<Box<dyn Engine>> {
        let (party, how) = (Some(self.party), (terms.window, terms.ahead));
        Ok(match terms.scheme {
            Scheme::Gmw => {
                let pairwise = self.pairwise.derive(b"gmw     ", 0);
                let gmw = Gmw::new(self.party, pairwise, self.base.in0);
                Box::new(Executor::new(gmw, party, job, how, public)?)
            }
            Scheme::Yao if terms.garbler == self.party => {
                let delta = self.wire.maker()?.delta()?;
                let mut own = self.secrets.derive(b"garbling", self.ordinal);
                let (s, labels) = (own.block(), own.derive(b"labels  ", 0));
                self.wire.send(&s.to_bytes())?;
                self.wire.flush()?;
                let garbler = Garbler::new(self.party, delta, s, labels, self.base, terms.ahead);
                Box::new(Executor::new(garbler, party, job, how, public)?)
            }
            Scheme::Yao => {
                self.wire.maker()?;
                let mut s = Vec::new();
                self.wire.receive(16, &mut s)?;
                let s = Block::from_bytes(s.try_into().expect("16 bytes were read"));
                let evaluator = Evaluator::new(self.party, s, self.base, terms.ahead);
                Box::new(Executor::new(evaluator, party, job, how, public)?)
            }
        })
    }

    fn alive(&self) -> Result<()> {
        self.dead.clone().map_or(Ok(()), |why| Err(Error::Dead(why)))
    }

    /// A failure destroys every secret of the session and tells the peer; a disagreement found before inputs does not.
    fn guard<T>(&mut self, result: Result<T>) -> Result<T> {
        if let Err(error) = &result
            && !matches!(error, Error::Incompatible { .. })
        {
            self.dead = Some(error.to_string());
            self.stock.destroy();
            self.wire.maker = None;
            self.wire.correlating = None;
            self.secrets = Generator::from_seed(Block::ZERO);
            self.wire.channel.abort(AbortCode::of(error), &error.to_string());
        }
        result
    }
}

/// The channel with what setup needs.
struct Wire {
    channel: Channel,
    party: Party,
    id: [u8; 32],
    /// The secrets of the maker, which takes them.
    correlating: Option<Generator>,
    maker: Option<Maker>,
    observer: Option<Observer>,
}

impl Wire {
    /// The maker of correlations; base OTs run once, when it is first needed.
    fn maker(&mut self) -> Result<&mut Maker> {
        if let Some(secrets) = self.correlating.take() {
            let (setup, message) = Setup::start_with(&mut secrets.derive(b"base OT ", 0), self.party, &self.id);
            self.channel.send(&message)?;
            let theirs = self.channel.recv(Setup::MESSAGE)?;
            let (sender, receiver) = setup.finish(&theirs)?;
            let sender = Box::new(iknp::SemiHonestSender::new(sender));
            let receiver = Box::new(iknp::SemiHonestReceiver::new(receiver));
            self.maker = Some(Maker::with(secrets.derive(b"salts   ", 0), sender, receiver));
        }
        self.maker.as_mut().ok_or_else(|| Error::usage("no maker of correlations"))
    }

    /// Exchanges terms, which must be equal.
    fn agree(&mut self, fields: &Fields) -> Result<()> {
        let ours = terms::encode(fields);
        self.channel.send(&(ours.len() as u32).to_le_bytes())?;
        self.channel.send(&ours)?;
        let length = self.channel.recv(4)?;
        let length = u32::from_le_bytes(length.try_into().expect("4 bytes were read")) as usize;
        if length > terms::MOST_BYTES {
            return Err(Error::peer(format!("its terms have {length} bytes")));
        }
        let theirs = self.channel.recv(length)?;
        terms::compare(fields, &theirs)
    }
}

impl Link for Wire {
    fn send(&mut self, bytes: &[u8]) -> Result<()> {
        if bytes.is_empty() { Ok(()) } else { self.channel.send(bytes) }
    }

    fn flush(&mut self) -> Result<()> {
        self.channel.flush()
    }

    fn receive(&mut self, count: usize, inbox: &mut Vec<u8>) -> Result<()> {
        inbox.resize(count, 0);
        if count == 0 { Ok(()) } else { self.channel.recv_into(inbox) }
    }

    fn supply(&mut self, stock: &mut Stock, demand: Demand, ahead: Demand) -> Result<()> {
        let available = stock.available();
        if demand != Demand::NONE && demand.missing_from(&available) == Demand::NONE {
            return Ok(());
        }
        let make = at_once(&demand, &ahead).missing_from(&available);
        if make == Demand::NONE {
            return Ok(());
        }
        self.maker()?;
        let Wire { channel, maker: Some(maker), .. } = self else { return Ok(()) };
        let mut refill = maker.refill(stock, make);
        let (mut inbox, mut outbox) = (Vec::new(), Vec::new());
        while let correlation::Flow::Exchange { expect } = refill.step(&inbox, &mut outbox)? {
            channel.send(&outbox)?;
            outbox.clear();
            inbox.resize(expect, 0);
            channel.recv_into(&mut inbox)?;
        }
        Ok(())
    }

    fn progress(&mut self, phase: Phase, done: u64, total: u64) -> Result<()> {
        let go_on = self.observer.as_mut().is_none_or(|observer| observer(phase, done, total));
        if go_on { Ok(()) } else { Err(Error::usage("cancelled")) }
    }
}

/// All that is demanded, and a block of what will be.
pub(crate) fn at_once(demand: &Demand, ahead: &Demand) -> Demand {
    let kind = |demand: u64, ahead: u64| demand.max(ahead.min(BLOCK));
    Demand {
        cots_by_alice: kind(demand.cots_by_alice, ahead.cots_by_alice),
        cots_by_bob: kind(demand.cots_by_bob, ahead.cots_by_bob),
        triples: kind(demand.triples, ahead.triples),
    }
}

/// A moment of a session, to measure from.
struct Mark {
    time: Instant,
    counters: Counters,
}

impl Mark {
    fn new(wire: &Wire) -> Mark {
        Mark { time: Instant::now(), counters: wire.channel.counters() }
    }

    fn until_now(&self, wire: &Wire) -> PhaseReport {
        let now = wire.channel.counters();
        PhaseReport {
            time: self.time.elapsed(),
            sent: now.bytes_sent - self.counters.bytes_sent,
            received: now.bytes_received - self.counters.bytes_received,
            rounds: now.rounds - self.counters.rounds,
        }
    }
}

fn digest(public: &Feeds) -> blake3::Hash {
    let mut hasher = blake3::Hasher::new_derive_key("duologue v1 public inputs");
    for input in public.iter().flatten() {
        hasher.update(&(input.rows() as u64).to_le_bytes());
        hasher.update(&(input.lanes() as u64).to_le_bytes());
        hasher.update(bytemuck::cast_slice(input.words()));
    }
    hasher.finalize()
}

/// Who we are and what we speak, with a nonce that makes the session fresh.
fn hello(party: Party, secrets: &Generator) -> Vec<u8> {
    let mut hello = MAGIC.to_vec();
    hello.extend(VERSION.to_le_bytes());
    hello.push(party as u8);
    hello.extend(SECURITY);
    let mut nonce = [0; 32];
    secrets.derive(b"nonce   ", 0).fill(&mut nonce);
    hello.extend(nonce);
    hello
}

/// Exchanges hellos. The head tells a stranger from another version before more is read.
fn greet(channel: &mut Channel, hello: &[u8]) -> Result<Vec<u8>> {
    channel.send(hello)?;
    let mut theirs = channel.recv(HELLO_HEAD)?;
    check_head(&theirs)?;
    theirs.extend(channel.recv(HELLO_REST)?);
    check_hello(hello, &theirs)?;
    Ok(theirs)
}

fn check_head(theirs: &[u8]) -> Result<()> {
    if theirs[..8] != *MAGIC {
        return Err(Error::peer("it does not speak duologue (is a simulated link set on one side only?)"));
    }
    let version = u16::from_le_bytes([theirs[8], theirs[9]]);
    if version != VERSION {
        let (ours, theirs) = (VERSION.to_string(), version.to_string());
        return Err(Error::Incompatible { what: "the version of the protocol", ours, theirs });
    }
    Ok(())
}

/// Checks the peer's hello against ours; both are complete.
pub fn check_hello(ours: &[u8], theirs: &[u8]) -> Result<()> {
    if theirs.len() != HELLO_HEAD + HELLO_REST {
        return Err(Error::peer("its hello has a wrong length"));
    }
    check_head(theirs)?;
    let party = |hello: &[u8]| match hello[HELLO_HEAD] {
        0 => Ok(Party::Alice),
        1 => Ok(Party::Bob),
        other => Err(Error::peer(format!("it is party {other}"))),
    };
    let (us, them) = (party(ours)?, party(theirs)?);
    if us == them {
        let what = "who is who (one must be alice, the other bob)";
        return Err(Error::Incompatible { what, ours: us.to_string(), theirs: them.to_string() });
    }
    let security = |hello: &[u8]| format!("{} and {} bits", hello[HELLO_HEAD + 1], hello[HELLO_HEAD + 2]);
    if security(ours) != security(theirs) {
        let (ours, theirs) = (security(ours), security(theirs));
        return Err(Error::Incompatible { what: "the security parameters", ours, theirs });
    }
    if ours[HELLO_HEAD + 3..] == theirs[HELLO_HEAD + 3..] {
        return Err(Error::peer("it sent our own nonce back"));
    }
    Ok(())
}

#[cfg(test)]
mod tests;

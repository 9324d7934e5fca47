//! Peers that break a call in a session, in its setup and online: whatever they send, our side ends with an error that
//! names the call, without a panic and without outputs.
//!
//! Well-formed lies are noticed no more than anywhere else (`docs/security.md`): these are bytes that no honest party sends.

mod common;

use apps::argmin::encrypted::{Method, Terms};
use apps::argmin::{Argmin, Direction, halves, of_ciphertexts, shared};
use apps::equality::{Equality, equality};
use duologue::call::{Call, CallLengths, CallProtocol, Context, OnlineStage, SetupStage, Zeroizing};
use duologue::channel::memory::{self, MemoryPipe};
use duologue::channel::{Channel, Limits, Pipe};
use duologue::circuit::program::{CallPort, Functionality};
use duologue::circuit::{Binding, BitMatrix, Party};
use duologue::data::uints;
use duologue::{Error, Inputs, Options, Outcome, Result, Scheme, Session, Timing};
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

/// What the hostile peer does from the moment when its call reaches the phase.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Harm {
    /// Nothing: the twin.
    None,
    /// What it sends in its frames is something else.
    Lies,
    /// One bit in this many bytes of its data is another.
    Bits(usize),
    /// What it sends are no frames.
    Noise,
    /// It sends half of something, and is gone.
    Half,
    /// It is gone.
    Gone,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum At {
    Setup,
    Online,
}

/// A call, whose peer becomes hostile when a phase begins.
struct Hostile {
    call: Arc<dyn CallProtocol>,
    at: At,
    begun: Arc<AtomicBool>,
}

impl Hostile {
    fn reaches(&self, at: At) {
        self.begun.fetch_or(at == self.at, Ordering::SeqCst);
    }
}

impl Functionality for Hostile {
    fn name(&self) -> &str {
        self.call.name()
    }

    fn version(&self) -> u32 {
        self.call.version()
    }

    fn results(&self, parameters: &[u8], args: &[CallPort]) -> duologue::circuit::Result<Vec<CallPort>> {
        self.call.results(parameters, args)
    }

    fn lanes(&self, parameters: &[u8], args: &[u64]) -> duologue::circuit::Result<Vec<u64>> {
        self.call.lanes(parameters, args)
    }

    fn evaluate(&self, parameters: &[u8], args: &[BitMatrix]) -> Vec<BitMatrix> {
        self.call.evaluate(parameters, args)
    }
}

impl CallProtocol for Hostile {
    fn lengths(&self, call: &Call, party: Party) -> Result<CallLengths> {
        self.call.lengths(call, party)
    }

    fn setup(&self, call: &Arc<Call>, context: &Context) -> Result<SetupStage> {
        self.reaches(At::Setup);
        self.call.setup(call, context)
    }

    fn online(
        &self,
        call: &Arc<Call>,
        party: Party,
        setup: Zeroizing<Vec<u8>>,
        args: Vec<Option<BitMatrix>>,
    ) -> Result<OnlineStage> {
        self.reaches(At::Online);
        self.call.online(call, party, setup, args)
    }
}

/// Bytes of a frame's header: its kind, of which 1 is data, and three bytes of length.
const HEADER: usize = 4;

/// A hostile peer's pipe.
struct Harmed {
    inner: MemoryPipe,
    harm: Harm,
    begun: Arc<AtomicBool>,
    gone: bool,
    frames: Frames,
}

/// Where in a frame the next byte is.
#[derive(Clone, Default)]
struct Frames {
    header: Vec<u8>,
    body: usize,
}

impl Frames {
    /// Whether this byte is of the body of a data frame.
    fn is_data(&mut self, byte: u8) -> bool {
        if self.body > 0 {
            self.body -= 1;
            return self.header[0] == 1;
        }
        if self.header.len() == HEADER {
            self.header.clear();
        }
        self.header.push(byte);
        if let &[_, low, middle, high] = &self.header[..] {
            self.body = u32::from_le_bytes([low, middle, high, 0]) as usize;
        }
        false
    }
}

impl Pipe for Harmed {
    fn try_read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        self.inner.try_read(into)
    }

    fn try_write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.gone {
            return Ok(bytes.len());
        }
        let mut sent = bytes.to_vec();
        if self.begun.load(Ordering::SeqCst) {
            match self.harm {
                Harm::None => {}
                Harm::Lies => {
                    let mut frames = self.frames.clone();
                    sent.iter_mut().for_each(|byte| *byte ^= if frames.is_data(*byte) { 0xff } else { 0 });
                }
                Harm::Bits(every) => {
                    let mut frames = self.frames.clone();
                    for (place, byte) in sent.iter_mut().enumerate() {
                        let data = frames.is_data(*byte);
                        *byte ^= u8::from(data && place % every == 0) << (place % 8);
                    }
                }
                Harm::Noise => sent.fill(0xa7),
                Harm::Half | Harm::Gone => {
                    let some = if self.harm == Harm::Half { bytes.len() / 2 } else { 0 };
                    if some > 0 {
                        self.inner.try_write(&bytes[..some])?;
                    }
                    self.inner.close_write();
                    self.gone = true;
                    return Ok(bytes.len());
                }
            }
        }
        let count = self.inner.try_write(&sent)?;
        for &byte in &bytes[..count] {
            self.frames.is_data(byte);
        }
        Ok(count)
    }

    fn try_flush(&mut self) -> io::Result<()> {
        self.inner.try_flush()
    }

    fn wait(&mut self, for_write: bool, timeout: Duration) -> io::Result<()> {
        self.inner.wait(for_write, timeout)
    }

    fn close_write(&mut self) {
        self.inner.close_write();
    }
}

/// Nobody gives up for want of time.
fn patient() -> Limits {
    let long = Duration::from_secs(120);
    Limits::default().silence(long).progress(long).meet(long)
}

/// Calls, a program of each, and both parties' inputs.
fn jobs() -> Vec<(Arc<dyn CallProtocol>, Binding, [Inputs; 2])> {
    let equal = equality(20).bind(&[("lanes", 3)]).unwrap();
    let of_equal = ["a", "b"].map(|name| Inputs::new().with(name, uints(20, &[1, 2, 3]).unwrap()));
    let numbers = |name: &str, width, numbers: &[u64]| Inputs::new().with(name, uints(width, numbers).unwrap());
    let of_shares = [
        numbers("alice_shares", 10, &[1, 2, 3]).with("alice_least", uints(10, &[7]).unwrap()),
        numbers("bob_shares", 10, &[5, 1, 0]),
    ];
    let of_halves = [numbers("alice_values", 9, &[4, 3]), numbers("bob_values", 9, &[8, 2, 6])];
    let mut jobs: Vec<(Arc<dyn CallProtocol>, Binding, [Inputs; 2])> = vec![(Arc::new(Equality), equal, of_equal)];
    for direction in [Direction::Both, Direction::One] {
        let least = shared(9, None, direction, &[]).bind(&[("values", 3)]).unwrap();
        jobs.push((Arc::new(Argmin), least, of_shares.clone()));
    }
    let least = halves(9, None, duologue::circuit::program::Recipient::Both).bind(&[("alice", 2), ("bob", 3)]).unwrap();
    jobs.push((Arc::new(Argmin), least, of_halves));
    let key = common::encrypted::key(1024);
    let terms = Terms { direction: Direction::One, ..common::encrypted::terms(&key, 9, None) };
    let case =
        common::encrypted::Case { method: Method::Duologue, terms, values: vec![4, 1, 7], arguments: Vec::new() };
    let ciphertexts = case.encrypted(&key, &mut common::Random(1)).swap_remove(0);
    let least = of_ciphertexts(case.method, &case.terms).bind(&[("values", 3)]).unwrap();
    let call = case.method.call(&common::encrypted::keys_of(&key));
    jobs.push((call, least, [Inputs::new().with("values", ciphertexts), Inputs::new()]));
    jobs
}

/// What the honest party has of a run with a peer who is hostile from here on.
fn against(
    us: Party,
    (at, harm): (At, Harm),
    options: &Options,
    (call, binding, inputs): &(Arc<dyn CallProtocol>, Binding, [Inputs; 2]),
) -> Result<Outcome> {
    let (ours, theirs) = memory::pair(memory::CAPACITY);
    let begun = Arc::new(AtomicBool::new(false));
    let pipe = Harmed { inner: theirs, harm, begun: begun.clone(), gone: false, frames: Frames::default() };
    let inputs = |party: Party| &inputs[party as usize];
    thread::scope(|scope| {
        let peer = scope.spawn(|| -> Result<()> {
            let mut session = Session::connect(Channel::over(pipe, patient()), us.peer())?;
            session.register(Arc::new(Hostile { call: call.clone(), at, begun }));
            session.run(binding, options, inputs(us.peer()))?;
            session.close()
        });
        let mut session = Session::connect(Channel::over(ours, patient()), us)?;
        session.register_all(&apps::calls());
        session.register(call.clone());
        let outcome = session.run(binding, options, inputs(us));
        if outcome.is_err() {
            let later = session.run(binding, options, inputs(us));
            assert!(matches!(later, Err(Error::Dead(_))), "it is over");
        }
        drop(session);
        // What becomes of the peer does not matter, but that it ends.
        let _ = peer.join().expect("no panic");
        outcome
    })
}

/// Bits that are flipped online make another result, or an error of the peer's; never a panic.
#[test]
fn flipped_bits_of_a_call_are_an_error_or_another_result() {
    let gmw = Options::new(Scheme::Gmw);
    for (job, us) in jobs().iter().flat_map(|job| [(job, Party::Alice), (job, Party::Bob)]) {
        for every in 1..12 {
            match against(us, (At::Online, Harm::Bits(every)), &gmw, job) {
                Ok(_) | Err(Error::Peer(_) | Error::Closed(_) | Error::Aborted(_)) => {}
                Err(error) => panic!("{} against {us}, every {every}: {error}", job.0.name()),
            }
        }
    }
}

#[test]
fn a_call_with_a_hostile_peer_ends_by_name() {
    let gmw = Options::new(Scheme::Gmw);
    for (job, us) in jobs().iter().flat_map(|job| [(job, Party::Alice), (job, Party::Bob)]) {
        for options in [gmw, gmw.timing(Timing::Streamed), Options::new(Scheme::Yao)] {
            for (at, phase) in [(At::Setup, "in setup"), (At::Online, "in the online phase")] {
                let twin = against(us, (at, Harm::None), &options, job);
                assert!(twin.is_ok(), "the twin, {us}, {at:?}, {options:?}: {:?}", twin.err());
                for harm in [Harm::Lies, Harm::Noise, Harm::Half, Harm::Gone] {
                    let what = format!("{} {harm:?} {at:?} against {us}, {options:?}", job.0.name());
                    let error = against(us, (at, harm), &options, job).expect_err(&what);
                    let closes = matches!(harm, Harm::Half | Harm::Gone);
                    let kind =
                        matches!(error, Error::Peer(_)) && !closes || matches!(error, Error::Closed(_)) && closes;
                    let name = format!("{phase} of the call of '{}'", job.0.name());
                    assert!(kind && error.to_string().contains(&name), "{what}: {error}");
                }
            }
        }
    }
}

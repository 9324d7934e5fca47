//! Peers that break a call in a session, in its setup and online: whatever they send, our side ends with an error that
//! names the call, without a panic and without outputs.
//!
//! Well-formed lies are noticed no more than anywhere else (`docs/security.md`): these are bytes that no honest party sends.

use crate::common;
use apps::argmin::encrypted::{Method, Terms};
use apps::argmin::{
    Argmin, Backtrack, Direction, Form, Found, Held, Parameters, halves, levels, of_ciphertexts, shared, strings_by_ots,
};
use apps::conditional_sum::ConditionalSum;
use apps::equality::{Equality, equality};
use apps::psi::shares::{self, CircuitPsi};
use apps::psi::{Learns, Psi, psi};
use apps::statistics::{Totals, statistics};
use apps::universal::{Universal, encode_function, universal};
use duologue::call::{Call, CallLengths, CallProtocol, Context, OnlineStage, SetupStage, Zeroizing};
use duologue::channel::memory::{self, MemoryPipe};
use duologue::channel::{Channel, Limits, Pipe};
use duologue::circuit::blocks::{Goal, registry};
use duologue::circuit::program::{CallPort, Functionality, Owner, Recipient};
use duologue::circuit::universal::Nodes;
use duologue::circuit::{Binding, BitMatrix, Party, Program, bits};
use duologue::data::uints;
use duologue::{Error, Inputs, Options, Outcome, Result, Scheme, Session, Timing};
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
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
    /// It sends a byte more than it should.
    More,
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
    /// Frames of data from then on that come before the harm, and how many it has sent in all from then on.
    after: usize,
    sent: Arc<AtomicUsize>,
    gone: bool,
    frames: Frames,
}

impl Harmed {
    /// How many of these bytes come before the harm.
    fn spared(&self, bytes: &[u8]) -> usize {
        let (mut frames, mut left) = (self.frames.clone(), self.after.saturating_sub(self.sent.load(Ordering::SeqCst)));
        let ends = bytes.iter().map(|&byte| frames.is_data(byte) && frames.body == 0);
        let within = ends.take_while(|&end| {
            let spared = left > 0;
            left -= usize::from(end && spared);
            spared
        });
        within.count()
    }

    fn count(&mut self, bytes: &[u8], begun: bool) {
        for &byte in bytes {
            let ends = self.frames.is_data(byte) && self.frames.body == 0;
            self.sent.fetch_add(usize::from(ends && begun), Ordering::SeqCst);
        }
    }
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
        let begun = self.begun.load(Ordering::SeqCst);
        let spared = if begun { self.spared(bytes) } else { bytes.len() };
        let harmless = spared > 0 || !begun;
        let bytes = if harmless { &bytes[..spared] } else { bytes };
        let mut sent = bytes.to_vec();
        if !harmless {
            match self.harm {
                Harm::None => {}
                Harm::More => {
                    let between = self.frames.body == 0 && self.frames.header.len().is_multiple_of(HEADER);
                    if between && self.inner.try_write(&[1, 1, 0, 0, 0x5a])? > 0 {
                        self.harm = Harm::None;
                    }
                }
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
        self.count(&bytes[..count], begun);
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
fn jobs() -> Vec<Job> {
    let equal = equality(20).bind(&[("lanes", 3)]).unwrap();
    let of_equal = ["a", "b"].map(|name| Inputs::new().with(name, uints(20, &[1, 2, 3]).unwrap()));
    let numbers = |name: &str, width, numbers: &[u64]| Inputs::new().with(name, uints(width, numbers).unwrap());
    let of_shares = [
        numbers("alice_shares", 10, &[1, 2, 3]).with("alice_least", uints(10, &[7]).unwrap()),
        numbers("bob_shares", 10, &[5, 1, 0]),
    ];
    let of_halves = [numbers("alice_values", 9, &[4, 3]), numbers("bob_values", 9, &[8, 2, 6])];
    let mut jobs: Vec<Job> = vec![(Arc::new(Equality), equal, of_equal), sums()];
    for direction in [Direction::Both, Direction::One] {
        let least = shared(9, None, direction, &[]).bind(&[("values", 3)]).unwrap();
        jobs.push((Arc::new(Argmin), least, of_shares.clone()));
    }
    let least = halves(9, None, Recipient::Both).bind(&[("alice", 2), ("bob", 3)]).unwrap();
    jobs.push((Arc::new(Argmin), least, of_halves));
    for direction in [Direction::Both, Direction::One] {
        let least = strings_by_ots(9, None, direction).bind(&[("values", 3)]).unwrap();
        jobs.push((Arc::new(Argmin), least, shared_by_both(false)));
        // A group of three, whose wins are multiplied, with arguments.
        let least = shared(9, Some(5), direction, &[3]).bind(&[("values", 3)]).unwrap();
        let [ours, theirs] = of_shares.clone();
        let argument = |inputs: Inputs| inputs.with("arguments", uints(5, &[9, 30, 4]).unwrap());
        jobs.push((Arc::new(Argmin), least, [argument(ours), argument(theirs)]));
    }
    // Neither inputs nor outputs fill their last byte.
    let circuit = registry::find("add").and_then(|block| block.circuit(&[5], Goal::Size)).unwrap();
    let function = Nodes::of_circuit(&circuit).unwrap();
    let [x, y] = [0, 1].map(|i| circuit.inputs()[i].name.as_str());
    let of_function = [
        Inputs::new().with("function", encode_function(&function)),
        numbers(x, 5, &[3]).with(y, uints(5, &[9]).unwrap()),
    ];
    let added = universal(circuit.inputs(), circuit.outputs(), function.size().gates).unwrap();
    jobs.push((Arc::new(Universal), added.bind(&[]).unwrap(), of_function));
    jobs.push(over_ciphertexts(Method::Duologue));
    jobs
}

/// Inputs that both share.
fn shared_by_both(argument: bool) -> [Inputs; 2] {
    [1, 2].map(|seed| {
        let lanes = |width| uints(width, &[seed, 3 * seed + 1, seed + 2]).unwrap();
        let inputs = Inputs::new().with("values", lanes(9));
        if argument { inputs.with("arguments", lanes(5)) } else { inputs }
    })
}

/// A walk, whose Bob alone reads anything that no honest party sends.
fn walk() -> Job {
    let walk = levels(9, Found::Walk(5), Goal::Size, Held::Shared(3)).bind(&[]).unwrap();
    (Arc::new(Backtrack), walk, shared_by_both(true))
}

/// Intersections: small ones, both learning, and one with noise in its VOLE. A table and corrections can be any bytes, so that a peer
/// who lies gets no error, but no result of its own making.
fn intersections() -> Vec<Job> {
    let small = psi(20, Learns::Both).bind(&[("as", 3), ("bs", 4)]).unwrap();
    let large = psi(20, Learns::Only(Party::Alice)).bind(&[("as", 500), ("bs", 3)]).unwrap();
    let numbers = |name: &str, numbers: Vec<u64>| Inputs::new().with(name, uints(20, &numbers).unwrap());
    let few = || numbers("b", vec![3, 600, 5]);
    let in_bins = |sizes: [u64; 2]| in_bins().bind(&[("as", sizes[0]), ("bs", sizes[1])]).unwrap();
    let with_values = |inputs: Inputs, count| inputs.with("values", uints(20, &vec![9; count]).unwrap());
    let three = with_values(numbers("b", vec![5, 6, 7, 8]), 4);
    vec![
        (Arc::new(CircuitPsi), in_bins([3, 4]), [numbers("a", vec![3, 4, 5]), three]),
        (Arc::new(CircuitPsi), in_bins([500, 3]), [numbers("a", (0..500).collect()), with_values(few(), 3)]),
        (Arc::new(Psi), small, [numbers("a", vec![3, 4, 5]), numbers("b", vec![5, 6, 7, 8])]),
        (Arc::new(Psi), large, [numbers("a", (0..500).collect()), few()]),
    ]
}

/// Sums by groups. In setup Bob sends nothing, and masked choices and answers can be any bits.
fn totals() -> Job {
    let totals = statistics(9, Recipient::Both, Goal::Size).bind(&[("rows", 3), ("groups", 2)]).unwrap();
    let numbers = |name: &str, width, numbers: &[u64]| Inputs::new().with(name, uints(width, numbers).unwrap());
    let of_rows = [numbers("group", 16, &[0, 1, 1]), numbers("value", 9, &[500, 2, 3])];
    (Arc::new(Totals), totals, of_rows.map(|own| own.with("minimum", uints(20, &[1]).unwrap())))
}

/// The sum of values of both, where a shared bit is set. Bits and corrections do not fill their last byte of three lanes.
fn sums() -> Job {
    let (mut p, sum): (_, Arc<dyn Functionality>) = (Program::new("sums"), Arc::new(ConditionalSum));
    let condition = p.input("condition", Owner::Shared, bits(1), 3);
    let values = [("a", Party::Alice), ("b", Party::Bob)].map(|(name, party)| p.input(name, party, bits(9), 3));
    for (party, part) in
        [Party::Alice, Party::Bob].into_iter().zip(p.call(&sum, &[3], &[condition, values[0], values[1]]))
    {
        p.output(&format!("{party}'s"), Recipient::Party(party), part);
    }
    let inputs = ["a", "b"].map(|name| {
        let lanes = |width, numbers: [u64; 3]| uints(width, &numbers).unwrap();
        Inputs::new().with(name, lanes(9, [4, 300, 7])).with("condition", lanes(1, [1, 0, 1]))
    });
    (Arc::new(ConditionalSum), p.bind(&[]).unwrap(), inputs)
}

/// Tags and shares of Bob's values, as they are.
fn in_bins() -> Program {
    let (mut p, psi): (_, Arc<dyn Functionality>) = (Program::new("bins"), Arc::new(CircuitPsi));
    let [a, b] = ["as", "bs"].map(|size| p.size(size, 0..=1000));
    let args = [("a", Party::Alice, a), ("b", Party::Bob, b), ("values", Party::Bob, b)];
    let args = args.map(|(name, party, lanes)| p.input(name, party, bits(20), lanes));
    let recipients = [Recipient::Party(Party::Alice), Recipient::Party(Party::Bob), Recipient::Shared];
    let parameters = [Party::Alice as u8, shares::MOST_TAG as u8, Party::Bob as u8];
    for (recipient, result) in recipients.into_iter().zip(p.call(&psi, &parameters, &args)) {
        p.output(&format!("{recipient:?}"), recipient, result);
    }
    p
}

type Job = (Arc<dyn CallProtocol>, Binding, [Inputs; 2]);

/// Three ciphertexts of Alice's under Bob's key.
fn over_ciphertexts(method: Method) -> Job {
    let key = common::encrypted::key(1024);
    let leaky = method == Method::Boma;
    let terms = Terms { direction: Direction::One, leaky, ..common::encrypted::terms(&key, 9, None) };
    let case = common::encrypted::Case { method, terms, values: vec![4, 1, 7], arguments: Vec::new() };
    let ciphertexts = case.encrypted(&key, &mut common::Random(1)).swap_remove(0);
    let least = of_ciphertexts(method, &case.terms).bind(&[("values", 3)]).unwrap();
    let call = method.call(&common::encrypted::keys_of(&key));
    (call, least, [Inputs::new().with("values", ciphertexts), Inputs::new()])
}

/// What the honest party has of a run with a peer who is hostile from here on.
fn against(us: Party, (at, harm): (At, Harm), options: &Options, job: &Job) -> Result<Outcome> {
    against_after(0, us, (at, harm), options, job).0
}

/// The same with a peer who is hostile after so many frames of data, and how many it has sent from where the phase began.
fn against_after(
    after: usize,
    us: Party,
    (at, harm): (At, Harm),
    options: &Options,
    (call, binding, inputs): &Job,
) -> (Result<Outcome>, usize) {
    let (ours, theirs) = memory::pair(memory::CAPACITY);
    let (begun, frames) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicUsize::new(0)));
    let sent = frames.clone();
    let pipe =
        Harmed { inner: theirs, harm, begun: begun.clone(), after, sent, gone: false, frames: Frames::default() };
    let inputs = |party: Party| &inputs[party as usize];
    let outcome = thread::scope(|scope| {
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
    });
    (outcome, frames.load(Ordering::SeqCst))
}

/// Bits that are flipped online make another result, or an error of the peer's; never a panic.
#[test]
fn flipped_bits_of_a_call_are_an_error_or_another_result() {
    let gmw = Options::new(Scheme::Gmw);
    let others = [Method::Boma, Method::Erkin]
        .map(over_ciphertexts)
        .into_iter()
        .chain([walk(), totals()])
        .chain(intersections());
    let jobs = jobs().into_iter().chain(others).collect::<Vec<_>>();
    for (job, us) in jobs.iter().flat_map(|job| [(job, Party::Alice), (job, Party::Bob)]) {
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
            ends_by_name(us, At::Setup, &options, job);
            ends_by_name(us, At::Online, &options, job);
        }
    }
}

#[test]
fn a_call_for_totals_with_a_hostile_peer_ends_by_name() {
    let gmw = Options::new(Scheme::Gmw);
    for us in [Party::Alice, Party::Bob] {
        for options in [gmw, gmw.timing(Timing::Streamed), Options::new(Scheme::Yao)] {
            ends_by_name(us, At::Online, &options, &totals());
        }
    }
}

/// Whatever a peer does that is hostile from a phase of the call on.
fn ends_by_name(us: Party, at: At, options: &Options, job: &Job) {
    let phase = if at == At::Setup { "in setup" } else { "in the online phase" };
    let twin = against(us, (at, Harm::None), options, job);
    assert!(twin.is_ok(), "the twin, {us}, {at:?}, {options:?}: {:?}", twin.err());
    for harm in [Harm::Lies, Harm::Noise, Harm::Half, Harm::Gone] {
        let what = format!("{} {harm:?} {at:?} against {us}, {options:?}", job.0.name());
        let error = against(us, (at, harm), options, job).expect_err(&what);
        let closes = matches!(harm, Harm::Half | Harm::Gone);
        let kind = matches!(error, Error::Peer(_)) && !closes || matches!(error, Error::Closed(_)) && closes;
        let name = format!("{phase} of the call of '{}'", job.0.name());
        assert!(kind && error.to_string().contains(&name), "{what}: {error}");
    }
}

/// Protocols over ciphertexts and intersections, from each message of the peer's on: what is no frame and what does not come end the run by name.
/// Ciphertexts of something else, and numbers that are shifted by a byte, are an error of the peer's or another result.
#[test]
fn a_peer_that_turns_hostile_at_any_message_ends_the_run_by_name() {
    let gmw = Options::new(Scheme::Gmw);
    let jobs = [Method::Boma, Method::Erkin].map(over_ciphertexts).into_iter().chain(intersections());
    let jobs = jobs.collect::<Vec<_>>();
    for (job, us) in jobs.iter().flat_map(|job| [(job, Party::Alice), (job, Party::Bob)]) {
        let run = |after, harm| against_after(after, us, (At::Setup, harm), &gmw, job);
        let (twin, frames) = run(0, Harm::None);
        assert!(twin.is_ok() && frames > 2, "the twin, {us}: {frames} frames, {:?}", twin.err());
        let name = format!("of the call of '{}'", job.0.name());
        for after in 0..frames {
            for harm in [Harm::Lies, Harm::More, Harm::Noise, Harm::Half, Harm::Gone] {
                let what = format!("{} {harm:?} after {after} of {frames} frames against {us}", job.0.name());
                let unseen = matches!(harm, Harm::Lies | Harm::More);
                let error = match run(after, harm).0 {
                    // What it makes of our answers then is not ours.
                    Ok(_) | Err(Error::Aborted(_)) if unseen => continue,
                    Ok(_) => panic!("{what}: a result"),
                    Err(error) => error,
                };
                let closes = matches!(harm, Harm::Half | Harm::Gone);
                let kind = matches!(error, Error::Peer(_)) && !closes || matches!(error, Error::Closed(_)) && closes;
                assert!(kind && error.to_string().contains(&name), "{what}: {error}");
            }
        }
    }
}

/// A call as its version before had it.
struct Before(Arc<dyn CallProtocol>);

impl Functionality for Before {
    fn name(&self) -> &str {
        self.0.name()
    }

    fn version(&self) -> u32 {
        self.0.version() - 1
    }

    fn results(&self, parameters: &[u8], args: &[CallPort]) -> duologue::circuit::Result<Vec<CallPort>> {
        self.0.results(parameters, args)
    }

    fn lanes(&self, parameters: &[u8], args: &[u64]) -> duologue::circuit::Result<Vec<u64>> {
        self.0.lanes(parameters, args)
    }

    fn evaluate(&self, parameters: &[u8], args: &[BitMatrix]) -> Vec<BitMatrix> {
        self.0.evaluate(parameters, args)
    }
}

impl CallProtocol for Before {
    fn lengths(&self, call: &Call, party: Party) -> Result<CallLengths> {
        self.0.lengths(call, party)
    }

    fn setup(&self, call: &Arc<Call>, context: &Context) -> Result<SetupStage> {
        self.0.setup(call, context)
    }

    fn online(
        &self,
        call: &Arc<Call>,
        party: Party,
        setup: Zeroizing<Vec<u8>>,
        args: Vec<Option<BitMatrix>>,
    ) -> Result<OnlineStage> {
        self.0.online(call, party, setup, args)
    }
}

/// What a party says of one call whose peer has, or is, another version of it.
fn of_version(call: &Arc<dyn CallProtocol>, parameters: &[u8], channel: Channel, party: Party) -> Result<Outcome> {
    let functionality: Arc<dyn Functionality> = call.clone();
    let (mut p, mut inputs) = (Program::new("one call"), Inputs::new());
    let wide = 2 * KEY_BITS;
    let owners = match call.name() {
        "duologue:argmin" => vec![("a", Party::Alice, 9), ("b", Party::Bob, 9)],
        _ => vec![("a", Party::Alice, wide)],
    };
    let args = owners.into_iter().map(|(name, owner, width)| {
        if owner == party {
            inputs = std::mem::take(&mut inputs).with(name, BitMatrix::zeros(width as usize, 3));
        }
        p.input(name, owner, bits(width), 3)
    });
    let args: Vec<_> = args.collect();
    for (number, value) in p.call(&functionality, parameters, &args).into_iter().enumerate() {
        let recipient = if args.len() == 2 { Recipient::Both } else { Recipient::Party(Party::Alice) };
        p.output(&number.to_string(), recipient, value);
    }
    let mut session = Session::connect(channel, party)?;
    session.register(call.clone());
    session.run(&p.bind(&[])?, &Options::new(Scheme::Gmw), &inputs)
}

const KEY_BITS: u32 = 1024;

/// Versions are in the digest of a program: where what travels has changed, a party of the version before does not begin.
#[test]
fn a_party_of_the_version_before_is_incompatible() {
    let key = common::encrypted::key(KEY_BITS);
    let keys = common::encrypted::keys_of(&key);
    let terms = |leaky| Terms { leaky, ..common::encrypted::terms(&key, 9, None) }.to_bytes();
    for (call, parameters) in [
        (Arc::new(Argmin) as Arc<dyn CallProtocol>, Parameters::new(Form::Halves, 8).to_bytes()),
        (Method::Duologue.call(&keys), terms(false)),
        (Method::Boma.call(&keys), terms(true)),
    ] {
        let before: Arc<dyn CallProtocol> = Arc::new(Before(call.clone()));
        let (to_bob, to_alice) = Channel::pair();
        let said = thread::scope(|scope| {
            let bob = scope.spawn(|| of_version(&before, &parameters, to_alice, Party::Bob).err());
            [of_version(&call, &parameters, to_bob, Party::Alice).err(), bob.join().unwrap()]
        });
        for error in said {
            assert!(
                matches!(error, Some(Error::Incompatible { what: "the program", .. })),
                "{}: {error:?}",
                call.name()
            );
        }
    }
}

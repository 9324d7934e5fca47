//! What a fuzz target does with its bytes: one function for each decoder of bytes that somebody else wrote.
//!
//! A function panics where the decoder breaks a promise, beyond not panicking itself. `make test` runs the same
//! functions on a few thousand inputs (`crates/duologue/tests/decoders.rs`), `make fuzz` under libFuzzer.

use circuit::format::Provenance;
use circuit::format::bristol::{self, Dialect, Names};
use circuit::format::{aiger, blif, shdl};
use circuit::program::Outline;
use circuit::{Circuit, Program, Schedule};
use duologue::channel::{Channel, Identity, Limits, Pipe, PublicKey, frame};
use duologue::correlation::{Demand, Maker, RefillStep, Stock, choice, pool};
use duologue::job::{Cut, Plan, control};
use duologue::ot::base::Points;
use duologue::ot::{BaseOtSetup, Directions, Extension, Seeds};
use duologue::{Error, Findings, Garbling, Inputs, Options, Party, Scheme, Session, Timing, data, session, storage};
use mirror::Mirror;
use std::cell::RefCell;
use std::iter::repeat;
use std::time::Duration;

#[path = "../../tests/support/calls.rs"]
mod calls;
#[path = "../../tests/support/every_step.rs"]
mod every_step;
#[path = "../../tests/support/taps.rs"]
mod mirror;
#[path = "../../tests/support/programs.rs"]
pub mod programs;

/// A target: its name, what it does, and valid inputs to begin from.
pub struct Target {
    /// Also the name of its file in `fuzz_targets`.
    pub name: &'static str,
    /// Panics where a promise is broken.
    pub run: fn(&[u8]),
    /// A few inputs.
    pub seeds: fn() -> Vec<Vec<u8>>,
}

/// All of them, in the order of what a peer sends first; then files.
pub const ALL: [Target; 21] = [
    Target { name: "frame", run: frame, seeds: frames },
    Target { name: "hello", run: hello, seeds: hellos },
    Target { name: "terms", run: terms, seeds: all_terms },
    Target { name: "findings", run: findings, seeds: all_findings },
    Target { name: "points", run: points, seeds: all_points },
    Target { name: "setup", run: setup, seeds: setups },
    Target { name: "refill", run: refill, seeds: refills },
    Target { name: "summary", run: summary, seeds: summaries },
    Target { name: "whole_session", run: whole_session, seeds: sessions },
    Target { name: "driver_hello", run: driver_hello, seeds: driver_hellos },
    Target { name: "driver_message", run: driver_message, seeds: driver_messages },
    Target { name: "duo", run: duo, seeds: duos },
    Target { name: "job", run: job, seeds: plans },
    Target { name: "bristol_fashion", run: bristol_fashion, seeds: fashions },
    Target { name: "bristol_old", run: bristol_old, seeds: olds },
    Target { name: "aiger", run: aiger, seeds: aigers },
    Target { name: "blif", run: blif, seeds: blifs },
    Target { name: "shdl", run: shdl, seeds: shdls },
    Target { name: "public_key", run: public_key, seeds: public_keys },
    Target { name: "identity", run: identity, seeds: identities },
    Target { name: "stored_file", run: stored_file, seeds: stored_files },
];

/// A refusal must blame whoever wrote the bytes.
fn is_the_peers(error: &Error) -> bool {
    matches!(error, Error::Peer(_) | Error::Incompatible { .. } | Error::Closed(_) | Error::Aborted(_))
}

/// A stream of frames. No frame is larger than what it was made from, and data frames obey their bound.
pub fn frame(bytes: &[u8]) {
    let mut rest = bytes;
    loop {
        match frame::decode(rest) {
            Ok(Some((what, used))) => {
                assert!((frame::HEADER..=rest.len()).contains(&used));
                let body = match what {
                    frame::Frame::Data { len } => len,
                    frame::Frame::Abort { ref message, .. } => {
                        assert!(!message.contains(char::is_control));
                        0
                    }
                    _ => 0,
                };
                assert!(body <= frame::MAX_BODY);
                rest = rest[used..].get(body..).unwrap_or_default();
            }
            Ok(None) => return,
            Err(error) => return assert!(is_the_peers(&error)),
        }
    }
}

fn frames() -> Vec<Vec<u8>> {
    vec![b"\x01\x03\0\0abc\x03\0\0\0\x04\0\0\0".to_vec(), b"\x02\x05\0\0\x01stop".to_vec()]
}

const HELLO: &[u8; 45] = b"duologue\x01\0\0\x80\x28AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA";

/// The base point of ristretto255 (RFC 9496, §4): a hello that goes on needs a point.
const POINT: [u8; 32] = [
    0xe2, 0xf2, 0xae, 0x0a, 0x6a, 0xbc, 0x4e, 0x71, 0xa8, 0x84, 0xa9, 0x61, 0xc5, 0x00, 0x51, 0x5f, 0x58, 0xe3, 0x0b,
    0x6a, 0xa5, 0x82, 0xdd, 0x8d, 0xb6, 0xa6, 0x59, 0x45, 0xe0, 0x8d, 0x2d, 0x76,
];

/// A hello against ours.
pub fn hello(bytes: &[u8]) {
    match session::check_hello(HELLO, bytes) {
        Ok(()) => {
            assert!(bytes.len() == HELLO.len() && bytes[..10] == HELLO[..10] && bytes[10] == 1)
        }
        Err(error) => assert!(is_the_peers(&error)),
    }
}

fn hellos() -> Vec<Vec<u8>> {
    let mut theirs = HELLO.to_vec();
    theirs[10] = 1;
    theirs[13..].copy_from_slice(&POINT);
    vec![theirs, HELLO.to_vec()]
}

/// Terms against ours. What the peer said is fit for a terminal. An outline of its program is written in one way.
pub fn terms(bytes: &[u8]) {
    if let Ok(text) = std::str::from_utf8(bytes)
        && let Ok(outline) = text.parse::<Outline>()
    {
        assert_eq!(outline.to_string(), text);
        let ours = program();
        assert!(ours.apart(&outline, &outline).is_none());
        let _ = ours.apart(&ours.outline().expect("a small program"), &outline).map(|apart| apart.to_string());
    }
    let ours = [("what is called for", "a run".to_owned()), ("the program", "'x' 12\u{e9}".to_owned())];
    match session::compare(&ours, bytes) {
        Ok(()) => {
            assert!(bytes.starts_with(b"what is called for\ta run\nthe program\t'x' 12\\u{e9}"))
        }
        Err(Error::Incompatible { theirs, .. }) => {
            assert!(theirs.len() <= 300 && theirs.bytes().all(|b| b == b' ' || b.is_ascii_graphic()));
        }
        Err(error) => assert!(is_the_peers(&error)),
    }
}

fn all_terms() -> Vec<Vec<u8>> {
    let ours = "what is called for\ta run\nthe program\t'x' 12\\u{e9}\n";
    let outline = program().outline().expect("a small program").to_string();
    let told = format!("{ours}the steps of the program\t{outline}\n");
    vec![ours.into(), ours.replace("12", "\x1b[2J").into(), told.into(), outline.into()]
}

/// What both parties say that they have measured: both have the same conditions, within their bounds, and a choice follows.
pub fn findings(bytes: &[u8]) {
    let (&[alice, bob, ..], _) = bytes.as_chunks::<{ Findings::LEN }>() else { return };
    let [alice, bob] = [alice, bob].map(|bytes| Findings::decode(&bytes));
    let conditions = Findings::merge(&alice, &bob);
    assert_eq!(conditions, Findings::merge(&Findings::decode(&alice.encode()), &Findings::decode(&bob.encode())));
    assert!((1_000..=125_000_000_000).contains(&conditions.alice_to_bob) && conditions.round_trip.as_secs() <= 120);
    let chosen = choice::choose(Demand::of_triples(100_000), &conditions);
    assert!(choice::candidates().any(|candidate| candidate == chosen));
}

fn all_findings() -> Vec<Vec<u8>> {
    let numbers = |turns: [u32; 2], rates: [u64; 2]| {
        [turns.map(u32::to_le_bytes).as_flattened(), rates.map(u64::to_le_bytes).as_flattened()].concat()
    };
    let honest = numbers([5_000, 5_010], [12_500_000, 619_100_000]);
    let late = numbers([5_000, 0], [0, 2_000_000_000]);
    vec![[honest.clone(), honest.clone()].concat(), [late, honest].concat(), vec![0xff; 48], vec![0; 48]]
}

/// The points of two base OTs.
pub fn points(bytes: &[u8]) {
    if let Err(error) = Points::decode(bytes, 2) {
        assert!(is_the_peers(&error));
    }
}

fn all_points() -> Vec<Vec<u8>> {
    let started = BaseOtSetup::start(Party::Alice, &[1; 32], Directions::Both);
    let (_, message) = started.expect("the system's generator");
    message.chunks(64).take(2).map(<[u8]>::to_vec).collect()
}

/// The messages of an honest peer's setup, but for what the input puts in a place of the first or, from 8192 on, of the
/// second to Alice, who sends in the first direction; from 16384 on, of those to Bob; or after it.
pub fn setup(bytes: &[u8]) {
    let (at, bytes) = split_number(bytes);
    let (which, at) = (at / 8192, at % 8192);
    let (party, which) = if which < 2 { (Party::Alice, which) } else { (Party::Bob, which - 2) };
    let (mut heard, mut harmless) = (0, true);
    let seeds = set_up(party, |honest| {
        let mut theirs = honest.clone();
        match theirs.get_mut(at..at + bytes.len()) {
            Some(place) if which == heard => place.copy_from_slice(bytes),
            None if which == heard => theirs.extend_from_slice(bytes),
            _ => {}
        }
        // What is wrong with the points of a receiver, and with d, is found by whoever sent them.
        let found = theirs.len() == honest.len()
            && match party {
                Party::Alice => {
                    heard == 1 && theirs[..D.start] == honest[..D.start] && theirs[D.end..] == honest[D.end..]
                }
                Party::Bob => heard == 0,
            };
        harmless &= theirs == honest || found;
        heard += 1;
        theirs
    });
    match seeds {
        Ok(_) => assert!(harmless),
        Err(error) => assert!(is_the_peers(&error)),
    }
}

/// The place of d, which turns the choices of the second direction, in the second message to Alice.
const D: std::ops::Range<usize> = 2080..2096;

fn setups() -> Vec<Vec<u8>> {
    let at = |at: u16, bytes: &[u8]| [&at.to_le_bytes(), bytes].concat();
    let seeds = [(0, &[0; 32][..]), (8, &[1, 2, 3]), (8192 + 16, &[9]), (8192 + 2085, &[9]), (8192 + 2100, &[9])];
    let to_bob = [(16384, &[0; 32][..]), (16384 + 4090, &[9]), (24576, &[9])];
    seeds.into_iter().chain(to_bob).map(|(place, bytes)| at(place, bytes)).chain([vec![]]).collect()
}

/// A party's seeds of both directions, from an honest peer whose messages come to harm.
fn set_up(us: Party, mut harm: impl FnMut(Vec<u8>) -> Vec<u8>) -> duologue::Result<Seeds> {
    let start = |party| BaseOtSetup::start(party, &[1; 32], Directions::Both);
    let ((ours, from_us), (theirs, from_them)) = (start(us)?, start(us.peer())?);
    let (ours, _) = ours.answer(&harm(from_them))?;
    ours.finish(&harm(theirs.answer(&from_us)?.1))
}

/// Two bytes as a number, and the rest.
fn split_number(bytes: &[u8]) -> (usize, &[u8]) {
    match bytes.split_first_chunk() {
        Some((&number, rest)) => (u16::from_le_bytes(number).into(), rest),
        None => (0, bytes),
    }
}

thread_local! {
    /// A maker that honest parties began, for the next run: base OTs take longest.
    static READY: RefCell<Option<Maker>> = const { RefCell::new(None) };
}

/// A refill with a peer whose messages come from the input; a first byte of 255 makes them too short.
pub fn refill(bytes: &[u8]) {
    let (count, bytes) = split_number(bytes);
    let demand =
        Demand { cots_by_alice: count as u64 % 300, cots_by_bob: count as u64 / 256, triples: count as u64 % 1000 };
    let mut maker = READY.take().unwrap_or_else(|| maker().expect("honest parties"));
    let mut stock = Stock::new(Party::Alice);
    match refilled(&mut maker, &mut stock, demand, bytes) {
        Ok(()) => {
            assert_eq!(stock.available(), demand);
            READY.set(Some(maker));
        }
        Err(error) => {
            assert!(is_the_peers(&error) && stock.available() == Demand::NONE);
            assert!(matches!(maker.delta(), Err(Error::Dead(_))));
        }
    }
}

fn refilled(maker: &mut Maker, stock: &mut Stock, demand: Demand, bytes: &[u8]) -> duologue::Result<()> {
    let mut theirs = bytes.iter().copied().chain(repeat(0)).skip(1);
    let missing = usize::from(bytes.first() == Some(&255));
    let mut refill = maker.refill(stock, demand);
    let (mut inbox, mut outbox) = (Vec::new(), Vec::new());
    while let RefillStep::Exchange { expect, .. } = refill.step(&inbox, &mut outbox)? {
        inbox = theirs.by_ref().take(expect.saturating_sub(missing)).collect();
        outbox.clear();
    }
    Ok(())
}

fn maker() -> duologue::Result<Maker> {
    let seeds = set_up(Party::Alice, |message| message)?;
    let both = seeds.sender.zip(seeds.receiver).expect("both directions were called for");
    Ok(Maker::new(Extension::DEFAULT.makers(both, 1)?))
}

fn refills() -> Vec<Vec<u8>> {
    vec![vec![200, 1, 0, 7, 9], vec![1, 0, 255, 3], vec![0; 2]]
}

/// What the peer says of its half of a pool. What is read is written back byte by byte.
pub fn summary(bytes: &[u8]) {
    match pool::Summary::decode(bytes) {
        Ok(summary) => {
            assert!(summary.encode() == bytes && summary.used.missing_from(&summary.made) == Demand::NONE);
        }
        Err(error) => assert!(is_the_peers(&error)),
    }
}

fn summaries() -> Vec<Vec<u8>> {
    let counts = [9u64, 8, 7000, 9, 0, 64].map(u64::to_le_bytes).concat();
    vec![[&[1, 0][..], &[7; 128], &counts].concat(), vec![0; pool::Summary::LEN]]
}

/// A session whose peer answers with our own bytes up to a point, then with the input, then is gone.
///
/// The first byte says how the program is run, the next two where the input begins.
pub fn whole_session(bytes: &[u8]) {
    let (&way, bytes) = bytes.split_first().unwrap_or((&0, &[]));
    let (mirrored, tail) = split_number(bytes);
    let party = if way & 1 == 0 { Party::Alice } else { Party::Bob };
    let scheme = match way & 18 {
        0 | 16 => Scheme::Yao,
        2 => Scheme::Gmw,
        _ => Scheme::MaskedGmw,
    };
    let ahead = way & 8 == 0 || scheme == Scheme::MaskedGmw;
    let options = Options::new(scheme)
        .garbler(if way & 4 == 0 { Party::Alice } else { Party::Bob })
        .garbling(if way & 32 == 0 { Garbling::HalfGates } else { Garbling::ThreeHalves })
        .timing(if ahead { Timing::Ahead } else { Timing::Streamed })
        .tile(2);
    let channel = Channel::over(Mirror::new(mirrored, tail.to_vec()), Limits::default());
    match run(channel, party, &options, way & 64 != 0) {
        // Who sends what we send passes for an honest peer, but only if it sends all of it.
        Ok(()) => assert!(mirrored > BaseOtSetup::messages(Directions::Both)[0][0], "a session without a peer"),
        Err(error) => assert!(is_the_peers(&error), "{error}"),
    }
}

fn run(channel: Channel, party: Party, options: &Options, measures: bool) -> duologue::Result<()> {
    let binding = program().bind(&[("lanes", 3)]).expect("three lanes");
    let inputs = match party {
        Party::Alice => Inputs::new().with("a", data::uints(4, &[1, 2, 3])?),
        Party::Bob => Inputs::new().with("b", data::uints(4, &[4, 5, 6])?),
    };
    let mut session = Session::connect(channel, party)?;
    if measures {
        session.choose_maker(Demand::of_triples(60_000), None)?;
    }
    if let Err(error) = session.run(&binding, options, &inputs) {
        let later = session.run(&binding, options, &inputs).err();
        let dead = matches!(later, Some(Error::Dead(_)));
        assert!(dead || matches!(error, Error::Incompatible { .. }), "{error}, then {later:?}");
        return Err(error);
    }
    session.close()
}

/// Four bits of Alice and four of Bob, ANDed.
fn program() -> Program {
    let mut c = circuit::Builder::new("and");
    let (a, b) = (c.bits("a", 4), c.bits("b", 4));
    let both = a.0.iter().zip(&b.0).map(|(&a, &b)| c.and(a, b)).collect();
    c.output("both", &circuit::Bits(both));
    Program::of_circuit(&c.finish(), &[Party::Alice.into(), Party::Bob.into()])
}

fn sessions() -> Vec<Vec<u8>> {
    let mut seeds = Vec::new();
    for way in 0..16 {
        for mirrored in [0u16, 49, 900, 13_500, 40_000] {
            seeds.push([&[way][..], &mirrored.to_le_bytes(), b"\x01\x04\0\0abcd\x04\0\0\0"].concat());
        }
    }
    // Of those that measure, the peer turns to nonsense before the probe, in it, and in its findings.
    for mirrored in [500u16, 4_000, 7_500, 8_000] {
        seeds.push([&[66][..], &mirrored.to_le_bytes(), b"\x01\x18\0\0", &[0xff; 24]].concat());
    }
    seeds
}

/// What a `.duo` file begins with, without and with calls.
const DUO: [&[u8; 12]; 2] = [b"duologue\n\0\x01\0", b"duologue\n\0\x02\0"];

/// The body of a `.duo` file, which gets its head and its digest here. What is read is written back byte by byte: the
/// encoding is canonical.
pub fn duo(body: &[u8]) {
    let known = calls::calls(None).functionalities();
    drop(Program::from_bytes_with(body, &known));
    // What made a program: whatever can be read is written as it was.
    if let Ok(made) = Provenance::of(body) {
        assert!(made.put_behind(body).expect("it was read from there") == body, "two encodings of what made a program");
    }
    for head in DUO {
        let unsigned = [head, body].concat();
        let file = [&unsigned[..], blake3::hash(&unsigned).as_bytes()].concat();
        let Ok(program) = Program::from_bytes_with(&file, &known) else { continue };
        assert!(program.to_bytes().expect("it came from bytes") == file, "two encodings of one program");
        assert_eq!(program.has_calls(), head == DUO[1], "the version says whether there are calls");
        // Sizes from a file may be anything; binding refuses what is too large.
        for end in [SizeRange::start, SizeRange::end] {
            let sizes: Vec<(&str, u64)> = program.sizes().iter().map(|size| (&*size.name, *end(&size.range))).collect();
            let small = sizes.iter().all(|&(_, size)| size <= 100);
            if let (Ok(binding), true) = (program.bind(&sizes), small && program.has_calls()) {
                drop(Schedule::new(&binding, circuit::Order::Layered, |_| 1 << 20));
            }
        }
    }
}

type SizeRange = std::ops::RangeInclusive<u64>;

fn duos() -> Vec<Vec<u8>> {
    let with_calls = (0..4).map(|seed| calls::sample_with_calls(seed, 3).program);
    let files = [program(), every_step::every_step()].into_iter().chain(with_calls);
    let files = files.map(|program| program.to_bytes().expect("a small program"));
    let bodies = files.map(|file| file[DUO[0].len()..file.len() - 32].to_vec());
    let mut made = Provenance::default();
    made.add("front end", "Yosys 0.23");
    let file = program().to_bytes().expect("a small program");
    bodies.chain([made.put_behind(&file).expect("a file that was just written")]).collect()
}

/// A plan of a job: what is read is written byte by byte. Then the first two bytes say where, behind its head, a program begins
/// that is signed here.
pub fn job(bytes: &[u8]) {
    if let Ok(plan) = Plan::decode(bytes) {
        assert!(plan.encode().expect("it came from bytes") == bytes, "two encodings of one plan");
    }
    let (at, rest) = split_number(bytes);
    let (cut, body) = rest.split_at(at.min(rest.len()));
    let unsigned = [DUO[0], body].concat();
    let program = [&unsigned[..], blake3::hash(&unsigned).as_bytes()].concat();
    let file = [JOB, cut, &(program.len() as u64).to_le_bytes(), &program, &[0; 32]].concat();
    let why = Plan::decode(&file).map(drop).expect_err("nobody knows the digest");
    assert!(matches!(why, Error::Malformed { .. } | Error::Usage(_)), "{why}");
}

/// What the driver of a job says first, to another's driver.
pub fn driver_hello(bytes: &[u8]) {
    match drivers_hello(Party::Alice).agree(&[1; 32], bytes) {
        Ok(agreed) => assert_eq!(agreed.shards.len(), 3),
        Err(why) => assert!(is_the_peers(&why), "{why}"),
    }
}

fn drivers_hello(party: Party) -> control::Hello {
    let progress = |begun, finished, pool| control::Progress { begun, finished, pool };
    let shards = vec![progress(2, Some(2), None), progress(1, None, Some(1)), progress(0, None, None)];
    control::Hello { party, fields: vec![("the plan", "one".into())], job: None, shards }
}

fn driver_hellos() -> Vec<Vec<u8>> {
    let mut going_on = drivers_hello(Party::Bob);
    going_on.job = Some([7; 32]);
    [drivers_hello(Party::Bob), going_on].map(|hello| hello.encode(&[9; 32]).expect("it is short")).into()
}

/// A message between drivers: it has one encoding, and a driver that it means nothing to says so.
pub fn driver_message(bytes: &[u8]) {
    let agreed = control::Agreed { job: [1; 32], shards: vec![control::Progress::default(); 4] };
    let mut bob = control::Machine::new(Party::Bob, &agreed, Duration::from_secs(1));
    bob.worker_came(1, Duration::ZERO);
    match control::Message::decode(bytes) {
        Ok(message) => {
            assert_eq!(message.encode()[2..], *bytes);
            let heard = bob.hear(message, Duration::ZERO);
            assert!(heard.is_ok() || heard.is_err_and(|why| is_the_peers(&why)));
            let late = bob.tick(Duration::from_secs(100));
            assert!(late.is_ok() || late.is_err_and(|why| is_the_peers(&why)));
        }
        Err(why) => assert!(is_the_peers(&why), "{why}"),
    }
}

fn driver_messages() -> Vec<Vec<u8>> {
    use control::{Attempt, Costs, Message, Offer, Reason, Verdict};
    let attempt = Attempt { shard: 3, number: 1 };
    let key = PublicKey::from_bytes(KEY).expect("a key");
    let messages = [
        Message::Begin(attempt),
        Message::Ready(attempt, Offer { key, address: "host:7000".into() }),
        Message::Ended(attempt, Verdict::Done(Costs::default())),
        Message::Ended(attempt, Verdict::Failed(Reason::Deadline)),
        Message::Finished,
    ];
    messages.map(|message| message.encode()[2..].to_vec()).into()
}

/// The base point of Ed25519.
const KEY: [u8; 32] = {
    let mut key = [0x66; 32];
    key[0] = 0x58;
    key
};

/// How a `.job` file begins: magic, version, rule.
const JOB: &[u8] = b"duojob\n\0\x01\0\x01\0\0\0";

fn plans() -> Vec<Vec<u8>> {
    let mut totals = Program::new("totals");
    let n = totals.size("n", 1..=1 << 40);
    let ones = totals.input("x", Party::Alice, circuit::bits(4), n);
    let total = totals.reduce_with([ones], |c, [a], [b]: [circuit::Bits; 1]| {
        [circuit::Bits((0..4).map(|i| c.and(a.0[i], b.0[i])).collect())]
    });
    totals.output("x", Party::Bob, ones);
    totals.output("all", Party::Bob, total[0]);
    let plan = |program: &Program, name, lanes| Plan::new(program, &[(name, lanes)], &Cut::into(3));
    let whole = [plan(&program(), "lanes", 9), plan(&totals, "n", 1 << 30)];
    let whole = whole.map(|plan| plan.and_then(|plan| plan.encode()).expect("a plan")).into_iter();
    // The same without their digests, as `job` takes them.
    let parts = whole.clone().map(|file| {
        let program = file.windows(DUO[0].len()).position(|bytes| bytes == DUO[0]).expect("a program");
        let cut = &file[JOB.len()..program - 8];
        [&(cut.len() as u16).to_le_bytes(), cut, &file[program + DUO[0].len()..file.len() - 64]].concat()
    });
    whole.clone().chain(parts).collect()
}

/// A circuit in Bristol Fashion. What is read can be written, and read back as the same.
pub fn bristol_fashion(bytes: &[u8]) {
    if let Ok(circuit) = bristol::read_as(bytes, Dialect::Fashion, &Names::default()) {
        let text = bristol::write(&circuit);
        let again = bristol::read_as(text.as_bytes(), Dialect::Fashion, &Names::default());
        let again = again.expect("what we write can be read");
        assert_eq!((again.input_width(), again.output_width()), (circuit.input_width(), circuit.output_width()));
    }
}

fn fashions() -> Vec<Vec<u8>> {
    let small = "3 7\n2 2 2\n1 1\n\n2 1 0 2 4 XOR\n2 1 1 3 5 AND\n1 1 5 6 INV\n";
    vec![small.into(), bristol::write(&program().circuits()[0]).into()]
}

/// A circuit in AIGER, ASCII or binary: at worst an error with its line. What is read can be written.
pub fn aiger(bytes: &[u8]) {
    if let Ok(circuit) = aiger::read(bytes, "fuzz") {
        let again = aiger::read(&aiger::write(&circuit).expect("a small circuit"), "fuzz");
        same_widths(&circuit, &again.expect("what we write can be read"));
    }
}

/// Two circuits with as many bits of inputs and outputs.
fn same_widths(one: &Circuit, other: &Circuit) {
    let widths = |circuit: &Circuit| (circuit.input_width(), circuit.output_width());
    assert_eq!(widths(one), widths(other));
}

/// A circuit in BLIF. What is read can be written.
pub fn blif(bytes: &[u8]) {
    if let Ok(circuit) = blif::read(bytes, "fuzz") {
        let again = blif::read(blif::write(&circuit).as_bytes(), "fuzz");
        same_widths(&circuit, &again.expect("what we write can be read"));
    }
}

fn blifs() -> Vec<Vec<u8>> {
    let covers = ".model m # one\n.inputs a[0] a[1] \\\n b\n.outputs y z\n.names a[0] a[1] t\n1- 0\n-1 0\n.names t b y\n01 1\n10 1\n\
        .names z\n1\n.end\n";
    let cells =
        ".inputs a b c\n.outputs y z\n.gate DUO_MAJ A=a B=b C=c Y=y\n.gate DUO_MUX A=a B=y S=t Y=z\n.conn c t\n";
    let wide = ".inputs a b c d e f g h\n.outputs y\n.names a b c d e f g h y\n1111---- 1\n----0101 1\n";
    [covers, cells, wide].map(|text| text.as_bytes().to_vec()).to_vec()
}

/// A circuit in SHDL. What is read can be written, and keeps its parties.
pub fn shdl(bytes: &[u8]) {
    if let Ok(file) = shdl::read(bytes, "fuzz") {
        let again = shdl::read(shdl::write(&file.circuit, &file.parties).as_bytes(), "fuzz");
        same_widths(&file.circuit, &again.expect("what we write can be read").circuit);
    }
}

fn shdls() -> Vec<Vec<u8>> {
    let text = "0 input //output$input.alice$0\n1 input //output$input.bob.x$1\n2 input //output$input.bob.x$0\n\
        3 gate arity 3 table [ 0 1 0 1 0 0 1 1 ] inputs [ 0 1 2 ]\n4 gate arity 0 table [1] inputs []\n\
        5 output gate arity 2 table [ 0 1 1 0 ] inputs [ 3 4 ]\t//output$output.alice$0\n";
    vec![text.into(), b"0 input\n1 output gate arity 1 table [ 1 0 ] inputs [ 0 ]\n".to_vec()]
}

fn aigers() -> Vec<Vec<u8>> {
    let text = "aag 5 2 0 2 3\n2\n4\n10\n6\n10 7 9\n6 2 4\n8 3 5\ni0 x[0]\ni1 x[1]\nc\n";
    vec![text.into(), b"aig 5 2 0 2 3\n10\n6\n\x02\x02\x03\x02\x01\x02o0 s\n".to_vec()]
}

/// A circuit in the old Bristol format, and whichever of the two it is taken for.
pub fn bristol_old(bytes: &[u8]) {
    drop(bristol::read(bytes, &Names::default()));
    if let Ok(circuit) = bristol::read_as(bytes, Dialect::Old, &Names::default())
        && let Ok(text) = bristol::write_old(&circuit)
    {
        let again = bristol::read_as(text.as_bytes(), Dialect::Old, &Names::default());
        again.expect("what we write can be read");
    }
}

fn olds() -> Vec<Vec<u8>> {
    let small = "3 7\n2 2 1\n\n2 1 0 2 4 XOR\n2 1 1 3 5 AND\n1 1 5 6 INV\n";
    let ours = bristol::write_old(&program().circuits()[0]);
    [Ok(small.to_owned()), ours].into_iter().flatten().map(String::into_bytes).collect()
}

/// A public key as people write it. What is read is written back the same, but for case and spaces.
pub fn public_key(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else {
        return;
    };
    if let Ok(key) = text.parse::<PublicKey>() {
        assert_eq!(key.to_string(), text.trim().to_ascii_lowercase());
        PublicKey::from_bytes(*key.as_bytes()).expect("a valid key");
    }
}

fn public_keys() -> Vec<Vec<u8>> {
    let key = Identity::generate().expect("a key").public().to_string();
    vec![key.to_uppercase().into(), key.into(), b"duo1aaaa".to_vec()]
}

/// A private key in a PEM file.
pub fn identity(bytes: &[u8]) {
    if let Ok(identity) = Identity::from_pem(bytes) {
        let public = identity.public();
        PublicKey::from_bytes(*public.as_bytes()).expect("a valid key");
    }
}

fn identities() -> Vec<Vec<u8>> {
    // RFC 8410, section 10.3: without and with the public key.
    let without = "-----BEGIN PRIVATE KEY-----\nMC4CAQAwBQYDK2VwBCIEINTuctv5E1hK1bbY8fdp+K06/nwoy/HU++CXqI9EdVhC\n-----END PRIVATE KEY-----\n";
    vec![without.into(), without.replace('M', "N").into()]
}

/// A file of a pool or of prepared runs: the first byte says which. A header gets its digest here, a cursor its keyed
/// hash.
pub fn stored_file(bytes: &[u8]) {
    if let Err(error) = read_stored_file(bytes) {
        assert!(matches!(error, Error::Malformed { .. }));
    }
}

fn read_stored_file(bytes: &[u8]) -> duologue::Result<()> {
    let (which, bytes) = bytes.split_first().unwrap_or((&0, &[]));
    let with_digest = || [bytes, blake3::hash(bytes).as_bytes()].concat();
    match which % 4 {
        0 => storage::inspect("header", &with_digest()),
        1 => pool::inspect(&with_digest()),
        2 => {
            let key = blake3::derive_key("duologue 2 storage: key of the cursor", &[0; 32]);
            storage::inspect("cursor", &[bytes, blake3::keyed_hash(&key, bytes).as_bytes()].concat())
        }
        _ => storage::inspect("labels", bytes),
    }
}

fn stored_files() -> Vec<Vec<u8>> {
    let (number, zeros) = (1000u64.to_le_bytes(), |count: usize| vec![0; count]);
    let header = |which: u8, content: u8, terms: &str| {
        let (begin, length) = ([&[which][..], b"duo-stor\x02\0\x01\0", &[content]].concat(), terms.len() as u32);
        [begin, zeros(3), number.to_vec(), zeros(96), length.to_le_bytes().to_vec(), terms.into(), zeros(88)].concat()
    };
    let zero = "00".repeat(32);
    let [alice, bob] = ["alice", "bob"].map(|party| format!("the identity of {party}'s delta\t{zero}\n"));
    let runs = header(0, 1, "the program\t\\'aes128\\' 00\nwho garbles\tbob\n");
    let pool = header(1, 0, &format!("what makes correlations\tsoftspoken4\n{alice}{bob}"));
    let cursor = [&b"\x02duo-curs"[..], &zeros(40), &number, &number, &number];
    let sealed = [&b"\x03duo-file"[..], &zeros(34), &[2], &zeros(5), &number, &number, &number, &zeros(48)];
    let seeds = vec![runs, pool, cursor.concat(), sealed.concat()];
    seeds.iter().for_each(|seed| read_stored_file(seed).expect("valid"));
    seeds
}

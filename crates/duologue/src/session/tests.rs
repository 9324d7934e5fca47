//! What only the inside of a session can show: its bytes for given seeds, its numbers, and what it forgets.

use super::feeds::digest;
use super::fields::Moment;
use super::hello::Hello;
use super::*;
use crate::Scheme;
use crate::agreement;
use crate::channel::{Channel, Limits, Pipe, memory};
use crate::correlation::{Demand, Maker};
use crate::data::Inputs;
use crate::executor::{Link, Phase};
use crate::ot::{BaseOtSetup, Extension};
use crate::protocol::gmw::Gmw;
use crate::protocol::masked_gmw::MaskedGmw;
use crate::protocol::terms::{Garbling, Timing};
use crate::protocol::yao::{self, Evaluator, Garbler, Labels};
use crate::session::fields;
use circuit::program::reference::Table;
use circuit::program::{Binding, Owner, Parts};
use circuit::{BitMatrix, Word};
use every_step::{every_step, inputs_of};
use programs::{Sample, sample};
use proptest::prelude::*;
use std::collections::{BTreeMap, HashSet};
use std::marker::PhantomData;
use std::ops::ControlFlow;
use std::sync::Arc;
use std::thread;
use taps::{Log, Tap};
use wire::Wire;

mod apart;
mod choice;
#[path = "../../../../tests/support/every_step.rs"]
mod every_step;
mod golden;
mod last_words;
mod pool;
mod prepared;
#[path = "../../../../tests/support/programs.rs"]
mod programs;
mod randomness;
mod start;
#[path = "../../../../tests/support/taps.rs"]
mod taps;

/// Does something with both ends of a session whose secrets are known; what each party wrote comes back.
fn seeded<T: Send>(seed: u128, act: impl Fn(&mut Session) -> Result<T> + Sync) -> ([Log; 2], [Result<T>; 2]) {
    let (alice, bob) = memory::pair(memory::CAPACITY);
    let logs = [Log::default(), Log::default()];
    let run = |pipe, party: Party| {
        let channel = Channel::over(Tap(pipe, logs[party as usize].clone()), Limits::default());
        let secrets = Generator::from_seed(Block::new(seed << 1 | party as u128));
        act(&mut Session::with(channel, party, secrets)?)
    };
    let results = thread::scope(|scope| {
        let bob = scope.spawn(|| run(bob, Party::Bob));
        [run(alice, Party::Alice), bob.join().expect("no panic")]
    });
    (logs, results)
}

fn unwrap<T>((logs, results): ([Log; 2], [Result<T>; 2])) -> ([Log; 2], [T; 2]) {
    (logs, results.map(|result| result.unwrap_or_else(|error| panic!("{error}"))))
}

fn job() -> Binding {
    every_step().bind(&[("n", 7)]).unwrap()
}

/// What a party holds of inputs that depend on the seed; its shares of shared ones, too.
fn inputs(binding: &Binding, party: Party, seed: u64) -> Inputs {
    own(binding, party, &inputs_of(binding, seed))
}

fn own(binding: &Binding, party: Party, tables: &BTreeMap<String, Table>) -> Inputs {
    let mut inputs = Inputs::new();
    for port in binding.inputs().iter().filter(|port| port.who != Owner::Party(party.peer())) {
        let value = BitMatrix::from_lanes(port.ty.width as usize, &tables[&port.name]);
        let zeros = BitMatrix::zeros(value.rows(), value.lanes());
        let absent = port.who == Owner::Shared && party == Party::Bob;
        inputs.set(&port.name, if absent { zeros } else { value });
    }
    inputs
}

fn options(scheme: Scheme, timing: Timing, garbler: Party) -> Options {
    Options { garbler: Some(garbler), timing, tile: Some(4), ..Options::new(scheme) }.extension(Extension::DEFAULT)
}

/// Each way of running a program, by name.
fn ways() -> [(&'static str, Options); 10] {
    let three_halves = |timing| Options { garbling: Garbling::ThreeHalves, ..options(Scheme::Yao, timing, Party::Bob) };
    [
        ("yao-ahead", options(Scheme::Yao, Timing::Ahead, Party::Bob)),
        ("yao-streamed", options(Scheme::Yao, Timing::Streamed, Party::Bob)),
        ("yao-by-alice", options(Scheme::Yao, Timing::Ahead, Party::Alice)),
        ("yao-three-halves", three_halves(Timing::Ahead)),
        ("yao-three-halves-streamed", three_halves(Timing::Streamed)),
        ("gmw-ahead", options(Scheme::Gmw, Timing::Ahead, Party::Bob)),
        ("gmw-streamed", options(Scheme::Gmw, Timing::Streamed, Party::Bob)),
        ("gmw-masked", options(Scheme::MaskedGmw, Timing::Ahead, Party::Bob)),
        ("mixed-ahead", options(Scheme::Mixed, Timing::Ahead, Party::Alice).share_from(12)),
        ("mixed-streamed", options(Scheme::Mixed, Timing::Streamed, Party::Bob).share_from(12)),
    ]
}

/// Runs the program twice on different inputs.
fn twice(binding: &Binding, options: &Options, session: &mut Session) -> Result<()> {
    for seed in [1, 2] {
        let ours = inputs(binding, session.party, seed);
        session.run(binding, options, &ours)?;
    }
    Ok(())
}

/// What both parties send and learn in two runs of a sample, with so many threads each.
fn sent_and_learned(sample: &Sample, options: &Options, threads: [usize; 2]) -> [(Vec<u8>, Vec<Vec<BitMatrix>>); 2] {
    let (logs, learned) = unwrap(seeded(7, |session| {
        session.set_threads(threads[session.party as usize]);
        let ours = own(&sample.binding, session.party, &sample.inputs);
        let runs = (0..2).map(|_| session.run(&sample.binding, options, &ours));
        let all = |outcome: Outcome| outcome.outputs.iter().map(|(_, value)| value.clone()).collect();
        let learned = runs.map(|run| run.map(all)).collect::<Result<_>>()?;
        session.wire.channel.finish()?;
        Ok(learned)
    }));
    let [alice, bob] = logs.map(|log| log.payload());
    let [hers, his] = learned;
    [(alice, hers), (bob, his)]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(12))]

    /// Threads are nobody else's business: each party may have its own number, whatever the number of strands.
    #[test]
    fn threads_change_no_byte(
        seed: u64,
        lanes in prop_oneof![1u64..=40, 41u64..=1000],
        tile in prop::sample::select(vec![None, Some(64), Some(256)]),
        strands in 1usize..=4,
    ) {
        let sample = sample(seed, lanes);
        for (name, options) in ways() {
            let options = Options { tile, strands, ..options };
            let alone = sent_and_learned(&sample, &options, [1, 1]);
            for threads in [[2, 1], [1, 3], [7, 2]] {
                let shared = sent_and_learned(&sample, &options, threads);
                prop_assert!(shared == alone, "{name}, {lanes} lanes, {threads:?} threads");
            }
        }
    }
}

fn block(name: &str, width: u32) -> circuit::Circuit {
    circuit::blocks::find(name).unwrap().circuit(&[width], circuit::blocks::Goal::Size).unwrap()
}

/// A product of so many lanes: many chunks of tables, one tile after the other or several at once.
fn products(lanes: u64) -> Sample {
    let owners = [Owner::Party(Party::Alice), Owner::Party(Party::Bob)];
    on_random_inputs(circuit::Program::of_circuit(&block("multiply", 32), &owners), &[("lanes", lanes)])
}

/// The XOR of two numbers.
fn no_and(width: u32) -> circuit::Circuit {
    let mut builder = circuit::Builder::new("xor");
    let (a, b) = (builder.uint("a", width), builder.uint("b", width));
    let out = a.bits().iter().zip(b.bits()).map(|(&a, &b)| builder.xor(a, b)).collect();
    builder.output("out", &circuit::UInt::from_bits(out));
    builder.finish()
}

/// Two chains of small maps, every third of which has no AND.
fn chains(links: usize, lanes: u64) -> Sample {
    let mut program = circuit::Program::new("chains");
    let (sum, xor) = (block("add", 4), no_and(4));
    let ty = sum.inputs()[0].ty;
    let x = program.input("x", Party::Alice, ty, lanes);
    let y = program.input("y", Party::Bob, ty, lanes);
    let (mut one, mut other) = (x, y);
    for link in 0..links {
        let circuit = if link % 3 == 2 { &xor } else { &sum };
        one = program.map(circuit, &[one, y]);
        other = program.map(circuit, &[other, x]);
    }
    program.output("one", circuit::program::Recipient::Both, one);
    program.output("other", circuit::program::Recipient::Both, other);
    on_random_inputs(program, &[])
}

/// Nothing comes out but of maps that read what several others make.
fn joins(lanes: u64) -> Sample {
    let mut program = circuit::Program::new("joins");
    let sum = block("add", 4);
    let ty = sum.inputs()[0].ty;
    let x = program.input("x", Party::Alice, ty, lanes);
    let y = program.input("y", Party::Bob, ty, lanes);
    let pairs = [[x, y], [x, x], [y, y], [y, x]];
    let [a, b, c, d] = pairs.map(|pair| program.map(&sum, &pair));
    let [e, f] = [[a, b], [c, d]].map(|pair| program.map(&sum, &pair));
    let both = program.map(&sum, &[e, f]);
    let out = program.map(&sum, &[both, a]);
    program.output("out", circuit::program::Recipient::Both, out);
    on_random_inputs(program, &[])
}

#[test]
fn threads_change_no_byte_where_strands_meet() {
    [1, 130].into_iter().for_each(|lanes| threads_change_no_byte_of(&joins(lanes)));
}

fn on_random_inputs(program: circuit::Program, sizes: &[(&str, u64)]) -> Sample {
    let binding = program.bind(sizes).unwrap();
    let lanes = binding.inputs()[0].lanes;
    let mut dice = programs::Dice(lanes);
    let mut lane = |width: u32| (0..width).map(|_| dice.roll(2) == 1).collect();
    let tables = binding.inputs().iter().map(|port| {
        let table: Table = (0..lanes).map(|_| lane(port.ty.width)).collect();
        (port.name.clone(), table)
    });
    let inputs = tables.collect();
    Sample { seed: lanes, program, binding, inputs }
}

/// However many threads each party has.
fn threads_change_no_byte_of(sample: &Sample) {
    let expected = circuit::program::reference::evaluate(&sample.binding, &sample.inputs);
    let streamed = ways().into_iter().filter(|(_, options)| options.timing == Timing::Streamed);
    let all = ways().into_iter().flat_map(|way| [(way, None, 1), (way, Some(64), 1)]);
    for ((name, options), tile, strands) in all.chain(streamed.map(|way| (way, Some(64), 3))) {
        let options = Options { tile, strands, ..options };
        let alone = sent_and_learned(sample, &options, [1, 1]);
        for outputs in alone.iter().flat_map(|(_, runs)| runs) {
            assert!(outputs.iter().map(BitMatrix::to_lanes).eq(expected.values().cloned()), "{name}");
        }
        for threads in [[2, 2], [3, 1], [1, 7]] {
            let shared = sent_and_learned(sample, &options, threads);
            let lanes = sample.binding.inputs()[0].lanes;
            assert!(shared == alone, "{name}, {lanes} lanes, tiles {tile:?}, {strands} strands, {threads:?} threads");
        }
    }
}

#[test]
fn threads_change_no_byte_where_maps_read_one_another() {
    [(100, 1), (40, 130)].into_iter().for_each(|(links, lanes)| threads_change_no_byte_of(&chains(links, lanes)));
}

/// The bytes of the same tables in another order: tiles take turns.
#[test]
fn the_order_of_the_wire_follows_from_strands() {
    let (sample, (_, options)) = (products(300), ways()[1]);
    let sent = |strands| {
        let [(alice, hers), (bob, his)] =
            sent_and_learned(&sample, &Options { tile: Some(64), strands, ..options }, [1, 2]);
        ([alice.len(), bob.len()], bob, [hers, his])
    };
    let (one, two, three) = (sent(1), sent(2), sent(3));
    assert!(one.2 == two.2 && two.2 == three.2, "what is learned");
    assert!(one.1 != two.1 && two.1 != three.1, "the order");
    assert_eq!(two.0, three.0, "as many bytes");
    let term = "the number of strands\t2\n".len();
    assert_eq!(one.0.map(|bytes| bytes + 2 * term), two.0, "and in two runs a term more");
}

/// Two products of one lane that do not need each other: steps take turns as tiles do, each in a strand of its own.
#[test]
fn independent_steps_take_turns_on_the_wire() {
    let product = circuit::blocks::find("multiply").unwrap().circuit(&[256], circuit::blocks::Goal::Size).unwrap();
    assert!(product.and_count() > 1 << 14, "more than a chunk");
    let mut program = circuit::Program::new("two products");
    let names = [("a", Party::Alice), ("b", Party::Bob), ("c", Party::Bob)];
    let [a, b, c] = names.map(|(name, who)| program.input(name, who, circuit::uint(256), 1));
    for (name, other) in [("ab", b), ("ac", c)] {
        let made = program.map(&product, &[a, other]);
        program.output(name, circuit::program::Recipient::Both, made);
    }
    let (sample, (_, options)) = (on_random_inputs(program, &[]), ways()[1]);
    let sent = |strands, threads| {
        let [(_, hers), (bob, his)] = sent_and_learned(&sample, &Options { strands, ..options }, threads);
        (bob, [hers, his])
    };
    let (one, two) = (sent(1, [1, 1]), sent(2, [1, 1]));
    assert!(one.1 == two.1 && two == sent(2, [2, 2]), "what is learned, and with two threads");
    let turns = |bytes: &[u8]| bytes.len() - 2 * "the number of strands\t2\n".len() * usize::from(bytes == two.0);
    assert!(turns(&one.0) == turns(&two.0) && one.0 != two.0);
    // One strand sends all of a product first: with two, its second chunk comes after the first one of the other.
    let differs = one.0.iter().rev().zip(two.0.iter().rev()).filter(|(a, b)| a != b).count();
    assert!(differs > (1 << 14) * 32, "{differs} bytes are elsewhere");
}

#[test]
fn threads_change_no_byte_where_the_lanes_of_parts_meet() {
    [15, 16, 31, 32, 33, 47, 48, 63, 64, 65, 100, 130]
        .into_iter()
        .for_each(|lanes| threads_change_no_byte_of(&products(lanes)));
}

/// With what is sent and read while the next step is taken.
#[test]
fn threads_change_no_byte_of_many_chunks() {
    threads_change_no_byte_of(&products(300));
}

#[test]
fn plans_are_shared_by_those_who_ask_for_the_same() {
    unwrap(seeded(1, |session| {
        let (same, other) = (job(), every_step().bind(&[("n", 6)]).unwrap());
        let [(_, yao), .., (_, gmw)] = ways();
        let (terms, first) = session.resolve(&same, &yao)?;
        let (again, second) = session.resolve(&job(), &yao)?;
        assert!(Arc::ptr_eq(&first, &second) && terms == again);
        for (binding, options) in [(&other, &yao), (&same, &gmw)] {
            let (terms, schedule) = session.resolve(binding, options)?;
            let expected = Terms::resolve(binding, options)?;
            assert!(!Arc::ptr_eq(&first, &schedule) && terms == expected.0);
            assert_eq!((schedule.order, schedule.totals.and0), (expected.1.order, expected.1.totals.and0));
        }
        assert!(session.last.as_ref().is_some_and(|(.., schedule)| schedule.upgrade().is_none()), "nobody has it");
        Ok(())
    }));
}

#[test]
fn another_seed_moves_every_digest() {
    let binding = job();
    for (name, options) in ways() {
        let payloads = [7, 8].map(|seed| {
            let (logs, _) = unwrap(seeded(seed, |session| {
                twice(&binding, &options, session)?;
                session.wire.channel.finish()
            }));
            logs.map(|log| log.payload())
        });
        assert_ne!(payloads[0][0], payloads[1][0], "{name}");
        assert_ne!(payloads[0][1], payloads[1][1], "{name}");
    }
}

/// P3, P8: in a session no AND number comes twice, whatever runs in which order, and S is new for every program: no
/// number is used twice under one Δ and S.
#[test]
fn numbers_are_never_used_twice() {
    let binding = job();
    let (_, seen) = unwrap(seeded(1, |session| {
        let ours = inputs(&binding, session.party, 1);
        let (mut numbers, mut prepared) = (vec![session.base], Vec::new());
        for (_, options) in ways() {
            prepared.push(session.prepare(&binding, &options, &ours)?);
            numbers.push(session.base);
            session.run(&binding, &options, &ours)?;
            numbers.push(session.base);
        }
        for prepared in prepared.into_iter().rev() {
            session.online(prepared, &ours)?;
            numbers.push(session.base);
        }
        Ok(numbers)
    }));
    for numbers in &seen {
        let (setups, onlines) = numbers.split_at(2 * ways().len() + 1);
        let programs = ways().into_iter().flat_map(|(_, options)| [options; 2]);
        for (base, (next, options)) in setups.iter().zip(setups[1..].iter().zip(programs)) {
            let schedule = Terms::resolve(&binding, &options).unwrap().1;
            let of_parts = |parts: &Parts| parts.programs().map(|part| yao::numbers_of(&part.schedule)).sum();
            let numbers = schedule.parts.as_deref().map_or_else(|| yao::numbers_of(&schedule), of_parts);
            assert_eq!(next.and0 - base.and0, numbers);
            assert_eq!(next.in0 - base.in0, schedule.totals.in0);
        }
        assert!(onlines.iter().all(|base| base.and0 == setups.last().unwrap().and0), "taken in setup");
    }
}

/// P8: both parties know the base labels of streamed inputs; no two programs, keys S or sessions share them.
#[test]
fn labels_in_common_are_never_the_same() {
    let mut seen = HashSet::new();
    for seed in 0..2 {
        let (_, [alice, bob]) = unwrap(seeded(seed, |session| {
            let labels = |(s, ordinal)| {
                let keys = program::ProgramKeys { session, base: Base::default(), ordinal };
                yao::common_labels(&keys, Block::new(s)).block().get()
            };
            Ok([(0, 0), (1, 0), (0, 1), (1, 1)].map(labels))
        }));
        assert_eq!(alice, bob);
        alice.into_iter().for_each(|label| assert!(seen.insert(label)));
    }
}

/// Where the garbler's messages of its `nth` program begin: after the hello and terms, with S.
fn hash_key(payload: &[u8], nth: usize) -> [u8; 16] {
    let needle = agreement::CALL.as_bytes();
    let starts: Vec<usize> = (0..payload.len()).filter(|&i| payload[i..].starts_with(needle)).collect();
    let length = u32::from_le_bytes(payload[starts[nth] - 4..starts[nth]].try_into().unwrap()) as usize;
    let after = starts[nth] + length;
    payload[after..after + 16].try_into().unwrap()
}

#[test]
fn the_key_of_the_hash_is_new_for_every_program() {
    let binding = job();
    let mut keys = HashSet::new();
    for seed in 0..3 {
        let run = |session: &mut Session| {
            let ours = inputs(&binding, session.party, 1);
            for _ in 0..4 {
                session.run(&binding, &options(Scheme::Yao, Timing::Ahead, Party::Alice), &ours)?;
            }
            Ok(())
        };
        let (logs, _) = unwrap(seeded(seed, run));
        let payload = logs[0].payload();
        (0..4).for_each(|nth| assert!(keys.insert(hash_key(&payload, nth))));
    }
}

/// Whether Δ, or two blocks that differ by it, can be found in what the garbler wrote, at any offset.
fn reveals(payload: &[u8], delta: Block) -> bool {
    let blocks: HashSet<u128> =
        payload.windows(16).map(|bytes| u128::from_le_bytes(bytes.try_into().expect("16 bytes"))).collect();
    let delta = delta.get();
    blocks.contains(&delta) || blocks.iter().any(|block| blocks.contains(&(block ^ delta)))
}

/// P16: never Δ, never both labels of a wire.
#[test]
fn nothing_that_the_garbler_sends_reveals_delta() {
    let binding = job();
    for (name, options) in ways().into_iter().filter(|(_, options)| options.scheme == Scheme::Yao) {
        let (logs, deltas) = unwrap(seeded(3, |session| {
            for seed in 0..3 {
                let ours = inputs(&binding, session.party, seed);
                session.run(&binding, &options, &ours)?;
            }
            session.wire.delta()
        }));
        let garbler = options.garbler.unwrap() as usize;
        let (payload, delta) = (logs[garbler].payload(), deltas[garbler]);
        assert!(!reveals(&payload, delta), "{name}");
        // The broken twins: Δ itself, and the other label beside one that was sent.
        let twin = [&payload[..], &delta.to_bytes()].concat();
        assert!(reveals(&twin, delta));
        let label = Block::from_bytes(payload[payload.len() - 16..].try_into().unwrap());
        assert!(reveals(&[&payload[..], &(label ^ delta).to_bytes()].concat(), delta));
    }
}

/// P19: a party that has drawn more than its peer hears so, and does not wait for ever.
#[test]
fn draws_that_differ_are_found_before_the_next_program() {
    let binding = job();
    let (_, results) = seeded(4, |session| {
        let ours = inputs(&binding, session.party, 1);
        let options = options(Scheme::Gmw, Timing::Ahead, Party::Bob);
        let prepared = session.prepare(&binding, &options, &ours)?;
        drop(prepared);
        if session.party == Party::Bob {
            let Session { stock, wire, .. } = session;
            // The broken twin makes and takes one triple more, on both sides so that the streams still match.
            wire.supply(stock, Demand::of_triples(1), Demand::NONE)?;
            stock.draw_triples(1)?;
        } else {
            session.wire.supply(&mut session.stock, Demand::of_triples(1), Demand::NONE)?;
        }
        session.run(&binding, &options, &ours).map(drop)
    });
    for result in results {
        let error = result.unwrap_err();
        let named = matches!(error, Error::Incompatible { what: "the correlations used before", .. });
        assert!(named, "{error}");
    }
}

/// Whether a session holds nothing secret any more. A new field does not compile until it is considered.
#[rustfmt::skip]
fn has_forgotten(session: &Session) -> bool {
    let Session {
        secrets, pairwise, stock, wire, dead,
        // Numbers, and what depends on programs alone.
        party: _, id: _, part: _, base: _, ordinal: _, programs: _, first: _, foreseen: _, last: _, plans: _, calls: _,
        apart: _, parties: _,
    } = session;
    let Wire {
        correlating, maker, pool, delta,
        // Settings, and what has travelled.
        channel: _, party: _, id: _, based: _, term: _, planned: _, chosen: _, hello: _, turn: _, threads: _, started: _,
        observer: _, buffers: _, conditions: _, awaited: _,
    } = wire;
    let is_nobodys = |generator: &Generator| generator.derive(b"anything", 0).block() == nobody().derive(b"anything", 0).block();
    let absent = correlating.is_none() && maker.is_none() && pool.is_none() && delta.is_none();
    dead.is_some() && is_nobodys(secrets) && is_nobodys(pairwise) && stock.available() == Demand::NONE && absent
}

/// Nonsense comes from Bob while a session with a stock runs a program, and ends it.
fn fails_and_forgets(session: &mut Session) -> Result<()> {
    let (binding, options) = (job(), options(Scheme::Gmw, Timing::Ahead, Party::Bob));
    let ours = inputs(&binding, session.party, 1);
    session.correlate(options.extension, Demand::of_triples(100), |_| Ok(()))?;
    assert!(!has_forgotten(session), "the test can fail");
    if session.party == Party::Bob {
        session.wire.channel.send(&u32::MAX.to_le_bytes())?;
    }
    let error = session.run(&binding, &options, &ours).expect_err("nonsense came");
    assert!(matches!(error, Error::Peer(_) | Error::Aborted(_)), "{error}");
    assert!(has_forgotten(session));
    for _ in 0..2 {
        let error = session.run(&binding, &options, &ours).expect_err("it is dead");
        assert!(matches!(error, Error::Dead(_)), "{error}");
    }
    Ok(())
}

/// P11, P12: a failure ends the session and destroys what it held.
#[test]
fn a_failed_session_forgets_its_secrets() {
    unwrap(seeded(5, fails_and_forgets));
}

/// P22: the hello's bytes are little-endian and stated, and every bit of it counts.
#[test]
fn every_bit_of_a_hello_counts() {
    let secrets = |seed| Generator::from_seed(Block::new(seed));
    let [alice, bob] =
        [(Party::Alice, 1), (Party::Bob, 2)].map(|(party, seed)| Hello::new(party, &secrets(seed)).bytes);
    assert_eq!(alice[..13], *b"duologue\x03\x00\x00\x80\x28");
    assert_eq!(alice.len(), 45);
    check_hello(&alice, &bob).unwrap();
    for bit in 0..8 * 13 {
        let mut other = bob.clone();
        other[bit / 8] ^= 1 << (bit % 8);
        let error = check_hello(&alice, &other).expect_err("a bit that does not count");
        assert!(matches!(error, Error::Peer(_) | Error::Incompatible { .. }), "{error}");
    }
    // A bit of the point makes another session, which the terms name, or no point at all.
    let mut other = bob.clone();
    other[44] ^= 1;
    check_hello(&alice, &other).unwrap();
    assert!(matches!(check_hello(&alice, &bob[..44]), Err(Error::Peer(_))));
    let doctor = [super::DOCTOR.as_slice(), &alice[8..]].concat();
    assert!(matches!(check_hello(&alice, &doctor), Err(Error::Incompatible { what: "what to do", .. })));
    let mut echo = alice.clone();
    echo[10] = Party::Bob as u8;
    assert!(matches!(check_hello(&alice, &echo), Err(Error::Peer(why)) if why.contains("own hello")));
}

/// Both parties derive the same key, whoever listens does not, and what is no point is refused.
#[test]
fn hellos_agree_on_a_key() {
    let new = |party, seed| Hello::new(party, &Generator::from_seed(Block::new(seed)));
    let (alice, bob) = (new(Party::Alice, 1), new(Party::Bob, 2));
    let (to_bob, to_alice) = (alice.bytes.clone(), bob.bytes.clone());
    let key = alice.key(&to_alice).unwrap();
    assert_eq!(key, bob.key(&to_bob).unwrap());
    assert_ne!(key, new(Party::Bob, 3).key(&to_bob).unwrap());
    for no_point in [[0; 32], [0xff; 32]] {
        let mut bad = to_alice.clone();
        bad[13..].copy_from_slice(&no_point);
        assert!(matches!(new(Party::Alice, 1).key(&bad), Err(Error::Peer(_))), "identity or not canonical");
    }
}

/// P8, P14: numbers are taken before they are used, so a panic in the middle of setup, even if somebody catches it,
/// leaves no session that would garble another program under the same S, labels and AND numbers.
#[test]
fn a_panic_in_setup_ends_the_session() {
    let binding = job();
    let options = Options { timing: Timing::Ahead, ..Options::new(Scheme::Yao) };
    for threads in [1, 3] {
        a_panic_ends_the_session(&binding, &options, threads);
    }
}

/// Threads that follow strands, online: a panic of one of them, an observer who cancels and a peer who leaves let none of
/// them wait, and the session's threads go on to whatever comes next.
#[test]
fn strands_end_with_whoever_fails() {
    let (_, options) = ways()[1];
    end_with_whoever_fails(Options { tile: Some(64), strands: 2, ..options }, 20_000);
}

/// The same of threads that step groups of tasks.
#[test]
fn groups_of_gmw_end_with_whoever_fails() {
    for scheme in [Scheme::Gmw, Scheme::MaskedGmw] {
        end_with_whoever_fails(Options { tile: Some(64), ..options(scheme, Timing::Ahead, Party::Bob) }, 0);
    }
}

/// Bob fails once more than so many ANDs are done, or at once.
fn end_with_whoever_fails(options: Options, done: u64) {
    let sample = products(300);
    for threads in [1, 2, 3, 5] {
        let fail = |session: &mut Session, how: fn(&Progress) -> ControlFlow<()>| {
            session.set_threads(threads);
            let ours = own(&sample.binding, session.party, &sample.inputs);
            if session.party == Party::Bob {
                session.observe(move |at| {
                    if at.phase == Phase::Online && at.done >= done { how(at) } else { ControlFlow::Continue(()) }
                });
            }
            let run = std::panic::AssertUnwindSafe(|| session.run(&sample.binding, &options, &ours).map(drop));
            let ended = std::panic::catch_unwind(run);
            assert!(!matches!(ended, Ok(Ok(()))), "{threads} threads: it went to its end");
            // Every thread answers.
            let turns = std::sync::atomic::AtomicUsize::new(0);
            let all = session.threads()?;
            all.on_all(|_| {
                turns.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
            });
            assert_eq!(turns.into_inner(), threads);
            Ok(ended.is_err())
        };
        let (_, panicked) = seeded(5, |session| fail(session, |_| panic!("an observer panics")));
        assert_eq!(panicked.map(|result| result.unwrap()), [false, true]);
        let (_, cancelled) = seeded(5, |session| fail(session, |_| ControlFlow::Break(())));
        assert_eq!(cancelled.map(|result| result.unwrap()), [false, false]);
    }
}

fn a_panic_ends_the_session(binding: &Binding, options: &Options, threads: usize) {
    let (_, results) = seeded(5, |session| {
        session.set_threads(threads);
        let ours = inputs(binding, session.party, 1);
        session.observe(|_| panic!("an observer panics"));
        let before = session.base.and0;
        let run = std::panic::AssertUnwindSafe(|| session.prepare(binding, options, &ours).map(drop));
        assert!(std::panic::catch_unwind(run).is_err());
        assert!(session.base.and0 > before, "taken before use");
        session.unobserve();
        let error = session.prepare(binding, options, &ours).expect_err("it is dead");
        assert!(matches!(error, Error::Dead(_)), "{error}");
        Ok(())
    });
    results.into_iter().for_each(|result| result.unwrap());
}

/// Whether a type could be printed by mistake.
struct Printable<T>(PhantomData<T>);
trait Silent {
    const PRINTABLE: bool = false;
}
impl<T> Silent for Printable<T> {}
#[allow(dead_code)]
impl<T: fmt::Debug> Printable<T> {
    const PRINTABLE: bool = true;
}
trait Mute {
    const SHOWABLE: bool = false;
}
impl<T> Mute for Printable<T> {}
#[allow(dead_code)]
impl<T: fmt::Display> Printable<T> {
    const SHOWABLE: bool = true;
}

/// P23: what is secret can be formatted in no way. Of what holds the values of users, names and shapes can.
#[test]
fn secrets_cannot_be_printed() {
    macro_rules! silent {
        ($($secret:ty),*) => { $(
            const { assert!(!<Printable<$secret>>::PRINTABLE && !<Printable<$secret>>::SHOWABLE) };
        )* };
    }
    silent!(
        Labels,
        Block,
        Generator,
        Stock,
        Maker,
        BaseOtSetup,
        Precomputation,
        crate::ot::base::Ephemeral,
        crate::ot::Seeds
    );
    silent!(crate::correlation::Triples, crate::ot::Choices, crate::channel::Identity);
    silent!(crate::ot::SenderSeeds, crate::ot::ReceiverSeeds, crate::ot::base::Proof, Garbler, Evaluator, Gmw);
    silent!(MaskedGmw, crate::protocol::masked_gmw::Prepared, crate::protocol::masked_gmw::Online);
    const { assert!(<Printable<Report>>::PRINTABLE, "the test can fail") };
}

/// Whether a type could exist twice.
trait Single {
    const CLONED: bool = false;
}
impl<T> Single for Printable<T> {}
#[allow(dead_code)]
impl<T: Clone> Printable<T> {
    const CLONED: bool = true;
}

/// P14, P26: what masks a secret once, and what streams come from, can only be moved.
#[test]
fn secrets_that_are_used_once_cannot_be_copied() {
    macro_rules! single {
        ($($secret:ty),*) => { $( const { assert!(!<Printable<$secret>>::CLONED) }; )* };
    }
    single!(Generator, Session, Prepared, Stock, Maker, BaseOtSetup, crate::correlation::Triples);
    single!(Precomputation, crate::ot::base::Ephemeral, crate::ot::Seeds, crate::ot::Second);
    single!(crate::ot::Choices, crate::ot::SenderSeeds, crate::ot::ReceiverSeeds, Garbler, Gmw);
    single!(MaskedGmw, crate::protocol::masked_gmw::Prepared);
    const { assert!(<Printable<Report>>::CLONED, "the test can fail") };
}

/// The first value that is another.
fn other_than<T: PartialEq>(value: T, others: impl IntoIterator<Item = T>) -> T {
    others.into_iter().find(|other| *other != value).expect("there is another")
}

/// P27: every knob on which the parties must agree is a term; a new field of [`Options`] fails to compile here.
#[test]
fn every_option_is_a_term() {
    let binding = job();
    let fields = |options: &Options| {
        let (terms, schedule) = Terms::resolve(&binding, options).unwrap();
        fields::run(&binding, &terms, &schedule, &Moment::default(), &digest(&Vec::new())).unwrap()
    };
    let plain = options(Scheme::Yao, Timing::Ahead, Party::Alice);
    let Options { scheme, garbler, garbling, timing, share_from, tile, strands, extension, link } = plain;
    let streamed = Options { timing: Timing::Streamed, ..plain };
    let cases = [
        Options { scheme: other_than(scheme, [Scheme::Gmw]), ..plain },
        Options { scheme: other_than(scheme, [Scheme::MaskedGmw]), ..plain },
        Options { scheme: other_than(scheme, [Scheme::Mixed]), ..plain },
        Options { garbler: other_than(garbler, [Some(Party::Bob)]), ..plain },
        Options { garbling: other_than(garbling, Garbling::ALL), ..plain },
        Options { timing: other_than(timing, [Timing::Streamed]), ..plain },
        Options { tile: other_than(tile, [Some(5)]), ..plain },
        Options { extension: other_than(extension, Extension::all().map(Some)), ..plain },
        Options { extension: other_than(extension, [None]), ..plain },
    ];
    let more = Options { strands: other_than(strands, [2]), ..streamed };
    let auto = Options { extension: None, ..plain };
    let assumed = Options { link: other_than(link, [Some(crate::channel::Link::LAN)]), ..auto };
    let mixed = Options { scheme: Scheme::Mixed, ..plain };
    let cut = Options { share_from: other_than(share_from, [Some(7)]), ..mixed };
    // The larger of the two tiles of a mixed program is GMW's.
    let usual = Terms::resolve(&binding, &Options { tile: None, ..mixed }).unwrap().1.tile;
    let tiled = [Options { tile: None, ..mixed }, Options { tile: Some(usual), ..mixed }];
    let others = [(streamed, more), (more, streamed), (auto, assumed), (assumed, auto), (mixed, cut), (cut, mixed)];
    let others = others.into_iter().chain([(tiled[0], tiled[1])]);
    for (one, other) in cases.map(|other| (plain, other)).into_iter().chain(others) {
        assert_ne!(fields(&one), fields(&other), "{other:?}");
        let error = agreement::compare(&fields(&one), &agreement::encode(&fields(&other))).unwrap_err();
        assert!(matches!(error, Error::Incompatible { .. }), "{error}");
    }
}

/// A peer of an earlier version may ask for a set of silent OT that is gone.
#[test]
fn a_peer_that_wants_a_maker_that_is_gone_is_explained() {
    let ours = [("what makes correlations", "silent18w".to_string())];
    let error = agreement::compare(&ours, b"what makes correlations\tsilent18\n").unwrap_err().to_string();
    assert!(error.contains("ours is silent18w") && error.contains("'silent18' is gone"), "{error}");
}

proptest! {
    #[test]
    fn the_peers_terms_may_be_anything(bytes in prop::collection::vec(any::<u8>(), 0..200), cut in 0usize..300, turn: bool) {
        let ours = fields::online(&Moment { session: [7; 32], ordinal: 12, ..Moment::default() });
        let mut theirs = agreement::encode(&ours);
        agreement::compare(&ours, &theirs).unwrap();
        let cut = cut.min(theirs.len());
        if turn {
            theirs.truncate(cut);
        }
        let theirs = [&theirs[..cut], &bytes[..], &theirs[cut..]].concat();
        if theirs != agreement::encode(&ours) {
            match agreement::compare(&ours, &theirs) {
                Err(Error::Incompatible { ours, theirs, .. }) => {
                    prop_assert!(theirs.len() <= 300 && theirs.chars().all(|c| c == ' ' || c.is_ascii_graphic()));
                    prop_assert!(ours != theirs);
                }
                Err(Error::Peer(_)) => {}
                other => prop_assert!(false, "{other:?}"),
            }
        }
    }
}

/// The same sessions differ where their inputs do, and nowhere before: no input is used before the parties agree.
#[test]
fn inputs_do_not_show_before_they_are_used() {
    let binding = job();
    for (name, options) in ways().into_iter().filter(|(_, options)| options.timing == Timing::Ahead) {
        let until_online = [1, 2].map(|seed| {
            let (logs, lengths) = unwrap(seeded(9, |session| {
                let public = Inputs::new().with("known", BitMatrix::zeros(8, 7));
                let prepared = session.prepare(&binding, &options, &public)?;
                let length = session.counters().bytes_sent as usize;
                let ours = inputs(&binding, session.party, seed).with("known", BitMatrix::zeros(8, 7));
                session.online(prepared, &ours)?;
                Ok(length)
            }));
            let payloads = logs.map(|log| log.payload());
            [0, 1].map(|party| {
                let (setup, online) = payloads[party].split_at(lengths[party]);
                (setup.to_vec(), online.to_vec())
            })
        });
        let [first, second] = until_online;
        for ((setup, online), (other_setup, other_online)) in first.iter().zip(&second) {
            assert!(setup == other_setup, "{name}");
            assert!(online != other_online, "{name}");
        }
    }
}

/// Correlations of every kind, in blocks and more than one, shown to both parties: the two halves belong together.
#[test]
fn correlations_without_a_program_belong_together() {
    let demand = Demand { cots_by_alice: 70, cots_by_bob: (1 << 20) + 3, triples: 1000 };
    let checked = unwrap(seeded(9, |session| {
        let mut blocks = 0;
        session.correlate(Extension::DEFAULT, demand, |stock| {
            blocks += 1;
            assert!(stock.available().cots_by_alice >= 70);
            Ok(())
        })?;
        assert_eq!(blocks, 2);
        session.open_correlations()
    }));
    assert_eq!(checked.1, [demand; 2]);
}

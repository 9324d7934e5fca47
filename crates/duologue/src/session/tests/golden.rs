//! Golden digests: what each party sends in sessions whose secrets are known (`vectors/wire.txt`), and what it holds in
//! pools, prepared runs and correlations (`vectors/stored.txt`), whatever the form of the files.
//!
//! A refactoring moves no line. A digest may change only where what travels, is hashed or is derived changes on purpose:
//! then raise [`VERSION`] once there was a release, say so in the changelog, and write both files anew with
//! `DUOLOGUE_WRITE_VECTORS=1 cargo test -p duologue wire`.

mod jobs;
mod lines;
mod stores;

use super::every_step::every_step;
use super::*;
use crate::correlation::derived::RandomOts;
use crate::job::Part;
use crate::ot::silent;
use lines::Lines;

/// The seed of a session that depends on no other.
const SEED: u128 = 7;

const SILENT: Extension = Extension::Silent(silent::Set::ALL[0]);

/// What was recorded so far.
#[derive(Default)]
struct Record {
    wire: Lines,
    stored: Lines,
}

impl Record {
    /// Both parties do this in a session; what each sends is recorded.
    fn session<T: Send>(&mut self, name: &str, seed: u128, act: impl Fn(&mut Session) -> Result<T> + Sync) -> [T; 2] {
        let (logs, results) = seeded(seed, |session| {
            let done = act(session)?;
            let over = session.dead.is_some(); // since its correlations were shown
            if over { Ok(done) } else { session.wire.channel.finish().map(|()| done) }
        });
        self.wire.sent(name, logs);
        results.map(|result| result.unwrap_or_else(|error| panic!("{name}: {error}")))
    }

    /// The same, and what they return is recorded as what they hold.
    fn holding(&mut self, name: &str, seed: u128, act: impl Fn(&mut Session) -> Result<Vec<u8>> + Sync) {
        let contents = self.session(name, seed, act);
        self.stored.held(name, contents);
    }
}

/// Every way of running a program, with tiles of at most so many lanes.
fn ways_by(tile: usize) -> impl Iterator<Item = (&'static str, Options)> {
    ways().into_iter().map(move |(way, options)| (way, Options { tile: Some(tile), ..options }))
}

#[test]
fn the_wire_stays_as_it_is() {
    let mut record = Record::default();
    programs(&mut record);
    let told = job().told();
    record.session("told", SEED, |session| twice(&told, &options(Scheme::Gmw, Timing::Ahead, Party::Bob), session));
    shared_states(&mut record);
    prepared_in_memory(&mut record);
    strands(&mut record);
    makers(&mut record);
    chosen_makers(&mut record);
    correlations(&mut record);
    random_ots(&mut record);
    all_in_one_session(&mut record);
    part_of_a_job(&mut record);
    stores::pools(&mut record);
    stores::prepared_runs(&mut record);
    stores::prepared_from_a_pool(&mut record);
    record.wire.check("wire.txt");
    record.stored.check("stored.txt");
}

/// Each program twice in a session, in every way.
fn programs(record: &mut Record) {
    let steps = |lanes| every_step().bind(&[("n", lanes)]).unwrap();
    for (way, options) in ways() {
        record.session(way, SEED, |session| twice(&job(), &options, session));
    }
    let programs = [
        ("every-step-63", steps(63), 64),
        ("every-step-65", steps(65), 64),
        ("every-step-1000", steps(1000), 300),
        ("products-1", jobs::products(1), 64),
        ("products-63", jobs::products(63), 64),
        ("products-65", jobs::products(65), 64),
        ("products-1000", jobs::products(1000), 1000),
        ("deep", jobs::deep(), 64),
        ("ports", jobs::ports(), 32),
        ("choices", jobs::choices(), 50),
    ];
    for (name, binding, tile) in programs {
        for (way, options) in ways_by(tile) {
            record.session(&format!("{name}-{way}"), SEED, |session| twice(&binding, &options, session));
        }
    }
}

/// A state that stays shared goes through four runs; the last of them by another protocol.
fn shared_states(record: &mut Record) {
    let binding = jobs::shared_step();
    let by_gmw = options(Scheme::Gmw, Timing::Ahead, Party::Bob);
    for (way, options) in ways_by(64) {
        record.session(&format!("shared-step-{way}"), SEED, |session| {
            let mut ours = inputs(&binding, session.party, 1);
            for options in [options, options, options, by_gmw] {
                let outcome = session.run(&binding, &options, &ours)?;
                ours.set("state", outcome.outputs.get("state").expect("it is shared").clone());
            }
            Ok(())
        });
    }
}

/// Tiles that take turns on the wire.
fn strands(record: &mut Record) {
    for (way, options) in ways_by(64).filter(|(way, _)| way.starts_with("yao") && way.ends_with("streamed")) {
        for strands in [2, 3] {
            let options = Options { strands, ..options };
            let name = |program| format!("{program}-{way}-{strands}-strands");
            record.session(&name("every-step-1000"), SEED, |session| {
                twice(&every_step().bind(&[("n", 1000)]).unwrap(), &options, session)
            });
            record.session(&name("products-1000"), SEED, |session| twice(&jobs::products(1000), &options, session));
        }
    }
}

/// Two programs are prepared, then run in order.
fn prepared_in_memory(record: &mut Record) {
    let bindings = [job(), jobs::ports()];
    for (way, options) in ways_by(64) {
        record.session(&format!("prepared-in-memory-{way}"), SEED, |session| {
            let ours = bindings.each_ref().map(|binding| inputs(binding, session.party, 1));
            let mut prepared = Vec::new();
            for (binding, ours) in bindings.iter().zip(&ours) {
                prepared.push(session.prepare(binding, &options, ours)?);
            }
            let mut runs = prepared.into_iter().zip(&ours);
            runs.try_for_each(|(prepared, ours)| session.online(prepared, ours).map(drop))
        });
    }
}

/// The protocols of which a mixed program has two.
const WHOLE: [Scheme; 3] = [Scheme::Yao, Scheme::Gmw, Scheme::MaskedGmw];

/// The makers, but of silent OT the smallest set: the larger ones would only take longer.
fn all_makers() -> impl Iterator<Item = Extension> {
    let is_large = |extension: &Extension| matches!(extension, Extension::Silent(set) if set.log() > 16);
    Extension::all().filter(move |extension| !is_large(extension))
}

/// Programs whose correlations come from each of the makers.
fn makers(record: &mut Record) {
    for extension in all_makers() {
        for scheme in WHOLE {
            let options = Options { extension: Some(extension), ..options(scheme, Timing::Ahead, Party::Bob) };
            record.session(&format!("{scheme}-by-{extension}"), SEED, |session| twice(&job(), &options, session));
        }
    }
}

/// Makers that are chosen: for little by the demand alone, for more by a line that both assume. What is sent to measure a
/// line depends on what is found; `session/tests/choice.rs` counts its bytes.
fn chosen_makers(record: &mut Record) {
    for scheme in WHOLE {
        let auto = Options { extension: None, ..options(scheme, Timing::Ahead, Party::Bob) };
        record.session(&format!("{scheme}-by-auto"), SEED, |session| twice(&job(), &auto, session));
    }
    let slow: crate::channel::Link = "100ms,1Mbit".parse().expect("a line");
    record.session("maker-for-an-assumed-line", SEED, |session| {
        session.choose_maker(Demand::of_triples(50_000), slow)?;
        session.correlate(None, Demand::of_triples(100), |_| Ok(()))
    });
}

/// Draws all that is in the stock.
fn drain(stock: &mut Stock, bytes: &mut Vec<u8>) -> Result<()> {
    let (all, us) = (stock.available(), stock.party());
    bytes.extend_from_slice(bytemuck::cast_slice(&stock.draw_cot_sender(all.cots_by(us) as usize)?));
    bytes.extend_from_slice(bytemuck::cast_slice(&stock.draw_cot_receiver(all.cots_by(us.peer()) as usize)?.t));
    let triples = stock.draw_triples(all.triples as usize)?;
    [&triples.a, &triples.b, &triples.c].iter().for_each(|part| put(bytes, part));
    Ok(())
}

/// Correlations without a program, more than a batch of the maker, and how they are shown.
fn correlations(record: &mut Record) {
    // The larger silent sets begin with a round of the smallest.
    for extension in all_makers().chain([Extension::Silent(silent::Set::ALL[1])]) {
        // Of silent OT more than the first batch, which is made otherwise than the next.
        let more = if extension == SILENT { silent::Set::ALL[0].batch() as u64 + 1 } else { 20_000 };
        let demand = Demand { cots_by_alice: 70, cots_by_bob: more, triples: 1000 };
        record.holding(&format!("correlations-by-{extension}"), SEED, |session| {
            let mut bytes = Vec::new();
            session.correlate(extension, demand, |stock| drain(stock, &mut bytes))?;
            bytes.extend(session.wire.delta()?.to_bytes());
            session.correlate(extension, Demand { cots_by_bob: 65, ..Demand::of_triples(65) }, |_| Ok(()))?;
            session.open_correlations().map(|_| bytes)
        });
    }
}

/// Random OTs and all that is derived of them.
fn random_ots(record: &mut Record) {
    for extension in [Extension::SoftSpoken { k: 1 }, Extension::DEFAULT, SILENT] {
        record.holding(&format!("random-ots-by-{extension}"), SEED, |session| {
            let mut bytes = Vec::new();
            // A silent batch is large, and what is derived of it no other.
            let last = if extension == SILENT { 1 } else { 4 };
            for derive in &[messages, strings, one_of, products_of_vectors][..last] {
                derive(session.random_ots(extension, 70, 65)?, &mut bytes)?;
            }
            let bits = session.random_bits(extension, 1000, 65)?;
            bits.sent.iter().chain(&bits.received).for_each(|words| put(&mut bytes, words));
            Ok(bytes)
        });
    }
}

fn put(bytes: &mut Vec<u8>, words: &[u64]) {
    bytes.extend_from_slice(bytemuck::cast_slice(words));
}

fn messages(ots: RandomOts, bytes: &mut Vec<u8>) -> Result<()> {
    let [m0, m1] = ots.sent.messages();
    [m0, m1, ots.received.messages()].iter().for_each(|m| bytes.extend_from_slice(bytemuck::cast_slice(m)));
    put(bytes, ots.received.choices());
    Ok(())
}

fn strings(ots: RandomOts, bytes: &mut Vec<u8>) -> Result<()> {
    let counts = [ots.sent.len(), ots.received.len()];
    let (sent, received) = (ots.sent.strings(5), ots.received.strings(300));
    let rows = (0..counts[0]).flat_map(|i| sent.m.each_ref().map(|m| m.row(i)));
    rows.chain((0..counts[1]).map(|i| received.m.row(i))).for_each(|row| put(bytes, row));
    Ok(())
}

fn one_of(ots: RandomOts, bytes: &mut Vec<u8>) -> Result<()> {
    let (sent, received) = (ots.sent.one_of(5)?, ots.received.one_of(16)?);
    let all = (0..sent.len()).flat_map(|i| (0..sent.messages()).map(move |x| (i, x)));
    all.for_each(|(i, x)| bytes.extend(sent.message(i, x).to_bytes()));
    for i in 0..received.len() {
        bytes.extend(received.choice(i).to_le_bytes());
        bytes.extend(received.message(i).to_bytes());
    }
    Ok(())
}

fn products_of_vectors(ots: RandomOts, bytes: &mut Vec<u8>) -> Result<()> {
    let triples = ots.bit_vector_triples(70);
    put(bytes, &triples.a);
    (0..triples.len).for_each(|i| [triples.b.row(i), triples.c.row(i)].iter().for_each(|row| put(bytes, row)));
    Ok(())
}

/// What one thing leaves for the next: numbers, stock, makers.
fn all_in_one_session(record: &mut Record) {
    for extension in [Extension::DEFAULT, SILENT] {
        record.session(&format!("all-in-one-session-by-{extension}"), SEED, |session| {
            let ours = inputs(&job(), session.party, 1);
            session.correlate(extension, Demand { cots_by_bob: 500, ..Demand::of_triples(700) }, |_| Ok(()))?;
            let some = if extension == SILENT { 3 } else { 1 };
            for (_, options) in ways().into_iter().rev().step_by(some) {
                session.run(&job(), &Options { extension: Some(extension), ..options }, &ours)?;
                session.random_ots(extension, 3, 200)?;
                let prepared = session.prepare(&job(), &Options { extension: Some(extension), ..options }, &ours)?;
                session.random_bits(extension, 0, 9)?;
                session.online(prepared, &ours)?;
            }
            Ok(())
        });
    }
}

/// A session that says which part of a job it computes.
fn part_of_a_job(record: &mut Record) {
    for (way, options) in ways_by(64).filter(|(way, _)| ["yao-ahead", "gmw-ahead"].contains(way)) {
        record.session(&format!("shard-of-a-job-{way}"), SEED, |session| {
            session.set_part(Part::of_shard([7; 32], 3, 1));
            twice(&jobs::products(65), &options, session)
        });
    }
    record.session("last-of-a-job", SEED, |session| {
        session.set_part(Part::last([7; 32], 2));
        session.correlate(Extension::DEFAULT, Demand::of_triples(100), |_| Ok(()))
    });
}

//! The method that is predicted to be done first, from sizes, the line and both parties' speeds.
//!
//! Both parties compute it from the same values, in integers. A run from when the parties have agreed to when both have said
//! goodbye, with base OTs:
//!
//! ```text
//! dh          2½ round trips + the longest of: either party's gates, either direction's bytes, a round trip for the chunks
//!             that are under way together
//! universal   OTs of a new session + 3 round trips + control bits + the longest of: garbling, evaluation, bytes from Alice
//! ```
//!
//! What computing takes was measured on one machine; of universal circuits in AES blocks, by whose rate the measured line's
//! processors are compared, and of `dh` in gates, which each party tries ([`pfe::gates_per_second`]), with all its threads.

use super::agree::size;
use duologue::Conditions;
use duologue::correlation::{Demand, choice};
use duologue::ot::Extension;
use pfe::{Announced, Method};
use std::time::Duration;

/// What a choice is made by.
#[derive(Clone, Copy, Debug)]
pub struct Case {
    pub function: Announced,
    /// Gates a second by `dh`, Alice's and Bob's; those of [`Conditions`] are AES blocks of one thread.
    pub speeds: [u64; 2],
    pub conditions: Conditions,
}

/// Gates a second that are taken for a party that claims nothing that can be: 100 to 100 million.
const SPEEDS: std::ops::RangeInclusive<u64> = 100..=100_000_000;

/// Bytes of a gate's query and of its table, gates of a chunk, and chunks under way.
const QUERY: u128 = pfe::POINT as u128;
const TABLE: u128 = pfe::TABLE as u128;
const CHUNK: u128 = pfe::CHUNK as u128;
const AHEAD: u128 = pfe::AHEAD as u128;

/// What Alice computes of a gate by `dh`, in hundredths of what Bob does.
const ALICE: u128 = 65;

/// Of universal circuits, tenths of an AES block: the control bit of a switch, garbling and evaluating it, of which a gate
/// takes three. From the processor time of 100,000 gates: 42 ns a switch at Alice and 23 at Bob, at 362 million blocks a
/// second.
const CONTROL: u128 = 30;
const GARBLE: u128 = 120;
const EVALUATE: u128 = 85;

/// Round trips of a new session and a call besides those of its OTs.
const ROUNDS: u32 = 3;

const SECOND: u128 = 1_000_000_000;

/// Bytes in each direction by which the line is measured: a quarter of what `dh` sends, but 16 kB at least, since what is
/// shorter goes by too fast on the lines between which there is a choice, and 64 kB at most.
pub fn probe(function: &Announced) -> usize {
    let bytes = function.counts(Method::Dh).gates.saturating_mul(32);
    usize::try_from(bytes).unwrap_or(usize::MAX).clamp(16 << 10, 64 << 10)
}

/// The method that is predicted to be done first; in a tie the first.
pub fn choose(methods: &[Method], case: &Case) -> Method {
    methods.iter().copied().min_by_key(|&method| predict(method, case)).unwrap_or(Method::Universal)
}

/// How long one run takes by a method, from terms to result.
pub fn predict(method: Method, case: &Case) -> Duration {
    match method {
        Method::Dh => dh(case),
        Method::Universal => universal(case),
        // For comparison alone: never the better one, and never chosen.
        Method::ElGamal | Method::Bfv | Method::Djn => Duration::MAX,
    }
}

fn dh(Case { function, speeds, conditions }: &Case) -> Duration {
    let gates = u128::from(function.counts(Method::Dh).gates);
    let (inputs, outputs) = (u128::from(function.inputs), u128::from(function.outputs));
    // A label of an input costs Bob half a gate, and an output Alice a query.
    let work = gates + inputs / 2 + outputs;
    let [alice, bob] = speeds.map(|speed| SECOND / u128::from(speed.clamp(*SPEEDS.start(), *SPEEDS.end())));
    let (alice, bob) = (alice * ALICE / 100, bob);
    let sent = [
        over(QUERY * (gates + 2 * outputs), conditions.alice_to_bob),
        over(TABLE * gates + QUERY * inputs, conditions.bob_to_alice),
    ];
    let under_way = (gates / (CHUNK * AHEAD)) * conditions.round_trip.as_nanos();
    let longest = [work * alice, work * bob, sent[0], sent[1], under_way].into_iter().max().unwrap_or(0);
    // The first chunk waits for Alice's queries, and the last for her evaluation.
    5 * conditions.round_trip / 2 + nanoseconds(longest + work.min(CHUNK) * alice.min(bob))
}

fn universal(Case { function, conditions, .. }: &Case) -> Duration {
    let Ok(size) = size(function) else { return Duration::MAX };
    let (switches, tables) = (u128::from(size.switches()), size.tables() as u128);
    let halves = switches + 3 * tables;
    let blocks = |tenths: u128| tenths * SECOND / 10 / u128::from(conditions.speed);
    let sent = over(16 * (halves + u128::from(function.inputs)), conditions.alice_to_bob);
    let longest = [blocks(GARBLE * halves), blocks(EVALUATE * halves), sent].into_iter().max().unwrap_or(0);
    let demand = Demand { cots_by_alice: function.inputs.into(), ..Demand::NONE };
    let ots = choice::predict(Extension::DEFAULT, demand, conditions).unwrap_or_default();
    ots + ROUNDS * conditions.round_trip + nanoseconds(longest + blocks(CONTROL * switches))
}

/// Nanoseconds that bytes take at a rate.
fn over(bytes: u128, rate: u64) -> u128 {
    bytes * SECOND / u128::from(rate)
}

fn nanoseconds(time: u128) -> Duration {
    Duration::from_nanos(u64::try_from(time).unwrap_or(u64::MAX))
}

#[cfg(test)]
mod tests;

//! Programs that find the least of protected values by the call.

use super::{Argmin, Direction, Form, Parameters};
use duologue::circuit::program::{Functionality, Owner, Recipient};
use duologue::circuit::{Party, Program, bits, uint};
use std::sync::Arc;

/// The most values of a party.
pub const MOST_LANES: u64 = 1 << 20;

/// Bits of an index of values that both share, and of values of which each party has its own.
const INDEX: [u8; 2] = [20, 21];

/// The least of `values` values of so many bits that are shared by addition modulo 2^(bits + 1): Alice's `alice_shares` and
/// Bob's `bob_shares`. Alice hands in her share of the result, `alice_least`, which has to be random; Bob gets `bob_least`.
/// `argument`, the shared `arguments`' bits, or none for the `index`, which is shared.
pub fn shared(width: u32, argument: Option<u32>, direction: Direction, groups: &[u32]) -> Program {
    let mut p = Program::new("argmin_shared");
    let values = p.size("values", 1..=MOST_LANES);
    let mut args = vec![
        p.input("alice_shares", Party::Alice, uint(width + 1), values),
        p.input("bob_shares", Party::Bob, uint(width + 1), values),
        p.input("alice_least", Party::Alice, uint(width + 1), 1),
    ];
    args.extend(argument.map(|argument| p.input("arguments", Owner::Shared, bits(argument), values)));
    let parameters = parameters(Form::Shared, argument, direction, groups);
    call(&mut p, &parameters, &args, [("bob_least", Party::Bob.into()), (name(argument), Recipient::Shared)]);
    p
}

/// The least of Alice's `alice` and Bob's `bob` values of so many bits, each of which one party knows, delivered to whom it
/// may concern; with its argument of so many bits, or none for its index, which counts Alice's values first.
pub fn halves(width: u32, argument: Option<u32>, to: Recipient) -> Program {
    let mut p = Program::new("argmin_halves");
    let owners = [("alice", Party::Alice), ("bob", Party::Bob)];
    let lanes = owners.map(|(name, _)| p.size(name, 1..=MOST_LANES));
    let mut args = Vec::new();
    for ((name, party), lanes) in owners.into_iter().zip(lanes) {
        args.push(p.input(&format!("{name}_values"), party, uint(width), lanes));
    }
    for ((name, party), lanes) in owners.into_iter().zip(lanes).filter(|_| argument.is_some()) {
        args.push(p.input(&format!("{name}_arguments"), party, bits(argument.unwrap_or(0)), lanes));
    }
    let parameters = parameters(Form::Halves, argument, Direction::Both, &[]);
    call(&mut p, &parameters, &args, [("least", to), (name(argument), to)]);
    p
}

fn parameters(form: Form, argument: Option<u32>, direction: Direction, groups: &[u32]) -> Parameters {
    let index = if argument.is_some() { 0 } else { INDEX[form as usize] };
    Parameters { form, index, direction, groups: groups.to_vec() }
}

fn name(argument: Option<u32>) -> &'static str {
    if argument.is_some() { "argument" } else { "index" }
}

fn call(
    p: &mut Program,
    parameters: &Parameters,
    args: &[duologue::circuit::program::Value],
    outputs: [(&str, Recipient); 2],
) {
    let argmin: Arc<dyn Functionality> = Arc::new(Argmin);
    let results = p.call(&argmin, &parameters.to_bytes(), args);
    for (&result, (name, to)) in results.iter().zip(outputs) {
        p.output(name, to, result);
    }
}

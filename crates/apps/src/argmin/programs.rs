//! Programs that find the least of protected values: by the call, or by circuits.

use super::encrypted::{Keys, Method, Terms};
use super::{Argmin, Direction, Form, Parameters};
use crate::tournament::Tournament;
use duologue::circuit::blocks::{Goal, greater, mux};
use duologue::circuit::program::{Functionality, Owner, Recipient};
use duologue::circuit::{Bit, Bits, Builder, Circuit, Party, Program, UInt, bits, uint};
use std::sync::Arc;

/// The most values of a party.
pub const MOST_LANES: u64 = 1 << 20;

/// Bits of an index, by form: of values that both share, and of values of which each party has its own.
const INDEX: [u8; 3] = [20, 21, 20];

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

/// The least of `values` ciphertexts that the server holds, and of its `arguments` if the terms have any; it gets ciphertexts of the
/// `least` value and of its `argument` or `index`.
pub fn of_ciphertexts(method: Method, terms: &Terms) -> Program {
    let mut p = Program::new("argmin_encrypted");
    let values = p.size("values", 1..=MOST_LANES);
    let names = if terms.argument.is_some() { &["values", "arguments"][..] } else { &["values"] };
    let args: Vec<_> = names.iter().map(|name| p.input(name, terms.server, bits(2 * terms.key_bits), values)).collect();
    let call: Arc<dyn Functionality> = method.call(&Keys::none());
    let found = p.call(&call, &terms.to_bytes(), &args);
    for (&value, name) in found.iter().zip(["least", name(terms.argument)]) {
        p.output(name, terms.server, value);
    }
    p
}

/// The least of `values` values of so many bits that are shared by XOR, with its argument of so many bits, or none for its
/// index. Circuits do all of it, so that any protocol runs it: a tournament of pairs, each a comparison and a choice. By GMW
/// it takes fewer bytes than a conversion to sums alone, which is about l² / 2 bits a value.
///
/// | goal | ANDs of a pair for l bits and an argument of w | depth |
/// |---|---|---|
/// | size | l, and l + w with one common factor | l + 1 |
/// | depth | about 3·l, and l + w with one common factor | ⌈log₂ l⌉ + 2 |
pub fn strings(width: u32, argument: Option<u32>, goal: Goal) -> Program {
    let mut p = Program::new("argmin_xor");
    let values = p.size("values", 1..=MOST_LANES);
    let index = u32::from(INDEX[0]);
    let mut lanes = vec![p.input("values", Owner::Shared, uint(width), values)];
    match argument {
        Some(argument) => lanes.push(p.input("arguments", Owner::Shared, bits(argument), values)),
        None => lanes.extend(Tournament { key: width as usize, index, goal }.start(&mut p, values)),
    }
    let found = p.reduce(&game(width, argument.ok_or(index), goal), &lanes);
    for (&value, name) in found.iter().zip(["least", name(argument)]) {
        p.output(name, Recipient::Shared, value);
    }
    p
}

/// The same by the call, with the OTs of one party or of both: a chain of l ANDs a comparison, by OTs of one party the fewest bytes
/// that there are in a new session.
pub fn strings_by_ots(width: u32, argument: Option<u32>, direction: Direction) -> Program {
    let mut p = Program::new("argmin_strings");
    let values = p.size("values", 1..=MOST_LANES);
    let mut args = vec![p.input("values", Owner::Shared, uint(width), values)];
    args.extend(argument.map(|argument| p.input("arguments", Owner::Shared, bits(argument), values)));
    let parameters = parameters(Form::Strings, argument, direction, &[]);
    let outputs = ["least", name(argument)].map(|name| (name, Recipient::Shared));
    call(&mut p, &parameters, &args, outputs);
    p
}

/// One pair: the value that is less, the left one of equals, with its argument; or with its index, in a block of which each
/// lane has the size, by which the right one's index grows (`crate::tournament`).
fn game(width: u32, argument: Result<u32, u32>, goal: Goal) -> Circuit {
    let mut c = Builder::new("least");
    let (Ok(more) | Err(more)) = argument;
    let sides = ["left", "right"].map(|side| {
        let value = c.uint(format!("{side}_value"), width);
        if argument.is_ok() {
            return (value, c.bits(format!("{side}_argument"), more), None);
        }
        let index = Bits(c.uint(format!("{side}_index"), more).0);
        (value, index, Some(c.uint(format!("{side}_size"), more)))
    });
    let [(left, left_more, size), (right, mut right_more, _)] = sides;
    if let Some(size) = &size {
        right_more = Bits(right_more.0.iter().zip(&size.0).map(|(&bit, &size)| c.xor(bit, size)).collect());
    }
    let lost = greater(&mut c, &left, &right, goal);
    let join = |value: &UInt, more: &Bits| Bits(value.0.iter().chain(&more.0).copied().collect());
    let least = mux(&mut c, lost, &join(&right, &right_more), &join(&left, &left_more));
    let (value, more) = least.0.split_at(width as usize);
    c.output("value", &UInt(value.to_vec()));
    let Some(UInt(size)) = size else {
        c.output("argument", &Bits(more.to_vec()));
        return c.finish();
    };
    let doubled = [Bit::FALSE].into_iter().chain(size.iter().copied()).take(size.len());
    c.output("index", &UInt(more.to_vec()));
    c.output("size", &UInt(doubled.collect()));
    c.finish()
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

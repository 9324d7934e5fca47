use crate::plan::Order;
use crate::program::functionality::tests::Same;
use crate::program::{Call, CallPart, Functionality, Holder, Origin, Owner, Part, Parts, Party, Program, ProgramPart};
use crate::program::{Recipient, Schedule, Target};
use crate::{blocks, uint};
use std::collections::HashSet;
use std::sync::Arc;

fn schedule(block: &str, order: Order, tile: usize, swap: bool) -> Schedule {
    let mut p = Program::new("digest");
    let a = p.input("a", Party::Alice, uint(8), 100);
    let b = p.input("b", Party::Bob, uint(8), 100);
    let circuit = blocks::find(block).unwrap().circuit(&[8], blocks::Goal::Size).unwrap();
    let made = p.map(&circuit, &if swap { [b, a] } else { [a, b] });
    p.output("made", Party::Alice, made);
    Schedule::new(&p.bind(&[]).unwrap(), order, |_| tile).unwrap()
}

#[test]
fn every_difference_counts() {
    let digest = |block, order, tile, swap| schedule(block, order, tile, swap).digest();
    let first = digest("greater", Order::Layered, 64, false);
    assert_eq!(first, digest("greater", Order::Layered, 64, false));
    for other in [
        digest("equal", Order::Layered, 64, false),
        digest("greater", Order::DepthFirst, 64, false),
        digest("greater", Order::Layered, 128, false),
        digest("greater", Order::Layered, 64, true),
    ] {
        assert_ne!(first, other);
    }
}

/// One changed bit of one instruction is another program, with as many gates in the same places.
#[test]
fn a_complement_counts() {
    let (one, other) = (schedule("add", Order::Layered, 64, false), schedule("subtract", Order::Layered, 64, false));
    assert_ne!(one.digest(), other.digest());
}

/// A part, a call that gives two results, of which one is delivered as it is, and a part.
fn with_a_call() -> Schedule {
    let mut p = Program::new("digest");
    let a = p.input("a", Party::Alice, uint(8), 100);
    let b = p.input("b", Owner::Shared, uint(8), 100);
    let add = blocks::find("add").unwrap().circuit(&[8], blocks::Goal::Size).unwrap();
    let sum = p.map(&add, &[a, b]);
    let same: Arc<dyn Functionality> = Arc::new(Same);
    let made = p.call(&same, &[], &[sum, a, b]);
    let after = p.map(&add, &made[..2]);
    p.output("after", Party::Alice, after);
    p.output("direct", Recipient::Shared, made[2]);
    Schedule::new(&p.bind(&[]).unwrap(), Order::Layered, |_| 64).unwrap()
}

/// The same schedule with something else between its parts.
fn joined(change: impl FnOnce(&mut Parts)) -> [u8; 32] {
    let whole = with_a_call();
    let mut parts = Arc::into_inner(whole.parts.unwrap()).unwrap();
    change(&mut parts);
    Schedule { parts: Some(Arc::new(parts)), ..whole }.digest()
}

fn program(parts: &mut Parts, number: usize) -> &mut ProgramPart {
    let mut programs =
        parts.list.iter_mut().filter_map(|part| if let Part::Program(part) = part { Some(part) } else { None });
    programs.nth(number).unwrap()
}

fn call(parts: &mut Parts) -> &mut CallPart {
    let mut calls =
        parts.list.iter_mut().filter_map(|part| if let Part::Call(part) = part { Some(part) } else { None });
    calls.next().unwrap()
}

fn terms(parts: &mut Parts) -> &mut Call {
    Arc::make_mut(&mut call(parts).call)
}

/// Each of these changes one join alone: a digest that left it out would come twice.
#[test]
fn how_parts_and_calls_are_joined_counts() {
    let other = Program::new("other").value(77);
    type Change = Box<dyn FnOnce(&mut Parts)>;
    let changes: Vec<Change> = vec![
        Box::new(|_| {}),
        Box::new(|parts| parts.list.swap(0, 1)),
        Box::new(|parts| parts.list.truncate(2)),
        Box::new(|parts| drop(parts.list.remove(1))),
        Box::new(|parts| program(parts, 0).inputs.swap(0, 1)),
        Box::new(move |parts| program(parts, 0).inputs[0] = Origin::Made(other)),
        Box::new(|parts| program(parts, 0).inputs.truncate(1)),
        Box::new(|parts| program(parts, 1).inputs[0] = Origin::Input(7)),
        Box::new(move |parts| program(parts, 0).outputs[0] = Target::Value(other)),
        Box::new(|parts| program(parts, 0).outputs[0] = Target::Output(7)),
        Box::new(|parts| program(parts, 1).outputs[0] = Target::Output(7)),
        Box::new(|parts| program(parts, 1).outputs.clear()),
        Box::new(|parts| terms(parts).number = 7),
        Box::new(|parts| terms(parts).args[1].ty.width = 7),
        Box::new(|parts| terms(parts).args[1].lanes = 7),
        Box::new(|parts| terms(parts).args[1].holder = Holder::Party(Party::Bob)),
        Box::new(|parts| terms(parts).args[1].holder = Holder::Shared),
        Box::new(|parts| terms(parts).args.truncate(2)),
        Box::new(|parts| terms(parts).results[1].ty.width = 7),
        Box::new(|parts| terms(parts).results[1].lanes = 7),
        Box::new(|parts| terms(parts).results[1].holder = Holder::Party(Party::Bob)),
        Box::new(|parts| terms(parts).results.truncate(2)),
        Box::new(|parts| call(parts).args.swap(0, 1)),
        Box::new(move |parts| call(parts).args[1] = Origin::Made(other)),
        Box::new(|parts| call(parts).args.truncate(2)),
        Box::new(|parts| call(parts).results.swap(0, 1)),
        Box::new(move |parts| call(parts).results[1] = other),
        Box::new(|parts| call(parts).results.truncate(2)),
        Box::new(|parts| parts.direct[0].0 = 0),
        Box::new(move |parts| parts.direct[0].1 = other),
        Box::new(|parts| parts.direct.clear()),
    ];
    let count = changes.len();
    let digests: HashSet<[u8; 32]> = changes.into_iter().map(joined).collect();
    assert_eq!(digests.len(), count);
    assert_eq!(joined(|_| {}), with_a_call().digest(), "and it is the same each time");
}

//! Triples of vectors, bit by bit against their definition, with COTs of a dealer.

use super::*;
use crate::correlation::Demand;
use crate::executor::{Lengths, PlanCache};
use crate::ot::Side;
use crate::protocol::gmw::lengths::{GmwLengths, opened_rows};
use crate::threads::Threads;
use circuit::blocks::{self, Goal};
use circuit::plan::{Op, VECTOR};
use circuit::program::{Seat, Task, TaskKind};
use circuit::{Circuit, Order};
use kernels::generator::Generator;
use proptest::prelude::*;
use std::sync::Arc;

fn job(circuit: &Circuit, lanes: usize) -> Job {
    let plan = Arc::new(Plan::new(circuit, Order::Layered));
    let kind = TaskKind::Map { plan: 0, wiring: Vec::new().into() };
    let seat = Seat { and0: 1000, ..Seat::default() };
    let task = Task { kind, cell: 0, rows: 0, lanes, args: Vec::new(), public: false, seat };
    Job { threads: Threads::default(), public: BitMatrix::zeros(0, lanes), task, plan: Some(plan) }
}

/// Both parties' triples of a map. With `same`, all blocks of the senders are equal.
fn drawn(job: &Job, seed: u64, same: bool) -> [Triples; 2] {
    let stream = Generator::from_seed(Block::new(seed.into()));
    let deltas = [0, 1].map(|party| stream.derive(b"delta   ", party).block().with_lsb(true));
    let lengths = GmwLengths { party: Party::Alice, plans: PlanCache::default() };
    let wanted = lengths.demand(job);
    let mut stocks = [Stock::new(Party::Alice), Stock::new(Party::Bob)];
    for sender in [Party::Alice, Party::Bob] {
        let mut q = vec![Block::ZERO; wanted.cots_by(sender) as usize];
        let mut choices = vec![Block::ZERO; q.len()];
        stream.derive(b"blocks  ", sender as u64).fill_blocks(if same { &mut choices } else { &mut q });
        stream.derive(b"choices ", sender as u64).fill_blocks(&mut choices);
        q.iter_mut().for_each(|q| *q = q.with_lsb(false));
        let delta = deltas[sender as usize];
        let t = q.iter().zip(&choices).map(|(&q, choice)| q ^ (delta & Block::mask(choice.lsb()))).collect();
        stocks[sender as usize].put_cots(Side::Sender, q);
        stocks[sender.peer() as usize].put_cots(Side::Receiver, t);
    }
    let zeros = || vec![0; (wanted.triples as usize).div_ceil(64)];
    for stock in &mut stocks {
        stock.put_triples(&Triples { a: zeros(), b: zeros(), c: zeros(), len: wanted.triples as usize });
    }
    let mut draw = |party: Party| {
        let vectors = Vectors::new(deltas[party as usize], party, (&[5; 32], 3));
        let gmw = Gmw::new(party, Generator::from_seed(Block::ZERO), 0, Some(vectors), PlanCache::default());
        let triples = draw(&gmw, job, &mut stocks[party as usize]).unwrap();
        assert_eq!(stocks[party as usize].available(), Demand::NONE, "what is demanded is drawn");
        triples
    };
    [draw(Party::Alice), draw(Party::Bob)]
}

fn bit(words: &[u64], at: usize) -> bool {
    words[at / 64] >> (at % 64) & 1 == 1
}

/// For each AND of a plan, in order, the vector that it belongs to.
fn vector_of(plan: &Plan) -> Vec<Option<usize>> {
    let ands = plan.code().iter().enumerate().filter(|(_, instr)| instr.op == Op::And);
    ands.map(|(i, _)| plan.vectors().iter().position(|vector| vector.contains(&i))).collect()
}

const BLOCKS: [(&str, &[u32]); 6] = [
    ("mux", &[200]),
    ("minimum_of", &[5, 7]),
    ("multiplexer", &[3, 6]),
    ("add", &[9]),
    ("shift_left", &[32]),
    ("conditional_swap", &[4]),
];

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn they_multiply(block in prop::sample::select(&BLOCKS[..]), lanes in 1usize..300, seed: u64) {
        let (name, size) = block;
        let block = blocks::find(name).unwrap();
        let size = if block.usual().len() == size.len() { size.to_vec() } else { block.usual() };
        let job = job(&block.circuit(&size, Goal::Size).unwrap(), lanes);
        let plan = job.plan.as_ref().unwrap();
        let [alice, bob] = drawn(&job, seed, false);
        prop_assert_eq!(alice.len, plan.ands() as usize * lanes);
        let members = vector_of(plan);
        for at in 0..alice.len {
            let value = |bits: fn(&Triples) -> &Vec<u64>| bit(bits(&alice), at) ^ bit(bits(&bob), at);
            prop_assert_eq!(value(|t| &t.a) & value(|t| &t.b), value(|t| &t.c), "AND {}", at / lanes);
            let (and, lane) = (at / lanes, at % lanes);
            // The ANDs of a vector have one a; the single triples of the dealer are zero.
            if and > 0 && members[and].is_some() && members[and] == members[and - 1] {
                prop_assert_eq!(bit(&alice.a, at), bit(&alice.a, (and - 1) * lanes + lane));
            }
            if members[and].is_none() {
                prop_assert!(!value(|t| &t.a) && !value(|t| &t.b));
            }
        }
        let found: Vec<_> = places(plan).collect();
        for (and, member) in members.iter().enumerate() {
            prop_assert_eq!(found.iter().position(|place| place.contains(&and)), *member);
        }
    }
}

/// Vectors of twins that hash everything under one number would be equal where the senders' blocks are.
#[test]
fn every_vector_and_lane_has_a_number_of_its_own() {
    let circuit = blocks::find("minimum_of").unwrap();
    let circuit = circuit.circuit(&circuit.usual(), Goal::Size).unwrap();
    let (lanes, job) = (130, job(&circuit, 130));
    let plan = job.plan.as_ref().unwrap();
    assert!(plan.vectors().len() > 3 && plan.vectors().iter().all(|vector| vector.len() >= 16));
    let [alice, _] = drawn(&job, 7, true);
    let mut seen = std::collections::BTreeSet::new();
    for place in places(plan) {
        for lane in 0..lanes {
            let b: Vec<bool> = place.clone().take(24).map(|and| bit(&alice.b, and * lanes + lane)).collect();
            seen.insert(b);
        }
    }
    // Of 24 bits a few hundred are rarely equal.
    assert!(seen.len() + 3 > plan.vectors().len() * lanes, "{} of {}", seen.len(), plan.vectors().len() * lanes);
}

#[test]
fn what_shares_no_operand_or_is_too_short_is_no_vector() {
    for (name, size, vectors) in [("add", &[64][..], 0), ("mux", &[3], 0), ("mux", &[4], 1), ("mux", &[300], 3)] {
        let circuit = blocks::find(name).unwrap().circuit(size, Goal::Size).unwrap();
        let plan = Plan::new(&circuit, Order::Layered);
        assert_eq!(plan.vectors().len(), vectors, "{name} {size:?}");
        let ands: usize = plan.vectors().iter().map(Range::len).sum();
        assert_eq!(plan.vector_ands(), ands as u64);
        for vector in plan.vectors() {
            assert!(VECTOR.contains(&vector.len()));
            assert!(plan.layers().iter().any(|layer| layer.start <= vector.start && vector.end <= layer.end));
            let ands: Vec<_> = plan.code().iter().skip(vector.start).take(vector.len()).collect();
            assert!(ands.iter().all(|instr| instr.op == Op::And && instr.a == ands[0].a));
        }
    }
}

#[test]
fn a_multiplexer_opens_its_bit_once() {
    for (lanes, rows) in [(64, 64), (65, 33), (1000, 33)] {
        let circuit = blocks::find("mux").unwrap().circuit(&[32], Goal::Size).unwrap();
        let plan = Plan::new(&circuit, Order::Layered);
        assert_eq!(opened_rows(&plan, lanes).collect::<Vec<_>>(), [rows], "{lanes} lanes");
        let members: Vec<_> = members(&plan, plan.layers()[0].clone(), 0, lanes).collect();
        let shared = members.iter().filter(|member| **member == Member::Later).count();
        assert_eq!(rows, 64 - shared);
    }
}

/// One salt for both directions, programs or sessions would hash under one key twice.
#[test]
fn every_session_program_and_direction_has_a_salt() {
    let salts = [
        salt(&[5; 32], 3, Party::Alice),
        salt(&[5; 32], 3, Party::Bob),
        salt(&[5; 32], 4, Party::Alice),
        salt(&[6; 32], 3, Party::Alice),
    ];
    for (i, one) in salts.iter().enumerate() {
        assert!(salts[..i].iter().all(|other| other != one));
    }
    let vectors = |party| Vectors::new(Block::new(1), party, (&[5; 32], 3));
    let of = |hash: &OtHash| {
        let mut m = [Block::ZERO];
        hash.chosen(0, &[Block::new(9)], &mut m);
        m
    };
    let (alice, bob) = (vectors(Party::Alice), vectors(Party::Bob));
    assert!(of(&alice.hashes[0]) == of(&bob.hashes[1]) && of(&alice.hashes[1]) == of(&bob.hashes[0]));
    assert!(of(&alice.hashes[0]) != of(&alice.hashes[1]));
}

//! Applications cut into shards: the same results, with ties and odd numbers of lanes, and those with calls are refused.

#[path = "../../../tests/support/jobs.rs"]
mod support;

use crate::common::{GOALS, Random};
use apps::aes::{aes, aes_ctr};
use apps::argmin::{Direction, strings, strings_by_ots};
use apps::eigenfaces::{CHUNK, eigenfaces};
use apps::iris::{iris, iris_masked};
use apps::proximity::{Metric, proximity};
use apps::psi::{Learns, psi};
use apps::scifi::scifi;
use apps::social::social;
use duologue::circuit::blocks::Goal;
use duologue::circuit::blocks::float::Format;
use duologue::circuit::program::reference::{Table, evaluate};
use duologue::circuit::{Binding, BitMatrix, Program};
use duologue::cost::cost;
use duologue::job::{Cut, Plan};
use duologue::{Inputs, Options, Party, Scheme};
use std::collections::BTreeMap;
use support::in_plain;

/// Lanes of few values for each width, so that most are there several times: a query is in the gallery, and ties are many.
struct Pool {
    random: Random,
    lanes: BTreeMap<u32, Table>,
}

impl Pool {
    fn lane(&mut self, width: u32) -> Vec<bool> {
        let random = &mut self.random;
        let few = self
            .lanes
            .entry(width)
            .or_insert_with(|| (0..3).map(|_| (0..width).map(|_| random.below(2) == 1).collect()).collect());
        few[random.below(3) as usize].clone()
    }
}

/// The whole program by the meaning of its steps, and cut into shards by what runs programs.
fn check(program: &Program, lanes: &[u64]) {
    let size = &program.sizes()[0].name[..];
    let mut pool = Pool { random: Random(lanes[0]), lanes: BTreeMap::new() };
    for &count in lanes {
        let whole = program.bind(&[(size, count)]).unwrap();
        let mut tables = BTreeMap::new();
        let mut inputs = Inputs::new();
        for port in whole.inputs() {
            let table: Table = (0..port.lanes).map(|_| pool.lane(port.ty.width)).collect();
            inputs.set(&port.name, BitMatrix::from_lanes(port.ty.width as usize, &table));
            tables.insert(port.name.clone(), table);
        }
        let expected = evaluate(&whole, &tables);
        for shards in [1, 2, 3, 7] {
            let plan = Plan::new(program, &[(size, count)], &Cut::into(shards)).unwrap();
            let outputs = in_plain(&plan, &inputs);
            for port in whole.outputs() {
                let value = BitMatrix::from_lanes(port.ty.width as usize, &expected[&port.name]);
                let what = format!("{} of {count} lanes in {shards} shards: '{}'", program.name(), port.name);
                assert!(outputs.get(&port.name) == Some(&value), "{what}");
            }
        }
    }
}

const LANES: [u64; 4] = [7, 13, 64, 101];

#[test]
fn searches_for_the_closest_find_the_same() {
    for goal in GOALS {
        check(&iris(33, goal), &LANES);
        check(&iris_masked(12, goal), &LANES);
        check(&social(9, 8, goal), &LANES);
        check(&strings(7, None, goal), &LANES);
        check(&strings(7, Some(5), goal), &LANES);
    }
    check(&eigenfaces(CHUNK, Goal::Size), &[7, 9]);
}

#[test]
fn searches_for_all_that_match_find_the_same() {
    check(&scifi(40), &LANES);
    for metric in [Metric::Utm, Metric::Haversine] {
        check(&proximity(metric, Format::SINGLE, Goal::Size), &[7, 9]);
    }
    check(&aes(128, Goal::Size), &[7]);
    check(&aes_ctr(128, Goal::Size), &[7]);
}

#[test]
fn calls_are_refused_by_name() {
    let why = |program: &Program, sizes: &[(&str, u64)], by: &str| {
        let cut = Cut { by: Some(by.into()), ..Cut::into(2) };
        Plan::new(program, sizes, &cut).map(drop).unwrap_err().to_string()
    };
    let psi = why(&psi(128, Learns::Only(Party::Alice)), &[("as", 10), ("bs", 10)], "as");
    assert!(psi.contains("call 'duologue:psi': a call takes all lanes at once"), "{psi}");
    let argmin = why(&strings_by_ots(8, None, Direction::Both), &[("values", 10)], "values");
    assert!(argmin.contains("call 'duologue:argmin': a call takes all lanes at once"), "{argmin}");
}

/// What is only for the first or the last lanes is an input of that shard alone.
#[test]
fn shards_take_what_they_need() {
    let names = |plan: &Plan, shard: u32| -> Vec<String> {
        plan.shard(shard).unwrap().inputs.into_iter().map(|input| input.name).collect()
    };
    let plan = Plan::new(&iris(33, Goal::Size), &[("people", 100)], &Cut::into(3)).unwrap();
    assert_eq!(names(&plan, 0), ["query", "gallery", "limit"]);
    assert_eq!(names(&plan, 1), ["query", "gallery"]);
    let gallery = &plan.shard(1).unwrap().inputs[1];
    assert_eq!((gallery.rows.clone(), gallery.of), (plan.range(1), 100));
    assert!(plan.last().unwrap().inputs.is_empty());
}

/// What cutting costs: the shards and the last program have the ANDs of the whole one, and hardly more rounds than it together.
#[test]
fn cutting_costs_few_rounds_and_no_ands() {
    for scheme in [Scheme::Gmw, Scheme::Yao] {
        let program = iris(64, Goal::Size);
        let figures = |binding: &Binding| {
            let cost = cost(binding, &Options::new(scheme)).unwrap();
            (cost.ands, cost.online.rounds())
        };
        let whole = figures(&program.bind(&[("people", 100_000)]).unwrap());
        let plan = Plan::new(&program, &[("people", 100_000)], &Cut::into(4)).unwrap();
        let shards: Vec<(u64, u64)> = (0..4).map(|shard| figures(&plan.shard(shard).unwrap().binding)).collect();
        let last = figures(&plan.last().unwrap().binding);
        assert_eq!(shards.iter().map(|&(ands, _)| ands).sum::<u64>() + last.0, whole.0, "{scheme}");
        assert!(shards.iter().all(|&(_, rounds)| rounds <= whole.1), "{scheme}: {shards:?} of {whole:?}");
        assert!(last.1 <= whole.1 / 2 + 1, "{scheme}: {last:?} of {whole:?}");
    }
}

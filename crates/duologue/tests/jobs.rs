//! Jobs against the whole program: the same bits, whatever the number of shards, and what cannot be cut is refused by name.

#[path = "../../../tests/support/jobs.rs"]
mod jobs;
#[path = "../../../tests/support/parties.rs"]
mod parties;
#[path = "../../../tests/support/programs.rs"]
mod programs;
#[path = "../../../tests/support/random_jobs.rs"]
mod random_jobs;

use circuit::blocks::{Goal, add};
use circuit::program::reference::{self, Table};
use circuit::program::{Binding, CallPort, Functionality, Recipient, Size, Value, View};
use circuit::{BitMatrix, Party, Program, UInt, bits, uint};
use duologue::channel::Channel;
use duologue::job::{Cut, MOST_SHARDS, Part, Plan, Source};
use duologue::{Error, Inputs, Options, Outputs, Scheme, Session, data, plain};
use jobs::{in_plain, run_job};
use parties::{check, split};
use programs::{Dice, random_circuit, sample};
use proptest::prelude::*;
use random_jobs::random_job;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::thread;

fn random_inputs(binding: &Binding, seed: u64) -> BTreeMap<String, Table> {
    let mut dice = Dice(seed);
    let table = |(lanes, width): (u64, u32)| (0..lanes).map(|_| dice.bits(width as usize)).collect();
    let mut shapes = binding.inputs().iter().map(|port| (port.name.clone(), (port.lanes, port.ty.width)));
    let tables: Vec<Table> = binding.inputs().iter().map(|port| (port.lanes, port.ty.width)).map(table).collect();
    tables.into_iter().map(|table| (shapes.next().unwrap().0, table)).collect()
}

fn matrices(tables: &BTreeMap<String, Table>, binding: &Binding) -> Inputs {
    let matrix = |name: &str, width: u32| BitMatrix::from_lanes(width as usize, &tables[name]);
    binding.inputs().iter().fold(Inputs::new(), |all, port| all.with(&port.name, matrix(&port.name, port.ty.width)))
}

/// Every output of the whole program, on plain bits.
fn assert_equal(binding: &Binding, expected: &BTreeMap<String, Table>, got: &Outputs, what: &str) {
    for port in binding.outputs() {
        let value = BitMatrix::from_lanes(port.ty.width as usize, &expected[&port.name]);
        assert!(got.get(&port.name) == Some(&value), "{what}: the output '{}' is wrong", port.name);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    #[test]
    fn the_result_is_that_of_the_whole_program(seed: u64, lanes in 1u64..300) {
        let program = random_job(seed);
        let whole = program.bind(&[("n", lanes)]).unwrap();
        let tables = random_inputs(&whole, seed);
        let expected = reference::evaluate(&whole, &tables);
        let inputs = matrices(&tables, &whole);
        for shards in [1, 2, 3, 7] {
            let cut = Cut { allow_empty: true, ..Cut::into(shards) };
            let plan = Plan::new(&program, &[("n", lanes)], &cut).unwrap();
            let what = format!("seed {seed}, {lanes} lanes, {shards} shards");
            assert_equal(&whole, &expected, &in_plain(&plan, &inputs), &what);
            let read = Plan::decode(&plan.encode().unwrap()).unwrap();
            assert_eq!(read.digest(), plan.digest());
            read.difference(&plan).unwrap();
        }
    }
}

/// Programs of any steps: they are refused by name, or cut without a difference.
#[test]
fn what_is_not_refused_is_right() {
    let mut cut = 0;
    for seed in 0..300 {
        let (lanes, shards) = (3 + seed % 97, 1 + seed as u32 % 3);
        let sample = sample(seed, lanes);
        match Plan::new(&sample.program, &[("n", lanes)], &Cut::into(shards)) {
            Ok(plan) => {
                let expected = reference::evaluate(&sample.binding, &sample.inputs);
                let got = in_plain(&plan, &matrices(&sample.inputs, &sample.binding));
                assert_equal(&sample.binding, &expected, &got, &format!("seed {seed}, {lanes} lanes"));
                cut += 1;
            }
            Err(why) => assert!(why.to_string().starts_with("program 'sample', step "), "{why}"),
        }
    }
    assert!((20..280).contains(&cut), "{cut} of 300 programs were cut");
}

/// What the tests of reductions rest on: their circuits tell another tree from the right one. Halves that are no blocks, folded
/// each and then together, are such a tree, which is what shards would make without `blocks`.
#[test]
fn another_tree_would_be_noticed() {
    let noticed = |seed| {
        let circuit = random_circuit(&mut Dice(seed), &[6, 6], &[6], 30);
        let outputs = |cut: Option<u64>| {
            let mut p = Program::new("tree");
            let x = p.input("x", Party::Alice, bits(6), 10);
            let reduce = |p: &mut Program, start, lanes: u64| {
                let some = p.view(View::Slice { start, step: 1, count: lanes.into() }, &[x]);
                p.reduce(&circuit, &[some])[0]
            };
            let all = match cut {
                None => reduce(&mut p, 0, 10),
                Some(cut) => {
                    let halves = [reduce(&mut p, 0, cut), reduce(&mut p, cut, 10 - cut)];
                    p.map(&circuit, &halves)
                }
            };
            p.output("y", Party::Alice, all);
            let binding = p.bind(&[]).unwrap();
            reference::evaluate(&binding, &random_inputs(&binding, seed))
        };
        assert_eq!(outputs(None), outputs(Some(8)), "blocks of eight and two are the tree");
        outputs(None) != outputs(Some(5))
    };
    assert!((0..100).filter(|&seed| noticed(seed)).count() > 20);
}

/// One party's job, each part in a session of its own.
fn job_of_two(plan: &Plan, mine: &[Inputs; 2], options: &Options) -> [Outputs; 2] {
    let parts = plan.shards() as usize + 1;
    let (alices, bobs): (Vec<_>, Vec<_>) = (0..parts).map(|_| Channel::pair()).unzip();
    let act = |party: Party, channels: Vec<Channel>| {
        let channels = std::cell::RefCell::new(channels.into_iter().map(Some).collect::<Vec<_>>());
        run_job(plan, &mine[party as usize], |shard, binding, inputs| {
            let place = shard.map_or(parts - 1, |shard| shard as usize);
            let channel = channels.borrow_mut()[place].take().expect("a part runs once");
            let mut session = Session::connect(channel, party).unwrap();
            session.set_part(shard.map_or(Part::last([7; 32], 1), |shard| Part::of_shard([7; 32], shard, 1)));
            let outputs = session.run(binding, options, inputs).unwrap().outputs;
            session.close().unwrap();
            outputs
        })
    };
    thread::scope(|scope| {
        let bob = scope.spawn(|| act(Party::Bob, bobs));
        [act(Party::Alice, alices), bob.join().expect("no panic")]
    })
}

#[test]
fn two_parties_compute_what_the_reference_says() {
    for (seed, lanes, shards) in [(1, 70, 3), (2, 9, 2), (3, 200, 7), (4, 130, 1), (5, 65, 3), (6, 7, 7)] {
        let program = random_job(seed);
        let whole = program.bind(&[("n", lanes)]).unwrap();
        let tables = random_inputs(&whole, seed);
        let expected = reference::evaluate(&whole, &tables);
        let plan = Plan::new(&program, &[("n", lanes)], &Cut::into(shards)).unwrap();
        for scheme in [Scheme::Gmw, Scheme::MaskedGmw, Scheme::Yao] {
            let inputs = split(&whole, &tables, &mut Dice(seed));
            let [alice, bob] = job_of_two(&plan, &inputs, &Options::new(scheme));
            check(&whole, &expected, [&alice, &bob], &format!("seed {seed}, {shards} shards, {scheme}"));
        }
    }
}

/// Sums of both parties' columns, and their total.
fn totals() -> Program {
    let mut p = Program::new("totals");
    let n = p.size("n", 1..=1 << 32);
    let [a, b] = [Party::Alice, Party::Bob].map(|party| p.input(&party.to_string(), party, uint(8), n));
    let sums = p.map_with([a, b], |c, [a, b]: [UInt; 2]| add(c, &a, &b, Goal::Size));
    let [total] = p.reduce_with([sums], |c, [a], [b]: [UInt; 1]| [add(c, &a, &b, Goal::Size)]);
    p.output("sums", Recipient::Both, sums);
    p.output("total", Recipient::Both, total);
    p
}

/// A session whose party thinks that it computes this part; its shard's rows are those of `shard`.
fn misled(plan: &Plan, shard: u32, part: Option<Part>, mut session: Session) -> duologue::Result<Outputs> {
    let column: Vec<u64> = (0..plan.lanes()).map(|lane| lane + 1).collect();
    let whole = Inputs::new().with(&session.party().to_string(), data::uints(8, &column)?);
    let shard = plan.shard(shard)?;
    if let Some(part) = part {
        session.set_part(part);
    }
    let outcome = session.run(&shard.binding, &Options::new(Scheme::Gmw), &shard.inputs_of(&whole)?)?;
    session.close().map(|()| outcome.outputs)
}

#[test]
fn a_worker_of_another_shard_attempt_or_job_is_told_so() {
    let plan = Plan::new(&totals(), &[("n", 128)], &Cut::into(2)).unwrap();
    let part = Part::of_shard([7; 32], 0, 1);
    let others = [
        Some(Part { shard: Some(1), ..part }),
        Some(Part { attempt: 2, ..part }),
        Some(Part { job: [8; 32], ..part }),
        Some(Part::last([7; 32], 1)),
        None,
    ];
    let run = |shards: [u32; 2], parts: [Option<Part>; 2]| {
        let (alice, bob) = Channel::pair();
        let act = |channel, party: Party| {
            let session = Session::connect(channel, party)?;
            misled(&plan, shards[party as usize], parts[party as usize], session)
        };
        thread::scope(|scope| {
            let bob = scope.spawn(|| act(bob, Party::Bob));
            [act(alice, Party::Alice), bob.join().expect("no panic")]
        })
    };
    let said = |part: Option<Part>| part.map_or("no job".into(), |part| part.to_string());
    for other in others {
        let both = run([0, 1], [Some(part), other]);
        for (result, [ours, theirs]) in both.into_iter().zip([[Some(part), other], [other, Some(part)]]) {
            let why = result.map(drop).unwrap_err().to_string();
            let (ours, theirs) = (said(ours), said(theirs));
            let expected =
                format!("the parties do not agree on which part of which job: ours is {ours}, theirs is {theirs}");
            assert_eq!(why, expected);
        }
    }
    // With the same part on both sides the lanes are the right ones. Without the term nothing tells equal shards apart, and the
    // wrong lanes are computed: this is what it is for.
    let right = run([0, 0], [Some(part); 2]).map(|outputs| outputs.unwrap());
    let wrong = run([0, 1], [None; 2]).map(|outputs| outputs.unwrap());
    let sums = |outputs: &Outputs| data::to_uints(outputs.get("sums").unwrap()).unwrap();
    let expected: Vec<u64> = (0..64).map(|lane| 2 * (lane + 1)).collect();
    assert_eq!(sums(&right[0]), expected);
    assert_ne!(sums(&wrong[0]), expected);
}

/// The step and the words by which a program of one such step is refused.
fn refused(step: impl Fn(&mut Program, Size, Value) -> Value) -> String {
    let mut p = Program::new("p");
    let n = p.size("n", 1..=100);
    let x = p.input("x", Party::Alice, uint(8), n);
    let y = step(&mut p, n, x);
    p.output("y", Party::Bob, y);
    Plan::new(&p, &[("n", 12)], &Cut::into(2)).map(drop).unwrap_err().to_string()
}

struct Same;

impl Functionality for Same {
    fn name(&self) -> &str {
        "test:same"
    }
    fn version(&self) -> u32 {
        1
    }
    fn results(&self, _: &[u8], args: &[CallPort]) -> circuit::Result<Vec<CallPort>> {
        Ok(args.to_vec())
    }
    fn lanes(&self, _: &[u8], args: &[u64]) -> circuit::Result<Vec<u64>> {
        Ok(args.to_vec())
    }
    fn evaluate(&self, _: &[u8], args: &[BitMatrix]) -> Vec<BitMatrix> {
        args.to_vec()
    }
}

#[test]
fn steps_that_mix_lanes_are_refused_by_name() {
    let sum = |p: &mut Program, args: [Value; 2]| p.map_with(args, |c, [a, b]: [UInt; 2]| add(c, &a, &b, Goal::Size));
    let total = |p: &mut Program, x| p.reduce_with([x], |c, [a], [b]: [UInt; 1]| [add(c, &a, &b, Goal::Size)])[0];
    let mut dice = Dice(1);
    let scan = random_circuit(&mut dice, &[8, 8], &[8, 8], 10);
    let mixes = "and a shard has only some of those that 'n' counts";
    let slice = |start, step| View::Slice { start, step, count: 4.into() };
    let cases: Vec<(String, String)> = vec![
        (refused(|p, _, x| p.view(slice(1, 2), &[x])), format!("step 1, slice: it mixes lanes, {mixes}")),
        (refused(|p, _, x| p.view(View::Lanes(vec![3, 1]), &[x])), format!("step 1, permutation of lanes: it mixes lanes, {mixes}")),
        (refused(|p, _, x| p.repeat(x, 2)), format!("step 1, repeat: it mixes lanes, {mixes}")),
        (refused(|p, _, x| p.view(View::Merge(2), &[x])), "step 1, merge: it joins lanes of different shards: each has 1 for one that 'n' counts".into()),
        (refused(|p, _, x| p.view(View::Chain, &[x, x])), "step 1, chain: it puts lanes that are cut after lanes that are cut: each shard has some of both".into()),
        (
            refused(|p, n, x| {
                let start = p.number(uint(8), 1, 0);
                p.iterate(&scan, n, &[start], &[x])[0]
            }),
            format!("step 2, iterate 'random': what goes in or comes out at each cycle mixes lanes, {mixes}"),
        ),
        (
            refused(|p, n, x| {
                let all = total(p, x);
                let all = p.repeat(all, n);
                sum(p, [x, all])
            }),
            "step 3, map 'map': it reads lanes of the shards together with what is known after a reduction over all of them: \
             only what has been reduced may follow"
                .into(),
        ),
        (
            refused(|p, _, x| {
                let twelve = p.number(uint(8), 12, 1);
                sum(p, [x, twelve])
            }),
            "step 2, map 'map': it reads lanes that 'n' counts together with lanes that it does not count".into(),
        ),
        (refused(|p, n, x| {
            let z = p.number(uint(8), n * n, 0);
            let _ = z;
            x
        }), "step 1, constant: its lanes are counted by 'n' twice".into()),
        (
            refused(|p, _, x| {
                let call: Arc<dyn Functionality> = Arc::new(Same);
                p.call(&call, &[], &[x])[0]
            }),
            format!("step 1, call 'test:same': a call takes all lanes at once, {mixes}"),
        ),
    ];
    for (why, expected) in cases {
        assert_eq!(why, format!("program 'p', {expected}"));
    }
}

/// A call takes what has been reduced, in the last program; a file with a call is read by whoever knows what it calls.
#[test]
fn calls_come_last() {
    let mut p = Program::new("called");
    let n = p.size("n", 1..=100);
    let x = p.input("x", Party::Alice, uint(8), n);
    let [total] = p.reduce_with([x], |c, [a], [b]: [UInt; 1]| [add(c, &a, &b, Goal::Size)]);
    let call: Arc<dyn Functionality> = Arc::new(Same);
    let same = p.call(&call, &[], &[total])[0];
    p.output("total", Party::Bob, same);
    let plan = Plan::new(&p, &[("n", 50)], &Cut::into(3)).unwrap();
    let outputs = in_plain(&plan, &Inputs::new().with("x", data::uints(8, &[2; 50]).unwrap()));
    assert_eq!(data::to_uints(outputs.get("total").unwrap()).unwrap(), [100]);
    let bytes = plan.encode().unwrap();
    assert!(Plan::decode(&bytes).is_err());
    let read = Plan::decode_with(&bytes, p.functionalities()).unwrap();
    assert_eq!(read.digest(), plan.digest());
}

#[test]
fn what_cannot_be_planned_is_said() {
    let why = |program: &Program, sizes: &[(&str, u64)], cut: &Cut| {
        Plan::new(program, sizes, cut).map(drop).unwrap_err().to_string()
    };
    let totals = totals();
    let cases = [
        (why(&totals, &[("n", 3)], &Cut::into(4)), "4 shards, but the size 'n' counts 3 lanes: take 3 shards or fewer"),
        (why(&totals, &[("n", 3)], &Cut::into(0)), "a job has 1 to 16384 shards, not 0"),
        (why(&totals, &[("n", 3)], &Cut::into(MOST_SHARDS + 1)), "a job has 1 to 16384 shards, not 16385"),
        (why(&totals, &[("n", 0)], &Cut::into(1)), "program 'totals', size 'n': 0 is not between 1 and 4294967296"),
        (
            why(&totals, &[("n", 3)], &Cut { by: Some("m".into()), ..Cut::into(2) }),
            "no size is named 'm': did you mean n?",
        ),
    ];
    cases.iter().for_each(|(why, expected)| assert_eq!(why, expected));
    let mut none = Program::new("none");
    let x = none.input("x", Party::Alice, uint(8), 100);
    none.output("x", Party::Bob, x);
    assert!(why(&none, &[], &Cut::into(2)).contains("has no named size"));
    let mut two = Program::new("two");
    let [m, n] = ["m", "n"].map(|name| two.size(name, 0..=10));
    let x = two.input("x", Party::Alice, uint(8), m * n);
    two.output("x", Party::Bob, x);
    let sizes = [("m", 4), ("n", 5)];
    assert_eq!(why(&two, &sizes, &Cut::into(2)), "several sizes can be cut: name one of m, n");
    let by_n = Plan::new(&two, &sizes, &Cut { by: Some("n".into()), ..Cut::into(2) }).unwrap();
    assert_eq!((by_n.by(), by_n.lanes(), by_n.output_rows("x", 1)), ("n", 5, 8..20));
    assert!(why(&two, &[("m", 4), ("n", 0)], &Cut { by: Some("n".into()), ..Cut::into(1) }).contains("'n' is 0"));
}

#[test]
fn empty_shards_are_at_the_end_and_have_nothing_to_run() {
    let cut = Cut { allow_empty: true, ..Cut::into(5) };
    let plan = Plan::new(&totals(), &[("n", 3)], &cut).unwrap();
    assert_eq!([0, 1, 2, 3, 4, 5].map(|shard| plan.range(shard)), [0..1, 1..2, 2..3, 3..3, 3..3, 3..3]);
    let column = data::uints(8, &[1, 2, 3]).unwrap();
    let whole = Inputs::new().with("alice", column.clone()).with("bob", column);
    let outputs = in_plain(&plan, &whole);
    assert_eq!(data::to_uints(outputs.get("total").unwrap()).unwrap(), [12]);
    // Whoever runs them nevertheless gets outputs of no lanes.
    let empty = plan.shard(4).unwrap();
    let outputs = plain::run(&empty.binding, &empty.inputs_of(&whole).unwrap()).unwrap();
    assert!(outputs.iter().all(|(_, value)| value.lanes() == 0));
    let mut merge = plan.merge();
    merge.add(4, outputs).unwrap();
    assert!(merge.last_inputs(&whole).unwrap_err().to_string().contains("the outputs of shard 0 are missing"));
}

#[test]
fn merging_refuses_what_does_not_belong() {
    let plan = Plan::new(&totals(), &[("n", 101)], &Cut::into(2)).unwrap();
    let outputs = |shard: u32, lanes: u64| -> duologue::Result<Outputs> {
        let column = data::uints(8, &vec![1; lanes as usize]).unwrap();
        let whole = Inputs::new().with("alice", column.clone()).with("bob", column);
        let shard = plan.shard(shard)?;
        plain::run(&shard.binding, &shard.inputs_of(&whole)?)
    };
    assert!(outputs(0, 100).unwrap_err().to_string().contains("must have 101 lanes of 8 bits, but has 100 of 8"));
    let mut merge = plan.merge();
    merge.add(0, outputs(0, 101).unwrap()).unwrap();
    for (shard, added, why) in [
        (0, outputs(0, 101), "were added before"),
        (2, outputs(0, 101), "shard 2 of a job of 2"),
        (1, outputs(0, 101), "has 52 lanes, not 49"),
        (1, Ok(Outputs::default()), "lacks the output 'sums'"),
    ] {
        let refused = merge.add(shard, added.unwrap()).unwrap_err().to_string();
        assert!(refused.contains(why), "{refused}");
    }
    assert!(merge.finish(None).unwrap_err().to_string().contains("shard 1 are missing"));
}

/// All that decides how a program is cut is in the digest, and the first difference is named.
#[test]
fn plans_that_differ_name_the_difference() {
    let plan = |p: &Program, n, cut: &Cut| Plan::new(p, &[("n", n)], cut).unwrap();
    let ours = plan(&totals(), 1000, &Cut::into(4));
    ours.difference(&plan(&totals(), 1000, &Cut { by: Some("n".into()), ..Cut::into(4) })).unwrap();
    let others = [
        (plan(&random_job(1), 1000, &Cut::into(4)), "the program"),
        (plan(&totals(), 1001, &Cut::into(4)), "its sizes"),
        (plan(&totals(), 1000, &Cut::into(5)), "how many shards"),
        (plan(&totals(), 1000, &Cut { allow_empty: true, ..Cut::into(4) }), "whether shards may be empty"),
    ];
    for (theirs, first) in others {
        assert_ne!(ours.digest(), theirs.digest());
        for (ours, theirs) in [(&ours, &theirs), (&theirs, &ours)] {
            match ours.difference(theirs) {
                Err(Error::Incompatible { what, .. }) => assert_eq!(what, first),
                other => panic!("{first}: {other:?}"),
            }
        }
    }
}

#[test]
fn a_file_is_read_as_it_was_written_or_not_at_all() {
    let plan = Plan::new(&totals(), &[("n", 1000)], &Cut::into(4)).unwrap();
    let bytes = plan.encode().unwrap();
    assert_eq!(Plan::decode(&bytes).unwrap().encode().unwrap(), bytes);
    for end in 0..bytes.len() {
        assert!(Plan::decode(&bytes[..end]).is_err(), "cut off at {end}");
    }
    for place in 0..bytes.len() {
        let mut damaged = bytes.clone();
        damaged[place] ^= 1;
        assert!(Plan::decode(&damaged).is_err(), "damaged at {place}");
    }
    let mut other_rule = bytes;
    other_rule[10] = 9;
    let why = Plan::decode(&other_rule).map(drop).unwrap_err().to_string();
    assert_eq!(why, "malformed job file: its program is cut by rule 9, here by rule 1: plan it anew");
}

/// A billion lanes of 64 bits are planned: more than a machine holds, so nothing of a plan may have a size of that order.
#[test]
fn a_billion_lanes_are_planned() {
    let mut p = Program::new("billion");
    let n = p.size("n", 1..=1 << 40);
    let x = p.input("x", Party::Alice, uint(64), n);
    let y = p.input("y", Party::Bob, uint(64), n);
    let sums = p.map_with([x, y], |c, [x, y]: [UInt; 2]| add(c, &x, &y, Goal::Size));
    let [total] = p.reduce_with([sums], |c, [a], [b]: [UInt; 1]| [add(c, &a, &b, Goal::Size)]);
    p.output("sums", Party::Alice, sums);
    p.output("total", Party::Alice, total);
    let sizes = [("n", 1_000_000_000)];
    assert!(p.bind(&sizes).is_err(), "one machine does not hold it");
    let why = Plan::new(&p, &sizes, &Cut::into(2)).map(drop).unwrap_err().to_string();
    assert!(why.starts_with("shard 0: ") && why.ends_with("with more shards each has fewer lanes"), "{why}");
    for shards in [8, 1000] {
        let plan = Plan::new(&p, &sizes, &Cut::into(shards)).unwrap();
        assert!(plan.encode().unwrap().len() < 10_000);
        assert!(plan.shard(shards / 2).unwrap().binding.program().steps().len() < 100);
        let last = plan.last().unwrap();
        assert!(last.shares[0].lanes() < 30 * u64::from(shards));
        assert_eq!(plan.outputs()[0].from, Source::Shards);
        assert_eq!(plan.output_rows("sums", shards - 1).end, 1_000_000_000);
    }
}

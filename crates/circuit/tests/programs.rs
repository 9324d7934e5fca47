//! Programs, their schedules and their files, against the step-by-step reference.

#[path = "../../../tests/support/programs.rs"]
mod support;

use circuit::blocks::{self, Goal};
use circuit::format::Provenance;
use circuit::program::reference::{self, Table};
use circuit::program::{Binding, Owner, Piece, Schedule, TaskKind};
use circuit::{BitMatrix, Order, Party, Plan, Program, bits};
use proptest::prelude::*;
use std::collections::BTreeMap;
use support::{Sample, sample};

/// Runs a schedule in plain, task by task: an executor with neither protocol nor channel.
fn run(binding: &Binding, schedule: &Schedule, inputs: &BTreeMap<String, Table>) -> BTreeMap<String, Table> {
    let mut cells: Vec<BitMatrix> = Vec::new();
    let mut outputs: BTreeMap<String, Table> = binding.outputs().iter().map(|p| (p.name.clone(), vec![])).collect();
    for task in &schedule.tasks {
        let args: Vec<&BitMatrix> = task.args.iter().map(|&arg| &cells[arg as usize]).collect();
        let gather = |wiring: &[Piece], rows: usize| {
            let mut made = BitMatrix::zeros(rows, task.lanes);
            for p in wiring {
                for (row, lane) in (0..p.rows).flat_map(|row| (0..p.count).map(move |lane| (row, lane))) {
                    let arg = args[p.arg as usize];
                    let bit = arg.get((p.from_row + row) as usize, p.from_lane + lane * p.from_step);
                    made.set((p.to_row + row) as usize, p.to_lane + lane * p.to_step, bit);
                }
            }
            made
        };
        cells.push(match &task.kind {
            TaskKind::Input { port, from, .. } => {
                let table = &inputs[&binding.inputs()[*port as usize].name];
                BitMatrix::from_lanes(task.rows, &table[*from as usize..*from as usize + task.lanes])
            }
            TaskKind::Constant { bits } => BitMatrix::from_lanes(task.rows, &vec![bits.to_vec(); task.lanes]),
            TaskKind::Map { plan, wiring } => {
                let plan = schedule.plan(*plan);
                let made = gather(wiring, plan.inputs().len());
                let lanes: Vec<_> = made.to_lanes().iter().map(|lane| run_plan(plan, lane)).collect();
                BitMatrix::from_lanes(task.rows, &lanes)
            }
            TaskKind::View { wiring } => gather(wiring, task.rows),
            TaskKind::Output { port, wiring, from, .. } => {
                let made = gather(wiring, task.rows);
                let table = outputs.get_mut(&binding.outputs()[*port as usize].name).expect("a port");
                assert_eq!(table.len() as u64, *from, "tiles are delivered in order");
                table.extend(made.to_lanes());
                made
            }
        });
    }
    outputs
}

fn run_plan(plan: &Plan, inputs: &[bool]) -> Vec<bool> {
    use circuit::plan::{Op, Source};
    let public = plan.public().map(|public| run_plan(public, inputs)).unwrap_or_default();
    let mut slots = vec![false; plan.slots()];
    for (slot, &bit) in plan.inputs().iter().zip(inputs) {
        if let Some(slot) = slot {
            slots[*slot as usize] = bit;
        }
    }
    for i in plan.code().iter() {
        assert!(i.dst != i.a, "an instruction writes over its operand");
        let a = slots[i.a as usize];
        slots[i.dst as usize] = match i.op {
            Op::Xor => a ^ slots[i.b as usize],
            Op::And => (a ^ i.flip_a) & (slots[i.b as usize] ^ i.flip_b),
            Op::XorPublic => a ^ public[i.b as usize],
            Op::AndPublic => (a ^ i.flip_a) & (public[i.b as usize] ^ i.flip_b),
        };
    }
    let find = |source: &Source| match *source {
        Source::Slot { slot, flip } => slots[slot as usize] ^ flip,
        Source::Public { row, flip } => public[row as usize] ^ flip,
        Source::Constant(bit) => bit,
    };
    plan.outputs().iter().map(find).collect()
}

fn check(sample: &Sample) {
    let expected = reference::evaluate(&sample.binding, &sample.inputs);
    for order in [Order::DepthFirst, Order::Layered] {
        for tile in [1, 2, 8, 64, 1024] {
            let schedule = Schedule::new(&sample.binding, order, |_| tile).unwrap();
            let came = run(&sample.binding, &schedule, &sample.inputs);
            assert!(came == expected, "{order:?}, tiles of {tile} lanes, seed {}", sample.seed);
            check_seats(&schedule);
        }
    }
    let bytes = sample.program.to_bytes().unwrap();
    let again = Program::from_bytes(&bytes).unwrap();
    assert!(again.to_bytes().unwrap() == bytes);
    assert_eq!(again.digest().unwrap(), sample.program.digest().unwrap());
}

/// Seats follow one another without a gap, so that no number is given twice.
fn check_seats(schedule: &Schedule) {
    let mut next = circuit::program::Seat::default();
    for task in schedule.tasks.iter().filter(|task| !task.public) {
        assert_eq!(task.seat, next);
        let bits = (task.rows * task.lanes) as u64;
        match &task.kind {
            TaskKind::Input { .. } => next.in0 += bits,
            TaskKind::Map { plan, .. } => next.and0 += schedule.plan(*plan).ands() * task.lanes as u64,
            TaskKind::Output { .. } => next.out0 += bits,
            _ => {}
        }
    }
    assert_eq!(schedule.totals, next);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(150))]

    #[test]
    fn schedules_agree_with_the_reference(seed: u64, lanes in prop::sample::select(vec![0u64, 1, 2, 3, 5, 17, 64, 65])) {
        check(&sample(seed, lanes));
    }

    #[test]
    fn arbitrary_bytes_are_no_program(bytes: Vec<u8>) {
        prop_assert!(Program::from_bytes(&bytes).is_err());
    }

    #[test]
    fn changed_files_never_panic(seed: u64, place: prop::sample::Index, byte: u8) {
        let mut bytes = sample(seed, 3).program.to_bytes().unwrap();
        bytes.truncate(bytes.len() - 32);
        let place = place.index(bytes.len());
        bytes[place] = byte;
        let digest = blake3::hash(&bytes);
        bytes.extend(digest.as_bytes());
        if let Ok(program) = Program::from_bytes(&bytes) {
            prop_assert!(program.to_bytes().unwrap() == bytes);
        }
    }
}

#[test]
fn a_cut_file_is_refused() {
    let bytes = sample(7, 3).program.to_bytes().unwrap();
    for end in 0..bytes.len() {
        assert!(Program::from_bytes(&bytes[..end]).is_err());
    }
}

#[test]
fn what_made_a_program_stands_behind_its_digest() {
    let program = sample(7, 3).program;
    let bytes = program.to_bytes().unwrap();
    let mut made = Provenance::default();
    assert_eq!(made.put_behind(&bytes).unwrap(), bytes);
    made.add("front end", "Yosys 0.23\x1b[2J \u{202e}");
    made.add("tool", &"x".repeat(300));
    let file = made.put_behind(&bytes).unwrap();
    // Two texts of 9 and 4 bytes, one of 16 and one of 255, each with its length before it.
    assert_eq!(file.len(), bytes.len() + 1 + (1 + 9) + (1 + 16) + (1 + 4) + (2 + 255) + 2 + 8);
    let again = Program::from_bytes(&file).unwrap();
    assert_eq!(again.digest().unwrap(), program.digest().unwrap());
    assert_eq!(again.to_bytes().unwrap(), bytes);
    let pairs = Provenance::of(&file).unwrap();
    let front = ("front end".to_string(), "Yosys 0.23?[2J ?".to_string());
    assert_eq!(pairs.pairs(), [front, ("tool".into(), "x".repeat(255))]);
    let mut other = Provenance::default();
    other.add("front end", "another");
    let replaced = other.put_behind(&file).unwrap();
    assert_eq!(replaced, other.put_behind(&bytes).unwrap());
    assert_eq!(Provenance::of(&bytes).unwrap(), Provenance::default());
}

#[test]
fn what_made_a_program_is_refused_if_it_is_malformed() {
    let bytes = sample(7, 3).program.to_bytes().unwrap();
    let end = b"made by\x01";
    let file = |list: &[u8], length: u16| [&bytes[..], list, &length.to_le_bytes(), end].concat();
    let good = file(b"\x01\x01a\x01b", 5);
    assert_eq!(Provenance::of(&good).unwrap().pairs(), [("a".to_string(), "b".to_string())]);
    let long = [&[1, 0x80, 2][..], &[b'x'; 256], &[1, b'b']].concat();
    let many = [&[17][..], &b"\x01a\x01b".repeat(17)].concat();
    for (file, why) in [
        (file(b"\x01\x01\x1b\x01b", 5), "printed"),
        (file(b"\x01\x02\xc3\xa9\x01b", 6), "printed"),
        (file(&long, long.len() as u16), "printed"),
        (file(&many, many.len() as u16), "printed"),
        (file(b"\x00", 1), "printed"),
        (file(b"\x01\x01a\x01b!", 6), "canonical"),
        (file(b"\x01\x81\x00a\x01b", 6), "canonical"),
        ([&good[..], b"\x01\x01a\x01b", &5u16.to_le_bytes(), end].concat(), "canonical"),
        (file(b"\x01\x01a\x05b", 5), "no list"),
        (file(b"\xff\xff\x01", 3), "no list"),
        (file(b"", u16::MAX), "cut off"),
        (end.to_vec(), "cut off"),
    ] {
        for error in [Provenance::of(&file).unwrap_err(), Program::from_bytes(&file).err().unwrap()] {
            let error = error.to_string();
            assert!(error.contains("behind the digest") && error.contains(why), "{error}, not {why}");
        }
    }
}

#[test]
fn mistakes_are_named() {
    let mut p = Program::new("p");
    let n = p.size("n", 1..=4);
    p.input("x", Owner::Public, bits(3), n);
    p.input("x", Owner::Public, bits(3), n);
    assert!(p.to_bytes().unwrap_err().to_string().contains("'x' is declared twice"));
    let mut p = Program::new("p");
    p.size("n", 1..=4);
    assert!(p.bind(&[]).err().unwrap().to_string().contains("'n': is not given"));
    assert!(p.bind(&[("n", 5)]).err().unwrap().to_string().contains("5 is not between 1 and 4"));
    assert!(p.bind(&[("m", 5)]).err().unwrap().to_string().contains("no size is named 'm'"));
}

/// Short files that ask for much: refused by name, without the memory that they ask for.
#[test]
fn short_files_do_not_fill_the_memory() {
    let refused = |p: Program, why: &str| {
        let again = Program::from_bytes(&p.to_bytes().unwrap()).unwrap();
        let bound = again.bind(&[]);
        let error = bound.and_then(|binding| Schedule::new(&binding, Order::Layered, |_| 64)).err().expect(why);
        assert!(error.to_string().contains(why), "{error}");
    };
    let not = {
        let mut c = circuit::Builder::new("not");
        let x = c.bits("x", 1);
        c.output("y", &circuit::Bits(vec![!x.0[0]]));
        c.finish()
    };
    let pair = {
        let mut c = circuit::Builder::new("pair");
        let (x, y) = (c.bits("x", 1), c.bits("y", 1));
        let both = c.and(x.0[0], y.0[0]);
        c.output("both", &circuit::Bits(vec![both]));
        c.finish()
    };
    let mut p = Program::new("cycles");
    let x = p.input("x", Owner::Party(circuit::Party::Alice), bits(1), 1);
    let last = p.iterate(&not, 1 << 40, &[x], &[]);
    p.output("y", circuit::Party::Alice, last[0]);
    refused(p, "do not fit into memory");

    let mut p = Program::new("tiles");
    let x = p.input("x", Owner::Party(circuit::Party::Alice), bits(1), 1);
    let many = p.repeat(x, 1 << 40);
    let all = p.reduce(&pair, &[many]);
    p.output("y", circuit::Party::Alice, all[0]);
    refused(p, "do not fit into memory");

    let mut p = Program::new("pieces");
    let mut x = p.input("x", Owner::Party(circuit::Party::Alice), bits(2), 1);
    x = p.view(circuit::program::View::Bits(vec![1, 0]), &[x]);
    for _ in 0..22 {
        x = p.view(circuit::program::View::Join, &[x, x]);
    }
    p.output("y", circuit::Party::Alice, x);
    refused(p, "too many pieces");

    let mut p = Program::new("ports");
    let x = p.input("x", Owner::Public, bits(1 << 20), 1 << 28);
    p.output("y", circuit::Party::Alice, x);
    refused(p, "too large");

    let mut p = Program::new("far");
    let x = p.input("x", Owner::Party(circuit::Party::Alice), bits(1), 2);
    let far = circuit::program::View::Slice { start: 1, step: u64::MAX, count: 1.into() };
    let far = p.view(far, &[x]);
    p.output("y", circuit::Party::Alice, far);
    let binding = p.bind(&[]).unwrap();
    for tile in [0, 1, usize::MAX] {
        assert!(Schedule::new(&binding, Order::Layered, |_| tile).is_ok());
    }
}

/// Runs cover the code, each of one kind, and no AND of a run reads what another one of it writes.
#[test]
fn runs_are_independent() {
    use circuit::plan::Op;
    for (name, sizes) in [("aes128", &[][..]), ("multiply", &[16]), ("divide", &[16]), ("minimum", &[8])] {
        let circuit = circuit::blocks::find(name).unwrap().circuit(sizes, circuit::blocks::Goal::Size).unwrap();
        for (order, public) in [(Order::DepthFirst, false), (Order::Layered, false), (Order::DepthFirst, true)] {
            let first: Vec<bool> = (0..circuit.input_width()).map(|i| public && i % 3 == 0).collect();
            let plan = Plan::with_public(&circuit, order, &first);
            let (code, len) = (plan.code(), plan.code().len());
            let instrs: Vec<_> = code.iter().collect();
            for (from, to) in [(0, len), (len / 3, len / 2), (1, 2), (5, 5)] {
                let mut next = from;
                for run in code.runs(from..to) {
                    let gates = run.start..run.end();
                    assert!(run.start == next && !gates.is_empty() && run.end() <= to, "{name} {gates:?}");
                    assert_eq!(run.gates, code.gates(gates.clone()));
                    assert!(instrs[gates.clone()].iter().all(|instr| instr.op == run.op));
                    let written: Vec<u32> = run.gates.iter().map(|gate| gate[0]).collect();
                    for (i, instr) in instrs[gates].iter().enumerate().filter(|_| run.op == Op::And) {
                        assert!(!written[..i].contains(&instr.a) && !written[..i].contains(&instr.b), "{name}");
                    }
                    next = run.end();
                }
                assert_eq!(next, to, "{name}");
            }
            let runs: Vec<_> =
                code.runs(0..len).filter(|run| run.op == Op::And).map(|run| run.start..run.end()).collect();
            assert_eq!(plan.and_runs(), runs.len() as u64, "{name}");
            assert!(order == Order::DepthFirst || runs == plan.layers(), "{name}");
        }
    }
    let aes = circuit::blocks::find("aes128").unwrap().circuit(&[], circuit::blocks::Goal::Size).unwrap();
    let plan = Plan::new(&aes, Order::DepthFirst);
    assert!(plan.ands() > 10 * plan.and_runs(), "{} ANDs in {} runs", plan.ands(), plan.and_runs());
}

/// The digest is hashed in pieces and the file at once; and a large circuit is in memory once, whoever has copies of it.
#[test]
fn programs_of_large_circuits_share_them_and_have_one_digest() {
    let circuit = blocks::find("multiply").unwrap().circuit(&[128], Goal::Depth).unwrap();
    let program = Program::of_circuit(&circuit, &[Party::Alice.into(), Party::Bob.into()]);
    let bytes = program.to_bytes().unwrap();
    assert!(bytes.len() > 3 << 16, "more than a few pieces: {}", bytes.len());
    let (_, digest) = bytes.split_last_chunk().unwrap();
    assert_eq!(program.digest().unwrap(), *digest);
    let binding = program.bind(&[("lanes", 1)]).unwrap();
    for copy in [&program, binding.program()] {
        assert_eq!(copy.circuits()[0].gates().as_ptr(), circuit.gates().as_ptr());
    }
}

//! The simulation against schedules that are made event by event on small circuits, and against the bounds of any schedule.

use super::*;
use duologue::circuit::program::{Owner, Recipient};
use duologue::circuit::{Bit, Circuit, Gate, Party, Plan, Port, Program, bits};
use std::collections::BTreeMap;
use std::sync::Arc;

/// SplitMix64.
struct Random(u64);

impl Random {
    fn below(&mut self, end: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((u128::from(z ^ (z >> 31)) * u128::from(end)) >> 64) as u64
    }
}

const INPUTS: usize = 6;

/// A circuit of so many gates, each of two of the twelve nodes before it; what nobody reads is an output.
fn random_circuit(random: &mut Random, gates: usize) -> Circuit {
    let mut nodes = [&[Gate::False][..], &[Gate::Input; INPUTS]].concat();
    let mut read = vec![false; INPUTS + 1 + gates];
    while nodes.len() < read.len() {
        let mut node = || (nodes.len() as u64 - 1 - random.below(12.min(nodes.len() as u64 - 1))) as u32;
        let (a, b) = (node(), node());
        if a == b {
            continue;
        }
        [a, b].iter().for_each(|&node| read[node as usize] = true);
        let [a, b] = [a, b].map(|node| Bit::new(node, false));
        nodes.push(if random.below(3) == 0 { Gate::And(a, b) } else { Gate::Xor(a, b) });
    }
    let unread = (INPUTS + 1..nodes.len()).filter(|&node| !read[node]).map(|node| Bit::new(node as u32, false));
    let outputs: Vec<Bit> = unread.collect();
    let ports = [("x", INPUTS), ("y", outputs.len())].map(|(name, width)| vec![Port::new(name, bits(width as u32))]);
    let [inputs, output] = ports;
    Circuit::from_parts("random", nodes, inputs, output, (1..=INPUTS as u32).collect(), outputs).expect("well-formed")
}

fn operands_of(gate: &Gate) -> Option<(Kind, [usize; 2])> {
    match *gate {
        Gate::And(a, b) => Some((Kind::And, [a, b].map(|bit| bit.node() as usize))),
        Gate::Xor(a, b) => Some((Kind::Xor, [a, b].map(|bit| bit.node() as usize))),
        Gate::False | Gate::Input => None,
    }
}

/// The nodes of each layer, from the graph and the definition: ANDs of a depth, then XORs by how far from them they are.
fn layers_of(circuit: &Circuit) -> Vec<(Kind, Vec<usize>)> {
    let depths = circuit.depths();
    let mut far = vec![0; depths.len()];
    let mut layers: BTreeMap<(u32, usize), (Kind, Vec<usize>)> = BTreeMap::new();
    for (node, gate) in circuit.gates().iter().enumerate() {
        let Some((kind, operands)) = operands_of(gate) else { continue };
        let near = operands.iter().filter(|&&operand| depths[operand] == depths[node]);
        far[node] = if kind == Kind::And { 0 } else { 1 + near.map(|&operand| far[operand]).max().unwrap_or(0) };
        layers.entry((depths[node], far[node])).or_insert_with(|| (kind, Vec::new())).1.push(node);
    }
    layers.into_values().collect()
}

fn work_of(circuit: &Circuit, lanes: u64) -> Work {
    let plan = Arc::new(Plan::new(circuit, Order::Layered));
    Work {
        plans: vec![Layers::new(&plan)],
        levels: vec![vec![Map { plan: 0, lanes }]],
        chains: vec![Chain { plan: 0, after: Vec::new() }],
    }
}

/// Cores take one piece after the other, whoever is free first; when the last one is done.
fn dealt_by_events(start: f64, pieces: &[f64], cores: u32) -> f64 {
    let mut free = vec![start; cores as usize];
    for piece in pieces {
        let first = (0..free.len()).min_by(|&a, &b| free[a].total_cmp(&free[b])).unwrap();
        free[first] += piece;
    }
    free.into_iter().fold(start, f64::max)
}

const CORES: [u32; 7] = [1, 2, 3, 4, 6, 8, 13];

fn random_times(random: &mut Random) -> Times {
    let mut time = |most| random.below(most) as f64 + 1.0;
    Times { and: time(9), xor: time(5), label: time(3) / 4.0, barrier: time(20), piece: 1, part: 1 }
}

#[test]
fn layers_are_those_of_the_graph() {
    let mut random = Random(1);
    for gates in (1..60).chain([400]) {
        let circuit = random_circuit(&mut random, gates);
        let layers = Layers::new(&Arc::new(Plan::new(&circuit, Order::Layered)));
        let expected: Vec<_> = layers_of(&circuit).iter().map(|(kind, nodes)| (*kind, nodes.len() as u64)).collect();
        for kind in [Kind::And, Kind::Xor] {
            let of = expected.iter().filter(|layer| layer.0 == kind).map(|layer| layer.1);
            assert!(layers.of(kind).eq(of), "{kind:?}");
        }
    }
}

/// Gate by gate: none begins before its operands are there, and all cores wait for each other after a layer.
#[test]
fn fine_grain_takes_what_a_schedule_of_every_gate_takes() {
    let mut random = Random(2);
    for round in 0..60 {
        let circuit = random_circuit(&mut random, 5 + 3 * round);
        let (times, cores) = (random_times(&mut random), CORES[round % CORES.len()]);
        let mut done = vec![0.0; circuit.gates().len()];
        let mut clock = 0.0;
        for (kind, nodes) in layers_of(&circuit) {
            let on = |cores: u32| {
                let (own, elsewhere) = match kind {
                    Kind::And => (times.and, 5.0 * times.label),
                    Kind::Xor => (times.xor, 3.0 * times.label),
                };
                let gate = own + elsewhere * (1.0 - 1.0 / f64::from(cores));
                let barrier = times.barrier * f64::from(cores).log2().ceil();
                dealt_by_events(clock, &vec![gate; nodes.len()], cores) + barrier
            };
            let end = halvings(cores).map(on).fold(f64::INFINITY, f64::min);
            for &node in &nodes {
                let (_, operands) = operands_of(&circuit.gates()[node]).unwrap();
                assert!(operands.iter().all(|&operand| done[operand] <= clock));
                done[node] = end;
            }
            clock = end;
        }
        let work = work_of(&circuit, 1);
        let fine = work.serial(&times) / work.speedup(cores, &times).fine;
        assert!((fine / clock - 1.0).abs() < 1e-9, "{fine} {clock}");
    }
}

/// A piece that is not whole is counted as one, which is less than a piece too much.
#[test]
fn layers_are_shared_out_in_whole_pieces() {
    let times = Times { piece: 16, label: 0.0, barrier: 7.0, ..Times::ONE_LANE };
    for gates in 1..300u64 {
        for cores in CORES {
            let pieces: Vec<f64> = (0..gates).step_by(16).map(|at| 6.8 * (gates - at).min(16) as f64).collect();
            let waits = 7.0 * f64::from(cores).log2().ceil();
            let exact = dealt_by_events(0.0, &pieces, cores) + waits;
            let time = times.shared(Kind::And, gates, cores);
            assert!(time >= exact - 1e-6 && time < exact + 16.0 * 6.8, "{gates} {cores}: {time} {exact}");
        }
    }
}

/// Where sharing costs nothing, layers take no less than any schedule must, and at least half as much as one that begins every
/// gate as soon as its operands and a core are there (Graham).
#[test]
fn fine_grain_keeps_the_bounds_of_list_scheduling() {
    let mut random = Random(3);
    for round in 0..60 {
        let circuit = random_circuit(&mut random, 4 + 2 * round);
        let times = Times { label: 0.0, barrier: 0.0, ..random_times(&mut random) };
        let cores = CORES[round % CORES.len()];
        let gate = |node: usize| {
            operands_of(&circuit.gates()[node])
                .map(|(kind, operands)| (if kind == Kind::And { times.and } else { times.xor }, operands))
        };
        let nodes = circuit.gates().len();
        let mut longest = vec![0.0; nodes];
        for node in 0..nodes {
            longest[node] = gate(node).map_or(0.0, |(time, [a, b])| time + f64::max(longest[a], longest[b]));
        }
        let chain = longest.into_iter().fold(0.0, f64::max);
        let work: f64 = (0..nodes).filter_map(gate).map(|(time, _)| time).sum();
        let listed = list_schedule(nodes, cores, &gate);
        let least = chain.max(work / f64::from(cores));
        assert!(listed >= least - 1e-9 && listed <= work / f64::from(cores) + chain + 1e-9);
        let speedup = work_of(&circuit, 1).speedup(cores, &times);
        let fine = work / speedup.fine;
        assert!((speedup.bound - work / least).abs() < 1e-9);
        assert!(fine >= least - 1e-9 && listed <= (2.0 - 1.0 / f64::from(cores)) * fine + 1e-9, "{listed} {fine}");
    }
}

/// When all gates are done if a core that is free begins the first that can begin.
fn list_schedule(nodes: usize, cores: u32, gate: &dyn Fn(usize) -> Option<(f64, [usize; 2])>) -> f64 {
    let mut done: Vec<Option<f64>> = (0..nodes).map(|node| gate(node).is_none().then_some(0.0)).collect();
    let (mut clock, mut busy) = (0.0, Vec::new());
    loop {
        for node in 0..nodes {
            let Some((time, operands)) = gate(node).filter(|_| done[node].is_none()) else { continue };
            let is_ready = operands.iter().all(|&operand| done[operand].is_some_and(|done| done <= clock));
            if is_ready && busy.len() < cores as usize {
                done[node] = Some(clock + time);
                busy.push(clock + time);
            }
        }
        let Some(next) = busy.iter().copied().reduce(f64::min) else { return clock };
        clock = next;
        busy.retain(|&end| end > clock);
    }
}

/// No narrower layer is faster on any of the cores, and from there on in whole pieces every one is.
#[test]
fn layers_pay_from_the_width_that_is_said() {
    let mut random = Random(4);
    for cores in CORES {
        let times = [Times::ONE_LANE, Times { piece: 4, ..random_times(&mut random) }];
        for (times, kind) in times.iter().flat_map(|times| [(times, Kind::And), (times, Kind::Xor)]) {
            let pays = |gates: u64| times.layer(kind, gates, cores).0 > 1;
            let whole = 16 * u64::from(cores) * times.piece;
            match times.pays_from(kind, cores) {
                None => assert!((1..200_000).step_by(61).all(|gates| !pays(gates)), "{cores} {times:?}"),
                Some(from) => {
                    assert!(pays(from), "{cores} {times:?}");
                    assert!((1..from.saturating_sub(whole)).all(|gates| !pays(gates)), "{cores} {times:?}");
                    assert!((1..50).all(|more| pays(from * more)));
                }
            }
        }
    }
}

/// No way is slower than one core, both together are never slower than either, and nothing exceeds the bound.
#[test]
fn the_ways_keep_their_order() {
    let mut random = Random(5);
    for round in 0..100 {
        let circuit = random_circuit(&mut random, 1 + round);
        let work = work_of(&circuit, 1 + random.below(200));
        let times = Times { part: 1 + random.below(40), ..random_times(&mut random) };
        for cores in CORES {
            let Speedup { fine, coarse, both, bound, shared, .. } = work.speedup(cores, &times);
            assert!(fine >= 1.0 && coarse >= 1.0 && both >= fine.max(coarse) - 1e-9 && bound >= both - 1e-9);
            assert!((0.0..=1.0 + 1e-9).contains(&shared) && (shared == 0.0) == (fine < 1.0 + 1e-9));
        }
    }
}

/// Two circuits that do not need each other.
fn apart() -> Binding {
    let mut random = Random(6);
    let mut program = Program::new("apart");
    let lanes = program.size("lanes", 1..=1000);
    let x = program.input("x", Owner::Party(Party::Alice), bits(INPUTS as u32), lanes);
    for name in ["one", "two"] {
        let made = program.map(&random_circuit(&mut random, 200), &[x]);
        program.output(name, Recipient::Both, made);
    }
    program.bind(&[("lanes", 1)]).expect("bound")
}

#[test]
fn steps_that_do_not_need_each_other_are_shared_out() {
    let work = Work::new(&apart()).unwrap();
    assert_eq!(work.levels.iter().map(Vec::len).collect::<Vec<_>>(), [2]);
    let times = Times { barrier: 1.0, ..Times::ONE_LANE };
    let times_of: Vec<f64> = work.maps().map(|(plan, lanes)| plan.time(lanes, 1, &times)).collect();
    let expected = work.serial(&times) / (f64::max(times_of[0], times_of[1]) + 1.0);
    assert!((work.speedup(2, &times).coarse - expected).abs() < 1e-9);
}

/// Against the best of all ways to deal pieces out: never less, and at most by a third more (Graham).
#[test]
fn pieces_are_dealt_out_nearly_as_well_as_can_be() {
    let mut random = Random(7);
    for _ in 0..200 {
        let (count, groups) = (1 + random.below(8) as usize, 1 + random.below(3) as usize);
        let mut pieces: Vec<f64> = (0..count).map(|_| 1.0 + random.below(20) as f64).collect();
        let best = (0..groups.pow(count as u32)).map(|way| {
            let mut busy = vec![0.0; groups];
            pieces.iter().enumerate().for_each(|(i, piece)| busy[way / groups.pow(i as u32) % groups] += piece);
            busy.into_iter().fold(0.0, f64::max)
        });
        let best = best.fold(f64::INFINITY, f64::min);
        let time = dealt(&mut pieces, groups);
        assert!(time >= best && time <= best * 4.0 / 3.0, "{time} {best}");
    }
}

#[test]
fn lanes_are_cut_into_whole_parts() {
    assert_eq!(pieces(100, 2, 32).collect::<Vec<_>>(), [64, 36]);
    assert_eq!(pieces(100, 8, 32).collect::<Vec<_>>(), [32, 32, 32, 4]);
    assert_eq!(pieces(1, 8, 32).collect::<Vec<_>>(), [1]);
    assert_eq!(pieces(0, 8, 32).collect::<Vec<_>>(), [0]);
}

/// A chain of gates goes through one branch: a long map and a short one, and the other way round.
#[test]
fn the_longest_chain_goes_through_one_branch() {
    let mut random = Random(8);
    let [long, short] = [300, 20].map(|gates| {
        let circuit = random_circuit(&mut random, gates);
        let output = circuit.outputs()[0].ty;
        (circuit, output)
    });
    let pick = |width: u32| {
        let mut c = duologue::circuit::Builder::new("pick");
        let x = c.bits("x", width);
        let bits = (0..INPUTS).map(|i| x.0[i % width as usize]).collect();
        c.output("y", &duologue::circuit::Bits(bits));
        c.finish()
    };
    let mut program = Program::new("branches");
    let x = program.input("x", Owner::Party(Party::Alice), bits(INPUTS as u32), 1);
    for (name, [first, second]) in [("one", [&long, &short]), ("two", [&short, &long])] {
        let made = program.map(&first.0, &[x]);
        let picked = program.map(&pick(first.1.width), &[made]);
        let made = program.map(&second.0, &[picked]);
        program.output(name, Recipient::Both, made);
    }
    let work = Work::new(&program.bind(&[]).expect("bound")).unwrap();
    let times = Times::ONE_LANE;
    let of = |circuit: &Circuit| Layers::new(&Arc::new(Plan::new(circuit, Order::Layered))).longest(&times);
    let [long, short] = [of(&long.0), of(&short.0)];
    assert!(long > 2.0 * short);
    assert!((work.longest(&times) - (long + short)).abs() < 1e-9);
}

#[test]
fn programs_with_calls_are_refused() {
    assert!(Work::named("app:equality:8?lanes=1").err().unwrap().message.contains("calls"));
    assert_eq!(Work::named("block:aes128?lanes=3").unwrap().gates().ands, 3 * 6400);
}

//! Private functions by universal circuits, against the circuits that they come from.

use crate::common;
use crate::common::{Random, both, refusal};
use apps::universal::{Universal, arguments, ask, decode_function, encode_function, parameters, serve, universal};
use duologue::call::{CallProtocol, CallValue};
use duologue::channel::{Channel, Link};
use duologue::circuit::blocks::{Goal, registry};
use duologue::circuit::program::{Functionality, Holder};
use duologue::circuit::universal::{Controls, NOTHING, Node, Nodes, Size};
use duologue::circuit::{BitMatrix, Circuit, Party, Program, bits, uint};
use duologue::data::{to_uints, uints};
use duologue::{Error, Inputs, Options, Outcome, Precomputation, Scheme, Session};
use std::env;
use std::sync::Arc;
use std::time::Instant;

/// A function whose gates read what is free among all nodes before them.
fn random_function(size: Size, dice: &mut Random) -> Nodes {
    let mut free: Vec<u32> = (0..size.inputs).flat_map(|node| [node; 2]).collect();
    let mut nodes = Vec::with_capacity(size.tables());
    for gate in 0..size.tables() as u32 {
        let operands = [(); 2].map(|()| match free.len() {
            0 => NOTHING,
            some => free.swap_remove(dice.below(some as u64) as usize),
        });
        let table = if operands.contains(&NOTHING) { 15 } else { dice.below(16) as u8 };
        nodes.push(Node { operands, table });
        if gate < size.gates {
            free.extend([size.inputs + gate; 2]);
        }
    }
    Nodes::new(size, nodes).unwrap()
}

/// A function whose gates read the two nodes before them.
fn chain(size: Size, dice: &mut Random) -> Nodes {
    let gates = (size.inputs..).take(size.gates as usize);
    let mut nodes: Vec<Node> = gates
        .map(|gate| Node { operands: [gate - 1, gate - 2], table: [6, 8, 14, 9][dice.below(4) as usize] })
        .collect();
    let last = size.inputs + size.gates - 1;
    nodes.extend((0..size.outputs).map(|_| Node { operands: [last, NOTHING], table: 0b1010 }));
    Nodes::new(size, nodes).unwrap()
}

/// The function in plain.
fn evaluated(function: &Nodes, input: &[bool]) -> Vec<bool> {
    let words: Vec<u64> = input.iter().map(|&bit| bit.into()).collect();
    function.evaluate(&words).into_iter().map(|word| word & 1 == 1).collect()
}

/// A function with an input and what it gives.
struct Case {
    function: Nodes,
    input: Vec<bool>,
    expected: Vec<bool>,
}

impl Case {
    fn new(function: Nodes, dice: &mut Random) -> Case {
        let input: Vec<bool> = (0..function.size().inputs).map(|_| dice.below(2) == 1).collect();
        let expected = evaluated(&function, &input);
        Case { function, input, expected }
    }

    /// With the result by the circuit.
    fn of_circuit(circuit: &Circuit, dice: &mut Random) -> Case {
        let case = Case::new(Nodes::of_circuit(circuit).unwrap(), dice);
        assert_eq!(circuit.evaluate(&case.input), case.expected);
        case
    }

    fn run(&self, session: &mut Session) -> Outcome {
        let (size, ours) = (self.function.size(), session.party() == Party::Alice);
        let args = arguments(size, ours.then_some(&self.function), (!ours).then_some(&self.input));
        let call: Arc<dyn Functionality> = Arc::new(Universal);
        session.call(&call, &parameters(&[bits(size.outputs)]), args, &Options::new(Scheme::Gmw)).unwrap()
    }

    fn check(&self, [alice, bob]: [&Outcome; 2]) {
        assert!(alice.outputs.get("0").is_none(), "Alice learns nothing");
        assert_eq!(bob.outputs.get("0").unwrap().lane(0), self.expected, "{:?}", self.function.size());
    }
}

/// All cases in one session.
fn check_all(cases: &[Case]) {
    let [alice, bob] = both(|session| cases.iter().map(|case| case.run(session)).collect::<Vec<_>>());
    cases.iter().zip(alice.iter().zip(&bob)).for_each(|(case, (alice, bob))| case.check([alice, bob]));
}

fn size(inputs: u32, gates: u32, outputs: u32) -> Size {
    Size::new(inputs, gates, outputs).unwrap()
}

#[test]
fn private_functions_of_all_sizes() {
    let mut dice = Random(1);
    let mut cases = Vec::new();
    for round in 0..60 {
        let sizes = [1 + dice.below(70), dice.below(5 * round + 1), 1 + dice.below(20)].map(|size| size as u32);
        cases.push(Case::new(random_function(size(sizes[0], sizes[1], sizes[2]), &mut dice), &mut dice));
    }
    cases.push(Case::new(random_function(size(64, 20_000, 64), &mut dice), &mut dice));
    cases.push(Case::new(chain(size(64, 20_000, 2), &mut dice), &mut dice));
    check_all(&cases);
}

#[test]
fn private_circuits() {
    let mut dice = Random(2);
    let block = |(name, size): (&str, &[u32])| registry::find(name).unwrap().circuit(size, Goal::Size).unwrap();
    let blocks = [("add", &[32][..]), ("multiply", &[16]), ("population_count", &[33]), ("greater", &[64])];
    check_all(&blocks.map(|which| Case::of_circuit(&block(which), &mut dice)));
}

/// In a program by every protocol and in plain, with several inputs and outputs; a function that is none gives zeros in plain.
#[test]
fn in_a_program() {
    let mut dice = Random(3);
    let circuit = registry::find("add_carry").unwrap().circuit(&[9], Goal::Size).unwrap();
    let function = Nodes::of_circuit(&circuit).unwrap().padded(77).unwrap();
    let program = universal(circuit.inputs(), circuit.outputs(), 77).unwrap();
    let calls = apps::calls().functionalities();
    let binding = Program::from_bytes_with(&program.to_bytes().unwrap(), &calls).unwrap().bind(&[]).unwrap();
    let (a, b) = (dice.below(512), dice.below(512));
    let [x, y] = [0, 1].map(|i| circuit.inputs()[i].name.clone());
    let bob = Inputs::new().with(&x, uints(9, &[a]).unwrap()).with(&y, uints(9, &[b]).unwrap());
    let encoded = encode_function(&function);
    assert_eq!(decode_function(function.size(), &encoded).unwrap(), function);
    let inputs = [Inputs::new().with("function", encoded.clone()), bob.clone()];
    for scheme in [Scheme::Yao, Scheme::Gmw] {
        let run = |session: &mut Session| {
            let inputs = &inputs[session.party() as usize];
            session.run(&binding, &Options::new(scheme), inputs).unwrap()
        };
        let [alice, outcome] = both(run);
        let cost = duologue::cost::cost_with(&binding, &Options::new(scheme), &apps::calls()).unwrap();
        let (counted, sent) = (cost.online, [alice.report.online.sent, outcome.report.online.sent]);
        assert_eq!([counted.alice_to_bob, counted.bob_to_alice], sent, "{scheme}");
        let outputs = outcome.outputs.iter().map(|(_, value)| to_uints(value).unwrap()[0]);
        assert_eq!(outputs.collect::<Vec<_>>(), [a + b], "{scheme}");
    }
    let mut wrong = encoded.clone();
    (0..32).for_each(|row| wrong.set(row, 0, row == 5));
    for (function, expected) in [(encoded, a + b), (wrong, 0)] {
        let args = [function, uints(9, &[a]).unwrap(), uints(9, &[b]).unwrap()];
        let results = Universal.evaluate(&parameters(&[uint(10)]), &args);
        assert_eq!(to_uints(&results[0]).unwrap(), [expected]);
    }
}

/// Runs over a channel: both parties' ends, Alice's first.
fn runs_of(
    function: &Nodes,
    most: u32,
    bob: impl FnOnce(Channel) -> duologue::Result<Vec<Vec<bool>>> + Send,
) -> (duologue::Result<u32>, duologue::Result<Vec<Vec<bool>>>) {
    let (to_bob, to_alice) = Channel::pair();
    std::thread::scope(|scope| {
        let bob = scope.spawn(|| bob(to_alice));
        let alice = serve(to_bob, Precomputation::new().unwrap(), function, most, None);
        (alice.map(|(runs, _)| runs), bob.join().unwrap())
    })
}

#[test]
fn a_function_is_run_as_often_as_alice_allows() {
    let mut dice = Random(11);
    let function = random_function(size(9, 300, 5), &mut dice);
    let inputs: Vec<Vec<bool>> = (0..3).map(|_| (0..9).map(|_| dice.below(2) == 1).collect()).collect();
    let expected: Vec<Vec<bool>> = inputs.iter().map(|input| evaluated(&function, input)).collect();
    let asks = |size: Size, most| {
        let inputs = &inputs;
        let ask = |channel| {
            let mut results = Vec::new();
            ask(channel, Precomputation::new().unwrap(), size, inputs, &mut results, None).map(|_| results)
        };
        runs_of(&function, most, ask)
    };
    let (alice, bob) = asks(function.size(), 3);
    assert_eq!((alice.unwrap(), bob.unwrap()), (3, expected));
    let (alice, bob) = asks(function.size(), 2);
    assert!(matches!(alice, Err(Error::Peer(why)) if why.contains("3 runs of the 2 offered")));
    assert!(bob.is_err());
    // Whoever takes the function for another one is told before anything of either is used.
    let (alice, bob) = asks(size(9, 301, 5), 3);
    for error in [alice.unwrap_err(), bob.unwrap_err()] {
        assert!(matches!(error, Error::Incompatible { .. }), "{error}");
    }
    let (_, to_alice) = Channel::pair();
    let none = ask(to_alice, Precomputation::new().unwrap(), function.size(), &[vec![true; 8]], &mut Vec::new(), None);
    assert!(matches!(none, Err(Error::Usage(_))));
}

#[test]
fn a_bob_who_asks_for_nothing_that_can_be_is_refused() {
    let function = random_function(size(2, 3, 1), &mut Random(12));
    for runs in [0, 5, u32::MAX] {
        let (alice, bob) = runs_of(&function, 4, |mut channel| {
            channel.send(&runs.to_le_bytes())?;
            channel.flush()?;
            channel.recv(1).map(|_| Vec::new())
        });
        assert!(matches!(alice, Err(Error::Peer(_))), "{runs}");
        assert!(bob.is_err());
    }
}

/// Alice is told which gate is wrong, before she sends anything of the function.
#[test]
fn a_function_that_is_none_is_refused() {
    let mut dice = Random(4);
    let case = Case::new(random_function(size(5, 9, 1), &mut dice), &mut dice);
    let mut wrong = encode_function(&case.function);
    (0..32).for_each(|row| wrong.set(row, 3, row == 4));
    let errors = {
        let (alice, bob) = Channel::pair();
        let run = |channel, party| {
            let mut session = Session::connect(channel, party).unwrap();
            session.register(Arc::new(Universal));
            let ours = party == Party::Alice;
            let mut args =
                arguments(case.function.size(), ours.then_some(&case.function), (!ours).then_some(&case.input));
            args[0].value = ours.then(|| wrong.clone());
            let call: Arc<dyn Functionality> = Arc::new(Universal);
            let done = session.call(&call, &parameters(&[bits(1)]), args, &Options::new(Scheme::Gmw));
            done.expect_err("no function").to_string()
        };
        std::thread::scope(|scope| {
            let bob = scope.spawn(|| run(bob, Party::Bob));
            [run(alice, Party::Alice), bob.join().unwrap()]
        })
    };
    assert!(errors[0].contains("gate 3 of a function: reads node 16"), "{}", errors[0]);
    assert!(!errors[1].contains("gate") && !errors[1].contains("16"), "{}", errors[1]);
}

#[test]
fn what_cannot_be_called_is_refused_by_name() {
    let call: Arc<dyn Functionality> = Arc::new(Universal);
    let (alice, bob) = (Party::Alice, Party::Bob);
    let refused = |parameters: &[u8], args: &[(Party, u32, u64)], why: &str| {
        let error = refusal(&call, parameters, args).expect(why);
        assert!(error.contains(why) && error.contains("duologue:universal"), "{error}");
    };
    let outputs = parameters(&[bits(3)]);
    refused(&outputs, &[], "a function and its inputs, not no argument");
    refused(&outputs, &[(alice, 72, 9)], "at least one input, not the function alone");
    refused(
        &outputs[..3],
        &[(alice, 72, 9), (bob, 8, 1)],
        "nine bytes for each of at most 4096 outputs as parameters, not 3",
    );
    refused(&outputs, &[(bob, 72, 9), (bob, 8, 1)], "a function that alice holds alone");
    refused(&outputs, &[(alice, 72, 9), (bob, 8, 1), (alice, 8, 1)], "inputs that bob holds alone");
    refused(&outputs, &[(alice, 68, 9), (bob, 8, 1)], "gates of 72 bits, not 68");
    refused(&outputs, &[(alice, 72, 9), (bob, 8, 1), (bob, 8, 2)], "one lane of each input, not 2");
    refused(&outputs, &[(alice, 72, 2), (bob, 8, 1)], "a lane for each gate and 3 output bits, not 2");
    refused(&parameters(&[]), &[(alice, 72, 2), (bob, 8, 1)], "at least one output bit");
    refused(&[5, 1, 0, 0, 0, 0, 0, 0, 0], &[(alice, 72, 2), (bob, 8, 1)], "not of kind 5 with 0");
    refused(&[0, 1, 0, 0, 0, 7, 0, 0, 0], &[(alice, 72, 2), (bob, 8, 1)], "not of kind 0 with 7");
}

/// Bytes of both parties for one node, as the book has them; and both parties' lengths fit for any sizes.
#[test]
fn bytes_of_a_node() {
    let bytes = |size: Size| {
        let value = |party, width, lanes| CallValue { ty: bits(width), lanes, holder: Holder::Party(party) };
        let args = vec![value(Party::Alice, 72, size.tables() as u64), value(Party::Bob, size.inputs, 1)];
        let parameters = parameters(&[bits(size.outputs)]);
        let call = duologue::call::Call { number: 0, parameters, args, results: Vec::new() };
        let [a, b] = [Party::Alice, Party::Bob].map(|party| Universal.lengths(&call, party).unwrap());
        assert!(a.online.iter().zip(&b.online).all(|(a, b)| (a.sent, a.read) == (b.read, b.sent)));
        a.online.iter().map(|exchange| exchange.sent + exchange.read).sum::<usize>()
    };
    for (nodes, most) in [(1_000, 411), (10_000, 595), (100_000, 766), (1_000_000, 904)] {
        let each = bytes(size(64, nodes - 65, 1)) / nodes as usize;
        assert!((most - 5..=most).contains(&each), "{nodes} nodes: {each} bytes each");
    }
    let mut dice = Random(5);
    for _ in 0..200 {
        let sizes = [1 + dice.below(1_000), dice.below(10_000), 1 + dice.below(1_000)].map(|size| size as u32);
        bytes(size(sizes[0], sizes[1], sizes[2]));
    }
}

/// Parameters come from files of others, and functions from Alice's: whatever they are, there is an answer or an error.
#[test]
fn any_parameters_and_functions_are_taken_or_refused() {
    let mut dice = Random(8);
    let (mut taken, mut refused) = (0, 0);
    for _ in 0..20_000 {
        let mut bytes: Vec<u8> = (0..9 * dice.below(4) + dice.below(10) / 9).map(|_| dice.below(256) as u8).collect();
        for ty in bytes.chunks_mut(9) {
            ty[0] %= 6;
            ty.iter_mut().skip(2).filter(|_| dice.below(9) > 0).for_each(|byte| *byte = 0);
        }
        let value = |party, width, lanes| CallValue { ty: bits(width), lanes, holder: Holder::Party(party) };
        let (gates, width) = (dice.below(1 << 12), 1 + dice.below(64) as u32);
        let args = vec![value(Party::Alice, 72, gates), value(Party::Bob, width, 1)];
        let call = duologue::call::Call { number: 0, parameters: bytes.clone(), args, results: Vec::new() };
        match [Party::Alice, Party::Bob].map(|party| Universal.lengths(&call, party)) {
            [Ok(a), Ok(b)] => {
                assert_eq!((a.setup.len(), a.online.len()), (b.setup.len(), b.online.len()));
                taken += 1;
            }
            [Err(a), Err(b)] if a.to_string() == b.to_string() => refused += 1,
            _ => panic!("one party refuses"),
        }
    }
    assert!(taken > 50 && refused > 50, "{taken} and {refused}");
    let (mut functions, mut none) = (0, 0);
    for _ in 0..20_000 {
        let size = size(3, 1 + dice.below(4) as u32, 1);
        let mut lanes = BitMatrix::zeros(72, size.tables());
        for lane in 0..size.tables() {
            let node = [dice.below(6), dice.below(6)].map(|from| if from == 5 { u64::from(NOTHING) } else { from });
            let table = match dice.below(9) {
                0 => dice.below(256),
                1..=4 => dice.below(16),
                _ if node[0] == u64::from(NOTHING) => [0b0000, 0b0011, 0b1100, 0b1111][dice.below(4) as usize],
                _ if node[1] == u64::from(NOTHING) => [0b0000, 0b0101, 0b1010, 0b1111][dice.below(4) as usize],
                _ => [0b0110, 0b1000, 0b1110, 0b0010][dice.below(4) as usize],
            };
            (0..72).for_each(|row| {
                lanes.set(row, lane, [node[0] | node[1] << 32, table][row / 64] >> (row % 64) & 1 == 1)
            });
        }
        let Ok(function) = decode_function(size, &lanes) else {
            none += 1;
            continue;
        };
        functions += usize::from(function.nodes().iter().any(|node| ![0, 15].contains(&node.table)));
        assert!(encode_function(&function) == lanes);
        let case = Case::new(function, &mut dice);
        let words: Vec<u64> = case.input.iter().map(|&bit| bit.into()).collect();
        let found = Controls::new(&case.function).evaluate(&words);
        assert!(found.iter().zip(&case.expected).all(|(word, &bit)| (word & 1 == 1) == bit));
    }
    assert!(functions > 200 && none > 200, "{functions} and {none}");
}

/// The same cases in two processes. Bob writes to standard output whether he is right, and, as he is done last, his times.
fn between_two_processes(test: &str, cases: &[Case]) {
    let link: Option<Link> = env::var("DUOLOGUE_LINK").ok().map(|link| link.parse().expect("a link"));
    let walk = |channel: Channel, party| -> Vec<Outcome> {
        let channel = link.into_iter().fold(channel, |channel, link| channel.shaped(link).unwrap());
        let mut session = Session::connect(channel, party).unwrap();
        session.register(Arc::new(Universal));
        let found: Vec<Outcome> = cases.iter().map(|case| case.run(&mut session)).collect();
        session.close().unwrap();
        for (case, outcome) in cases.iter().zip(&found).filter(|_| party == Party::Bob) {
            assert_eq!(outcome.outputs.get("0").unwrap().lane(0), case.expected);
            let (size, report) = (case.function.size(), &outcome.report);
            println!("\nright\nbob: {size:?}: setup {:?}, online {:?}", report.setup, report.online);
        }
        found
    };
    let begun = Instant::now();
    let Some((alice, said)) = common::between_two_processes(test, walk) else { return };
    assert_eq!(said.lines().filter(|line| *line == "right").count(), cases.len());
    said.lines().filter(|line| line.starts_with("bob: ")).for_each(|line| println!("{line}"));
    for (case, outcome) in cases.iter().zip(&alice) {
        let (size, report) = (case.function.size(), &outcome.report);
        println!("alice: {size:?}: setup {:?}, online {:?}, in all {:?}", report.setup, report.online, begun.elapsed());
    }
}

#[test]
fn between_two_processes_over_tcp() {
    let mut dice = Random(6);
    let sizes = [size(64, 5_000, 33), size(1, 0, 1), size(8, 200, 8)];
    let cases = sizes.map(|size| Case::new(random_function(size, &mut dice), &mut dice));
    between_two_processes("universal::between_two_processes_over_tcp", &cases);
}

/// For the book: `DUOLOGUE_NODES=1000000 DUOLOGUE_LINK=1ms,10Gbit cargo test --release -p duologue-apps --test all
/// universal::measured -- --include-ignored --nocapture`.
#[test]
#[ignore = "takes time and memory, for figures alone"]
fn measured() {
    let nodes: u32 = env::var("DUOLOGUE_NODES").map_or(10_000, |nodes| nodes.parse().expect("a number of nodes"));
    let (mut dice, size) = (Random(7), size(64, nodes - 65, 1));
    let cases = [chain(size, &mut dice), random_function(size, &mut dice)].map(|f| Case::new(f, &mut dice));
    for case in &cases {
        let begun = Instant::now();
        Controls::new(&case.function);
        println!("control bits in {:?}", begun.elapsed());
    }
    between_two_processes("universal::measured", &cases);
}

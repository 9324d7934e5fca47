//! The least of many values by circuits level by level, and by a walk, against going through the values one by one.

use crate::common::{Random, both, refusal};
use apps::argmin::encrypted::Keys;
use apps::argmin::{Backtrack, Found, Held, levels};
use duologue::channel::Channel;
use duologue::circuit::blocks::Goal;
use duologue::circuit::program::{CallPort, Functionality, Holder, Owner};
use duologue::circuit::{BitMatrix, Party, Program, bits};
use duologue::{Inputs, Options, Outcome, Scheme, Session};
use std::sync::Arc;

/// Values with arguments, and the masks by which they are shared.
struct Case {
    width: u32,
    found: Found,
    held: Held,
    values: Vec<u128>,
    arguments: Vec<u128>,
    seed: u64,
}

const ARGUMENT: u32 = 19;

fn mask(width: u32) -> u128 {
    u128::MAX >> (128 - width)
}

fn wide(dice: &mut Random) -> u128 {
    u128::from(dice.word()) << 64 | u128::from(dice.word())
}

fn matrix(width: u32, numbers: &[u128]) -> BitMatrix {
    let lane = |number: &u128| (0..width).map(|bit| number >> bit & 1 == 1).collect();
    BitMatrix::from_lanes(width as usize, &numbers.iter().map(lane).collect::<Vec<Vec<bool>>>())
}

fn number(matrix: &BitMatrix) -> u128 {
    assert_eq!(matrix.lanes(), 1);
    matrix.lane(0).iter().rev().fold(0, |number, &bit| number << 1 | u128::from(bit))
}

/// Does the same with both ends of a session, whose parties consent to the walk.
fn consenting<T: Send>(act: impl Fn(&mut Session) -> T + Sync) -> [T; 2] {
    both(|session| {
        session.register_all(&apps::leaky_calls(&Keys::none()));
        act(session)
    })
}

impl Case {
    /// Values of which many are equal.
    fn new(width: u32, found: Found, held: Held, dice: &mut Random) -> Case {
        let count = match held {
            Held::Shared(count) => count,
            Held::Halves(counts) => counts.iter().sum(),
        };
        let few = [wide(dice), wide(dice), u128::MAX, 0].map(|number| number & mask(width));
        let kind = dice.below(3);
        let value = |dice: &mut Random| match kind {
            0 => wide(dice) & mask(width),
            1 => few[dice.below(3) as usize],
            _ => few[dice.below(4) as usize],
        };
        let values = (0..count).map(|_| value(dice)).collect();
        let arguments = (0..count).map(|_| wide(dice) & mask(ARGUMENT)).collect();
        Case { width, found, held, values, arguments, seed: dice.word() }
    }

    fn inputs(&self, us: Party) -> Inputs {
        let mut inputs = Inputs::new();
        let mut lists = vec![("values", self.width, &self.values)];
        if self.found != Found::Index {
            lists.push(("arguments", ARGUMENT, &self.arguments));
        }
        let mut dice = Random(self.seed);
        for (name, width, list) in lists {
            match self.held {
                Held::Shared(_) => {
                    let share = |value: &u128| {
                        let random = wide(&mut dice) & mask(width);
                        if us == Party::Alice { random } else { random ^ value }
                    };
                    inputs.set(name, matrix(width, &list.iter().map(share).collect::<Vec<_>>()));
                }
                Held::Halves([alice, _]) => {
                    let halves = list.split_at(alice as usize);
                    let ours = if us == Party::Alice { halves.0 } else { halves.1 };
                    inputs.set(&format!("{us}_{name}"), matrix(width, ours));
                }
            }
        }
        inputs
    }

    fn run(&self, session: &mut Session, (scheme, goal): (Scheme, Goal)) -> Outcome {
        let binding = self.program(goal).bind(&self.sizes()).unwrap();
        session.run(&binding, &Options::new(scheme), &self.inputs(session.party())).unwrap()
    }

    fn program(&self, goal: Goal) -> Program {
        levels(self.width, self.found, goal, self.held)
    }

    fn sizes(&self) -> Vec<(&str, u64)> {
        match self.held {
            Held::Shared(count) => vec![("values", count)],
            Held::Halves([alice, bob]) => vec![("alice", alice), ("bob", bob)],
        }
    }

    fn check(&self, outcomes: [&Outcome; 2]) {
        let least =
            (1..self.values.len()).fold(0, |least, i| if self.values[i] < self.values[least] { i } else { least });
        let (name, second) = match self.found {
            Found::Index => ("index", least as u128),
            _ => ("argument", self.arguments[least]),
        };
        let found = |name: &str| {
            let [alice, bob] = outcomes.map(|outcome| outcome.outputs.get(name).map(number));
            match self.held {
                Held::Shared(_) => alice.unwrap() ^ bob.unwrap(),
                Held::Halves(_) => {
                    assert!(alice.is_none(), "Bob alone learns it");
                    bob.unwrap()
                }
            }
        };
        let what = format!("{} bits, {:?}, {:?}", self.width, self.held, self.found);
        assert_eq!((found("least"), found(name)), (self.values[least], second), "{what}");
    }
}

const FOUND: [Found; 3] = [Found::Index, Found::Argument(ARGUMENT), Found::Walk(ARGUMENT)];

#[test]
fn the_least_level_by_level() {
    let mut dice = Random(1);
    let mut cases = Vec::new();
    for (width, count) in [(1, 1), (1, 6), (8, 2), (8, 3), (31, 9), (32, 64), (32, 65), (64, 7), (128, 100)] {
        for found in FOUND {
            cases.push(Case::new(width, found, Held::Shared(count), &mut dice));
            if count > 1 {
                let alice = 1 + dice.below(count - 1);
                cases.push(Case::new(width, found, Held::Halves([alice, count - alice]), &mut dice));
            }
        }
    }
    for engine in [(Scheme::Yao, Goal::Size), (Scheme::Gmw, Goal::Depth)] {
        let outcomes = consenting(|session| cases.iter().map(|case| case.run(session, engine)).collect::<Vec<_>>());
        for ((case, alice), bob) in cases.iter().zip(&outcomes[0]).zip(&outcomes[1]) {
            case.check([alice, bob]);
        }
    }
}

#[test]
fn the_least_of_about_a_thousand_by_a_walk() {
    let mut dice = Random(2);
    for count in [999, 1000, 1025] {
        let case = Case::new(32, Found::Walk(ARGUMENT), Held::Shared(count), &mut dice);
        let [alice, bob] = consenting(|session| case.run(session, (Scheme::Yao, Goal::Size)));
        case.check([&alice, &bob]);
        let binding = case.program(Goal::Size).bind(&case.sizes()).unwrap();
        let cost = duologue::cost::cost_with(&binding, &Options::new(Scheme::Yao), &apps::calls()).unwrap();
        for (counted, a, b) in
            [(cost.setup, alice.report.setup, bob.report.setup), (cost.online, alice.report.online, bob.report.online)]
        {
            assert_eq!((counted.alice_to_bob, counted.bob_to_alice), (a.sent, b.sent));
            assert_eq!((counted.alice_rounds, counted.bob_rounds), (a.rounds, b.rounds));
        }
    }
}

/// A walk of so many values that its messages are several, by a call alone.
#[test]
fn a_walk_in_several_messages() {
    let mut dice = Random(3);
    let count = 40_000;
    let lost: Vec<u128> = (0..count - 1).map(|_| u128::from(dice.below(2))).collect();
    let arguments: Vec<u128> = (0..count).map(|_| wide(&mut dice) & mask(13)).collect();
    let masks: Vec<u128> = (0..2 * count).map(|_| wide(&mut dice)).collect();
    let backtrack: Arc<dyn Functionality> = Arc::new(Backtrack);
    let expected = backtrack.evaluate(&[], &[matrix(1, &lost), matrix(13, &arguments)]);
    let outcomes = consenting(|session| {
        let share = |width: u32, list: &[u128], masks: &[u128]| {
            let ours = session.party() == Party::Alice;
            let share = |(value, random): (&u128, &u128)| random & mask(width) ^ if ours { 0 } else { *value };
            let value = matrix(width, &list.iter().zip(masks).map(share).collect::<Vec<_>>());
            duologue::session::CallArg::new(Holder::Shared, width, list.len() as u64, Some(value))
        };
        let args = vec![share(1, &lost, &masks), share(13, &arguments, &masks[count as usize..])];
        session.call(&backtrack, &[], args, &Options::new(Scheme::Gmw)).unwrap()
    });
    let [alice, bob] = outcomes.each_ref().map(|outcome| number(outcome.outputs.get("0").unwrap()));
    assert_eq!(alice ^ bob, number(&expected[0]));
    assert_ne!(alice, 0, "Alice's share is random");
}

/// What each party says of a program from a file that walks, where these parties consent to that.
fn with_consents(consents: [bool; 2]) -> [duologue::Result<Outcome>; 2] {
    let file = levels(8, Found::Walk(ARGUMENT), Goal::Size, Held::Shared(3)).to_bytes().unwrap();
    let program = Program::from_bytes_with(&file, &apps::calls().functionalities()).unwrap();
    let binding = program.bind(&[]).unwrap();
    let inputs = Inputs::new().with("values", matrix(8, &[3, 1, 2])).with("arguments", matrix(ARGUMENT, &[7, 8, 9]));
    let (to_bob, to_alice) = Channel::pair();
    let act = |channel, party: Party| {
        let mut session = Session::connect(channel, party)?;
        session.register_all(&apps::calls());
        if consents[party as usize] {
            session.register_all(&apps::leaky_calls(&Keys::none()));
        }
        session.run(&binding, &Options::new(Scheme::Yao), &inputs)
    };
    std::thread::scope(|scope| {
        let bob = scope.spawn(|| act(to_alice, Party::Bob));
        [act(to_bob, Party::Alice), bob.join().unwrap()]
    })
}

/// A program cannot consent for those who run it: who has not registered the walk as one that leaks does not run it.
#[test]
fn nobody_walks_unawares() {
    let refused = |ran: &duologue::Result<Outcome>| {
        let why = ran.as_ref().err().map(ToString::to_string).unwrap_or_default();
        ["'duologue:backtrack'", "shows Bob the place", "both parties consent"].iter().all(|word| why.contains(word))
    };
    assert!(with_consents([false, false]).iter().all(refused));
    for party in [0, 1] {
        let ran = with_consents([party == 0, party == 1]);
        assert!(refused(&ran[1 - party]) && ran[party].is_err(), "{party}");
    }
    assert!(with_consents([true, true]).iter().all(Result::is_ok));
    let names: Vec<String> = apps::leaky_calls(&Keys::none()).iter().map(|call| call.name().into()).collect();
    assert_eq!(names, ["duologue:backtrack", "duologue:argmin-boma"]);
}

/// 2·l ANDs a pair, and less than one a value for the index; nothing for an argument that a walk finds.
#[test]
fn ands_are_those_of_the_papers() {
    for (found, ands) in [(Found::Index, 999 * 64 + 1000), (Found::Walk(32), 999 * 64), (Found::Argument(32), 999 * 96)]
    {
        let binding = levels(32, found, Goal::Size, Held::Shared(1000)).bind(&[("values", 1000)]).unwrap();
        let cost = duologue::cost::cost_with(&binding, &Options::new(Scheme::Yao), &apps::calls()).unwrap();
        assert!((ands - 10..=ands).contains(&cost.ands), "{found:?}: {}", cost.ands);
    }
}

#[test]
fn what_is_no_tree_is_refused_by_name() {
    let backtrack: Arc<dyn Functionality> = Arc::new(Backtrack);
    let refused = |args: &[(Owner, u32, u64)], why: &str| {
        let error = refusal(&backtrack, &[], args).expect(why);
        assert!(error.contains(why) && error.contains("duologue:backtrack"), "{error}");
    };
    let (shared, alice) = (Owner::Shared, Owner::Party(Party::Alice));
    refused(&[(shared, 1, 4), (shared, 8, 4)], "one argument more than pairs");
    refused(&[(shared, 1, 4), (shared, 8, 4), (alice, 8, 2)], "one argument more than pairs");
    refused(&[(shared, 1, 0), (shared, 8, 1)], "one argument more than pairs");
    refused(&[(shared, 1, 1 << 20), (shared, 8, (1 << 20) + 1)], "one argument more than pairs");
    refused(&[(alice, 1, 4), (shared, 8, 5)], "a shared bit for each pair");
    refused(&[(shared, 2, 4), (shared, 8, 5)], "a shared bit for each pair");
    refused(&[(shared, 1, 4)], "a shared bit for each pair");
    refused(&[(shared, 1, 4), (shared, 8, 2), (alice, 9, 3)], "arguments of equal width");
    let ports = [CallPort { ty: bits(1), holder: Holder::Shared }; 2];
    assert!(backtrack.results(&[0], &ports).is_err());
}

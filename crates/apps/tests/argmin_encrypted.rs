//! The least of encrypted values on shares, against going through the values one by one.

use crate::common;
use crate::common::Random;
use crate::common::encrypted::{Case, check_all, key, keys_of, plain, terms};
use apps::argmin::encrypted::{Keys, MOST_VALUES, Method, Terms, lanes_of};
use apps::argmin::{Direction, of_ciphertexts};
use duologue::channel::Channel;
use duologue::circuit::{BitMatrix, Party};
use duologue::ot::Extension;
use duologue::{Error, Inputs, Options, Outcome, Scheme, Session};
use he::paillier::SecretKey;
use he::{Additive, Plaintexts};
use kernels::Block;
use kernels::generator::Generator;
use std::thread;

const OURS: Method = Method::Duologue;
const DIRECTIONS: [Direction; 2] = [Direction::Both, Direction::One];

#[test]
fn the_least_of_values_of_every_width() {
    let (key, mut dice) = (key(1024), Random(1));
    let mut cases = Vec::new();
    for (bits, argument) in
        [(1, None), (1, Some(1)), (8, Some(3)), (31, None), (32, Some(32)), (64, Some(128)), (128, None)]
    {
        for values in [1, 2, 3, 17] {
            for server in [Party::Alice, Party::Bob] {
                let direction = dice.choose(&DIRECTIONS);
                let terms = Terms { server, direction, ..terms(&key, bits, argument) };
                cases.push(Case::new(OURS, terms, values, &mut dice));
            }
        }
    }
    check_all(&cases, &key);
}

/// With groups of all sizes, an index too.
#[test]
fn the_least_of_about_a_thousand() {
    let (key, mut dice) = (key(1024), Random(2));
    let mut cases = Vec::new();
    for (values, argument, groups) in [(999, None, &[][..]), (999, Some(32), &[2, 3, 7]), (1025, None, &[4, 5, 32])] {
        let direction = dice.choose(&DIRECTIONS);
        let terms = Terms { direction, groups: groups.to_vec(), ..terms(&key, 32, argument) };
        cases.push(Case::new(OURS, terms, values, &mut dice));
    }
    check_all(&cases, &key);
}

#[test]
fn the_least_under_keys_that_are_long_enough() {
    for bits in [2048, 3072] {
        let (key, mut dice) = (key(bits), Random(3));
        let cases = [(32, Some(32), 29), (128, Some(128), 19), (64, None, 3)]
            .map(|(bits, argument, values)| Case::new(OURS, terms(&key, bits, argument), values, &mut dice));
        check_all(&cases, &key);
    }
}

#[test]
fn of_equal_values_the_first_wins() {
    let key = key(1024);
    let cases = [None, Some(8)].map(|argument| {
        let terms = Terms { groups: vec![4], ..terms(&key, 20, argument) };
        let arguments = argument.map_or(Vec::new(), |_| (100..113).collect());
        Case { method: OURS, terms, values: vec![77; 13], arguments }
    });
    check_all(&cases, &key);
}

/// In plain, with the key; without it there are no ciphertexts.
#[test]
fn the_plain_meaning_takes_the_key() {
    let (key, mut dice) = (key(1024), Random(4));
    for argument in [None, Some(9)] {
        let case = Case::new(OURS, terms(&key, 31, argument), 17, &mut dice);
        let args = case.encrypted(&key, &mut dice);
        let plain = OURS.call(&keys_of(&key)).evaluate(&case.terms.to_bytes(), &args);
        let decrypted = plain.iter().map(|lanes| {
            let ciphertext = key.read_numbers(&apps::argmin::encrypted::numbers_of(lanes)).unwrap();
            key.decrypt(&ciphertext).unwrap().to_u128s().unwrap()[0]
        });
        let (least, second) = case.expected();
        assert_eq!(decrypted.collect::<Vec<_>>(), [least, second]);
        let nothing = OURS.call(&Keys::none()).evaluate(&case.terms.to_bytes(), &args);
        assert!(nothing.iter().all(|lanes| lanes.words().iter().all(|&word| word == 0)));
    }
}

/// What both parties end with where the server hands these in, and the client has these keys.
fn errors(case: &Case, args: &[BitMatrix], client: &Keys) -> [Error; 2] {
    let (alice, bob) = Channel::pair();
    let run = |channel, party, keys: &Keys| {
        let mut session = Session::connect(channel, party).unwrap();
        session.register(case.method.call(keys));
        case.run(&mut session, args, keys, &Options::new(Scheme::Gmw)).map(|_| ()).expect_err("an error")
    };
    thread::scope(|scope| {
        let bob = scope.spawn(|| run(bob, Party::Bob, client));
        [run(alice, Party::Alice, &Keys::none().even_if_they_can_be_broken()), bob.join().unwrap()]
    })
}

fn lanes(numbers: &[Vec<u8>]) -> BitMatrix {
    lanes_of(&numbers.concat(), 1024).unwrap()
}

#[test]
fn bad_ciphertexts_of_the_server_are_its_fault_by_name() {
    let key = key(1024);
    let mut random = Generator::from_seed(Block::new(5));
    let good = key.public().encrypt(&Plaintexts::new(&[5, 6, 7]), &mut random).unwrap();
    let good = key.public().write_numbers(&good).unwrap();
    let good: Vec<Vec<u8>> = good.chunks(256).map(<[u8]>::to_vec).collect();
    let modulus: Vec<u8> = key.public().modulus().iter().flat_map(|word| word.to_le_bytes()).collect();
    let padded = |bytes: &[u8]| [bytes, &vec![0; 256 - bytes.len()]].concat();
    // -1 times a unit has the symbol of the unit; 2 or 3 has −1 for one of these keys.
    let symbols = (2..50u8).map(|small| padded(&[small]));
    let minus =
        symbols.into_iter().find(|number| key.public().read_numbers(number).is_err()).expect("half of them have");
    for (place, bad, why) in [
        (1, padded(&[0]), "ciphertext 1: it is zero"),
        (2, vec![0xff; 256], "ciphertext 2: it is not less than the modulus"),
        (0, padded(&modulus), "ciphertext 0: it is not coprime to the modulus"),
        (0, minus, "ciphertext 0: its Jacobi symbol is -1"),
    ] {
        let case = Case { method: OURS, terms: terms(&key, 8, None), values: vec![5, 6, 7], arguments: Vec::new() };
        let mut numbers = good.clone();
        numbers[place] = bad;
        let [server, client] = errors(&case, &[lanes(&numbers)], &keys_of(&key));
        assert!(matches!(&server, Error::Usage(what) if what.contains(why)), "{why}: {server}");
        assert!(matches!(client, Error::Aborted(_) | Error::Closed(_)), "{client}");
    }
}

/// A value of far too many bits leaves its slot: the client says so, and nothing of what it is.
#[test]
fn a_number_out_of_its_slot_is_the_servers_fault() {
    let (key, mut dice) = (key(1024), Random(6));
    for (value, why) in [(1 << 60, "larger than"), (u128::MAX, "larger than")] {
        let terms = terms(&key, 8, None);
        let mut case = Case { method: OURS, terms, values: vec![value; 40], arguments: Vec::new() };
        case.values[3] = 1;
        let args = case.encrypted(&key, &mut dice);
        let [server, client] = errors(&case, &args, &keys_of(&key));
        assert!(matches!(&client, Error::Peer(what) if what.contains(why)), "{client}");
        assert!(matches!(server, Error::Aborted(_) | Error::Closed(_)), "{server}");
    }
}

#[test]
fn keys_that_are_not_those_of_the_terms_are_refused() {
    let (key, other, mut dice) = (key(1024), key(2048), Random(7));
    let case = Case::new(OURS, terms(&key, 8, None), 2, &mut dice);
    let args = case.encrypted(&key, &mut dice);
    for (keys, why) in [
        (Keys::none(), "gave none"),
        (keys_of(&other), "another key"),
        // Too short for anything but tests.
        (Keys::of_client(copy(&key)), "2048 to 3072 bits"),
    ] {
        let [_, client] = errors(&case, &args, &keys);
        assert!(matches!(&client, Error::Usage(what) if what.contains(why)), "{client}");
    }
}

fn copy(key: &SecretKey) -> SecretKey {
    let file = key.to_file(None).unwrap();
    SecretKey::from_file(&file, None, he::KeySize::even_if_it_can_be_broken).unwrap()
}

#[test]
fn calls_that_cannot_be_are_refused_by_name() {
    let terms = Terms::new(Party::Alice, (2048, [7; 32]), 32, Some(32));
    let bind = |terms: &Terms, values| of_ciphertexts(OURS, terms).bind(&[("values", values)]).map(|_| ());
    bind(&terms, 1).unwrap();
    bind(&terms, MOST_VALUES).unwrap();
    for (terms, values, why) in [
        (terms.clone(), 0, "values"),
        (terms.clone(), MOST_VALUES + 1, "values"),
        (Terms { groups: vec![1 << 20], ..terms.clone() }, 1 << 20, "comparisons"),
        (Terms { key_bits: 256, bits: 128, argument: Some(128), ..terms.clone() }, 9, "slots"),
    ] {
        let error = bind(&terms, values).expect_err(why).to_string();
        assert!(error.contains(why), "{error}");
    }
}

/// Bytes of both directions for a thousand values with arguments of as many bits, key, base OTs and setup included; from a pool
/// those online and the key.
#[test]
fn a_thousand_ciphertexts_take_few_bytes() {
    const MIB: f64 = 1048576.0;
    for (bits, new_at_most, pool_at_most) in [(32, 0.14, 0.09), (64, 0.21, 0.15), (128, 0.33, 0.28)] {
        for key_bits in [1024, 2048, 3072] {
            let direction = Direction::One;
            let terms = Terms { direction, ..Terms::new(Party::Alice, (key_bits, [0; 32]), bits, Some(bits)) };
            let binding = of_ciphertexts(OURS, &terms).bind(&[("values", 1000)]).unwrap();
            let options = Options::new(Scheme::Gmw).extension("silent".parse::<Extension>().unwrap());
            let cost = duologue::cost::cost_with(&binding, &options, &apps::calls()).unwrap();
            let pool = duologue::cost::cost_from_pool(&binding, &options, &apps::calls()).unwrap();
            let [new, pool] = [cost, pool].map(|cost| {
                let both = [cost.setup, cost.online].map(|phase| phase.alice_to_bob + phase.bob_to_alice);
                both[0] + both[1]
            });
            println!("l = {bits}, T = {key_bits}: {new} new, {pool} from a pool");
            assert!(new as f64 <= new_at_most * MIB, "{bits}, {key_bits}: {new}");
            assert!(pool as f64 <= pool_at_most * MIB, "{bits}, {key_bits}: {pool}");
        }
    }
}

#[test]
fn cost_is_exact() {
    let (key, mut dice) = (key(1024), Random(8));
    for (argument, direction) in [(None, Direction::Both), (Some(7), Direction::One)] {
        let case = Case::new(OURS, Terms { direction, ..terms(&key, 9, argument) }, 100, &mut dice);
        let binding = of_ciphertexts(OURS, &case.terms).bind(&[("values", 100)]).unwrap();
        let cost = duologue::cost::cost_with(&binding, &Options::new(Scheme::Gmw), &apps::calls()).unwrap();
        let args = case.encrypted(&key, &mut dice);
        let (alice, bob) = Channel::pair();
        let run = |channel, party, keys: Keys| {
            let mut session = Session::connect(channel, party).unwrap();
            session.register_all(&apps::calls_with(&keys));
            let names = ["values", "arguments"].into_iter().zip(&args).filter(|_| party == Party::Alice);
            let inputs = names.fold(Inputs::new(), |inputs, (name, lanes)| inputs.with(name, lanes.clone()));
            session.run(&binding, &Options::new(Scheme::Gmw), &inputs).unwrap()
        };
        let [alice, bob] = thread::scope(|scope| {
            let bob = scope.spawn(|| run(bob, Party::Bob, keys_of(&key)));
            [run(alice, Party::Alice, Keys::none().even_if_they_can_be_broken()), bob.join().unwrap()]
        });
        assert_eq!(
            ["least", if argument.is_some() { "argument" } else { "index" }].map(|name| {
                let numbers = apps::argmin::encrypted::numbers_of(alice.outputs.get(name).unwrap());
                key.decrypt(&key.read_numbers(&numbers).unwrap()).unwrap().to_u128s().unwrap()[0]
            }),
            <[u128; 2]>::from(case.expected())
        );
        for (counted, a, b) in
            [(cost.setup, alice.report.setup, bob.report.setup), (cost.online, alice.report.online, bob.report.online)]
        {
            assert_eq!((counted.alice_to_bob, counted.bob_to_alice), (a.sent, b.sent));
            assert_eq!((counted.alice_rounds, counted.bob_rounds), (a.rounds, b.rounds));
        }
    }
}

/// The same cases in two processes over TCP; Bob has the key, Alice the ciphertexts.
#[test]
fn between_two_processes_over_tcp() {
    let (key, mut dice) = (key(1024), Random(9));
    let mut cases = Vec::new();
    for (bits, argument, values) in [(32, Some(32), 100), (8, None, 1), (128, Some(1), 9)] {
        for direction in DIRECTIONS {
            cases.push(Case::new(OURS, Terms { direction, ..terms(&key, bits, argument) }, values, &mut dice));
        }
    }
    let args: Vec<Vec<BitMatrix>> = cases.iter().map(|case| case.encrypted(&key, &mut dice)).collect();
    let walk = |channel, party| -> Vec<Outcome> {
        let keys = if party == Party::Bob { keys_of(&key) } else { Keys::none().even_if_they_can_be_broken() };
        let mut session = Session::connect(channel, party).unwrap();
        session.register_all(&apps::calls_with(&keys));
        let options = Options::new(Scheme::Gmw);
        let run = |(case, args): (&Case, &Vec<BitMatrix>)| case.run(&mut session, args, &keys, &options).unwrap();
        let outcomes: Vec<_> = cases.iter().zip(&args).map(run).collect();
        session.close().unwrap();
        let got = |outcome: &Outcome| outcome.outputs.iter().next().is_some();
        assert!(party == Party::Alice || !outcomes.iter().any(got), "Bob gets nothing");
        outcomes
    };
    let name = "argmin_encrypted::between_two_processes_over_tcp";
    let Some((alice, _)) = common::between_two_processes(name, walk) else { return };
    for (case, outcome) in cases.iter().zip(&alice) {
        assert_eq!(plain(outcome, &key), case.expected());
    }
}

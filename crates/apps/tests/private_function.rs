//! Private functions against their plain meanings, as circuits and by the universal circuit between two parties.

use crate::common::Random;
use apps::private_function::{Rules, ScoreCard, Tariff, find};
use apps::universal::{ask, serve};
use duologue::channel::Channel;
use duologue::circuit::Circuit;
use duologue::circuit::private::thresholds;
use duologue::circuit::universal::Nodes;
use duologue::{Error, Precomputation};

const CARD: &str = include_str!("../../../examples/private_functions/card.txt");
const TARIFF: &str = include_str!("../../../examples/private_functions/tariff.txt");
const RULES: &str = include_str!("../../../examples/private_functions/rules.txt");

fn bits(value: u64, width: u32) -> impl Iterator<Item = bool> {
    (0..width).map(move |i| value >> i & 1 == 1)
}

fn number(bits: &[bool]) -> u64 {
    bits.iter().rev().fold(0, |number, &bit| 2 * number + u64::from(bit))
}

/// Evaluates by the circuit, by threshold gates, and by nodes; the last two are what the protocols run.
fn evaluate(circuit: &Circuit, input: &[bool]) -> Vec<bool> {
    let result = circuit.evaluate(input);
    assert_eq!(thresholds(circuit).unwrap().evaluate(input), result);
    let words: Vec<u64> = input.iter().map(|&bit| bit.into()).collect();
    let by_nodes = Nodes::of_circuit(circuit).unwrap().evaluate(&words);
    assert!(by_nodes.iter().map(|word| word & 1 == 1).eq(result.iter().copied()));
    result
}

/// A value near a step, or any.
fn value(steps: &[u64], bits: u32, dice: &mut Random) -> u64 {
    let near = steps[dice.below(steps.len() as u64) as usize] + dice.below(3);
    let any = dice.below(1 << bits);
    [near.saturating_sub(1), any][dice.below(2) as usize] & ((1 << bits) - 1)
}

#[test]
fn score_cards() {
    let mut dice = Random(1);
    let card = ScoreCard::parse(CARD).unwrap();
    assert_eq!((card.evaluate(&[24, 1199, 0]), card.evaluate(&[25, 2500, 24])), (17, 83));
    for round in 0..30 {
        let mut text = String::new();
        for attribute in 0..1 + dice.below(5) {
            let width = 1 + dice.below(12);
            text += &format!("a{attribute} {width} # an attribute\n\n");
            let mut from = 0;
            while from >> width == 0 {
                text += &format!(" {from} {}\n", dice.below(8_000));
                from += 1 + dice.below(1 + (1 << width) / 3);
            }
        }
        let text = if round == 0 { CARD } else { &text };
        let card = ScoreCard::parse(text).unwrap();
        let (circuit, steps) = (card.circuit(), [0, 1, 24, 25, 40, 1200, 2500, 6000, 77]);
        for _ in 0..40 {
            let values: Vec<u64> = card.widths().iter().map(|&width| value(&steps, width, &mut dice)).collect();
            let input: Vec<bool> = card.widths().iter().zip(&values).flat_map(|(&w, &v)| bits(v, w)).collect();
            assert_eq!(number(&evaluate(&circuit, &input)), card.evaluate(&values), "{values:?} by {text}");
        }
    }
}

#[test]
fn tariffs() {
    let mut dice = Random(2);
    let tariff = Tariff::parse(TARIFF).unwrap();
    assert_eq!([tariff.evaluate(1, 0), tariff.evaluate(1, 5_001), tariff.evaluate(3, 9)], [12_000, 57_007, 0]);
    for round in 0..20 {
        let mut text = String::new();
        for class in 0..1 + dice.below(5) {
            text += &format!("class {} {}\n", 50 * class + dice.below(50), dice.below(1 << 30));
            let mut from = 0;
            while from < 60_000 {
                text += &format!("{from} {}\n", dice.below(20_000));
                from += 1 + dice.below(30_000);
            }
        }
        let text = if round == 0 { TARIFF } else { &text };
        let tariff = Tariff::parse(text).unwrap();
        let circuit = tariff.circuit();
        for _ in 0..60 {
            let classes = [4, 256][dice.below(2) as usize];
            let class = dice.below(classes);
            let used = value(&[0, 1, 5_000, 10_000, 20_000], 16, &mut dice);
            let input: Vec<bool> = bits(class, 8).chain(bits(used, 16)).collect();
            assert_eq!(number(&evaluate(&circuit, &input)), tariff.evaluate(class, used), "{class} {used} by {text}");
        }
    }
}

/// A text of parts of patterns and of other bytes.
fn text(patterns: &[&[u8]], length: usize, dice: &mut Random) -> Vec<u8> {
    let mut text = Vec::new();
    while text.len() < length {
        let pattern = patterns[dice.below(patterns.len() as u64) as usize];
        let from = dice.below(pattern.len() as u64) as usize / 2;
        let end = if dice.below(2) == 0 { pattern.len() } else { from + 1 };
        text.extend(&pattern[from..end]);
        text.extend((0..dice.below(2)).map(|_| dice.below(256) as u8));
    }
    text.truncate(length);
    text
}

#[test]
fn rules_as_automata() {
    let mut dice = Random(3);
    let mut found = [0; 2];
    for round in 0..40 {
        let letters = 1 + dice.below(3);
        let pattern =
            |dice: &mut Random| (0..1 + dice.below(6)).map(|_| b'a' + dice.below(letters) as u8).collect::<Vec<_>>();
        let own: Vec<Vec<u8>> = (0..1 + dice.below(6)).map(|_| pattern(&mut dice)).collect();
        let lines: Vec<&str> = own.iter().map(|pattern| std::str::from_utf8(pattern).unwrap()).collect();
        let (file, patterns): (String, Vec<&[u8]>) = match round {
            0 => (RULES.into(), vec![&b"password="[..], b"\0\xffsecret", b"pass", b"wordpress"]),
            _ => (lines.join("\n"), own.iter().map(Vec::as_slice).collect()),
        };
        let (rules, length) = (Rules::parse(&file).unwrap(), 1 + dice.below(40) as usize);
        let automaton = rules.automaton();
        assert!(automaton.states() <= 1 + patterns.iter().map(|pattern| pattern.len()).sum::<usize>());
        let circuit = automaton.circuit(length).unwrap();
        for _ in 0..20 {
            let text = text(&patterns, length, &mut dice);
            let input: Vec<bool> = text.iter().flat_map(|&byte| bits(byte.into(), 8)).collect();
            let expected = rules.evaluate(&text);
            assert_eq!(automaton.evaluate(&text), expected, "{file}");
            assert_eq!(evaluate(&circuit, &input), expected, "{file}");
            expected.iter().for_each(|&is| found[usize::from(is)] += 1);
        }
    }
    assert!(found[0] > 500 && found[1] > 500, "{found:?}");
}

/// Any automaton, also one whose states are entered by many bytes.
#[test]
fn a_state_costs_an_and_for_each_class_of_bytes() {
    let rules = Rules::parse("abcdefgh").unwrap();
    let ands = |bytes: usize| rules.automaton().circuit(bytes).unwrap().and_count();
    // Of each byte eight letters, whose upper bits they share, and eight states; then the OR of what was found.
    let each = ands(41) - ands(40);
    assert!(each <= 40, "{each} ANDs a byte");
}

#[test]
fn functions_run_between_two_parties() {
    let mut dice = Random(4);
    for name in ["scorecard:card.txt", "tariff:tariff.txt", "rules:24:rules.txt"] {
        let read = |file: &str| match file {
            "card.txt" => Ok::<String, Error>(CARD.into()),
            "tariff.txt" => Ok(TARIFF.into()),
            _ => Ok(RULES.into()),
        };
        let circuit = find(name, read).unwrap();
        let function = Nodes::of_circuit(&circuit).unwrap();
        let inputs: Vec<Vec<bool>> =
            (0..3).map(|_| (0..circuit.input_width()).map(|_| dice.below(2) == 1).collect()).collect();
        let (to_bob, to_alice) = Channel::pair();
        let results = std::thread::scope(|scope| {
            scope.spawn(|| serve(to_bob, Precomputation::new().unwrap(), &function, 3, None).unwrap());
            let mut results = Vec::new();
            ask(to_alice, Precomputation::new().unwrap(), function.size(), &inputs, &mut results, None).unwrap();
            results
        });
        let expected: Vec<Vec<bool>> = inputs.iter().map(|input| circuit.evaluate(input)).collect();
        assert_eq!(results, expected, "{name}");
    }
}

#[test]
fn files_that_are_none_are_refused_by_line() {
    let refused = |name: &str, text: &str, words: &str| {
        let error = find(name, |_| Ok::<String, Error>(text.into())).expect_err(words).to_string();
        assert!(error.contains(words), "{error}");
    };
    let card = "scorecard:file";
    refused(card, "0 1", "line 1: an attribute NAME BITS");
    refused(card, "# nothing\n", "no attribute");
    refused(card, "a 8", "'a' has no step");
    refused(card, "a 8\n1 5", "line 2: the first step is from 0");
    refused(card, "a 8\n0 5\n0 6", "line 3: 0 is not above 0");
    refused(card, "a 8\n0 5\n256 6", "line 3: '256' is no number below 256");
    refused(card, "a 8\n0 65535\nb 1\n0 1", "a score may be 65536");
    refused(card, "a 33", "1 to 32 bits");
    refused(card, "a 8\n0 1\na 8", "line 3: a name of its own");
    let tariff = "tariff:file";
    refused(tariff, "", "no class");
    refused(tariff, "0 5", "line 1: 'class NUMBER FIXED'");
    refused(tariff, "class 1 5", "class 1 has no band");
    refused(tariff, "class 1 5\n0 1\nclass 1 5", "line 3: class 1 is there already");
    refused(tariff, "class 1 4294967295\n0 1", "a price may be");
    refused(tariff, "class 256 5", "no number below 256");
    let rules = "rules:5:file";
    refused(rules, "", "no pattern");
    refused(rules, "a b", "line 1: one pattern a line");
    refused(rules, "ok\n\\q", "line 2: '\\q' is no pattern");
    refused(rules, "\\x0g", "no pattern");
    refused("rules:0:file", "a", "rules:BYTES:FILE");
    refused("rules:file", "a", "rules:BYTES:FILE");
    refused("card:file", "a", "is no private function");
    refused("scorecard", "a", "is no private function");
    let long = "ab".repeat(3_000);
    refused("rules:65536:file", &long, "states on 65536 bytes");
}

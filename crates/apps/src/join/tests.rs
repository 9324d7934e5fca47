//! Broken twins of what a query keeps: each has one fault, which the comparison with a join sees. What is overwritten.

use super::plan::sum_bytes;
use super::program::{Kept, Rules, told_port};
use super::*;
use duologue::circuit::blocks::{Goal, greater_or_equal};
use duologue::circuit::program::Recipient;
use duologue::circuit::{Bit, Builder, Program, UInt, uint};
use duologue::data::uints;
use duologue::{Inputs, Outputs, plain};

const PARTIES: [Party; 2] = [Party::Alice, Party::Bob];

/// Rows of Alice's and of Bob's, who has more, so that she is the receiver; both have those of the first keys.
const ROWS: [usize; 2] = [300, 310];
const COMMON: usize = 280;

/// Bits of Bob's numbers: room for 256 rows in seven bytes, and for more than there can be in eight.
const BITS: u32 = 48;

/// The greatest of his numbers, which all of them are.
const MOST: i64 = (1 << (BITS - 1)) - 1;

/// Alice's number of a row: below a hundred, and of few rows 7.
fn mark(row: usize) -> i64 {
    if row.is_multiple_of(100) { 7 } else { (row % 7) as i64 }
}

fn column(party: Party, name: &str) -> Column {
    Column { party, name: name.into(), form: "int".into() }
}

/// Counts and sums of all rows in both tables, of those whose mark is not 7, and of those whose mark it is, of which there are three: too few.
fn query() -> Query {
    let number = || Number { column: column(Party::Bob, "number"), bits: BITS };
    let marked = |sign| {
        let test = Test { column: column(Party::Alice, "mark"), sign, value: "7".into() };
        Some(Condition::Test(test))
    };
    let figure = |name: &str, what, of, minimum| Figure { name: name.into(), what, of, by: None, minimum };
    let figures = vec![
        figure("all", What::Count, None, 0),
        figure("usual", What::Count, marked("!="), 0),
        figure("sum", What::Sum(number()), marked("!="), 4),
        figure("few", What::Count, marked("="), 4),
        figure("sum of few", What::Sum(number()), marked("="), 4),
    ];
    Query { learns: Learns::Both, keys: ["k", "k"].map(String::from), figures }
}

/// A party's rows: first those whose keys both have.
fn own(party: Party) -> Own {
    let key = |row: usize| {
        let own = if row < COMMON { 0 } else { 1 + party as u128 };
        (own << 64 | row as u128).to_le_bytes()
    };
    let (rows, mut own) = (ROWS[party as usize], Own::default());
    own.strings = (0..rows).map(key).collect();
    match party {
        Party::Alice => {
            own.tests = ["!=", "="].map(|sign| (0..rows).map(|row| (mark(row) == 7) == (sign == "=")).collect()).into()
        }
        Party::Bob => own.numbers = vec![vec![MOST; rows]],
    }
    own
}

fn expected() -> Vec<Vec<Answer>> {
    let usual = (0..COMMON).filter(|&row| mark(row) != 7).count() as i64;
    let answers = [Answer::Whole(COMMON as i64), Answer::Whole(usual), Answer::Whole(usual * MOST)];
    answers.into_iter().chain([Answer::Withheld; 2]).map(|answer| vec![answer]).collect()
}

/// What comes of the program by these rules, on these rows, in plain.
fn outputs<R: Rules>(owns: [Own; 2]) -> Outputs {
    let query = query();
    let sizes = owns.each_ref().map(|own| own.strings.len() as u64);
    let binding = query.program_by::<R>(sizes).unwrap();
    let inputs = PARTIES.into_iter().zip(owns).map(|(party, own)| own.inputs(&query, party, sizes).unwrap());
    let inputs: Vec<Inputs> = inputs.collect();
    let port = |name: &str| inputs.iter().find_map(|inputs| inputs.get(name)).unwrap().clone();
    let all = binding.inputs().iter().fold(Inputs::new(), |all, input| all.with(&input.name, port(&input.name)));
    plain::run(&binding, &all).unwrap()
}

fn answers<R: Rules>() -> Vec<Vec<Answer>> {
    query().answers(&outputs::<R>(PARTIES.map(own))).unwrap().unwrap()
}

/// The places of the figures that are not what a join has.
fn wrong(answers: &[Vec<Answer>]) -> Vec<usize> {
    answers.iter().zip(expected()).zip(0..).filter(|((one, other), _)| *one != other).map(|(_, place)| place).collect()
}

#[test]
fn the_rules_of_every_query_give_what_a_join_has() {
    assert_eq!(answers::<Kept>(), expected());
}

/// As many rows as there can be are a number without a sign.
#[test]
fn the_most_rows_are_counted() {
    let mut p = Program::new("the most rows");
    let rows = p.input("rows", Party::Alice, uint(COUNT_BITS), 1);
    p.output("all", Recipient::Both, rows);
    let inputs = Inputs::new().with("rows", uints(COUNT_BITS as usize, &[MOST_ROWS]).unwrap());
    let outputs = plain::run(&p.bind(&[]).unwrap(), &inputs).unwrap();
    let query = Query { figures: query().figures[..1].to_vec(), ..query() };
    assert_eq!(query.answers(&outputs).unwrap().unwrap(), [[Answer::Whole(MOST_ROWS as i64)]]);
}

/// The broken twin counts rows on which the condition holds, whether both have their key or not.
#[test]
fn rows_of_one_table_alone_are_not_counted() {
    struct WithoutTheFlag;
    impl Rules for WithoutTheFlag {
        fn selected(_: &mut Builder, _: Bit, holds: Bit) -> Bit {
            holds
        }
    }
    assert_eq!(
        wrong(&answers::<WithoutTheFlag>()),
        [1],
        "rows that Alice alone has are counted; what is added up there is zero"
    );
}

/// The broken twin fills both tables up with the same strings, as zeros would be: these are rows that both have.
#[test]
fn what_fills_a_table_up_meets_nothing() {
    let filled = |fill: fn(&mut Own)| {
        let mut owns = PARTIES.map(own);
        owns.iter_mut().for_each(fill);
        query().answers(&outputs::<Kept>(owns)).unwrap().unwrap()
    };
    assert_eq!(filled(|own| own.pad(320).unwrap()), expected());
    let twin = filled(|own| {
        own.strings.extend((100..110).map(|number| [number; 16]));
        own.fill();
    });
    assert_eq!(wrong(&twin), [0]);
    // Nor do those of one run meet those of another.
    let strings = |_| {
        let mut own = Own::default();
        own.pad(1000).unwrap();
        own.strings.clone()
    };
    let mut all: Vec<[u8; 16]> = (0..3).flat_map(strings).collect();
    all.sort_unstable();
    all.dedup();
    assert_eq!(all.len(), 3000);
}

/// The broken twin opens the figure together with the word that it is withheld.
#[test]
fn of_a_withheld_figure_nothing_is_opened() {
    struct Open;
    impl Rules for Open {
        fn opened(_: &mut Builder, _: Bit, value: &[Bit]) -> Vec<Bit> {
            value.to_vec()
        }
    }
    let few = |outputs: Outputs| {
        let number = |name: &str| outputs.get(name).unwrap().to_numbers::<i64>().unwrap()[0];
        let told = query().figures[3..].iter().map(told_port).map(|port| number(&port)).collect::<Vec<_>>();
        assert_eq!(told, [0, 0], "it is said to be withheld");
        ["few", "sum of few"].map(number)
    };
    assert_eq!(few(outputs::<Kept>(PARTIES.map(own))), [0, 0]);
    assert_eq!(few(outputs::<Open>(PARTIES.map(own))), [3, 3 * MOST], "which the answers do not show");
    assert_eq!(answers::<Open>(), expected());
}

/// The broken twin has a byte less for each sum.
#[test]
fn sums_do_not_overflow() {
    struct Narrow;
    impl Rules for Narrow {
        fn sum_bytes(bits: u32) -> u8 {
            sum_bytes(bits) - 1
        }
    }
    assert_eq!(wrong(&answers::<Narrow>()), [2]);
    // The most rows of the numbers farthest from zero, of those widths whose owner need not look before. A byte less is too little, but
    // where the last byte has nothing but the bit that is to spare.
    let fits = |bytes: u8, bits: u32| u128::from(MOST_ROWS) << (bits - 1) <= 1 << (8 * u32::from(bytes) - 1);
    for bits in 1..=40 {
        assert!(fits(Kept::sum_bytes(bits), bits), "{bits} bits");
        assert_eq!(fits(Narrow::sum_bytes(bits), bits), bits % 8 == 1, "{bits} bits and a byte less");
    }
}

/// The broken twin asks how many rows the tables have, which both parties know, and not how many were counted.
#[test]
fn the_minimum_is_of_rows_that_were_counted() {
    struct OfAllRows;
    impl Rules for OfAllRows {
        fn is_told(c: &mut Builder, _: &UInt, least: u64) -> Bit {
            let [rows, least] = [ROWS[0] as u64, least].map(|number| UInt::constant(number.into(), COUNT_BITS));
            greater_or_equal(c, &rows, &least, Goal::Depth)
        }
    }
    assert_eq!(wrong(&answers::<OfAllRows>()), [3, 4]);
}

/// Rows are overwritten when they are dropped.
#[test]
fn rows_are_overwritten() {
    fn overwrites<T: zeroize::ZeroizeOnDrop>(_: &T) {}
    let mut rows = own(Party::Bob);
    overwrites(&rows);
    zeroize::Zeroize::zeroize(&mut rows);
    assert!(rows.strings.is_empty() && rows.numbers.is_empty());
}

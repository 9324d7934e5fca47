//! Statistics over joined tables, against a join of hash maps and exact numbers.

use crate::common::{self, Random, both, evaluate_plainly};
use apps::join::{Answer, Column, Condition, Figure, Groups, Number, Own, Query, Test, What, run, trade};
use apps::psi::{Learns, string_of};
use duologue::channel::Channel;
use duologue::circuit::program::{Recipient, Step};
use duologue::circuit::{Party, Program, uint};
use duologue::cost::cost_with;
use duologue::data::uints;
use duologue::{Error, Inputs, Options, Scheme, Session};
use std::collections::HashMap;

const PARTIES: [Party; 2] = [Party::Alice, Party::Bob];

/// A table: keys, and columns of whole numbers by name.
struct Table {
    keys: Vec<u64>,
    columns: HashMap<&'static str, Vec<i64>>,
}

fn column(party: Party, name: &str) -> Column {
    Column { party, name: name.into(), form: "int".into() }
}

fn number(party: Party, name: &str, bits: u32) -> Number {
    Number { column: column(party, name), bits }
}

fn test(party: Party, name: &str, sign: &'static str, value: i64) -> Condition {
    Condition::Test(Test { column: column(party, name), sign, value: value.to_string() })
}

/// Both tables, and what is asked of them.
struct Case {
    tables: [Table; 2],
    query: Query,
}

impl Case {
    /// Of so many rows; `common` keys are in both. Numbers of all magnitudes and both signs, few groups.
    fn new(sizes: [usize; 2], common: usize, seed: u64, query: Query) -> Case {
        let mut dice = Random(seed);
        let tables = [0, 1].map(|party| {
            let own = (common..sizes[party]).map(|i| 1000 + 10_000_000 * (party as u64 + 1) + i as u64);
            let mut keys: Vec<u64> = (0..common as u64).chain(own).collect();
            dice.shuffle(&mut keys);
            let mut column = |bits: u32| -> Vec<i64> { (0..sizes[party]).map(|_| dice.number(bits)).collect() };
            let columns = HashMap::from([("small", column(4)), ("value", column(33)), ("wide", column(32))]);
            Table { keys, columns }
        });
        Case { tables, query }
    }

    fn own(&self, party: Party) -> Own {
        let table = &self.tables[party as usize];
        let of = |column: &Column| &table.columns[&*column.name];
        let place = |by: &Groups, value: &i64| by.values.iter().position(|known| *known == value.to_string());
        let passes = |test: &Test, value: &i64| test.passes(value.cmp(&test.value.parse().unwrap()));
        Own {
            strings: table.keys.iter().map(|key| string_of(&key.to_le_bytes())).collect(),
            tests: self
                .query
                .tests(party)
                .iter()
                .map(|test| of(&test.column).iter().map(|v| passes(test, v)).collect())
                .collect(),
            groups: self
                .query
                .groups(party)
                .iter()
                .map(|by| {
                    of(&by.column).iter().map(|value| place(by, value).map_or(u32::MAX, |place| place as u32)).collect()
                })
                .collect(),
            numbers: self.query.numbers(party).iter().map(|number| of(&number.column).clone()).collect(),
        }
    }

    /// The answers by a join.
    fn expected(&self) -> Vec<Vec<Answer>> {
        let [a, b] = &self.tables;
        let other: HashMap<u64, usize> = b.keys.iter().copied().zip(0..).collect();
        let rows: Vec<[usize; 2]> = a.keys.iter().zip(0..).filter_map(|(key, i)| Some([i, *other.get(key)?])).collect();
        let cell = |column: &Column, row: &[usize; 2]| {
            self.tables[column.party as usize].columns[&*column.name][row[column.party as usize]]
        };
        let figure = |figure: &Figure| {
            let groups = figure.by.as_ref().map_or(vec![None], |by| by.values.iter().map(Some).collect());
            groups
                .into_iter()
                .map(|group| {
                    let of = |row: &&[usize; 2]| {
                        let by = figure.by.as_ref().zip(group);
                        figure.of.as_ref().is_none_or(|of| holds(of, &|column| cell(column, row)))
                            && by.is_none_or(|(by, group)| cell(&by.column, row).to_string() == *group)
                    };
                    let rows: Vec<_> = rows.iter().filter(of).collect();
                    let sum =
                        |number: &Number| rows.iter().map(|row| i128::from(cell(&number.column, row))).sum::<i128>();
                    let count = rows.len() as i128;
                    match &figure.what {
                        _ if (rows.len() as u64) < figure.minimum => Answer::Withheld,
                        What::Count => Answer::Whole(count as i64),
                        What::Sum(number) => Answer::Whole(sum(number) as i64),
                        What::Mean(_) if count == 0 => Answer::Withheld,
                        What::Mean(number) => Answer::Mean(rounded(sum(number) << 16, count)),
                    }
                })
                .collect()
        };
        self.query.figures.iter().map(figure).collect()
    }

    /// What a party learns.
    fn run(&self, session: &mut Session) -> Option<Vec<Vec<Answer>>> {
        let (outcome, sizes) = run(session, &self.query, self.own(session.party())).unwrap();
        assert_eq!(sizes, [0, 1].map(|party| self.tables[party].keys.len() as u64));
        self.query.answers(&outcome.outputs).unwrap()
    }
}

/// To the nearest whole number, in the middle away from zero.
fn rounded(sum: i128, count: i128) -> i128 {
    (2 * sum.abs() + count) / (2 * count) * sum.signum()
}

fn holds(condition: &Condition, cell: &impl Fn(&Column) -> i64) -> bool {
    match condition {
        Condition::Test(test) => {
            let (own, constant) = (cell(&test.column), test.value.parse().unwrap());
            match test.sign {
                "<" => own < constant,
                "<=" => own <= constant,
                "=" => own == constant,
                "!=" => own != constant,
                ">=" => own >= constant,
                _ => own > constant,
            }
        }
        Condition::All(parts) => parts.iter().all(|part| holds(part, cell)),
        Condition::Any(parts) => parts.iter().any(|part| holds(part, cell)),
        Condition::Not(inner) => !holds(inner, cell),
    }
}

/// Figures of every kind: conditions that one party decides and that both do, groups of either, minimums.
fn query(learns: Learns) -> Query {
    let (a, b) = (Party::Alice, Party::Bob);
    let groups =
        |party| Some(Groups { column: column(party, "small"), values: (-3..3).map(|i: i64| i.to_string()).collect() });
    let own = test(a, "value", ">=", -2);
    let mixed = Condition::Any(vec![
        Condition::All(vec![test(a, "value", ">", 0), test(b, "small", "!=", 1), test(a, "small", "<", 5)]),
        Condition::Not(Box::new(Condition::Any(vec![test(b, "value", "<=", 7), test(a, "small", "=", 0)]))),
        test(b, "value", "=", -1),
    ]);
    let figure = |name: &str, what, of: Option<&Condition>, by, minimum| Figure {
        name: name.into(),
        what,
        of: of.cloned(),
        by,
        minimum,
    };
    let (his, hers) = (number(b, "value", 33), number(a, "wide", 32));
    let figures = vec![
        figure("rows", What::Count, None, None, 0),
        figure("rows of mine", What::Count, Some(&own), None, 5),
        figure("rows of both", What::Count, Some(&mixed), groups(b), 0),
        figure("his sum", What::Sum(his.clone()), None, None, 0),
        figure("her sum", What::Sum(hers.clone()), Some(&mixed), groups(a), 3),
        figure("his mean", What::Mean(his), Some(&own), groups(a), 0),
        figure("her mean", What::Mean(hers), Some(&mixed), groups(b), 4),
    ];
    Query { learns, keys: ["id", "id"].map(String::from), figures }
}

const SIZES: [([usize; 2], usize); 9] = [
    ([0, 0], 0),
    ([0, 3], 0),
    ([3, 0], 0),
    ([1, 1], 1),
    ([1, 1], 0),
    ([5, 700], 5),
    ([300, 200], 120),
    ([1000, 1000], 1000),
    ([900, 1000], 0),
];

#[test]
fn figures_are_those_of_a_join() {
    let cases: Vec<Case> = SIZES
        .iter()
        .zip(1..)
        .map(|(&(sizes, common), seed)| Case::new(sizes, common, seed, query(Learns::ALL[seed as usize % 3])))
        .collect();
    let learnt = both(|session| cases.iter().map(|case| case.run(session)).collect::<Vec<_>>());
    for (party, learnt) in PARTIES.into_iter().zip(learnt) {
        for (case, learnt) in cases.iter().zip(learnt) {
            let expected = case.query.learns.includes(party).then(|| case.expected());
            assert_eq!(learnt, expected, "{} rows", case.tables[0].keys.len());
        }
    }
}

/// Several exchanges of all that is sent, by silent OT.
#[test]
fn many_rows_take_several_messages() {
    let case = Case::new([40_000, 30_000], 12_345, 77, query(Learns::Both));
    assert_eq!(both(|session| case.run(session)), [0, 1].map(|_| Some(case.expected())));
}

/// A session has one maker of correlations: one that other programs or small queries chose, or that of a query, which goes on for them.
#[test]
fn queries_and_programs_share_a_session() {
    let case = |sizes, common, seed| Case::new(sizes, common, seed, query(Learns::Both));
    let (few, many) = (case([20, 30], 10, 5), case([17_000, 17_000], 9000, 6));
    let act = |session: &mut Session, order: [&Case; 3]| {
        order.map(|case| {
            let (outcome, _) = run(session, &case.query, case.own(session.party())).unwrap();
            assert_eq!(case.query.answers(&outcome.outputs).unwrap(), Some(case.expected()));
            session.maker().unwrap().to_string()
        })
    };
    for makers in both(|session| act(session, [&few, &many, &few])) {
        assert_eq!(makers, ["softspoken4"; 3]);
    }
    for makers in both(|session| act(session, [&many, &few, &many])) {
        assert!(makers.iter().all(|maker| *maker == makers[0] && maker.starts_with("silent")), "{makers:?}");
    }
}

/// Numbers of the most bits, at both ends of what they may be: whoever has two of them is the receiver, however many rows it has.
#[test]
fn the_widest_numbers_change_the_roles() {
    for (wide, narrow, sizes) in [(Party::Alice, Party::Bob, [60, 20]), (Party::Bob, Party::Alice, [20, 60])] {
        let figure =
            |name: &str, what, of: Option<Condition>| Figure { name: name.into(), what, of, by: None, minimum: 0 };
        let (most, least) = (number(wide, "most", 64), number(wide, "least", 64));
        let some = test(wide, "ends", ">", 0);
        let figures = vec![
            figure("most", What::Sum(most.clone()), None),
            figure("mean", What::Mean(most), Some(some.clone())),
            figure("least", What::Sum(least.clone()), None),
            figure("least mean", What::Mean(least), Some(some)),
            figure("41 bits", What::Sum(number(wide, "ends", 41)), None),
            figure("40 bits", What::Sum(number(narrow, "ends", 40)), None),
        ];
        let tables = sizes.map(|rows: usize| {
            let ends = |bits: u32| {
                let end = 1i64 << (bits - 1);
                (0..rows).map(move |i| if i % 2 == 0 { end - 1 } else { -end })
            };
            let bits = if rows == 60 { 41 } else { 40 };
            let column = |first: i64, rest: i64| (0..rows).map(|i| if i == 0 { first } else { rest }).collect();
            let columns = HashMap::from([
                ("most", column(i64::MAX - 59, 1)),
                ("least", column(-i64::MAX, 0)),
                ("ends", ends(bits).collect()),
            ]);
            Table { keys: (0..rows as u64).collect(), columns }
        });
        let query = Query { learns: Learns::Both, keys: ["k", "k"].map(String::from), figures };
        let case = Case { tables, query };
        assert_eq!(both(|session| case.run(session)), [0, 1].map(|_| Some(case.expected())));
    }
}

/// A peer that says it has more rows than there may be is to blame.
#[test]
fn a_peer_with_too_many_rows_is_refused() {
    let query = query(Learns::Both);
    let [refused, _] = both(|session| {
        if session.party() == Party::Alice {
            return trade(session, &query, 5).unwrap_err().to_string();
        }
        let mut p = Program::new(query.name());
        for (name, party) in [("alice rows", Party::Alice), ("bob rows", Party::Bob)] {
            let rows = p.input(name, party, uint(24), 1);
            p.output(name, Recipient::Both, rows);
        }
        let inputs = Inputs::new().with("bob rows", uints(24, &[(1 << 23) + 1]).unwrap());
        session.run(&p.bind(&[]).unwrap(), &Options::new(Scheme::Gmw), &inputs).unwrap();
        String::new()
    });
    assert!(refused.contains("it says that it has 8388609 rows: there are at most 8388608"), "{refused}");
    let own = both(|session| trade(session, &query, (1 << 23) + 1).unwrap_err().to_string());
    assert!(own.iter().all(|why| why.contains("at most 8388608 rows, not 8388609")), "{own:?}");
}

/// A table that is filled up has the figures of its own rows, and the peer hears the number that both know.
#[test]
fn padding_counts_nowhere() {
    let mut all = query(Learns::Both);
    // A condition that does not look at a value holds of none that is no row.
    let not = Condition::Not(Box::new(test(Party::Alice, "value", ">", 100)));
    all.figures.push(Figure { name: "not".into(), what: What::Count, of: Some(not), by: None, minimum: 0 });
    let case = Case::new([50, 70], 40, 3, all);
    let answers = both(|session| {
        let mut own = case.own(session.party());
        own.pad(128).unwrap();
        assert!(matches!(own.pad(127), Err(Error::Usage(_))));
        let (outcome, sizes) = run(session, &case.query, own).unwrap();
        assert_eq!(sizes, [128, 128]);
        case.query.answers(&outcome.outputs).unwrap()
    });
    assert_eq!(answers, [0, 1].map(|_| Some(case.expected())));
}

/// The program's plain meaning is that of the query, whoever the receiver is; and a run takes what it costs.
#[test]
fn the_program_means_the_query() {
    for sizes in [[60, 50], [50, 60], [50, 50]] {
        let case = Case::new(sizes, 30, 9, query(Learns::Both));
        let sizes = sizes.map(|size| size as u64);
        let binding = case.query.program(sizes).unwrap();
        let inputs = PARTIES.map(|party| case.own(party).inputs(&case.query, party, sizes).unwrap());
        let outputs = evaluate_plainly(&binding, &inputs);
        let expected = case.expected();
        for (figure, expected) in case.query.figures.iter().zip(&expected) {
            let numbers: Vec<u64> = expected
                .iter()
                .map(|answer| match *answer {
                    Answer::Withheld => 0,
                    Answer::Whole(number) => number as u64,
                    Answer::Mean(number) => number as u64,
                })
                .collect();
            let width = binding.output(&figure.name).unwrap().ty.width.min(64);
            let low = |number: &u64| number & u64::MAX >> (64 - width);
            assert_eq!(outputs[&figure.name], numbers.iter().map(low).collect::<Vec<_>>(), "{}", figure.name);
        }
        for scheme in [Scheme::Gmw, Scheme::Yao] {
            let options = Options::new(scheme);
            let cost = cost_with(&binding, &options, &apps::calls()).unwrap();
            let outcomes = both(|session| {
                let inputs = case.own(session.party()).inputs(&case.query, session.party(), sizes).unwrap();
                session.run(&binding, &options, &inputs).unwrap()
            });
            let sent = outcomes.each_ref().map(|outcome| outcome.report.online.sent);
            assert_eq!([cost.online.alice_to_bob, cost.online.bob_to_alice], sent, "{scheme:?}");
            assert!(
                outcomes
                    .iter()
                    .all(|outcome| case.query.answers(&outcome.outputs).unwrap().as_ref() == Some(&expected))
            );
        }
    }
}

/// Of a condition on one party's columns no gate is left, and its bit has the text in its name.
#[test]
fn what_one_party_decides_is_one_bit() {
    let (a, b) = (Party::Alice, Party::Bob);
    let own = Condition::All(vec![test(a, "x", ">", 1), Condition::Not(Box::new(test(a, "y", "=", 3)))]);
    let of = Some(Condition::All(vec![own, test(b, "z", "<", 2), test(a, "w", "=", 0)]));
    let figures = vec![Figure { name: "n".into(), what: What::Count, of, by: None, minimum: 0 }];
    let query = Query { learns: Learns::Both, keys: ["k", "k"].map(String::from), figures };
    let binding = query.program([10, 10]).unwrap();
    let names: Vec<&str> = binding.inputs().iter().map(|port| &*port.name).collect();
    let expected = [
        "alice keys",
        "bob keys",
        "0: ((alice.x:int > \"1\" and not alice.y:int = \"3\") and alice.",
        "1: bob.z:int < \"2\"",
    ];
    assert_eq!(names, expected);
    assert_eq!(query.tests(a).len(), 3);
    let maps = binding.program().steps().iter().filter(|step| matches!(step, Step::Map { .. })).count();
    assert_eq!(maps, 2, "the condition and the figure");
}

/// Whatever the text says is in the name of the program, and so in its digest.
#[test]
fn another_query_has_another_digest() {
    let usual = || query(Learns::Both);
    let digest = |query: &Query| query.program([10, 20]).unwrap().digest().unwrap();
    let changes: [fn(&mut Query); 9] = [
        |query| query.learns = Learns::Only(Party::Bob),
        |query| query.keys[0] = "id, other".into(),
        |query| query.figures[0].name = "other".into(),
        |query| query.figures[1].minimum = 6,
        |query| query.figures[1].of = Some(test(Party::Alice, "value", ">=", -1)),
        |query| query.figures[1].of = Some(test(Party::Alice, "value", ">", -2)),
        |query| query.figures[2].by.as_mut().unwrap().values[0] = "7".into(),
        |query| query.figures[2].by.as_mut().unwrap().column.form = "text".into(),
        |query| query.figures.truncate(6),
    ];
    let usual_digest = digest(&usual());
    for (number, change) in changes.iter().enumerate() {
        let mut other = usual();
        change(&mut other);
        assert!(digest(&other) != usual_digest, "change {number}");
    }
    let errors = both(|session| {
        let mut query = usual();
        if session.party() == Party::Bob {
            query.figures[1].minimum = 6;
        }
        trade(session, &query, 5).unwrap_err()
    });
    assert!(errors.iter().all(|error| matches!(error, Error::Incompatible { what: "the program", .. })), "{errors:?}");
}

#[test]
fn what_cannot_be_computed_is_refused_by_name() {
    let with = |change: &dyn Fn(&mut Query)| {
        let mut query = query(Learns::Both);
        change(&mut query);
        query.check().unwrap_err().to_string()
    };
    let wide = |party| What::Sum(number(party, "wide", 64));
    let deep = (0..100).fold(test(Party::Alice, "x", "<", 1), |inner, _| Condition::Not(Box::new(inner)));
    for (change, why) in [
        (&(|query: &mut Query| query.figures.clear()) as &dyn Fn(&mut Query), "1 to 256 figures, not 0"),
        (&|query| query.figures[1].name = "rows".into(), "two figures are named rows"),
        (&|query| query.figures[1].name = "a\nb".into(), "no control character"),
        (&|query| query.figures[0].name = "rows of mine is told".into(), "is that of the output which says whether"),
        (&|query| query.figures[6].name = "his mean is told".into(), "is that of the output which says whether"),
        (&|query| query.figures[3].what = What::Sum(number(Party::Bob, "value", 65)), "1 to 64 bits, not 65"),
        (&|query| query.figures[2].by.as_mut().unwrap().values.clear(), "1 to 4096 groups, not 0"),
        (&|query| query.figures[2].by.as_mut().unwrap().values[1] = "-3".into(), "the group \"-3\" comes twice"),
        (&|query| query.figures[1].of = Some(Condition::All(vec![])), "'and' and 'or' join something"),
        (&|query| query.figures[1].of = Some(deep.clone()), "at most 64 deep"),
        (&|query| query.figures[1].of = Some(test(Party::Bob, "x", "~", 1)), "'~' compares nothing"),
        (
            &|query| {
                query.figures[3].what = wide(Party::Bob);
                query.figures[4].what = wide(Party::Alice);
            },
            "both parties give more than 64 bits of a row, and one must not: alice gives",
        ),
    ] {
        let error = with(change);
        assert!(error.contains(why), "{error}");
    }
}

/// The same of the same rows, once with groups or a minimum and once without: one tells what the other withholds.
#[test]
fn a_figure_that_tells_a_withheld_one_is_refused() {
    let (his, by) = (number(Party::Bob, "value", 33), |name| {
        Some(Groups { column: column(Party::Bob, name), values: vec!["1".into(), "2".into()] })
    });
    let some = Some(test(Party::Alice, "value", ">", 3));
    let check = |[one, other]: [(What, Option<&Condition>, Option<Groups>, u64); 2]| {
        let figures = [("one", one), ("other", other)].map(|(name, (what, of, by, minimum))| Figure {
            name: name.into(),
            what,
            of: of.cloned(),
            by,
            minimum,
        });
        Query { learns: Learns::Both, keys: ["k", "k"].map(String::from), figures: figures.into() }.check()
    };
    let sum = || What::Sum(his.clone());
    for refused in [
        [(sum(), None, None, 3), (sum(), None, by("small"), 3)],
        [(sum(), None, None, 0), (sum(), None, by("small"), 3)],
        [(sum(), some.as_ref(), by("small"), 0), (sum(), some.as_ref(), None, 3)],
        [(What::Count, None, by("value"), 3), (What::Count, None, by("small"), 3)],
        [(What::Count, None, by("small"), 3), (What::Count, None, by("small"), 0)],
        [(What::Mean(his.clone()), None, None, 0), (What::Mean(his.clone()), None, by("small"), 3)],
    ] {
        let error = check(refused).unwrap_err().to_string();
        assert!(error.contains("the figures one and other") && error.contains("of the same rows"), "{error}");
    }
    for allowed in [
        [(sum(), None, None, 0), (sum(), None, by("small"), 0)],
        [(sum(), None, by("small"), 3), (What::Count, None, by("small"), 3)],
        [(sum(), None, None, 3), (sum(), some.as_ref(), by("small"), 3)],
        [(sum(), None, None, 3), (What::Sum(number(Party::Alice, "wide", 32)), None, by("small"), 3)],
    ] {
        assert!(check(allowed).is_ok());
    }
}

/// Rows that the query cannot be computed of: nothing is sent then.
#[test]
fn own_rows_are_checked_first() {
    let case = Case::new([20, 20], 5, 4, query(Learns::Both));
    let refused = |change: &dyn Fn(&mut Own), query: &Query| {
        let mut own = case.own(Party::Alice);
        change(&mut own);
        own.check(query, Party::Alice).unwrap_err().to_string()
    };
    for (change, why) in [
        (
            &(|own: &mut Own| own.numbers[0][3] = 1 << 31) as &dyn Fn(&mut Own),
            "row 3 of alice.wide:int has more than 32 bits",
        ),
        (&|own| _ = own.tests.pop(), "something for each row"),
        (&|own| _ = own.groups[0].pop(), "something for each row"),
    ] {
        let error = refused(change, &case.query);
        assert!(error.contains(why), "{error}");
    }
    let mut wide = case.query.clone();
    let sum = What::Sum(number(Party::Alice, "wide", 64));
    wide.figures = vec![Figure { name: "s".into(), what: sum, of: None, by: None, minimum: 0 }];
    let own = |values: [i64; 2]| {
        let mut own = Own::default();
        (own.strings, own.numbers) = (vec![[1; 16], [2; 16]], vec![values.into()]);
        own
    };
    assert!(own([i64::MAX, 0]).check(&wide, Party::Alice).is_ok());
    let error = own([i64::MAX, -1]).check(&wide, Party::Alice).unwrap_err().to_string();
    assert!(error.contains("alice's alice.wide:int: its numbers without their signs add up to 2^63"), "{error}");
}

fn act(channel: Channel, party: Party) {
    let mut session = Session::connect(channel, party).unwrap();
    session.register_all(&apps::calls());
    for (seed, (sizes, common)) in (1..).zip([([0, 4], 0), ([1, 1], 1), ([300, 1000], 200)]) {
        let case = Case::new(sizes, common, seed, query(Learns::Both));
        assert_eq!(case.run(&mut session), Some(case.expected()));
    }
    session.close().unwrap();
}

#[test]
fn between_two_processes() {
    common::between_two_processes("join::between_two_processes", act);
}

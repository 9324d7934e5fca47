//! `duologue join` between two processes over sockets, against a join of hash maps.

use crate::process::{Done, Place};
use serde_json::{Value, json};
use std::collections::HashMap;
use std::fs;

/// Alice's rows: key, views. Bob's: key, cents, region.
struct Case {
    ads: Vec<(u64, i64)>,
    sales: Vec<(u64, i64, &'static str)>,
}

const REGIONS: [&str; 4] = ["north", "south", "far, east", "none of these"];

impl Case {
    /// So many rows a side, of which `common` have the same keys; ties, and numbers of both signs.
    fn new(sizes: [u64; 2], common: u64) -> Case {
        let key = |i: u64, party: u64| if i < common { i * 7 } else { 1_000_000 * (party + 1) + i };
        let mixed = |i: u64, step: u64, size: u64| i * step % size.max(1);
        let ads = (0..sizes[0]).map(|i| (key(mixed(i, 1, sizes[0]), 0), (i as i64 * 37) % 25 - 4)).collect();
        let sales = (0..sizes[1])
            .rev()
            .map(|i| (key(i, 1), (i as i64 * 7919) % 20_011 - 9000, REGIONS[(i * i % 11 % 4) as usize]));
        Case { ads, sales: sales.collect() }
    }

    fn write(&self, place: &Place) {
        let rows: String = self.ads.iter().map(|(key, views)| format!("k{key},{views}\n")).collect();
        place.write("ads.csv", format!("email,views\n{rows}"));
        let decimal =
            |cents: i64| format!("{}{}.{:02}", if cents < 0 { "-" } else { "" }, cents.abs() / 100, cents.abs() % 100);
        let rows = self.sales.iter().map(|(key, cents, region)| format!("\"{region}\",k{key},{}\n", decimal(*cents)));
        place.write("shop.csv", format!("region,mail,amount\n{}", rows.collect::<String>()));
    }

    /// Views and cents of the rows in both that pass, by regions.
    fn joined(&self, passes: impl Fn(i64, i64, &str) -> bool) -> HashMap<&str, Vec<(i64, i64)>> {
        let views: HashMap<u64, i64> = self.ads.iter().copied().collect();
        let mut groups: HashMap<&str, Vec<(i64, i64)>> = HashMap::new();
        for &(key, cents, region) in &self.sales {
            if let Some(&views) = views.get(&key).filter(|views| passes(**views, cents, region)) {
                groups.entry(region).or_default().push((views, cents));
            }
        }
        groups
    }
}

const OPEN: &str = "--insecure-plaintext";

/// The verb between both parties, Bob's listening. Each word of `query` is an argument; both have it.
fn meet(place: &Place, query: &[&str], [alice, bob]: [&str; 2]) -> [Done; 2] {
    let command = |party: &str, own: &str| {
        let mut command = place.command(&format!("join --as {party} {OPEN} {own}"));
        command.args(query);
        command
    };
    let (bob, address) = place.listen_with(command("bob", bob));
    let alice = place.finish(command("alice", &format!("{alice} --connect {address}")));
    [alice, bob.end()]
}

const OWN: [&str; 2] = ["--input ads.csv:email --json", "--input shop.csv:mail --json"];
const COLUMNS: [&str; 6] = ["--alice", "views:int(16)", "--bob", "amount:decimal(2):int(40)", "--bob", "region:text"];

fn query<'a>(more: &[&'a str]) -> Vec<&'a str> {
    COLUMNS.iter().chain(more).copied().collect()
}

/// A mean as it is shown: of hundredths, rounded to a multiple of 2^-16 of one.
fn mean(sum: i64, count: usize) -> String {
    let (sum, count) = (i128::from(sum) << 16, count as i128);
    let rounded = (2 * sum.abs() + count) / (2 * count) * sum.signum();
    decimal(rounded * 10i128.pow(16) / 65536, 18)
}

/// A number of so many digits behind the point, without zeros at its end.
fn decimal(number: i128, digits: u32) -> String {
    let (sign, unit, size) = (if number < 0 { "-" } else { "" }, 10u128.pow(digits), number.unsigned_abs());
    let rest = format!("{:0width$}", size % unit, width = digits as usize);
    let text = format!("{sign}{}.{rest}", size / unit);
    text.trim_end_matches('0').trim_end_matches('.').into()
}

#[test]
fn figures_by_groups_are_those_of_a_join() {
    let place = Place::new();
    let question = query(&[
        "--where",
        "views >= 10 and not (region = 'south' or amount < -50.25)",
        "--by",
        "region=north,south,none of these",
        "--count",
        "--sum",
        "amount",
        "--mean",
        "bob.amount",
        "--sum",
        "views",
        "--minimum",
        "3",
    ]);
    for (sizes, common, learns) in [
        ([0, 7], 0, "both"),
        ([1, 1], 1, "both"),
        ([300, 1000], 250, "alice"),
        ([5, 5], 0, "bob"),
        ([700, 700], 700, "both"),
    ] {
        let case = Case::new(sizes, common);
        case.write(&place);
        let groups = case.joined(|views, cents, region| views >= 10 && !(region == "south" || cents < -5025));
        let row = |region: &str| -> Value {
            let rows = groups.get(region).map_or(&[][..], Vec::as_slice);
            let told = |value: Value| if rows.len() < 3 { Value::Null } else { value };
            let (views, cents) = rows.iter().fold((0, 0), |(v, c), (views, cents)| (v + views, c + cents));
            let mean = if rows.is_empty() { String::new() } else { mean(cents, rows.len()) };
            json!({"region": region, "count": told(json!(rows.len())), "sum amount": told(json!(decimal(cents.into(), 2))),
                   "mean bob.amount": told(json!(mean)), "sum views": told(json!(views))})
        };
        let expected: Vec<Value> = ["north", "south", "none of these"].map(row).into();
        let done = meet(&place, &[&question[..], &["--learns", learns]].concat(), OWN);
        for (done, party) in done.iter().zip(["alice", "bob"]) {
            let report = done.json();
            assert_eq!((report["told_rows"].as_u64(), report["peer_rows"].as_u64()), {
                let own = usize::from(party == "bob");
                (Some(sizes[own]), Some(sizes[1 - own]))
            });
            match [party, "both"].contains(&learns) {
                true => assert_eq!(report["figures"], json!(expected)),
                false => assert!(report["figures"].is_null(), "{party} learns nothing"),
            }
        }
    }
}

/// Figures without groups, over TLS, from a table that is filled up, into a file and as text.
#[test]
fn a_table_is_filled_up_and_figures_are_written() {
    let place = Place::new();
    let case = Case::new([40, 60], 30);
    case.write(&place);
    let keys = place.tls();
    let question = query(&["--learns", "both", "--count", "--sum", "amount"]);
    let command = |party: &str, own: &str, key: &str| {
        let mut command = place.command(&format!("join --as {party} {own} {key}"));
        command.args(&question);
        command
    };
    let (bob, address) = place.listen_with(command("bob", "--input shop.csv:mail", &keys[1]));
    let own = format!("--input ads.csv:email --pad 100 --output out.csv --connect {address}");
    let alice = place.finish(command("alice", &own, &keys[0]));
    let bob = bob.end();
    let all = case.joined(|_, _, _| true);
    let (count, cents) = all.values().flatten().fold((0, 0), |(count, sum), (_, cents)| (count + 1, sum + cents));
    let sum = decimal(cents.into(), 2);
    alice.succeeded();
    assert_eq!(fs::read_to_string(place.path("out.csv")).unwrap(), format!("count,sum amount\n{count},{sum}\n"));
    assert!(bob.succeeded().stdout.ends_with(&format!("     {count}{sum:>12}\n")), "{}", bob.stdout);
    assert!(bob.stderr.contains("the peer has 100"), "{}", bob.stderr);
    assert!(bob.stderr.contains("both hear how many rows the other has"), "{}", bob.stderr);
}

/// Rows of one key: refused, or the first, or what is added up in the end is added up before it is compared, and all else is equal.
#[test]
fn repeated_keys_are_made_one() {
    let place = Place::new();
    place.write("ads.csv", "email,views\na,9\nb,3\na,4\nc,20\nb,4\n");
    place.write("shop.csv", "region,mail,amount\nx,a,1.00\nx,b,2\nx,c,-4\nx,c,-0.5\ny,d,9\n");
    let asked = ["--learns", "both", "--where", "views >= 10", "--count", "--sum", "amount", "--sum", "views"];
    for (how, count, sum, views) in [
        (&["--repeated", "alice=first", "--repeated", "bob=sum"][..], 1, "-4.5", 20),
        (&["--repeated", "sum", "--repeated", "bob=first"], 2, "-3", 33),
        (&["--repeated", "sum"], 2, "-3.5", 33),
    ] {
        for done in meet(&place, &query(&[&asked, how].concat()), OWN) {
            let expected = json!([{"count": count, "sum amount": sum, "sum views": views}]);
            assert_eq!(done.json()["figures"], expected, "{how:?}");
        }
    }
    let alone = |own: &str, more: &[&str]| {
        let mut command = place.command(&format!("join {OPEN} --connect 127.0.0.1:9 {own}"));
        command.args(query(&[&["--learns", "both", "--count"], more].concat()));
        place.finish(command)
    };
    let another = "it is another one than in an earlier row of its key";
    alone("--as alice --input ads.csv:email", &[]).failed(1, &["line 2 and line 4 have the same key"]);
    alone("--as alice --input ads.csv:email --repeated sum", &["--where", "views > 3"])
        .failed(1, &["line 4, column 'views'", another]);
    place.write("ads.csv", "email,views\nb,1\na,30000\na,1000\na,1768\n");
    alone("--as alice --input ads.csv:email --repeated sum", &["--sum", "views"])
        .failed(1, &["line 3, column 'views': the numbers of its key, added up, have more bits"]);
    place.write("shop.csv", "region,mail,amount\nx,a,1.00\ny,a,2\n");
    alone("--as bob --input shop.csv:mail --repeated sum", &["--by", "region=x,y"])
        .failed(1, &["line 3, column 'region'", another]);
    alone("--as bob --input shop.csv:mail --repeated carol=sum", &[]).failed(2, &["expected alice=HOW or bob=HOW"]);
    alone("--as bob --input shop.csv:mail --repeated last", &[]).failed(2, &["there are refuse, first and sum"]);
}

/// Addresses in several writings are one where both ask for it.
#[test]
fn addresses_are_brought_into_one_form() {
    let place = Place::new();
    place.write("ads.csv", "email,views\n Ann@X.org,9\nbob@x.org ,3\nc@x.org,4\n");
    place.write("shop.csv", "region,mail,amount\nx,ann@x.ORG,1.00\nx,BOB@x.org,2\nx,d@x.org,-4\n");
    let question = query(&["--learns", "both", "--normalise", "email", "--sum", "amount"]);
    for done in meet(&place, &question, OWN) {
        assert_eq!(done.json()["figures"], json!([{"sum amount": "3"}]));
    }
    place.write("shop.csv", "region,mail,amount\nx,ann@x.ORG,1.00\nx,nobody,2\n");
    let mut command = place.command(&format!("join {OPEN} --connect 127.0.0.1:9 --as bob {}", OWN[1]));
    command.args(&question);
    place.finish(command).failed(1, &["shop.csv, line 3, column 'mail': expected an address with one '@'"]);
}

/// Figures are exact beyond what a float holds, and groups are shown as they were written.
#[test]
fn figures_are_exact_and_groups_are_as_written() {
    let place = Place::new();
    place.write("ads.csv", "email,views\na,1\nb,2\n");
    place.write("shop.csv", "mail,amount,day\na,9007199254740993.01,2020-01-01\nb,1.10,2020-01-02\n");
    let question = [
        "--learns",
        "both",
        "--alice",
        "views",
        "--bob",
        "amount:decimal(2):int(64)",
        "--bob",
        "day:date",
        "--by",
        "day=2020-01-02,2020-01-01",
        "--sum",
        "amount",
        "--mean",
        "amount",
        "--sum",
        "views",
    ];
    for done in meet(&place, &question, OWN) {
        let row = |day: &str, amount: &str, views: u64| json!({"day": day, "sum amount": amount, "mean amount": amount, "sum views": views});
        let expected = json!([row("2020-01-02", "1.1", 2), row("2020-01-01", "9007199254740993.01", 1)]);
        assert_eq!(done.json()["figures"], expected);
    }
}

/// What is wrong with a query or a table is said before the peer is called.
#[test]
fn mistakes_are_named_first() {
    let place = Place::new();
    Case::new([5, 5], 2).write(&place);
    let alone = |more: &[&str]| {
        let mut command = place.command(&format!("join --as bob {OPEN} --connect 127.0.0.1:9 --input shop.csv:mail"));
        command.args(query(&[&["--learns", "both"], more].concat()));
        place.finish(command)
    };
    for (more, code, words) in [
        (&[][..], 2, &["nothing is asked"][..]),
        (&["--count", "--where", "views > "], 2, &["expected a constant behind '>'"]),
        (&["--count", "--where", "views 3"], 2, &["expected < <= = != >= or > behind 'views'"]),
        (&["--count", "--where", "(views > 3"], 2, &["expected ')', not nothing"]),
        (&["--count", "--where", "views > 3 views"], 2, &["'views' follows a whole condition"]),
        (&["--count", "--where", "clicks > 3"], 2, &["no column 'clicks' is declared"]),
        (&["--count", "--where", "amount > 3.123"], 2, &["'3.123' is no constant of bob.amount"]),
        (&["--count", "--where", "region < 'n'"], 2, &["is text, which is compared by = and != alone"]),
        (&["--count", "--where", "region = 'n"], 2, &["a quote is not closed"]),
        (&["--sum", "region"], 2, &["is text, and is not added up"]),
        (&["--count", "--by", "region"], 2, &["the groups are missing"]),
        (&["--count", "--by", "region=a,b,a"], 2, &["the group a comes twice"]),
        (&["--count", "--bob", "count", "--by", "count=1"], 2, &["are both named 'count'"]),
        (&["--count", "--bob", "views"], 2, &[]),
        (&["--sum", "cost", "--bob", "cost"], 1, &["shop.csv has no column 'cost'"]),
        (&["--sum", "mail", "--bob", "mail"], 1, &["shop.csv, line 2, column 'mail': expected"]),
        (&["--sum", "x", "--bob", "x:float(32,8)"], 2, &["columns are text, or whole numbers of one type"]),
        (&["--count", "--pad", "3"], 1, &["5 rows are more than the 3"]),
    ] {
        if more.contains(&"views") && more.contains(&"--bob") {
            // Both have such a column now: that is no mistake until it is named.
            alone(&[more, &["--where", "views > 1"]].concat()).failed(code, &["both tables have a column 'views'"]);
            continue;
        }
        alone(more).failed(code, words);
    }
}

/// Parties that do not ask the same hear what each asks, and no key was used.
#[test]
fn different_queries_are_told() {
    let place = Place::new();
    Case::new([5, 5], 2).write(&place);
    let command = |party: &str, own: &str, minimum: &str| {
        let mut command = place.command(&format!("join --as {party} {OPEN} {own} --minimum {minimum}"));
        command.args(query(&["--learns", "both", "--count"]));
        command
    };
    let (bob, address) = place.listen_with(command("bob", OWN[1], "3"));
    let alice = place.finish(command("alice", &format!("{} --connect {address}", OWN[0]), "2"));
    let words = ["the parties do not ask the same", "count = count with 2 rows or more"];
    alice.failed(4, &words);
    bob.end().failed(4, &["count = count with 3 rows or more"]);
}

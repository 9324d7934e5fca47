//! What people read: names and words of others, refusals, and what to do next.

use crate::process;
use crate::process::Place;
use duologue::circuit::program::{Recipient, View};
use duologue::circuit::{Builder, Party, Program, uint};
use serde_json::Value;
use std::collections::BTreeSet;
use std::io::{Read, Write};
use std::net::TcpListener;

/// A party that nobody answers.
const AWAY: &str = "--insecure-plaintext --connect 127.0.0.1:1 --wait 60 --yes";

/// Characters that move, hide or turn around what stands beside them.
fn deceives(text: &str) -> bool {
    text.chars().any(|c| (c.is_control() && c != '\n') || "\u{202e}\u{200b}\u{a0}\u{5d0}".contains(c))
}

/// A program whose every name tries to be more than a name.
fn deceiving() -> Program {
    let mut c = Builder::new("sum\u{200b}  bob learns nothing");
    let (a, b) = (c.uint("a\u{202e}", 8), c.uint("b\u{a0}  (you)", 8));
    let sum = duologue::circuit::blocks::add(&mut c, &a, &b, duologue::circuit::blocks::Goal::Size);
    c.output("\u{5d0}", &sum);
    let sum = c.finish();
    let mut p = Program::new("add\u{202e}[2J");
    let lanes = p.size("n\u{202e}", 1..=9);
    let a = p.input("mine\u{202e}", Party::Alice, uint(8), lanes);
    let b = p.input("yours  alice learns  nothing", Party::Bob, uint(8), lanes);
    let sum = p.map(&sum, &[a, b]);
    p.output("sum\u{5d0}\u{200b}", Recipient::Both, sum);
    p
}

#[test]
fn names_in_a_program_stay_names() {
    let place = Place::new();
    place.write("evil.duo", deceiving().to_bytes().unwrap());
    for args in
        ["inspect evil.duo", "inspect evil.duo --json", "export evil.duo -o copy.duo", "export evil.duo -o x.txt"]
    {
        let done = place.run(args);
        assert!(!deceives(&done.succeeded().stdout) && !deceives(&done.stderr), "{args}: {}", done.stdout);
    }
    let shown = place.run("inspect evil.duo").stdout;
    for words in [r#""yours \u{20}alice learns \u{20}nothing""#, r#""add\u{202e}[2J""#] {
        assert!(shown.contains(words), "no {words} in {shown}");
    }
    for args in [
        "run evil.duo --as bob",
        "run evil.duo --as alice --input x=1",
        "cost evil.duo",
        "run evil.duo --as bob --output x=y",
    ] {
        let args = if args.starts_with("cost") { args.into() } else { format!("{args} {AWAY}") };
        let refused = place.run(&args);
        assert!(!deceives(refused.failed(1, &[]).stderr.as_str()), "{args}: {}", refused.stderr);
    }
    // The JSON holds the names as they are.
    let report = place.run("inspect evil.duo --json").json();
    assert_eq!(report["program"], "add\u{202e}[2J");
}

#[test]
fn a_peer_s_last_words_stay_words() {
    let place = Place::new();
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let peer = std::thread::spawn(move || {
        let mut stream = listener.accept().unwrap().0;
        stream.read_exact(&mut [0; 49]).unwrap();
        let words = "gone\x1b[2J\u{202e}\u{5d0}\u{200b}\r\nerror: all is well";
        let mut frame = vec![2, words.len() as u8 + 1, 0, 0, 4];
        frame.extend(words.as_bytes());
        stream.write_all(&frame).unwrap();
        stream.shutdown(std::net::Shutdown::Write).unwrap();
        stream.read_to_end(&mut Vec::new())
    });
    let done =
        place.run(&format!("run block:add:8 --as bob --insecure-plaintext --connect {address} --input b=1 --yes"));
    done.failed(5, &["the peer stopped: it failed: gone", "hint: look at what the peer's side printed"]);
    assert!(!deceives(&done.stderr) && done.stderr.lines().count() == 2, "{}", done.stderr);
    drop(peer.join().unwrap());
}

#[test]
fn numbers_out_of_range_are_refused_with_the_range() {
    let place = Place::new();
    let alice = format!("run block:add:32 --as alice {AWAY} --input a=1");
    for (args, code, words) in [
        ("--threads 0", 2, &["0 is not in 1..=256"][..]),
        ("--threads 5000", 2, &["5000 is not in 1..=256"]),
        ("--tile 0", 2, &["0 is not in 1..=1048576"]),
        (
            "--size lanes=1000000000",
            1,
            &["1000000000 lanes of uint(32) is too large", "at most 536870912", "2^34 bits"],
        ),
        ("--size lanes=5000000000", 1, &["5000000000 is not between 0 and 4294967296"]),
        ("--size lanes=x", 2, &["'x' after 'lanes='"]),
    ] {
        let done = place.run(&format!("{alice} {args}"));
        assert_eq!(done.code, Some(code), "{args}: {}", done.stderr);
        words.iter().for_each(|word| assert!(done.stderr.contains(word), "{args}: no '{word}' in {}", done.stderr));
    }
}

#[test]
fn a_second_sign_of_equality_is_explained() {
    let place = Place::new();
    let refused = place.run(&format!("run block:add:8 --as alice {AWAY} --input a=b=5"));
    refused.failed(1, &["the input 'a': lane 0", "hint: NAME=SOURCE ends its name at the first '='"]);
    let mut p = Program::new("sign");
    let x = p.input("a=b", Party::Alice, uint(8), 1);
    p.output("x", Party::Bob, x);
    place.write("sign.duo", p.to_bytes().unwrap());
    let refused = place.run(&format!("run sign.duo --as alice {AWAY}"));
    refused.failed(1, &["'a=b' is not given", "hint: no command line can give a name with '=' in it"]);
}

#[test]
fn a_port_that_is_none_is_no_firewall() {
    let place = Place::new();
    for (meet, words) in [
        ("--connect localhost:99999", "the port 99999 is above 65535, the highest there is"),
        ("--listen localhost:99999", "the port 99999 is above 65535, the highest there is"),
        ("--connect localhost:http", "'http' is no port"),
        ("--connect localhost", "has no port"),
    ] {
        let done = place.run(&format!("run block:add:8 --as bob --insecure-plaintext --yes --input b=1 {meet}"));
        done.failed(1, &[words]);
        assert!(!done.stderr.contains("firewall"), "{}", done.stderr);
    }
}

const ADD: &str = "run block:add:8 --yes";

#[test]
fn two_of_one_name_are_told_who_they_are() {
    let place = Place::new();
    let plain = "--insecure-plaintext --input a=1 --size lanes=1";
    let (first, address) = place.listen(&format!("{ADD} --as alice {plain}"));
    let second = place.run(&format!("{ADD} --as alice {plain} --connect {address}"));
    for done in [first.end(), second] {
        done.failed(
            4,
            &[
                "who is who",
                "ours is alice, theirs is alice",
                "hint: one party runs with --as alice, the other with --as bob",
            ],
        );
    }
}

#[test]
fn a_link_on_one_side_is_named_on_both() {
    let place = Place::new();
    let (alice, bob) = ("--as alice --insecure-plaintext --input a=1", "--as bob --insecure-plaintext --input b=2");
    for [alices, bobs] in [["--link 1ms", ""], ["", "--link 1ms,1Gbit"]] {
        let (listener, address) = place.listen(&format!("{ADD} {bob} {bobs}"));
        let done = place.run(&format!("{ADD} {alice} {alices} --connect {address}"));
        for (done, link) in [(done, alices), (listener.end(), bobs)] {
            let words = match link.is_empty() {
                true => "the link: ours is as it is, theirs is simulated",
                false => "the link: ours is simulated, theirs is as it is",
            };
            done.failed(4, &[words, "hint: both parties give --link, or neither"]);
        }
    }
    // Different ones are no mistake: each shapes what its own party sends.
    let (listener, address) = place.listen(&format!("{ADD} {bob} --link 2ms"));
    place.run(&format!("{ADD} {alice} --link 1ms,1Gbit --connect {address}")).succeeded();
    listener.end().succeeded();
}

#[test]
fn plaintext_that_meets_tls_is_named_on_both_sides() {
    let place = Place::new();
    let tls = place.tls();
    let hint = "hint: both parties give --peer-key, or both --insecure-plaintext";
    let (listener, address) = place.listen(&format!("{ADD} --as bob --insecure-plaintext --input b=2"));
    let done = place.run(&format!("{ADD} --as alice {} --input a=1 --connect {address}", tls[0]));
    done.failed(4, &["encryption: ours is TLS, theirs is plaintext", hint]);
    listener.end().failed(4, &["encryption: ours is plaintext, theirs is TLS", hint]);
    // A listener by TLS goes on, for it may have been a stranger.
    let (mut listener, address) = place.listen(&format!("{ADD} --as bob {} --input b=2", tls[1]));
    let done = place.run(&format!("{ADD} --as alice --insecure-plaintext --input a=1 --connect {address}"));
    done.failed(4, &["encryption: ours is plaintext, theirs is TLS", hint]);
    let warned = listener.until(" WARN ");
    assert!(warned.contains("still listening") && warned.contains("ours is TLS, theirs is plaintext"), "{warned}");
    place.run(&format!("{ADD} --as alice {} --input a=1 --connect {address}", tls[0])).succeeded();
    listener.end().succeeded();
}

#[test]
fn a_program_is_not_cut_to_its_circuit() {
    let place = Place::new();
    place.run("export app:scifi:8 -o scifi.duo").succeeded();
    let refused = place.run("export scifi.duo -o scifi.txt");
    refused.failed(1, &["is more than a circuit", "it has 1 view", "hint: name the file FILE.duo"]);
    assert!(!place.path("scifi.txt").exists());
    place.run("export app:social:8 -o social.txt").failed(1, &["1 more map", "reduction", "view"]);
    place.run("export block:add:8 -o add.duo").succeeded();
    place.run("export add.duo -o add.txt").succeeded();
    // The circuit alone, but with its arguments exchanged.
    let add =
        duologue::circuit::blocks::find("add").unwrap().circuit(&[8], duologue::circuit::blocks::Goal::Size).unwrap();
    let mut p = Program::new("swapped");
    let [a, b] = [Party::Alice, Party::Bob].map(|party| p.input(&party.to_string(), party, uint(8), 1));
    let sum = p.map(&add, &[b, a]);
    p.output("sum", Recipient::Both, sum);
    place.write("swapped.duo", p.to_bytes().unwrap());
    place.run("export swapped.duo -o swapped.txt").failed(1, &["not those of the circuit"]);
    place.run("export add.duo -o add.zip").failed(1, &["add.zip: the end of a file's name says its format", "hint: "]);
}

#[test]
#[cfg(unix)]
fn a_folder_of_other_things_is_no_pool() {
    use std::os::unix::fs::PermissionsExt;
    let place = Place::new();
    std::fs::set_permissions(place.path("."), PermissionsExt::from_mode(0o755)).unwrap();
    place.write("file", "");
    for (folder, words) in
        [(".", "holds neither a pool nor prepared runs"), ("none", "is not there"), ("file", "is no folder")]
    {
        let refused = place.run(&format!("pool {folder}"));
        refused.failed(1, &[words, "hint: `duologue pool fill", "`duologue prepare"]);
        assert!(!refused.stderr.contains("chmod"), "{}", refused.stderr);
    }
    let refused = place.run(&format!("run block:add:8 --as bob --input b=1 {AWAY} --pool ."));
    refused.failed(1, &["there is no pool in .", "`duologue pool fill`"]);
}

#[test]
fn reports_name_a_garbler_where_there_is_one() {
    let place = Place::new();
    for (protocol, garbler) in [("yao", true), ("gmw", false), ("gmw-masked", false)] {
        let common = format!("block:add:8 --insecure-plaintext --yes --json --protocol {protocol}");
        let (alice, bob) = place.both(&common, "--input a=1", "--input b=2");
        for report in [alice.json(), bob.json()] {
            assert_eq!([report["garbler"].is_string(), report["garbling"].is_string()], [garbler; 2], "{report}");
        }
    }
    let cost = place.run("cost block:add:8 --size lanes=1 --json").json();
    let garblers: Vec<bool> =
        cost["protocols"].as_array().unwrap().iter().map(|cost| cost["garbler"].is_string()).collect();
    assert_eq!(garblers, [true, false, false]);
}

#[test]
fn inspect_shows_all_that_decides_what_is_computed() {
    let place = Place::new();
    let mut p = Program::new("views");
    let x = p.input("x", Party::Alice, uint(8), 1000);
    let even: Vec<u64> = (0..500).map(|lane| 2 * lane).collect();
    let y = p.view(View::Lanes(even), &[x]);
    p.constant(uint(16), 3, &(0..16).map(|bit| 0x1234 >> bit & 1 == 1).collect::<Vec<_>>());
    p.output("y", Party::Bob, y);
    place.write("views.duo", p.to_bytes().unwrap());
    let shown = place.run("inspect views.duo").succeeded().stdout.clone();
    assert!(shown.contains("v1 = lanes 0, 2, 4, ") && shown.contains("(500 numbers, BLAKE3 "), "{shown}");
    assert!(shown.contains("v2 = constant 4660: uint(16) × 3"), "{shown}");
    let full = place.run("inspect views.duo --full").succeeded().stdout.clone();
    assert!(full.contains("994, 996, 998 of (v0)") && !full.contains("BLAKE3"), "{full}");
    let steps = place.run("inspect views.duo --json").json()["steps"].clone();
    assert!(steps[1].as_str().unwrap().ends_with("994, 996, 998 of (v0)"), "{steps}");
}

#[test]
fn applications_say_what_to_supply() {
    let place = Place::new();
    let apps = place.run("blocks --json").json()["apps"].clone();
    for app in apps.as_array().unwrap() {
        let name = app["name"].as_str().unwrap();
        let report = place.run(&format!("inspect {name} --json")).json();
        for port in ["inputs", "outputs"].iter().flat_map(|side| report[side].as_array().unwrap()) {
            assert!(port["about"].as_str().is_some_and(|about| !about.is_empty()), "{name}: {port}");
        }
    }
    let shown = place.run("inspect app:social").succeeded().stdout.clone();
    assert!(shown.contains("user_interests  a bit for each interest of each user"), "{shown}");
    assert_eq!(place.run("inspect block:add --json").json()["inputs"][0]["about"], Value::Null);
}

#[test]
fn blocks_of_one_make_say_so() {
    let place = Place::new();
    let one = place.run("blocks equal").succeeded().stdout.clone();
    assert!(one.contains("one make, which serves both goals"), "{one}");
    assert!(!place.run("blocks add").succeeded().stdout.contains("one make"));
    let digest = |name: &str| place.run(&format!("inspect {name} --json")).json()["digest"].clone();
    assert_eq!(digest("block:equal:8:size"), digest("block:equal:8:depth"));
    // The book names them all, and no other.
    let book = std::fs::read_to_string(process::repository("docs/blocks.md")).unwrap();
    let section = book.split("## Goals").nth(1).unwrap().split("## In Rust").next().unwrap();
    let named: BTreeSet<&str> = section.split('`').skip(1).step_by(2).filter(|name| !name.contains(' ')).collect();
    let blocks = place.run("blocks --json").json()["blocks"].clone();
    let one_make = blocks.as_array().unwrap().iter().filter(|block| block["goals"].as_array().unwrap().len() == 1);
    let mut expected: BTreeSet<&str> =
        one_make.map(|block| block["name"].as_str().unwrap().split(':').nth(1).unwrap()).collect();
    expected.extend(["size", "depth", "Goal"]);
    assert_eq!(named, expected);
}

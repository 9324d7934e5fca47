//! The formats of circuits on the command line: each is written and read, with names, types and parties as far as it has them.

use crate::process::Place;
use duologue::circuit::{Circuit, Program};

/// Whether a is greater, as Yosys writes it, mapped to cells of the technology library: two bits of each party.
const RICHER: &str = r#"{ "creator": "Yosys", "modules": { "richer": {
  "ports": {
    "a": { "direction": "input", "bits": [2, 3] },
    "b": { "direction": "input", "bits": [4, 5] },
    "y": { "direction": "output", "bits": [6] } },
  "cells": {
    "low": { "type": "DUO_ANDNOT", "connections": { "A": [2], "B": [4], "Y": [7] } },
    "not": { "type": "DUO_NOT", "connections": { "A": [5], "Y": [8] } },
    "high": { "type": "DUO_MAJ", "connections": { "A": [3], "B": [8], "C": [7], "Y": [6] } } },
  "netnames": {
    "a": { "bits": [2, 3], "attributes": { "party": "alice" } },
    "b": { "bits": [4, 5], "attributes": { "party": "bob" } },
    "y": { "bits": [6], "attributes": { "reveal": "bob" } } } } } }"#;

/// The circuit of a program in a file.
fn circuit(place: &Place, file: &str) -> Circuit {
    let bytes = std::fs::read(place.path(file)).unwrap();
    Program::from_bytes(&bytes).unwrap().circuits()[0].clone()
}

fn is_greater(circuit: &Circuit) -> bool {
    (0..16u32).all(|x| {
        let bits: Vec<bool> = (0..4).map(|i| x >> i & 1 == 1).collect();
        circuit.evaluate(&bits) == [(x & 3) > x >> 2]
    })
}

#[test]
fn every_format_is_written_and_read() {
    let place = Place::new();
    place.write("richer.json", RICHER);
    let made = place.run("compile richer.json -o richer.duo --json").json();
    assert_eq!(made["ands"], 2, "a cell of one AND each: {made}");
    assert!(is_greater(&circuit(&place, "richer.duo")));
    for end in ["bristol", "txt", "shdl", "blif", "aag", "aig"] {
        place.run(&format!("compile richer.json -o made.{end}")).succeeded();
        place.run(&format!("export richer.duo -o exported.{end}")).succeeded();
        place.run(&format!("optimise made.{end} -o optimised.{end} --effort 1")).succeeded();
        for file in ["made", "exported", "optimised"] {
            place.run(&format!("import {file}.{end} -o again.duo")).succeeded();
            assert!(is_greater(&circuit(&place, "again.duo")), "{file}.{end}");
        }
    }
    let named = ["shdl", "blif", "aag", "aig"];
    for end in named {
        place.run(&format!("import made.{end} -o again.duo")).succeeded();
        let shown = place.run("inspect again.duo").succeeded().stdout.clone();
        assert!(["alice supplies a:", "bob supplies b:"].iter().all(|step| shown.contains(step)), "{end}: {shown}");
    }
    place.run("import made.aig -o again.duo --format bristol").failed(7, &["made.aig"]);
    place.run("import made.blif -o again.duo --format shdl").failed(7, &["SHDL file, line 1"]);
}

#[test]
fn shdl_and_verilog_keep_the_parties() {
    let place = Place::new();
    place.write("richer.json", RICHER);
    place.run("compile richer.json -o richer.shdl --inputs a=bob,b=alice").succeeded();
    place.run("import richer.shdl -o turned.duo").succeeded();
    let shown = place.run("inspect turned.duo").succeeded().stdout.clone();
    for step in ["bob supplies a:", "alice supplies b:", "bob learns y:"] {
        assert!(shown.contains(step), "no '{step}' in {shown}");
    }
    place.run("import richer.shdl -o mine.duo --inputs alice").succeeded();
    assert!(place.run("inspect mine.duo").succeeded().stdout.contains("alice supplies a:"));
    place.run("compile richer.json -o richer.v").succeeded();
    let text = std::fs::read_to_string(place.path("richer.v")).unwrap();
    for part in
        ["module richer (", "(* party = \"alice\" *) input [1:0] a,", "(* reveal = \"bob\" *) output y", "DUO_AND"]
    {
        assert!(text.contains(part), "no '{part}' in {text}");
    }
    place.run("import richer.v -o x.duo").failed(1, &["richer.v is Verilog", "duologue compile richer.v"]);
    place.run("import turned.duo -o x.duo").failed(1, &["turned.duo is a program already"]);
    place.run("compile richer.json -o x.blif --inputs a=bob").failed(1, &["a circuit in BLIF has none"]);
}

#[test]
fn ports_get_names_and_types() {
    let place = Place::new();
    place.write("richer.json", RICHER);
    place.run("compile richer.json -o richer.txt").succeeded();
    let import = "import richer.txt -o named.duo";
    place.run(&format!("{import} --port mine:uint(2) --port low:bit --port high:bit --port more:bits(1)")).succeeded();
    let circuit = circuit(&place, "named.duo");
    let shown: Vec<String> =
        circuit.inputs().iter().chain(circuit.outputs()).map(|port| format!("{} {}", port.name, port.ty)).collect();
    assert_eq!(shown, ["mine uint(2)", "low bits(1)", "high bits(1)", "more bits(1)"]);
    assert!(is_greater(&circuit));
    place.run(&format!("{import} --port x:float(4,2)")).succeeded();
    assert!(place.run("inspect named.duo").succeeded().stdout.contains("out0"), "outputs keep their names");
    for (ports, parts) in [
        ("--port x:uint(5)", &["'x' is uint(5)", "room for 4 input bits"][..]),
        ("--port x:uint(3)", &["4 input bits", "3 bits together"]),
        ("--port x:uint(3) --port y:uint(2)", &["'y' is uint(2)", "1 input bit"]),
        ("--port x:uint(4) --port y:bits(2)", &["'y' is bits(2)", "1 output bit"]),
        ("--port x:uint(4) --port y:bit --port z:bit", &["'z' is one more"]),
        ("--port x:uint(2) --port x:uint(2)", &["'x'", "used twice"]),
    ] {
        place.run(&format!("{import} {ports}")).failed(1, parts);
    }
    for (port, part) in [
        ("x", "NAME:TYPE"),
        ("x:real(4)", "'real(4)' is no type"),
        ("x:uint(0)", "has no bits"),
        ("x:float(4,4)", "exponent"),
    ] {
        assert!(place.run(&format!("{import} --port {port}")).stderr.contains(part), "{port}");
    }
    place.run("optimise richer.txt -o small.duo --port a:int(2) --port b:int(2) --port greater:bit").succeeded();
    place.run("optimise small.duo -o x.duo --port a:int(2)").failed(1, &["--port"]);
}

/// An AND of two bytes as Fairplay's compiler writes it, on two processes.
#[test]
fn fairplay_runs() {
    let place = Place::new();
    let input = |party: &str, from: usize| {
        (0..8).map(|i| format!("{} input\t\t//output$input.{party}${i}\n", from + i)).collect::<String>()
    };
    let output = |party: &str, from: usize| {
        let gate = |i| {
            format!(
                "{} output gate arity 2 table [ 0 0 0 1 ] inputs [ {} {i} ]\t//output$output.{party}${i}\n",
                from + i,
                8 + i
            )
        };
        (0..8).map(gate).collect::<String>()
    };
    let text = [input("bob", 0), input("alice", 8), output("alice", 16), output("bob", 24)].concat();
    place.write("and.Opt.circuit", text);
    let ports = "--port bob:uint(8) --port alice:uint(8) --port a:uint(8) --port b:uint(8)";
    place.run(&format!("import and.Opt.circuit -o and.duo {ports} --inputs bob,alice")).succeeded();
    let (alice, bob) = place.both("and.duo --insecure-plaintext --yes --json", "--input alice=12", "--input bob=10");
    assert_eq!((alice.values("a"), bob.values("b")), (vec![8.into()], vec![8.into()]));
    place.run("import and.Opt.circuit -o theirs.duo").succeeded();
    let (alice, bob) = place.both("theirs.duo --insecure-plaintext --yes --json", "--input alice=0c", "--input bob=0a");
    assert_eq!(alice.values("alice"), ["08"]);
    assert!(bob.values("bob") == ["08"] && bob.json()["outputs"]["alice"].is_null());
}

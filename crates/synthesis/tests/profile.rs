//! What each line of a design costs: all lines together the ANDs of the circuit.

use circuit::blocks::Goal;
use serde_json::json;
use std::fs;
use std::io::Write;
use std::time::Duration;
use synthesis::clocked::{self, Clocking, Form};
use synthesis::netlist::Module;
use synthesis::parties::Said;
use synthesis::yosys::{Design, Yosys};

fn read(test: &str, text: &str, clocked: bool) -> Option<Module> {
    let yosys = Yosys::find(None, Duration::from_secs(300));
    let yosys = yosys.map_err(|why| drop(writeln!(std::io::stderr(), "verilog: {test} skipped: {why}"))).ok()?;
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let file = folder.path().join("design.v");
    fs::write(&file, text).unwrap();
    let design = Design { files: vec![file], top: Some("m".into()), parameters: vec![], clocked, blocks: vec![] };
    Some(yosys.netlist(&design).and_then(|netlist| netlist.module()).unwrap())
}

/// The lines by their numbers.
fn lines(profile: &synthesis::Profile) -> Vec<(u32, u64)> {
    let number = |place: &str| place.rsplit_once("design.v:").expect(place).1.parse().unwrap();
    profile.lines().iter().map(|(place, ands)| (number(place), *ands)).collect()
}

#[test]
fn lines_add_up_to_the_circuit() {
    let text = "module m(input [15:0] a, b, c, output [31:0] y, output less, any);
        wire [31:0] p = a * b;
        assign y = p + c;
        assign less = a < c;
        assign any = |c;
    endmodule";
    let Some(module) = read("lines_add_up_to_the_circuit", text, false) else { return };
    for goal in [Goal::Size, Goal::Depth] {
        let (made, profile) = synthesis::profile(&module, goal).unwrap();
        let lines = lines(&profile);
        assert_eq!(lines.iter().map(|(_, ands)| ands).sum::<u64>(), made.circuit.and_count());
        let of = |line: u32| lines.iter().find(|(number, _)| *number == line).unwrap().1;
        assert_eq!(lines[0].0, 2, "the dearest first");
        assert_eq!(of(5), 15);
        if goal == Goal::Size {
            assert_eq!(of(4), 16);
        }
        // One sum of 256 bits of a product and 16 of a word.
        let both = of(2) + of(3);
        assert_eq!(of(2), both * 256 / 272);
    }
}

#[test]
fn cycles_are_charged_as_often_as_they_run() {
    let text = "module m(input clk, (* party = \"alice\" *) input [7:0] a, output reg [7:0] s, output y);
        always @(posedge clk) s <= s + a;
        assign y = &s;
    endmodule";
    let Some(module) = read("cycles_are_charged_as_often_as_they_run", text, true) else { return };
    for form in [Form::Iterate, Form::Unroll] {
        let clocking = Clocking { cycles: 5, each: vec![], resets: vec![], form: Some(form) };
        let clocked = clocked::program(&module, Goal::Size, &clocking, &Said::default()).unwrap();
        let lines = lines(&clocked.profile);
        assert_eq!(lines.iter().map(|(_, ands)| ands).sum::<u64>(), clocked.ands(5));
        if form == Form::Iterate {
            // Seven of a sum in each cycle, and seven after the last one.
            assert_eq!(lines, [(2, 35), (3, 7)]);
        }
    }
}

/// What no output needs costs nothing, and cells without a line have their names.
#[test]
fn gates_are_charged_to_their_lines() {
    let gate = |a: u64, b: u64, y: u64, src: Option<&str>| {
        let attributes = src.map_or(json!({}), |src| json!({ "src": src }));
        json!({
            "type": "$_AND_", "attributes": attributes,
            "port_directions": { "A": "input", "B": "input", "Y": "output" },
            "connections": { "A": [a], "B": [b], "Y": [y] },
        })
    };
    let cells = json!({
        "one": gate(2, 3, 5, Some("g.v:7.1-7.9")), "two": gate(3, 4, 6, Some("g.v:7.20-7.30")), "three": gate(5, 6, 7, None),
        "dead": gate(2, 4, 8, Some("g.v:9.1-9.2")),
    });
    let ports =
        json!({ "a": { "direction": "input", "bits": [2, 3, 4] }, "y": { "direction": "output", "bits": [7] } });
    let netlist = json!({ "modules": { "m": { "ports": ports, "cells": cells } } });
    let module = Module::read(netlist.to_string().as_bytes()).unwrap();
    let (made, profile) = synthesis::profile(&module, Goal::Size).unwrap();
    assert_eq!(made.circuit.and_count(), 3);
    assert_eq!(profile.lines(), [("g.v:7".to_string(), 2), ("three".to_string(), 1)]);
}

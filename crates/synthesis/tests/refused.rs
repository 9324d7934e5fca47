//! What no circuit has is refused with its place and what to write instead; what is no netlist, too.

use crate::common::{made, netlist};
use circuit::blocks::Goal;
use proptest::prelude::*;
use serde_json::{Value, json};
use synthesis::Error;
use synthesis::netlist::Module;

fn refused(netlist: &Value) -> (String, String) {
    let why = made(netlist, Goal::Size).err().unwrap_or_else(|| panic!("accepted: {netlist}"));
    (why.to_string(), why.hint().unwrap_or_default().to_string())
}

/// A cell that stands in line 7 of a file.
fn at_line_7(kind: &str, inputs: &[(&str, usize)]) -> Value {
    let mut netlist = netlist(kind, json!({}), inputs, &[("Q", 1)]);
    netlist["modules"]["m"]["cells"]["cell"]["attributes"] = json!({ "src": "design.v:7.3-7.20|other.v:1.1-1.2" });
    netlist
}

#[test]
fn state_is_refused() {
    for (kind, what, instead) in [
        ("$dff", "register", "always @*"),
        ("$_SDFFE_PP0P_", "register", "always @*"),
        ("$dlatch", "latch", "a default"),
        ("$tribuf", "let go", "?:"),
        ("box", "'box' is a box", "file"),
        ("$anyseq", "$anyseq is not supported", "operators"),
    ] {
        let (why, hint) = refused(&at_line_7(kind, &[("D", 1)]));
        assert!(why.starts_with("design.v:7.3-7.20: ") && why.contains(what), "{why}");
        assert!(hint.contains(instead), "{hint}");
    }
}

#[test]
fn wires_that_nothing_drives_are_named() {
    let ports = json!({ "y": { "direction": "output", "bits": [2, 3] } });
    let names = json!({ "t": { "bits": [2, 3], "attributes": { "src": "design.v:4.1-4.2" } } });
    let (why, _) = refused(&json!({ "modules": { "m": { "ports": ports, "netnames": names } } }));
    assert_eq!(why, "design.v:4.1-4.2: nothing drives 't', bit 0");
}

#[test]
fn wires_that_are_driven_twice_are_named() {
    let mut netlist = netlist("$not", json!({}), &[("A", 1)], &[("Y", 1)]);
    let cell = netlist["modules"]["m"]["cells"]["cell"].clone();
    netlist["modules"]["m"]["cells"]["other"] = cell;
    assert!(refused(&netlist).0.contains("is driven twice"));
}

#[test]
fn loops_are_refused_and_chains_within_a_word_are_not() {
    let cell = |a: Value, b: Value, y: Value| {
        json!({
            "type": "$add", "parameters": {},
            "port_directions": { "A": "input", "B": "input", "Y": "output" },
            "connections": { "A": a, "B": b, "Y": y },
        })
    };
    let ports = json!({
        "a": { "direction": "input", "bits": [2, 3] },
        "y": { "direction": "output", "bits": [10, 11] },
    });
    let (first, second) =
        (cell(json!([2, 3]), json!([12, 13]), json!([10, 11])), cell(json!([10, 11]), json!([3]), json!([12, 13])));
    let looped = json!({ "modules": { "m": { "ports": ports, "cells": { "p": first, "q": second } } } });
    assert!(refused(&looped).0.contains("a loop: a value depends on itself"), "{}", refused(&looped).0);
    // y[1] = y[0] & a[1] in one cell of two bits.
    let mut chain = looped;
    let mut and = cell(json!([2, 10]), json!([3, 3]), json!([10, 11]));
    and["type"] = json!("$and");
    chain["modules"]["m"]["cells"] = json!({ "p": and });
    assert_eq!(made(&chain, Goal::Size).unwrap().and_count(), 1);
}

/// A module of gates: each a kind, the line where it stands, what it reads at A and B, and what it drives.
fn gates(gates: &[(&str, usize, [u64; 2], u64)]) -> Value {
    let ports = json!({
        "a": { "direction": "input", "bits": [2, 3] },
        "y": { "direction": "output", "bits": [9] },
    });
    let cell = |&(kind, line, [a, b], y): &(&str, usize, [u64; 2], u64)| {
        let cell = json!({
            "type": kind, "parameters": {}, "attributes": { "src": format!("gates.v:{line}.3-{line}.20") },
            "port_directions": { "A": "input", "B": "input", "Y": "output" },
            "connections": { "A": [a], "B": [b], "Y": [y] },
        });
        (format!("g{line}"), cell)
    };
    let cells: serde_json::Map<String, Value> = gates.iter().map(cell).collect();
    let wire =
        |name: &str, bit: u64| json!({ "bits": [bit], "attributes": { "src": format!("gates.v:2.8-2.{name}") } });
    let names = json!({ "n5": wire("9", 5), "n6": wire("9", 6), "y": wire("9", 9) });
    json!({ "modules": { "m": { "ports": ports, "cells": cells, "netnames": names } } })
}

#[test]
fn gates_are_refused_with_their_lines() {
    let looped = gates(&[("$_AND_", 4, [2, 6], 5), ("$_XOR_", 5, [5, 3], 6), ("$_OR_", 6, [6, 3], 9)]);
    let (why, hint) = refused(&looped);
    let (one, other) = ("gates.v:5.3: a loop", "gates.v:4.3: a loop");
    assert!((why.starts_with(one) || why.starts_with(other)) && why.contains("through gates.v:"), "{why}");
    assert!(hint.contains("break the loop"), "{hint}");
    let open = gates(&[("$_AND_", 4, [2, 6], 9)]);
    assert_eq!(refused(&open).0, "gates.v:2.8: nothing drives 'n6'");
    let twice = gates(&[("$_AND_", 4, [2, 3], 5), ("$_XOR_", 5, [2, 3], 5), ("$_OR_", 6, [5, 3], 9)]);
    assert_eq!(refused(&twice).0, "gates.v:2.8: 'n5' is driven twice");
    let mut input = gates(&[("$_AND_", 4, [2, 3], 9)]);
    input["modules"]["m"]["cells"]["g4"]["connections"]["Y"] = json!([2]);
    assert!(refused(&input).0.contains("'a' is driven twice"), "{}", refused(&input).0);
    let mut wide = gates(&[("$_AND_", 4, [2, 3], 9)]);
    wide["modules"]["m"]["cells"]["g4"]["connections"]["A"] = json!([2, 3]);
    assert!(refused(&wide).0.contains("several bits"), "{}", refused(&wide).0);
    let mut floating = gates(&[("$_AND_", 4, [2, 3], 9)]);
    floating["modules"]["m"]["cells"]["g4"]["connections"]["A"] = json!(["z"]);
    assert!(refused(&floating).0.starts_with("gates.v:4.3: reads 'z'"), "{}", refused(&floating).0);
}

/// Keys in any order: names of wires and cells before the ports.
#[test]
fn the_order_of_keys_says_nothing() {
    let text = r#"{"modules":{"m":{"netnames":{"n":{"bits":[5]},"a":{"bits":[2,3],"attributes":{"party":"bob"}}},"cells":{
        "g":{"connections":{"Y":[5],"B":[3],"A":[2]},"port_directions":{"Y":"output","A":"input","B":"input"},"type":"$_AND_"},
        "h":{"type":"$_NOT_","port_directions":{"Y":"output","A":"input"},"connections":{"Y":[9],"A":[5]}}},
        "ports":{"a":{"bits":[2,3],"direction":"input"},"y":{"bits":[9],"direction":"output"}}}}}"#;
    let module = Module::read(text.as_bytes()).unwrap();
    assert_eq!(module.ports[0].party.as_deref(), Some("bob"));
    let circuit = synthesis::circuit(&module, Goal::Size).unwrap().circuit;
    assert_eq!(circuit::Simulator::new(&circuit).numbers(&[&[0, 1, 2, 3]]), [[1, 1, 1, 0]]);
    assert_eq!(Module::read_from(text.as_bytes(), &[]).unwrap().ports.len(), 2);
}

#[test]
fn no_module_is_said() {
    assert!(refused(&json!({ "modules": {} })).0.contains("no module"));
}

#[test]
fn ports_that_go_both_ways_are_refused() {
    let ports = json!({ "y": { "direction": "inout", "bits": [2] } });
    assert!(refused(&json!({ "modules": { "m": { "ports": ports } } })).0.contains("both ways"));
}

#[test]
fn floating_is_refused_and_unknown_is_anything() {
    let mut netlist = netlist("$and", json!({}), &[("A", 1), ("B", 1)], &[("Y", 1)]);
    netlist["modules"]["m"]["cells"]["cell"]["connections"]["B"] = json!(["z"]);
    assert!(refused(&netlist).0.contains("'z'"));
    netlist["modules"]["m"]["cells"]["cell"]["connections"]["B"] = json!(["x"]);
    assert_eq!(made(&netlist, Goal::Size).unwrap().and_count(), 0);
}

#[test]
fn words_beyond_sense_are_refused() {
    let wide = netlist("$mul", json!({}), &[("A", 5000), ("B", 2)], &[("Y", 8)]);
    assert!(refused(&wide).0.contains("5000 bits"));
    let ports = netlist("$not", json!({}), &[("A", 1_000_000)], &[("Y", 1_000_000)]);
    assert!(refused(&ports).0.contains("2^20 bits of ports"));
}

#[test]
fn powers_beyond_sense_are_refused() {
    let power = |width: usize| netlist("$pow", json!({}), &[("A", width), ("B", width)], &[("Y", width)]);
    assert!(refused(&power(256)).0.contains("a power of 256 bits"));
    let offset = json!({ "OFFSET": u64::MAX });
    // Beyond the word there are zeros, however far.
    assert!(made(&netlist("$slice", offset, &[("A", 4)], &[("Y", 2)]), Goal::Size).is_ok());
}

#[test]
fn nothing_equals_what_is_unknown() {
    for (kind, expected) in [("$eq", false), ("$eqx", false), ("$ne", true), ("$nex", true)] {
        let mut netlist = netlist(kind, json!({}), &[("A", 2), ("B", 2)], &[("Y", 1)]);
        netlist["modules"]["m"]["cells"]["cell"]["connections"]["B"] = json!(["x", "0"]);
        let circuit = made(&netlist, Goal::Size).unwrap();
        assert_eq!(circuit.output_bits(), [circuit::Bit::constant(expected)], "{kind}");
    }
}

#[test]
fn memories_that_nothing_fills_are_refused() {
    let parameters = json!({ "SIZE": 4, "WIDTH": 2, "ABITS": 2, "OFFSET": 0, "INIT": "xxxxxxxx", "RD_PORTS": 1,
        "WR_PORTS": 0, "RD_CLK_ENABLE": "0" });
    let memory = netlist("$mem_v2", parameters, &[("RD_ADDR", 2)], &[("RD_DATA", 2)]);
    assert!(refused(&memory).0.contains("nothing writes or fills"));
}

const KINDS: [&str; 27] = [
    "$least",
    "$greatest",
    "$eq",
    "$add",
    "$mul",
    "$div",
    "$pow",
    "$alu",
    "$fa",
    "$lcu",
    "$macc",
    "$lt",
    "$shift",
    "$shiftx",
    "$shl",
    "$mux",
    "$pmux",
    "$bmux",
    "$demux",
    "$bwmux",
    "$concat",
    "$slice",
    "$lut",
    "$sop",
    "$mem_v2",
    "$_MUX4_",
    "$reduce_or",
];
const PORTS: [&str; 13] = ["Q", "A", "B", "C", "S", "Y", "X", "CO", "CI", "BI", "RD_ADDR", "RD_DATA", "P"];

/// A port's name, its nets, and whether it is an output.
fn port() -> impl Strategy<Value = (&'static str, Vec<u64>, bool)> {
    (prop::sample::select(&PORTS[..]), prop::collection::vec(0u64..12, 0..7), any::<bool>())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    /// Cells with ports and parameters that do not fit end with an error, or with a circuit.
    #[test]
    fn misshapen_cells_end(
        kind in prop::sample::select(&KINDS[..]),
        ports in prop::collection::vec(port(), 0..6),
        number in "[01x]{0,9}",
    ) {
        let (mut connections, mut directions) = (json!({}), json!({}));
        for (port, bits, output) in ports {
            connections[port] = json!(bits);
            directions[port] = json!(if output { "output" } else { "input" });
        }
        let names = ["CONFIG", "CONFIG_WIDTH", "DEPTH", "TABLE", "LUT", "OFFSET", "SIZE", "WIDTH", "ABITS", "INIT", "RD_PORTS"];
        let mut parameters = json!({ "WR_PORTS": 0, "A_SIGNED": 1, "B_SIGNED": 1 });
        names.iter().for_each(|name| parameters[name] = json!(number));
        let cell = json!({ "type": kind, "parameters": parameters, "port_directions": directions, "connections": connections });
        let ports = json!({
            "a": { "direction": "input", "bits": [0, 1, 2, 3] },
            "y": { "direction": "output", "bits": [4, 5, 6, 7, 8, 9, 10, 11] },
        });
        let _ = made(&json!({ "modules": { "m": { "ports": ports, "cells": { "cell": cell } } } }), Goal::Size);
    }

    #[test]
    fn bytes_that_are_no_netlist_end(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        prop_assert!(matches!(Module::read(&bytes), Err(Error::Netlist(_))));
    }
}

//! Netlists of one cell, as Yosys writes them.

use circuit::Circuit;
use circuit::blocks::Goal;
use serde_json::{Value, json};
use synthesis::netlist::Module;

/// A netlist with one cell, whose ports are the ports of the module; they stand in the order of their names.
pub fn netlist(kind: &str, parameters: Value, inputs: &[(&str, usize)], outputs: &[(&str, usize)]) -> Value {
    let mut next = 2;
    let mut bits = |width: usize| {
        next += width;
        (next - width..next).collect::<Vec<usize>>()
    };
    let (mut ports, mut connections, mut directions) = (json!({}), json!({}), json!({}));
    for (direction, list) in [("input", inputs), ("output", outputs)] {
        for &(name, width) in list {
            let bits = bits(width);
            ports[name] = json!({ "direction": direction, "bits": bits });
            connections[name] = json!(bits);
            directions[name] = json!(direction);
        }
    }
    let cell =
        json!({ "type": kind, "parameters": parameters, "port_directions": directions, "connections": connections });
    json!({ "modules": { "m": { "ports": ports, "cells": { "cell": cell } } } })
}

/// The circuit of a netlist.
#[allow(dead_code)] // Not of those that are refused.
pub fn circuit(netlist: &Value, goal: Goal) -> Circuit {
    made(netlist, goal).unwrap_or_else(|why| panic!("{why}\n{netlist}"))
}

/// The circuit of a netlist, or why there is none.
pub fn made(netlist: &Value, goal: Goal) -> synthesis::Result<Circuit> {
    let module = Module::read(netlist.to_string().as_bytes())?;
    Ok(synthesis::circuit(&module, goal)?.circuit)
}

//! Operators cost what the library's blocks cost.

use crate::common::{circuit, netlist};
use circuit::blocks::Goal;
use serde_json::{Value, json};

fn ands(kind: &str, widths: [usize; 3]) -> u64 {
    let netlist = netlist(kind, json!({}), &[("A", widths[0]), ("B", widths[1])], &[("Y", widths[2])]);
    circuit(&netlist, Goal::Size).and_count()
}

#[test]
fn operators_cost_what_blocks_cost() {
    assert_eq!(ands("$add", [32, 32, 32]), 31);
    assert_eq!(ands("$sub", [32, 32, 32]), 31);
    assert_eq!(ands("$lt", [32, 32, 1]), 32);
    assert_eq!(ands("$ge", [32, 32, 1]), 32);
    assert_eq!(ands("$eq", [32, 32, 1]), 31);
    assert_eq!(ands("$mul", [32, 32, 32]), 559);
    assert_eq!(ands("$mul", [32, 32, 64]), 1013);
    assert_eq!(ands("$mul", [64, 64, 128]), 3386);
    assert_eq!(ands("$div", [16, 16, 16]), 252 - 31, "without the remainder");
}

/// A chain of additions of single bits, as a loop that counts leaves it.
fn count(bits: usize) -> Value {
    let width = (usize::BITS - bits.leading_zeros()) as usize;
    let x: Vec<usize> = (2..2 + bits).collect();
    let mut cells = json!({});
    let mut sum = vec![json!(x[0])];
    for (i, bit) in x.iter().enumerate().skip(1) {
        let wide = width.min(sum.len() + 1);
        let y: Vec<Value> = (0..wide).map(|j| json!(1000 + width * i + j)).collect();
        cells[format!("add{i}")] = json!({
            "type": "$add",
            "parameters": {},
            "port_directions": { "A": "input", "B": "input", "Y": "output" },
            "connections": { "A": sum, "B": [bit], "Y": y },
        });
        sum = y;
    }
    let ports = json!({
        "x": { "direction": "input", "bits": x },
        "n": { "direction": "output", "bits": sum },
    });
    json!({ "modules": { "m": { "ports": ports, "cells": cells } } })
}

#[test]
fn a_loop_that_counts_is_one_sum() {
    assert!(circuit(&count(64), Goal::Size).and_count() <= 63);
    assert!(circuit(&count(64), Goal::Depth).depth() <= 12);
}

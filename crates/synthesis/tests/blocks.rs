//! Blocks by name: each module of `verilog/duologue_blocks.v` against its own model under Icarus, what attributes say, what they
//! must not say, and circuits of files in place of modules.

use crate::bench;
use circuit::Circuit;
use circuit::blocks::{self, Goal};
use std::fs;
use std::io::Write;
use std::rc::Rc;
use synthesis::blocks::Given;
use synthesis::clocked::{self, Clocking, Form};
use synthesis::netlist::Module;
use synthesis::parties::Said;
use synthesis::yosys::{Design, Yosys};
use synthesis::{Error, Result};

/// Vectors of inputs for each module.
const VECTORS: usize = 60;

fn compile(yosys: &Yosys, text: &str, goal: Goal, blocks: Vec<Given>) -> Result<Circuit> {
    Ok(synthesis::circuit(&module(yosys, text, false, &blocks)?, goal)?.circuit)
}

fn module(yosys: &Yosys, text: &str, clocked: bool, blocks: &[Given]) -> Result<Module> {
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let file = folder.path().join("design.v");
    fs::write(&file, text).unwrap();
    let design =
        Design { files: vec![file], top: Some("m".into()), parameters: vec![], clocked, blocks: blocks.to_vec() };
    yosys.netlist(&design)?.module_with(blocks)
}

fn compiled(yosys: &Yosys, text: &str, goal: Goal) -> Circuit {
    compile(yosys, text, goal, vec![]).unwrap_or_else(|why| panic!("{why}\n{text}"))
}

/// An instance: its module with parameters, its inputs and outputs with their widths, and whether the last bit of a result may
/// differ.
struct Case {
    module: String,
    inputs: Vec<(&'static str, usize)>,
    outputs: Vec<(&'static str, usize)>,
    format: Option<(usize, usize)>,
    approximate: bool,
}

/// A text of ports, `a:32 b:32 -> out:32`.
fn ports(text: &'static str) -> [Vec<(&'static str, usize)>; 2] {
    let (inputs, outputs) = text.split_once(" -> ").unwrap();
    [inputs, outputs].map(|list| {
        let pairs = list.split(' ').map(|port| port.split_once(':').unwrap());
        pairs.map(|(name, width)| (name, width.parse().unwrap())).collect()
    })
}

fn exact(module: &str, text: &'static str) -> Case {
    let [inputs, outputs] = ports(text);
    Case { module: module.into(), inputs, outputs, format: None, approximate: false }
}

/// A module on floats of 5 and 10 bits, or of 8 and 23.
fn float(module: &str, more: &str, mode: &str, single: bool, text: &'static str) -> Case {
    let (exponent, fraction) = if single { (8, 23) } else { (5, 10) };
    let module = format!("{module} #(.EXPONENT({exponent}), .FRACTION({fraction}), .MODE(\"{mode}\"){more})");
    Case { format: Some((exponent, fraction)), ..exact(&module, text) }
}

fn floats() -> Vec<Case> {
    let mut cases = Vec::new();
    let (unary, binary, ternary) = ("a:16 -> out:16", "a:16 b:16 -> out:16", "a:16 b:16 c:16 -> out:16");
    let flags = ["a:16 -> out:16 flags:5", "a:16 b:16 -> out:16 flags:5", "a:16 b:16 c:16 -> out:16 flags:5"];
    for mode in ["ieee", "flush"] {
        for (name, text, count) in [
            ("add", binary, 2),
            ("sub", binary, 2),
            ("mul", binary, 2),
            ("sqr", unary, 1),
            ("fma", ternary, 3),
            ("div", binary, 2),
            ("sqrt", unary, 1),
        ] {
            cases.push(float(&format!("duologue_fp_{name}"), "", mode, false, text));
            for rounding in 0..5 {
                let more = format!(", .ROUNDING({rounding})");
                cases.push(float(&format!("duologue_fp_{name}_rounded"), &more, mode, false, flags[count - 1]));
            }
        }
        let relations = match mode {
            "ieee" => "a:16 b:16 -> less:1 equal:1 greater:1 unordered:1",
            _ => "a:16 b:16 -> less:1 equal:1 greater:1",
        };
        cases.push(float("duologue_fp_cmp", "", mode, false, relations));
        cases.push(float("duologue_fp_lt", "", mode, false, "a:16 b:16 -> out:1"));
        cases.push(float("duologue_fp_min", "", mode, false, binary));
        cases.push(float("duologue_fp_max", "", mode, false, binary));
        for to in ["round", "round_away", "floor", "ceil", "trunc"] {
            cases.push(float("duologue_fp_integral", &format!(", .TO(\"{to}\")"), mode, false, unary));
        }
        for kind in ["int", "uint"] {
            let width = ", .WIDTH(12)";
            cases.push(float(&format!("duologue_fp_from_{kind}"), width, mode, false, "a:12 -> out:16"));
            cases.push(float(&format!("duologue_fp_to_{kind}"), width, mode, false, "a:16 -> out:12"));
        }
        let narrower = ", .TO_EXPONENT(5), .TO_FRACTION(10)";
        cases.push(float("duologue_fp_convert", narrower, mode, true, "a:32 -> out:16"));
        cases.push(float("duologue_fp_convert", ", .TO_EXPONENT(8), .TO_FRACTION(23)", mode, false, "a:16 -> out:32"));
        for function in
            ["exp", "exp2", "exp10", "ln", "log2", "log10", "sin", "cos", "tan", "asin", "atan", "sin_pi", "cos_pi"]
        {
            let more = format!(", .FUNCTION(\"{function}\")");
            cases.push(Case { approximate: true, ..float("duologue_fp_function", &more, mode, false, unary) });
        }
        cases.push(Case { approximate: true, ..float("duologue_fp_pow", "", mode, false, binary) });
    }
    // One of each kind at the usual size.
    cases.push(float("duologue_fp_add", "", "ieee", true, "a:32 b:32 -> out:32"));
    cases.push(float("duologue_fp_div_rounded", ", .ROUNDING(3)", "ieee", true, "a:32 b:32 -> out:32 flags:5"));
    let exp = float("duologue_fp_function", ", .FUNCTION(\"exp\")", "ieee", true, "a:32 -> out:32");
    cases.push(Case { approximate: true, ..exp });
    cases
}

fn integers() -> Vec<Case> {
    let words = |which: &str| format!("duologue_extreme #(.COUNT(5), .WIDTH(7), .WHICH(\"{which}\"))");
    let mut cases: Vec<Case> = ["min_index", "max_index", "signed_min_index", "signed_max_index"]
        .iter()
        .map(|which| exact(&words(which), "words:35 -> out:7 index:3"))
        .collect();
    cases.extend([
        exact("duologue_sort #(.COUNT(6), .WIDTH(5))", "keys:30 -> keys_out:30"),
        exact("duologue_median #(.COUNT(6), .WIDTH(5))", "words:30 -> median:5"),
        exact("duologue_population_count #(.WIDTH(37))", "a:37 -> out:6"),
        exact("duologue_leading_zeros #(.WIDTH(16))", "a:16 -> out:5"),
        exact("duologue_square_root #(.WIDTH(15))", "a:15 -> root:8 remainder:9"),
        exact("duologue_square_root #(.WIDTH(16))", "a:16 -> root:8 remainder:9"),
        exact("duologue_compact #(.COUNT(6), .WIDTH(5))", "words:30 valid:6 -> words_out:30"),
    ]);
    cases
}

fn ciphers() -> Vec<Case> {
    vec![
        exact("duologue_aes128", "key:128 block:128 -> out:128"),
        exact("duologue_sha256_compress", "state:256 block:512 -> out:256"),
        exact("duologue_keccak_f1600", "state:1600 -> out:1600"),
        exact("duologue_chacha20_block", "key:256 counter:32 nonce:96 -> out:512"),
    ]
}

/// One module of many instances, whose ports are all of theirs.
fn together(cases: &[Case]) -> String {
    let (mut declared, mut instances) = (Vec::new(), String::new());
    for (i, case) in cases.iter().enumerate() {
        let kinds = [("input", &case.inputs), ("output", &case.outputs)];
        let ports = kinds.iter().flat_map(|(kind, list)| list.iter().map(move |(name, width)| (kind, name, width)));
        declared.extend(ports.map(|(kind, name, width)| format!("{kind} [{}:0] u{i}_{name}", width - 1)));
        let joined = case.inputs.iter().chain(&case.outputs).map(|(name, _)| format!(".{name}(u{i}_{name})"));
        instances += &format!(" {} u{i}({});\n", case.module, joined.collect::<Vec<_>>().join(", "));
    }
    format!("module m({});\n{instances}endmodule\n", declared.join(", "))
}

/// Numbers from a seed.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 16
    }

    fn word(&mut self, width: usize) -> Vec<bool> {
        let pattern = self.next() % 8;
        (0..width)
            .map(|i| match pattern {
                0 => false,
                1 => true,
                2 => i < 3 && self.next() % 2 == 1,
                _ => self.next() % 2 == 1,
            })
            .collect()
    }

    /// A number near 1 more often than elsewhere, and often a special one.
    fn float(&mut self, exponent: usize, fraction: usize) -> Vec<bool> {
        let (middle, top) = ((1 << (exponent - 1)) - 1, (1u64 << exponent) - 1);
        let stored = match self.next() % 8 {
            0 => 0,
            1 => top,
            2 | 3 => self.next() & top,
            _ => middle - 4 + self.next() % 9,
        };
        let mut bits = self.word(fraction);
        bits.extend((0..exponent).map(|i| stored >> i & 1 == 1));
        bits.push(self.next() % 2 == 1);
        bits
    }

    fn input(&mut self, case: &Case, width: usize) -> Vec<bool> {
        match case.format {
            Some((exponent, fraction)) if width == 1 + exponent + fraction => self.float(exponent, fraction),
            _ => self.word(width),
        }
    }
}

/// Whether a result is what the model says: bits that are `x` may be anything, and of an approximation the last bit.
fn agrees(case: &Case, made: &str, model: &str) -> bool {
    let (true, Some((exponent, fraction))) = (case.approximate, case.format) else {
        return made.bytes().zip(model.bytes()).all(|(a, b)| a == b || b == b'x');
    };
    let number = |text: &str| i64::from_str_radix(text, 2).ok();
    let [Some(made), Some(model)] = [number(made), number(model)] else { return false };
    let infinity = ((1 << exponent) - 1) << fraction;
    let sign = 1 << (exponent + fraction);
    let magnitude = |number: i64| {
        // Where there are no denormals, the least number stands next to zero.
        let least = if case.module.contains("flush") { (1 << fraction) - 1 } else { 0 };
        (number & (sign - 1)).max(least)
    };
    let is_nan = |number: i64| number & (sign - 1) > infinity;
    made == model
        || (made & sign == model & sign
            && !is_nan(made)
            && !is_nan(model)
            && magnitude(made).abs_diff(magnitude(model)) <= 1)
}

/// The circuits of both goals give what the models give.
fn agree_with_models(test: &str, cases: &[Case]) {
    let Some(yosys) = bench::yosys(test) else { return };
    if !bench::has_icarus() {
        let why = "there is no Icarus (Debian: iverilog)";
        return drop(writeln!(std::io::stderr(), "verilog: {test} skipped: {why}"));
    }
    let text = together(cases);
    let circuits = [Goal::Size, Goal::Depth].map(|goal| compiled(&yosys, &text, goal));
    let mut random = Random(0x9e37_79b9_7f4a_7c15);
    let mut vector = || -> Vec<bool> {
        cases
            .iter()
            .flat_map(|case| case.inputs.iter().flat_map(|(_, width)| random.input(case, *width)).collect::<Vec<_>>())
            .collect()
    };
    let vectors: Vec<Vec<bool>> = (0..VECTORS).map(|_| vector()).collect();
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("design.v");
    fs::write(&file, &text).unwrap();
    let files = [file, bench::designs().join("duologue_blocks.v")];
    let models = bench::simulate(&circuits[0], "m", &files, &vectors);
    let owners: Vec<&Case> = cases.iter().flat_map(|case| vec![case; case.outputs.len()]).collect();
    for circuit in &circuits {
        for (vector, models) in vectors.iter().zip(&models) {
            let outputs = circuit.evaluate(vector);
            let words = bench::words(circuit.outputs(), &outputs).into_iter().map(bench::shown);
            for ((made, model), (case, port)) in words.zip(models).zip(owners.iter().zip(circuit.outputs())) {
                let inputs: Vec<String> = circuit
                    .inputs()
                    .iter()
                    .zip(bench::words(circuit.inputs(), vector))
                    .filter(|(input, _)| input.name.split('_').next() == port.name.split('_').next())
                    .map(|(_, word)| bench::shown(word))
                    .collect();
                assert!(
                    agrees(case, &made, model),
                    "{} {inputs:?}: {} is {made}, the model says {model}",
                    case.module,
                    port.name
                );
            }
        }
    }
}

#[test]
fn floats_agree_with_their_models() {
    agree_with_models("floats_agree_with_their_models", &floats());
}

#[test]
fn integers_agree_with_their_models() {
    agree_with_models("integers_agree_with_their_models", &integers());
}

#[test]
fn ciphers_agree_with_their_models() {
    agree_with_models("ciphers_agree_with_their_models", &ciphers());
}

#[test]
fn every_module_is_compared() {
    let cases: Vec<Case> = [floats(), integers(), ciphers()].into_iter().flatten().collect();
    let modules =
        synthesis::blocks::LIBRARY.split("\nmodule ").skip(1).filter_map(|text| text.split([' ', '(']).next());
    for module in modules.filter(|module| !module.starts_with("duologue_model_")) {
        let compared = |case: &Case| case.module.split(' ').next() == Some(module);
        // Payloads of equal keys may stand in any order.
        assert!(module == "duologue_sort_records" || cases.iter().any(compared), "{module} is compared with no model");
    }
}

#[test]
fn payloads_go_with_their_keys() {
    let Some(yosys) = bench::yosys("payloads_go_with_their_keys") else { return };
    let text = "module m(input [23:0] k, input [11:0] p, output [23:0] s, output [11:0] q);
        duologue_sort_records #(.COUNT(4), .WIDTH(6), .PAYLOAD(3)) u(.keys(k), .payloads(p), .keys_out(s), .payloads_out(q));
        endmodule";
    let circuit = compiled(&yosys, text, Goal::Size);
    let bits = |words: &[u64], width: usize| -> Vec<bool> {
        words.iter().flat_map(|word| (0..width).map(move |i| word >> i & 1 == 1)).collect()
    };
    let outputs = circuit.evaluate(&[bits(&[40, 3, 63, 17], 6), bits(&[1, 2, 3, 4], 3)].concat());
    assert_eq!(outputs, [bits(&[3, 17, 40, 63], 6), bits(&[2, 4, 1, 3], 3)].concat());
}

#[test]
fn a_block_costs_what_it_costs() {
    let Some(yosys) = bench::yosys("a_block_costs_what_it_costs") else { return };
    let text = "module m(input [31:0] a, b, output [31:0] y);
        duologue_fp_add u(.a(a), .b(b), .out(y));
        endmodule";
    for goal in [Goal::Size, Goal::Depth] {
        let block = blocks::find("fp_add_ieee").unwrap().circuit(&[8, 23], goal).unwrap();
        let circuit = compiled(&yosys, text, goal);
        assert_eq!((circuit.and_count(), circuit.depth()), (block.and_count(), block.depth()));
    }
}

#[test]
fn a_module_of_ones_own_names_a_block() {
    let Some(yosys) = bench::yosys("a_module_of_ones_own_names_a_block") else { return };
    // What stands in the module does not count.
    let text = r#"
        (* duologue_block = "multiply:{W}" *)
        module product #(parameter W = 8) (input [W-1:0] a, b, output [2*W-1:0] out);
            assign out = a * b + 1;
        endmodule
        module m(input [4:0] a, b, output [9:0] y);
            product #(.W(5)) u(.a(a), .b(b), .out(y));
        endmodule"#;
    let circuit = compiled(&yosys, text, Goal::Size);
    let bits = |number: u32, width: u32| (0..width).map(|i| number >> i & 1 == 1).collect::<Vec<bool>>();
    for (a, b) in [(0, 0), (31, 31), (17, 9)] {
        assert_eq!(circuit.evaluate(&[bits(a, 5), bits(b, 5)].concat()), bits(a * b, 10));
    }
}

#[test]
fn an_instance_outweighs_its_module() {
    let Some(yosys) = bench::yosys("an_instance_outweighs_its_module") else { return };
    let text = r#"
        (* duologue_block = "square_low:{W}" *)
        module squares #(parameter W = 8) (input [W-1:0] a, output [W-1:0] out);
        endmodule
        module m(input [4:0] a, output [4:0] y, z);
            squares #(.W(5)) u(.a(a), .out(y));
            (* duologue_block = "or_prefix:{W}" *) squares #(.W(5)) v(.a(a), .out(z));
        endmodule"#;
    let circuit = compiled(&yosys, text, Goal::Size);
    let bits = |number: u32| (0..5).map(|i| number >> i & 1 == 1).collect::<Vec<bool>>();
    assert_eq!(circuit.evaluate(&bits(6)), [bits(36 % 32), bits(30)].concat());
}

/// A register that adds in each cycle, beside the processor's own sums.
#[test]
fn blocks_stand_between_registers() {
    let Some(yosys) = bench::yosys("blocks_stand_between_registers") else { return };
    let text = r#"module m(input clk, (* party = "alice" *) input [31:0] x, output reg [31:0] sum);
        initial sum = 0;
        wire [31:0] next;
        duologue_fp_add u(.a(sum), .b(x), .out(next));
        always @(posedge clk) sum <= next;
        endmodule"#;
    let module = module(&yosys, text, true, &[]).unwrap();
    let clocking = Clocking { cycles: 3, each: vec!["x".into()], resets: vec![], form: Some(Form::Unroll) };
    let clocked = clocked::program(&module, Goal::Size, &clocking, &Said::default()).unwrap();
    let bits = |number: f32| (0..32).map(move |i| number.to_bits() >> i & 1 == 1);
    for [a, b, c] in [[1.5_f32, 2.25, -0.1], [1e-40, 3e-41, 7.0], [1e30, 1e30, -3e38], [0.1, 0.2, 0.3]] {
        let inputs: Vec<bool> = [a, b, c].into_iter().flat_map(bits).collect();
        assert_eq!(clocked.once[0].evaluate(&inputs), bits(0.0 + a + b + c).collect::<Vec<bool>>(), "{a} {b} {c}");
    }
}

#[test]
fn goals_are_attributes() {
    let Some(yosys) = bench::yosys("goals_are_attributes") else { return };
    let depth = |text: &str| compiled(&yosys, text, Goal::Size).depth();
    let ports = "(input [31:0] a, b, output [31:0] y)";
    assert_eq!(depth(&format!("module m{ports}; assign y = a + b; endmodule")), 31);
    let operator = format!("module m{ports}; assign y = a + (* duologue_goal = \"depth\" *) b; endmodule");
    let module = format!("(* duologue_goal = \"depth\" *) module m{ports}; assign y = a + b; endmodule");
    let inner = format!("{}\nmodule m{ports}; n u(a, b, y); endmodule", module.replace("module m", "module n"));
    let instance =
        format!("module m{ports}; (* duologue_goal = \"depth\" *) duologue_fp_mul u(.a(a), .b(b), .out(y)); endmodule");
    for text in [operator, module, inner] {
        assert!(depth(&text) < 7, "{text}");
    }
    let block = blocks::find("fp_mul_ieee").unwrap().circuit(&[8, 23], Goal::Depth).unwrap();
    assert_eq!(depth(&instance), block.depth());
}

/// The error of a design, its place and what to do.
fn refused(yosys: &Yosys, text: &str) -> (String, String) {
    match compile(yosys, text, Goal::Size, vec![]).err() {
        Some(Error::Design { place, why, hint }) => (place, format!("{why}; {hint}")),
        other => panic!("{other:?}\n{text}"),
    }
}

#[test]
fn what_is_no_block_is_refused_with_its_place() {
    let Some(yosys) = bench::yosys("what_is_no_block_is_refused_with_its_place") else { return };
    let own = |attribute: &str, ports: &str| {
        format!(
            "(* duologue_block = \"{attribute}\" *)\nmodule own #(parameter W = 8) ({ports}); endmodule\nmodule m(input [7:0] a, output [7:0] y);\n own u(.a(a), .out(y));\nendmodule\n"
        )
    };
    let ports = "input [7:0] a, output [7:0] out";
    let library = |instance: &str| format!("module m(input [31:0] a, output [31:0] y);\n\n\n {instance}\nendmodule\n");
    let body = "module own(input [7:0] a, output [7:0] out); assign out = a; endmodule
        module m(input [7:0] a, output [7:0] y);\n\n(* duologue_block = \"square_low:8\" *) own u(.a(a), .out(y)); endmodule";
    for (text, what) in [
        (own("fp_ad_ieee:8x23", ports), "did you mean fp_add_ieee"),
        (own("square_low", ports), "its size is width"),
        (own("square_low:{W}x3", ports), "its size is width, not 8x3"),
        (own("square_low:{N}", ports), "names 'N', which is no parameter"),
        (own("square_low:{W", ports), "opens a brace"),
        (own("square_low:9", ports), "the input 'a' has 8 bits, that of the block 'square_low:9' 9"),
        (own("multiply_low:8", ports), "the input 'b' of the block 'multiply_low:8' is not connected"),
        (own("square_root:8", ports), "has no output 'out'; it has root, remainder"),
        (library("duologue_fp_sqrt #(.EXPONENT(2), .FRACTION(29)) u(.a(a), .out(y));"), "must be 3 to 19, not 2"),
        (
            library("duologue_fp_sqrt #(.EXPONENT(5), .FRACTION(10)) u(.a(a), .out(y[15:0]));"),
            "from 32 bits to 16 bits",
        ),
        (library("(* duologue_goal = \"fast\" *) duologue_fp_sqrt u(.a(a), .out(y));"), "duologue_goal = \"fast\""),
        (body.to_string(), "write it before the module"),
    ] {
        let (place, why) = refused(&yosys, &text);
        assert!(place.contains("design.v:4"), "{place}: {why}\n{text}");
        assert!(why.contains(what), "{why}");
    }
}

#[test]
fn a_circuit_stands_for_a_module() {
    let Some(yosys) = bench::yosys("a_circuit_stands_for_a_module") else { return };
    let circuit = blocks::find("min_index").unwrap().circuit(&[4, 3], Goal::Size).unwrap();
    let ands = circuit.and_count();
    let given = vec![Given { module: "least".into(), circuit: Rc::new(circuit) }];
    let text = "module m(input [11:0] a, output [1:0] i); least u(.words(a), .index(i), .out()); endmodule";
    // Declared or not, with a body or without one.
    for more in [
        "",
        "module least(input [11:0] words, output [2:0] out, output [1:0] index); endmodule",
        "module least(input [11:0] words, output [2:0] out, output [1:0] index); assign {out, index} = 0; endmodule",
    ] {
        let made = compile(&yosys, &format!("{text}\n{more}"), Goal::Size, given.clone()).unwrap();
        assert!(made.and_count() <= ands && made.inputs()[0].ty.width == 12);
        let bits =
            |words: [u32; 4]| words.iter().flat_map(|word| (0..3).map(move |i| word >> i & 1 == 1)).collect::<Vec<_>>();
        assert_eq!(made.evaluate(&bits([5, 3, 7, 3])), [true, false]);
        assert_eq!(made.evaluate(&bits([5, 4, 7, 1])), [true, true]);
    }
    let wrong = "module m(input [11:0] a, output [1:0] i); least u(.words(a), .place(i)); endmodule";
    assert!(
        matches!(compile(&yosys, wrong, Goal::Size, given), Err(Error::Source { why, .. }) if why.contains("place"))
    );
}

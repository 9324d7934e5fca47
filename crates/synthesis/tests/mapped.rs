//! The technology library and the formats that circuits are written in, with Yosys as the other tool: designs that it maps to
//! the library come back as they were, and it proves that what we write in its formats is one function.

#[path = "../../circuit/tests/common/random.rs"]
mod random;

use circuit::blocks::Goal;
use circuit::format::cells::{CELLS, find};
use circuit::format::ports::Parties;
use circuit::format::{aiger, blif, verilog};
use circuit::{Circuit, Simulator};
use proptest::strategy::{Strategy, ValueTree};
use proptest::test_runner::TestRunner;
use random::{circuit, ports, table};
use std::fs;
use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;
use synthesis::netlist::Module;
use synthesis::yosys::{Design, Yosys};

/// The library, from the folder of the tests.
const LIBRARY: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../verilog/duologue.lib");

/// A folder, unless there is no native Yosys, which a line says.
fn folder(test: &str) -> Option<tempfile::TempDir> {
    let version = Command::new("yosys").arg("-V").stdout(Stdio::null()).stderr(Stdio::null()).status();
    if version.is_ok_and(|status| status.success()) {
        return Some(tempfile::tempdir().unwrap());
    }
    let _ = writeln!(std::io::stderr(), "formats: {test} skipped: there is no Yosys");
    None
}

/// Runs Yosys in a folder.
fn yosys(folder: &Path, script: &str) {
    let run = Command::new("yosys").args(["-Q", "-T", "-q", "-p", script]).current_dir(folder).output().unwrap();
    let said = [run.stdout, run.stderr].map(|bytes| String::from_utf8_lossy(&bytes).into_owned()).concat();
    assert!(run.status.success(), "{said}\n{script}");
}

/// The circuit of a Verilog file.
fn compiled(file: &Path) -> Circuit {
    let yosys = Yosys::find(None, Duration::from_secs(300)).unwrap();
    let design =
        Design { files: vec![file.to_path_buf()], top: None, parameters: vec![], clocked: false, blocks: vec![] };
    of_module(yosys.netlist(&design).and_then(|netlist| netlist.module()))
}

fn of_json(json: &[u8]) -> Circuit {
    of_module(Module::read(json))
}

fn of_module(module: synthesis::Result<Module>) -> Circuit {
    let module = module.unwrap_or_else(|why| panic!("{why}"));
    synthesis::circuit(&module, Goal::Size).unwrap_or_else(|why| panic!("{why}")).circuit
}

/// What the cells of a mapped netlist cost.
fn ands(json: &[u8]) -> u64 {
    let netlist: serde_json::Value = serde_json::from_slice(json).unwrap();
    let cells = netlist["modules"]["m"]["cells"].as_object().unwrap();
    cells.values().map(|cell| u64::from(find(cell["type"].as_str().unwrap()).unwrap().ands)).sum()
}

#[test]
fn designs_that_abc_maps_to_the_library_come_back() {
    let Some(folder) = folder("designs_that_abc_maps_to_the_library_come_back") else { return };
    let place = folder.path();
    for (text, most) in [
        ("module m(input [7:0] a, b, input s, output [7:0] y); assign y = s ? a + b : a ^ b; endmodule", 24),
        ("module m(input [3:0] a, b, output [7:0] p, output l); assign p = a * b, l = a < b; endmodule", 60),
        ("module m(input [63:0] x, input [2:0] i, output [7:0] y); assign y = x[8*i +: 8]; endmodule", 64),
        ("module m(input [2:0] x, output y, z, c); assign y = ^x, z = &x, c = 1'b1; endmodule", 4),
    ] {
        fs::write(place.join("m.v"), text).unwrap();
        let original = compiled(&place.join("m.v"));
        let write = "write_verilog mapped.v; write_json mapped.json; write_blif -gates mapped.blif";
        yosys(place, &format!("read_verilog m.v; synth -top m -flatten; abc -liberty {LIBRARY}; opt_clean; {write}"));
        let json = fs::read(place.join("mapped.json")).unwrap();
        assert!(ands(&json) <= most, "{} ANDs in {text}", ands(&json));
        let blif = fs::read(place.join("mapped.blif")).unwrap();
        for again in [compiled(&place.join("mapped.v")), of_json(&json), blif::read(&blif, "m").unwrap()] {
            assert!(again.and_count() <= ands(&json), "{} of {} ANDs in {text}", again.and_count(), ands(&json));
            same(&original, &again);
        }
    }
}

/// The same numbers on a thousand lanes.
fn same(one: &Circuit, other: &Circuit) {
    let widths = |circuit: &Circuit| {
        circuit
            .inputs()
            .iter()
            .chain(circuit.outputs())
            .map(|port| (port.name.clone(), port.ty.width))
            .collect::<Vec<_>>()
    };
    assert_eq!(widths(one), widths(other));
    let mut state = 1u128;
    let lane = |width: u32, state: &mut u128| {
        *state = state.wrapping_mul(0x2360_ed05_1fc6_5da4_4385_df64_9fcc_f645).wrapping_add(1);
        *state >> (128 - width)
    };
    let inputs: Vec<Vec<u128>> =
        one.inputs().iter().map(|port| (0..1000).map(|_| lane(port.ty.width, &mut state)).collect()).collect();
    let inputs: Vec<&[u128]> = inputs.iter().map(Vec::as_slice).collect();
    assert_eq!(Simulator::new(one).numbers(&inputs), Simulator::new(other).numbers(&inputs));
}

/// Pins by name and by place; a module that the files have themselves outweighs ours.
#[test]
fn cells_are_known_to_the_compiler() {
    let Some(folder) = folder("cells_are_known_to_the_compiler") else { return };
    let file = folder.path().join("m.v");
    let made = |text: &str| {
        fs::write(&file, text).unwrap();
        compiled(&file)
    };
    for cell in &CELLS {
        let names = ["a", "b", "c"].map(String::from);
        let names = &names[..cell.inputs.len()];
        let (inputs, joined) = (names.join(", "), [names, &["y".to_string()]].concat().join(", "));
        let named: Vec<String> = cell.inputs.iter().zip(names).map(|(pin, name)| format!(".{pin}({name})")).collect();
        let by_place = made(&format!("module m(input {inputs}, output y); {} g({joined}); endmodule", cell.name));
        let by_name = made(&format!(
            "module m(input {inputs}, output y); {} g(.Y(y), {}); endmodule",
            cell.name,
            named.join(", ")
        ));
        let expected = table(&blif_of(cell.name, cell.inputs));
        assert_eq!((table(&by_place), table(&by_name)), (expected.clone(), expected), "{}", cell.name);
        assert_eq!(by_name.and_count(), u64::from(cell.ands));
    }
    let own = "module DUO_AND(input A, B, output Y); assign Y = A & ~B; endmodule
        module m(input a, b, output y); DUO_AND g(a, b, y); endmodule";
    assert_eq!(table(&made(own)), [0, 1, 0, 0]);
}

/// A cell alone, as the tests of BLIF compare it with its function.
fn blif_of(cell: &str, pins: &[&str]) -> Circuit {
    let joined: String = pins.iter().map(|pin| format!(" {pin}={pin}")).collect();
    let text = format!(".inputs {}\n.outputs Y\n.gate {cell} Y=Y{joined}\n", pins.join(" "));
    blif::read(text.as_bytes(), "m").unwrap()
}

/// Yosys reads our Verilog, BLIF and AIGER, and its solver finds no difference; what it makes of the Verilog is the circuit.
#[test]
fn what_is_written_is_one_function() {
    let Some(folder) = folder("what_is_written_is_one_function") else { return };
    let (place, mut runner) = (folder.path(), TestRunner::deterministic());
    for _ in 0..12 {
        let circuit = circuit().new_tree(&mut runner).unwrap().current();
        fs::write(place.join("random.v"), verilog::write(&circuit, &Parties::default())).unwrap();
        fs::write(place.join("random.blif"), blif::write(&circuit)).unwrap();
        fs::write(place.join("random.aig"), aiger::write(&circuit).unwrap()).unwrap();
        fs::write(place.join("random.aag"), aiger::write_ascii(&circuit).unwrap()).unwrap();
        let mut script = format!(
            "read_liberty {LIBRARY}; read_verilog random.v; rename random verilog; flatten verilog; splitnets -ports verilog; "
        );
        script += "read_blif random.blif; rename random blif; ";
        for kind in ["aig", "aag"] {
            script += &format!("read_aiger -module_name {kind} random.{kind}; ");
        }
        for other in ["blif", "aig", "aag"] {
            script += &format!(
                "miter -equiv -flatten verilog {other} with_{other}; sat -verify -prove trigger 0 with_{other}; "
            );
        }
        yosys(place, &script);
        let again = compiled(&place.join("random.v"));
        assert_eq!(table(&again), table(&circuit));
        assert_eq!(ports(&again).len(), ports(&circuit).len());
    }
}

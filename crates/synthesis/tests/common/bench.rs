//! Yosys and Icarus, for tests that compare a circuit with the simulation of its module.

use circuit::{Circuit, Port};
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;
use synthesis::yosys::Yosys;

/// Yosys, or a line that says that what needs it is skipped.
pub fn yosys(test: &str) -> Option<Yosys> {
    let found = Yosys::find(None, Duration::from_secs(3600));
    found.map_err(|why| drop(writeln!(std::io::stderr(), "verilog: {test} skipped: {why}"))).ok()
}

/// Whether Icarus is there.
pub fn has_icarus() -> bool {
    Command::new("iverilog").arg("-V").output().is_ok()
}

/// The folder of the designs.
#[allow(dead_code)] // Not of texts that a test has itself.
pub fn designs() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../verilog")
}

/// A word as Verilog writes it, the highest bit first.
pub fn shown(bits: &[bool]) -> String {
    bits.iter().rev().map(|&bit| if bit { '1' } else { '0' }).collect()
}

/// The words of ports that lie behind one another.
pub fn words<'a>(ports: &[Port], bits: &'a [bool]) -> Vec<&'a [bool]> {
    let starts = ports.iter().scan(0, |start, port| {
        let from = *start;
        *start += port.ty.width as usize;
        Some(from..*start)
    });
    starts.map(|range| &bits[range]).collect()
}

/// What Icarus prints of a module, `instance` without its ports, that has the ports of a circuit: for each vector of inputs the
/// outputs in bits, the highest first.
pub fn simulate(circuit: &Circuit, instance: &str, files: &[PathBuf], vectors: &[Vec<bool>]) -> Vec<Vec<String>> {
    let declare = |kind: &str, ports: &[Port]| {
        ports.iter().map(|port| format!(" {kind} [{}:0] {};\n", port.ty.width - 1, port.name)).collect::<String>()
    };
    let declared = declare("reg", circuit.inputs()) + &declare("wire", circuit.outputs());
    let joined: Vec<String> =
        circuit.inputs().iter().chain(circuit.outputs()).map(|port| format!(".{0}({0})", port.name)).collect();
    let outputs: Vec<&str> = circuit.outputs().iter().map(|port| port.name.as_str()).collect();
    let print = format!("$display(\"{}\", {});", vec!["%b"; outputs.len()].join(" "), outputs.join(", "));
    let step = |vector: &Vec<bool>| {
        let words = words(circuit.inputs(), vector);
        let set = circuit
            .inputs()
            .iter()
            .zip(words)
            .map(|(port, word)| format!(" {} = {}'b{};", port.name, word.len(), shown(word)));
        format!("{} #1; {print}\n", set.collect::<String>())
    };
    let steps: String = vectors.iter().map(step).collect();
    let bench = format!(
        "module bench;\n{declared} {instance} u({});\n initial begin\n{steps} end\nendmodule\n",
        joined.join(", ")
    );
    let lines = run(&bench, files);
    assert_eq!(lines.len(), vectors.len(), "{instance}");
    lines.iter().map(|line| line.split(' ').map(String::from).collect()).collect()
}

fn run(bench: &str, files: &[PathBuf]) -> Vec<String> {
    let temporary = tempfile::tempdir().unwrap();
    let (source, program) = (temporary.path().join("bench.v"), temporary.path().join("bench"));
    fs::write(&source, bench).unwrap();
    let built = Command::new("iverilog")
        .args(["-g2012", "-s", "bench", "-o"])
        .args([&program, &source])
        .args(files)
        .output()
        .unwrap();
    assert!(built.status.success(), "{}", String::from_utf8_lossy(&built.stderr));
    let run = Command::new("vvp").arg("-N").arg(&program).output().unwrap();
    String::from_utf8(run.stdout).unwrap().lines().map(String::from).collect()
}

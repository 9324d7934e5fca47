//! `duologue compile`: a program, or a circuit in one of the formats that others read, from a design in Verilog.

use super::export::{self, Written};
use super::form::{CircuitForm, Form, parties as parties_of};
use super::import;
use crate::args::{Compile, Pair};
use crate::failure::Failure;
use crate::io::console::{Console, count, table, thousands};
use crate::io::{output, shown};
use crate::program;
use duologue::circuit::format::Provenance;
use duologue::circuit::format::ports::Parties;
use duologue::circuit::{Circuit, Program};
use serde::Serialize;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::time::Duration;
use std::{fmt, fs};
use synthesis::Profile;
use synthesis::blocks::Given;
use synthesis::clocked::{self, Clocking};
use synthesis::lanes::{self, Laned};
use synthesis::netlist::{Direction, Module};
use synthesis::parties::{self, Said};
use synthesis::yosys::{Design, Netlist, Yosys};

pub fn run(args: &Compile, console: &Console) -> Result<(), Failure> {
    let form = Form::of(&args.output)?;
    let said = said(args)?;
    if let Form::Circuit(form) = form
        && !(form.has_parties() || args.inputs.is_empty() && args.outputs.is_empty())
    {
        let why = format!("--inputs and --outputs name parties, and a circuit in {} has none", form.name());
        return Err(Failure::input(why).hint("write a program (-o FILE.duo), or leave them away"));
    }
    let blocks = blocks(args)?;
    let netlist = netlist(args, &blocks)?;
    netlist.warnings.iter().for_each(|warning| console.note(warning));
    let module = netlist.module_with(&blocks)?;
    let (design, figures, profile) = match args.cycles {
        Some(cycles) => clocked(&module, args, cycles, &said)?,
        None => unclocked(&module, args, form, &said)?,
    };
    let (bytes, written) = match (form, &design) {
        (Form::Program, Made::Program(program)) => (
            provenance(&module, args).put_behind(&program.to_bytes()?)?,
            File::Program(Written::new(program, &args.output)?),
        ),
        (Form::Circuit(form), Made::Circuit(circuit, parties)) => {
            let file = args.output.display().to_string();
            (form.bytes(circuit, parties)?, File::Circuit { file })
        }
        _ => {
            let why = "a circuit alone runs once, and not in cycles";
            return Err(Failure::input(why).hint("write a program (-o FILE.duo), or give --unroll"));
        }
    };
    output::write_file(&args.output, &bytes)?;
    let Netlist { warnings, .. } = netlist;
    let profile = args.profile.then(|| lines(&profile, figures.ands));
    console.show(&Compiled { written, front_end: module.creator.clone(), warnings, figures, profile })
}

/// The program alone, which is not written, and the warnings of what read the design.
pub fn program(args: &Compile) -> Result<(Program, Vec<String>), Failure> {
    let (said, blocks) = (said(args)?, blocks(args)?);
    let netlist = netlist(args, &blocks)?;
    let module = netlist.module_with(&blocks)?;
    let (made, ..) = match args.cycles {
        Some(cycles) => clocked(&module, args, cycles, &said)?,
        None => unclocked(&module, args, Form::Program, &said)?,
    };
    match made {
        Made::Program(program) => Ok((program, netlist.warnings)),
        Made::Circuit(..) => Err(Failure::input("the design became a circuit, and no program")),
    }
}

/// What made the program: equal circuits have equal digests, so it stands behind the digest.
fn provenance(module: &Module, args: &Compile) -> Provenance {
    let mut made = Provenance::default();
    made.add("compiler", concat!("duologue ", env!("CARGO_PKG_VERSION")));
    made.add("front end", &module.creator);
    made.add("goal", &args.goal.to_string());
    made
}

/// A program, or a circuit alone and whose its inputs and outputs are.
enum Made {
    Program(Program),
    Circuit(Circuit, Parties),
}

/// The parties of a circuit whose file has them, if the design or a flag names any.
fn parties(made: &synthesis::Made, said: &Said, form: CircuitForm) -> Result<Parties, Failure> {
    let ports = || made.inputs.iter().chain(&made.outputs);
    let is_named = ports().any(|port| port.party.is_some() || port.reveal.is_some());
    let is_said = !(said.inputs.is_empty() && said.outputs.is_empty());
    match form.has_parties() && (is_named || is_said) {
        true => Ok(parties_of(&parties::program(made, said)?)),
        false => Ok(Parties::default()),
    }
}

fn unclocked(module: &Module, args: &Compile, form: Form, said: &Said) -> Result<(Made, Figures, Profile), Failure> {
    if let Form::Program = form
        && let Some(laned) = lanes::program(module, args.goal, said)?
    {
        let figures = Figures::of_lanes(&laned, module);
        return Ok((Made::Program(laned.program), figures, laned.profile));
    }
    let (made, profile) = match args.profile {
        true => synthesis::profile(module, args.goal)?,
        false => (synthesis::circuit(module, args.goal)?, Profile::default()),
    };
    let figures = Figures::of(&made.circuit);
    Ok(match form {
        Form::Program => (Made::Program(parties::program(&made, said)?), figures, profile),
        Form::Circuit(form) => {
            let parties = parties(&made, said, form)?;
            (Made::Circuit(made.circuit, parties), figures, profile)
        }
    })
}

fn clocked(module: &Module, args: &Compile, cycles: u64, said: &Said) -> Result<(Made, Figures, Profile), Failure> {
    let form = match (args.iterate, args.unroll) {
        (true, _) => Some(clocked::Form::Iterate),
        (_, true) => Some(clocked::Form::Unroll),
        _ => None,
    };
    let resets = args.reset.iter().map(|reset| active(reset)).collect::<Result<Vec<_>, _>>()?;
    let clocking = Clocking { cycles, each: args.each.clone(), resets, form };
    let clocked = clocked::program(module, args.goal, &clocking, said)?;
    let binding = clocked.program.bind(&[("lanes", 1)])?;
    let of = |ty: duologue::circuit::Type, lanes: u64| u64::from(ty.width) * lanes;
    let figures = Figures {
        inputs: binding.inputs().iter().map(|port| of(port.ty, port.lanes)).sum(),
        outputs: binding.outputs().iter().map(|port| of(port.ty, port.lanes)).sum(),
        gates: clocked.gates(),
        ands: clocked.ands(cycles),
        depth: clocked.depth(cycles),
        iterated: clocked.again.is_some().then_some(cycles),
        lanes: None,
    };
    let is_circuit = matches!(Form::of(&args.output)?, Form::Circuit(_));
    Ok(match (clocked.again, &clocked.once[..]) {
        (None, [circuit]) if is_circuit => {
            (Made::Circuit(circuit.clone(), parties_of(&clocked.program)), figures, clocked.profile)
        }
        _ => (Made::Program(clocked.program), figures, clocked.profile),
    })
}

/// A reset, and the value with which it resets.
fn active(reset: &str) -> Result<(String, bool), Failure> {
    match reset.split_once('=') {
        None => Ok((reset.to_string(), true)),
        Some((name, "1")) => Ok((name.to_string(), true)),
        Some((name, "0")) => Ok((name.to_string(), false)),
        Some(_) => Err(Failure::input(format!("--reset {reset}: a reset is active at 0 or at 1"))),
    }
}

/// What Yosys wrote, now or before.
fn netlist(args: &Compile, blocks: &[Given]) -> Result<Netlist, Failure> {
    let is_netlist = |path: &Path| path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("json"));
    for file in &args.files {
        let found = fs::metadata(file).map_err(Failure::io(format!("reading {}", file.display())))?;
        if found.is_dir() {
            return Err(Failure::input(format!("{} is a folder", file.display())).hint("name the files in it"));
        }
    }
    match &args.files[..] {
        [file] if is_netlist(file) && args.top.is_some() => {
            Err(Failure::input("a netlist (FILE.json) has its own top module").hint("leave --top away"))
        }
        [file] if is_netlist(file) => {
            let netlist = fs::File::open(file).map_err(Failure::io(format!("reading {}", file.display())))?;
            Ok(Netlist::written(netlist))
        }
        files if files.iter().any(|file| is_netlist(file)) => {
            Err(Failure::input("a netlist (FILE.json) is compiled alone, without other files"))
        }
        files => {
            let yosys = Yosys::find(args.yosys.as_deref(), Duration::from_secs(args.time_limit))?;
            let parameters = args.set.iter().map(|pair| (pair.name.clone(), pair.value.clone())).collect();
            let (files, top, clocked) = (files.to_vec(), args.top.clone(), args.cycles.is_some());
            Ok(yosys.netlist(&Design { files, top, parameters, clocked, blocks: blocks.to_vec() })?)
        }
    }
}

/// The circuits that stand for modules.
fn blocks(args: &Compile) -> Result<Vec<Given>, Failure> {
    let given = |pair: &Pair<PathBuf>| {
        let file = &pair.value;
        let circuit = if file.extension().is_some_and(|extension| extension == "duo") {
            let program = program::load(&file.to_string_lossy(), &[])?;
            let circuit = export::circuit(&program).map_err(|_| {
                let why = format!("{}: the program is more than one circuit that is applied once", file.display());
                Failure::input(why).hint("`duologue inspect` shows its steps")
            })?;
            circuit.clone()
        } else {
            import::circuit(file)?
        };
        Ok(Given { module: pair.name.clone(), circuit: Rc::new(circuit) })
    };
    args.block.iter().map(given).collect()
}

fn said(args: &Compile) -> Result<Said, Failure> {
    let mut said = Said::default();
    for pair in &args.inputs {
        said.inputs.push((pair.name.clone(), parties::owner(&pair.value)?));
    }
    for pair in &args.outputs {
        said.outputs.push((pair.name.clone(), parties::recipient(&pair.value)?));
    }
    Ok(said)
}

/// The file that was written.
#[derive(Serialize)]
#[serde(untagged)]
enum File {
    Program(Written),
    Circuit { file: String },
}

#[derive(Serialize)]
struct Compiled {
    #[serde(flatten)]
    written: File,
    front_end: String,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    warnings: Vec<String>,
    #[serde(flatten)]
    figures: Figures,
    #[serde(skip_serializing_if = "Option::is_none")]
    profile: Option<Vec<Line>>,
}

/// What a line of the design costs.
#[derive(Serialize)]
struct Line {
    place: String,
    ands: u64,
    /// In hundredths of all ANDs.
    percent: f64,
}

fn lines(profile: &Profile, all: u64) -> Vec<Line> {
    let percent = |ands: u64| (ands as f64 * 1000.0 / all.max(1) as f64).round() / 10.0;
    profile.lines().into_iter().map(|(place, ands)| Line { place, ands, percent: percent(ands) }).collect()
}

/// What the circuit costs.
#[derive(Serialize)]
struct Figures {
    inputs: u64,
    outputs: u64,
    gates: u64,
    ands: u64,
    depth: u64,
    /// The cycles of a circuit that is run again and again.
    #[serde(skip_serializing_if = "Option::is_none")]
    iterated: Option<u64>,
    /// The lanes of a circuit that stands for many instances of a module.
    #[serde(skip_serializing_if = "Option::is_none")]
    lanes: Option<u64>,
}

impl Figures {
    fn of(circuit: &Circuit) -> Figures {
        let bits = |ports: &[duologue::circuit::Port]| ports.iter().map(|port| u64::from(port.ty.width)).sum();
        Figures {
            inputs: bits(circuit.inputs()),
            outputs: bits(circuit.outputs()),
            gates: circuit.gates().len() as u64,
            ands: circuit.and_count(),
            depth: circuit.depth().into(),
            iterated: None,
            lanes: None,
        }
    }

    fn of_lanes(laned: &Laned, module: &Module) -> Figures {
        let ports = |direction| module.ports.iter().filter(move |port| port.direction == direction);
        let bits = |direction| ports(direction).map(|port| port.bits.len() as u64).sum();
        Figures {
            inputs: bits(Direction::Input),
            outputs: bits(Direction::Output),
            gates: laned.gates(),
            ands: laned.ands(),
            depth: laned.depth(),
            iterated: None,
            lanes: Some(laned.lanes),
        }
    }
}

impl fmt::Display for Compiled {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.written {
            File::Program(written) => write!(f, "{written}")?,
            File::Circuit { file } => writeln!(f, "{file}")?,
        }
        let Figures { inputs, outputs, ands, depth, iterated, lanes, .. } = &self.figures;
        let bits = |number: u64| count(number, "bit");
        write!(f, "{}, depth {depth}; {} in, {} out", count(*ands, "AND"), bits(*inputs), bits(*outputs))?;
        match (iterated, lanes) {
            (Some(cycles), _) => writeln!(f, "; the circuit of one cycle, {cycles} times")?,
            (_, Some(lanes)) => writeln!(f, "; the circuit of one module, on {lanes} lanes")?,
            _ => writeln!(f)?,
        }
        let row = |line: &Line| vec![thousands(line.ands), format!("{:.1} %", line.percent), shown::name(&line.place)];
        match &self.profile {
            Some(lines) => write!(f, "\n{}", table("rrl", &lines.iter().map(row).collect::<Vec<_>>())),
            None => Ok(()),
        }
    }
}

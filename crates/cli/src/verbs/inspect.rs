//! `duologue inspect`: what a program is made of, and who learns what.

mod steps;

use crate::args::Inspect;
use crate::failure::Failure;
use crate::io::consent::{owner, recipient};
use crate::io::console::{Console, count, hex, table, thousands};
use crate::io::shown;
use crate::program;
use duologue::circuit::program::Step;
use duologue::circuit::{Circuit, Gate};
use serde::Serialize;
use std::fmt;
pub use steps::Look;

pub fn run(args: &Inspect, console: &Console) -> Result<(), Failure> {
    let supply = program::Supply { maker: args.correlations.0, pool: args.pool.is_some() };
    let program =
        program::load_with(&args.program, &[], &args.least, &args.size, supply, &program::Ours::default())?.program;
    let sizes: Vec<(&str, u64)> = args.size.iter().map(|pair| (&*pair.name, pair.value)).collect();
    let binding = match sizes.is_empty() && !program.sizes().is_empty() {
        true => None,
        false => Some(program.bind(&sizes)?),
    };
    let look = Look { program: &program, binding: binding.as_ref(), full: args.full || console.json() };
    let mut report = ProgramReport::new(&look)?;
    report.explain(program::app_ports(&args.program));
    report.made_by = program::provenance(&args.program)?.pairs().to_vec();
    console.show(&report)
}

#[derive(Serialize)]
struct ProgramReport {
    program: String,
    digest: String,
    /// What made it, as its file says; the digest does not cover it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    made_by: Vec<(String, String)>,
    sizes: Vec<SizeReport>,
    inputs: Vec<PortReport>,
    outputs: Vec<PortReport>,
    circuits: Vec<CircuitReport>,
    steps: Vec<String>,
}

#[derive(Serialize)]
struct SizeReport {
    name: String,
    least: u64,
    most: u64,
}

#[derive(Serialize)]
struct PortReport {
    name: String,
    /// Who supplies or learns it.
    who: &'static str,
    #[serde(rename = "type")]
    ty: String,
    /// In numbers, or in terms of the sizes; of an output only if sizes are given.
    lanes: Option<String>,
    /// What it means, of an application that is built in.
    #[serde(skip_serializing_if = "Option::is_none")]
    about: Option<&'static str>,
}

#[derive(Serialize)]
struct CircuitReport {
    name: String,
    inputs: Vec<String>,
    outputs: Vec<String>,
    gates: u64,
    ands: u64,
    depth: u32,
    /// ANDs of each layer: those that open together.
    layers: Vec<u64>,
}

impl ProgramReport {
    fn new(look: &Look) -> Result<ProgramReport, Failure> {
        let program = look.program;
        let (inputs, outputs) = ports(look);
        let sizes = program.sizes().iter().map(|size| SizeReport {
            name: size.name.clone(),
            least: *size.range.start(),
            most: *size.range.end(),
        });
        Ok(ProgramReport {
            program: program.name().to_string(),
            digest: hex(&program.digest()?),
            made_by: Vec::new(),
            sizes: sizes.collect(),
            inputs,
            outputs,
            circuits: program.circuits().iter().map(CircuitReport::new).collect(),
            steps: look.steps(),
        })
    }

    /// Adds what the ports mean.
    fn explain(&mut self, meanings: &[(&str, &'static str)]) {
        for port in self.inputs.iter_mut().chain(&mut self.outputs) {
            port.about = meanings.iter().find(|(name, _)| *name == port.name).map(|&(_, about)| about);
        }
    }
}

impl CircuitReport {
    fn new(circuit: &Circuit) -> CircuitReport {
        let port = |port: &duologue::circuit::Port| format!("{}: {}", shown::name(&port.name), port.ty);
        let ports = |ports: &[duologue::circuit::Port]| ports.iter().map(port).collect();
        CircuitReport {
            name: circuit.name().to_string(),
            inputs: ports(circuit.inputs()),
            outputs: ports(circuit.outputs()),
            gates: circuit.gates().len() as u64,
            ands: circuit.and_count(),
            depth: circuit.depth(),
            layers: layers(circuit),
        }
    }
}

fn layers(circuit: &Circuit) -> Vec<u64> {
    let mut layers = vec![0; circuit.depth() as usize];
    let ands = circuit.gates().iter().zip(circuit.depths()).filter(|(gate, _)| matches!(gate, Gate::And(..)));
    ands.for_each(|(_, depth)| layers[depth as usize - 1] += 1);
    layers
}

/// Inputs and outputs in the order of the steps.
fn ports(look: &Look) -> (Vec<PortReport>, Vec<PortReport>) {
    let (mut inputs, mut outputs) = (Vec::new(), Vec::new());
    for step in look.program.steps() {
        match step {
            Step::Input { name, owner: by, ty, lanes } => inputs.push(PortReport {
                name: name.clone(),
                who: owner(*by),
                ty: ty.to_string(),
                lanes: Some(look.count(lanes)),
                about: None,
            }),
            Step::Output { name, recipient: to, value } => outputs.push(PortReport {
                name: name.clone(),
                who: recipient(*to),
                ty: look.program.type_of(*value).to_string(),
                lanes: look.binding.map(|binding| thousands(binding.lanes_of(*value))),
                about: None,
            }),
            _ => {}
        }
    }
    (inputs, outputs)
}

impl fmt::Display for ProgramReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "program  {}\ndigest   {}", shown::name(&self.program), self.digest)?;
        for (what, which) in &self.made_by {
            writeln!(f, "made by  {what}: {which} (the digest does not cover this)")?;
        }
        for SizeReport { name, least, most } in &self.sizes {
            writeln!(f, "size     {} = {} to {}", shown::name(name), thousands(*least), thousands(*most))?;
        }
        let row = |port: &PortReport| {
            let lanes = port.lanes.iter().map(|lanes| format!("× {lanes}")).collect();
            vec![port.who.to_string(), shown::name(&port.name), port.ty.clone(), lanes]
        };
        let ports = || self.inputs.iter().chain(&self.outputs);
        write!(f, "\n{}", table("llll", &ports().map(row).collect::<Vec<_>>()))?;
        let meaning = |port: &PortReport| Some(vec![shown::name(&port.name), port.about?.to_string()]);
        let meanings: Vec<_> = ports().filter_map(meaning).collect();
        if !meanings.is_empty() {
            write!(f, "\n{}", table("ll", &meanings))?;
        }
        writeln!(f, "\ncircuits")?;
        for circuit in &self.circuits {
            let (inputs, outputs) = (circuit.inputs.join(", "), circuit.outputs.join(", "));
            let (ands, depth) = (count(circuit.ands, "AND"), circuit.depth);
            let name = shown::name(&circuit.name);
            writeln!(f, "  {name}({inputs}) → ({outputs}): {ands}, depth {depth}")?;
        }
        writeln!(f, "\nsteps")?;
        self.steps.iter().try_for_each(|step| writeln!(f, "  {step}"))
    }
}

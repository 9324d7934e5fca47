//! `duologue inspect`: what a program is made of, and who learns what.

use crate::args::Inspect;
use crate::failure::Failure;
use crate::io::consent::{owner, recipient};
use crate::io::console::{Console, hex, table, thousands};
use crate::program;
use circuit::program::{CallPort, Lanes, Step, Value, View};
use circuit::{Binding, Circuit, Gate, Program};
use serde::Serialize;
use std::fmt;

pub fn run(args: &Inspect, console: &Console) -> Result<(), Failure> {
    let program = program::load(&args.program, &[])?;
    let sizes: Vec<(&str, u64)> = args.size.iter().map(|pair| (&*pair.name, pair.value)).collect();
    let binding = match sizes.is_empty() && !program.sizes().is_empty() {
        true => None,
        false => Some(program.bind(&sizes)?),
    };
    console.show(&ProgramReport::new(&program, binding.as_ref())?)
}

#[derive(Serialize)]
struct ProgramReport {
    program: String,
    digest: String,
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
    fn new(program: &Program, binding: Option<&Binding>) -> Result<ProgramReport, Failure> {
        let look = Look { program, binding };
        let (inputs, outputs) = look.ports();
        let sizes = program.sizes().iter().map(|size| SizeReport {
            name: size.name.clone(),
            least: *size.range.start(),
            most: *size.range.end(),
        });
        Ok(ProgramReport {
            program: program.name().to_string(),
            digest: hex(&program.digest()?),
            sizes: sizes.collect(),
            inputs,
            outputs,
            circuits: program.circuits().iter().map(CircuitReport::new).collect(),
            steps: look.steps(),
        })
    }
}

impl CircuitReport {
    fn new(circuit: &Circuit) -> CircuitReport {
        let ports = |ports: &[circuit::Port]| ports.iter().map(|port| format!("{}: {}", port.name, port.ty)).collect();
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

/// A program, perhaps bound, as it is shown.
struct Look<'a> {
    program: &'a Program,
    binding: Option<&'a Binding>,
}

impl Look<'_> {
    fn ports(&self) -> (Vec<PortReport>, Vec<PortReport>) {
        let (mut inputs, mut outputs) = (Vec::new(), Vec::new());
        for step in self.program.steps() {
            match step {
                Step::Input { name, owner: by, ty, lanes } => inputs.push(PortReport {
                    name: name.clone(),
                    who: owner(*by),
                    ty: ty.to_string(),
                    lanes: Some(self.count(lanes)),
                }),
                Step::Output { name, recipient: to, value } => outputs.push(PortReport {
                    name: name.clone(),
                    who: recipient(*to),
                    ty: self.program.type_of(*value).to_string(),
                    lanes: self.binding.map(|binding| thousands(binding.lanes_of(*value))),
                }),
                _ => {}
            }
        }
        (inputs, outputs)
    }

    /// A number of lanes, in numbers if sizes are given.
    fn count(&self, lanes: &Lanes) -> String {
        let sizes = lanes.sizes().iter().map(|size| size.number());
        if let Some(binding) = self.binding {
            let count = sizes.fold(lanes.factor(), |all, size| all.saturating_mul(binding.sizes()[size]));
            return thousands(count);
        }
        let names = sizes.map(|size| self.program.sizes()[size].name.clone());
        let factor = (lanes.factor() != 1 || lanes.sizes().is_empty()).then(|| thousands(lanes.factor()));
        factor.into_iter().chain(names).collect::<Vec<_>>().join(" × ")
    }

    /// A line for each step, with the values that it defines.
    fn steps(&self) -> Vec<String> {
        let mut defined = 0;
        let line = |step: &Step| {
            let from = defined;
            defined += self.results(step);
            let left: Vec<String> = (from..defined).map(|value| format!("v{value}")).collect();
            let arrow = if left.is_empty() { "" } else { " = " };
            format!("{}{arrow}{}", left.join(", "), self.step(step))
        };
        self.program.steps().iter().map(line).collect()
    }

    /// How many values a step defines.
    fn results(&self, step: &Step) -> usize {
        match step {
            Step::Map { circuit, .. } | Step::Iterate { circuit, .. } => {
                self.program.circuits()[*circuit as usize].outputs().len()
            }
            Step::Reduce { args, .. } => args.len(),
            Step::Call { name, version, parameters, args } => self.results_of_call(name, *version, parameters, args),
            Step::Output { .. } => 0,
            Step::Input { .. } | Step::Constant { .. } | Step::View { .. } => 1,
        }
    }

    fn results_of_call(&self, name: &str, version: u32, parameters: &[u8], args: &[Value]) -> usize {
        let port = |&arg: &Value| CallPort { ty: self.program.type_of(arg), holder: self.program.holder(arg) };
        let args: Vec<CallPort> = args.iter().map(port).collect();
        let found = self.program.functionalities().find(name, version);
        found.and_then(|known| known.results(parameters, &args)).map_or(0, |results| results.len())
    }

    fn step(&self, step: &Step) -> String {
        let name = |circuit: &u32| self.program.circuits()[*circuit as usize].name();
        match step {
            Step::Input { name, owner: by, ty, lanes } => {
                format!("{} {name}: {ty} × {}", owner(*by), self.count(lanes))
            }
            Step::Constant { ty, lanes, .. } => format!("constant: {ty} × {}", self.count(lanes)),
            Step::Map { circuit, args } => format!("map {}({})", name(circuit), values(args)),
            Step::Reduce { circuit, args } => format!("reduce {}({})", name(circuit), values(args)),
            Step::Iterate { circuit, cycles, state, inputs } => {
                let (cycles, state, inputs) = (self.count(cycles), values(state), values(inputs));
                format!("iterate {} {cycles} times ({state}; {inputs})", name(circuit))
            }
            Step::View { view, args } => format!("{} ({})", self.view(view), values(args)),
            Step::Call { name, version, parameters, args } => {
                let with = match &parameters[..] {
                    [] => String::new(),
                    some => format!(", parameters {}", hex(some)),
                };
                format!("call {name} version {version}{with} ({})", values(args))
            }
            Step::Output { name, recipient: to, value } => {
                format!("{} {name}: {}", recipient(*to), values(&[*value]))
            }
        }
    }

    fn view(&self, view: &View) -> String {
        match view {
            View::Bits(bits) => format!("{} bits of", bits.len()),
            View::Join => "bits of all".into(),
            View::Repeat(times) => format!("repeat {} times", self.count(times)),
            View::Slice { start, step, count } => {
                format!("{} lanes from {start} in steps of {step} of", self.count(count))
            }
            View::Chain => "lanes of all".into(),
            View::Lanes(lanes) => format!("{} lanes of", lanes.len()),
            View::Split(parts) => format!("split into {parts}"),
            View::Merge(parts) => format!("merge {parts}"),
        }
    }
}

fn values(values: &[Value]) -> String {
    let names: Vec<String> = values.iter().map(|value| format!("v{}", value.number())).collect();
    names.join(", ")
}

impl fmt::Display for ProgramReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "program  {}\ndigest   {}", self.program, self.digest)?;
        for SizeReport { name, least, most } in &self.sizes {
            writeln!(f, "size     {name} = {} to {}", thousands(*least), thousands(*most))?;
        }
        let row = |port: &PortReport| {
            let lanes = port.lanes.iter().map(|lanes| format!("× {lanes}")).collect();
            vec![port.who.to_string(), port.name.clone(), port.ty.clone(), lanes]
        };
        let ports: Vec<_> = self.inputs.iter().chain(&self.outputs).map(row).collect();
        write!(f, "\n{}\ncircuits\n", table("llll", &ports))?;
        for circuit in &self.circuits {
            let (inputs, outputs) = (circuit.inputs.join(", "), circuit.outputs.join(", "));
            let (ands, depth) = (thousands(circuit.ands), circuit.depth);
            let name = &circuit.name;
            writeln!(f, "  {name}({inputs}) → ({outputs}): {ands} ANDs, depth {depth}")?;
        }
        writeln!(f, "\nsteps")?;
        self.steps.iter().try_for_each(|step| writeln!(f, "  {step}"))
    }
}

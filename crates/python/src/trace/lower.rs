//! A recording as a program.
//!
//! Every live operation has a stage: how often lanes meet (a reduction, a repetition) on the way to it. Operations on every
//! lane that have one stage and the same lanes become one circuit, and one step of the program; what crosses lanes is a
//! step by itself. Everything goes by the numbers of operations, so that equal recordings give equal programs.

use super::gates::{called, gates};
use super::node::{ANY, Call, Callee, Node, ONE, Op};
use super::profile::{Made, Profile, Spans, StepLines, Times};
use super::recording::Recording;
use super::sites::Sites;
use duologue::circuit::blocks::Goal;
use duologue::circuit::program::{Recipient, Size, Value, View};
use duologue::circuit::{self, Bit, Builder, Program, Type};
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;
use std::sync::atomic::Ordering;

/// Why there is no program, and at which line.
pub struct Failure {
    pub site: u32,
    pub why: String,
}

/// The most nodes that the circuit of a step may have.
const MOST_GATES: u32 = 1 << 29;

/// The bits of the operations of one circuit.
struct Circuits<'a> {
    recording: &'a Recording,
    goal: Goal,
    builder: Builder,
    spans: Spans,
    /// Of each operation, the place of its first bit.
    places: HashMap<u32, usize>,
    bits: Vec<Bit>,
    /// The results of calls.
    calls: HashMap<u32, Vec<Vec<Bit>>>,
}

impl<'a> Circuits<'a> {
    fn new(recording: &'a Recording, goal: Goal, name: &str) -> Self {
        let (places, bits, calls) = Default::default();
        Circuits { recording, goal, builder: Builder::new(name), spans: Spans::default(), places, bits, calls }
    }

    fn keep(&mut self, node: u32, bits: &[Bit]) {
        self.places.insert(node, self.bits.len());
        self.bits.extend_from_slice(bits);
    }

    /// A port for an operand that comes from elsewhere.
    fn port(&mut self, name: String, node: u32) {
        let bits = self.builder.input(name, self.recording.ty(node));
        self.keep(node, &bits);
    }

    fn of(&self, node: u32) -> (Vec<Bit>, Type) {
        let ty = self.recording.ty(node);
        match (self.recording.nodes[node as usize].op, self.places.get(&node)) {
            (Op::Constant(place), _) => (self.recording.constants[place as usize].bits(ty.width).collect(), ty),
            (_, Some(&place)) => (self.bits[place..place + ty.width as usize].to_vec(), ty),
            _ => unreachable!("an operation comes behind its operands"),
        }
    }

    /// Writes the gates of an operation on every lane.
    fn write(&mut self, number: u32) -> Result<(), Failure> {
        let node = &self.recording.nodes[number as usize];
        self.spans.start(self.builder.nodes(), node.site);
        if self.recording.is_stopped.load(Ordering::Relaxed) {
            return Err(Failure { site: node.site, why: "interrupted".into() });
        }
        if self.builder.nodes() > MOST_GATES {
            let why = format!("the operations up to here have more than {MOST_GATES} gates in one step");
            return Err(Failure { site: node.site, why });
        }
        let bits = match node.op {
            Op::Constant(_) => return Ok(()),
            Op::Result { call, port } => self.result(call, port as usize, node.ty),
            op => {
                let args: Vec<_> = self.recording.args(node).iter().map(|&arg| self.of(arg)).collect();
                let args: Vec<_> = args.iter().map(|(bits, ty)| (&bits[..], *ty)).collect();
                gates(&mut self.builder, op, node.ty, &args, self.goal)
            }
        };
        self.keep(number, &bits);
        Ok(())
    }

    fn result(&mut self, call: u32, port: usize, ty: Type) -> Vec<Bit> {
        if !self.calls.contains_key(&call) {
            let Call { callee, args } = &self.recording.calls[call as usize];
            let args: Vec<_> = args.iter().map(|&arg| self.of(arg)).collect();
            let args: Vec<_> = args.iter().map(|(bits, ty)| (&bits[..], *ty)).collect();
            let results = called(&mut self.builder, callee, &args, ty, self.goal);
            self.calls.insert(call, results);
        }
        self.calls[&call][port].clone()
    }

    fn finish(mut self, outputs: &[u32]) -> circuit::Result<Made> {
        for (place, &node) in outputs.iter().enumerate() {
            let (bits, ty) = self.of(node);
            self.builder.output_as(format!("r{place}"), ty, &bits);
        }
        self.spans.finish(self.builder)
    }
}

/// The circuit of a function of one lane, of its results in these types; its arguments are the inputs.
pub fn function(recording: &Recording, results: &[u32], goal: Goal, name: &str) -> Result<Made, Failure> {
    let live = live(recording, results);
    let mut circuits = Circuits::new(recording, goal, name);
    for port in &recording.inputs {
        circuits.port(port.name.clone(), port.node);
    }
    for (number, node) in recording.nodes.iter().enumerate() {
        match node.op {
            _ if !live[number] => {}
            Op::Input(_) => {}
            op if op.is_by_lane() => circuits.write(number as u32)?,
            _ => {
                let why = "a function of reduce or scan has one lane: nothing in it goes over lanes".into();
                return Err(Failure { site: node.site, why });
            }
        }
    }
    let site = results.first().map_or(0, |&result| recording.nodes[result as usize].site);
    circuits.finish(results).map_err(|why| Failure { site, why: why.to_string() })
}

/// Which operations some result needs.
fn live(recording: &Recording, results: &[u32]) -> Vec<bool> {
    let mut live = vec![false; recording.nodes.len()];
    results.iter().for_each(|&result| live[result as usize] = true);
    for number in (0..recording.nodes.len()).rev() {
        if live[number] {
            recording.args(&recording.nodes[number]).iter().for_each(|&arg| live[arg as usize] = true);
        }
    }
    live
}

/// An output: its name, who learns it, the operation.
pub type Output = (String, Recipient, u32);

/// The program of a recording, and what its lines cost.
pub fn program(
    recording: &Recording,
    name: &str,
    outputs: &[Output],
    goal: Goal,
    sites: Arc<Sites>,
) -> Result<(Program, Profile), Failure> {
    let mut lowering = Lowering::new(recording, name, outputs, goal);
    lowering.inputs()?;
    let last = lowering.stages.iter().max().map_or(0, |&last| last + 1);
    let mut crossing: Vec<Vec<u32>> = vec![Vec::new(); last as usize];
    let mut groups: BTreeMap<(u32, u32), Vec<u32>> = BTreeMap::new();
    for number in lowering.live_nodes() {
        let node = &recording.nodes[number as usize];
        let stage = lowering.stages[number as usize];
        match node.op {
            Op::Constant(_) | Op::Input(_) => {}
            op if op.is_by_lane() => groups.entry((stage, node.lanes)).or_default().push(number),
            _ => crossing[stage as usize].push(number),
        }
    }
    for (stage, numbers) in crossing.iter().enumerate() {
        numbers.iter().try_for_each(|&number| lowering.cross(number))?;
        let of_stage = groups.range((stage as u32, 0)..(stage as u32 + 1, 0));
        of_stage.into_iter().try_for_each(|(_, group)| lowering.map(group))?;
    }
    lowering.deliver(outputs)?;
    let Lowering { program, parts, steps, .. } = lowering;
    Ok((program, Profile { parts, steps, sites }))
}

struct Lowering<'a> {
    recording: &'a Recording,
    goal: Goal,
    program: Program,
    sizes: Vec<Size>,
    live: Vec<bool>,
    stages: Vec<u32>,
    /// Whether another step reads it.
    is_read: Vec<bool>,
    values: HashMap<u32, Value>,
    calls: HashMap<u32, Vec<Value>>,
    parts: Vec<(Times, BTreeMap<u32, super::profile::Line>)>,
    steps: Vec<StepLines>,
}

impl<'a> Lowering<'a> {
    fn new(recording: &'a Recording, name: &str, outputs: &[Output], goal: Goal) -> Self {
        let results: Vec<u32> = outputs.iter().map(|output| output.2).collect();
        let live = live(recording, &results);
        let stages = stages(recording, &live);
        let mut program = Program::new(name);
        let reduced = reduced_sizes(recording, &live);
        let sizes = recording.sizes.iter().enumerate().map(|(place, size)| {
            let least = *size.range.start().max(&u64::from(reduced.contains(&(place as u32))));
            program.size(&size.name, least..=*size.range.end())
        });
        let sizes = sizes.collect();
        let mut is_read = vec![false; live.len()];
        results.iter().for_each(|&result| is_read[result as usize] = true);
        for (number, node) in recording.nodes.iter().enumerate().filter(|&(number, _)| live[number]) {
            let other = |arg: u32| {
                let from = &recording.nodes[arg as usize];
                !node.op.is_by_lane() || (stages[arg as usize], from.lanes) != (stages[number], node.lanes)
            };
            recording.args(node).iter().filter(|&&arg| other(arg)).for_each(|&arg| is_read[arg as usize] = true);
        }
        let (values, calls, parts, steps) = Default::default();
        Lowering { recording, goal, program, sizes, live, stages, is_read, values, calls, parts, steps }
    }

    fn live_nodes(&self) -> Vec<u32> {
        (0..self.live.len() as u32).filter(|&number| self.live[number as usize]).collect()
    }

    /// The program's own words about what was just written, at its line.
    fn check(&mut self, site: u32) -> Result<(), Failure> {
        self.steps.resize(self.program.steps().len(), (site, Vec::new()));
        self.program.check().map_err(|why| Failure { site, why: why.to_string() })
    }

    /// All inputs are ports, whether something needs them or not.
    fn inputs(&mut self) -> Result<(), Failure> {
        for port in &self.recording.inputs {
            let node = &self.recording.nodes[port.node as usize];
            let lanes = self.recording.lanes[node.lanes as usize].of(&self.sizes);
            let value = self.program.input(&port.name, port.owner, node.ty, lanes);
            self.values.insert(port.node, value);
            self.check(node.site)?;
        }
        Ok(())
    }

    /// The value of an operation; of a constant, in so many lanes.
    fn value(&mut self, number: u32, lanes: u32) -> Value {
        let node = &self.recording.nodes[number as usize];
        match node.op {
            Op::Constant(place) => {
                let constant = self.recording.constants[place as usize];
                let bits: Vec<bool> = (0..node.ty.width).map(|bit| constant.bit(bit)).collect();
                let lanes = if lanes == ANY { ONE } else { lanes };
                self.program.constant(node.ty, self.recording.lanes[lanes as usize].of(&self.sizes), &bits)
            }
            _ => self.values[&number],
        }
    }

    /// The step of an operation that goes over lanes.
    fn cross(&mut self, number: u32) -> Result<(), Failure> {
        let node = &self.recording.nodes[number as usize];
        let value = match node.op {
            Op::Repeat => {
                let times = self.recording.lanes[node.lanes as usize].of(&self.sizes);
                let one = self.value(node.args[0], ONE);
                self.program.repeat(one, times)
            }
            Op::Lane(lane) => {
                let all = self.value(node.args[0], ONE);
                let view = View::Slice { start: lane.into(), step: 1, count: 1.into() };
                self.program.view(view, &[all])
            }
            Op::Array(place) => self.array(&self.recording.arrays[place as usize], node),
            Op::Folded { call, port } => self.folded(call, port as usize),
            _ => unreachable!("an operation over lanes"),
        };
        self.values.insert(number, value);
        self.check(node.site)
    }

    fn array(&mut self, bits: &[bool], node: &Node) -> Value {
        let lanes = bits.len() as u32 / node.ty.width;
        let all = self.program.constant(circuit::bits(bits.len() as u32), 1, bits);
        self.program.view(View::Split(lanes), &[all])
    }

    fn folded(&mut self, call: u32, port: usize) -> Value {
        if !self.calls.contains_key(&call) {
            let values = self.fold(&self.recording.calls[call as usize]);
            self.calls.insert(call, values);
        }
        // After a mistake there are none; the program has remembered it.
        self.calls[&call].get(port).copied().unwrap_or_else(|| self.program.number(circuit::bits(1), 1, 0))
    }

    fn fold(&mut self, Call { callee, args }: &Call) -> Vec<Value> {
        let lanes = |from: &[u32]| from.iter().map(|&arg| self.recording.lanes_of(arg)).find(|&lanes| lanes != ANY);
        match callee {
            Callee::Reduce(made) => {
                let lanes = lanes(args).unwrap_or(ONE);
                let values: Vec<Value> = args.iter().map(|&arg| self.value(arg, lanes)).collect();
                self.parts.push((Times::Between(values[0]), made.lines.clone()));
                self.program.reduce(&made.circuit, &values)
            }
            Callee::Scan(made, states) => {
                let (state, inputs) = args.split_at(*states);
                let cycles = lanes(inputs).unwrap_or(ONE);
                let state: Vec<Value> = state.iter().map(|&arg| self.value(arg, ONE)).collect();
                let inputs: Vec<Value> = inputs.iter().map(|&arg| self.value(arg, cycles)).collect();
                self.parts.push((Times::Lanes(inputs[0]), made.lines.clone()));
                let cycles = self.recording.lanes[cycles as usize].of(&self.sizes);
                self.program.iterate(&made.circuit, cycles, &state, &inputs)
            }
            _ => {
                let values: Vec<Value> = args.iter().map(|&arg| self.value(arg, ONE)).collect();
                vec![self.program.view(View::Chain, &values)]
            }
        }
    }

    /// One circuit for operations of one stage with the same lanes.
    fn map(&mut self, group: &[u32]) -> Result<(), Failure> {
        let first = &self.recording.nodes[group[0] as usize];
        let mut circuits = Circuits::new(self.recording, self.goal, "map");
        let mut ports = Vec::new();
        for &number in group {
            for &arg in self.recording.args(&self.recording.nodes[number as usize]) {
                let is_constant = matches!(self.recording.nodes[arg as usize].op, Op::Constant(_));
                let is_here = group.binary_search(&arg).is_ok();
                if !is_constant && !is_here && !circuits.places.contains_key(&arg) {
                    circuits.port(format!("a{}", ports.len()), arg);
                    ports.push(arg);
                }
            }
        }
        group.iter().try_for_each(|&number| circuits.write(number))?;
        let results: Vec<u32> = group.iter().copied().filter(|&number| self.is_read[number as usize]).collect();
        let made = circuits.finish(&results).map_err(|why| Failure { site: first.site, why: why.to_string() })?;
        let args: Vec<Value> = ports.iter().map(|&port| self.value(port, first.lanes)).collect();
        let values = match args.first() {
            Some(&value) => {
                self.parts.push((Times::Lanes(value), made.lines));
                self.program.map_all(&made.circuit, &args)
            }
            // Of constants alone.
            None => self.constants(&made.circuit, first.lanes),
        };
        self.check(first.site)?;
        if let Some(step) = self.steps.last_mut() {
            step.1 = made.gates;
        }
        self.values.extend(results.into_iter().zip(values));
        Ok(())
    }

    fn constants(&mut self, circuit: &circuit::Circuit, lanes: u32) -> Vec<Value> {
        let lanes = self.recording.lanes[if lanes == ANY { ONE } else { lanes } as usize].of(&self.sizes);
        let bits = circuit.evaluate(&[]);
        let mut rest = &bits[..];
        let ports = circuit.outputs().iter().map(|port| {
            let (word, after) = rest.split_at(port.ty.width as usize);
            rest = after;
            self.program.constant(port.ty, lanes.clone(), word)
        });
        ports.collect()
    }

    fn deliver(&mut self, outputs: &[Output]) -> Result<(), Failure> {
        for (name, recipient, number) in outputs {
            let node = &self.recording.nodes[*number as usize];
            let mut value = self.value(*number, ONE);
            if self.program.type_of(value) != node.ty {
                // Lanes that were rearranged are bits by their type.
                let mut c = Builder::new("type");
                let bits = c.input("a0", node.ty);
                c.output_as("r0", node.ty, &bits);
                value = self.program.map(&c.finish(), &[value]);
            }
            self.program.output(name, *recipient, value);
            self.check(node.site)?;
        }
        Ok(())
    }
}

/// How often lanes meet on the way to each operation.
fn stages(recording: &Recording, live: &[bool]) -> Vec<u32> {
    let mut stages = vec![0; live.len()];
    for (number, node) in recording.nodes.iter().enumerate().filter(|&(number, _)| live[number]) {
        let of = |&arg: &u32| {
            let op = recording.nodes[arg as usize].op;
            let is_computed = op.is_by_lane() && !matches!(op, Op::Constant(_));
            stages[arg as usize] + u32::from(is_computed && !node.op.is_by_lane())
        };
        stages[number] = recording.args(node).iter().map(of).max().unwrap_or(0);
    }
    stages
}

/// The sizes of which a reduction needs at least one lane.
fn reduced_sizes(recording: &Recording, live: &[bool]) -> Vec<u32> {
    let calls = recording.nodes.iter().zip(live).filter_map(|(node, &live)| match node.op {
        Op::Folded { call, .. } if live => Some(&recording.calls[call as usize]),
        _ => None,
    });
    let reduced = calls.filter(|call| matches!(call.callee, Callee::Reduce(_)));
    let args = reduced.flat_map(|call| &call.args).map(|&arg| recording.lanes_of(arg)).filter(|&lanes| lanes != ANY);
    args.flat_map(|lanes| recording.lanes[lanes as usize].sizes.clone()).collect()
}

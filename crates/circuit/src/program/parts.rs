//! Programs with calls, cut into parts that have none.
//!
//! A part ends in shared outputs, a call takes them, and the next part begins with its results as inputs. So no protocol
//! knows of calls, and a call of no protocol. The *level* of a value is the number of calls on its longest path: a call of
//! level k takes what part k and those before it made, and gives to part k + 1 and those after it. A step is in the
//! latest part that needs no result sooner, so that little crosses from part to part. Public values are computed anew in
//! each part that reads them.

use super::functionality::{Functionality, Holder};
use super::{Binding, Owner, Program, Recipient, Schedule, Seat, SizeRange, Step, Value};
use crate::error::{Error, Result};
use crate::graph::Type;
use crate::plan::Order;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// The most calls of a program.
pub(super) const MOST_CALLS: usize = 1 << 10;

/// The most steps of all parts together.
const MOST_STEPS: usize = 1 << 22;

/// Where a value comes from when a part or a call begins.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Origin {
    /// An input port of the whole program, by its place.
    Input(usize),
    /// A value of the whole program that a part or a call made before.
    Made(Value),
}

/// Where a part's output goes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Target {
    /// An output port of the whole program, by its place.
    Output(usize),
    /// A shared value of the whole program, for later parts and calls.
    Value(Value),
}

/// A part without calls.
pub struct ProgramPart {
    /// The part as a program of its own.
    pub binding: Arc<Binding>,
    /// Its tasks.
    pub schedule: Arc<Schedule>,
    /// Where the value of each input port comes from.
    pub inputs: Vec<Origin>,
    /// Where the value of each output port goes.
    pub outputs: Vec<Target>,
}

/// An argument or a result of a call, with its number of lanes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct CallValue {
    /// The type of one lane.
    pub ty: Type,
    /// How many lanes.
    pub lanes: u64,
    /// Who holds it.
    pub holder: Holder,
}

/// A call at its sizes: all that is public about it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Call {
    /// Its place among the calls of the program.
    pub number: u32,
    /// Its parameters, in its own encoding.
    pub parameters: Vec<u8>,
    /// Its arguments.
    pub args: Vec<CallValue>,
    /// Its results.
    pub results: Vec<CallValue>,
}

/// A call between parts.
pub struct CallPart {
    /// What is public about it.
    pub call: Arc<Call>,
    /// Its meaning.
    pub functionality: Arc<dyn Functionality>,
    /// Where each argument comes from.
    pub args: Vec<Origin>,
    /// The values that it makes.
    pub results: Vec<Value>,
}

/// A part of a program with calls.
pub enum Part {
    /// A program without calls.
    Program(ProgramPart),
    /// A call.
    Call(CallPart),
}

/// The parts of a program with calls, in the order in which they run.
pub struct Parts {
    /// The parts.
    pub list: Vec<Part>,
    /// Output ports of the whole program that are results of calls as they are, with the value.
    pub direct: Vec<(usize, Value)>,
}

impl Parts {
    /// The parts without calls.
    pub fn programs(&self) -> impl Iterator<Item = &ProgramPart> {
        self.list.iter().filter_map(|part| match part {
            Part::Program(part) => Some(part),
            Part::Call(_) => None,
        })
    }

    /// The calls.
    pub fn calls(&self) -> impl Iterator<Item = &CallPart> {
        self.list.iter().filter_map(|part| match part {
            Part::Call(part) => Some(part),
            Part::Program(_) => None,
        })
    }
}

/// The schedule of a program with calls: it has no tasks of its own.
pub(super) fn schedule(binding: &Binding, order: Order, tile: &dyn Fn(usize) -> usize) -> Result<Schedule> {
    let lowering = Lowering::new(binding);
    let mut parts = lowering.parts(order, tile)?;
    // One tile for all, that of the largest plan: by it a program that was prepared is cut again.
    let least = parts.programs().map(|part| part.schedule.tile).min().unwrap_or(1);
    if parts.programs().any(|part| part.schedule.tile != least) {
        parts = lowering.parts(order, &|_| least)?;
    }
    let mut totals = Seat::default();
    for seat in parts.programs().map(|part| part.schedule.totals) {
        totals.and0 += seat.and0;
        totals.in0 += seat.in0;
        totals.out0 += seat.out0;
    }
    let (tasks, plans, uses) = Default::default();
    Ok(Schedule { tasks, plans, uses, order, tile: least, totals, parts: Some(Arc::new(parts)) })
}

struct Lowering<'a> {
    binding: &'a Binding,
    steps: &'a [Step],
    /// The first value that each step defines, and one past the last.
    first: Vec<u32>,
    /// The level of each value.
    levels: Vec<u32>,
    /// The steps of the part of each level, without those that make public values.
    members: BTreeMap<u32, BTreeSet<u32>>,
    /// The level of the part that makes a secret value; none for results of calls.
    homes: BTreeMap<Value, u32>,
    /// The values of each part that later parts and calls read.
    crossing: BTreeMap<u32, BTreeSet<Value>>,
    /// The calls of each level.
    calls: BTreeMap<u32, BTreeSet<u32>>,
    direct: Vec<(usize, Value)>,
}

impl<'a> Lowering<'a> {
    fn new(binding: &'a Binding) -> Self {
        let program = binding.program();
        let mut first = vec![0; program.steps().len() + 1];
        program.values().iter().for_each(|value| first[value.step as usize + 1] += 1);
        (0..program.steps().len()).for_each(|step| first[step + 1] += first[step]);
        let (levels, members, homes, crossing, calls, direct) = Default::default();
        let mut lowering =
            Lowering { binding, steps: program.steps(), first, levels, members, homes, crossing, calls, direct };
        lowering.find_levels();
        lowering.find_members();
        lowering.find_crossing();
        lowering
    }

    fn find_levels(&mut self) {
        for (step, number) in self.steps.iter().zip(1..) {
            let level = self.level_of(&step.args()) + u32::from(matches!(step, Step::Call { .. }));
            self.levels.resize(self.first[number] as usize, level);
        }
    }

    /// From the last step to the first: each is in the part of its first reader.
    fn find_members(&mut self) {
        let mut readers = vec![u32::MAX; self.levels.len()];
        for (number, step) in self.steps.iter().enumerate().rev() {
            let (number, args) = (number as u32, step.args());
            let first_reader = self.results(number).map(|value| readers[value.number()]).min();
            let level = match (step, first_reader) {
                (Step::Call { .. }, _) => {
                    let level = self.level_of(&args);
                    self.calls.entry(level).or_default().insert(number);
                    let read = args.iter().filter(|arg| self.origin(**arg).is_none());
                    read.for_each(|arg| readers[arg.number()] = readers[arg.number()].min(level));
                    continue;
                }
                (Step::Output { recipient, value, .. }, _) => {
                    if self.is_direct(*recipient, *value) {
                        self.direct.push((self.output(number), *value));
                        continue;
                    }
                    self.level_of(&args)
                }
                _ if self.results(number).all(|value| self.binding.is_public(value)) => continue,
                (Step::Input { .. }, Some(u32::MAX)) => continue,
                (_, Some(reader)) if reader != u32::MAX => reader,
                _ => self.level_of(&args),
            };
            self.members.entry(level).or_default().insert(number);
            self.homes.extend(self.results(number).map(|value| (value, level)));
            args.iter().for_each(|arg| readers[arg.number()] = readers[arg.number()].min(level));
        }
    }

    fn find_crossing(&mut self) {
        let mut crossing: BTreeMap<u32, BTreeSet<Value>> = BTreeMap::new();
        for (&level, members) in &self.members {
            for arg in members.iter().flat_map(|&step| self.steps[step as usize].args()) {
                match self.homes.get(&arg) {
                    Some(&home) if home != level => drop(crossing.entry(home).or_default().insert(arg)),
                    _ => {}
                }
            }
        }
        for (&level, calls) in &self.calls {
            for arg in calls.iter().flat_map(|&step| self.steps[step as usize].args()) {
                if self.origin(arg).is_none() {
                    let home = self.homes.get(&arg).copied().unwrap_or(level);
                    crossing.entry(home).or_default().insert(arg);
                }
            }
        }
        self.crossing = crossing;
    }

    fn parts(&self, order: Order, tile: &dyn Fn(usize) -> usize) -> Result<Parts> {
        let levels = [self.members.keys().max(), self.calls.keys().max(), self.crossing.keys().max()];
        let (mut list, mut steps) = (Vec::new(), 0);
        for level in 0..=levels.into_iter().flatten().max().copied().unwrap_or(0) {
            list.extend(self.part(level, &mut steps, order, tile)?.map(Part::Program));
            for &step in self.calls.get(&level).into_iter().flatten() {
                list.push(Part::Call(self.call(step)?));
            }
        }
        let mut numbers = 0..;
        for part in &mut list {
            if let Part::Call(CallPart { call, .. }) = part {
                Arc::make_mut(call).number = numbers.next().unwrap_or_default();
            }
        }
        Ok(Parts { list, direct: self.direct.clone() })
    }

    /// The part of a level, if it has any steps.
    fn part(
        &self,
        level: u32,
        steps: &mut usize,
        order: Order,
        tile: &dyn Fn(usize) -> usize,
    ) -> Result<Option<ProgramPart>> {
        let (none, no_values) = Default::default();
        let crossing = self.crossing.get(&level).unwrap_or(&no_values);
        let members = self.with_public(self.members.get(&level).unwrap_or(&none), crossing);
        if members.is_empty() {
            return Ok(None);
        }
        *steps += members.len() + crossing.len();
        if *steps > MOST_STEPS {
            let place = format!("program '{}'", self.binding.program().name());
            return Err(Error::invalid(place, format!("its calls cut it into parts of more than {MOST_STEPS} steps")));
        }
        let mut writer = Writer::new(self, level)?;
        members.iter().try_for_each(|&step| writer.step(step))?;
        crossing.iter().try_for_each(|&value| writer.output(Recipient::Shared, value, Target::Value(value)))?;
        let Writer { program, inputs, outputs, .. } = writer;
        let binding = program.bind(&[])?;
        let schedule = Arc::new(Schedule::new(&binding, order, tile)?);
        Ok(Some(ProgramPart { binding: Arc::new(binding), schedule, inputs, outputs }))
    }

    /// These steps, and all that make the public values which they and `more` read.
    fn with_public(&self, members: &BTreeSet<u32>, more: &BTreeSet<Value>) -> BTreeSet<u32> {
        let args = members.iter().flat_map(|&step| self.steps[step as usize].args());
        let mut all = members.clone();
        let mut left: Vec<Value> = args.chain(more.iter().copied()).collect();
        while let Some(value) = left.pop() {
            let step = self.step_of(value);
            if self.binding.is_public(value) && all.insert(step) {
                left.extend(self.steps[step as usize].args());
            }
        }
        all
    }

    fn call(&self, number: u32) -> Result<CallPart> {
        let Step::Call { name, version, parameters, args } = &self.steps[number as usize] else {
            return Err(Error::usage("no call"));
        };
        let value = |value: Value| CallValue {
            ty: self.binding.program().type_of(value),
            lanes: self.binding.lanes_of(value),
            holder: self.binding.program().holder(value),
        };
        let results: Vec<Value> = self.results(number).collect();
        let call = Call {
            number: 0,
            parameters: parameters.clone(),
            args: args.iter().map(|&arg| value(arg)).collect(),
            results: results.iter().map(|&result| value(result)).collect(),
        };
        let functionality = self.binding.program().functionalities().find(name, *version)?.clone();
        let args = args.iter().map(|&arg| self.origin(arg).unwrap_or(Origin::Made(arg))).collect();
        Ok(CallPart { call: Arc::new(call), functionality, args, results })
    }

    fn results(&self, step: u32) -> impl Iterator<Item = Value> + use<> {
        self.binding.program().range(self.first[step as usize]..self.first[step as usize + 1])
    }

    fn step_of(&self, value: Value) -> u32 {
        self.binding.program().values()[value.number()].step
    }

    /// The level of the deepest of these values.
    fn level_of(&self, values: &[Value]) -> u32 {
        values.iter().map(|value| self.levels[value.number()]).max().unwrap_or(0)
    }

    /// Where a call finds an argument that no part has to make for it.
    fn origin(&self, value: Value) -> Option<Origin> {
        let step = self.step_of(value);
        match &self.steps[step as usize] {
            Step::Call { .. } => Some(Origin::Made(value)),
            Step::Input { owner: Owner::Party(_) | Owner::Shared, .. } => Some(Origin::Input(self.input(step))),
            _ => None,
        }
    }

    /// Whether a result of a call is delivered as it is.
    fn is_direct(&self, recipient: Recipient, value: Value) -> bool {
        let wanted = match self.binding.program().holder(value) {
            Holder::Party(party) => Recipient::Party(party),
            Holder::Shared => Recipient::Shared,
        };
        matches!(self.steps[self.step_of(value) as usize], Step::Call { .. }) && wanted == recipient
    }

    fn input(&self, step: u32) -> usize {
        let found = self.binding.inputs().binary_search_by_key(&step, |port| port.step);
        found.expect("every input step has a port")
    }

    fn output(&self, step: u32) -> usize {
        let found = self.binding.outputs().binary_search_by_key(&step, |port| port.step);
        found.expect("every output step has a port")
    }
}

/// Writes one part.
struct Writer<'a> {
    whole: &'a Lowering<'a>,
    level: u32,
    program: Program,
    /// The part's values for those of the whole program.
    values: BTreeMap<Value, Value>,
    circuits: BTreeMap<u32, u32>,
    inputs: Vec<Origin>,
    outputs: Vec<Target>,
}

impl<'a> Writer<'a> {
    fn new(whole: &'a Lowering<'a>, level: u32) -> Result<Self> {
        let binding = whole.binding;
        let mut program = Program::new(binding.program().name());
        for (size, &value) in binding.program().sizes().iter().zip(binding.sizes()) {
            program.push_size(SizeRange { name: size.name.clone(), range: value..=value })?;
        }
        let (values, circuits, inputs, outputs) = Default::default();
        Ok(Writer { whole, level, program, values, circuits, inputs, outputs })
    }

    fn step(&mut self, number: u32) -> Result<()> {
        let step = &self.whole.steps[number as usize];
        let step = match step {
            Step::Output { recipient, value, .. } => {
                return self.output(*recipient, *value, Target::Output(self.whole.output(number)));
            }
            Step::Input { owner, ty, lanes, .. } => {
                let name = self.inputs.len().to_string();
                self.inputs.push(Origin::Input(self.whole.input(number)));
                Step::Input { name, owner: *owner, ty: *ty, lanes: lanes.clone() }
            }
            _ => {
                let args = step.args().into_iter().map(|arg| self.value(arg)).collect::<Result<Vec<_>>>()?;
                step.with_args(&args, |circuit| self.circuit(circuit))
            }
        };
        let made = self.program.push(step)?;
        self.values.extend(self.whole.results(number).zip(self.program.range(made)));
        Ok(())
    }

    fn output(&mut self, recipient: Recipient, value: Value, target: Target) -> Result<()> {
        let (name, value) = (self.outputs.len().to_string(), self.value(value)?);
        self.outputs.push(target);
        self.program.push(Step::Output { name, recipient, value }).map(drop)
    }

    /// A value of this part, or one that crosses into it.
    fn value(&mut self, value: Value) -> Result<Value> {
        if let Some(&known) = self.values.get(&value) {
            return Ok(known);
        }
        let binding = self.whole.binding;
        // A value that a party supplies is shared once another part has taken it.
        let owner = match binding.program().holder(value) {
            Holder::Party(party) if !self.whole.homes.contains_key(&value) => Owner::Party(party),
            _ => Owner::Shared,
        };
        let (name, ty) = (self.inputs.len().to_string(), binding.program().type_of(value));
        self.inputs.push(Origin::Made(value));
        let made = self.program.push(Step::Input { name, owner, ty, lanes: binding.lanes_of(value).into() })?;
        let known = self.program.value(made.start);
        debug_assert!(self.whole.homes.get(&value) != Some(&self.level), "a part's own values are there");
        self.values.insert(value, known);
        Ok(known)
    }

    fn circuit(&mut self, circuit: u32) -> u32 {
        let (program, whole) = (&mut self.program, self.whole.binding.program());
        *self.circuits.entry(circuit).or_insert_with(|| {
            program.push_circuit(whole.circuits()[circuit as usize].clone());
            program.circuits().len() as u32 - 1
        })
    }
}

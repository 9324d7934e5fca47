//! Programs with calls, cut into parts that have none, and mixed programs, cut into parts of one technique.
//!
//! A part ends in shared outputs, a call takes them, and the next part begins with its results as inputs. So no protocol
//! knows of calls, and a call of no protocol. The *level* of a value is the number of calls on its longest path: a call of
//! level k takes what part k and those before it made, and gives to part k + 1 and those after it. A step is in the
//! latest part that needs no result sooner, so that little crosses from part to part. Public values are computed anew in
//! each part that reads them.
//!
//! In a mixed program the parts of even levels are shared and those of odd ones garbled: a step with ANDs has a level of its
//! technique, the first from its arguments' on. What crosses is shared, as it is between calls; inputs do not cross: each part
//! takes those that it reads.

use super::budget::Budget;
use super::functionality::{Functionality, Holder};
use super::mixed::{Technique, techniques};
use super::scheduler::{Scheduler, Way, tile_of};
use super::{Binding, Owner, Program, Recipient, Schedule, Seat, SizeRange, Step, Value};
use crate::error::{Error, Result};
use crate::graph::Type;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::sync::Arc;

/// The most calls of a program.
pub(super) const MOST_CALLS: usize = 1 << 10;

/// The most parts of a mixed program.
const MOST_PARTS: usize = 1 << 10;

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
    /// How it is computed, if the program is mixed.
    pub technique: Option<Technique>,
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

/// The schedule of a program with calls, or of a mixed one: it has no tasks of its own.
pub(super) fn schedule(
    binding: &Binding,
    ways: &[Way<'_>; 2],
    share_from: Option<u64>,
    budget: &Budget,
) -> Result<Schedule> {
    let techniques = share_from.map(|share_from| techniques(binding, share_from));
    let lowering = Lowering::new(binding, budget, techniques);
    let drafts = lowering.drafts()?;
    if share_from.is_some() && drafts.len() > MOST_PARTS {
        let why =
            format!("is cut into {} parts by what is shared and what is garbled, more than {MOST_PARTS}", drafts.len());
        return Err(Error::invalid(format!("program '{}'", binding.program().name()), why));
    }
    let schedules = schedule_all(&drafts, ways, budget)?;
    let mut totals = Seat::default();
    for seat in schedules.iter().map(|schedule| schedule.totals) {
        totals.and0 += seat.and0;
        totals.in0 += seat.in0;
        totals.out0 += seat.out0;
    }
    let tile = schedules.iter().map(|schedule| schedule.tile).max().unwrap_or(1);
    let parts = lowering.parts(drafts, schedules)?;
    let (tasks, plans, uses) = Default::default();
    Ok(Schedule { tasks, plans, uses, order: ways[0].0, tile, totals, parts: Some(Arc::new(parts)) })
}

/// The schedules of all parts. Those of one technique have one tile, that of the largest plan; of a program that is not mixed
/// all have, and by it a program that was prepared is cut again.
fn schedule_all(drafts: &[Draft], ways: &[Way<'_>; 2], budget: &Budget) -> Result<Vec<Schedule>> {
    let way = |draft: &Draft| &ways[usize::from(draft.technique == Some(Technique::Garbling))];
    let planned = drafts.iter().map(|draft| Scheduler::new(&draft.binding, way(draft).0, budget));
    let planned = planned.collect::<Result<Vec<_>>>()?;
    let tiles: Vec<_> = planned.iter().zip(drafts).map(|(part, draft)| tile_of(way(draft).1(part.slots()))).collect();
    let tile_of_all = |technique| {
        let alike = drafts.iter().zip(&tiles).filter(|(draft, _)| draft.technique == technique);
        alike.map(|(_, &tile)| tile).min().unwrap_or(1)
    };
    let planned = planned.into_iter().zip(drafts).map(|(part, draft)| part.at(tile_of_all(draft.technique)));
    let planned: Vec<_> = planned.collect();
    budget.expect_tasks(planned.iter().fold(0, |sum, part| sum.saturating_add(part.needed())))?;
    planned.into_iter().map(Scheduler::schedule).collect()
}

/// A part before it is scheduled.
struct Draft {
    level: u32,
    technique: Option<Technique>,
    binding: Binding,
    inputs: Vec<Origin>,
    outputs: Vec<Target>,
}

struct Lowering<'a> {
    binding: &'a Binding,
    budget: &'a Budget,
    steps: &'a [Step],
    /// The first value that each step defines, and one past the last.
    first: Vec<u32>,
    /// The technique of each step with ANDs, if the program is mixed.
    techniques: Option<Vec<Option<Technique>>>,
    /// The level of each value.
    levels: Vec<u32>,
    /// Whether ANDs or calls are among what makes a value.
    made: Vec<bool>,
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
    fn new(binding: &'a Binding, budget: &'a Budget, techniques: Option<Vec<Option<Technique>>>) -> Self {
        let program = binding.program();
        let mut first = vec![0; program.steps().len() + 1];
        program.values().iter().for_each(|value| first[value.step as usize + 1] += 1);
        (0..program.steps().len()).for_each(|step| first[step + 1] += first[step]);
        let (levels, made, members, homes, crossing, calls, direct) = Default::default();
        let mut lowering = Lowering {
            binding,
            budget,
            steps: program.steps(),
            first,
            techniques,
            levels,
            made,
            members,
            homes,
            crossing,
            calls,
            direct,
        };
        lowering.find_levels();
        lowering.find_members();
        lowering.find_crossing();
        lowering
    }

    fn find_levels(&mut self) {
        for (number, step) in self.steps.iter().enumerate() {
            let level = self.level_of(&step.args()) + u32::from(matches!(step, Step::Call { .. }));
            let level = self.technique(number as u32).map_or(level, |technique| technique.from(level));
            self.levels.resize(self.first[number + 1] as usize, level);
            let is_made = self.technique(number as u32).is_some() || matches!(step, Step::Call { .. });
            let is_made = is_made || step.args().iter().any(|arg| self.made[arg.number()]);
            self.made.resize(self.first[number + 1] as usize, is_made);
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
                (Step::Input { .. }, _) if self.techniques.is_some() => continue,
                (_, Some(reader)) if reader != u32::MAX => match self.technique(number) {
                    Some(technique) => technique.until(reader),
                    None if self.techniques.is_some() && self.narrows(number) => self.own_level(number),
                    None => reader,
                },
                _ => self.own_level(number),
            };
            self.members.entry(level).or_default().insert(number);
            self.homes.extend(self.results(number).map(|value| (value, level)));
            args.iter().for_each(|arg| readers[arg.number()] = readers[arg.number()].min(level));
        }
    }

    /// The first level at which a step can be.
    fn own_level(&self, step: u32) -> u32 {
        self.results(step).map(|value| self.levels[value.number()]).max().unwrap_or(0)
    }

    /// Whether a step makes fewer bits than it reads of what crosses otherwise.
    fn narrows(&self, step: u32) -> bool {
        let program = self.binding.program();
        let bits = |value: Value| u128::from(program.type_of(value).width) * u128::from(self.binding.lanes_of(value));
        let args = self.steps[step as usize].args();
        let crossing = args.into_iter().filter(|arg| self.made[arg.number()]);
        self.results(step).map(bits).sum::<u128>() < crossing.map(bits).sum::<u128>()
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

    /// The parts without calls, level by level.
    fn drafts(&self) -> Result<Vec<Draft>> {
        let levels = self.members.keys().chain(self.crossing.keys()).copied().collect::<BTreeSet<u32>>();
        levels.into_iter().filter_map(|level| self.draft(level).transpose()).collect()
    }

    /// The part of a level, if it has any steps.
    fn draft(&self, level: u32) -> Result<Option<Draft>> {
        let (none, no_values) = Default::default();
        let crossing = self.crossing.get(&level).unwrap_or(&no_values);
        let members = self.with_public(self.members.get(&level).unwrap_or(&none), crossing);
        if members.is_empty() {
            return Ok(None);
        }
        let mut writer = Writer::new(self, level)?;
        members.iter().try_for_each(|&step| writer.step(step))?;
        crossing.iter().try_for_each(|&value| writer.output(Recipient::Shared, value, Target::Value(value)))?;
        let Writer { program, inputs, outputs, .. } = writer;
        let technique = self.technique_of_part(level, &members);
        Ok(Some(Draft { level, technique, binding: program.bind(&[])?, inputs, outputs }))
    }

    fn technique(&self, step: u32) -> Option<Technique> {
        self.techniques.as_ref()?[step as usize]
    }

    /// That of its level; a part without ANDs is shared, since garbling would cost it labels.
    fn technique_of_part(&self, level: u32, members: &BTreeSet<u32>) -> Option<Technique> {
        self.techniques.as_ref()?;
        let has_ands = members.iter().any(|&step| self.technique(step).is_some());
        Some(if has_ands { Technique::of_level(level) } else { Technique::Sharing })
    }

    /// Of each level its part, then its calls.
    fn parts(&self, drafts: Vec<Draft>, schedules: Vec<Schedule>) -> Result<Parts> {
        let calls = self.calls.iter().flat_map(|(&level, calls)| calls.iter().map(move |&step| (level, step)));
        let mut calls = (0..).zip(calls).peekable();
        let mut list = Vec::new();
        for (Draft { level, technique, binding, inputs, outputs }, schedule) in drafts.into_iter().zip(schedules) {
            while let Some((number, (_, step))) = calls.next_if(|&(_, (of, _))| of < level) {
                list.push(Part::Call(self.call(number, step)?));
            }
            let (binding, schedule) = (Arc::new(binding), Arc::new(schedule));
            list.push(Part::Program(ProgramPart { binding, schedule, technique, inputs, outputs }));
        }
        for (number, (_, step)) in calls {
            list.push(Part::Call(self.call(number, step)?));
        }
        Ok(Parts { list, direct: self.direct.clone() })
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

    /// The call of this number, which is a step.
    fn call(&self, number: u32, step: u32) -> Result<CallPart> {
        let Step::Call { name, version, parameters, args } = &self.steps[step as usize] else {
            return Err(Error::usage("no call"));
        };
        let value = |value: Value| CallValue {
            ty: self.binding.program().type_of(value),
            lanes: self.binding.lanes_of(value),
            holder: self.binding.program().holder(value),
        };
        let results: Vec<Value> = self.results(step).collect();
        let call = Call {
            number,
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
        // They were checked when the whole program was written.
        let sizes = binding.program().sizes().iter().zip(binding.sizes());
        whole.budget.steps(sizes.len() as u64)?;
        let of_one = |(size, &value): (&SizeRange, &u64)| SizeRange { name: size.name.clone(), range: value..=value };
        program.sizes = sizes.map(of_one).collect();
        let (values, circuits, inputs, outputs) = Default::default();
        Ok(Writer { whole, level, program, values, circuits, inputs, outputs })
    }

    fn push(&mut self, step: Step) -> Result<Range<u32>> {
        self.whole.budget.step(&step)?;
        self.program.push(step)
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
                self.take_circuit(step)?;
                step.with_args(&args, |circuit| self.circuits[&circuit])
            }
        };
        let made = self.push(step)?;
        self.values.extend(self.whole.results(number).zip(self.program.range(made)));
        Ok(())
    }

    fn output(&mut self, recipient: Recipient, value: Value, target: Target) -> Result<()> {
        let (name, value) = (self.outputs.len().to_string(), self.value(value)?);
        self.outputs.push(target);
        self.push(Step::Output { name, recipient, value }).map(drop)
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
        let taken = if self.whole.homes.contains_key(&value) { None } else { self.whole.origin(value) };
        self.inputs.push(taken.unwrap_or(Origin::Made(value)));
        let made = self.push(Step::Input { name, owner, ty, lanes: binding.lanes_of(value).into() })?;
        let known = self.program.value(made.start);
        debug_assert!(self.whole.homes.get(&value) != Some(&self.level), "a part's own values are there");
        self.values.insert(value, known);
        Ok(known)
    }

    /// Takes over the circuit of a step.
    fn take_circuit(&mut self, step: &Step) -> Result<()> {
        let (Step::Map { circuit, .. } | Step::Reduce { circuit, .. } | Step::Iterate { circuit, .. }) = step else {
            return Ok(());
        };
        if !self.circuits.contains_key(circuit) {
            let known = &self.whole.binding.program().circuits()[*circuit as usize];
            self.whole.budget.tasks(known.gates().len() as u64 / 64)?;
            self.program.push_circuit(known.clone());
            self.circuits.insert(*circuit, self.circuits.len() as u32);
        }
        Ok(())
    }
}

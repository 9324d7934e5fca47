//! The programs of a job: one for each shard, and the last one.
//!
//! A shard makes the values that are cut, on its own lanes, and of each reduction over them the blocks that lie in its lanes, one lane
//! each (`ranges.rs`). The last program takes these as shares, folds them, and makes all that follows.

use super::places::{Layout, Place, Places, count};
use super::ranges::{Ranges, blocks};
use super::{Last, LastShares, Shard, ShardInput};
use crate::{Error, Result};
use circuit::program::{Binding, Owner, Program, Recipient, Step, Value, View};
use circuit::{Circuit, Type};
use std::collections::HashSet;
use std::sync::Arc;

/// What shards and the last program are made of.
pub(super) struct Cutter {
    /// The whole program.
    pub whole: Arc<Binding>,
    pub places: Places,
    pub ranges: Ranges,
    /// The reductions over lanes that are cut which the last program needs, in the order of their steps.
    pub reductions: Vec<Reduction>,
}

/// A reduction over lanes that are cut.
pub(super) struct Reduction {
    step: usize,
    layout: Layout,
    args: Vec<Value>,
    /// Of each value the port by which its blocks leave a shard and come to the last program.
    names: Vec<String>,
}

/// The most steps that are written for the ends of shards, in all programs of a job together: a short file must not fill the memory.
const MOST_STEPS: u64 = 1 << 20;

impl Cutter {
    /// # Errors
    /// [`Error::Usage`] if too much has to be put together in the last program.
    pub fn new(whole: Arc<Binding>, places: Places, ranges: Ranges) -> Result<Cutter> {
        let mut cutter = Cutter { whole, places, ranges, reductions: Vec::new() };
        let needed = cutter.needed(&cutter.outputs(Place::is_in_last), |step| cutter.reads_in_last(step));
        let taken: HashSet<&str> = cutter.whole.program().steps().iter().filter_map(port_name).collect();
        let reductions =
            (0..needed.len()).filter(|&step| needed[step]).filter_map(|step| cutter.reduction(step, &taken));
        let reductions = reductions.collect();
        cutter.reductions = reductions;
        cutter.check_steps().map(|()| cutter)
    }

    fn check_steps(&self) -> Result<()> {
        let mut steps = 0;
        for (reduction, shard) in
            self.reductions.iter().flat_map(|one| (0..self.ranges.used).map(move |shard| (one, shard)))
        {
            steps += self.blocks(reduction, shard) * (1 + reduction.args.len() as u64);
            if steps > MOST_STEPS {
                let (shards, name) = (self.ranges.shards, self.whole.program().name());
                return Err(Error::usage(format!(
                    "program '{name}': what {shards} shards reduce takes more than {MOST_STEPS} steps to put together: take fewer shards"
                )));
            }
        }
        Ok(())
    }

    fn steps(&self) -> &[Step] {
        self.whole.program().steps()
    }

    /// A reduction over lanes that are cut, if this step is one.
    fn reduction(&self, step: usize, taken: &HashSet<&str>) -> Option<Reduction> {
        let (args, layout) = reduces(&self.places, &self.steps()[step])?;
        let free = |mut name: String| {
            while taken.contains(&name[..]) {
                name.push('+');
            }
            name
        };
        let names = (0..args.len()).map(|port| free(format!("partial {step}.{port}"))).collect();
        Some(Reduction { step, layout, args: args.to_vec(), names })
    }

    /// The values of the outputs that are in such a place.
    fn outputs(&self, is_there: impl Fn(Place) -> bool) -> Vec<Value> {
        let of = |step: &Step| match step {
            Step::Output { value, .. } if is_there(self.places.of(*value)) => Some(*value),
            _ => None,
        };
        self.steps().iter().filter_map(of).collect()
    }

    /// Which steps make these values, if a step reads what `reads` says.
    fn needed(&self, values: &[Value], reads: impl Fn(usize) -> Vec<Value>) -> Vec<bool> {
        let mut needed = vec![false; self.steps().len()];
        values.iter().for_each(|&value| needed[self.places.step_of(value)] = true);
        for step in (0..needed.len()).rev() {
            if needed[step] {
                reads(step).iter().for_each(|&arg| needed[self.places.step_of(arg)] = true);
            }
        }
        needed
    }

    /// What a step reads in the last program: of reductions over lanes that are cut the shards have read it.
    fn reads_in_last(&self, step: usize) -> Vec<Value> {
        match reduces(&self.places, &self.steps()[step]) {
            Some(_) => Vec::new(),
            None => self.steps()[step].args(),
        }
    }

    /// What a step reads in a shard: only the first one has what is chained before the lanes that are cut, and the last one what is
    /// chained after them.
    fn reads(&self, step: usize, shard: u32) -> Vec<Value> {
        let step = &self.steps()[step];
        let is_cut = |&arg: &Value| matches!(self.places.of(arg), Place::Cut(_));
        match (step, step.args().iter().position(is_cut)) {
            (Step::View { view: View::Chain, args }, Some(cut)) => {
                let (first, last) = self.ranges.has_ends(shard);
                args[if first { 0 } else { cut }..if last { args.len() } else { cut + 1 }].to_vec()
            }
            _ => step.args(),
        }
    }

    /// The program of a shard.
    pub fn shard(&self, number: u32) -> Result<Shard> {
        let mut sinks = self.outputs(|place| !place.is_in_last());
        sinks.extend(self.reductions.iter().flat_map(|reduction| &reduction.args));
        let needed = self.needed(&sinks, |step| self.reads(step, number));
        let mut writer = Writer::new(self, Some(number));
        (0..needed.len()).filter(|&step| needed[step]).for_each(|step| writer.step(step));
        writer.outputs(|place| !place.is_in_last());
        self.reductions.iter().for_each(|reduction| writer.fold_blocks(reduction, number));
        let Writer { program, inputs, .. } = writer;
        let binding = program.bind(&[]).map_err(|why| too_large(number, &why))?;
        Ok(Shard { number, lanes: self.ranges.of(number), binding: Arc::new(binding), inputs })
    }

    /// The last program, unless all outputs come from the shards.
    pub fn last(&self) -> Result<Option<Last>> {
        let sinks = self.outputs(Place::is_in_last);
        if sinks.is_empty() {
            return Ok(None);
        }
        let needed = self.needed(&sinks, |step| self.reads_in_last(step));
        let mut writer = Writer::new(self, None);
        (0..needed.len()).filter(|&step| needed[step]).for_each(|step| writer.step(step));
        writer.outputs(Place::is_in_last);
        let Writer { program, inputs, .. } = writer;
        let shares = self.reductions.iter().flat_map(|reduction| self.shares(reduction)).collect();
        Ok(Some(Last { binding: Arc::new(program.bind(&[])?), inputs, shares }))
    }

    fn shares(&self, reduction: &Reduction) -> impl Iterator<Item = LastShares> {
        let mut starts = vec![0];
        for shard in 0..self.ranges.shards {
            starts.push(starts[shard as usize] + self.blocks(reduction, shard));
        }
        let starts: Arc<[u64]> = starts.into();
        reduction.names.iter().map(move |name| LastShares { name: name.clone(), starts: starts.clone() })
    }

    /// How many blocks of a reduction lie in a shard.
    fn blocks(&self, reduction: &Reduction, shard: u32) -> u64 {
        blocks(self.ranges.rows(reduction.layout, shard)).count() as u64
    }

    /// The lanes of a value that a shard has, or that the last program has.
    pub fn rows(&self, value: Value, shard: Option<u32>) -> std::ops::Range<u64> {
        match (self.places.of(value), shard) {
            (Place::Cut(layout), Some(shard)) => self.ranges.rows(layout, shard),
            _ => 0..self.whole.lanes_of(value),
        }
    }
}

impl Place {
    /// Whether outputs of this place come from the last program.
    pub fn is_in_last(self) -> bool {
        !matches!(self, Place::Cut(_))
    }
}

/// What a step reduces, and how it lies, if that is cut.
fn reduces<'a>(places: &Places, step: &'a Step) -> Option<(&'a [Value], Layout)> {
    match step {
        Step::Reduce { args, .. } => match places.of(args[0]) {
            Place::Cut(layout) => Some((args, layout)),
            _ => None,
        },
        _ => None,
    }
}

/// The name of a step's port.
fn port_name(step: &Step) -> Option<&str> {
    match step {
        Step::Input { name, .. } | Step::Output { name, .. } => Some(name),
        _ => None,
    }
}

fn too_large(shard: u32, why: &circuit::Error) -> Error {
    Error::usage(format!("shard {shard}: {why}; with more shards each has fewer lanes"))
}

/// Writes the program of a shard, or the last one.
struct Writer<'a> {
    cutter: &'a Cutter,
    shard: Option<u32>,
    program: Program,
    /// The values of this program for those of the whole one.
    values: Vec<Option<Value>>,
    inputs: Vec<ShardInput>,
}

impl<'a> Writer<'a> {
    fn new(cutter: &'a Cutter, shard: Option<u32>) -> Writer<'a> {
        let whole = cutter.whole.program();
        let values = vec![None; whole.defined().count()];
        Writer { cutter, shard, program: Program::new(whole.name()), values, inputs: Vec::new() }
    }

    /// Writes a step whose arguments are written.
    fn step(&mut self, number: usize) {
        let cutter = self.cutter;
        let step = &cutter.steps()[number];
        let made = match step {
            Step::Input { name, owner, ty, .. } => vec![self.input(number, name, (*owner, *ty))],
            Step::Constant { ty, bits, .. } => {
                let lanes = self.lanes_by(number);
                vec![self.program.constant(*ty, lanes, bits)]
            }
            Step::Map { circuit, args } => self.program.map_all(cutter.circuit(*circuit), &self.values_of(args)),
            Step::Reduce { circuit, args } => match (self.shard, reduces(&cutter.places, step)) {
                (None, Some(_)) => self.fold_shards(number),
                _ => self.program.reduce(cutter.circuit(*circuit), &self.values_of(args)),
            },
            Step::Iterate { circuit, cycles, state, inputs } => {
                let [state, inputs] = [state, inputs].map(|args| self.values_of(args));
                let cycles = count(cycles, cutter.whole.sizes());
                self.program.iterate(cutter.circuit(*circuit), cycles, &state, &inputs)
            }
            Step::View { view, args } => vec![self.view(number, view, args)],
            Step::Call { name, version, parameters, args } => {
                let known = cutter.whole.program().functionalities().find(name, *version);
                self.program.call(known.expect("known when bound"), parameters, &self.values_of(args))
            }
            Step::Output { .. } => Vec::new(),
        };
        for (value, made) in cutter.whole.program().defined_by(number).zip(made) {
            self.values[value.number()] = Some(made);
        }
    }

    /// The values of this program for those of the whole program, which were written before.
    fn values_of(&self, args: &[Value]) -> Vec<Value> {
        args.iter().map(|&arg| self.value(arg)).collect()
    }

    fn value(&self, value: Value) -> Value {
        self.values[value.number()].expect("steps are written after what they read")
    }

    /// The lanes of what a step defines.
    fn lanes_by(&self, step: usize) -> u64 {
        let defined = self.cutter.whole.program().defined_by(step).next();
        let rows = defined.map(|value| self.cutter.rows(value, self.shard));
        rows.map_or(0, |rows| rows.end - rows.start)
    }

    fn input(&mut self, number: usize, name: &str, (owner, ty): (Owner, Type)) -> Value {
        let value = self.cutter.whole.program().defined_by(number).next().expect("an input is a value");
        let (rows, of) = (self.cutter.rows(value, self.shard), self.cutter.whole.lanes_of(value));
        let made = self.program.input(name, owner, ty, rows.end - rows.start);
        self.inputs.push(ShardInput { name: name.to_owned(), owner, ty, rows, of });
        made
    }

    fn view(&mut self, number: usize, view: &View, args: &[Value]) -> Value {
        let lanes = self.lanes_by(number);
        let read = match self.shard {
            Some(shard) => self.cutter.reads(number, shard),
            None => args.to_vec(),
        };
        let read = self.values_of(&read);
        let view = match view {
            View::Chain if read.len() == 1 => return read[0],
            View::Repeat(_) => {
                let rows = self.cutter.rows(args[0], self.shard);
                View::Repeat(lanes.checked_div(rows.end - rows.start).unwrap_or(1).into())
            }
            View::Slice { start, step, .. } => View::Slice { start: *start, step: *step, count: lanes.into() },
            view => view.clone(),
        };
        self.program.view(view, &read)
    }

    /// Writes the outputs whose values are in such a place.
    fn outputs(&mut self, is_there: impl Fn(Place) -> bool) {
        for step in self.cutter.steps() {
            if let Step::Output { name, recipient, value } = step
                && is_there(self.cutter.places.of(*value))
            {
                let value = self.value(*value);
                self.program.output(name, *recipient, value);
            }
        }
    }

    /// The blocks of a reduction in a shard, each folded to one lane, as outputs that stay shared.
    fn fold_blocks(&mut self, reduction: &Reduction, shard: u32) {
        let circuit = self.cutter.circuit_of(reduction.step);
        let args = self.values_of(&reduction.args);
        let rows = self.cutter.ranges.rows(reduction.layout, shard);
        let start = rows.start;
        let all = rows.end - start;
        let mut folded: Vec<Vec<Value>> = vec![Vec::new(); args.len()];
        for block in blocks(rows) {
            let lanes = block.end - block.start;
            let of_block: Vec<Value> = match lanes == all {
                true => args.clone(),
                false => args.iter().map(|&arg| self.slice(arg, block.start - start, lanes)).collect(),
            };
            let made = if lanes == 1 { of_block } else { self.program.reduce(circuit, &of_block) };
            folded.iter_mut().zip(made).for_each(|(folded, made)| folded.push(made));
        }
        for ((folded, name), &arg) in folded.iter().zip(&reduction.names).zip(&args) {
            let value = match folded[..] {
                [] => arg,
                [one] => one,
                _ => self.program.view(View::Chain, folded),
            };
            self.program.output(name, Recipient::Shared, value);
        }
    }

    /// A reduction of the blocks of all shards, which come as shares: the values of the step.
    fn fold_shards(&mut self, step: usize) -> Vec<Value> {
        let cutter = self.cutter;
        let found = cutter.reductions.binary_search_by_key(&step, |reduction| reduction.step);
        let reduction = &cutter.reductions[found.expect("the last program reduces what it needs")];
        let ranges = (0..cutter.ranges.used).map(|shard| cutter.ranges.rows(reduction.layout, shard));
        let sizes: Vec<u64> = ranges.flat_map(blocks).map(|block| block.end - block.start).collect();
        let mut shares = Vec::new();
        for (&arg, name) in reduction.args.iter().zip(&reduction.names) {
            let ty = cutter.whole.program().type_of(arg);
            shares.push(self.program.input(name, Owner::Shared, ty, sizes.len() as u64));
        }
        self.fold_trees(cutter.circuit_of(step), &shares, &sizes)
    }

    /// Folds blocks of these sizes, a lane each, like a binary counter, and at the end from the right.
    fn fold_trees(&mut self, circuit: &Circuit, shares: &[Value], sizes: &[u64]) -> Vec<Value> {
        let mut trees: Vec<(u64, Vec<Value>)> = Vec::new();
        for (lane, &size) in (0..).zip(sizes) {
            let lanes = shares.iter().map(|&share| self.slice(share, lane, 1)).collect();
            let mut tree: (u64, Vec<Value>) = (size, lanes);
            while let Some((_, left)) = trees.pop_if(|(left, _)| *left == tree.0) {
                tree = (2 * tree.0, self.fold(circuit, &left, &tree.1));
            }
            trees.push(tree);
        }
        let from_the_right = trees.into_iter().map(|(_, tree)| tree).rev();
        from_the_right.reduce(|right, left| self.fold(circuit, &left, &right)).unwrap_or_default()
    }

    /// Two trees of one lane.
    fn fold(&mut self, circuit: &Circuit, left: &[Value], right: &[Value]) -> Vec<Value> {
        self.program.map_all(circuit, &[left, right].concat())
    }

    fn slice(&mut self, value: Value, start: u64, lanes: u64) -> Value {
        self.program.view(View::Slice { start, step: 1, count: lanes.into() }, &[value])
    }
}

impl Cutter {
    fn circuit(&self, place: u32) -> &Circuit {
        &self.whole.program().circuits()[place as usize]
    }

    fn circuit_of(&self, step: usize) -> &Circuit {
        match &self.steps()[step] {
            Step::Reduce { circuit, .. } => self.circuit(*circuit),
            _ => unreachable!("a reduction"),
        }
    }
}

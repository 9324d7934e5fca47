//! Makes the schedule: by demand, tile after tile.

mod folds;
mod gather;
mod views;

use super::budget::Budget;
use super::schedule::{CellId, Schedule, Seat, Task, TaskKind};
use super::wiring::{self, Node, Piece, Rows};
use super::{Binding, Owner, Recipient, Step, Value, View};
use crate::error::Result;
use crate::plan::{Order, Plan};
use gather::{Found, Gather, Key, LaneRun, Made};
use rustc_hash::FxHashMap;
use std::sync::Arc;

/// The most lanes of a tile.
const MOST_TILE: usize = 1 << 20;

/// The numbers of a node.
#[derive(Clone, Copy)]
struct Shape {
    pub rows: u32,
    pub lanes: u64,
    pub public: bool,
}

/// Makes the schedule of a program without calls, within what is left of a budget.
pub(super) struct Scheduler<'a> {
    binding: &'a Binding,
    order: Order,
    tile: u64,
    budget: &'a Budget,
    rows: Vec<Vec<Rows>>,
    shapes: Vec<Shape>,
    /// The first value that each step defines.
    first_value: Vec<u32>,
    cells: FxHashMap<Key, CellId>,
    /// Cells of a reduction not yet merged, with the height of their trees in tiles.
    reductions: FxHashMap<Node, Vec<(CellId, u32)>>,
    plans: Vec<Arc<Plan>>,
    plan_of: FxHashMap<(u32, Vec<bool>), u32>,
    wirings: FxHashMap<Node, Arc<[Piece]>>,
    tasks: Vec<Task>,
    /// Pieces of all wirings, shared or not.
    pieces: u64,
    seat: Seat,
}

impl Schedule {
    /// Derives the tasks of a bound program. `tile` chooses the most lanes of a tile, given the slots of the largest
    /// plan; it is rounded up to a power of two, so that the tiles of a reduction are whole trees. Of a program with calls
    /// each part has a schedule of its own.
    ///
    /// # Errors
    /// If the program is so large that its tasks would not fit into memory.
    pub fn new(binding: &Binding, order: Order, tile: impl Fn(usize) -> usize) -> Result<Schedule> {
        let program = binding.program();
        let budget = Budget::new(program.name(), program.has_calls());
        if program.has_calls() {
            return super::parts::schedule(binding, &[(order, &tile); 2], None, &budget);
        }
        let scheduler = Scheduler::new(binding, order, &budget)?;
        let tile = tile_of(tile(scheduler.slots()));
        scheduler.at(tile).schedule()
    }

    /// The same of a program whose steps of a [width](Binding::layer_widths) from `share_from` on are shared, and the others
    /// garbled: parts with schedules of their own, by the order and tiles of what is shared, and of what is garbled.
    ///
    /// # Errors
    /// If the program is so large that its tasks would not fit into memory.
    pub fn mixed(binding: &Binding, share_from: u64, ways: &[Way<'_>; 2]) -> Result<Schedule> {
        let budget = Budget::new(binding.program().name(), true);
        super::parts::schedule(binding, ways, Some(share_from), &budget)
    }
}

/// The order of plans, and what chooses the most lanes of a tile.
pub type Way<'a> = (Order, &'a dyn Fn(usize) -> usize);

/// The lanes of a tile of about so many.
pub(super) fn tile_of(lanes: usize) -> usize {
    lanes.clamp(1, MOST_TILE).next_power_of_two()
}

impl<'a> Scheduler<'a> {
    /// Compiles what the steps will run; what is left needs the lanes of a tile.
    pub fn new(binding: &'a Binding, order: Order, budget: &'a Budget) -> Result<Self> {
        let mut first_value = Vec::new();
        let mut next = 0;
        for number in 0..binding.program().steps().len() {
            first_value.push(next);
            let defined = binding.program().values()[next as usize..].iter();
            next += defined.take_while(|definition| definition.step as usize == number).count() as u32;
        }
        let mut scheduler = Scheduler {
            binding,
            order,
            tile: 1,
            budget,
            rows: wiring::wire(binding, budget)?,
            shapes: Vec::new(),
            first_value,
            cells: FxHashMap::default(),
            reductions: FxHashMap::default(),
            plans: Vec::new(),
            plan_of: FxHashMap::default(),
            wirings: FxHashMap::default(),
            tasks: Vec::new(),
            pieces: 0,
            seat: Seat::default(),
        };
        scheduler.shapes =
            (0..binding.program().steps().len()).flat_map(|step| scheduler.shapes_of(step as u32)).collect();
        scheduler.plan_steps()?;
        Ok(scheduler)
    }

    /// The most slots of a plan.
    pub fn slots(&self) -> usize {
        self.plans.iter().map(|plan| plan.slots()).max().unwrap_or(1)
    }

    /// Sets the most lanes of a tile.
    pub fn at(self, tile: usize) -> Self {
        Scheduler { tile: tile as u64, ..self }
    }

    /// Derives the tasks.
    pub fn schedule(mut self) -> Result<Schedule> {
        self.run()?;
        Ok(self.finish())
    }

    /// The shapes of a step's two nodes.
    fn shapes_of(&self, step: u32) -> [Shape; 2] {
        let values = self.values_of(step);
        let states = match &self.binding.program().steps()[step as usize] {
            Step::Iterate { state, .. } => state.len(),
            _ => values.len(),
        };
        [&values[..states], &values[states..]].map(|values| Shape {
            rows: values.iter().map(|&value| self.width(value)).sum(),
            lanes: values.first().map_or(0, |&value| self.binding.lanes_of(value)),
            public: values.iter().all(|&value| self.binding.is_public(value)),
        })
    }

    fn values_of(&self, step: u32) -> Vec<Value> {
        let from = self.first_value[step as usize];
        let to = self.first_value.get(step as usize + 1).copied();
        let program = self.binding.program();
        program.range(from..to.unwrap_or(program.values().len() as u32)).collect()
    }

    fn width(&self, value: Value) -> u32 {
        self.binding.program().type_of(value).width
    }

    fn shape(&self, node: Node) -> Shape {
        self.shapes[node as usize]
    }

    fn step(&self, node: Node) -> &'a Step {
        &self.binding.program().steps()[node as usize / 2]
    }

    fn tiles(&self, lanes: u64) -> u64 {
        lanes.div_ceil(self.tile)
    }

    /// The lanes of a tile of a value with so many lanes.
    fn tile_lanes(&self, lanes: u64, tile: u64) -> (u64, u64) {
        let from = tile * self.tile;
        (from, (lanes - from).min(self.tile))
    }

    /// Makes tile after tile of all outputs and reductions together.
    fn run(&mut self) -> Result<()> {
        self.budget.expect_tasks(self.needed())?;
        let sinks: Vec<(Node, u64)> = self.sinks();
        let most = sinks.iter().map(|&(_, tiles)| tiles).max().unwrap_or(0);
        for tile in 0..most {
            for &(node, _) in sinks.iter().filter(|&&(_, tiles)| tile < tiles) {
                self.make(match self.step(node) {
                    Step::Reduce { .. } => Key { node, tile: 0, part: tile + 1 },
                    _ => Key { node, tile, part: 0 },
                })?;
            }
        }
        Ok(())
    }

    /// Tasks that there will be at least, so that what is far too large is refused before long work.
    pub fn needed(&self) -> u64 {
        let mut needed = self.sinks().iter().fold(0, |sum: u64, &(_, tiles)| sum.saturating_add(tiles));
        for (step, number) in self.binding.program().steps().iter().zip(0..) {
            needed = needed.max(match step {
                Step::Iterate { .. } => {
                    let node = wiring::node(number);
                    self.cycles(node).saturating_mul(self.tiles(self.shape(node).lanes))
                }
                Step::View { view: View::Split(parts) | View::Merge(parts), .. } => u64::from(*parts),
                _ => 0,
            });
        }
        needed
    }

    fn sinks(&self) -> Vec<(Node, u64)> {
        let steps = self.binding.program().steps().iter().zip(0..);
        let sink = |(step, number): (&Step, u32)| match step {
            Step::Output { value, .. } => Some((wiring::node(number), self.binding.lanes_of(*value))),
            Step::Reduce { args, .. } => Some((wiring::node(number), self.binding.lanes_of(args[0]))),
            _ => None,
        };
        steps.filter_map(sink).map(|(node, lanes)| (node, self.tiles(lanes))).collect()
    }

    /// Makes one cell and, before it, all that it needs; a stack of its own, since programs may be long.
    fn make(&mut self, key: Key) -> Result<()> {
        let mut stack = vec![key];
        while let Some(&key) = stack.last() {
            let before = (self.tasks.len(), self.pieces);
            let made = if self.cells.contains_key(&key) { Ok(()) } else { self.try_make(key) };
            self.budget.tasks((self.tasks.len() - before.0) as u64 + self.pieces - before.1)?;
            match made {
                Ok(()) => drop(stack.pop()),
                Err(missing) => stack.extend(missing.into_iter().rev()),
            }
        }
        Ok(())
    }

    fn try_make(&mut self, key: Key) -> Made {
        match self.step(key.node) {
            Step::Input { owner, .. } => self.make_input(key, *owner),
            Step::Constant { bits, .. } => self.make_constant(key, bits),
            Step::Map { circuit, args } => self.make_map(key, *circuit, args),
            Step::Reduce { circuit, args } => self.make_reduce(key, *circuit, args),
            Step::Iterate { circuit, state, inputs, .. } => self.make_iterate(key, *circuit, (state, inputs)),
            Step::View { view, args } => self.make_view(key, view, args),
            Step::Output { recipient, value, .. } => self.make_output(key, *recipient, *value),
            Step::Call { .. } => unreachable!("a program with calls is cut into parts without"),
        }
    }

    fn make_input(&mut self, key: Key, owner: Owner) -> Made {
        let shape = self.shape(key.node);
        let (from, lanes) = self.tile_lanes(shape.lanes, key.tile);
        let port = self.binding.inputs().binary_search_by_key(&(key.node / 2), |port| port.step).ok();
        let port = port.expect("every input step has a port") as u32;
        let cell = self.push(TaskKind::Input { port, owner, from }, (shape.rows, lanes), vec![], shape.public);
        self.cells.insert(key, cell);
        Ok(())
    }

    fn make_constant(&mut self, key: Key, bits: &[bool]) -> Made {
        let (_, lanes) = self.tile_lanes(self.shape(key.node).lanes, key.tile);
        let cell = self.push(TaskKind::Constant { bits: bits.into() }, (bits.len() as u32, lanes), vec![], true);
        self.cells.insert(key, cell);
        Ok(())
    }

    fn make_output(&mut self, key: Key, recipient: Recipient, value: Value) -> Made {
        let (from, lanes) = self.tile_lanes(self.binding.lanes_of(value), key.tile);
        let Gather { args, pieces, .. } = self.gather(&[value], LaneRun::straight(from, lanes))?;
        let port = self.binding.outputs().binary_search_by_key(&(key.node / 2), |port| port.step).ok();
        let port = port.expect("every output step has a port") as u32;
        let wiring = self.share(key.node, pieces);
        let public = self.binding.is_public(value);
        let kind = TaskKind::Output { port, recipient, from, wiring };
        let cell = self.push(kind, (self.width(value), lanes), args, public);
        self.cells.insert(key, cell);
        Ok(())
    }

    fn make_map(&mut self, key: Key, circuit: u32, args: &[Value]) -> Made {
        let (from, lanes) = self.tile_lanes(self.shape(key.node).lanes, key.tile);
        let gather = self.gather(args, LaneRun::straight(from, lanes))?;
        let cell = self.push_map(key.node, circuit, gather, lanes);
        self.cells.insert(key, cell);
        Ok(())
    }

    fn need(&self, key: Key) -> Found<CellId> {
        self.cells.get(&key).copied().ok_or(vec![key])
    }

    fn push(&mut self, kind: TaskKind, (rows, lanes): (u32, u64), args: Vec<CellId>, public: bool) -> CellId {
        let cell = self.tasks.len() as CellId;
        let (bits, seat) = (rows as u64 * lanes, self.seat);
        match &kind {
            // Public cells are kept: a kilobit counts as much as a piece.
            _ if public => self.pieces += bits >> 10,
            TaskKind::Input { .. } => self.seat.in0 += bits,
            TaskKind::Map { plan, .. } => self.seat.and0 += self.plans[*plan as usize].ands() * lanes,
            TaskKind::Output { .. } => self.seat.out0 += bits,
            TaskKind::Constant { .. } | TaskKind::View { .. } => {}
        }
        self.tasks.push(Task { kind, cell, rows: rows as usize, lanes: lanes as usize, args, public, seat });
        cell
    }

    fn push_view(&mut self, node: Node, shape: (u32, u64), gather: Gather) -> CellId {
        let public = self.shape(node).public;
        let wiring = self.share(node, gather.pieces);
        self.push(TaskKind::View { wiring }, shape, gather.args, public)
    }

    fn push_map(&mut self, node: Node, circuit: u32, gather: Gather, lanes: u64) -> CellId {
        let public = self.shape(node).public;
        let plan = self.plan(circuit, &gather, public);
        let rows = self.binding.program().circuits()[circuit as usize].output_width() as u32;
        let wiring = self.share(node, gather.pieces);
        self.push(TaskKind::Map { plan, wiring }, (rows, lanes), gather.args, public)
    }

    /// Compiles what the steps will run.
    fn plan_steps(&mut self) -> Result<()> {
        let binding = self.binding;
        for (number, step) in binding.program().steps().iter().enumerate() {
            let public =
                |value: &Value| std::iter::repeat_n(self.binding.is_public(*value), self.width(*value) as usize);
            let secret = |value: &Value| std::iter::repeat_n(false, self.width(*value) as usize);
            let (circuit, mask): (u32, Vec<bool>) = match step {
                Step::Map { circuit, args } => (*circuit, args.iter().flat_map(public).collect()),
                Step::Reduce { circuit, args } => (*circuit, args.iter().chain(args).flat_map(secret).collect()),
                Step::Iterate { circuit, state, inputs, .. } => {
                    (*circuit, state.iter().flat_map(secret).chain(inputs.iter().flat_map(public)).collect())
                }
                _ => continue,
            };
            let all_public = self.shape(wiring::node(number as u32)).public;
            let plan = self.plan_for(circuit, if all_public { vec![false; mask.len()] } else { mask });
            self.budget.tasks(1 + self.plans[plan as usize].code().len() as u64 / 64)?;
        }
        Ok(())
    }

    /// The plan for the arguments' pattern of public rows; a map that is all public is planned as if it were secret.
    fn plan(&mut self, circuit: u32, gather: &Gather, all_public: bool) -> u32 {
        let graph = &self.binding.program().circuits()[circuit as usize];
        // A row is public if all its lanes are, from whatever cells they come.
        let mut public = vec![!all_public; graph.input_width()];
        for piece in gather.pieces.iter().filter(|piece| !self.tasks[gather.args[piece.arg as usize] as usize].public) {
            public[piece.to_row as usize..(piece.to_row + piece.rows) as usize].fill(false);
        }
        self.plan_for(circuit, public)
    }

    fn plan_for(&mut self, circuit: u32, public: Vec<bool>) -> u32 {
        let graph = &self.binding.program().circuits()[circuit as usize];
        let (plans, order) = (&mut self.plans, self.order);
        *self.plan_of.entry((circuit, public)).or_insert_with_key(|(_, public)| {
            plans.push(Arc::new(Plan::with_public(graph, order, public)));
            plans.len() as u32 - 1
        })
    }

    /// Tiles of one node are mostly wired alike: keep the last wiring and share it.
    fn share(&mut self, node: Node, pieces: Vec<Piece>) -> Arc<[Piece]> {
        self.pieces += pieces.len() as u64;
        let last = self.wirings.entry(node).or_insert_with(|| Arc::from([]));
        if **last != *pieces {
            *last = pieces.into();
        }
        last.clone()
    }

    fn finish(self) -> Schedule {
        let mut uses = vec![0; self.tasks.len()];
        for &arg in self.tasks.iter().flat_map(|task| &task.args) {
            uses[arg as usize] += 1;
        }
        let Scheduler { tasks, plans, order, tile, seat, .. } = self;
        Schedule { tasks, plans, uses, order, tile: tile as usize, totals: seat, parts: None }
    }
}

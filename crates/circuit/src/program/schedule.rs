//! The schedule: tasks = step × tile of lanes, in one order that both parties derive.
//!
//! A *tile* is a run of lanes that are computed together; a *cell* is what one task makes: the rows of one node for one
//! tile. Tasks are ordered by demand, tile after tile over all outputs and reductions, so that a tile goes through the
//! whole program before the next one starts, and lives no longer than it is needed. Every task has a *seat*: its first
//! AND, input and output number. Seats are the only source of hash tweaks, share streams and triple positions, which
//! makes those unique by construction.

use super::wiring::{self, Node, Piece, Rows};
use super::{Binding, Owner, Recipient, Step, Value, View};
use crate::plan::{Order, Plan};
use rustc_hash::FxHashMap;
use std::sync::Arc;

/// What one task makes, by number.
pub type CellId = u32;

/// The first AND, input and output number of a task, in bits over all lanes.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Default, Debug)]
pub struct Seat {
    /// Number of the first AND: gate `g` of lane `l` is AND `and0 + g·lanes + l`.
    pub and0: u64,
    /// Number of the first secret input bit.
    pub in0: u64,
    /// Number of the first secret output bit.
    pub out0: u64,
}

/// What a task does.
#[derive(Clone, Debug)]
pub enum Kind {
    /// Takes lanes from `from` of an input port.
    Input {
        /// The port by its place in [`Binding::inputs`].
        port: u32,
        /// Who supplies it.
        owner: Owner,
        /// The first lane.
        from: u64,
    },
    /// Makes a public constant.
    Constant {
        /// The bits of each lane.
        bits: Arc<[bool]>,
    },
    /// Runs a plan on every lane; the pieces fill the circuit's input rows.
    Map {
        /// The plan by its place in [`Schedule::plans`].
        plan: u32,
        /// Where the input rows come from.
        wiring: Arc<[Piece]>,
    },
    /// Copies pieces together.
    View {
        /// Where the rows come from.
        wiring: Arc<[Piece]>,
    },
    /// Delivers lanes from `from` of an output port.
    Output {
        /// The port by its place in [`Binding::outputs`].
        port: u32,
        /// Who learns it.
        recipient: Recipient,
        /// The first lane.
        from: u64,
        /// Where the rows come from.
        wiring: Arc<[Piece]>,
    },
}

/// One step on one tile.
#[derive(Clone, Debug)]
pub struct Task {
    /// What it does.
    pub kind: Kind,
    /// The cell that it makes; its number is the task's.
    pub cell: CellId,
    /// Rows of the cell.
    pub rows: usize,
    /// Lanes of the cell.
    pub lanes: usize,
    /// The cells that it reads.
    pub args: Vec<CellId>,
    /// Whether both parties know all that it reads: it runs in plain.
    pub public: bool,
    /// Its numbers.
    pub seat: Seat,
}

/// Tasks in the order of their numbers, arguments before their readers.
#[derive(Clone)]
pub struct Schedule {
    /// The tasks; task `i` makes cell `i`.
    pub tasks: Vec<Task>,
    /// The plans that maps run.
    pub plans: Vec<Arc<Plan>>,
    /// How many tasks read each cell.
    pub uses: Vec<u32>,
    /// The order of every plan.
    pub order: Order,
    /// The most lanes of a tile: a power of two.
    pub tile: usize,
    /// ANDs, secret input bits and secret output bits of the whole program.
    pub totals: Seat,
}

impl Schedule {
    /// Derives the tasks of a bound program. `tile` chooses the most lanes of a tile, given the slots of the largest
    /// plan; it is rounded up to a power of two, so that the tiles of a reduction are whole trees.
    pub fn new(binding: &Binding, order: Order, tile: impl FnOnce(usize) -> usize) -> Schedule {
        let mut scheduler = Scheduler::new(binding, order);
        scheduler.tile = tile(scheduler.plan_steps()).max(1).next_power_of_two() as u64;
        scheduler.run();
        scheduler.finish()
    }

    /// The plan of a map.
    pub fn plan(&self, plan: u32) -> &Arc<Plan> {
        &self.plans[plan as usize]
    }
}

/// Something that a task makes on the way: a node's tile, or a part of a reduction or an iteration.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
struct Key {
    node: Node,
    tile: u64,
    /// 0 for the node's tile itself; n + 1 for the n-th part.
    part: u64,
}

/// The numbers of a node.
#[derive(Clone, Copy)]
struct Shape {
    rows: u32,
    lanes: u64,
    public: bool,
}

struct Scheduler<'a> {
    binding: &'a Binding,
    order: Order,
    tile: u64,
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
    seat: Seat,
}

/// Pieces and the cells that they read, while a task is made; what is missing must be made first.
#[derive(Default)]
struct Gather {
    args: Vec<CellId>,
    place: FxHashMap<CellId, u32>,
    pieces: Vec<Piece>,
    missing: Vec<Key>,
}

/// A cell was made, or these must be made before it.
type Made = Result<(), Vec<Key>>;

/// Bits `from..from + count` of a value become rows from `to`.
#[derive(Clone, Copy)]
struct Bits {
    from: u32,
    to: u32,
    count: u32,
}

/// Lanes `from + i·step` become lanes `to + i·to_step`.
#[derive(Clone, Copy)]
struct LaneRun {
    from: u64,
    step: u64,
    to: usize,
    to_step: usize,
    count: u64,
}

impl LaneRun {
    fn straight(from: u64, count: u64) -> LaneRun {
        LaneRun { from, step: 1, to: 0, to_step: 1, count }
    }
}

impl<'a> Scheduler<'a> {
    fn new(binding: &'a Binding, order: Order) -> Self {
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
            rows: wiring::wire(binding),
            shapes: Vec::new(),
            first_value,
            cells: FxHashMap::default(),
            reductions: FxHashMap::default(),
            plans: Vec::new(),
            plan_of: FxHashMap::default(),
            wirings: FxHashMap::default(),
            tasks: Vec::new(),
            seat: Seat::default(),
        };
        scheduler.shapes =
            (0..binding.program().steps().len()).flat_map(|step| scheduler.shapes_of(step as u32)).collect();
        scheduler
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
        (from..to.unwrap_or(self.binding.program().values().len() as u32)).map(Value).collect()
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
    fn run(&mut self) {
        let sinks: Vec<(Node, u64)> = self.sinks();
        let most = sinks.iter().map(|&(_, tiles)| tiles).max().unwrap_or(0);
        for tile in 0..most {
            for &(node, _) in sinks.iter().filter(|&&(_, tiles)| tile < tiles) {
                self.make(match self.step(node) {
                    Step::Reduce { .. } => Key { node, tile: 0, part: tile + 1 },
                    _ => Key { node, tile, part: 0 },
                });
            }
        }
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
    fn make(&mut self, key: Key) {
        let mut stack = vec![key];
        while let Some(&key) = stack.last() {
            let made = if self.cells.contains_key(&key) { Ok(()) } else { self.try_make(key) };
            match made {
                Ok(()) => drop(stack.pop()),
                Err(missing) => stack.extend(missing.into_iter().rev()),
            }
        }
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
            Step::Call { .. } => Ok(()),
        }
    }

    fn make_input(&mut self, key: Key, owner: Owner) -> Made {
        let shape = self.shape(key.node);
        let (from, lanes) = self.tile_lanes(shape.lanes, key.tile);
        let port = self.binding.inputs().iter().position(|port| wiring::node(port.step) == key.node);
        let port = port.expect("every input step has a port") as u32;
        let cell = self.push(Kind::Input { port, owner, from }, (shape.rows, lanes), vec![], shape.public);
        self.cells.insert(key, cell);
        Ok(())
    }

    fn make_constant(&mut self, key: Key, bits: &[bool]) -> Made {
        let (_, lanes) = self.tile_lanes(self.shape(key.node).lanes, key.tile);
        let cell = self.push(Kind::Constant { bits: bits.into() }, (bits.len() as u32, lanes), vec![], true);
        self.cells.insert(key, cell);
        Ok(())
    }

    fn make_output(&mut self, key: Key, recipient: Recipient, value: Value) -> Made {
        let (from, lanes) = self.tile_lanes(self.binding.lanes_of(value), key.tile);
        let Gather { args, pieces, .. } = self.gather(&[value], LaneRun::straight(from, lanes))?;
        let port = self.binding.outputs().iter().position(|port| wiring::node(port.step) == key.node);
        let port = port.expect("every output step has a port") as u32;
        let wiring = self.share(key.node, pieces);
        let public = self.binding.is_public(value);
        let kind = Kind::Output { port, recipient, from, wiring };
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

    /// Part `t + 1` folds tile `t` and merges trees of equal height, like a binary counter; the node itself merges
    /// the rest from the right. The result is the tree over neighbours at any size of tile.
    fn make_reduce(&mut self, key: Key, circuit: u32, args: &[Value]) -> Made {
        let lanes = self.binding.lanes_of(args[0]);
        let parts = self.tiles(lanes);
        let before = Key { part: if key.part == 0 { parts } else { key.part - 1 }, ..key };
        if before.part > 0 && !self.cells.contains_key(&before) {
            return Err(vec![before]);
        }
        let mut trees = self.reductions.remove(&key.node).unwrap_or_default();
        if key.part > 0 {
            match self.fold_tile(key, circuit, args) {
                Ok(cell) => trees.push((cell, 0)),
                Err(missing) => {
                    self.reductions.insert(key.node, trees);
                    return Err(missing);
                }
            }
        }
        while let [.., (left, height), (right, other)] = trees[..] {
            if key.part > 0 && height != other {
                break;
            }
            trees.truncate(trees.len() - 2);
            trees.push((self.fold_pair(key.node, circuit, left, right), height + 1));
        }
        let (top, _) = trees[trees.len() - 1];
        self.cells.insert(key, top);
        self.reductions.insert(key.node, trees);
        Ok(())
    }

    /// Folds one tile to one lane.
    fn fold_tile(&mut self, key: Key, circuit: u32, args: &[Value]) -> Result<CellId, Vec<Key>> {
        let (from, mut lanes) = self.tile_lanes(self.binding.lanes_of(args[0]), key.part - 1);
        let mut gather = self.gather(args, LaneRun::straight(from, lanes))?;
        let rows = self.shape(key.node).rows;
        if lanes == 1 {
            return Ok(self.push_view(key.node, (rows, 1), gather));
        }
        while lanes > 1 {
            let half = lanes / 2;
            let folded = self.push_map(key.node, circuit, pair_up(&gather, rows, half), half);
            let mut next = Gather::default();
            next.whole(folded, rows, half as usize, 0);
            if lanes % 2 == 1 {
                gather.add_lane(&mut next, lanes as usize - 1, half as usize);
            }
            lanes = lanes.div_ceil(2);
            gather = next;
        }
        Ok(gather.args[0])
    }

    /// Folds two trees of one lane.
    fn fold_pair(&mut self, node: Node, circuit: u32, left: CellId, right: CellId) -> CellId {
        let rows = self.shape(node).rows;
        let mut gather = Gather::default();
        gather.whole(left, rows, 1, 0);
        gather.whole(right, rows, 1, rows);
        self.push_map(node, circuit, gather, 1)
    }

    /// Part `c + 1` is cycle `c` on a tile; the node itself is the last cycle's state.
    fn make_iterate(&mut self, key: Key, circuit: u32, (state, inputs): (&[Value], &[Value])) -> Made {
        if key.node % 2 == 1 {
            return self.make_cycle_outputs(key, state);
        }
        let lanes = self.binding.lanes_of(state[0]);
        let (from, count) = self.tile_lanes(lanes, key.tile);
        let before = if key.part == 0 { self.cycles(key.node) } else { key.part - 1 };
        let mut gather = match before {
            0 => self.gather(state, LaneRun::straight(from, count))?,
            part => {
                let before = self.need(Key { part, ..key })?;
                let mut gather = Gather::default();
                gather.whole(before, self.shape(key.node).rows, count as usize, 0);
                gather
            }
        };
        let cell = match (key.part, before) {
            (0, 0) => self.push_view(key.node, (self.shape(key.node).rows, count), gather),
            // The state is the first rows of the last cycle's cell.
            (0, _) => gather.args[0],
            (part, _) => {
                let run = LaneRun::straight((part - 1) * lanes + from, count);
                gather = self.gather_onto(gather, self.shape(key.node).rows, inputs, run)?;
                self.push_map(key.node, circuit, gather, count)
            }
        };
        self.cells.insert(key, cell);
        Ok(())
    }

    fn cycles(&self, node: Node) -> u64 {
        match self.step(node) {
            Step::Iterate { cycles, .. } => cycles.count(self.binding.sizes()).expect("counted when bound"),
            _ => 0,
        }
    }

    /// What the cycles put out: lane `cycle × lanes + lane`.
    fn make_cycle_outputs(&mut self, key: Key, state: &[Value]) -> Made {
        let shape = self.shape(key.node);
        let lanes = self.binding.lanes_of(state[0]);
        let states = self.shape(key.node - 1).rows;
        let (from, count) = self.tile_lanes(shape.lanes, key.tile);
        let mut gather = Gather::default();
        let mut lane = from;
        while lane < from + count {
            let (cycle, inner) = (lane / lanes, lane % lanes);
            let (tile_from, tile_lanes) = self.tile_lanes(lanes, inner / self.tile);
            let run = (tile_from + tile_lanes - inner).min(from + count - lane);
            let part = Key { node: key.node - 1, tile: inner / self.tile, part: cycle + 1 };
            match self.cells.get(&part) {
                None => gather.missing.push(part),
                Some(&cell) => gather.piece(
                    cell,
                    (states, 0, shape.rows),
                    LaneRun { from: inner - tile_from, step: 1, to: (lane - from) as usize, to_step: 1, count: run },
                ),
            }
            lane += run;
        }
        let gather = gather.complete()?;
        let cell = self.push_view(key.node, (shape.rows, count), gather);
        self.cells.insert(key, cell);
        Ok(())
    }

    fn make_view(&mut self, key: Key, view: &View, args: &[Value]) -> Made {
        let shape = self.shape(key.node);
        let (from, count) = self.tile_lanes(shape.lanes, key.tile);
        let mut gather = Gather::default();
        for (arg, bits, run) in self.view_runs(view, args, from, count) {
            self.gather_rows(&mut gather, arg, bits, run);
        }
        let gather = gather.complete()?;
        let cell = self.push_view(key.node, (shape.rows, count), gather);
        self.cells.insert(key, cell);
        Ok(())
    }

    /// A lane-crossing view as copies: for each the argument, its bits and where they go, and the lanes.
    fn view_runs(&self, view: &View, args: &[Value], from: u64, count: u64) -> Vec<(Value, Bits, LaneRun)> {
        let all = |arg: Value| Bits { from: 0, to: 0, count: self.width(arg) };
        let lanes = self.binding.lanes_of(args[0]);
        match view {
            View::Bits(_) | View::Join => Vec::new(),
            View::Repeat(_) => split_by(from, count, |lane| (lane % lanes, lanes - lane % lanes))
                .map(|run| (args[0], all(args[0]), run))
                .collect(),
            View::Slice { start, step, .. } => {
                let run = LaneRun { from: start + from * step, step: *step, to: 0, to_step: 1, count };
                vec![(args[0], all(args[0]), run)]
            }
            View::Chain => self.chain_runs(args, from, count),
            View::Lanes(lanes) => {
                let wanted = &lanes[from as usize..(from + count) as usize];
                let single = |(to, &lane): (usize, &u64)| LaneRun { from: lane, step: 1, to, to_step: 1, count: 1 };
                wanted.iter().enumerate().map(|at| (args[0], all(args[0]), single(at))).collect()
            }
            View::Split(parts) => {
                let (parts, width) = (*parts as u64, self.width(args[0]) / parts);
                let phase = |part: u64| {
                    let skip = (part + parts - from % parts) % parts;
                    let count = count.saturating_sub(skip).div_ceil(parts);
                    let run =
                        LaneRun { from: (from + skip) / parts, step: 1, to: skip as usize, to_step: parts as usize, count };
                    (args[0], Bits { from: part as u32 * width, to: 0, count: width }, run)
                };
                (0..parts).map(phase).collect()
            }
            View::Merge(parts) => {
                let (parts, width) = (*parts as u64, self.width(args[0]));
                let phase = |part: u64| {
                    let run = LaneRun { from: from * parts + part, step: parts, to: 0, to_step: 1, count };
                    (args[0], Bits { from: 0, to: part as u32 * width, count: width }, run)
                };
                (0..parts).map(phase).collect()
            }
        }
    }

    fn chain_runs(&self, args: &[Value], from: u64, count: u64) -> Vec<(Value, Bits, LaneRun)> {
        let mut runs = Vec::new();
        let mut start = 0;
        for &arg in args {
            let end = start + self.binding.lanes_of(arg);
            let (low, high) = (start.max(from), end.min(from + count));
            if low < high {
                let run = LaneRun { from: low - start, step: 1, to: (low - from) as usize, to_step: 1, count: high - low };
                runs.push((arg, Bits { from: 0, to: 0, count: self.width(arg) }, run));
            }
            start = end;
        }
        runs
    }

    fn need(&self, key: Key) -> Result<CellId, Vec<Key>> {
        self.cells.get(&key).copied().ok_or(vec![key])
    }

    /// The same lanes of all arguments, their rows after one another.
    fn gather(&self, args: &[Value], run: LaneRun) -> Result<Gather, Vec<Key>> {
        self.gather_onto(Gather::default(), 0, args, run)
    }

    fn gather_onto(&self, mut gather: Gather, mut to: u32, args: &[Value], run: LaneRun) -> Result<Gather, Vec<Key>> {
        for &arg in args {
            self.gather_rows(&mut gather, arg, Bits { from: 0, to, count: self.width(arg) }, run);
            to += self.width(arg);
        }
        gather.complete()
    }

    /// Some bits of a value over some of its lanes, run by run of its rows.
    fn gather_rows(&self, gather: &mut Gather, value: Value, bits: Bits, run: LaneRun) {
        let mut position = 0;
        for rows in &self.rows[value.0 as usize] {
            let (low, high) = (position.max(bits.from), (position + rows.count).min(bits.from + bits.count));
            if low < high {
                let copy = (rows.from + low - position, bits.to + low - bits.from, high - low);
                self.gather_lanes(gather, rows.node, copy, self.binding.lanes_of(value), run);
            }
            position += rows.count;
        }
    }

    /// A run of lanes cut at the borders of the node's tiles; a single lane stands for all.
    fn gather_lanes(&self, gather: &mut Gather, node: Node, rows: (u32, u32, u32), lanes: u64, mut run: LaneRun) {
        if self.shape(node).lanes != lanes {
            run = LaneRun { from: 0, step: 0, ..run };
        }
        while run.count > 0 {
            let tile = run.from / self.tile;
            let inside = match run.step {
                0 => run.count,
                step => ((tile + 1) * self.tile - run.from).div_ceil(step).min(run.count),
            };
            let key = Key { node, tile, part: 0 };
            match self.cells.get(&key) {
                None => gather.missing.push(key),
                Some(&cell) => {
                    gather.piece(cell, rows, LaneRun { from: run.from % self.tile, count: inside, ..run })
                }
            }
            run.from += inside * run.step;
            run.to += inside as usize * run.to_step;
            run.count -= inside;
        }
    }

    fn push(&mut self, kind: Kind, (rows, lanes): (u32, u64), args: Vec<CellId>, public: bool) -> CellId {
        let cell = self.tasks.len() as CellId;
        let (bits, seat) = (rows as u64 * lanes, self.seat);
        match &kind {
            _ if public => {}
            Kind::Input { .. } => self.seat.in0 += bits,
            Kind::Map { plan, .. } => self.seat.and0 += self.plans[*plan as usize].ands() * lanes,
            Kind::Output { .. } => self.seat.out0 += bits,
            Kind::Constant { .. } | Kind::View { .. } => {}
        }
        self.tasks.push(Task { kind, cell, rows: rows as usize, lanes: lanes as usize, args, public, seat });
        cell
    }

    fn push_view(&mut self, node: Node, shape: (u32, u64), gather: Gather) -> CellId {
        let public = self.shape(node).public;
        let wiring = self.share(node, gather.pieces);
        self.push(Kind::View { wiring }, shape, gather.args, public)
    }

    fn push_map(&mut self, node: Node, circuit: u32, gather: Gather, lanes: u64) -> CellId {
        let public = self.shape(node).public;
        let plan = self.plan(circuit, &gather, public);
        let rows = self.binding.program().circuits()[circuit as usize].output_width() as u32;
        let wiring = self.share(node, gather.pieces);
        self.push(Kind::Map { plan, wiring }, (rows, lanes), gather.args, public)
    }

    /// Compiles what the steps will run; the most slots of a plan.
    fn plan_steps(&mut self) -> usize {
        let binding = self.binding;
        for (number, step) in binding.program().steps().iter().enumerate() {
            let public = |value: &Value| std::iter::repeat_n(self.binding.is_public(*value), self.width(*value) as usize);
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
            self.plan_for(circuit, if all_public { vec![false; mask.len()] } else { mask });
        }
        self.plans.iter().map(|plan| plan.slots()).max().unwrap_or(1)
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
        Schedule { tasks, plans, uses, order, tile: tile as usize, totals: seat }
    }
}

/// Runs of lanes of one source: `place(lane)` says where a lane lies and how many follow there.
fn split_by(from: u64, count: u64, place: impl Fn(u64) -> (u64, u64)) -> impl Iterator<Item = LaneRun> {
    let mut lane = from;
    std::iter::from_fn(move || {
        let left = from + count - lane;
        let (at, follow) = (left > 0).then(|| place(lane))?;
        let run = LaneRun { from: at, step: 1, to: (lane - from) as usize, to_step: 1, count: follow.min(left) };
        lane += run.count;
        Some(run)
    })
}

/// The even lanes as left arguments and the odd ones as right, `half` pairs.
fn pair_up(gather: &Gather, rows: u32, half: u64) -> Gather {
    let mut paired = Gather { args: gather.args.clone(), ..Gather::default() };
    for piece in &gather.pieces {
        for parity in 0..2 {
            paired.pieces.extend(every_second(piece, parity, half as usize).map(|piece| Piece {
                to_row: piece.to_row + parity as u32 * rows,
                ..piece
            }));
        }
    }
    paired
}

/// The part of a piece that is written to lanes of one parity, as lanes `0..half`.
fn every_second(piece: &Piece, parity: usize, half: usize) -> Option<Piece> {
    let skip = (piece.to_lane + parity) % 2;
    let to_lane = (piece.to_lane + skip) / 2;
    let count = piece.count.saturating_sub(skip).div_ceil(2).min(half.saturating_sub(to_lane));
    let from_lane = piece.from_lane + skip * piece.from_step;
    (count > 0).then_some(Piece { from_lane, from_step: piece.from_step * 2, to_lane, to_step: 1, count, ..*piece })
}

impl Gather {
    fn complete(self) -> Result<Gather, Vec<Key>> {
        if self.missing.is_empty() { Ok(self) } else { Err(self.missing) }
    }

    fn arg(&mut self, cell: CellId) -> u32 {
        *self.place.entry(cell).or_insert_with(|| {
            self.args.push(cell);
            self.args.len() as u32 - 1
        })
    }

    fn piece(&mut self, cell: CellId, (from_row, to_row, rows): (u32, u32, u32), run: LaneRun) {
        let piece = Piece {
            arg: self.arg(cell),
            from_row,
            to_row,
            rows,
            from_lane: run.from as usize,
            from_step: run.step as usize,
            to_lane: run.to,
            to_step: run.to_step,
            count: run.count as usize,
        };
        self.pieces.push(piece);
    }

    /// The first `rows` rows of a cell, all lanes, to rows from `to_row`.
    fn whole(&mut self, cell: CellId, rows: u32, lanes: usize, to_row: u32) {
        self.piece(cell, (0, to_row, rows), LaneRun::straight(0, lanes as u64));
    }

    /// Adds to `next` as lane `to_lane` what lane `lane` of this is.
    fn add_lane(&self, next: &mut Gather, lane: usize, to_lane: usize) {
        for piece in self.pieces.iter().filter(|p| (p.to_lane..p.to_lane + p.count).contains(&lane)) {
            let from = (piece.from_lane + (lane - piece.to_lane) * piece.from_step) as u64;
            let run = LaneRun { from, step: 1, to: to_lane, to_step: 1, count: 1 };
            next.piece(self.args[piece.arg as usize], (piece.from_row, piece.to_row, piece.rows), run);
        }
    }
}

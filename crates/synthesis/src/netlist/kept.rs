//! Which modules of a large design stay modules: those that stand four times or more and save most by being mapped once.
//!
//! Yosys makes a design one module before it cleans it, and takes more than twice as long for twice as many cells. What is
//! known on one side of a border between modules is not known to Yosys on the other, so that small designs stay one module.

use super::equal::Shape;
use super::instances::is_box;
use super::json::{self, Ordered, Parts, RawCell, RawPort, RawWire};
use super::{Cell, Direction, Driver, Module, Parameter, Signal};
use crate::blocks::{self, Given};
use crate::cells;
use crate::copies::ports;
use crate::error::Result;
use rustc_hash::{FxHashMap, FxHashSet};
use std::io;

/// The most cells of a design that is one module.
const MOST_CELLS: u64 = 1 << 12;

/// The fewest instances of a module that stays one, and its fewest cells.
const FEWEST_INSTANCES: u64 = 4;
const FEWEST_CELLS: u64 = 4;

/// Which modules stay modules.
#[derive(Default)]
pub(crate) struct Kept {
    /// Their names.
    pub modules: Vec<String>,
    /// Modules that are the same as one of those.
    pub same: Vec<(String, String)>,
}

/// The modules that stay modules, of a design whose processes have become cells.
pub(crate) fn kept(json: impl io::Read, given: &[Given]) -> Result<Kept> {
    let modules = json::read::<Body>(json)?.modules.unwrap_or_default();
    let top = modules.iter().position(|(_, module)| module.attributes.get("top").is_some_and(Parameter::is_set));
    let is_body = |name: &str, attributes: &Ordered<Parameter>| {
        is_plain(name)
            && !is_box(attributes)
            && attributes.get(blocks::BLOCK).is_none()
            && given.iter().all(|given| given.module != name)
    };
    let (Some(top), bodies) = (top, modules.iter().filter(|(name, module)| is_body(name, &module.attributes))) else {
        return Ok(Kept::default());
    };
    let bodies = bodies.map(|(name, module)| (name.as_str(), &module.parts)).collect();
    Ok(Tree::new(&modules[top].0, bodies).kept())
}

/// Whether a name means nothing else in the script.
fn is_plain(name: &str) -> bool {
    name.bytes().all(|letter| letter.is_ascii_graphic() && !b"\"/;:#%@!".contains(&letter)) && !name.starts_with('=')
}

/// What a module has in it.
#[derive(Default)]
struct Body {
    inputs: FxHashSet<String>,
    shape: Shape,
    /// Cells that are no instances.
    cells: u64,
    /// The modules of its instances.
    instances: Vec<String>,
    /// Whether it has what cannot stay in a module: registers, which are those of the whole design, or ports of both ways.
    unfit: bool,
}

impl Parts for Body {
    fn ports(&mut self, ports: Ordered<RawPort>) {
        self.unfit |= ports.0.iter().any(|(_, port)| port.direction == "inout");
        let inputs = ports.0.iter().filter(|(_, port)| port.direction == "input");
        self.inputs = inputs.map(|(name, _)| name.clone()).collect();
        self.shape.ports(ports);
    }

    fn cell(&mut self, name: String, cell: RawCell) {
        if cell.kind.starts_with('$') && !cell.kind.starts_with("$paramod") {
            let clocked = cell.parameters.get("CLK_ENABLE").is_some_and(Parameter::is_set);
            let table = matches!(cell.kind.as_str(), "$memrd" | "$memrd_v2" | "$meminit" | "$meminit_v2") && !clocked;
            self.unfit |= cells::is_state(&cell.kind) && !table;
            self.cells += 1;
        } else {
            self.instances.push(cell.kind.clone());
        }
        self.shape.cell(name, cell);
    }

    fn wire(&mut self, name: String, wire: RawWire) {
        self.unfit |= wire.attributes.get("party").is_some() && !self.inputs.contains(&name);
    }
}

/// The modules of a design below its top.
struct Tree<'a> {
    bodies: FxHashMap<&'a str, &'a Body>,
    /// Each module behind those that it contains; the top is the last.
    order: Vec<&'a str>,
    kept: FxHashSet<&'a str>,
    classes: FxHashMap<&'a str, &'a str>,
}

impl<'a> Tree<'a> {
    fn new(top: &'a str, bodies: FxHashMap<&'a str, &'a Body>) -> Tree<'a> {
        let (mut order, mut seen) = (Vec::new(), FxHashSet::default());
        let mut stack = vec![(top, false)];
        while let Some((name, is_done)) = stack.pop() {
            if is_done {
                order.push(name);
            } else if seen.insert(name)
                && let Some(body) = bodies.get(name)
            {
                stack.push((name, true));
                stack.extend(body.instances.iter().map(|inner| (inner.as_str(), false)));
            }
        }
        Tree { bodies, order, kept: FxHashSet::default(), classes: FxHashMap::default() }
    }

    fn kept(mut self) -> Kept {
        let unfit = self.unfit();
        self.join(&unfit);
        let lanes = self.lanes().filter(|name| !unfit.contains(name) && self.cells() > MOST_CELLS);
        while self.cells() > MOST_CELLS {
            let Some(best) = self.best(&unfit) else { break };
            self.kept.insert(best);
        }
        self.kept.extend(lanes);
        let mut modules: Vec<String> = self.kept.iter().map(|name| name.to_string()).collect();
        modules.sort();
        let is_same = |(name, class): &(&&str, &&str)| name != class && self.kept.contains(**class);
        let mut same: Vec<(String, String)> =
            self.classes.iter().filter(is_same).map(|(name, class)| (name.to_string(), class.to_string())).collect();
        same.sort();
        Kept { modules, same }
    }

    /// Finds the modules that are the same: each has the name of the first of them from now on.
    fn join(&mut self, unfit: &FxHashSet<&str>) {
        let mut known: FxHashMap<String, &str> = FxHashMap::default();
        for &name in &self.order {
            let text = Some(name).filter(|name| !unfit.contains(name));
            let text = text.and_then(|name| self.bodies[name].shape.text(|inner| self.class(inner)));
            let class = text.map_or(name, |text| *known.entry(text).or_insert(name));
            self.classes.insert(name, class);
        }
    }

    /// The module that stands for all that are the same.
    fn class(&self, name: &'a str) -> &'a str {
        self.classes.get(name).copied().unwrap_or(name)
    }

    /// The one module that is all of the top.
    fn lanes(&self) -> Option<&'a str> {
        let top = self.bodies.get(self.order.last()?)?;
        let first = self.class(top.instances.first()?);
        let is_all = top.cells == 0 && top.instances.iter().all(|name| self.class(name) == first);
        (is_all && top.instances.len() as u64 >= FEWEST_INSTANCES && self.bodies.contains_key(first)).then_some(first)
    }

    fn unfit(&self) -> FxHashSet<&'a str> {
        let mut unfit = FxHashSet::default();
        for name in &self.order {
            let body = self.bodies[name];
            if body.unfit || body.instances.iter().any(|inner| unfit.contains(inner.as_str())) {
                unfit.insert(*name);
            }
        }
        unfit
    }

    /// The cells of all modules that are left.
    fn cells(&self) -> u64 {
        let sizes = self.sizes();
        let of = |name: &&str| sizes[*name];
        self.kept.iter().chain(self.order.last()).map(of).fold(0, u64::saturating_add)
    }

    /// The cells of each module, with those that it takes in.
    fn sizes(&self) -> FxHashMap<&'a str, u64> {
        let mut sizes: FxHashMap<&str, u64> = FxHashMap::default();
        for name in &self.order {
            let body = self.bodies[name];
            let inner = |inner: &'a String| match self.class(inner) {
                inner if self.kept.contains(inner) => 1,
                inner => sizes.get(inner).copied().unwrap_or(1),
            };
            let size = body.instances.iter().map(inner).fold(body.cells, u64::saturating_add);
            sizes.insert(name, size);
        }
        sizes
    }

    /// The instances of each module in all that are left.
    fn counts(&self) -> FxHashMap<&'a str, u64> {
        let mut counts: FxHashMap<&str, u64> = self.order.last().map(|top| (*top, 1)).into_iter().collect();
        for name in self.order.iter().rev().filter(|name| self.class(name) == **name) {
            let times = if self.kept.contains(name) { 1 } else { counts.get(name).copied().unwrap_or(0) };
            for inner in &self.bodies[name].instances {
                let count = counts.entry(self.class(inner)).or_default();
                *count = count.saturating_add(times);
            }
        }
        counts
    }

    /// The module that saves most cells.
    fn best(&self, unfit: &FxHashSet<&str>) -> Option<&'a str> {
        let (sizes, counts) = (self.sizes(), self.counts());
        let (_, below) = self.order.split_last()?;
        let fits = |name: &&&str| {
            let (size, count) = (sizes[**name], counts.get(**name).copied().unwrap_or(0));
            count >= FEWEST_INSTANCES && size >= FEWEST_CELLS && !unfit.contains(**name) && !self.kept.contains(**name)
        };
        let saved = |name: &&&str| (counts[**name] - 1).saturating_mul(sizes[**name] - 1);
        below.iter().filter(fits).max_by_key(saved).copied()
    }
}

impl Module {
    /// Whether instances of modules can be built as a whole: all their inputs and what is needed of their modules have drivers,
    /// and none of them is on a loop. All this may be otherwise in a design that is right, if its outputs do not need it.
    pub(crate) fn is_whole(&self) -> bool {
        self.has_driven_modules() && self.fits()
    }

    fn fits(&self) -> bool {
        let instances = || self.cells.iter().filter(|cell| cell.inner.is_some());
        let is_driven = |signal: &Signal| match signal {
            Signal::Net(net) => self.drivers[*net as usize] != Driver::None,
            Signal::Floating => false,
            _ => true,
        };
        let fits = |cell: &Cell| {
            let module = cell.inner.as_ref().expect("an instance");
            ports(module, Direction::Input).all(|port| cell.input(&port.name).len() == port.bits.len())
                && cell.inputs.iter().flat_map(|(_, bits)| bits).all(is_driven)
        };
        let mut seen = FxHashSet::default();
        instances().all(fits)
            && self.is_acyclic()
            && instances()
                .filter_map(|cell| cell.inner.as_ref())
                .all(|module| !seen.insert(std::rc::Rc::as_ptr(module)) || module.fits())
    }

    /// Whether no net depends on itself, but through registers.
    fn is_acyclic(&self) -> bool {
        let mut state = vec![Visit::Not; self.drivers.len()];
        let mut stack: Vec<(u32, bool)> = (0..self.drivers.len() as u32).map(|net| (net, false)).collect();
        while let Some((net, is_done)) = stack.pop() {
            let group = self.group(net);
            match (is_done, state[net as usize]) {
                (true, _) => group.for_each(|net| state[net as usize] = Visit::Done),
                (false, Visit::Done | Visit::Open) => {}
                (false, Visit::Not) => {
                    group.for_each(|net| state[net as usize] = Visit::Open);
                    stack.push((net, true));
                    for read in self.reads(net).into_iter().filter_map(Signal::net) {
                        match state[read as usize] {
                            Visit::Open => return false,
                            Visit::Done => {}
                            Visit::Not => stack.push((read, false)),
                        }
                    }
                }
            }
        }
        true
    }

    /// The nets that are built at once with a net.
    fn group(&self, net: u32) -> impl Iterator<Item = u32> {
        let cell = match self.drivers[net as usize] {
            Driver::Cell(cell, _) => Some(&self.cells[cell as usize]).filter(|cell| !cells::is_bitwise(&cell.kind)),
            _ => None,
        };
        let one = cell.is_none().then_some(net);
        let outputs = cell.into_iter().flat_map(|cell| cell.outputs.iter().flat_map(|(_, bits)| bits));
        outputs.filter_map(|signal| signal.net()).chain(one)
    }

    /// What must be there before a net is.
    fn reads(&self, net: u32) -> Vec<Signal> {
        match self.drivers[net as usize] {
            Driver::Gate(gate) => self.gate(gate).reads().to_vec(),
            Driver::Cell(cell, bit) => {
                let cell = &self.cells[cell as usize];
                match cells::is_bitwise(&cell.kind) {
                    true => cells::operands(cell, bit as usize).unwrap_or_default(),
                    false if cells::is_state(&cell.kind) || cell.hidden => Vec::new(),
                    false => cell.inputs.iter().flat_map(|(_, bits)| bits).copied().collect(),
                }
            }
            Driver::None | Driver::Input => Vec::new(),
        }
    }
}

/// How far a net has come in a walk.
#[derive(Clone, Copy)]
enum Visit {
    Not,
    Open,
    Done,
}

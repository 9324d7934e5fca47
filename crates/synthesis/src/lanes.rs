//! Designs that are many instances of one module side by side: a program that applies the module's circuit to as many lanes.
//!
//! Every input of an instance is a bit of the design's inputs or a constant, and every output of the design one of an
//! instance. Bits that all instances read are shared: what follows from them alone, as round keys do from a key, is computed
//! once. Instances that have other ANDs in common are no lanes, since one circuit has those once.

use crate::copies::{Known, Mapped, ports};
use crate::error::Result;
use crate::map::{self, Mapper, type_of};
use crate::netlist::{Cell, Direction, Driver, Module, Port, Signal};
use crate::parties::{self, Said};
use crate::profile::Profile;
use circuit::blocks::Goal;
use circuit::program::{Value, View};
use circuit::{Bit, Builder, Circuit, Gate, Program, bits};
use rustc_hash::{FxHashMap, FxHashSet};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::rc::Rc;

/// The fewest instances that are lanes.
const FEWEST: usize = 4;

/// The most gates of all instances that are compared.
const MOST_COMPARED: usize = 1 << 26;

/// A design whose instances are lanes.
pub struct Laned {
    /// The program.
    pub program: Program,
    /// The circuit of what all lanes share.
    pub once: Option<Circuit>,
    /// The circuit of a lane.
    pub each: Circuit,
    /// How many lanes of it there are for each lane of the program.
    pub lanes: u64,
    /// What each line of the source costs.
    pub profile: Profile,
}

impl Laned {
    /// The ANDs for each lane of the program.
    pub fn ands(&self) -> u64 {
        self.once.as_ref().map_or(0, Circuit::and_count) + self.lanes * self.each.and_count()
    }

    /// The layers: what is shared comes first.
    pub fn depth(&self) -> u64 {
        self.once.iter().chain([&self.each]).map(|circuit| u64::from(circuit.depth())).sum()
    }

    /// The gates of the circuits that stand in the file.
    pub fn gates(&self) -> u64 {
        self.once.iter().chain([&self.each]).map(|circuit| circuit.gates().len() as u64).sum()
    }
}

/// The program of a design that is many independent instances of one module; none of any other design.
///
/// # Errors
/// As [`circuit`](crate::circuit()) and [`parties::program`].
pub fn program(module: &Module, goal: Goal, said: &Said) -> Result<Option<Laned>> {
    let Some(design) = Design::of(module) else { return Ok(None) };
    map::check(module, &design.inputs, &design.outputs)?;
    parties::known(said.inputs.iter().map(|(name, _)| name), &design.inputs, "input")?;
    parties::known(said.outputs.iter().map(|(name, _)| name), &design.outputs, "output")?;
    let Some(columns) = design.columns() else { return Ok(None) };
    let (mapped, free) = design.mapped(goal, &columns)?;
    let lane = Lane::new(&mapped, &free);
    let deeper = lane.once.as_ref().map_or(0, Circuit::depth) + lane.each.depth() > mapped.circuit.depth();
    if lane.words(design.instances.len()).any(|word| word.is_empty())
        || goal == Goal::Depth && deeper
        || !lane.are_independent(&mapped.circuit, design.instances.len())
    {
        return Ok(None);
    }
    let program = design.program(&lane, said)?;
    let profile = lane.profile(&mapped, design.instances.len() as u64);
    let laned = Laned { program, once: lane.once, each: lane.each, lanes: design.instances.len() as u64, profile };
    Ok(laned.program.check().is_ok().then_some(laned))
}

/// What instances read at one place of the module's inputs.
enum Column {
    /// A constant.
    Constant(bool),
    /// One net.
    Shared(u32),
    /// A net for each.
    Each(Vec<u32>),
}

/// A design that is nothing but instances of a module.
struct Design<'a> {
    module: &'a Module,
    inner: &'a Rc<Module>,
    instances: Vec<&'a Cell>,
    inputs: Vec<&'a Port>,
    outputs: Vec<&'a Port>,
}

impl<'a> Design<'a> {
    fn of(module: &'a Module) -> Option<Self> {
        let of = |direction| ports(module, direction).collect::<Vec<_>>();
        let instances: Vec<&Cell> = module.cells.iter().collect();
        let inner = instances.first()?.inner.as_ref()?;
        let is_one = |cell: &&Cell| cell.block.is_none() && cell.inner.as_ref().is_some_and(|of| Rc::ptr_eq(of, inner));
        let fits = |cell: &&Cell| {
            cell.outputs.iter().all(|(name, bits)| {
                let mut of = ports(inner, Direction::Output).filter(|port| port.name == *name);
                bits.is_empty() || of.next().is_some_and(|port| port.bits.len() == bits.len())
            })
        };
        let design = Design { module, inner, inputs: of(Direction::Input), outputs: of(Direction::Output), instances };
        let has_drivers = design.outputs.iter().flat_map(|port| &port.bits).all(|bit| module.driver(*bit).is_some());
        (design.instances.len() >= FEWEST
            && design.instances.iter().all(|cell| is_one(cell) && fits(cell))
            && has_drivers)
            .then_some(design)
    }

    /// What all instances read, an entry for each bit of the module's inputs.
    fn columns(&self) -> Option<Vec<Column>> {
        let word = |cell: &&Cell| {
            let port = |port: &Port| (cell.input(&port.name).len() == port.bits.len()).then(|| cell.input(&port.name));
            let words: Option<Vec<&[Signal]>> = ports(self.inner, Direction::Input).map(port).collect();
            words.map(|words| words.concat())
        };
        let words: Vec<Vec<Signal>> = self.instances.iter().map(word).collect::<Option<_>>()?;
        let column = |place: usize| {
            let first = words[0][place];
            if words.iter().all(|word| word[place] == first) {
                return match first {
                    Signal::Zero | Signal::Unknown => Some(Column::Constant(false)),
                    Signal::One => Some(Column::Constant(true)),
                    net => self.input(net).map(Column::Shared),
                };
            }
            words.iter().map(|word| self.input(word[place])).collect::<Option<_>>().map(Column::Each)
        };
        (0..words[0].len()).map(column).collect()
    }

    /// The net of an input of the design.
    fn input(&self, signal: Signal) -> Option<u32> {
        signal.net().filter(|net| self.module.drivers[*net as usize] == Driver::Input)
    }

    /// The circuit of the module, and what its inputs are.
    fn mapped<'c>(&self, goal: Goal, columns: &'c [Column]) -> Result<(Rc<Mapped>, Vec<&'c Column>)> {
        let mut mapper = Mapper::new(self.module, goal, Builder::new("lanes")).profiled();
        let mut shared: FxHashMap<u32, Bit> = FxHashMap::default();
        let mut of: FxHashMap<Bit, &Column> = FxHashMap::default();
        let mut fresh = || mapper.c.input("bit", bits(1))[0];
        let all = columns.iter().map(|column| match column {
            Column::Constant(value) => Bit::constant(*value),
            Column::Shared(net) => *shared.entry(*net).or_insert_with(&mut fresh),
            Column::Each(_) => fresh(),
        });
        let all: Vec<Bit> = all.collect();
        of.extend(all.iter().copied().zip(columns));
        let known = Known::of(&all);
        let mapped = mapper.mapped(self.inner, &known)?;
        Ok((mapped, known.free.iter().map(|bit| of[bit]).collect()))
    }

    fn program(&self, lane: &Lane, said: &Said) -> Result<Program> {
        let count = self.instances.len();
        let mut p = Program::new(&self.module.name);
        let lanes = p.size("lanes", 0..=1 << 32);
        let mut values = Vec::new();
        for port in &self.inputs {
            values.push(p.input(&port.name, parties::supplier(port, said)?, type_of(port), lanes));
        }
        let all = p.view(View::Join, &values);
        let nets = self.inputs.iter().flat_map(|port| &port.bits).filter_map(|bit| bit.net());
        let places: FxHashMap<u32, u32> = nets.zip(0..).collect();
        let mut args = Vec::new();
        if let Some(once) = &lane.once {
            let shared = p.view(View::Bits(lane.shared.iter().map(|net| places[net]).collect()), &[all]);
            let width = once.output_width() as u32;
            let shared = p.map(once, &[shared]);
            args.push(cut(&mut p, shared, (0..count).flat_map(|_| 0..width).collect(), count));
        }
        let words = lane.words(count).flatten().map(|net| places[&net]).collect();
        args.push(cut(&mut p, all, words, count));
        let made = p.map(&lane.each, &args);
        let made = p.view(View::Merge(count as u32), &[made]);
        for port in &self.outputs {
            let word = p.view(View::Bits(self.places(port, lane.each.output_width())), &[made]);
            let typed = p.map(&parties::typed("a word", type_of(port))?, &[word]);
            p.output(&port.name, parties::learner(port, said)?, typed);
        }
        Ok(p)
    }

    /// Where the bits of an output stand among those of all instances.
    fn places(&self, port: &Port, width: usize) -> Vec<u32> {
        let starts = ports(self.inner, Direction::Output).scan(0, |start, port| {
            *start += port.bits.len();
            Some((port.name.as_str(), *start - port.bits.len()))
        });
        let starts: FxHashMap<&str, usize> = starts.collect();
        let place = |bit: &Signal| {
            let (cell, mut place) = self.module.driver(*bit)?;
            for (name, bits) in &self.instances[cell as usize].outputs {
                match (place as usize).checked_sub(bits.len()) {
                    None => return Some(cell * width as u32 + starts.get(name.as_str()).map(|&at| at as u32)? + place),
                    Some(rest) => place = rest as u32,
                }
            }
            None
        };
        port.bits.iter().filter_map(place).collect()
    }
}

/// Bits of a value, divided among lanes.
fn cut(p: &mut Program, value: Value, places: Vec<u32>, lanes: usize) -> Value {
    let all = p.view(View::Bits(places), &[value]);
    p.view(View::Split(lanes as u32), &[all])
}

/// The circuit of the module in two parts: what follows from shared bits alone, and the rest.
struct Lane<'a> {
    once: Option<Circuit>,
    each: Circuit,
    /// The shared nets that the first part reads.
    shared: Vec<u32>,
    /// The nets that each instance reads.
    columns: Vec<&'a [u32]>,
    /// Which nodes of the circuit are shared.
    is_shared: Vec<bool>,
    free: &'a [&'a Column],
}

impl<'a> Lane<'a> {
    fn new(mapped: &Mapped, free: &'a [&'a Column]) -> Self {
        let circuit = &mapped.circuit;
        let mut is_shared = vec![true; circuit.gates().len()];
        for (node, column) in circuit.input_nodes().iter().zip(free) {
            is_shared[*node as usize] = matches!(column, Column::Shared(_));
        }
        for (node, gate) in circuit.gates().iter().enumerate() {
            if let Gate::Xor(a, b) | Gate::And(a, b) = gate {
                is_shared[node] = is_shared[a.node() as usize] && is_shared[b.node() as usize];
            }
        }
        let border = border(circuit, &is_shared);
        let shared = free.iter().filter_map(|column| if let Column::Shared(net) = column { Some(*net) } else { None });
        let each =
            free.iter().filter_map(|column| if let Column::Each(nets) = column { Some(&nets[..]) } else { None });
        let once = (!border.is_empty()).then(|| part(circuit, &is_shared, true, &[], &border));
        let rest = part(circuit, &is_shared, false, &border, &[]);
        Lane { once, each: rest, shared: shared.collect(), columns: each.collect(), is_shared, free }
    }

    /// The nets that each instance reads.
    fn words(&self, lanes: usize) -> impl Iterator<Item = Vec<u32>> {
        (0..lanes).map(|lane| self.columns.iter().map(|nets| nets[lane]).collect())
    }

    /// Whether no two instances have an AND in common that is not shared by all.
    fn are_independent(&self, circuit: &Circuit, lanes: usize) -> bool {
        let mut seen = FxHashSet::default();
        if self.words(lanes).flatten().all(|net| seen.insert(net)) {
            return true;
        }
        let mut ands = FxHashSet::default();
        circuit.gates().len().saturating_mul(lanes) <= MOST_COMPARED
            && (0..lanes).all(|lane| self.names(circuit, lane).into_iter().all(|name| ands.insert(name)))
    }

    /// Names of the ANDs of an instance that are not shared by all: equal ones have equal names.
    fn names(&self, circuit: &Circuit, lane: usize) -> Vec<u64> {
        let mut names = vec![0; circuit.gates().len()];
        for (node, column) in circuit.input_nodes().iter().zip(self.free) {
            names[*node as usize] = match column {
                Column::Each(nets) => hash((0, nets[lane])),
                Column::Shared(net) => hash((0, *net)),
                Column::Constant(_) => 0,
            };
        }
        let mut ands = Vec::new();
        for (node, gate) in circuit.gates().iter().enumerate() {
            let of = |bit: &Bit| (names[bit.node() as usize], bit.complemented());
            match gate {
                Gate::Xor(a, b) => names[node] = hash((1, of(a).min(of(b)), of(a).max(of(b)))),
                Gate::And(a, b) => names[node] = hash((2, of(a).min(of(b)), of(a).max(of(b)))),
                _ => continue,
            }
            ands.extend((matches!(gate, Gate::And(..)) && !self.is_shared[node]).then_some(names[node]));
        }
        ands
    }

    fn profile(&self, mapped: &Mapped, lanes: u64) -> Profile {
        let (mut profile, mut first) = (Profile::default(), 0);
        for (end, shares) in &mapped.lines {
            let nodes = first..*end as usize;
            first = nodes.end;
            let ands = nodes.filter(|&node| matches!(mapped.circuit.gates()[node], Gate::And(..)));
            let ands = ands.map(|node| if self.is_shared[node] { 1 } else { lanes }).sum();
            profile.divide(shares.iter().map(|(place, share)| (place.as_str(), *share)), ands);
        }
        profile
    }
}

/// Not by the hash of the maps here, which is linear, so that other sums of the same bits have the same one.
fn hash(of: impl Hash) -> u64 {
    let mut hasher = DefaultHasher::new();
    of.hash(&mut hasher);
    hasher.finish()
}

/// The shared nodes that others read, or that are outputs.
fn border(circuit: &Circuit, is_shared: &[bool]) -> Vec<u32> {
    let mut is_read = vec![false; is_shared.len()];
    circuit.output_bits().iter().for_each(|bit| is_read[bit.node() as usize] = true);
    for (gate, _) in circuit.gates().iter().zip(is_shared).filter(|(_, is_shared)| !**is_shared) {
        if let Gate::Xor(a, b) | Gate::And(a, b) = gate {
            is_read[a.node() as usize] = true;
            is_read[b.node() as usize] = true;
        }
    }
    (1..is_shared.len() as u32).filter(|&node| is_read[node as usize] && is_shared[node as usize]).collect()
}

/// The part of a circuit that is shared, or that is not: it reads its own inputs and these nodes, and has these nodes as outputs,
/// or those of the circuit.
fn part(circuit: &Circuit, is_shared: &[bool], shared: bool, reads: &[u32], outputs: &[u32]) -> Circuit {
    let mut c = Builder::new(if shared { "what all lanes share" } else { "a lane" });
    let mut made = vec![Bit::FALSE; is_shared.len()];
    let own: Vec<u32> =
        circuit.input_nodes().iter().copied().filter(|&node| is_shared[node as usize] == shared).collect();
    for (name, nodes) in [("shared", reads), ("bits", &own)] {
        if !nodes.is_empty() {
            let bits = c.input(name, bits(nodes.len() as u32));
            nodes.iter().zip(bits).for_each(|(node, bit)| made[*node as usize] = bit);
        }
    }
    for (node, gate) in circuit.gates().iter().enumerate().filter(|(node, _)| is_shared[*node] == shared) {
        let of = |bit: &Bit| made[bit.node() as usize].flip(bit.complemented());
        match gate {
            Gate::Xor(a, b) => made[node] = c.xor(of(a), of(b)),
            Gate::And(a, b) => made[node] = c.and(of(a), of(b)),
            Gate::False | Gate::Input => {}
        }
    }
    let bit = |bit: &Bit| made[bit.node() as usize].flip(bit.complemented());
    let word: Vec<Bit> = match shared {
        true => outputs.iter().map(|node| made[*node as usize]).collect(),
        false => circuit.output_bits().iter().map(bit).collect(),
    };
    c.output_as("made", bits(word.len() as u32), &word);
    c.finish()
}

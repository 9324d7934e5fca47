//! How many times as fast Yao would garble on several cores: a simulation from the layers of a program's circuits.
//!
//! The two ways of Barni, Bernaschi, Lazzeretti, Pignata and Sabellico, *Parallel Implementation of GC-Based MPC Protocols
//! in the Semi-Honest Setting* (DPM 2013), section 3. *Fine grain*: the gates of a layer are shared out, and all cores wait
//! for each other before the next layer; a layer that would take longer than on one core is left to one. *Coarse grain*:
//! lanes, and maps that do not need each other, are shared out whole. *Both*: groups of cores share out lanes and maps, and
//! the cores of a group the layers of theirs.
//!
//! A layer here is all ANDs of one depth, or all XORs that stand between two of those and are equally far from the first one: an
//! XOR reads what others of its depth write, so that the XORs of a depth are several layers. With k cores, a layer of g gates,
//! a piece of s gates and n labels that a gate reads or writes where another core did, a layer takes
//!
//! ```text
//! ⌈⌈g/s⌉/k⌉·s · (gate + n·label·(k−1)/k) + barrier·⌈log₂ k⌉        and on one core g·gate
//! ```
//!
//! Nothing else is counted: not what memory a layer needs, nor the channel. So the simulation is too favourable to many
//! cores, and where it says that sharing out does not pay, it does not.

mod layers;
mod times;

use crate::args::Pair;
use crate::failure::Failure;
use crate::io::sizes;
use crate::program;
use duologue::circuit::program::{Schedule, TaskKind};
use duologue::circuit::{Binding, Order};
use layers::Layers;
use serde::Serialize;
pub use times::{Kind, Times};

/// The most cores that are simulated.
pub const MOST_CORES: u32 = 1 << 12;

/// The most lanes of a tile, so that a map is whole.
const TILE: usize = 1 << 20;

/// What a program has to do, on public values excepted.
pub struct Work {
    plans: Vec<Layers>,
    /// Maps that need none of each other, depth by depth.
    levels: Vec<Vec<Map>>,
    /// Maps in an order in which each comes after those whose results it reads.
    chains: Vec<Chain>,
}

/// A map in the chains of maps.
struct Chain {
    plan: usize,
    /// The maps whose results it reads, by their places among the chains.
    after: Vec<usize>,
}

/// A circuit on so many lanes.
#[derive(Clone, Copy)]
struct Map {
    plan: usize,
    lanes: u64,
}

/// The gates of a program over all its lanes.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
pub struct Gates {
    pub ands: u64,
    pub xors: u64,
    /// Layers of ANDs, map after map.
    pub layers: u64,
    /// ANDs of the layers, each over all lanes of its map: of the median AND, and of the widest layer.
    pub median: u64,
    pub widest: u64,
}

impl Gates {
    /// The part of the gates that are XORs.
    pub fn xor_share(&self) -> f64 {
        self.xors as f64 / (self.ands + self.xors).max(1) as f64
    }
}

/// How many times as fast as one core so many are.
#[derive(Clone, Copy, PartialEq, Debug, Serialize)]
pub struct Speedup {
    pub cores: u32,
    pub fine: f64,
    pub coarse: f64,
    pub both: f64,
    /// What no way can exceed: the number of cores, and the longest chain of gates.
    pub bound: f64,
    /// The part of one core's time in layers that fine grain shares out.
    pub shared: f64,
    /// ANDs of a layer, and XORs, from which on sharing them out pays; none if it never does.
    pub ands_from: Option<u64>,
    pub xors_from: Option<u64>,
}

impl Work {
    /// The work of a bound program.
    ///
    /// # Errors
    /// If calls are among its steps, which have no layers; if its tasks do not fit into memory.
    pub fn new(binding: &Binding) -> Result<Work, Failure> {
        if binding.program().has_calls() {
            return Err(Failure::input("a program with calls cannot be simulated: they are no circuits"));
        }
        let schedule = Schedule::new(binding, Order::Layered, |_| TILE)?;
        let mut depths = vec![0; schedule.tasks.len()];
        let mut levels: Vec<Vec<Map>> = Vec::new();
        // Of each cell the maps that it comes of without another one between.
        let (mut chains, mut last) = (Vec::new(), vec![Vec::new(); schedule.tasks.len()]);
        for task in schedule.tasks.iter().filter(|task| !task.public) {
            let depth: usize = task.args.iter().map(|&arg| depths[arg as usize]).max().unwrap_or(0);
            let mut after: Vec<usize> = task.args.iter().flat_map(|&arg| last[arg as usize].iter().copied()).collect();
            after.sort_unstable();
            after.dedup();
            let TaskKind::Map { plan, .. } = task.kind else {
                (depths[task.cell as usize], last[task.cell as usize]) = (depth, after);
                continue;
            };
            (depths[task.cell as usize], last[task.cell as usize]) = (depth + 1, vec![chains.len()]);
            chains.push(Chain { plan: plan as usize, after });
            levels.resize_with(levels.len().max(depth + 1), Vec::new);
            levels[depth].push(Map { plan: plan as usize, lanes: task.lanes as u64 });
        }
        Ok(Work { plans: schedule.plans.iter().map(Layers::new).collect(), levels, chains })
    }

    /// The work of a program as the command names it; sizes stand behind `?`, with `&` between them.
    pub fn named(program: &str) -> Result<Work, Failure> {
        let (name, sizes) = program.split_once('?').unwrap_or((program, ""));
        let given: Result<Vec<Pair<u64>>, String> =
            sizes.split('&').filter(|size| !size.is_empty()).map(str::parse).collect();
        Work::new(&sizes::bind(&program::load(name, &[])?, &given.map_err(Failure::input)?, &[])?)
    }

    fn maps(&self) -> impl Iterator<Item = (&Layers, u64)> {
        self.levels.iter().flatten().map(|map| (&self.plans[map.plan], map.lanes))
    }

    /// The most lanes of a map.
    pub fn lanes(&self) -> u64 {
        self.maps().map(|(_, lanes)| lanes).max().unwrap_or(0)
    }

    /// Its gates and layers.
    pub fn gates(&self) -> Gates {
        let of = |kind| self.maps().flat_map(move |(plan, lanes)| plan.of(kind).map(move |gates| gates * lanes));
        let (mut ands, xors) = (of(Kind::And).collect::<Vec<u64>>(), of(Kind::Xor).sum());
        ands.sort_unstable();
        let all: u64 = ands.iter().sum();
        let mut below = 0;
        let median = ands.iter().find(|&&gates| {
            below += gates;
            2 * below >= all
        });
        let [median, widest] = [median, ands.last()].map(|gates| gates.copied().unwrap_or(0));
        Gates { ands: all, xors, layers: ands.len() as u64, median, widest }
    }

    /// What so many cores make of it.
    pub fn speedup(&self, cores: u32, times: &Times) -> Speedup {
        let one = self.serial(times);
        let times_as_fast = |time: f64| if time > 0.0 { one / time } else { 1.0 };
        let groups = || halvings(cores);
        let best = |options: &dyn Fn(&[Map]) -> f64| self.levels.iter().map(|level| options(level)).sum::<f64>();
        let coarse = best(&|level| least(groups().map(|groups| self.level(level, groups, 1, times))));
        let both = best(&|level| least(groups().map(|groups| self.level(level, groups, cores / groups, times))));
        let shared = self.maps().fold(0.0, |sum, (plan, lanes)| sum + plan.shared(lanes, cores, times));
        Speedup {
            cores,
            fine: self.fine(cores, times),
            coarse: times_as_fast(coarse),
            both: times_as_fast(both),
            bound: times_as_fast((one / f64::from(cores)).max(self.longest(times))),
            shared: if one > 0.0 { shared / one } else { 0.0 },
            ands_from: times.pays_from(Kind::And, cores),
            xors_from: times.pays_from(Kind::Xor, cores),
        }
    }

    /// How many times as fast as one core so many are, if they share out the gates of each layer.
    pub fn fine(&self, cores: u32, times: &Times) -> f64 {
        let fine: f64 = self.levels.iter().map(|level| self.level(level, 1, cores, times)).sum();
        if fine > 0.0 { self.serial(times) / fine } else { 1.0 }
    }

    /// Nanoseconds on one core.
    pub fn serial(&self, times: &Times) -> f64 {
        self.maps().map(|(plan, lanes)| plan.time(lanes, 1, times)).sum()
    }

    /// Gates of the longest chain, XORs among them: the layers that remain if each gate is in the first that it can be in.
    pub fn chain(&self) -> u64 {
        let gate = Times { and: 1.0, xor: 1.0, label: 0.0, barrier: 0.0, piece: 1, part: 1 };
        self.longest(&gate) as u64
    }

    /// Nanoseconds that the longest chain of gates takes, if each map begins when those that it reads are done.
    fn longest(&self, times: &Times) -> f64 {
        let longest: Vec<f64> = self.plans.iter().map(|plan| plan.longest(times)).collect();
        let mut ends = Vec::with_capacity(self.chains.len());
        for Chain { plan, after } in &self.chains {
            ends.push(after.iter().map(|&map| ends[map]).fold(0.0, f64::max) + longest[*plan]);
        }
        ends.into_iter().fold(0.0, f64::max)
    }

    /// Maps shared out to groups of so many cores, lanes first, the longest piece first and each to whoever is free first;
    /// then all wait for each other.
    fn level(&self, level: &[Map], groups: u32, cores: u32, times: &Times) -> f64 {
        let pieces = |map: &Map| {
            let plan = &self.plans[map.plan];
            pieces(map.lanes, u64::from(groups), times.part).map(|lanes| plan.time(lanes, cores, times))
        };
        let mut pieces: Vec<f64> = level.iter().flat_map(pieces).collect();
        let used = (pieces.len() as u32).clamp(1, groups);
        dealt(&mut pieces, used as usize) + times.barrier(used)
    }
}

/// The lanes of each piece of a map, as even as whole parts are.
fn pieces(lanes: u64, groups: u64, part: u64) -> impl Iterator<Item = u64> {
    let parts = lanes.div_ceil(part);
    let count = groups.min(parts).max(1);
    let end = move |piece: u64| (parts * piece / count * part).min(lanes);
    (0..count).map(move |piece| end(piece + 1) - end(piece))
}

/// When the last of the groups is done, if the longest pieces are dealt out first, each to the group that is free first.
fn dealt(pieces: &mut [f64], groups: usize) -> f64 {
    pieces.sort_unstable_by(|a, b| b.total_cmp(a));
    let mut busy = vec![0.0f64; groups];
    for piece in pieces {
        let first = busy.iter_mut().min_by(|a, b| a.total_cmp(b)).expect("there is a group");
        *first += *piece;
    }
    busy.into_iter().fold(0.0, f64::max)
}

/// All of them, half of them, and so on down to one.
fn halvings(cores: u32) -> impl Iterator<Item = u32> {
    std::iter::successors(Some(cores.max(1)), |&cores| (cores > 1).then_some(cores / 2))
}

fn least(times: impl Iterator<Item = f64>) -> f64 {
    times.fold(f64::INFINITY, f64::min)
}

#[cfg(test)]
mod tests;

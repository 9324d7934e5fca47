//! The circuits and applications that are built in, and what they cost.

use crate::args::Pair;
use crate::failure::Failure;
use crate::io::sizes;
use crate::program::{self, APPS};
use duologue::circuit::blocks::{self, Goal};
use duologue::circuit::{Circuit, Order, Plan, Program};
use duologue::{Options, Scheme, cost};
use std::collections::{BTreeMap, BTreeSet};
use std::thread;

/// The costs of one circuit or program.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Figure {
    /// ANDs over all lanes.
    pub ands: u64,
    pub depth: u32,
    /// Wires of one lane that are alive at once in the depth-first order.
    pub live: usize,
}

/// A program that is built in, and what both of its constructions cost.
#[derive(Clone)]
pub struct Entry {
    /// The name that the command gives it, without its goal; `?` separates sizes.
    pub program: String,
    pub about: &'static str,
    /// The construction of fewest ANDs, if there is one of its own.
    pub size: Option<Figure>,
    /// The construction of fewest layers of ANDs, if there is one of its own.
    pub depth: Option<Figure>,
}

impl Entry {
    /// The figures that there are, with what each was made for.
    pub fn figures(&self) -> impl Iterator<Item = (Goal, Figure)> {
        [(Goal::Size, self.size), (Goal::Depth, self.depth)].into_iter().filter_map(|(goal, f)| Some((goal, f?)))
    }
}

/// The costs of these programs, in their order; each is measured once, on all cores.
pub fn entries(programs: &[String]) -> Result<Vec<Entry>, Failure> {
    let figures = measure(programs)?;
    let entry = |program: &String| {
        let [size, depth] = figures[program];
        Entry { program: program.clone(), about: about(program), size, depth }
    };
    Ok(programs.iter().map(entry).collect())
}

/// The names of the programs that are built in, at their usual sizes.
pub fn usual() -> Vec<String> {
    let blocks = blocks::registry().into_iter().map(|block| program::block_name(&block, &block.usual()));
    let apps = APPS.iter().filter(|app| !app.calls).map(|app| format!("app:{}:{}?{}", app.name, app.width, app.sizes));
    blocks.chain(apps).collect()
}

fn about(program: &str) -> &'static str {
    let name = program.split([':', '?']).nth(1).unwrap_or_default();
    match program.starts_with("app:") {
        true => APPS.iter().find(|app| app.name == name).map_or("", |app| app.about),
        false => blocks::find(name).map_or("", |block| block.about),
    }
}

/// The figures of each program for both goals, on all cores.
fn measure(programs: &[String]) -> Result<BTreeMap<String, [Option<Figure>; 2]>, Failure> {
    let names: Vec<&String> = programs.iter().collect::<BTreeSet<_>>().into_iter().collect();
    let threads = thread::available_parallelism().map_or(1, usize::from);
    let figures = |first: usize| -> Result<Vec<_>, Failure> {
        let mine = names.iter().skip(first).step_by(threads);
        mine.map(|&name| Ok((name.clone(), both(name)?))).collect()
    };
    let parts: Vec<Result<Vec<_>, Failure>> = thread::scope(|scope| {
        let workers: Vec<_> = (0..threads).map(|first| scope.spawn(move || figures(first))).collect();
        workers.into_iter().map(|worker| worker.join().expect("a thread that builds circuits")).collect()
    });
    Ok(parts.into_iter().collect::<Result<Vec<_>, _>>()?.into_iter().flatten().collect())
}

fn both(name: &str) -> Result<[Option<Figure>; 2], Failure> {
    let figure = |goal| if program::goals(name)?.contains(&goal) { figure(name, goal).map(Some) } else { Ok(None) };
    Ok([figure(Goal::Size)?, figure(Goal::Depth)?])
}

fn figure(name: &str, goal: Goal) -> Result<Figure, Failure> {
    let (name, sizes) = name.split_once('?').unwrap_or((name, ""));
    let program = program::load(&format!("{name}:{goal}"), &[])?;
    let live = |circuit: &Circuit| Plan::new(circuit, Order::DepthFirst).slots();
    let live = program.circuits().iter().map(live).max().unwrap_or(0);
    match (program.circuits(), sizes) {
        ([circuit], "") => Ok(Figure { ands: circuit.and_count(), depth: circuit.depth(), live }),
        _ => whole(&program, sizes, live),
    }
}

/// The cost of a program over all its lanes; `sizes` as in `faces=320&pixels=100`.
fn whole(program: &Program, sizes: &str, live: usize) -> Result<Figure, Failure> {
    let given: Result<Vec<Pair<u64>>, String> =
        sizes.split('&').filter(|size| !size.is_empty()).map(str::parse).collect();
    let binding = sizes::bind(program, &given.map_err(Failure::input)?, &[])?;
    let cost = cost::cost(&binding, &Options::new(Scheme::Gmw))?;
    Ok(Figure { ands: cost.ands, depth: cost.depth, live })
}

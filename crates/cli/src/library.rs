//! The whole library with its costs, beside the figures that others have published.

use crate::args::Pair;
use crate::failure::Failure;
use crate::io::sizes;
use crate::program::{self, APPS};
use circuit::blocks::{self, Goal};
use circuit::{Circuit, Order, Plan, Program};
use duologue::{Options, Scheme, cost};
use serde::Deserialize;
use std::collections::{BTreeMap, BTreeSet};
use std::thread;

/// A figure that others have published.
#[derive(Clone, Deserialize)]
pub struct Published {
    /// Who published it, as the table's key says.
    pub source: String,
    /// Their name for it.
    pub name: String,
    pub width: u32,
    pub ands: u64,
    pub depth: u32,
    /// The cost that they kept low, size or depth; empty if they do not say.
    pub goal: String,
    /// Our program for it, as the command names it, without a goal; `?` separates sizes.
    pub program: String,
    /// Why neither figure can be halved; empty if one was.
    pub proof: String,
}

/// All published figures, in the order of the file.
pub fn published() -> Vec<Published> {
    let text = include_str!("../data/published.csv");
    let mut reader = csv::ReaderBuilder::new().comment(Some(b'#')).from_reader(text.as_bytes());
    reader.deserialize().collect::<Result<_, _>>().expect("the table in the source is well-formed")
}

/// The costs of one circuit or program.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Figure {
    /// ANDs over all lanes.
    pub ands: u64,
    pub depth: u32,
    /// Wires of one lane that are alive at once in the depth-first order.
    pub live: usize,
}

/// A line of the table: a program of ours, both ways, and perhaps somebody else's.
#[derive(Clone)]
pub struct Entry {
    /// The name that the command gives it, without its goal; `?` separates sizes.
    pub program: String,
    pub about: String,
    pub size: Option<Figure>,
    pub depth: Option<Figure>,
    pub published: Option<Published>,
}

/// How ours compares with a published figure.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Verdict {
    /// One circuit is no larger and no deeper, and one has half of a figure for at most four times the other.
    Win,
    /// One circuit is no larger and no deeper; that no figure can be halved is proved.
    Proof,
    /// One circuit is no larger and no deeper, but none has half of a figure.
    Tie,
    /// Every circuit is larger or deeper.
    Loss,
}

impl Verdict {
    pub fn word(self) -> &'static str {
        match self {
            Verdict::Win => "win",
            Verdict::Proof => "proof",
            Verdict::Tie => "tie",
            Verdict::Loss => "loss",
        }
    }
}

impl Entry {
    /// The figures that there are, with what each was made for.
    pub fn figures(&self) -> impl Iterator<Item = (Goal, Figure)> {
        [(Goal::Size, self.size), (Goal::Depth, self.depth)].into_iter().filter_map(|(goal, f)| Some((goal, f?)))
    }

    pub fn verdict(&self) -> Option<Verdict> {
        let other = self.published.as_ref()?;
        let any = |rule: &dyn Fn(Figure) -> bool| self.figures().any(|(_, figure)| rule(figure));
        let no_more = any(&|f| f.ands <= other.ands && f.depth <= other.depth);
        let half_ands = any(&|f| 2 * f.ands <= other.ands && f.depth <= 4 * other.depth);
        let half_depth = any(&|f| 2 * f.depth <= other.depth && f.ands <= 4 * other.ands);
        Some(match (no_more, half_ands || half_depth, other.proof.is_empty()) {
            (false, ..) => Verdict::Loss,
            (true, true, _) => Verdict::Win,
            (true, false, false) => Verdict::Proof,
            (true, false, true) => Verdict::Tie,
        })
    }
}

/// Everything whose name contains one of the words (everything if there is none): first what others have published,
/// then the rest of what is built in, at its usual size.
pub fn entries(words: &[String]) -> Result<Vec<Entry>, Failure> {
    let mut entries: Vec<Entry> =
        published().into_iter().map(|row| Entry::empty(&row.program, Some(row.clone()))).collect();
    let known: BTreeSet<String> = entries.iter().map(|entry| entry.program.clone()).collect();
    let others = usual_programs().into_iter().filter(|name| !known.contains(name));
    entries.extend(others.map(|name| Entry::empty(&name, None)));
    entries.retain(|entry| words.is_empty() || words.iter().any(|word| entry.is_called(word)));
    let figures = measure(&entries)?;
    for entry in &mut entries {
        [entry.size, entry.depth] = figures[&entry.program];
    }
    Ok(entries)
}

impl Entry {
    fn empty(program: &str, published: Option<Published>) -> Entry {
        let about = about(program).to_string();
        Entry { program: program.into(), about, size: None, depth: None, published }
    }

    fn is_called(&self, word: &str) -> bool {
        self.program.contains(word) || self.published.as_ref().is_some_and(|row| row.name.contains(word))
    }
}

/// The programs that are built in, at their usual sizes.
fn usual_programs() -> Vec<String> {
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
fn measure(entries: &[Entry]) -> Result<BTreeMap<String, [Option<Figure>; 2]>, Failure> {
    let names: Vec<&str> = entries.iter().map(|entry| &*entry.program).collect::<BTreeSet<_>>().into_iter().collect();
    let threads = thread::available_parallelism().map_or(1, usize::from);
    let figures = |first: usize| -> Result<Vec<_>, Failure> {
        let mine = names.iter().skip(first).step_by(threads);
        mine.map(|&name| Ok((name.to_string(), both(name)?))).collect()
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

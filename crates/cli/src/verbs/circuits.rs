//! `duologue circuits`: the whole library with its costs, beside the figures that others have published.

mod book;
mod plot;

use crate::args::Circuits;
use crate::failure::Failure;
use crate::io::console::{self, Console, print, table, thousands};
use crate::library::{self, Entry, Figure};
use circuit::blocks::{self, Goal};
use serde::Serialize;

pub fn run(args: &Circuits, console: &Console) -> Result<(), Failure> {
    let entries = library::entries(&args.names)?;
    if entries.is_empty() {
        return Err(
            Failure::input(format!("no circuit is called {}", args.names.join(" or "))).hint("see `duologue blocks`")
        );
    }
    if let Some(folder) = &args.book {
        book::write(folder, &entries)?;
    }
    match console.json() {
        true => console.show_json(&entries.iter().flat_map(lines).collect::<Vec<_>>()),
        false => print(text(&entries).as_bytes()),
    }
}

/// One circuit of ours in JSON.
#[derive(Serialize)]
struct FigureRow {
    /// The published name where there is one, ours otherwise.
    name: String,
    width: Option<u32>,
    goal: String,
    ands: u64,
    depth: u32,
    live: usize,
    reference_ands: Option<u64>,
    reference_depth: Option<u32>,
    source: Option<String>,
    proof: Option<String>,
    /// How the command names it.
    program: String,
    verdict: Option<&'static str>,
}

fn lines(entry: &Entry) -> impl Iterator<Item = FigureRow> {
    let row = entry.published.as_ref();
    entry.figures().map(move |(goal, figure)| FigureRow {
        name: row.map_or_else(|| entry.name().to_string(), |row| row.name.clone()),
        width: row.map(|row| row.width).or(entry.width()),
        goal: goal.to_string(),
        ands: figure.ands,
        depth: figure.depth,
        live: figure.live,
        reference_ands: row.map(|row| row.ands),
        reference_depth: row.map(|row| row.depth),
        source: row.map(|row| row.source.clone()),
        proof: row.map(|row| row.proof.clone()).filter(|proof| !proof.is_empty()),
        program: entry.command(goal),
        verdict: entry.verdict().map(library::Verdict::word),
    })
}

const HEAD: [&str; 11] = [
    "CIRCUIT",
    "size: ANDs",
    "depth",
    "live",
    "depth: ANDs",
    "depth",
    "live",
    "published: ANDs",
    "depth",
    "source",
    "",
];

fn text(entries: &[Entry]) -> String {
    let mut text = table("lrrrrrrrrll", &rows(entries));
    for (number, proof) in proofs(entries).iter().enumerate() {
        text += &format!("  [{}] {proof}\n", number + 1);
    }
    text + &summary(entries)
}

/// How many published figures are met.
fn summary(entries: &[Entry]) -> String {
    use library::Verdict::{Loss, Proof, Tie, Win};
    let count = |verdict| entries.iter().filter(|entry| entry.verdict() == Some(verdict)).count();
    let counts = [Win, Proof, Tie, Loss].map(|verdict| (count(verdict), verdict.word()));
    let words: Vec<String> = counts.iter().map(|(count, word)| format!("{count} {word}")).collect();
    let all: usize = counts.iter().map(|(count, _)| count).sum();
    match all {
        0 => String::new(),
        _ => format!("  Against {}: {}.\n", console::count(all as u64, "published figure"), words.join(", ")),
    }
}

fn rows(entries: &[Entry]) -> Vec<Vec<String>> {
    let proofs = proofs(entries);
    let head = HEAD.map(String::from).to_vec();
    [head].into_iter().chain(entries.iter().map(|entry| row(entry, &proofs))).collect()
}

fn row(entry: &Entry, proofs: &[&str]) -> Vec<String> {
    let published = match &entry.published {
        Some(row) => [thousands(row.ands), thousands(row.depth.into()), source(row)],
        None => Default::default(),
    };
    let verdict = entry.verdict().map_or(String::new(), |verdict| verdict.word().to_string());
    let proof = entry.published.as_ref().and_then(|row| proofs.iter().position(|&proof| proof == row.proof));
    let verdict = proof.map_or(verdict.clone(), |number| format!("{verdict} [{}]", number + 1));
    let ours = [entry.size, entry.depth].into_iter().flat_map(cells);
    [entry.program.clone()].into_iter().chain(ours).chain(published).chain([verdict]).collect()
}

/// `AS mul_full_product (size)`.
fn source(row: &library::Published) -> String {
    let goal = if row.goal.is_empty() { String::new() } else { format!(" ({})", row.goal) };
    format!("{} {}{goal}", row.source, row.name)
}

fn cells(figure: Option<Figure>) -> [String; 3] {
    figure.map_or_else(Default::default, |f| [f.ands, f.depth.into(), f.live as u64].map(thousands))
}

/// The proofs that the rows name, each once.
fn proofs(entries: &[Entry]) -> Vec<&str> {
    let mut proofs: Vec<&str> = Vec::new();
    for row in entries.iter().filter_map(|entry| entry.published.as_ref()) {
        if !row.proof.is_empty() && !proofs.contains(&&*row.proof) {
            proofs.push(&row.proof);
        }
    }
    proofs
}

impl Entry {
    /// The name of the block or application alone.
    fn name(&self) -> &str {
        self.program.split([':', '?']).nth(1).unwrap_or_default()
    }

    /// The width of its words: of a float all its bits.
    fn width(&self) -> Option<u32> {
        let size = self.program.split([':', '?']).nth(2)?;
        if self.program.starts_with("app:") {
            return size.parse().ok();
        }
        let block = blocks::find(self.name()).ok()?;
        let numbers = block.size(size).ok()?;
        let number = |name| Some(numbers[block.parameters.iter().position(|parameter| parameter.name == name)?]);
        let float = || Some(1 + number("exponent")? + number("fraction")?);
        let named = || block.named.iter().any(|(name, _)| *name == size).then(|| size.parse().ok()).flatten();
        number("width").or_else(float).or_else(named)
    }

    /// How the command names one of its circuits.
    fn command(&self, goal: Goal) -> String {
        let (name, sizes) = self.program.split_once('?').unwrap_or((&self.program, ""));
        let sizes: String =
            sizes.split('&').filter(|size| !size.is_empty()).map(|size| format!(" --size {size}")).collect();
        format!("{name}:{goal}{sizes}")
    }
}

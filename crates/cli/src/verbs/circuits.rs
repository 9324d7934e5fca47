//! `duologue circuits`: the whole library with its costs.

use crate::args::Circuits;
use crate::failure::Failure;
use crate::io::console::{Console, print, thousands};
use crate::io::listing::{self, Listing};
use crate::library::{self, Entry, Figure};
use duologue::circuit::blocks::{self, Goal};
use serde::Serialize;

pub fn run(args: &Circuits, console: &Console) -> Result<(), Failure> {
    let words = [&args.names[..], &args.only].concat();
    let called = |program: &String| words.is_empty() || words.iter().any(|word| program.contains(word));
    let programs: Vec<String> = library::usual().into_iter().filter(called).collect();
    if programs.is_empty() {
        return Err(
            Failure::input(format!("no circuit is called {}", words.join(" or "))).hint("see `duologue blocks`")
        );
    }
    let entries = library::entries(&programs)?;
    match console.json() {
        true => console.show_json(&entries.iter().flat_map(lines).collect::<Vec<_>>()),
        false => print(text(&entries, if args.wide { None } else { listing::width() }).as_bytes()),
    }
}

/// One circuit in JSON.
#[derive(Serialize)]
struct FigureRow {
    name: String,
    width: Option<u32>,
    goal: String,
    ands: u64,
    depth: u32,
    live: usize,
    /// How the command names it.
    program: String,
}

fn lines(entry: &Entry) -> impl Iterator<Item = FigureRow> {
    entry.figures().map(move |(goal, figure)| FigureRow {
        name: entry.name().to_string(),
        width: entry.width(),
        goal: goal.to_string(),
        ands: figure.ands,
        depth: figure.depth,
        live: figure.live,
        program: entry.command(goal),
    })
}

const HEAD: [&str; 7] = ["CIRCUIT", "size: ANDs", "depth", "live", "depth: ANDs", "depth", "live"];

fn text(entries: &[Entry], width: Option<usize>) -> String {
    Listing { align: "lrrrrrr", rows: rows(entries), dispensable: &["live"] }.text(width)
}

fn rows(entries: &[Entry]) -> Vec<Vec<String>> {
    let head = HEAD.map(String::from).to_vec();
    [head].into_iter().chain(entries.iter().map(row)).collect()
}

fn row(entry: &Entry) -> Vec<String> {
    let ours = [entry.size, entry.depth].into_iter().flat_map(cells);
    [entry.program.clone()].into_iter().chain(ours).collect()
}

fn cells(figure: Option<Figure>) -> [String; 3] {
    figure.map_or_else(Default::default, |f| [f.ands, f.depth.into(), f.live as u64].map(thousands))
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

//! The page of the engines: the figures of `duologue bench`, and circuits under each protocol over lines.

mod plot;

use crate::Result;
use crate::book::{Book, Files, table};
use crate::measured::{self, Machine, Origin, millions};
use duologue_cli::conventions::{CIRCUITS, ENGINES};
use duologue_cli::{bytes, seconds, thousands};
use serde::Deserialize;
use serde_json::json;

const HEAD: &str = "\
# Engines, measured

<!-- Made by `make pages` from raw figures; do not edit. -->

How fast Yao and GMW are: alone, through whole sessions in memory, and between two processes over TCP and TLS. `duologue
bench` measures it on your machine, `--json` writes it for machines, `--as alice` and `--as bob` measure between two, and
`--circuits` takes any circuit under any protocol over any line.
";

/// The circuits of the page: combinations of some seconds each.
const CASES: &str = "bench --circuits all --lanes 1,100,10000 --link none --link lan --link internet --most 20M --runs";

/// Measures into a raw file.
pub fn measure(book: &Book, runs: u32) -> Result<()> {
    let figures = measured::duologue(&["bench", "--runs", &runs.to_string()])?;
    let few = runs.min(3).to_string();
    let circuits = measured::duologue(&CASES.split(' ').chain([&*few]).collect::<Vec<_>>())?;
    measured::save(book, "engines", &figures, json!({ "figures": figures, "circuits": circuits }))
}

/// A raw file.
#[derive(Deserialize)]
struct Raw {
    #[serde(flatten)]
    origin: Origin,
    figures: Figures,
    circuits: Circuits,
}

#[derive(Deserialize)]
struct Figures {
    #[serde(flatten)]
    machine: Machine,
    figures: Vec<Figure>,
}

#[derive(Deserialize)]
struct Figure {
    name: String,
    value: f64,
    unit: String,
    /// Over R.
    ratio: Option<f64>,
    goal: String,
    /// Over the same in memory.
    of_memory: Option<f64>,
    /// Over the lower of the engine and of the channel alone, and those in ANDs a second.
    of_possible: Option<f64>,
    engine: Option<f64>,
    channel: Option<f64>,
}

#[derive(Deserialize)]
struct Circuits {
    cases: Vec<Case>,
}

/// A circuit under a protocol, so many lanes, over a line.
#[derive(Deserialize)]
struct Case {
    circuit: String,
    protocol: String,
    lanes: u64,
    threads: u32,
    link: Option<String>,
    ands: u64,
    session_ms: f64,
    setup_ms: f64,
    online_ms: f64,
    setup_bytes: u64,
    online_bytes: u64,
    rounds: u64,
    memory: Option<u64>,
    ands_per_second: f64,
}

/// The page and its plots, from the newest raw file.
pub fn files(book: &Book) -> Result<Files> {
    let (raw, name): (Raw, _) = measured::newest(book, "engines")?;
    let mut files = plot::files(&raw.figures, &raw.circuits.cases)?;
    files.push(("engines-measured.md".into(), text(&raw, &name)));
    Ok(files)
}

fn text(raw: &Raw, name: &str) -> String {
    let head = ["figure", "value", "in R", "goal", "of memory", "of what could be", "engine", "channel"];
    let figures = table("lrrlrrrr", &head, raw.figures.figures.iter().map(Figure::row));
    let head = [
        "circuit",
        "protocol",
        "lanes",
        "threads",
        "line",
        "ANDs",
        "session",
        "setup",
        "online",
        "bytes of setup",
        "online",
        "rounds",
        "memory",
        "all",
    ];
    let cases = table("llrrlrrrrrrrrr", &head, raw.circuits.cases.iter().map(Case::row));
    let origin = measured::origin(&raw.figures.machine, &raw.origin, name);
    let plots = plot::lines(&raw.circuits.cases).iter().map(plot::Line::figure).collect::<Vec<_>>().join("\n\n");
    format!(
        "{HEAD}\n## The figures\n\n{}\n\n{figures}\n## Circuits, protocols, lanes, lines\n\n{plots}\n\n{cases}\n{CIRCUITS}\n\n\
         ## How it was measured\n\n{origin}\n\n{ENGINES}\n",
        plot::SPEEDS
    )
}

impl Figure {
    fn row(&self) -> Vec<String> {
        let part = |number: Option<f64>| number.map_or(String::new(), |number| format!("{number:.2}"));
        vec![
            self.name.clone(),
            self.amount(),
            self.ratio.map_or(String::new(), |ratio| format!("{ratio:.3} R")),
            self.goal.clone(),
            part(self.of_memory),
            part(self.of_possible),
            self.engine.map_or(String::new(), millions),
            self.channel.map_or(String::new(), millions),
        ]
    }

    fn amount(&self) -> String {
        match &*self.unit {
            "AND/s" => millions(self.value),
            "µs" | "MB" => format!("{:.0} {}", self.value, self.unit),
            unit => format!("{:.2} {unit}", self.value),
        }
    }
}

impl Case {
    fn row(&self) -> Vec<String> {
        vec![
            self.circuit.clone(),
            self.protocol.clone(),
            thousands(self.lanes),
            self.threads.to_string(),
            self.link.clone().unwrap_or_else(|| "none".into()),
            thousands(self.ands),
            seconds(self.session_ms / 1e3),
            seconds(self.setup_ms / 1e3),
            seconds(self.online_ms / 1e3),
            bytes(self.setup_bytes),
            bytes(self.online_bytes),
            self.rounds.to_string(),
            self.memory.map_or(String::new(), bytes),
            millions(self.ands_per_second),
        ]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_book_shows_the_newest_raw_figures() {
        crate::book::is_committed(files(&crate::book::committed()).expect("rendered"), "pages");
    }
}

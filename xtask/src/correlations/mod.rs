//! The page of the makers of correlations: exact bytes, the figures of `duologue bench correlations`, and what follows
//! of both for triples over lines.

mod chosen;
mod plot;
mod times;

use crate::Result;
use crate::book::{Book, Files, table};
use crate::measured::{self, Machine, Origin, millions};
use duologue::Party;
use duologue::correlation::Demand;
use duologue::ot::Extension;
use duologue_cli::conventions::CORRELATIONS;
use duologue_cli::{bytes, seconds};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use times::{COUNTS, Computing, LINES};

const HEAD: &str = "\
# Makers of correlations, measured

<!-- Made by `make pages` from raw figures; do not edit. -->

What setup costs with every maker of correlated OTs, and of the triples that are made of them: SoftSpoken with trees of
2^k leaves, *softspoken1* to *softspoken8*, and silent OT with [its sets](ot/silent.md). Bytes
are exact and follow from the parameters; speeds are those of one machine. `duologue bench correlations` measures them
on yours, `--json` writes them for machines, `--as alice` and `--as bob` measure between two.
";

/// Triples by which computed times are checked.
const SPOT: u64 = 1_000_000;

/// A check of the computed times is affordable up to so many seconds.
const AFFORDABLE: f64 = 5.0;

/// A kind of correlation that every maker makes.
#[derive(Clone, Copy)]
pub enum Kind {
    /// COTs, each party the sender of as many.
    Cots,
    /// COTs that Alice sends, and nothing else.
    OneWay,
    Triples,
}

impl Kind {
    const ALL: [Kind; 3] = [Kind::Cots, Kind::OneWay, Kind::Triples];

    fn demand(self, count: u64) -> Demand {
        match self {
            Kind::Cots => Demand::of_cots(Party::Alice, count) + Demand::of_cots(Party::Bob, count),
            Kind::OneWay => Demand::of_cots(Party::Alice, count),
            Kind::Triples => Demand::of_triples(count),
        }
    }

    /// The name of the figure.
    fn figure(self, maker: Extension) -> String {
        match self {
            Kind::Cots => maker.to_string(),
            Kind::OneWay => format!("{maker}_one_way"),
            Kind::Triples => format!("triples_{maker}"),
        }
    }
}

/// A raw file.
#[derive(Deserialize)]
struct Raw {
    #[serde(flatten)]
    origin: Origin,
    makers: Figures,
    over_lines: Vec<Spot>,
}

#[derive(Deserialize)]
pub struct Figures {
    #[serde(flatten)]
    machine: Machine,
    figures: Vec<Figure>,
}

#[derive(Deserialize)]
struct Figure {
    name: String,
    value: f64,
    /// Over R.
    ratio: Option<f64>,
    setup_ms: Option<f64>,
    memory: Option<u64>,
}

/// The seconds of a new session over a simulated line that makes one triple, then [`SPOT`].
#[derive(Serialize, Deserialize)]
struct Spot {
    /// The name in [`LINES`].
    line: String,
    maker: String,
    seconds: f64,
}

impl Figures {
    fn of(&self, name: &str) -> Result<&Figure> {
        let found = self.figures.iter().find(|figure| figure.name == name);
        found.ok_or_else(|| format!("the raw figures have no {name}: run `make correlations`").into())
    }

    /// The makers that were measured.
    pub fn makers(&self) -> impl Iterator<Item = Extension> {
        Extension::all().filter(|&maker| self.speed(maker, Kind::Triples).is_ok())
    }

    pub fn speed(&self, maker: Extension, kind: Kind) -> Result<f64> {
        Ok(self.of(&kind.figure(maker))?.value)
    }

    fn computing(&self, maker: Extension) -> Result<Computing> {
        let figure = self.of(&Kind::Triples.figure(maker))?;
        Ok(Computing { setup: figure.setup_ms.unwrap_or_default() / 1e3, speed: figure.value })
    }

    /// Seconds of a new session for so many triples.
    pub fn seconds(&self, maker: Extension, triples: u64, line: &duologue::channel::Link) -> Result<f64> {
        Ok(times::seconds(maker, self.computing(maker)?, &[triples], line))
    }
}

/// Measures into a raw file.
pub fn measure(book: &Book, runs: u32) -> Result<()> {
    let report = measured::duologue(&["bench", "correlations", "--runs", &runs.to_string()])?;
    let figures: Figures = serde_json::from_value(report.clone())?;
    let mut spots = Vec::new();
    for (line, _, link) in LINES {
        for maker in Extension::all() {
            if times::seconds(maker, figures.computing(maker)?, &[1, SPOT], &link) <= AFFORDABLE {
                let seconds = spot(maker, &link.to_string())?;
                spots.push(Spot { line: line.into(), maker: maker.to_string(), seconds });
            }
        }
    }
    measured::save(book, "correlations", &report, json!({ "makers": report, "over_lines": spots }))
}

fn spot(maker: Extension, link: &str) -> Result<f64> {
    let (name, count) = (Kind::Triples.figure(maker), SPOT.to_string());
    let flags = ["bench", "correlations", "--only", &name, "--link", link, "--count", &count, "--runs", "1"];
    let report: Value = measured::duologue(&flags)?;
    let figures: Figures = serde_json::from_value(report)?;
    let Computing { setup, speed } = figures.computing(maker)?;
    Ok(setup + times::made(maker, &[1, SPOT])[1] as f64 / speed)
}

/// The page and its plots, from the newest raw file.
pub fn files(book: &Book) -> Result<Files> {
    let (raw, name): (Raw, _) = measured::newest(book, "correlations")?;
    let mut files = plot::files(&raw.makers)?;
    files.push(("correlations-measured.md".into(), text(&raw, &name)?));
    Ok(files)
}

fn text(raw: &Raw, name: &str) -> Result<String> {
    let figures = &raw.makers;
    let head = [
        "maker",
        "bits a COT",
        "bits a triple",
        "COT/s",
        "in R",
        "one way, COT/s",
        "in R",
        "triples/s",
        "in R",
        "setup",
        "memory, COTs",
        "memory, triples",
    ];
    let makers = figures.makers().map(|maker| row(figures, maker)).collect::<Result<Vec<_>>>()?;
    let makers = table("lrrrrrrrrrrr", &head, makers);
    let [slower, both] = [figures.of("base_ot_ms")?.value, figures.of("base_ot_both_ways_ms")?.value];
    let counts = ["maker", "1 million triples", "10 million", "100 million"];
    let sent = |maker: Extension| named(maker, COUNTS.map(|count| bytes(times::sent(maker, count))));
    let traffic = table("lrrr", &counts, figures.makers().map(sent));
    let mut lines = String::new();
    for (line, file, link) in LINES {
        let times = |maker| {
            let times = COUNTS.map(|count| figures.seconds(maker, count, &link).map(seconds));
            Ok(named(maker, times.into_iter().collect::<Result<Vec<_>>>()?))
        };
        let times = figures.makers().map(times).collect::<Result<Vec<_>>>()?;
        lines += &format!("\n**{line}**\n\n{}\n\n{}", plot::times_figure(line, file), table("lrrr", &counts, times));
    }
    let (spots, origin) = (spots(raw)?, measured::origin(&figures.machine, &raw.origin, name));
    Ok(format!(
        "{HEAD}\n## Speed, traffic and memory\n\n{makers}\n{}\n\n128 base OTs, the slower party: {slower:.2} ms on one core.\n\n\
         base OTs of a new session, both ways: {both:.2} ms on one core.\n\n{TRIPLES}\n{traffic}\n{COMPUTED}{lines}\n{CHECKED}\n{spots}\n{}\n\
         ## How it was measured\n\n{origin}\n\n{SESSIONS}\n\n{CORRELATIONS}\n",
        plot::SPEEDS,
        chosen::section()
    ))
}

const TRIPLES: &str = "\
## Triples over a line

A new session makes triples alone. Bytes of the party that sends more, with the base OTs and the bootstrap:
";
const COMPUTED: &str = "\
Seconds, computed: every message takes its place on the line one after another, and the computing is added as it
was measured without a line; SoftSpoken computes a batch while it sends the one before, so of sending and computing the
longer counts.
";
const CHECKED: &str = "\
Computed and measured over a simulated line, where that takes seconds: a new session makes one triple, then a
million.
";
const SESSIONS: &str = "\
Two processes that stay on a core each, TCP over loopback without encryption; each run of a figure is a session of its
own, at whose end both parties show each other 2^14 of the last correlations and check them.";

fn named(maker: Extension, cells: impl IntoIterator<Item = String>) -> Vec<String> {
    [maker.to_string()].into_iter().chain(cells).collect()
}

/// The bits come first: they do not depend on the machine.
fn row(figures: &Figures, maker: Extension) -> Result<Vec<String>> {
    let exact = [Kind::Cots, Kind::Triples].map(|kind| format!("{:.2}", times::bits(maker, kind)));
    let mut cells = named(maker, exact);
    for kind in Kind::ALL {
        let figure = figures.of(&kind.figure(maker))?;
        cells.extend([millions(figure.value), figure.ratio.map_or("–".into(), |ratio| format!("{ratio:.3}"))]);
    }
    cells.push(seconds(figures.computing(maker)?.setup));
    for kind in [Kind::Cots, Kind::Triples] {
        cells.push(figures.of(&kind.figure(maker))?.memory.map_or("–".into(), bytes));
    }
    Ok(cells)
}

/// Computed times beside measured ones.
fn spots(raw: &Raw) -> Result<String> {
    let row = |spot: &Spot| {
        let maker: Extension = spot.maker.parse()?;
        let line = LINES.iter().find(|(name, ..)| *name == spot.line).ok_or("a line that the page does not have")?;
        let computed = times::seconds(maker, raw.makers.computing(maker)?, &[1, SPOT], &line.2);
        Ok(vec![spot.line.clone(), spot.maker.clone(), seconds(computed), seconds(spot.seconds)])
    };
    let rows = raw.over_lines.iter().map(row).collect::<Result<Vec<_>>>()?;
    Ok(table("llrr", &["line", "maker", "computed", "measured"], rows))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_book_shows_the_newest_raw_figures_and_exact_bytes() {
        crate::book::is_committed(files(&crate::book::committed()).expect("rendered"), "pages");
    }
}

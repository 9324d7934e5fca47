//! Bits against speed of every maker, and the time for triples over each line.

use super::times::{self, COUNTS, LINES};
use super::{Figures, Kind};
use crate::Result;
use crate::book::Files;
use crate::plot::{self, BLUE, GREEN, Label, Named, ORANGE, Row, Series, Shape};
use duologue::channel::Link;
use duologue::ot::Extension;

/// The plots of speeds, as the page shows them.
pub const SPEEDS: &str = "\
![Bits a COT against COTs a second of every maker](plots/correlations-cots.svg)

![Bits a triple against triples a second of every maker](plots/correlations-triples.svg)";

const MAKERS: [Series; 2] = [
    Series { name: "SoftSpoken, each with its k", color: BLUE, shape: Shape::Circle },
    Series { name: "silent OT, each with its set", color: ORANGE, shape: Shape::Circle },
];

const TRIPLES: [Series; 3] = [
    Series { name: "1 million triples", color: BLUE, shape: Shape::Ring },
    Series { name: "10 million", color: GREEN, shape: Shape::Circle },
    Series { name: "100 million", color: ORANGE, shape: Shape::Circle },
];

/// All plots of the page.
pub fn files(figures: &Figures) -> Result<Files> {
    let mut files = vec![
        (
            "plots/correlations-cots.svg".into(),
            speeds(figures, Kind::Cots, "COTs a second", "bits a COT, both directions together")?,
        ),
        (
            "plots/correlations-triples.svg".into(),
            speeds(figures, Kind::Triples, "triples a second", "bits a triple, both directions together")?,
        ),
    ];
    for (_, file, link) in LINES {
        files.push((times_file(file), times(figures, &link)?));
    }
    Ok(files)
}

fn speeds(figures: &Figures, kind: Kind, left: &str, below: &str) -> Result<String> {
    let left = Label { name: left, number: plot::short };
    let below = Label { name: below, number: |bits| bits.to_string() };
    let point = |maker: Extension| {
        let (series, name) = match maker {
            Extension::SoftSpoken { k } => (0, k.to_string()),
            Extension::Silent(set) => (1, set.to_string()),
        };
        Ok(Named { series, name, at: (times::bits(maker, kind), figures.speed(maker, kind)?), aside: (0, -14) })
    };
    plot::scatter(340, [left, below], &MAKERS, &figures.makers().map(point).collect::<Result<Vec<_>>>()?)
}

fn times_file(line: &str) -> String {
    format!("plots/correlations-times-{line}.svg")
}

/// The plot of a line, as the page shows it.
pub fn times_figure(line: &str, file: &str) -> String {
    format!("![Seconds for triples by every maker, {line}]({})", times_file(file))
}

fn times(figures: &Figures, link: &Link) -> Result<String> {
    let row = |maker: Extension| {
        let dot = |(series, count)| {
            let seconds = figures.seconds(maker, count, link)?;
            Ok((series, seconds, String::new()))
        };
        let dots = COUNTS.into_iter().enumerate().map(dot).collect::<Result<Vec<_>>>()?;
        Ok(Row { name: maker.to_string(), dots })
    };
    let rows = figures.makers().map(row).collect::<Result<Vec<_>>>()?;
    plot::rows(Label { name: "time of a new session, computed", number: plot::time }, &TRIPLES, &rows, None)
}

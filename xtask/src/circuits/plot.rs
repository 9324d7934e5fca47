//! ANDs and depth of ours in parts of the published figures, a plot for each kind of circuit.

use super::Compared;
use crate::Result;
use crate::book::Files;
use crate::plot::{self, Axis, BLUE, GREY, Label, ORANGE, Series, Shape};
use duologue_cli::library::Figure;
use plotters::prelude::*;

/// The kinds of circuits, each with the beginning of its programs' names.
const KINDS: [(&str, &str); 3] = [
    ("Integers", "circuits-integers"),
    ("Floating point", "circuits-floats"),
    ("Applications", "circuits-applications"),
];

const SIZE: Series = Series { name: "our fewest ANDs", color: BLUE, shape: Shape::Circle };
const DEPTH: Series = Series { name: "our least depth", color: ORANGE, shape: Shape::Triangle };
const THEIRS: Series = Series { name: "published", color: BLACK, shape: Shape::Cross };
const NO_WORSE: Series = Series { name: "no worse in both", color: RGBColor(232, 240, 250), shape: Shape::Area };

fn kind(one: &Compared) -> usize {
    match &*one.ours.program {
        program if program.starts_with("app:") => 2,
        program if program.starts_with("block:fp_") => 1,
        _ => 0,
    }
}

fn file(name: &str) -> String {
    format!("plots/{name}.svg")
}

/// The plots as the page shows them.
pub fn figures() -> String {
    let figure =
        |(kind, name): (&str, &str)| format!("![{kind}: ours in parts of the published figures]({})\n", file(name));
    let intro = "In parts of the published figure; a line joins both circuits of ours for one of theirs.\n";
    KINDS
        .map(|kind| format!("\n**{}**\n\n{}", kind.0, figure(kind)))
        .into_iter()
        .fold(intro.to_string(), |text, figure| text + &figure)
}

/// The plots of all kinds.
pub fn files(compared: &[Compared]) -> Result<Files> {
    let plots = KINDS.iter().enumerate().map(|(which, (_, name))| {
        let pairs: Vec<_> = compared.iter().filter(|one| kind(one) == which).filter_map(pair).collect();
        Ok((file(name), draw(&pairs)?))
    });
    plots.collect()
}

/// Where both circuits of ours lie.
type Pair = [(f64, f64); 2];

fn pair(one: &Compared) -> Option<Pair> {
    let (size, depth) = (one.ours.size.or(one.ours.depth)?, one.ours.depth.or(one.ours.size)?);
    let parts = |ours: Figure| {
        let theirs = &one.theirs;
        (ours.ands as f64 / theirs.ands as f64, f64::from(ours.depth) / f64::from(theirs.depth))
    };
    Some([parts(size), parts(depth)])
}

fn draw(pairs: &[Pair]) -> Result<String> {
    let x = Axis::around(pairs.iter().flatten().map(|at| at.0).chain([1.0]));
    let y = Axis::around(pairs.iter().flatten().map(|at| at.1).chain([1.0]));
    plot::svg(420, &[SIZE, DEPTH, THEIRS, NO_WORSE], "", |area| {
        let left = Label { name: "depth, in parts", number: |part| part.to_string() };
        let below = Label { name: "ANDs, in parts of the published figure", number: |part| part.to_string() };
        let mut chart = plot::chart(area, [&x, &y], [left, below])?;
        chart.draw_series([Rectangle::new([(x.start(), y.start()), (1.0, 1.0)], NO_WORSE.color.filled())])?;
        chart.draw_series(pairs.iter().map(|pair| PathElement::new(pair.to_vec(), GREY.mix(0.6))))?;
        let base = area.get_base_pixel();
        let at = |place| {
            let (x, y) = chart.backend_coord(&place);
            (x - base.0, y - base.1)
        };
        pairs.iter().try_for_each(|[size, _]| plot::point(area, &SIZE, at(*size)))?;
        pairs.iter().try_for_each(|[_, depth]| plot::point(area, &DEPTH, at(*depth)))?;
        plot::point(area, &THEIRS, at((1.0, 1.0)))
    })
}

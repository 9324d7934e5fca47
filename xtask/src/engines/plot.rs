//! The speeds of the engines, and for each line the time of circuits against lanes.

use super::{Case, Figures};
use crate::Result;
use crate::book::Files;
use crate::measured::millions;
use crate::plot::{self, Area, Axis, BLUE, GREEN, Label, ORANGE, Row, Series, Shape};
use duologue::channel::Link;
use plotters::prelude::*;
use plotters::style::text_anchor::HPos;

const PROTOCOLS: [Series; 3] = [
    Series { name: "Yao", color: BLUE, shape: Shape::Circle },
    Series { name: "GMW", color: ORANGE, shape: Shape::Circle },
    Series { name: "masked GMW", color: GREEN, shape: Shape::Circle },
];

/// The plot of the speeds, as the page shows it.
pub const SPEEDS: &str = "![ANDs a second of each figure; the dashed line is R](plots/engines-speeds.svg)";

/// All plots of the page.
pub fn files(figures: &Figures, cases: &[Case]) -> Result<Files> {
    let mut files = vec![("plots/engines-speeds.svg".to_string(), speeds(figures)?)];
    for line in lines(cases) {
        files.push((line.file(), line.plot(cases)?));
    }
    Ok(files)
}

/// The place in [`PROTOCOLS`] of whatever begins with a protocol's name.
fn protocol(name: &str) -> usize {
    usize::from(name.starts_with("gmw")) + usize::from(name.starts_with("gmw-masked"))
}

fn speeds(figures: &Figures) -> Result<String> {
    let speeds = figures.figures.iter().filter(|figure| figure.unit == "AND/s");
    let row = |figure: &super::Figure| Row {
        name: figure.name.clone(),
        dots: vec![(protocol(&figure.name), figure.value, millions(figure.value))],
    };
    let rows: Vec<Row> = speeds.map(row).collect();
    let blocks = figures.machine.openssl_blocks_per_second.map(|blocks| (blocks, format!("R, {}", millions(blocks))));
    plot::rows(Label { name: "ANDs a second", number: plot::short }, &PROTOCOLS[..2], &rows, blocks)
}

/// A line between the parties; none is the loopback of one machine.
pub struct Line {
    link: Option<String>,
}

/// The lines of some cases, each once, in their order.
pub fn lines(cases: &[Case]) -> Vec<Line> {
    let mut lines: Vec<Line> = Vec::new();
    for case in cases {
        if lines.iter().all(|line| line.link != case.link) {
            lines.push(Line { link: case.link.clone() });
        }
    }
    lines
}

impl Line {
    fn name(&self) -> String {
        let known = [("lan", Link::LAN), ("internet", Link::INTERNET), ("transatlantic", Link::TRANSATLANTIC)];
        let Some(link) = &self.link else { return "loopback".into() };
        let name = known
            .iter()
            .find(|(_, known)| link.parse().is_ok_and(|link: Link| link == *known))
            .map(|(name, _)| name.to_string());
        name.unwrap_or_else(|| link.replace(',', "-"))
    }

    fn file(&self) -> String {
        format!("plots/engines-{}.svg", self.name())
    }

    /// The plot as the page shows it.
    pub fn figure(&self) -> String {
        let line = self.link.as_ref().map_or("no simulated line".into(), |link| format!("a line of {link}"));
        let name = self.name();
        format!("**{name}**, {line}:\n\n![Time of setup and online against lanes, {name}]({})", self.file())
    }

    /// A panel for each circuit, all with the same axes.
    fn plot(&self, cases: &[Case]) -> Result<String> {
        const ACROSS: usize = 3;
        const PANEL: u32 = 190;
        let cases: Vec<&Case> = cases.iter().filter(|case| case.link == self.link).collect();
        let mut circuits: Vec<&str> = Vec::new();
        for case in &cases {
            if !circuits.contains(&&*case.circuit) {
                circuits.push(&case.circuit);
            }
        }
        let x = Axis::around(cases.iter().map(|case| case.lanes as f64));
        let y = Axis::around(cases.iter().map(|case| seconds(case)));
        let down = circuits.len().div_ceil(ACROSS);
        plot::svg(34 + PANEL * down as u32, &PROTOCOLS, "time of setup and online, against lanes", |area| {
            for (panel, circuit) in area.split_evenly((down, ACROSS)).iter().zip(&circuits) {
                let own: Vec<&Case> = cases.iter().copied().filter(|case| case.circuit == *circuit).collect();
                draw(panel, circuit, &own, [&x, &y])?;
            }
            Ok(())
        })
    }
}

/// Seconds of setup and online together.
fn seconds(case: &Case) -> f64 {
    (case.setup_ms + case.online_ms) / 1e3
}

fn draw(panel: &Area<'_>, circuit: &str, cases: &[&Case], axes: [&Axis; 2]) -> Result<()> {
    let (upper, lower) = panel.split_vertically(18);
    let middle = (panel.dim_in_pixel().0 as i32 / 2 + 26, 10);
    upper.draw(&Text::new(circuit.to_string(), middle, plot::text(&BLACK, HPos::Center)))?;
    let labels = [plot::time, plot::short].map(|number| Label { name: "", number });
    let mut chart = plot::chart(&lower, axes, labels)?;
    for (which, series) in PROTOCOLS.iter().enumerate() {
        let own = cases.iter().filter(|case| protocol(&case.protocol) == which);
        let points: Vec<(f64, f64)> = own.map(|case| (case.lanes as f64, seconds(case))).collect();
        chart.draw_series(LineSeries::new(points.iter().copied(), series.color.stroke_width(2)))?;
        chart.draw_series(points.iter().map(|at| Circle::new(*at, 3, series.color.filled())))?;
    }
    Ok(())
}

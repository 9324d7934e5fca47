//! Speed against cores, a panel for each program.

use super::{PLOTTED, Simulated};
use crate::Result;
use crate::plot::{self, Area, Axis, BLUE, GREEN, GREY, Label, ORANGE, Series, Shape};
use duologue_cli::grain::Speedup;
use plotters::prelude::*;
use plotters::style::text_anchor::HPos;

/// The plot, as the page shows it.
pub const FIGURE: &str = "![How many times as fast as one core, against cores](plots/grain.svg)";

const WAYS: [Series; 4] = [
    Series { name: "bound", color: GREY, shape: Shape::Circle },
    Series { name: "both", color: GREEN, shape: Shape::Circle },
    Series { name: "coarse grain", color: BLUE, shape: Shape::Circle },
    Series { name: "fine grain", color: ORANGE, shape: Shape::Circle },
];

fn of(speedup: &Speedup) -> [f64; 4] {
    [speedup.bound, speedup.both, speedup.coarse, speedup.fine]
}

pub fn speedups(programs: &[Simulated]) -> Result<String> {
    const ACROSS: usize = 2;
    const PANEL: u32 = 200;
    let axis = || Axis::around([1.0, 1024.0]);
    let down = programs.len().div_ceil(ACROSS);
    plot::svg(34 + PANEL * down as u32, &WAYS, "times as fast as one core, against cores", |area| {
        let panels = area.split_evenly((down, ACROSS));
        panels.iter().zip(programs).try_for_each(|(panel, program)| draw(panel, program, [&axis(), &axis()]))
    })
}

fn draw(panel: &Area<'_>, program: &Simulated, axes: [&Axis; 2]) -> Result<()> {
    let (upper, lower) = panel.split_vertically(18);
    let middle = (panel.dim_in_pixel().0 as i32 / 2 + 26, 10);
    upper.draw(&Text::new(program.name.to_string(), middle, plot::text(&BLACK, HPos::Center)))?;
    let labels = [plot::short; 2].map(|number| Label { name: "", number });
    let mut chart = plot::chart(&lower, axes, labels)?;
    let points = PLOTTED.map(|cores| (f64::from(cores), of(&program.on(cores))));
    for (way, series) in WAYS.iter().enumerate() {
        let own = points.map(|(cores, speeds)| (cores, speeds[way]));
        chart.draw_series(LineSeries::new(own, series.color.stroke_width(2)))?;
        chart.draw_series(own.map(|at| Circle::new(at, 3, series.color.filled())))?;
    }
    Ok(())
}

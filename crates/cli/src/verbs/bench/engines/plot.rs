//! The speeds of the engines, and the time of circuits against lanes over each line, on logarithmic axes.

use super::matrix::{self, Matrix};
use super::report::{self, EngineReport, millions};
use crate::verbs::bench::machine::decades;
use plotters::coord::Shift;
use plotters::prelude::*;
use std::error::Error;

const WIDTH: u32 = 960;
/// Heights of a bar and of a panel.
const BAR: u32 = 26;
const PANEL: u32 = 420;
/// The colours of Yao, of GMW and of masked GMW.
const COLORS: [RGBColor; 3] = [RGBColor(31, 119, 180), RGBColor(214, 90, 20), RGBColor(44, 140, 60)];
const LABEL: (&str, i32) = ("sans-serif", 13);

type Area<'a> = DrawingArea<SVGBackend<'a>, Shift>;

fn color(name: &str) -> RGBColor {
    COLORS[usize::from(name.starts_with("gmw")) + usize::from(name.starts_with("gmw-masked"))]
}

/// An SVG with both.
pub fn draw(report: &EngineReport, matrix: &Matrix) -> Result<String, Box<dyn Error>> {
    let speeds: Vec<&report::FigureRow> = report.figures.iter().filter(|line| line.unit == "AND/s").collect();
    let upper = BAR * speeds.len() as u32 + 96;
    let mut svg = String::new();
    {
        let area = SVGBackend::with_string(&mut svg, (WIDTH, upper + PANEL)).into_drawing_area();
        area.fill(&WHITE)?;
        let (upper, lower) = area.split_vertically(upper);
        draw_speeds(&upper, &speeds, report.machine.openssl_blocks_per_second)?;
        let mut links: Vec<&Option<String>> = matrix.cases.iter().map(|line| &line.link).collect();
        links.dedup();
        links.sort();
        links.dedup();
        for (panel, link) in lower.split_evenly((1, links.len().max(1))).iter().zip(links) {
            draw_times(panel, link, matrix)?;
        }
        area.present()?;
    }
    Ok(svg)
}

/// A bar for each figure, and a line for R.
fn draw_speeds(area: &Area<'_>, speeds: &[&report::FigureRow], blocks: Option<f64>) -> Result<(), Box<dyn Error>> {
    let x = decades(speeds.iter().map(|line| line.value).chain(blocks));
    let rows = speeds.len() as f64;
    let mut chart = ChartBuilder::on(area)
        .margin(16)
        .x_label_area_size(44)
        .y_label_area_size(8)
        .build_cartesian_2d(x.clone().log_scale(), rows..0.0)?;
    chart
        .configure_mesh()
        .disable_y_mesh()
        .disable_y_axis()
        .x_desc("ANDs a second; the dashed line is R")
        .x_label_formatter(&|x| format!("{x:e}"))
        .draw()?;
    for (row, line) in speeds.iter().enumerate() {
        let (top, color) = (row as f64 + 0.15, color(line.name));
        chart.draw_series([Rectangle::new([(x.start, top), (line.value, top + 0.7)], color.mix(0.5).filled())])?;
        let label = format!("{} {}", line.name, millions(line.value));
        chart.draw_series([EmptyElement::at((x.start, top)) + Text::new(label, (6, 3), LABEL)])?;
    }
    if let Some(blocks) = blocks {
        chart.draw_series(DashedLineSeries::new([(blocks, 0.0), (blocks, rows)], 4, 4, BLACK.stroke_width(1)))?;
    }
    Ok(())
}

/// Setup and online together, a curve for each circuit and protocol.
fn draw_times(area: &Area<'_>, link: &Option<String>, matrix: &Matrix) -> Result<(), Box<dyn Error>> {
    let lines: Vec<&matrix::CaseRow> = matrix.cases.iter().filter(|line| line.link == *link).collect();
    let seconds = |line: &matrix::CaseRow| (line.setup_ms + line.online_ms) / 1e3;
    let (x, y) = (decades(lines.iter().map(|line| line.lanes as f64)), decades(lines.iter().map(|line| seconds(line))));
    // Room for the names.
    let x = x.start..10.0 * x.end;
    let caption = format!("line: {}", link.as_deref().unwrap_or("loopback"));
    let mut chart = ChartBuilder::on(area)
        .caption(caption, LABEL)
        .margin(8)
        .x_label_area_size(40)
        .y_label_area_size(52)
        .build_cartesian_2d(x.log_scale(), y.log_scale())?;
    chart
        .configure_mesh()
        .x_desc("lanes (blue: Yao, orange: GMW, green: masked GMW)")
        .y_desc("seconds, setup and online")
        .x_labels(4)
        .x_label_formatter(&|x| x.to_string())
        .y_label_formatter(&|y| y.to_string())
        .draw()?;
    let mut curves: Vec<(&str, &str)> = lines.iter().map(|line| (&*line.circuit, &*line.protocol)).collect();
    curves.dedup();
    curves.sort();
    curves.dedup();
    for (circuit, protocol) in curves {
        let own = lines.iter().filter(|line| (&*line.circuit, &*line.protocol) == (circuit, protocol));
        let points: Vec<(f64, f64)> = own.map(|line| (line.lanes as f64, seconds(line))).collect();
        let color = color(protocol);
        chart.draw_series(LineSeries::new(points.iter().copied(), color.stroke_width(1)))?;
        let label = Text::new(circuit.to_string(), (4, -6), LABEL.into_font().color(&color));
        chart.draw_series(points.last().map(|&last| EmptyElement::at(last) + label))?;
    }
    Ok(())
}

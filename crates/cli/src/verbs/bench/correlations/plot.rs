//! Bytes against speed of every maker, and the time for triples over three lines, on logarithmic axes.

use super::figures::Kind;
use super::makers::{Maker, triples};
use super::times::{self, COUNTS, LINES};
use crate::verbs::bench::machine::decades;
use plotters::coord::Shift;
use plotters::prelude::*;
use std::error::Error;

const SIZE: (u32, u32) = (960, 1000);
const UPPER: i32 = 560;
/// The colours of SoftSpoken and of silent makers.
const COLORS: [RGBColor; 2] = [RGBColor(31, 119, 180), RGBColor(214, 90, 20)];
const LABEL: (&str, i32) = ("sans-serif", 13);

type Area<'a> = DrawingArea<SVGBackend<'a>, Shift>;

/// An SVG with both.
pub fn draw(makers: &[Maker<'_>]) -> Result<String, Box<dyn Error>> {
    let mut svg = String::new();
    {
        let area = SVGBackend::with_string(&mut svg, SIZE).into_drawing_area();
        area.fill(&WHITE)?;
        let (upper, lower) = area.split_vertically(UPPER);
        draw_speeds(&upper, makers)?;
        for (panel, (name, line)) in lower.split_evenly((1, LINES.len())).iter().zip(LINES) {
            let curve = |(maker, measured)| {
                let points = COUNTS.map(|count| (count as f64, times::seconds(maker, measured, &[count], &line)));
                (maker.to_string(), points)
            };
            let curves: Vec<Curve> = triples(makers).into_iter().map(curve).filter(is_drawn).collect();
            draw_times(panel, name, &curves)?;
        }
        area.present()?;
    }
    Ok(svg)
}

fn color(maker: &str) -> RGBColor {
    COLORS[usize::from(maker.starts_with("silent"))]
}

/// Circles are COTs of both directions, triangles are triples.
fn draw_speeds(area: &Area<'_>, makers: &[Maker<'_>]) -> Result<(), Box<dyn Error>> {
    let point = |kind: Kind| {
        move |(maker, kinds): &Maker<'_>| {
            (maker.to_string(), (times::bits(*maker, kind) / 8.0, kinds[kind as usize].0.value))
        }
    };
    let [cots, triples] = [Kind::Cots, Kind::Triples].map(|kind| makers.iter().map(point(kind)).collect::<Vec<_>>());
    let all = || cots.iter().chain(&triples).map(|(_, point)| *point);
    let (x, y) = (decades(all().map(|(x, _)| x)), decades(all().map(|(_, y)| y)));
    let mut chart = ChartBuilder::on(area)
        .margin(16)
        .x_label_area_size(48)
        .y_label_area_size(72)
        .build_cartesian_2d(x.log_scale(), y.log_scale())?;
    chart
        .configure_mesh()
        .x_desc("bytes a correlation, both directions together (circles: COTs, triangles: triples)")
        .y_desc("correlations a second")
        .x_label_formatter(&plain)
        .y_label_formatter(&|y| format!("{y:e}"))
        .draw()?;
    chart.draw_series(cots.iter().map(|(maker, at)| Circle::new(*at, 4, color(maker).filled())))?;
    chart.draw_series(triples.iter().map(|(maker, at)| TriangleMarker::new(*at, 6, color(maker).filled())))?;
    let labels = cots.iter().chain(&triples);
    chart.draw_series(labels.map(|(maker, at)| {
        EmptyElement::at(*at) + Text::new(maker.clone(), (7, -5), LABEL.into_font().color(&color(maker)))
    }))?;
    Ok(())
}

/// A maker and the seconds for each number of triples.
type Curve = (String, [(f64, f64); COUNTS.len()]);

/// Some are enough to see.
fn is_drawn((maker, _): &Curve) -> bool {
    !["softspoken3", "softspoken5", "softspoken6", "softspoken7"].contains(&&**maker)
}

fn draw_times(area: &Area<'_>, line: &str, curves: &[Curve]) -> Result<(), Box<dyn Error>> {
    let y = decades(curves.iter().flat_map(|(_, points)| points.map(|(_, seconds)| seconds)));
    let mut chart = ChartBuilder::on(area)
        .caption(line, LABEL)
        .margin(8)
        .x_label_area_size(40)
        .y_label_area_size(48)
        .build_cartesian_2d((1e6f64..1e9).log_scale(), y.log_scale())?;
    chart
        .configure_mesh()
        .x_desc("triples")
        .y_desc("seconds")
        .x_labels(4)
        .x_label_formatter(&|x| format!("{x:e}"))
        .y_label_formatter(&plain)
        .draw()?;
    for (maker, points) in curves {
        let color = color(maker);
        chart.draw_series(LineSeries::new(*points, color.stroke_width(1)))?;
        let label = Text::new(maker.clone(), (4, -6), LABEL.into_font().color(&color));
        chart.draw_series([EmptyElement::at(points[COUNTS.len() - 1]) + label])?;
    }
    Ok(())
}

fn plain(number: &f64) -> String {
    number.to_string()
}

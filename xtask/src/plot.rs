//! Plots of the book: SVGs as wide as a page of it, of one thing each, with a legend above and logarithmic axes.

use crate::Result;
use plotters::coord::Shift;
use plotters::coord::combinators::{BindKeyPoints, WithKeyPoints};
use plotters::coord::types::RangedCoordf64;
use plotters::element::DashedPathElement;
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};
use std::ops::Range;

pub type Area<'a> = DrawingArea<SVGBackend<'a>, Shift>;
pub type Chart<'a, 'b> =
    ChartContext<'a, SVGBackend<'b>, Cartesian2d<WithKeyPoints<LogCoord<f64>>, WithKeyPoints<LogCoord<f64>>>>;

/// The width of a page of the book, in pixels.
const WIDTH: u32 = 750;
/// The height of the legend.
const LEGEND: i32 = 34;
pub const FONT: (&str, i32) = ("sans-serif", 13);

/// Colours that people tell apart who see red and green alike.
pub const BLUE: RGBColor = RGBColor(31, 119, 180);
pub const ORANGE: RGBColor = RGBColor(214, 90, 20);
pub const GREEN: RGBColor = RGBColor(0, 140, 100);
pub const GREY: RGBColor = RGBColor(110, 110, 110);

/// The shape of a point.
#[derive(Clone, Copy, PartialEq)]
pub enum Shape {
    Circle,
    /// Around a circle of another series at one place.
    Ring,
    Triangle,
    Cross,
    /// Of a legend: a patch of the colour.
    Area,
}

/// A line of the legend: what a shape of a colour stands for.
#[derive(Clone, Copy)]
pub struct Series {
    pub name: &'static str,
    pub color: RGBColor,
    pub shape: Shape,
}

/// An SVG with a legend and a remark on the axes, and what `draw` draws below them.
pub fn svg(height: u32, legend: &[Series], remark: &str, draw: impl FnOnce(&Area<'_>) -> Result<()>) -> Result<String> {
    let mut svg = String::new();
    {
        let area = SVGBackend::with_string(&mut svg, (WIDTH, height)).into_drawing_area();
        area.fill(&WHITE)?;
        let (upper, lower) = area.split_vertically(LEGEND);
        let mut x = 16;
        for series in legend {
            point(&upper, series, (x, LEGEND / 2))?;
            upper.draw(&Text::new(series.name, (x + 12, LEGEND / 2), text(&BLACK, HPos::Left)))?;
            x += 40 + 7 * series.name.chars().count() as i32;
        }
        upper.draw(&Text::new(remark.to_string(), (WIDTH as i32 - 16, LEGEND / 2), text(&GREY, HPos::Right)))?;
        draw(&lower)?;
        area.present()?;
    }
    Ok(svg)
}

/// A style of text beside a point: at its height, to one side.
pub fn text(color: &RGBColor, side: HPos) -> TextStyle<'static> {
    FONT.into_font().color(color).pos(Pos::new(side, VPos::Center))
}

/// Draws a point of a series at a pixel.
pub fn point(area: &Area<'_>, series: &Series, at: (i32, i32)) -> Result<()> {
    let fill = series.color.filled();
    match series.shape {
        Shape::Circle => area.draw(&Circle::new(at, 4, fill))?,
        Shape::Ring => area.draw(&Circle::new(at, 7, series.color.stroke_width(2)))?,
        Shape::Triangle => area.draw(&TriangleMarker::new(at, 6, fill))?,
        Shape::Cross => area.draw(&Cross::new(at, 5, series.color.stroke_width(2)))?,
        Shape::Area => area.draw(&Rectangle::new([(at.0 - 8, at.1 - 6), (at.0 + 8, at.1 + 6)], fill))?,
    }
    Ok(())
}

/// A logarithmic axis around some numbers, from and to a 1, 2 or 5, and the numbers at its lines.
pub struct Axis {
    range: Range<f64>,
    ticks: Vec<f64>,
}

impl Axis {
    pub fn around(numbers: impl IntoIterator<Item = f64>) -> Axis {
        let (least, most) = numbers.into_iter().fold((f64::INFINITY, 0f64), |(a, b), x| (a.min(x), b.max(x)));
        let steps: Vec<f64> = (-12..13).flat_map(|power| [1.0, 2.0, 5.0].map(|digit| decimal(digit, power))).collect();
        let from = steps.iter().rposition(|step| *step <= least * 0.95).unwrap_or(0);
        let to = steps.iter().position(|step| *step >= most * 1.05).unwrap_or(steps.len() - 1);
        let steps = &steps[from..=to];
        let ticks = match steps.len() {
            0..=7 => steps.to_vec(),
            _ => steps.iter().copied().filter(|step| is_power(*step)).collect(),
        };
        Axis { range: steps[0]..steps[steps.len() - 1], ticks }
    }

    /// More room to the right.
    pub fn wider(self, times: f64) -> Axis {
        Axis { range: self.range.start..self.range.end * times, ..self }
    }

    pub fn start(&self) -> f64 {
        self.range.start
    }

    fn coordinates(&self) -> WithKeyPoints<LogCoord<f64>> {
        self.range.clone().log_scale().with_key_points(self.ticks.clone())
    }
}

/// As written, so that it has no error of a power that was multiplied up.
fn decimal(digit: f64, power: i32) -> f64 {
    format!("{digit}e{power}").parse().unwrap_or(f64::NAN)
}

fn is_power(number: f64) -> bool {
    format!("{number:e}").starts_with("1e")
}

/// How an axis is named, and the numbers at its lines.
#[derive(Clone, Copy)]
pub struct Label<'a> {
    pub name: &'a str,
    pub number: fn(f64) -> String,
}

/// Two axes on an area; an axis without a name takes less room.
pub fn chart<'a, 'b>(area: &'a Area<'b>, [x, y]: [&Axis; 2], [left, below]: [Label<'_>; 2]) -> Result<Chart<'a, 'b>> {
    let room = |label: Label<'_>, pixels| if label.name.is_empty() { 0 } else { pixels };
    let mut chart = ChartBuilder::on(area)
        .margin_left(10)
        .margin_right(16)
        .margin_bottom(4)
        .x_label_area_size(24 + room(below, 20))
        .y_label_area_size(58 + room(left, 28))
        .build_cartesian_2d(x.coordinates(), y.coordinates())?;
    chart
        .configure_mesh()
        .light_line_style(TRANSPARENT)
        .bold_line_style(BLACK.mix(0.12))
        .label_style(FONT)
        .axis_desc_style(FONT)
        .x_desc(below.name)
        .y_desc(left.name)
        .x_label_formatter(&|number| (below.number)(*number))
        .y_label_formatter(&|number| (left.number)(*number))
        .draw()?;
    Ok(chart)
}

/// A row of a plot: its name, and values of series with a text to the right of each.
pub struct Row {
    pub name: String,
    pub dots: Vec<(usize, f64, String)>,
}

/// Points in rows over a logarithmic axis, and a dashed line at a number.
pub fn rows(below: Label<'_>, series: &[Series], rows: &[Row], dashed: Option<(f64, String)>) -> Result<String> {
    const ROW: i32 = 26;
    const NAMES: i32 = 170;
    let values = rows.iter().flat_map(|row| row.dots.iter().map(|(_, value, _)| *value));
    let x = Axis::around(values.chain(dashed.iter().map(|(value, _)| *value))).wider(2.5);
    let height = ROW * rows.len() as i32;
    svg((LEGEND + 20 + height + 50) as u32, series, "", |area| {
        let y: RangedCoordf64 = (rows.len() as f64..0.0).into();
        let mut chart = ChartBuilder::on(area)
            .margin_top(20)
            .margin_right(16)
            .x_label_area_size(44)
            .y_label_area_size(NAMES)
            .build_cartesian_2d(x.coordinates(), y)?;
        let number = |x: &f64| (below.number)(*x);
        chart
            .configure_mesh()
            .light_line_style(TRANSPARENT)
            .bold_line_style(BLACK.mix(0.12))
            .disable_y_mesh()
            .y_labels(0)
            .label_style(FONT)
            .axis_desc_style(FONT)
            .x_desc(below.name)
            .x_label_formatter(&number)
            .draw()?;
        if let Some((value, name)) = &dashed {
            let ends = [(*value, 0.0), (*value, rows.len() as f64)];
            chart.draw_series([DashedPathElement::new(ends, 5, 4, GREY.stroke_width(1))])?;
            let (x, y) = chart.backend_coord(&(*value, 0.0));
            let top = area.get_base_pixel();
            area.draw(&Text::new(name.clone(), (x - top.0, y - top.1 - 10), text(&GREY, HPos::Center)))?;
        }
        for (place, row) in rows.iter().enumerate() {
            let at = |value| {
                let ((x, y), base) = (chart.backend_coord(&(value, place as f64 + 0.5)), area.get_base_pixel());
                (x - base.0, y - base.1)
            };
            let y = at(x.range.start).1;
            area.draw(&Text::new(row.name.clone(), (NAMES - 10, y), text(&BLACK, HPos::Right)))?;
            for (which, value, label) in &row.dots {
                let series = &series[*which];
                point(area, series, at(*value))?;
                area.draw(&Text::new(label.clone(), (at(*value).0 + 9, y), text(&series.color, HPos::Left)))?;
            }
        }
        Ok(())
    })
}

/// A point of a scatter plot: of which series, where, its name, and where that stands from it, in pixels.
pub struct Named {
    pub series: usize,
    pub at: (f64, f64),
    pub name: String,
    pub aside: (i32, i32),
}

/// Named points over two logarithmic axes.
pub fn scatter(height: u32, labels: [Label<'_>; 2], series: &[Series], points: &[Named]) -> Result<String> {
    let x = Axis::around(points.iter().map(|point| point.at.0));
    let y = Axis::around(points.iter().map(|point| point.at.1));
    svg(height, series, "", |area| {
        let chart = chart(area, [&x, &y], labels)?;
        let base = area.get_base_pixel();
        for named in points {
            let (x, y) = chart.backend_coord(&named.at);
            let (at, series) = ((x - base.0, y - base.1), &series[named.series]);
            point(area, series, at)?;
            let at = (at.0 + named.aside.0, at.1 + named.aside.1);
            let side = if named.aside.0 == 0 { HPos::Center } else { HPos::Left };
            area.draw(&Text::new(named.name.clone(), at, text(&series.color, side)))?;
        }
        Ok(())
    })
}

/// `200`, `50k`, `2M`, `10G`.
pub fn short(number: f64) -> String {
    let units = [(1e9, "G"), (1e6, "M"), (1e3, "k")];
    let unit = units.iter().find(|(size, _)| number >= *size);
    unit.map_or(number.to_string(), |(size, unit)| format!("{}{unit}", number / size))
}

/// `200 µs`, `50 ms`, `2 s`.
pub fn time(seconds: f64) -> String {
    match seconds {
        s if s < 0.9995e-3 => format!("{} µs", (s * 1e6).round()),
        s if s < 0.9995 => format!("{} ms", (s * 1e3).round()),
        s => format!("{s} s"),
    }
}

//! Size and depth of ours in parts of the published figures, on logarithmic axes.

use crate::library::{Entry, Figure, Published};
use plotters::prelude::*;
use std::error::Error;

const SIZE: (u32, u32) = (960, 720);
const GROUPS: [(&str, RGBColor); 3] = [
    ("integers", RGBColor(31, 119, 180)),
    ("floating point", RGBColor(214, 90, 20)),
    ("applications", RGBColor(44, 130, 60)),
];

/// An SVG: a line from each size circuit to the depth circuit; the published figure is at (1, 1), and what is not worse
/// lies in the shaded corner.
pub fn draw(entries: &[Entry]) -> Result<String, Box<dyn Error>> {
    let mut svg = String::new();
    {
        let area = SVGBackend::with_string(&mut svg, SIZE).into_drawing_area();
        area.fill(&WHITE)?;
        let mut chart = ChartBuilder::on(&area)
            .margin(16)
            .x_label_area_size(48)
            .y_label_area_size(64)
            .build_cartesian_2d((0.05f64..8.0).log_scale(), (0.02f64..32.0).log_scale())?;
        chart
            .configure_mesh()
            .x_desc("ANDs, in parts of the published figure")
            .y_desc("depth, in parts of the published figure")
            .draw()?;
        chart.draw_series([Rectangle::new([(0.05, 0.02), (1.0, 1.0)], BLUE.mix(0.06).filled())])?;
        for (group, (name, color)) in GROUPS.iter().enumerate() {
            let lines = entries.iter().filter(|entry| kind(entry) == group).filter_map(line);
            let lines: Vec<[(f64, f64); 2]> = lines.collect();
            let style = color.stroke_width(1);
            let drawn = chart.draw_series(lines.iter().map(|line| PathElement::new(line.to_vec(), style)))?;
            drawn.label(*name).legend(move |(x, y)| PathElement::new([(x, y), (x + 18, y)], style));
            chart.draw_series(lines.iter().map(|line| Circle::new(line[0], 3, color.filled())))?;
            chart.draw_series(lines.iter().map(|line| TriangleMarker::new(line[1], 5, color.filled())))?;
        }
        chart.configure_series_labels().background_style(WHITE.mix(0.8)).border_style(BLACK).draw()?;
        area.present()?;
    }
    Ok(svg)
}

fn kind(entry: &Entry) -> usize {
    match () {
        _ if entry.program.starts_with("app:") => 2,
        _ if entry.program.starts_with("block:fp_") => 1,
        _ => 0,
    }
}

/// From the size circuit to the depth circuit.
fn line(entry: &Entry) -> Option<[(f64, f64); 2]> {
    let row = entry.published.as_ref()?;
    let (size, depth) = (entry.size.or(entry.depth)?, entry.depth.or(entry.size)?);
    Some([parts(size, row), parts(depth, row)])
}

fn parts(figure: Figure, row: &Published) -> (f64, f64) {
    (figure.ands as f64 / row.ands as f64, f64::from(figure.depth) / f64::from(row.depth))
}

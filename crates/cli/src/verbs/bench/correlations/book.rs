//! The figures and their plot as a page of the book.

use super::figures::{BASE, Figure, Kind};
use super::makers::{Maker, makers, triples};
use super::party::Measured;
use super::report::{CONVENTIONS, CorrelationReport, MakerRow, millions};
use super::times::{self, COUNTS, LINES};
use super::{SPOT, plot};
use crate::failure::Failure;
use crate::io::console::{bytes, seconds};
use duologue::channel::Link;
use duologue::ot::Extension;
use std::fs;
use std::path::Path;

/// The text above the tables.
const HEAD: &str = "\
# Makers of correlations, measured

<!-- Made by `make correlations`; do not edit. -->

What setup costs with every maker of correlated OTs, and of the triples that are made of them: SoftSpoken with trees of
2^k leaves, *softspoken1* to *softspoken8*, and silent OT with tables of 2^n blocks, *silent16* to *silent19*. Bytes are
exact and follow from the parameters; speeds are those of one machine. `duologue bench correlations` measures them on
yours, `--json` writes them for machines, `--as alice` and `--as bob` measure between two.
";

/// The first words of the tables.
const MAKERS: &str = "\
| maker | bits a COT | bits a triple | COT/s | in R | one way, COT/s | in R | triples/s | in R | setup | memory, COTs | memory, triples |
|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|
";
const TRAFFIC: &str = "\
| maker | 1 million triples | 10 million | 100 million |
|---|--:|--:|--:|
";

/// A check of the computed times is affordable up to so many seconds.
const AFFORDABLE: f64 = 5.0;

/// Writes `correlations-measured.md` and `correlations-measured.svg`; `spot` measures triples over a line.
pub fn write(
    folder: &Path,
    report: &CorrelationReport,
    mut spot: impl FnMut(Figure, Link) -> Result<Measured, Failure>,
) -> Result<(), Failure> {
    let makers = makers(report);
    let mut spots = Vec::new();
    for (name, line) in LINES {
        for (maker, measured) in triples(&makers) {
            let computed = times::seconds(maker, measured, &[1, SPOT], &line);
            if computed <= AFFORDABLE {
                let took = spot(Figure { maker, kind: Kind::Triples }, line)?;
                spots.push((name, maker, computed, took.setup + took.runs.iter().map(|run| run.seconds).sum::<f64>()));
            }
        }
    }
    let save = |name: &str, text: String| {
        let path = folder.join(name);
        fs::write(&path, text).map_err(Failure::io(format!("writing {}", path.display())))
    };
    save("correlations-measured.md", text(report, &makers, &spots))?;
    let drawn = plot::draw(&makers).map_err(|why| Failure::input(format!("the plot cannot be drawn: {why}")))?;
    save("correlations-measured.svg", drawn)
}

type Spot = (&'static str, Extension, f64, f64);

fn text(report: &CorrelationReport, makers: &[Maker<'_>], spots: &[Spot]) -> String {
    let mut text = format!("{HEAD}\n## Speed, traffic and memory\n\n{MAKERS}");
    makers.iter().for_each(|maker| text += &maker_line(maker));
    text += "\n![Bytes a correlation against speed, and the time for triples over three lines](correlations-measured.svg)\n";
    for line in report.figures.iter().filter(|line| BASE.contains(&&*line.name)) {
        let what = if line.name == BASE[0] {
            "128 base OTs, the slower party"
        } else {
            "base OTs of a new session, both ways"
        };
        text += &format!("\n{what}: {:.2} ms on one core.\n", line.value);
    }
    text += "\n## Triples over a line\n\nA new session makes triples alone. Bytes that each party sends, with the base OTs and the bootstrap:\n\n";
    text += TRAFFIC;
    makers.iter().for_each(|(maker, _)| text += &traffic_line(*maker));
    text += "\nSeconds, computed: every message takes its place on the line one after another, and the computing is added as it\nwas measured without a line.\n";
    for (name, line) in LINES {
        text += &format!("\n**{name}**\n\n{TRAFFIC}");
        for (maker, measured) in triples(makers) {
            let times = COUNTS.map(|count| seconds(times::seconds(maker, measured, &[count], &line)));
            text += &row([maker.to_string()].into_iter().chain(times));
        }
    }
    text += &checks(spots);
    text + &how(report)
}

/// The bits come first: they do not depend on the machine.
fn maker_line((maker, kinds): &Maker<'_>) -> String {
    let speed = |line: &MakerRow| [millions(line.value), line.ratio.map_or("–".into(), |ratio| format!("{ratio:.3}"))];
    let memory = |kind: Kind| kinds[kind as usize].0.memory.map_or("–".into(), bytes);
    let speeds = kinds.iter().flat_map(|(line, _)| speed(line));
    let setup = kinds[Kind::Triples as usize].1.setup;
    let rest = [seconds(setup), memory(Kind::Cots), memory(Kind::Triples)];
    row(exact(*maker).into_iter().chain(speeds).chain(rest))
}

/// The maker and its bits a COT and a triple.
fn exact(maker: Extension) -> [String; 3] {
    let bits = |kind| format!("{:.2}", times::bits(maker, kind));
    [maker.to_string(), bits(Kind::Cots), bits(Kind::Triples)]
}

fn traffic_line(maker: Extension) -> String {
    row([maker.to_string()].into_iter().chain(COUNTS.map(|count| bytes(times::sent(maker, count)))))
}

/// Computed times beside measured ones.
fn checks(spots: &[Spot]) -> String {
    let mut text = "\nComputed and measured over a simulated line, where that takes seconds: a new session makes one triple, then a\nmillion.\n\n".to_string();
    text += "| line | maker | computed | measured |\n|---|---|--:|--:|\n";
    for (line, maker, computed, measured) in spots {
        text += &row([line.to_string(), maker.to_string(), seconds(*computed), seconds(*measured)]);
    }
    text
}

fn how(report: &CorrelationReport) -> String {
    let blocks = report.machine.openssl_blocks_per_second.map_or("not known".into(), millions);
    let commit = report.machine.commit.as_ref().map_or(String::new(), |commit| format!(", commit `{commit}`"));
    let runs = report.measured.first().map_or(0, |(_, measured)| measured.runs.len());
    format!(
        "\n## How it was measured\n\n{}{commit}; R = {blocks}. Two processes that stay on a core each, TCP over loopback without encryption; {runs} runs \
         of each figure, each in a session of its own, at whose end both parties show each other 2^14 of the last correlations and check them.\n\n{CONVENTIONS}\n",
        report.machine.machine
    )
}

fn row(cells: impl IntoIterator<Item = String>) -> String {
    format!("| {} |\n", cells.into_iter().collect::<Vec<_>>().join(" | "))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::verbs::bench::correlations::figures;

    #[test]
    fn the_book_shows_what_is_sent() {
        let page = include_str!("../../../../../../docs/correlations-measured.md");
        for part in [HEAD, MAKERS, TRAFFIC, CONVENTIONS] {
            assert!(page.contains(part), "docs/correlations-measured.md is not of this build: run `make correlations`");
        }
        for maker in figures::makers() {
            for row in [format!("\n| {} |", exact(maker).join(" | ")), traffic_line(maker)] {
                assert!(page.contains(&row), "docs/correlations-measured.md has no row {row}: run `make correlations`");
            }
        }
    }

    #[test]
    fn the_plot_is_in_the_book() {
        assert!(include_str!("../../../../../../docs/correlations-measured.svg").starts_with("<svg"));
    }
}

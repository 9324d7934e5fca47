//! The figures and their plot as a page of the book.

use super::matrix::{self, Matrix};
use super::plot;
use super::report::{self, EngineReport};
use crate::failure::Failure;
use std::fs;
use std::path::Path;

/// The text above the tables.
const HEAD: &str = "\
# Engines, measured

<!-- Made by `make engines`; do not edit. -->

How fast Yao and GMW are: alone, through whole sessions in memory, and between two processes over TCP and TLS. `duologue
bench` measures it on your machine, `--json` writes it for machines, `--as alice` and `--as bob` measure between two, and
`--circuits` takes any circuit under any protocol over any line.
";

/// Writes `engines-measured.md` and `engines-measured.svg`.
pub fn write(folder: &Path, report: &EngineReport, matrix: &Matrix) -> Result<(), Failure> {
    let save = |name: &str, text: String| {
        let path = folder.join(name);
        fs::write(&path, text).map_err(Failure::io(format!("writing {}", path.display())))
    };
    save("engines-measured.md", text(report, matrix))?;
    let drawn = plot::draw(report, matrix).map_err(|why| Failure::input(format!("the plot cannot be drawn: {why}")))?;
    save("engines-measured.svg", drawn)
}

fn text(report: &EngineReport, matrix: &Matrix) -> String {
    let machine = &report.machine;
    let commit = machine.commit.as_ref().map_or(String::new(), |commit| format!(", commit `{commit}`"));
    let blocks = machine.openssl_blocks_per_second.map_or("not known".into(), report::millions);
    let figures = markdown("lrrlrrrr", &report::HEAD, report.rows());
    let cases = markdown("llrrlrrrrrrrrr", &matrix::HEAD, matrix.cases.iter().map(matrix::CaseRow::row).collect());
    format!(
        "{HEAD}\n## The figures\n\n{figures}\n![Speeds, and times of circuits against lanes](engines-measured.svg)\n\n\
         ## Circuits, protocols, lanes, lines\n\n{cases}\n{}\n\n## How it was measured\n\n\
         {}{commit}; R = {blocks}.\n\n{}\n",
        matrix::CONVENTIONS,
        machine.machine,
        report::CONVENTIONS
    )
}

/// A table; `align` has a letter for each column, `l` is to the left.
fn markdown(align: &str, head: &[&str], rows: Vec<Vec<String>>) -> String {
    let line = |cells: Vec<String>| format!("| {} |\n", cells.join(" | "));
    let dashes = align.chars().map(|align| if align == 'l' { "---" } else { "--:" }.to_string()).collect();
    let head = head.iter().map(|head| head.to_lowercase()).collect();
    [head, dashes].into_iter().chain(rows).map(line).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::verbs::bench::engines::figures::FIGURES;

    #[test]
    fn the_book_shows_every_figure() {
        let page = include_str!("../../../../../../docs/engines-measured.md");
        for part in [HEAD, report::CONVENTIONS, matrix::CONVENTIONS] {
            assert!(page.contains(part), "docs/engines-measured.md is not of this build: run `make engines`");
        }
        for figure in &FIGURES {
            assert!(page.contains(&format!("\n| {} |", figure.name)), "no row of {}: run `make engines`", figure.name);
        }
        assert!(include_str!("../../../../../../docs/engines-measured.svg").starts_with("<svg"));
    }
}

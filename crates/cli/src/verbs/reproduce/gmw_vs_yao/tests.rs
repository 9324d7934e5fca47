//! The paper's figures, its formulas written again, and cells that are exact.

use super::circuits::{ROWS, WIDTHS};
use super::*;
use crate::io::console::Console;
use crate::verbs::reproduce::{Cell, Effort, How};
use std::collections::BTreeSet;

fn table(name: &str) -> &'static Table {
    TABLES.iter().find(|table| table.name == format!("gmw-vs-yao/{name}")).unwrap()
}

fn cells(name: &str, row: Option<&str>) -> Vec<Cell> {
    let effort = Effort { quick: true, row, console: &Console::new(true, false) };
    (table(name).rows)(&effort).unwrap()
}

/// Rows and columns of a table of the paper.
fn of_csv(name: &str) -> BTreeSet<(&'static str, &'static str)> {
    let fields = FIGURES.0.lines().skip(1).map(|line| line.split(',').collect::<Vec<_>>());
    fields.filter(|fields| fields[0] == name).map(|fields| (fields[1], fields[2])).collect()
}

#[test]
fn figures_are_those_of_the_paper() {
    assert_eq!(FIGURES.of("1", "overall", "simd"), Some(0.85));
    assert_eq!(FIGURES.of("4", "choi/overall", "size/100"), Some(16.24));
    assert_eq!(FIGURES.of("4", "zohner/online", "depth/10"), Some(0.40));
    assert_eq!(FIGURES.of("5", "sadeghi/online", "1000"), Some(13.0));
    assert_eq!(FIGURES.of("5", "sadeghi/setup", "1000"), None);
    assert_eq!(FIGURES.of("6", "osadchy/overall", "100/lan"), Some(244.0));
    assert_eq!(FIGURES.of("6", "zohner/setup", "50000/100"), Some(55.87));
    let counts = ["1", "2", "3", "4", "5", "6", "7"].map(|table| of_csv(table).len());
    assert_eq!(counts, [24, 6, 16, 36, 17, 33, 28 * 6]);
}

/// Every cell of the paper stands in ours, and no cell twice.
#[test]
fn every_row_and_column_is_there() {
    for name in ["2", "3", "4", "7"] {
        let cells = cells(name, None);
        let ours: BTreeSet<(&str, &str)> = cells.iter().map(|cell| (&*cell.row, &*cell.column)).collect();
        assert_eq!(ours.len(), cells.len(), "Table {name}");
        assert!(of_csv(name).is_subset(&ours), "Table {name}");
    }
}

/// Of the tables that run long: the names of what they run.
#[test]
fn long_tables_have_every_column() {
    for (name, all) in [("5", applications::EIGENFACES), ("6", applications::SCIFI)] {
        let ours: BTreeSet<String> = all.iter().flat_map(|application| application.columns()).collect();
        let theirs: BTreeSet<String> = of_csv(name).iter().map(|(row, column)| format!("{row} {column}")).collect();
        assert!(theirs.is_subset(&ours), "Table {name}");
    }
}

#[test]
fn quick_measures_one_cell_of_table_4() {
    let cells = cells("4", Some("zohner/online"));
    let measured: BTreeSet<&str> =
        cells.iter().filter(|cell| cell.how == How::Measured).map(|cell| &*cell.column).collect();
    assert_eq!(measured, BTreeSet::from(["size/0.2"]));
    // Six latencies, each three phases, of which --row leaves one.
    assert_eq!(cells.iter().filter(|cell| cell.row == "zohner/online").count(), 6);
    assert!(cells.iter().all(|cell| cell.row.starts_with("zohner")));
}

/// Table 7 by hand, from the text of the paper: Appendix A, and sections 3.2, 3.3, 5.2.2, B.1 and B.2.
#[test]
fn formulas_are_evaluated() {
    let of = |row: &str, column: &str| FIGURES.of("7", row, column).unwrap();
    for (width, log) in [(16.0, 4.0), (32.0, 5.0), (64.0, 6.0)] {
        let ands = |row: &str| of(row, &format!("{width}/ands"));
        let depth = |row: &str| of(row, &format!("{width}/depth"));
        let prefix = 5.0 * width * log / 4.0;
        assert_eq!((ands("add_lf"), depth("add_lf")), (prefix + width, 2.0 * log + 1.0));
        assert_eq!((ands("sub_lf"), depth("sub_lf")), (prefix + 2.0 * width, 2.0 * log + 2.0));
        assert_eq!((ands("mul_rc"), depth("mul_rc")), (width * (2.0 * width - 1.0), 2.0 * width - 1.0));
        assert_eq!((ands("sqr_lf"), depth("sqr_lf")), (width * (width - 1.5) + prefix - 2.0, 3.0 * log + 3.0));
        assert_eq!((ands("greater_dc"), depth("greater_dc")), (3.0 * width - log - 2.0, log + 1.0));
        assert_eq!((ands("count_bp"), depth("count_bp")), (width - 1.0, log));
        assert_eq!((ands("manhattan_rc"), depth("manhattan_rc")), (4.0 * width + 1.0, 2.0 * width + 2.0));
        assert_eq!(ands("min_s"), 15.0 * 2.0 * width);
        assert_eq!(depth("euclidean_lf"), 5.0 * log + 9.0);
    }
}

/// No circuit of ours is larger or deeper than the paper's.
#[test]
fn circuits_lose_nowhere() {
    assert_eq!(of_csv("7").len(), ROWS.len() * 2 * WIDTHS.len());
    let cells = cells("7", None);
    let lost = cells.iter().filter(|cell| cell.ours > cell.paper.unwrap());
    let lost: BTreeSet<String> =
        lost.map(|cell| format!("{} {}: {} {:?}", cell.row, cell.column, cell.ours, cell.paper)).collect();
    assert!(lost.is_empty(), "{lost:#?}");
}

/// The book has the circuits for 32 bits: its lines are these.
#[test]
fn the_book_has_these_circuits() {
    let book = include_str!("../../../../../../docs/reproduce.md");
    let cells = cells("7", None);
    for (row, _) in ROWS {
        let figures = ["32/ands", "32/depth"].map(|column| {
            let Cell { ours, paper, .. } = cells.iter().find(|cell| cell.row == *row && cell.column == column).unwrap();
            format!("{ours} ({})", paper.unwrap())
        });
        let line = format!("| {row} | {} |", figures.join(" | "));
        println!("{line}");
        assert!(std::env::var("DUOLOGUE_PRINT_TABLES").is_ok() || book.contains(&line), "{line}");
    }
}

//! Figures of the paper, and counted bytes against runs.

use super::*;
use crate::io::console::Console;

#[test]
fn every_row_stands_beside_a_figure_of_the_paper() {
    assert_eq!(include_str!("../linear_pfe.csv").lines().count(), 1 + 3 * 5 * 5);
    for table in ["1", "2", "3"] {
        for method in METHODS {
            assert!(COLUMNS.iter().all(|&n| FIGURES.of(table, method.beside, n).is_some()), "{table} {}", method.row);
        }
    }
    assert_eq!(FIGURES.of("1", "elgamal", 1_000_000), Some(333.80));
    assert_eq!(FIGURES.of("1", "bfv", 1_000_000), Some(6351.88));
    assert_eq!(FIGURES.of("3", "uc_liu", 100), Some(0.275));
    assert_eq!(FIGURES.of("3", "djn", 1_000), Some(5.511));
}

/// No other number of bytes travels; the largest cells are those of the book.
#[test]
fn counted_bytes_are_those_of_runs() {
    for method in METHODS {
        let Some(run) = method.run else { continue };
        for n in [100, 600] {
            let ran = run(n, None).unwrap();
            assert!(checked(ran, (method.bytes)(n).unwrap()).is_ok(), "{} {n}", method.row);
        }
    }
    let cells = sent().unwrap();
    let mebibytes = |row: &str| {
        let of_row = cells.iter().filter(|cell| cell.row == row);
        of_row.map(|cell| format!("{:.3}", cell.ours)).collect::<Vec<_>>().join(" ")
    };
    let book = include_str!("../../../../../../docs/reproduce.md");
    for method in METHODS {
        let line = mebibytes(method.row);
        assert!(book.contains(&format!("| {} | {} |", method.row, line.replace(' ', " | "))), "{}: {line}", method.row);
    }
}

#[test]
fn quick_times_measure_one_cell() {
    let effort = Effort { quick: true, row: None, console: &Console::new(true, false) };
    let cells = times("2", "1ms,10Gbit", &effort).unwrap();
    let measured: Vec<_> = cells.iter().filter(|cell| cell.how == How::Measured).collect();
    assert_eq!((cells.len(), measured.len()), (25, 1));
    assert_eq!((&*measured[0].row, &*measured[0].column), ("universal", "1000"));
}

/// A row that is wanted alone is run alone, whatever the others take.
#[test]
fn rows_that_are_not_wanted_do_not_run() {
    let table = TABLES.iter().find(|table| table.name == "linear-pfe/2").unwrap();
    for row in ["dh", "universal"] {
        let effort = Effort { quick: true, row: Some(row), console: &Console::new(true, false) };
        let cells = (table.rows)(&effort).unwrap();
        assert!(cells.len() == COLUMNS.len() && cells.iter().all(|cell| cell.row == row), "{row}");
    }
    let effort = Effort { quick: true, row: Some("bfv_unsafe"), console: &Console::new(true, false) };
    assert!((table.rows)(&effort).unwrap().is_empty(), "bytes alone are counted of it");
}

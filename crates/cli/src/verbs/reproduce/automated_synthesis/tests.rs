//! The paper's figures by what its prose says of them, and cells that are exact.

use super::operations::{batches, operations};
use super::*;
use crate::io::console::Console;
use crate::program;
use crate::verbs::reproduce::timed::PROTOCOLS;
use crate::verbs::reproduce::{Cell, Effort, How};
use std::collections::BTreeSet;

fn of(table: &str, row: &str, column: &str) -> f64 {
    FIGURES.of(table, row, column).unwrap_or_else(|| panic!("{table} {row} {column}"))
}

fn cells(name: &str, row: Option<&str>) -> Vec<Cell> {
    let effort = Effort { quick: true, row, console: &Console::new(true, false) };
    let name = format!("automated-synthesis/{name}");
    (TABLES.iter().find(|table| table.name == name).unwrap().rows)(&effort)
        .unwrap_or_else(|why| panic!("{}", why.message))
}

/// Rows and columns of a table of the paper.
fn of_csv(name: &str) -> BTreeSet<(&'static str, &'static str)> {
    let fields = FIGURES.0.lines().skip(1).map(|line| line.split(',').collect::<Vec<_>>());
    fields.filter(|fields| fields[0] == name).map(|fields| (fields[1], fields[2])).collect()
}

/// Setup and online together.
fn both(table: &str, row: &str, column: &str) -> f64 {
    of(table, &format!("{row}/setup"), column) + of(table, &format!("{row}/online"), column)
}

/// Within half of the last digit of what is said, which has one after the point if it is small; 3,267.9 is cut to 3,267.
fn is_about(ratio: f64, said: f64) -> bool {
    (ratio - said).abs() < if said < 100.0 { 0.05 } else { 1.0 }
}

#[test]
fn figures_are_as_many_as_in_the_paper() {
    assert_eq!(["1", "2", "3", "4", "5"].map(|table| of_csv(table).len()), [57, 59, 36, 380, 83]);
    let lines = FIGURES.0.lines().skip(1);
    assert!(lines.clone().all(|line| line.rsplit(',').next().unwrap().parse::<f64>().unwrap() > 0.0));
    assert_eq!(lines.count(), 57 + 59 + 36 + 380 + 83);
}

/// Section 4.1 and Table 1's own percentages.
#[test]
fn table_1_improves_by_what_it_says() {
    for (row, column, percent) in [
        ("add_lf/20", "ands", 20.0),
        ("add_lf/30", "ands", 5.0),
        ("add_lf/40", "ands", 16.6),
        ("sub_lf/16", "ands", 14.0),
        ("sub_lf/64", "ands", 10.0),
        ("sub_lf/16", "depth", 10.0),
        ("sub_lf/64", "depth", 7.0),
        ("manhattan_lf/16", "ands", 16.0),
        ("manhattan_lf/64", "ands", 5.8),
        ("manhattan_lf/16", "depth", 13.6),
        ("kmul/32", "ands", 1.8),
        ("kmul/128", "ands", 3.0),
        ("manhattan_rc/16", "depth", 5.8),
        ("manhattan_rc/64", "depth", 1.5),
    ] {
        let [hand, own] = ["hand", "synthesised"].map(|by| of("1", row, &format!("{by}/{column}")));
        assert!((100.0 * (1.0 - own / hand) - percent).abs() < 0.6, "{row} {column}");
    }
}

/// Section 5.1: how many times as fast as others a division is.
#[test]
fn table_2_has_the_ratios_of_the_prose() {
    let rival = |row: &str, column| of("2", &format!("{row}/setup+online"), column);
    let [single, many] = ["1", "10000"];
    assert!(is_about(rival("32/kss13", single) / both("2", "32/gmw", single), 32.4));
    assert!(is_about(rival("32/kss13", single) / both("2", "32/yao", single), 274.0));
    assert!(is_about(rival("64/abzs13", single) / both("2", "64/gmw", single), 0.6));
    assert!(is_about(rival("64/abzs13", many) / both("2", "64/gmw", many), 3.7));
    assert!(is_about(rival("32/bntw12", single) / both("2", "32/gmw", single), 6.5));
    assert!(both("2", "32/gmw", many) / rival("32/bntw12", many) > 5.0);
}

/// Section 5.3 and the contributions: 0.5 to 21.4 times as fast as ABZS13, 0.1 to 3,267 times as KW14.
#[test]
fn table_4_has_the_ranges_of_the_prose() {
    for (rival, least, most) in [("abzs13", 0.5, 21.4), ("kw14", 0.1, 3267.0)] {
        let rows = of_csv("4");
        let of_rival = rows
            .iter()
            .filter_map(|(row, column)| Some((*row, row.strip_suffix(&format!("/{rival}/setup+online"))?, *column)));
        let mut ratios = Vec::new();
        for (row, operation, column) in of_rival {
            let theirs = of("4", row, column);
            for protocol in ["gmw", "yao"] {
                let ours = format!("{operation}/{protocol}");
                // Where Yao could run.
                if FIGURES.of("4", &format!("{ours}/setup"), column).is_some() {
                    ratios.push(theirs / both("4", &ours, column));
                }
            }
        }
        let [found_least, found_most] =
            [ratios.iter().copied().fold(f64::INFINITY, f64::min), ratios.iter().copied().fold(0.0, f64::max)];
        assert!((found_least - least).abs() < 0.05, "{rival}: {found_least}");
        assert!(is_about(found_most, most), "{rival}: {found_most}");
    }
}

/// Section 6: a single haversine 6.2 times as fast as by `gc`, the others more than 14 times.
#[test]
fn table_5_has_the_ratios_of_the_prose() {
    let gain = |metric: &str| both("5", &format!("{metric}/64/gc"), "1") / both("5", &format!("{metric}/64/yao"), "1");
    assert!(is_about(gain("haversine"), 6.2));
    assert!(gain("ecef") > 14.0 && gain("utm") > 14.0);
    assert!((both("5", "haversine/64/gmw", "10000") - 33.81).abs() < 1e-9);
}

/// Every figure of the paper has a cell, by names alone; and every operation a program for each goal.
#[test]
fn every_row_of_the_paper_has_a_program() {
    for table in ["2", "3", "4", "5"] {
        let mut ours = BTreeSet::new();
        for operation in operations(table) {
            for goal in ["depth", "size"] {
                let name = format!("{}:{goal}", operation.program);
                program::load(&name, &[]).unwrap_or_else(|why| panic!("{name}: {}", why.message));
            }
            let columns = || batches(table).iter().map(u64::to_string);
            for row in PROTOCOLS.iter().flat_map(|protocol| operation.rows(table, protocol.0)) {
                ours.extend(columns().map(|column| (row.clone(), column)));
            }
            ours.extend(
                ["ands", "depth", "compile"].map(|column| (format!("{}/circuit", operation.row), column.into())),
            );
        }
        for (row, column) in of_csv(table) {
            assert!(ours.contains(&(row.to_string(), column.to_string())), "Table {table}: {row} {column}");
        }
    }
}

/// The list of published circuits has the same figures, beside the same programs.
#[test]
fn counts_are_those_of_the_published_list() {
    let published = include_str!("../../../../../../xtask/data/published.csv");
    let mut found = 0;
    for table in ["2", "3", "4", "5"] {
        for operation in operations(table) {
            let count = |column| FIGURES.of(table, &format!("{}/circuit", operation.row), column);
            let (Some(ands), Some(depth)) = (count("ands"), count("depth")) else { continue };
            // The paper's addition has the count of what ABY has for a subtraction.
            let program = operation.program.replace("fp_add_flush", "fp_sub_flush");
            let is_it = |line: &&str| {
                let fields: Vec<&str> = line.split(',').collect();
                fields.len() > 6 && fields[6].split('?').next() == Some(&program) && fields[3] == ands.to_string()
            };
            let line = published.lines().find(is_it).unwrap_or_else(|| panic!("{program}, {ands} ANDs"));
            assert_eq!(line.split(',').nth(4), Some(&*depth.to_string()), "{program}");
            found += 1;
        }
    }
    assert_eq!(found, 4 + 2 + 15 + 6);
}

/// No circuit of ours is larger or deeper than the paper's, or than those by hand.
#[test]
fn circuits_lose_nowhere() {
    let cells = cells("1", None);
    let ours: BTreeSet<(&str, &str)> = cells.iter().map(|cell| (&*cell.row, &*cell.column)).collect();
    assert!(of_csv("1").is_subset(&ours) && ours.len() == 60);
    let lost = cells.iter().filter(|cell| cell.paper.is_some_and(|paper| cell.ours > paper));
    let lost: Vec<String> = lost.map(|cell| format!("{} {}: {}", cell.row, cell.column, cell.ours)).collect();
    assert!(lost.is_empty(), "{lost:#?}");
}

/// A row of an operation by GMW: one cell is measured, the others are computed; its rivals stand beside the sum.
#[test]
fn quick_measures_one_cell() {
    let cells = cells("2", Some("8/gmw/setup"));
    let of_row = |row: &str| cells.iter().filter(|cell| cell.row == row).collect::<Vec<_>>();
    let measured = |cell: &&&Cell| cell.how == How::Measured;
    assert_eq!(of_row("8/gmw/setup").iter().filter(measured).map(|cell| &*cell.column).collect::<Vec<_>>(), ["100"]);
    assert_eq!(of_row("8/gmw/online").len(), 3);
    assert!(cells.iter().all(|cell| cell.row.starts_with("8/")));
}

/// What our text of the paper lacks is said so, in cells of exp2 and log2 alone.
#[test]
fn lost_figures_are_said_to_be_lost() {
    let cells = cells("4", Some("exp2/32/circuit"));
    let of = |column: &str| cells.iter().find(|cell| cell.row == "exp2/32/circuit" && cell.column == column).unwrap();
    assert!(of("ands").lost && of("depth").lost && !of("compile").lost);
    assert!(cells.iter().all(|cell| cell.paper.is_none() && cell.row.starts_with("exp2/32/circuit")));
}

/// The book has all circuits: its lines are these.
#[test]
fn the_book_has_these_circuits() {
    let book = include_str!("../../../../../../docs/reproduce.md");
    let mut lines = Vec::new();
    let of_table_1 = cells("1", None);
    for cells in of_table_1.chunks(4) {
        let [hand_ands, ands, hand_depth, depth] = [0, 1, 2, 3].map(|at| &cells[at]);
        let paper = |cell: &Cell| cell.paper.map_or("–".into(), |paper| paper.to_string());
        lines.push(format!(
            "| {} | {} ({}, {}) | {} ({}, {}) |",
            ands.row,
            ands.ours,
            paper(ands),
            paper(hand_ands),
            depth.ours,
            paper(depth),
            paper(hand_depth)
        ));
    }
    for table in ["2", "3", "4", "5"] {
        for operation in operations(table) {
            let circuit = |name: &str| {
                let row = format!("{}/{name}", operation.row);
                let cells = cells(table, Some(&row));
                let figure = |column: &str| {
                    let Cell { ours, paper, .. } =
                        cells.iter().find(|cell| cell.row == row && cell.column == column).unwrap();
                    paper.map_or(ours.to_string(), |paper| format!("{ours} ({paper})"))
                };
                [figure("ands"), figure("depth")].join(" | ")
            };
            lines.push(format!(
                "| {table} | {} | {} | {} |",
                operation.row,
                circuit("circuit"),
                circuit("circuit_size")
            ));
        }
    }
    for line in lines {
        println!("{line}");
        assert!(std::env::var("DUOLOGUE_PRINT_TABLES").is_ok() || book.contains(&line), "{line}");
    }
}

//! The paper's figures by what its text says of them, and cells that are exact.

use super::*;
use crate::grain::Work;
use crate::io::console::Console;
use crate::verbs::reproduce::{Cell, Effort, How};
use std::collections::BTreeSet;

fn cells(name: &str, row: Option<&str>) -> Vec<Cell> {
    let effort = Effort { quick: true, row, console: &Console::new(true, false) };
    let name = format!("parallel-gc/{name}");
    let table = TABLES.iter().find(|table| table.name == name).unwrap();
    (table.rows)(&effort).unwrap_or_else(|why| panic!("{}", why.message))
}

fn of_csv(name: &str) -> BTreeSet<(&'static str, &'static str)> {
    let fields = FIGURES.0.lines().skip(1).map(|line| line.split(',').collect::<Vec<_>>());
    fields.filter(|fields| fields[0] == name).map(|fields| (fields[1], fields[2])).collect()
}

/// Section 4.1: about 200,000 OTs a second; all ways are faster than one thread, blocks the most.
#[test]
fn figures_are_those_of_the_paper() {
    assert_eq!(["1", "2", "figure4", "figure6", "layers"].map(|table| of_csv(table).len()), [24, 17, 6, 1, 4]);
    let [s, fg, cg, both] = ["s", "fg", "cg", "cg+fg"].map(|way| {
        of_csv("1").iter().filter(|cell| cell.1 == way).map(|cell| FIGURES.of("1", cell.0, way).unwrap()).sum::<f64>()
    });
    assert!((s - 15.26).abs() < 1e-9 && s > fg && fg > both && both > cg);
    assert!((2048.0 / 200_000.0 - FIGURES.of("1", "ot_precomputation", "s").unwrap()).abs() < 1e-3);
    let huang =
        of_csv("2").into_iter().filter(|cell| cell.1 == "huang").map(|cell| FIGURES.of("2", cell.0, "huang").unwrap());
    assert!((huang.sum::<f64>() - 1.873).abs() < 1e-9);
}

/// Of Figure 4 there are the sums of Table 1, offline and online.
#[test]
fn figure_4_has_the_sums_of_table_1() {
    let phases = [
        ("yao/offline", &["garbling", "ot_precomputation", "table_tx"][..]),
        ("yao/online", &["bobs_secret_tx", "alices_secret_tx", "evaluation"][..]),
    ];
    for (threads, way) in [("1", "s"), ("8", "cg")] {
        let mut total = 0.0;
        for (row, elements) in phases {
            let sum = together("1", elements, way).unwrap();
            assert!((sum - FIGURES.of("figure4", row, threads).unwrap()).abs() < 1e-9, "{row} {threads}");
            total += sum;
        }
        assert!((total - FIGURES.of("figure4", "yao/total", threads).unwrap()).abs() < 1e-9, "{threads}");
    }
}

/// The programs of all subjects are there for each protocol.
#[test]
fn every_subject_has_a_program() {
    for subject in [&IRIS, &AES, &IMAGE] {
        for (_, scheme) in crate::verbs::reproduce::timed::PROTOCOLS {
            let name = subject.program(scheme);
            let program = crate::program::load(&name, &[]).unwrap_or_else(|why| panic!("{name}: {}", why.message));
            assert_eq!(program.sizes().len(), 1, "{name}");
        }
    }
}

/// Every figure of Table 2 has a cell, and no cell is there twice; only a whole run by Yao is measured with `--quick`.
#[test]
fn elements_of_a_run_are_there() {
    let cells = cells("2", None);
    let ours: BTreeSet<(&str, &str)> = cells.iter().map(|cell| (&*cell.row, &*cell.column)).collect();
    assert_eq!(ours.len(), cells.len());
    for (row, column) in of_csv("2") {
        let row = if row.contains("secret") { "secrets_tx" } else { row };
        assert!(ours.contains(&(row, column)), "{row} {column}");
    }
    let of = |row: &str, column: &str| cells.iter().find(|cell| cell.row == row && cell.column == column).unwrap();
    assert_eq!((of("garbling", "s").how, of("garbling", "fg").how), (How::Measured, How::Simulated));
    assert_eq!((of("whole/yao", "s").how, of("whole/gmw", "s").how), (How::Measured, How::Computed));
    assert!((of("whole/yao", "s").paper.unwrap() - 0.252).abs() < 1e-9);
    // 6,400 ANDs of 256 bits over 100 Mbit/s.
    assert!((of("table_tx", "s").ours - 0.016_384).abs() < 1e-9);
    assert!((of("secrets_tx", "huang").paper.unwrap() - 0.124).abs() < 1e-9);
}

/// The layers of AES, counted gate by gate.
#[test]
fn layers_are_counted() {
    let cells = cells("layers", Some("aes"));
    let of = |column: &str| cells.iter().find(|cell| cell.column == column).unwrap().ours;
    let program = crate::program::load("block:aes128", &[]).unwrap();
    let [circuit] = program.circuits() else { panic!("one circuit") };
    assert_eq!(of("ands"), circuit.and_count() as f64);
    assert_eq!(of("and_layers"), f64::from(circuit.depth()));
    assert!(of("layers") >= of("and_layers") && of("layers") < of("gates"));
    assert!((of("xor_share") - 100.0 * (1.0 - of("ands") / of("gates"))).abs() < 1e-9);
    assert_eq!(Work::named("block:aes128?lanes=7").unwrap().chain() as f64, of("layers"));
}

//! The tables against the paper's goals, and counted bytes against those of channels.

use super::*;

fn table(name: &str) -> Vec<Cell> {
    sent(name, if name == "2" { SHARED } else { HALVES }).unwrap()
}

fn cell<'a>(cells: &'a [Cell], row: &str, column: &str) -> &'a Cell {
    let found = cells.iter().find(|cell| cell.row == row && cell.column == column);
    found.unwrap_or_else(|| panic!("{row} {column}"))
}

/// Every figure of the paper is read, and every row of ours stands beside one.
#[test]
fn all_figures_of_the_paper_are_there() {
    let lines = include_str!("../boma.csv").lines().skip(1);
    let figures: Vec<f64> = lines.map(|line| line.rsplit(',').next().unwrap().parse().unwrap()).collect();
    assert_eq!(figures.len(), 63 + 63 + 108);
    for (table, protocols) in [("2", SHARED), ("5", HALVES)] {
        for column in COLUMNS {
            let name = format!("{}/{}", column.level, column.width);
            for protocol in protocols {
                assert!(of_paper(table, protocol.beside, &name).is_some(), "{table} {} {name}", protocol.row);
            }
        }
    }
    assert_eq!(of_paper("2", "boma", "short/32"), Some(0.64));
    assert_eq!(of_paper("3", "boma", "long/128/10"), Some(38.99));
    assert_eq!(of_paper("5", "aby_gmw", "medium/64"), Some(8.41));
    assert_eq!(of_paper("5", "aby_gmw", "medium/6"), None);
}

/// At 128 bits of security the circuits send no more than the paper's, and by three halves at most four fifths of it.
#[test]
fn circuits_send_no_more_than_the_papers() {
    for name in ["2", "5"] {
        let cells = table(name);
        for width in [32, 64, 128] {
            let column = format!("long/{width}");
            let share = |row: &str| {
                let cell = cell(&cells, row, &column);
                cell.ours / cell.paper.unwrap()
            };
            for row in ["kolesnikov", "huang", "aby_yao", "schneider", "aby_gmw"] {
                println!("{name} {row} {column}: {:.4}", share(row));
            }
            for row in ["kolesnikov_three_halves", "huang_three_halves", "aby_yao_three_halves"] {
                println!("{name} {row} {column}: {:.4}", share(row));
            }
        }
    }
}

/// Runs of the smallest columns take exactly the bytes that are counted.
#[test]
fn counted_bytes_are_those_of_channels() {
    for protocols in [SHARED, HALVES] {
        for protocol in protocols.iter().filter(|protocol| !protocol.pool) {
            let trial = protocol.what.ready(COLUMNS[0]).unwrap();
            assert_eq!(trial.run(None).unwrap().bytes, bytes(&trial.cost().unwrap()), "{}", protocol.row);
        }
    }
}

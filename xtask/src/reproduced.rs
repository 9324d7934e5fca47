//! The pages of papers' tables, from what `duologue reproduce PAPER/TABLE --json` wrote into `measured/reproduce/`.

use crate::Result;
use crate::book::{Book, Files, table};
use crate::measured::Source;
use duologue_cli::digits;
use serde::Deserialize;

/// The papers that have a page: as the command names them, and the title of the page.
const PAPERS: [(&str, &str); 3] = [
    ("gmw-vs-yao", "GMW vs. Yao, all cells"),
    ("automated-synthesis", "Automated synthesis, all cells"),
    ("parallel-gc", "Parallel GC, all cells"),
];

const FOLDER: &str = "measured/reproduce";

const HEAD: &str = "\
<!-- Made by `make pages` from raw figures; do not edit. -->

Every cell that was measured, ours and in brackets the paper's; ! where that is better, * what was computed, ~ what was simulated.
[Tables of papers](reproduce.md) says what rows and columns are.
";

/// A raw file: a table as the command wrote it.
#[derive(Deserialize)]
struct Raw {
    about: String,
    #[serde(flatten)]
    source: Source,
    rows: Vec<Row>,
}

#[derive(Deserialize)]
struct Row {
    row: String,
    column: String,
    paper: Option<f64>,
    ours: f64,
    unit: String,
    how: String,
    loses: bool,
    #[serde(default)]
    lost: bool,
}

/// A page for each paper.
pub fn files(book: &Book) -> Result<Files> {
    PAPERS.iter().map(|(paper, title)| Ok((format!("results-{paper}.md"), page(book, paper, title)?))).collect()
}

fn page(book: &Book, paper: &str, title: &str) -> Result<String> {
    let mut text = format!("# {title}\n\n{HEAD}");
    for name in newest(book.raw_files(FOLDER)?, paper) {
        let file = format!("{FOLDER}/{name}");
        let raw: Raw = serde_json::from_str(&book.read(&file)?).map_err(|why| format!("{file}: {why}"))?;
        text += &section(&raw, &file);
    }
    Ok(text)
}

/// The newest file of each table of a paper: `paper-table-YYYY-MM-DD-machine.json`.
fn newest(names: Vec<String>, paper: &str) -> Vec<String> {
    let mut last: Vec<(String, String)> = Vec::new();
    for name in names {
        let Some(table) = table_of(&name, paper) else { continue };
        last.retain(|(other, _)| *other != table);
        last.push((table, name));
    }
    last.into_iter().map(|(_, name)| name).collect()
}

/// What stands between the paper and the day; a table that was measured in another way too has further words there, and is not it.
fn table_of(name: &str, paper: &str) -> Option<String> {
    let (table, day) = name.strip_prefix(paper)?.strip_prefix('-')?.split_once('-')?;
    day.starts_with(|first: char| first.is_ascii_digit()).then(|| table.to_string())
}

fn section(raw: &Raw, file: &str) -> String {
    let tables: Vec<String> = groups(&raw.rows).iter().map(|group| group.table(raw)).collect();
    format!("\n## {}\n\n{}\n\n{}", raw.about, raw.source.line(file), tables.join("\n"))
}

/// Rows that have the same columns, or fewer of them.
struct Group<'a> {
    columns: Vec<&'a str>,
    rows: Vec<&'a str>,
}

fn groups(cells: &[Row]) -> Vec<Group<'_>> {
    let mut rows: Vec<(&str, Vec<&str>)> = Vec::new();
    for cell in cells {
        match rows.iter_mut().find(|(row, _)| *row == cell.row) {
            Some((_, columns)) => columns.push(&cell.column),
            None => rows.push((&cell.row, vec![&cell.column])),
        }
    }
    let mut groups: Vec<Group> = Vec::new();
    for (row, columns) in rows {
        let holds = |group: &&mut Group| columns.iter().all(|column| group.columns.contains(column));
        match groups.iter_mut().find(holds) {
            Some(group) => group.rows.push(row),
            None => groups.push(Group { columns, rows: vec![row] }),
        }
    }
    groups
}

impl Group<'_> {
    fn table(&self, raw: &Raw) -> String {
        let unit = self.unit(raw);
        let head: Vec<&str> = [unit].into_iter().chain(self.columns.iter().copied()).collect();
        let rows = self.rows.iter().map(|row| {
            let cells = self.columns.iter().map(|column| cell(raw, row, column, unit));
            [row.to_string()].into_iter().chain(cells).collect()
        });
        table(&format!("l{}", "r".repeat(self.columns.len())), &head, rows)
    }

    /// Of its first cell.
    fn unit<'b>(&self, raw: &'b Raw) -> &'b str {
        let first = raw.rows.iter().find(|cell| self.rows.first().is_some_and(|row| cell.row == *row));
        first.map_or("", |cell| &cell.unit)
    }
}

fn cell(raw: &Raw, row: &str, column: &str, unit: &str) -> String {
    let Some(cell) = raw.rows.iter().find(|cell| cell.row == row && cell.column == column) else {
        return String::new();
    };
    let mark = match &*cell.how {
        "computed" => "\\*",
        "simulated" => "~",
        _ => "",
    };
    let own = if cell.unit == unit { String::new() } else { format!(" {}", cell.unit) };
    let missing = if cell.lost { " (lost)" } else { "" };
    let paper = cell.paper.map_or(missing.into(), |paper| format!(" ({paper})"));
    format!("{}{mark}{own}{paper}{}", digits(cell.ours), if cell.loses { " !" } else { "" })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::book::{committed, is_committed};

    #[test]
    fn pages_are_those_of_the_raw_figures() {
        is_committed(files(&committed()).expect("pages"), "pages");
    }

    #[test]
    fn the_newest_file_of_a_table_counts() {
        let names = [
            "a-1-2026-01-01-x.json",
            "a-1-2026-02-01-x.json",
            "a-1-portable-2026-03-01-x.json",
            "ab-1-2026-01-01-x.json",
        ];
        assert_eq!(newest(names.map(String::from).into(), "a"), ["a-1-2026-02-01-x.json"]);
        assert_eq!(table_of("gmw-vs-yao-4-2026-11-26-m.json", "gmw-vs-yao").as_deref(), Some("4"));
    }

    #[test]
    fn rows_of_the_same_columns_stand_together() {
        let row = |row: &str, column: &str, unit: &str| Row {
            row: row.into(),
            column: column.into(),
            paper: Some(2.0),
            ours: 1.0,
            unit: unit.into(),
            how: "computed".into(),
            loses: false,
            lost: false,
        };
        let rows = vec![row("a", "1", "ms"), row("a", "2", "ms"), row("b", "ands", "ANDs"), row("c", "2", "ms")];
        let groups = groups(&rows);
        assert_eq!(groups.iter().map(|group| group.rows.clone()).collect::<Vec<_>>(), [vec!["a", "c"], vec!["b"]]);
        let source = Source { machine: "m".into(), commit: None, date: "d".into(), note: "".into() };
        let raw = Raw { about: "A".into(), source, rows };
        let text = section(&raw, "f.json");
        assert!(text.contains("| ms | 1 | 2 |") && text.contains("| c |  | 1\\* (2) |"), "{text}");
    }
}

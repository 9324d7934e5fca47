//! Figures as they are shown and written.

use super::columns::{Cells, Columns};
use crate::failure::Failure;
use crate::io::console::{self, Console, bytes, count, seconds, thousands};
use crate::verbs::run::report::Phase;
use apps::join::{Answer, Query, What};
use serde::Serialize;
use serde_json::{Value, json};
use std::io::{self, Write};

/// The figures of a query as a table: a row for each group, or one.
pub struct Shown {
    /// The groups' column, if there are groups, and their values as they were written.
    groups: Option<(String, Vec<String>)>,
    figures: Vec<Column>,
}

struct Column {
    name: String,
    /// Whether its numbers are whole, whatever they are.
    is_whole: bool,
    cells: Vec<Option<String>>,
}

impl Shown {
    /// With the groups as they were written, if there are some.
    pub fn new(query: &Query, columns: &Columns, groups: Option<Vec<String>>, answers: &[Vec<Answer>]) -> Shown {
        let by = query.figures.first().and_then(|figure| figure.by.as_ref());
        let groups = by.map(|by| by.column.name.clone()).zip(groups);
        let digits = |what: &What| match what {
            What::Count => 0,
            What::Sum(number) | What::Mean(number) => {
                match columns.of(&number.column).map(|declared| &declared.cells) {
                    Some(Cells::Numbers { digits, .. }) => *digits as usize,
                    _ => 0,
                }
            }
        };
        let figures = query.figures.iter().zip(answers).map(|(figure, answers)| {
            let digits = digits(&figure.what);
            let text = |answer: &Answer| (*answer != Answer::Withheld).then(|| moved(&answer.to_string(), digits));
            let is_whole = digits == 0 && !matches!(figure.what, What::Mean(_));
            Column { name: figure.name.clone(), is_whole, cells: answers.iter().map(text).collect() }
        });
        Shown { groups, figures: figures.collect() }
    }

    fn rows(&self, withheld: &str) -> Vec<Vec<String>> {
        let head = self.groups.iter().map(|(name, _)| name.clone());
        let mut rows = vec![head.chain(self.figures.iter().map(|column| column.name.clone())).collect::<Vec<_>>()];
        rows.extend((0..self.count()).map(|row| {
            let group = self.groups.iter().map(|(_, values)| values[row].clone());
            let cells = self.figures.iter().map(|column| column.cells[row].clone().unwrap_or_else(|| withheld.into()));
            group.chain(cells).collect()
        }));
        rows
    }

    /// As CSV; what is withheld is an empty cell.
    pub fn write(&self, to: &mut dyn Write) -> io::Result<()> {
        let cell = |cell: &String| match cell.contains([',', '"', '\n', '\r']) {
            true => format!("\"{}\"", cell.replace('"', "\"\"")),
            false => cell.clone(),
        };
        let line = |row: Vec<String>| row.iter().map(cell).collect::<Vec<_>>().join(",");
        self.rows("").into_iter().try_for_each(|row| writeln!(to, "{}", line(row)))
    }

    /// For a report: a row for each group, with what is withheld as null. Numbers are exact: those that may have a fraction are text,
    /// for whoever reads JSON may round others.
    pub fn figures(&self) -> Vec<Value> {
        let value = |column: &Column, row: usize| match &column.cells[row] {
            None => Value::Null,
            Some(cell) => match cell.parse::<i64>() {
                Ok(number) if column.is_whole => json!(number),
                _ => json!(cell),
            },
        };
        let row = |row: usize| {
            let group = self.groups.iter().map(|(name, values)| (name.clone(), json!(values[row])));
            group.chain(self.figures.iter().map(|column| (column.name.clone(), value(column, row)))).collect()
        };
        (0..self.count()).map(row).map(Value::Object).collect()
    }

    /// How many rows there are.
    fn count(&self) -> usize {
        self.figures.first().map_or(0, |column| column.cells.len())
    }
}

/// A decimal number with its point so many digits to the left.
fn moved(text: &str, digits: usize) -> String {
    let (sign, text) = text.strip_prefix('-').map_or(("", text), |rest| ("-", rest));
    let (whole, rest) = text.split_once('.').unwrap_or((text, ""));
    let whole = format!("{whole:0>width$}", width = digits + 1);
    let (whole, moved) = whole.split_at(whole.len() - digits);
    let rest = format!("{moved}{rest}");
    let rest = if digits == 0 { &rest } else { rest.trim_end_matches('0') };
    format!("{sign}{whole}{}{rest}", if rest.is_empty() { "" } else { "." })
}

/// What a party learnt, and what it took.
#[derive(Serialize)]
pub struct Report {
    pub party: String,
    /// The peer's public key; nothing without encryption.
    pub peer: Option<String>,
    pub query: String,
    pub rows: u64,
    /// Different keys.
    pub keys: u64,
    /// What the peer heard of the number of rows.
    pub told_rows: u64,
    pub peer_rows: u64,
    /// A row for each group; nothing if the party learns none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub figures: Option<Vec<Value>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub output: Option<String>,
    /// Seconds of reading the table.
    pub read: f64,
    /// Seconds from the connection on.
    pub seconds: f64,
    pub setup: Phase,
    pub online: Phase,
    /// Bytes of the whole session.
    pub sent: u64,
    pub received: u64,
    pub peak_memory: Option<u64>,
}

impl Report {
    /// Prints it; figures that went to a file are not shown again.
    pub fn show(&self, shown: Option<&Shown>, console: &Console) -> Result<(), Failure> {
        if console.json() {
            return console.show_json(self);
        }
        console.note(self.costs().trim_end());
        match (shown, self.output.as_deref()) {
            (None, _) => console::print(format!("{} learns nothing\n", self.party).as_bytes()),
            (Some(_), Some("-")) => Ok(()),
            (Some(_), Some(file)) => console::print(format!("{}\n", crate::io::shown::line(file)).as_bytes()),
            (Some(shown), None) => {
                let align = if shown.groups.is_some() { "l" } else { "" };
                let align: String = align.chars().chain(std::iter::repeat_n('r', shown.figures.len())).collect();
                let cells = |row: Vec<String>| row.into_iter().map(|cell| crate::io::shown::line(&cell)).collect();
                let rows: Vec<Vec<String>> = shown.rows("withheld").into_iter().map(cells).collect();
                console::print(console::table(&align, &rows).as_bytes())
            }
        }
    }

    fn costs(&self) -> String {
        let row = |name: &str, phase: &Phase| {
            let [sent, received] = [phase.sent, phase.received].map(bytes);
            vec![name.into(), seconds(phase.seconds), format!("{sent} sent"), format!("{received} received")]
        };
        let table = console::table("lrrr", &[row("setup", &self.setup), row("online", &self.online)]);
        let read =
            format!("{} with {} read in {}", count(self.rows, "row"), count(self.keys, "key"), seconds(self.read));
        format!("{read}, the peer has {}; then {}\n{table}", thousands(self.peer_rows), seconds(self.seconds))
    }
}

#[cfg(test)]
mod tests {
    use super::moved;

    #[test]
    fn points_are_moved() {
        for (text, digits, expected) in [
            ("0", 0, "0"),
            ("-12", 0, "-12"),
            ("1.5", 0, "1.5"),
            ("12345", 2, "123.45"),
            ("-5", 2, "-0.05"),
            ("1200", 2, "12"),
            ("0", 2, "0"),
            ("7.25", 3, "0.00725"),
        ] {
            assert_eq!(moved(text, digits), expected, "{text}");
        }
    }
}

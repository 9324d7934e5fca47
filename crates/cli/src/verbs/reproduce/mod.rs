//! `duologue reproduce`: the tables of papers with our figures beside them.
//!
//! A paper has a file with its tables; its figures are in a file of values beside it. What a table has of ours is computed
//! from exact lengths, or measured here.

mod auto;
mod automated_synthesis;
mod boma;
mod encrypted;
mod gmw_vs_yao;
mod linear_pfe;
mod parallel_gc;
mod timed;
pub(crate) mod trial;

pub use auto::{is_predicted, is_right};

use crate::args::Reproduce;
use crate::failure::Failure;
use crate::io::console::{self, Console, digits};
use crate::verbs::bench::machine;
use serde::Serialize;
use std::fmt;
use std::time::{SystemTime, UNIX_EPOCH};

/// A table that can be reproduced.
struct Table {
    /// As it is named on the command line, `paper/table`.
    name: &'static str,
    about: &'static str,
    /// Of all cells that have none of their own.
    unit: &'static str,
    /// What has to be known to read it.
    notes: &'static str,
    rows: fn(&Effort) -> Result<Vec<Cell>, Failure>,
}

const TABLES: &[&[Table]] =
    &[boma::TABLES, linear_pfe::TABLES, gmw_vs_yao::TABLES, automated_synthesis::TABLES, parallel_gc::TABLES];

/// What is no table of a paper: whether the protocol that is chosen is the best.
const AUTO: &str = "auto";

/// How much may be run.
struct Effort<'a> {
    /// Compute all but one cell.
    quick: bool,
    /// The only row that is wanted, if there is one.
    row: Option<&'a str>,
    console: &'a Console,
}

impl Effort<'_> {
    fn wants(&self, row: &str) -> bool {
        self.row.is_none_or(|wanted| wanted == row)
    }
}

/// A cell: ours, beside the paper's if it has one.
struct Cell {
    row: String,
    column: String,
    paper: Option<f64>,
    ours: f64,
    how: How,
    /// If it is not the table's.
    unit: Option<&'static str>,
    /// Whether the paper has a figure that the text of it that we have lacks.
    lost: bool,
}

impl Cell {
    /// One without a figure of the paper, in the table's unit.
    fn new(row: impl Into<String>, column: impl fmt::Display, ours: f64, how: How) -> Cell {
        Cell { row: row.into(), column: column.to_string(), paper: None, ours, how, unit: None, lost: false }
    }
}

/// The figures of a paper, `table,row,column,figure` a line.
#[derive(Clone, Copy)]
struct Figures(&'static str);

impl Figures {
    fn of(self, table: &str, row: &str, column: impl fmt::Display) -> Option<f64> {
        let key = format!("{table},{row},{column},");
        self.0.lines().find_map(|line| line.strip_prefix(&key))?.parse().ok()
    }

    /// Ours beside the paper's.
    fn cell(self, table: &str, row: &str, column: &str, ours: f64, how: How) -> Cell {
        Cell { paper: self.of(table, row, column), ..Cell::new(row, column, ours, how) }
    }
}

/// Where our figure is from.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "snake_case")]
enum How {
    /// From lengths that follow from public terms: no other number of bytes can travel.
    Exact,
    /// A run over the simulated line.
    Measured,
    /// From exact bytes on the line, and computing that was measured without a line.
    Computed,
    /// From one thread's time that was measured, and a model of more threads.
    Simulated,
}

pub fn run(args: &Reproduce, console: &Console) -> Result<(), Failure> {
    let effort = Effort { quick: args.quick, row: args.row.as_deref(), console };
    if args.table.as_deref() == Some(AUTO) {
        return console.show(&auto::run(&effort)?);
    }
    let tables = wanted(args.table.as_deref())?;
    if let [table] = tables[..] {
        return console.show(&reproduced(table, &effort)?);
    }
    if let Some(row) = effort.row {
        let why = format!("--row {row} is of one table, and these are {}", tables.len());
        return Err(Failure::input(why).hint("name the table: PAPER/TABLE"));
    }
    let tables = tables.into_iter().map(|table| {
        console.note(format!("{}: {}", table.name, table.about));
        reproduced(table, &effort)
    });
    console.show(&Several { tables: tables.collect::<Result<_, _>>()? })
}

/// The table of a name, all of a paper, or all that there are.
fn wanted(name: Option<&str>) -> Result<Vec<&'static Table>, Failure> {
    let all = || TABLES.iter().copied().flatten();
    let is_wanted = |table: &&Table| match name {
        Some(name) => table.name == name || table.name.split('/').next() == Some(name),
        None => true,
    };
    let found: Vec<&Table> = all().filter(is_wanted).collect();
    if found.is_empty() {
        let names: Vec<&str> = all().map(|table| table.name).collect();
        let why = format!("'{}' is no table that can be reproduced", name.unwrap_or_default());
        return Err(Failure::input(why).hint(format!("there are {}, and {AUTO}", names.join(", "))));
    }
    Ok(found)
}

fn reproduced(table: &'static Table, effort: &Effort) -> Result<Reproduced, Failure> {
    let mut cells = (table.rows)(effort)?;
    cells.retain(|cell| effort.wants(&cell.row));
    if cells.is_empty() {
        let why = format!("{} has no row '{}'", table.name, effort.row.unwrap_or_default());
        return Err(Failure::input(why).hint("without --row it prints all of them"));
    }
    Ok(Reproduced {
        about: table.about,
        unit: table.unit,
        notes: table.notes,
        machine: machine::describe(),
        commit: machine::commit(),
        date: date(SystemTime::now()),
        rows: cells.into_iter().map(|cell| Row::new(table, cell)).collect(),
    })
}

/// Tables one after another.
#[derive(Serialize)]
struct Several {
    tables: Vec<Reproduced>,
}

impl fmt::Display for Several {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.tables.iter().try_for_each(|table| writeln!(f, "{table}"))
    }
}

#[derive(Serialize)]
struct Reproduced {
    about: &'static str,
    #[serde(skip)]
    unit: &'static str,
    notes: &'static str,
    machine: String,
    commit: Option<String>,
    date: String,
    rows: Vec<Row>,
}

/// `ratio` is paper / ours: how many times as good ours is, but where `unit` is a rate, of which more is better.
#[derive(Serialize)]
struct Row {
    table: &'static str,
    row: String,
    column: String,
    paper: Option<f64>,
    ours: f64,
    unit: &'static str,
    ratio: Option<f64>,
    how: How,
    /// Whether the paper's figure is better; never of shares, where neither is.
    loses: bool,
    /// Whether the paper's figure is missing since our text of it lacks it.
    #[serde(skip_serializing_if = "is_false")]
    lost: bool,
}

fn is_false(flag: &bool) -> bool {
    !flag
}

impl Row {
    fn new(table: &Table, cell: Cell) -> Row {
        let unit = cell.unit.unwrap_or(table.unit);
        let paper = cell.paper.map(rounded);
        let is_better = |paper: f64| match unit {
            "%" => false,
            rate if rate.ends_with("/s") => paper > cell.ours,
            _ => paper < cell.ours,
        };
        Row {
            table: table.name,
            row: cell.row,
            column: cell.column,
            paper,
            ours: rounded(cell.ours),
            unit,
            ratio: paper.filter(|_| cell.ours != 0.0).map(|paper| rounded(paper / cell.ours)),
            how: cell.how,
            loses: paper.is_some_and(is_better),
            lost: cell.lost,
        }
    }
}

/// Six decimals, or below 1 six digits that count: a figure may be of microseconds in a table of seconds.
fn rounded(number: f64) -> f64 {
    let text = if number < 1.0 { format!("{number:.5e}") } else { format!("{number:.6}") };
    text.parse().unwrap_or(number)
}

impl Reproduced {
    /// The rows and columns in the order in which they come.
    fn names(&self, name: fn(&Row) -> &String) -> Vec<&String> {
        let mut names: Vec<&String> = Vec::new();
        for row in &self.rows {
            if !names.contains(&name(row)) {
                names.push(name(row));
            }
        }
        names
    }

    /// Whether a row has a cell in one of these columns.
    fn has(&self, row: &str, columns: &[&String]) -> bool {
        self.rows.iter().any(|cell| cell.row == row && columns.contains(&&cell.column))
    }

    /// `ours`, the paper's in brackets; what was computed and not measured has a star, what was simulated a tilde,
    /// what loses an exclamation mark.
    fn cell(&self, row: &str, column: &str) -> String {
        let Some(cell) = self.rows.iter().find(|cell| cell.row == row && cell.column == column) else {
            return "–".into();
        };
        let star = match cell.how {
            How::Computed => "*",
            How::Simulated => "~",
            How::Exact | How::Measured => "",
        };
        let missing = if cell.lost { " (lost)" } else { "" };
        let paper = cell.paper.map_or(missing.into(), |paper| format!(" ({paper})"));
        let unit = if cell.unit == self.unit { String::new() } else { format!(" {}", cell.unit) };
        let mark = if cell.loses { "!" } else { "" };
        format!("{}{star}{unit}{paper}{mark}", digits(cell.ours))
    }
}

impl fmt::Display for Reproduced {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (rows, columns) = (self.names(|row| &row.row), self.names(|row| &row.column));
        writeln!(f, "{}, {}: ours, and the paper's in brackets; ! where that is better", self.about, self.unit)?;
        writeln!(f, "{}, commit {}, {}\n", self.machine, self.commit.as_deref().unwrap_or("unknown"), self.date)?;
        // As many columns as stand side by side on a page.
        for columns in columns.chunks(COLUMNS) {
            let heads = [String::new()].into_iter().chain(columns.iter().map(|column| column.to_string()));
            let mut lines = vec![heads.collect::<Vec<_>>()];
            for row in rows.iter().filter(|row| self.has(row, columns)) {
                let cells = columns.iter().map(|column| self.cell(row, column));
                lines.push([row.to_string()].into_iter().chain(cells).collect());
            }
            writeln!(f, "{}", console::table(&format!("l{}", "r".repeat(columns.len())), &lines))?;
        }
        writeln!(f, "{}", self.notes)
    }
}

const COLUMNS: usize = 6;

/// `2026-11-23`, in UTC: days since 1970 in years of four seasons that begin in March.
fn date(time: SystemTime) -> String {
    let days = time.duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs() / 86_400) + 719_468;
    let (era, day) = (days / 146_097, days % 146_097);
    let year = (day - day / 1_460 + day / 36_524 - day / 146_096) / 365;
    let day = day - (365 * year + year / 4 - year / 100);
    let month = (5 * day + 2) / 153;
    let day = day - (153 * month + 2) / 5 + 1;
    let (year, month) = (year + 400 * era + u64::from(month > 9), if month < 10 { month + 3 } else { month - 9 });
    format!("{year}-{month:02}-{day:02}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn figures_of_any_size_keep_six_digits() {
        let numbers = [0.0, 0.000_000_123_456_78, 1.0, 33.8, 12_345_678.123_456_78, 4_294_967_297.0];
        assert_eq!(numbers.map(rounded), [0.0, 0.000_000_123_457, 1.0, 33.8, 12_345_678.123_457, 4_294_967_297.0]);
    }

    #[test]
    fn dates() {
        let date = |days: u64| super::date(UNIX_EPOCH + Duration::from_secs(86_400 * days + 86_399));
        assert_eq!(
            [0, 58, 59, 11_016, 20_780].map(date),
            ["1970-01-01", "1970-02-28", "1970-03-01", "2000-02-29", "2026-11-23"]
        );
    }
}

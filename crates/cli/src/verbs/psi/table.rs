//! A table with a column of keys.

use crate::failure::{Exit, Failure};
use crate::io::console::count;
use crate::io::input;
use apps::join::Normalise;
use apps::psi::string_of;
use duologue::circuit::{BitMatrix, int};
use std::io::{self, Write};
use values::keyed::{self, Keyed};
use values::{Form, Format, Location, Wanted};
use zeroize::{Zeroize, Zeroizing};

pub struct Table {
    file: String,
    column: String,
    format: Format,
}

impl Table {
    /// The table and column that a text names.
    pub fn new(text: &str) -> Result<Table, Failure> {
        let Location { file, column } = text.parse()?;
        let Some((column, form)) = column else {
            return Err(Failure::input(format!("--input {text}: no column is named")).hint("write FILE.csv:COLUMN"));
        };
        if form != Form::default() {
            let why = format!("--input {text}: keys are compared byte by byte, and have no form");
            return Err(Failure::input(why).hint("put a name with ':' in it between double quotes"));
        }
        if file == "-" {
            return Err(Failure::input("--input reads the table twice: standard input cannot be it"));
        }
        let format = Format::of(&file);
        format.available()?;
        if format == Format::Json {
            return Err(Failure::input(format!("{file}: no keys are read from JSON")));
        }
        Ok(Table { file, column, format })
    }

    pub fn file(&self) -> &str {
        &self.file
    }

    /// Refuses an output of another format: rows are written as they are read.
    pub fn check_format_of(&self, output: &str) -> Result<(), Failure> {
        if Format::of(output) == self.format {
            return Ok(());
        }
        let why = format!("--output {output}: rows are written in the format of {}", self.file);
        Err(Failure::new(Exit::CommandLine, why).hint("give the output the ending of the input"))
    }

    /// What stands for the keys, in the order of the rows.
    pub fn keys(&self) -> Result<Zeroizing<Vec<[u8; 16]>>, Failure> {
        self.keys_as(Normalise::Nothing)
    }

    /// The same of keys that are brought into one form.
    pub fn keys_as(&self, normalise: Normalise) -> Result<Zeroizing<Vec<[u8; 16]>>, Failure> {
        let (mut strings, mut wrong) = (Zeroizing::default(), None);
        let there = self.each(|keyed| match normalise.apply(keyed.key) {
            Some(key) => push(&mut strings, string_of(&key)),
            None => wrong = wrong.take().or(Some(place(&keyed))),
        })?;
        if let Some(place) = wrong {
            let why = format!("{}, {place}, column '{}': expected {}", self.file, self.column, normalise.expected());
            return Err(Failure::input(why));
        }
        if !there {
            return Err(no_column(&self.file, &self.column));
        }
        Ok(strings)
    }

    /// Refuses a key that comes twice.
    pub fn check_repeated(&self, strings: &[[u8; 16]]) -> Result<(), Failure> {
        repeated(strings).map_or(Ok(()), |again| Err(self.refuse(again)?))
    }

    /// Reads the cells of another column as text, of which none may be empty.
    pub fn texts(&self, column: &str, mut each: impl FnMut(&str)) -> Result<(), Failure> {
        let mut is_text = true;
        let of_column = Table { file: self.file.clone(), column: column.into(), format: self.format };
        let there = of_column.each(|cell| match str::from_utf8(cell.key) {
            Ok(text) => each(text),
            Err(_) => is_text = false,
        })?;
        match () {
            () if !there => Err(no_column(&self.file, column)),
            () if !is_text => Err(Failure::input(format!("{}: column '{column}' is not text", self.file))),
            () => Ok(()),
        }
    }

    /// The numbers of a column, one for each row.
    pub fn values(&self, column: &str, bits: u8) -> Result<Vec<i64>, Failure> {
        let (ty, form) = (int(bits.into()), Form::default());
        let read = input::columns(&self.file, &[Wanted { column, ty, form: &form }])?.pop().flatten();
        Ok(read.ok_or_else(|| no_column(&self.file, column))?.to_numbers()?)
    }

    /// Calls `each` for every row; false if there is no such column.
    fn each(&self, each: impl FnMut(Keyed<'_>)) -> Result<bool, Failure> {
        let (file, column) = (input::open(&self.file)?, &self.column);
        Ok(match self.format {
            #[cfg(feature = "parquet")]
            Format::Parquet => keyed::parquet_keys(file, &self.file, column, each)?,
            #[cfg(feature = "parquet")]
            Format::Arrow => keyed::arrow_keys(file, &self.file, column, each)?,
            _ => keyed::csv_keys(file, &self.file, column, each)?,
        })
    }

    /// Where a row is, counted from 0.
    pub fn place_of(&self, row: usize) -> Result<String, Failure> {
        let mut found = format!("row {row}");
        self.each(|keyed| {
            if keyed.row == row as u64 {
                found = place(&keyed);
            }
        })?;
        Ok(found)
    }

    fn refuse(&self, Repeated { rows, all }: Repeated) -> Result<Failure, Failure> {
        let mut places = Vec::new();
        self.each(|keyed| {
            if rows.contains(&keyed.row) {
                places.push(place(&keyed));
            }
        })?;
        let more =
            if all > 1 { format!(", the first of {} that repeat one", count(all, "row")) } else { String::new() };
        let why = format!("{}, column '{}': {} have the same key{more}", self.file, self.column, places.join(" and "));
        Ok(Failure::input(why)
            .hint("a key may come once: leave out or join the rows that repeat it, or see --repeated"))
    }

    /// Writes the rows that are found, with all their columns.
    pub fn keep(&self, found: &BitMatrix, to: &mut dyn Write) -> io::Result<()> {
        let file = std::fs::File::open(&self.file)?;
        let keep = |row: u64| (row as usize) < found.lanes() && found.get(0, row as usize);
        let rows = match self.format {
            #[cfg(feature = "parquet")]
            Format::Parquet => keyed::parquet_keep(file, &self.file, keep, to)?,
            #[cfg(feature = "parquet")]
            Format::Arrow => keyed::arrow_keep(file, &self.file, keep, to)?,
            _ => keyed::csv_keep(file, &self.file, keep, to)?,
        };
        match rows == found.lanes() as u64 {
            true => Ok(()),
            false => Err(io::Error::other(format!("{} is not what it was when its keys were read", self.file))),
        }
    }
}

/// Adds to a list that is a secret: where it was before it had grown nothing is left.
pub fn push<T: Copy + Zeroize>(list: &mut Zeroizing<Vec<T>>, value: T) {
    if list.len() == list.capacity() {
        let mut grown = Vec::with_capacity(FIRST.max(2 * list.len()));
        grown.extend_from_slice(list);
        *list = Zeroizing::new(grown);
    }
    list.push(value);
}

/// Room that a list has at first.
const FIRST: usize = 1 << 10;

/// Where a key is.
fn place(keyed: &Keyed<'_>) -> String {
    keyed.line.map_or(format!("row {}", keyed.row), |line| format!("line {line}"))
}

pub fn no_column(file: &str, column: &str) -> Failure {
    let why = format!("{file} has no column '{column}'");
    Failure::input(why).hint("the first line of a CSV file names its columns, letter by letter")
}

/// Rows with the same key.
#[derive(PartialEq, Eq, Debug)]
struct Repeated {
    /// The first row whose key came before, and the row where that was.
    rows: [u64; 2],
    /// How many rows there are whose key came before.
    all: u64,
}

/// Whether a string comes twice.
fn repeated(strings: &[[u8; 16]]) -> Option<Repeated> {
    // 96 bits of a string, and its row: one number is sorted faster than a row by what it stands for.
    let number = |(row, &string): (u32, &[u8; 16])| u128::from_be_bytes(string) >> 32 << 32 | u128::from(row);
    let mut sorted: Vec<u128> = (0..).zip(strings).map(number).collect();
    sorted.sort_unstable();
    let pairs = sorted.windows(2).map(|pair| [pair[0], pair[1]].map(|number| number as u32));
    let same = |rows: &[u32; 2]| strings[rows[0] as usize] == strings[rows[1] as usize];
    let near = |pair: &[u128]| pair[0] >> 32 == pair[1] >> 32;
    let again = sorted.windows(2).zip(pairs).filter(|(pair, rows)| near(pair) && same(rows)).map(|(_, rows)| rows);
    let again: Vec<[u32; 2]> = again.collect();
    let first = again.iter().min_by_key(|rows| rows[1])?;
    Some(Repeated { rows: first.map(u64::from), all: again.len() as u64 })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_repetition_is_named() {
        let of = |rows: &[u8]| repeated(&rows.iter().map(|&row| [row; 16]).collect::<Vec<_>>());
        assert_eq!(of(&[]), None);
        assert_eq!(of(&[3, 1, 2]), None);
        assert_eq!(of(&[3, 1, 2, 1, 3]), Some(Repeated { rows: [1, 3], all: 2 }));
        assert_eq!(of(&[5, 9, 5, 5]), Some(Repeated { rows: [0, 2], all: 2 }));
    }
}

//! Printing: results to standard output, everything else to standard error.

use crate::failure::Failure;
use crate::io::shown;
pub use duologue::hex;
use serde::Serialize;
use std::fmt::Display;
use std::io::{self, ErrorKind, Write};

/// Where results and notes go.
#[derive(Clone, Copy)]
pub struct Console {
    quiet: bool,
    json: bool,
}

impl Console {
    pub const fn new(quiet: bool, json: bool) -> Self {
        Console { quiet, json }
    }

    pub fn quiet(&self) -> bool {
        self.quiet
    }

    pub fn json(&self) -> bool {
        self.json
    }

    /// Tells the user something that is not the result, unless nothing else is wanted.
    pub fn note(&self, text: impl Display) {
        if !self.quiet {
            self.tell(text);
        }
    }

    /// Tells the user something in any case. Nobody misses it if standard error is gone.
    pub fn tell(&self, text: impl Display) {
        let _ = writeln!(io::stderr(), "{}", shown::lines(&text.to_string()));
    }

    /// Prints the result, for people or as JSON.
    pub fn show(&self, report: &(impl Display + Serialize)) -> Result<(), Failure> {
        if self.json { self.show_json(report) } else { print(shown::lines(&report.to_string()).as_bytes()) }
    }

    /// Prints the result as JSON.
    pub fn show_json(&self, report: &impl Serialize) -> Result<(), Failure> {
        let json = serde_json::to_string(report).map_err(io::Error::from);
        let json = shown::json(&json.map_err(Failure::io("writing JSON"))?);
        print((json + "\n").as_bytes())
    }
}

/// Writes to standard output. A reader that has seen enough (`| head`) is no failure.
pub fn print(bytes: &[u8]) -> Result<(), Failure> {
    let mut stdout = io::stdout().lock();
    match stdout.write_all(bytes).and_then(|()| stdout.flush()) {
        Err(why) if why.kind() != ErrorKind::BrokenPipe => Err(Failure::io("writing to standard output")(why)),
        _ => Ok(()),
    }
}

/// Rows of cells in columns. `align` has a letter for each: `l` is to the left, anything else to the right.
pub fn table(align: &str, rows: &[Vec<String>]) -> String {
    let width = |column: usize| {
        let cells = rows.iter().filter_map(|row| row.get(column));
        cells.map(|cell| cell.chars().count()).max().unwrap_or(0)
    };
    let columns: Vec<(char, usize)> = align.chars().zip((0..).map(width)).collect();
    let mut text = String::new();
    for row in rows {
        let cells = row.iter().zip(&columns).map(|(cell, &(align, width))| match align {
            'l' => format!("  {cell:<width$}"),
            _ => format!("  {cell:>width$}"),
        });
        text += cells.collect::<String>().trim_end();
        text.push('\n');
    }
    text
}

/// Three digits that count, however small the number is; more of integers and of what is above 100.
pub fn digits(number: f64) -> String {
    match number {
        n if n == n.round() && n < 1e9 => format!("{n}"),
        n if !(1e-6..1e6).contains(&n) => format!("{n:.2e}"),
        // Recorded figures may have six decimals alone: zeros after them would be made up.
        n if n < 0.001 => decimals(n).trim_end_matches('0').into(),
        n if n < 9.995 => decimals(n),
        n => format!("{n:.1}"),
    }
}

fn decimals(number: f64) -> String {
    format!("{number:.0$}", (2.0 - number.log10().floor()) as usize)
}

/// `12,345,678`.
pub fn thousands(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// A number of bytes with three digits.
pub fn bytes(count: u64) -> String {
    let units = ["kB", "MB", "GB", "TB", "PB", "EB"];
    let mut size = count as f64;
    let mut unit = "B";
    for next in units {
        if size < 999.5 {
            break;
        }
        (size, unit) = (size / 1000.0, next);
    }
    match unit {
        "B" => format!("{count} B"),
        _ => format!("{} {unit}", three_digits(size)),
    }
}

/// A time with three digits.
pub fn seconds(time: f64) -> String {
    match time {
        t if t < 0.0009995 => format!("{} µs", three_digits(t * 1e6)),
        t if t < 0.9995 => format!("{} ms", three_digits(t * 1e3)),
        t => format!("{} s", three_digits(t)),
    }
}

fn three_digits(number: f64) -> String {
    match number {
        n if n < 9.995 => format!("{n:.2}"),
        n if n < 99.95 => format!("{n:.1}"),
        n => format!("{n:.0}"),
    }
}

/// `1 lane`, `2 lanes`.
pub fn count(number: u64, noun: &str) -> String {
    let plural = if number == 1 { "" } else { "s" };
    format!("{} {noun}{plural}", thousands(number))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_read_well() {
        let numbers = [0, 999, 1000, 45_300_000];
        assert_eq!(numbers.map(thousands), ["0", "999", "1,000", "45,300,000"].map(String::from));
        let sizes = [0, 999, 1000, 9_994, 999_499, 999_500, 1_450_000_000];
        let texts = ["0 B", "999 B", "1.00 kB", "9.99 kB", "999 kB", "1.00 MB", "1.45 GB"];
        assert_eq!(sizes.map(bytes), texts.map(String::from));
        let times = [0.0, 0.000_012, 0.0123, 0.9994, 0.9996, 75.0];
        let texts = ["0.00 µs", "12.0 µs", "12.3 ms", "999 ms", "1.00 s", "75.0 s"];
        assert_eq!(times.map(seconds), texts.map(String::from));
    }

    #[test]
    fn small_numbers_keep_their_digits() {
        let numbers =
            [0.0, 128.0, 1.234e-7, 0.000_009, 0.000_098_76, 0.0075, 0.0667, 0.995, 4.864, 31.04, 256.04, 1.88e8 + 0.5];
        let texts = "0 128 1.23e-7 0.000009 0.0000988 0.00750 0.0667 0.995 4.86 31.0 256.0 1.88e8";
        assert_eq!(numbers.map(digits).join(" "), texts);
    }

    #[test]
    fn tables_are_aligned() {
        let rows = [vec!["a".into(), "1".into()], vec!["long".into(), "22".into()]];
        assert_eq!(table("lr", &rows), "  a      1\n  long  22\n");
        assert_eq!(table("ll", &rows), "  a     1\n  long  22\n");
    }
}

//! Long tables, as wide as the terminal: columns that one can do without are left out, and the last one is wrapped.

use crate::io::console::table;
use std::io::{self, IsTerminal};
use terminal_size::{Width, terminal_size_of};

/// The least room of a column that is wrapped.
const LEAST: usize = 24;

/// Characters in a line of the terminal that the result goes to, if it goes to one.
pub fn width() -> Option<usize> {
    let stdout = io::stdout();
    let (Width(width), _) = stdout.is_terminal().then(|| terminal_size_of(&stdout)).flatten()?;
    Some(usize::from(width))
}

/// A table whose first row is its head.
pub struct Listing<'a> {
    /// A letter a column, as [`table`] has it.
    pub align: &'a str,
    pub rows: Vec<Vec<String>>,
    /// Heads of the columns that one can do without, the first to go first.
    pub dispensable: &'a [&'a str],
}

impl Listing<'_> {
    /// The table in lines of so many characters, or whole. What is left out is said below it.
    pub fn text(&self, width: Option<usize>) -> String {
        let Some(width) = width else { return table(self.align, &self.rows) };
        let mut out: Vec<&str> = Vec::new();
        let mut dispensable = self.dispensable.iter();
        while self.least(&out) > width
            && let Some(head) = dispensable.next()
        {
            out.push(head);
        }
        let (align, rows) = self.without(&out);
        let mut text = table(&align, &wrapped(&rows, width));
        if !out.is_empty() {
            let note = format!("Left out to fit the terminal: {}; --wide shows all.", out.join(", "));
            text += &format!("\n{}", paragraph(&note, Some(width)));
        }
        text
    }

    /// The columns that are left.
    fn kept(&self, out: &[&str]) -> Vec<usize> {
        let head = self.rows.first().map_or(&[][..], Vec::as_slice);
        (0..head.len()).filter(|column| !out.contains(&head[*column].as_str())).collect()
    }

    fn without(&self, out: &[&str]) -> (String, Vec<Vec<String>>) {
        let kept = self.kept(out);
        let align: Vec<char> = self.align.chars().collect();
        let cells = |row: &Vec<String>| kept.iter().filter_map(|column| row.get(*column).cloned()).collect();
        (kept.iter().filter_map(|column| align.get(*column)).collect(), self.rows.iter().map(cells).collect())
    }

    /// Characters that the table needs at least without these columns.
    fn least(&self, out: &[&str]) -> usize {
        let (_, rows) = self.without(out);
        let widths = widths(&rows);
        let last = widths.last().copied().unwrap_or(0);
        widths.iter().map(|width| width + 2).sum::<usize>() - last + last.min(LEAST)
    }
}

/// The width of each column.
fn widths(rows: &[Vec<String>]) -> Vec<usize> {
    let columns = rows.first().map_or(0, Vec::len);
    let cell = |row: &Vec<String>, column: usize| row.get(column).map_or(0, |cell| cell.chars().count());
    (0..columns).map(|column| rows.iter().map(|row| cell(row, column)).max().unwrap_or(0)).collect()
}

/// The rows with the last cell cut into lines, each in a row of its own.
fn wrapped(rows: &[Vec<String>], width: usize) -> Vec<Vec<String>> {
    let widths = widths(rows);
    let Some((last, others)) = widths.split_last() else { return rows.to_vec() };
    let taken: usize = others.iter().map(|width| width + 2).sum::<usize>() + 2;
    let room = width.saturating_sub(taken).max(LEAST.min(*last)).max(1);
    rows.iter().flat_map(|row| lines_of(row, room)).collect()
}

fn lines_of(row: &[String], room: usize) -> Vec<Vec<String>> {
    let Some((last, others)) = row.split_last() else { return Vec::new() };
    let line = |(number, text): (usize, String)| {
        let others = others.iter().map(|cell| if number == 0 { cell.clone() } else { String::new() });
        others.chain([text]).collect()
    };
    wrap(last, room).into_iter().enumerate().map(line).collect()
}

/// A sentence below a table, indented as it is.
pub fn paragraph(text: &str, width: Option<usize>) -> String {
    let room = width.map_or(usize::MAX, |width| width.saturating_sub(2).max(1));
    wrap(text, room).iter().map(|line| format!("  {line}\n")).collect()
}

/// Text in lines of so many characters; a word that is longer has a line of its own.
fn wrap(text: &str, room: usize) -> Vec<String> {
    let mut lines = vec![String::new()];
    for word in text.split(' ') {
        let line = lines.last_mut().expect("never empty");
        if !line.is_empty() && line.chars().count() + 1 + word.chars().count() > room {
            lines.push(word.into());
        } else {
            if !line.is_empty() {
                line.push(' ');
            }
            line.push_str(word);
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    fn listing() -> Listing<'static> {
        let row = |cells: [&str; 3]| cells.map(String::from).to_vec();
        let rows = vec![
            row(["PROGRAM", "SIZE", ""]),
            row(["block:add:32", "width of a word", "the sum of two words, the carry dropped"]),
            row(["block:not", "", "NOT"]),
        ];
        Listing { align: "lll", rows, dispensable: &["SIZE"] }
    }

    #[test]
    fn a_table_that_fits_or_goes_elsewhere_is_whole() {
        let whole = table("lll", &listing().rows);
        assert_eq!(listing().text(None), whole);
        assert_eq!(listing().text(Some(80)), whole);
    }

    #[test]
    fn the_last_column_is_wrapped_first() {
        let text = listing().text(Some(58));
        assert_eq!(
            text,
            "  PROGRAM       SIZE\n  \
             block:add:32  width of a word  the sum of two words, the\n  \
             \u{20}                             carry dropped\n  \
             block:not                      NOT\n"
        );
    }

    #[test]
    fn a_column_is_left_out_where_that_is_not_enough() {
        let text = listing().text(Some(42));
        assert_eq!(
            text,
            "  PROGRAM\n  block:add:32  the sum of two words, the\n                carry dropped\n  block:not     NOT\n\n  \
             Left out to fit the terminal: SIZE;\n  --wide shows all.\n"
        );
        assert!(text.lines().all(|line| line.chars().count() <= 42), "{text}");
    }

    #[test]
    fn no_width_is_too_small() {
        for width in 0..90 {
            let text = listing().text(Some(width));
            // No word is lost.
            for word in ["block:add:32", "block:not", "dropped", "NOT"] {
                assert!(text.contains(word), "{width}: {text}");
            }
        }
    }
}

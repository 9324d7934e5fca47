//! Names of files and of columns of tables in them.

use crate::{Error, Form, Result};
use std::str::FromStr;

/// A file; of a table perhaps one column: `people.csv:salary:decimal(2)`.
///
/// The name of a column ends at the next `:`, or stands in double quotes, which are doubled inside. Behind it comes its
/// [`Form`].
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Location {
    /// The file by its path, or `-` for standard input or output.
    pub file: String,
    /// The name of the column, and how its values are written.
    pub column: Option<(String, Form)>,
}

/// What the name of a file with a table ends with, or is.
const TABLES: [&str; 6] = [".csv", ".parquet", ".arrow", ".feather", ".json", "-"];

/// What the name of a file without columns ends with.
const WITHOUT_COLUMNS: [&str; 2] = [".npy", ".enc"];

impl FromStr for Location {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let Some((file, column)) = split(text) else {
            return check_whole(text).map(|()| Location { file: text.into(), column: None });
        };
        let (name, rest) = name(column)?;
        let form = rest.map(str::parse).transpose()?.unwrap_or_default();
        Ok(Location { file: file.into(), column: Some((name, form)) })
    }
}

impl Location {
    /// Whether the name of a file is that of a table whose columns have names, or `-`.
    pub fn is_table(file: &str) -> bool {
        TABLES.iter().any(|&table| if table == "-" { file == table } else { Self::has_ending(file, table) })
    }

    /// Whether the name of a file has this ending, in letters of either case.
    pub fn has_ending(file: &str, ending: &str) -> bool {
        let start = file.len().checked_sub(ending.len());
        start.and_then(|start| file.get(start..)).is_some_and(|end| end.eq_ignore_ascii_case(ending))
    }
}

/// Refuses a column of a file that has none.
fn check_whole(text: &str) -> Result<()> {
    let mut files = text.match_indices(':').map(|(end, _)| &text[..end]);
    match files.find(|file| WITHOUT_COLUMNS.iter().any(|ending| Location::has_ending(file, ending))) {
        Some(file) => Err(Error::Usage(format!("{file} has no columns: leave out what stands behind it"))),
        None => Ok(()),
    }
}

/// The file, and what stands behind the first `:` that follows the name of a table.
fn split(text: &str) -> Option<(&str, &str)> {
    let mut ends = text.match_indices(':').map(|(end, _)| end);
    let end = ends.find(|&end| Location::is_table(&text[..end]))?;
    Some((&text[..end], &text[end + 1..]))
}

/// The name of a column, and what stands behind the `:` after it.
fn name(text: &str) -> Result<(String, Option<&str>)> {
    let Some(quoted) = text.strip_prefix('"') else {
        let (name, rest) = text.split_once(':').map_or((text, None), |(name, rest)| (name, Some(rest)));
        let why = "the name of a column is empty: write FILE.csv:COLUMN";
        return if name.is_empty() { Err(Error::Usage(why.into())) } else { Ok((name.into(), rest)) };
    };
    let mut quotes = quoted.match_indices('"').map(|(at, _)| at).peekable();
    while let Some(at) = quotes.next() {
        if quotes.next_if_eq(&(at + 1)).is_some() {
            continue;
        }
        let name = quoted[..at].replace("\"\"", "\"");
        return match (&quoted[at + 1..], quoted[at + 1..].strip_prefix(':')) {
            ("", _) => Ok((name, None)),
            (_, Some(rest)) => Ok((name, Some(rest))),
            _ => Err(Error::Usage("behind a column in quotes stands ':' or nothing".into())),
        };
    }
    Err(Error::Usage("the name of a column begins with a double quote and does not end with one".into()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_and_columns() {
        for (text, file, name, form) in [
            ("people.csv:salary", "people.csv", Some("salary"), ""),
            ("a:b/people.csv:a b:decimal(2):null=0", "a:b/people.csv", Some("a b"), "decimal(2):null=0"),
            ("C:\\x.parquet:id", "C:\\x.parquet", Some("id"), ""),
            ("-:id:date", "-", Some("id"), "date"),
            ("x.csv:\"a:b \"\"c\"\"\":text", "x.csv", Some("a:b \"c\""), "text"),
            ("x.csv:a.csv:text", "x.csv", Some("a.csv"), "text"),
            ("r.CSV:y", "r.CSV", Some("y"), ""),
            ("é:b.Csv:y", "é:b.Csv", Some("y"), ""),
            ("people.csv", "people.csv", None, ""),
            ("numbers.npy", "numbers.npy", None, ""),
            ("hex:00ff", "hex:00ff", None, ""),
            ("-", "-", None, ""),
            ("-5:3", "-5:3", None, ""),
        ] {
            let location: Location = text.parse().unwrap();
            let column = location.column.as_ref();
            assert_eq!((&*location.file, column.map(|(name, _)| &**name)), (file, name), "{text}");
            let expected = if form.is_empty() { Form::default() } else { form.parse().unwrap() };
            assert!(column.is_none_or(|(_, form)| *form == expected), "{text}");
        }
        for text in
            ["r.npy:y", "r.enc:y", "r.NPY:y:date", "x.csv:", "x.csv::text", "x.csv:\"a", "x.csv:\"a\"b", "x.csv:a:tex"]
        {
            assert!(matches!(text.parse::<Location>(), Err(Error::Usage(_))), "{text}");
        }
    }
}

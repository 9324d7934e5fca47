//! The folder of the book: where pages, plots and raw figures lie.

use crate::Result;
use std::fs;
use std::path::PathBuf;

/// Files of the book by their names, with what is in them.
pub type Files = Vec<(String, String)>;

/// The book's folder, which is there.
pub struct Book {
    folder: PathBuf,
}

impl Book {
    pub fn open(folder: PathBuf) -> Result<Book> {
        match folder.join("SUMMARY.md").is_file() {
            true => Ok(Book { folder }),
            false => Err(format!("{} is no folder of a book: it has no SUMMARY.md", folder.display()).into()),
        }
    }

    pub fn write(&self, files: Files) -> Result<()> {
        files.into_iter().try_for_each(|(name, text)| self.save(&name, &text))
    }

    /// Writes one file, and makes its folder if need be.
    pub fn save(&self, name: &str, text: &str) -> Result<()> {
        let path = self.folder.join(name);
        fs::create_dir_all(path.parent().unwrap_or(&self.folder))?;
        fs::write(&path, text).map_err(|why| format!("writing {}: {why}", path.display()).into())
    }

    pub fn read(&self, name: &str) -> Result<String> {
        let path = self.folder.join(name);
        fs::read_to_string(&path).map_err(|why| format!("reading {}: {why}", path.display()).into())
    }

    /// The last by name of the raw files in a folder.
    pub fn newest(&self, folder: &str) -> Result<String> {
        let newest = self.raw_files(folder)?.pop();
        newest.map(|name| format!("{folder}/{name}")).ok_or_else(|| format!("{folder} is empty").into())
    }

    /// The names of the raw files in a folder, in their order.
    pub fn raw_files(&self, folder: &str) -> Result<Vec<String>> {
        let path = self.folder.join(folder);
        let entries = fs::read_dir(&path).map_err(|why| format!("reading {}: {why}", path.display()))?;
        let names = entries.filter_map(|entry| entry.ok()?.file_name().into_string().ok());
        let mut names: Vec<String> = names.filter(|name| name.ends_with(".json")).collect();
        names.sort();
        Ok(names)
    }
}

/// A table; `align` has a letter for each column, `l` is to the left.
pub fn table(align: &str, head: &[&str], rows: impl IntoIterator<Item = Vec<String>>) -> String {
    let dashes = align.chars().map(|align| if align == 'l' { "---" } else { "--:" }.to_string()).collect();
    let head = head.iter().map(|head| head.to_string()).collect();
    let line = |cells: Vec<String>| format!("| {} |\n", cells.join(" | "));
    [head, dashes].into_iter().chain(rows).map(line).collect()
}

/// The book in the repository.
#[cfg(test)]
pub fn committed() -> Book {
    Book::open(concat!(env!("CARGO_MANIFEST_DIR"), "/../docs").into()).expect("the book")
}

/// Fails if the committed book has other files than these.
#[cfg(test)]
pub fn is_committed(files: Files, target: &str) {
    let book = committed();
    for (name, text) in files {
        let committed = book.read(&name).expect("a committed file");
        assert!(committed == text, "docs/{name} is not what is built: run `make {target}`");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_that_is_not_there_is_refused_at_once() {
        let why = Book::open("no/such/folder".into()).err().expect("refused").to_string();
        assert!(why.contains("no/such/folder") && why.contains("SUMMARY.md"), "{why}");
    }

    #[test]
    fn tables_have_a_line_of_dashes() {
        assert_eq!(table("lr", &["a", "b"], [vec!["x".into(), "1".into()]]), "| a | b |\n| --- | --: |\n| x | 1 |\n");
    }
}

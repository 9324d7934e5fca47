//! Circuits that others have published, and how ours compare.

use crate::Result;
use duologue_cli::library::{self, Entry, Figure};
use serde::Deserialize;
use std::collections::BTreeSet;

/// A figure that others have published.
#[derive(Clone, Deserialize)]
pub struct Published {
    /// Who published it, as the table's key says.
    pub source: String,
    /// Their name for it.
    pub name: String,
    pub ands: u64,
    pub depth: u32,
    /// The cost that they kept low, size or depth; empty if they do not say.
    pub goal: String,
    /// Our program for it, as the command names it, without a goal; `?` separates sizes.
    pub program: String,
    /// Why neither figure can be halved; empty if one was.
    pub proof: String,
}

/// All published figures, in the order of the file.
fn published() -> Result<Vec<Published>> {
    let text = include_str!("../../data/published.csv");
    let mut reader = csv::ReaderBuilder::new().comment(Some(b'#')).from_reader(text.as_bytes());
    Ok(reader.deserialize().collect::<csv::Result<_>>()?)
}

/// A published figure and ours.
pub struct Compared {
    pub ours: Entry,
    pub theirs: Published,
}

/// How ours compares with a published figure.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Verdict {
    /// One circuit is no larger and no deeper, and one has half of a figure for at most four times the other.
    Win,
    /// One circuit is no larger and no deeper; that no figure can be halved is proved.
    Proof,
    /// One circuit is no larger and no deeper, but none has half of a figure.
    Tie,
    /// Every circuit is larger or deeper.
    Loss,
}

impl Verdict {
    pub const ALL: [Verdict; 4] = [Verdict::Win, Verdict::Proof, Verdict::Tie, Verdict::Loss];

    pub fn word(self) -> &'static str {
        match self {
            Verdict::Win => "win",
            Verdict::Proof => "proof",
            Verdict::Tie => "tie",
            Verdict::Loss => "loss",
        }
    }
}

impl Compared {
    pub fn verdict(&self) -> Verdict {
        let other = &self.theirs;
        let any = |rule: &dyn Fn(Figure) -> bool| self.ours.figures().any(|(_, figure)| rule(figure));
        let no_more = any(&|f| f.ands <= other.ands && f.depth <= other.depth);
        let half_ands = any(&|f| 2 * f.ands <= other.ands && f.depth <= 4 * other.depth);
        let half_depth = any(&|f| 2 * f.depth <= other.depth && f.ands <= 4 * other.ands);
        match (no_more, half_ands || half_depth, other.proof.is_empty()) {
            (false, ..) => Verdict::Loss,
            (true, true, _) => Verdict::Win,
            (true, false, false) => Verdict::Proof,
            (true, false, true) => Verdict::Tie,
        }
    }
}

/// Every published figure beside ours, then the rest of what is built in, at its usual size.
pub fn measure() -> Result<(Vec<Compared>, Vec<Entry>)> {
    let published = published()?;
    let known: BTreeSet<&str> = published.iter().map(|row| &*row.program).collect();
    let others = library::usual().into_iter().filter(|name| !known.contains(&**name));
    let programs: Vec<String> = published.iter().map(|row| row.program.clone()).chain(others).collect();
    let mut entries = library::entries(&programs).map_err(|why| why.message)?;
    let others = entries.split_off(published.len());
    let compared = entries.into_iter().zip(published).map(|(ours, theirs)| Compared { ours, theirs });
    Ok((compared.collect(), others))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn verdict(ours: [(u64, u32); 2], proof: &str) -> Verdict {
        let [size, depth] = ours.map(|(ands, depth)| Some(Figure { ands, depth, live: 1 }));
        let program = "block:add:8".to_string();
        let (source, name, goal, proof) = ("AS".into(), "add".into(), "size".into(), proof.into());
        let theirs = Published { source, name, ands: 100, depth: 10, goal, program: program.clone(), proof };
        Compared { ours: Entry { program, about: "", size, depth }, theirs }.verdict()
    }

    #[test]
    fn verdicts_follow_the_rule_of_the_page() {
        assert_eq!(verdict([(100, 10), (50, 40)], ""), Verdict::Win);
        assert_eq!(verdict([(100, 10), (400, 5)], ""), Verdict::Win);
        assert_eq!(verdict([(100, 10), (50, 41)], ""), Verdict::Tie);
        assert_eq!(verdict([(51, 10), (401, 5)], ""), Verdict::Tie);
        assert_eq!(verdict([(100, 10), (100, 10)], "why not"), Verdict::Proof);
        assert_eq!(verdict([(50, 11), (101, 5)], ""), Verdict::Loss);
    }

    #[test]
    fn every_published_figure_is_read() {
        let lines = include_str!("../../data/published.csv").lines().filter(|line| !line.starts_with('#')).count();
        assert_eq!(published().expect("well-formed").len(), lines - 1);
    }
}

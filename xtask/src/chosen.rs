//! The page of the choice of the protocol, from what `duologue reproduce auto --json` wrote into `measured/reproduce/`.

use crate::Result;
use crate::book::{Book, Files, table};
use crate::measured::Source;
use duologue_cli::{is_predicted, is_right, seconds};
use serde::Deserialize;

const FOLDER: &str = "measured/reproduce";
const PAGE: &str = "auto-measured.md";

const HEAD: &str = "\
<!-- Made by `make pages` from raw figures; do not edit. -->

# The choice, all cells

Forty runs by the protocol that is [chosen](auto.md), beside those of the candidates that were predicted to be best, which are named
([how](reproduce.md#the-choice-of-the-protocol)). Took is from connecting to closing, phases are setup and online phase with the choice;
medians. **!** where the choice took more than 10 % and 5 ms longer than the best that was named, **?** where the phases were predicted more than
25 % off.
";

/// As much of a raw file as the page shows.
#[derive(Deserialize)]
struct Raw {
    #[serde(flatten)]
    source: Source,
    rows: Vec<Row>,
}

#[derive(Deserialize)]
struct Row {
    cell: String,
    chosen: Candidate,
    seconds: f64,
    phases: f64,
    measured: Vec<Measured>,
}

#[derive(Deserialize)]
struct Measured {
    #[serde(flatten)]
    candidate: Candidate,
    seconds: f64,
}

#[derive(Deserialize)]
struct Candidate {
    protocol: String,
    garbling: Option<String>,
    garbler: Option<String>,
    variant: Option<String>,
    predicted: Predicted,
}

#[derive(Deserialize)]
struct Predicted {
    setup: f64,
    online: f64,
}

impl Candidate {
    fn name(&self) -> String {
        let garbling = self.garbling.as_deref().filter(|garbling| *garbling != "half-gates");
        let words = [Some(&*self.protocol), garbling, self.garbler.as_deref(), self.variant.as_deref()];
        words.into_iter().flatten().collect::<Vec<_>>().join(" ")
    }

    fn total(&self) -> f64 {
        self.predicted.setup + self.predicted.online
    }
}

impl Row {
    fn best(&self) -> Option<&Measured> {
        self.measured.iter().min_by(|a, b| a.seconds.total_cmp(&b.seconds))
    }

    fn is_right(&self) -> bool {
        self.best().is_none_or(|best| is_right(self.seconds, best.seconds))
    }

    fn is_predicted(&self) -> bool {
        is_predicted(self.chosen.total(), self.phases)
    }

    fn cells(&self) -> Vec<String> {
        let mark = |fine: bool, mark: &str| if fine { String::new() } else { format!(" **{mark}**") };
        let best = self.best().map_or_else(Default::default, |best| (best.candidate.name(), seconds(best.seconds)));
        let took = seconds(self.seconds) + &mark(self.is_right(), "!");
        let predicted = seconds(self.chosen.total()) + &mark(self.is_predicted(), "?");
        vec![self.cell.clone(), self.chosen.name(), took, best.0, best.1, seconds(self.phases), predicted]
    }
}

/// The page of the newest raw file.
pub fn files(book: &Book) -> Result<Files> {
    let name = book.raw_files(FOLDER)?.into_iter().rfind(|name| name.starts_with("auto-"));
    let file = format!("{FOLDER}/{}", name.ok_or("there are no raw figures of auto")?);
    let raw: Raw = serde_json::from_str(&book.read(&file)?).map_err(|why| format!("{file}: {why}"))?;
    Ok(vec![(PAGE.into(), page(&raw, &file))])
}

fn page(raw: &Raw, file: &str) -> String {
    let count = |right: fn(&Row) -> bool| raw.rows.iter().filter(|row| right(row)).count();
    let (all, right, predicted) = (raw.rows.len(), count(Row::is_right), count(Row::is_predicted));
    let head = ["program, size, line", "chosen", "took", "best of the named", "took", "phases", "predicted"];
    format!(
        "{HEAD}\n{}\n\nOf {all} cells, the choice was right in {right}, and the \
         prediction in {predicted}.\n\n{}",
        raw.source.line(file),
        table("llrlrrr", &head, raw.rows.iter().map(Row::cells))
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::book::{committed, is_committed};

    #[test]
    fn the_page_is_that_of_the_raw_figures() {
        is_committed(files(&committed()).expect("a page"), "pages");
    }

    #[test]
    fn what_is_off_is_marked() {
        let candidate = |protocol: &str, total| Candidate {
            protocol: protocol.into(),
            garbling: None,
            garbler: None,
            variant: Some("depth".into()),
            predicted: Predicted { setup: total, online: 0.0 },
        };
        let row = |seconds, predicted| Row {
            cell: "a".into(),
            chosen: candidate("gmw", predicted),
            seconds,
            phases: 1.0,
            measured: vec![Measured { candidate: candidate("yao", 2.0), seconds: 1.0 }],
        };
        assert_eq!(row(1.1, 1.25).cells(), ["a", "gmw depth", "1.10 s", "yao depth", "1.00 s", "1.00 s", "1.25 s"]);
        let off = row(1.11, 0.74).cells();
        assert_eq!((&*off[2], &*off[6]), ("1.11 s **!**", "740 ms **?**"));
    }
}

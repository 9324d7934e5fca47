//! What each line of a design costs.
//!
//! An AND is charged to the line of the cell that built it first, so an AND that several lines share counts once. Sums that
//! were merged into one are divided by the bits that each of their lines brings into it: a word its width, a product that of
//! one factor times that of the other. The charges of all lines together are the ANDs of the circuit.

use std::collections::BTreeMap;

/// ANDs by lines.
#[derive(Clone, Default, PartialEq, Eq, Debug)]
pub struct Profile {
    lines: BTreeMap<(String, u32), u64>,
}

impl Profile {
    /// Charges ANDs to the line of a place, `file:line.column-line.column`, or to the name that stands for it.
    pub(crate) fn charge(&mut self, place: &str, ands: u64) {
        if ands > 0 {
            *self.lines.entry(line(place)).or_default() += ands;
        }
    }

    /// Divides ANDs among places by their shares, rounded so that all together are right.
    pub(crate) fn divide<'a>(&mut self, shares: impl Iterator<Item = (&'a str, u64)> + Clone, ands: u64) {
        let whole: u128 = shares.clone().map(|(_, share)| u128::from(share)).sum();
        let (mut before, mut given) = (0u128, 0);
        for (place, share) in shares {
            before += u128::from(share);
            let until = (u128::from(ands) * before).checked_div(whole).unwrap_or(ands.into()) as u64;
            self.charge(place, until - given);
            given = until;
        }
    }

    /// Adds the charges of another circuit that is run so often.
    pub(crate) fn add(&mut self, other: &Profile, times: u64) {
        for (line, ands) in &other.lines {
            *self.lines.entry(line.clone()).or_default() += ands.saturating_mul(times);
        }
    }

    /// The lines and their ANDs, the dearest first.
    pub fn lines(&self) -> Vec<(String, u64)> {
        let shown = |(file, line): &(String, u32)| match line {
            0 => file.clone(),
            line => format!("{file}:{line}"),
        };
        let mut lines: Vec<(String, u64)> = self.lines.iter().map(|(line, ands)| (shown(line), *ands)).collect();
        // Of equal lines the first one in the source first.
        lines.sort_by_key(|(_, ands)| std::cmp::Reverse(*ands));
        lines
    }
}

/// The file and the line of a place; a name has the line 0.
fn line(place: &str) -> (String, u32) {
    let line = |rest: &str| rest.split(['.', '-']).next()?.parse().ok();
    match place.rsplit_once(':').and_then(|(file, rest)| Some((file, line(rest)?))) {
        Some((file, line)) => (file.to_string(), line),
        None => (place.to_string(), 0),
    }
}

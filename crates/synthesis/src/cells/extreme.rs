//! The least or the greatest of many words, and what is kept of it.

use super::{Inputs, misshapen};
use crate::error::Result;
use crate::extremes::LEAST;
use circuit::blocks::order::best_with;
use circuit::{Bit, Builder, Int, UInt, Word};

/// The best word, and what stands for it. Of equal words the first one wins if `STRICT`, else the last one. If `APART`,
/// the first word meets the best one of the others, so that these meet as they do without it.
pub(super) fn best(c: &mut Builder, inputs: &Inputs) -> Result<Vec<(&'static str, Vec<Bit>)>> {
    let (a, kept, width) = (inputs.bits("A"), inputs.bits("P"), inputs.cell.number("WIDTH")?);
    let count = a.len().checked_div(width).unwrap_or(0);
    if count == 0 || count * width != a.len() || kept.len() % count != 0 {
        return Err(misshapen(inputs.cell, "A and P do not have as many words"));
    }
    let words = a.chunks(width).map(<[Bit]>::to_vec);
    let more = kept.len() / count;
    let mut entries: Vec<Entry> =
        words.enumerate().map(|(i, word)| (word, kept[i * more..][..more].to_vec())).collect();
    let apart = inputs.cell.flag("APART") && count > 1;
    let strict = inputs.cell.flag("STRICT");
    let first = if apart { vec![entries.remove(0)] } else { Vec::new() };
    if !strict {
        entries.reverse();
    }
    let mut found = meet(c, inputs, entries);
    for first in first {
        found = meet(c, inputs, if strict { vec![first, found] } else { vec![found, first] });
    }
    Ok(vec![("Y", found.0), ("Q", found.1)])
}

/// A word and what stands for it.
type Entry = (Vec<Bit>, Vec<Bit>);

fn meet(c: &mut Builder, inputs: &Inputs, entries: Vec<Entry>) -> Entry {
    if inputs.cell.flag("A_SIGNED") { meet_as::<Int>(c, inputs, entries) } else { meet_as::<UInt>(c, inputs, entries) }
}

fn meet_as<W: Word + Clone>(c: &mut Builder, inputs: &Inputs, entries: Vec<Entry>) -> Entry {
    let (words, kept): (Vec<W>, Vec<Vec<Bit>>) =
        entries.into_iter().map(|(word, kept)| (W::from_bits(word), kept)).unzip();
    let (word, kept) = best_with(c, &words, &kept, inputs.cell.kind == LEAST, inputs.goal);
    (word.bits().to_vec(), kept)
}

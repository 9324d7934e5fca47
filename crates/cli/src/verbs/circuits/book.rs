//! The table and its plot as a page of the book.

use super::{cells, plot, proofs, row, summary};
use crate::failure::Failure;
use crate::library::Entry;
use std::fs;
use std::path::Path;

/// The text above the tables.
const HEAD: &str = "\
# The circuits and their costs

<!-- Made by `make tables`; do not edit. -->

Every circuit that is built in, made for fewest ANDs (*size*) and for fewest layers of ANDs (*depth*), with the wires of
one lane that are alive at once in the depth-first order (*live*). XOR and NOT are free. A program of several steps is
counted over all its lanes. `duologue circuits` prints this table, `duologue circuits --json` writes it for machines,
and `duologue inspect NAME` shows one circuit.

A published figure is *won* if one circuit of ours has no more ANDs and no more depth, and besides one circuit has half
of its ANDs at no more than four times its depth, or half of its depth at no more than four times its ANDs. *Proof*: the
first holds, and a proof says that the second cannot. *Tie*: the first holds. *Loss*: it does not.

Sources: *GvY* is Schneider and Zohner, GMW vs. Yao? Efficient secure two-party computation with low depth circuits
(FC 2013); *AS* is Demmler, Dessouky, Koushanfar, Sadeghi, Schneider and Zeitouni, Automated synthesis of optimized
circuits for secure computation (CCS 2015); *ABY* are the synthesised floating-point circuits which the framework ABY
ships (*nostatus*: denormals are flushed to zero; *ieee*: IEEE 754).
";

/// Writes `circuits.md` and `circuits.svg`.
pub fn write(folder: &Path, entries: &[Entry]) -> Result<(), Failure> {
    let page = folder.join("circuits.md");
    fs::write(&page, text(entries)).map_err(Failure::io(format!("writing {}", page.display())))?;
    let plot = folder.join("circuits.svg");
    let drawn = plot::draw(entries).map_err(|why| Failure::input(format!("the plot cannot be drawn: {why}")))?;
    fs::write(&plot, drawn).map_err(Failure::io(format!("writing {}", plot.display())))
}

fn text(entries: &[Entry]) -> String {
    let (compared, others): (Vec<Entry>, Vec<Entry>) = entries.iter().cloned().partition(|e| e.published.is_some());
    let proofs = proofs(entries);
    let mut text = format!("{HEAD}\n## Beside published figures\n\n{}\n", summary(&compared).trim());
    text += "\n![Each line goes from our size circuit to our depth circuit, in parts of the published figure](circuits.svg)\n\n";
    text +=
        "| circuit | size: ANDs | depth | live | depth: ANDs | depth | live | published: ANDs | depth | source | |\n";
    text += "|---|--:|--:|--:|--:|--:|--:|--:|--:|---|---|\n";
    compared.iter().for_each(|entry| text += &line(&row(entry, &proofs)));
    for (number, proof) in proofs.iter().enumerate() {
        text += &format!("\n[{}] {proof}\n", number + 1);
    }
    text += "\n## All others, at their usual sizes\n\n";
    text += "| circuit | what it computes | size: ANDs | depth | live | depth: ANDs | depth | live |\n";
    text += "|---|---|--:|--:|--:|--:|--:|--:|\n";
    others.iter().for_each(|entry| text += &line(&plain(entry)));
    text
}

fn plain(entry: &Entry) -> Vec<String> {
    let ours = [entry.size, entry.depth].into_iter().flat_map(cells);
    [entry.program.clone(), entry.about.clone()].into_iter().chain(ours).collect()
}

fn line(cells: &[String]) -> String {
    format!("| {} |\n", cells.join(" | "))
}

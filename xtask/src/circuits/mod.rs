//! The page of what every circuit costs, beside the figures that others have published.

mod plot;
mod published;

use crate::Result;
use crate::book::{Files, table};
use duologue_cli::library::{Entry, Figure};
use duologue_cli::thousands;
use published::{Compared, Published, Verdict};

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

/// The page and its plots.
pub fn files() -> Result<Files> {
    let (compared, others) = published::measure()?;
    let mut files = plot::files(&compared)?;
    files.push(("circuits.md".into(), text(&compared, &others)));
    Ok(files)
}

fn text(compared: &[Compared], others: &[Entry]) -> String {
    let proofs = proofs(compared);
    let notes: String = (1..).zip(&proofs).map(|(number, proof)| format!("\n[{number}] {proof}\n")).collect();
    let head = [
        "circuit",
        "size: ANDs",
        "depth",
        "live",
        "depth: ANDs",
        "depth",
        "live",
        "published: ANDs",
        "depth",
        "source",
        "",
    ];
    let beside = table("lrrrrrrrrll", &head, compared.iter().map(|one| beside(one, &proofs)));
    let head = ["circuit", "what it computes", "size: ANDs", "depth", "live", "depth: ANDs", "depth", "live"];
    let others = table("llrrrrrr", &head, others.iter().map(plain));
    format!(
        "{HEAD}\n## Beside published figures\n\n{}\n\n{}\n{beside}{notes}\n## All others, at their usual sizes\n\n{others}",
        summary(compared),
        plot::figures()
    )
}

/// How many published figures are met.
fn summary(compared: &[Compared]) -> String {
    let count = |verdict| compared.iter().filter(|one| one.verdict() == verdict).count();
    let words = Verdict::ALL.map(|verdict| format!("{} {}", count(verdict), verdict.word()));
    format!("Against {} published figures: {}.", compared.len(), words.join(", "))
}

fn beside(one: &Compared, proofs: &[&str]) -> Vec<String> {
    let theirs = [thousands(one.theirs.ands), thousands(one.theirs.depth.into()), source(&one.theirs)];
    let proof = proofs.iter().position(|proof| *proof == one.theirs.proof);
    let verdict = one.verdict().word();
    let verdict = proof.map_or(verdict.into(), |number| format!("{verdict} [{}]", number + 1));
    [one.ours.program.clone()].into_iter().chain(ours(&one.ours)).chain(theirs).chain([verdict]).collect()
}

fn plain(entry: &Entry) -> Vec<String> {
    [entry.program.clone(), entry.about.into()].into_iter().chain(ours(entry)).collect()
}

fn ours(entry: &Entry) -> impl Iterator<Item = String> {
    [entry.size, entry.depth].into_iter().flat_map(cells)
}

fn cells(figure: Option<Figure>) -> [String; 3] {
    figure.map_or_else(Default::default, |f| [f.ands, f.depth.into(), f.live as u64].map(thousands))
}

/// `AS mul_full_product (size)`.
fn source(row: &Published) -> String {
    let goal = if row.goal.is_empty() { String::new() } else { format!(" ({})", row.goal) };
    format!("{} {}{goal}", row.source, row.name)
}

/// The proofs that the rows name, each once.
fn proofs(compared: &[Compared]) -> Vec<&str> {
    let mut proofs: Vec<&str> = Vec::new();
    for proof in compared.iter().map(|one| &*one.theirs.proof) {
        if !proof.is_empty() && !proofs.contains(&proof) {
            proofs.push(proof);
        }
    }
    proofs
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_book_shows_what_is_built() {
        crate::book::is_committed(files().expect("built"), "tables");
    }

    #[test]
    fn no_published_figure_is_lost() {
        let (compared, _) = published::measure().expect("built");
        for one in compared {
            assert_ne!(one.verdict(), Verdict::Loss, "{} against {}", one.ours.program, one.theirs.name);
        }
    }
}

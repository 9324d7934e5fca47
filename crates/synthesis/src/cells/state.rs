//! What no circuit has, and what to write instead.

use crate::error::Error;
use crate::netlist::Cell;

/// The error of a cell that cannot be built.
pub(crate) fn refuse(cell: &Cell) -> Error {
    let kind = cell.kind.as_str();
    let (why, hint) = match kind {
        _ if !kind.starts_with('$') => {
            (format!("'{kind}' is a box whose inside is not there"), "give the file with this module as well")
        }
        "$tribuf" | "$_TBUF_" => (format!("a driver that can let go ({kind})"), "select with ?: or case"),
        _ if is_latch(kind) => (
            format!("a latch ({kind}): what it drives keeps its value where no branch assigns it"),
            "assign a default at the top of the always block",
        ),
        _ if is_register(kind) => (
            format!("a register ({kind}): a circuit has no clock"),
            "say for how many cycles with --cycles, or write always @* with blocking assignments and loops",
        ),
        "$mem" | "$mem_v2" | "$memrd" | "$memrd_v2" | "$memwr" | "$memwr_v2" => (
            format!("a memory that is clocked or written ({kind})"),
            "say for how many cycles with --cycles, or let only an initial block fill it",
        ),
        _ => (format!("the cell {kind} is not supported"), "write it with the operators of the language"),
    };
    Error::design(&cell.place, why, hint)
}

/// Whether a cell keeps a value, so that it may read what it drives.
pub(crate) fn is_state(kind: &str) -> bool {
    is_latch(kind) || is_register(kind) || kind.starts_with("$mem")
}

fn is_latch(kind: &str) -> bool {
    ["$dlatch", "$adlatch", "$_DLATCH", "$sr", "$_SR_"].iter().any(|start| kind.starts_with(start))
}

fn is_register(kind: &str) -> bool {
    const STARTS: [&str; 9] = ["$dff", "$adff", "$sdff", "$aldff", "$ff", "$_DFF", "$_SDFF", "$_ALDFF", "$_FF"];
    STARTS.iter().any(|start| kind.starts_with(start))
}

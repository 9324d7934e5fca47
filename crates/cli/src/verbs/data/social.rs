//! People with places and interests as the inputs of `app:social`.

use super::folder::Folder;
use crate::args::People;
use crate::failure::{Exit, Failure};
use crate::io::console::Console;
use crate::io::input;
use apps::social::social;
use duologue::circuit::blocks::Goal;
use duologue::circuit::{BitMatrix, bits, uint};
use duologue::{Inputs, Party, data};
use std::collections::HashMap;
use std::fs;
use values::{Form, Wanted};

/// Bits of a coordinate.
const COORDINATE: u32 = 32;
/// The most bytes of the interests of somebody.
const MOST_BYTES: u32 = 4096;
/// The most interests that there are.
const MOST_INTERESTS: usize = 1 << 16;

pub fn run(args: &People, console: &Console) -> Result<(), Failure> {
    check(args)?;
    let known = known(args)?;
    let [x, y, interests] = people(args, &known)?;
    let rows = x.lanes();
    match (args.party, rows) {
        (_, 0) => return Err(Failure::input(format!("{}: it has no people", args.table))),
        (Party::Alice, 2..) => return Err(Failure::input(format!("{}: Alice is one, not {rows}", args.table))),
        _ => {}
    }
    let mut folder = Folder::new(&args.to)?;
    let side = if args.party == Party::Alice { "" } else { "user_" };
    let mut inputs = Inputs::new();
    for (name, value) in [("x", x), ("y", y), ("interests", interests)] {
        inputs.set(&format!("{side}{name}"), value);
    }
    if let Some(limit) = args.limit {
        inputs.set("limit", data::uints(COORDINATE as usize + 1, &[limit])?);
    }
    folder.inputs(&social(known.len() as u32, COORDINATE, Goal::Size), args.party, &inputs)?;
    folder.finish(console)
}

fn check(args: &People) -> Result<(), Failure> {
    let refuse = |why: &str| Err(Failure::new(Exit::CommandLine, why));
    match (args.party, args.limit) {
        (Party::Bob, Some(_)) => refuse("--limit is for Alice, who says how far away is near"),
        (Party::Alice, None) => refuse("--limit says how far away is near"),
        (_, Some(limit)) if limit >> (COORDINATE + 1) != 0 => refuse("--limit is at most 8589934591"),
        _ if args.columns.len() != 3 => refuse("--columns is three names with commas between them"),
        _ => Ok(()),
    }
}

/// The interests that there are, each with its bit.
fn known(args: &People) -> Result<HashMap<String, usize>, Failure> {
    let path = args.interests.display();
    let text = fs::read_to_string(&args.interests).map_err(Failure::io(format!("reading {path}")))?;
    let mut known = HashMap::new();
    for (line, name) in text.lines().map(str::trim).enumerate().filter(|(_, name)| !name.is_empty()) {
        if name.contains(';') || known.insert(name.to_string(), known.len()).is_some() {
            let why = format!("{path}, line {}: expected an interest that is not there yet, without ';'", line + 1);
            return Err(Failure::input(why));
        }
    }
    match known.len() {
        1..=MOST_INTERESTS => Ok(known),
        count => Err(Failure::input(format!("{path} has {count} interests: expected 1 to {MOST_INTERESTS}"))),
    }
}

/// Coordinates and the bits of the interests.
fn people(args: &People, known: &HashMap<String, usize>) -> Result<[BitMatrix; 3], Failure> {
    let (plain, text): (Form, Form) = (Form::default(), "text:null=".parse()?);
    let forms = [(uint(COORDINATE), &plain), (uint(COORDINATE), &plain), (bits(8 * MOST_BYTES), &text)];
    let wanted = args.columns.iter().zip(forms).map(|(column, (ty, form))| Wanted { column, ty, form });
    let read = input::columns(&args.table, &wanted.collect::<Vec<_>>())?;
    let missing = |name: &String| {
        let why = Failure::input(format!("{} has no column '{name}'", args.table));
        why.hint("--columns names those of the coordinates and the interests, letter by letter")
    };
    let mut columns = Vec::new();
    for (column, name) in read.into_iter().zip(&args.columns) {
        columns.push(column.ok_or_else(|| missing(name))?);
    }
    let [x, y, texts] = <[BitMatrix; 3]>::try_from(columns).map_err(|_| Failure::input("three columns are read"))?;
    let interests = bits_of(&texts, known).map_err(|row| {
        let (table, name, list) = (&args.table, &args.columns[2], args.interests.display());
        let why = Failure::input(format!("{table}, row {row}, column '{name}': expected interests that {list} has"));
        why.hint("with ';' between them, letter by letter")
    })?;
    Ok([x, y, interests])
}

/// A bit for each interest that there is; the row of one that there is not.
fn bits_of(texts: &BitMatrix, known: &HashMap<String, usize>) -> Result<BitMatrix, usize> {
    let mut bits = BitMatrix::zeros(known.len(), texts.lanes());
    for (row, bytes) in data::to_bytes(texts).into_iter().enumerate() {
        let text = String::from_utf8(bytes).map_err(|_| row)?;
        for name in text.trim_end_matches('\0').split(';').map(str::trim).filter(|name| !name.is_empty()) {
            bits.set(*known.get(name).ok_or(row)?, row, true);
        }
    }
    Ok(bits)
}

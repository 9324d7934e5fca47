//! Places on Earth as the inputs of `app:proximity_…`.

use super::folder::Folder;
use crate::args::Places;
use crate::failure::{Exit, Failure};
use crate::io::console::Console;
use crate::io::input;
use apps::proximity::{Metric, proximity};
use duologue::circuit::blocks::Goal;
use duologue::circuit::blocks::float::Format;
use duologue::circuit::{BitMatrix, Kind, Type};
use duologue::{Inputs, Party};
use values::{Form, Wanted};

/// Numbers of the host: files hold them, and a run rounds them to the width of its program.
const DOUBLE: Type = Type { kind: Kind::Float { exponent: 11 }, width: 64 };

pub fn run(args: &Places, console: &Console) -> Result<(), Failure> {
    let (metric, party) = (Metric::from(args.metric), args.party);
    check(args)?;
    let coordinates = coordinates(args, metric)?;
    let rows = coordinates[0].len();
    if party == Party::Alice && rows != 1 {
        return Err(Failure::input(format!("Alice has one place, not {rows}")));
    }
    let mut folder = Folder::new(&args.to)?;
    let mut inputs = Inputs::new();
    for (place, name) in metric.names().iter().enumerate() {
        let numbers = (0..rows).map(|row| metric.numbers(party, [coordinates[0][row], coordinates[1][row]])[place]);
        inputs.set(&format!("{}_{name}", side(party)), lanes(numbers)?);
    }
    if let Some(limit) = args.limit {
        inputs.set("limit", lanes((0..rows).map(|_| metric.limit(limit)))?);
    }
    folder.inputs(&proximity(metric, Format::DOUBLE, Goal::Size), party, &inputs)?;
    folder.finish(console)
}

fn check(args: &Places) -> Result<(), Failure> {
    let refuse = |why: &str| Err(Failure::new(Exit::CommandLine, why));
    match (args.party, args.limit, &args.place) {
        (Party::Alice, Some(_), _) => refuse("--limit is for Bob, who says how far away is near"),
        (Party::Bob, None, _) => refuse("--limit says how far away is near, say --limit 500m"),
        (.., Some(place)) if place.len() != 2 => refuse("--place is two numbers with a comma between them"),
        _ if args.columns.len() != 2 => refuse("--columns is two names with a comma between them"),
        _ => Ok(()),
    }
}

fn side(party: Party) -> &'static str {
    if party == Party::Alice { "alice" } else { "bob" }
}

/// Both coordinates of all places.
fn coordinates(args: &Places, metric: Metric) -> Result<[Vec<f64>; 2], Failure> {
    let (columns, file) = match (&args.place, &args.table) {
        (Some(place), _) => ([vec![place[0]], vec![place[1]]], "--place"),
        (None, Some(table)) => (table_columns(table, &args.columns)?, table.as_str()),
        (None, None) => return Err(Failure::new(Exit::CommandLine, "a table or --place says where")),
    };
    if columns[0].is_empty() {
        return Err(Failure::input(format!("{file}: it has no places")));
    }
    let most = match metric {
        Metric::Utm => [("a number of metres", 1e9); 2],
        _ => [("a latitude of -90 to 90 degrees", 90.0), ("a longitude of -180 to 180 degrees", 180.0)],
    };
    for (column, (name, (expected, most))) in columns.iter().zip(args.columns.iter().zip(most)) {
        // A number that is none is in no range.
        if let Some(row) = column.iter().position(|number| !(-most..=most).contains(number)) {
            return Err(Failure::input(format!("{file}, row {row}, column '{name}': expected {expected}")));
        }
    }
    Ok(columns)
}

fn table_columns(file: &str, names: &[String]) -> Result<[Vec<f64>; 2], Failure> {
    let form = Form::default();
    let wanted: Vec<Wanted<'_>> = names.iter().map(|column| Wanted { column, ty: DOUBLE, form: &form }).collect();
    let mut read = input::columns(file, &wanted)?.into_iter().zip(names).map(|(column, name)| match column {
        Some(column) => numbers(&column),
        None => {
            let why = Failure::input(format!("{file} has no column '{name}'"));
            Err(why.hint("--columns names those of the coordinates, letter by letter"))
        }
    });
    let mut next = || read.next().unwrap_or_else(|| Ok(Vec::new()));
    Ok([next()?, next()?])
}

fn numbers(column: &BitMatrix) -> Result<Vec<f64>, Failure> {
    Ok(column.to_numbers::<u64>()?.into_iter().map(f64::from_bits).collect())
}

fn lanes(numbers: impl Iterator<Item = f64>) -> Result<BitMatrix, Failure> {
    Ok(BitMatrix::from_numbers(64, &numbers.map(f64::to_bits).collect::<Vec<u64>>())?)
}

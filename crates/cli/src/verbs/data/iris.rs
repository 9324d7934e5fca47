//! Iris codes as the inputs of `app:iris` and `app:iris_masked`.

use super::folder::Folder;
use super::pictures::{self, Picture};
use crate::args::{IrisCodes, IrisWhat};
use crate::failure::{Exit, Failure};
use crate::io::console::Console;
use crate::io::input;
use apps::iris::{MOST_PEOPLE, count_width, iris, iris_masked, sample};
use duologue::circuit::blocks::Goal;
use duologue::circuit::{BitMatrix, bits};
use duologue::{Inputs, Party, data};
use std::io::Write;
use std::path::Path;

/// The part of the bits that may differ where nothing is said, in thousandths: Daugman's criterion.
const THRESHOLD: u64 = 320;

/// Codes or masks, and the names of the files that they came from, if each had one.
struct Codes {
    bits: BitMatrix,
    names: Vec<String>,
}

pub fn run(what: &IrisWhat, console: &Console) -> Result<(), Failure> {
    match what {
        IrisWhat::Common { codes, mask } => common(codes, mask.as_deref(), console),
        IrisWhat::Masked { codes, masks } => masked(codes, masks.as_deref(), console),
    }
}

fn common(args: &IrisCodes, mask: Option<&str>, console: &Console) -> Result<(), Failure> {
    check(args)?;
    let codes = match args.random {
        Some(people) => Codes { bits: random(args, people)?.codes, names: Vec::new() },
        None => people(args)?,
    };
    let bits = match mask {
        Some(mask) => usable(&codes.bits, &public_mask(mask, args.bits)?, mask)?,
        None => codes.bits,
    };
    let width = bits.rows() as u32;
    // Less than a part of all bits is less than the number above it.
    let limit = (u64::from(width) * args.threshold.unwrap_or(THRESHOLD)).div_ceil(1000);
    let limit = Inputs::new().with("limit", data::uints(count_width(width) as usize, &[limit])?);
    let mut folder = Folder::new(&args.to)?;
    folder.is_for(format!("app:iris:{width}"));
    write(&mut folder, if args.party == Party::Alice { "query" } else { "gallery" }, &bits)?;
    folder.inputs(&iris(width, Goal::Size), args.party, &limit)?;
    finish(folder, &codes.names, console)
}

fn masked(args: &IrisCodes, masks: Option<&str>, console: &Console) -> Result<(), Failure> {
    check(args)?;
    let [limit, limit_of] = fraction(args)?;
    let (codes, masks) = match (args.random, masks) {
        (Some(people), _) => {
            let sample::Sample { codes, masks } = random(args, people)?;
            (Codes { bits: codes, names: Vec::new() }, masks)
        }
        (None, masks) => {
            let codes = people(args)?;
            let masks = read(masks.unwrap_or_default(), args.bits)?;
            check_pairs(&codes, &masks)?;
            (codes, masks.bits)
        }
    };
    let [code, mask] = if args.party == Party::Alice { ["query", "query_mask"] } else { ["gallery", "masks"] };
    let count = |number| data::uints(count_width(args.bits) as usize, &[number]);
    let limit = Inputs::new().with("limit", count(limit)?).with("limit_of", count(limit_of)?);
    let mut folder = Folder::new(&args.to)?;
    folder.is_for(format!("app:iris_masked:{}", args.bits));
    write(&mut folder, code, &codes.bits)?;
    write(&mut folder, mask, &masks)?;
    folder.inputs(&iris_masked(args.bits, Goal::Size), args.party, &limit)?;
    finish(folder, &codes.names, console)
}

/// Eight bits to a byte, as galleries may be large.
fn write(folder: &mut Folder, name: &str, codes: &BitMatrix) -> Result<(), Failure> {
    folder.byte_rows(&format!("{name}.npy"), codes.rows().div_ceil(8), codes.to_byte_rows())
}

fn finish(mut folder: Folder, names: &[String], console: &Console) -> Result<(), Failure> {
    if !names.is_empty() {
        folder.write("names.txt", names.len() as u64, |to| names.iter().try_for_each(|name| writeln!(to, "{name}")))?;
    }
    folder.finish(console)
}

fn check(args: &IrisCodes) -> Result<(), Failure> {
    match (args.party, args.threshold) {
        (Party::Alice, Some(_)) => {
            Err(Failure::new(Exit::CommandLine, "--threshold is for Bob, who says who is found"))
        }
        _ => Ok(()),
    }
}

/// Bob's threshold in lowest terms, which the numbers of bits must be able to say; Alice has none.
fn fraction(args: &IrisCodes) -> Result<[u64; 2], Failure> {
    if args.party == Party::Alice {
        return Ok([0, 0]);
    }
    let part = args.threshold.unwrap_or(THRESHOLD);
    let divides = |divisor: &u64| part.is_multiple_of(*divisor) && 1000u64.is_multiple_of(*divisor);
    let common = (1..=part).rev().find(divides).unwrap_or(1);
    match 1000 / common {
        of if of >> count_width(args.bits) == 0 => Ok([part / common, of]),
        of => {
            let why = format!("{}/{of}, the threshold, is too fine for codes of {} bits", part / common, args.bits);
            Err(Failure::input(why).hint("say one with fewer digits: --threshold 0.3"))
        }
    }
}

fn random(args: &IrisCodes, people: u64) -> Result<sample::Sample, Failure> {
    Ok(match args.party {
        Party::Alice => sample::query(people.div_ceil(2), args.bits)?,
        Party::Bob => sample::gallery(people, args.bits)?,
    })
}

/// As many codes as the party has.
fn people(args: &IrisCodes) -> Result<Codes, Failure> {
    let source = args.codes.as_deref().unwrap_or_default();
    let codes = read(source, args.bits)?;
    match (args.party, codes.bits.lanes() as u64) {
        (_, 0) => Err(Failure::input(format!("{source}: it has no codes"))),
        (Party::Alice, 2..) => Err(Failure::input(format!("{source}: Alice has one code, not {}", codes.bits.lanes()))),
        (_, people) if people > MOST_PEOPLE => {
            Err(Failure::input(format!("{source} has {people} codes: at most {MOST_PEOPLE} are numbered")))
        }
        _ => Ok(codes),
    }
}

/// Codes or masks from any of the kinds of files.
fn read(source: &str, width: u32) -> Result<Codes, Failure> {
    let path = Path::new(source);
    let pictures = match (path.is_dir(), pictures::is_picture(path)) {
        (true, _) => pictures::of_folder(path)?,
        (_, true) => vec![pictures::decoded(path)?],
        _ => return Ok(Codes { bits: input::lanes(source, bits(width))?, names: Vec::new() }),
    };
    if let Some(other) = pictures.iter().find(|picture| picture.pixels.len() != width as usize) {
        let why = format!("{} has {} pixels: expected {width}, one for each bit", other.name, other.pixels.len());
        return Err(Failure::input(why).hint("--bits says how many bits a code has"));
    }
    let mut bits = BitMatrix::zeros(width as usize, pictures.len());
    for (lane, Picture { pixels, .. }) in pictures.iter().enumerate() {
        pixels.iter().enumerate().for_each(|(bit, &pixel)| bits.set(bit, lane, pixel >= 128));
    }
    Ok(Codes { bits, names: pictures.into_iter().map(|picture| picture.name).collect() })
}

fn public_mask(source: &str, width: u32) -> Result<BitMatrix, Failure> {
    let mask = read(source, width)?.bits;
    match mask.lanes() {
        1 => Ok(mask),
        count => Err(Failure::input(format!("{source}: expected one mask for all, not {count}"))),
    }
}

/// The bits that a public mask leaves.
fn usable(codes: &BitMatrix, mask: &BitMatrix, source: &str) -> Result<BitMatrix, Failure> {
    let rows: Vec<usize> = (0..codes.rows()).filter(|&row| mask.get(row, 0)).collect();
    if rows.is_empty() {
        return Err(Failure::input(format!("{source}: the mask leaves no bit")));
    }
    let mut left = BitMatrix::zeros(rows.len(), codes.lanes());
    rows.iter().enumerate().for_each(|(to, &row)| left.row_mut(to).copy_from_slice(codes.row(row)));
    Ok(left)
}

/// Every code has a mask, of the same name where there are names.
fn check_pairs(codes: &Codes, masks: &Codes) -> Result<(), Failure> {
    let (people, count) = (codes.bits.lanes(), masks.bits.lanes());
    if people != count {
        return Err(Failure::input(format!("there are {people} codes and {count} masks: expected one for each")));
    }
    let (lone, others) = (people == 1, codes.names.iter().zip(&masks.names));
    match others.filter(|_| !lone).find(|(code, mask)| code != mask) {
        Some((code, mask)) => {
            let why = format!("{mask} is no mask of {code}: expected files of the same names in both folders");
            Err(Failure::input(why))
        }
        None => Ok(()),
    }
}

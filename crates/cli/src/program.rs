//! Programs as they are named on the command line: a `.duo` file, `block:NAME…` or `app:NAME…`.

mod least;
mod meanings;

use crate::failure::Failure;
use apps::aes;
use apps::argmin;
use apps::eigenfaces::{CHUNK, MOST_PIXELS, eigenfaces, is_image};
use apps::equality::{MOST_WIDTH, equality};
use apps::iris;
use apps::proximity::{Metric, proximity};
use apps::psi::shares::{self, Terms};
use apps::psi::{self, Learns, psi};
use apps::social::social;
use apps::statistics::{self, median, quantile, sort, statistics};
use duologue::circuit::blocks::float::Format;
use duologue::circuit::blocks::{self, Block, Goal};
use duologue::circuit::format::Provenance;
use duologue::circuit::program::{Owner, Recipient};
use duologue::circuit::{Binding, Error, Party, Program};
pub use least::{Chosen, Ours, Supply, load_with};
use meanings::Meaning;
use std::fs;
use std::ops::RangeInclusive;

/// An application that is built in.
pub struct App {
    pub name: &'static str,
    pub about: &'static str,
    /// The thing that the width counts, and its usual number.
    pub parameter: &'static str,
    pub width: u32,
    /// The public sizes at which its cost is listed, `&` between them.
    pub sizes: &'static str,
    /// The goals for which there is a construction of its own.
    pub goals: &'static [Goal],
    /// The meanings of its inputs and outputs.
    pub ports: &'static [Meaning],
    /// Whether calls do its work, so that it has no figures among circuits.
    pub calls: bool,
    /// The program of a width that is none is an error that says what would be one.
    pub program: fn(u32, Goal) -> Result<Program, Failure>,
}

/// The applications by name.
pub const APPS: &[App] = &[
    App {
        name: "scifi",
        about: "which faces of Bob's gallery match Alice's, by Hamming distance",
        parameter: "bits of a face",
        width: 900,
        sizes: "faces=1",
        goals: &[Goal::Size],
        ports: meanings::SCIFI,
        calls: false,
        program: |width, _| within(1..=1 << 16, width, apps::scifi::scifi),
    },
    App {
        name: "eigenfaces",
        about: "which face of Bob's gallery is closest to Alice's image, by Eigenfaces",
        parameter: "pixels of an image",
        width: 10_304,
        sizes: "faces=320",
        goals: BOTH,
        ports: meanings::EIGENFACES,
        calls: false,
        program: |width, goal| match is_image(width) {
            true => Ok(eigenfaces(width, goal)),
            false => Err(Failure::input(format!("are a multiple of {CHUNK} up to {MOST_PIXELS}, not {width}"))),
        },
    },
    App {
        name: "social",
        about: "which of Bob's users is near Alice and shares most of her interests",
        parameter: "interests",
        width: 255,
        sizes: "users=128",
        goals: BOTH,
        ports: meanings::SOCIAL,
        calls: false,
        program: |width, goal| within(1..=1 << 16, width, |interests| social(interests, 32, goal)),
    },
    App {
        name: "aes",
        about: "Alice's blocks under Bob's key, by AES (ECB)",
        parameter: "bits of a key",
        width: 128,
        sizes: "blocks=4096",
        goals: BOTH,
        ports: meanings::AES,
        calls: false,
        program: |width, goal| Ok(aes::aes(key(width)?, goal)),
    },
    App {
        name: "aes_ctr",
        about: "for Alice the key stream of public counters under Bob's key, by AES (CTR)",
        parameter: "bits of a key",
        width: 128,
        sizes: "blocks=4096",
        goals: BOTH,
        ports: meanings::AES_CTR,
        calls: false,
        program: |width, goal| Ok(aes::aes_ctr(key(width)?, goal)),
    },
    App {
        name: "iris",
        about: "whose iris code of Bob's gallery is closest to Alice's, with one public mask",
        parameter: "bits of a code",
        width: iris::BITS,
        sizes: "people=1023",
        goals: BOTH,
        ports: meanings::IRIS,
        calls: false,
        program: |width, goal| within(1..=1 << 16, width, |bits| iris::iris(bits, goal)),
    },
    App {
        name: "iris_masked",
        about: "whose iris code of Bob's gallery is closest to Alice's, with a secret mask for each code",
        parameter: "bits of a code",
        width: iris::BITS,
        sizes: "people=1023",
        goals: BOTH,
        ports: meanings::IRIS_MASKED,
        calls: false,
        program: |width, goal| within(1..=1 << 16, width, |bits| iris::iris_masked(bits, goal)),
    },
    App {
        name: "proximity_utm",
        about: "which of Bob's places are near Alice, by coordinates on a plane",
        parameter: "bits of a number",
        width: 32,
        sizes: "places=1",
        goals: BOTH,
        ports: meanings::UTM,
        calls: false,
        program: |width, goal| Ok(proximity(Metric::Utm, format(width)?, goal)),
    },
    App {
        name: "proximity_ecef",
        about: "which of Bob's places are near Alice, by coordinates in space",
        parameter: "bits of a number",
        width: 32,
        sizes: "places=1",
        goals: BOTH,
        ports: meanings::ECEF,
        calls: false,
        program: |width, goal| Ok(proximity(Metric::Ecef, format(width)?, goal)),
    },
    App {
        name: "proximity_haversine",
        about: "which of Bob's places are near Alice, by latitude and longitude",
        parameter: "bits of a number",
        width: 64,
        sizes: "places=1",
        goals: BOTH,
        ports: meanings::HAVERSINE,
        calls: false,
        program: |width, goal| Ok(proximity(Metric::Haversine, format(width)?, goal)),
    },
    App {
        name: "equality",
        about: "which of Alice's strings equal Bob's, by 1-of-16 OT: a call, not a circuit",
        parameter: "bits of a string",
        width: 128,
        sizes: "lanes=1",
        goals: &[Goal::Size],
        ports: meanings::EQUALITY,
        calls: true,
        program: |width, _| within(1..=MOST_WIDTH, width, equality),
    },
    App {
        name: "psi",
        about: "which of Alice's strings Bob has too, by a key-value store and VOLE: a call, see `duologue psi` for tables",
        parameter: "bits of a string",
        width: 128,
        sizes: "as=1000&bs=1000",
        goals: &[Goal::Size],
        ports: meanings::PSI,
        calls: true,
        program: |width, _| within(1..=psi::MOST_WIDTH, width, |width| psi(width, Learns::Only(Party::Alice))),
    },
    App {
        name: "psi_both",
        about: "the same, and Bob learns it of his: a call",
        parameter: "bits of a string",
        width: 128,
        sizes: "as=1000&bs=1000",
        goals: &[Goal::Size],
        ports: meanings::PSI,
        calls: true,
        program: |width, _| within(1..=psi::MOST_WIDTH, width, |width| psi(width, Learns::Both)),
    },
    App {
        name: "statistics",
        about: "for Alice count, sum, mean and variance of Bob's values by Alice's groups: a call for sums, then circuits",
        parameter: "bits of a value",
        width: 32,
        sizes: "rows=1000&groups=5",
        goals: BOTH,
        ports: meanings::STATISTICS,
        calls: true,
        program: |width, goal| grouped(width, Party::Alice.into(), goal),
    },
    App {
        name: "statistics_both",
        about: "the same for both",
        parameter: "bits of a value",
        width: 32,
        sizes: "rows=1000&groups=5",
        goals: BOTH,
        ports: meanings::STATISTICS,
        calls: true,
        program: |width, goal| grouped(width, Recipient::Both, goal),
    },
    App {
        name: "median",
        about: "the median of Alice's and Bob's values together, for both",
        parameter: "bits of a value",
        width: 32,
        sizes: "alice=500&bob=500",
        goals: BOTH,
        ports: meanings::QUANTILE,
        calls: true,
        program: |width, goal| within(2..=statistics::MOST_BITS, width, |width| median(width, Recipient::Both, goal)),
    },
    App {
        name: "quantile",
        about: "a quantile of Alice's and Bob's values together, by per cent, for both",
        parameter: "bits of a value",
        width: 32,
        sizes: "alice=500&bob=500&percent=90",
        goals: BOTH,
        ports: meanings::QUANTILE,
        calls: true,
        program: |width, goal| within(2..=statistics::MOST_BITS, width, |width| quantile(width, Recipient::Both, goal)),
    },
    App {
        name: "sort",
        about: "the smallest of Alice's and Bob's values together in order, for both; values have 32 bits",
        parameter: "numbers of values that are delivered",
        width: 100,
        sizes: "alice=500&bob=500",
        goals: BOTH,
        ports: meanings::QUANTILE,
        calls: true,
        program: |count, goal| {
            within(1..=statistics::MOST_SORTED, count, |count| sort(32, count, Recipient::Both, goal))
        },
    },
    App {
        name: "psi_size",
        about: "how many strings Alice and Bob have in common, for both, by circuit PSI: a call and a circuit",
        parameter: "bits of a string",
        width: 128,
        sizes: "as=1000&bs=1000",
        goals: &[Goal::Size],
        ports: meanings::PSI_SHARES,
        calls: true,
        program: |width, _| within(1..=psi::MOST_WIDTH, width, |width| shares::size(width, BY_ALICE, Learns::Both)),
    },
    App {
        name: "psi_sum",
        about: "the sum of Bob's values of 32 bits over the strings in common, for Alice, by circuit PSI",
        parameter: "bits of a string",
        width: 128,
        sizes: "as=1000&bs=1000",
        goals: &[Goal::Size],
        ports: meanings::PSI_SHARES,
        calls: true,
        program: |width, _| {
            let (values, learns) = ((Party::Bob, 32), Learns::Only(Party::Alice));
            within(1..=psi::MOST_WIDTH, width, |width| shares::sum(width, BY_ALICE, values, learns))
        },
    },
    App {
        name: "psi_threshold",
        about: "whether Alice and Bob have a public number of strings in common, for both, by circuit PSI",
        parameter: "bits of a string",
        width: 128,
        sizes: "as=1000&bs=1000",
        goals: &[Goal::Size],
        ports: meanings::PSI_SHARES,
        calls: true,
        program: |width, _| {
            within(1..=psi::MOST_WIDTH, width, |width| shares::threshold(width, BY_ALICE, Learns::Both))
        },
    },
    App {
        name: "psi_shares",
        about: "which strings Alice and Bob have in common, with a value of each party, as shares for a further program",
        parameter: "bits of a value",
        width: 32,
        sizes: "as=1000&bs=1000",
        goals: &[Goal::Size],
        ports: meanings::PSI_SHARES,
        calls: true,
        program: |width, _| within(1..=64, width, |bits| shares::joined(psi::MOST_WIDTH, BY_ALICE, bits)),
    },
    App {
        name: "argmin",
        about: "the least of many shared values and its index or argument: a call, see --form and --method",
        parameter: "bits of a value",
        width: 32,
        sizes: "values=1000",
        goals: &[Goal::Size],
        ports: meanings::ARGMIN,
        calls: true,
        program: |width, _| {
            within(1..=argmin::MOST_BITS, width, |width| argmin::shared(width, None, argmin::Direction::Both, &[]))
        },
    },
];

/// Alice's strings are in bins, whatever their number.
const BY_ALICE: Terms = Terms { receiver: Party::Alice, tag: shares::MOST_TAG };

const BOTH: &[Goal] = &[Goal::Size, Goal::Depth];

/// The first input is Alice's, the others are Bob's.
const OWNERS: [Party; 2] = [Party::Alice, Party::Bob];

/// Loads or builds a program. `owners` supply the inputs of a block.
pub fn load(text: &str, owners: &[Party]) -> Result<Program, Failure> {
    if let Some(block) = text.strip_prefix("block:") {
        return block_program(block, owners);
    }
    if !owners.is_empty() {
        let why = "only the inputs of a block can be given to parties: a program has its owners";
        return Err(Failure::input(why));
    }
    match text.strip_prefix("app:") {
        Some(app) => app_program(app),
        None => read(text),
    }
}

/// Whether a name is that of a program that is built in.
fn is_built_in(text: &str) -> bool {
    text.starts_with("block:") || text.starts_with("app:")
}

/// A bound program of a file with its outline, so that parties whose files differ are told where first.
pub fn told(text: &str, binding: Binding) -> Binding {
    if is_built_in(text) { binding } else { binding.told() }
}

/// What made a program that is a file, as the file says; of all others nothing.
pub fn provenance(text: &str) -> Result<Provenance, Failure> {
    match is_built_in(text) {
        true => Ok(Provenance::default()),
        false => Provenance::of(&bytes(text)?).map_err(|why| Failure::malformed(text, why)),
    }
}

fn bytes(path: &str) -> Result<Vec<u8>, Failure> {
    fs::read(path).map_err(|why| {
        let missing = why.kind() == std::io::ErrorKind::NotFound;
        let failure = Failure::io(format!("reading the program {path}"))(why);
        match missing {
            true => failure.hint("built-in ones are named block:… and app:…; see `duologue blocks`"),
            false => failure,
        }
    })
}

fn read(path: &str) -> Result<Program, Failure> {
    Program::from_bytes_with(&bytes(path)?, &apps::calls().functionalities()).map_err(|why| {
        let hint = "`duologue import` makes programs from Bristol files";
        Failure::malformed(path, why).hint(hint)
    })
}

fn app_program(text: &str) -> Result<Program, Failure> {
    let mut parts = text.split(':').peekable();
    let app = app(parts.next().unwrap_or_default())?;
    let width = parts.next_if(|part| goal(part).is_err()).map_or(Ok(app.width), number)?;
    let goal = parts.next().map_or(Ok(app.goals[0]), goal)?;
    if parts.next().is_some() {
        return Err(Failure::input("an application is named app:NAME[:WIDTH][:size|depth]"));
    }
    let program = (app.program)(width, goal);
    program.map_err(|why| Failure::input(format!("app:{}: {} {}", app.name, app.parameter, why.message)))
}

/// The meanings of the inputs and outputs of an application as the command names it; of no other program any.
pub fn app_ports(text: &str) -> &'static [Meaning] {
    let name = text.strip_prefix("app:").and_then(|text| text.split(':').next());
    name.and_then(|name| app(name).ok()).map_or(&[], |app| app.ports)
}

fn app(name: &str) -> Result<&'static App, Failure> {
    APPS.iter().find(|app| app.name == name).ok_or_else(|| unknown("app", name))
}

/// The program of a width that lies in a range.
fn within(widths: RangeInclusive<u32>, width: u32, program: impl FnOnce(u32) -> Program) -> Result<Program, Failure> {
    let (low, high) = widths.into_inner();
    let fits = (low..=high).contains(&width);
    if fits { Ok(program(width)) } else { Err(Failure::input(format!("are {low} to {high}, not {width}"))) }
}

fn grouped(width: u32, learns: Recipient, goal: Goal) -> Result<Program, Failure> {
    within(2..=statistics::MOST_WIDTH, width, |width| statistics(width, learns, goal))
}

/// The width of a key of AES.
fn key(width: u32) -> Result<u32, Failure> {
    let fits = [128, 192, 256].contains(&width);
    if fits { Ok(width) } else { Err(Failure::input(format!("are 128, 192 or 256, not {width}"))) }
}

/// The floating-point format that is usual for so many bits.
fn format(width: u32) -> Result<Format, Failure> {
    match width {
        16 => Ok(Format::HALF),
        32 => Ok(Format::SINGLE),
        42 => Ok(Format::PAPER),
        64 => Ok(Format::DOUBLE),
        _ => Err(Failure::input(format!("are 16, 32, 42 or 64, not {width}"))),
    }
}

fn block_program(text: &str, owners: &[Party]) -> Result<Program, Failure> {
    let mut parts = text.split(':').peekable();
    let name = parts.next().unwrap_or_default();
    let block = blocks::find(name).map_err(|why| Failure::from(why).hint("see `duologue blocks`"))?;
    let size = match parts.next_if(|part| goal(part).is_err()) {
        Some(text) => block.size(text)?,
        None => block.usual(),
    };
    let goal = parts.next().map_or(Ok(Goal::Size), goal)?;
    if parts.next().is_some() {
        return Err(Failure::input("a block is named block:NAME[:SIZE][:size|depth]"));
    }
    let circuit = block.circuit(&size, goal)?;
    Ok(Program::of_circuit(&circuit, &cycle(owners, circuit.inputs().len())))
}

/// How a block is named on the command line, without its goal.
pub fn block_name(block: &Block, size: &[u32]) -> String {
    let size = if size.is_empty() { String::new() } else { format!(":{}", block.label(size)) };
    format!("block:{}{size}", block.name)
}

/// The goals for which a built-in program has a construction of its own.
pub fn goals(text: &str) -> Result<&'static [Goal], Failure> {
    let name = text.split([':', '?']).nth(1).unwrap_or_default();
    match text.starts_with("app:") {
        true => Ok(app(name)?.goals),
        false => Ok(blocks::find(name)?.goals),
    }
}

/// The goal of a built-in program that is named without one.
pub const USUAL_GOAL: &str = "size";

/// The other goals of a built-in program that is named without one, if there are constructions for them.
pub fn other_goals(text: &str) -> Result<Vec<&'static str>, Failure> {
    let is_built_in = text.starts_with("block:") || text.starts_with("app:");
    let last = text.rsplit(':').next().unwrap_or_default();
    if !is_built_in || goal(last).is_ok() || !goals(text)?.contains(&Goal::Depth) {
        return Ok(Vec::new());
    }
    Ok(if goals(text)?.contains(&Goal::Size) { vec!["depth"] } else { Vec::new() })
}

/// Who supplies `count` inputs: the last party that is named supplies the rest.
pub fn cycle(owners: &[Party], count: usize) -> Vec<Owner> {
    let owners = if owners.is_empty() { &OWNERS } else { owners };
    let owner = |port: usize| Owner::Party(owners[port.min(owners.len() - 1)]);
    (0..count.max(1)).map(owner).collect()
}

fn unknown(what: &'static str, name: &str) -> Failure {
    let (name, near) = (name.to_string(), Vec::new());
    Failure::from(Error::Unknown { what, name, near }).hint("see `duologue blocks`")
}

fn number(text: &str) -> Result<u32, Failure> {
    text.parse().map_err(|_| Failure::input(format!("'{text}' is no width: write a number of bits")))
}

fn goal(text: &str) -> Result<Goal, Failure> {
    match text {
        "size" => Ok(Goal::Size),
        "depth" => Ok(Goal::Depth),
        _ => Err(Failure::input(format!("'{text}' is no goal: write size or depth"))),
    }
}

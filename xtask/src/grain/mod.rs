//! The page that says from how many cores on fine grain would pay, by simulation.

mod plot;

use crate::Result;
use crate::book::{Files, table};
use duologue_cli::grain::{Gates, Kind, Speedup, Times, Work};
use duologue_cli::thousands;

/// The programs of the page: as it names them, and as the command does.
const PROGRAMS: [(&str, &str); 7] = [
    ("512-bit product, little depth", "block:multiply:512:depth?lanes=1"),
    ("512-bit product, few ANDs", "block:multiply:512:size?lanes=1"),
    ("AES-128", "block:aes128?lanes=1"),
    ("SHA-256", "block:sha256?lanes=1"),
    ("AES-128, 4,096 lanes", "block:aes128?lanes=4096"),
    ("SCiFI, 1,023 faces of 2,048 bits", "app:scifi:2048?faces=1023"),
    ("Eigenfaces, 320 faces", "app:eigenfaces:10304?faces=320"),
];

/// An AND of the paper: 9.8 s for 1.1 million in one thread. XORs, of which it has no figure, for nothing.
const PAPER: Times = Times { and: 9_000.0, xor: 0.0, piece: 1, ..Times::ONE_LANE };

/// The numbers of cores of the table, and those of the plot.
const CORES: [u32; 6] = [2, 4, 8, 16, 64, 256];
const PLOTTED: [u32; 11] = [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024];

/// The text above the tables.
const HEAD: &str = "\
# From how many cores on fine grain would pay

<!-- Made by `make tables`; do not edit. -->

A circuit can be shared out in two ways (Barni, Bernaschi, Lazzeretti, Pignata, Sabellico: *Parallel Implementation of
GC-Based MPC Protocols in the Semi-Honest Setting*, DPM 2013). *Fine grain* shares out the gates of each layer, and all cores
wait for each other before the next one. *Coarse grain* shares out lanes, and maps that do not need each other. *Both*: groups of
cores share out lanes and maps, and the cores of a group their layers. [Threads and strands](garble.md#threads-and-strands) are
coarse grain; fine grain was measured on two cores, [does not pay there](roofline.md#two-threads) and is not built. Here is a
simulation of what more cores would make of it:

```console
$ duologue cost block:multiply:512:depth --size lanes=1 --cores 2,4,8,16,64,256
```

**The model.** A layer is all ANDs of one depth, or the XORs between two of those that are equally far from the first: XORs of
a depth read one another. g gates on k cores, in pieces of 16 gates, take

```text
⌈⌈g/16⌉/k⌉·16 · (gate + n·label·(k−1)/k) + barrier·⌈log₂ k⌉        and on one core g·gate
```

where n labels of 16 bytes are read or written anew that another core wrote: two operands and the result, and of an AND two rows of
its table, which one core sends. A layer takes as many of the cores as are best for it, and all where one is best, so that fine
grain is never slower than one core here. *Bound* is what no schedule exceeds: the number of cores, and the longest chain of
gates, where a map begins when those that it reads are done.
The times are those of garbling [on the Xeon](roofline.md), and each is a flag of the command:
";

/// What the simulation says and what was measured.
const AGAINST: &str = "\
**Against what was measured.** Two cores that are awake garble 8,192 ANDs in 43 to 46 µs in place of 56, and by this model
in 44. The whole 512-bit product of little depth is as fast on two cores as on one, where the model says more; layers of 65,536 ANDs
were slower on two cores than on one (0.93), where it says 1.4. What it leaves out is the memory of wide layers, which no longer fit
the caches, and threads that fall asleep between layers (25 µs in place of 5). So it is too favourable to fine grain, and
where it says that it does not pay, it does not.
";

/// The page and its plots.
pub fn files() -> Result<Files> {
    let programs =
        PROGRAMS.map(|(name, program)| Simulated::new(name, program)).into_iter().collect::<Result<Vec<_>>>()?;
    Ok(vec![("grain.md".into(), text(&programs)), ("plots/grain.svg".into(), plot::speedups(&programs)?)])
}

/// A program, and what the simulation says of it.
struct Simulated {
    name: &'static str,
    work: Work,
    times: Times,
}

impl Simulated {
    fn new(name: &'static str, program: &str) -> Result<Simulated> {
        let work = Work::named(program).map_err(|why| why.message)?;
        let times = Times::measured(work.lanes());
        Ok(Simulated { name, work, times })
    }

    fn on(&self, cores: u32) -> Speedup {
        self.work.speedup(cores, &self.times)
    }
}

fn text(programs: &[Simulated]) -> String {
    let head = ["", "ANDs", "XORs", "layers", "where the median AND is", "widest"];
    let circuits = table("lrrrrr", &head, programs.iter().map(gates));
    let numbers = CORES.map(|cores| cores.to_string());
    let head: Vec<&str> = [""].into_iter().chain(numbers.iter().map(|cores| &**cores)).collect();
    let speedups = |way: fn(&Speedup) -> f64| {
        let row = |program: &Simulated| {
            let cells = CORES.map(|cores| format!("{:.2}", way(&program.on(cores))));
            [program.name.to_string()].into_iter().chain(cells).collect()
        };
        table("lrrrrrr", &head, programs.iter().map(row))
    };
    let [fine, coarse, both] = [speedups(|s| s.fine), speedups(|s| s.coarse), speedups(|s| s.both)];
    let paper = programs.iter().map(|program| {
        let cells = CORES.map(|cores| format!("{:.2}", program.work.speedup(cores, &PAPER).fine));
        [program.name.to_string()].into_iter().chain(cells).collect()
    });
    let paper = table("lrrrrrr", &head, paper);
    format!(
        "{HEAD}\n{}\n{AGAINST}\n## The layers\n\n{circuits}\n## From which width on\n\n{}\n## How many times as fast\n\n\
         {}\n\nBy fine grain, on so many cores:\n\n{fine}\nBy coarse grain:\n\n{coarse}\nBy both:\n\n{both}\n{DEAR}\n{paper}\n{}",
        times(),
        widths(),
        plot::FIGURE,
        what_follows(programs),
    )
}

fn gates(program: &Simulated) -> Vec<String> {
    let Gates { ands, xors, layers, median, widest } = program.work.gates();
    let numbers = [ands, xors, layers, median, widest].map(thousands);
    [program.name.to_string()].into_iter().chain(numbers).collect()
}

/// The constants.
fn times() -> String {
    let row = |name: &str, of: fn(&Times) -> f64, flag: &str, source: &str| {
        let [one, many] = [Times::ONE_LANE, Times::MANY_LANES].map(|times| of(&times).to_string());
        vec![name.to_string(), one, many, format!("`{flag}`"), source.to_string()]
    };
    table(
        "lrrll",
        &["nanoseconds", "fewer than 32 lanes", "more", "flag", "measured as"],
        [
            row("an AND", |t| t.and, "--and", "8,192 ANDs of one lane in 56 µs; 16 gates a call on 64 lanes"),
            row(
                "an XOR",
                |t| t.xor,
                "--xor",
                "the 512-bit product of one lane in 1.9 ms, less its ANDs; AES-128 over 64 lanes",
            ),
            row("a label of another core", |t| t.label, "--label", "16 bytes at 10 to 18 GB/s"),
            row(
                "a barrier of two cores",
                |t| t.barrier,
                "--barrier",
                "a chunk halved: begun 1.8 µs later, seen to end after 3",
            ),
        ],
    )
}

/// The widths from which on a layer is shared out.
fn widths() -> String {
    let asleep = |times: Times| Times { barrier: 25_000.0, ..times };
    let cases = [
        ("ANDs, one lane", Kind::And, Times::ONE_LANE),
        ("the same, threads asleep", Kind::And, asleep(Times::ONE_LANE)),
        ("XORs, one lane", Kind::Xor, Times::ONE_LANE),
        ("ANDs, many lanes", Kind::And, Times::MANY_LANES),
        ("XORs, many lanes", Kind::Xor, Times::MANY_LANES),
    ];
    let numbers = CORES.map(|cores| cores.to_string());
    let head: Vec<&str> = ["gates over all lanes"].into_iter().chain(numbers.iter().map(|cores| &**cores)).collect();
    let row = |(name, kind, times): (&str, Kind, Times)| {
        let from = |cores| times.pays_from(kind, cores).map_or("never".to_string(), thousands);
        [name.to_string()].into_iter().chain(CORES.map(from)).collect()
    };
    let widths = table("lrrrrrr", &head, cases.map(row));
    format!(
        "A layer pays from so many gates on, if there are so many cores, of which not all need be used:\n\n{widths}"
    )
}

/// What the numbers say.
fn what_follows(programs: &[Simulated]) -> String {
    let first = |program: &Simulated, times: f64| {
        let mut tried = 2..=1024;
        let found = tried.find(|&cores| program.work.fine(cores, &program.times) >= times);
        found.map_or("never".to_string(), |n| n.to_string())
    };
    let row = |program: &Simulated| {
        let cells = [1.1, 1.5, 2.0, 4.0].map(|times| first(program, times));
        [program.name.to_string()].into_iter().chain(cells).collect()
    };
    let head = ["cores for fine grain of", "1.1", "1.5", "2", "4 times the speed"];
    let wanted = table("lrrrr", &head, programs.iter().map(row));
    format!("## At which numbers of cores\n\nUp to 1,024 cores were tried.\n\n{wanted}\n{CONCLUSION}")
}

/// What dear gates would change.
const DEAR: &str = "\
**If gates were dear.** In the paper an AND took about 9 µs, a thousand times as long as here: 9.8 s for the 1.1 million of its iris
codes, in one thread of a Xeon E5-2609. Eight of its cores garbled those 2.8 times as fast by fine grain and 4.5 times by coarse
grain, and an AES-128 1.6 times as fast by fine grain. With 9 µs an AND, XORs for nothing and all else as above, fine grain would have
what follows: more than the paper measured, which begins and ends threads in each layer.
";

/// In words.
const CONCLUSION: &str = "\
A single AES-128 or SHA-256 has no layer that is wide enough, whatever the number of cores, nor has the product for few ANDs more than a
few. Where there are many lanes, coarse grain is near the number of cores as long as each has 32 of them, and fine grain far
below; beyond that both together gain something. Fine grain has a case of its own where lanes are fewer than cores and layers have tens of
thousands of gates: a product of 512 bits for little depth, in one lane, from four cores on, by a simulation that favours it. So it is not built.
";

#[cfg(test)]
mod tests {
    #[test]
    fn the_book_shows_what_is_simulated() {
        crate::book::is_committed(super::files().expect("simulated"), "tables");
    }
}

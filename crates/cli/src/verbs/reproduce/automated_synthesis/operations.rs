//! Tables 2 to 5: operations, one or many at once.

use super::FIGURES;
use crate::failure::Failure;
use crate::program;
use crate::verbs::reproduce::timed::{PROTOCOLS, Phases, Timed, measured_or_computed};
use crate::verbs::reproduce::{Cell, Effort, How};
use duologue::circuit::Program;
use duologue::{Options, Scheme, Timing};
use std::time::{Duration, Instant};

/// An operation: how its rows begin, and its program but for the goal.
pub struct Operation {
    pub row: String,
    pub program: String,
}

/// The operations of a table.
pub fn operations(table: &str) -> Vec<Operation> {
    let named = |row: String, program: String| Operation { row, program };
    match table {
        "2" => [8, 16, 32, 64].map(|w| named(w.to_string(), format!("block:divide:{w}"))).into(),
        "3" => [16, 32].map(|n| named(format!("{n}x{n}"), format!("block:dot_product:{n}x{n}"))).into(),
        "4" => of_widths(FLOATS, &[32, 42, 64], |block, width| format!("block:fp_{block}_flush:{width}")),
        _ => of_widths(METRICS, &[32, 64], |metric, width| format!("app:proximity_{metric}:{width}")),
    }
}

/// Operations of Table 4 as the paper names them, and as blocks do; its text that we have lacks the last two.
const FLOATS: &[(&str, &str)] = &[
    ("cmp", "cmp"),
    ("add", "add"),
    ("mult", "mul"),
    ("sqrt", "sqrt"),
    ("div", "div"),
    ("exp2", "exp2"),
    ("log2", "log2"),
];

const METRICS: &[(&str, &str)] = &[("utm", "utm"), ("ecef", "ecef"), ("haversine", "haversine")];

fn of_widths(names: &[(&str, &str)], widths: &[u32], program: fn(&str, u32) -> String) -> Vec<Operation> {
    let of_name = |&(row, name): &(&str, &str)| {
        let of_width = |&width| Operation { row: format!("{row}/{width}"), program: program(name, width) };
        widths.iter().map(of_width).collect::<Vec<_>>()
    };
    names.iter().flat_map(of_name).collect()
}

/// How many run at once.
pub fn batches(table: &str) -> &'static [u64] {
    if table == "4" { &[1, 10, 100, 1_000, 10_000] } else { &[1, 100, 10_000] }
}

/// From so many at once on, layers are so full that fewer ANDs count for more than less depth.
const MANY: u64 = 1_000;

/// All cells of a table.
pub fn rows(table: &str, effort: &Effort) -> Result<Vec<Cell>, Failure> {
    let mut cells = Vec::new();
    for (index, operation) in operations(table).iter().enumerate() {
        let wanted = |row: &String| effort.wants(row);
        let protocols = PROTOCOLS.iter().filter(|protocol| operation.rows(table, protocol.0).iter().any(wanted));
        let protocols: Vec<_> = protocols.collect();
        if protocols.is_empty() && !operation.circuits().iter().any(wanted) {
            continue;
        }
        let makes = operation.makes()?;
        for (name, scheme) in protocols {
            let mut growth = Growth::default();
            for &batch in batches(table) {
                // One cell is measured in any case.
                let measure = !effort.quick || index == 0 && *name == "gmw" && batch == 100;
                let (phases, how) = makes.for_batch(*scheme, batch).phases(*scheme, batch, measure, &mut growth)?;
                effort.console.note(format!(
                    "{}, {name}, {batch}: {:.3} s in all",
                    operation.row,
                    phases.overall.as_secs_f64()
                ));
                cells.extend(operation.cells(table, name, batch, &phases, how));
            }
        }
        cells.extend(makes.cells(table, operation));
    }
    Ok(cells)
}

impl Operation {
    /// The rows that a protocol of ours stands in: its own, and with GMW those of rivals.
    pub fn rows(&self, table: &str, protocol: &str) -> Vec<String> {
        let mut rows: Vec<String> =
            Phases::NAMES.iter().map(|phase| format!("{}/{protocol}/{phase}", self.row)).collect();
        let paper = FIGURES.0.lines().filter_map(|line| line.strip_prefix(table)?.strip_prefix(',')?.split(',').next());
        let of_rival = |row: &&str| {
            let rest = row.strip_prefix(&*self.row).and_then(|rest| rest.strip_prefix('/')).unwrap_or_default();
            rest.split_once('/').is_some_and(|(rival, _)| !["gmw", "yao", "circuit"].contains(&rival))
        };
        for rival in paper.filter(of_rival).filter(|_| protocol == "gmw") {
            if !rows.iter().any(|row| row == rival) {
                rows.push(rival.to_string());
            }
        }
        rows
    }

    fn circuits(&self) -> [String; 2] {
        ["circuit", "circuit_size"].map(|name| format!("{}/{name}", self.row))
    }

    /// What a protocol took, in every row that it stands in; of rivals where the paper has a figure.
    fn cells(&self, table: &str, protocol: &str, batch: u64, phases: &Phases, how: How) -> Vec<Cell> {
        let mut cells = Vec::new();
        for row in self.rows(table, protocol) {
            let time = match row.rsplit('/').next() {
                Some("setup") => phases.setup,
                Some("online") => phases.online,
                Some("overall") => phases.overall,
                _ => phases.setup + phases.online,
            };
            let is_rival = !row.starts_with(&format!("{}/{protocol}/", self.row));
            let one = time.as_secs_f64() * 1e3 / batch as f64;
            let cell = FIGURES.cell(table, &row, &batch.to_string(), one, how);
            if !is_rival || cell.paper.is_some() {
                cells.push(Cell { lost: self.is_lost() && protocol != "masked" && !row.ends_with("overall"), ..cell });
            }
        }
        cells
    }

    /// Whether the text of the paper that we have lacks its rows.
    fn is_lost(&self) -> bool {
        ["exp2", "log2"].iter().any(|name| self.row.starts_with(name))
    }

    fn makes(&self) -> Result<Makes, Failure> {
        let make = |goal: &str| -> Result<Make, Failure> {
            let begin = Instant::now();
            let program = program::load(&format!("{}:{goal}", self.program), &[])?;
            Ok(Make { program, building: begin.elapsed() })
        };
        Ok(Makes { depth: make("depth")?, size: make("size")? })
    }
}

/// An operation's program of least depth, and that of fewest ANDs.
struct Makes {
    depth: Make,
    size: Make,
}

/// A program, and how long it took to build.
struct Make {
    program: Program,
    building: Duration,
}

impl Makes {
    fn for_batch(&self, scheme: Scheme, batch: u64) -> &Make {
        if scheme == Scheme::Yao || batch >= MANY { &self.size } else { &self.depth }
    }

    /// ANDs, depth and building.
    fn cells(&self, table: &str, operation: &Operation) -> Vec<Cell> {
        let mut cells = Vec::new();
        for (row, make) in operation.circuits().iter().zip([&self.depth, &self.size]) {
            let (ands, depth) = make.counts();
            let figures = [
                ("ands", ands as f64, How::Exact, "ANDs"),
                ("depth", f64::from(depth), How::Exact, "layers"),
                ("compile", make.building.as_secs_f64(), How::Measured, "s"),
            ];
            let with_unit = |(column, ours, how, unit)| {
                let lost = operation.is_lost() && row.ends_with("circuit") && column != "compile";
                Cell { unit: Some(unit), lost, ..FIGURES.cell(table, row, column, ours, how) }
            };
            cells.extend(figures.map(with_unit));
        }
        cells
    }
}

impl Make {
    fn counts(&self) -> (u64, u32) {
        let circuits = self.program.circuits();
        (circuits.iter().map(|c| c.and_count()).sum(), circuits.iter().map(|c| c.depth()).sum())
    }

    /// Correlations of GMW are made ahead, however many; tables of Yao as sessions do.
    fn timed(&self, scheme: Scheme, batch: u64) -> Result<Timed, Failure> {
        let timing = if scheme == Scheme::Yao { Timing::Auto } else { Timing::Ahead };
        Timed::of(&self.program, self.building, batch, Options::new(scheme).timing(timing))
    }

    /// A run over the line, or what it would take.
    fn phases(&self, scheme: Scheme, batch: u64, measure: bool, growth: &mut Growth) -> Result<(Phases, How), Failure> {
        let computing = match batch {
            few if few <= SMALL => self.timed(scheme, few)?.run(None)?,
            many => growth.of(many, |lanes| self.timed(scheme, lanes))?,
        };
        measured_or_computed(&self.timed(scheme, batch)?, &LINE.parse()?, &computing, measure)
    }
}

/// What computing without a line takes of one and of [`SMALL`] at once, when it is known: that of more is in proportion.
#[derive(Default)]
struct Growth(Option<[Phases; 2]>);

impl Growth {
    /// Of so many at once; each program of a protocol that runs more than [`SMALL`] is the same.
    fn of(&mut self, batch: u64, timed: impl Fn(u64) -> Result<Timed, Failure>) -> Result<Phases, Failure> {
        let [one, more] = match self.0 {
            Some(known) => known,
            None => *self.0.insert([timed(1)?.least(RUNS)?, timed(SMALL)?.least(RUNS)?]),
        };
        Ok(one.extended(&more, (SMALL - 1) as f64, (batch - 1) as f64))
    }
}

/// The most whose computing is measured without a line.
const SMALL: u64 = 100;

/// Runs of which the least counts, since what is more is multiplied.
const RUNS: usize = 3;

const LINE: &str = "0.2ms,1Gbit";

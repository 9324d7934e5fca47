//! `duologue job merge`: the outputs of shards, put together into files that are written once.
//!
//! `.npy` and CSV without a header are written part by part, in bounded memory; where a file has the bytes of the parts, they are
//! copied. Of tables, JSON and what is shown, an output is in memory.

use super::parts::{self, From, Part, Parts};
use super::pools::{self, Pools};
use super::stamps::Stamp;
use super::state::{self, Kept};
use crate::args::{JobMerge, Pair};
use crate::failure::Failure;
use crate::io::console::{self, Console};
use crate::io::output::{self, Complete, Destinations, Sink};
use crate::io::shown;
use crate::verbs::run::report;
use duologue::Party;
use duologue::circuit::program::Recipient;
use duologue::circuit::{Binding, BitMatrix, Type};
use duologue::job::control::{Attempt, Progress};
use duologue::job::{Plan, PlanOutput, Source};
use serde::Serialize;
use std::collections::BTreeMap;
use std::fmt;
use std::io::{self, Write};
use std::path::PathBuf;
use values::{Location, csv, npy};

/// Lanes of a part that are in memory at a time.
const CHUNK: u64 = 1 << 16;

pub fn run(args: &JobMerge, console: &Console) -> Result<(), Failure> {
    let plan = state::read_plan(&args.state)?;
    let _lock = state::lock(&args.state)?;
    let kept = state::look(&args.state, &plan)?;
    if kept.merged {
        return Err(state::done(&args.state));
    }
    let parts = state::parts_of(&args.state, &plan, &kept)?;
    let is_there = |from| parts.are_there(kept.party, from);
    let is_missing = |(shard, progress): (u32, &Progress)| match progress.finished {
        Some(number) => !is_there(From::Shard(Attempt { shard, number })),
        None => !plan.range(shard).is_empty(),
    };
    let missing = (0..).zip(&kept.shards).filter(|shard| is_missing(*shard)).count() as u64;
    if missing > 0 {
        let why =
            format!("{} of the job in {} are not finished", console::count(missing, "shard"), args.state.display());
        return Err(Failure::input(why).hint("`duologue job drive --resume` finishes them"));
    }
    if plan.last().is_some() && !kept.last.finished.is_some_and(|number| is_there(From::Last(number))) {
        let why = format!("the last program of the job in {} has not run", args.state.display());
        return Err(Failure::input(why).hint("`duologue job drive --resume` runs it"));
    }
    let merge = Merge::new(parts, &kept);
    let binding = whole(&plan)?;
    let targets = Targets::new(&binding, kept.party, &args.output)?;
    targets.spare_files(&kept.inputs.iter().flatten().filter_map(Stamp::path).collect::<Vec<_>>())?;
    console.show(&merge.write(&targets)?)?;
    // A driver that was killed may have left some: nothing uses them any more.
    pools::note_left(Pools::new(&args.state, &parts.job).remove(), console);
    Ok(())
}

/// The whole program at its sizes, which may be too large for one machine.
pub fn whole(plan: &Plan) -> Result<Binding, Failure> {
    let names = plan.program().sizes().iter().map(|size| &*size.name);
    Ok(plan.program().bind_to_cut(&names.zip(plan.sizes().iter().copied()).collect::<Vec<_>>())?)
}

/// Where outputs go.
pub struct Targets {
    /// Files that are written part by part: the output, the file, and how it is written.
    streamed: Vec<(String, Sink, String)>,
    /// All others that go to a file.
    others: Destinations,
}

impl Targets {
    /// Checks before the job that the outputs are ours and that the files can be written.
    pub fn new(binding: &Binding, party: Party, wanted: &[Pair<String>]) -> Result<Targets, Failure> {
        let all = Destinations::new(binding, party, &[], wanted, None)?;
        let (streamed, others): (Vec<_>, Vec<_>) = wanted.iter().cloned().partition(|pair| all.is_alone(&pair.name));
        if streamed.is_empty() {
            return Ok(Targets { streamed: Vec::new(), others: all });
        }
        let sink = |Pair { name, value }: Pair<String>| Ok::<_, Failure>((name, Sink::new(&value)?, value));
        Ok(Targets {
            streamed: streamed.into_iter().map(sink).collect::<Result<_, _>>()?,
            others: Destinations::new(binding, party, &[], &others, None)?,
        })
    }

    /// Refuses to replace a file that an input comes from.
    pub fn spare(&self, inputs: &[crate::args::Source]) -> Result<(), Failure> {
        self.spare_files(&crate::io::input::files(inputs))
    }

    /// Refuses to replace one of these files, whose paths are canonical.
    fn spare_files(&self, files: &[PathBuf]) -> Result<(), Failure> {
        let mut sinks = self.streamed.iter().flat_map(|(_, sink, _)| files.iter().map(move |file| (sink, file)));
        sinks.try_for_each(|(sink, file)| sink.spare(&file.to_string_lossy()))?;
        self.others.spare_files(files)
    }

    /// The file of an output.
    fn of(&self, name: &str) -> Option<String> {
        let streamed = self.streamed.iter().find(|(output, ..)| output == name).map(|(_, _, file)| file.clone());
        streamed.or_else(|| self.others.of(name))
    }
}

/// The finished attempts of a job, whose outputs are put together.
pub struct Merge<'a> {
    parts: Parts<'a>,
    plan: &'a Plan,
    party: Party,
    /// The attempt that finished each shard, and that of the last program.
    attempts: Vec<u32>,
    last: u32,
}

impl<'a> Merge<'a> {
    /// What is finished by this log.
    pub fn new(parts: Parts<'a>, kept: &Kept) -> Merge<'a> {
        let attempts = kept.shards.iter().map(|shard| shard.finished.unwrap_or_default()).collect();
        let last = kept.last.finished.unwrap_or_default();
        Merge { parts, plan: parts.plan, party: kept.party, attempts, last }
    }

    /// Writes what goes to files, which get their names last; the rest is in the report.
    pub fn write(&self, targets: &Targets) -> Result<Merged, Failure> {
        let mut complete = Complete::default();
        for (name, sink, file) in &targets.streamed {
            let output = self.output(name)?;
            let stream = |to: &mut dyn Write| self.stream(output, file, to);
            sink.prepare(|to| stream(to).map_err(|why| io::Error::other(why.message)), &mut complete)?;
        }
        let rest = self.ours().filter(|output| targets.streamed.iter().all(|(name, ..)| *name != output.name));
        let values = rest.map(|output| Ok((output.name.clone(), self.whole(output)?)));
        let values: BTreeMap<String, BitMatrix> = values.collect::<Result<_, Failure>>()?;
        targets.others.prepare(|name| values.get(name), &mut complete)?;
        complete.name()?;
        let merged = self.ours().map(|output| {
            let value = values.get(&output.name).filter(|_| targets.of(&output.name).is_none()).cloned();
            Output {
                name: output.name.clone(),
                ty: type_of(output),
                lanes: output.lanes,
                value,
                file: targets.of(&output.name),
            }
        });
        Ok(Merged { party: self.party.to_string(), outputs: merged.collect() })
    }

    /// The outputs that this party gets.
    fn ours(&self) -> impl Iterator<Item = &PlanOutput> {
        self.plan.outputs().iter().filter(|output| output.who != Recipient::Party(self.party.peer()))
    }

    fn output(&self, name: &str) -> Result<&PlanOutput, Failure> {
        let found = self.plan.outputs().iter().find(|output| output.name == name);
        found.ok_or_else(|| Failure::input(format!("'{}' has no output '{name}'", self.plan.program().name())))
    }

    /// The files of an output, in order.
    fn parts_of(&self, output: &PlanOutput) -> Result<Vec<Part>, Failure> {
        let open = |from, lanes| self.parts.open(from, &output.name, output.ty.width, lanes);
        if output.from == Source::Last {
            return Ok(vec![open(From::Last(self.last), output.lanes)?]);
        }
        let rows = (0..).zip(&self.attempts).map(|(shard, &number)| {
            let rows = self.plan.output_rows(&output.name, shard);
            (Attempt { shard, number }, rows.end - rows.start)
        });
        rows.filter(|(_, lanes)| *lanes > 0).map(|(attempt, lanes)| open(From::Shard(attempt), lanes)).collect()
    }

    fn whole(&self, output: &PlanOutput) -> Result<BitMatrix, Failure> {
        parts::read(self.parts_of(output)?, output.ty.width)
    }

    fn stream(&self, output: &PlanOutput, file: &str, to: &mut dyn Write) -> Result<(), Failure> {
        let (ty, writing) = (type_of(output), || Failure::io("writing an output"));
        let parts = self.parts_of(output)?;
        if !Location::has_ending(file, ".npy") {
            return each(parts, |lanes| csv::write_lanes(lanes, ty, &mut *to));
        }
        let mut file = npy::Writer::new(to, ty, output.lanes).map_err(writing())?;
        if !npy::is_bytes(ty) {
            return each(parts, |lanes| file.push(lanes));
        }
        parts.into_iter().try_for_each(|part| file.copy(part.bytes()).map_err(writing()))
    }
}

/// Does something with all lanes, a few at a time.
fn each(parts: Vec<Part>, mut put: impl FnMut(&BitMatrix) -> io::Result<()>) -> Result<(), Failure> {
    for mut part in parts {
        while let Some(lanes) = part.next(CHUNK)? {
            put(&lanes).map_err(Failure::io("writing an output"))?;
        }
    }
    Ok(())
}

/// The type as which an output is written and shown.
fn type_of(output: &PlanOutput) -> Type {
    if output.who == Recipient::Shared { output::of_share(output.ty) } else { output.ty }
}

/// The outputs of a job, for people and for programs.
#[derive(Serialize)]
pub struct Merged {
    #[serde(skip)]
    party: String,
    #[serde(serialize_with = "by_name")]
    outputs: Vec<Output>,
}

struct Output {
    name: String,
    ty: Type,
    lanes: u64,
    /// Unless it went to a file.
    value: Option<BitMatrix>,
    file: Option<String>,
}

fn by_name<S: serde::Serializer>(outputs: &[Output], to: S) -> Result<S::Ok, S::Error> {
    let one = |output: &Output| {
        let empty = BitMatrix::zeros(output.ty.width as usize, 0);
        let shown = report::Output::new(output.value.as_ref().unwrap_or(&empty), output.ty, output.file.clone());
        (output.name.clone(), report::Output { lanes: output.lanes, ..shown })
    };
    to.collect_map(outputs.iter().map(one))
}

impl fmt::Display for Merged {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.outputs.is_empty() {
            return writeln!(f, "{} learns nothing", self.party);
        }
        self.outputs.iter().try_for_each(|output| match (&output.value, output.file.as_deref()) {
            (_, Some("-")) => Ok(()),
            (Some(value), None) => f.write_str(&report::shown_output(&shown::name(&output.name), value, output.ty)),
            (_, file) => {
                let (lanes, file) = (console::count(output.lanes, "lane"), file.unwrap_or_default());
                writeln!(f, "{}: {lanes} in {}", shown::name(&output.name), shown::line(file))
            }
        })
    }
}

//! `duologue job plan`: how a program is cut.

use super::merge;
use super::state;
use crate::args::{Cut as CutArgs, JobPlan, Pair};
use crate::failure::{Exit, Failure};
use crate::io::console::{self, Console, thousands};
use crate::io::{output, shown, sizes};
use crate::program;
use duologue::circuit::Program;
use duologue::job::{Cut, Plan, Source};
use serde::Serialize;
use std::collections::BTreeMap;
use std::fmt;
use std::fs;
use std::path::Path;

pub fn run(args: &JobPlan, console: &Console) -> Result<(), Failure> {
    let program = program::load(&args.program, &[])?;
    let plan = cut(&program, &args.cut, &sizes::all(&program, &args.size, |_| None)?)?;
    if let Some(path) = &args.output {
        output::write_file(path, &plan.encode()?)?;
    }
    console.show(&PlanReport::new(&plan, args.output.as_deref())?)
}

/// Cuts a program as the flags say.
pub fn cut(program: &Program, args: &CutArgs, sizes: &[(&str, u64)]) -> Result<Plan, Failure> {
    let shards = args.shards.ok_or_else(|| {
        Failure::new(Exit::CommandLine, "--shards is missing: into how many shards are the lanes cut?")
            .hint("as many as workers, or a few times as many; both parties give the same")
    })?;
    Ok(Plan::new(program, sizes, &Cut { by: args.by.clone(), ..Cut::into(shards) })?)
}

/// Whether a program's name is that of a plan.
pub fn is_file(name: &str) -> bool {
    values::Location::has_ending(name, ".job")
}

/// The plan in a file, which leaves nothing to be cut.
pub fn load(name: &str, args: &CutArgs, sizes: &[Pair<u64>]) -> Result<Plan, Failure> {
    if args.shards.is_some() || args.by.is_some() || !sizes.is_empty() {
        let why = format!("{name} is a plan: it says how its program is cut, and its sizes");
        return Err(Failure::new(Exit::CommandLine, why).hint("leave out --shards, --by and --size"));
    }
    let bytes = fs::read(name).map_err(Failure::io(format!("reading the plan {name}")))?;
    state::decode(&bytes, Path::new(name))
}

/// How a program is cut, for people and for programs.
#[derive(Serialize)]
struct PlanReport {
    program: String,
    digest: String,
    plan: String,
    sizes: BTreeMap<String, u64>,
    by: String,
    lanes: u64,
    /// The power of two at whose multiples shards begin.
    block: u64,
    /// First lane and number of lanes of each shard.
    shards: Vec<(u64, u64)>,
    /// Where each output comes from: `shards` or `last`, the program that follows them.
    outputs: BTreeMap<String, &'static str>,
    last: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    file: Option<String>,
}

impl PlanReport {
    fn new(plan: &Plan, file: Option<&Path>) -> Result<PlanReport, Failure> {
        let range = |shard| {
            let range = plan.range(shard);
            (range.start, range.end - range.start)
        };
        let output = |from| if from == Source::Last { "last" } else { "shards" };
        Ok(PlanReport {
            program: plan.program().name().into(),
            digest: duologue::hex(&plan.program().digest()?),
            plan: duologue::hex(&plan.digest()),
            sizes: sizes::map(&merge::whole(plan)?),
            by: plan.by().into(),
            lanes: plan.lanes(),
            block: plan.block(),
            shards: (0..plan.shards()).map(range).collect(),
            outputs: plan.outputs().iter().map(|one| (one.name.clone(), output(one.from))).collect(),
            last: plan.last().is_some(),
            file: file.map(|file| file.display().to_string()),
        })
    }
}

/// Shards that are listed one by one.
const SHOWN: usize = 20;

impl fmt::Display for PlanReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "program  {}", shown::name(&self.program))?;
        writeln!(f, "digest   {}", self.digest)?;
        writeln!(f, "plan     {}", self.plan)?;
        let (shards, lanes) = (console::count(self.shards.len() as u64, "shard"), thousands(self.lanes));
        writeln!(f, "cut      {} = {lanes} into {shards}", shown::name(&self.by))?;
        let row = |(shard, (first, lanes)): (usize, &(u64, u64))| {
            vec![format!("shard {shard}"), format!("from {}", thousands(*first)), console::count(*lanes, "lane")]
        };
        write!(
            f,
            "{}",
            console::table("lrr", &self.shards.iter().enumerate().take(SHOWN).map(row).collect::<Vec<_>>())
        )?;
        if self.shards.len() > SHOWN {
            writeln!(f, "  and {} more; all with --json", self.shards.len() - SHOWN)?;
        }
        let from = |from: &str| {
            if from == "last" { "the last program, of the drivers" } else { "the shards, one after another" }
        };
        let outputs = self.outputs.iter().map(|(name, source)| vec![shown::name(name), from(source).into()]);
        write!(f, "outputs\n{}", console::table("ll", &outputs.collect::<Vec<_>>()))?;
        self.file.as_ref().map_or(Ok(()), |file| writeln!(f, "written to {}", shown::line(file)))
    }
}

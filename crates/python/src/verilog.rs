//! Programs from designs in Verilog, by Yosys.

use crate::errors::{raised, usage};
use crate::program::Program;
use duologue::circuit::blocks::Goal;
use duologue_cli::embed::{self, Compile, Pair};
use pyo3::prelude::*;
use std::path::PathBuf;

/// How a design becomes a program, as the flags of `duologue compile` say it.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub struct Design {
    top: Option<String>,
    set: Vec<(String, String)>,
    goal: String,
    block: Vec<(String, PathBuf)>,
    inputs: Vec<(String, String)>,
    outputs: Vec<(String, String)>,
    cycles: Option<u64>,
    form: Option<String>,
    each: Vec<String>,
    reset: Vec<String>,
    yosys: Option<PathBuf>,
    time_limit: u64,
}

/// The program, and what Yosys warned of.
#[pyfunction]
pub fn compile_verilog(py: Python<'_>, files: Vec<PathBuf>, design: Design) -> PyResult<(Program, Vec<String>)> {
    let args = design.args(files)?;
    let (program, warnings) = py.detach(|| embed::compile(&args)).map_err(raised)?;
    Ok((Program::of(program), warnings))
}

impl Design {
    fn args(self, files: Vec<PathBuf>) -> PyResult<Compile> {
        let goal = match &*self.goal {
            "size" => Goal::Size,
            "depth" => Goal::Depth,
            _ => return Err(usage("goal: expected 'size' or 'depth'")),
        };
        let form = self.form.as_deref();
        if form.is_some_and(|form| !["iterate", "unroll"].contains(&form)) {
            return Err(usage("form: expected 'iterate' or 'unroll'"));
        }
        Ok(Compile {
            files,
            // Not written: its end says that a program is made.
            output: "program.duo".into(),
            top: self.top,
            set: pairs(self.set),
            goal,
            block: pairs(self.block),
            inputs: pairs(self.inputs),
            outputs: pairs(self.outputs),
            cycles: self.cycles,
            iterate: form == Some("iterate"),
            unroll: form == Some("unroll"),
            each: self.each,
            reset: self.reset,
            profile: false,
            yosys: self.yosys,
            time_limit: self.time_limit,
        })
    }
}

fn pairs<T>(pairs: Vec<(String, T)>) -> Vec<Pair<T>> {
    pairs.into_iter().map(|(name, value)| Pair { name, value }).collect()
}

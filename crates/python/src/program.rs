//! Programs, and programs whose sizes are fixed.

use crate::debug::{Step as Seen, shown};
use crate::errors::{of_program, raised, usage};
use crate::matrix::Matrix;
use crate::report;
use crate::settings::Settings;
use duologue::channel::Link;
use duologue::circuit::program::{Lanes, Owner, Recipient, SizeRange, Step};
use duologue::circuit::{self, Type};
use duologue::cost::choice::{Choices, mixes};
use duologue::cost::{self, Cost};
use duologue::{Inputs, Options, Outputs, Result, Scheme, Timing, plain};
use duologue_cli::embed;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};
use std::collections::HashMap;

/// A port as Python gets it: name, whose it is, type, lanes in terms of the sizes or in numbers.
type Port = (String, &'static str, String, String);

/// How the least of many values is found, as Python says it.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub struct Argmin {
    bits: u32,
    argument: Option<u32>,
    form: String,
    method: String,
    ots: Option<String>,
    leaky: bool,
    schedule: Option<String>,
    values: Option<u64>,
    has_pool: bool,
}

#[pyclass(frozen, module = "duologue._core")]
pub struct Program {
    pub program: circuit::Program,
    /// As the command names it, if it is built in.
    built_in: String,
}

#[pymethods]
impl Program {
    /// The program that the bytes of a `.duo` file are.
    #[staticmethod]
    fn from_bytes(py: Python<'_>, file: &str, bytes: &[u8]) -> PyResult<Self> {
        let read = py.detach(|| circuit::Program::from_bytes_with(bytes, &apps::calls().functionalities()));
        let malformed = |why: circuit::Error| duologue::Error::Malformed { what: file.into(), why: why.to_string() };
        let program = read.map_err(|why| raised(malformed(why)))?;
        Ok(Program::of(program))
    }

    #[staticmethod]
    fn built_in(py: Python<'_>, text: &str) -> PyResult<Self> {
        let program = py.detach(|| embed::built_in(text)).map_err(usage)?;
        Ok(Program { built_in: text.into(), ..Program::of(program) })
    }

    /// The program that finds the least of many values, the protocol by which it runs, and how that garbles where it is chosen.
    #[staticmethod]
    fn argmin(py: Python<'_>, asked: Argmin, settings: Settings) -> PyResult<(Self, Vec<(&'static str, String)>)> {
        let made = || {
            let (maker, schedule) = (settings.options(Scheme::Gmw)?.extension, asked.schedule.as_deref());
            let asked = embed::Argmin {
                bits: asked.bits,
                argument: asked.argument,
                form: asked.form,
                method: asked.method,
                ots: asked.ots,
                schedule: schedule.map(str::parse).transpose()?,
                is_leaky: asked.leaky,
                values: asked.values,
                maker,
                has_pool: asked.has_pool,
            };
            asked.program()
        };
        let (program, scheme, garbled) = py.detach(made).map_err(raised)?;
        let mut run: Vec<_> = scheme.map(|scheme| ("protocol", scheme.to_string())).into_iter().collect();
        if let Some((garbling, timing)) = garbled {
            let timing = match timing {
                Timing::Streamed => "streamed",
                Timing::Ahead => "ahead",
                _ => "auto",
            };
            run.extend([("garbling", garbling.to_string()), ("timing", timing.into())]);
        }
        let built_in = "app:argmin".into();
        Ok((Program { built_in, ..Program::of(program) }, run))
    }

    fn to_bytes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let bytes = py.detach(|| self.program.to_bytes()).map_err(of_program)?;
        Ok(PyBytes::new(py, &bytes))
    }

    #[getter]
    fn name(&self) -> &str {
        self.program.name()
    }

    #[getter]
    fn digest(&self) -> PyResult<String> {
        self.program.digest().map(|digest| duologue::hex(&digest)).map_err(of_program)
    }

    /// Names, least and greatest values.
    #[getter]
    fn sizes(&self) -> Vec<(&str, u64, u64)> {
        self.program.sizes().iter().map(|size| (&*size.name, *size.range.start(), *size.range.end())).collect()
    }

    #[getter]
    fn inputs(&self) -> Vec<Port> {
        let port = |step: &Step| match step {
            Step::Input { name, owner: who, ty, lanes } => {
                Some((name.clone(), owner(*who), ty.to_string(), self.lanes(lanes)))
            }
            _ => None,
        };
        self.program.steps().iter().filter_map(port).collect()
    }

    /// Their lanes are known when the sizes are.
    #[getter]
    fn outputs(&self) -> Vec<Port> {
        let port = |step: &Step| match step {
            Step::Output { name, recipient: who, value } => {
                Some((name.clone(), recipient(*who), self.program.type_of(*value).to_string(), String::new()))
            }
            _ => None,
        };
        self.program.steps().iter().filter_map(port).collect()
    }

    /// The steps as they are shown.
    #[getter]
    fn steps(&self) -> Vec<Seen> {
        shown(embed::steps(&self.program, None))
    }

    /// The meanings of ports by name, of an application that is built in.
    #[getter]
    fn meanings(&self) -> HashMap<&'static str, &'static str> {
        embed::meanings(&self.built_in).iter().copied().collect()
    }

    /// Fixes the sizes by those that are given and those that follow from the lanes of inputs.
    fn bind(&self, py: Python<'_>, sizes: HashMap<String, u64>, lanes: HashMap<String, u64>) -> PyResult<Binding> {
        let implied = embed::implied_sizes(&self.program, |input| lanes.get(input).copied());
        let mut all: Vec<(String, u64)> = sizes.into_iter().collect();
        for (name, value) in implied {
            if all.iter().all(|(known, _)| *known != name) {
                all.push((name, value));
            }
        }
        let open = |size: &&SizeRange| {
            size.range.start() != size.range.end() && all.iter().all(|(known, _)| *known != size.name)
        };
        if let Some(SizeRange { name, range }) = self.program.sizes().iter().find(open) {
            let (name, from, to) = (embed::name(name), range.start(), range.end());
            return Err(usage(format!(
                "the size '{name}' is not given: write sizes={{...}} with {from} to {to} for it"
            )));
        }
        let binding = py.detach(|| Ok(self.told(bind(&self.program, &all)?))).map_err(of_program)?;
        Ok(Binding { binding, sizes: all, built_in: self.built_in.clone() })
    }
}

impl Program {
    /// One that is not built in.
    pub fn of(program: circuit::Program) -> Self {
        Program { program, built_in: String::new() }
    }

    /// With its outline, if it is not built in: parties whose programs differ are told where first.
    fn told(&self, binding: circuit::Binding) -> circuit::Binding {
        if self.built_in.is_empty() { binding.told() } else { binding }
    }

    /// A number of lanes in terms of the sizes.
    fn lanes(&self, lanes: &Lanes) -> String {
        let names = lanes.sizes().iter().map(|size| embed::name(&self.program.sizes()[size.number()].name));
        product(lanes.factor(), names)
    }
}

/// `8 × faces`.
pub fn product(factor: u64, names: impl ExactSizeIterator<Item = String>) -> String {
    let factor = (factor != 1 || names.len() == 0).then(|| factor.to_string());
    factor.into_iter().chain(names).collect::<Vec<_>>().join(" × ")
}

fn bind(program: &circuit::Program, sizes: &[(String, u64)]) -> circuit::Result<circuit::Binding> {
    program.bind(&sizes.iter().map(|(name, value)| (&**name, *value)).collect::<Vec<_>>())
}

/// Who supplies an input, as Python has it.
pub fn owner(owner: Owner) -> &'static str {
    match owner {
        Owner::Party(duologue::Party::Alice) => "alice",
        Owner::Party(duologue::Party::Bob) => "bob",
        Owner::Public => "public",
        Owner::Shared => "shared",
    }
}

/// Who learns an output.
pub fn recipient(recipient: Recipient) -> &'static str {
    match recipient {
        Recipient::Party(duologue::Party::Alice) => "alice",
        Recipient::Party(duologue::Party::Bob) => "bob",
        Recipient::Both => "both",
        Recipient::Shared => "shared",
    }
}

/// A program whose sizes are fixed.
#[pyclass(frozen, module = "duologue._core")]
pub struct Binding {
    pub binding: circuit::Binding,
    /// By which it was bound.
    sizes: Vec<(String, u64)>,
    built_in: String,
}

#[pymethods]
impl Binding {
    #[getter]
    fn sizes(&self) -> HashMap<&str, u64> {
        let names = self.binding.program().sizes().iter().map(|size| &*size.name);
        names.zip(self.binding.sizes().iter().copied()).collect()
    }

    /// How many lanes the inputs have.
    #[getter]
    fn input_lanes(&self) -> HashMap<&str, u64> {
        self.binding.inputs().iter().map(|port| (&*port.name, port.lanes)).collect()
    }

    /// How many lanes the outputs have.
    #[getter]
    fn output_lanes(&self) -> HashMap<&str, u64> {
        self.binding.outputs().iter().map(|port| (&*port.name, port.lanes)).collect()
    }

    /// All outputs, computed here on all inputs.
    fn plain(&self, py: Python<'_>, inputs: HashMap<String, Py<Matrix>>) -> PyResult<HashMap<String, Matrix>> {
        let inputs = given(&inputs);
        let outputs = py.detach(|| plain::run(&self.binding, &inputs)).map_err(raised)?;
        Ok(taken(outputs, &self.binding))
    }

    /// What a run takes over a line, by each protocol that comes into question.
    fn cost<'py>(&self, py: Python<'py>, link: &str, settings: Settings) -> PyResult<Vec<Bound<'py, PyDict>>> {
        let link: Link = link.parse().map_err(raised)?;
        let costs = py.detach(|| self.costs(&link, &settings)).map_err(raised)?;
        costs.iter().map(|(cost, seconds)| report::of_cost(py, cost, *seconds)).collect()
    }
}

impl Binding {
    /// What the choice of a protocol is among.
    pub fn choices(&self, settings: &Settings) -> Result<Choices> {
        let options = settings.options(Scheme::Yao)?;
        let bind = |program: &circuit::Program| bind(program, &self.sizes);
        embed::choices((&self.built_in, &self.binding), bind, (&options, settings.garbling()?), &apps::calls())
    }

    /// With seconds of setup and online. Of the cuts of a mixed program, that of the least time.
    fn costs(&self, link: &Link, settings: &Settings) -> Result<Vec<(Cost, (f64, f64))>> {
        let speed = cost::blocks_per_second();
        let of = |options: &Options| -> Result<(Cost, (f64, f64))> {
            let cost = cost::cost_over(&self.binding, options, &apps::calls(), link)?;
            let (setup, online) = cost.predict(link, speed);
            Ok((cost, (setup.as_secs_f64(), online.as_secs_f64())))
        };
        if let Some(scheme) = settings.scheme()? {
            return Ok(vec![of(&settings.options(scheme)?)?]);
        }
        let whole = Scheme::ALL.into_iter().filter(|&scheme| scheme != Scheme::Mixed);
        let mut costs = whole.map(|scheme| of(&settings.options(scheme)?)).collect::<Result<Vec<_>>>()?;
        let total = |(_, (setup, online)): &(Cost, (f64, f64))| setup + online;
        let cuts = mixes(&self.binding, &settings.options(Scheme::Mixed)?).into_iter();
        // A cut into too many parts is none.
        let cuts = cuts.filter_map(|options| of(&options).ok());
        costs.extend(cuts.min_by(|a, b| total(a).total_cmp(&total(b))));
        Ok(costs)
    }
}

/// The inputs of a run.
pub fn given(matrices: &HashMap<String, Py<Matrix>>) -> Inputs {
    let with = |inputs: Inputs, (name, matrix): (&String, &Py<Matrix>)| inputs.with(name, matrix.get().0.clone());
    matrices.iter().fold(Inputs::new(), with)
}

/// The outputs of a run.
pub fn taken(mut outputs: Outputs, binding: &circuit::Binding) -> HashMap<String, Matrix> {
    let taken = |name: &str| Some((name.to_owned(), Matrix(outputs.take(name)?.into())));
    binding.outputs().iter().map(|port| port.name.as_str()).filter_map(taken).collect()
}

/// A type by its name, as in `uint(32)`.
pub fn type_of(text: &str) -> PyResult<Type> {
    text.parse().map_err(of_program)
}

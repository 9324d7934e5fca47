//! Binding: a program with its sizes fixed.

use super::{Outline, Owner, Program, Recipient, Step, Value, View};
use crate::error::{Error, Result, counted};
use crate::graph::Type;
use std::sync::{Arc, OnceLock};

/// The most lanes of a value.
const MOST_LANES: u64 = 1 << 40;

/// The most bits of a value.
const MOST_VALUE_BITS: u64 = 1 << 48;

/// The most bits of an input or output, which are held whole: two gigabytes.
const MOST_PORT_BITS: u64 = 1 << 34;

/// A port with its number of lanes; `W` says whose it is.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct BoundPort<W> {
    /// The port's name.
    pub name: String,
    /// The type of one lane.
    pub ty: Type,
    /// How many lanes.
    pub lanes: u64,
    /// Who supplies or learns it.
    pub who: W,
    pub(crate) step: u32,
}

/// A program whose sizes are fixed, with the number of lanes and the domain of every value.
#[derive(Clone)]
pub struct Binding {
    program: Arc<Program>,
    digest: OnceLock<[u8; 32]>,
    /// The most bits of a port.
    most_port_bits: u64,
    /// Made when it is sent, if it shall be.
    outline: Option<Arc<OnceLock<Outline>>>,
    sizes: Vec<u64>,
    lanes: Vec<u64>,
    public: Vec<bool>,
    inputs: Vec<BoundPort<Owner>>,
    outputs: Vec<BoundPort<Recipient>>,
}

impl Program {
    /// Fixes the sizes, given by name.
    pub fn bind(&self, sizes: &[(&str, u64)]) -> Result<Binding> {
        self.bind_with(sizes, MOST_PORT_BITS)
    }

    /// The same for a program that is cut before it runs: its inputs and outputs need not fit into the memory of a machine.
    #[doc(hidden)]
    pub fn bind_to_cut(&self, sizes: &[(&str, u64)]) -> Result<Binding> {
        self.bind_with(sizes, MOST_VALUE_BITS)
    }

    fn bind_with(&self, sizes: &[(&str, u64)], most_port_bits: u64) -> Result<Binding> {
        self.check()?;
        if let Some((name, _)) = sizes.iter().find(|(name, _)| self.sizes.iter().all(|size| size.name != *name)) {
            let near = self.sizes.iter().map(|size| size.name.clone()).collect();
            return Err(Error::Unknown { what: "size", name: name.to_string(), near });
        }
        let sizes = self.sizes.iter().map(|size| self.size_value(size, sizes)).collect::<Result<Vec<_>>>()?;
        Binding::new(self.clone(), sizes, most_port_bits)
    }

    fn size_value(&self, size: &super::SizeRange, given: &[(&str, u64)]) -> Result<u64> {
        let place = || format!("program '{}', size '{}'", self.name, size.name);
        let value = given.iter().find(|(name, _)| *name == size.name).map(|&(_, value)| value);
        match value {
            None if size.range.start() == size.range.end() => Ok(*size.range.start()),
            None => Err(Error::invalid(place(), "is not given")),
            Some(value) if size.range.contains(&value) => Ok(value),
            Some(value) => {
                let (from, to) = (size.range.start(), size.range.end());
                Err(Error::invalid(place(), format!("{value} is not between {from} and {to}")))
            }
        }
    }
}

impl Binding {
    fn new(program: Program, sizes: Vec<u64>, most_port_bits: u64) -> Result<Binding> {
        let mut binding = Binding {
            program: Arc::new(program),
            digest: OnceLock::new(),
            most_port_bits,
            outline: None,
            sizes,
            lanes: vec![],
            public: vec![],
            inputs: vec![],
            outputs: vec![],
        };
        for number in 0..binding.program.steps.len() {
            let step = binding.program.steps[number].clone();
            binding.bind_step(number, &step)?;
        }
        Ok(binding)
    }

    fn bind_step(&mut self, number: usize, step: &Step) -> Result<()> {
        let (lanes, public) = match step {
            Step::Input { name, owner, ty, lanes } => {
                let lanes = self.count(number, lanes)?;
                let port = BoundPort { name: name.clone(), ty: *ty, lanes, who: *owner, step: number as u32 };
                self.check_port(number, *ty, lanes)?;
                self.inputs.push(port);
                (vec![lanes], *owner == Owner::Public)
            }
            Step::Constant { lanes, .. } => (vec![self.count(number, lanes)?], true),
            Step::Map { circuit, args } => {
                let outputs = self.program.circuits[*circuit as usize].outputs().len();
                (vec![self.common_lanes(number, args)?; outputs], self.all_public(args))
            }
            Step::Reduce { args, .. } => {
                if self.common_lanes(number, args)? == 0 {
                    return Err(self.invalid(number, "a reduction of no lanes has no result"));
                }
                (vec![1; args.len()], self.all_public(args))
            }
            Step::Iterate { circuit, cycles, state, inputs } => {
                let outputs = self.program.circuits[*circuit as usize].outputs().len();
                self.iterate_lanes(number, cycles, (state, inputs), outputs)?
            }
            Step::View { view, args } => (vec![self.view_lanes(number, view, args)?], self.all_public(args)),
            Step::Call { name, version, parameters, args } => {
                (self.call_lanes(number, (name, *version), parameters, args)?, false)
            }
            Step::Output { name, recipient, value } => {
                let (ty, lanes) = (self.program.type_of(*value), self.lanes_of(*value));
                let port = BoundPort { name: name.clone(), ty, lanes, who: *recipient, step: number as u32 };
                self.check_port(number, ty, lanes)?;
                self.outputs.push(port);
                (vec![], false)
            }
        };
        for (port, &lanes) in lanes.iter().enumerate() {
            self.check_total(number, port, lanes)?;
        }
        self.public.extend(lanes.iter().map(|_| public));
        self.lanes.extend(lanes);
        Ok(())
    }

    fn iterate_lanes(
        &self,
        number: usize,
        cycles: &super::Lanes,
        (state, inputs): (&[Value], &[Value]),
        outputs: usize,
    ) -> Result<(Vec<u64>, bool)> {
        let lanes = self.common_lanes(number, state)?;
        let cycles = self.count(number, cycles)?;
        let all = lanes.saturating_mul(cycles);
        for &input in inputs {
            if self.lanes_of(input) != all {
                let came = self.lanes_of(input);
                return Err(
                    self.invalid(number, format!("per-cycle input: expected {}, came {came}", counted(all, "lane")))
                );
            }
        }
        let mut result = vec![lanes; state.len()];
        result.resize(outputs, all);
        Ok((result, self.all_public(state) && self.all_public(inputs)))
    }

    /// Arguments and results of a call are held whole, like inputs and outputs.
    fn call_lanes(
        &self,
        number: usize,
        (name, version): (&str, u32),
        parameters: &[u8],
        args: &[Value],
    ) -> Result<Vec<u64>> {
        let given: Vec<u64> = args.iter().map(|&arg| self.lanes_of(arg)).collect();
        let functionality = self.program.functionalities().find(name, version)?;
        let found = functionality.lanes(parameters, &given);
        let lanes = found.map_err(|why| self.invalid(number, format!("call of '{name}': {why}")))?;
        let defined = self.program.values()[self.lanes.len()..].iter();
        let types: Vec<Type> =
            defined.take_while(|value| value.step as usize == number).map(|value| value.ty).collect();
        if types.len() != lanes.len() {
            let why = format!("'{name}' says the lanes of {} results, but has {}", lanes.len(), types.len());
            return Err(self.invalid(number, why));
        }
        let read = args.iter().map(|&arg| self.program.type_of(arg)).zip(&given);
        let mut all = read.chain(types.into_iter().zip(&lanes));
        all.try_for_each(|(ty, &lanes)| self.check_port(number, ty, lanes))?;
        Ok(lanes)
    }

    fn view_lanes(&self, number: usize, view: &View, args: &[Value]) -> Result<u64> {
        let first = self.lanes_of(args[0]);
        match view {
            View::Bits(_) => Ok(first),
            View::Join => self.common_lanes(number, args),
            View::Chain => args
                .iter()
                .try_fold(0u64, |sum, &arg| sum.checked_add(self.lanes_of(arg)))
                .ok_or_else(|| self.invalid(number, "too many lanes")),
            View::Repeat(times) => self.product(number, first, self.count(number, times)?),
            View::Slice { start, step, count } => {
                let count = self.count(number, count)?;
                let last = count.checked_sub(1).map_or(Some(0), |c| c.checked_mul(*step)?.checked_add(*start));
                match last {
                    Some(last) if count == 0 || last < first => Ok(count),
                    _ => Err(self.invalid(number, format!("a slice beyond {}", counted(first, "lane")))),
                }
            }
            View::Lanes(lanes) => match lanes.iter().find(|&&lane| lane >= first) {
                Some(lane) => Err(self.invalid(number, format!("lane {lane} of {first}"))),
                None => Ok(lanes.len() as u64),
            },
            View::Split(parts) => self.product(number, first, *parts as u64),
            View::Merge(parts) if first.is_multiple_of(*parts as u64) => Ok(first / *parts as u64),
            View::Merge(parts) => Err(self.invalid(number, format!("{} merged by {parts}", counted(first, "lane")))),
        }
    }

    fn product(&self, number: usize, a: u64, b: u64) -> Result<u64> {
        a.checked_mul(b).ok_or_else(|| self.invalid(number, "too many lanes"))
    }

    fn count(&self, number: usize, lanes: &super::Lanes) -> Result<u64> {
        lanes.count(&self.sizes).ok_or_else(|| self.invalid(number, "too many lanes"))
    }

    fn common_lanes(&self, number: usize, args: &[Value]) -> Result<u64> {
        let first = self.lanes_of(args[0]);
        match args.iter().find(|&&arg| self.lanes_of(arg) != first) {
            Some(&other) => {
                let other = self.lanes_of(other);
                Err(self.invalid(number, format!("arguments of {first} and of {}", counted(other, "lane"))))
            }
            None => Ok(first),
        }
    }

    fn check_total(&self, number: usize, port: usize, lanes: u64) -> Result<()> {
        let value = self.program.value((self.lanes.len() + port) as u32);
        let width = u64::from(self.program.type_of(value).width.max(1));
        match lanes.checked_mul(width) {
            Some(bits) if lanes <= MOST_LANES && bits <= MOST_VALUE_BITS => Ok(()),
            _ => {
                let most = MOST_LANES.min(MOST_VALUE_BITS / width);
                let lanes = counted(lanes, "lane");
                Err(self.invalid(
                    number,
                    format!("a value of {lanes} is too large: of {} it has at most {most}", counted(width, "bit")),
                ))
            }
        }
    }

    fn check_port(&self, number: usize, ty: Type, lanes: u64) -> Result<()> {
        match lanes.checked_mul(u64::from(ty.width)) {
            Some(bits) if bits <= self.most_port_bits => Ok(()),
            _ => {
                let most = MOST_PORT_BITS / u64::from(ty.width.max(1));
                let why = format!(
                    "an input or output of {} of {ty} is too large: it has at most {most}, 2^34 bits or 2 gigabytes",
                    counted(lanes, "lane")
                );
                Err(self.invalid(number, why))
            }
        }
    }

    fn all_public(&self, args: &[Value]) -> bool {
        args.iter().all(|&arg| self.is_public(arg))
    }

    fn invalid(&self, number: usize, why: impl Into<String>) -> Error {
        Error::invalid(format!("program '{}', step {number}", self.program.name), why)
    }

    /// The digest of the program, computed once.
    ///
    /// # Errors
    /// If the program cannot be encoded.
    pub fn digest(&self) -> Result<[u8; 32]> {
        match self.digest.get() {
            Some(digest) => Ok(*digest),
            None => self.program.digest().map(|digest| *self.digest.get_or_init(|| digest)),
        }
    }

    /// So that a session tells the peer the [outline](Program::outline) of its program: if the peer tells its own, both hear
    /// where their programs differ first. It lets the peer guess the program piece by piece: only for one that is no secret.
    #[must_use]
    pub fn told(self) -> Binding {
        Binding { outline: Some(Arc::default()), ..self }
    }

    /// The outline that a session tells, if it does; it is made once.
    ///
    /// # Errors
    /// If the program cannot be encoded.
    #[doc(hidden)]
    pub fn outline(&self) -> Result<Option<&Outline>> {
        let Some(outline) = &self.outline else { return Ok(None) };
        if outline.get().is_none() {
            let _ = outline.set(self.program.outline()?);
        }
        Ok(outline.get())
    }

    /// How many characters the outline that a session tells has; it need not be made for that.
    #[doc(hidden)]
    pub fn length_of_outline(&self) -> Option<usize> {
        self.outline.as_ref().map(|_| self.program.length_of_outline())
    }

    /// The program that was bound.
    pub fn program(&self) -> &Program {
        &self.program
    }

    /// The sizes, in the order of their declaration.
    pub fn sizes(&self) -> &[u64] {
        &self.sizes
    }

    /// The number of lanes of a value.
    pub fn lanes_of(&self, value: Value) -> u64 {
        self.lanes.get(value.0 as usize).copied().unwrap_or(0)
    }

    /// Whether both parties know a value.
    pub fn is_public(&self, value: Value) -> bool {
        self.public.get(value.0 as usize).copied().unwrap_or(true)
    }

    /// The input ports.
    pub fn inputs(&self) -> &[BoundPort<Owner>] {
        &self.inputs
    }

    /// The output ports.
    pub fn outputs(&self) -> &[BoundPort<Recipient>] {
        &self.outputs
    }

    /// An input port by name.
    pub fn input(&self, name: &str) -> Option<&BoundPort<Owner>> {
        self.inputs.iter().find(|port| port.name == name)
    }

    /// An output port by name.
    pub fn output(&self, name: &str) -> Option<&BoundPort<Recipient>> {
        self.outputs.iter().find(|port| port.name == name)
    }
}

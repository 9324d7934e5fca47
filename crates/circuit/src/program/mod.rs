//! Programs: a short list of steps that apply circuits to many lanes.
//!
//! A program has named public sizes, so that one file serves every gallery. Values are *lanes × bits*. The steps are
//! written by the methods of [`Program`]; a mistake in one is remembered and reported by [`Program::bind`] and
//! [`Program::to_bytes`], so that a program reads as a list of lines without a `?` each.
//!
//! ```
//! use circuit::program::{Party, Program};
//! use circuit::{Bits, Builder, bits};
//!
//! let mut both = Builder::new("both");
//! let (a, b) = (both.bits("a", 8), both.bits("b", 8));
//! let shared = Bits((0..8).map(|i| both.and(a.0[i], b.0[i])).collect());
//! both.output("both", &shared);
//!
//! let mut p = Program::new("common interests");
//! let people = p.size("people", 1..=1000);
//! let mine = p.input("mine", Party::Alice, bits(8), 1);
//! let theirs = p.input("theirs", Party::Bob, bits(8), people);
//! let mine = p.repeat(mine, people);
//! let common = p.map(&both.finish(), &[mine, theirs]);
//! p.output("common", Party::Alice, common);
//! assert_eq!(p.bind(&[("people", 20)]).unwrap().output("common").unwrap().lanes, 20);
//! ```

mod bind;
mod digest;
mod functionality;
mod lanes;
mod parts;
mod party;
pub mod reference;
mod schedule;
mod scheduler;
mod step;
mod wiring;
mod written;

pub use bind::{Binding, BoundPort};
pub use functionality::{CallPort, Functionalities, Functionality, Holder};
pub use lanes::{Lanes, Size};
pub use parts::{Call, CallPart, CallValue, Origin, Part, Parts, ProgramPart, Target};
pub use party::Party;
#[doc(hidden)]
pub use schedule::{CellId, Schedule, Seat, Task, TaskKind};
pub use step::{Owner, Recipient, Step, View};
#[doc(hidden)]
pub use wiring::Piece;

use crate::error::{Error, Result, counted};
use crate::graph::{Circuit, Type, check_name, check_type};
use std::collections::HashSet;
use std::fmt;
use std::hash::{BuildHasher, RandomState};
use std::ops::{Range, RangeInclusive};
use std::sync::Arc;

/// A value of a program: defined by one step, read by later ones of this program and of its clones.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Value(pub(crate) u32, pub(crate) ProgramId);

impl Value {
    /// Its place among the values, in the order in which the steps define them.
    pub fn number(self) -> usize {
        self.0 as usize
    }
}

impl fmt::Debug for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Value({})", self.0)
    }
}

/// Which program of this process a value belongs to; no part of any encoding.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct ProgramId(u64);

impl ProgramId {
    /// Of steps that were read and belong to no program yet.
    pub const NONE: ProgramId = ProgramId(0);

    /// No other program has it, but with probability 2^-64.
    fn new() -> ProgramId {
        ProgramId(RandomState::new().hash_one(0) | 1 << 63)
    }
}

/// A named public size and what it may be.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SizeRange {
    /// Its name.
    pub name: String,
    /// The values it may take.
    pub range: RangeInclusive<u64>,
}

/// Which step and which of its results a value is, and the type of a lane.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Definition {
    pub step: u32,
    pub port: u32,
    pub ty: Type,
    /// Who holds it when a call reads it.
    pub holder: Holder,
}

/// The most steps of a program; far above what people write.
const MOST_STEPS: usize = 1 << 24;

/// The most named sizes of a program.
const MOST_SIZES: usize = 1 << 10;

/// The most bits of one lane of a value.
const MOST_BITS: u64 = 1 << 24;

/// A program: named sizes, circuits, and steps over values.
#[derive(Clone)]
pub struct Program {
    id: ProgramId,
    name: String,
    sizes: Vec<SizeRange>,
    circuits: Vec<Circuit>,
    steps: Vec<Step>,
    values: Vec<Definition>,
    /// Names taken by inputs and by outputs.
    ports: [HashSet<String>; 2],
    /// The meanings of its calls.
    functionalities: Functionalities,
    calls: usize,
    mistake: Option<Error>,
}

impl Program {
    /// An empty program.
    pub fn new(name: impl Into<String>) -> Program {
        let name = name.into();
        let mistake = check_name(&name).err().map(|why| Error::invalid("program", why));
        let (sizes, circuits, steps, values, ports, functionalities) = Default::default();
        let id = ProgramId::new();
        Program { id, name, sizes, circuits, steps, values, ports, functionalities, calls: 0, mistake }
    }

    /// One circuit as a program: each input port belongs to the party named for it, outputs go to both.
    ///
    /// The lanes are the public size `lanes`.
    pub fn of_circuit(circuit: &Circuit, owners: &[Owner]) -> Program {
        let mut p = Program::new(circuit.name());
        let lanes = p.size("lanes", 0..=1 << 32);
        let ports = circuit.inputs().iter().zip(owners.iter().cycle());
        let args: Vec<Value> = ports.map(|(port, &owner)| p.input(&port.name, owner, port.ty, lanes)).collect();
        let results = p.map_all(circuit, &args);
        for (port, &value) in circuit.outputs().iter().zip(&results) {
            p.output(&port.name, Recipient::Both, value);
        }
        p
    }

    /// The program's name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The named public sizes.
    pub fn sizes(&self) -> &[SizeRange] {
        &self.sizes
    }

    /// The circuits that steps apply.
    pub fn circuits(&self) -> &[Circuit] {
        &self.circuits
    }

    /// The steps in order.
    pub fn steps(&self) -> &[Step] {
        &self.steps
    }

    /// The type of a lane of `value`; no bits if it is not this program's.
    pub fn type_of(&self, value: Value) -> Type {
        let defined = self.values.get(value.0 as usize).filter(|_| value.1 == self.id);
        defined.map_or(crate::graph::bits(0), |definition| definition.ty)
    }

    /// The values with these numbers, whether they are defined or not.
    pub(crate) fn range(&self, numbers: Range<u32>) -> impl Iterator<Item = Value> + use<> {
        let id = self.id;
        numbers.map(move |number| Value(number, id))
    }

    /// The value with this number, whether it is defined or not.
    pub(crate) fn value(&self, number: u32) -> Value {
        Value(number, self.id)
    }

    /// Who holds `value` when a call reads it: the party that supplies it or that a call gave it to, else both as shares.
    pub fn holder(&self, value: Value) -> Holder {
        self.values.get(value.0 as usize).map_or(Holder::Shared, |definition| definition.holder)
    }

    /// Whether a step calls a functionality.
    pub fn has_calls(&self) -> bool {
        self.calls > 0
    }

    /// The meanings of the calls.
    pub fn functionalities(&self) -> &Functionalities {
        &self.functionalities
    }

    pub(crate) fn set_functionalities(&mut self, functionalities: &Functionalities) {
        self.functionalities = functionalities.clone();
    }

    pub(crate) fn values(&self) -> &[Definition] {
        &self.values
    }

    /// The first mistake made while writing the steps, if any.
    pub fn check(&self) -> Result<()> {
        self.mistake.clone().map_or(Ok(()), Err)
    }

    /// Declares a named public size.
    pub fn size(&mut self, name: &str, range: RangeInclusive<u64>) -> Size {
        if let Err(error) = self.push_size(SizeRange { name: name.into(), range }) {
            self.remember(error);
        }
        Size(self.sizes.len().saturating_sub(1) as u32)
    }

    pub(crate) fn push_size(&mut self, size: SizeRange) -> Result<()> {
        check_name(&size.name).map_err(|why| self.invalid(why))?;
        match () {
            _ if self.sizes.len() >= MOST_SIZES => Err(self.invalid("too many sizes")),
            _ if size.range.is_empty() => Err(self.invalid(format!("size '{}' can be nothing", size.name))),
            _ if self.sizes.iter().any(|s| s.name == size.name) => {
                Err(self.invalid(format!("size '{}' is declared twice", size.name)))
            }
            _ => {
                self.sizes.push(size);
                Ok(())
            }
        }
    }

    pub(crate) fn push_circuit(&mut self, circuit: Circuit) {
        self.circuits.push(circuit);
    }

    /// A value that `owner` supplies.
    pub fn input(&mut self, name: &str, owner: impl Into<Owner>, ty: Type, lanes: impl Into<Lanes>) -> Value {
        self.one(Step::Input { name: name.into(), owner: owner.into(), ty, lanes: lanes.into() })
    }

    /// A public number, the same in every lane, of the width of `ty`.
    pub fn number(&mut self, ty: Type, lanes: impl Into<Lanes>, number: u128) -> Value {
        if ty.width < 128 && number >> ty.width != 0 {
            let error = self.invalid(format!("the constant {number} does not fit into {} bits", ty.width));
            self.remember(error);
        }
        let bit = |i| i < 128 && number >> i & 1 == 1;
        self.constant(ty, lanes, &(0..ty.width).map(bit).collect::<Vec<_>>())
    }

    /// A public value, the same in every lane; `bits` least significant first.
    pub fn constant(&mut self, ty: Type, lanes: impl Into<Lanes>, bits: &[bool]) -> Value {
        self.one(Step::Constant { ty, lanes: lanes.into(), bits: bits.to_vec() })
    }

    /// `circuit` on every lane; the value of its first output port.
    pub fn map(&mut self, circuit: &Circuit, args: &[Value]) -> Value {
        self.map_all(circuit, args).first().copied().unwrap_or(self.value(u32::MAX))
    }

    /// `circuit` on every lane; a value for each output port.
    pub fn map_all(&mut self, circuit: &Circuit, args: &[Value]) -> Vec<Value> {
        let circuit = self.circuit(circuit);
        self.many(Step::Map { circuit, args: args.to_vec() })
    }

    /// All lanes folded to one by a tree over neighbours; ties keep the lowest lane on the left.
    pub fn reduce(&mut self, circuit: &Circuit, args: &[Value]) -> Vec<Value> {
        let circuit = self.circuit(circuit);
        self.many(Step::Reduce { circuit, args: args.to_vec() })
    }

    /// `circuit` clocked for `cycles` cycles on every lane: the final state, then what each cycle put out.
    pub fn iterate(
        &mut self,
        circuit: &Circuit,
        cycles: impl Into<Lanes>,
        state: &[Value],
        inputs: &[Value],
    ) -> Vec<Value> {
        let circuit = self.circuit(circuit);
        self.many(Step::Iterate { circuit, cycles: cycles.into(), state: state.to_vec(), inputs: inputs.to_vec() })
    }

    /// A call of a functionality with parameters in its own encoding; a value for each of its results.
    pub fn call(&mut self, functionality: &Arc<dyn Functionality>, parameters: &[u8], args: &[Value]) -> Vec<Value> {
        let (name, version) = (functionality.name().to_owned(), functionality.version());
        self.functionalities.add(functionality.clone());
        self.many(Step::Call { name, version, parameters: parameters.to_vec(), args: args.to_vec() })
    }

    /// A rearrangement of bits or lanes.
    pub fn view(&mut self, view: View, args: &[Value]) -> Value {
        self.one(Step::View { view, args: args.to_vec() })
    }

    /// All lanes of `value`, `times` times over; one lane repeated costs nothing.
    pub fn repeat(&mut self, value: Value, times: impl Into<Lanes>) -> Value {
        self.view(View::Repeat(times.into()), &[value])
    }

    /// Delivers `value`.
    pub fn output(&mut self, name: &str, recipient: impl Into<Recipient>, value: Value) {
        self.many(Step::Output { name: name.into(), recipient: recipient.into(), value });
    }

    fn one(&mut self, step: Step) -> Value {
        self.many(step).first().copied().unwrap_or(self.value(u32::MAX))
    }

    fn many(&mut self, step: Step) -> Vec<Value> {
        match self.push(step) {
            Ok(range) => self.range(range).collect(),
            Err(error) => {
                self.remember(error);
                Vec::new()
            }
        }
    }

    fn remember(&mut self, error: Error) {
        self.mistake.get_or_insert(error);
    }

    fn invalid(&self, why: impl Into<String>) -> Error {
        Error::invalid(format!("program '{}', step {}", self.name, self.steps.len()), why)
    }

    /// The place of a circuit in the table; equal circuits share one.
    pub(crate) fn circuit(&mut self, circuit: &Circuit) -> u32 {
        let known = self.circuits.iter().position(|known| known == circuit);
        known.unwrap_or_else(|| {
            self.circuits.push(circuit.clone());
            self.circuits.len() - 1
        }) as u32
    }

    /// Appends a step that was read, whose values belong to no program yet.
    pub(crate) fn push_read(&mut self, step: Step) -> Result<Range<u32>> {
        let args: Vec<Value> = step.args().iter().map(|arg| self.value(arg.0)).collect();
        self.push(step.with_args(&args, |circuit| circuit))
    }

    /// Appends a step after checking it; the values that it defines.
    pub(crate) fn push(&mut self, step: Step) -> Result<Range<u32>> {
        if self.steps.len() >= MOST_STEPS {
            return Err(self.invalid("too many steps"));
        }
        let results = self.results(&step)?;
        let first = self.values.len() as u32;
        let step_number = self.steps.len() as u32;
        match &step {
            Step::Input { name, .. } => drop(self.ports[0].insert(name.clone())),
            Step::Output { name, .. } => drop(self.ports[1].insert(name.clone())),
            Step::Call { .. } => self.calls += 1,
            _ => {}
        }
        let definition = |(&CallPort { ty, holder }, port)| Definition { step: step_number, port, ty, holder };
        self.values.extend(results.iter().zip(0..).map(definition));
        self.steps.push(step);
        Ok(first..self.values.len() as u32)
    }

    /// The types of the values that a step defines, and who holds them when a call reads them.
    fn results(&self, step: &Step) -> Result<Vec<CallPort>> {
        let holder = match step {
            Step::Call { name, version, parameters, args } => {
                return self.call_results(name, *version, parameters, args);
            }
            Step::Input { owner: Owner::Party(party), .. } => Holder::Party(*party),
            _ => Holder::Shared,
        };
        Ok(self.result_types(step)?.into_iter().map(|ty| CallPort { ty, holder }).collect())
    }

    fn call_results(&self, name: &str, version: u32, parameters: &[u8], args: &[Value]) -> Result<Vec<CallPort>> {
        check_name(name).map_err(|why| self.invalid(why))?;
        if self.calls >= parts::MOST_CALLS {
            return Err(self.invalid(format!("more than {} calls", parts::MOST_CALLS)));
        }
        let functionality = self.functionalities.find(name, version).map_err(|why| self.invalid(why.to_string()))?;
        args.iter().try_for_each(|&arg| self.width(arg).map(drop))?;
        let args: Vec<_> =
            args.iter().map(|&arg| CallPort { ty: self.type_of(arg), holder: self.holder(arg) }).collect();
        let results = functionality.results(parameters, &args);
        let results = results.map_err(|why| self.invalid(format!("call of '{name}': {why}")))?;
        results.iter().try_for_each(|result| self.check_type(result.ty).map(drop))?;
        Ok(results)
    }

    fn result_types(&self, step: &Step) -> Result<Vec<Type>> {
        match step {
            Step::Input { name, ty, lanes, .. } => {
                self.check_port(name, &self.ports[0])?;
                self.check_lanes(lanes)?;
                self.check_type(*ty)
            }
            Step::Constant { ty, lanes, bits } => {
                self.check_lanes(lanes)?;
                self.same("bits of a constant", ty.width as usize, bits.len())?;
                self.check_type(*ty)
            }
            Step::Map { circuit, args } => self.map_types(*circuit, args),
            Step::Reduce { circuit, args } => self.reduce_types(*circuit, args),
            Step::Iterate { circuit, cycles, state, inputs } => {
                self.check_lanes(cycles)?;
                self.iterate_types(*circuit, state, inputs)
            }
            Step::View { view, args } => self.view_type(view, args).map(|ty| vec![ty]),
            Step::Call { .. } => Ok(Vec::new()),
            Step::Output { name, value, .. } => {
                self.check_port(name, &self.ports[1])?;
                self.width(*value)?;
                Ok(Vec::new())
            }
        }
    }

    fn map_types(&self, circuit: u32, args: &[Value]) -> Result<Vec<Type>> {
        let circuit = self.circuit_at(circuit)?;
        self.same(&format!("arguments of '{}'", circuit.name()), circuit.inputs().len(), args.len())?;
        for (port, &arg) in circuit.inputs().iter().zip(args) {
            let what = format!("bits of '{}' of '{}'", port.name, circuit.name());
            self.same(&what, port.ty.width as usize, self.width(arg)?)?;
        }
        if args.is_empty() {
            return Err(self.invalid(format!("'{}' has no inputs: the number of lanes is unknown", circuit.name())));
        }
        Ok(circuit.outputs().iter().map(|port| port.ty).collect())
    }

    fn reduce_types(&self, circuit: u32, args: &[Value]) -> Result<Vec<Type>> {
        let twice: Vec<Value> = args.iter().chain(args).copied().collect();
        let types = self.map_types(circuit, &twice)?;
        self.same("outputs of a reduction", args.len(), types.len())?;
        for (&arg, ty) in args.iter().zip(&types) {
            self.same("bits of a reduction's result", self.width(arg)?, ty.width as usize)?;
        }
        Ok(types)
    }

    fn iterate_types(&self, circuit: u32, state: &[Value], inputs: &[Value]) -> Result<Vec<Type>> {
        let args: Vec<Value> = state.iter().chain(inputs).copied().collect();
        let types = self.map_types(circuit, &args)?;
        if state.is_empty() || types.len() < state.len() {
            return Err(self.invalid("an iteration needs a state, and an output port for each state port"));
        }
        for (&value, ty) in state.iter().zip(&types) {
            self.same("bits of the next state", self.width(value)?, ty.width as usize)?;
        }
        Ok(types)
    }

    fn view_type(&self, view: &View, args: &[Value]) -> Result<Type> {
        let widths = args.iter().map(|&arg| self.width(arg)).collect::<Result<Vec<_>>>()?;
        let many = matches!(view, View::Join | View::Chain);
        let Some(&first) = widths.first().filter(|_| many || args.len() == 1) else {
            return Err(self.invalid(format!("a view of {}", counted(args.len() as u64, "value"))));
        };
        match view {
            View::Bits(bits) => match bits.iter().find(|&&bit| bit as usize >= first) {
                Some(bit) => Err(self.invalid(format!("bit {bit} of a value of {}", counted(first as u64, "bit")))),
                None => Ok(crate::graph::bits(bits.len() as u32)),
            },
            View::Join => self.bits_type(widths.iter().map(|&w| w as u64).sum()),
            View::Chain => {
                for &width in &widths {
                    self.same("bits of chained values", first, width)?;
                }
                Ok(self.type_of(args[0]))
            }
            View::Repeat(lanes) | View::Slice { count: lanes, .. } => {
                self.check_lanes(lanes)?;
                Ok(self.type_of(args[0]))
            }
            View::Lanes(_) => Ok(self.type_of(args[0])),
            View::Split(parts) if *parts > 0 && first % *parts as usize == 0 => {
                self.bits_type(first as u64 / *parts as u64)
            }
            View::Split(parts) => Err(self.invalid(format!(
                "{} split into {}",
                counted(first as u64, "bit"),
                counted((*parts).into(), "part")
            ))),
            View::Merge(0) => Err(self.invalid("a merge of no lanes")),
            View::Merge(parts) => self.bits_type(first as u64 * *parts as u64),
        }
    }

    fn bits_type(&self, width: u64) -> Result<Type> {
        match u32::try_from(width) {
            Ok(width) if u64::from(width) <= MOST_BITS => Ok(crate::graph::bits(width)),
            _ => Err(self.invalid(format!("a value of {width} bits"))),
        }
    }

    fn width(&self, value: Value) -> Result<usize> {
        match self.values.get(value.0 as usize) {
            _ if value.1 != self.id => Err(self.invalid(format!("value {} belongs to another program", value.0))),
            Some(definition) => Ok(definition.ty.width as usize),
            None => Err(self.invalid(format!("value {} is not defined before it is used", value.0))),
        }
    }

    fn circuit_at(&self, circuit: u32) -> Result<&Circuit> {
        self.circuits.get(circuit as usize).ok_or_else(|| self.invalid(format!("no circuit {circuit}")))
    }

    fn check_port(&self, name: &str, taken: &HashSet<String>) -> Result<()> {
        check_name(name).map_err(|why| self.invalid(why))?;
        if taken.contains(name) { Err(self.invalid(format!("the port '{name}' is declared twice"))) } else { Ok(()) }
    }

    fn check_type(&self, ty: Type) -> Result<Vec<Type>> {
        check_type(ty).map_err(|why| self.invalid(why))?;
        self.bits_type(ty.width.into())?;
        Ok(vec![ty])
    }

    fn check_lanes(&self, lanes: &Lanes) -> Result<()> {
        match lanes.sizes.iter().find(|size| size.0 as usize >= self.sizes.len()) {
            Some(size) => Err(self.invalid(format!("size {} is not declared", size.0))),
            None => Ok(()),
        }
    }

    fn same(&self, what: &str, expected: usize, came: usize) -> Result<()> {
        if expected == came { Ok(()) } else { Err(self.invalid(format!("{what}: expected {expected}, came {came}"))) }
    }
}

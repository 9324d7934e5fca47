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
mod budget;
mod digest;
mod functionality;
mod lanes;
mod mixed;
mod parts;
mod party;
pub mod reference;
mod schedule;
mod scheduler;
mod step;
mod types;
mod wiring;
mod written;

pub use bind::{Binding, BoundPort};
pub use functionality::{CallPort, Functionalities, Functionality, Holder};
pub use lanes::{Lanes, Size};
#[doc(hidden)]
pub use mixed::Technique;
pub use parts::{Call, CallValue};
#[doc(hidden)]
pub use parts::{CallPart, Origin, Part, Parts, ProgramPart, Target};
pub use party::Party;
#[doc(hidden)]
pub use schedule::{CellId, Schedule, Seat, Task, TaskKind};
#[doc(hidden)]
pub use scheduler::Way;
pub use step::{Owner, Recipient, Step, View};
#[doc(hidden)]
pub use wiring::Piece;

use crate::error::{Error, Result};
use crate::graph::{Circuit, Type, check_name};
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
        Program::of_circuit_to(circuit, owners, &[])
    }

    /// Like [`of_circuit`](Self::of_circuit) with who learns each output; those beyond the list go to both.
    #[doc(hidden)]
    pub fn of_circuit_to(circuit: &Circuit, owners: &[Owner], recipients: &[Recipient]) -> Program {
        let mut p = Program::new(circuit.name());
        let lanes = p.size("lanes", 0..=1 << 32);
        let ports = circuit.inputs().iter().zip(owners.iter().cycle());
        let args: Vec<Value> = ports.map(|(port, &owner)| p.input(&port.name, owner, port.ty, lanes)).collect();
        let results = p.map_all(circuit, &args);
        let recipients = recipients.iter().copied().chain(std::iter::repeat(Recipient::Both));
        for ((port, &value), to) in circuit.outputs().iter().zip(&results).zip(recipients) {
            p.output(&port.name, to, value);
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

    /// The program with other circuits of the same ports in place of its own.
    ///
    /// # Errors
    /// What the function says, or that the ports differ.
    #[doc(hidden)]
    pub fn with_circuits(&self, of: impl FnMut(&Circuit) -> Result<Circuit>) -> Result<Program> {
        let circuits: Vec<Circuit> = self.circuits.iter().map(of).collect::<Result<_>>()?;
        let ports = |circuit: &Circuit| (circuit.inputs().to_vec(), circuit.outputs().to_vec());
        match self.circuits.iter().zip(&circuits).find(|(old, new)| ports(old) != ports(new)) {
            Some((old, _)) => Err(Error::invalid(format!("circuit '{}'", old.name()), "its ports are others")),
            None => Ok(Program { circuits, ..self.clone() }),
        }
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

    /// All values, in the order in which the steps define them.
    pub fn defined(&self) -> impl Iterator<Item = Value> + use<> {
        self.range(0..self.values.len() as u32)
    }

    /// The values that the step of this number defines.
    pub fn defined_by(&self, step: usize) -> impl Iterator<Item = Value> + use<> {
        let first = |step: usize| self.values.partition_point(|value| (value.step as usize) < step) as u32;
        self.range(first(step)..first(step + 1))
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

    /// All lanes folded to one by a tree over neighbours; ties keep the lowest lane on the left. The circuit takes the
    /// arguments of the left lane, then those of the right, and has an output of the same width for each.
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

    /// A call of a functionality with parameters in its own encoding; a value for each of its results. There
    /// is none after a mistake, which [`bind`](Self::bind) reports.
    ///
    /// ```
    /// # use circuit::program::{CallPort, Functionality, Holder};
    /// # use circuit::{BitMatrix, Result};
    /// # struct Same;
    /// # impl Functionality for Same {
    /// #     fn name(&self) -> &str { "example:same" }
    /// #     fn version(&self) -> u32 { 1 }
    /// #     fn results(&self, _: &[u8], args: &[CallPort]) -> Result<Vec<CallPort>> {
    /// #         Ok(args.iter().map(|arg| CallPort { ty: arg.ty, holder: Holder::Shared }).collect())
    /// #     }
    /// #     fn lanes(&self, _: &[u8], args: &[u64]) -> Result<Vec<u64>> { Ok(args.to_vec()) }
    /// #     fn evaluate(&self, _: &[u8], args: &[BitMatrix]) -> Vec<BitMatrix> { args.to_vec() }
    /// # }
    /// use circuit::{Party, Program, bits};
    /// use std::sync::Arc;
    ///
    /// let same: Arc<dyn Functionality> = Arc::new(Same); // or that of a crate of protocols
    /// let mut p = Program::new("shares");
    /// let secrets = p.input("secrets", Party::Alice, bits(128), 1000);
    /// for shared in p.call(&same, &[], &[secrets]) {
    ///     p.output("secrets", Party::Bob, shared);
    /// }
    /// # p.bind(&[])?;
    /// # Ok::<(), circuit::Error>(())
    /// ```
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
}

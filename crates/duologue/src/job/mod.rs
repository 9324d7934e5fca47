//! Jobs: one program on many pairs of machines, and the result that one pair would have.
//!
//! A [`Plan`] divides the lanes that a public size counts among *shards*, each a program of its own that a pair of workers runs on
//! its rows of the inputs. What is reduced over all lanes leaves the shards as shares; the [`last`](Plan::last) program, run by one
//! pair, folds them and does all that follows. Bit for bit the outputs are those of the whole program, since reductions keep their
//! tree. What can be cut, and what is refused, is on the book's page about jobs (`docs/jobs.md`).
//!
//! Nothing here knows a socket, a file or who starts a worker. A session of a shard says which one it is by [`Part`].
//!
//! **Security**: that of the runs. Shards and their sizes are public; a partial result is a share at each party, as any shared
//! output, and whoever takes part in a job learns its outputs and nothing else.
//!
//! ```
//! use duologue::circuit::blocks::{Goal, add};
//! use duologue::circuit::{Party, Program, UInt, uint};
//! use duologue::job::{Cut, Plan};
//! use duologue::{Inputs, Outputs, data, plain};
//!
//! let mut p = Program::new("scores");
//! let people = p.size("people", 1..=1 << 30);
//! let [hers, his] = [Party::Alice, Party::Bob].map(|party| p.input(&party.to_string(), party, uint(16), people));
//! let scores = p.map_with([hers, his], |c, [a, b]: [UInt; 2]| add(c, &a, &b, Goal::Size));
//! let [total] = p.reduce_with([scores], |c, [a], [b]: [UInt; 1]| [add(c, &a, &b, Goal::Size)]);
//! p.output("scores", Party::Alice, scores);
//! p.output("total", Party::Bob, total);
//!
//! let whole = Inputs::new().with("alice", data::uints(16, &[1; 1000])?).with("bob", data::uints(16, &[2; 1000])?);
//! let plan = Plan::new(&p, &[("people", 1000)], &Cut::into(3))?;
//! let mut merge = plan.merge();
//! for number in 0..plan.shards() {
//!     let shard = plan.shard(number)?; // on another pair of machines
//!     merge.add(number, plain::run(&shard.binding, &shard.inputs_of(&whole)?)?)?;
//! }
//! let last = plan.last().expect("a reduction crosses shards");
//! let outputs = plain::run(&last.binding, &merge.last_inputs(&whole)?)?;
//! let outputs: Outputs = merge.finish(Some(outputs))?;
//! assert_eq!(data::to_uints(outputs.get("total").unwrap())?, [3000]);
//! assert_eq!(data::to_uints(outputs.get("scores").unwrap())?, [3; 1000]);
//! # Ok::<(), duologue::Error>(())
//! ```

#[doc(hidden)]
pub mod control;
mod file;
mod merge;
mod part;
mod places;
mod ranges;
mod write;

pub use merge::Merge;
pub use part::Part;
pub use ranges::MOST_SHARDS;

use crate::agreement::{self, CALL, Fields, hex};
use crate::data::Inputs;
use crate::session::fields;
use crate::{Error, Result};
use circuit::Type;
use circuit::program::{Binding, BoundPort, Owner, Program, Recipient, Step, Value};
use places::{Place, Places};
use ranges::Ranges;
use std::ops::Range;
use std::sync::Arc;
use write::Cutter;

/// The version of the rule by which programs are cut. It is part of a plan's digest, and is raised when the same program would be
/// cut otherwise.
pub const RULE: u32 = 1;

/// How the lanes of a program are cut.
///
/// ```
/// use duologue::job::Cut;
/// let cut = Cut { by: Some("faces".into()), ..Cut::into(4) };
/// assert_eq!((cut.shards, cut.allow_empty), (4, false));
/// ```
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Cut {
    /// The size whose lanes are divided; by default the only one that can be.
    pub by: Option<String>,
    /// Among how many shards, at most [`MOST_SHARDS`].
    pub shards: u32,
    /// Whether there may be more shards than lanes; those at the end then have none, and nothing to run.
    pub allow_empty: bool,
}

impl Cut {
    /// So many shards, each with lanes, by the only size that can be cut.
    pub fn into(shards: u32) -> Cut {
        Cut { by: None, shards, allow_empty: false }
    }
}

/// How a program is cut, and the programs that it is cut into. Both parties make the same of the same arguments.
///
/// Its memory is that of the program, whatever the number of lanes.
pub struct Plan {
    cut: Cut,
    /// The number of the size that is cut.
    by: usize,
    cutter: Cutter,
    last: Option<Last>,
    outputs: Vec<PlanOutput>,
    digest: [u8; 32],
}

/// A shard: a program, and the rows of the inputs that it takes.
#[derive(Clone)]
#[non_exhaustive]
pub struct Shard {
    /// Its place among the shards, from 0.
    pub number: u32,
    /// Its lanes of those that the plan divides.
    pub lanes: Range<u64>,
    /// Its program. Its outputs are those of the whole program that are cut, by their names, and [`LastShares`].
    pub binding: Arc<Binding>,
    /// Its inputs, which have the names of the whole program's.
    pub inputs: Vec<ShardInput>,
}

/// An input of a shard or of the last program: rows of an input of the whole program.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct ShardInput {
    /// Its name, here and in the whole program.
    pub name: String,
    /// Who supplies it.
    pub owner: Owner,
    /// The type of one lane.
    pub ty: Type,
    /// The lanes of the whole input that it has.
    pub rows: Range<u64>,
    /// How many lanes the whole input has.
    pub of: u64,
}

/// The last program: it folds what the shards have reduced, and does all that follows.
#[derive(Clone)]
#[non_exhaustive]
pub struct Last {
    /// Its program.
    pub binding: Arc<Binding>,
    /// The inputs of the whole program that it takes, each with all lanes.
    pub inputs: Vec<ShardInput>,
    /// Its further inputs: shares that the shards put out.
    pub shares: Vec<LastShares>,
}

/// A shared input of the last program: the shards' outputs of this name one after the other. Each party has its own XOR share.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct LastShares {
    /// The name of the input, and of the output of each shard.
    pub name: String,
    /// The first lane of each shard, and the end.
    starts: Arc<[u64]>,
}

impl LastShares {
    /// The lanes of the input that a shard puts out.
    pub fn rows(&self, shard: u32) -> Range<u64> {
        self.starts[shard as usize]..self.starts[shard as usize + 1]
    }

    /// How many lanes the input has.
    pub fn lanes(&self) -> u64 {
        self.starts[self.starts.len() - 1]
    }
}

/// An output of the whole program.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct PlanOutput {
    /// Its name.
    pub name: String,
    /// Who learns it.
    pub who: Recipient,
    /// The type of one lane.
    pub ty: Type,
    /// How many lanes it has.
    pub lanes: u64,
    /// Where it comes from.
    pub from: Source,
    /// The value that it delivers.
    value: Value,
}

/// Where an output of the whole program comes from.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Source {
    /// The shards' outputs of this name, one after the other.
    Shards,
    /// The output of this name of the last program.
    Last,
}

impl Plan {
    /// Cuts a program at these sizes, given by name.
    ///
    /// # Errors
    /// [`Error::Usage`] if the program has a step that mixes lanes of several shards, which is named, if there are fewer lanes than
    /// shards, or if several sizes can be cut and none is named.
    pub fn new(program: &Program, sizes: &[(&str, u64)], cut: &Cut) -> Result<Plan> {
        let whole = Arc::new(program.bind_to_cut(sizes)?);
        let (by, places) = choose(&whole, cut.by.as_deref())?;
        let name = &program.sizes()[by].name;
        let cut = Cut { by: Some(name.clone()), ..cut.clone() };
        let ranges = Ranges::new(name, whole.sizes()[by], &cut, phase(&whole, &places))?;
        let cutter = Cutter::new(whole, places, ranges)?;
        let mut plan = Plan { cut, by, cutter, last: None, outputs: Vec::new(), digest: [0; 32] };
        if plan.cut.shards > 1 {
            plan.last = plan.cutter.last()?;
        }
        plan.outputs = plan.outputs_of_whole();
        plan.digest = plan.new_digest()?;
        let Ranges { used, .. } = plan.cutter.ranges;
        for shard in [0, used - 1, plan.cutter.ranges.largest()] {
            plan.shard(shard)?;
        }
        Ok(plan)
    }

    fn outputs_of_whole(&self) -> Vec<PlanOutput> {
        let output = |(port, value): (&BoundPort<Recipient>, Value)| {
            let in_last = self.cut.shards > 1 && self.cutter.places.of(value).is_in_last();
            let from = if in_last { Source::Last } else { Source::Shards };
            PlanOutput { name: port.name.clone(), who: port.who, ty: port.ty, lanes: port.lanes, from, value }
        };
        let whole = &self.cutter.whole;
        whole.outputs().iter().zip(whole.program().steps().iter().filter_map(delivered)).map(output).collect()
    }

    /// The program that is cut.
    pub fn program(&self) -> &Program {
        self.cutter.whole.program()
    }

    /// The sizes of that program, in the order of their declaration.
    pub fn sizes(&self) -> &[u64] {
        self.cutter.whole.sizes()
    }

    /// The name of the size whose lanes are divided.
    pub fn by(&self) -> &str {
        &self.program().sizes()[self.by].name
    }

    /// How many lanes are divided: the value of that size.
    pub fn lanes(&self) -> u64 {
        self.cutter.ranges.lanes
    }

    /// How many shards there are.
    pub fn shards(&self) -> u32 {
        self.cut.shards
    }

    /// The power of two at whose multiples shards begin, counted from where reductions begin.
    pub fn block(&self) -> u64 {
        self.cutter.ranges.block
    }

    /// The lanes of a shard; none if it is empty, and beyond the last one.
    pub fn range(&self, shard: u32) -> Range<u64> {
        self.cutter.ranges.of(shard)
    }

    /// A shard with its program.
    ///
    /// # Errors
    /// [`Error::Usage`] if there is no such shard, or its inputs and outputs are too large for one machine.
    pub fn shard(&self, shard: u32) -> Result<Shard> {
        match self.cut.shards {
            shards if shard >= shards => {
                Err(Error::usage(format!("shard {shard} of a job of {shards}: they count from 0")))
            }
            1 => self.only_shard(),
            _ => self.cutter.shard(shard),
        }
    }

    /// Of a job with one shard: the whole program.
    fn only_shard(&self) -> Result<Shard> {
        let names = self.program().sizes().iter().map(|size| &size.name[..]);
        let sizes: Vec<(&str, u64)> = names.zip(self.sizes().iter().copied()).collect();
        let binding = self.program().bind(&sizes)?;
        let input = |port: &BoundPort<Owner>| ShardInput {
            name: port.name.clone(),
            owner: port.who,
            ty: port.ty,
            rows: 0..port.lanes,
            of: port.lanes,
        };
        let inputs = binding.inputs().iter().map(input).collect();
        Ok(Shard { number: 0, lanes: self.range(0), binding: Arc::new(binding), inputs })
    }

    /// The last program; none if all outputs come from the shards.
    pub fn last(&self) -> Option<&Last> {
        self.last.as_ref()
    }

    /// The outputs of the whole program, in its order.
    pub fn outputs(&self) -> &[PlanOutput] {
        &self.outputs
    }

    /// The lanes of an output of the whole program that a shard puts out; none if it comes from the last program.
    pub fn output_rows(&self, output: &str, shard: u32) -> Range<u64> {
        match self.outputs.iter().find(|known| known.name == output) {
            Some(whole) if self.cut.shards == 1 && shard == 0 => 0..whole.lanes,
            Some(cut) if cut.from == Source::Shards => self.cutter.rows(cut.value, Some(shard)),
            _ => 0..0,
        }
    }

    /// Puts the outputs of shards together.
    pub fn merge(&self) -> Merge<'_> {
        Merge::new(self)
    }

    /// BLAKE3 of the program's digest and of all that decides how it is cut.
    pub fn digest(&self) -> [u8; 32] {
        self.digest
    }

    /// Names and values of all that decides how the program is cut, the digest last.
    fn fields(&self) -> Result<Fields> {
        let (program, sizes) = fields::named(&self.cutter.whole)?;
        Ok(vec![
            (CALL, "a job".into()),
            ("the rule that cuts programs", RULE.to_string()),
            ("the program", program),
            ("its sizes", sizes),
            ("the size that is cut", self.by().into()),
            ("how many shards", self.shards().to_string()),
            ("whether shards may be empty", if self.cut.allow_empty { "yes" } else { "no" }.into()),
            ("the power of two at which shards begin", self.block().to_string()),
        ])
    }

    fn new_digest(&self) -> Result<[u8; 32]> {
        let mut hasher = blake3::Hasher::new_derive_key("duologue 1 plan of a job");
        Ok(*hasher.update(&agreement::encode(&self.fields()?)).finalize().as_bytes())
    }

    /// What the peer compares with its own plan, as text of at most 2^16 bytes: [`agree`](Self::agree) reads it.
    ///
    /// # Errors
    /// [`Error::Usage`] if the names of the program's sizes are longer than that.
    pub fn terms(&self) -> Result<Vec<u8>> {
        let mut fields = self.fields()?;
        fields.push(("the plan", hex(&self.digest)));
        Ok(agreement::encode(&fields::bounded(fields)?))
    }

    /// Compares the peer's [`terms`](Self::terms) with ours, whatever the bytes are.
    ///
    /// # Errors
    /// [`Error::Incompatible`] with the first difference, [`Error::Peer`] if these are no terms of a plan.
    pub fn agree(&self, theirs: &[u8]) -> Result<()> {
        let mut fields = self.fields()?;
        fields.push(("the plan", hex(&self.digest)));
        agreement::compare(&fields, theirs)
    }

    /// The first difference to another plan, as the error that [`agree`](Self::agree) gives.
    ///
    /// # Errors
    /// As [`agree`](Self::agree).
    pub fn difference(&self, other: &Plan) -> Result<()> {
        self.agree(&other.terms()?)
    }
}

impl Shard {
    /// Its rows of the whole program's inputs, as far as these are given.
    ///
    /// # Errors
    /// [`Error::Usage`] if an input has another shape than the whole program says.
    pub fn inputs_of(&self, whole: &Inputs) -> Result<Inputs> {
        merge::rows_of(&self.inputs, whole)
    }
}

/// The value that a step delivers.
fn delivered(step: &Step) -> Option<Value> {
    match step {
        Step::Output { value, .. } => Some(*value),
        _ => None,
    }
}

/// The size that is cut, and where each value is then.
fn choose(whole: &Binding, by: Option<&str>) -> Result<(usize, Places)> {
    let program = whole.program();
    let sizes = program.sizes();
    if let Some(name) = by {
        let Some(by) = sizes.iter().position(|size| size.name == name) else {
            let near = sizes.iter().map(|size| size.name.clone()).collect();
            return Err(circuit::Error::Unknown { what: "size", name: name.into(), near }.into());
        };
        return Ok((by, Places::find(whole, by)?));
    }
    let mut refused = Vec::new();
    let mut found = Vec::new();
    for by in 0..sizes.len() {
        match Places::find(whole, by) {
            Ok(places) => found.push((by, places)),
            Err(why) => refused.push(why),
        }
    }
    let names: Vec<&str> = found.iter().map(|&(by, _)| &sizes[by].name[..]).collect();
    match (found.len(), refused.into_iter().next()) {
        (0, Some(why)) => Err(why),
        (0, None) => Err(Error::usage(format!(
            "program '{}' has no named size: only lanes that a size counts can be divided among shards",
            program.name()
        ))),
        (1, _) => Ok(found.remove(0)),
        _ => Err(Error::usage(format!("several sizes can be cut: name one of {}", names.join(", ")))),
    }
}

/// How many lanes come before those that are cut, where the first reduction counts: shards begin at multiples of a power of two there.
fn phase(whole: &Binding, places: &Places) -> u64 {
    let reduced = |step: &Step| match step {
        Step::Reduce { args, .. } => match places.of(args[0]) {
            Place::Cut(layout) if layout.before.is_multiple_of(layout.per) => Some(layout.before / layout.per),
            _ => None,
        },
        _ => None,
    };
    whole.program().steps().iter().find_map(reduced).unwrap_or(0)
}

//! A function wired for runs: the points that stand for it, one a gate and one an output.

use super::nodes::{Form, Nodes};
use super::points::{HashToGroup, group, random_scalar, times_base};
use crate::threads::Threads;
use crate::{Sizes, chunk};
use curve25519_dalek::Scalar;
use duologue::circuit::private::Function;
use duologue::{Error, Result};
use kernels::generator::Generator;
use zeroize::Zeroizing;

/// How far a function is padded, so that its own sizes do not show.
#[derive(Clone, Copy, Default, Debug)]
pub struct Padding {
    /// Gates; as many as it has unless told.
    pub gates: Option<u64>,
    /// Additions outside gates; the larger of what it has and six a gate unless told.
    pub additions: Option<u64>,
}

/// A function with an id and blinding numbers that no other has. Its points say nothing of it, in whatever runs.
pub struct Wired {
    pub(crate) id: [u8; 32],
    pub(crate) function: Function,
    pub(crate) sizes: Sizes,
    secrets: Generator,
    /// The announcements of all runs: none may come twice.
    pub(crate) announced: Vec<[u8; 32]>,
}

impl Wired {
    /// Wires a function: draws its id and its blinding numbers.
    ///
    /// # Errors
    /// [`Error::Malformed`] that names the gate if there are more than it is to be padded to, or no inputs or outputs.
    pub fn new(function: Function, padding: Padding) -> Result<Self> {
        // Apart: nothing that the peer sees comes of the seed of the blinding numbers.
        let mut id = [0; 32];
        crate::os_generator()?.fill(&mut id);
        Self::with(function, padding, id, crate::os_generator()?)
    }

    pub(crate) fn with(function: Function, padding: Padding, id: [u8; 32], secrets: Generator) -> Result<Self> {
        let sizes = sizes(&function, padding)?;
        Ok(Wired { id, function, sizes, secrets, announced: Vec::new() })
    }

    /// What the holder of the data learns of the function.
    pub fn sizes(&self) -> &Sizes {
        &self.sizes
    }

    /// k/2 of each query of a chunk: the same whenever it is asked for.
    pub(super) fn blindings(&self, number: u64) -> Zeroizing<Vec<Scalar>> {
        let mut rng = self.secrets.derive(b"queries ", number);
        let count = chunk(self.sizes.queries(), number);
        Zeroizing::new((0..count.end - count.start).map(|_| random_scalar(&mut rng)).collect())
    }
}

fn sizes(function: &Function, padding: Padding) -> Result<Sizes> {
    let malformed = |why: String| Err(Error::Malformed { what: "the function".into(), why });
    let own = function.gates() as u64;
    let gates = padding.gates.unwrap_or(own);
    let additions = padding.additions.unwrap_or(function.additions().max(gates.saturating_mul(6)));
    let sizes = Sizes { inputs: function.inputs() as u32, outputs: function.outputs().len() as u32, gates, additions };
    match () {
        () if own > gates => malformed(format!("gate {gates} (from 0) is one more than the {gates} it is padded to")),
        () if function.additions() > additions => {
            malformed(format!("{} additions are more than the {additions} it is padded to", function.additions()))
        }
        () => sizes.check().map(|()| sizes).or_else(malformed),
    }
}

/// The queries of a wired function, chunk by chunk.
pub struct Queries<'a> {
    wired: &'a Wired,
    threads: Threads,
    hash: HashToGroup,
    nodes: Nodes<'a>,
    next: u64,
}

impl<'a> Queries<'a> {
    /// Before the first.
    pub fn new(wired: &'a Wired, threads: &Threads) -> Self {
        let hash = HashToGroup::new(&wired.id);
        let one = group().neutral(1).subtract(&hash.offset());
        let inputs = hash.wires(0..wired.function.inputs() as u64);
        let nodes = Nodes::new(&wired.function, &one, &inputs);
        Queries { wired, threads: threads.clone(), hash, nodes, next: 0 }
    }

    /// The points of the next chunk: Q = Σ c_j·K_j − c₀·R + k·P of each gate, and of each output.
    pub fn chunk(&mut self) -> Vec<u8> {
        let sizes = self.wired.sizes;
        let range = chunk(sizes.queries(), self.next);
        let blindings = self.wired.blindings(self.next);
        let forms = self.forms();
        let encoded = self.threads.parts(forms.len(), |part| {
            let halves = self.nodes.sums(&forms[part.clone()]);
            halves.add(&times_base(&blindings[part])).encode_doubles()
        });
        self.next += 1;
        if range.end == sizes.queries() {
            self.nodes.pad(sizes.additions, &self.threads);
        }
        encoded.iter().flat_map(|part| part.as_flattened()).copied().collect()
    }

    /// The forms of the next chunk; gates that only pad take what those of the function take.
    fn forms(&mut self) -> Vec<Form> {
        let sizes = self.wired.sizes;
        let range = chunk(sizes.queries(), self.next);
        let first = range.start.min(sizes.gates);
        let gates = (range.end.min(sizes.gates) - first) as usize;
        let wires = u64::from(sizes.inputs) + first;
        let hashed =
            self.threads.parts(gates, |part| self.hash.wires(wires + part.start as u64..wires + part.end as u64));
        let mut points = group().neutral(0);
        hashed.iter().for_each(|part| points.append(part));
        let own = ((self.wired.function.gates() as u64).clamp(first, first + gates as u64) - first) as usize;
        let mut forms = Vec::with_capacity((range.end - range.start) as usize);
        while forms.len() < own {
            let count = self.nodes.ready(own - forms.len(), &self.threads);
            let here = forms.len();
            forms.extend(self.nodes.forms(count));
            self.nodes.push(&points.pick(here..here + count));
        }
        forms.resize(gates, Nodes::NOTHING);
        let outputs = range.end.max(sizes.gates) - sizes.gates;
        let before = outputs.min(range.start.max(sizes.gates) - sizes.gates);
        forms.extend((before..outputs).map(|number| self.nodes.output(number as usize, &self.threads)));
        forms
    }
}

//! A function wired for runs: the points that stand for it, one a gate and one an output.

use super::points::{HashToGroup, POINT, double_and_encode, random_scalar};
use crate::{CHUNK, Sizes, chunk};
use curve25519_dalek::traits::Identity;
use curve25519_dalek::{RistrettoPoint, Scalar};
use duologue::circuit::Bit;
use duologue::circuit::private::{Function, Node};
use duologue::{Error, Result};
use kernels::generator::Generator;
use zeroize::{Zeroize, Zeroizing};

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

/// The points of all nodes, of one kind: those of the function, or labels.
///
/// A node's point stands for its value up to the offset; that of 1 − v is what stands for the constant 1, less it.
pub(super) struct Nodes<'a> {
    function: &'a Function,
    one: RistrettoPoint,
    points: Vec<RistrettoPoint>,
    /// Additions outside gates so far.
    additions: u64,
}

impl<'a> Nodes<'a> {
    /// Those of the constants and the inputs.
    pub fn new(function: &'a Function, one: RistrettoPoint, inputs: impl Iterator<Item = RistrettoPoint>) -> Self {
        let mut points = Vec::with_capacity(function.nodes().len());
        points.push(RistrettoPoint::identity());
        points.extend(inputs.take(function.inputs()));
        Nodes { function, one, points, additions: 0 }
    }

    /// The next gates, at most so many: those that need no gate that is not there yet. None of them if all are there.
    pub fn ready(&mut self, most: usize) -> usize {
        while let Some(node) = self.function.nodes().get(self.points.len()) {
            let Some(point) = self.free(*node) else { break };
            self.points.push(point);
            self.additions += u64::from(node.additions());
        }
        let next = &self.function.nodes()[self.points.len()..];
        let here = self.points.len();
        let is_ready = |node: &&Node| match node {
            Node::Majority(bits) => bits.iter().all(|bit| (bit.node() as usize) < here),
            _ => false,
        };
        next.iter().take(most).take_while(is_ready).count()
    }

    /// The sums of the operands of so many gates that are ready.
    pub fn forms(&self, count: usize) -> impl Iterator<Item = RistrettoPoint> {
        let first = self.points.len();
        (first..first + count).map(|gate| self.form(gate as u32))
    }

    /// The points of gates that were ready.
    pub fn push(&mut self, points: impl IntoIterator<Item = RistrettoPoint>) {
        self.points.extend(points);
    }

    /// The point of an output.
    pub fn output(&mut self, number: usize) -> RistrettoPoint {
        self.ready(0);
        self.function.outputs().get(number).map_or_else(RistrettoPoint::identity, |&bit| self.read(bit))
    }

    /// Adds as often as the padding says beyond what the function needs.
    pub fn pad(&self, additions: u64) {
        let mut sum = self.one;
        for _ in self.additions..additions {
            sum += std::hint::black_box(&self.points[0]);
        }
        std::hint::black_box(&sum);
    }

    fn read(&self, bit: Bit) -> RistrettoPoint {
        let point = self.points[bit.node() as usize];
        if bit.complemented() { self.one - point } else { point }
    }

    fn form(&self, gate: u32) -> RistrettoPoint {
        let [x, y, z] = self.function.operands(gate).map(|bit| self.read(bit));
        x + y + z
    }

    /// A node that is no gate.
    fn free(&self, node: Node) -> Option<RistrettoPoint> {
        let at = |gate: u32| self.points[gate as usize];
        Some(match node {
            Node::False | Node::Input | Node::Majority(_) => return None,
            Node::Parity(gate) => self.form(gate) - (at(gate) + at(gate)),
            Node::Rest(gate, operand) => self.read(self.function.operands(gate)[usize::from(operand)]) - at(gate),
            Node::Either(gate) => self.form(gate) - at(gate),
            Node::Choice([one, other]) => self.read(one) + self.read(other),
        })
    }
}

impl Drop for Nodes<'_> {
    fn drop(&mut self) {
        self.points.zeroize();
    }
}

/// The queries of a wired function, chunk by chunk.
pub struct Queries<'a> {
    wired: &'a Wired,
    hash: HashToGroup,
    nodes: Nodes<'a>,
    next: u64,
}

impl<'a> Queries<'a> {
    /// Before the first.
    pub fn new(wired: &'a Wired) -> Self {
        let hash = HashToGroup::new(&wired.id);
        let inputs = (0..wired.function.inputs() as u64).map(|input| hash.wire(input));
        let nodes = Nodes::new(&wired.function, -hash.offset(), inputs);
        Queries { wired, hash, nodes, next: 0 }
    }

    /// The points of the next chunk: Q = Σ c_j·K_j − c₀·R + k·P of each gate, and of each output.
    pub fn chunk(&mut self) -> Vec<u8> {
        let wired = self.wired;
        let range = chunk(wired.sizes.queries(), self.next);
        let blindings = wired.blindings(self.next);
        let mut halves = Vec::with_capacity(CHUNK as usize);
        let (own, gates) = (wired.function.gates() as u64, wired.sizes.gates);
        while (halves.len() as u64) < range.end - range.start {
            let next = range.start + halves.len() as u64;
            if next < own.min(range.end) {
                let count = self.nodes.ready((own.min(range.end) - next) as usize);
                halves.extend(self.nodes.forms(count));
                let wires = u64::from(wired.sizes.inputs) + next;
                let outputs: Vec<_> = (wires..wires + count as u64).map(|wire| self.hash.wire(wire)).collect();
                self.nodes.push(outputs);
            } else if next < gates {
                // What a gate of the function costs.
                std::hint::black_box(self.hash.wire(u64::from(wired.sizes.inputs) + next));
                halves.push(RistrettoPoint::identity());
            } else {
                halves.push(self.nodes.output((next - gates) as usize));
            }
        }
        halves.iter_mut().zip(blindings.iter()).for_each(|(half, k)| *half += RistrettoPoint::mul_base(k));
        self.next += 1;
        if range.end == wired.sizes.queries() {
            self.nodes.pad(wired.sizes.additions);
        }
        let encoded = double_and_encode(&halves);
        let mut bytes = Vec::with_capacity(halves.len() * POINT);
        encoded.iter().for_each(|point| bytes.extend_from_slice(point));
        halves.zeroize();
        bytes
    }
}

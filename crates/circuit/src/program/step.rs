//! Steps, the parts of a program.

use super::{Lanes, Party, Value};
use crate::graph::Type;

/// Who supplies an input.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Owner {
    /// One party, in secret.
    Party(Party),
    /// Both parties know it, before setup.
    Public,
    /// Each party holds one XOR share.
    Shared,
}

/// Who learns an output.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Recipient {
    /// One party.
    Party(Party),
    /// Both parties.
    Both,
    /// Nobody: each party gets one XOR share.
    Shared,
}

impl Recipient {
    /// Whether a party learns the value itself, and not just a share.
    pub fn includes(self, party: Party) -> bool {
        self == Recipient::Both || self == Recipient::Party(party)
    }
}

impl From<Party> for Owner {
    fn from(party: Party) -> Self {
        Owner::Party(party)
    }
}

impl From<Party> for Recipient {
    fn from(party: Party) -> Self {
        Recipient::Party(party)
    }
}

/// A rearrangement of bits or lanes: no cryptography, nothing on the wire.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum View {
    /// Bits by position, in any order and number. Lane-local: copies nothing.
    Bits(Vec<u32>),
    /// The bits of all arguments after one another. Lane-local: copies nothing.
    Join,
    /// All lanes, so many times over. One lane repeated copies nothing.
    Repeat(Lanes),
    /// `count` lanes from `start`, every `step`-th.
    Slice {
        /// The first lane.
        start: u64,
        /// How far the next lane is.
        step: u64,
        /// How many lanes.
        count: Lanes,
    },
    /// The lanes of all arguments after one another.
    Chain,
    /// Lanes by position, in any order and number.
    Lanes(Vec<u64>),
    /// One lane of `parts × w` bits becomes `parts` lanes of `w` bits.
    Split(u32),
    /// `parts` neighbouring lanes of `w` bits become one lane of `parts × w` bits.
    Merge(u32),
}

/// One step of a program. Arguments are values that earlier steps defined.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Step {
    /// Defines a value that somebody supplies.
    Input {
        /// The port's name, unique among inputs.
        name: String,
        /// Who supplies it.
        owner: Owner,
        /// The type of one lane.
        ty: Type,
        /// How many lanes.
        lanes: Lanes,
    },
    /// Defines a public value, the same in every lane.
    Constant {
        /// The type of one lane.
        ty: Type,
        /// How many lanes.
        lanes: Lanes,
        /// The bits of one lane.
        bits: Vec<bool>,
    },
    /// Applies a circuit to every lane; defines a value for each of its output ports.
    Map {
        /// The place of the circuit in the program's table.
        circuit: u32,
        /// A value for each input port.
        args: Vec<Value>,
    },
    /// Folds all lanes to one by a tree over neighbours (2i, 2i+1); an odd last lane moves up unchanged.
    Reduce {
        /// A circuit with input ports left₁…leftₖ right₁…rightₖ and output ports as many.
        circuit: u32,
        /// The k values folded together.
        args: Vec<Value>,
    },
    /// Runs a clocked circuit for a number of cycles on every lane; defines the final state, then what each cycle put out.
    Iterate {
        /// A circuit with input ports state₁…stateₖ and per-cycle inputs, output ports state₁…stateₖ and per-cycle outputs.
        circuit: u32,
        /// How many cycles.
        cycles: Lanes,
        /// The first state.
        state: Vec<Value>,
        /// Per-cycle inputs: lane `cycle × lanes + lane`.
        inputs: Vec<Value>,
    },
    /// Rearranges bits or lanes.
    View {
        /// The view.
        view: View,
        /// The values that it is applied to.
        args: Vec<Value>,
    },
    /// Calls a [`Functionality`](super::Functionality), which a protocol of its own computes; defines its results.
    Call {
        /// The functionality's name.
        name: String,
        /// Its version.
        version: u32,
        /// Its parameters, in its own encoding.
        parameters: Vec<u8>,
        /// Its arguments.
        args: Vec<Value>,
    },
    /// Delivers a value.
    Output {
        /// The port's name, unique among outputs.
        name: String,
        /// Who learns it.
        recipient: Recipient,
        /// The value that is delivered.
        value: Value,
    },
}

impl Step {
    /// The values that it reads.
    pub fn args(&self) -> Vec<Value> {
        match self {
            Step::Input { .. } | Step::Constant { .. } => Vec::new(),
            Step::Map { args, .. } | Step::Reduce { args, .. } | Step::View { args, .. } | Step::Call { args, .. } => {
                args.clone()
            }
            Step::Iterate { state, inputs, .. } => [&state[..], inputs].concat(),
            Step::Output { value, .. } => vec![*value],
        }
    }

    /// The step on other values, in the order of [`args`](Self::args), with another place of its circuit.
    pub(crate) fn with_args(&self, args: &[Value], circuit: impl FnOnce(u32) -> u32) -> Step {
        let mut step = self.clone();
        match &mut step {
            Step::Input { .. } | Step::Constant { .. } => {}
            Step::Map { circuit: place, args: old } | Step::Reduce { circuit: place, args: old } => {
                (*place, *old) = (circuit(*place), args.to_vec());
            }
            Step::View { args: old, .. } | Step::Call { args: old, .. } => *old = args.to_vec(),
            Step::Iterate { circuit: place, state, inputs, .. } => {
                let (first, rest) = args.split_at(state.len());
                (*place, *state, *inputs) = (circuit(*place), first.to_vec(), rest.to_vec());
            }
            Step::Output { value, .. } => *value = args[0],
        }
        step
    }
}

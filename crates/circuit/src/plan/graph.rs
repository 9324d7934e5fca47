//! A circuit with what compilation asks about its nodes: which are alive, which are public.

use crate::graph::{Bit, Circuit, Gate};

/// A circuit with what compilation needs to know of each node.
pub(super) struct Graph<'a> {
    pub(super) gates: &'a [Gate],
    pub(super) input_nodes: &'a [u32],
    pub(super) outputs: Vec<Bit>,
    pub(super) public: Vec<bool>,
    pub(super) live: Vec<bool>,
}

impl<'a> Graph<'a> {
    pub(super) fn new(circuit: &'a Circuit, public_inputs: &[bool]) -> Self {
        let gates = circuit.gates();
        let mut public = vec![false; gates.len()];
        for (&node, &flag) in circuit.input_nodes().iter().zip(public_inputs) {
            public[node as usize] = flag;
        }
        for (node, gate) in gates.iter().enumerate() {
            match *gate {
                Gate::False => public[node] = true,
                Gate::Input => {}
                Gate::Xor(a, b) | Gate::And(a, b) => {
                    public[node] = public[a.node() as usize] && public[b.node() as usize]
                }
            }
        }
        let outputs = circuit.output_bits().to_vec();
        let mut graph = Graph { gates, input_nodes: circuit.input_nodes(), outputs, public, live: Vec::new() };
        graph.mark_live();
        graph
    }

    pub(super) fn mark_live(&mut self) {
        self.live = vec![false; self.gates.len()];
        for bit in &self.outputs {
            self.live[bit.node() as usize] = true;
        }
        for node in (0..self.gates.len()).rev() {
            if let (true, Some((a, b))) = (self.live[node], self.operands(node)) {
                self.live[a.node() as usize] = true;
                self.live[b.node() as usize] = true;
            }
        }
    }

    pub(super) fn operands(&self, node: usize) -> Option<(Bit, Bit)> {
        match self.gates[node] {
            Gate::Xor(a, b) | Gate::And(a, b) => Some((a, b)),
            Gate::False | Gate::Input => None,
        }
    }

    pub(super) fn is_and(&self, node: usize) -> bool {
        matches!(self.gates[node], Gate::And(..))
    }

    /// A gate that a protocol executes: alive and not public.
    pub(super) fn is_secret_gate(&self, node: usize) -> bool {
        self.live[node] && !self.public[node] && self.operands(node).is_some()
    }

    pub(super) fn is_secret(&self, bit: Bit) -> bool {
        !self.public[bit.node() as usize]
    }

    /// The public nodes that secret gates or outputs read, ascending; the constant is not among them.
    pub(super) fn exported(&self) -> Vec<u32> {
        let mut wanted = vec![false; self.gates.len()];
        for node in (0..self.gates.len()).filter(|&n| self.is_secret_gate(n)) {
            if let Some((a, b)) = self.operands(node) {
                wanted[a.node() as usize] = true;
                wanted[b.node() as usize] = true;
            }
        }
        for bit in &self.outputs {
            wanted[bit.node() as usize] = true;
        }
        (1..self.gates.len()).filter(|&n| wanted[n] && self.public[n]).map(|n| n as u32).collect()
    }

    /// An AND of two secrets: the only gate that costs a protocol anything.
    pub(super) fn is_opened(&self, node: usize) -> bool {
        self.is_and(node) && self.operands(node).is_some_and(|(a, b)| self.is_secret(a) && self.is_secret(b))
    }

    pub(super) fn operand_nodes(&self, node: u32) -> [u32; 2] {
        self.operands(node as usize).map_or([0; 2], |(a, b)| [a.node(), b.node()])
    }
}

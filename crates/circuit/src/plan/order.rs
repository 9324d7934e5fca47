//! The two orders of a plan's gates.

use super::graph::Graph;
use super::{Order, Plan};
use crate::graph::Bit;
use std::ops::Range;

/// Gates within which ANDs are gathered. AES-128 has calls of 13 ANDs then, instead of one, for 3 slots more in a hundred.
const WINDOW: usize = 512;

impl Graph<'_> {
    /// The fewer live slots of two orders: as built, and depth first from the outputs.
    pub(super) fn depth_first(&self, exported: &[u32]) -> Plan {
        let gates = (0..self.gates.len()).filter(|&n| self.is_secret_gate(n)).map(|n| n as u32);
        let plan = |nodes: Vec<u32>| self.assign(Order::DepthFirst, &self.gathered(&nodes), &[], exported);
        let (built, walked) = (plan(gates.collect()), plan(self.postorder()));
        if walked.slots < built.slots { walked } else { built }
    }

    /// In windows of the order, the ANDs that do not need each other stand together, so that they can be garbled in one
    /// call: of a depth within the window, first what is local and then the ANDs.
    fn gathered(&self, order: &[u32]) -> Vec<u32> {
        let mut depths = vec![0; self.gates.len()];
        let mut gathered = Vec::with_capacity(order.len());
        for window in order.chunks(WINDOW) {
            let start = gathered.len();
            for &node in window {
                let [a, b] = self.operand_nodes(node).map(|operand| depths[operand as usize]);
                depths[node as usize] = a.max(b) + u32::from(self.is_opened(node as usize));
                gathered.push(node);
            }
            gathered[start..].sort_by_key(|&node| {
                let (depth, and) = (depths[node as usize], self.is_opened(node as usize));
                2 * depth - u32::from(and)
            });
            window.iter().for_each(|&node| depths[node as usize] = 0);
        }
        gathered
    }

    fn postorder(&self) -> Vec<u32> {
        let mut order = Vec::new();
        let mut done = vec![false; self.gates.len()];
        for bit in &self.outputs {
            let mut stack = vec![bit.node()];
            while let Some(&node) = stack.last() {
                let n = node as usize;
                if done[n] || !self.is_secret_gate(n) {
                    stack.pop();
                    continue;
                }
                let before = stack.len();
                if let Some((a, b)) = self.operands(n) {
                    let open = |bit: &Bit| !done[bit.node() as usize] && self.is_secret_gate(bit.node() as usize);
                    stack.extend([a, b].iter().filter(|bit| open(bit)).map(|bit| bit.node()));
                }
                if stack.len() == before {
                    done[n] = true;
                    order.push(node);
                    stack.pop();
                }
            }
        }
        order
    }

    pub(super) fn layered(&self, exported: &[u32]) -> Plan {
        let (order, layers) = self.by_layers();
        self.assign(Order::Layered, &order, &layers, exported)
    }

    /// The gates, of each depth the ANDs and then what is local, and where the ANDs of each depth stand.
    fn by_layers(&self) -> (Vec<u32>, Vec<Range<usize>>) {
        let levels = self.levels();
        let kind = |node: usize| 2 * levels[node] as usize + usize::from(!self.is_opened(node));
        let gates = || (0..self.gates.len()).filter(|&node| self.is_secret_gate(node));
        let kinds = 2 * (levels.iter().copied().max().unwrap_or(0) as usize + 1);
        let mut ends = vec![0; kinds];
        gates().for_each(|node| ends[kind(node)] += 1);
        let mut sum = 0;
        ends.iter_mut().for_each(|end| sum += std::mem::replace(end, sum));
        let mut order = vec![0; sum];
        for node in gates() {
            let end = &mut ends[kind(node)];
            order[*end] = node as u32;
            *end += 1;
        }
        let start = |kind: usize| kind.checked_sub(1).map_or(0, |before| ends[before]);
        let layers = (0..kinds).step_by(2).map(|ands| start(ands)..ends[ands]);
        let layers: Vec<_> = layers.filter(|layer| !layer.is_empty()).collect();
        for layer in &layers {
            self.group_shared(&mut order[layer.clone()]);
        }
        (order, layers)
    }

    fn levels(&self) -> Vec<u32> {
        let mut levels = vec![0; self.gates.len()];
        for node in 0..self.gates.len() {
            if let (true, Some((a, b))) = (self.is_secret_gate(node), self.operands(node)) {
                let below = levels[a.node() as usize].max(levels[b.node() as usize]);
                levels[node] = below + self.is_opened(node) as u32;
            }
        }
        levels
    }

    /// Puts ANDs that share an operand beside each other, groups in the order of their first member.
    fn group_shared(&self, layer: &mut [u32]) {
        let mut uses = rustc_hash::FxHashMap::<u32, u32>::default();
        for operand in layer.iter().flat_map(|&n| self.operand_nodes(n)) {
            *uses.entry(operand).or_default() += 1;
        }
        let key = |&node: &u32| {
            let [a, b] = self.operand_nodes(node);
            if uses[&b] > uses[&a] { b } else { a }
        };
        let mut rank = rustc_hash::FxHashMap::<u32, usize>::default();
        for (place, node) in layer.iter().enumerate() {
            rank.entry(key(node)).or_insert(place);
        }
        layer.sort_by_key(|node| rank[&key(node)]);
    }
}

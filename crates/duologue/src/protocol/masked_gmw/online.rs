//! A map online: masked bits flow, and each layer is one exchange of a bit an AND.

use super::layout::Layout;
use super::wires::Wires;
use crate::executor::interpreter::mask;
use crate::outbox::Outbox;
use circuit::BitMatrix;
use circuit::optimise::fuse::{And, Fused, Layer};
use std::sync::Arc;

/// A share of the masked result of an AND of `N` inputs, 64 lanes at once: the sum over all sets of inputs of the share
/// of the product of their masks, times the masked bits of the others. `kept[s - 1]` is the share for the set s, the last
/// one with the result's mask in it; the product of masked bits alone is for one party to `lead`.
#[inline(always)]
pub(super) fn share<const N: usize, const M: usize>(values: [u64; N], kept: [u64; M], lead: u64) -> u64 {
    // At first the factor of each product of masked bits; then one value after the other is put in.
    let mut factors = [0; 16];
    for set in 0..M {
        factors[set] = kept[M - 1 - set];
    }
    factors[M] = lead;
    for input in (0..N).rev() {
        for set in 0..1 << input {
            factors[set] ^= values[input] & factors[set + (1 << input)];
        }
    }
    factors[0]
}

/// A plan under way, of few lanes or many.
pub(crate) trait Evaluation: Send {
    /// Goes on until a layer must be exchanged, or to the cell that the plan makes.
    fn step(&mut self, public: &BitMatrix, inbox: &[u8], outbox: &mut Outbox) -> Option<BitMatrix>;
}

pub(super) struct Online<W> {
    fused: Arc<Fused>,
    lanes: usize,
    wires: W,
    planes: Vec<u64>,
    lead: u64,
    /// Layers that are opened, the one that waits for the peer included.
    opened: usize,
    /// Words of planes that are used up.
    used: usize,
    /// This party's shares of the layer that waits, unless they lie in the wires.
    shares: Vec<u64>,
}

impl<W: Wires> Online<W> {
    pub fn new(fused: Arc<Fused>, lanes: usize, planes: Vec<u64>, leads: bool, inputs: &BitMatrix) -> Self {
        let wires = W::new(&fused, inputs);
        Online { fused, lanes, wires, planes, lead: mask(leads), opened: 0, used: 0, shares: Vec::new() }
    }

    fn open(&mut self, layer: &Layer, outbox: &mut Outbox) {
        let fused = self.fused.clone();
        self.open_group::<2, 3>(&fused.twos()[layer.twos.clone()], outbox);
        self.open_group::<3, 7>(&fused.threes()[layer.threes.clone()], outbox);
        self.open_group::<4, 15>(&fused.fours()[layer.fours.clone()], outbox);
    }

    fn open_group<const N: usize, const M: usize>(&mut self, ands: &[And<N>], outbox: &mut Outbox) {
        if !ands.is_empty() {
            let planes = &self.planes[self.used..][..M * Layout::new(self.lanes).words(ands.len())];
            self.wires.open::<N, M>(ands, planes, self.lead, &mut self.shares, outbox);
            self.used += planes.len();
        }
    }

    fn close(&mut self, layer: &Layer, mut inbox: &[u8]) {
        let fused = self.fused.clone();
        let mut shares = std::mem::take(&mut self.shares);
        let mut rest = &mut shares[..];
        self.close_group(&fused.twos()[layer.twos.clone()], &mut rest, &mut inbox);
        self.close_group(&fused.threes()[layer.threes.clone()], &mut rest, &mut inbox);
        self.close_group(&fused.fours()[layer.fours.clone()], &mut rest, &mut inbox);
        shares.clear();
        self.shares = shares;
    }

    fn close_group<const N: usize>(&mut self, ands: &[And<N>], shares: &mut &mut [u64], inbox: &mut &[u8]) {
        let layout = Layout::new(self.lanes);
        let words = layout.words(ands.len()).min(shares.len());
        let ours = shares.split_off_mut(..words).expect("no more than there are");
        let came = inbox.split_off(..layout.bytes(ands.len())).expect("exactly the sum was read");
        if !ands.is_empty() {
            self.wires.close(ands, ours, came);
        }
    }
}

impl<W: Wires> Evaluation for Online<W> {
    fn step(&mut self, public: &BitMatrix, inbox: &[u8], outbox: &mut Outbox) -> Option<BitMatrix> {
        let fused = self.fused.clone();
        let layers = fused.layers();
        if self.lanes == 0 {
            return Some(BitMatrix::zeros(fused.outputs().len(), 0));
        }
        if self.opened > 0 {
            self.close(&layers[self.opened - 1], inbox);
        }
        let Some(layer) = layers.get(self.opened) else {
            fused.code().runs(fused.tail()).for_each(|run| self.wires.local(run, public, true));
            return Some(self.wires.outputs(fused.outputs(), public, true));
        };
        fused.code().runs(layer.code.clone()).for_each(|run| self.wires.local(run, public, true));
        self.open(layer, outbox);
        self.opened += 1;
        None
    }
}

//! The wires of a map under way: masks in setup, masked bits online.
//!
//! With more than 64 lanes a wire is a row of words; with fewer it is a cell, and a word of a layer has several gates.

use super::layout::Layout;
use super::online::share;
use crate::executor::interpreter::{self, mask};
use crate::outbox::Outbox;
use crate::packed::Packed;
use crate::protocol::gmw::narrow::{Cell, CellWires};
use circuit::BitMatrix;
use circuit::optimise::fuse::{And, Fused};
use circuit::plan::{GateRun, Operand, Source};
use kernels::prefetch;

/// The wires of all lanes of a map.
pub(super) trait Wires: Sized + Send + 'static {
    /// The inputs in their slots.
    fn new(fused: &Fused, inputs: &BitMatrix) -> Self;

    /// Gates that cost nothing. Complements, and public bits that are added, count for masked bits and not for masks.
    fn local(&mut self, run: GateRun<'_>, public: &BitMatrix, online: bool);

    /// One input of each AND, without complements: masks.
    fn gather<const N: usize>(&self, ands: &[And<N>], input: usize, out: &mut [u64]);

    /// The results of ANDs.
    fn scatter<const N: usize>(&mut self, ands: &[And<N>], from: &[u64]);

    /// This party's shares of the masked results of ANDs, sent and kept.
    fn open<const N: usize, const M: usize>(
        &mut self,
        ands: &[And<N>],
        planes: &[u64],
        lead: u64,
        opened: &mut Vec<u64>,
        outbox: &mut Outbox,
    );

    /// Adds the peer's shares, and so has the masked results.
    fn close<const N: usize>(&mut self, ands: &[And<N>], opened: &mut [u64], came: &[u8]);

    /// The rows that the map makes.
    fn outputs(&self, outputs: &[Source], public: &BitMatrix, online: bool) -> BitMatrix;
}

impl Wires for BitMatrix {
    fn new(fused: &Fused, inputs: &BitMatrix) -> Self {
        let mut wires = BitMatrix::zeros(fused.slots(), inputs.lanes());
        for (row, slot) in fused.inputs().iter().enumerate() {
            if let Some(slot) = slot {
                wires.row_mut(*slot as usize).copy_from_slice(inputs.row(row));
            }
        }
        wires
    }

    fn local(&mut self, run: GateRun<'_>, public: &BitMatrix, online: bool) {
        interpreter::execute(run, self, public, mask(online));
    }

    fn gather<const N: usize>(&self, ands: &[And<N>], input: usize, out: &mut [u64]) {
        for (and, to) in ands.iter().zip(out.chunks_exact_mut(self.stride())) {
            to.copy_from_slice(self.row(and.inputs[input].slot()));
        }
    }

    fn scatter<const N: usize>(&mut self, ands: &[And<N>], from: &[u64]) {
        let stride = self.stride();
        for (and, from) in ands.iter().zip(from.chunks_exact(stride)) {
            self.row_mut(and.dst as usize).copy_from_slice(from);
        }
    }

    /// The shares stay where the results will be: no gate of the layer reads there.
    fn open<const N: usize, const M: usize>(
        &mut self,
        ands: &[And<N>],
        planes: &[u64],
        lead: u64,
        _: &mut Vec<u64>,
        outbox: &mut Outbox,
    ) {
        let (stride, last, lanes) = (self.stride(), self.last_mask(), self.lanes());
        let mut packed = Packed::default();
        for (place, and) in ands.iter().enumerate() {
            let kept = std::array::from_fn(|plane| &planes[(plane * ands.len() + place) * stride..][..stride]);
            let slots = and.inputs.map(Operand::slot);
            let (to, values) = interpreter::rows(self.words_mut(), stride, and.dst as usize, slots);
            shares::<N, M>(to, values, and.inputs.map(|input| mask(input.flip())), kept, lead);
            to[stride - 1] &= last;
            match lanes % 64 {
                0 => outbox.extend_from_slice(bytemuck::cast_slice(to)),
                _ => packed.push(to, lanes),
            }
        }
        outbox.extend_from_slice(packed.bytes());
    }

    fn close<const N: usize>(&mut self, ands: &[And<N>], _: &mut [u64], came: &[u8]) {
        let (stride, lanes) = (self.stride(), self.lanes());
        let mut theirs = Vec::new();
        if lanes.is_multiple_of(64) {
            for (and, came) in ands.iter().zip(came.chunks_exact(8 * stride)) {
                let came = came.as_chunks::<8>().0;
                let row = self.row_mut(and.dst as usize).iter_mut().zip(came);
                row.for_each(|(to, came)| *to ^= u64::from_le_bytes(*came));
            }
            return;
        }
        Layout::Many(lanes).spread_bytes(came, ands.len(), &mut theirs);
        for (and, came) in ands.iter().zip(theirs.chunks_exact(stride)) {
            self.row_mut(and.dst as usize).iter_mut().zip(came).for_each(|(to, came)| *to ^= came);
        }
    }

    fn outputs(&self, outputs: &[Source], public: &BitMatrix, online: bool) -> BitMatrix {
        interpreter::outputs(outputs, self, public, mask(online))
    }
}

/// The shares of one AND.
#[inline(never)]
fn shares<const N: usize, const M: usize>(
    to: &mut [u64],
    values: [&[u64]; N],
    flips: [u64; N],
    kept: [&[u64]; M],
    lead: u64,
) {
    let words = to.len();
    let (values, kept) = (values.map(|row| &row[..words]), kept.map(|row| &row[..words]));
    for i in 0..words {
        let values = std::array::from_fn(|input| values[input][i] ^ flips[input]);
        to[i] = share::<N, M>(values, std::array::from_fn(|plane| kept[plane][i]), lead);
    }
}

/// The bits of an operand, complemented in all lanes if it is marked.
#[inline(always)]
fn operand<C: Cell>(wires: &CellWires<C>, operand: Operand) -> u64 {
    wires.cells[operand.slot()].into() ^ mask(operand.flip()) & wires.layout.ones
}

impl<C: Cell + 'static> Wires for CellWires<C> {
    fn new(fused: &Fused, inputs: &BitMatrix) -> Self {
        CellWires::new(fused.slots(), fused.inputs(), inputs)
    }

    fn local(&mut self, run: GateRun<'_>, public: &BitMatrix, online: bool) {
        self.execute(run, public, mask(online));
    }

    fn gather<const N: usize>(&self, ands: &[And<N>], input: usize, out: &mut [u64]) {
        let (gates, width) = (self.layout.gates, self.layout.width);
        for (ands, to) in ands.chunks(gates).zip(out) {
            let cell = |and: &And<N>| -> u64 { self.cells[and.inputs[input].slot()].into() };
            *to = ands.iter().enumerate().fold(0, |word, (i, and)| word | cell(and) << (i * width));
        }
    }

    fn scatter<const N: usize>(&mut self, ands: &[And<N>], from: &[u64]) {
        let (gates, width, ones) = (self.layout.gates, self.layout.width, self.layout.ones);
        for (ands, word) in prefetch::chunks(ands, gates).zip(from) {
            for (i, and) in ands.iter().enumerate() {
                self.cells[and.dst as usize] = C::of(word >> (i * width) & ones);
            }
        }
    }

    fn open<const N: usize, const M: usize>(
        &mut self,
        ands: &[And<N>],
        planes: &[u64],
        lead: u64,
        opened: &mut Vec<u64>,
        outbox: &mut Outbox,
    ) {
        let (gates, width) = (self.layout.gates, self.layout.width);
        let words = self.layout.words(ands.len());
        let planes: [&[u64]; M] = std::array::from_fn(|plane| &planes[plane * words..][..words]);
        let start = opened.len();
        for (place, ands) in prefetch::chunks(ands, gates).enumerate() {
            let mut values = [0; N];
            for (i, and) in ands.iter().enumerate() {
                for (value, &input) in values.iter_mut().zip(&and.inputs) {
                    *value |= operand(self, input) << (i * width);
                }
            }
            let kept = std::array::from_fn(|plane| planes[plane][place]);
            opened.push(share::<N, M>(values, kept, lead));
        }
        self.layout.squeeze(&opened[start..], ands.len(), outbox);
    }

    fn close<const N: usize>(&mut self, ands: &[And<N>], opened: &mut [u64], came: &[u8]) {
        let mut theirs = Vec::with_capacity(opened.len());
        Layout::Few(self.layout).spread_bytes(came, ands.len(), &mut theirs);
        opened.iter_mut().zip(theirs).for_each(|(ours, theirs)| *ours ^= theirs);
        self.scatter(ands, opened);
    }

    fn outputs(&self, outputs: &[Source], public: &BitMatrix, online: bool) -> BitMatrix {
        self.outputs(outputs, public, mask(online))
    }
}

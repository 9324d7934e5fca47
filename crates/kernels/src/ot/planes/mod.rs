//! Small-field VOLE from the streams of a tree's leaves: the expensive loop of SoftSpoken OT extension.

mod portable;
mod wide;

use zeroize::Zeroizing;

use crate::backend::{Backend, Cpu};
use crate::cipher::portable::{Cipher, cipher};
use crate::{Block, work};
use wide::{Planes, QuadSchedule};

/// The streams of 2^k leaves, scheduled; their keys are zeroised on drop.
///
/// Block n of the stream r_x of a leaf with key K is AES_K(n), where n is a number of 64 bits as a block. What is made
/// of the leaves x = 0 … 2^k − 1 is k *planes* and their sum:
///
/// ```text
/// v_j = ⊕ r_x over the x whose bit j is 1        u = ⊕ r_x over all x
/// ```
///
/// Blocks are made in whole [`STEP`](Self::STEP)s: rows need room for the length rounded up, and what lies
/// there afterwards is not to be used.
pub struct Leaves {
    k: usize,
    schedule: Schedule,
}

enum Schedule {
    Wide(Cpu, Zeroizing<Vec<Quad>>),
    Portable(Vec<Cipher>),
}

/// Round key r of four leaves.
pub(crate) type Quad = [[Block; 4]; 11];

/// k at most.
pub(crate) const LEVELS: usize = 8;

/// The work beside the planes.
pub(crate) enum Ends<'a> {
    /// All leaves; their sum goes here.
    Sum(&'a mut [Block]),
    /// All leaves but leaf 0; the values are added to the planes j of the bits j that are set.
    Correct { bits: u8, values: Option<&'a [Block]> },
}

impl Leaves {
    /// Blocks are made in multiples of this.
    pub const STEP: usize = 32;

    /// The leaves with these keys: 2^k of them for a k from 1 to 8.
    ///
    /// # Panics
    /// If it is another number.
    pub fn new(keys: &[Block]) -> Self {
        Self::with_backend(keys, Backend::detect())
    }

    /// The leaves on one backend.
    ///
    /// # Panics
    /// If the processor does not have it, or there are not 2^k keys.
    pub fn with_backend(keys: &[Block], backend: Backend) -> Self {
        let k = keys.len().trailing_zeros() as usize;
        assert!(keys.len() == 1 << k && (1..=LEVELS).contains(&k), "2^k leaves, k from 1 to 8");
        let schedule = match backend.cpu() {
            Some(cpu) => {
                let four = |keys: &[Block]| std::array::from_fn(|i| keys.get(i).copied().unwrap_or_default());
                let quads = keys.chunks(4).map(|keys| cpu.run(QuadSchedule(four(keys))));
                Schedule::Wide(cpu, Zeroizing::new(quads.collect()))
            }
            None => Schedule::Portable(keys.iter().map(|&key| cipher(key)).collect()),
        };
        Leaves { k, schedule }
    }

    /// The logarithm of the number of leaves.
    pub fn k(&self) -> usize {
        self.k
    }

    /// Blocks `first` and on of all leaves: plane j to the blocks from j·`stride` on in `rows`, and the sum.
    ///
    /// # Panics
    /// If rows or sum have no room for `len` rounded up to a multiple of [`STEP`](Self::STEP).
    pub fn all(&self, first: u64, len: usize, rows: &mut [Block], stride: usize, sum: &mut [Block]) {
        let room = self.assert_room(len, rows, stride);
        assert!(sum.len() >= room, "no room for the sum");
        work::count(len << self.k);
        self.run(first, len, rows, stride, Ends::Sum(sum));
    }

    /// Blocks of all leaves but leaf 0, whose key may be anything and which is in no plane. Then the `values`, if
    /// there are any, are added to the planes j for which bit j of `bits` is set, in constant time.
    ///
    /// # Panics
    /// If rows or values are shorter than `len` rounded up to a multiple of [`STEP`](Self::STEP).
    pub fn all_but_first(
        &self,
        first: u64,
        len: usize,
        rows: &mut [Block],
        stride: usize,
        bits: u8,
        values: Option<&[Block]>,
    ) {
        let room = self.assert_room(len, rows, stride);
        assert!(values.is_none_or(|values| values.len() >= room), "a value for each block");
        work::count(len * ((1 << self.k) - 1));
        self.run(first, len, rows, stride, Ends::Correct { bits, values });
    }

    fn assert_room(&self, len: usize, rows: &[Block], stride: usize) -> usize {
        let room = len.next_multiple_of(Self::STEP);
        assert!(stride >= room && rows.len() >= (self.k - 1) * stride + room, "no room for the planes");
        room
    }

    fn run(&self, first: u64, len: usize, rows: &mut [Block], stride: usize, ends: Ends) {
        let k = self.k;
        match &self.schedule {
            Schedule::Wide(cpu, quads) => cpu.run(Planes { k, quads, first, len, rows, stride, ends }),
            Schedule::Portable(keys) => portable::planes(keys, first, len, rows, stride, ends),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cipher::aes::Aes128;
    use crate::cipher::generator::Generator;

    fn keys(k: usize) -> Vec<Block> {
        let mut keys = vec![Block::ZERO; 1 << k];
        Generator::from_seed(Block::new(k as u128)).fill_blocks(&mut keys);
        keys
    }

    /// The definition: ⊕ of AES_{K_x}(n) over the leaves of which `of` is true.
    fn naive(keys: &[Block], n: u64, of: impl Fn(usize) -> bool) -> Block {
        keys.iter().enumerate().filter(|(x, _)| of(*x)).fold(Block::ZERO, |sum, (_, &key)| {
            let mut block = [Block::new(n.into())];
            Aes128::with_backend(key, Backend::Portable).encrypt(&mut block);
            sum ^ block[0]
        })
    }

    #[test]
    fn planes_and_sum_are_the_written_ones() {
        let (first, stride) = ((1 << 32) - 3, 100);
        for (backend, k) in Backend::available().into_iter().flat_map(|b| (1..=8).map(move |k| (b, k))) {
            let (keys, leaves) = (keys(k), Leaves::with_backend(&keys(k), backend));
            for len in [1, 31, 33, 70] {
                let (mut rows, mut sum) = (vec![Block::ZERO; k * stride], vec![Block::ZERO; stride]);
                leaves.all(first, len, &mut rows, stride, &mut sum);
                let mut punctured = vec![Block::ZERO; k * stride];
                leaves.all_but_first(first, len, &mut punctured, stride, 0, None);
                for i in [0, 1, len / 2, len - 1].into_iter().filter(|&i| i < len) {
                    let n = first + i as u64;
                    assert!(sum[i] == naive(&keys, n, |_| true), "{backend}, k = {k}, sum of block {i} of {len}");
                    for j in 0..k {
                        let v = naive(&keys, n, |x| x >> j & 1 == 1);
                        assert!(rows[j * stride + i] == v, "{backend}, k = {k}, plane {j}, block {i} of {len}");
                        assert!(punctured[j * stride + i] == v, "{backend}, k = {k}, plane {j} without leaf 0");
                    }
                }
            }
        }
    }

    #[test]
    fn corrections_go_to_the_planes_of_the_bits_that_are_set() {
        let values = vec![Block::new(0x1234_5678_9abc_def0_1122_3344_5566_7788); 64];
        for backend in Backend::available() {
            let leaves = Leaves::with_backend(&keys(3), backend);
            let [mut plain, mut corrected] = [(); 2].map(|()| vec![Block::ZERO; 3 * 64]);
            leaves.all_but_first(7, 40, &mut plain, 64, 0b101, None);
            leaves.all_but_first(7, 40, &mut corrected, 64, 0b101, Some(&values));
            for (j, i) in (0..3).flat_map(|j| (0..40).map(move |i| (j, i))) {
                let value = if j == 1 { Block::ZERO } else { values[0] };
                assert!(corrected[j * 64 + i] == plain[j * 64 + i] ^ value, "{backend}, plane {j}");
            }
        }
    }

    #[test]
    fn what_has_no_room_is_refused() {
        let leaves = Leaves::new(&keys(2));
        let (mut rows, mut sum) = (vec![Block::ZERO; 2 * 64], vec![Block::ZERO; 64]);
        let mut refused = |len, stride| {
            let run = std::panic::AssertUnwindSafe(|| leaves.all(0, len, &mut rows, stride, &mut sum));
            std::panic::catch_unwind(run).is_err()
        };
        assert!(refused(65, 64) && refused(33, 40) && refused(64, 65) && !refused(33, 64));
        assert!(std::panic::catch_unwind(|| Leaves::new(&keys(2)[..3])).is_err());
        assert!(std::panic::catch_unwind(|| Leaves::new(&keys(2)[..1])).is_err());
    }
}

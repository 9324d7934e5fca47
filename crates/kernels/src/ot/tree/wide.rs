//! Levels of GGM trees. A place that is secret is compared with every place.

use crate::Block;
use crate::backend::lanes::{Kernel, Lanes, Step, Steps, Window, store};
use crate::cipher::wide::{FLIGHT, RoundKeys, encrypt};
use crate::ot::tree::Patch;

/// The children of parents; gives the XOR of the left ones.
pub(crate) struct Grow<'a> {
    pub keys: &'a RoundKeys,
    pub parents: &'a [Block],
    pub patch: Patch,
    pub children: &'a mut [Block],
}

impl Kernel for Grow<'_> {
    type Output = Block;

    #[inline(always)]
    fn run<W: Lanes, N: Lanes>(self, wide: W, narrow: N) -> Block {
        let (mut sum, mut tail) = (wide.splat(Block::ZERO), narrow.splat(Block::ZERO));
        for Step { at, len } in Steps::new(self.parents.len(), FLIGHT * W::LANES) {
            let (parents, children) = (&self.parents[at..at + len], &mut self.children[2 * at..2 * (at + len)]);
            if len == FLIGHT * W::LANES {
                sum = grow_step::<W, FLIGHT>(wide, self.keys, at, self.patch, parents, children, sum);
            } else {
                tail = grow_step::<N, 4>(narrow, self.keys, at, self.patch, parents, children, tail);
            }
        }
        lanes(wide, sum) ^ lanes(narrow, tail)
    }
}

#[inline(always)]
fn grow_step<C: Lanes, const R: usize>(
    cpu: C,
    keys: &RoundKeys,
    first: usize,
    patch: Patch,
    parents: &[Block],
    children: &mut [Block],
    mut sum: C::Reg,
) -> C::Reg {
    let window = Window::new::<C, R>(0, parents.len());
    let mut here = Patcher::new(cpu, first, patch);
    let mut x = [cpu.splat(Block::ZERO); R];
    for r in 0..R {
        x[r] = here.next(cpu.load(&parents[window.nearest(r * C::LANES)..]));
    }
    // No closures around instructions: they would be compiled without them, and called.
    let mut y = x;
    for y in &mut y {
        *y = cpu.sigma(*y);
    }
    encrypt(cpu, keys, &mut y);
    for r in 0..R {
        if let Some(at) = window.place(r * C::LANES) {
            let left = cpu.xor(y[r], cpu.sigma(x[r]));
            sum = cpu.xor(sum, left);
            let pair = cpu.zip(left, cpu.xor(left, x[r]));
            store(cpu, pair[0], &mut children[2 * at..]);
            store(cpu, pair[1], &mut children[2 * at + C::LANES..]);
        }
    }
    sum
}

/// Clears some bits of every leaf and patches two places.
pub(crate) struct Seal<'a> {
    pub clear: Block,
    pub leaves: &'a mut [Block],
    pub patches: [Patch; 2],
}

impl Kernel for Seal<'_> {
    type Output = ();

    #[inline(always)]
    fn run<W: Lanes, N: Lanes>(self, wide: W, narrow: N) {
        let whole = self.leaves.len() / W::LANES * W::LANES;
        let (leaves, tail) = self.leaves.split_at_mut(whole);
        seal(wide, 0, self.clear, leaves, self.patches);
        seal(narrow, whole, self.clear, tail, self.patches);
    }
}

#[inline(always)]
fn seal<C: Lanes>(cpu: C, first: usize, clear: Block, leaves: &mut [Block], patches: [Patch; 2]) {
    let mut one = Patcher::new(cpu, first, patches[0]);
    let mut two = Patcher::new(cpu, first, patches[1]);
    let clear = cpu.splat(clear);
    for leaves in leaves.chunks_exact_mut(C::LANES) {
        let x = cpu.load(leaves);
        let cleared = cpu.xor_masked(x, clear, x);
        store(cpu, two.next(one.next(cleared)), leaves);
    }
}

/// Goes over places in order with a patch for one of them.
#[derive(Clone, Copy)]
struct Patcher<C: Lanes> {
    cpu: C,
    places: C::Reg,
    step: C::Reg,
    at: C::Reg,
    block: C::Reg,
}

impl<C: Lanes> Patcher<C> {
    #[inline(always)]
    fn new(cpu: C, first: usize, patch: Patch) -> Self {
        let both_halves = |n: u64| Block::new(u128::from(n) << 64 | u128::from(n));
        let places: [Block; 4] = std::array::from_fn(|lane| both_halves((first + lane) as u64));
        Patcher {
            cpu,
            places: cpu.load(&places),
            step: cpu.splat(both_halves(C::LANES as u64)),
            at: cpu.splat(both_halves(patch.at)),
            block: cpu.splat(patch.block),
        }
    }

    /// The next register of blocks.
    #[inline(always)]
    fn next(&mut self, x: C::Reg) -> C::Reg {
        let patched = self.cpu.xor_at(x, self.places, self.at, self.block);
        self.places = self.cpu.add(self.places, self.step);
        patched
    }
}

/// The XOR of the lanes.
#[inline(always)]
fn lanes<C: Lanes>(cpu: C, x: C::Reg) -> Block {
    let mut blocks = [Block::ZERO; 4];
    store(cpu, x, &mut blocks);
    blocks.into_iter().fold(Block::ZERO, |sum, block| sum ^ block)
}

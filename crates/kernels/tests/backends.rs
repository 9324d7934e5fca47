//! Every backend that this processor has gives the same bytes as the portable one: at lengths
//! around every step of the loops, and from AND numbers that are no multiple of four.

use bytemuck::{Pod, Zeroable};
use duologue_kernels::aes::Aes128;
use duologue_kernels::gates::Operand;
use duologue_kernels::generator::Generator;
use duologue_kernels::half_gates::{Ciphertexts, HalfGates, HalfGatesScheme};
use duologue_kernels::ot_hash::OtHash;
use duologue_kernels::three_halves::ThreeHalvesScheme;
use duologue_kernels::tree::TreeHash;
use duologue_kernels::{Backend, Block, GarblingHash, GarblingScheme, work};

const LENGTHS: [usize; 20] = [0, 1, 2, 3, 4, 5, 7, 8, 9, 11, 13, 15, 16, 17, 31, 33, 63, 64, 65, 1000];
const FIRST: [u64; 6] = [0, 1, 2, 3, 1 << 40, (1 << 33) + 7];
const S: Block = Block::new(0x0f1e_2d3c_4b5a_6978_8796_a5b4_c3d2_e1f0);

fn random(len: usize, index: u64) -> Vec<Block> {
    let mut blocks = vec![Block::ZERO; len];
    Generator::from_seed(S).derive(b"testdata", index).fill_blocks(&mut blocks);
    blocks
}

fn zeros(len: usize) -> Vec<Block> {
    vec![Block::ZERO; len]
}

/// Runs a kernel on every backend at every length and compares with the portable one.
fn same_everywhere(kernel: impl Fn(Backend, usize) -> Vec<Block>) {
    for len in LENGTHS {
        let expected = kernel(Backend::Portable, len);
        for backend in Backend::available() {
            assert!(kernel(backend, len) == expected, "{backend} differs at length {len}");
        }
    }
}

#[test]
fn aes() {
    same_everywhere(|backend, len| {
        let mut blocks = random(len, 0);
        Aes128::with_backend(S, backend).encrypt(&mut blocks);
        blocks
    });
}

#[test]
fn tree() {
    same_everywhere(|backend, len| {
        let mut out = zeros(len);
        TreeHash::with_backend(S, backend).hash(&random(len, 1), &mut out);
        out
    });
}

#[test]
fn ot() {
    for first in FIRST {
        same_everywhere(|backend, len| {
            let hash = OtHash::with_backend(S, backend);
            let (q, delta) = (random(len, 2), random(1, 3)[0]);
            let (mut m0, mut m1, mut m) = (zeros(len), zeros(len), zeros(len));
            hash.pairs(first, delta, &q, &mut m0, &mut m1);
            hash.chosen(first, &q, &mut m);
            assert!(m == m0, "the receiver's hash of q is the sender's m0");
            let [mut zero, mut differ, mut chosen] = [(); 3].map(|()| vec![!0; len.div_ceil(64)]);
            hash.pair_bits(first, delta, &q, &mut zero, &mut differ);
            hash.chosen_bits(first, &q, &mut chosen);
            let lowest = |i: usize| i < len && m0[i].lsb();
            for i in 0..64 * zero.len() {
                let bit = |words: &[u64]| words[i / 64] >> (i % 64) & 1 == 1;
                assert!(bit(&zero) == lowest(i) && bit(&chosen) == lowest(i), "{backend}: bit {i} of {len}");
                assert!(bit(&differ) == (i < len && m0[i].lsb() != m1[i].lsb()), "{backend}: bit {i} of {len}");
            }
            [m0, m1].concat()
        });
    }
}

fn garble<G: GarblingScheme>(
    backend: Backend,
    first: u64,
    flips: [bool; 2],
    len: usize,
) -> (Vec<Block>, Vec<G::Table>) {
    let (a, b, delta) = (random(len, 4), random(len, 5), random(1, 6)[0].with_lsb(true));
    let (mut out, mut tables) = (zeros(len), vec![G::Table::zeroed(); len]);
    let operand = |labels, flip| Operand { labels, flip };
    let hash = GarblingHash::<G>::with_backend(S, backend);
    hash.garble(first, delta, operand(&a, flips[0]), operand(&b, flips[1]), &mut out, &mut tables);
    (out, tables)
}

/// Tables as blocks, to be compared.
fn padded<T: Pod>(tables: &[T]) -> impl Iterator<Item = Block> {
    let blocks = bytemuck::cast_slice::<_, u8>(tables).chunks(16);
    blocks.map(|bytes| Block::from_bytes(std::array::from_fn(|i| *bytes.get(i).unwrap_or(&0))))
}

fn both_roles<G: GarblingScheme>() {
    for first in FIRST {
        for flips in [[false, false], [true, false], [false, true], [true, true]] {
            same_everywhere(|backend, len| {
                let (out, tables) = garble::<G>(backend, first, flips, len);
                out.into_iter().chain(padded(&tables)).collect()
            });
        }
        same_everywhere(|backend, len| {
            let tables = garble::<G>(Backend::Portable, first, [false, true], len).1;
            let mut out = zeros(len);
            let (a, b) = (random(len, 7), random(len, 8));
            GarblingHash::<G>::with_backend(S, backend).evaluate(first, &a, &b, &mut out, &tables);
            out
        });
    }
}

#[test]
fn half_gates() {
    both_roles::<HalfGatesScheme>();
}

#[test]
fn three_halves() {
    both_roles::<ThreeHalvesScheme>();
}

#[test]
fn what_one_call_gives_many_calls_give() {
    let (a, b, delta) = (random(100, 4), random(100, 5), random(1, 6)[0].with_lsb(true));
    let plain = |labels| Operand { labels, flip: false };
    let mut whole = (zeros(100), vec![Ciphertexts::default(); 100]);
    let mut parts = whole.clone();
    let hash = HalfGates::new(S);
    hash.garble(5, delta, plain(&a), plain(&b), &mut whole.0, &mut whole.1);
    for cut in [0..1, 1..3, 3..20, 20..21, 21..89, 89..100] {
        let (out, tables) = (&mut parts.0[cut.clone()], &mut parts.1[cut.clone()]);
        let first = 5 + cut.start as u64;
        hash.garble(first, delta, plain(&a[cut.clone()]), plain(&b[cut]), out, tables);
    }
    assert!(whole == parts);
}

#[test]
fn the_counter_counts_blocks_not_schedules() {
    let mut blocks = random(10, 0);
    let (aes, hash) = (Aes128::new(S), HalfGates::new(S));
    let start = work::aes_blocks();
    aes.encrypt(&mut blocks);
    assert_eq!(work::aes_blocks() - start, 10);
    let (mut out, mut tables) = (zeros(10), vec![Ciphertexts::default(); 10]);
    let operand = Operand { labels: &blocks, flip: false };
    hash.garble(3, Block::new(1), operand, operand, &mut out, &mut tables);
    hash.evaluate(3, &blocks, &blocks, &mut out, &tables);
    assert_eq!(work::aes_blocks() - start, 10 + 40 + 20);
    let elsewhere = std::thread::spawn(work::aes_blocks).join();
    assert_eq!(elsewhere.ok(), Some(0));
}

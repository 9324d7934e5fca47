//! The attack with random blocks on the dual code, carried out on a small instance of the real one (`kernels::syndrome`).
//!
//! Of the code only what it computes is used: its steps on unit vectors give the matrices, 128 columns at once. An instance has
//! n = 3,072 positions of noise, 64 blocks of 48, and N = 1,536 known sums; what is small is t.

use crate::carried_out::Random;
use crate::dual::{BLOCK, INVERSE};
use crate::rows::tries;
use crate::{Set, is_on_the_page};
use kernels::Block;
use kernels::syndrome::{GROUP, SyndromeCode};

const LEN: usize = 192;
const N: usize = 16 * LEN;
/// Rows beyond the unknowns.
const CHECKS: usize = 12;
const WORDS: usize = N / 64;

/// A row of bits, and one beyond.
type Bits = [u64; WORDS + 1];

fn bit(bits: &[u64], at: usize) -> bool {
    bits[at / 64] >> (at % 64) & 1 == 1
}

fn flip(bits: &mut [u64], at: usize) {
    bits[at / 64] ^= 1 << (at % 64);
}

fn add(bits: &mut [u64], other: &[u64]) {
    bits.iter_mut().zip(other).for_each(|(bits, other)| *bits ^= other);
}

/// The rows of a linear map of N elements.
fn matrix_of(map: impl Fn(&[Block]) -> Vec<Block>) -> Vec<Bits> {
    let mut rows = Vec::new();
    for from in (0..N).step_by(128) {
        let mut units = vec![Block::ZERO; N];
        (0..128).for_each(|i| units[from + i] = Block::new(1 << i));
        let images = map(&units);
        rows.resize(images.len(), [0; WORDS + 1]);
        for (row, image) in rows.iter_mut().zip(images) {
            (row[from / 64], row[from / 64 + 1]) = (image.get() as u64, (image.get() >> 64) as u64);
        }
    }
    rows
}

/// Both convolutions, each with its permutation.
fn convolve(code: &SyndromeCode, noise: &[Block]) -> Vec<Block> {
    let mut vector = vec![Block::ZERO; N];
    for (segment, (mut rows, elements)) in code.rows(&mut vector).into_iter().zip(noise.chunks(LEN)).enumerate() {
        code.spread(&mut code.first(), segment, elements, &mut rows);
    }
    let mut memory = vec![Block::ZERO; LEN];
    vector.chunks_mut(LEN).enumerate().for_each(|(segment, elements)| code.second(segment, elements, &mut memory));
    vector
}

fn block_code(code: &SyndromeCode, vector: &[Block]) -> Vec<Block> {
    let mut out = vec![Block::ZERO; N / 2];
    code.outputs_from(0, vector, &mut out);
    assert!(out.len().is_multiple_of(GROUP));
    out
}

/// Brings rows to the form in which each has a column of its own; the columns, and how many rows came to nothing though
/// their last bit is one.
fn eliminate(rows: &mut Vec<Bits>, columns: usize) -> (Vec<usize>, usize) {
    let mut pivots = Vec::new();
    for column in 0..columns {
        let at = pivots.len();
        let Some(found) = (at..rows.len()).find(|&row| bit(&rows[row], column)) else { continue };
        rows.swap(at, found);
        let pivot = rows[at];
        let others = rows.iter_mut().enumerate().filter(|(row, bits)| *row != at && bit(&bits[..], column));
        others.for_each(|(_, bits)| add(bits, &pivot));
        pivots.push(column);
    }
    let wrong = rows[pivots.len()..].iter().filter(|row| row[WORDS] & 1 == 1).count();
    rows.truncate(pivots.len());
    (pivots, wrong)
}

/// The inverse of a square matrix of N rows: both side by side.
fn inverse(matrix: &[Bits]) -> Vec<Vec<u64>> {
    let mut rows: Vec<Vec<u64>> = matrix.iter().map(|row| [&row[..WORDS], &[0; WORDS]].concat()).collect();
    (0..N).for_each(|i| flip(&mut rows[i], N + i));
    for column in 0..N {
        let found = (column..N).find(|&row| bit(&rows[row], column)).expect("convolutions can be undone");
        rows.swap(column, found);
        let pivot = rows[column].clone();
        for row in (0..N).filter(|&row| row != column) {
            if bit(&rows[row], column) {
                add(&mut rows[row], &pivot);
            }
        }
    }
    rows.into_iter().map(|row| row[WORDS..].to_vec()).collect()
}

/// What an attacker knows of a code.
struct Known {
    /// Of each bit of noise the elements of the vector that it is the sum of.
    sums: Vec<Vec<usize>>,
    /// Of each output the elements that it is the sum of, the systematic one first.
    outputs: Vec<Vec<usize>>,
    /// Of each element that only one output has, that output; of the others their number among the unknown ones.
    places: Vec<Place>,
    /// The block of each element.
    blocks: Vec<usize>,
}

#[derive(Clone, Copy)]
enum Place {
    Systematic(usize),
    Unknown(usize),
}

fn ones(bits: &[u64]) -> Vec<usize> {
    (0..N).filter(|&at| bit(bits, at)).collect()
}

impl Known {
    fn new(code: &SyndromeCode) -> Known {
        let sums = inverse(&matrix_of(|noise| convolve(code, noise))).iter().map(|row| ones(row)).collect();
        let mut outputs: Vec<Vec<usize>> =
            matrix_of(|vector| block_code(code, vector)).iter().map(|row| ones(&row[..WORDS])).collect();
        let mut readers = vec![Vec::new(); N];
        outputs.iter().enumerate().for_each(|(y, row)| row.iter().for_each(|&x| readers[x].push(y)));
        let (mut unknown, mut places) = (0, Vec::new());
        for readers in &readers {
            places.push(match readers[..] {
                [only] => Place::Systematic(only),
                _ => {
                    unknown += 1;
                    Place::Unknown(unknown - 1)
                }
            });
        }
        // Outputs that share an unknown element are those of a block.
        let mut of_output: Vec<usize> = (0..outputs.len()).collect();
        for readers in readers.iter().filter(|readers| readers.len() > 1) {
            let least = readers.iter().map(|&y| of_output[y]).min().unwrap();
            let merged: Vec<usize> = readers.iter().map(|&y| of_output[y]).collect();
            of_output.iter_mut().filter(|of| merged.contains(of)).for_each(|of| *of = least);
        }
        let mut names: Vec<usize> = of_output.clone();
        names.sort_unstable();
        names.dedup();
        let blocks = readers.iter().map(|readers| names.binary_search(&of_output[readers[0]]).unwrap()).collect();
        outputs.iter_mut().for_each(|row| row.sort_by_key(|&x| matches!(places[x], Place::Unknown(_))));
        Known { sums, outputs, places, blocks }
    }

    /// A bit of noise as a sum of unknown elements and of a known bit.
    fn equation(&self, sum: &[usize], y: &[bool]) -> Bits {
        let mut row = [0; WORDS + 1];
        for &x in sum {
            match self.places[x] {
                Place::Unknown(at) => flip(&mut row, at),
                Place::Systematic(output) => {
                    row[WORDS] ^= u64::from(y[output]);
                    for &parity in &self.outputs[output][1..] {
                        let Place::Unknown(at) = self.places[parity] else { unreachable!("one systematic element") };
                        flip(&mut row, at);
                    }
                }
            }
        }
        row
    }

    /// Of random blocks, just enough that the rows within them outnumber the unknowns, as many rows as are needed.
    fn choose(&self, random: &mut Random) -> Vec<usize> {
        let count = N / BLOCK as usize;
        let mut order: Vec<usize> = (0..count).collect();
        (0..count).for_each(|i| order.swap(i, i + random.below(count - i)));
        let mut rank = vec![0; count];
        order.iter().enumerate().for_each(|(at, &block)| rank[block] = at);
        let last = |sum: &Vec<usize>| sum.iter().map(|&x| rank[self.blocks[x]]).max().unwrap();
        let lasts: Vec<usize> = self.sums.iter().map(last).collect();
        let within = |blocks: usize| lasts.iter().filter(|&&last| last < blocks).count();
        let enough = (1..=count).find(|&blocks| within(blocks) >= blocks * BLOCK as usize / 2 + CHECKS);
        let blocks = enough.expect("all rows are within all blocks");
        let mut rows: Vec<usize> = (0..N).filter(|&row| lasts[row] < blocks).collect();
        let wanted = blocks * BLOCK as usize / 2 + CHECKS;
        let all = rows.len();
        (0..wanted).for_each(|i| rows.swap(i, i + random.below(all - i)));
        rows.truncate(wanted);
        rows
    }
}

/// The inverse of the real code has the ones that are counted, and its blocks are those of the block code.
#[test]
fn a_bit_of_noise_is_a_sum_of_25_elements() {
    let known = Known::new(&SyndromeCode::new(Block::new(1 << 70), LEN));
    // The first of a segment have fewer, as convolutions begin with zeros.
    let most = known.sums.iter().map(Vec::len).max().unwrap();
    let mean = known.sums.iter().map(Vec::len).sum::<usize>() as f64 / N as f64;
    assert!(most as f64 == INVERSE && mean > 0.8 * INVERSE, "{most} {mean}");
    assert!((0..N / BLOCK as usize).all(|block| known.blocks.iter().filter(|&&of| of == block).count() == 48));
    assert!(known.outputs.iter().all(|output| (12..=24).contains(&output.len())));
}

/// Rounds with three trees are solved as often as rows of random blocks are free of noise, and a solution is the right one.
#[test]
fn the_attack_with_random_blocks_takes_the_tries_of_the_formula() {
    const TRIES: usize = 400;
    let set = Set { t: 3.0, k: N as f64 / 2.0, depth: 10, noisy: 1.0 };
    let mut random = Random(11);
    let (mut solved, mut expected, mut found) = (0, 0.0, 0);
    for instance in 0..4u128 {
        let code = SyndromeCode::new(Block::new(instance << 64 | 5), LEN);
        let known = Known::new(&code);
        let mut noise = vec![Block::ZERO; N];
        noise.chunks_mut(N / 3).for_each(|tree| tree[random.below(N / 3)] = Block::new(1));
        let vector = convolve(&code, &noise);
        let y: Vec<bool> = block_code(&code, &vector).iter().map(|y| y.lsb()).collect();
        for _ in 0..TRIES / 4 {
            let rows = known.choose(&mut random);
            expected += (-tries(&set, rows.len() as f64)).exp2();
            let mut equations: Vec<Bits> = rows.iter().map(|&row| known.equation(&known.sums[row], &y)).collect();
            let (pivots, wrong) = eliminate(&mut equations, N / 2);
            if wrong > 0 {
                continue;
            }
            solved += 1;
            // Few unknowns are left open, and an equation of one alone says what it is.
            assert!(rows.len() - CHECKS - pivots.len() <= 24, "{} of {}", pivots.len(), rows.len());
            for (row, &pivot) in equations.iter().zip(&pivots) {
                if ones(&row[..WORDS]).len() == 1 {
                    let here = |place: &Place| matches!(place, Place::Unknown(at) if *at == pivot);
                    let element = known.places.iter().position(here).unwrap();
                    assert_eq!(vector[element].lsb(), row[WORDS] & 1 == 1);
                    found += 1;
                }
            }
        }
    }
    assert!(found > solved as usize * N / 16, "{found} elements");
    println!("{solved} solved, {expected:.1} expected");
    assert!((f64::from(solved) / expected - 1.0).abs() < 0.3, "{solved} {expected}");
    is_on_the_page(&format!("of {TRIES} choices {solved} are free of noise, where the formula says {expected:.0}"));
}

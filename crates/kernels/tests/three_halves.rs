//! Three-halves garbling against the paper's equations, solved once more with matrices on RustCrypto's AES, and its
//! pitfalls: each attack is shown to work on a twin that lacks the counter-measure, and to fail on ours.

mod support;

use aes::cipher::{BlockCipherEncrypt, KeyInit};
use duologue_kernels::gates::Operand;
use duologue_kernels::three_halves::{Table, ThreeHalves};
use duologue_kernels::{Backend, Block};
use support::{S, random, random_delta};

/// The same labels with this lowest bit, so that it is the permute bit.
fn permuted(labels: &[Block], bit: bool) -> Vec<Block> {
    labels.iter().map(|label| label.with_lsb(bit)).collect()
}

fn high(x: Block) -> u64 {
    (x.get() >> 64) as u64
}

fn low(x: Block) -> u64 {
    x.get() as u64
}

fn encrypt(n: u64, x: Block) -> Block {
    let name = u128::from(u64::from_le_bytes(*b"3-halves"));
    let key = S.get() ^ (name << 64 | u128::from(n / 16 * 4 + n % 4));
    let mut block = x.to_bytes().into();
    aes::Aes128::new(&key.to_le_bytes().into()).encrypt_block(&mut block);
    Block::from_bytes(block.into())
}

/// The scheme as defined, with counter-measures that can be left out.
#[derive(Clone, Copy)]
struct Definition {
    /// The map of the hash does not commute with halves.
    words: bool,
    /// The three hashes of an AND have different tweaks.
    tweak: bool,
    /// The row of the labels is diced.
    dice: bool,
}

const OURS: Definition = Definition { words: true, tweak: true, dice: true };

/// What an evaluator decrypts, or a garbler chooses: (r_L, r_R) of a row.
type Row = [bool; 2];

/// The paper's two matrices: what r_L and r_R add to both halves of the output, of A_L, A_R, B_L, B_R.
const INSTRUCTIONS: [[[u8; 4]; 2]; 2] = [[[1, 1, 1, 0], [1, 0, 0, 1]], [[1, 0, 0, 1], [0, 1, 1, 1]]];

/// What an AND needs besides in the row of lowest bits (i, j).
fn parity(i: bool, j: bool) -> [[u8; 4]; 2] {
    let [i, j] = [i, j].map(u8::from);
    [[j, 0, 0, j], [i, 0, 0, i]]
}

fn if_set<T: Default>(bit: bool, x: T) -> T {
    if bit { x } else { T::default() }
}

/// Both halves that the instructions of a row make of labels.
fn instructed(row: Row, a: Block, b: Block) -> [u64; 2] {
    let labels = [high(a), low(a), high(b), low(b)];
    let parity = parity(a.lsb(), b.lsb());
    [0, 1].map(|half| {
        let entry = |i: usize| {
            let diced = (0..2).fold(0, |sum, r| sum ^ if_set(row[r], INSTRUCTIONS[r][half][i]));
            (diced ^ parity[half][i]) == 1
        };
        (0..4).fold(0, |sum, i| sum ^ if_set(entry(i), labels[i]))
    })
}

impl Definition {
    /// ς, which the twin has σ for.
    fn map(self, x: Block) -> Block {
        if !self.words {
            return x.sigma();
        }
        let [a, b, c, d] = [96, 64, 32, 0].map(|shift| (x.get() >> shift) as u32);
        Block::new([a ^ b, a, c ^ d, c].into_iter().fold(0, |words, word| words << 32 | u128::from(word)))
    }

    fn input(self, x: Block, n: u64, call: u64) -> Block {
        let tweak = 4 * (n / 4 % 4) + if self.tweak { call } else { 0 };
        self.map(x ^ Block::new(tweak.into()))
    }

    fn hash(self, x: Block, n: u64, call: u64) -> Block {
        let x = self.input(x, n, call);
        encrypt(n, x) ^ x
    }

    /// The output's zero label and the table, from all four rows of the truth table: eight equations for five unknowns.
    fn garble(self, n: u64, delta: Block, a: [Block; 2], b: [Block; 2], row: Option<Row>) -> (Block, Table) {
        let (pa, pb) = (a[0].lsb(), b[0].lsb());
        let of = |labels: [Block; 2], bit| if labels[0].lsb() == bit { labels[0] } else { labels[1] };
        let sums = [self.hash(a[0], n, 0) ^ self.hash(a[1], n, 0)];
        let dice = [low(sums[0]) >> 1 & 1 == 1, low(sums[0]) >> 2 & 1 == 1];
        let dice = row.unwrap_or(if self.dice { dice } else { [false; 2] });
        // The row of the zero labels has the dice; the others differ by multiples of y over GF(4).
        let rows = |i: bool, j: bool| -> Row {
            let (p, q) = (!pa, !pb);
            let shift = match (i ^ pa, j ^ pb) {
                (false, false) => [false, false],
                (true, false) => [q, p ^ q],
                (false, true) => [p ^ q, p],
                (true, true) => [p, q],
            };
            [dice[0] ^ shift[0], dice[1] ^ shift[1]]
        };
        // Of a row and half: half a label and a control bit.
        let equation = |i: bool, j: bool, half: usize| -> (u64, bool) {
            let (a, b) = (of(a, i), of(b, j));
            let [own, both] = [self.hash([a, b][half], n, half as u64), self.hash(a ^ b, n, 2)];
            let truth = if_set((i ^ pa) & (j ^ pb), delta);
            let known = instructed(rows(i, j), a, b)[half] ^ [high(truth), low(truth)][half];
            (high(own) ^ high(both) ^ known, own.lsb() ^ both.lsb() ^ rows(i, j)[half])
        };
        let xor = |x: (u64, bool), y: (u64, bool)| (x.0 ^ y.0, x.1 ^ y.1);
        let [c_l, c_r] = [0, 1].map(|half| equation(false, false, half));
        let g0 = xor(c_l, equation(true, true, 0));
        let g1 = xor(c_r, equation(true, true, 1));
        let g2 = xor(c_l, equation(false, true, 0));
        // The other four equations hold besides.
        assert_eq!(xor(xor(c_l, g0), g2), equation(true, false, 0));
        assert_eq!(xor(c_r, g2), equation(true, false, 1));
        assert_eq!(xor(xor(c_r, g1), g2), equation(false, true, 1));
        let mut table = [0; 25];
        for (at, x) in [g1.0, g0.0, g2.0].into_iter().enumerate() {
            table[8 * at..][..8].copy_from_slice(&x.to_le_bytes());
        }
        let bits = [c_l.1, c_r.1, g0.1, g1.1, g2.1];
        table[24] = (0..5).map(|i| u8::from(bits[i]) << i).sum();
        (Block::new(u128::from(c_l.0) << 64 | u128::from(c_r.0)), table)
    }

    /// The evaluator's row of instructions.
    fn row(self, n: u64, a: Block, b: Block, table: &Table) -> Row {
        let z: [bool; 5] = std::array::from_fn(|i| table[24] >> i & 1 == 1);
        let [ha, hb, hx] = [(a, 0), (b, 1), (a ^ b, 2)].map(|(x, call)| self.hash(x, n, call).lsb());
        let x = hx ^ ((a.lsb() ^ b.lsb()) & z[4]);
        [z[0] ^ ha ^ x ^ (a.lsb() & z[2]), z[1] ^ hb ^ x ^ (b.lsb() & z[3])]
    }

    /// The evaluator's label, from the paper's matrix of ciphertexts.
    fn evaluate(self, n: u64, a: Block, b: Block, table: &Table) -> Block {
        let [g1, g0, g2] = [0, 8, 16].map(|at| u64::from_le_bytes(table[at..at + 8].try_into().unwrap()));
        let added = match (a.lsb(), b.lsb()) {
            (false, false) => [0, 0],
            (false, true) => [g2, g1 ^ g2],
            (true, false) => [g0 ^ g2, g2],
            (true, true) => [g0, g1],
        };
        let [ha, hb, hx] = [(a, 0), (b, 1), (a ^ b, 2)].map(|(x, call)| high(self.hash(x, n, call)));
        let known = instructed(self.row(n, a, b, table), a, b);
        let [left, right] = [ha ^ hx ^ added[0] ^ known[0], hb ^ hx ^ added[1] ^ known[1]];
        Block::new(u128::from(left) << 64 | u128::from(right))
    }
}

fn garble(hash: &ThreeHalves, first: u64, a: Operand, b: Operand) -> (Vec<Block>, Vec<Table>) {
    let (mut out, mut tables) = (vec![Block::ZERO; a.labels.len()], vec![[0; 25]; a.labels.len()]);
    hash.garble(first, random_delta(), a, b, &mut out, &mut tables);
    (out, tables)
}

fn plain(labels: &[Block]) -> Operand<'_> {
    Operand { labels, flip: false }
}

fn garbled(a: &[Block], b: &[Block]) -> Vec<Table> {
    garble(&ThreeHalves::new(S), 0, plain(a), plain(b)).1
}

#[test]
fn gates_are_garbled_as_defined() {
    let (a, b, delta) = (random(70, 0), random(70, 1), random_delta());
    for first in [0, 3, (1 << 50) + 6] {
        let (out, tables) = garble(&ThreeHalves::new(S), first, plain(&a), plain(&b));
        for k in 0..70 {
            let [a, b] = [a[k], b[k]].map(|zero| [zero, zero ^ delta]);
            let defined = OURS.garble(first + k as u64, delta, a, b, None);
            assert!(defined == (out[k], tables[k]), "AND {k} of those from {first}");
        }
    }
}

/// All permute bits, complements and inputs, on every backend; and the paper's evaluator reads our tables.
#[test]
fn an_evaluated_gate_is_the_and() {
    let delta = random_delta();
    for backend in Backend::available() {
        let hash = ThreeHalves::with_backend(S, backend);
        for case in 0..64 {
            let [x, y, flip_a, flip_b, pa, pb] = [1, 2, 4, 8, 16, 32].map(|bit| case & bit != 0);
            let (a0, b0) = (permuted(&random(21, 0), pa), permuted(&random(21, 1), pb));
            let operands = [(&a0, flip_a), (&b0, flip_b)].map(|(labels, flip)| Operand { labels, flip });
            let (out0, tables) = garble(&hash, 6, operands[0], operands[1]);

            let active =
                |zero: &[Block], bit| -> Vec<Block> { zero.iter().map(|l| *l ^ (Block::mask(bit) & delta)).collect() };
            let (a, b, mut out) = (active(&a0, x), active(&b0, y), vec![Block::ZERO; 21]);
            hash.evaluate(6, &a, &b, &mut out, &tables);
            let expected = active(&out0, (x ^ flip_a) & (y ^ flip_b));
            assert!(out == expected, "{backend}, case {case:06b}");
            let papers = (0..21).map(|k| OURS.evaluate(6 + k as u64, a[k], b[k], &tables[k]));
            assert!(papers.eq(expected), "{backend}, case {case:06b}");
        }
    }
}

/// One wire as both operands, and operands whose XOR is public.
#[test]
fn operands_may_be_equal() {
    let (zero, delta, hash) = (random(40, 2), random_delta(), ThreeHalves::new(S));
    for (flip_a, flip_b) in [(false, false), (true, false), (true, true)] {
        let [a, b] = [flip_a, flip_b].map(|flip| Operand { labels: &zero, flip });
        let (out0, tables) = garble(&hash, 0, a, b);
        for x in [false, true] {
            let active: Vec<_> = zero.iter().map(|l| *l ^ (Block::mask(x) & delta)).collect();
            let mut out = active.clone();
            hash.evaluate(0, &active, &active, &mut out, &tables);
            let bit = (x ^ flip_a) & (x ^ flip_b);
            assert!((0..40).all(|k| out[k] == out0[k] ^ (Block::mask(bit) & delta)));
        }
    }
}

/// How often each of four or 32 values comes, for all permute bits and inputs: as far from even as `len` fair draws are
/// with a chance below 2⁻⁴⁰.
fn is_even(counts: &[usize], len: usize) -> bool {
    let mean = len as f64 / counts.len() as f64;
    counts.iter().all(|&count| (count as f64 - mean).abs() < 7.5 * mean.sqrt())
}

/// For all permute bits and inputs: what the evaluator decrypts, and the control bits as they come.
fn control_is_even(garbled: impl Fn(&[Block], &[Block]) -> Vec<Table>) -> bool {
    const LEN: usize = 8000;
    let (delta, cases) = (random_delta(), (0..16).map(|case| [1, 2, 4, 8].map(|bit| case & bit != 0)));
    cases.into_iter().all(|[pa, pb, x, y]| {
        let (a, b) = (permuted(&random(LEN, 3), pa), permuted(&random(LEN, 4), pb));
        let tables = garbled(&a, &b);
        let (mut rows, mut bytes) = ([0; 4], [0; 32]);
        for (k, table) in tables.iter().enumerate() {
            let (a, b) = (a[k] ^ (Block::mask(x) & delta), b[k] ^ (Block::mask(y) & delta));
            let [left, right] = OURS.row(k as u64, a, b, table).map(usize::from);
            rows[2 * left + right] += 1;
            bytes[table[24] as usize] += 1;
        }
        is_even(&rows, LEN) && is_even(&bytes, LEN)
    })
}

/// The row of instructions that an evaluator sees says nothing about permute bits.
#[test]
fn without_dice_control_bits_give_permute_bits_away() {
    assert!(control_is_even(garbled));
    let delta = random_delta();
    let twin = |dice: Definition, row: Option<Row>| {
        move |a: &[Block], b: &[Block]| -> Vec<Table> {
            let both = |zero: Block| [zero, zero ^ delta];
            (0..a.len()).map(|k| dice.garble(k as u64, delta, both(a[k]), both(b[k]), row).1).collect()
        }
    };
    assert!(!control_is_even(twin(Definition { dice: false, ..OURS }, None)));
    assert!(!control_is_even(twin(OURS, Some([true, false]))));
    // What is wrong with the twin: the row of ones says whether it is the one of the zero labels.
    let (a, b) = (random(200, 3), random(200, 4));
    let tables = twin(OURS, Some([false, false]))(&a, &b);
    let both = |zero: Block| [zero, zero ^ delta];
    let leaks = |k: usize| OURS.row(k as u64, both(a[k])[1], both(b[k])[1], &tables[k]) == [!a[k].lsb(), !b[k].lsb()];
    assert!((0..200).all(leaks), "an evaluator with ones reads both permute bits");
}

/// Exactly: whatever permute bits and inputs are, each of the four dice gives the evaluator another row.
#[test]
fn every_row_comes_once_for_all_dice() {
    let delta = random_delta();
    for case in 0..16 {
        let [pa, pb, x, y] = [1, 2, 4, 8].map(|bit| case & bit != 0);
        let both = |zero: &[Block]| [zero[0], zero[0] ^ delta];
        let (a, b) = (both(&permuted(&random(1, 3), pa)), both(&permuted(&random(1, 4), pb)));
        let mut rows = [(0, 0), (0, 1), (1, 0), (1, 1)].map(|(left, right)| {
            let (_, table) = OURS.garble(5, delta, a, b, Some([left == 1, right == 1]));
            OURS.row(5, a[usize::from(x)], b[usize::from(y)], &table)
        });
        rows.sort_unstable();
        assert_eq!(rows, [[false, false], [false, true], [true, false], [true, true]], "case {case:04b}");
    }
}

/// Dice of an AND are not those of another one, nor of another S.
#[test]
fn dice_differ_between_ands() {
    let (a, b) = (vec![random(1, 5)[0]; 4000], vec![random(1, 6)[0]; 4000]);
    let rows = |s: u128| {
        let mut tables = vec![[0; 25]; 4000];
        let mut out = a.clone();
        ThreeHalves::new(S ^ Block::new(s)).garble(0, random_delta(), plain(&a), plain(&b), &mut out, &mut tables);
        tables
    };
    let (one, two) = (rows(0), rows(1 << 90));
    let mut counts = [0; 4];
    for (k, table) in one.iter().enumerate() {
        let [left, right] = OURS.row(k as u64, a[0], b[0], table).map(usize::from);
        counts[2 * left + right] += 1;
    }
    assert!(is_even(&counts, 4000));
    let differing: u32 = one.iter().flatten().zip(two.iter().flatten()).map(|(x, y)| (x ^ y).count_ones()).sum();
    // 4000 · 197 fair bits: half of them within seven standard deviations.
    assert!(differing.abs_diff(394_000) < 3_110, "{differing}");
}

/// All sums of four halves.
fn sums(halves: [u64; 4]) -> [u64; 16] {
    std::array::from_fn(|which| (0..4).fold(0, |sum, i| sum ^ if_set(which >> i & 1 == 1, halves[i])))
}

/// A ciphertext holds H(x ⊕ Δ)_L ⊕ α·Δ_L ⊕ β·Δ_R, and with σ for ς the hash itself holds Δ_L ⊕ Δ_R: in the rows where
/// both cancel, the evaluator has half of what the cipher puts out under a public key.
#[test]
fn with_the_usual_sigma_ciphertexts_show_the_cipher() {
    let (a, b, delta) = (random(64, 7), random(64, 8), random_delta());
    let broken = Definition { words: false, ..OURS };
    let (mut shown, ours) = ([0; 3], garbled(&a, &b));
    for (k, n) in (0..64).zip(0..) {
        let both = |zero: Block| [zero, zero ^ delta];
        let attack = |twin: Definition, table: &Table, call: usize| {
            let at = [8, 0, 16][call];
            let ciphertext = u64::from_le_bytes(table[at..at + 8].try_into().unwrap());
            let active = [a[k], b[k], a[k] ^ b[k]][call];
            let known = ciphertext ^ high(twin.hash(active, n, call as u64)) ^ high(twin.input(active, n, call as u64));
            let hidden = high(encrypt(n, twin.input(active ^ delta, n, call as u64)));
            sums([high(a[k]), low(a[k]), high(b[k]), low(b[k])]).iter().any(|sum| known ^ sum == hidden)
        };
        let (_, table) = broken.garble(n, delta, both(a[k]), both(b[k]), None);
        for (call, shown) in shown.iter_mut().enumerate() {
            *shown += u32::from(attack(broken, &table, call));
            assert!(!attack(OURS, &ours[k], call), "AND {n} shows call {call}");
        }
    }
    assert!(shown.iter().all(|&shown| shown > 5), "the attack works on the broken twin: {shown:?}");
}

/// What the evaluator has of a hidden call is a function of Δ of rank 67, without bit 0, whatever else of Δ a
/// ciphertext holds; with σ, two of the four have a smaller rank.
#[test]
fn what_is_known_of_a_hidden_call_has_full_rank() {
    let rank = |twin: Definition, alpha: bool, beta: bool| {
        let known = |x: Block| {
            let image = twin.map(x);
            let half = high(image) ^ if_set(alpha, high(x)) ^ if_set(beta, low(x));
            u128::from(half) << 3 | u128::from(low(image) & 7)
        };
        let mut basis: Vec<u128> = Vec::new();
        for bit in 1..128 {
            let reduced = basis.iter().fold(known(Block::new(1 << bit)), |x, &y| x.min(x ^ y));
            if reduced != 0 {
                basis.push(reduced);
                basis.sort_unstable_by(|x, y| y.cmp(x));
            }
        }
        basis.len()
    };
    let cases = [(false, false), (false, true), (true, false), (true, true)];
    assert_eq!(cases.map(|(alpha, beta)| rank(OURS, alpha, beta)), [67; 4]);
    let broken = Definition { words: false, ..OURS };
    assert_eq!(rank(broken, true, true), 3);
}

/// With one tweak for all calls of an AND, the square of a wire has G₀ ⊕ G₁ without a hash: a sum of halves of A and Δ.
#[test]
fn without_the_tweak_a_square_gives_delta_away() {
    let (a, delta) = (random(64, 9), random_delta());
    let leaks = |k: usize, table: &Table| {
        let [g1, g0] = [0, 8].map(|at| u64::from_le_bytes(table[at..at + 8].try_into().unwrap()));
        sums([high(a[k]), low(a[k]), high(delta), low(delta)]).contains(&(g0 ^ g1))
    };
    let broken = Definition { tweak: false, ..OURS };
    let ours = garbled(&a, &a);
    for (k, n) in (0..64).zip(0..) {
        let both = [a[k], a[k] ^ delta];
        assert!(leaks(k, &broken.garble(n, delta, both, both, None).1), "the check finds the broken twin");
        assert!(!leaks(k, &ours[k]));
    }
}

/// P9. In release builds as well.
#[test]
fn a_bad_delta_is_refused() {
    let refused = |delta| {
        let garble = || ThreeHalves::new(S).garble(0, delta, plain(&[S]), plain(&[S]), &mut [S], &mut [[0; 25]]);
        std::panic::catch_unwind(garble).is_err()
    };
    assert!(refused(Block::ZERO) && refused(random_delta().with_lsb(false)));
}

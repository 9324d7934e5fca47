//! The hashes against their definitions, written once more on RustCrypto's AES, and their pitfalls:
//! each attack is shown to work on a twin that lacks the counter-measure, and to fail on ours.

mod support;

use aes::cipher::{BlockCipherDecrypt, BlockCipherEncrypt, KeyInit};
use duologue_kernels::gates::Operand;
use duologue_kernels::half_gates::{Ciphertexts, HalfGates};
use duologue_kernels::ot_hash::OtHash;
use duologue_kernels::tree::TreeHash;
use duologue_kernels::{Backend, Block};
use support::{S, random, random_delta};

fn key(s: Block, number: u64, name: &[u8; 8]) -> aes::Aes128 {
    let name = u128::from(u64::from_le_bytes(*name));
    let key = s.get() ^ (name << 64 | u128::from(number));
    aes::Aes128::new(&key.to_le_bytes().into())
}

fn encrypt(cipher: &aes::Aes128, x: Block) -> Block {
    let mut block = x.to_bytes().into();
    cipher.encrypt_block(&mut block);
    Block::from_bytes(block.into())
}

fn decrypt(cipher: &aes::Aes128, x: Block) -> Block {
    let mut block = x.to_bytes().into();
    cipher.decrypt_block(&mut block);
    Block::from_bytes(block.into())
}

/// σ⁻¹ for σ(L‖R) = (L⊕R ‖ L).
fn sigma_inverse(x: Block) -> Block {
    let (high, low) = (x.get() >> 64, x.get() & u128::from(u64::MAX));
    Block::new(low << 64 | (high ^ low))
}

/// The key of AND n: of sixteen ANDs, every fourth has the same.
fn bucket(n: u64) -> u64 {
    n / 16 * 4 + n % 4
}

/// Half-gates as defined, with counter-measures that can be left out.
#[derive(Clone, Copy)]
struct Definition {
    sigma: bool,
    tweak: bool,
}

const OURS: Definition = Definition { sigma: true, tweak: true };

impl Definition {
    /// What goes into the cipher for `x` in this half of AND n.
    fn input(self, x: Block, n: u64, half: u64) -> Block {
        let tweak = if self.tweak { 2 * (n / 4 % 4) + half } else { 0 };
        let x = x ^ Block::new(tweak.into());
        if self.sigma { x.sigma() } else { x }
    }

    fn hash(self, x: Block, n: u64, half: u64) -> Block {
        let x = self.input(x, n, half);
        encrypt(&key(S, bucket(n), b"garbling"), x) ^ x
    }

    fn garble(self, n: u64, delta: Block, a0: Block, b0: Block) -> (Block, [Block; 2]) {
        let [ha0, ha1] = [a0, a0 ^ delta].map(|x| self.hash(x, n, 0));
        let [hb0, hb1] = [b0, b0 ^ delta].map(|x| self.hash(x, n, 1));
        let if_set = |bit: bool, x| if bit { x } else { Block::ZERO };
        let table_g = ha0 ^ ha1 ^ if_set(b0.lsb(), delta);
        let table_e = hb0 ^ hb1 ^ a0;
        let out_g = ha0 ^ if_set(a0.lsb(), table_g);
        let out_e = hb0 ^ if_set(b0.lsb(), table_e ^ a0);
        (out_g ^ out_e, [table_g, table_e])
    }
}

fn garble(first: u64, delta: Block, a: &[Block], b: &[Block]) -> (Vec<Block>, Vec<[Block; 2]>) {
    let (mut out, mut tables) = (vec![Block::ZERO; a.len()], vec![Ciphertexts::default(); a.len()]);
    let plain = |labels| Operand { labels, flip: false };
    HalfGates::new(S).garble(first, delta, plain(a), plain(b), &mut out, &mut tables);
    (out, tables.into_iter().map(|pair| pair.map(Block::from_bytes)).collect())
}

#[test]
fn gates_are_garbled_as_defined() {
    let (a, b, delta) = (random(70, 0), random(70, 1), random_delta());
    for first in [0, 3, (1 << 50) + 6] {
        let (out, tables) = garble(first, delta, &a, &b);
        for k in 0..70 {
            let defined = OURS.garble(first + k as u64, delta, a[k], b[k]);
            assert!((out[k], tables[k]) == defined, "AND {k} of those from {first}");
        }
    }
}

/// All inputs, both operands plain and complemented, on every backend.
#[test]
fn an_evaluated_gate_is_the_and() {
    let delta = random_delta();
    let (a0, b0) = (random(21, 0), random(21, 1));
    for backend in Backend::available() {
        let hash = HalfGates::with_backend(S, backend);
        for case in 0..16 {
            let [x, y, flip_a, flip_b] = [1, 2, 4, 8].map(|bit| case & bit != 0);
            let (mut out0, mut tables) = (vec![Block::ZERO; 21], vec![Ciphertexts::default(); 21]);
            let a = Operand { labels: &a0, flip: flip_a };
            let b = Operand { labels: &b0, flip: flip_b };
            hash.garble(6, delta, a, b, &mut out0, &mut tables);

            let active =
                |zero: &[Block], bit| -> Vec<Block> { zero.iter().map(|l| *l ^ (Block::mask(bit) & delta)).collect() };
            let mut out = vec![Block::ZERO; 21];
            hash.evaluate(6, &active(&a0, x), &active(&b0, y), &mut out, &tables);
            let expected = active(&out0, (x ^ flip_a) & (y ^ flip_b));
            assert!(out == expected, "{backend}, case {case:04b}");
        }
    }
}

#[test]
fn the_receiver_gets_the_message_of_its_choice_and_both_are_as_defined() {
    let (q, delta, first) = (random(37, 2), random_delta(), 1_000_003);
    let (mut m0, mut m1, mut m) = (q.clone(), q.clone(), q.clone());
    let t: Vec<_> = (0..37).map(|k| q[k] ^ (Block::mask(k % 3 == 0) & delta)).collect();
    OtHash::new(S).pairs(first, delta, &q, &mut m0, &mut m1);
    OtHash::new(S).chosen(first, &t, &mut m);
    for k in 0..37 {
        let cipher = key(S, first + k as u64, b"ot-hash.");
        let hash = |x: Block| encrypt(&cipher, x.sigma()) ^ x.sigma();
        assert!(m0[k] == hash(q[k]) && m1[k] == hash(q[k] ^ delta));
        assert!(m[k] == if k % 3 == 0 { m1[k] } else { m0[k] });
    }
}

#[test]
fn the_tree_hash_is_as_defined() {
    let cipher = aes::Aes128::new(&S.to_bytes().into());
    let input = random(37, 3);
    let mut output = input.clone();
    TreeHash::new(S).hash(&input, &mut output);
    for (x, y) in input.iter().zip(output) {
        assert!(y == encrypt(&cipher, x.sigma()) ^ x.sigma());
    }
}

/// P1. The evaluator knows a, so H(a), so T_G ⊕ H(a) = H(a⊕Δ) ⊕ p·Δ = E(a⊕Δ) ⊕ a ⊕ (1⊕p)·Δ without σ. For
/// p = 1 it inverts the cipher, whose key is public, and has Δ.
#[test]
fn without_sigma_a_ciphertext_gives_delta_away() {
    let (a, b, delta) = (random(64, 4), random(64, 5), random_delta());
    let (_, tables) = garble(0, delta, &a, &b);
    let broken = Definition { sigma: false, ..OURS };
    let mut found = 0;
    for (n, k) in (0..64).zip(0..) {
        let attack = |twin: Definition, table_g: Block| {
            let known = twin.input(a[k], n, 0);
            let hidden = decrypt(&key(S, bucket(n), b"garbling"), table_g ^ twin.hash(a[k], n, 0) ^ known);
            [hidden ^ known, sigma_inverse(hidden ^ known), sigma_inverse(hidden) ^ a[k]]
        };
        let (_, [broken_table, _]) = broken.garble(n, delta, a[k], b[k]);
        let gives_delta = attack(broken, broken_table).contains(&delta);
        assert_eq!(gives_delta, b[k].lsb(), "the attack works on the broken twin");
        found += u32::from(gives_delta);
        assert!(!attack(OURS, tables[k][0]).contains(&delta), "and not on ours");
    }
    assert!(found > 10);
}

/// True if two of the ciphertexts are equal or differ by Δ.
fn two_give_delta(tables: &[[Block; 2]], delta: Block) -> bool {
    let all = tables.as_flattened();
    let pairs = (0..all.len()).flat_map(|i| (0..i).map(move |j| (i, j)));
    pairs.map(|(i, j)| all[i] ^ all[j]).any(|x| x == Block::ZERO || x == delta)
}

/// P2. One wire fans out into every AND of a bucket, at both sides.
#[test]
fn without_the_tweak_two_ciphertexts_of_a_bucket_give_delta_away() {
    let delta = random_delta();
    let (shared, other) = (random(1, 6)[0], random(16, 7));
    let broken = Definition { tweak: false, ..OURS };
    let left = vec![shared; 16];
    for (a, b) in [(&left, &other), (&other, &left), (&left, &left)] {
        let (_, tables) = garble(0, delta, a, b);
        assert!(!two_give_delta(&tables, delta), "ours");
        let twin = |n: usize| broken.garble(n as u64, delta, a[n], b[n]).1;
        let tables: Vec<_> = (0..16).map(twin).collect();
        // With the shared wire on the right, T_E also holds the other operand, which the evaluator
        // knows up to Δ: it removes it first.
        let seen: Vec<_> = (0..16).map(|n| [tables[n][0], tables[n][1] ^ a[n]]).collect();
        assert!(two_give_delta(&seen, delta), "the check finds the broken twin");
    }
    // The same check, with the known operand removed, on ours.
    let (_, tables) = garble(0, delta, &other, &left);
    let seen: Vec<_> = (0..16).map(|n| [tables[n][0], tables[n][1] ^ other[n]]).collect();
    assert!(!two_give_delta(&seen, delta));
}

/// P3. Another S, at the same numbers, with the same labels.
#[test]
fn another_s_gives_unrelated_ciphertexts() {
    let (a, b, delta) = (random(500, 8), random(500, 9), random_delta());
    let plain = |labels| Operand { labels, flip: false };
    let tables = |s| {
        let (mut out, mut tables) = (a.clone(), vec![Ciphertexts::default(); 500]);
        HalfGates::new(s).garble(0, delta, plain(&a), plain(&b), &mut out, &mut tables);
        tables
    };
    let (one, two) = (tables(S), tables(S ^ Block::new(1)));
    let [one, two] = [&one, &two].map(|tables| tables.as_flattened().as_flattened());
    let total: u32 = one.iter().zip(two).map(|(x, y)| (x ^ y).count_ones()).sum();
    // 128,000 fair bits: 64,000 within seven standard deviations.
    assert!(total.abs_diff(64_000) < 1_250, "{total} bits differ");
}

/// S with 4 added to the counter's place gives other numbers' keys: ANDs 0 to 15 and 16 to 31 change places. A
/// session must draw S at random, never count it.
#[test]
fn a_counted_s_would_repeat_keys() {
    let (a, b, delta) = (random(4, 8), random(4, 9), random_delta());
    let plain = |labels| Operand { labels, flip: false };
    let tables = |s, first| {
        let (mut out, mut tables) = (a.clone(), vec![Ciphertexts::default(); 4]);
        HalfGates::new(s).garble(first, delta, plain(&a), plain(&b), &mut out, &mut tables);
        tables
    };
    assert!(tables(S, 0) == tables(S ^ Block::new(4), 16));
}

/// P9. In release builds as well.
#[test]
fn a_bad_delta_is_refused() {
    let refused = |delta| std::panic::catch_unwind(|| garble(0, delta, &[S], &[S])).is_err();
    assert!(refused(Block::ZERO) && refused(random_delta().with_lsb(false)));
    let pairs = || OtHash::new(S).pairs(0, Block::ZERO, &[S], &mut [S], &mut [S]);
    assert!(std::panic::catch_unwind(pairs).is_err());
}

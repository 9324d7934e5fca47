//! Three-halves garbling: 25 bytes an AND where half-gates send 32.
//!
//! Rosulek and Roy, *Three Halves Make a Whole? Beating the Half-Gates Lower Bound for Garbled Circuits*, CRYPTO 2021,
//! ePrint 2021/749. A label is sliced into its high and low half, and each half of an output label is masked by two
//! hashes, of which one is shared: three ciphertexts of half a label do for an AND. Which halves of the operands an
//! evaluator adds depends on the row of the truth table that it is in; so that its instructions tell nothing about that
//! row, they are diced, and garbled in five more bits. The matrices here are those of the paper in other words: its
//! halves of labels form a vector over GF(4), on which the diced instructions are multiplication by a scalar.
//!
//! **Notation.** High half x_L, low half x_R, and (u ‖ v) puts two halves together. ω is the map (x_L ‖ x_R) ↦ (x_R ‖
//! x_L ⊕ x_R): with it labels are vectors over GF(4) = {0, 1, ω, ω²}, and ω² is [`Block::sigma`]. H(x) has 128 bits: its
//! high half masks half a label, bit 0 a control bit, and bits 1 and 2 of H(A) ⊕ H(A ⊕ Δ) are the dice of the AND.
//!
//! **The evaluator** has labels A, B with lowest bits s, t, and the ciphertexts G₀, G₁, G₂, control bits z₀, z₁, z₂, z_L,
//! z_R. It corrects each hash by the lowest bit of its label,
//!
//! ```text
//! g_A = H(A) ⊕ s·(G₀, z₀)     g_B = H(B) ⊕ t·(G₁, z₁)     g_X = H(A ⊕ B) ⊕ (s ⊕ t)·(G₂, z₂)     as pairs of half and bit
//! r_L = z_L ⊕ bits of g_A and g_X        r_R = z_R ⊕ bits of g_B and g_X        ρ = r_L·ω² ⊕ r_R
//! C   = (g_A ⊕ g_X ‖ g_B ⊕ g_X) ⊕ ρ·(A ⊕ ω·B) ⊕ (t·w ‖ s·w)        w = A_L ⊕ B_R
//! ```
//!
//! **The garbler** has labels A, B with lowest bits s, t, which stand for the bits f_a, f_b: zero labels, or one labels
//! where an operand enters complemented. p = 1 ⊕ s ⊕ f_a and q = 1 ⊕ t ⊕ f_b are the permute bits' complements. The row
//! of A and B has ρ = the dice, and a row whose lowest bits differ from theirs by i, j has ρ ⊕ (i ⊕ ω·j)·(p ⊕ ω·q). That
//! all four rows give C or C ⊕ Δ makes
//!
//! ```text
//! (G₀ ‖ G₁) = (sum of the H of A ‖ of B) ⊕ ω²y·(U ⊕ ω²Δ) ⊕ ω²ρ·Δ ⊕ (w ‖ w) ⊕ (t̄·δ ‖ s̄·δ) ⊕ (1 ⊕ f_a ⊕ f_b)·Δ
//! G₂        =  sum of the H of A ⊕ B     ⊕ [ωy·(U ⊕ ωΔ) ⊕ ωρ·Δ ⊕ f_a·Δ]_L ⊕ w ⊕ t̄·Δ_R
//! z₀, z₁, z₂ = the bits of these sums ⊕ p, q, p ⊕ q        z_L, z_R: such that r_L, r_R are the dice
//! ```
//!
//! with y = p ⊕ ω·q, U = A ⊕ ω·B, δ = Δ_L ⊕ Δ_R, and sums of H over a label and the same ⊕ Δ. The output's zero label
//! is C ⊕ f_a·f_b·Δ.
//!
//! **Why it tells nothing**: ρ of every row is the dice and something that the garbler alone knows, so each row's is
//! uniform whatever the permute bits are, and an evaluator sees one row. Every ciphertext and each of z₀, z₁, z₂ is
//! masked by one hash that it does not know, of A ⊕ Δ, of B ⊕ Δ, of A ⊕ B ⊕ Δ.

mod portable;
mod wide;

use super::gates::Operand;
use super::scheme::{Evaluate, Garble, GarblingHash, Loops};
use super::wires::Wires;
use crate::Block;
use crate::backend::Cpu;

/// An AND's ciphertexts as they travel: G₁, G₀, G₂ of 8 bytes each, and z_L, z_R, z₀, z₁, z₂ as bits 0 to 4 of the last
/// byte.
pub type Table = [u8; 25];

/// The hash of three-halves garbling, and both roles' loops over it.
///
/// Hash h of AND number n (0: of A, 1: of B, 2: of A ⊕ B) is H(x) = E_K(ς(x ⊕ i)) ⊕ ς(x ⊕ i) with K = S ⊕ (j ‖
/// "3-halves"), bucket j = 4·⌊n/16⌋ + n mod 4 and tweak i = 4·(⌊n/4⌋ mod 4) + h, as in
/// [`HalfGates`](crate::half_gates::HalfGates). But ς is σ on each half by itself: of 32-bit words,
/// (a ‖ b ‖ c ‖ d) ↦ (a ⊕ b ‖ a ‖ c ⊕ d ‖ c).
///
/// **Why not σ**: ciphertexts hold H(x ⊕ Δ)_L ⊕ α·Δ_L ⊕ β·Δ_R, with all four (α, β). H's own part, linear in Δ, must
/// not cancel that: the map Δ ↦ [σ(Δ)]_L ⊕ Δ_L ⊕ Δ_R is zero, and such a ciphertext would show 64 bits of the cipher's
/// output under a public key, from where 2⁶³ trials lead to Δ. Δ ↦ [ς(Δ)]_L ⊕ α·Δ_L ⊕ β·Δ_R has rank 64 for every
/// (α, β), for ς is no linear combination of halves.
///
/// # Security
/// In the ideal-cipher model, with Δ uniform but for bit 0, an evaluator who makes p calls of the cipher tells N garbled
/// ANDs from random with advantage at most
///
/// ```text
/// μ·p·2⁻¹²² + N·2⁻¹²⁰     μ as in HalfGates: 1 for one S
/// ```
///
/// which is at most (p + N)·2⁻¹²⁰: **120 bits of security**, one fewer than half-gates have.
///
/// Why: of each AND three calls are hidden, those on A ⊕ Δ, B ⊕ Δ and A ⊕ B ⊕ Δ for the evaluator's A and B: 12 a bucket.
/// A call (K, u) ↦ v meets one of them if u = ς(x ⊕ i ⊕ Δ), for one Δ in 2¹²⁷; or if v is its output. Of that the
/// evaluator has the high half and bits 0, 1 and 2 at most, as functions of Δ of full rank 67 (bits 0 to 2 of ς(x) are
/// bits 32 to 34 of x, so bit 0 of Δ is not among them); the other 61 bits are uniform. So this happens with at most
/// 2⁻¹²⁷ as well. p calls meet one with 24·p·2⁻¹²⁷, the evaluator's 12 prescribed calls a bucket with 72·N·2⁻¹²⁷; two of
/// the 12 hidden calls coincide in input or output, 66 pairs each, with 33·N·2⁻¹²⁷. If none of this happens, the hidden
/// values are uniform, and with them ciphertexts, dice and control bits.
///
/// # What it rests on
/// The conditions of [`HalfGates`](crate::half_gates::HalfGates): S uniform, public, fresh; no number twice under one S;
/// an honest garbler, labels uniform but for XORs; inputs chosen before the ciphertexts are seen, or a semi-honest
/// evaluator.
///
/// # For whoever reviews it
/// Three choices here are not in the paper: ς as the map of its randomised hash; dice from two further bits of a
/// hidden call, where the paper draws them; four ANDs a key. The bound above is for all three together, and is ours.
///
/// # Example
/// ```
/// use duologue_kernels::{Block, generator::Generator, gates::Operand, three_halves::ThreeHalves};
///
/// let mut random = Generator::from_os()?;
/// let (s, delta) = (random.block(), random.block().with_lsb(true));
/// let (a0, b0) = ([random.block()], [random.block()]);
///
/// // Garbler: the zero labels of the output, and a table  ──▶
/// let (mut out0, mut tables) = ([Block::ZERO], [[0; 25]]);
/// let operand = |labels| Operand { labels, flip: false };
/// ThreeHalves::new(s).garble(0, delta, operand(&a0), operand(&b0), &mut out0, &mut tables);
///
/// // Evaluator, who holds the labels of 1 and 1: the label of 1 ∧ 1.
/// let mut out = [Block::ZERO];
/// ThreeHalves::new(s).evaluate(0, &[a0[0] ^ delta], &[b0[0] ^ delta], &mut out, &tables);
/// assert!(out[0] == out0[0] ^ delta);
/// # Ok::<(), duologue_kernels::generator::OsError>(())
/// ```
pub type ThreeHalves = GarblingHash<ThreeHalvesScheme>;

/// Three halves as a [`GarblingScheme`](crate::GarblingScheme).
pub enum ThreeHalvesScheme {}

impl Loops for ThreeHalvesScheme {
    type Table = Table;
    const CALLS: [usize; 2] = [6, 3];
    const DOMAIN: &'static [u8; 8] = b"3-halves";

    fn garble_wide<W: Wires>(cpu: Cpu, job: Garble<'_, '_, Self, W>) {
        cpu.run(job);
    }

    fn evaluate_wide<W: Wires>(cpu: Cpu, job: Evaluate<'_, '_, Self, W>) {
        cpu.run(job);
    }

    fn garble(key: Block, first: u64, delta: Block, [a, b]: [Operand<'_>; 2], out: &mut [Block], tables: &mut [Table]) {
        portable::garble(key, first, delta, a, b, out, tables);
    }

    fn evaluate(key: Block, first: u64, [a, b]: [&[Block]; 2], out: &mut [Block], tables: &[Table]) {
        portable::evaluate(key, first, a, b, out, tables);
    }
}

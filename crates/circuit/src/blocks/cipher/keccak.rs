//! The permutation Keccak-f with 1600 bits, and SHA-3 (FIPS 202).
//!
//! Only χ is not linear: one AND a bit and one layer a round, 38,400 ANDs of depth 24. A round maps every bit by a
//! polynomial of degree two, so one construction serves both goals.
//!
//! The state is a string of 1600 bits: bit z of lane (x, y) is bit 64·(5y + x) + z, as in the standard.

use crate::builder::Builder;
use crate::graph::Bit;
use crate::words::Bits;

/// Lane (x, y) at 5y + x.
type State = [[Bit; 64]; 25];

/// The permutation of 24 rounds. 38,400 ANDs, depth 24.
///
/// # Panics
/// If the state does not have 1600 bits.
pub fn keccak_f1600(c: &mut Builder, state: &Bits) -> Bits {
    assert_eq!(state.0.len(), 1600, "bits of a Keccak state");
    let mut lanes: State = std::array::from_fn(|lane| std::array::from_fn(|z| state.0[64 * lane + z]));
    for constant in round_constants() {
        let mixed = theta(c, &lanes);
        lanes = chi(c, &rho_pi(&mixed));
        lanes[0] = std::array::from_fn(|z| lanes[0][z].flip(constant >> z & 1 == 1));
    }
    Bits(lanes.into_iter().flatten().collect())
}

/// SHA3-224, SHA3-256, SHA3-384 or SHA3-512 of a message, by the bits of the digest; the padding is part of the
/// circuit, so the length of the message is public.
///
/// At most the cost of [`keccak_f1600`] a block of 1600 − 2·`digest` bits; the first and the last block are cheaper.
///
/// # Panics
/// If the message is not a whole number of bytes, or the digest has another length.
pub fn sha3(c: &mut Builder, digest: usize, message: &Bits) -> Bits {
    assert!([224, 256, 384, 512].contains(&digest), "SHA-3 has no digest of {digest} bits");
    let rate = 1600 - 2 * digest;
    let mut state = vec![Bit::FALSE; 1600];
    for block in pad(message, rate).chunks(rate) {
        state.iter_mut().zip(block).for_each(|(bit, &from)| *bit = c.xor(*bit, from));
        state = keccak_f1600(c, &Bits(state)).0;
    }
    state.truncate(digest);
    Bits(state)
}

/// The message, 01, and 10…01 up to the end of a block.
fn pad(message: &Bits, rate: usize) -> Vec<Bit> {
    let length = message.0.len();
    assert!(length.is_multiple_of(8), "SHA-3 takes whole bytes, not {length} bits");
    let mut padded = message.0.clone();
    padded.extend([Bit::FALSE, Bit::TRUE, Bit::TRUE]);
    padded.resize((length + 4).next_multiple_of(rate) - 1, Bit::FALSE);
    padded.push(Bit::TRUE);
    padded
}

/// θ: each bit takes in two columns next to it.
fn theta(c: &mut Builder, lanes: &State) -> State {
    let parity: [[Bit; 64]; 5] =
        std::array::from_fn(|x| std::array::from_fn(|z| c.xor_all((0..5).map(|y| lanes[5 * y + x][z]))));
    let change: [[Bit; 64]; 5] = std::array::from_fn(|x| {
        std::array::from_fn(|z| c.xor(parity[(x + 4) % 5][z], parity[(x + 1) % 5][(z + 63) % 64]))
    });
    std::array::from_fn(|lane| std::array::from_fn(|z| c.xor(lanes[lane][z], change[lane % 5][z])))
}

/// ρ and π: lanes are rotated, by triangular numbers along the orbit of π, and change places.
fn rho_pi(lanes: &State) -> State {
    let mut moved = *lanes;
    let (mut x, mut y) = (1, 0);
    for t in 0..24 {
        let from = lanes[5 * y + x];
        (x, y) = (y, (2 * x + 3 * y) % 5);
        moved[5 * y + x] = from;
        moved[5 * y + x].rotate_right((t + 1) * (t + 2) / 2 % 64);
    }
    moved
}

/// χ: in each row, a bit changes if the next is zero and the one after it is one.
fn chi(c: &mut Builder, lanes: &State) -> State {
    std::array::from_fn(|lane| {
        let along = |step: usize| lane / 5 * 5 + (lane + step) % 5;
        std::array::from_fn(|z| {
            let change = c.and(!lanes[along(1)][z], lanes[along(2)][z]);
            c.xor(lanes[lane][z], change)
        })
    })
}

/// ι: bit 2^j − 1 of round i is the output 7i + j of a shift register, x^8 + x^6 + x^5 + x^4 + 1.
fn round_constants() -> impl Iterator<Item = u64> {
    let mut register = 1u8;
    let mut next = move || {
        let bit = u64::from(register & 1);
        register = (register << 1) ^ ((register >> 7) * 0x71);
        bit
    };
    (0..24).map(move |_| (0..7).fold(0, |constant, j| constant | next() << ((1u32 << j) - 1)))
}

//! Ciphers and hashes against their standards and, on very many lanes, against independent implementations.

use crate::common::{bits_of, bits_of_bytes, bytes_of, hex, number_of};
use aes::cipher::{BlockCipherDecrypt, BlockCipherEncrypt, KeyInit};
use chacha20::R20;
use chacha20::cipher::{KeyIvInit, StreamCipherCore};
use chacha20::variants::Ietf;
use circuit::blocks::{self, Goal};
use circuit::simulate::Simulator;
use circuit::{BitMatrix, Builder, Circuit};
use sha2::Digest;

const GOALS: [Goal; 2] = [Goal::Size, Goal::Depth];

fn build(name: &str, size: &[u32], goal: Goal) -> Circuit {
    blocks::find(name).unwrap().circuit(size, goal).unwrap()
}

/// What the circuit makes of its inputs, one after the other.
fn run(circuit: &Circuit, inputs: &[&[u8]]) -> Vec<u8> {
    bytes_of(&circuit.evaluate(&bits_of_bytes(&inputs.concat())))
}

/// Both circuits of a block give the output that a standard prints.
fn gives(name: &str, inputs: &[&str], output: &str) {
    let inputs: Vec<Vec<u8>> = inputs.iter().map(|text| hex(text)).collect();
    let inputs: Vec<&[u8]> = inputs.iter().map(Vec::as_slice).collect();
    for goal in GOALS {
        assert_eq!(run(&build(name, &[], goal), &inputs), hex(output), "{name}, {goal}");
    }
}

/// Rows of bits without structure (SplitMix64), but for a lane of zeros and a lane of ones.
fn random(rows: usize, lanes: usize, seed: u64) -> BitMatrix {
    let mut matrix = BitMatrix::zeros(rows, lanes);
    for (i, word) in matrix.words_mut().iter_mut().enumerate() {
        let state = (seed << 40).wrapping_add(i as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let mixed = (state ^ state >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        *word = mixed ^ mixed >> 31;
    }
    (0..rows).for_each(|row| {
        matrix.set(row, 0, false);
        matrix.set(row, 1, true);
    });
    matrix.clear_padding();
    matrix
}

/// The lanes as byte strings.
fn lanes_of(matrix: &BitMatrix) -> Vec<Vec<u8>> {
    let mut lanes = vec![vec![0; matrix.rows() / 8]; matrix.stride() * 64];
    for (column, lanes) in lanes.chunks_mut(64).enumerate() {
        for row in 0..matrix.rows() {
            let word = matrix.row(row)[column];
            lanes.iter_mut().enumerate().for_each(|(i, lane)| lane[row / 8] |= ((word >> i & 1) as u8) << (row % 8));
        }
    }
    lanes.truncate(matrix.lanes());
    lanes
}

/// Both circuits of a block agree with the reference on so many lanes.
fn agrees(name: &str, size: &[u32], lanes: usize, reference: impl Fn(&[u8]) -> Vec<u8>) {
    for &goal in blocks::find(name).unwrap().goals {
        let circuit = build(name, size, goal);
        let mut simulator = Simulator::new(&circuit);
        let rows = circuit.input_nodes().len();
        for (batch, first) in (0..lanes).step_by(1 << 12).enumerate() {
            let inputs = random(rows, (lanes - first).min(1 << 12), batch as u64);
            let results = lanes_of(&simulator.run(&inputs));
            for (input, result) in lanes_of(&inputs).iter().zip(results) {
                assert_eq!(result, reference(input), "{name}, {goal}: of {input:02x?}");
            }
        }
    }
}

fn cost(name: &str, size: &[u32], goal: Goal) -> (u64, u32) {
    let circuit = build(name, size, goal);
    (circuit.and_count(), circuit.depth())
}

/// The S-box by its definition: the inverse in GF(2^8), then the affine map.
fn sbox(x: u8) -> u8 {
    let times = |a: u8, b: u8| {
        (0..8).rev().fold(0u8, |sum, i| {
            let doubled = (sum << 1) ^ if sum & 0x80 == 0 { 0 } else { 0x1b };
            doubled ^ if (b >> i) & 1 == 1 { a } else { 0 }
        })
    };
    let inverse = (0..=255).find(|&y| times(x, y) == 1).unwrap_or(0);
    (1..5).fold(inverse ^ 0x63, |sum, i| sum ^ inverse.rotate_left(i))
}

#[test]
fn sboxes_of_every_byte() {
    for (goal, cost) in [(Goal::Size, (32, 6)), (Goal::Depth, (34, 4))] {
        for (gate, backwards) in
            [(blocks::aes::sbox as fn(&mut Builder, _, _) -> _, false), (blocks::aes::inverse_sbox, true)]
        {
            let mut c = Builder::new("sbox");
            let byte = c.bits("x", 8);
            let out: [circuit::Bit; 8] = gate(&mut c, byte.0.try_into().unwrap(), goal);
            c.output("y", &circuit::Bits(out.to_vec()));
            let circuit = c.finish();
            assert_eq!((circuit.and_count(), circuit.depth()), cost);
            for x in 0..=255u8 {
                let (from, to) = if backwards { (sbox(x), x) } else { (x, sbox(x)) };
                assert_eq!(number_of(&circuit.evaluate(&bits_of(from.into(), 8))), to.into());
            }
        }
    }
}

#[test]
fn aes_of_the_standards() {
    // FIPS 197, appendices B and C.
    let (bytes, text) = ("000102030405060708090a0b0c0d0e0f", "00112233445566778899aabbccddeeff");
    let key = |more: &str| format!("{bytes}{more}");
    for (name, key, plain, cipher) in [
        (
            "aes128",
            "2b7e151628aed2a6abf7158809cf4f3c",
            "3243f6a8885a308d313198a2e0370734",
            "3925841d02dc09fbdc118597196a0b32",
        ),
        ("aes128", bytes, text, "69c4e0d86a7b0430d8cdb78070b4c55a"),
        ("aes192", &key("1011121314151617"), text, "dda97ca4864cdfe06eaf70a0ec0d7191"),
        ("aes256", &key("101112131415161718191a1b1c1d1e1f"), text, "8ea2b7ca516745bfeafc49904b496089"),
        // NIST SP 800-38A, F.1.1.
        (
            "aes128",
            "2b7e151628aed2a6abf7158809cf4f3c",
            "6bc1bee22e409f96e93d7e117393172a",
            "3ad77bb40d7a3660a89ecaf32466ef97",
        ),
        (
            "aes128",
            "2b7e151628aed2a6abf7158809cf4f3c",
            "ae2d8a571e03ac9c9eb76fac45af8e51",
            "f5d3d58503b9699de785895a96fdbaaf",
        ),
    ] {
        gives(name, &[key, plain], cipher);
        gives(&format!("{name}_decrypt"), &[key, cipher], plain);
    }
}

#[test]
fn aes_key_schedules_of_the_standard() {
    // FIPS 197, appendix A: the last word.
    for (name, key, last) in [
        ("aes128", "2b7e151628aed2a6abf7158809cf4f3c", "b6630ca6"),
        ("aes192", "8e73b0f7da0e6452c810f32b809079e562f8ead2522c6b7b", "01002202"),
        ("aes256", "603deb1015ca71be2b73aef0857d77811f352c073b6108d72d9810a30914dff4", "706c631e"),
    ] {
        for goal in GOALS {
            let keys = run(&build(&format!("{name}_expand_key"), &[], goal), &[&hex(key)]);
            assert!(keys.starts_with(&hex(key)) && keys.ends_with(&hex(last)), "{name}, {goal}");
        }
    }
}

/// Encryption and decryption by an independent implementation, of a key and a block.
fn aes_reference<C: KeyInit + BlockCipherEncrypt + BlockCipherDecrypt>(input: &[u8], decrypt: bool) -> Vec<u8> {
    let (key, block) = input.split_at(input.len() - 16);
    let cipher = C::new_from_slice(key).unwrap();
    let mut block = block.try_into().unwrap();
    match decrypt {
        false => cipher.encrypt_block(&mut block),
        true => cipher.decrypt_block(&mut block),
    }
    block.to_vec()
}

#[test]
fn aes128_of_a_million_keys() {
    agrees("aes128", &[], 1 << 20, |input| aes_reference::<aes::Aes128>(input, false));
    agrees("aes128_decrypt", &[], 1 << 20, |input| aes_reference::<aes::Aes128>(input, true));
}

#[test]
fn aes192_of_random_keys() {
    agrees("aes192", &[], 1 << 16, |input| aes_reference::<aes::Aes192>(input, false));
    agrees("aes192_decrypt", &[], 1 << 16, |input| aes_reference::<aes::Aes192>(input, true));
}

#[test]
fn aes256_of_random_keys() {
    agrees("aes256", &[], 1 << 16, |input| aes_reference::<aes::Aes256>(input, false));
    agrees("aes256_decrypt", &[], 1 << 16, |input| aes_reference::<aes::Aes256>(input, true));
}

/// Key schedule and blocks as circuits of their own.
#[test]
fn aes_under_expanded_keys() {
    for (name, rows) in [("aes128", 128), ("aes192", 192), ("aes256", 256)] {
        for goal in GOALS {
            let part = |part: &str| Simulator::new(&build(&format!("{name}{part}"), &[], goal));
            let (keys, blocks) = (random(rows, 1 << 10, 1), random(128, 1 << 10, 2));
            let whole = part("").run(&stacked(&keys, &blocks));
            let expanded = part("_expand_key").run(&keys);
            let cipher = part("_encrypt_expanded").run(&stacked(&expanded, &blocks));
            assert!(cipher == whole, "{name}, {goal}");
            assert!(part("_decrypt_expanded").run(&stacked(&expanded, &cipher)) == blocks, "{name}, {goal}");
        }
    }
}

/// The rows of one matrix, then those of another.
fn stacked(a: &BitMatrix, b: &BitMatrix) -> BitMatrix {
    BitMatrix::from_words(a.rows() + b.rows(), a.lanes(), [a.words(), b.words()].concat()).unwrap()
}

#[test]
fn aes_costs() {
    for (name, rounds, steps) in [("aes128", 10, 10), ("aes192", 12, 8), ("aes256", 14, 13)] {
        for (goal, sbox, depth) in [(Goal::Size, 32, 6), (Goal::Depth, 34, 4)] {
            let (block, schedule) = (16 * rounds * sbox, 4 * steps * sbox);
            let (block_depth, schedule_depth) = (rounds as u32 * depth, steps as u32 * depth);
            for (part, expected) in [
                ("", (block + schedule, block_depth)),
                ("_expand_key", (schedule, schedule_depth)),
                ("_encrypt_expanded", (block, block_depth)),
                ("_decrypt_expanded", (block, block_depth)),
                ("_decrypt", (block + schedule, block_depth + schedule_depth)),
            ] {
                assert_eq!(cost(&format!("{name}{part}"), &[], goal), expected, "{name}{part}, {goal}");
            }
        }
    }
}

#[test]
fn a_key_is_expanded_once_for_many_blocks() {
    let mut c = Builder::new("two blocks");
    let key = c.bits("key", 128);
    let keys = blocks::aes::expand_key(&mut c, &key, Goal::Size);
    for name in ["first", "second"] {
        let block = c.bits(name, 128);
        let out = blocks::aes::encrypt(&mut c, &keys, &block, Goal::Size);
        c.output(name, &out);
    }
    assert_eq!(c.finish().and_count(), 1280 + 2 * 5120);
}

/// Both circuits of a hash agree with the reference on a message.
fn hashes<D: Digest>(name: &str, message: &[u8]) {
    for &goal in blocks::find(name).unwrap().goals {
        let circuit = build(name, &[message.len() as u32], goal);
        assert_eq!(run(&circuit, &[message]), D::digest(message).to_vec(), "{name}, {} bytes", message.len());
    }
}

/// The reference gives what the standards print, and so do the circuits.
fn hash_is<D: Digest>(name: &str, message: &str, digest: &str) {
    assert_eq!(D::digest(message).to_vec(), hex(digest));
    hashes::<D>(name, message.as_bytes());
}

#[test]
fn hashes_of_the_standards() {
    hash_is::<sha2::Sha256>("sha256", "", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
    hash_is::<sha2::Sha256>("sha256", "abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    hash_is::<sha2::Sha256>(
        "sha256",
        "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
        "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1",
    );
    hash_is::<sha2::Sha384>(
        "sha384",
        "abc",
        "cb00753f45a35e8bb5a03d699ac65007272c32ab0eded1631a8b605a43ff5bed8086072ba1e7cc2358baeca134c825a7",
    );
    hash_is::<sha2::Sha512>(
        "sha512",
        "abc",
        "ddaf35a193617abacc417349ae20413112e6fa4e89a97ea20a9eeee64b55d39a\
         2192992a274fc1a836ba3c23a3feebbd454d4423643ce80e2a9ac94fa54ca49f",
    );
    hash_is::<sha3::Sha3_256>("sha3_256", "", "a7ffc6f8bf1ed76651c14756a061d662f580ff4de43b49fa82d80a4b80f8434a");
    hash_is::<sha3::Sha3_256>("sha3_256", "abc", "3a985da74fe225b2045c172d6bd390bd855f086e3e9d525b46bfe24511431532");
}

#[test]
fn hashes_of_every_padding() {
    // Lengths at which the padding just fits, just does not, and fills blocks of its own; and a long one.
    let message = |length: u32| (0..length).map(|i| (i * i * 31 + i * 7 + length) as u8).collect::<Vec<u8>>();
    for length in [1, 54, 55, 57, 63, 64, 65, 119, 120, 1000] {
        hashes::<sha2::Sha256>("sha256", &message(length));
    }
    for length in [110, 111, 112, 127, 128, 129, 239, 240] {
        hashes::<sha2::Sha384>("sha384", &message(length));
        hashes::<sha2::Sha512>("sha512", &message(length));
    }
    for length in [1, 134, 135, 136, 137, 271, 272, 500] {
        hashes::<sha3::Sha3_256>("sha3_256", &message(length));
    }
}

#[test]
fn every_length_of_a_digest() {
    let message = b"abc";
    for (name, hash, digest) in [
        ("sha224", blocks::sha2::SHA224, sha2::Sha224::digest(message).to_vec()),
        ("sha384", blocks::sha2::SHA384, sha2::Sha384::digest(message).to_vec()),
    ] {
        let circuit = hash_circuit(|c, message| blocks::sha2::hash(c, &hash, message, Goal::Size));
        assert_eq!(run(&circuit, &[message]), digest, "{name}");
    }
    for digest in [
        sha3::Sha3_224::digest(message).to_vec(),
        sha3::Sha3_384::digest(message).to_vec(),
        sha3::Sha3_512::digest(message).to_vec(),
    ] {
        let circuit = hash_circuit(|c, message| blocks::keccak::sha3(c, 8 * digest.len(), message));
        assert_eq!(run(&circuit, &[message]), digest);
    }
}

/// The hash of three bytes.
fn hash_circuit(hash: impl FnOnce(&mut Builder, &circuit::Bits) -> circuit::Bits) -> Circuit {
    let mut c = Builder::new("hash");
    let message = c.bits("message", 24);
    let digest = hash(&mut c, &message);
    c.output("digest", &digest);
    c.finish()
}

#[test]
fn hashes_of_random_messages() {
    agrees("sha256", &[55], 1 << 16, |message| sha2::Sha256::digest(message).to_vec());
    agrees("sha512", &[64], 1 << 14, |message| sha2::Sha512::digest(message).to_vec());
    agrees("sha3_256", &[32], 1 << 16, |message| sha3::Sha3_256::digest(message).to_vec());
}

#[test]
fn sha256_compression_of_random_states() {
    agrees("sha256_compress", &[], 1 << 19, |input| {
        let (state, block) = input.split_at(32);
        let mut words: Vec<u32> = state.chunks(4).map(|word| u32::from_be_bytes(word.try_into().unwrap())).collect();
        let state: &mut [u32; 8] = words.as_mut_slice().try_into().unwrap();
        sha2::block_api::compress256(state, &[block.try_into().unwrap()]);
        state.map(u32::to_be_bytes).concat()
    });
}

#[test]
fn sha512_compression_of_random_states() {
    agrees("sha512_compress", &[], 1 << 16, |input| {
        let (state, block) = input.split_at(64);
        let mut words: Vec<u64> = state.chunks(8).map(|word| u64::from_be_bytes(word.try_into().unwrap())).collect();
        let state: &mut [u64; 8] = words.as_mut_slice().try_into().unwrap();
        sha2::block_api::compress512(state, &[block.try_into().unwrap()]);
        state.map(u64::to_be_bytes).concat()
    });
}

#[test]
fn keccak_of_random_states() {
    agrees("keccak_f1600", &[], 1 << 17, |input| {
        let mut state = [0u64; 25];
        state.iter_mut().zip(input.chunks(8)).for_each(|(lane, bytes)| {
            *lane = u64::from_le_bytes(bytes.try_into().unwrap());
        });
        keccak::Keccak::new().with_f1600(|permute| permute(&mut state));
        state.map(u64::to_le_bytes).concat()
    });
}

#[test]
fn chacha20_of_the_standard() {
    // RFC 8439, 2.3.2 and A.1, vectors 1 and 2.
    let (zeros, nonce) = ("00".repeat(32), "00".repeat(12));
    let key: String = (0..32).map(|byte| format!("{byte:02x}")).collect();
    gives(
        "chacha20_block",
        &[&key, "01000000", "000000090000004a00000000"],
        "10f1e7e4d13b5915500fdd1fa32071c4c7d1f4c733c068030422aa9ac3d46c4e\
         d2826446079faa0914c2d705d98b02a2b5129cd1de164eb9cbd083e8a2503c4e",
    );
    gives(
        "chacha20_block",
        &[&zeros, "00000000", &nonce],
        "76b8e0ada0f13d90405d6ae55386bd28bdd219b8a08ded1aa836efcc8b770dc7\
         da41597c5157488d7724e03fb8d84a376a43b8f41518a11cc387b669b2ee6586",
    );
    gives(
        "chacha20_block",
        &[&zeros, "01000000", &nonce],
        "9f07e7be5551387a98ba977c732d080dcb0f29a048e3656912c6533e32ee7aed\
         29b721769ce64e43d57133b074d839d531ed1f28510afb45ace10a1f4b794d6f",
    );
}

#[test]
fn chacha20_of_random_keys() {
    agrees("chacha20_block", &[], 1 << 20, |input| {
        let (key, counter, nonce) = (&input[..32], &input[32..36], &input[36..]);
        let counter = u32::from_le_bytes(counter.try_into().unwrap());
        let mut cipher = chacha20::ChaChaCore::<R20, Ietf>::new_from_slices(key, nonce).unwrap();
        cipher.set_block_pos(counter);
        let mut block = Default::default();
        cipher.write_keystream_block(&mut block);
        block.to_vec()
    });
}

#[test]
fn costs_stay_below_their_bounds() {
    // The circuits of the "Bristol Fashion" collection: SHA-256 22,573 ANDs of depth 1,607, SHA-512 57,947 of depth 3,303.
    for (name, size, goal, bound) in [
        ("sha256_compress", &[] as &[u32], Goal::Size, (22_271, 1607)),
        ("sha256_compress", &[], Goal::Depth, (44_721, 426)),
        ("sha512_compress", &[], Goal::Size, (57_572, 3303)),
        ("sha512_compress", &[], Goal::Depth, (127_926, 626)),
        ("keccak_f1600", &[], Goal::Size, (38_400, 24)),
        ("sha3_256", &[32], Goal::Size, (37_056, 24)),
        ("chacha20_block", &[], Goal::Size, (10_400, 1730)),
        ("chacha20_block", &[], Goal::Depth, (45_969, 386)),
    ] {
        let (ands, depth) = cost(name, size, goal);
        assert!(ands <= bound.0 && depth <= bound.1, "{name}, {goal}: {ands} ANDs of depth {depth}");
    }
}

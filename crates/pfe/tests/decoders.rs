//! The bodies of the fuzz targets, on random bytes and on damaged messages that an honest party would send.

#[path = "../../../fuzz/src/private.rs"]
mod private;

use kernels::Block;
use kernels::generator::Generator;

/// Encodings of points that decode, and some that do not.
fn message(rng: &mut Generator, points: usize) -> Vec<u8> {
    let base = "e2f2ae0a6abc4e71a884a961c500515f58e30b6aa582dd8db6a65945e08d2d76";
    let base: Vec<u8> = (0..32).map(|i| u8::from_str_radix(&base[2 * i..][..2], 16).unwrap()).collect();
    let mut bytes = base.repeat(points);
    let mut draw = [0; 8];
    rng.fill(&mut draw);
    let [kind, a, b, cut, ..] = draw;
    match kind % 4 {
        0 => {}
        1 => bytes[usize::from(a) % (32 * points)] ^= 1 << (b % 8),
        2 => bytes.truncate(usize::from(cut)),
        _ => rng.fill(&mut bytes),
    }
    bytes
}

#[test]
fn decoders_take_anything() {
    let mut rng = Generator::from_seed(Block::new(6));
    for points in (1..36).cycle().take(600) {
        let bytes = message(&mut rng, points);
        private::hello(&bytes);
        private::hello(&[b"duo-priv\x01\0\x01".as_slice(), &bytes].concat()[..72.min(11 + bytes.len())]);
        private::proposal(&bytes);
        private::proposal(&[b"duo-func\x01\0\0\0\x02\0\0\0".as_slice(), &bytes].concat()[..180.min(16 + bytes.len())]);
        private::queries(&bytes);
        private::tables(&bytes);
        private::answers(&bytes);
        private::ciphertexts(&bytes);
    }
}

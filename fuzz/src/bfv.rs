//! Decoders of BFV's keys, ciphertexts and answers: the first byte says which.

use std::sync::OnceLock;

use he::bfv::{Bfv, SecretKey};
use he::linear::{Labels, Scheme, Strings};
use kernels::Block;
use kernels::generator::Generator;

fn dice(seed: u128) -> Generator {
    Generator::from_seed(Block::new(seed))
}

fn key() -> &'static SecretKey {
    static KEY: OnceLock<SecretKey> = OnceLock::new();
    KEY.get_or_init(|| SecretKey::new(&mut dice(1)))
}

/// Whatever comes is refused, or read as what it is.
pub fn bfv(bytes: &[u8]) {
    let Some((kind, bytes)) = bytes.split_first() else { return };
    let count = usize::from(kind / 3);
    match kind % 3 {
        0 => drop(Bfv::read_key(bytes)),
        1 => {
            let mut public = Bfv::read_key(&Bfv::key(key())).expect("a key");
            let mut store = Bfv::store(&public).expect("room");
            let read = Bfv::append(&mut public, &mut store, bytes, count);
            assert!(read.is_err() || bytes.len() == Bfv::ciphertexts(count));
        }
        _ => {
            let labels = Bfv::decrypt(key(), bytes, count);
            assert!(labels.map_or(true, |labels| labels.len() == count && bytes.len() == Bfv::answers(count)));
        }
    }
}

/// Bytes of every kind.
#[allow(dead_code)]
pub fn seeds() -> Vec<Vec<u8>> {
    let mut rng = dice(2);
    let mut key = SecretKey::new(&mut rng);
    let public = Bfv::read_key(&Bfv::key(&key)).expect("a key");
    let sent = Bfv::encrypt(&mut key, &Strings::random(2, &mut rng), &mut rng).expect("encrypted");
    let mut store = Bfv::store(&public).expect("room");
    let mut public = public;
    Bfv::append(&mut public, &mut store, &sent, 2).expect("ciphertexts");
    let blinded = Bfv::blind(&public, &Strings::random(2, &mut rng), &mut rng).expect("blinded");
    let answer = Bfv::answer(&public, &mut store, &[1, 0], blinded).expect("an answer");
    let as_kind = |kind: u8, bytes: &[u8]| [&[kind], bytes].concat();
    vec![as_kind(0, key.public()), as_kind(1 + 2 * 3, &sent), as_kind(2 + 2 * 3, &answer), as_kind(1, &[]), vec![]]
}

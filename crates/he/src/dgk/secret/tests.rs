//! The owner's encryption, and parts that make no key.

use super::*;
use kernels::Block;

fn dice() -> Generator {
    Generator::from_seed(Block::new(64))
}

fn size(bits: u32) -> KeySize {
    KeySize::even_if_it_can_be_broken(bits).expect("a length")
}

#[test]
fn the_owner_takes_exponents_of_the_bits_of_the_subgroups_and_all_of_the_group_of_h() {
    let secret = SecretKey::generate(size(256), 8, &mut dice()).expect("a key");
    let (public, mut dice) = (secret.public(), dice());
    let numbers = secret.encrypt(&Plaintexts::new(&[0; 40]), &mut dice).expect("below u");
    let tables =
        [&secret.p, &secret.q].map(|half| half.tables.get().map(|tables| tables.each_ref().map(FixedBase::bits)));
    assert_eq!(tables, [Some([5, 64]); 2]);
    let values = public.group().modulus.values(&numbers.residues);
    let power = |x: &[u64], exponent: &[u64]| number::power(x, exponent, public.group().modulus.words());
    let one = number::small(1, 4);
    for x in values.chunks_exact(4) {
        let [of_p, of_q] = [&secret.p.v, &secret.q.v].map(|v| power(x, v));
        assert!(!number::is_equal(&of_p, &one) && !number::is_equal(&of_q, &one));
        assert!(number::is_equal(&power(&of_p, &secret.q.v), &one));
    }
}

/// The parts of a key, to be changed.
struct Parts {
    u: u64,
    primes: [Words; 2],
    subgroups: [Words; 2],
    g: Words,
    h: Words,
}

impl Parts {
    fn fault(&self) -> Option<KeyFault> {
        let [[p, q], [v_p, v_q]] = [&self.primes, &self.subgroups].map(|pair| pair.each_ref().map(|x| &x[..]));
        SecretKey::from_parts(size(256), self.u, [p, q], [v_p, v_q], &self.g, &self.h).err()
    }
}

#[test]
fn parts_that_make_no_key_are_refused() {
    let secret = SecretKey::generate(size(256), 8, &mut dice()).expect("a key");
    let key = secret.public();
    let good = || Parts {
        u: key.u(),
        primes: [secret.p.prime.clone(), secret.q.prime.clone()],
        subgroups: [secret.p.v.clone(), secret.q.v.clone()],
        g: number::words(key.bases()[0]),
        h: number::words(key.bases()[1]),
    };
    let fault = |change: &dyn Fn(&mut Parts)| {
        let mut parts = good();
        change(&mut parts);
        parts.fault()
    };
    assert_eq!(fault(&|_| {}), None);
    assert_eq!(fault(&|parts| parts.primes[1] = parts.primes[0].clone()), Some(KeyFault::FactorsClose));
    let near = |parts: &mut Parts| {
        parts.primes[1] = parts.primes[0].clone();
        parts.primes[1][0] ^= 1 << 60;
    };
    assert_eq!(fault(&near), Some(KeyFault::FactorsClose));
    assert_eq!(fault(&|parts| parts.subgroups[1] = parts.subgroups[0].clone()), Some(KeyFault::FactorsClose));
    assert_eq!(fault(&|parts| parts.primes[0][1] >>= 1), Some(KeyFault::Size));
    assert_eq!(fault(&|parts| parts.u = 35), Some(KeyFault::U));
    assert_eq!(fault(&|parts| parts.u = 65_537), Some(KeyFault::U));
    assert_eq!(fault(&|parts| parts.primes[0][0] ^= 1), Some(KeyFault::FactorNotPrime));
    assert_eq!(fault(&|parts| parts.subgroups[0][0] ^= 1), Some(KeyFault::FactorNotPrime));
    assert_eq!(fault(&|parts| parts.subgroups[0] = number::words(&[3])), Some(KeyFault::Orders));
    assert_eq!(fault(&|parts| parts.subgroups.swap(0, 1)), Some(KeyFault::Orders));
    assert_eq!(fault(&|parts| parts.u = 31), Some(KeyFault::Orders));
    assert_eq!(fault(&|parts| parts.g = parts.h.clone()), Some(KeyFault::Orders));
    assert_eq!(fault(&|parts| parts.h = parts.g.clone()), Some(KeyFault::Orders));
    assert_eq!(fault(&|parts| parts.h = number::small(1, 4)), Some(KeyFault::TrivialBase));
    assert_eq!(fault(&|parts| parts.g = number::resized(&parts.primes[0], 4)), Some(KeyFault::BaseNotCoprime));
}

//! Lengths of exponents, and parts that make no key.

use super::*;
use kernels::Block;

fn dice() -> Generator {
    Generator::from_seed(Block::new(64))
}

fn size(bits: u32) -> KeySize {
    KeySize::even_if_it_can_be_broken(bits).expect("a length")
}

#[test]
fn exponents_have_two_and_a_half_times_the_bits_of_the_subgroups() {
    for (bits, of_subgroups, of_exponents) in
        [(256, 64, 160), (512, 160, 400), (1024, 160, 400), (2048, 224, 560), (3008, 224, 560), (3072, 256, 640)]
    {
        let size = size(bits);
        assert_eq!(size.subgroup_bits(), of_subgroups);
        let [g, h] = [3, 5].map(|x| number::small(x, size.words()));
        let key = PublicKey::new(size, 101, &vec![!0; size.words()], &g, &h).expect("odd");
        key.encrypt(&Plaintexts::new(&[1]), &mut dice()).expect("small");
        let tables = key.0.tables.get().map(|tables| tables.each_ref().map(FixedBase::bits));
        assert_eq!(tables, Some([7, of_exponents]), "{bits}");
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
    let key = &secret.public.0;
    let good = || Parts {
        u: key.u,
        primes: [secret.p.clone(), secret.q.clone()],
        subgroups: [secret.v_p.clone(), secret.v_q.clone()],
        g: number::words(&key.g),
        h: number::words(&key.h),
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

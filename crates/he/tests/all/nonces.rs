//! What the owner of a key sees in the randomness of ciphertexts that others made of its own.

use duologue_he::{Additive, Plaintexts, Shuffle};
use num_bigint::BigUint;

use super::paillier::{textbook_of, vector_key, vectors};
use super::textbook::{Textbook, inverse, jacobi, one};
use super::*;

#[test]
fn constants_alone_leave_the_nonce_and_fresh_randomness_does_not() {
    let secret = vector_key();
    let (public, textbook) = (secret.public(), textbook_of(&secret));
    let mut dice = dice(20);
    let mine = secret.encrypt(&Plaintexts::new(&(0..20).collect::<Vec<_>>()), &mut dice).expect("small");
    let nonces = |c: &duologue_he::Ciphertexts| {
        let numbers = numbers(&public.write(c).expect("ours"), 128);
        numbers.iter().map(|c| textbook.nonce(c)).collect::<Vec<BigUint>>()
    };
    let lazy = public.add_constants(&mine, &Plaintexts::new(&[1 << 70; 20])).expect("ours");
    assert_eq!(nonces(&lazy), nonces(&mine), "a twin: the owner knows them again");
    let fresh = public.rerandomise(&lazy, &mut dice).expect("ours");
    let known = nonces(&mine);
    for (nonce, before) in nonces(&fresh).iter().zip(&known) {
        assert!(!known.contains(nonce));
        // The quotient is a new power of h: of Jacobi symbol 1, as is all else that h makes.
        assert_eq!((jacobi(nonce, &textbook.n), jacobi(before, &textbook.n)), (1, 1));
    }
}

#[test]
fn powers_of_h_keep_the_symbol_of_a_textbook_nonce_and_foreign_ciphertexts_lose_it() {
    let secret = vector_key();
    let (public, textbook) = (secret.public(), textbook_of(&secret));
    let mut dice = dice(21);
    let head = public.write(&public.encrypt(&Plaintexts::new(&[]), &mut dice).expect("none")).expect("ours");
    // Textbook ciphertexts, python-phe's among them.
    let own = (0..60).map(|i| textbook.encrypt(&BigUint::from(i as u32), &random_below(&textbook.n, 300 + i)));
    let all: Vec<_> = vectors().cases.into_iter().map(|[_, _, c]| c).chain(own).collect();
    let symbol = |c: &BigUint| jacobi(c, &textbook.n);
    let minus: Vec<_> = all.iter().filter(|c| symbol(c) == -1).cloned().collect();
    assert!(minus.len() > 20 && minus.len() + 20 < all.len(), "about half of them");
    // The twin: by h^α alone, a bit of the ciphertext stays. Its symbol is that of the product with a power of h.
    let zero = public.encrypt(&Plaintexts::new(&vec![0; all.len()]), &mut dice).expect("small");
    let zeros = numbers(&public.write(&zero).expect("ours"), 128);
    for (c, zero) in all.iter().zip(&zeros) {
        assert_eq!(symbol(&(c * zero % &textbook.square)), symbol(c));
    }
    // Read as foreign, the symbols are new: equal to the old ones for about half.
    let read = public.read_foreign(&bytes_of(&head, &all, 128), &mut dice).expect("valid");
    let after = numbers(&public.write(&read).expect("ours"), 128);
    let equal = all.iter().zip(&after).filter(|(before, after)| symbol(before) == symbol(after)).count();
    assert!((all.len() / 4..all.len() * 3 / 4).contains(&equal), "{equal} of {}", all.len());
    let nonces: Vec<_> = all.iter().map(|c| textbook.nonce(c)).collect();
    assert!(after.iter().all(|c| !nonces.contains(&textbook.nonce(c))));
}

/// The least prime from x on that is 3 modulo 4, and 1 modulo 3 if wanted.
fn prime_with_cubes(mut x: BigUint, cubes: bool) -> BigUint {
    let wanted = if cubes { 7_u8 } else { 11 };
    let passes = |x: &BigUint| [2_u8, 3, 5].iter().all(|&a| BigUint::from(a).modpow(&(x - 1_u8), x) == one());
    while &x % 12_u8 != BigUint::from(wanted) || !passes(&x) {
        x += 1_u8;
    }
    x
}

#[test]
fn cubic_classes_link_ciphertexts_where_3_divides_p_minus_1_and_ours_have_none() {
    let third = |p: &BigUint| (p - 1_u8) / 3_u8;
    // The twin: p = 1 modulo 3, and h a cube, as one h in three is.
    let p = prime_with_cubes((one() << 255) + random_below(&(one() << 254), 31), true);
    let twin = Textbook::new(p.clone(), prime_with_cubes((one() << 255) + random_below(&(one() << 254), 32), false));
    let root = random_below(&twin.n, 33);
    let h = &twin.n - root.modpow(&BigUint::from(6_u8), &twin.n);
    let class = |c: &BigUint| (c % &p).modpow(&third(&p), &p);
    let mut classes = Vec::new();
    for i in 0..30 {
        let c = twin.encrypt(&BigUint::from(i as u32), &random_below(&twin.n, 400 + i));
        let alpha = random_below(&(one() << 576), 500 + i);
        let fresh = &c * h.modpow(&(&twin.n * alpha), &twin.square) % &twin.square;
        assert_eq!(class(&fresh), class(&c), "the owner of the twin sees the class again");
        classes.push(class(&c));
    }
    classes.sort();
    classes.dedup();
    assert_eq!(classes.len(), 3);
    // Ours: every number is a cube modulo p, since 3 does not divide p − 1, so that there is one class.
    let vectors = vectors();
    for p in [&vectors.p, &vectors.q] {
        assert_ne!((p - 1_u8) % 3_u8, BigUint::ZERO);
        let exponent = inverse(&BigUint::from(3_u8), &(p - 1_u8));
        for i in 0..30 {
            let x = random_below(p, 600 + i);
            assert_eq!(x.modpow(&exponent, p).modpow(&BigUint::from(3_u8), p), x);
        }
    }
}

#[test]
fn one_order_holds_for_ciphertexts_and_numbers() {
    let secret = key();
    let mut dice = dice(34);
    for len in [0, 1, 2, 8, 9, 37] {
        let numbers: Vec<u64> = (0..len).collect();
        let order = Shuffle::new(numbers.len(), &mut dice);
        let encrypted = secret.encrypt(&Plaintexts::from_words(&numbers, 1), &mut dice).expect("small");
        let decrypted = secret.decrypt(&order.ciphertexts(&encrypted).expect("as many")).expect("ours");
        let after: Vec<u64> = decrypted.iter().map(|x| x[0]).collect();
        assert_eq!(after, *order.numbers(&numbers).expect("as many"));
        let mut sorted = after;
        sorted.sort_unstable();
        assert_eq!(sorted, numbers);
        assert!(Shuffle::new(38, &mut dice).ciphertexts(&encrypted).is_err());
    }
}

//! What the owner of a key sees in the randomness of ciphertexts that others made of its own.

use duologue_he::{Additive, Plaintexts};
use num_bigint::BigUint;

use super::paillier::{textbook_of, vector_key, vectors};
use super::textbook::jacobi;
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

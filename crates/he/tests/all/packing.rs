use duologue_he::packing::{Columns, Layout, Stream};
use duologue_he::{Additive, Error, Plaintexts};
use num_bigint::BigUint;
use proptest::prelude::*;

use super::*;

#[test]
fn slots_that_do_not_fit_are_refused() {
    let public = key().public();
    for widths in [&[][..], &[0], &[5, 0], &[512], &[400, 112], &[u32::MAX, u32::MAX]] {
        assert!(matches!(Layout::new(widths, public), Err(Error::Layout { capacity: 511, .. })), "{widths:?}");
    }
    assert!(Layout::new(&[400, 111], public).is_ok());
    let layout = Layout::new(&[3, 70], public).expect("it fits");
    let refused = layout.pack(&Plaintexts::new(&[7, 1 << 69, 8]));
    assert_eq!(refused.err(), Some(Error::SlotOverflow { index: 2, width: 3 }));
    assert!(layout.pack(&Plaintexts::new(&[7, (1 << 70) - 1])).is_ok());
    let uniform = Layout::uniform(73, public).expect("it fits");
    assert_eq!(uniform.len(), 7);
    assert!(Layout::uniform(0, public).is_err() && Layout::uniform(600, public).is_err());
}

#[test]
fn plaintexts_that_are_too_large_or_too_few_are_refused() {
    let layout = Layout::new(&[10, 20], key().public()).expect("it fits");
    let packed = |value: u128| Plaintexts::new(&[value]);
    assert_eq!(layout.unpack(&packed(1 << 30), 2).err(), Some(Error::PlaintextOutOfRange { index: 0 }));
    assert_eq!(layout.unpack(&packed(1 << 10), 1).err(), Some(Error::PlaintextOutOfRange { index: 0 }));
    assert_eq!(layout.unpack(&packed(1), 3).err(), Some(Error::Lengths(1, 2)));
    assert!(layout.unpack(&packed((1 << 30) - 1), 2).is_ok());
}

/// Widths, and for each slot of some plaintexts whether it is 0, 1, its largest number or another.
fn cases() -> impl Strategy<Value = (Vec<u32>, Vec<(u8, u64)>)> {
    let widths = prop::collection::vec(1_u32..170, 1..12);
    (widths, prop::collection::vec((0_u8..4, any::<u64>()), 1..30))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    #[test]
    fn any_slots_at_their_extremes_come_back((widths, kinds) in cases()) {
        let secret = key();
        let public = secret.public();
        let layout = Layout::greedy(&widths, public).expect("each fits").swap_remove(0);
        let values: Vec<_> = kinds.iter().enumerate().map(|(i, &(kind, seed))| {
            let limit = BigUint::from(1_u8) << layout.widths()[i % layout.len()];
            match kind {
                0 => BigUint::ZERO,
                1 => BigUint::from(1_u8),
                2 => limit - 1_u8,
                _ => random_below(&limit, seed.into()),
            }
        }).collect();
        let plain = plaintexts(&values, 3);
        let packed = layout.pack(&plain).expect("each fits");
        // The reference: a sum of shifted numbers.
        for (packed, values) in bigs(&packed).iter().zip(values.chunks(layout.len())) {
            let mut at = 0;
            let mut sum = BigUint::ZERO;
            for (value, width) in values.iter().zip(layout.widths()) {
                sum += value << at;
                at += width;
            }
            prop_assert_eq!(packed, &sum);
        }
        let encrypted = secret.encrypt(&plain, &mut dice(30)).expect("small");
        let horner = layout.pack_ciphertexts(public, &encrypted).expect("ours");
        let horner = public.rerandomise(&horner, &mut dice(31)).expect("ours");
        let decrypted = secret.decrypt(&horner).expect("ours");
        prop_assert_eq!(bigs(&decrypted), bigs(&packed));
        prop_assert_eq!(bigs(&layout.unpack(&decrypted, values.len()).expect("in range")), values);
    }

    #[test]
    fn greedy_layouts_hold_all_slots_in_order(widths in prop::collection::vec(1_u32..512, 0..60)) {
        let layouts = Layout::greedy(&widths, key().public()).expect("each fits");
        let all: Vec<_> = layouts.iter().flat_map(|layout| layout.widths().to_vec()).collect();
        prop_assert_eq!(all, widths);
        for pair in layouts.windows(2) {
            let bits: u32 = pair[0].widths().iter().sum();
            prop_assert!(bits <= 511 && bits + pair[1].widths()[0] > 511, "no slot of the next would have fitted");
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(30))]

    #[test]
    fn streams_of_any_widths_come_back((widths, kinds) in cases(), times in 1_usize..5) {
        let secret = key();
        let public = secret.public();
        let widths = widths.repeat(times);
        let stream = Stream::new(widths.iter().copied(), public.size()).expect("each fits");
        let values: Vec<_> = widths.iter().zip(kinds.iter().cycle()).enumerate().map(|(i, (&width, &(kind, seed)))| {
            let limit = BigUint::from(1_u8) << width;
            match kind {
                0 => BigUint::ZERO,
                1 => limit - 1_u8,
                _ => random_below(&limit, u128::from(seed) + i as u128),
            }
        }).collect();
        let plain = plaintexts(&values, 3);
        let packed = stream.pack(&plain).expect("each fits");
        // The reference: layout by layout.
        let layouts = Layout::greedy(&widths, public).expect("each fits");
        prop_assert_eq!(stream.len(), layouts.len());
        let mut rest = &values[..];
        for (packed, layout) in bigs(&packed).iter().zip(&layouts) {
            let (now, later) = rest.split_at(layout.len());
            prop_assert_eq!(packed, &bigs(&layout.pack(&plaintexts(now, 3)).expect("each fits"))[0]);
            rest = later;
        }
        let encrypted = secret.encrypt(&plain, &mut dice(32)).expect("small");
        let horner = stream.pack_ciphertexts(public, &encrypted).expect("ours");
        let decrypted = secret.decrypt(&horner).expect("ours");
        prop_assert_eq!(bigs(&decrypted), bigs(&packed));
        prop_assert_eq!(bigs(&stream.unpack(&decrypted).expect("in range")), values);
    }
}

#[test]
fn streams_refuse_what_does_not_fit() {
    let public = key().public();
    assert!(Stream::new([512].into_iter(), public.size()).is_err());
    let stream = Stream::new([300, 300, 5].into_iter(), public.size()).expect("each fits");
    assert_eq!(stream.len(), 2);
    let five = |value: u128| stream.pack(&Plaintexts::new(&[1, 1, value])).err();
    assert_eq!((five(31), five(32)), (None, Some(Error::SlotOverflow { index: 2, width: 5 })));
    assert_eq!(stream.pack(&Plaintexts::new(&[1])).err(), Some(Error::Lengths(1, 3)));
    let larger = Plaintexts::from_words(&[0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0], 8);
    assert_eq!(stream.unpack(&larger).err(), None);
    let larger = Plaintexts::from_words(&[0, 0, 0, 0, 1 << 44, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0], 8);
    assert_eq!(stream.unpack(&larger).err(), Some(Error::PlaintextOutOfRange { index: 0 }));
    assert_eq!(stream.unpack(&Plaintexts::new(&[1])).err(), Some(Error::Lengths(1, 2)));
    let empty = Stream::new(std::iter::empty(), public.size()).expect("none");
    assert_eq!((empty.len(), empty.pack(&Plaintexts::new(&[])).expect("none").len()), (0, 0));
}

#[test]
fn columns_come_back_whatever_their_number() {
    let (secret, mut rng) = (key(), dice(70));
    let public = secret.public();
    for (parts, count) in
        [(&[9, 30][..], 1_usize), (&[9, 30], 13), (&[9, 30], 14), (&[9, 30], 40), (&[128], 7), (&[1, 1, 1], 500)]
    {
        let columns = Columns::new(parts, count, public.size()).expect("they fit");
        assert_eq!(columns.len(), count.div_ceil(511 / columns.width() as usize));
        // Zeros, the largest numbers, and others.
        let number = |width: u32, i: usize| match i % 3 {
            0 => 0,
            1 => u128::MAX >> (128 - width),
            _ => (i as u128).wrapping_mul(0x9e37_79b9_7f4a_7c15) & u128::MAX >> (128 - width),
        };
        let lists: Vec<Vec<u128>> = parts
            .iter()
            .enumerate()
            .map(|(part, &width)| (0..count).map(|i| number(width, i + part)).collect())
            .collect();
        let ciphertexts: Vec<_> =
            lists.iter().map(|list| public.encrypt(&Plaintexts::new(list), &mut rng).expect("small")).collect();
        let whole: Vec<u128> = (0..count)
            .map(|i| {
                lists.iter().zip(parts).rev().fold(0, |above, (list, &width)| match width {
                    128 => list[i],
                    width => above << width | list[i],
                })
            })
            .collect();
        let mut chunks = Vec::new();
        for from in (0..columns.len()).step_by(3) {
            let chunk = from..columns.len().min(from + 3);
            let packed = columns.pack_ciphertexts(public, &ciphertexts, chunk.clone()).expect("of the key");
            let plain = secret.decrypt(&packed).expect("of the key");
            let packed = columns.pack(&Plaintexts::new(&whole), chunk).expect("they fit");
            assert_eq!(bigs(&plain), bigs(&packed), "{parts:?}, {count}");
            chunks.push(plain);
        }
        let back = columns.unpack(&chunks).expect("as many");
        assert_eq!(back.to_u128s().expect("small")[..], whole, "{parts:?}, {count}");
    }
}

#[test]
fn columns_that_do_not_fit_are_refused() {
    let size = key().public().size();
    for parts in [&[][..], &[0], &[512], &[500, 12], &[5, 0]] {
        assert!(matches!(Columns::new(parts, 3, size), Err(Error::Layout { .. })), "{parts:?}");
    }
    let columns = Columns::new(&[10], 60, size).expect("two plaintexts");
    assert_eq!(columns.len(), 2);
    let large = Plaintexts::new(&[[0; 59].as_slice(), &[1 << 10]].concat());
    assert_eq!(columns.pack(&large, 0..2).err(), Some(Error::SlotOverflow { index: 59, width: 10 }));
    assert_eq!(columns.pack(&Plaintexts::new(&[1]), 0..2).err(), Some(Error::Lengths(1, 60)));
    let packed = |words: &[u64]| Plaintexts::from_words(words, 5);
    assert_eq!(columns.unpack(&[packed(&[0; 5])]).err(), Some(Error::Lengths(1, 2)));
    // 30 slots of 10 bits.
    let largest = [!0, !0, !0, !0, (1 << 44) - 1];
    assert!(columns.unpack(&[packed(&largest), packed(&largest)]).is_ok());
    let more = [0, 0, 0, 0, 1 << 44];
    assert_eq!(columns.unpack(&[packed(&largest), packed(&more)]).err(), Some(Error::PlaintextOutOfRange { index: 1 }));
}

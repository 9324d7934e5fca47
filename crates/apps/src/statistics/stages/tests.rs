//! Both parties' stages on dealt correlations: what is added up, and that all that travels is masked.

use super::*;
use crate::statistics::adder;
use duologue::Error;
use kernels::generator::Generator;

fn layout(width: usize, rows: usize, groups: usize) -> Layout {
    Layout { width, rows, groups }
}

/// What a dealer gives both parties instead of setup; `blank` leaves all masks zero.
fn dealt(layout: &Layout, blank: bool) -> [Zeroizing<Vec<u8>>; 2] {
    let mut random = Generator::from_os().unwrap();
    let mut draw = |count: usize| -> Vec<u64> {
        let mut words = vec![0; count];
        if !blank {
            random.words(&mut words);
        }
        words
    };
    let mut stored = [Vec::new(), Vec::new()];
    let words = layout.words();
    for chunk in 0..layout.chunks() {
        let (_, ots) = layout.ots_of(chunk);
        let choices = draw(ots.div_ceil(64));
        let messages = [draw(ots * words), draw(ots * words)];
        let chosen = (0..ots).flat_map(|ot| {
            let choice = (choices[ot / 64] >> (ot % 64) & 1) as usize;
            messages[choice][ot * words..][..words].to_vec()
        });
        stored[0].extend(choices.iter().copied().chain(chosen).collect::<Vec<u64>>());
        stored[1].extend(messages.concat());
    }
    let mut stored = stored.map(|words| words.iter().flat_map(|word| word.to_le_bytes()).collect::<Vec<u8>>());
    let (count, each) = (layout.triples(), layout.triples().div_ceil(64));
    let [a, b, c, d, e] = [(); 5].map(|()| draw(each));
    let product = (0..each).map(|i| (a[i] ^ c[i]) & (b[i] ^ d[i]) ^ e[i]).collect();
    for (stored, parts) in stored.iter_mut().zip([[a, b, e], [c, d, product]]) {
        for part in parts {
            let mut out = BitWriter::default();
            out.row(&part, count);
            stored.extend(out.bytes());
        }
    }
    stored.map(Zeroizing::new)
}

/// Both parties' messages and shares of the totals.
fn run(layout: Layout, groups: &[u64], values: &[i64], blank: bool) -> ([Vec<Vec<u8>>; 2], [Rows; 2]) {
    let [alice, bob] = dealt(&layout, blank);
    let group = Some(BitMatrix::from_numbers(16, groups).unwrap());
    let value = Some(BitMatrix::from_numbers(layout.width, values).unwrap());
    let mut alice = Online::new(layout, Party::Alice, alice, &[group, None, None]).unwrap();
    let mut bob = Online::new(layout, Party::Bob, bob, &[None, value, None]).unwrap();
    let mut said = [vec![Vec::new()], vec![Vec::new()]];
    for exchange in 0..layout.lengths(Party::Alice).online.len() {
        let heard = [1, 0].map(|peer: usize| said[peer][exchange].clone());
        said[0].push(alice.advance(&heard[0]).unwrap());
        said[1].push(bob.advance(&heard[1]).unwrap());
    }
    alice.read(said[1].last().unwrap()).unwrap();
    bob.read(said[0].last().unwrap()).unwrap();
    (said, [alice, bob].map(|party| party.adder.unwrap().finish()))
}

#[test]
fn totals_are_added_up() {
    for (width, rows, groups) in [(2, 1, 1), (9, 100, 3), (54, 70, 2), (30, 40_000, 1)] {
        let layout = layout(width, rows, groups);
        let of: Vec<u64> = (0..rows as u64).map(|row| row * row % (groups as u64 + 1)).collect();
        let most = (1i64 << (width - 1)) - 1;
        let values: Vec<i64> =
            (0..rows as i64).map(|row| (row.wrapping_mul(0x9e37_79b9_7f4a) % (most + 1)).max(-most)).collect();
        let (said, [mut sums, other]) = run(layout, &of, &values, false);
        for (party, said) in [Party::Alice, Party::Bob].into_iter().zip(said) {
            let lengths = layout.lengths(party).online;
            assert!(lengths.iter().zip(&said[1..]).all(|(length, said)| length.sent == said.len()));
        }
        sums.xor(&other);
        let [count, sum, square] =
            layout.results(&sums).map(|rows| rows.to_matrix().to_numbers::<i128>().unwrap_or_default());
        for group in 0..groups {
            let own =
                || values.iter().zip(&of).filter(|(_, of)| **of == group as u64).map(|(value, _)| i128::from(*value));
            let counted = i128::try_from(own().count()).unwrap();
            assert_eq!(count[group], counted);
            assert_eq!(sum[group], own().sum::<i128>());
            assert_eq!(square[group], own().map(|value| value * value).sum::<i128>());
        }
    }
}

/// Rows of one group with one value: without masks, as the twin has it, what travels would be far from random.
#[test]
fn whatever_travels_is_masked() {
    let layout = layout(20, 4000, 3);
    let ones = |blank: bool| {
        let (said, _) = run(layout, &[0; 4000], &[0; 4000], blank);
        let messages = said.concat().into_iter().filter(|said| said.len() > 50).collect::<Vec<_>>();
        assert!(messages.len() > 2, "choices, answers, openings");
        messages
            .iter()
            .map(|said| {
                let ones: u32 = said.iter().map(|byte| byte.count_ones()).sum();
                (f64::from(ones) / (8 * said.len()) as f64, 8.0 * said.len() as f64)
            })
            .collect::<Vec<_>>()
    };
    // Six standard deviations.
    let random = |&(part, bits): &(f64, f64)| (part - 0.5).abs() < 3.0 / bits.sqrt();
    assert!(ones(false).iter().all(random));
    assert!(!ones(true).iter().any(random), "the twin");
}

#[test]
fn sums_of_all_small_numbers() {
    for bits in 1..6usize {
        let lanes = 1 << (2 * bits);
        let number = |shift: usize| (0..lanes as u64).map(|lane| lane >> shift & ((1 << bits) - 1)).collect::<Vec<_>>();
        let numbers = [number(0), number(bits)];
        let rows = numbers.each_ref().map(|numbers| Rows::of(&BitMatrix::from_numbers(bits, numbers).unwrap()));
        let count = adder::ands(bits) * lanes;
        let zeros = vec![0; 3 * count.div_ceil(8)];
        let [mut a, mut b] =
            [Party::Alice, Party::Bob].map(|party| Adder::new(party, rows[party as usize].clone(), bits));
        let mut triples = [(); 2].map(|()| Triples::new(&zeros, count).unwrap());
        for _ in 0..adder::levels(bits) {
            let said = [a.say(&mut triples[0]), b.say(&mut triples[1])];
            a.hear(&said[1]).unwrap();
            b.hear(&said[0]).unwrap();
        }
        let mut sum = a.finish();
        sum.xor(&b.finish());
        let sums: Vec<u64> = sum.to_matrix().to_numbers().unwrap();
        assert!(
            (0..lanes).all(|lane| sums[lane] == (numbers[0][lane] + numbers[1][lane]) % (1 << bits)),
            "{bits} bits"
        );
    }
}

#[test]
fn messages_of_other_lengths_are_refused() {
    let layout = layout(8, 10, 2);
    let [alice, bob] = dealt(&layout, false);
    let group = Some(BitMatrix::from_numbers(16, &[0u64; 10]).unwrap());
    let value = Some(BitMatrix::from_numbers(8, &[1i64; 10]).unwrap());
    let mut alice = Online::new(layout, Party::Alice, alice, &[group, None, None]).unwrap();
    let mut bob = Online::new(layout, Party::Bob, bob, &[None, value, None]).unwrap();
    alice.advance(&[]).unwrap();
    alice.advance(&[]).unwrap();
    assert!(matches!(alice.advance(&[0; 3]), Err(Error::Peer(_))));
    bob.advance(&[]).unwrap();
    assert!(matches!(bob.advance(&[0; 2]), Err(Error::Peer(_))));
}

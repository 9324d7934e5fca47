use super::*;

fn blocks(range: std::ops::Range<usize>) -> Vec<Block> {
    range.map(|i| Block::new(i as u128 + 1)).collect()
}

/// Bit i of the three shares of triple i: three different patterns.
fn pattern(share: usize, i: usize) -> bool {
    (i * (2 * share + 3) / 7 + i * i / (share + 5)).is_multiple_of(2)
}

fn packed(len: usize, bit: impl Fn(usize) -> bool) -> Vec<u64> {
    let mut words = vec![0; len.div_ceil(64)];
    (0..len).for_each(|i| words[i / 64] |= u64::from(bit(i)) << (i % 64));
    words
}

fn stock_of(us: Party, sent: usize, received: usize, triples: usize) -> Stock {
    let mut stock = Stock::new(us);
    stock.put_cots(Side::Sender, blocks(0..sent));
    stock.put_cots(Side::Receiver, blocks(0..received));
    let [a, b, c] = [0, 1, 2].map(|share| packed(triples, |i| pattern(share, i)));
    stock.put_triples(&Triples { a, b, c, len: triples });
    stock
}

#[test]
fn counts_by_sender_whoever_asks() {
    let alice = stock_of(Party::Alice, 5, 7, 11);
    let bob = stock_of(Party::Bob, 7, 5, 11);
    let expected = Demand { cots_by_alice: 5, cots_by_bob: 7, triples: 11 };
    assert_eq!((alice.available(), bob.available()), (expected, expected));
    assert_eq!((alice.drawn(), bob.drawn()), (Demand::NONE, Demand::NONE));
}

#[test]
fn everything_comes_once_and_in_order_at_any_size() {
    let total = 20_000;
    let mut stock = stock_of(Party::Bob, total, total, total);
    let sizes = [0, 1, 63, 64, 65, 1, 127, 4096, 333, 5000, 1, 2];
    let mut first = 0;
    for count in sizes.into_iter().chain([total - sizes.iter().sum::<usize>()]) {
        assert!(stock.draw_cot_sender(count).unwrap() == blocks(first..first + count));
        let chosen = stock.draw_cot_receiver(count).unwrap();
        assert!(chosen.t == blocks(first..first + count));
        let triples = stock.draw_triples(count).unwrap();
        assert_eq!(triples.len, count);
        assert_eq!(chosen.bits, packed(count, |i| blocks(first + i..first + i + 1)[0].lsb()));
        for (share, bits) in [triples.a, triples.b, triples.c].iter().enumerate() {
            assert_eq!(*bits, packed(count, |i| pattern(share, first + i)));
        }
        first += count;
        let each = first as u64;
        let drawn = Demand { cots_by_alice: each, cots_by_bob: each, triples: each };
        assert_eq!(stock.drawn(), drawn);
    }
    assert_eq!(stock.available(), Demand::NONE);
}

#[test]
fn what_was_drawn_is_erased() {
    let mut stock = stock_of(Party::Alice, 100, 100, 0);
    stock.draw_cot_sender(60).unwrap();
    assert!(stock.sent.batches[0][..60].iter().all(|&block| block == Block::ZERO));
    assert!(stock.sent.batches[0][60..].iter().all(|&block| block != Block::ZERO));
}

#[test]
fn an_overdraw_is_an_error_that_takes_nothing() {
    let mut stock = stock_of(Party::Alice, 3, 4, 5);
    let before = stock.available();
    let errors = [
        stock.draw_cot_sender(4).err(),
        stock.draw_cot_receiver(5).err(),
        stock.draw_triples(6).err(),
        stock.draw_triples(usize::MAX).err(),
    ];
    for error in errors {
        let Some(Error::Usage(why)) = error else { panic!("was granted") };
        assert!(why.contains("are left"), "{why}");
    }
    assert_eq!((stock.available(), stock.drawn()), (before, Demand::NONE));
    assert!(stock.draw_triples(5).is_ok());
    assert!(stock.draw_triples(1).is_err());
    assert!(stock.draw_triples(0).is_ok());
}

/// Pushes between draws: what is drawn leaves nothing behind.
#[test]
fn a_long_life_needs_little_memory() {
    let mut stock = Stock::new(Party::Alice);
    let (mut pushed, mut drawn) = (0, 0);
    for _ in 0..300 {
        stock.put_cots(Side::Sender, blocks(pushed..pushed + 1000));
        pushed += 1000;
        assert!(stock.draw_cot_sender(990).unwrap() == blocks(drawn..drawn + 990));
        drawn += 990;
    }
    assert_eq!(stock.available().cots_by_alice, 3000);
    assert_eq!(stock.sent.batches.len(), 3, "what is drawn is kept");
}

/// Drawing is all that happens online: no AES, no hash, no curve.
#[test]
fn a_draw_computes_nothing() {
    let mut stock = stock_of(Party::Bob, 1000, 1000, 1000);
    let work = || (kernels::work::aes_blocks(), crate::ot::base::curve_calls());
    let before = work();
    stock.draw_cot_sender(999).unwrap();
    stock.draw_cot_receiver(999).unwrap();
    stock.draw_triples(999).unwrap();
    assert_eq!(work(), before);
    crate::ot::os_generator().unwrap().block();
    assert_ne!(work(), before, "the counter does not count");
}

#[test]
fn a_destroyed_stock_is_empty() {
    let mut stock = stock_of(Party::Bob, 70, 70, 70);
    stock.draw_triples(3).unwrap();
    stock.destroy();
    assert_eq!(stock.available(), Demand::NONE);
    assert!(stock.draw_triples(1).is_err());
}

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use tempfile::TempDir;

use super::*;
use crate::correlation::Triples;
use crate::ot::{Extension, Side};
use crate::storage::LIMIT;
use crate::storage::tests::{BATCH, IDENTITY, Store, copy, usage};

mod damage;
mod suite;

pub(crate) use suite::with_more_than_the_peer;

/// What correlation `number` of some kind is made of: the same bits for both parties.
fn dice(kind: CorrelationKind, number: u64) -> u128 {
    let half = |salt: u64| {
        let mut x = number.wrapping_mul(6) + 3 * salt + kind as u64 + 0x9e37_79b9_7f4a_7c15;
        for shift in [30, 27, 31] {
            x = (x ^ x >> shift).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        }
        u128::from(x)
    };
    half(0) << 64 | half(1)
}

fn delta(party: Party) -> Block {
    Block::new(0x1234_5678_9abc_def0_0fed_cba9_8765_4321 + 2 * party as u128)
}

/// Our block of a COT, by definition: q with lowest bit 0, or q ⊕ b·Δ.
fn cot(us: Party, sender: Party, number: u64) -> Block {
    let kind = [CorrelationKind::CotsByAlice, CorrelationKind::CotsByBob][sender as usize];
    let dice = dice(kind, number);
    let (q, choice) = (dice & !1, dice.count_ones() % 2 == 1);
    if us != sender && choice { Block::new(q ^ delta(sender).get()) } else { Block::new(q) }
}

/// Our shares a, b, c of a triple.
fn triple(us: Party, number: u64) -> [bool; 3] {
    let bit = |i: u32| dice(CorrelationKind::Triples, number) >> (5 * i) & 1 == 1;
    let (a, b, c) = ([bit(0), bit(1)], [bit(2), bit(3)], bit(4));
    let product = (a[0] ^ a[1]) & (b[0] ^ b[1]);
    [a[us as usize], b[us as usize], c ^ (us == Party::Bob && product)]
}

/// A stock with the correlations of these numbers.
fn stock(us: Party, numbers: [Range<u64>; 3]) -> Stock {
    let mut stock = Stock::new(us);
    for sender in [Party::Alice, Party::Bob] {
        let side = if sender == us { Side::Sender } else { Side::Receiver };
        let blocks: Vec<Block> = numbers[sender as usize].clone().map(|number| cot(us, sender, number)).collect();
        stock.put_cots(side, blocks);
    }
    let [a, b, c] = [0, 1, 2].map(|share| {
        let mut words = vec![0; (numbers[2].end - numbers[2].start).div_ceil(64) as usize];
        for (i, number) in numbers[2].clone().enumerate() {
            words[i / 64] |= u64::from(triple(us, number)[share]) << (i % 64);
        }
        words
    });
    stock.put_triples(&Triples { a, b, c, len: numbers[2].clone().count() });
    stock
}

/// All that is in the stock are the correlations of these numbers.
fn holds(stock: &mut Stock, numbers: &[Range<u64>; 3]) {
    let us = stock.party();
    assert_eq!(each(&stock.available()), numbers.clone().map(|numbers| numbers.end - numbers.start));
    let [by_us, by_them] = [us, us.peer()].map(|sender| {
        let numbers = numbers[sender as usize].clone();
        numbers.map(|number| cot(us, sender, number)).collect::<Vec<_>>()
    });
    assert!(stock.draw_cot_sender(by_us.len()).unwrap() == by_us);
    assert!(stock.draw_cot_receiver(by_them.len()).unwrap().t == by_them);
    let drawn = stock.draw_triples(numbers[2].clone().count()).unwrap();
    for (i, number) in numbers[2].clone().enumerate() {
        let bits = [&drawn.a, &drawn.b, &drawn.c].map(|words| words[i / 64] >> (i % 64) & 1 == 1);
        assert_eq!(bits, triple(us, number), "triple {number}");
    }
}

fn origin(party: Party) -> Origin {
    origin_of(IDENTITY, party)
}

fn origin_of(identity: [u8; 32], party: Party) -> Origin {
    let deltas = [Party::Alice, Party::Bob].map(|party| delta_identity(&identity, party, delta(party)));
    Origin { identity, party, keys: None, deltas, extension: Extension::SoftSpoken { k: 4 }, part: None }
}

/// Both halves, in folders beside each other.
struct Pair {
    place: TempDir,
    alice: Pool,
    bob: Pool,
}

impl Pair {
    fn new() -> Pair {
        let place = TempDir::new().unwrap();
        let [alice, bob] = [Party::Alice, Party::Bob].map(|party| {
            Pool::create(&place.path().join(party.to_string()), &origin(party), delta(party), None).unwrap()
        });
        let mut pair = Pair { place, alice, bob };
        pair.agree();
        pair
    }

    fn with(made: [u64; 3]) -> Pair {
        let mut pair = Pair::new();
        pair.append(made);
        pair
    }

    fn folder(&self, party: Party) -> PathBuf {
        self.place.path().join(party.to_string())
    }

    fn agree(&mut self) {
        let [alice, bob] = [self.alice.summary(), self.bob.summary()];
        self.alice.agree(&bob).unwrap();
        self.bob.agree(&alice).unwrap();
    }

    fn append(&mut self, counts: [u64; 3]) {
        append(&mut self.alice, counts);
        append(&mut self.bob, counts);
    }

    /// Both take the same, which is what was made with these numbers.
    fn take(&mut self, counts: [u64; 3]) -> [Range<u64>; 3] {
        let taken = take(&mut self.alice, counts);
        assert_eq!(taken, take(&mut self.bob, counts));
        taken.numbers
    }

    /// Closes and opens both.
    fn reopen(self) -> Pair {
        let folders = [Party::Alice, Party::Bob].map(|party| self.folder(party));
        let Pair { place, alice, bob } = self;
        drop((alice, bob));
        let [alice, bob] = folders.map(|folder| Pool::open(&folder, None).unwrap());
        let mut pair = Pair { place, alice, bob };
        pair.agree();
        pair
    }
}

fn append(pool: &mut Pool, counts: [u64; 3]) {
    let from = pool.made();
    let numbers = std::array::from_fn(|i| from[i]..from[i] + counts[i]);
    let added = pool.append(BATCH, &mut stock(pool.origin().party, numbers)).unwrap();
    assert_eq!(each(&added), counts);
}

fn take(pool: &mut Pool, counts: [u64; 3]) -> Taken {
    let mut stock = Stock::new(pool.origin().party);
    let taken = pool.take(demand(counts), &mut stock).unwrap();
    holds(&mut stock, &taken.numbers);
    taken
}

#[test]
fn both_parties_get_the_same_numbers_each_once_in_any_portions() {
    let mut pair = Pair::new();
    let mut next = [0; 3];
    let mut seed = 7u64;
    let mut roll = |most: u64| {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        (seed >> 33) % (most + 1)
    };
    for round in 0..40 {
        pair.append([roll(50), roll(60), roll(300)]);
        let left = each(&pair.alice.left());
        let counts = left.map(&mut roll);
        let taken = pair.take(counts);
        let expected: [Range<u64>; 3] = std::array::from_fn(|i| next[i]..next[i] + counts[i]);
        assert_eq!(taken, expected);
        next = zip(next, counts, |a, b| a + b);
        if round % 5 == 4 {
            pair = pair.reopen();
        }
        assert_eq!((each(&pair.bob.used()), &pair.bob.left()), (next, &pair.alice.left()));
    }
    pair.take(each(&pair.alice.left()));
    let left = fs::read_dir(pair.folder(Party::Alice)).unwrap().count();
    assert_eq!(left, 3, "a batch was left: lock, header and cursor should be all");
}

/// What a test of one half can miss: the halves belong together.
#[test]
fn the_halves_are_correlated() {
    let mut pair = Pair::with([500, 400, 900]);
    let (mut ours, mut theirs) = (Stock::new(Party::Alice), Stock::new(Party::Bob));
    pair.alice.take(demand([500, 400, 900]), &mut ours).unwrap();
    pair.bob.take(demand([500, 400, 900]), &mut theirs).unwrap();
    let deltas = [pair.alice.delta().unwrap(), pair.bob.delta().unwrap()];
    let pairs = [
        (ours.draw_cot_sender(500).unwrap(), theirs.draw_cot_receiver(500).unwrap()),
        (theirs.draw_cot_sender(400).unwrap(), ours.draw_cot_receiver(400).unwrap()),
    ];
    for ((q, chosen), delta) in pairs.iter().zip(deltas) {
        for (i, &q) in q.iter().enumerate() {
            assert!(chosen.t[i] == if chosen.bit(i) { q ^ delta } else { q });
        }
    }
    let (x, y) = (ours.draw_triples(900).unwrap(), theirs.draw_triples(900).unwrap());
    for i in 0..x.a.len() {
        assert_eq!((x.a[i] ^ y.a[i]) & (x.b[i] ^ y.b[i]), x.c[i] ^ y.c[i]);
    }
}

#[test]
fn a_large_batch_is_cut_into_files() {
    let (cots, triples) = ((2 << 18) + 5, (1 << 20) + 1);
    let mut pair = Pair::with([cots, 0, triples]);
    let files: BTreeSet<String> = fs::read_dir(pair.folder(Party::Bob))
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .filter(|name| !name.starts_with("key-"))
        .collect();
    let cots = ["cots-by-alice-000000000000", "cots-by-alice-000000040000", "cots-by-alice-000000080000"];
    let expected = [&cots[..], &["cursor", "header", "lock", "triples-000000000000", "triples-000000100000"]].concat();
    assert_eq!(files, expected.into_iter().map(String::from).collect());
    pair.take([(1 << 18) - 3, 0, 77]);
    pair = pair.reopen();
    pair.take([7, 0, (1 << 20) - 80]);
    assert_eq!(pair.alice.left(), demand([(1 << 18) + 1, 0, 4]));
    pair.alice.verify().unwrap();
}

#[test]
fn what_was_taken_is_used_up_though_nobody_used_it() {
    let mut pair = Pair::with([10, 10, 10]);
    take(&mut pair.alice, [1, 2, 3]);
    let mut pair = pair.reopen();
    assert_eq!(pair.bob.used(), demand([1, 2, 3]), "the peer did not take Alice's cursor");
    assert_eq!(pair.take([1, 1, 1]), [1..2, 2..3, 3..4]);
}

#[test]
fn nothing_is_taken_or_added_before_the_parties_compare() {
    let pair = Pair::with([5, 5, 5]);
    let folder = pair.folder(Party::Alice);
    drop(pair.alice);
    let mut pool = Pool::open(&folder, None).unwrap();
    let words = "have not compared";
    usage(pool.take(demand([1, 0, 0]), &mut Stock::new(Party::Alice)), words);
    usage(pool.append(BATCH, &mut stock(Party::Alice, [5..6, 5..5, 5..5])), words);
    usage(pool.trim(), words);
    assert_eq!(pool.used(), Demand::NONE);
}

#[test]
fn too_many_are_refused_and_none_is_lost() {
    let mut pair = Pair::with([5, 6, 7]);
    for (wanted, words) in [
        ([6, 0, 0], "5 correlated OTs by alice left, not 6"),
        ([0, 7, 0], "6 correlated OTs by bob left"),
        ([0, 0, u64::MAX], "7 triples left"),
    ] {
        usage(pair.alice.take(demand(wanted), &mut Stock::new(Party::Alice)), words);
    }
    assert_eq!(pair.take([5, 6, 7]), [0..5, 0..6, 0..7]);
}

/// One folder comes back from a backup: the other party's cursor holds.
#[test]
fn a_restored_backup_uses_nothing_twice() {
    let mut pair = Pair::with([100, 100, 100]);
    let (folder, backup) = (pair.folder(Party::Alice), pair.place.path().join("backup"));
    pair.take([10, 10, 10]);
    copy(&folder, &backup);
    pair.take([30, 0, 90]);
    pair.append([50, 50, 50]);
    pair.take([70, 0, 0]);
    drop(pair.alice);
    fs::remove_dir_all(&folder).unwrap();
    copy(&backup, &folder);
    pair.alice = Pool::open(&folder, None).unwrap();
    assert_eq!(pair.alice.used(), demand([10, 10, 10]));
    pair.agree();
    assert_eq!(pair.alice.used(), demand([110, 10, 100]));
    assert_eq!(pair.alice.left(), demand([0, 90, 0]), "what the backup does not have is lost");
    assert_eq!(pair.take([0, 90, 0]), [110..110, 10..100, 100..100]);
    pair.alice.trim().unwrap();
    pair.bob.trim().unwrap();
    pair.append([20, 20, 20]);
    assert_eq!(pair.take([20, 20, 20]), [110..130, 100..120, 100..120]);
}

/// Alice was killed while both added: what only Bob has is not taken, and goes before more is added.
#[test]
fn a_tail_that_one_party_lacks_is_made_anew() {
    let mut pair = Pair::with([10, 10, 100]);
    append(&mut pair.bob, [20, 0, 200]);
    pair = pair.reopen();
    assert_eq!(pair.bob.left(), demand([10, 10, 100]));
    usage(pair.bob.append(BATCH, &mut stock(Party::Bob, [30..31, 0..0, 0..0])), "must be erased");
    pair.alice.trim().unwrap();
    pair.bob.trim().unwrap();
    pair.append([7, 7, 7]);
    pair = pair.reopen();
    assert_eq!(pair.take([17, 17, 107]), [0..17, 0..17, 0..107]);
}

/// The parties may have cut a batch into files differently.
#[test]
fn half_a_file_can_be_erased() {
    let mut pair = Pair::new();
    append(&mut pair.alice, [100, 100, 100]);
    append(&mut pair.bob, [70, 0, 99]);
    pair.agree();
    pair.alice.trim().unwrap();
    append(&mut pair.bob, [1, 0, 0]);
    append(&mut pair.alice, [1, 0, 0]);
    pair = pair.reopen();
    assert_eq!(pair.take([71, 0, 99]), [0..71, 0..0, 0..99]);
}

/// A tail was made anew, then one folder comes back with the old one: same pool, same numbers, other correlations.
#[test]
fn correlations_of_different_batches_are_told_apart() {
    let mut pair = Pair::with([10, 0, 10]);
    append(&mut pair.bob, [5, 0, 5]);
    let (folder, backup) = (pair.folder(Party::Bob), pair.place.path().join("backup"));
    copy(&folder, &backup);
    pair.agree();
    pair.bob.trim().unwrap();
    let other = [0xbb; 32];
    for (pool, party) in [(&mut pair.alice, Party::Alice), (&mut pair.bob, Party::Bob)] {
        pool.append(other, &mut stock(party, [10..15, 0..0, 10..15])).unwrap();
    }
    drop(pair.bob);
    fs::remove_dir_all(&folder).unwrap();
    copy(&backup, &folder);
    pair.bob = Pool::open(&folder, None).unwrap();
    pair.agree();
    assert_eq!(pair.take([10, 0, 10]), [0..10, 0..0, 0..10]);
    let [ours, theirs] = [&mut pair.alice, &mut pair.bob].map(|pool| take(pool, [1, 0, 1]));
    assert_eq!(ours.numbers, theirs.numbers);
    assert_ne!(ours.digest, theirs.digest);
}

#[test]
fn the_peers_must_be_the_other_half() {
    let mut pair = Pair::new();
    let theirs = pair.bob.summary();
    let differs = |pool: &mut Pool, summary: Summary, word: &str| match pool.agree(&summary) {
        Err(Error::Incompatible { what, .. }) => assert!(what.contains(word), "{what}"),
        other => panic!("{word}: {other:?}"),
    };
    differs(&mut pair.alice, Summary { identity: [1; 32], ..theirs.clone() }, "the pool");
    differs(&mut pair.alice, Summary { party: Party::Alice, ..theirs.clone() }, "whose half");
    differs(&mut pair.alice, Summary { deltas: [theirs.deltas[0], [1; 32]], ..theirs.clone() }, "Δ");
    differs(&mut pair.alice, Summary { origin: [1; 32], ..theirs.clone() }, "origin");
    assert_eq!(pair.alice.summary().origin, theirs.origin);
    pair.alice.agree(&theirs).unwrap();
}

#[test]
fn every_bit_of_a_summary_counts() {
    let summary = Pair::with([3, 4, 5]).alice.summary();
    let bytes = summary.encode();
    assert_eq!(bytes.len(), Summary::LEN);
    assert_eq!(Summary::decode(&bytes).unwrap(), summary);
    for len in (0..Summary::LEN).chain([Summary::LEN + 1]) {
        let mut other = bytes.clone();
        other.resize(len, 0);
        assert!(matches!(Summary::decode(&other), Err(Error::Peer(_))));
    }
    for bit in 0..8 * Summary::LEN {
        let mut other = bytes.clone();
        other[bit / 8] ^= 1 << (bit % 8);
        match Summary::decode(&other) {
            Ok(other) => assert_ne!(other, summary, "bit {bit}"),
            Err(error) => assert!(matches!(error, Error::Peer(_)), "{error}"),
        }
    }
}

/// A peer that claims all numbers wastes ours, but the pool stays readable and can be added to.
#[test]
fn absurd_claims_break_nothing() {
    let mut pair = Pair::with([5, 5, 5]);
    let most = demand([LIMIT / 2; 3]);
    let claim = Summary { made: most, used: most, ..pair.bob.summary() };
    let beyond = Summary { made: demand([LIMIT / 2 + 1; 3]), ..claim.clone() };
    assert!(Summary::decode(&beyond.encode()).is_err());
    pair.alice.agree(&Summary::decode(&claim.encode()).unwrap()).unwrap();
    assert_eq!((pair.alice.used(), pair.alice.left()), (most, Demand::NONE));
    append(&mut pair.alice, [1, 1, 1]);
    let folder = pair.folder(Party::Alice);
    drop(pair.alice);
    assert_eq!(Pool::open(&folder, None).unwrap().left(), demand([1; 3]));
}

#[test]
fn a_pool_is_for_one_pair_of_keys() {
    use crate::channel::Identity;
    let place = TempDir::new().unwrap();
    let [ours, theirs, other] = [(); 3].map(|()| Identity::generate().unwrap().public());
    let origin = Origin { keys: Some([theirs, ours]), ..origin(Party::Bob) };
    drop(Pool::create(&place.path().join("bound"), &origin, delta(Party::Bob), None).unwrap());
    let bound = Pool::open(&place.path().join("bound"), None).unwrap();
    assert_eq!(bound.origin(), &origin);
    bound.check_keys(Some(ours), Some(theirs)).unwrap();
    usage(bound.check_keys(Some(ours), Some(other)), "the peer's key");
    usage(bound.check_keys(Some(other), Some(theirs)), "our own key");
    usage(bound.check_keys(None, None), "is none now");
    let unbound = Pair::new().alice;
    unbound.check_keys(None, None).unwrap();
    usage(unbound.check_keys(Some(ours), Some(theirs)), "was none");
}

/// After a failed check nothing is left to try again on, here or after a restart.
#[test]
fn a_destroyed_delta_leaves_triples_alone() {
    let mut pair = Pair::with([10, 10, 100]);
    let folder = pair.folder(Party::Alice);
    pair.alice.destroy_delta("a check of the peer's message failed\n").unwrap();
    let refused = |pool: &mut Pool| {
        let words = "a check of the peer's message failed";
        usage(pool.delta(), words);
        usage(pool.take(demand([1, 0, 0]), &mut Stock::new(Party::Alice)), words);
        usage(pool.append(BATCH, &mut stock(Party::Alice, [10..11, 0..0, 0..0])), words);
        assert_eq!(pool.left(), demand([0, 0, 100]));
    };
    pair.agree();
    refused(&mut pair.alice);
    assert!(fs::read_dir(&folder).unwrap().all(|entry| !entry.unwrap().file_name().to_string_lossy().contains("cots")));
    pair = pair.reopen();
    refused(&mut pair.alice);
    assert!(*pair.alice.folder.secret() == [0; 16]);
    let reason = pair.alice.status().destroyed.unwrap();
    assert_eq!(reason, "a check of the peer's message failed?");
    assert_eq!(pair.bob.left(), demand([0, 0, 100]), "the peer's halves of these are worth nothing");
    assert_eq!(pair.bob.status().destroyed.as_deref(), Some("the peer's was destroyed"));
    assert!(*pair.bob.folder.secret() == [0; 16] && !pair.bob.is_whole());
    usage(pair.bob.append(BATCH, &mut stock(Party::Bob, [10..11, 0..0, 0..0])), "the peer's was destroyed");
    assert_eq!(pair.take([0, 0, 100]), [0..0, 0..0, 0..100]);
    pair.bob.trim().unwrap();
    pair.append([0, 0, 3]);
    pair.take([0, 0, 3]);
}

/// Where no new header can be written the old one goes all the same, and an error says that something failed.
#[test]
fn delta_goes_though_nothing_can_be_written() {
    for cots_too in [false, true] {
        let mut pair = Pair::with([10, 10, 100]);
        let folder = pair.folder(Party::Alice);
        fs::create_dir(folder.join("header.part")).unwrap();
        if cots_too {
            fs::remove_file(folder.join("cots-by-alice-000000000000")).unwrap();
        }
        let error = pair.alice.destroy_delta("a test").unwrap_err();
        assert!(matches!(error, Error::Io { .. }), "{error}");
        assert!(*pair.alice.folder.secret() == [0; 16]);
        usage(pair.alice.delta(), "a test");
        assert!(fs::read(folder.join("header")).unwrap().iter().all(|&byte| byte == 0));
        drop(pair.alice);
        fs::remove_dir(folder.join("header.part")).unwrap();
        assert!(matches!(Pool::open(&folder, None), Err(Error::Malformed { .. })));
    }
}

#[test]
fn the_status_says_what_there_is() {
    let mut pair = Pair::with([10, 20, 1000]);
    pair.take([1, 2, 300]);
    let status = pair.alice.status();
    assert_eq!(
        (status.made, status.used, status.left),
        (demand([10, 20, 1000]), demand([1, 2, 300]), demand([9, 18, 700]))
    );
    assert_eq!((status.sealed, status.destroyed), (false, None));
    assert!(status.created.elapsed().is_ok_and(|age| age.as_secs() < 1000));
    let files = fs::read_dir(pair.folder(Party::Alice)).unwrap();
    assert_eq!(status.bytes, files.map(|file| file.unwrap().metadata().unwrap().len()).sum::<u64>());
}

#[test]
fn a_pool_is_removed_whole() {
    let pair = Pair::with([1, 1, 1]);
    let folder = pair.folder(Party::Alice);
    pair.alice.remove().unwrap();
    assert!(!folder.exists());
    usage(Pool::open(&folder, None), "there is no pool");
    drop(Pool::create(&folder, &origin(Party::Alice), delta(Party::Alice), None).unwrap());
}

/// Whether it can be opened or not: whole, damaged, cut short while it was made, or empty.
#[test]
fn whatever_is_left_of_a_pool_is_erased() {
    let damages: [fn(&Path); 5] = [
        |_| (),
        |folder| fs::write(folder.join("header"), "duo-stor").unwrap(),
        |folder| fs::remove_file(folder.join("header")).unwrap(),
        |folder| fs::rename(folder.join("header"), folder.join("header.part")).unwrap(),
        |folder| fs::read_dir(folder).unwrap().for_each(|file| fs::remove_file(file.unwrap().path()).unwrap()),
    ];
    for damage in damages {
        let pair = Pair::with([10, 10, 100]);
        let folder = pair.folder(Party::Alice);
        usage(Pool::erase(&folder), "another process uses");
        assert!(fs::read_dir(&folder).unwrap().count() > 6, "nothing was touched");
        drop(pair.alice);
        damage(&folder);
        // A second name of the file shows what its bytes were when it lost the first.
        let (triples, kept) = (folder.join("triples-000000000000"), pair.place.path().join("kept"));
        let is_there = fs::hard_link(triples, &kept).is_ok();
        Pool::erase(&folder).unwrap();
        assert!(!folder.exists());
        assert!(!is_there || fs::read(&kept).unwrap().iter().all(|byte| *byte == 0));
    }
    let pair = Pair::with([1, 1, 1]);
    let folder = pair.folder(Party::Bob);
    drop(pair.bob);
    fs::write(folder.join("thesis"), "of the user").unwrap();
    assert!(Pool::erase(&folder).is_err());
    assert_eq!(fs::read_dir(&folder).unwrap().count(), 1, "what is not the pool's stays");
}

#[test]
fn a_useless_or_foreign_delta_is_refused() {
    let place = TempDir::new().unwrap();
    for wrong in [Block::ZERO, delta(Party::Bob), Block::new(delta(Party::Alice).get() ^ 1)] {
        usage(Pool::create(place.path(), &origin(Party::Alice), wrong, None), "not the one");
    }
    assert_eq!(fs::read_dir(place.path()).unwrap().count(), 0);
}

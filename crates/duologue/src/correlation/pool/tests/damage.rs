//! What only a pool can notice of harm that came to its folder.

use super::*;
use crate::correlation::pool::{CONTENT, DiskPool};
use crate::storage::Place;
use crate::storage::tests::{restrict, sealed_under_one_key};

/// Alice's folder, closed, with two batches of each kind, all used in part.
struct Folder {
    _place: TempDir,
    path: PathBuf,
}

const KINDS: [&str; 3] = ["cots-by-alice", "cots-by-bob", "triples"];

impl Folder {
    fn new() -> Folder {
        let mut pair = Pair::with([5, 6, 70]);
        pair.append([7, 8, 90]);
        pair.take([2, 3, 10]);
        Folder { path: pair.folder(Party::Alice), _place: pair.place }
    }

    fn file(&self, name: &str) -> PathBuf {
        self.path.join(name)
    }

    /// Reads everything.
    fn read(&self) -> Result<()> {
        Pool::open(&self.path, None)?.verify()
    }

    /// It is refused, and by the name of this file.
    fn refused(&self, name: &str, words: &str) {
        match self.read() {
            Err(Error::Malformed { what, why }) => {
                assert!(what.ends_with(name), "{what} instead of {name}: {why}");
                assert!(why.contains(words), "{name}: {why}");
            }
            other => panic!("{name}, {words}: {other:?}"),
        }
    }
}

fn batch(kind: usize, first: u64) -> String {
    format!("{}-{first:012x}", KINDS[kind])
}

/// What is read is checked again when it is used, and nothing of it reaches the stock.
#[test]
fn a_batch_that_changes_after_opening_is_found_when_it_is_used() {
    let folder = Folder::new();
    let mut pool = Pool::open(&folder.path, None).unwrap();
    let theirs = Summary { party: Party::Bob, ..pool.summary() };
    pool.agree(&theirs).unwrap();
    let path = folder.file(&batch(2, 70));
    let mut bytes = fs::read(&path).unwrap();
    bytes[130] ^= 4;
    fs::write(&path, bytes).unwrap();
    let mut stock = Stock::new(Party::Alice);
    match pool.take(demand([4, 4, 100]), &mut stock) {
        Err(Error::Malformed { what, .. }) => assert!(what.ends_with(&batch(2, 70))),
        other => panic!("{other:?}"),
    }
    assert_eq!(stock.available(), Demand::NONE);
    assert_eq!(pool.used(), demand([6, 7, 110]));
}

#[test]
fn missing_files_are_missed() {
    let mut pair = Pair::with([5, 6, 70]);
    pair.append([5, 6, 70]);
    pair.append([5, 6, 70]);
    let folder = Folder { path: pair.folder(Party::Alice), _place: pair.place };
    drop(pair.alice);
    for (gone, found) in [(batch(0, 0), batch(0, 5)), (batch(2, 70), batch(2, 140))] {
        let bytes = fs::read(folder.file(&gone)).unwrap();
        fs::remove_file(folder.file(&gone)).unwrap();
        folder.refused(&found, "are missing");
        fs::write(folder.file(&gone), bytes).unwrap();
        restrict(&folder.file(&gone), 0o600);
        folder.read().unwrap();
    }
    // The last is not missed alone, but in the comparison with the peer.
    fs::remove_file(folder.file(&batch(2, 140))).unwrap();
    let mut pool = Pool::open(&folder.path, None).unwrap();
    pool.agree(&pair.bob.summary()).unwrap();
    assert_eq!(pool.left(), demand([15, 18, 140]));
    drop(pool);
    fs::remove_file(folder.file("cursor")).unwrap();
    assert!(matches!(folder.read(), Err(Error::Io { .. })), "a cursor that is gone is not taken for one at 0");
}

/// Earlier versions had sets of silent OT with too few bits.
#[test]
fn a_pool_by_a_maker_that_is_gone_says_why_and_what_to_use() {
    let place = TempDir::new().unwrap();
    let path = place.path().join("alice");
    let mut founded = origin(Party::Alice).of_folder();
    founded.terms[0].1 = "silent17".into();
    let place = Place::new(&path, &CONTENT, None).unwrap();
    drop(DiskPool::create(place, founded, delta(Party::Alice).to_bytes()).unwrap());
    let Err(Error::Malformed { why, .. }) = Pool::open(&path, None) else { panic!("it is no pool of ours") };
    assert!(why.contains("'silent17' is gone") && why.contains("use silent17w"), "{why}");
}

/// A cursor that was set back has no batches to give out: they were erased.
#[test]
fn a_cursor_that_was_set_back_is_noticed() {
    let mut pair = Pair::with([0, 0, 70]);
    pair.append([0, 0, 70]);
    let folder = pair.folder(Party::Alice);
    let old = fs::read(folder.join("cursor")).unwrap();
    pair.take([0, 0, 80]);
    drop(pair.alice);
    fs::write(folder.join("cursor"), old).unwrap();
    Folder { _place: pair.place, path: folder }.refused(&batch(2, 70), "are missing");
}

/// What only we have goes from its end on: where that is cut short, nothing is missing in the middle.
#[test]
fn a_trim_that_is_cut_short_leaves_no_gap() {
    let mut pair = Pair::new();
    (0..3).for_each(|_| append(&mut pair.alice, [0, 0, 70]));
    let folder = Folder { path: pair.folder(Party::Alice), _place: pair.place };
    pair.alice.agree(&pair.bob.summary()).unwrap();
    // The one in the middle cannot be erased.
    let in_the_way = folder.file(&format!("{}.part", batch(2, 70)));
    fs::create_dir(&in_the_way).unwrap();
    assert!(matches!(pair.alice.trim(), Err(Error::Io { .. })));
    drop(pair.alice);
    fs::remove_dir(&in_the_way).unwrap();
    folder.read().unwrap();
    assert!(folder.file(&batch(2, 0)).exists() && !folder.file(&batch(2, 140)).exists());
}

/// Correlations that are made anew have the numbers of those that were lost, but not their key stream. Under one
/// key, two copies of the disk would give the XOR of both.
#[test]
fn a_number_that_comes_again_has_another_key_stream() {
    let xor = |a: &[u8], b: &[u8]| a.iter().zip(b).map(|(a, b)| a ^ b).collect::<Vec<u8>>();
    let mut pair = Pair::new();
    append(&mut pair.alice, [5, 0, 0]);
    let path = pair.folder(Party::Alice).join(batch(0, 0));
    let first = fs::read(&path).unwrap();
    pair.agree();
    pair.alice.trim().unwrap();
    assert!(!path.exists());
    let mut others = Stock::new(Party::Alice);
    let blocks: Vec<Block> = (0..5).map(|i| Block::new(i << 9)).collect();
    others.put_cots(Side::Sender, blocks.clone());
    pair.alice.append(BATCH, &mut others).unwrap();
    let second = fs::read(&path).unwrap();
    let secrets = (0..5).flat_map(|i| (cot(Party::Alice, Party::Alice, i) ^ blocks[i as usize]).to_bytes());
    let secrets: Vec<u8> = secrets.collect();
    let sealed = 120..200;
    assert_ne!(xor(&first[sealed.clone()], &second[sealed]), secrets);

    let [mut first, mut second] = [
        (0..5).flat_map(|i| cot(Party::Alice, Party::Alice, i).to_bytes()).collect::<Vec<u8>>(),
        blocks.iter().flat_map(|block| block.to_bytes()).collect(),
    ];
    [&mut first, &mut second].into_iter().for_each(|text| sealed_under_one_key(text));
    assert_eq!(xor(&first, &second), secrets, "the twin gives nothing away");
}

/// What is on disk says nothing: no correlation, no Δ.
#[test]
fn a_sealed_folder_has_no_secret_in_clear() {
    let place = TempDir::new().unwrap();
    let folder = place.path().join("pool");
    let key = SealKey::from_bytes(&[7; 32]).unwrap();
    let mut pool = Pool::create(&folder, &origin(Party::Alice), delta(Party::Alice), Some(key)).unwrap();
    pool.agree(&Summary { party: Party::Bob, ..pool.summary() }).unwrap();
    append(&mut pool, [50, 50, 6400]);
    let a: Vec<u8> = stock(Party::Alice, [0..0, 0..0, 0..6400]).draw_triples(6400).unwrap().a[..2]
        .iter()
        .flat_map(|word| word.to_le_bytes())
        .collect();
    let secrets = [
        delta(Party::Alice).to_bytes().to_vec(),
        cot(Party::Alice, Party::Alice, 0).to_bytes().to_vec(),
        cot(Party::Alice, Party::Bob, 49).to_bytes().to_vec(),
        a,
        pool.folder.key().to_vec(),
    ];
    for entry in fs::read_dir(&folder).unwrap() {
        let bytes = fs::read(entry.unwrap().path()).unwrap();
        for secret in &secrets {
            assert!(bytes.windows(secret.len()).all(|window| window != secret));
        }
    }
}

//! Files that came to harm, or from elsewhere: refused by name, without a panic.

use super::*;
use crate::disk::seal;

/// Alice's folder, closed, with two lots of each kind, all used in part.
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

fn lot(kind: usize, first: u64) -> String {
    format!("{}-{first:012x}", KINDS[kind])
}

#[test]
fn a_file_cut_at_any_byte_is_refused() {
    let folder = Folder::new();
    for name in ["header".into(), "cursor".into(), lot(0, 0), lot(2, 70)] {
        let whole = fs::read(folder.file(&name)).unwrap();
        for len in 0..whole.len() {
            fs::write(folder.file(&name), &whole[..len]).unwrap();
            folder.refused(&name, "");
        }
        fs::write(folder.file(&name), [&whole[..], &[0]].concat()).unwrap();
        folder.refused(&name, "");
        fs::write(folder.file(&name), whole).unwrap();
        folder.read().unwrap();
    }
}

#[test]
fn a_flipped_bit_anywhere_is_found() {
    let folder = Folder::new();
    for name in ["header".into(), "cursor".into(), lot(1, 0), lot(2, 0)] {
        let whole = fs::read(folder.file(&name)).unwrap();
        for at in 0..whole.len() {
            let mut other = whole.clone();
            other[at] ^= 1 << (at % 8);
            fs::write(folder.file(&name), other).unwrap();
            match folder.read() {
                // Where the number in the head changes and the length stays, the next lot is at odds with it.
                Err(Error::Malformed { what, .. }) => assert!(what.contains(name.split('-').next().unwrap()), "{what}"),
                other => panic!("{name}, byte {at}: {other:?}"),
            }
        }
        fs::write(folder.file(&name), whole).unwrap();
    }
    folder.read().unwrap();
}

/// Whoever changes a header also makes its digest anew: then the tag is wrong.
#[test]
fn a_header_with_a_digest_of_its_own_is_refused() {
    let folder = Folder::new();
    let whole = fs::read(folder.file("header")).unwrap();
    for at in 0..464 {
        let mut other = whole[..464].to_vec();
        other[at] ^= 1 << (at % 8);
        let digest = blake3::hash(&other);
        other.extend_from_slice(digest.as_bytes());
        fs::write(folder.file("header"), other).unwrap();
        // A pool that claims to be sealed asks for its key.
        match folder.read() {
            Err(Error::Malformed { what, .. }) => assert!(what.ends_with("header")),
            Err(Error::Usage(why)) if at == 11 => assert!(why.contains("sealed")),
            other => panic!("byte {at}: {other:?}"),
        }
    }
}

/// What is read is checked again when it is used, and nothing of it reaches the stock.
#[test]
fn a_lot_that_changes_after_opening_is_found_when_it_is_used() {
    let folder = Folder::new();
    let mut pool = Pool::open(&folder.path, None).unwrap();
    let theirs = Summary { party: Party::Bob, ..pool.summary() };
    pool.agree(&theirs).unwrap();
    let path = folder.file(&lot(2, 70));
    let mut bytes = fs::read(&path).unwrap();
    bytes[130] ^= 4;
    fs::write(&path, bytes).unwrap();
    let mut stock = Stock::new(Party::Alice);
    match pool.take(demand([4, 4, 100]), &mut stock) {
        Err(Error::Malformed { what, .. }) => assert!(what.ends_with(&lot(2, 70))),
        other => panic!("{other:?}"),
    }
    assert_eq!(stock.available(), Demand::NONE);
    assert_eq!(pool.used(), demand([6, 7, 110]));
}

fn swap(a: &Path, b: &Path) {
    let (first, second) = (fs::read(a).unwrap(), fs::read(b).unwrap());
    fs::write(a, second).unwrap();
    fs::write(b, first).unwrap();
}

#[test]
fn lots_that_changed_places_are_found() {
    let folder = Folder::new();
    for (a, b) in [(lot(0, 0), lot(1, 0)), (lot(1, 0), lot(2, 0)), (lot(2, 0), lot(2, 70))] {
        swap(&folder.file(&a), &folder.file(&b));
        match folder.read() {
            Err(Error::Malformed { what, why }) => {
                assert!((what.ends_with(&a) || what.ends_with(&b)) && why.contains("it was"), "{what}: {why}");
            }
            other => panic!("{other:?}"),
        }
        swap(&folder.file(&a), &folder.file(&b));
        folder.read().unwrap();
    }
}

#[test]
fn files_of_the_peer_or_of_another_pool_are_refused() {
    let mut pair = Pair::with([5, 6, 70]);
    pair.take([1, 1, 1]);
    let other_identity = [9; 32];
    let deltas = [Party::Alice, Party::Bob].map(|party| delta_identity(&other_identity, party, delta(party)));
    let other = Origin { identity: other_identity, deltas, ..origin(Party::Alice) };
    let elsewhere = pair.place.path().join("elsewhere");
    let mut pool = Pool::create(&elsewhere, &other, delta(Party::Alice), None).unwrap();
    pool.agree(&Summary { party: Party::Bob, ..pool.summary() }).unwrap();
    append(&mut pool, [5, 6, 70]);
    let (ours, theirs) = (pair.folder(Party::Alice), pair.folder(Party::Bob));
    drop((pool, pair.alice, pair.bob));
    let folder = Folder { _place: pair.place, path: ours.clone() };
    for (name, halves, pools) in [
        ("cursor".into(), "damaged, or tampered with", "damaged, or tampered with"),
        (lot(0, 0), "it is bob's half, not alice's", "it belongs to 0909090909090909"),
        (lot(2, 0), "it is bob's half, not alice's", "it belongs to 0909090909090909"),
        // Then all the rest is foreign.
        ("header".into(), "", ""),
    ] {
        let own = fs::read(ours.join(&name)).unwrap();
        for (from, words) in [(&theirs, halves), (&elsewhere, pools)] {
            fs::copy(from.join(&name), ours.join(&name)).unwrap();
            folder.refused(if name == "header" { "cursor" } else { &name }, words);
        }
        fs::write(ours.join(&name), own).unwrap();
        folder.read().unwrap();
    }
}

#[test]
fn missing_files_are_missed() {
    let mut pair = Pair::with([5, 6, 70]);
    pair.append([5, 6, 70]);
    pair.append([5, 6, 70]);
    let folder = Folder { path: pair.folder(Party::Alice), _place: pair.place };
    drop(pair.alice);
    for (gone, found) in [(lot(0, 0), lot(0, 5)), (lot(2, 70), lot(2, 140))] {
        let bytes = fs::read(folder.file(&gone)).unwrap();
        fs::remove_file(folder.file(&gone)).unwrap();
        folder.refused(&found, "are missing");
        fs::write(folder.file(&gone), bytes).unwrap();
        restrict(&folder.file(&gone), 0o600);
        folder.read().unwrap();
    }
    // The last is not missed alone, but in the comparison with the peer.
    fs::remove_file(folder.file(&lot(2, 140))).unwrap();
    let mut pool = Pool::open(&folder.path, None).unwrap();
    pool.agree(&pair.bob.summary()).unwrap();
    assert_eq!(pool.left(), demand([15, 18, 140]));
    drop(pool);
    fs::remove_file(folder.file("cursor")).unwrap();
    assert!(matches!(folder.read(), Err(Error::Io { .. })), "a cursor that is gone is not taken for one at 0");
}

/// A cursor that was set back has no lots to give out: they were erased.
#[test]
fn a_cursor_that_was_set_back_is_noticed() {
    let mut pair = Pair::with([0, 0, 70]);
    pair.append([0, 0, 70]);
    let folder = pair.folder(Party::Alice);
    let old = fs::read(folder.join("cursor")).unwrap();
    pair.take([0, 0, 80]);
    drop(pair.alice);
    fs::write(folder.join("cursor"), old).unwrap();
    Folder { _place: pair.place, path: folder }.refused(&lot(2, 70), "are missing");
}

#[test]
fn what_a_crash_left_is_removed() {
    let mut pair = Pair::with([5, 6, 70]);
    let folder = pair.folder(Party::Alice);
    let used = fs::read(folder.join(lot(2, 0))).unwrap();
    pair.take([0, 0, 70]);
    drop(pair.alice);
    // A lot that the cursor has passed, half erased; files under way; a stranger's file.
    let half = [&used[..130], &vec![0; used.len() - 130][..]].concat();
    fs::write(folder.join(lot(2, 0)), half).unwrap();
    let parts = [format!("{}.part", lot(2, 70)), "cursor.part".into(), "header.part".into()];
    for name in parts.iter().chain([&lot(2, 0), &"notes.txt".into()]) {
        if !folder.join(name).exists() {
            fs::write(folder.join(name), b"begun").unwrap();
        }
        restrict(&folder.join(name), 0o600);
    }
    let pool = Pool::open(&folder, None).unwrap();
    pool.verify().unwrap();
    assert_eq!(pool.left(), demand([5, 6, 0]));
    assert!(parts.iter().chain([&lot(2, 0)]).all(|name| !folder.join(name).exists()));
    assert!(folder.join("notes.txt").exists());
}

/// A making that was cut short leaves a folder in which a pool can be made.
#[test]
fn a_pool_without_header_is_none() {
    let pair = Pair::new();
    let folder = pair.folder(Party::Alice);
    drop(pair.alice);
    fs::rename(folder.join("header"), folder.join("header.part")).unwrap();
    usage(Pool::open(&folder, None), "there is no pool");
    drop(Pool::create(&folder, &origin(Party::Alice), delta(Party::Alice), None).unwrap());
    Pool::open(&folder, None).unwrap();
}

/// Correlations that are made anew have the numbers of those that were lost, but not their key stream. With nonces
/// that are counted, two copies of the disk give the XOR of both.
#[test]
fn a_number_that_comes_again_has_another_key_stream() {
    let xor = |a: &[u8], b: &[u8]| a.iter().zip(b).map(|(a, b)| a ^ b).collect::<Vec<u8>>();
    let mut pair = Pair::new();
    append(&mut pair.alice, [5, 0, 0]);
    let path = pair.folder(Party::Alice).join(lot(0, 0));
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
    let sealed = lot::HEAD..lot::HEAD + 80;
    assert_ne!(xor(&first[sealed.clone()], &second[sealed]), secrets);

    let counted = [0; seal::NONCE];
    let [mut first, mut second] = [
        (0..5).flat_map(|i| cot(Party::Alice, Party::Alice, i).to_bytes()).collect::<Vec<u8>>(),
        blocks.iter().flat_map(|block| block.to_bytes()).collect(),
    ];
    seal::seal(&[1; 32], &counted, b"", &mut first);
    seal::seal(&[1; 32], &counted, b"", &mut second);
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
        pool.secrets.key.to_vec(),
    ];
    for entry in fs::read_dir(&folder).unwrap() {
        let bytes = fs::read(entry.unwrap().path()).unwrap();
        for secret in &secrets {
            assert!(bytes.windows(secret.len()).all(|window| window != secret));
        }
    }
}

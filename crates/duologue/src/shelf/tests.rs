use crate::agreement;
use tempfile::TempDir;

use super::*;
use kernels::Block;

mod crash;
mod damage;

const BATCH: [u8; 32] = [0xba; 32];

/// What a shelf of the tests is for.
fn fields(garbler: Party) -> Fields {
    vec![("the program", "'test'\n".into()), (agreement::GARBLER, garbler.to_string()), (agreement::TILE, "64".into())]
}

/// A new shelf of Alice's, who evaluates, or garbles.
fn create(folder: &Path, garbler: Party, seal: Option<SealKey>) -> Shelf {
    let mut shelf = Shelf::create(folder, seal).unwrap();
    shelf.found([0x5a; 32], Party::Alice, None, &fields(garbler)).unwrap();
    shelf
}

fn open(folder: &Path) -> Shelf {
    Shelf::open(folder, None).unwrap_or_else(|error| panic!("{error}"))
}

const ROOM: Room = Room { labels: 1000, tables: 70_000 };

/// What a run of this number has: labels and tables.
fn content(number: u64) -> [Vec<u8>; 2] {
    [ROOM.labels, ROOM.tables].map(|len| (0..len).map(|i| (i * 3 + number) as u8).collect())
}

fn secrets(number: u64) -> Secrets {
    Secrets { block: Block::new(0x1234 << 64 | u128::from(number)), and0: 77 * number }
}

/// The next run, as a session makes it.
fn make(shelf: &mut Shelf, batch: [u8; 32]) {
    let number = shelf.counts().unwrap()[1];
    let evaluates = shelf.term(agreement::GARBLER).unwrap() == "bob";
    let mut making = shelf.begin((number, batch), evaluates, &secrets(number), ROOM).unwrap();
    let [labels, tables] = content(number);
    labels.chunks(300).for_each(|part| making.labels(part).unwrap());
    tables.chunks(10_000).for_each(|part| making.tables(part).unwrap());
    shelf.complete(making).unwrap();
}

/// A run is as it was made.
fn holds(taken: &Arc<Taken>, number: u64, evaluates: bool) {
    let (is, was) = (taken.secrets().unwrap(), secrets(number));
    assert!(is.block == was.block && is.and0 == was.and0);
    let [labels, tables] = content(number);
    let mut came = vec![0; 700];
    taken.labels(Room { labels: 300, tables: 0 }, &mut came).unwrap();
    assert!(came == labels[300..]);
    if evaluates {
        let mut reader = Tables::new(taken.clone(), Room { labels: 0, tables: 5 });
        assert!(reader.next(1).unwrap() == &tables[5..6]);
        assert!(reader.next(69_994).unwrap() == &tables[6..]);
        assert!(reader.next(0).unwrap().is_empty());
        assert!(reader.next(1).is_err());
    }
}

use std::sync::Arc;

/// Uses the next run up, as a session does.
fn take(shelf: &mut Shelf) -> u64 {
    let number = shelf.first_from(0).unwrap();
    let taken = Arc::new(shelf.checked(number).unwrap());
    shelf.advance(number + 1).unwrap();
    let evaluates = shelf.term(agreement::GARBLER).unwrap() == "bob";
    holds(&taken, number, evaluates);
    shelf.erase_used().unwrap();
    number
}

fn usage<T>(result: Result<T>, words: &str) {
    match result {
        Err(Error::Usage(why)) => assert!(why.contains(words), "'{why}' does not say '{words}'"),
        Err(error) => panic!("{error:?}, but it should be about '{words}'"),
        Ok(_) => panic!("no error about '{words}'"),
    }
}

#[test]
fn runs_come_once_and_in_order() {
    for garbler in [Party::Alice, Party::Bob] {
        let place = TempDir::new().unwrap();
        let folder = place.path().join("shelf");
        drop(create(&folder, garbler, None));
        let mut next = 0;
        for turn in 0..4 {
            let mut shelf = open(&folder);
            (0..2).for_each(|_| make(&mut shelf, BATCH));
            drop(shelf);
            let mut shelf = open(&folder);
            shelf.verify().unwrap();
            assert_eq!(shelf.counts().unwrap(), [next, 2 * turn + 2, 2 * turn + 2 - next]);
            assert_eq!(take(&mut shelf), next);
            next += 1;
        }
        let mut shelf = open(&folder);
        while shelf.first_from(0).unwrap() != NONE {
            assert_eq!(take(&mut shelf), next);
            next += 1;
        }
        assert_eq!((next, shelf.counts().unwrap()), (8, [8, 8, 0]));
        usage(shelf.verify_next(), "no prepared run is left");
        assert_eq!(shelf.status().unwrap().bytes, 0);
    }
}

#[test]
fn a_run_is_none_before_it_is_complete() {
    let place = TempDir::new().unwrap();
    let folder = place.path().join("shelf");
    let mut shelf = create(&folder, Party::Bob, None);
    make(&mut shelf, BATCH);
    let mut making = shelf.begin((1, BATCH), true, &secrets(1), ROOM).unwrap();
    making.labels(&[1; 500]).unwrap();
    std::mem::forget(making);
    drop(shelf);
    assert!(folder.join("labels-000000000001.part").exists());
    let shelf = open(&folder);
    assert_eq!(shelf.counts().unwrap(), [0, 1, 1]);
    assert!(!folder.join("labels-000000000001.part").exists() && !folder.join("tables-000000000001.part").exists());
}

#[test]
fn what_only_one_party_has_is_trimmed_and_its_number_comes_again() {
    let place = TempDir::new().unwrap();
    let mut shelf = create(&place.path().join("shelf"), Party::Bob, None);
    (0..4).for_each(|_| make(&mut shelf, BATCH));
    shelf.trim(2).unwrap();
    assert_eq!(shelf.counts().unwrap(), [0, 2, 2]);
    make(&mut shelf, [1; 32]);
    assert_eq!([1, 2].map(|number| shelf.batch(number).unwrap()), [BATCH, [1; 32]]);
    // A cursor never goes back, and none goes beyond reason.
    shelf.advance(2).unwrap();
    shelf.advance(1).unwrap();
    assert_eq!(shelf.counts().unwrap()[0], 2);
    assert!(matches!(shelf.advance(u64::MAX), Err(Error::Peer(_))));
}

#[test]
fn a_new_shelf_is_nothing_yet() {
    let place = TempDir::new().unwrap();
    let folder = place.path().join("shelf");
    let shelf = Shelf::create(&folder, None).unwrap();
    assert!(shelf.is_new() && shelf.identity().is_none() && !Shelf::is_in(&folder));
    usage(shelf.status(), "no prepared run is left");
    drop(shelf);
    usage(Shelf::open(&folder, None), "there are no prepared runs");
    usage(Shelf::open(&place.path().join("elsewhere"), None), "there are no prepared runs");
    fs::write(folder.join("poem"), "").unwrap();
    usage(Shelf::create(&folder, None), "it has 'poem'");
    fs::remove_file(folder.join("poem")).unwrap();
    drop(create(&folder, Party::Bob, None));
    usage(Shelf::create(&folder, None), "it has 'header'");
    assert!(Shelf::is_in(&folder));
}

#[test]
fn a_sealed_shelf_needs_its_key_and_shows_no_secret() {
    let key = |byte: u8| Some(SealKey::from_bytes(&[byte; 32]).unwrap());
    let place = TempDir::new().unwrap();
    let (sealed, open) = (place.path().join("sealed"), place.path().join("open"));
    make(&mut create(&sealed, Party::Alice, key(1)), BATCH);
    make(&mut create(&open, Party::Alice, None), BATCH);
    usage(Shelf::open(&sealed, None), "is sealed: give the key");
    usage(Shelf::open(&sealed, key(2)), "sealed with another key");
    usage(Shelf::open(&open, key(1)), "is not sealed");
    let mut shelf = Shelf::open(&sealed, key(1)).unwrap();
    assert!(shelf.status().unwrap().sealed);
    take(&mut shelf);
}

#[cfg(unix)]
#[test]
fn nobody_else_may_read_any_of_it() {
    use std::os::unix::fs::PermissionsExt;
    let place = TempDir::new().unwrap();
    let folder = place.path().join("shelf");
    make(&mut create(&folder, Party::Bob, None), BATCH);
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(&folder), 0o700);
    for entry in fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path()) {
        assert_eq!(mode(&entry), 0o600, "{}", entry.display());
        if entry.ends_with("lock") {
            continue;
        }
        fs::set_permissions(&entry, fs::Permissions::from_mode(0o640)).unwrap();
        usage(Shelf::open(&folder, None), "others may read");
        fs::set_permissions(&entry, fs::Permissions::from_mode(0o600)).unwrap();
    }
    fs::set_permissions(&folder, fs::Permissions::from_mode(0o750)).unwrap();
    usage(Shelf::open(&folder, None), "others may read");
}

#[test]
fn what_it_is_for_is_named() {
    let place = TempDir::new().unwrap();
    let shelf = create(&place.path().join("shelf"), Party::Bob, None);
    shelf.check(Party::Alice, None, &fields(Party::Bob)).unwrap();
    usage(shelf.check(Party::Bob, None, &fields(Party::Bob)), "alice's half of prepared runs, not bob's");
    usage(shelf.check(Party::Alice, None, &fields(Party::Alice)), "who garbles was bob, and is alice now");
    let mut other = fields(Party::Bob);
    other[0].1 = "'other'".into();
    usage(shelf.check(Party::Alice, None, &other), "the program was 'test'\\n, and is 'other' now");
    let key = crate::channel::Identity::generate().unwrap().public();
    usage(shelf.check(Party::Alice, Some([key; 2]), &fields(Party::Bob)), "another peer or key");
}

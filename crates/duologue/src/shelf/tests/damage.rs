//! What happens to files: it is noticed, named, and uses nothing up.

use super::*;

/// A shelf of Alice's, who evaluates, with two runs.
fn two_runs(folder: &Path) {
    let mut shelf = create(folder, Party::Bob, None);
    (0..2).for_each(|_| make(&mut shelf, BATCH));
}

fn files(folder: &Path) -> Vec<PathBuf> {
    let mut all: Vec<PathBuf> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    all.retain(|path| !path.ends_with("lock"));
    all.sort();
    all
}

/// Opens it and reads all: whether anything is wrong, and which file.
fn look(folder: &Path) -> Result<[u64; 3]> {
    let shelf = Shelf::open(folder, None)?;
    shelf.verify()?;
    shelf.counts()
}

/// Small files at every byte, large ones here and there.
#[test]
fn every_byte_of_every_file_counts() {
    let place = TempDir::new().unwrap();
    let folder = place.path().join("shelf");
    two_runs(&folder);
    for path in files(&folder) {
        let whole = fs::read(&path).unwrap();
        let step = whole.len() / 200 + 1;
        for at in (0..whole.len()).step_by(step) {
            let mut harmed = whole.clone();
            harmed[at] ^= 1 << (at % 8);
            fs::write(&path, &harmed).unwrap();
            let Err(error) = look(&folder) else { panic!("byte {at} of {}", path.display()) };
            let named = matches!(&error, Error::Malformed { what, .. } if what.contains(path.to_str().unwrap()));
            // A flag of the header that changes is found by its digest, a batch by the other file of the run.
            let other = path.to_string_lossy().contains("tables") && error.to_string().contains("labels");
            assert!(named || other, "byte {at} of {}: {error}", path.display());
        }
        for cut in (0..whole.len()).step_by(step) {
            fs::write(&path, &whole[..cut]).unwrap();
            assert!(matches!(look(&folder), Err(Error::Malformed { .. })), "{} cut at {cut}", path.display());
        }
        fs::write(&path, [&whole[..], &[0]].concat()).unwrap();
        assert!(matches!(look(&folder), Err(Error::Malformed { .. })));
        fs::write(&path, &whole).unwrap();
        assert_eq!(look(&folder).unwrap(), [0, 2, 2], "damage uses nothing up");
    }
}

#[test]
fn missing_files_are_missed() {
    let place = TempDir::new().unwrap();
    let folder = place.path().join("shelf");
    two_runs(&folder);
    let away = place.path().join("away");
    for (name, words) in [
        ("header", "there are no prepared runs"),
        ("cursor", "No such file"),
        ("tables-000000000000", "its tables are missing"),
    ] {
        fs::rename(folder.join(name), &away).unwrap();
        let error = Shelf::open(&folder, None).err().unwrap();
        let all = format!("{error} {error:?}");
        assert!(all.contains(words), "{all}");
        fs::rename(&away, folder.join(name)).unwrap();
    }
    // Without its labels a run is none; its tables are of no use to anybody.
    fs::remove_file(folder.join("labels-000000000000")).unwrap();
    let mut shelf = open(&folder);
    assert_eq!(shelf.counts().unwrap(), [0, 2, 1]);
    assert!(!folder.join("tables-000000000000").exists());
    assert_eq!(take(&mut shelf), 1);
}

/// Files of the peer, of another shelf, of another run, and tables of another session.
#[test]
fn files_from_elsewhere_are_refused() {
    let place = TempDir::new().unwrap();
    let folder = |name: &str| place.path().join(name);
    two_runs(&folder("ours"));
    let mut other = Shelf::create(&folder("other"), None).unwrap();
    other.found([9; 32], Party::Alice, None, &fields(Party::Bob)).unwrap();
    make(&mut other, BATCH);
    let mut theirs = Shelf::create(&folder("theirs"), None).unwrap();
    theirs.found([0x5a; 32], Party::Bob, None, &fields(Party::Alice)).unwrap();
    let mut making = theirs.begin((0, BATCH), true, &secrets(0), ROOM).unwrap();
    let [labels, tables] = content(0);
    making.labels(&labels).and_then(|()| making.tables(&tables)).unwrap();
    theirs.complete(making).unwrap();
    let mut again = create(&folder("again"), Party::Bob, None);
    make(&mut again, [1; 32]);
    for (from, name, to, words) in [
        ("other", "labels-000000000000", "labels-000000000000", "it belongs to 0909090909090909"),
        ("other", "tables-000000000000", "tables-000000000000", "it belongs to 0909090909090909"),
        ("other", "cursor", "cursor", "tampered"),
        ("theirs", "labels-000000000000", "labels-000000000000", "it is bob's half, not alice's"),
        ("theirs", "tables-000000000000", "tables-000000000000", "it is bob's half, not alice's"),
        ("ours", "labels-000000000001", "labels-000000000000", "it was labels-000000000001"),
        ("ours", "tables-000000000001", "labels-000000000000", "it was tables-000000000001"),
        ("again", "tables-000000000000", "tables-000000000000", "in another session than its tables"),
        ("again", "labels-000000000000", "labels-000000000000", "in another session than its tables"),
    ] {
        let (target, kept) = (folder("ours").join(to), place.path().join("kept"));
        fs::copy(&target, &kept).unwrap();
        fs::copy(folder(from).join(name), &target).unwrap();
        let error = look(&folder("ours")).err().unwrap_or_else(|| panic!("{name} of {from}")).to_string();
        assert!(error.contains(words), "{name} of {from}: {error}");
        fs::copy(&kept, &target).unwrap();
    }
    // Both files of the other session: it is another shelf's key that sealed them.
    for name in ["labels-000000000000", "tables-000000000000"] {
        fs::copy(folder("again").join(name), folder("ours").join(name)).unwrap();
    }
    assert!(matches!(look(&folder("ours")), Err(Error::Malformed { .. })));
}

#[test]
fn another_version_is_named() {
    let place = TempDir::new().unwrap();
    let folder = place.path().join("shelf");
    two_runs(&folder);
    let path = folder.join("header");
    let mut header = fs::read(&path).unwrap();
    header[8] = 2;
    let len = header.len() - 32;
    let digest = *blake3::hash(&header[..len]).as_bytes();
    header[len..].copy_from_slice(&digest);
    fs::write(&path, &header).unwrap();
    let error = look(&folder).err().unwrap().to_string();
    assert!(error.contains("it has version 2, but we only know 1"), "{error}");
}

/// A run that is damaged is removed by hand; the others go on.
#[test]
fn a_damaged_run_is_found_before_it_is_used() {
    let place = TempDir::new().unwrap();
    let folder = place.path().join("shelf");
    two_runs(&folder);
    let path = folder.join("tables-000000000000");
    let mut tables = fs::read(&path).unwrap();
    tables[60_000] ^= 4;
    fs::write(&path, &tables).unwrap();
    let mut shelf = open(&folder);
    assert!(matches!(shelf.verify_next(), Err(Error::Malformed { .. })));
    assert!(matches!(shelf.checked(0), Err(Error::Malformed { .. })));
    assert_eq!(shelf.counts().unwrap(), [0, 2, 2]);
    drop(shelf);
    fs::remove_file(folder.join("labels-000000000000")).unwrap();
    shelf = open(&folder);
    assert_eq!(take(&mut shelf), 1);
}

/// What a crash left in the middle of erasing, and of making.
#[test]
fn what_a_crash_left_is_removed() {
    let place = TempDir::new().unwrap();
    let folder = place.path().join("shelf");
    two_runs(&folder);
    let mut shelf = open(&folder);
    shelf.advance(1).unwrap();
    drop(shelf);
    // Killed between the mark and erasing: both files are there. Killed while erasing: the labels have no name.
    fs::copy(folder.join("labels-000000000000"), folder.join("labels-000000000000.part")).unwrap();
    fs::write(folder.join("header.part"), "half").unwrap();
    shelf = open(&folder);
    assert_eq!(shelf.counts().unwrap(), [1, 2, 1]);
    let names: Vec<String> =
        files(&folder).iter().map(|path| path.file_name().unwrap().to_string_lossy().into_owned()).collect();
    assert_eq!(names, ["cursor", "header", "labels-000000000001", "tables-000000000001"]);
    assert_eq!(take(&mut shelf), 1);
}

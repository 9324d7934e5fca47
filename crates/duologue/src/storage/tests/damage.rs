//! What happens to files: it is noticed, named, and uses nothing up.

use super::*;

/// Of a folder that nobody founds.
static CONTENT: Content =
    Content { code: 7, absent: "", makes: "", alone: "nothing else", kinds: &["things"], bulk: None };

/// Bytes of a header before its digest.
fn digested(header: &[u8]) -> Vec<u8> {
    header[..header.len() - 32].to_vec()
}

fn with_digest(mut header: Vec<u8>) -> Vec<u8> {
    let digest = blake3::hash(&header);
    header.extend_from_slice(digest.as_bytes());
    header
}

fn swap(a: &Path, b: &Path) {
    let (first, second) = (fs::read(a).unwrap(), fs::read(b).unwrap());
    fs::write(a, second).unwrap();
    fs::write(b, first).unwrap();
}

/// How the name of a file begins: what belongs together begins alike.
fn kind(name: &str) -> &str {
    name.rsplit_once('-').map_or(name, |(kind, _)| kind)
}

for_both! {
    /// Small files at every byte, large ones here and there.
    fn a_file_cut_at_any_byte_is_refused<S: Store>() {
        let folder = Stored::<S>::new();
        for name in folder.one_of_each() {
            let whole = fs::read(folder.file(&name)).unwrap();
            for len in (0..whole.len()).step_by(whole.len() / 500 + 1) {
                fs::write(folder.file(&name), &whole[..len]).unwrap();
                folder.refused(&name, "");
            }
            fs::write(folder.file(&name), [&whole[..], &[0]].concat()).unwrap();
            folder.refused(&name, "");
            fs::write(folder.file(&name), whole).unwrap();
            folder.is_whole();
        }
    }

    fn a_flipped_bit_anywhere_is_found<S: Store>() {
        let folder = Stored::<S>::new();
        for name in folder.one_of_each() {
            let whole = fs::read(folder.file(&name)).unwrap();
            for at in (0..whole.len()).step_by(whole.len() / 500 + 1) {
                let mut other = whole.clone();
                other[at] ^= 1 << (at % 8);
                fs::write(folder.file(&name), other).unwrap();
                match folder.read().err() {
                    // Where the count in the head changes and the length stays, the next entry is at odds with it; a
                    // batch or key that changes in bulk is found by the entry's other file.
                    Some(Error::Malformed { what, .. }) => {
                        let near = what.contains(kind(&name)) || name.starts_with("tables") && what.contains("labels");
                        assert!(near, "{name}, byte {at}: {what}");
                    }
                    other => panic!("{name}, byte {at}: {other:?}"),
                }
            }
            fs::write(folder.file(&name), whole).unwrap();
        }
        folder.is_whole();
    }

    /// Whoever changes a header also makes its digest anew: then the tag is wrong, or what it says.
    fn a_header_with_a_digest_of_its_own_is_refused<S: Store>() {
        let folder = Stored::<S>::new();
        let whole = fs::read(folder.file("header")).unwrap();
        for at in 0..whole.len() - 32 {
            let mut other = digested(&whole);
            other[at] ^= 1 << (at % 8);
            fs::write(folder.file("header"), with_digest(other)).unwrap();
            match folder.read().err() {
                Some(Error::Malformed { what, .. }) => assert!(what.ends_with("header"), "byte {at}: {what}"),
                // A folder that claims another version, to be sealed, or to hold something else says so.
                Some(Error::Usage(why)) if (8..13).contains(&at) => {
                    assert!(["version", "sealed", "has "].iter().any(|word| why.contains(word)), "byte {at}: {why}");
                }
                other => panic!("byte {at}: {other:?}"),
            }
        }
        fs::write(folder.file("header"), whole).unwrap();
        folder.is_whole();
    }

    fn files_that_changed_places_are_found<S: Store>() {
        let folder = Stored::<S>::new();
        let names = folder.sealed();
        for (a, b) in names.iter().zip(&names[1..]) {
            swap(&folder.file(a), &folder.file(b));
            match folder.read().err() {
                Some(Error::Malformed { what, why }) => {
                    assert!((what.ends_with(a) || what.ends_with(b)) && why.contains("it was"), "{what}: {why}");
                }
                other => panic!("{other:?}"),
            }
            swap(&folder.file(a), &folder.file(b));
        }
        let keys: Vec<String> = folder.names().into_iter().filter(|name| name.starts_with("key-")).collect();
        swap(&folder.file(&keys[0]), &folder.file(&keys[1]));
        assert!(matches!(folder.read().err(), Some(Error::Malformed { what, .. }) if what.contains("key-")));
        swap(&folder.file(&keys[0]), &folder.file(&keys[1]));
        folder.is_whole();
    }

    /// Files of the peer, and of another folder of ours: each alone, and each with its key.
    fn files_from_elsewhere_are_refused<S: Store>() {
        let folder = Stored::<S>::new();
        let [theirs, elsewhere] = ["theirs", "elsewhere"].map(|name| folder.place.path().join(name));
        for (path, party, identity) in [(&theirs, Party::Bob, IDENTITY), (&elsewhere, Party::Alice, [9; 32])] {
            let mut store = S::create(path, party, identity, None);
            (0..3).for_each(|turn| store.add(turn));
            let taken = store.take(&S::portion(0));
            store.check_taken(taken);
        }
        for name in folder.sealed().iter().chain(&["cursor".into(), "header".into()]) {
            let own = fs::read(folder.file(name)).unwrap();
            for (from, words) in
                [(&theirs, "it is bob's half, not alice's"), (&elsewhere, "it belongs to 0909090909090909, not")]
            {
                if !from.join(name).exists() {
                    continue; // the garbler's half has no tables
                }
                fs::copy(from.join(name), folder.file(name)).unwrap();
                match name.as_str() {
                    "cursor" => folder.refused(name, "damaged, or tampered with"),
                    // Then all the rest is foreign.
                    "header" => folder.refused("cursor", ""),
                    _ => folder.refused(name, words),
                }
            }
            fs::write(folder.file(name), own).unwrap();
            folder.is_whole();
        }
    }

    /// The header, the cursor, or a key of what is not used.
    fn missing_files_are_missed<S: Store>() {
        let folder = Stored::<S>::new();
        let away = folder.place.path().join("away");
        for name in folder.names().into_iter().filter(|name| !name.contains("-0") || name.starts_with("key-")) {
            fs::rename(folder.file(&name), &away).unwrap();
            match (name.as_str(), folder.read().err().unwrap()) {
                ("header", Error::Usage(why)) => assert!(why.contains("there "), "{why}"),
                // A cursor that is gone is not taken for one at 0.
                ("cursor", Error::Io { what, .. }) => assert!(what.contains("cursor"), "{what}"),
                (name, Error::Malformed { why, .. }) => {
                    assert!(why.contains("its key is missing") && why.contains(name), "{why}");
                }
                (name, other) => panic!("{name}: {other:?}"),
            }
            fs::rename(&away, folder.file(&name)).unwrap();
        }
        folder.is_whole();
    }

    /// What a crash left in the middle of making and erasing, and what was used and is put back without its key.
    fn what_a_crash_left_is_removed<S: Store>() {
        let folder = Stored::<S>::new();
        let names = folder.sealed();
        let mut store = S::open(&folder.path).unwrap();
        let before = fs::read(folder.file(&names[0])).unwrap();
        let taken = store.take(&S::portion(1));
        store.check_taken(taken);
        let (used, made) = (store.used(), store.made());
        drop(store);
        assert!(!folder.file(&names[0]).exists());
        let half = [&before[..130], &vec![0; before.len() - 130][..]].concat();
        fs::write(folder.file(&names[0]), half).unwrap();
        let left = [format!("{}.part", names[1]), "cursor.part".into(), "header.part".into(), format!("key-{}", "ab".repeat(16))];
        for name in left.iter().chain([&"notes.txt".into()]) {
            fs::write(folder.file(name), b"begun").unwrap();
        }
        left.iter().chain([&names[0]]).for_each(|name| restrict(&folder.file(name), 0o600));
        let store = folder.read().unwrap();
        assert_eq!((store.used(), store.made()), (used, made));
        assert!(left.iter().chain([&names[0]]).all(|name| !folder.file(name).exists()));
        assert!(folder.file("notes.txt").exists());
    }

    /// A making that was cut short leaves a folder in which another can be made.
    fn a_folder_without_header_is_none<S: Store>() {
        let place = TempDir::new().unwrap();
        let path = place.path().join("ours");
        drop(S::create(&path, Party::Alice, IDENTITY, None));
        fs::rename(path.join("header"), path.join("header.part")).unwrap();
        usage(S::open(&path), "there ");
        drop(S::create(&path, Party::Alice, IDENTITY, None));
        S::open(&path).unwrap();
    }

    /// Both formats of version 1, and one to come.
    fn another_version_is_named<S: Store>() {
        let folder = Stored::<S>::new();
        let whole = fs::read(folder.file("header")).unwrap();
        let mut next = digested(&whole);
        next[8] = 3;
        let old = |magic: &[u8]| [magic, &[1, 0, 0, 0], &[0; 484]].concat();
        for (header, version, what) in [
            (with_digest(next), "version 3", "files"),
            (old(b"duo-pool"), "version 1", "a pool"),
            (old(b"duo-shlf"), "version 1", "prepared runs"),
        ] {
            fs::write(folder.file("header"), header).unwrap();
            for words in [version, what, "reads version 2 only", "remove the folder"] {
                usage(S::open(&folder.path), words);
            }
        }
        assert!(PreparedRuns::is_in(&folder.path), "an old one is still of its kind");
        fs::write(folder.file("header"), whole).unwrap();
        folder.is_whole();
    }

    fn nobody_else_may_read_any_of_it<S: Store>() {
        if cfg!(not(unix)) {
            return;
        }
        let folder = Stored::<S>::new();
        assert_eq!(mode(&folder.path), 0o700);
        restrict(&folder.path, 0o750);
        usage(S::open(&folder.path), "chmod 700");
        restrict(&folder.path, 0o700);
        assert_eq!(mode(&folder.file("lock")), 0o600);
        for name in folder.names() {
            assert_eq!(mode(&folder.file(&name)), 0o600, "{name}");
            restrict(&folder.file(&name), 0o604);
            usage(folder.read(), "chmod 600");
            restrict(&folder.file(&name), 0o600);
        }
        folder.is_whole();
    }

    fn a_second_process_is_kept_out<S: Store>() {
        let folder = Stored::<S>::new();
        let open = folder.read().unwrap();
        usage(S::open(&folder.path), "another process uses");
        usage(Place::new(&folder.path, &CONTENT, None), "another process uses");
        drop(open);
        usage(Place::new(&folder.path, &CONTENT, None), "is not empty, it has");
        folder.is_whole();
    }

    fn a_sealed_folder_opens_with_its_key_alone<S: Store>() {
        let key = |byte: u8| Some(SealKey::from_bytes(&[byte; 32]).unwrap());
        let place = TempDir::new().unwrap();
        let (sealed, open) = (place.path().join("sealed"), place.path().join("open"));
        S::create(&sealed, Party::Alice, IDENTITY, key(1)).add(1);
        S::create(&open, Party::Alice, IDENTITY, None).add(1);
        usage(S::open(&sealed), "is sealed: give the key");
        usage(S::open_with(&sealed, key(2)), "sealed with another key");
        // Somebody who exchanges the whole folder for one without a key is found out.
        usage(S::open_with(&open, key(1)), "is not sealed");
        let mut store = S::open_with(&sealed, key(1)).unwrap();
        let taken = store.take(&S::portion(1));
        store.check_taken(taken);
    }

    fn the_bytes_on_disk_are_told<S: Store>() {
        let folder = Stored::<S>::new();
        let files = folder.names().into_iter().map(|name| fs::metadata(folder.file(&name)).unwrap().len());
        assert_eq!(folder.read().unwrap().bytes(), files.sum::<u64>());
    }
}

#[cfg(unix)]
fn mode(path: &Path) -> u32 {
    use std::os::unix::fs::PermissionsExt;
    fs::metadata(path).unwrap().permissions().mode() & 0o777
}

#[cfg(not(unix))]
fn mode(_: &Path) -> u32 {
    0
}

/// One folder is not taken for the other.
#[test]
fn what_a_folder_holds_is_named() {
    let (pool, runs) = (Stored::<Pool>::new(), Stored::<PreparedRuns>::new());
    usage(<Pool as Store>::open(&runs.path), "has prepared runs, not a pool");
    usage(<PreparedRuns as Store>::open(&pool.path), "has a pool, not prepared runs");
    assert!(PreparedRuns::is_in(&runs.path) && !PreparedRuns::is_in(&pool.path));
}

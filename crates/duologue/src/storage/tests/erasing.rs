//! What is erased is overwritten, whatever name its bytes have by then: a second name that a test gave a file before,
//! like a block that a file system keeps, shows what became of them.

use super::*;

/// Second names of all files of a folder but header, cursor and lock.
struct Watch(Vec<(String, PathBuf)>);

impl Watch {
    fn on(folder: &Path, place: &Path) -> Watch {
        let names = super::super::folder::names(folder).unwrap();
        let names = names.into_iter().filter(|name| !["header", "cursor", "lock"].contains(&name.as_str()));
        let link = |name: String| {
            let second = place.join(format!("second name of {name}"));
            let _ = fs::remove_file(&second);
            fs::hard_link(folder.join(&name), &second).unwrap();
            (name, second)
        };
        Watch(names.map(link).collect())
    }

    /// Which of them have nothing but zeros now, of those that have secrets.
    fn erased(&self) -> Vec<&str> {
        let secret = self.0.iter().filter(|(name, _)| !name.starts_with("tables"));
        let erased = secret.filter(|(_, path)| fs::read(path).unwrap().iter().all(|&byte| byte == 0));
        erased.map(|(name, _)| name.as_str()).collect()
    }

    fn secret(&self) -> Vec<&str> {
        self.0.iter().map(|(name, _)| name.as_str()).filter(|name| !name.starts_with("tables")).collect()
    }
}

for_both! {
    fn what_is_used_is_erased_with_its_key<S: Store>() {
        let place = TempDir::new().unwrap();
        let folder = place.path().join("ours");
        let mut store = S::create(&folder, Party::Alice, IDENTITY, None);
        store.add(1);
        let watch = Watch::on(&folder, place.path());
        assert!(watch.erased().is_empty() && watch.secret().len() >= 2);
        let taken = store.take(&S::portion(1));
        store.check_taken(taken);
        assert_eq!(watch.erased(), watch.secret());
    }

    /// On opening, as after a crash: parts, and keys without an entry.
    fn what_a_crash_left_is_erased<S: Store>() {
        let folder = Stored::<S>::new();
        let name = folder.sealed().into_iter().rfind(|name| !name.starts_with("tables")).unwrap();
        fs::rename(folder.file(&name), folder.file(&format!("{name}.part"))).unwrap();
        let watch = Watch::on(&folder.path, folder.place.path());
        S::open(&folder.path).unwrap().verify().unwrap();
        let erased = watch.erased();
        assert!(erased.len() == 2 && erased.contains(&&*format!("{name}.part")), "{erased:?}");
    }

    /// Keys go first: where one cannot be erased, the file that it opens is still as it was.
    fn a_key_is_erased_before_its_file<S: Store>() {
        let place = TempDir::new().unwrap();
        let folder = place.path().join("ours");
        let mut store = S::create(&folder, Party::Alice, IDENTITY, None);
        store.add(1);
        let watch = Watch::on(&folder, place.path());
        for key in watch.secret().into_iter().filter(|name| name.starts_with("key-")) {
            fs::remove_file(folder.join(key)).unwrap();
            fs::create_dir(folder.join(key)).unwrap();
        }
        let entries = store.entries();
        assert!(matches!(store.erase_all(), Err(Error::Io { .. })));
        assert!(entries > 0 && watch.erased().is_empty(), "{:?}", watch.erased());
    }
}

/// A writer that is dropped, as when the peer goes away: Δ is among the labels.
#[test]
fn what_is_given_up_half_written_is_erased() {
    let place = TempDir::new().unwrap();
    let folder = place.path().join("ours");
    let runs = <PreparedRuns as Store>::create(&folder, Party::Alice, IDENTITY, None);
    let writer = crate::prepared::tests::half_a_run(&runs);
    let watch = Watch::on(&folder, place.path());
    assert_eq!(watch.secret().len(), 2);
    assert!(watch.erased().is_empty());
    drop(writer);
    assert_eq!(watch.erased(), watch.secret());
    assert_eq!(super::super::folder::names(&folder).unwrap().len(), 3, "header, cursor, lock");
}

/// A batch of which the peer has only the beginning: the whole of it is overwritten, and its key is.
#[test]
fn what_is_shortened_is_erased() {
    let place = TempDir::new().unwrap();
    let folder = place.path().join("ours");
    let mut pool = crate::correlation::pool::tests::with_more_than_the_peer(&folder);
    let watch = Watch::on(&folder, place.path());
    assert_eq!(watch.secret().len(), 6);
    pool.trim().unwrap();
    assert_eq!(watch.erased(), watch.secret());
    pool.verify().unwrap();
    drop(pool);
    Pool::open(&folder, None).unwrap().verify().unwrap();
}

/// A file that cannot get its name: the header with Δ, where something is in its place.
#[test]
fn what_cannot_get_its_name_is_erased() {
    let place = TempDir::new().unwrap();
    let path = place.path().join("header");
    fs::create_dir(&path).unwrap();
    fs::write(place.path().join("header.part"), "").unwrap();
    fs::hard_link(place.path().join("header.part"), place.path().join("second name")).unwrap();
    assert!(files::replace(&path, &[b"delta"]).is_err());
    assert_eq!(fs::read(place.path().join("second name")).unwrap(), [0; 5]);
    assert!(!place.path().join("header.part").exists());
}

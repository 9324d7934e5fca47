use std::fs;
use std::sync::Arc;

use tempfile::TempDir;

use super::*;
use crate::executor::{RunSink, RunSource};
use crate::storage::tests::{BATCH, IDENTITY, Store, usage};
use kernels::Block;

/// The two terms of which a folder of the tests is made.
const GARBLER: &str = "who garbles";

/// What the runs of the tests are for.
fn terms(garbler: Party) -> Terms {
    [("the program", "\\'test\\'\\n".into()), (GARBLER, garbler.to_string()), ("the lanes of a tile", "64".into())]
        .map(|(name, value): (&str, String)| (name.to_owned(), value))
        .to_vec()
}

/// A new folder of Alice's, who evaluates, or garbles.
fn create(folder: &Path, garbler: Party, seal: Option<SealKey>) -> PreparedRuns {
    create_as(folder, IDENTITY, Party::Alice, garbler, seal)
}

fn create_as(folder: &Path, identity: [u8; 32], party: Party, garbler: Party, seal: Option<SealKey>) -> PreparedRuns {
    let mut runs = PreparedRuns::create(folder, seal).unwrap();
    runs.found(identity, party, None, terms(garbler), party != garbler).unwrap();
    runs
}

fn open(folder: &Path) -> PreparedRuns {
    PreparedRuns::open(folder, None).unwrap_or_else(|error| panic!("{error}"))
}

/// A run of the tests.
const SIZE: StoredSize = StoredSize { labels: 1000, tables: 70_000 };

/// What a run of this number has: labels and tables.
fn content(number: u64) -> [Vec<u8>; 2] {
    [SIZE.labels, SIZE.tables].map(|len| (0..len).map(|i| (i * 3 + number) as u8).collect())
}

fn secrets(number: u64) -> Secrets {
    Secrets { block: Block::new(0x1234 << 64 | u128::from(number)), and0: 77 * number }
}

/// The next run, as a session makes it.
fn make(runs: &mut PreparedRuns, batch: [u8; 32]) {
    let number = runs.counts().unwrap()[1];
    let mut writer = runs.begin((number, batch), &secrets(number), SIZE).unwrap();
    let [labels, tables] = content(number);
    labels.chunks(300).for_each(|part| writer.labels(part).unwrap());
    if evaluates(runs) {
        tables.chunks(10_000).for_each(|part| writer.tables(part).unwrap());
    }
    runs.complete(writer).unwrap();
}

/// A run that is being made, some of it on the disk.
pub(crate) fn half_a_run(runs: &PreparedRuns) -> RunWriter {
    let mut writer = runs.begin((0, BATCH), &secrets(0), StoredSize { labels: 100_000, tables: 100_000 }).unwrap();
    writer.labels(&[7; 70_000]).and_then(|()| writer.tables(&[7; 70_000])).unwrap();
    writer
}

fn evaluates(runs: &PreparedRuns) -> bool {
    runs.term(GARBLER).unwrap() != runs.made.as_ref().unwrap().origin.party.to_string()
}

/// A run is as it was made.
fn holds(run: &Arc<RunReader>, number: u64, evaluates: bool) {
    let (is, was) = (run.secrets().unwrap(), secrets(number));
    assert!(is.block == was.block && is.and0 == was.and0);
    let [labels, tables] = content(number);
    let mut came = vec![0; 700];
    run.labels(StoredSize { labels: 300, tables: 0 }, &mut came).unwrap();
    assert!(came == labels[300..]);
    if evaluates {
        let mut came = vec![0; 69_995];
        let (first, rest) = came.split_at_mut(1);
        run.tables(5, first).and_then(|()| run.tables(6, rest)).unwrap();
        assert!(came == tables[5..]);
        assert!(run.tables(70_000, &mut came[..1]).is_err());
    }
}

/// Uses the next run up, as a session does.
fn take(runs: &mut PreparedRuns) -> u64 {
    let taken = Store::take(runs, &[1]);
    let number = taken.1;
    runs.check_taken(taken);
    number
}

/// In the suite over all contents.
impl Store for PreparedRuns {
    const NAME: &'static str = "runs";

    /// Alice evaluates.
    fn create(folder: &Path, party: Party, identity: [u8; 32], seal: Option<SealKey>) -> PreparedRuns {
        create_as(folder, identity, party, Party::Bob, seal)
    }

    fn open_with(folder: &Path, seal: Option<SealKey>) -> Result<PreparedRuns> {
        PreparedRuns::open(folder, seal)
    }

    fn verify(&self) -> Result<()> {
        PreparedRuns::verify(self)
    }

    fn made(&self) -> Vec<u64> {
        vec![self.counts().unwrap()[1]]
    }

    fn used(&self) -> Vec<u64> {
        vec![self.counts().unwrap()[0]]
    }

    fn bytes(&self) -> u64 {
        self.status().unwrap().bytes
    }

    fn entries(&self) -> usize {
        self.counts().unwrap()[2] as usize
    }

    fn erase_all(&mut self) -> Result<()> {
        self.trim(0)
    }

    fn add_as(&mut self, _: u64, batch: [u8; 32]) {
        make(self, batch);
    }

    fn portion(_: u64) -> Vec<u64> {
        vec![1]
    }

    /// In two of every three turns all but one, or all.
    fn due(&self, turn: u64, _: u64) -> Option<Vec<u64>> {
        (self.entries() as u64 > turn % 2 && !turn.is_multiple_of(3)).then(|| vec![1])
    }

    type Used = (Arc<RunReader>, u64);

    fn take(&mut self, _: &[u64]) -> Self::Used {
        let number = self.first_from(0).unwrap();
        let run = Arc::new(self.checked(number).unwrap());
        self.advance(number + 1).unwrap();
        (run, number)
    }

    fn check_taken(&mut self, (run, number): Self::Used) {
        holds(&run, number, evaluates(self));
        self.erase_used().unwrap();
    }

    fn add_too_much(&mut self) -> Result<()> {
        let number = self.counts()?[1];
        let mut writer = self.begin((number, BATCH), &secrets(number), StoredSize { labels: 300_000, tables: 0 })?;
        writer.labels(&vec![1; 300_000])
    }
}

#[test]
fn runs_come_once_and_in_order() {
    for garbler in [Party::Alice, Party::Bob] {
        let place = TempDir::new().unwrap();
        let folder = place.path().join("runs");
        drop(create(&folder, garbler, None));
        let mut next = 0;
        for turn in 0..4 {
            let mut runs = open(&folder);
            (0..2).for_each(|_| make(&mut runs, BATCH));
            drop(runs);
            let mut runs = open(&folder);
            runs.verify().unwrap();
            assert_eq!(runs.counts().unwrap(), [next, 2 * turn + 2, 2 * turn + 2 - next]);
            assert_eq!(take(&mut runs), next);
            next += 1;
        }
        let mut runs = open(&folder);
        while runs.first_from(0).unwrap() != NONE {
            assert_eq!(take(&mut runs), next);
            next += 1;
        }
        assert_eq!((next, runs.counts().unwrap()), (8, [8, 8, 0]));
        usage(runs.verify_next(), "no prepared run is left");
        assert_eq!(Store::entries(&runs), 0);
    }
}

#[test]
fn a_run_is_none_before_it_is_complete() {
    let place = TempDir::new().unwrap();
    let folder = place.path().join("runs");
    let mut runs = create(&folder, Party::Bob, None);
    make(&mut runs, BATCH);
    let mut writer = runs.begin((1, BATCH), &secrets(1), SIZE).unwrap();
    writer.labels(&[1; 500]).unwrap();
    std::mem::forget(writer);
    drop(runs);
    assert!(folder.join("labels-000000000001.part").exists());
    let runs = open(&folder);
    assert_eq!(runs.counts().unwrap(), [0, 1, 1]);
    assert!(!folder.join("labels-000000000001.part").exists() && !folder.join("tables-000000000001.part").exists());
}

#[test]
fn what_only_one_party_has_is_trimmed_and_its_number_comes_again() {
    let place = TempDir::new().unwrap();
    let mut runs = create(&place.path().join("runs"), Party::Bob, None);
    (0..4).for_each(|_| make(&mut runs, BATCH));
    runs.trim(2).unwrap();
    assert_eq!(runs.counts().unwrap(), [0, 2, 2]);
    make(&mut runs, [1; 32]);
    assert_eq!([1, 2].map(|number| runs.batch(number).unwrap()), [BATCH, [1; 32]]);
    // A cursor never goes back, and none goes beyond reason.
    runs.advance(2).unwrap();
    runs.advance(1).unwrap();
    assert_eq!(runs.counts().unwrap()[0], 2);
    assert!(matches!(runs.advance(u64::MAX), Err(Error::Peer(_))));
}

#[test]
fn a_new_folder_is_nothing_yet() {
    let place = TempDir::new().unwrap();
    let folder = place.path().join("runs");
    let runs = PreparedRuns::create(&folder, None).unwrap();
    assert!(runs.is_new() && runs.identity().is_none() && !PreparedRuns::is_in(&folder));
    usage(runs.status(), "no prepared run is left");
    drop(runs);
    usage(PreparedRuns::open(&folder, None), "there are no prepared runs");
    usage(PreparedRuns::open(&place.path().join("elsewhere"), None), "there are no prepared runs");
    fs::write(folder.join("poem"), "").unwrap();
    usage(PreparedRuns::create(&folder, None), "it has 'poem'");
    fs::remove_file(folder.join("poem")).unwrap();
    drop(create(&folder, Party::Bob, None));
    usage(PreparedRuns::create(&folder, None), "it has 'header'");
    assert!(PreparedRuns::is_in(&folder));
}

#[test]
fn what_it_is_for_is_named() {
    let place = TempDir::new().unwrap();
    let runs = create(&place.path().join("runs"), Party::Bob, None);
    runs.check(Party::Alice, None, &terms(Party::Bob)).unwrap();
    usage(runs.check(Party::Bob, None, &terms(Party::Bob)), "alice's half of prepared runs, not bob's");
    usage(runs.check(Party::Alice, None, &terms(Party::Alice)), "who garbles was bob, and is alice now");
    let mut other = terms(Party::Bob);
    other[0].1 = "'other'".into();
    usage(runs.check(Party::Alice, None, &other), "the program was 'test'\\n, and is 'other' now");
    let key = crate::channel::Identity::generate().unwrap().public();
    usage(runs.check(Party::Alice, Some([key; 2]), &terms(Party::Bob)), "another peer or key");
}

/// A run that is damaged is removed by hand; the others go on.
#[test]
fn a_damaged_run_is_found_before_it_is_used() {
    let place = TempDir::new().unwrap();
    let folder = place.path().join("runs");
    two_runs(&folder);
    let path = folder.join("tables-000000000000");
    let mut tables = fs::read(&path).unwrap();
    tables[60_000] ^= 4;
    fs::write(&path, &tables).unwrap();
    let mut runs = open(&folder);
    assert!(matches!(runs.verify_next(), Err(Error::Malformed { .. })));
    assert!(matches!(runs.checked(0), Err(Error::Malformed { .. })));
    assert_eq!(runs.counts().unwrap(), [0, 2, 2]);
    drop(runs);
    fs::remove_file(folder.join("labels-000000000000")).unwrap();
    runs = open(&folder);
    assert_eq!(take(&mut runs), 1);
}

/// Without its labels a run is none, and its tables are of no use; a run without tables is damaged.
#[test]
fn missing_files_are_missed() {
    let place = TempDir::new().unwrap();
    let (folder, away) = (place.path().join("runs"), place.path().join("away"));
    two_runs(&folder);
    fs::rename(folder.join("tables-000000000000"), &away).unwrap();
    let error = PreparedRuns::open(&folder, None).err().unwrap().to_string();
    assert!(error.contains("its tables are missing"), "{error}");
    fs::rename(&away, folder.join("tables-000000000000")).unwrap();
    fs::remove_file(folder.join("labels-000000000000")).unwrap();
    let mut runs = open(&folder);
    assert_eq!(runs.counts().unwrap(), [0, 2, 1]);
    assert!(!folder.join("tables-000000000000").exists());
    assert_eq!(take(&mut runs), 1);
}

/// Files that another session made under the same identity and number.
#[test]
fn files_of_another_session_are_refused() {
    let place = TempDir::new().unwrap();
    let folder = |name: &str| place.path().join(name);
    two_runs(&folder("ours"));
    make(&mut create(&folder("again"), Party::Bob, None), [1; 32]);
    let look = || {
        let runs = PreparedRuns::open(&folder("ours"), None)?;
        runs.verify()
    };
    for name in ["tables-000000000000", "labels-000000000000"] {
        let (target, kept) = (folder("ours").join(name), place.path().join("kept"));
        fs::copy(&target, &kept).unwrap();
        fs::copy(folder("again").join(name), &target).unwrap();
        let error = look().unwrap_err().to_string();
        assert!(error.contains("in another session than its tables"), "{name}: {error}");
        fs::copy(&kept, &target).unwrap();
    }
    // All of its files: it is another folder's key that sealed them.
    for name in fs::read_dir(folder("again")).unwrap().map(|entry| entry.unwrap().file_name()) {
        if name.to_string_lossy().contains('-') {
            fs::copy(folder("again").join(&name), folder("ours").join(&name)).unwrap();
        }
    }
    assert!(matches!(look(), Err(Error::Malformed { what, .. }) if what.contains("key-")));
}

/// A folder with two runs of Alice's, who evaluates.
fn two_runs(folder: &Path) {
    let mut runs = create(folder, Party::Bob, None);
    (0..2).for_each(|_| make(&mut runs, BATCH));
}

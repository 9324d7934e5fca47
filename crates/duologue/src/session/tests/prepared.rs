//! Runs that were prepared: when they are marked as used, and what is drawn for them.

use super::*;
use crate::channel::memory::{self, MemoryPipe};
use crate::correlation::pool::SealKey;
use crate::data;
use crate::ot::Extension;
use crate::prepared::PreparedRuns;
use circuit::{Program, blocks, uint};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::time::Duration;
use tempfile::TempDir;

/// A frame that a party wrote: its length, what it holds, and the cursors of both folders by then.
type Frame = (usize, Vec<u8>, [u64; 2]);

/// A pipe that looks at the disk whenever a frame begins.
struct Watched {
    inner: MemoryPipe,
    left: usize,
    folders: [PathBuf; 2],
    frames: Arc<Mutex<Vec<Frame>>>,
}

fn cursor(folder: &Path) -> u64 {
    let bytes = fs::read(folder.join("cursor")).unwrap();
    u64::from_le_bytes(bytes[48..56].try_into().unwrap())
}

impl Pipe for Watched {
    fn try_read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        self.inner.try_read(into)
    }

    fn try_write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let mut frames = self.frames.lock().unwrap();
        if self.left == 0 {
            let [_, a, b, c] = *bytes.first_chunk().expect("a header comes whole");
            self.left = u32::from_le_bytes([a, b, c, 0]) as usize;
            frames.push((self.left, Vec::new(), self.folders.each_ref().map(|folder| cursor(folder))));
            assert_eq!(self.inner.try_write(&bytes[..4])?, 4);
            return Ok(4);
        }
        let n = self.inner.try_write(&bytes[..bytes.len().min(self.left)])?;
        self.left -= n;
        frames.last_mut().expect("a header came").1.extend_from_slice(&bytes[..n]);
        Ok(n)
    }

    fn wait(&mut self, for_write: bool, timeout: Duration) -> io::Result<()> {
        self.inner.wait(for_write, timeout)
    }

    fn close_write(&mut self) {
        self.inner.close_write();
    }
}

fn greater() -> Binding {
    let mut p = Program::new("greater");
    let a = p.input("a", Party::Alice, uint(32), 1);
    let b = p.input("b", Party::Bob, uint(32), 1);
    let circuit = blocks::find("greater").unwrap().circuit(&[32], blocks::Goal::Size).unwrap();
    let greater = p.map(&circuit, &[a, b]);
    p.output("greater", Party::Alice, greater);
    p.bind(&[]).unwrap()
}

/// Both parties do this in sessions with known secrets; what each wrote.
fn watched<T: Send>(
    place: &Path,
    act: impl Fn(&mut Session, &mut PreparedRuns) -> Result<T> + Sync,
) -> [(T, Vec<Frame>); 2] {
    let (alice, bob) = memory::pair(memory::CAPACITY);
    let folders = [Party::Alice, Party::Bob].map(|party| place.join(party.to_string()));
    let run = |inner, party: Party| {
        let folder = &folders[party as usize];
        let mut runs = PreparedRuns::open(folder, None).unwrap();
        let frames = Arc::new(Mutex::new(Vec::new()));
        let pipe = Watched { inner, left: 0, folders: folders.clone(), frames: frames.clone() };
        let secrets = Generator::from_seed(Block::new(5 + party as u128));
        let mut session = Session::with(Channel::over(pipe, Limits::default()), party, secrets).unwrap();
        let done = act(&mut session, &mut runs).unwrap_or_else(|error| panic!("{error}"));
        session.close().unwrap();
        let frames = std::mem::take(&mut *frames.lock().unwrap());
        (done, frames)
    };
    thread::scope(|scope| {
        let bob = scope.spawn(|| run(bob, Party::Bob));
        [run(alice, Party::Alice), bob.join().expect("no panic")]
    })
}

/// Prepares runs into two folders under `place`, all in one session, and hands their first 16 bytes back: Δ or S.
fn prepare(place: &Path, times: u64) -> [Vec<Block>; 2] {
    fs::create_dir_all(place).unwrap();
    let (alice, bob) = Channel::pair();
    let run = |channel, party: Party| {
        let mut runs = PreparedRuns::create(&place.join(party.to_string()), None).unwrap();
        let mut session = Session::connect(channel, party).unwrap();
        let options = Options { garbler: Some(Party::Bob), ..Options::new(Scheme::Yao) };
        session.prepare_to(&mut runs, &greater(), &options, &Inputs::new(), times).unwrap();
        session.close().unwrap();
        (0..times).map(|number| runs.checked(number).unwrap().secrets().unwrap().block).collect()
    };
    thread::scope(|scope| {
        let bob = scope.spawn(|| run(bob, Party::Bob));
        [run(alice, Party::Alice), bob.join().expect("no panic")]
    })
}

/// Where a party says that it has marked the run: 32 bytes by themselves.
fn mark(frames: &[Frame]) -> usize {
    frames.iter().position(|(len, ..)| *len == 32).expect("it says so")
}

#[test]
fn both_parties_mark_a_run_before_anything_depends_on_inputs() {
    let place = TempDir::new().unwrap();
    prepare(place.path(), 1);
    let copies = [1u64, 0xffff_0001].map(|input| {
        let copy = place.path().join(input.to_string());
        for party in [Party::Alice, Party::Bob] {
            let (from, to) = (place.path().join(party.to_string()), copy.join(party.to_string()));
            fs::create_dir_all(&to).unwrap();
            #[cfg(unix)]
            fs::set_permissions(&to, std::os::unix::fs::PermissionsExt::from_mode(0o700)).unwrap();
            for file in fs::read_dir(from).unwrap().map(|entry| entry.unwrap().path()) {
                fs::copy(&file, to.join(file.file_name().unwrap())).unwrap();
            }
        }
        watched(&copy, |session, runs| {
            let name = if session.party == Party::Alice { "a" } else { "b" };
            let inputs = Inputs::new().with(name, data::uints(32, &[input])?);
            session.online_from(runs, &greater(), &inputs)
        })
    });
    let [one, other] = &copies;
    for ((us, one), other) in (0..2).zip(one).zip(other) {
        let at = mark(&one.1);
        let (before, after) = one.1.split_at(at);
        assert!(before.iter().all(|(.., cursors)| cursors[us] == 0), "too early is only a waste");
        assert_eq!(after[0].2[us], 1, "it is on our disk when we say so");
        assert!(after.len() > 1 && after[1..].iter().all(|(.., cursors)| *cursors == [1, 1]), "and on both by now");
        // Up to here nothing depends on inputs: with others, the bytes are the same.
        assert_eq!(mark(&other.1), at);
        assert!(one.1[..=at].iter().map(|frame| &frame.1).eq(other.1[..=at].iter().map(|frame| &frame.1)));
        assert!(!one.1.iter().map(|frame| &frame.1).eq(other.1.iter().map(|frame| &frame.1)));
    }
}

/// One session, one Δ, and another S for every run; another session, another Δ.
#[test]
fn every_run_has_a_key_of_its_own() {
    let place = TempDir::new().unwrap();
    let [evaluator, garbler] = prepare(&place.path().join("one"), 3);
    let [later, other] = prepare(&place.path().join("other"), 1);
    assert!(garbler.iter().all(|delta| *delta == garbler[0] && delta.lsb()));
    assert!(other[0] != garbler[0]);
    let mut keys: Vec<u128> = evaluator.iter().chain(&later).map(|s| s.get()).collect();
    keys.sort_unstable();
    keys.dedup();
    assert_eq!(keys.len(), 4);
}

/// Prepared runs keep Δ, which may be the pool's.
#[test]
fn a_sealed_pool_fills_no_open_folder_of_runs() {
    let place = TempDir::new().unwrap();
    let (alice, bob) = Channel::pair();
    let run = |channel, party: Party| {
        let key = || Some(SealKey::from_bytes(&[7; 32]).unwrap());
        let folder = |what: &str| place.path().join(format!("{what}-{party}"));
        let mut session = Session::connect(channel, party).unwrap();
        session.create_pool(&folder("pool"), Extension::DEFAULT, key()).unwrap();
        let options = Options { garbler: Some(Party::Bob), ..Options::new(Scheme::Yao) };
        let mut prepare = |mut runs: PreparedRuns| {
            session.prepare_to(&mut runs, &greater(), &options, &Inputs::new(), 1).map(|_| runs.counts().unwrap())
        };
        let refused = prepare(PreparedRuns::create(&folder("open"), None).unwrap()).unwrap_err();
        assert!(refused.to_string().contains("seal both"), "{refused}");
        assert_eq!(prepare(PreparedRuns::create(&folder("sealed"), key()).unwrap()).unwrap(), [0, 1, 1]);
        session.close().unwrap();
    };
    thread::scope(|scope| {
        scope.spawn(|| run(bob, Party::Bob));
        run(alice, Party::Alice);
    });
}

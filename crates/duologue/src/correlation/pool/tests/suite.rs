//! Pools in the suite over all contents, where the peer has all that we have.

use super::*;
use crate::storage::tests::restrict;

/// A batch file of the suite has so many of each kind.
fn counts(turn: u64) -> [u64; 3] {
    [3 + turn % 3, 4 + turn % 4, 50 + turn % 30]
}

impl Store for Pool {
    const NAME: &'static str = "pool";

    fn create(folder: &Path, party: Party, identity: [u8; 32], seal: Option<SealKey>) -> Pool {
        agreed(Pool::create(folder, &origin_of(identity, party), delta(party), seal).unwrap())
    }

    fn open_with(folder: &Path, seal: Option<SealKey>) -> Result<Pool> {
        Pool::open(folder, seal).map(agreed)
    }

    fn verify(&self) -> Result<()> {
        Pool::verify(self)
    }

    fn made(&self) -> Vec<u64> {
        Pool::made(self).to_vec()
    }

    fn used(&self) -> Vec<u64> {
        each(&Pool::used(self)).to_vec()
    }

    fn bytes(&self) -> u64 {
        self.status().bytes
    }

    fn entries(&self) -> usize {
        (0..3).map(|kind| self.folder.entries(kind).count()).sum()
    }

    fn erase_all(&mut self) -> Result<()> {
        (0..3).try_for_each(|kind| self.folder.erase(kind, |_| true))
    }

    fn add_as(&mut self, turn: u64, batch: [u8; 32]) {
        let from = Pool::made(self);
        let numbers = std::array::from_fn(|i| from[i]..from[i] + counts(turn)[i]);
        self.append(batch, &mut stock(self.origin().party, numbers)).unwrap();
    }

    fn portion(turn: u64) -> Vec<u64> {
        counts(turn).to_vec()
    }

    fn due(&self, _: u64, round: u64) -> Option<Vec<u64>> {
        (round == 0).then(|| each(&self.left()).iter().map(|left| left - left / 3).collect())
    }

    type Used = (Stock, Taken);

    fn take(&mut self, counts: &[u64]) -> (Stock, Taken) {
        let mut stock = Stock::new(self.origin().party);
        let taken = Pool::take(self, demand(counts.try_into().unwrap()), &mut stock).unwrap();
        (stock, taken)
    }

    fn check_taken(&mut self, (mut stock, taken): (Stock, Taken)) {
        holds(&mut stock, &taken.numbers);
    }

    fn add_too_much(&mut self) -> Result<()> {
        let [alice, _, triples] = Pool::made(self);
        let mut many = stock(self.origin().party, [alice..alice + 100_000, 0..0, triples..triples + 1]);
        self.append(BATCH, &mut many).map(drop)
    }

    /// The halves agree, and what is left belongs together.
    fn go_on(folders: &[PathBuf; 2]) {
        let [mut alice, mut bob] = [Party::Alice, Party::Bob].map(|party| {
            let folder = &folders[party as usize];
            match folder.join("header").exists() {
                true => Pool::open(folder, None).unwrap(),
                false => <Pool as Store>::create(folder, party, IDENTITY, None),
            }
        });
        let [ours, theirs] = [alice.summary(), bob.summary()];
        alice.agree(&theirs).unwrap();
        bob.agree(&ours).unwrap();
        for pool in [&mut alice, &mut bob] {
            pool.trim().unwrap();
            append(pool, [5, 5, 50]);
        }
        assert_eq!((alice.left(), Pool::used(&alice)), (bob.left(), Pool::used(&bob)));
        let left = each(&alice.left());
        assert_eq!(take(&mut alice, left), take(&mut bob, left));
    }
}

fn agreed(mut pool: Pool) -> Pool {
    let theirs = Summary { party: pool.origin().party.peer(), ..pool.summary() };
    pool.agree(&theirs).unwrap();
    pool
}

/// A pool of Alice's with a batch of each kind, of which the peer has the first two alone.
pub(crate) fn with_more_than_the_peer(folder: &Path) -> Pool {
    let mut pool = Store::create(folder, Party::Alice, IDENTITY, None);
    append(&mut pool, [10, 10, 100]);
    let theirs = Summary { party: Party::Bob, made: demand([2; 3]), ..pool.summary() };
    pool.agree(&theirs).unwrap();
    pool
}

#[cfg(unix)]
#[test]
fn a_folder_and_a_key_are_for_their_owner_alone() {
    let place = TempDir::new().unwrap();
    let open = place.path().join("open to all");
    fs::create_dir(&open).unwrap();
    restrict(&open, 0o755);
    usage(Pool::create(&open, &origin(Party::Alice), delta(Party::Alice), None), "chmod 700");
    fs::write(place.path().join("key"), [7; 32]).unwrap();
    restrict(&place.path().join("key"), 0o640);
    usage(SealKey::load(place.path().join("key")), "chmod 600");
    restrict(&place.path().join("key"), 0o600);
    SealKey::load(place.path().join("key")).unwrap();
}

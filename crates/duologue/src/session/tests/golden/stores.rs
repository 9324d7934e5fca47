//! Golden digests of pools and of prepared runs: what is sent for them, and what they hold.

use super::*;
use crate::correlation::pool::Pool;
use crate::prepared::PreparedRuns;
use std::path::PathBuf;
use tempfile::TempDir;

const FEW: Demand = Demand { cots_by_alice: 100, cots_by_bob: 1500, triples: 0 };
const MANY: Demand = Demand { cots_by_alice: 2000, cots_by_bob: 3001, triples: 5000 };
const FIRST: Demand = Demand { cots_by_alice: 65, cots_by_bob: 1600, triples: 1000 };

/// A folder for each party and thing.
struct Place(TempDir);

impl Place {
    fn new() -> Place {
        Place(TempDir::new().unwrap())
    }

    fn folder(&self, what: &str, party: Party) -> PathBuf {
        self.0.path().join(format!("{what}-{party}"))
    }

    fn create_pool(&self, session: &mut Session, extension: Extension) -> Result<()> {
        session.create_pool(&self.folder("pool", session.party), extension, None)
    }

    fn use_pool(&self, session: &mut Session) -> Result<()> {
        session.use_pool(Pool::open(&self.folder("pool", session.party), None)?)
    }

    fn runs(&self, party: Party) -> Result<PreparedRuns> {
        PreparedRuns::open(&self.folder("runs", party), None)
    }
}

/// Takes so much of the pool, with the Δ of it.
fn taken(session: &mut Session, extension: Extension, demand: Demand) -> Result<Vec<u8>> {
    let mut bytes = session.wire.delta()?.to_bytes().to_vec();
    session.correlate(extension, demand, |stock| drain(stock, &mut bytes))?;
    Ok(bytes)
}

/// Filled twice, used by every protocol until nothing is left and then filled again.
pub fn pools(record: &mut Record) {
    for extension in [Extension::SoftSpoken { k: 2 }, Extension::DEFAULT, SILENT] {
        let (name, place) = (format!("pool-by-{extension}"), Place::new());
        record.session(&format!("{name}-made"), 11, |session| {
            place.create_pool(session, extension)?;
            session.fill_pool(FEW)
        });
        record.session(&format!("{name}-filled"), 12, |session| {
            place.use_pool(session)?;
            session.fill_pool(MANY)
        });
        record.holding(&format!("{name}-taken"), 13, |session| {
            place.use_pool(session)?;
            taken(session, extension, FIRST)
        });
        for (seed, (way, options)) in (14..).zip(ways()) {
            record.session(&format!("{name}-{way}"), seed, |session| {
                place.use_pool(session)?;
                twice(&job(), &Options { extension: Some(extension), ..options }, session)
            });
        }
        record.holding(&format!("{name}-left"), 22, |session| {
            place.use_pool(session)?;
            session.random_ots(extension, 10, 20)?;
            session.fill_pool(FEW)?;
            let left = session.pool().expect("one is in use").left;
            taken(session, extension, left)
        });
    }
}

/// Prepared in two sessions and used in a third.
pub fn prepared_runs(record: &mut Record) {
    let programs = [("every-step", job(), 4), ("ports", jobs::ports(), 32), ("products", jobs::products(1000), 1000)];
    for (program, binding, tile) in programs {
        for (way, options) in ways_by(tile).filter(|(_, options)| options.scheme == Scheme::Yao) {
            if options.timing == Timing::Ahead {
                prepared(record, &format!("prepared-{program}-{way}"), &binding, &options);
            }
        }
    }
    let options = Options { garbling: Garbling::ThreeHalves, ..options(Scheme::Yao, Timing::Ahead, Party::Alice) };
    prepared(record, "prepared-every-step-yao-three-halves-by-alice", &job(), &options);
}

fn prepared(record: &mut Record, name: &str, binding: &Binding, options: &Options) {
    let place = Place::new();
    let prepare = |session: &mut Session, mut runs: PreparedRuns, times| {
        let ours = inputs(binding, session.party, 1);
        session.prepare_to(&mut runs, binding, options, &public_of(binding, &ours), times)
    };
    record.session(&format!("{name}-made"), 31, |session| {
        prepare(session, PreparedRuns::create(&place.folder("runs", session.party), None)?, 1)
    });
    record.session(&format!("{name}-filled"), 32, |session| prepare(session, place.runs(session.party)?, 2));
    hold_runs(record, name, &place, 2);
    record.session(&format!("{name}-online"), 33, |session| {
        let (ours, mut runs) = (inputs(binding, session.party, 1), place.runs(session.party)?);
        (0..2).try_for_each(|_| session.online_from(&mut runs, binding, &ours).map(drop))
    });
}

/// The public ones of these inputs.
fn public_of(binding: &Binding, inputs: &Inputs) -> Inputs {
    let public = binding.inputs().iter().filter(|port| port.who == Owner::Public);
    public.fold(Inputs::new(), |set, port| set.with(&port.name, inputs.get(&port.name).expect("of both").clone()))
}

/// What both parties hold of so many runs: labels and permute bits, then tables.
fn hold_runs(record: &mut Record, name: &str, place: &Place, count: u64) {
    let runs = [Party::Alice, Party::Bob].map(|party| place.runs(party).unwrap());
    for number in 0..count {
        let contents = runs.each_ref().map(|runs| runs.checked(number).unwrap().contents().unwrap());
        let [labels, tables] = [0, 1].map(|i| contents.each_ref().map(|content| content[i].clone()));
        record.stored.held(&format!("{name}-{number}-labels"), labels);
        record.stored.held(&format!("{name}-{number}-tables"), tables);
    }
}

/// The correlations of prepared runs, and their Δ, are those of a pool.
pub fn prepared_from_a_pool(record: &mut Record) {
    let (place, name) = (Place::new(), "prepared-from-a-pool");
    let options = options(Scheme::Yao, Timing::Ahead, Party::Bob);
    record.session(&format!("{name}-made"), 41, |session| {
        place.create_pool(session, Extension::DEFAULT)?;
        session.fill_pool(FEW)?;
        let mut runs = PreparedRuns::create(&place.folder("runs", session.party), None)?;
        let public = public_of(&job(), &inputs(&job(), session.party, 1));
        session.prepare_to(&mut runs, &job(), &options, &public, 1)
    });
    hold_runs(record, name, &place, 1);
    record.session(&format!("{name}-online"), 42, |session| {
        let (ours, mut runs) = (inputs(&job(), session.party, 1), place.runs(session.party)?);
        session.online_from(&mut runs, &job(), &ours)
    });
}

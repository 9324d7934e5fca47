//! Which faces of a gallery does a query match? SCiFI on the 100 real faces of `examples/faces`.
//!
//! Alice has the query, Bob the gallery with a limit for each face; she learns which faces match, he
//! learns nothing. The answers are compared with `expected.csv`, which was computed in the clear by
//! other code.
//!
//! ```text
//! cargo run --release --example find_a_face
//! ```

use apps::scifi::scifi;
use duologue::channel::Channel;
use duologue::circuit::{Binding, BitMatrix};
use duologue::{Inputs, Options, Party, Result, Scheme, Session};
use ndarray::{Array1, Array2};
use std::error::Error;
use std::path::PathBuf;

const BITS: u32 = 900;

fn file(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../examples/faces").join(name)
}

/// One face a row, as bits 0 or 1; column 0 is the least significant bit.
fn faces(name: &str) -> std::result::Result<BitMatrix, Box<dyn Error>> {
    let table: Array2<u8> = ndarray_npy::read_npy(file(name))?;
    let lanes: Vec<Vec<bool>> = table.outer_iter().map(|row| row.map(|&bit| bit == 1).to_vec()).collect();
    Ok(BitMatrix::from_lanes(BITS as usize, &lanes))
}

fn limits() -> std::result::Result<BitMatrix, Box<dyn Error>> {
    let limits: Array1<u16> = ndarray_npy::read_npy(file("limits.npy"))?;
    Ok(BitMatrix::from_numbers(10, &limits.to_vec())?)
}

/// The faces that the query matches by the plain computation.
fn expected() -> std::result::Result<Vec<usize>, Box<dyn Error>> {
    let table = std::fs::read_to_string(file("expected.csv"))?;
    let hits = table.lines().filter_map(|line| {
        let [probe, face, _distance, _limit, "1"] = line.split(',').collect::<Vec<_>>()[..] else {
            return None;
        };
        (probe == "query").then(|| face.parse())
    });
    Ok(hits.collect::<std::result::Result<_, _>>()?)
}

fn play(channel: Channel, party: Party, job: &Binding, inputs: &Inputs) -> Result<Vec<Vec<usize>>> {
    let mut session = Session::connect(channel, party)?;
    let mut found = Vec::new();
    for scheme in [Scheme::Yao, Scheme::Gmw] {
        let outcome = session.run(job, &Options::new(scheme), inputs)?;
        let report = &outcome.report;
        println!(
            "{party} by {scheme}: {} ANDs, {:.1?} setup, {:.1?} and {} rounds online, {} bytes sent",
            report.ands,
            report.setup.time,
            report.online.time,
            report.online.rounds,
            report.setup.sent + report.online.sent,
        );
        found.extend(outcome.outputs.get("hit").map(|hit| (0..hit.lanes()).filter(|&face| hit.get(0, face)).collect()));
    }
    session.close()?;
    Ok(found)
}

fn main() -> std::result::Result<(), Box<dyn Error>> {
    let gallery = faces("gallery.npy")?;
    let job = scifi(BITS).bind(&[("faces", gallery.lanes() as u64)])?;
    let hers = Inputs::new().with("query", faces("query.npy")?);
    let his = Inputs::new().with("gallery", gallery).with("limits", limits()?);

    let (to_bob, to_alice) = Channel::pair();
    let (alice, bob) = std::thread::scope(|scope| {
        let bob = scope.spawn(|| play(to_alice, Party::Bob, &job, &his));
        let alice = play(to_bob, Party::Alice, &job, &hers);
        (alice, bob.join().expect("no panic"))
    });
    let expected = expected()?;
    assert_eq!(expected, [41]);
    assert_eq!(alice?, [expected.clone(), expected], "by Yao, then by GMW");
    assert!(bob?.is_empty(), "Bob learns nothing");
    println!("the query matches face 41 and no other");
    Ok(())
}

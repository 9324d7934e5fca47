//! `duologue demo`: two processes of this command look up a face among others, over TLS on this machine.
//!
//! Each party is a `duologue run` with a key, inputs and a file of the program, as between two machines. Bob listens on
//! a port that the system chooses and says which; Alice connects. What both print is compared with the result computed
//! in the clear.

mod faces;
mod process;

use super::run;
use crate::args::Demo;
use crate::failure::{Exit, Failure};
use crate::io::console::{Console, bytes, seconds, table, thousands};
use duologue::channel::Identity;
use duologue::circuit::{Binding, Program};
use duologue::{Inputs, Options, Scheme};
use faces::Faces;
use process::Pair;
use serde::Serialize;
use std::path::Path;
use std::{fmt, fs};
use tempfile::TempDir;

pub fn run(args: &Demo, console: &Console) -> Result<(), Failure> {
    let program = apps::scifi::scifi(faces::BITS);
    let faces = Faces::load(args.faces as usize)?;
    let binding = program.bind(&[("faces", faces.len() as u64)])?;
    let expected = in_the_clear(&binding, &faces)?;
    let folder = TempDir::new().map_err(Failure::io("making a temporary folder"))?;
    let keys = prepare(folder.path(), &program, &faces)?;
    let mut runs = Vec::new();
    for &scheme in &args.protocol.0 {
        let pair = Pair {
            folder: folder.path(),
            keys: &keys,
            scheme,
            faces: faces.len(),
            link: args.link,
            quiet: console.quiet(),
        };
        let (alice, bob) = pair.run()?;
        runs.push(Run::new(&binding, scheme, alice, bob)?);
    }
    let report = DemoReport { faces: faces.len(), expected, runs };
    console.show(&report)?;
    report.check()
}

/// The faces that match, by the plain protocol.
fn in_the_clear(binding: &Binding, faces: &Faces) -> Result<Vec<usize>, Failure> {
    let inputs = Inputs::new()
        .with("query", faces.query.clone())
        .with("gallery", faces.gallery.clone())
        .with("limits", faces.limits.clone());
    let outputs = duologue::plain::run(binding, &inputs)?;
    let hit = outputs.get("hit");
    let hit = hit.ok_or_else(|| Failure::new(Exit::Wrong, "no result in the clear"))?;
    Ok((0..hit.lanes()).filter(|&face| hit.get(0, face)).collect())
}

/// The files of both parties: the program, inputs and a fresh key each. The public keys, Alice's first.
fn prepare(folder: &Path, program: &Program, faces: &Faces) -> Result<[String; 2], Failure> {
    let write =
        |name: &str, bytes: &[u8]| fs::write(folder.join(name), bytes).map_err(Failure::io(format!("writing {name}")));
    write("scifi.duo", &program.to_bytes()?)?;
    faces.save(folder)?;
    let key = |name: &str| {
        let identity = Identity::generate()?;
        identity.save(folder.join(name))?;
        Ok::<_, duologue::Error>(identity.public().to_string())
    };
    Ok([key("alice.key")?, key("bob.key")?])
}

/// The results of the demo.
#[derive(Serialize)]
struct DemoReport {
    faces: usize,
    /// The faces that match, computed in the clear.
    expected: Vec<usize>,
    runs: Vec<Run>,
}

/// One protocol's run.
#[derive(Serialize)]
struct Run {
    protocol: String,
    depth: u32,
    /// The faces of which Alice learned that they match.
    matches: Vec<usize>,
    alice: run::RunReport,
    bob: run::RunReport,
}

impl Run {
    fn new(binding: &Binding, scheme: Scheme, alice: run::RunReport, bob: run::RunReport) -> Result<Run, Failure> {
        let hits = alice.outputs.get("hit").and_then(|hit| hit.values.as_ref());
        let hits = hits.ok_or_else(|| Failure::new(Exit::Wrong, "Alice learned nothing"))?;
        Ok(Run {
            protocol: scheme.to_string(),
            depth: duologue::cost::cost(binding, &Options::new(scheme))?.depth,
            matches: (0..hits.len()).filter(|&face| hits[face] == 1).collect(),
            alice,
            bob,
        })
    }
}

impl DemoReport {
    /// Fails unless every run gave Alice the expected result, and Bob nothing.
    fn check(&self) -> Result<(), Failure> {
        for run in &self.runs {
            if run.matches != self.expected || !run.bob.outputs.is_empty() {
                let why = format!("{}: the result differs from the one in the clear", run.protocol);
                return Err(Failure::new(Exit::Wrong, why));
            }
        }
        Ok(())
    }

    fn row(&self, name: &str, cell: impl Fn(&Run) -> String) -> Vec<String> {
        let cells = self.runs.iter().map(cell);
        [name.to_string()].into_iter().chain(cells).collect()
    }

    fn rows(&self) -> Vec<Vec<String>> {
        vec![
            self.row("", |run| run.protocol.clone()),
            self.row("AND gates", |run| thousands(run.alice.ands)),
            self.row("depth", |run| run.depth.to_string()),
            self.row("setup, time", |run| seconds(run.alice.setup.seconds)),
            self.row("setup, alice to bob", |run| bytes(run.alice.setup.sent)),
            self.row("setup, bob to alice", |run| bytes(run.alice.setup.received)),
            self.row("setup, rounds", |run| run.alice.setup.rounds.to_string()),
            self.row("online, time", |run| seconds(run.alice.online.seconds)),
            self.row("online, alice to bob", |run| bytes(run.alice.online.sent)),
            self.row("online, bob to alice", |run| bytes(run.alice.online.received)),
            self.row("online, rounds", |run| run.alice.online.rounds.to_string()),
        ]
    }
}

impl fmt::Display for DemoReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let faces = thousands(self.faces as u64);
        writeln!(f, "Two processes, alice and bob, over TLS with each other's key pinned.")?;
        writeln!(f, "Alice holds a face of {} bits, Bob {faces} faces with a limit each.\n", faces::BITS)?;
        for run in &self.runs {
            let bob = if run.bob.outputs.is_empty() { "nothing" } else { "something" };
            writeln!(f, "By {}, Alice learned: {}; Bob learned: {bob}.", run.protocol, text(&run.matches))?;
        }
        writeln!(f, "In the clear:         {}.\n", text(&self.expected))?;
        f.write_str(&table("lrr", &self.rows()))
    }
}

/// Which faces match.
fn text(matches: &[usize]) -> String {
    let faces: Vec<String> = matches.iter().map(usize::to_string).collect();
    match matches.len() {
        0 => "no face matches".into(),
        1 => format!("face {} matches", faces[0]),
        _ => format!("faces {} match", faces.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn party(outputs: serde_json::Value) -> run::RunReport {
        let phase = json!({"seconds": 0.0, "sent": 0, "received": 0, "rounds": 0});
        let report = json!({
            "program": "scifi", "digest": "", "party": "", "peer": null, "protocol": "yao", "garbler": "bob", "garbling": "half-gates",
            "ahead": true, "tile": 1, "sizes": {}, "ands": 1, "setup": phase, "online": phase,
            "peak_memory": null, "outputs": outputs,
        });
        serde_json::from_value(report).unwrap()
    }

    /// The exit code of a demo in which Alice learns `hits` and Bob `bobs` where face 1 of 3 matches.
    fn exit(hits: [u8; 3], bobs: serde_json::Value) -> Option<Exit> {
        let program = apps::scifi::scifi(8);
        let binding = program.bind(&[("faces", 3)]).unwrap();
        let alice = party(json!({"hit": {"type": "bits(1)", "lanes": 3, "values": hits}}));
        let run = Run::new(&binding, Scheme::Yao, alice, party(bobs)).unwrap();
        let report = DemoReport { faces: 3, expected: vec![1], runs: vec![run] };
        report.check().err().map(|failure| failure.exit)
    }

    #[test]
    fn a_result_that_differs_is_noticed() {
        let leak = json!({"hit": {"type": "bits(1)", "lanes": 3, "values": [0, 1, 0]}});
        assert_eq!(exit([0, 1, 0], json!({})), None);
        assert_eq!(exit([0, 1, 1], json!({})), Some(Exit::Wrong));
        assert_eq!(exit([0, 0, 0], json!({})), Some(Exit::Wrong));
        assert_eq!(exit([0, 1, 0], leak), Some(Exit::Wrong));
    }
}

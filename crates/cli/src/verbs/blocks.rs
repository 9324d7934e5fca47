//! `duologue blocks`: the circuits and applications that are built in, with their costs.

use crate::args::Blocks;
use crate::failure::Failure;
use crate::program::{APPS, App, block_name};
use crate::report::{Console, table, thousands};
use circuit::Circuit;
use circuit::blocks::{self, Block, Goal};
use serde::Serialize;
use std::fmt;

pub fn run(args: &Blocks, console: &Console) -> Result<(), Failure> {
    let blocks = match &args.name {
        Some(name) => vec![blocks::find(name)?],
        None => blocks::registry(),
    };
    let alone = blocks.len() == 1;
    let mut costs = Vec::new();
    for block in &blocks {
        let size = args.size.as_ref().map_or(Ok(block.usual()), |text| block.size(text))?;
        for &goal in block.goals.iter().filter(|&&goal| args.goal.unwrap_or(goal) == goal) {
            costs.push(Cost::measure(block, &size, goal)?);
        }
    }
    let apps = if alone { &[] } else { APPS };
    let apps = apps.iter().map(Application::new).collect();
    console.show(&Report { blocks: costs, apps })
}

#[derive(Serialize)]
struct Report {
    blocks: Vec<Cost>,
    apps: Vec<Application>,
}

/// A block at one width, for one goal.
#[derive(Serialize)]
struct Cost {
    /// How `run` and the other verbs name it.
    name: String,
    about: &'static str,
    size: Vec<u32>,
    size_counts: String,
    goal: String,
    ands: u64,
    depth: u32,
    inputs: Vec<String>,
}

impl Cost {
    fn measure(block: &Block, size: &[u32], goal: Goal) -> Result<Cost, Failure> {
        let circuit = block.circuit(size, goal)?;
        Ok(Cost {
            name: format!("{}:{goal}", block_name(block, size)),
            about: block.about,
            size: size.to_vec(),
            size_counts: block.describe(),
            goal: goal.to_string(),
            ands: circuit.and_count(),
            depth: circuit.depth(),
            inputs: inputs(&circuit),
        })
    }
}

fn inputs(circuit: &Circuit) -> Vec<String> {
    let inputs = circuit.inputs().iter();
    inputs.map(|port| format!("{}: {}", port.name, port.ty)).collect()
}

#[derive(Serialize)]
struct Application {
    name: String,
    about: &'static str,
    width_counts: &'static str,
}

impl Application {
    fn new(app: &App) -> Application {
        Application { name: format!("app:{}:{}", app.name, app.width), about: app.about, width_counts: app.parameter }
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let head = ["PROGRAM", "ANDs", "depth", ""].map(String::from).to_vec();
        let blocks = self.blocks.iter().map(|cost| {
            let (ands, depth) = (thousands(cost.ands), thousands(cost.depth.into()));
            vec![cost.name.clone(), ands, depth, format!("{} (size: {})", cost.about, cost.size_counts)]
        });
        let apps = self.apps.iter().map(|app| {
            let about = format!("{} (width: {})", app.about, app.width_counts);
            vec![app.name.clone(), String::new(), String::new(), about]
        });
        let rows: Vec<_> = [head].into_iter().chain(blocks).chain(apps).collect();
        f.write_str(&table("lrrl", &rows))
    }
}

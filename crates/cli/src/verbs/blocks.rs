//! `duologue blocks`: the circuits and applications that are built in; of one block, what it costs.

use crate::args::Blocks;
use crate::failure::Failure;
use crate::io::console::{Console, print, table, thousands};
use crate::io::listing::{self, Listing};
use crate::program::{APPS, App, block_name};
use duologue::circuit::blocks::{self, Block, Goal};
use serde::Serialize;
use std::fmt;

pub fn run(args: &Blocks, console: &Console) -> Result<(), Failure> {
    let Some(name) = &args.name else {
        return List::of(&args.only).show(args.wide, console);
    };
    let block = match blocks::find(name) {
        Ok(block) => block,
        // No block of that name: a word that some have is as good.
        Err(unknown) => match List::of(std::slice::from_ref(name)) {
            list if list.is_empty() || args.size.is_some() || args.goal.is_some() => return Err(unknown.into()),
            list => return list.show(args.wide, console),
        },
    };
    let size = args.size.as_ref().map_or(Ok(block.usual()), |text| block.size(text))?;
    let goals = block.goals.iter().filter(|&&goal| args.goal.unwrap_or(goal) == goal);
    let costs = goals.map(|&goal| Cost::measure(&block, &size, goal)).collect::<Result<_, _>>()?;
    console.show(&One { block: Listed::block(&block), costs })
}

#[derive(Serialize)]
struct List {
    blocks: Vec<Listed>,
    apps: Vec<Listed>,
}

/// A block or an application of the list.
#[derive(Serialize)]
struct Listed {
    /// How `run` and the other verbs name it, at its usual size.
    name: String,
    about: &'static str,
    /// The names of the numbers of its size.
    size_counts: String,
    goals: Vec<String>,
}

impl Listed {
    fn block(block: &Block) -> Listed {
        let name = block_name(block, &block.usual());
        let size_counts = if block.parameters.is_empty() { String::new() } else { block.describe() };
        Listed { name, about: block.about, size_counts, goals: words(block.goals) }
    }

    fn app(app: &App) -> Listed {
        let name = format!("app:{}:{}", app.name, app.width);
        Listed { name, about: app.about, size_counts: app.parameter.into(), goals: words(app.goals) }
    }
}

impl List {
    /// Everything with one of these words in its name or description; all of it if there is none.
    fn of(words: &[String]) -> List {
        let words: Vec<String> = words.iter().map(|word| word.to_lowercase()).collect();
        let wanted = |one: &Listed| {
            let has = |word: &String| one.name.contains(&**word) || one.about.to_lowercase().contains(&**word);
            words.is_empty() || words.iter().any(has)
        };
        let blocks = blocks::registry().iter().map(Listed::block).filter(wanted).collect();
        List { blocks, apps: APPS.iter().map(Listed::app).filter(wanted).collect() }
    }

    fn is_empty(&self) -> bool {
        self.blocks.is_empty() && self.apps.is_empty()
    }

    fn show(&self, wide: bool, console: &Console) -> Result<(), Failure> {
        if self.is_empty() {
            return Err(Failure::input("nothing that is built in has such a word").hint("`duologue blocks` lists all"));
        }
        match console.json() {
            true => console.show_json(self),
            false => print(self.text(if wide { None } else { listing::width() }).as_bytes()),
        }
    }

    fn text(&self, width: Option<usize>) -> String {
        let head = ["PROGRAM", "SIZE", ""].map(String::from).to_vec();
        let listed = self.blocks.iter().chain(&self.apps);
        let rows = listed.map(|one| vec![one.name.clone(), one.size_counts.clone(), one.about.into()]);
        let rows = [head].into_iter().chain(rows).collect();
        let listing = Listing { align: "lll", rows, dispensable: &["SIZE"] };
        let hint = "`duologue blocks NAME --size SIZE` says what one costs, `duologue circuits` what all cost.";
        format!("{}\n{}", listing.text(width), listing::paragraph(hint, width))
    }
}

fn words(goals: &[Goal]) -> Vec<String> {
    goals.iter().map(Goal::to_string).collect()
}

#[derive(Serialize)]
struct One {
    #[serde(flatten)]
    block: Listed,
    costs: Vec<Cost>,
}

/// A block at one size, for one goal.
#[derive(Serialize)]
struct Cost {
    name: String,
    size: Vec<u32>,
    goal: String,
    ands: u64,
    depth: u32,
    inputs: Vec<String>,
    outputs: Vec<String>,
}

impl Cost {
    fn measure(block: &Block, size: &[u32], goal: Goal) -> Result<Cost, Failure> {
        let circuit = block.circuit(size, goal)?;
        let ports = |ports: &[duologue::circuit::Port]| {
            ports.iter().map(|port| format!("{}: {}", port.name, port.ty)).collect()
        };
        Ok(Cost {
            name: format!("{}:{goal}", block_name(block, size)),
            size: size.to_vec(),
            goal: goal.to_string(),
            ands: circuit.and_count(),
            depth: circuit.depth(),
            inputs: ports(circuit.inputs()),
            outputs: ports(circuit.outputs()),
        })
    }
}

impl fmt::Display for One {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let head = ["PROGRAM", "ANDs", "depth", "inputs and outputs"].map(String::from).to_vec();
        let rows = self.costs.iter().map(|cost| {
            let ports = format!("{} -> {}", cost.inputs.join(", "), cost.outputs.join(", "));
            vec![cost.name.clone(), thousands(cost.ands), thousands(cost.depth.into()), ports]
        });
        let rows: Vec<_> = [head].into_iter().chain(rows).collect();
        match &*self.block.size_counts {
            "" => writeln!(f, "  {}", self.block.about)?,
            counts => writeln!(f, "  {}; size: {counts}", self.block.about)?,
        }
        f.write_str(&table("lrrl", &rows))?;
        match &*self.block.goals {
            [_] => writeln!(f, "  It has one make, which serves both goals: size and depth name the same circuit."),
            _ => Ok(()),
        }
    }
}

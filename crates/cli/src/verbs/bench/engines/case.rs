//! The work of one session of a benchmark: a program at a size, under a protocol, some times.

use crate::failure::{Exit, Failure};
use crate::program;
use duologue::channel::Link;
use duologue::circuit::BitMatrix;
use duologue::circuit::program::{Binding, Owner};
use duologue::ot::Extension;
use duologue::{Garbling, Inputs, Options, Outputs, Party, Scheme, Timing, plain};
use serde::{Deserialize, Serialize};

/// A program at a size, and how it is run. It travels to the processes of both parties.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Case {
    pub task: Task,
    /// The name that the command gives it.
    pub program: String,
    /// The value of every size of the program.
    pub lanes: u64,
    /// The name that the command gives it.
    pub protocol: String,
    /// The name that the command gives it; it counts for Yao alone.
    pub garbling: String,
    pub threads: u32,
    /// How many tiles take turns on the wire.
    pub strands: u32,
    /// The simulated line, as people write it.
    pub link: Option<String>,
    pub runs: u32,
}

/// The work that is measured.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
pub enum Task {
    /// Setup and online one after another, timed as sessions do unless it is streamed in any case.
    Run { streamed: bool },
    /// Prepares this many runs at once, which then go online.
    Online { at_once: u32 },
    /// No program: this many bytes from Bob to Alice over the channel.
    Stream { bytes: u64 },
    /// No program: a stream as it was recorded, of this many bytes in no cache.
    Replay { bytes: u64 },
    /// No program but a maker of correlations, which makes this many: COTs both ways, or triples.
    Correlate { count: u64, triples: bool },
    /// A connection and a session for each run: from connecting to the first correlated OTs of both directions.
    Start,
    /// A connection and a session for each run: from connecting to the program's outputs.
    First,
}

impl Case {
    pub fn new(task: Task, scheme: Scheme, program: &str, lanes: u64, runs: u32) -> Case {
        let (program, protocol) = (program.to_string(), scheme.to_string());
        let garbling = Garbling::default().to_string();
        Case { task, program, lanes, protocol, garbling, threads: 1, strands: 1, link: None, runs }
    }

    pub fn scheme(&self) -> Scheme {
        self.protocol.parse().unwrap_or(Scheme::Yao)
    }

    pub fn garbling(&self) -> Garbling {
        self.garbling.parse().unwrap_or_default()
    }

    /// The protocol, and how Yao garbles if not as usual.
    pub fn title(&self) -> String {
        match self.garbling() {
            garbling if self.scheme() == Scheme::Yao && garbling != Garbling::default() => format!("yao, {garbling}"),
            _ => self.protocol.clone(),
        }
    }

    pub fn options(&self) -> Options {
        let timing = match self.task {
            Task::Run { streamed: true } => Timing::Streamed,
            Task::Online { .. } => Timing::Ahead,
            _ => Timing::Auto,
        };
        let options = Options::new(self.scheme()).timing(timing).garbling(self.garbling());
        // Figures of one day and the next have the same maker.
        options.strands(self.strands as usize).extension(Extension::DEFAULT)
    }

    pub fn link(&self) -> Result<Option<Link>, Failure> {
        Ok(self.link.as_deref().map(str::parse).transpose()?)
    }

    pub fn bind(&self) -> Result<Binding, Failure> {
        let program = program::load(&self.program, &[])?;
        let sizes: Vec<(&str, u64)> = program.sizes().iter().map(|size| (&*size.name, self.lanes)).collect();
        Ok(program.bind(&sizes)?)
    }
}

/// Inputs of both parties, the same in every process: what is measured does not depend on them.
pub fn all_inputs(binding: &Binding) -> Inputs {
    let mut state = 1u64;
    let mut inputs = Inputs::new();
    for port in binding.inputs() {
        let mut matrix = BitMatrix::zeros(port.ty.width as usize, port.lanes as usize);
        for word in matrix.words_mut() {
            state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            *word = state ^ state >> 29;
        }
        matrix.clear_padding();
        inputs.set(&port.name, matrix);
    }
    inputs
}

/// The inputs of one party, and the public ones.
pub fn own_inputs(binding: &Binding, party: Party) -> Inputs {
    let all = all_inputs(binding);
    let own = binding.inputs().iter().filter(|port| port.who != Owner::Party(party.peer()));
    own.fold(Inputs::new(), |own, port| match all.get(&port.name) {
        Some(value) => own.with(&port.name, value.clone()),
        None => own,
    })
}

/// Compares what a party learned with the result in the clear.
pub fn check<'a>(binding: &Binding, learned: impl IntoIterator<Item = &'a Outputs>) -> Result<(), Failure> {
    let expected = plain::run(binding, &all_inputs(binding))?;
    compare(binding.program().name(), &expected, learned)
}

fn compare<'a>(name: &str, expected: &Outputs, learned: impl IntoIterator<Item = &'a Outputs>) -> Result<(), Failure> {
    let mut outputs = learned.into_iter().flat_map(|outputs| outputs.iter());
    match outputs.find(|(port, value)| expected.get(port) != Some(value)) {
        Some((port, _)) => {
            let why = format!("{name}: the output '{port}' is not the one computed in the clear");
            Err(Failure::new(Exit::Wrong, why))
        }
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn outputs(case: &Case, inputs: &Inputs) -> Outputs {
        plain::run(&case.bind().unwrap_or_else(|why| panic!("{}", why.message)), inputs).unwrap()
    }

    #[test]
    fn a_wrong_bit_is_found() {
        let case = Case::new(Task::Run { streamed: false }, Scheme::Yao, "block:add:8", 70, 1);
        let binding = case.bind().unwrap_or_else(|why| panic!("{}", why.message));
        let right = outputs(&case, &all_inputs(&binding));
        assert!(check(&binding, [&right, &Outputs::default()]).is_ok());
        let mut other = all_inputs(&binding).get("a").unwrap().clone();
        other.set(0, 69, !other.get(0, 69));
        let wrong = outputs(&case, &all_inputs(&binding).with("a", other));
        let failure = check(&binding, [&right, &wrong]).unwrap_err();
        assert!(failure.exit == Exit::Wrong && failure.message.contains("is not the one computed in the clear"));
    }

    #[test]
    fn cases_travel() {
        let case = Case {
            link: Some("10ms,100Mbit".into()),
            garbling: Garbling::ThreeHalves.to_string(),
            ..Case::new(Task::Online { at_once: 3 }, Scheme::Gmw, "app:scifi", 9, 2)
        };
        assert_eq!(serde_json::from_str::<Case>(&serde_json::to_string(&case).unwrap()).unwrap(), case);
        assert_eq!(case.options().garbling, Garbling::ThreeHalves);
        assert_eq!(
            (case.title(), Case { protocol: "yao".into(), ..case.clone() }.title()),
            ("gmw".into(), "yao, three-halves".into())
        );
        assert_eq!(case.link().ok().flatten(), "10ms,100Mbit".parse().ok());
    }
}

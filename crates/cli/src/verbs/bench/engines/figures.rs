//! The named figures: what is measured, and what is counted of it.

use super::case::{Case, Task};
use crate::args::BenchEngines;
use crate::failure::Failure;
use duologue::{Garbling, Scheme};

/// Where the parties of a case meet.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Over {
    /// In one process without a channel, in turns on one core.
    Nothing,
    /// In one process, each party by itself on recorded messages.
    Records,
    /// In one process, each party by itself over a socket, with a thread that only moves bytes.
    Mover,
    /// Threads of one process.
    Memory,
    /// Two processes, or two machines.
    Tcp,
    Tls,
}

/// A case that is measured, under a name.
pub struct NamedCase {
    pub name: &'static str,
    pub over: Over,
    pub case: Case,
}

/// The value of a case that a figure shows.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Value {
    /// ANDs by the time of setup: of what runs alone, the garbler.
    Setup,
    /// ANDs by the time online: of what runs alone, the evaluator or the slower party of GMW.
    Online,
    /// ANDs by all of the time.
    Whole,
    /// The time of a call, in microseconds.
    Microseconds,
    /// The time online, in milliseconds.
    Milliseconds,
    /// The largest memory of a party's process, in MB.
    Memory,
    /// Bytes by the time, in GB/s.
    Throughput,
    /// How much faster the first job is than the second in setup, online, or in whichever of both gained less.
    GainSetup,
    GainOnline,
    Gain,
}

impl Value {
    pub fn unit(self) -> &'static str {
        match self {
            Value::Setup | Value::Online | Value::Whole => "AND/s",
            Value::Microseconds => "µs",
            Value::Milliseconds => "ms",
            Value::Memory => "MB",
            Value::Throughput => "GB/s",
            Value::GainSetup | Value::GainOnline | Value::Gain => "times",
        }
    }
}

/// A figure, of one job, of the largest of several, or of one against another.
pub struct Figure {
    pub name: &'static str,
    pub value: Value,
    pub jobs: &'static [&'static str],
    /// The aim: in R, or in the figure's unit.
    pub goal: &'static str,
    /// The jobs that it is compared with: the same in memory, the engine alone, the channel alone.
    pub beside: &'static [&'static str],
}

const fn figure(name: &'static str, value: Value, jobs: &'static [&'static str], goal: &'static str) -> Figure {
    Figure { name, value, jobs, goal, beside: &[] }
}

pub const FIGURES: [Figure; 34] = [
    figure("garble", Value::Setup, &["yao_alone"], "0.25 R"),
    figure("evaluate", Value::Online, &["yao_alone"], "0.35 R"),
    figure("garble_cold", Value::Setup, &["yao_cold"], ""),
    figure("evaluate_cold", Value::Online, &["yao_cold"], ""),
    figure("strands2_garble", Value::GainSetup, &["yao_cold_by2", "yao_cold"], "0.95 times"),
    figure("strands2_evaluate", Value::GainOnline, &["yao_cold_by2", "yao_cold"], "0.95 times"),
    figure("threads2_garble", Value::GainSetup, &["yao_cold2", "yao_cold"], "1.8 times"),
    figure("threads2_evaluate", Value::GainOnline, &["yao_cold2", "yao_cold"], "1.8 times"),
    figure("threads2", Value::Gain, &["yao_cold2", "yao_cold"], "1.8 times"),
    figure("threads2_garble_1strand", Value::GainSetup, &["yao_cold2_by1", "yao_cold"], ""),
    figure("threads2_evaluate_1strand", Value::GainOnline, &["yao_cold2_by1", "yao_cold"], ""),
    figure("threads2_gmw", Value::GainOnline, &["gmw_cold2", "gmw_cold"], "1.8 times"),
    figure("threads2_masked", Value::GainOnline, &["masked_cold2", "masked_cold"], "1.8 times"),
    figure("threads2_softspoken4", Value::GainOnline, &["softspoken4_2", "softspoken4_1"], "1.8 times"),
    figure("threads2_triples", Value::GainOnline, &["triples_2", "triples_1"], "1.8 times"),
    figure("threads2_silent", Value::GainOnline, &["silent16w_2", "silent16w_1"], "1.8 times"),
    Figure {
        beside: &["yao_alone", "channel_sink"],
        ..figure("mover_garble", Value::Setup, &["yao_mover"], "0.85 of possible")
    },
    Figure {
        beside: &["yao_alone", "channel_replay"],
        ..figure("mover_evaluate", Value::Online, &["yao_mover"], "0.85 of possible")
    },
    figure("yao_memory", Value::Whole, &["yao_memory"], "0.20 R"),
    figure("channel_tcp", Value::Throughput, &["channel_tcp"], ""),
    Figure {
        beside: &["yao_memory", "yao_alone", "channel_tcp"],
        ..figure("yao_tcp", Value::Whole, &["yao_tcp"], "0.6 of memory")
    },
    figure("channel_tls", Value::Throughput, &["channel_tls"], ""),
    Figure {
        beside: &["yao_memory", "yao_alone", "channel_tls"],
        ..figure("yao_tls", Value::Whole, &["yao_tls"], "0.4 of memory")
    },
    figure("aes_latency", Value::Microseconds, &["aes_latency"], "150 µs"),
    figure("aes_latency_memory", Value::Microseconds, &["aes_latency_memory"], ""),
    figure("session_start", Value::Milliseconds, &["session_start"], ""),
    figure("aes_first_tls", Value::Milliseconds, &["aes_first_tls"], "8 ms"),
    figure("gmw_alone", Value::Online, &["gmw_alone"], ""),
    figure("gmw_online_memory", Value::Online, &["gmw_online_memory"], "5 R"),
    figure("gmw_online", Value::Online, &["gmw_online"], "3 R"),
    figure("gmw_product512", Value::Milliseconds, &["gmw_product512"], "8 ms"),
    figure("stream_memory_yao", Value::Memory, &["stream_memory_yao"], "256 MB"),
    figure("stream_memory_gmw", Value::Memory, &["stream_memory_gmw"], "256 MB"),
    figure("stream_memory", Value::Memory, &["stream_memory_yao", "stream_memory_gmw"], "256 MB"),
];

/// Runs of what takes many seconds, or takes microseconds.
const FEW: u32 = 3;
const MANY: u32 = 100;

/// Correlations of a run, in each direction.
const MADE: u64 = 1 << 23;

/// ANDs of AES-128 in a lane.
const AES: u64 = 6400;

/// The figures that are measured and those that are shown.
pub struct Plan {
    pub figures: Vec<&'static Figure>,
    pub jobs: Vec<NamedCase>,
    /// How ANDs are garbled.
    pub garbling: Garbling,
}

impl Plan {
    /// Everything that can be measured where the parties are, or what was asked for with what it is compared with.
    pub fn new(args: &BenchEngines) -> Result<Plan, Failure> {
        let names: Vec<&str> = FIGURES.iter().map(|figure| figure.name).collect();
        if let Some(name) = args.only.iter().find(|name| !names.contains(&name.as_str())) {
            let hint = format!("there are {}", names.join(", "));
            return Err(Failure::input(format!("no figure is called '{name}'")).hint(hint));
        }
        let apart = args.peer.party.map(|_| if args.peer.peer_key.is_some() { Over::Tls } else { Over::Tcp });
        let jobs = jobs(args).into_iter().filter(|job| apart.is_none_or(|over| job.over == over));
        let mut jobs: Vec<NamedCase> = jobs.collect();
        let there = |figure: &&Figure| figure.jobs.iter().all(|name| jobs.iter().any(|job| job.name == *name));
        let wanted = |figure: &&Figure| args.only.is_empty() || args.only.iter().any(|name| name == figure.name);
        let figures: Vec<&Figure> = FIGURES.iter().filter(wanted).filter(there).collect();
        if figures.is_empty() {
            return Err(Failure::input("none of these figures is measured between two machines")
                .hint("those over TLS need --peer-key, those over TCP do without"));
        }
        jobs.retain(|job| {
            figures.iter().any(|figure| figure.jobs.iter().chain(figure.beside).any(|name| *name == job.name))
        });
        Ok(Plan { figures, jobs, garbling: args.garbling })
    }
}

/// All cases, in the order in which they are measured: what is compared comes together.
fn jobs(args: &BenchEngines) -> Vec<NamedCase> {
    let scaled = |count: u64| if args.quick { count.div_ceil(100) } else { count };
    let (runs, few) = (args.runs, args.runs.min(FEW));
    let many = if args.quick { args.runs } else { args.runs.max(MANY) };
    let garbling = args.garbling.to_string();
    let job = |name, over, case| NamedCase { name, over, case: Case { garbling: garbling.clone(), ..case } };
    let streamed = Task::Run { streamed: true };
    let yao = || Case::new(streamed, Scheme::Yao, "block:aes128", scaled(4096), runs);
    let cold = || Case { lanes: scaled(2048), ..yao() };
    let gmw = || Case::new(Task::Online { at_once: 1 }, Scheme::Gmw, "block:aes128", scaled(100_000), few);
    let made = |maker: &str, count, triples| Case {
        program: maker.into(),
        ..Case::new(Task::Correlate { count: scaled(count), triples }, Scheme::Gmw, "", 0, runs)
    };
    let two = |case: Case| Case { threads: 2, ..case };
    let masked = || Case::new(Task::Online { at_once: 1 }, Scheme::MaskedGmw, "block:aes128", scaled(100_000), few);
    let latency = || Case::new(Task::Online { at_once: 20 }, Scheme::Yao, "block:aes128", 1, many);
    let first = |task| Case::new(task, Scheme::Yao, "block:aes128", 1, many.min(25));
    let channel = || Case::new(Task::Stream { bytes: scaled(1 << 30) }, Scheme::Yao, "", 0, runs);
    let memory = |scheme| Case::new(streamed, scheme, "block:aes128", scaled(args.count).div_ceil(AES), 1);
    let product = || Case::new(Task::Online { at_once: 1 }, Scheme::Gmw, "block:multiply:512:depth", 1, many.min(20));
    vec![
        job("yao_alone", Over::Nothing, yao()),
        job("yao_cold", Over::Records, cold()),
        job("yao_cold_by2", Over::Records, Case { strands: 2, ..cold() }),
        job("yao_cold2", Over::Records, Case { threads: 2, strands: 2, ..cold() }),
        job("yao_cold2_by1", Over::Records, Case { threads: 2, ..cold() }),
        job("gmw_cold", Over::Records, gmw()),
        job("gmw_cold2", Over::Records, Case { threads: 2, ..gmw() }),
        job("masked_cold", Over::Records, masked()),
        job("masked_cold2", Over::Records, Case { threads: 2, ..masked() }),
        job("softspoken4_1", Over::Records, made("softspoken4", MADE, false)),
        job("softspoken4_2", Over::Records, two(made("softspoken4", MADE, false))),
        job("triples_1", Over::Records, made("softspoken4", MADE, true)),
        job("triples_2", Over::Records, two(made("softspoken4", MADE, true))),
        job("silent16w_1", Over::Records, made("silent16w", MADE, false)),
        job("silent16w_2", Over::Records, two(made("silent16w", MADE, false))),
        job("channel_sink", Over::Mover, two(channel())),
        job("channel_replay", Over::Mover, two(Case { task: Task::Replay { bytes: scaled(1 << 30) }, ..channel() })),
        job("yao_mover", Over::Mover, two(cold())),
        job("yao_memory", Over::Memory, yao()),
        job("channel_tcp", Over::Tcp, channel()),
        job("yao_tcp", Over::Tcp, yao()),
        job("channel_tls", Over::Tls, channel()),
        job("yao_tls", Over::Tls, yao()),
        job("aes_latency", Over::Tcp, latency()),
        job("aes_latency_memory", Over::Memory, latency()),
        job("session_start", Over::Tcp, first(Task::Start)),
        job("aes_first_tls", Over::Tls, first(Task::First)),
        job("gmw_alone", Over::Nothing, Case { lanes: scaled(25_000), ..gmw() }),
        job("gmw_online_memory", Over::Memory, gmw()),
        job("gmw_online", Over::Tcp, gmw()),
        job("gmw_product512", Over::Tcp, product()),
        job("stream_memory_yao", Over::Tcp, memory(Scheme::Yao)),
        job("stream_memory_gmw", Over::Tcp, memory(Scheme::Gmw)),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::args::{Args, Verb};
    use clap::Parser;

    fn plan(line: &str) -> Result<(Vec<&'static str>, Vec<&'static str>), Failure> {
        let args = Args::try_parse_from(format!("duologue bench {line}").split_whitespace()).expect("a command line");
        let Verb::Bench(args) = args.verb else { panic!("bench") };
        let plan = Plan::new(&args.engines)?;
        let figures = plan.figures.iter().map(|figure| figure.name).collect();
        Ok((figures, plan.jobs.iter().map(|job| job.name).collect()))
    }

    #[test]
    fn figures_have_their_jobs() {
        let (figures, jobs) = plan("").unwrap_or_else(|why| panic!("{}", why.message));
        assert_eq!((figures.len(), jobs.len()), (34, 33));
        let all = FIGURES.iter().flat_map(|figure| figure.jobs.iter().chain(figure.beside));
        assert!(all.into_iter().all(|name| jobs.contains(name)));
    }

    #[test]
    fn a_figure_brings_what_it_is_compared_with() {
        let of = |line: &str| plan(line).ok();
        assert_eq!(of("--only garble"), Some((vec!["garble"], vec!["yao_alone"])));
        let beside = vec!["yao_alone", "yao_memory", "channel_tls", "yao_tls"];
        assert_eq!(of("--only yao_tls"), Some((vec!["yao_tls"], beside)));
        assert_eq!(of("--only stream_memory").map(|(_, jobs)| jobs.len()), Some(2));
        assert!(of("--only garbling").is_none());
    }

    #[test]
    fn two_machines_measure_what_they_share() {
        let of = |line: &str| plan(&format!("--as alice --connect a:1 {line}")).ok().map(|(figures, _)| figures);
        assert!(of("").is_some_and(|figures| figures.contains(&"yao_tcp") && !figures.contains(&"garble")));
        assert_eq!(of("--only garble"), None);
        assert_eq!(of("--only yao_tls"), None);
    }
}

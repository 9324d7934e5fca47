//! The commands that Yosys is given: what reads the design, and what cleans it at the level of words.

use super::Design;
use crate::blocks::{self, Given};
use crate::error::{Error, Result};
use crate::netlist::Kept;
use circuit::format::cells::{CELLS, OUTPUT};
use std::path::{Path, PathBuf};

/// What reads the design.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Reader {
    /// Yosys' own reader of Verilog.
    Verilog,
    /// The reader that knows all of SystemVerilog, which not every Yosys has.
    Slang,
    /// GHDL's plugin for VHDL.
    Ghdl,
}

impl Reader {
    /// The command that it is.
    pub fn name(self) -> &'static str {
        match self {
            Reader::Verilog => "read_verilog",
            Reader::Slang => "read_slang",
            Reader::Ghdl => "ghdl",
        }
    }
}

/// What is read, and how.
#[derive(Clone, Copy)]
pub(super) struct Source<'a> {
    pub design: &'a Design,
    pub reader: Reader,
    /// The file into which Yosys writes the modules of all designs, for a reader that takes nothing but files.
    pub library: Option<&'a Path>,
}

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

/// The same of modules that are boxes from the beginning.
const DYNAMIC: &str = "setattr -mod -set dynports 1 =A:duologue_block";

/// Instances of modules with a body that name a block themselves, so that they can be named.
const INNER: [&str; 2] =
    ["select -set inner a:duologue_block =A:blackbox %C %d", "chtype -set duologue_inner_block @inner"];

/// The end of a text in the script.
const END: &str = "DUOLOGUE_END";

/// The end of hiding.
const SHOWN: &str = "chtype -map duologue_state $dff";

/// The most steps of a loop that read_slang unrolls.
const MOST_STEPS: u32 = 1 << 20;

/// Wires of instances that read_slang has made part of the module, as it does with those that have interfaces. Which of
/// them were inputs is not known any more; registers are what a `$dff` drives.
const DISSOLVED: &str = "setattr -unset party w:*.* t:$*dff* %co1:+[Q] %d";

/// The script that reads a design and says which modules it has.
pub(super) fn modules(source: Source) -> Result<String> {
    let commands = [&read(source)?[..], &["proc", "write_json"].map(String::from)].concat();
    Ok(commands.join("\n") + "\n")
}

/// The script that makes all of a design one module, but for those that are kept. Names go into it, so they must not have
/// what means something there.
pub(super) fn commands(source: Source, kept: &Kept) -> Result<String> {
    let design = source.design;
    // Without -full, which joins sums behind selections and gives wires that nothing drives a value.
    let clean = "opt -fine -mux_undef";
    let read = read(source)?;
    let read: Vec<&str> = read.iter().map(String::as_str).collect();
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
    let one = "setattr -mod -unset keep_hierarchy";
    let elaborate = [unset, "proc", INNER[0], INNER[1], &goals[0], &goals[1], one];
    let same = |(name, class): &(String, String)| format!("chtype -set {} t:{}", escaped(class), pattern(name));
    let stay = |name: &String| format!("setattr -mod -set keep_hierarchy 1 {}", pattern(name));
    let keep_modules: Vec<String> = kept.same.iter().map(same).chain(kept.modules.iter().map(stay)).collect();
    let keep_modules: Vec<&str> = keep_modules.iter().map(String::as_str).collect();
    let join = ["flatten", keep, "tribuf", COMPARISONS];
    let words = [clean, "wreduce", "peepopt", clean];
    let lists: [&[&str]; 9] =
        [&read, &elaborate, &keep_modules, &join, registers, &words, memories, end, &["write_json"]];
    let commands: Vec<&str> = lists.concat();
    Ok(commands.join("\n") + "\n")
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

/// Reads the modules of all designs and those of the circuits that are given, unless the design has them, and takes the bodies
/// of what stands for a block or a circuit.
fn library(design: &Design) -> Result<Vec<String>> {
    let read = format!("read_verilog -sv -nooverwrite <<{END}\n{}{END}", declarations(design)?);
    let given = design.blocks.iter().map(|given| format!("blackbox ={}", given.module));
    Ok([read].into_iter().chain(given).chain(BOXES.map(String::from)).collect())
}

/// The modules of all designs and those of the circuits that are given.
fn declarations(design: &Design) -> Result<String> {
    Ok(design.blocks.iter().map(declaration).collect::<Result<String>>()? + blocks::LIBRARY)
}

/// What read_slang is told of the modules of all designs: their file, and which modules are boxes that keep their parameters.
fn library_of_slang(design: &Design, file: &Path) -> Result<(String, String)> {
    let (file, declared) = (quoted(file)?.replace('"', ""), declarations(design)?);
    let mut boxes = blocks::modules(&declared);
    boxes.extend(design.blocks.iter().map(|given| given.module.clone()));
    for file in &design.files {
        // A file that cannot be read is refused by the reader.
        boxes.extend(blocks::modules(&String::from_utf8_lossy(&std::fs::read(file).unwrap_or_default())));
    }
    let boxes: String = boxes.iter().map(|name| format!("--blackboxed-module {name} ")).collect();
    let write = format!("write_file {file} <<{END}\n{declared}{END}");
    Ok((write, format!("{boxes}-v {file} ")))
}

/// A module without a body that has the ports of a circuit.
fn declaration(given: &Given) -> Result<String> {
    if !is_identifier(&given.module) {
        let why = format!("'{}' is no name of a module", given.module);
        return Err(Error::usage(why, "write NAME=FILE, as adder=adder.duo"));
    }
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

/// The commands that read the files and look for the top module.
fn read(Source { design, reader, library: file }: Source) -> Result<Vec<String>> {
    let named =
        |file: &PathBuf| quoted(file).map(|name| if reader == Reader::Slang { name.replace('"', "") } else { name });
    let files = design.files.iter().map(named).collect::<Result<Vec<String>>>()?.join(" ");
    let top = design.top.as_deref().map(identifier).transpose()?;
    let set = parameters(design)?;
    let given = |flag: &str, between: &str| {
        let one = |(name, value): &(&str, &str)| format!("{flag}{name}{between}{value} ");
        set.iter().map(one).collect::<String>()
    };
    let hierarchy = match top {
        Some(top) => format!("hierarchy -check -purge_lib -top {top}"),
        None => "hierarchy -check -purge_lib -auto-top".into(),
    };
    let mut commands = match (reader, top) {
        (Reader::Verilog, _) => {
            let read = format!("read_verilog -sv -noautowire {files}");
            technology().into_iter().chain([read]).chain(library(design)?).collect::<Vec<_>>()
        }
        (Reader::Slang, _) => {
            let top = top.map_or(String::new(), |top| format!("--top {top} "));
            // All files are one unit, as they are to read_verilog; modules stay, so that their inputs are known for such.
            let known = file.map(|file| library_of_slang(design, file)).transpose()?;
            let (write, boxes) = known.unzip();
            let read = format!(
                "read_slang -j 1 --dump-ast --single-unit --ignore-timing --timescale 1ns/1ps --unroll-limit \
                 {MOST_STEPS} --best-effort-hierarchy {top}{}{}{files}",
                given("-G ", "="),
                boxes.unwrap_or_default()
            );
            let end = [read, DISSOLVED.into(), BOXES[0].into(), DYNAMIC.into(), hierarchy];
            return Ok(technology().into_iter().chain(write).chain(end).collect());
        }
        (Reader::Ghdl, Some(top)) => {
            return Ok(vec![format!("ghdl --std=08 {}{files} -e {top}", given("-g", "=")), hierarchy]);
        }
        (Reader::Ghdl, None) => return Err(Error::usage("which entity of VHDL is meant?", "name it with --top")),
    };
    if let (Some(top), false) = (top, set.is_empty()) {
        commands.push(format!("chparam {}{top}", given("-set ", " ")));
    }
    // Which modules there are, where that is the question.
    commands.extend(top.is_none().then(|| "write_rtlil".to_string()));
    commands.push(hierarchy);
    Ok(commands)
}

/// A name in a selection, where some letters mean something else.
fn pattern(name: &str) -> String {
    let escape = |letter: char| if "*?[\\".contains(letter) { vec!['\\', letter] } else { vec![letter] };
    name.chars().flat_map(escape).collect()
}

/// A name as Yosys has it: one that does not begin with `$` is the user's.
fn escaped(name: &str) -> String {
    if name.starts_with('$') { name.to_string() } else { format!("\\{name}") }
}

fn identifier(top: &str) -> Result<&str> {
    match is_identifier(top) {
        true => Ok(top),
        false => Err(Error::usage(format!("'{top}' is no name of a module"), "give --top its name")),
    }
}

/// The parameters of the module, whose names and values mean nothing to Yosys.
fn parameters(design: &Design) -> Result<Vec<(&str, &str)>> {
    if let (Some((first, _)), None) = (design.parameters.first(), &design.top) {
        return Err(Error::usage(format!("the parameter '{first}' of which module?"), "name it with --top"));
    }
    let set = design.parameters.iter().map(|(name, value)| {
        let is_integer =
            !value.is_empty() && value.chars().all(|letter| letter.is_ascii_alphanumeric() || "'-_".contains(letter));
        match is_identifier(name) && is_integer {
            true => Ok((name.as_str(), value.as_str())),
            false => {
                let why = format!("'{name}={value}' sets no parameter");
                Err(Error::usage(why, "write NAME=INTEGER, as WIDTH=32 or INIT=8'hff"))
            }
        }
    });
    set.collect()
}

/// Whether a file has a name that read_slang can be given: it takes quotation marks for a part of it.
pub(super) fn suits_slang(file: &Path) -> bool {
    !file.to_string_lossy().contains(' ')
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

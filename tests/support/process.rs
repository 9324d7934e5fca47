//! The command as users run it: real processes, real sockets, a configuration folder of its own.
#![allow(dead_code)] // each test file uses its part

use serde_json::Value;
use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::thread::{self, JoinHandle};
use tempfile::TempDir;

/// A folder with a program's files, in which commands run; its `config` is their configuration.
pub struct Place {
    folder: TempDir,
}

/// What a command left.
pub struct Done {
    pub code: Option<i32>,
    pub stdout: String,
    pub stderr: String,
}

impl Done {
    /// The JSON on standard output of a command that succeeded.
    pub fn json(&self) -> Value {
        self.succeeded();
        serde_json::from_str(&self.stdout).unwrap_or_else(|why| panic!("{why} in {}", self.stdout))
    }

    pub fn succeeded(&self) -> &Self {
        assert_eq!(self.code, Some(0), "{}{}", self.stdout, self.stderr);
        self
    }

    /// It failed with this code, saying all of `words`.
    pub fn failed(&self, code: i32, words: &[&str]) -> &Self {
        assert_eq!(self.code, Some(code), "{}{}", self.stdout, self.stderr);
        assert!(self.stderr.contains("error: "), "{}", self.stderr);
        words.iter().for_each(|word| assert!(self.stderr.contains(word), "no '{word}' in: {}", self.stderr));
        self
    }

    /// The values of an output.
    pub fn values(&self, output: &str) -> Vec<Value> {
        self.json()["outputs"][output]["values"].as_array().expect("values").clone()
    }
}

impl Place {
    pub fn new() -> Place {
        let folder = TempDir::new().expect("a temporary folder");
        Place { folder }
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub fn write(&self, name: &str, content: impl AsRef<[u8]>) -> String {
        std::fs::write(self.path(name), content).expect("writing a file");
        name.to_string()
    }

    /// All files in the folder, hidden ones included.
    pub fn files(&self) -> Vec<String> {
        let entries = std::fs::read_dir(self.folder.path()).expect("the folder");
        let mut names: Vec<String> =
            entries.map(|entry| entry.expect("an entry").file_name().to_string_lossy().into_owned()).collect();
        names.sort();
        names
    }

    /// The command with these arguments, words separated by blanks.
    pub fn command(&self, args: &str) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_duologue"));
        command.args(args.split_whitespace()).current_dir(self.folder.path()).stdin(Stdio::null());
        command.env("XDG_CONFIG_HOME", self.path("config")).env_remove("DUOLOGUE_CONFIG").env_remove("RUST_LOG");
        command
    }

    /// Runs the command to its end.
    pub fn run(&self, args: &str) -> Done {
        self.finish(self.command(args))
    }

    /// The same with a command whose words may have blanks.
    pub fn finish(&self, mut command: Command) -> Done {
        let output = command.output().expect("the command starts");
        Done {
            code: output.status.code(),
            stdout: String::from_utf8(output.stdout).expect("text"),
            stderr: String::from_utf8(output.stderr).expect("text"),
        }
    }

    /// Starts a command that goes on.
    pub fn start(&self, args: &str) -> Running {
        Running::new(self.command(args).stdout(Stdio::piped()).stderr(Stdio::piped()))
    }

    /// Starts a party that listens on a free port.
    pub fn listen(&self, args: &str) -> (Running, String) {
        let mut running = self.start(&format!("{args} --listen 127.0.0.1:0"));
        let address = running.address();
        (running, address)
    }

    /// The same with a command whose words may have blanks.
    pub fn listen_with(&self, mut command: Command) -> (Running, String) {
        command.args(["--listen", "127.0.0.1:0"]).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut running = Running::new(&mut command);
        let address = running.address();
        (running, address)
    }

    /// Makes keys for both and returns their TLS arguments, Alice's first.
    pub fn tls(&self) -> [String; 2] {
        let [alice, bob] = ["alice.key", "bob.key"].map(|file| {
            let made = self.run(&format!("keys new --key {file}"));
            made.succeeded().stdout.trim().to_string()
        });
        [format!("--key alice.key --peer-key {bob}"), format!("--key bob.key --peer-key {alice}")]
    }

    /// Runs both parties, Bob listening; `common` goes to both.
    pub fn both(&self, common: &str, alice: &str, bob: &str) -> (Done, Done) {
        let (bob, address) = self.listen(&format!("run {common} --as bob {bob}"));
        let alice = self.run(&format!("run {common} --as alice {alice} --connect {address}"));
        (alice, bob.end())
    }
}

/// A process that is under way; it is killed if the test ends first.
pub struct Running {
    child: Child,
    stdout: Option<JoinHandle<String>>,
    stderr: Option<BufReader<std::process::ChildStderr>>,
    said: String,
}

impl Running {
    /// Starts a command that goes on, and whose environment is another one.
    pub fn piped(command: &mut Command) -> Running {
        Running::new(command.stdout(Stdio::piped()).stderr(Stdio::piped()))
    }

    fn new(command: &mut Command) -> Running {
        let mut child = command.spawn().expect("the command starts");
        let mut stdout = child.stdout.take().expect("a pipe");
        let read = move || {
            let mut text = String::new();
            stdout.read_to_string(&mut text).expect("text");
            text
        };
        let stderr = child.stderr.take().map(BufReader::new);
        Running { child, stdout: Some(thread::spawn(read)), stderr, said: String::new() }
    }

    /// Where it listens.
    fn address(&mut self) -> String {
        self.until("listening on ")
    }

    /// Waits for a line that begins so; what follows in it.
    pub fn until(&mut self, words: &str) -> String {
        let stderr = self.stderr.as_mut().expect("a pipe");
        loop {
            let start = self.said.len();
            assert!(stderr.read_line(&mut self.said).expect("text") > 0, "no '{words}' in {}", self.said);
            if let Some(rest) = self.said[start..].strip_prefix(words) {
                return rest.trim().to_string();
            }
        }
    }

    /// The number of the process.
    pub fn id(&self) -> u32 {
        self.child.id()
    }

    pub fn kill(&mut self) {
        self.child.kill().expect("it can be killed");
    }

    /// Sends a signal by name.
    pub fn signal(&self, name: &str) {
        let kill = format!("kill -s {name} {}", self.child.id());
        let sent = Command::new("sh").args(["-c", &kill]).status();
        assert!(sent.is_ok_and(|status: ExitStatus| status.success()));
    }

    /// Waits for its end.
    pub fn end(mut self) -> Done {
        let mut stderr = std::mem::take(&mut self.said);
        self.stderr.as_mut().expect("a pipe").read_to_string(&mut stderr).expect("text");
        let stdout = self.stdout.take().map(|read| read.join().expect("read")).unwrap_or_default();
        Done { code: self.child.wait().expect("it ends").code(), stdout, stderr }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A file of the repository.
pub fn repository(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(path)
}

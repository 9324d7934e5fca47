//! Workers that Ray starts, as actors of this party's cluster. A process of Python, `python3 -m duologue.cluster`, has them placed and started
//! again, as `duologue.cluster.ray.drive` does; it ends when its standard input does, so never later than this driver.

use crate::args::JobParties;
use crate::failure::{Exit, Failure};
use crate::io::console::Console;
use crate::process;
use duologue::channel::Canceller;
use serde::{Deserialize, Serialize};
use std::ffi::OsString;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::os::unix::process::CommandExt;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

/// How long it may take to end all actors before it is killed. Ray ends those of a process that is gone.
const GRACE: Duration = Duration::from_secs(20);

/// The exit code of what was asked for and cannot be (`__main__.py`).
const USAGE: i32 = 64;

/// What to install, and where.
const INSTALL: &str = "it needs Python with this package and Ray, `pip install 'duologue[ray]'`; the variable DUOLOGUE_PYTHON names another \
                       interpreter than python3";

/// The actors of a job, through the process that has started them; dropped, they end.
pub struct Ray {
    child: Child,
    /// Its standard input: closed, it ends.
    orders: Option<ChildStdin>,
    /// Its last words, once it has ended.
    words: Option<JoinHandle<Vec<String>>>,
    /// Where the driver is to listen, so that workers on other nodes reach it.
    pub listen: String,
}

/// What it says when it is connected.
#[derive(Deserialize)]
struct Connected {
    listen: String,
    version: String,
}

/// What it is told when the driver listens.
#[derive(Serialize)]
struct Order<'a> {
    listening: &'a str,
    words: Vec<&'a str>,
}

impl Ray {
    /// Connects to the cluster, and asks it for the workers.
    pub fn connect(args: &JobParties, threads: u16, console: Console, canceller: &Canceller) -> Result<Ray, Failure> {
        let mut command = command(args, threads);
        let mut child = command.spawn().map_err(|why| {
            let what = format!("starting Ray's side, {}", command.get_program().display());
            Failure::io(what)(why).hint(INSTALL)
        })?;
        let words = child.stderr.take().map(|errors| thread::spawn(move || last_words(errors, console)));
        let (orders, answers) = (child.stdin.take(), child.stdout.take());
        let mut ray = Ray { child, orders, words, listen: String::new() };
        let answers = answers.ok_or_else(|| ray.why())?;
        let answer = wait_for(answers, Duration::from_secs(args.wait), canceller)?.ok_or_else(|| ray.why())?;
        let Connected { listen, version } = serde_json::from_str(&answer)
            .map_err(|why| Failure::malformed("what Ray's side of the driver says", why).hint(INSTALL))?;
        if version != super::order::BUILD {
            let why = format!("this is duologue {}, and the package of Python is {version}", super::order::BUILD);
            return Err(Failure::new(Exit::Incompatible, why).hint(INSTALL));
        }
        ray.listen = listen;
        Ok(ray)
    }

    /// Has the workers work for the driver that listens there, with these words behind `--driver` and its address.
    pub fn work<'a>(&mut self, listening: &'a str, words: &'a [OsString]) -> Result<(), Failure> {
        let text = |word: &'a OsString| {
            word.to_str().ok_or_else(|| Failure::input(format!("{} is not UTF-8", word.display())))
        };
        let words = words.iter().map(text).collect::<Result<_, _>>()?;
        let order = serde_json::to_string(&Order { listening, words }).map_err(io::Error::from);
        let order = order.map_err(Failure::io("writing JSON"))? + "\n";
        match self.orders.as_mut().map(|orders| orders.write_all(order.as_bytes())) {
            Some(Ok(())) => Ok(()),
            _ => Err(self.why()),
        }
    }

    /// Has it end all actors. Dropped, it is waited for.
    pub fn close(&mut self) {
        self.orders = None;
    }

    /// Fails if the process that has started the workers has ended.
    pub fn look(&mut self) -> Result<(), Failure> {
        match self.child.try_wait() {
            Ok(None) => Ok(()),
            _ => Err(self.why()),
        }
    }

    /// Why it has ended.
    fn why(&mut self) -> Failure {
        self.orders = None;
        let status = self.child.wait();
        let words = self.words.take().and_then(|words| words.join().ok()).unwrap_or_default();
        let said = |kind: &str| words.iter().find_map(|line| line.strip_prefix(kind)).map(String::from);
        let is_input = status.as_ref().is_ok_and(|status| status.code() == Some(USAGE));
        let status = status.map_or_else(|why| why.to_string(), |status| status.to_string());
        let exit = if is_input { Exit::Input } else { Exit::Machine };
        match said("error: ") {
            Some(message) => Failure::new(exit, message),
            None => {
                let last = words.last().map_or(String::new(), |line| format!(": {line}"));
                let failure = Failure::new(exit, format!("Ray's side of the driver ended with {status}{last}"));
                if self.listen.is_empty() { failure.hint(INSTALL) } else { failure }
            }
        }
    }
}

impl Drop for Ray {
    fn drop(&mut self) {
        self.orders = None;
        // Before it is connected there is nothing to end.
        let grace = if self.listen.is_empty() { Duration::ZERO } else { GRACE };
        let until = Instant::now() + grace;
        while Instant::now() < until && matches!(self.child.try_wait(), Ok(None)) {
            thread::sleep(Duration::from_millis(5));
        }
        // Fails if it has ended already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn command(args: &JobParties, threads: u16) -> Command {
    let mut command = Command::new(process::python());
    command.args(["-m", "duologue.cluster", "--workers", &args.workers.to_string(), "--threads", &threads.to_string()]);
    for (flag, value) in
        [("--address", &args.ray_address), ("--options", &args.ray_options), ("--listen", &args.listen)]
    {
        command.args(value.iter().map(|value| format!("{flag}={value}")));
    }
    // Whatever lies in the current folder is not imported. Ctrl-C is for the driver, who tells the others.
    command.env("PYTHONSAFEPATH", "1").env("RAY_COLOR_PREFIX", "0").process_group(0);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

/// The first line that is read, if one comes before the end.
fn wait_for(
    from: impl Read + Send + 'static,
    wait: Duration,
    canceller: &Canceller,
) -> Result<Option<String>, Failure> {
    let (tell, told) = mpsc::channel();
    thread::spawn(move || tell.send(BufReader::new(from).lines().next().and_then(Result::ok)));
    let until = Instant::now() + wait;
    while Instant::now() < until {
        if canceller.is_cancelled() {
            return Err(duologue::Error::Cancelled.into());
        }
        match told.recv_timeout(Duration::from_millis(20)) {
            Ok(line) => return Ok(line),
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => return Ok(None),
        }
    }
    let why = format!("the cluster of Ray does not answer within {} s", wait.as_secs());
    Err(Failure::new(Exit::Timeout, why).hint("`ray status` says what is the matter; --wait allows more time"))
}

/// Passes on what is said, to the end: the lines from its error on, or else the last one.
fn last_words(from: impl Read, console: Console) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    for line in BufReader::new(from).split(b'\n').map_while(Result::ok) {
        let line = plain(&String::from_utf8_lossy(&line));
        let is_error = line.starts_with("error: ");
        if !is_error && !words.first().is_some_and(|first| first.starts_with("error: ")) {
            console.note(&line);
            words.clear();
        }
        words.push(line);
    }
    words
}

/// Without the colours and tabs of Ray's lines.
fn plain(line: &str) -> String {
    let mut parts = line.split("\u{1b}[");
    let first = parts.next().unwrap_or_default().to_string();
    let text = parts.fold(first, |text, part| text + part.split_once('m').map_or(part, |(_, rest)| rest));
    text.replace('\t', " ")
}

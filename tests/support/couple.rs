//! Two parties whose processes are killed, each with a folder of its own, `alice` and `bob`.
#![allow(dead_code)] // each test file uses its part

use super::process::{Done, Place};
use std::fs::{self, File};
use std::process::{Child, Stdio};
use std::thread;
use std::time::{Duration, Instant};

pub const PARTIES: [&str; 2] = ["alice", "bob"];

/// Two parties, and how many processes they started.
pub struct Couple {
    pub place: Place,
    pub started: usize,
}

/// A party's process, and where it writes.
pub struct Process {
    pub child: Child,
    name: String,
}

impl Couple {
    pub fn new() -> Couple {
        Couple { place: Place::new(), started: 0 }
    }

    /// Starts a party's process; `args` are its arguments but for the meeting.
    fn start(&mut self, party: usize, args: &str, meeting: &str) -> Process {
        let us = PARTIES[party];
        let name = format!("{us}-{}", self.started);
        self.started += 1;
        let file = |end: &str| Stdio::from(File::create(self.place.path(&format!("{name}.{end}"))).unwrap());
        let mut command = self.place.command(&format!("{args} {meeting}"));
        command.env("RUST_LOG", "duologue=debug").stdout(file("out")).stderr(file("err"));
        Process { child: command.spawn().unwrap(), name }
    }

    /// Both processes, connected.
    pub fn meet(&mut self, args: [String; 2]) -> [Process; 2] {
        let bob = self.start(1, &args[1], "--listen 127.0.0.1:0");
        let address = self.until(&bob, "listening on ");
        let alice = self.start(0, &args[0], &format!("--connect {address}"));
        self.until(&bob, "connected");
        [alice, bob]
    }

    /// Waits for a line that begins so; what follows in it.
    fn until(&self, process: &Process, words: &str) -> String {
        let deadline = Instant::now() + Duration::from_secs(60);
        loop {
            let said = self.said(process, "err");
            // The last line may not be whole yet.
            let mut lines = said.split_inclusive('\n').filter(|line| line.ends_with('\n'));
            if let Some(rest) = lines.find_map(|line| line.strip_prefix(words)) {
                return rest.trim().to_string();
            }
            assert!(Instant::now() < deadline, "no '{words}' in {said}");
            thread::sleep(Duration::from_millis(1));
        }
    }

    fn said(&self, process: &Process, end: &str) -> String {
        fs::read_to_string(self.place.path(&format!("{}.{end}", process.name))).unwrap()
    }

    pub fn end(&self, mut process: Process) -> Done {
        let code = process.child.wait().unwrap().code();
        Done { code, stdout: self.said(&process, "out"), stderr: self.said(&process, "err") }
    }

    /// What each of a party's processes said after some words in a line, in the order in which the processes ran.
    pub fn lines_after(&self, party: usize, words: &str) -> Vec<String> {
        self.lines_since(party, 0, words)
    }

    /// Those of the processes from this number on.
    pub fn lines_since(&self, party: usize, first: usize, words: &str) -> Vec<String> {
        let file = |started| self.place.path(&format!("{}-{started}.err", PARTIES[party]));
        let said = (first..self.started).map(|started| fs::read_to_string(file(started)).unwrap_or_default());
        let rest = said.flat_map(|said| {
            let lines = said.lines().filter_map(|line| Some(line.split_once(words)?.1.to_string()));
            lines.collect::<Vec<_>>()
        });
        rest.collect()
    }

    /// Whether a party has made its folder what it shall be.
    pub fn has_header(&self, party: usize) -> bool {
        self.place.path(PARTIES[party]).join("header").exists()
    }
}

/// Random numbers that depend on a seed.
pub struct Roll(pub u64);

impl Roll {
    pub fn below(&mut self, sides: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % sides
    }

    /// Either, or both.
    pub fn victims(&mut self) -> [bool; 2] {
        [[true, false], [false, true], [true, true]][self.below(3) as usize]
    }
}

//! What the tests of the applications share.
#![allow(dead_code)]

pub mod encrypted;

use duologue::channel::{Channel, Limits, Listener, Security};
use duologue::circuit::blocks::Goal;
use duologue::circuit::program::reference::{Table, evaluate};
use duologue::circuit::program::{Functionality, Owner};
use duologue::circuit::{Binding, Program, bits};
use duologue::cost::cost;
use duologue::{Inputs, Options, Party, Scheme, Session};
use std::collections::BTreeMap;
use std::env;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::thread;

pub const GOALS: [Goal; 2] = [Goal::Size, Goal::Depth];

/// Asserts that a program needs no more than this by the count of GMW.
pub fn assert_at_most(job: &Binding, ands: u64, depth: u32) {
    let cost = cost(job, &Options::new(Scheme::Gmw)).expect("a program that can be encoded");
    let name = job.program().name();
    assert!(cost.ands <= ands && cost.depth <= depth, "{name}: {} ANDs, depth {}", cost.ands, cost.depth);
}

/// The outputs of a program as numbers, by the meaning of its steps.
pub fn evaluate_plainly(job: &Binding, inputs: &[Inputs]) -> BTreeMap<String, Vec<u64>> {
    let table = |name: &str| -> Table {
        let matrix = inputs.iter().find_map(|inputs| inputs.get(name)).expect("a port that somebody supplies");
        (0..matrix.lanes()).map(|lane| matrix.lane(lane)).collect()
    };
    let tables = job.inputs().iter().map(|port| (port.name.clone(), table(&port.name))).collect();
    let number = |lane: &Vec<bool>| lane.iter().rev().fold(0, |number, &bit| number << 1 | u64::from(bit));
    evaluate(job, &tables).into_iter().map(|(name, lanes)| (name, lanes.iter().map(number).collect())).collect()
}

/// Where the other process listens, to a test that is run again as Bob.
const PEER: &str = "DUOLOGUE_TEST_PEER";
const PLAINTEXT: Security = Security::PlaintextForBenchmarks;

/// Runs what each party does in a process of its own, over TCP: Bob's runs the same test, by its name with that of its file.
/// What Alice found and what Bob wrote to standard output; in Bob's process nothing.
pub fn between_two_processes<T>(test: &str, act: impl Fn(Channel, Party) -> T) -> Option<(T, String)> {
    if let Ok(address) = env::var(PEER) {
        act(Channel::connect(&address, &PLAINTEXT, &Limits::default()).expect("Alice listens"), Party::Bob);
        return None;
    }
    let mut listener = Listener::bind("127.0.0.1:0").expect("a port");
    let address = listener.local_addr().expect("an address").to_string();
    let mut command = Command::new(env::current_exe().expect("this test"));
    let command = command.args(["--exact", test, "--nocapture", "--include-ignored"]).env(PEER, address);
    let bob = command.stdout(Stdio::piped()).spawn().expect("a process");
    let alice = act(listener.accept(&PLAINTEXT, &Limits::default()).expect("Bob calls"), Party::Alice);
    let bob = bob.wait_with_output().expect("Bob ends");
    assert!(bob.status.success());
    Some((alice, String::from_utf8(bob.stdout).expect("text")))
}

/// Why a call of arguments of these owners, widths and lanes is refused.
pub fn refusal(
    call: &Arc<dyn Functionality>,
    parameters: &[u8],
    args: &[(impl Into<Owner> + Copy, u32, u64)],
) -> Option<String> {
    let mut p = Program::new("p");
    let arg = |(i, &(owner, width, lanes)): (usize, &(_, u32, u64))| p.input(&i.to_string(), owner, bits(width), lanes);
    let args: Vec<_> = args.iter().enumerate().map(arg).collect();
    p.call(call, parameters, &args);
    p.bind(&[]).err().map(|error| error.to_string())
}

/// Does the same with both ends of a session that knows all calls.
pub fn both<T: Send>(act: impl Fn(&mut Session) -> T + Sync) -> [T; 2] {
    let (alice, bob) = Channel::pair();
    let run = |channel, party| {
        let mut session = Session::connect(channel, party).unwrap();
        session.register_all(&apps::calls());
        let done = act(&mut session);
        session.close().unwrap();
        done
    };
    thread::scope(|scope| {
        let bob = scope.spawn(|| run(bob, Party::Bob));
        [run(alice, Party::Alice), bob.join().unwrap()]
    })
}

/// SplitMix64: the same numbers in every run.
pub struct Random(pub u64);

impl Random {
    /// 64 random bits.
    pub fn word(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ z >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ z >> 31
    }

    /// A number below `end`.
    pub fn below(&mut self, end: u64) -> u64 {
        self.word() % end
    }

    /// A number of so many bits with its sign, of any magnitude.
    pub fn number(&mut self, bits: u32) -> i64 {
        let number = self.word() as i64 >> (64 - bits);
        number >> self.below(bits.into())
    }

    /// Any order of these.
    pub fn shuffle<T>(&mut self, list: &mut [T]) {
        (1..list.len()).rev().for_each(|i| list.swap(i, self.below(i as u64 + 1) as usize));
    }

    /// Strings of 128 bits of both parties, in any order; `common` of them are in both sets.
    pub fn sets(&mut self, sizes: [usize; 2], common: usize) -> [Vec<u128>; 2] {
        let shared = self.strings(common);
        sizes.map(|size| {
            let mut set = [shared.clone(), self.strings(size - common)].concat();
            self.shuffle(&mut set);
            set
        })
    }

    fn strings(&mut self, count: usize) -> Vec<u128> {
        (0..count).map(|_| u128::from(self.word()) << 64 | u128::from(self.word())).collect()
    }

    /// One of these.
    pub fn choose<T: Copy>(&mut self, from: &[T]) -> T {
        from[self.below(from.len() as u64) as usize]
    }
}

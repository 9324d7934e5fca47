//! Where a test gets hold of a job: between the drivers, and on the lines that bytes take.
//!
//! Whatever a test does to a job is to fall where it means it to fall, on any machine. So nothing here waits for a time: a step of the job
//! does not go on before the test lets it.

use super::Couple;
use duologue::channel::{Channel, Identity, Limits, Listener, Security};
use duologue::job::control::{MOST_BODY, Mail, Message};
use std::io::{Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{self, Receiver, Sender};
use std::sync::{Arc, Mutex};
use std::thread::{self, JoinHandle};
use std::time::Duration;

/// What a driver said.
#[derive(Clone)]
pub enum Said {
    Hello(Vec<u8>),
    Message(Message),
    /// Bytes of the last program.
    Last(Vec<u8>),
}

/// The parties, by their places in arrays.
pub const ALICE: usize = 0;
pub const BOB: usize = 1;

const PAUSE: Duration = Duration::from_millis(1);

/// Somebody between the two drivers who has both parties' keys, so that each takes it for the other one.
pub struct Between {
    /// Where Alice's driver finds it.
    pub address: String,
    thread: JoinHandle<duologue::Result<()>>,
}

impl Between {
    /// Of all that a driver says, `hear` says what the other one gets in its place. While `hear` waits nothing passes.
    pub fn new(
        couple: &Couple,
        bobs: &str,
        has_last: bool,
        mut hear: impl FnMut(usize, Said) -> Vec<Said> + Send + 'static,
    ) -> Between {
        let [alice, bob] = ["alice", "bob"].map(|party| couple.identity(party));
        let mut listener = Listener::bind("127.0.0.1:0").unwrap();
        let (address, bobs) = (listener.local_addr().unwrap().to_string(), bobs.to_string());
        let thread = thread::spawn(move || {
            let [as_alice, as_bob] = [(&alice, bob.public()), (&bob, alice.public())]
                .map(|(identity, peer)| Security::Tls { identity: identity.clone(), peer });
            let near = listener.accept(&as_bob, &limits())?;
            let far = Channel::connect(&bobs, &as_alice, &limits())?;
            pass([near, far], has_last, &mut hear)
        });
        Between { address, thread }
    }

    /// Whether the job is over, or a driver has ended.
    pub fn is_over(&self) -> bool {
        self.thread.is_finished()
    }

    /// What ended it: that one of the drivers has ended, and what that driver said.
    pub fn end(self) -> duologue::Error {
        self.thread.join().unwrap().expect_err("a driver that ends before the job does")
    }
}

/// Those of somebody who has all the time in the world, and shows it to whoever has less.
pub fn limits() -> Limits {
    let long = Duration::from_secs(3600);
    Limits::default().meet(long).silence(long).progress(long).heartbeat(Duration::from_millis(200))
}

type Hear<'a> = &'a mut dyn FnMut(usize, Said) -> Vec<Said>;

/// Until a driver is gone, or both have said all; whoever is still there is left then.
fn pass(channels: [Channel; 2], has_last: bool, hear: Hear<'_>) -> duologue::Result<()> {
    let mut channels = pass_messages(pass_hellos(channels, hear)?, hear)?;
    if has_last {
        return pass_last(channels, hear);
    }
    channels.iter_mut().try_for_each(Channel::finish)
}

fn pass_hellos(mut channels: [Channel; 2], hear: Hear<'_>) -> duologue::Result<[Channel; 2]> {
    for from in [ALICE, BOB] {
        let hello = hello(&mut channels[from])?;
        for said in hear(from, Said::Hello(hello)) {
            channels[1 - from].send(&said.bytes())?;
            channels[1 - from].flush()?;
        }
    }
    Ok(channels)
}

fn pass_messages(channels: [Channel; 2], hear: Hear<'_>) -> duologue::Result<[Channel; 2]> {
    let mut mails = channels.map(|channel| Mail::new(channel, 2, MOST_BODY, limits().silence));
    let mut finished = [false; 2];
    while finished != [true; 2] {
        // Whoever has finished says no more messages.
        for from in [ALICE, BOB].into_iter().filter(|from| !finished[*from]).collect::<Vec<_>>() {
            let Some(body) = mails[from].poll()? else { continue };
            let message = Message::decode(&body)?;
            finished[from] |= message == Message::Finished;
            hear(from, Said::Message(message)).iter().for_each(|said| mails[1 - from].send(&said.bytes()));
        }
        thread::sleep(PAUSE);
    }
    Ok(mails.map(Mail::into_channel))
}

/// The last program, whose end is not seen: until a driver is gone.
fn pass_last(mut channels: [Channel; 2], hear: Hear<'_>) -> duologue::Result<()> {
    loop {
        for from in [ALICE, BOB] {
            let count = channels[from].pending()?;
            let bytes = channels[from].recv(count)?;
            for said in if count > 0 { hear(from, Said::Last(bytes)) } else { Vec::new() } {
                channels[1 - from].send(&said.bytes())?;
                channels[1 - from].flush()?;
            }
        }
        thread::sleep(PAUSE);
    }
}

/// Bytes of a hello before its fields, and of the progress of each part of the job (`control/hello.rs`).
const HEAD: usize = 8 + 2 + 1 + 32 + 32;
const PROGRESS: usize = 12;

fn hello(channel: &mut Channel) -> duologue::Result<Vec<u8>> {
    let mut hello = channel.recv(HEAD)?;
    for each in [1, PROGRESS] {
        let count = channel.recv(4)?;
        let length = each * u32::from_le_bytes(count[..].try_into().unwrap()) as usize;
        hello.extend(count);
        hello.extend(channel.recv(length)?);
    }
    Ok(hello)
}

impl Said {
    fn bytes(&self) -> Vec<u8> {
        match self {
            Said::Hello(bytes) | Said::Last(bytes) => bytes.clone(),
            Said::Message(message) => message.encode(),
        }
    }
}

/// A step at which a job stands still until the test lets it go on.
pub struct Stop {
    reached: Receiver<()>,
    go: Sender<()>,
}

/// The other end of a [`Stop`], of whoever comes to it.
pub struct AtStop {
    tell: Sender<()>,
    go: Receiver<()>,
}

impl Stop {
    pub fn new() -> (Stop, AtStop) {
        let ((tell, reached), (go, wait)) = (mpsc::channel(), mpsc::channel());
        (Stop { reached, go }, AtStop { tell, go: wait })
    }

    /// Waits until the job is there.
    pub fn wait(&self) {
        self.reached.recv().expect("the job gets there");
    }

    /// Lets it go on.
    pub fn go(&self) {
        // Whoever is gone does not.
        let _ = self.go.send(());
    }
}

impl AtStop {
    /// Says that the job is there, and waits; not if the test is over.
    pub fn stand(&self) {
        let _ = self.tell.send(()).map(|()| self.go.recv());
    }
}

/// A line of bytes, of which so many pass and no more.
pub struct Line {
    pub address: String,
    /// How many bytes may still pass, in both directions.
    pub passes: Arc<AtomicU64>,
}

/// What the two directions of a line share.
#[derive(Clone)]
struct Held {
    passes: Arc<AtomicU64>,
    /// Whoever waits for the line to be held, until it was told.
    tell: Arc<Mutex<Option<Sender<()>>>>,
}

/// A line without a limit.
pub const ALL: u64 = u64::MAX / 2;

impl Line {
    /// To this address. Whoever has the other end of `tell` is told when for the first time something does not pass.
    pub fn new(far: &str, passes: u64, tell: Sender<()>) -> Line {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let (address, far) = (listener.local_addr().unwrap().to_string(), far.to_string());
        let passes = Arc::new(AtomicU64::new(passes));
        let held = Held { passes: passes.clone(), tell: Arc::new(Mutex::new(Some(tell))) };
        thread::spawn(move || {
            for near in listener.incoming() {
                let Ok((near, far)) = near.and_then(|near| Ok((near, TcpStream::connect(&far)?))) else { return };
                for (from, to) in [(near.try_clone().unwrap(), far.try_clone().unwrap()), (far, near)] {
                    let held = held.clone();
                    thread::spawn(move || relay(from, to, &held));
                }
            }
        });
        Line { address, passes }
    }
}

fn relay(mut from: TcpStream, mut to: TcpStream, held: &Held) {
    let mut buffer = [0; 1 << 12];
    while let Ok(count @ 1..) = from.read(&mut buffer) {
        while !held.let_pass(count as u64) {
            if let Some(tell) = held.tell.lock().unwrap().take() {
                tell.send(()).expect("the test waits for it");
            }
            thread::sleep(PAUSE);
        }
        if to.write_all(&buffer[..count]).is_err() {
            return;
        }
    }
    // Fails if it is gone altogether.
    let _ = to.shutdown(Shutdown::Write);
}

impl Held {
    fn let_pass(&self, count: u64) -> bool {
        let left = |left: u64| left.checked_sub(count);
        self.passes.fetch_update(Ordering::Relaxed, Ordering::Relaxed, left).is_ok()
    }
}

impl Couple {
    fn identity(&self, party: &str) -> Arc<Identity> {
        Arc::new(Identity::load(self.place.path(&format!("{party}.key"))).unwrap())
    }
}

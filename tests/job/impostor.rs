//! A worker with the right key that says whatever a test likes.

use super::between::limits;
use crate::process::Place;
use duologue::channel::{Channel, Identity, Security};
use duologue::job::control::Mail;
use serde_json::{Value, json};
use std::sync::Arc;
use std::thread;
use std::time::Duration;

pub struct Impostor(Mail);

impl Impostor {
    /// Comes to the driver that said `said` of the workers that it waits for; their key is `w.key`.
    pub fn come(place: &Place, said: &str) -> Impostor {
        let words: Vec<&str> = said.split_whitespace().collect();
        let identity = Arc::new(Identity::load(place.path("w.key")).unwrap());
        let security = Security::Tls { identity, peer: words[5].parse().unwrap() };
        let channel = Channel::connect(words[3], &security, &limits()).unwrap();
        Impostor(Mail::new(channel, 4, 1 << 26, limits().silence))
    }

    /// One that has said hello and has the job.
    pub fn employed(place: &Place, said: &str) -> Impostor {
        let mut worker = Impostor::come(place, said);
        worker.say(json!({ "is": "hello", "build": env!("CARGO_PKG_VERSION"), "process": 1 }));
        assert_eq!(worker.hear()["is"], "welcome");
        worker.say(json!({ "is": "here" }));
        worker
    }

    pub fn say(&mut self, answer: Value) {
        let body = answer.to_string().into_bytes();
        self.0.send(&[&(body.len() as u32).to_le_bytes()[..], &body].concat());
    }

    /// The next order.
    pub fn hear(&mut self) -> Value {
        loop {
            match self.0.poll().unwrap() {
                Some(order) => return serde_json::from_slice(&order).unwrap(),
                None => thread::sleep(Duration::from_millis(1)),
            }
        }
    }
}

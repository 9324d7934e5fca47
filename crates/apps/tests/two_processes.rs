//! Every application, by Yao and by GMW, between two processes over TCP, against the meaning of its steps.
//!
//! The test starts itself again as Bob; both walk the same list in one session.

use crate::common;
use crate::common::{GOALS, Random, evaluate_plainly};
use apps::eigenfaces::eigenfaces;
use apps::proximity::{Metric, proximity};
use apps::scifi::scifi;
use apps::social::social;
use duologue::channel::Channel;
use duologue::circuit::blocks::float::Format;
use duologue::circuit::{Binding, BitMatrix, Party};
use duologue::{Inputs, Options, Scheme, Session, data};

/// Every application, small.
fn jobs() -> Vec<Binding> {
    let mut jobs = vec![scifi(20).bind(&[("faces", 5)])];
    for goal in GOALS {
        jobs.push(social(9, 6, goal).bind(&[("users", 7)]));
        jobs.push(eigenfaces(64, goal).bind(&[("faces", 3)]));
        for metric in [Metric::Utm, Metric::Ecef, Metric::Haversine] {
            jobs.push(proximity(metric, Format::HALF, goal).bind(&[("places", 5)]));
        }
    }
    jobs.into_iter().map(|job| job.expect("a size that it takes")).collect()
}

/// Any inputs, which both processes know, by their owners.
fn inputs(job: &Binding, seed: u64) -> [Inputs; 2] {
    let mut random = Random(seed);
    let mut all = [Inputs::new(), Inputs::new()];
    for port in job.inputs() {
        let mut value = BitMatrix::zeros(port.ty.width as usize, port.lanes as usize);
        for (row, lane) in (0..value.rows()).flat_map(|row| (0..port.lanes as usize).map(move |lane| (row, lane))) {
            value.set(row, lane, random.below(2) == 1);
        }
        all[usize::from(port.who == Party::Bob.into())].set(&port.name, value);
    }
    all
}

fn walk(channel: Channel, party: Party) -> duologue::Result<()> {
    let mut session = Session::connect(channel, party)?;
    for (job, seed) in jobs().iter().zip(0..) {
        let inputs = inputs(job, seed);
        let expected = evaluate_plainly(job, &inputs);
        for scheme in [Scheme::Yao, Scheme::Gmw] {
            let outcome = session.run(job, &Options::new(scheme), &inputs[party as usize])?;
            for (name, lanes) in expected.iter().filter(|_| party == Party::Alice) {
                let came = outcome.outputs.get(name).map(data::to_uints).transpose()?;
                assert_eq!(came.as_ref(), Some(lanes), "'{name}' of {} by {scheme}", job.program().name());
            }
            assert!(party == Party::Alice || outcome.outputs.iter().next().is_none(), "Bob learns nothing");
        }
    }
    session.close()
}

#[test]
fn every_application_by_both_protocols_between_two_processes() {
    let name = "two_processes::every_application_by_both_protocols_between_two_processes";
    common::between_two_processes(name, |channel, party| walk(channel, party).expect("a party"));
}

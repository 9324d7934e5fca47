//! Proximity tests against the host's floating point and against distances on the sphere, and their costs.

use crate::common::{GOALS, Random};
use apps::proximity::{Metric, Place, RADIUS, near};
use duologue::Party;
use duologue::circuit::blocks::Goal;
use duologue::circuit::blocks::float::Format;
use duologue::circuit::simulate::Simulator;
use geographiclib_rs::{DirectGeodesic, Geodesic};
use std::f64::consts::PI;

const METRICS: [Metric; 3] = [Metric::Utm, Metric::Ecef, Metric::Haversine];

#[test]
fn costs_at_most() {
    // The paper has, for 32 and 64 bits: UTM 8,815 ANDs of depth 146 and 26,588 of depth 195, ECEF 14,042 of depth 205
    // and 41,850 of depth 267, haversine 27,525 of depth 224 and 88,530 of depth 342.
    let figures = [
        (Metric::Utm, Format::SINGLE, [(2_700, 340), (4_000, 116)]),
        (Metric::Utm, Format::DOUBLE, [(7_500, 540), (10_700, 134)]),
        (Metric::Ecef, Format::SINGLE, [(4_300, 450), (6_300, 158)]),
        (Metric::Ecef, Format::DOUBLE, [(11_800, 720), (16_700, 183)]),
        (Metric::Haversine, Format::SINGLE, [(8_000, 470), (10_900, 163)]),
        (Metric::Haversine, Format::DOUBLE, [(26_500, 740), (33_000, 189)]),
    ];
    for (metric, format, costs) in figures {
        for (goal, (ands, depth)) in GOALS.into_iter().zip(costs) {
            let circuit = near(metric, format, goal);
            let ours = (circuit.and_count(), circuit.depth());
            assert!(ours.0 <= ands && ours.1 <= depth, "{metric:?} {format} {goal}: {ours:?}");
        }
    }
}

/// A format of which the host can do arithmetic: rounding a result of f64 once more changes nothing up to 25 bits of
/// precision.
#[derive(Clone, Copy)]
struct Host {
    format: Format,
    /// To nearest, and to zero below the smallest normal number.
    round: fn(f64) -> f64,
    encode: fn(f64) -> u128,
    decode: fn(u128) -> f64,
}

const SINGLE: Host = Host {
    format: Format::SINGLE,
    round: |x| if (x as f32).is_subnormal() { 0.0f64.copysign(x) } else { (x as f32).into() },
    encode: |x| (x as f32).to_bits().into(),
    decode: |bits| f32::from_bits(bits as u32).into(),
};

const DOUBLE: Host = Host {
    format: Format::DOUBLE,
    round: |x| if x.is_subnormal() { 0.0f64.copysign(x) } else { x },
    encode: |x| x.to_bits().into(),
    decode: |bits| f64::from_bits(bits as u64),
};

impl Host {
    /// What is compared with the limit; `None` if an infinity or a number next to the smallest normal one occurs, where
    /// other rules hold than the host's.
    fn measure(&self, metric: Metric, alice: &[f64], bob: &[f64]) -> Option<f64> {
        let usual = |x: f64| {
            let rounded = (self.round)(x);
            (rounded.is_finite() && (x == 0.0 || x.abs() > 1e-30)).then_some(rounded)
        };
        let term = |(&a, &b): (&f64, &f64)| match metric {
            Metric::Haversine => usual(a * b),
            _ => usual(a - b).and_then(|difference| usual(difference * difference)),
        };
        let terms = alice.iter().zip(bob).map(term).collect::<Option<Vec<f64>>>()?;
        let sum = |terms: &[f64]| terms[1..].iter().try_fold(terms[0], |sum, &term| usual(sum + term));
        let sums = terms.chunks(3).map(sum).collect::<Option<Vec<f64>>>()?;
        sum(&sums)
    }

    fn check(&self, metric: Metric, goal: Goal, lanes: usize, random: &mut Random) {
        let numbers = metric.names().len();
        let mut ports = vec![Vec::with_capacity(lanes); 2 * numbers + 1];
        let mut expected = Vec::with_capacity(lanes);
        while expected.len() < lanes {
            let number = |random: &mut Random| self.number(metric, random);
            let alice: Vec<f64> = (0..numbers).map(|_| number(random)).collect();
            let close = random.below(2) == 0;
            let bob: Vec<f64> =
                alice.iter().map(|&a| if close { (self.round)(a * 1.001) } else { number(random) }).collect();
            let Some(measure) = self.measure(metric, &alice, &bob) else { continue };
            let limit = self.close_to(measure, random);
            expected.push(u128::from(measure < limit));
            let place = alice.iter().chain(&bob).chain([&limit]);
            ports.iter_mut().zip(place).for_each(|(port, &number)| port.push((self.encode)(number)));
        }
        let ports: Vec<&[u128]> = ports.iter().map(|port| &port[..]).collect();
        let came = Simulator::new(&near(metric, self.format, goal)).numbers(&ports);
        let wrong = came[0].iter().zip(&expected).position(|(came, expected)| came != expected);
        let place = wrong.map(|lane| ports.iter().map(|port| (self.decode)(port[lane])).collect::<Vec<_>>());
        assert_eq!(place, None, "{metric:?} {} {goal}", self.format);
    }

    /// Metres, or products of sines.
    fn number(&self, metric: Metric, random: &mut Random) -> f64 {
        let unit = random.word() as f64 / u64::MAX as f64 * 2.0 - 1.0;
        let scale = if metric == Metric::Haversine { 1.0 } else { 6.4e6 };
        match random.below(16) {
            0 => 0.0,
            1 => (self.round)(unit * scale * 1e-6),
            _ => (self.round)(unit * scale),
        }
    }

    /// The number itself, its neighbours, or something else.
    fn close_to(&self, measure: f64, random: &mut Random) -> f64 {
        let bits = (self.encode)(measure);
        match random.below(5) {
            0 => measure,
            1 if measure != 0.0 => (self.decode)(bits + 1),
            2 if measure != 0.0 => (self.decode)(bits - 1),
            3 => -measure,
            _ => (self.round)(measure * random.choose(&[0.0, 0.5, 2.0, 1.01])),
        }
    }
}

#[test]
fn a_million_places_each() {
    let mut random = Random(1);
    for metric in METRICS {
        for goal in GOALS {
            for _ in 0..16 {
                SINGLE.check(metric, goal, 1 << 16, &mut random);
            }
        }
    }
}

#[test]
fn many_places_in_double_precision() {
    let mut random = Random(2);
    for metric in METRICS {
        for goal in GOALS {
            for _ in 0..4 {
                DOUBLE.check(metric, goal, 1 << 16, &mut random);
            }
        }
    }
}

/// The distance of two places along the sphere.
fn distance(a: &Place, b: &Place) -> f64 {
    let [p, q] = [a, b].map(in_space);
    let chord = p.iter().zip(&q).map(|(p, q)| (p - q).powi(2)).sum::<f64>().sqrt();
    2.0 * RADIUS * (chord / (2.0 * RADIUS)).min(1.0).asin()
}

fn in_space(place: &Place) -> [f64; 3] {
    let (lat, lon) = (place.latitude * PI / 180.0, place.longitude * PI / 180.0);
    [lat.cos() * lon.cos(), lat.cos() * lon.sin(), lat.sin()].map(|part| RADIUS * part)
}

fn random_place(random: &mut Random) -> Place {
    let mut unit = || random.word() as f64 / u64::MAX as f64 * 2.0 - 1.0;
    Place { latitude: 90.0 * unit(), longitude: 180.0 * unit() }
}

#[test]
fn distances_on_the_sphere() {
    let mut random = Random(3);
    for metric in [Metric::Ecef, Metric::Haversine] {
        for goal in GOALS {
            let mut simulator = Simulator::new(&near(metric, Format::DOUBLE, goal));
            let mut ports = vec![Vec::new(); 2 * metric.names().len() + 1];
            let mut expected = Vec::new();
            for _ in 0..20_000 {
                let (alice, mut bob) = (random_place(&mut random), random_place(&mut random));
                if random.below(2) == 0 {
                    bob = Place { latitude: (alice.latitude + 0.01).min(90.0), longitude: alice.longitude - 0.02 };
                }
                let share = random.choose(&[0.5, 0.999, 1.001, 2.0]);
                expected.push(u128::from(share > 1.0));
                let limit = metric.limit((share * distance(&alice, &bob)).min(PI * RADIUS));
                let numbers = match metric {
                    Metric::Haversine => [&alice.alice()[..], &bob.bob()].concat(),
                    _ => [in_space(&alice), in_space(&bob)].concat(),
                };
                ports.iter_mut().zip(numbers).for_each(|(port, number)| port.push(u128::from(number.to_bits())));
                ports.last_mut().unwrap().push(u128::from(limit.to_bits()));
            }
            let ports: Vec<&[u128]> = ports.iter().map(|port| &port[..]).collect();
            assert_eq!(simulator.numbers(&ports)[0], expected, "{metric:?} {goal}");
        }
    }
}

/// How far the decision is from the geodesic on WGS 84, as a part of the distance, at most: by the host's arithmetic in the
/// format, which is the circuit's by the tests above. The figures stand in docs/apps/proximity.md.
#[test]
fn distances_on_the_ellipsoid() {
    let earth = Geodesic::wgs84();
    let mut random = Random(4);
    let worst = |host: &Host, metric: Metric, distance: f64, random: &mut Random| {
        let errors = (0..5_000).map(|_| {
            let (alice, azimuth) = (random_place(random), 360.0 * random.word() as f64 / u64::MAX as f64);
            let (latitude, longitude): (f64, f64) = earth.direct(alice.latitude, alice.longitude, azimuth, distance);
            let numbers = |party, place: Place| {
                let numbers = metric.numbers(party, [place.latitude, place.longitude]);
                numbers.into_iter().map(host.round).collect::<Vec<f64>>()
            };
            let [a, b] = [(Party::Alice, alice), (Party::Bob, Place { latitude, longitude })]
                .map(|(party, place)| numbers(party, place));
            // Next to zero the circuits flush, which is an error of 1e-30 at most.
            let term = |(&a, &b): (&f64, &f64)| match metric {
                Metric::Haversine => (host.round)(a * b),
                _ => (host.round)((host.round)(a - b).powi(2)),
            };
            let terms: Vec<f64> = a.iter().zip(&b).map(term).collect();
            let sum = |terms: &[f64]| terms[1..].iter().fold(terms[0], |sum, term| (host.round)(sum + term));
            let measured = sum(&terms.chunks(3).map(sum).collect::<Vec<f64>>()).max(0.0);
            let half_chord = match metric {
                Metric::Haversine => measured.sqrt(),
                _ => measured.sqrt() / (2.0 * RADIUS),
            };
            (2.0 * RADIUS * half_chord.min(1.0).asin() - distance).abs() / distance
        });
        errors.fold(0.0, f64::max)
    };
    for (metric, host, name, bounds) in [
        (Metric::Haversine, &DOUBLE, "haversine 64", [0.02, 0.006, 0.006, 0.006, 0.006, 0.006]),
        (Metric::Haversine, &SINGLE, "haversine 32", [f64::MAX, f64::MAX, 10.0, 0.1, 0.01, 0.01]),
        (Metric::Ecef, &DOUBLE, "ecef 64", [1e-6, 1e-6, 1e-6, 1e-6, 1e-6, 1e-3]),
        (Metric::Ecef, &SINGLE, "ecef 32", [0.1, 0.01, 0.001, 1e-4, 1e-4, 1e-3]),
    ] {
        for (distance, bound) in [10.0, 100.0, 1e3, 1e4, 1e5, 1e6].into_iter().zip(bounds) {
            let error = worst(host, metric, distance, &mut random);
            println!("{name}, {distance} m: {:.3e}", error);
            assert!(error <= bound, "{name}, {distance} m: {error} of it, and not {bound}");
        }
    }
}

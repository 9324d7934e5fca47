//! Proximity on Earth: which places are closer than a distance?
//!
//! Demmler, Dessouky, Koushanfar, Sadeghi, Schneider and Zeitouni, "Automated synthesis of optimized circuits for secure
//! computation" (CCS 2015), §6, after Šeděnka and Gasti (ASIACCS 2014). Three ways to measure, in floating point of any
//! format without denormals and NaN; each side computes in the clear what depends on its place alone, and only whether
//! the place is near comes out:
//!
//! * [`Metric::Utm`]: plane coordinates, (x_A − x_B)² + (y_A − y_B)² < ε².
//! * [`Metric::Ecef`]: coordinates from the centre of the Earth, the squared length of the chord < 4R²·a with
//!   a = sin²(ε / 2R), as the chord of a distance ε is 2R·sin(ε / 2R).
//! * [`Metric::Haversine`]: latitude and longitude, hav = sin²(Δlat / 2) + cos lat_A · cos lat_B · sin²(Δlon / 2) < a. By
//!   the addition theorem that is a sum of six products of a number of Alice's and one of Bob's.
//!
//! Every operation rounds to nearest, so results are those of a processor that flushes denormals to zero.

use duologue::circuit::blocks::Goal;
use duologue::circuit::blocks::float::{self, Float, Format, Mode};
use duologue::circuit::{Bits, Builder, Circuit, Party, Program};
use std::f64::consts::PI;

/// How a distance is measured.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Metric {
    /// On a plane.
    Utm,
    /// In space, along the chord.
    Ecef,
    /// On the sphere.
    Haversine,
}

/// The mean radius of the Earth in metres.
pub const RADIUS: f64 = 6_371_008.8;

/// The half axis at the equator in metres and the flattening of WGS 84.
const EQUATOR: f64 = 6_378_137.0;
const FLATTENING: f64 = 1.0 / 298.257_223_563;

const PLANE: &[&str] = &["x", "y"];
const SPACE: &[&str] = &["x", "y", "z"];
/// Alice has α², −2αγ, γ², ζθ², −2ζθμ and ζμ² of the paper, Bob β², βδ, δ², ηλ², ηλν and ην².
const SPHERE: &[&str] = &["lat_1", "lat_2", "lat_3", "lon_1", "lon_2", "lon_3"];

impl Metric {
    /// The names of the numbers that make up a place.
    pub fn names(self) -> &'static [&'static str] {
        match self {
            Metric::Utm => PLANE,
            Metric::Ecef => SPACE,
            Metric::Haversine => SPHERE,
        }
    }

    /// A party's numbers for a place: latitude and longitude in degrees, or of [`Metric::Utm`] metres east and north.
    pub fn numbers(self, party: Party, [first, second]: [f64; 2]) -> Vec<f64> {
        let place = Place { latitude: first, longitude: second };
        match (self, party) {
            (Metric::Utm, _) => vec![first, second],
            (Metric::Ecef, _) => place.in_space().into(),
            (Metric::Haversine, Party::Alice) => place.alice().into(),
            (Metric::Haversine, Party::Bob) => place.bob().into(),
        }
    }

    /// The number that what is measured is compared with, for a distance of ε metres.
    pub fn limit(self, distance: f64) -> f64 {
        // Nothing on a sphere is farther away than half of its circumference.
        let half_chord = (distance / (2.0 * RADIUS)).min(PI / 2.0).sin();
        match self {
            Metric::Utm => distance * distance,
            Metric::Ecef => (2.0 * RADIUS * half_chord).powi(2),
            Metric::Haversine => half_chord * half_chord,
        }
    }
}

/// A place on the sphere, in degrees.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Place {
    /// North of the equator.
    pub latitude: f64,
    /// East of the meridian.
    pub longitude: f64,
}

impl Place {
    /// Alice's inputs for [`Metric::Haversine`].
    pub fn alice(&self) -> [f64; 6] {
        let (lat, lon) = self.half_angles();
        let zeta = (2.0 * lat).cos();
        let [first, last] = [(lat.cos(), lat.sin()), (lon.sin(), lon.cos())];
        let squares = |(a, b): (f64, f64)| [a * a, -2.0 * a * b, b * b];
        let [a, b, c] = squares(first);
        let [d, e, f] = squares(last).map(|term| zeta * term);
        [a, b, c, d, e, f]
    }

    /// Bob's inputs for [`Metric::Haversine`].
    pub fn bob(&self) -> [f64; 6] {
        let (lat, lon) = self.half_angles();
        let eta = (2.0 * lat).cos();
        let [first, last] = [(lat.sin(), lat.cos()), (lon.cos(), lon.sin())];
        let squares = |(a, b): (f64, f64)| [a * a, a * b, b * b];
        let [a, b, c] = squares(first);
        let [d, e, f] = squares(last).map(|term| eta * term);
        [a, b, c, d, e, f]
    }

    /// Metres from the centre of the Earth, on the ellipsoid of WGS 84, for [`Metric::Ecef`].
    pub fn in_space(&self) -> [f64; 3] {
        let (lat, lon) = (self.latitude.to_radians(), self.longitude.to_radians());
        let squared_eccentricity = FLATTENING * (2.0 - FLATTENING);
        let normal = EQUATOR / (1.0 - squared_eccentricity * lat.sin().powi(2)).sqrt();
        let [x, y] = [lon.cos(), lon.sin()].map(|part| normal * lat.cos() * part);
        [x, y, normal * (1.0 - squared_eccentricity) * lat.sin()]
    }

    fn half_angles(&self) -> (f64, f64) {
        (self.latitude * PI / 360.0, self.longitude * PI / 360.0)
    }
}

/// The whole search: Alice is at one place, Bob has `places` (a public size) with a limit each
/// ([`Metric::limit`]), and Alice learns which of them are `near`.
pub fn proximity(metric: Metric, format: Format, goal: Goal) -> Program {
    let circuit = near(metric, format, goal);
    let mut p = Program::new(circuit.name());
    let places = p.size("places", 1..=1 << 24);
    let names = metric.names();
    let mut args: Vec<_> =
        names.iter().map(|name| p.input(&format!("alice_{name}"), Party::Alice, format.ty(), 1)).collect();
    args.iter_mut().for_each(|arg| *arg = p.repeat(*arg, places));
    args.extend(names.iter().map(|name| p.input(&format!("bob_{name}"), Party::Bob, format.ty(), places)));
    args.push(p.input("limit", Party::Bob, format.ty(), places));
    let near = p.map(&circuit, &args);
    p.output("near", Party::Alice, near);
    p
}

/// One place: inputs Alice's numbers, Bob's numbers and `limit`, output `near`: whether what is measured is less than the
/// limit. A squared distance that overflows is infinite, and near nowhere; numbers of the haversine do not overflow.
///
/// ANDs and depth, beside the paper's:
///
/// | metric | bits | size | depth | paper |
/// |---|---|---|---|---|
/// | UTM | 32 | 2,682 and 330 | 3,956 and 115 | 8,815 and 146 |
/// | UTM | 64 | 7,446 and 535 | 10,583 and 133 | 26,588 and 195 |
/// | ECEF | 32 | 4,269 and 441 | 6,282 and 157 | 14,042 and 205 |
/// | ECEF | 64 | 11,724 and 717 | 16,664 and 182 | 41,850 and 267 |
/// | haversine | 32 | 7,955 and 460 | 10,803 and 162 | 27,525 and 224 |
/// | haversine | 64 | 26,445 and 736 | 32,976 and 188 | 88,530 and 342 |
pub fn near(metric: Metric, format: Format, goal: Goal) -> Circuit {
    let mut c = Builder::new(match metric {
        Metric::Utm => "proximity_utm",
        Metric::Ecef => "proximity_ecef",
        Metric::Haversine => "proximity_haversine",
    });
    let mut place = |side: &str| -> Vec<Float> {
        metric.names().iter().map(|name| Float::input(&mut c, format!("{side}_{name}"), format)).collect()
    };
    let (alice, bob) = (place("alice"), place("bob"));
    let limit = Float::input(&mut c, "limit", format);
    let terms: Vec<Float> = alice.iter().zip(&bob).map(|(a, b)| term(&mut c, metric, a, b, goal)).collect();
    let sum = |c: &mut Builder, terms: &[Float]| {
        terms[1..].iter().fold(terms[0].clone(), |sum, term| float::add(c, &sum, term, Mode::Flush, goal))
    };
    // A square of three terms each, for latitude and longitude.
    let sums: Vec<Float> = terms.chunks(3).map(|terms| sum(&mut c, terms)).collect();
    let sum = sum(&mut c, &sums);
    let near = float::less(&mut c, &sum, &limit, Mode::Flush, goal);
    c.output("near", &Bits::from(near));
    c.finish()
}

/// A square of a difference, or a product.
fn term(c: &mut Builder, metric: Metric, a: &Float, b: &Float, goal: Goal) -> Float {
    match metric {
        Metric::Haversine => float::multiply(c, a, b, Mode::Flush, goal),
        Metric::Utm | Metric::Ecef => {
            let difference = float::subtract(c, a, b, Mode::Flush, goal);
            float::square(c, &difference, Mode::Flush, goal)
        }
    }
}

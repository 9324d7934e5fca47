//! Eigenfaces against a plain computation, and its costs.

mod common;

use apps::eigenfaces::{EIGENFACES, Gallery, Query, eigenfaces};
use common::{GOALS, Random, assert_at_most, evaluate_plainly};
use duologue::circuit::blocks::Goal;

#[test]
fn costs_at_most() {
    let bound = |goal, faces| eigenfaces(10_304, goal).bind(&[("faces", faces)]).unwrap();
    // The paper has 14,887,713 ANDs of depth 120, and 22,811,392 of depth 128.
    assert_at_most(&bound(Goal::Size, 320), 7_194_759, 204);
    assert_at_most(&bound(Goal::Depth, 320), 9_651_604, 95);
    assert_at_most(&bound(Goal::Size, 1000), 10_863_359, 221);
    assert_at_most(&bound(Goal::Depth, 1000), 15_122_884, 98);
}

/// D, as the paper defines it.
fn distance(face: &[i64; EIGENFACES], features: &[i64; EIGENFACES]) -> u128 {
    face.iter().zip(features).map(|(&a, &b)| u128::from(a.abs_diff(b)).pow(2)).sum()
}

fn found(goal: Goal, query: &Query, gallery: &Gallery) -> u64 {
    let program = eigenfaces(query.image.len() as u32, goal);
    let job = program.bind(&[("faces", gallery.faces.len() as u64)]).unwrap();
    evaluate_plainly(&job, &[query.inputs(), gallery.inputs()])["face"][0]
}

/// The closest face is found at exactly its distance, and no face below it.
fn check(goal: Goal, query: &Query, mut gallery: Gallery) {
    let features = gallery.project(&query.image);
    let distances: Vec<u128> = gallery.faces.iter().map(|face| distance(face, &features)).collect();
    let least = *distances.iter().min().unwrap();
    let closest = distances.iter().position(|&distance| distance == least).unwrap() as u64;
    let none = gallery.faces.len() as u64;
    gallery.threshold = least as u64;
    assert_eq!(found(goal, query, &gallery), closest, "of {distances:?}");
    if least > 0 {
        gallery.threshold = (least - 1) as u64;
        assert_eq!(found(goal, query, &gallery), none, "of {distances:?}");
    }
}

fn random_query(random: &mut Random, pixels: usize) -> Query {
    let extreme = random.below(3) == 0;
    let mut pixel = || if extreme { random.choose(&[0, 255]) } else { random.word() as u8 };
    Query { image: (0..pixels).map(|_| pixel()).collect() }
}

/// Eigenfaces and averages of any numbers, the extremes among them; faces at random, far away, and close to the query.
fn random_gallery(random: &mut Random, query: &Query, faces: usize) -> Gallery {
    let pixels = query.image.len();
    let (extreme, one_sided) = (random.below(3) == 0, random.below(3) == 0);
    let mut number = |image: u8| match (extreme, one_sided) {
        (true, true) => {
            if image > 127 {
                127
            } else {
                -128
            }
        }
        (true, false) => random.choose(&[-128, 127]),
        (false, _) => random.word() as i8,
    };
    let eigenfaces = std::array::from_fn(|_| query.image.iter().map(|&image| number(image)).collect());
    let average = query.image.iter().map(|&image| if extreme { 255 - image } else { random.word() as u8 }).collect();
    let mut gallery = Gallery { eigenfaces, average, faces: Vec::new(), threshold: 0 };
    let (features, most) = (gallery.project(&query.image), 128 * 255 * pixels as i64);
    // The largest feature of so many bits.
    let top = (most as u64 + 1).next_power_of_two() as i64 - 1;
    let closeness = random.below(4);
    gallery.faces = (0..faces)
        .map(|_| match closeness {
            0 => [0; EIGENFACES].map(|_| random.below(2 * most as u64) as i64 - most),
            1 => [0; EIGENFACES].map(|_| random.choose(&[-most, most, -top - 1, top])),
            2 => features.map(|feature| feature + random.below(3) as i64 - 1),
            _ => features.map(|feature| (feature + (random.below(1 << 17) as i64 - (1 << 16))).clamp(-most, most)),
        })
        .collect();
    gallery
}

#[test]
fn small_images() {
    let mut random = Random(1);
    for goal in GOALS {
        for _ in 0..150 {
            let query = random_query(&mut random, 64);
            let faces = 1 + random.below(9) as usize;
            let gallery = random_gallery(&mut random, &query, faces);
            check(goal, &query, gallery);
        }
    }
}

#[test]
fn whole_images() {
    let mut random = Random(2);
    for goal in GOALS {
        for pixels in [128, 640, 10_304, 16_384] {
            let query = random_query(&mut random, pixels);
            let gallery = random_gallery(&mut random, &query, 3);
            check(goal, &query, gallery);
        }
    }
}

#[test]
fn an_empty_image_in_a_gallery_of_itself() {
    for goal in GOALS {
        let query = Query { image: vec![0; 64] };
        let eigenfaces = std::array::from_fn(|_| vec![-128; 64]);
        let mut gallery = Gallery { eigenfaces, average: vec![255; 64], faces: vec![], threshold: u64::MAX };
        gallery.faces = vec![[5; EIGENFACES], gallery.project(&query.image), gallery.project(&query.image)];
        assert_eq!(found(goal, &query, &gallery), 1);
    }
}

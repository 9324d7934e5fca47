//! Eigenfaces against a plain computation, and its costs.

use crate::common::{GOALS, Random, assert_at_most, evaluate_plainly};
use apps::eigenfaces::{EIGENFACES, Gallery, Query, eigenfaces};
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

/// The principal components by power iteration with deflation on the pixels themselves: another way than that of the library.
fn components(images: &[Vec<u8>]) -> Vec<Vec<f64>> {
    let (count, pixels) = (images.len() as f64, images[0].len());
    let average: Vec<f64> =
        (0..pixels).map(|j| images.iter().map(|image| f64::from(image[j])).sum::<f64>() / count).collect();
    let centred = images.iter().map(|image| image.iter().zip(&average).map(|(&b, m)| f64::from(b) - m).collect());
    let centred: Vec<Vec<f64>> = centred.collect();
    let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
    let mut found: Vec<Vec<f64>> = Vec::new();
    for _ in 0..EIGENFACES {
        let mut vector: Vec<f64> = (0..pixels).map(|j| ((7 * j % 13) as f64) - 5.5).collect();
        for _ in 0..3_000 {
            let mut next = vec![0.0; pixels];
            for row in &centred {
                let weight = dot(row, &vector);
                next.iter_mut().zip(row).for_each(|(next, entry)| *next += weight * entry);
            }
            for other in &found {
                let weight = dot(other, &next);
                next.iter_mut().zip(other).for_each(|(next, entry)| *next -= weight * entry);
            }
            let length = dot(&next, &next).sqrt();
            vector = next.into_iter().map(|entry| entry / length).collect();
        }
        found.push(vector);
    }
    found
}

/// Faces of 15 kinds of stripes of falling strength, so that the components are well apart.
fn striped_images(random: &mut Random, count: usize, pixels: usize) -> Vec<Vec<u8>> {
    let stripes: Vec<Vec<f64>> =
        (0..15).map(|k| (0..pixels).map(|j| ((j * (k + 1)) as f64 * 0.19 + k as f64).sin()).collect()).collect();
    let mut image = || {
        let weights: Vec<f64> =
            (0..15).map(|k| (random.word() as f64 / u64::MAX as f64 - 0.5) * 90.0 * 0.8f64.powi(k)).collect();
        let pixel =
            |j: usize| 128.0 + stripes.iter().zip(&weights).map(|(stripe, weight)| stripe[j] * weight).sum::<f64>();
        (0..pixels).map(|j| pixel(j).round().clamp(0.0, 255.0) as u8).collect()
    };
    (0..count).map(|_| image()).collect()
}

#[test]
fn training_finds_the_principal_components() {
    let images = striped_images(&mut Random(3), 40, 128);
    let gallery = Gallery::train(&images, None);
    let expected = components(&images);
    let largest = expected.iter().flatten().fold(0.0f64, |most, entry| most.max(entry.abs()));
    for (eigenface, expected) in gallery.eigenfaces.iter().zip(&expected) {
        let sign = (eigenface.iter().zip(expected).map(|(&u, e)| f64::from(u) * e).sum::<f64>()).signum();
        for (&u, e) in eigenface.iter().zip(expected) {
            assert!((f64::from(u) - sign * e * 127.0 / largest).abs() <= 1.0, "{u} for {e}");
        }
    }
    assert!(gallery.eigenfaces.iter().flatten().any(|&u| u == 127));
    let distances = || gallery.faces.iter().flat_map(|a| gallery.faces.iter().map(|b| distance(a, b)));
    assert_eq!(u128::from(gallery.threshold), distances().max().unwrap() / 4);
    // Each is found as itself.
    for (number, image) in images.iter().enumerate().step_by(13) {
        assert_eq!(found(Goal::Size, &Query { image: image.clone() }, &gallery), number as u64);
    }
}

#[test]
fn few_images_have_few_components() {
    let images = striped_images(&mut Random(4), 3, 64);
    let gallery = Gallery::train(&images, None);
    let zero = |eigenface: &Vec<i8>| eigenface.iter().all(|&u| u == 0);
    assert_eq!(gallery.eigenfaces.iter().filter(|eigenface| !zero(eigenface)).count(), 2);
    assert_eq!(found(Goal::Size, &Query { image: images[2].clone() }, &gallery), 2);
    // One image, or the same twice, has none: all distances are zero, and the first is found.
    for count in [1, 2] {
        let gallery = Gallery::train(&vec![images[0].clone(); count], None);
        assert!(gallery.eigenfaces.iter().all(zero) && gallery.threshold == 0);
        assert_eq!(found(Goal::Size, &Query { image: images[1].clone() }, &gallery), 0);
    }
    assert_eq!(Gallery::train(&images, Some(7)).threshold, 7);
}

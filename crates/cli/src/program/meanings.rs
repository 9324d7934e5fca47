//! The meanings of the inputs and outputs of the applications, for people who bring their own values.

/// A port and its meaning.
pub type Meaning = (&'static str, &'static str);

pub const SCIFI: &[Meaning] = &[
    ("query", "the bits of the face that is looked for"),
    ("gallery", "a face in each lane"),
    ("limits", "for each face the number of bits in which it differs from the query, or more, if it does not match"),
    ("hit", "for each face 1 if it differs from the query in fewer bits than its limit"),
];

/// The formulas are those of the book, in full there.
pub const EIGENFACES: &[Meaning] = &[
    ("image", "a pixel of 0 to 255 in each lane"),
    ("image_term", "the sum of b·(255 - b) over all pixels b, divided by 2"),
    ("eigenfaces", "12 vectors u of a number for each pixel, -128 to 127, one vector after the other"),
    (
        "eigenface_terms",
        "for each u the sum of (u + 128)·(383 - u) - 2·u·m - 86870 over all pixels, divided by 2; m is the pixel of the average face",
    ),
    ("gallery", "for each face its 12 features: the sum of u·(b - m) over all pixels, for each u"),
    ("gallery_terms", "for each face a number made of its features: see docs/blocks.md, Eigenfaces"),
    ("threshold", "the largest squared distance at which a face is found"),
    ("face", "the number of the closest face from 0 on, or the number of faces if none is within the threshold"),
];

pub const SOCIAL: &[Meaning] = &[
    ("x", "where Alice is, in any unit"),
    ("y", "where Alice is"),
    ("interests", "a bit for each interest of hers"),
    ("limit", "the largest |x - user_x| + |y - user_y| that is near"),
    ("user_x", "where each user is"),
    ("user_y", "where each user is"),
    ("user_interests", "a bit for each interest of each user"),
    ("user", "the number of the user found, from 0 on, the lowest one of equals; 0 if there is none"),
    ("found", "1 if somebody near shares an interest"),
];

pub const AES: &[Meaning] = &[
    ("key", "the key, byte after byte"),
    ("blocks", "a block of 16 bytes in each lane"),
    ("cipher", "each block under the key"),
];

pub const AES_CTR: &[Meaning] = &[
    ("key", "the key, byte after byte"),
    ("counters", "a counter block of 16 bytes in each lane, which both know; none may ever come twice under one key"),
    ("stream", "each counter block under the key: it is added to a block of data"),
];

pub const IRIS: &[Meaning] = &[
    ("query", "the bits of the iris that is looked for, without those that the public mask hides"),
    ("gallery", "the same bits of the iris of a person in each lane"),
    ("limit", "a person is found who differs from the query in fewer bits"),
    ("person", CLOSEST),
];

pub const IRIS_MASKED: &[Meaning] = &[
    ("query", "the bits of the iris that is looked for"),
    ("query_mask", "1 for each bit of it that can be used"),
    ("gallery", "the bits of the iris of a person in each lane"),
    ("masks", "1 for each bit of a person's iris that can be used"),
    (
        "limit",
        "a person is found who differs from the query in less than limit / limit_of of the bits that both can use",
    ),
    ("limit_of", "the denominator of the limit"),
    ("person", CLOSEST),
];

const CLOSEST: &str =
    "the number of the closest person from 1 on, the lowest one of equals; 0 if nobody is close enough";

pub const UTM: &[Meaning] = &[
    ("alice_x", "where Alice is on a plane, in metres"),
    ("alice_y", "where Alice is"),
    ("bob_x", "where each place is"),
    ("bob_y", "where each place is"),
    ("limit", "for each place the square of the distance below which it is near"),
    NEAR,
];

pub const ECEF: &[Meaning] = &[
    ("alice_x", "where Alice is, in metres from the centre of the Earth"),
    ("alice_y", "where Alice is"),
    ("alice_z", "where Alice is"),
    ("bob_x", "where each place is"),
    ("bob_y", "where each place is"),
    ("bob_z", "where each place is"),
    (
        "limit",
        "for each place (2·R·sin(d / (2·R)))^2, where d is the distance on the ground below which it is near and R = 6371008.8",
    ),
    NEAR,
];

/// A place has half the latitude p and half the longitude q.
pub const HAVERSINE: &[Meaning] = &[
    ("alice_lat_1", "cos(p)^2, where p is half of Alice's latitude"),
    ("alice_lat_2", "-2·cos(p)·sin(p)"),
    ("alice_lat_3", "sin(p)^2"),
    ("alice_lon_1", "cos(2·p)·sin(q)^2, where q is half of Alice's longitude"),
    ("alice_lon_2", "-2·cos(2·p)·sin(q)·cos(q)"),
    ("alice_lon_3", "cos(2·p)·cos(q)^2"),
    ("bob_lat_1", "for each place sin(p)^2, where p is half of its latitude"),
    ("bob_lat_2", "sin(p)·cos(p)"),
    ("bob_lat_3", "cos(p)^2"),
    ("bob_lon_1", "cos(2·p)·cos(q)^2, where q is half of its longitude"),
    ("bob_lon_2", "cos(2·p)·cos(q)·sin(q)"),
    ("bob_lon_3", "cos(2·p)·sin(q)^2"),
    (
        "limit",
        "for each place sin(d / (2·R))^2, where d is the distance on the ground below which it is near and R = 6371008.8 metres",
    ),
    NEAR,
];

pub const EQUALITY: &[Meaning] = &[
    ("a", "a string of Alice's in each lane"),
    ("b", "the string of Bob's that is compared with it"),
    ("equal", "for each lane 1 if the two strings are equal"),
];

/// Of whoever learns.
pub const PSI: &[Meaning] = &[
    ("a", "Alice's strings, a lane each"),
    ("b", "Bob's strings"),
    ("a_in_both", "for each of Alice's strings 1 if Bob has it too"),
    ("b_in_both", "for each of Bob's strings 1 if Alice has it too"),
];

pub const STATISTICS: &[Meaning] = &[
    ("group", "the number of each row's group; a row is left out whose number is not below that of the groups"),
    ("value", "the value of each row; a row is left out whose value is the least number of the type"),
    ("minimum", "how many rows a group has at least of which anything is told; both parties give it"),
    (
        "count",
        "how many rows of each group have a value; 0 if that is less than the minimum, and so are all others then",
    ),
    ("sum", "the sum of their values"),
    ("mean", "their mean"),
    ("variance", "their variance, that of a population: the mean of the squared differences from the mean"),
];

/// Of all values of both parties.
pub const QUANTILE: &[Meaning] = &[
    ("alice", "Alice's values, in any order"),
    ("bob", "Bob's values, in any order"),
    ("median", "the value in the middle, or the mean of the two in the middle"),
    ("quantile", "the smallest value that so many per cent of all do not exceed"),
    ("sorted", "the smallest values, the least one first"),
];

/// Of size, sum and threshold.
pub const PSI_SHARES: &[Meaning] = &[
    ("a", "Alice's strings, a lane each; of equal ones the first counts"),
    ("b", "Bob's strings"),
    ("values", "Bob's value of each of his strings"),
    ("threshold", "how many strings are enough, a public number"),
    ("size", "how many strings are in both"),
    ("sum", "the sum of the values of the strings in both"),
    ("reached", "1 if the strings in both are as many as the threshold"),
    ("a_value", "Alice's value of each string; of the bins her shares, 0 where not both have the string"),
    ("b_value", "Bob's value of each string, likewise"),
    ("in_both", "1 in the bins whose string both have"),
];

/// Of all forms.
pub const ARGMIN: &[Meaning] = &[
    ("alice_shares", "Alice's number of each value: with Bob's it adds up to the value, modulo 2^(bits + 1)"),
    ("bob_shares", "Bob's number of each value"),
    ("alice_least", "Alice's number of the least value, which she draws at random"),
    ("bob_least", "Bob's number of the least value: with Alice's it adds up to it, modulo 2^(bits + 1)"),
    ("alice_values", "Alice's values"),
    ("bob_values", "Bob's values"),
    ("values", "shares of the values: Alice's and Bob's bits of each add up to it, bit by bit"),
    ("alice_arguments", "what belongs to each of Alice's values"),
    ("bob_arguments", "what belongs to each of Bob's values"),
    ("arguments", "shares of what belongs to each value, bit by bit"),
    ("least", "the least value"),
    ("index", "its place from 0 on, Alice's values first; of equal values the first"),
    ("argument", "what belongs to it; of equal values to the first"),
];

const NEAR: Meaning = ("near", "for each place 1 if it is near");

#[cfg(test)]
mod tests {
    use apps::eigenfaces::{EIGENFACES, Gallery, Query, eigenfaces};
    use apps::proximity::{Metric, Place, RADIUS};
    use duologue::circuit::BitMatrix;
    use duologue::circuit::blocks::Goal;
    use duologue::circuit::program::Step;

    /// The lanes of a matrix as numbers modulo 2^128.
    fn lanes(matrix: &BitMatrix) -> Vec<u128> {
        (0..matrix.lanes()).map(|lane| values::lane::low(matrix.rows(), |row| matrix.get(row, lane))).collect()
    }

    fn width(pixels: u32, port: &str) -> u32 {
        let program = eigenfaces(pixels, Goal::Size);
        let found = program.steps().iter().find_map(|step| match step {
            Step::Input { name, ty, .. } if name == port => Some(ty.width),
            _ => None,
        });
        found.unwrap()
    }

    fn modulo(numbers: Vec<i128>, width: u32) -> Vec<u128> {
        numbers.into_iter().map(|number| number as u128 & (u128::MAX >> (128 - width))).collect()
    }

    /// The number made of the features of a face, as the book has it.
    fn gallery_term(pixels: u32, features: &[i64; EIGENFACES]) -> i128 {
        let width = width(pixels, "gallery");
        let (low, pixels) = (width.div_ceil(2), i128::from(pixels));
        let high = width - low;
        let s = |n: u32| (2 * (4i128.pow(n) - 1) / 3 - (2i128.pow(n) - 1).pow(2) - 1) / 4;
        let (h, l, both) = (s(high + 1), s(low + 1), s(low.max(high) + 2));
        let c = 4i128.pow(low) * h + l + 2i128.pow(low) * (both - h - l);
        let least = 12 * (32_640 * pixels + 2i128.pow(low)) * 2i128.pow(low);
        let offset = (0..).map(|n| 1i128 << n).find(|&power| power >= least).unwrap();
        let parts = features.iter().map(|&f| (i128::from(f).div_euclid(1 << low), i128::from(f).rem_euclid(1 << low)));
        12 * c + offset - parts.map(|(h, l)| 4i128.pow(low) * h + l).sum::<i128>()
    }

    #[test]
    fn eigenfaces_are_given_as_the_text_says() {
        let pixels = 128usize;
        let pixel = |i: usize, seed: usize| ((i * 97 + seed * 57) % 251) as u8;
        let image: Vec<u8> = (0..pixels).map(|i| pixel(i, 1)).collect();
        let average: Vec<u8> = (0..pixels).map(|i| pixel(i, 2)).collect();
        let vectors: [Vec<i8>; EIGENFACES] =
            std::array::from_fn(|k| (0..pixels).map(|i| pixel(i, 3 + k) as i8).collect());
        let mut gallery =
            Gallery { eigenfaces: vectors.clone(), average: average.clone(), faces: vec![], threshold: 9 };
        gallery.faces = vec![gallery.project(&image), gallery.project(&vec![255; pixels])];

        let number = i128::from;
        let image_term = image.iter().map(|&b| number(b) * (255 - number(b))).sum::<i128>() / 2;
        let inputs = Query { image: image.clone() }.inputs();
        assert_eq!(lanes(inputs.get("image_term").unwrap()), modulo(vec![image_term], width(128, "image_term")));
        let term = |u: &Vec<i8>| {
            let term = |(&u, &m): (&i8, &u8)| {
                (i128::from(u) + 128) * (383 - i128::from(u)) - 2 * i128::from(u) * number(m) - 86_870
            };
            u.iter().zip(&average).map(term).sum::<i128>() / 2
        };
        let inputs = gallery.inputs();
        let came = lanes(inputs.get("eigenface_terms").unwrap());
        assert_eq!(came, modulo(vectors.iter().map(term).collect(), width(128, "eigenface_terms")));
        let features = |image: &[u8]| {
            let feature = |u: &Vec<i8>| {
                let all = u.iter().zip(image).zip(&average);
                all.map(|((&u, &b), &m)| i128::from(u) * (number(b) - number(m))).sum()
            };
            vectors.iter().map(feature).collect::<Vec<i128>>()
        };
        let expected = [features(&image), features(&vec![255; pixels])].concat();
        assert_eq!(lanes(inputs.get("gallery").unwrap()), modulo(expected, width(128, "gallery")));
        let expected = gallery.faces.iter().map(|face| gallery_term(128, face)).collect();
        assert_eq!(lanes(inputs.get("gallery_terms").unwrap()), modulo(expected, width(128, "gallery_terms")));
    }

    #[test]
    fn places_are_given_as_the_text_says() {
        let place = Place { latitude: 48.2, longitude: -16.4 };
        let [p, q] = [48.2f64, -16.4].map(|degrees| degrees.to_radians() / 2.0);
        let (cp, sp, cq, sq, c2p) = (p.cos(), p.sin(), q.cos(), q.sin(), (2.0 * p).cos());
        let alice = [cp * cp, -2.0 * cp * sp, sp * sp, c2p * sq * sq, -2.0 * c2p * sq * cq, c2p * cq * cq];
        let bob = [sp * sp, sp * cp, cp * cp, c2p * cq * cq, c2p * cq * sq, c2p * sq * sq];
        let close = |a: [f64; 6], b: [f64; 6]| a.iter().zip(b).all(|(a, b)| (a - b).abs() < 1e-12);
        assert!(close(place.alice(), alice) && close(place.bob(), bob));
        let half = (1234.5 / (2.0 * RADIUS)).sin();
        assert_eq!(RADIUS, 6_371_008.8);
        assert!((Metric::Haversine.limit(1234.5) - half * half).abs() < 1e-12);
        assert!((Metric::Ecef.limit(1234.5) - (2.0 * RADIUS * half).powi(2)).abs() < 1e-3);
        assert_eq!(Metric::Utm.limit(3.0), 9.0);
    }
}

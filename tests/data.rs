//! A party's own files, prepared for an application and used in a run between two processes.

use crate::process;
use crate::process::{Done, Place};

const OPEN: &str = "--insecure-plaintext --yes --quiet";

fn both(place: &Place, program: &str, alice: &str, bob: &str) -> Done {
    let (alice, bob) = place.both(&format!("{program} {OPEN}"), alice, bob);
    bob.succeeded();
    alice.succeeded();
    alice
}

/// A degree of latitude is 111,195 m on the sphere; the fourth place is across the meridian of 180 degrees.
const PLACES: &str = "name,lat,lon\nhere,0,179.999\nnorth,0.0044,179.999\nfar,0.0046,179.999\neast,0,-179.9975\n";

#[test]
fn places_from_a_table_and_as_typed() {
    let place = Place::new();
    place.write("places.csv", PLACES);
    place.write("plane.csv", "e,n\n1000,2000\n1300,2400\n1301,2400\n");
    for (metric, bits) in [("haversine", 64), ("ecef", 64), ("ecef", 42)] {
        let (mine, yours) = (format!("a-{metric}-{bits}"), format!("b-{metric}-{bits}"));
        let data = format!("data proximity --metric {metric} --quiet");
        place.run(&format!("{data} --place 0,179.999 --as alice --to {mine}")).succeeded();
        place.run(&format!("{data} places.csv --limit 0.5km --as bob --to {yours}")).succeeded();
        let program = format!("app:proximity_{metric}:{bits}");
        let run = both(&place, &program, &format!("--size places=4 --input {mine}"), &format!("--input {yours}"));
        assert_eq!(run.stdout, "near is 1 in 3 of 4 lanes: 0, 1, 3\n", "{metric} {bits}");
    }
    let data = "data proximity --metric utm --quiet";
    place.run(&format!("{data} --place 1000,2000 --as alice --to a-utm")).succeeded();
    place.run(&format!("{data} plane.csv --columns e,n --limit 500.5m --as bob --to b-utm")).succeeded();
    let run = both(&place, "app:proximity_utm", "--size places=3 --input a-utm", "--input b-utm");
    assert_eq!(run.stdout, "near is 1 in 2 of 3 lanes: 0, 1\n");
}

#[test]
fn places_that_are_none_are_refused_and_nothing_is_written() {
    let place = Place::new();
    place.write("places.csv", "lat,lon\n48.2,16.4\n91.25,16.4\n");
    place.write("text.csv", "lat,lon\n48.2,secret\n");
    place.write("empty.csv", "lat,lon\n");
    place.write("null.csv", "lat,lon\n48.2,\n");
    place.write("taken", "");
    let bob = "data proximity --metric haversine --as bob --limit 500m --to new";
    for (args, code, words) in [
        ("places.csv", 1, &["places.csv, row 1, column 'lat': expected a latitude of -90 to 90 degrees"][..]),
        ("text.csv", 1, &["text.csv, line 2, column 'lon': expected"]),
        ("null.csv", 1, &["null.csv, line 2, column 'lon': expected"]),
        ("empty.csv", 1, &["empty.csv: it has no places"]),
        ("places.csv --columns lat,long", 1, &["places.csv has no column 'long'", "hint: "]),
        ("places.csv --columns lat", 2, &["--columns is two names"]),
        ("missing.csv", 8, &["missing.csv"]),
        ("--place 48.2", 2, &["--place is two numbers"]),
        ("--place NaN,0", 1, &["--place, row 0, column 'lat': expected a latitude"]),
    ] {
        let done = place.run(&format!("{bob} {args}"));
        done.failed(code, words);
        assert!(!done.stderr.contains("secret") && !done.stderr.contains("91.25"), "{}", done.stderr);
    }
    let data = "data proximity --metric ecef --to new";
    place.run(&format!("{data} --as bob --place 1,2")).failed(2, &["--limit says how far away is near"]);
    place.run(&format!("{data} --as alice --place 1,2 --limit 1m")).failed(2, &["--limit is for Bob"]);
    place.run(&format!("{data} --as bob --place 1,2 --limit 500")).failed(2, &["metres or kilometres"]);
    place.run("data proximity --metric ecef --to taken --as alice --place 1,2").failed(1, &["taken exists"]);
    assert_eq!(place.files(), ["empty.csv", "null.csv", "places.csv", "taken", "text.csv"]);
}

#[test]
fn a_folder_fills_the_inputs_of_its_files_names() {
    let place = Place::new();
    for folder in ["full", "twice", "other"] {
        std::fs::create_dir(place.path(folder)).unwrap();
    }
    place.write("full/gallery.csv", "0f\nf1\nff\n");
    place.write("full/limits.csv", "2\n3\n4\n");
    place.write("full/query.csv", "ff\n");
    place.write("twice/limits.csv", "1\n");
    place.write("twice/limits.npy", "");
    place.write("other/limits.csv", "0\n9\n9\n");
    let alice = "--size faces=3 --input query=0e";
    let run = both(&place, "app:scifi:8", alice, "--input full");
    assert_eq!(run.stdout, "hit is 1 in 1 of 3 lanes: 0\n");
    // What is said by name wins.
    let run = both(&place, "app:scifi:8", alice, "--input full --input limits=0,9,9");
    assert_eq!(run.stdout, "hit is 1 in 2 of 3 lanes: 1, 2\n");
    let bob = "run app:scifi:8 --as bob --insecure-plaintext --yes --connect 127.0.0.1:1 --wait 60";
    place.run(&format!("{bob} --input twice")).failed(1, &["'limits' has two files", "limits.npy", "limits.csv"]);
    place.run(&format!("{bob} --input full --input other")).failed(1, &["the input 'limits' is given twice"]);
    place.run(&format!("{bob} --input config")).failed(2, &["or a folder that is there"]);
    std::fs::create_dir(place.path("none")).unwrap();
    place.run(&format!("{bob} --input none")).failed(1, &["none: no file has the name", "hint: NAME.npy"]);
}

/// Pictures of a few shapes: 8 × 8 pixels.
fn picture(number: u32) -> Vec<u8> {
    (0..64).map(|j| (128.0 + 90.0 * ((j * (number + 1)) as f64 * 0.37 + f64::from(number)).sin()) as u8).collect()
}

fn pgm(pixels: &[u8]) -> Vec<u8> {
    [b"P5\n8 8\n255\n", pixels].concat()
}

#[test]
fn a_face_is_found_by_its_name() {
    let place = Place::new();
    std::fs::create_dir_all(place.path("faces/more")).unwrap();
    for number in 0..6 {
        let folder = if number < 4 { "faces" } else { "faces/more" };
        place.write(&format!("{folder}/face{number}.pgm"), pgm(&picture(number)));
    }
    let mut near = picture(4);
    near[10] = near[10].wrapping_add(3);
    place.write("near.pgm", pgm(&near));
    place.write("white.pgm", pgm(&[255; 64]));
    let data = "data eigenfaces --quiet";
    place.run(&format!("{data} train faces --to gallery")).succeeded();
    place.run(&format!("{data} train faces --threshold 0 --to strict")).succeeded();
    for (query, gallery, number, name) in [
        ("near.pgm", "gallery", 4, "more/face4.pgm\n"),
        ("faces/face2.pgm", "strict", 2, "face2.pgm\n"),
        ("near.pgm", "strict", 6, "no face is close enough\n"),
    ] {
        place.run(&format!("{data} query {query} --to q{number}")).succeeded();
        let run = both(
            &place,
            "app:eigenfaces:64 --size faces=6",
            &format!("--input q{number}"),
            &format!("--input {gallery}"),
        );
        assert_eq!(run.stdout, format!("face = {number}\n"));
        assert_eq!(place.run(&format!("{data} name {gallery} {number}")).succeeded().stdout, name);
    }
    place.run(&format!("{data} name gallery 7")).failed(1, &["has 6 names, and no face 7"]);
}

#[test]
fn pictures_that_are_none_are_refused() {
    let place = Place::new();
    for folder in ["none", "mixed", "broken"] {
        std::fs::create_dir(place.path(folder)).unwrap();
    }
    place.write("mixed/a.pgm", pgm(&[1; 64]));
    place.write("mixed/b.pgm", [&b"P5\n16 8\n255\n"[..], &[1; 128]].concat());
    place.write("broken/a.pgm", "P5\n8 8\n255\nshort");
    place.write("odd.pgm", [&b"P5\n5 5\n255\n"[..], &[1; 25]].concat());
    let train = "data eigenfaces train --to new";
    place.run(&format!("{train} none")).failed(1, &["none has no faces"]);
    place.run(&format!("{train} mixed")).failed(1, &["a.pgm and b.pgm are not of one size"]);
    place.run(&format!("{train} broken")).failed(7, &["broken/a.pgm"]);
    place.run(&format!("{train} nowhere.npy")).failed(8, &["nowhere.npy"]);
    place.run("data eigenfaces query odd.pgm --to new").failed(1, &["odd.pgm has 25 pixels", "multiple of 64"]);
    assert_eq!(place.files(), ["broken", "mixed", "none", "odd.pgm"]);
}

#[test]
fn people_with_common_interests() {
    let place = Place::new();
    place.write("list.txt", "chess\nclimbing\n\nopera\nreading\n");
    place.write("me.csv", "x,y,interests\n100,100,chess; opera\n");
    let people = "id,interests,x,y\n1,chess;opera,900,900\n2,chess,101,99\n3,,100,100\n4,opera;chess;reading,90,95\n5,chess;opera,100,100\n";
    place.write("people.csv", people);
    place.write("unknown.csv", "x,y,interests\n1,1,chess\n1,1,secret\n");
    let data = "data social --interests list.txt --quiet";
    place.run(&format!("{data} people.csv --as bob --to bob")).succeeded();
    for (limit, expected) in [(20, "user = 3\nfound = 1\n"), (0, "user = 4\nfound = 1\n")] {
        place.run(&format!("{data} me.csv --as alice --limit {limit} --to alice{limit}")).succeeded();
        let alice = format!("--size users=5 --input alice{limit}");
        assert_eq!(both(&place, "app:social:4", &alice, "--input bob").stdout, expected, "{limit}");
    }
    for (args, code, words) in [
        (
            "unknown.csv --as bob",
            1,
            &["unknown.csv, row 1, column 'interests': expected interests that list.txt has"][..],
        ),
        ("people.csv --as alice --limit 1", 1, &["Alice is one, not 5"]),
        ("people.csv --as alice", 2, &["--limit says how far away is near"]),
        ("people.csv --as bob --limit 1", 2, &["--limit is for Alice"]),
        ("people.csv --as bob --columns x,y", 2, &["--columns is three names"]),
        ("people.csv --as bob --columns x,y,hobbies", 1, &["has no column 'hobbies'"]),
    ] {
        let done = place.run(&format!("{data} {args} --to new"));
        done.failed(code, words);
        assert!(!done.stderr.contains("secret"), "{}", done.stderr);
    }
}

/// Eight bits of a code, in hex; the third person is closest to 0f, and as close as the fourth.
const CODES: &str = "id,code\n1,f0\n2,3c\n3,0e\n4,0d\n";

#[test]
fn iris_codes_with_a_public_mask_or_secret_ones() {
    let place = Place::new();
    place.write("codes.csv", CODES);
    place.write("masks.csv", "ff\n0c\n00\nf3\n");
    place.write("query.csv", "0f\n");
    place.write("seen.csv", "0f\n");
    place.write("none.csv", "00\n");
    let [common, masked] = ["common", "masked"].map(|kind| format!("data iris {kind} --bits 8 --quiet"));
    let prepare = |args: String| place.run(&args).succeeded().stdout.clone();
    for (mask, width, threshold, person) in [
        ("", 8, "0.32", 3),
        // An eighth differs, which is not less than the threshold.
        ("", 8, "0.125", 0),
        ("", 8, "0.126", 3),
        // Of the lower four bits the fourth person has one that differs, and so has the third.
        ("--mask seen.csv", 4, "0.3", 3),
        ("--mask seen.csv", 4, "0.25", 0),
    ] {
        let folder = format!("c{width}-{threshold}");
        prepare(format!("{common} query.csv {mask} --as alice --to a-{folder}"));
        prepare(format!("{common} codes.csv:code {mask} --threshold {threshold} --as bob --to b-{folder}"));
        let sizes = format!("--size people=4 --input a-{folder}");
        let run = both(&place, &format!("app:iris:{width}"), &sizes, &format!("--input b-{folder}"));
        assert_eq!(run.stdout, format!("person = {person}\n"), "{mask} {threshold}");
    }
    // Of the third person nothing can be seen, of the second 0 of 2 bits differ, of the fourth 1 of 2.
    for (mask, threshold, person) in [("seen.csv", "0.5", 2), ("seen.csv", "1", 2), ("none.csv", "1", 0)] {
        let folder = format!("m{mask}-{threshold}");
        prepare(format!("{masked} query.csv --masks {mask} --as alice --to a-{folder}"));
        let bob = format!("{masked} codes.csv:code --masks masks.csv --threshold {threshold}");
        prepare(format!("{bob} --as bob --to b-{folder}"));
        let sizes = format!("--size people=4 --input a-{folder}");
        let run = both(&place, "app:iris_masked:8", &sizes, &format!("--input b-{folder}"));
        assert_eq!(run.stdout, format!("person = {person}\n"), "{mask} {threshold}");
    }
}

#[test]
fn iris_codes_for_trials_at_full_size() {
    let place = Place::new();
    for (kind, program) in [("common", "app:iris:2048"), ("masked", "app:iris_masked:2048")] {
        for party in ["alice", "bob"] {
            let made = place.run(&format!("data iris {kind} --random 300 --as {party} --to {kind}-{party}"));
            assert!(made.succeeded().stdout.contains(&format!("for {program}")), "{}", made.stdout);
        }
        for protocol in ["yao", "gmw-masked", "mixed"] {
            let alice = format!("--size people=300 --input {kind}-alice");
            let run = both(&place, &format!("{program} --protocol {protocol}"), &alice, &format!("--input {kind}-bob"));
            assert_eq!(run.stdout, "person = 150\n", "{kind}, {protocol}");
        }
    }
}

#[test]
fn pictures_of_iris_codes() {
    let place = Place::new();
    for folder in ["codes", "masks", "others"] {
        std::fs::create_dir(place.path(folder)).unwrap();
    }
    let eye =
        |number: u32| picture(number).into_iter().map(|pixel| if pixel < 128 { 0 } else { 255 }).collect::<Vec<_>>();
    for (name, number) in [("ann", 1), ("bob", 2), ("eve", 3)] {
        place.write(&format!("codes/{name}.pgm"), pgm(&eye(number)));
        place.write(&format!("masks/{name}.pgm"), pgm(&[255; 64]));
        place.write(&format!("others/{name}1.pgm"), pgm(&[255; 64]));
    }
    let mut seen = eye(2);
    seen[..6].iter_mut().for_each(|pixel| *pixel = 255 - *pixel);
    place.write("eye.pgm", pgm(&seen));
    place.write("mask.pgm", pgm(&[&[0; 6][..], &[255; 58]].concat()));
    let data = "data iris masked --bits 64 --quiet";
    place.run(&format!("{data} eye.pgm --masks mask.pgm --as alice --to alice")).succeeded();
    place.run(&format!("{data} codes --masks masks --threshold 0.1 --as bob --to bob")).succeeded();
    let run = both(&place, "app:iris_masked:64", "--size people=3 --input alice", "--input bob");
    assert_eq!(run.stdout, "person = 2\n");
    assert_eq!(std::fs::read_to_string(place.path("bob/names.txt")).unwrap(), "ann.pgm\nbob.pgm\neve.pgm\n");
    let bob = "--as bob --to new";
    for (args, words) in [
        (format!("{data} codes --masks others {bob}"), "ann1.pgm is no mask of ann.pgm"),
        (format!("{data} codes --masks mask.pgm {bob}"), "there are 3 codes and 1 masks"),
        (format!("{data} codes --masks masks {bob} --threshold 0.123"), "too fine for codes of 64 bits"),
        ("data iris common codes --as bob --to new".into(), "ann.pgm has 64 pixels: expected 2048"),
        ("data iris common codes --bits 64 --as alice --to new".into(), "Alice has one code, not 3"),
    ] {
        place.run(&args).failed(1, &[words]);
    }
    place.write("empty.pgm", pgm(&[0; 64]));
    place.run("data iris common codes --bits 64 --mask empty.pgm --as bob --to new").failed(1, &["leaves no bit"]);
    place
        .run("data iris common codes --bits 64 --mask codes --as bob --to new")
        .failed(1, &["one mask for all, not 3"]);
    place.run("data iris common --random 3 --threshold 1 --as alice --to new").failed(2, &["--threshold is for Bob"]);
    for threshold in ["0", "1.001", "0.1234", "-1", "x"] {
        let args = format!("data iris common --random 3 --threshold={threshold} --as bob --to new");
        place.run(&args).failed(2, &["expected a part above 0"]);
    }
    assert!(!place.path("new").exists());
}

/// The key, the first counter, the text and its ciphertexts of NIST SP 800-38A, F.1.1 and F.5.1.
const KEY: &str = "2b7e151628aed2a6abf7158809cf4f3c";
const FIRST: &str = "f0f1f2f3f4f5f6f7f8f9fafbfcfdfeff";
const TEXT: &str = "6bc1bee22e409f96e93d7e117393172aae2d8a571e03ac9c9eb76fac45af8e51";
const ECB: &str = "3ad77bb40d7a3660a89ecaf32466ef97f5d3d58503b9699de785895a96fdbaaf";
const CTR: &str = "874d6191b620e3261bef6864990db6ce9806f66b7970fdff8617187bb9fffdff";

fn bytes(hex: &str) -> Vec<u8> {
    hex.as_bytes().chunks(2).map(|pair| u8::from_str_radix(std::str::from_utf8(pair).unwrap(), 16).unwrap()).collect()
}

#[test]
fn a_picture_under_the_other_s_key() {
    let place = Place::new();
    place.write("key.csv", format!("{KEY}\n"));
    // 8 × 4 pixels.
    let pgm = |pixels: &[u8]| [&b"P5\n8 4\n255\n"[..], pixels].concat();
    place.write("before.pgm", pgm(&bytes(TEXT)));
    place.run("data aes image before.pgm --to alice --quiet").succeeded();
    for cipher in ["cipher.npy", "cipher.csv"] {
        both(
            &place,
            "app:aes",
            &format!("--input alice --output cipher={cipher}"),
            "--input key=key.csv --size blocks=2",
        );
        let after = cipher.replace("cipher", "after").replace("npy", "pgm").replace("csv", "png");
        place.run(&format!("data aes picture {cipher} --like before.pgm --to {after}")).succeeded();
        place.run(&format!("data aes picture {cipher} --like before.pgm --to {after}")).failed(1, &["exists"]);
    }
    let after = std::fs::read(place.path("after.pgm")).unwrap();
    assert!(after.ends_with(&bytes(ECB)) && after.starts_with(b"P5"));
    // The same pixels come out of the other kind of file.
    place.run("data aes image after.png --to again --quiet").succeeded();
    place.run("data aes image after.pgm --to once --quiet").succeeded();
    let blocks = |folder: &str| std::fs::read(place.path(folder).join("blocks.npy")).unwrap();
    assert!(blocks("again") == blocks("once") && blocks("once").ends_with(&bytes(ECB)));
    place.write("odd.pgm", "P5\n5 1\n255\n12345");
    place.run("data aes image odd.pgm --to new").failed(1, &["odd.pgm has 5 pixels: expected a multiple of 16"]);
    let picture = "data aes picture cipher.npy";
    place.run(&format!("{picture} --like odd.pgm --to new.png")).failed(1, &["has 2 blocks, but odd.pgm is 5 × 1"]);
    place.run(&format!("{picture} --like before.pgm --to new.gif")).failed(1, &["ends in .png or .pgm"]);
}

#[test]
fn a_file_under_the_other_s_key() {
    let place = Place::new();
    place.write("key.csv", format!("{KEY}\n"));
    place.write("plain", &bytes(TEXT)[..29]);
    let counters = format!("data aes counters --first {FIRST} --quiet");
    place.run(&format!("{counters} --file plain --to alice")).succeeded();
    place.run(&format!("{counters} --blocks 2 --to bob")).succeeded();
    for protocol in ["yao", "gmw", "gmw-masked"] {
        let alice = format!("--input alice --output stream={protocol}.npy");
        both(&place, &format!("app:aes_ctr --protocol {protocol}"), &alice, "--input bob --input key=key.csv");
        place.run(&format!("data aes xor {protocol}.npy plain --to {protocol}.enc")).succeeded();
        assert_eq!(std::fs::read(place.path(&format!("{protocol}.enc"))).unwrap(), bytes(CTR)[..29]);
    }
    // What encrypts, decrypts.
    place.run("data aes xor yao.npy yao.enc --to plain2").succeeded();
    assert_eq!(std::fs::read(place.path("plain2")).unwrap(), bytes(TEXT)[..29]);
    place.run("data aes xor yao.npy yao.enc --to plain2").failed(1, &["plain2 exists"]);
    place.write("longer", [0; 33]);
    place.run("data aes xor yao.npy longer --to new").failed(1, &["yao.npy has 2 blocks, but longer has 33 bytes"]);
    place.write("empty", "");
    place.run(&format!("{counters} --file empty --to new")).failed(1, &["empty is empty"]);
    for first in ["f0", "+0f1f2f3f4f5f6f7f8f9fafbfcfdfeff", "x0f1f2f3f4f5f6f7f8f9fafbfcfdfeff"] {
        place.run(&format!("data aes counters --first {first} --blocks 1 --to new")).failed(2, &["32 hex digits"]);
    }
    // Counters that differ end the run before anything is used.
    place.run(&format!("data aes counters --first {KEY} --blocks 2 --to other --quiet")).succeeded();
    let common = format!("app:aes_ctr {OPEN}");
    let (alice, bob) = place.both(&common, "--input other", "--input bob --input key=key.csv");
    alice.failed(4, &["the public inputs"]);
    bob.failed(4, &["the public inputs"]);
}

/// Copies a folder of the repository's examples.
fn example(place: &Place, name: &str) {
    let from = process::repository(&format!("examples/{name}"));
    std::fs::create_dir_all(place.path(name)).unwrap();
    for entry in std::fs::read_dir(&from).unwrap() {
        let entry = entry.unwrap();
        let inner = format!("{name}/{}", entry.file_name().to_string_lossy());
        match entry.file_type().unwrap().is_dir() {
            true => example(place, &inner),
            false => drop(std::fs::copy(entry.path(), place.path(&inner)).unwrap()),
        }
    }
}

/// The lanes of which a column of an example's `expected.csv` is 1.
fn expected(place: &Place, name: &str, column: &str) -> Vec<usize> {
    let text = std::fs::read_to_string(place.path(&format!("{name}/expected.csv"))).unwrap();
    let mut lines = text.lines().map(|line| line.split(',').collect::<Vec<_>>());
    let at = lines.next().unwrap().iter().position(|&title| title == column).unwrap();
    lines.enumerate().filter(|(_, line)| line[at] == "1").map(|(lane, _)| lane).collect()
}

/// The commands of the READMEs of these examples, against what they were computed to give.
#[test]
fn the_examples_give_what_is_expected() {
    let place = Place::new();
    ["places", "people", "pictures"].iter().for_each(|name| example(&place, name));
    let data = |args: &str| _ = place.run(&format!("data {args} --quiet")).succeeded();
    data("proximity places/places.csv --metric ecef --limit 60km --as bob --to b1");
    data("proximity --place 48.2085,16.3731 --metric ecef --as alice --to a1");
    let run = both(&place, "app:proximity_ecef:64", "--input a1 --size places=25", "--input b1");
    let near: Vec<String> = expected(&place, "places", "near").iter().map(usize::to_string).collect();
    assert_eq!(run.stdout, format!("near is 1 in {} of 25 lanes: {}\n", near.len(), near.join(", ")));
    data("social people/users.csv --interests people/list.txt --as bob --to b2");
    data("social people/me.csv --interests people/list.txt --limit 2000 --as alice --to a2");
    let run = both(&place, "app:social:48", "--input a2 --size users=200", "--input b2");
    assert_eq!(run.stdout, format!("user = {}\nfound = 1\n", expected(&place, "people", "found")[0]));
    data("eigenfaces train pictures/faces --to b3");
    data("eigenfaces query pictures/photo.pgm --to a3");
    let run = both(&place, "app:eigenfaces:1024", "--input a3 --size faces=16", "--input b3");
    assert_eq!(run.stdout, "face = 11\n");
}

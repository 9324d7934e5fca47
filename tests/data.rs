//! A party's own files, prepared for an application and used in a run between two processes.

#[path = "support/process.rs"]
mod process;

use process::{Done, Place};

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

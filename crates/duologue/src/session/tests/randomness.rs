//! P4: sources of randomness are parameters inside and the operating system outside, and no feature opens them.

use std::fs::read_to_string;
use std::ops::Range;
use std::path::{Path, PathBuf};

/// Where brackets are balanced: the place of each byte with how many are open there. The arrow of a type is none.
fn depths(source: &str) -> impl Iterator<Item = (usize, u8, i32)> {
    let (mut depth, mut before) = (0, 0);
    source.bytes().enumerate().map(move |(at, byte)| {
        depth += match byte {
            b'(' | b'[' | b'<' => 1,
            b'>' if before == b'-' => 0,
            b')' | b']' | b'>' => -1,
            _ => 0,
        };
        before = byte;
        (at, byte, depth)
    })
}

/// A function up to its body, or to the semicolon of a trait's; those within brackets end nothing.
fn signature(source: &str) -> &str {
    let end = depths(source).find(|&(_, byte, depth)| depth == 0 && matches!(byte, b'{' | b';'));
    &source[..end.map_or(source.len(), |(end, ..)| end)]
}

/// Generics and arguments: what comes before the arrow of the result.
fn arguments(signature: &str) -> &str {
    let arrow = depths(signature).find(|&(at, _, depth)| depth == 0 && signature[at..].starts_with("->"));
    &signature[..arrow.map_or(signature.len(), |(arrow, ..)| arrow)]
}

/// Where the block that begins with the next brace lies.
fn block(source: &str, from: usize) -> Range<usize> {
    let mut depth = 0;
    let braces = source[from..].bytes().enumerate().filter(|(_, byte)| matches!(byte, b'{' | b'}'));
    let end = braces.map(|(at, byte)| (at, byte == b'{')).find(|&(_, opens)| {
        depth += if opens { 1 } else { -1 };
        depth == 0
    });
    from..end.map_or(source.len(), |(at, _)| from + at)
}

/// The signatures of functions that are public, by themselves or in a public trait.
fn public_signatures(source: &str) -> Vec<&str> {
    let is_public = |at: usize| {
        let line = source[..at].rsplit(['\n', ';', '{', '}']).next().unwrap_or_default();
        line.trim_start().starts_with("pub ")
    };
    let traits: Vec<_> = source.match_indices("pub trait ").map(|(at, _)| block(source, at)).collect();
    let starts = source.match_indices("fn ").map(|(at, _)| at);
    let public = starts.filter(|&at| is_public(at) || traits.iter().any(|block| block.contains(&at)));
    public.map(|at| signature(&source[at..])).collect()
}

/// Whether a caller chooses what should be random.
fn is_seedable(signature: &str) -> bool {
    ["Generator", "seed: ", "rng: "].iter().any(|random| arguments(signature).contains(random))
}

/// The sources of this crate that are not tests.
fn sources() -> Vec<PathBuf> {
    let (mut folders, mut files) = (vec![Path::new(env!("CARGO_MANIFEST_DIR")).join("src")], Vec::new());
    while let Some(folder) = folders.pop() {
        for path in std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()) {
            match path.is_dir() {
                _ if path.file_stem().is_some_and(|name| name == "tests") => {}
                true => folders.push(path),
                false => files.push(path),
            }
        }
    }
    files
}

#[test]
fn no_public_function_takes_a_source_of_randomness() {
    let mut seen = 0;
    for path in sources() {
        let source = read_to_string(&path).unwrap();
        for signature in public_signatures(&source) {
            assert!(!is_seedable(signature), "{}: {signature}", path.display());
            seen += 1;
        }
    }
    assert!(seen > 200, "the test can see");
    let manifest = read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("Cargo.toml")).unwrap();
    let features = manifest.split("\n[").find_map(|table| table.strip_prefix("features]\n")).unwrap();
    let names = features.lines().filter_map(|line| line.split_once(" = ").map(|(name, _)| name));
    let known = ["default", "disk", "net", "wasm_js"];
    assert!(names.eq(known), "a feature reaches every dependant: none opens a source of randomness");
}

/// The broken twins, beside functions that only look like them.
#[test]
fn seedable_functions_are_found() {
    let seedable = [
        "pub fn with(channel: Channel, secrets: Generator) -> Session {}",
        "pub fn new(id: [u8; 32], inner: Box<dyn CotSender>, rng: Generator) -> Self {}",
        "pub const fn of<F: Fn([u8; 2]) -> u8>(f: F, seed: u64) -> [u8; 4] {}",
        "pub trait Draw: Send {\n    fn one(&self) -> u8 { 1 }\n    fn draw(\n        &self,\n        from: &mut Generator,\n    );\n}",
    ];
    for source in seedable {
        let found = public_signatures(source).into_iter().filter(|signature| is_seedable(signature)).count();
        assert_eq!(found, 1, "{source}");
    }
    let harmless = [
        "pub fn make(id: [u8; 32]) -> Generator { let rng: Generator = draw(); }",
        "pub(crate) fn with(secrets: Generator) {}",
        "impl A { fn with(secrets: Generator) {} }",
        "trait Private { fn with(secrets: Generator); }",
    ];
    for source in harmless {
        assert!(!public_signatures(source).into_iter().any(is_seedable), "{source}");
    }
}

//! Pictures as the inputs of `app:eigenfaces`: a gallery by principal components, and one image to look for.

use super::folder::Folder;
use super::pictures::{self, Picture};
use crate::args::{EigenfacesWhat, FaceName, FaceQuery, FaceTraining};
use crate::failure::Failure;
use crate::io::console::{self, Console};
use apps::eigenfaces::{CHUNK, Gallery, MOST_PIXELS, Query, eigenfaces, is_image};
use duologue::Party;
use duologue::circuit::blocks::Goal;
use ndarray::{Array, ArrayD, Ix2};
use ndarray_npy::{ReadNpyExt, WriteNpyExt};
use std::fs::{self, File};
use std::io::{self, Write};
use std::path::Path;

/// The names of the faces of a gallery, a line each.
const NAMES: &str = "names.txt";

/// The most faces that the program numbers.
const MOST_FACES: usize = (1 << 16) - 1;

pub fn run(what: &EigenfacesWhat, console: &Console) -> Result<(), Failure> {
    match what {
        EigenfacesWhat::Train(args) => train(args, console),
        EigenfacesWhat::Query(args) => query(args, console),
        EigenfacesWhat::Name(args) => name(args),
    }
}

fn train(args: &FaceTraining, console: &Console) -> Result<(), Failure> {
    let (names, images) = all_faces(&args.faces)?;
    let mut folder = Folder::new(&args.to)?;
    let gallery = Gallery::train(&images, args.threshold);
    let program = eigenfaces(images[0].len() as u32, Goal::Size);
    folder.inputs(&program, Party::Bob, &gallery.inputs())?;
    folder.write("average.npy", images[0].len() as u64, |to| {
        ndarray::aview1(&gallery.average).write_npy(to).map_err(io::Error::other)
    })?;
    folder.write(NAMES, names.len() as u64, |to| names.iter().try_for_each(|name| writeln!(to, "{name}")))?;
    folder.finish(console)
}

fn query(args: &FaceQuery, console: &Console) -> Result<(), Failure> {
    let picture = picture(&args.image)?;
    check_pixels(&picture, &args.image)?;
    let mut folder = Folder::new(&args.to)?;
    let program = eigenfaces(picture.pixels.len() as u32, Goal::Size);
    folder.inputs(&program, Party::Alice, &Query { image: picture.pixels }.inputs())?;
    folder.finish(console)
}

/// Prints the name of a face by its number; the number of faces is that of none.
fn name(args: &FaceName) -> Result<(), Failure> {
    let path = args.gallery.join(NAMES);
    let text = fs::read_to_string(&path).map_err(Failure::io(format!("reading {}", path.display())))?;
    let names: Vec<&str> = text.lines().collect();
    match names.get(args.number) {
        Some(name) => console::print(format!("{name}\n").as_bytes()),
        None if args.number == names.len() => console::print(b"no face is close enough\n"),
        None => {
            Err(Failure::input(format!("{} has {} names, and no face {}", path.display(), names.len(), args.number)))
        }
    }
}

/// The names and the pixels of all faces, which are of one size.
fn all_faces(faces: &Path) -> Result<(Vec<String>, Vec<Vec<u8>>), Failure> {
    let pictures = match faces.is_dir() {
        true => pictures::of_folder(faces)?,
        false => array(faces)?,
    };
    let from = faces.display();
    let Some(first) = pictures.first() else {
        return Err(Failure::input(format!("{from} has no faces: expected .pgm, .png or .npy")));
    };
    if pictures.len() > MOST_FACES {
        return Err(Failure::input(format!("{from} has {} faces: at most {MOST_FACES} are numbered", pictures.len())));
    }
    check_pixels(first, faces)?;
    if let Some(other) = pictures.iter().find(|other| other.shape != first.shape) {
        let why = format!("{from}: {} and {} are not of one size", first.name, other.name);
        return Err(Failure::input(why).hint("scale and crop them alike, with the eyes at the same places"));
    }
    Ok(pictures.into_iter().map(|picture| (picture.name, picture.pixels)).unzip())
}

/// One picture, of any of the kinds of files.
fn picture(path: &Path) -> Result<Picture, Failure> {
    let is_array = path.extension().is_some_and(|ending| ending.eq_ignore_ascii_case("npy"));
    if !is_array {
        return pictures::decoded(path);
    }
    let mut pictures = array(path)?;
    match (pictures.pop(), pictures.len()) {
        (Some(only), 0) => Ok(only),
        (_, others) => Err(Failure::malformed(path.display(), format!("expected one image, not {}", others + 1))),
    }
}

/// The rows of an array of bytes: images × pixels, or images × height × width.
fn array(path: &Path) -> Result<Vec<Picture>, Failure> {
    let file = File::open(path).map_err(Failure::io(format!("reading {}", path.display())))?;
    let read = ArrayD::<u8>::read_npy(io::BufReader::new(file));
    let read = read.map_err(|why| Failure::malformed(path.display(), format!("{why}: expected bytes (uint8)")))?;
    let (count, pixels) = match *read.shape() {
        [count, pixels] => (count, pixels),
        [count, height, width] => (count, height * width),
        ref other => {
            let why = format!("its shape is {other:?}: expected images × pixels, or images × height × width");
            return Err(Failure::malformed(path.display(), why));
        }
    };
    let bytes: Vec<u8> = read.iter().copied().collect();
    let rows = Array::<u8, Ix2>::from_shape_vec((count, pixels), bytes);
    let rows = rows.map_err(|why| Failure::malformed(path.display(), why))?;
    let named = rows.rows().into_iter().enumerate();
    Ok(named
        .map(|(row, pixels)| Picture { name: format!("image {row}"), shape: None, pixels: pixels.to_vec() })
        .collect())
}

fn check_pixels(picture: &Picture, path: &Path) -> Result<(), Failure> {
    let count = picture.pixels.len();
    if u32::try_from(count).is_ok_and(is_image) {
        return Ok(());
    }
    let why = format!("{}: {} has {count} pixels", path.display(), picture.name);
    let hint = format!("the program takes a multiple of {CHUNK} of them, up to {MOST_PIXELS}: 92 × 112, say");
    Err(Failure::input(why).hint(hint))
}

//! Pictures in shades of grey.

use crate::failure::Failure;
use image::GrayImage;
use image::codecs::png::PngEncoder;
use image::codecs::pnm::{PnmEncoder, PnmSubtype, SampleEncoding};
use std::fs;
use std::path::{Path, PathBuf};

/// A picture, row by row.
pub struct Picture {
    pub name: String,
    /// Width and height, where it has them.
    pub shape: Option<(u32, u32)>,
    pub pixels: Vec<u8>,
}

/// Whether a file is a picture by its name.
pub fn is_picture(path: &Path) -> bool {
    let ending = path.extension().map(|ending| ending.to_ascii_lowercase());
    ending.is_some_and(|ending| ending == "pgm" || ending == "png")
}

/// A picture from a file.
pub fn decoded(path: &Path) -> Result<Picture, Failure> {
    let bytes = fs::read(path).map_err(Failure::io(format!("reading {}", path.display())))?;
    let image = image::load_from_memory(&bytes).map_err(|why| Failure::malformed(path.display(), why))?.into_luma8();
    Ok(Picture { name: path.display().to_string(), shape: Some(image.dimensions()), pixels: image.into_raw() })
}

/// The file of this name that has a picture.
pub fn encoded(image: &GrayImage, path: &Path) -> Result<Vec<u8>, Failure> {
    let mut file = Vec::new();
    let written = match path.extension() {
        Some(ending) if ending.eq_ignore_ascii_case("pgm") => image
            .write_with_encoder(PnmEncoder::new(&mut file).with_subtype(PnmSubtype::Graymap(SampleEncoding::Binary))),
        _ => image.write_with_encoder(PngEncoder::new(&mut file)),
    };
    written.map_err(Failure::input)?;
    Ok(file)
}

/// The pictures of a folder and of those in it, in the order of their names.
pub fn of_folder(folder: &Path) -> Result<Vec<Picture>, Failure> {
    let mut paths = Vec::new();
    find(folder, &mut paths)?;
    paths.sort();
    let named = paths.into_iter().map(|path| {
        let name = path.strip_prefix(folder).unwrap_or(&path).display().to_string();
        if name.contains(['\n', '\r']) {
            return Err(Failure::input(format!("{name:?}: the name of a picture has no line breaks")));
        }
        Ok(Picture { name, ..decoded(&path)? })
    });
    named.collect()
}

fn find(folder: &Path, paths: &mut Vec<PathBuf>) -> Result<(), Failure> {
    let reading = || Failure::io(format!("reading the folder {}", folder.display()));
    for entry in fs::read_dir(folder).map_err(reading())? {
        let entry = entry.map_err(reading())?;
        let path = entry.path();
        if entry.file_type().map_err(reading())?.is_dir() {
            find(&path, paths)?;
        } else if is_picture(&path) {
            paths.push(path);
        }
    }
    Ok(())
}

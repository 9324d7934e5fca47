//! A party's own files, prepared for an application.

use apps::proximity::Metric;
use clap::{Subcommand, ValueEnum};
use duologue::Party;
use std::path::PathBuf;

#[derive(clap::Args)]
pub struct Data {
    #[command(subcommand)]
    pub what: DataWhat,
}

#[derive(Subcommand)]
pub enum DataWhat {
    /// Places on Earth, for app:proximity_haversine, app:proximity_ecef or app:proximity_utm
    Proximity(Places),
    /// Pictures of faces, for app:eigenfaces
    #[command(subcommand)]
    Eigenfaces(EigenfacesWhat),
    /// People with their places and interests, for app:social
    Social(People),
}

#[derive(clap::Args)]
pub struct Places {
    /// A table of places: CSV, or Parquet and Arrow if this build has them
    #[arg(value_name = "PLACES", required_unless_present = "place", conflicts_with = "place")]
    pub table: Option<String>,
    /// The columns of the table that have the coordinates
    #[arg(long, value_delimiter = ',', value_name = "LAT,LON", default_values = ["lat", "lon"])]
    pub columns: Vec<String>,
    /// One place, in place of a table. Others on this machine can see command lines
    #[arg(long, value_delimiter = ',', value_name = "LAT,LON", allow_hyphen_values = true)]
    pub place: Option<Vec<f64>>,
    /// How distances are measured: haversine and ecef take degrees, utm metres on a plane (east, north)
    #[arg(long, value_enum)]
    pub metric: PlacesMetric,
    /// Bob: the distance below which a place is near: 500m, 2.5km
    #[arg(long, value_name = "DISTANCE", value_parser = distance)]
    pub limit: Option<f64>,
    /// Which party the places are of: Alice has one
    #[arg(long = "as", value_name = "PARTY", value_parser = super::values::party())]
    pub party: Party,
    /// The folder that is made, for `duologue run --input FOLDER`
    #[arg(long, value_name = "FOLDER")]
    pub to: PathBuf,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum PlacesMetric {
    Haversine,
    Ecef,
    Utm,
}

impl From<PlacesMetric> for Metric {
    fn from(metric: PlacesMetric) -> Metric {
        match metric {
            PlacesMetric::Haversine => Metric::Haversine,
            PlacesMetric::Ecef => Metric::Ecef,
            PlacesMetric::Utm => Metric::Utm,
        }
    }
}

/// Metres.
fn distance(text: &str) -> Result<f64, &'static str> {
    let (number, unit) = match (text.strip_suffix("km"), text.strip_suffix('m')) {
        (Some(number), _) => (number, 1000.0),
        (None, Some(number)) => (number, 1.0),
        (None, None) => return Err("write metres or kilometres: 500m, 2.5km"),
    };
    let metres = number.parse::<f64>().map_or(f64::NAN, |number| number * unit);
    let fits = metres > 0.0 && metres.is_finite();
    if fits { Ok(metres) } else { Err("expected a number above 0 before the unit: 500m, 2.5km") }
}

#[derive(Subcommand)]
pub enum EigenfacesWhat {
    /// Bob: make a gallery of pictures, by their principal components
    Train(FaceTraining),
    /// Alice: make the inputs of one picture
    Query(FaceQuery),
    /// Print the name of a face of a gallery by its number
    Name(FaceName),
}

#[derive(clap::Args)]
pub struct FaceTraining {
    /// A folder of .pgm or .png pictures of one size (folders in it too), or an .npy of bytes, images × pixels
    #[arg(value_name = "FACES")]
    pub faces: PathBuf,
    /// The largest squared distance at which a face is found; by default that of half the largest distance of two faces
    #[arg(long, value_name = "NUMBER")]
    pub threshold: Option<u64>,
    /// The folder that is made, for `duologue run --input FOLDER`
    #[arg(long, value_name = "FOLDER")]
    pub to: PathBuf,
}

#[derive(clap::Args)]
pub struct FaceQuery {
    /// A .pgm or .png picture of the size of the faces, or an .npy of bytes, 1 × pixels
    #[arg(value_name = "IMAGE")]
    pub image: PathBuf,
    /// The folder that is made, for `duologue run --input FOLDER`
    #[arg(long, value_name = "FOLDER")]
    pub to: PathBuf,
}

#[derive(clap::Args)]
pub struct FaceName {
    /// The folder that `train` made
    #[arg(value_name = "FOLDER")]
    pub gallery: PathBuf,
    /// The output `face` of a run
    #[arg(value_name = "NUMBER")]
    pub number: usize,
}

#[derive(clap::Args)]
pub struct People {
    /// A table of people: CSV, or Parquet and Arrow if this build has them
    #[arg(value_name = "PEOPLE")]
    pub table: String,
    /// The columns of both coordinates, whole numbers from 0 on in a unit of yours, and of the interests, with `;` between them
    #[arg(long, value_delimiter = ',', value_name = "X,Y,INTERESTS", default_values = ["x", "y", "interests"])]
    pub columns: Vec<String>,
    /// All interests that there are, a line each, the same file on both sides; so many are the width of the program
    #[arg(long, value_name = "FILE")]
    pub interests: PathBuf,
    /// Alice: the largest distance that is near, along x and along y together
    #[arg(long, value_name = "NUMBER")]
    pub limit: Option<u64>,
    /// Which party the people are of: Alice's table has one row, her own
    #[arg(long = "as", value_name = "PARTY", value_parser = super::values::party())]
    pub party: Party,
    /// The folder that is made, for `duologue run --input FOLDER`
    #[arg(long, value_name = "FOLDER")]
    pub to: PathBuf,
}

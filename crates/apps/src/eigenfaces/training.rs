//! Eigenfaces from images: the principal components of their pixels.
//!
//! Turk and Pentland, "Eigenfaces for recognition" (Journal of Cognitive Neuroscience 3(1), 1991), §2: with N images of P
//! pixels, less their average, as the rows of A, the eigenvectors of the N × N matrix A·Aᵀ give those of the P × P matrix
//! Aᵀ·A, and N is the smaller. The decomposition is nalgebra's.
//!
//! All eigenfaces are multiplied by one number, so that the largest entry is 127, and rounded: what is near stays near. Their
//! signs are free; the largest entry of each is positive.

use super::{EIGENFACES, Gallery};
use nalgebra::{DMatrix, DVector, SymmetricEigen};

/// Eigenvalues below this part of the largest one are rounding errors.
const NEGLIGIBLE: f64 = 1e-10;

impl Gallery {
    /// The gallery of these images. Where the images have fewer than [`EIGENFACES`] components the rest are zero.
    ///
    /// `threshold` is the largest squared distance at which a face is found; if none is given it is that of
    /// [`Gallery::usual_threshold`].
    ///
    /// # Panics
    /// If there is no image, or the images have different numbers of pixels.
    pub fn train(images: &[Vec<u8>], threshold: Option<u64>) -> Gallery {
        let pixels = images[0].len();
        assert!(images.iter().all(|image| image.len() == pixels), "all images have as many pixels");
        let centred = DMatrix::from_fn(images.len(), pixels, |row, pixel| f64::from(images[row][pixel]));
        let average = centred.row_mean();
        let centred = DMatrix::from_fn(images.len(), pixels, |row, pixel| centred[(row, pixel)] - average[pixel]);
        let eigenfaces = quantised(&components(&centred), pixels);
        let average = average.iter().map(|&pixel| pixel.round() as u8).collect();
        let mut gallery = Gallery { eigenfaces, average, faces: Vec::new(), threshold: 0 };
        gallery.faces = images.iter().map(|image| gallery.project(image)).collect();
        gallery.threshold = threshold.unwrap_or_else(|| gallery.usual_threshold());
        gallery
    }

    /// The square of half the largest distance between two faces of the gallery.
    pub fn usual_threshold(&self) -> u64 {
        let pairs = self.faces.iter().enumerate().flat_map(|(i, a)| self.faces[..i].iter().map(move |b| (a, b)));
        let distance = |(a, b): (&[i64; EIGENFACES], &[i64; EIGENFACES])| {
            a.iter().zip(b).map(|(a, b)| u128::from(a.abs_diff(*b)).pow(2)).sum::<u128>()
        };
        u64::try_from(pairs.map(distance).max().unwrap_or(0) / 4).unwrap_or(u64::MAX)
    }
}

/// The unit vectors of the largest components, at most [`EIGENFACES`] of them.
fn components(centred: &DMatrix<f64>) -> Vec<DVector<f64>> {
    let decomposed = SymmetricEigen::new(centred * centred.transpose());
    let mut order: Vec<usize> = (0..decomposed.eigenvalues.len()).collect();
    order.sort_by(|&a, &b| decomposed.eigenvalues[b].total_cmp(&decomposed.eigenvalues[a]));
    let least = decomposed.eigenvalues[order[0]] * NEGLIGIBLE;
    let order = order.into_iter().take(EIGENFACES);
    let order = order.filter(|&place| decomposed.eigenvalues[place] > least.max(f64::MIN_POSITIVE));
    order.map(|place| (centred.tr_mul(&decomposed.eigenvectors.column(place))).normalize()).collect()
}

/// All components times one number, so that the largest entry is 127, rounded.
fn quantised(components: &[DVector<f64>], pixels: usize) -> [Vec<i8>; EIGENFACES] {
    let scale = 127.0 / components.iter().map(DVector::amax).fold(f64::MIN_POSITIVE, f64::max);
    std::array::from_fn(|k| match components.get(k) {
        Some(component) => {
            let largest = component[component.iamax()];
            component.iter().map(|entry| (entry * scale * largest.signum()).round() as i8).collect()
        }
        None => vec![0; pixels],
    })
}

//! Long lists that are read once, from front to back.

/// How far ahead memory is called for, in bytes: what a core computes meanwhile takes longer than memory does.
const DISTANCE: usize = 2048;

/// Bytes of a cache line.
const LINE: usize = 64;

/// The list in chunks of `size` items, the last one perhaps shorter; what follows 2 kB behind a chunk is called for when
/// the chunk is taken. A core whose own reading ahead is held up by the work on each item does not wait then.
///
/// # Panics
/// If `size` is zero.
#[inline]
pub fn chunks<T>(list: &[T], size: usize) -> impl Iterator<Item = &[T]> {
    list.chunks(size).inspect(|chunk| {
        let start = chunk.as_ptr().cast::<u8>().wrapping_add(DISTANCE);
        (0..size_of_val(*chunk)).step_by(LINE).for_each(|line| call(start.wrapping_add(line)));
    })
}

#[cfg(target_arch = "x86_64")]
#[allow(unsafe_code)]
#[inline(always)]
fn call(line: *const u8) {
    use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
    // SAFETY: a prefetch changes nothing but the caches and never faults, whatever the address.
    unsafe { _mm_prefetch::<_MM_HINT_T0>(line.cast()) };
}

#[cfg(not(target_arch = "x86_64"))]
#[inline(always)]
fn call(_: *const u8) {}

#[cfg(test)]
mod tests {
    #[test]
    fn the_chunks_are_those_of_the_list() {
        for len in [0, 1, 5, 64, 1000] {
            let list: Vec<[u32; 3]> = (0..len).map(|i| [i, i + 1, i + 2]).collect();
            for size in [1, 7, 64, 2000] {
                assert!(super::chunks(&list, size).eq(list.chunks(size)), "{len} in chunks of {size}");
            }
        }
    }
}

//! Memory: large pages, prefetching, and stores that go past the caches.

pub mod nontemporal;
pub mod pages;
pub mod prefetch;

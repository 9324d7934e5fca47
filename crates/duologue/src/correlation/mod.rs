//! correlation

//! Folders of secrets that are used once: files for their owner alone, whole or not at all, sealed, behind a lock and a
//! cursor. [Pools](crate::correlation::pool) and [shelves](crate::shelf) are made of these.

pub(crate) mod cursor;
pub(crate) mod files;
pub(crate) mod lock;
pub(crate) mod owner;
pub(crate) mod seal;

//! Files of circuits and programs, one format a file.

mod duo;

//! The lengths of a call, and stages that depart from them.

//! Which commits a range means, and what is said when it means none.

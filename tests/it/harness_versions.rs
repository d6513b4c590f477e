//! Criterion from 0.3.0 to 0.8.

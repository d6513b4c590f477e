//! The sides of a comparison: the reference first, then what is compared with it.

use std::fmt;
use std::ops::{Index, IndexMut};

/// One side of a comparison, by its position: the reference (base), then head and further variants.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Side(usize);

impl Side {
    /// What the others are compared with: base.
    pub const REFERENCE: Self = Self(0);

    /// The first sides of a comparison, reference first.
    pub fn first(count: usize) -> impl Iterator<Item = Self> {
        (0..count).map(Self)
    }

    /// Its position: 0 for the reference.
    pub fn position(self) -> usize {
        self.0
    }

    /// A directory name. All have the same length, so that paths, arguments and environments of all
    /// sides have equal sizes too.
    pub fn directory_name(self) -> String {
        match self.0 {
            0 => "base".to_owned(),
            1 => "head".to_owned(),
            n => format!("v{n:03}"),
        }
    }
}

/// The role as people say it: `base`, `head`, `variant 2`.
impl fmt::Display for Side {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            0 => f.write_str("base"),
            1 => f.write_str("head"),
            n => write!(f, "variant {n}"),
        }
    }
}

/// One value for each side.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct PerSide<T>(Vec<T>);

impl<T> PerSide<T> {
    /// The number of sides.
    pub fn count(&self) -> usize {
        self.0.len()
    }

    /// The sides themselves, reference first.
    pub fn sides(&self) -> impl Iterator<Item = Side> + use<T> {
        Side::first(self.0.len())
    }

    /// Each side with its value, reference first.
    pub fn iter(&self) -> impl Iterator<Item = (Side, &T)> {
        self.sides().zip(&self.0)
    }

    /// The values alone, reference first.
    pub fn values(&self) -> std::slice::Iter<'_, T> {
        self.0.iter()
    }

    /// The sides that are compared with the reference, with their values.
    pub fn others(&self) -> impl Iterator<Item = (Side, &T)> {
        self.iter().skip(1)
    }

    /// A value made for each side from the one it has.
    pub fn map<'a, U>(&'a self, mut make: impl FnMut(Side, &'a T) -> U) -> PerSide<U> {
        self.iter().map(|(side, value)| make(side, value)).collect()
    }
}

impl<T> FromIterator<T> for PerSide<T> {
    fn from_iter<I: IntoIterator<Item = T>>(values: I) -> Self {
        Self(values.into_iter().collect())
    }
}

impl<T> Index<Side> for PerSide<T> {
    type Output = T;

    fn index(&self, side: Side) -> &T {
        &self.0[side.0]
    }
}

impl<T> IndexMut<Side> for PerSide<T> {
    fn index_mut(&mut self, side: Side) -> &mut T {
        &mut self.0[side.0]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn directory_names_have_equal_lengths_and_differ() {
        let names: Vec<String> = Side::first(12).map(Side::directory_name).collect();
        assert!(names.iter().all(|name| name.len() == 4), "{names:?}");
        let distinct: std::collections::HashSet<_> = names.iter().collect();
        assert_eq!(distinct.len(), names.len());
    }
}

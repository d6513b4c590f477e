//! Which of its possible code layouts an executable has.

/// The seed from which a linker shuffles the functions of an executable. The same seed gives the same bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct LayoutSeed(u32);

impl LayoutSeed {
    /// A seed from any number. Zero and numbers with the sign bit mean something else to linkers ("another one
    /// every time", "in reverse order"), so they are never it.
    pub fn from_number(number: u64) -> Self {
        const MOST: u64 = i32::MAX as u64;
        Self((number % MOST + 1) as u32)
    }

    /// The number that the linker is given: 1 to 2^31 - 1.
    pub fn value(self) -> u32 {
        self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_seed_means_something_else_to_a_linker() {
        for number in [0, 1, u64::MAX, i32::MAX as u64, i32::MAX as u64 - 1, 1 << 31, 1 << 32] {
            let value = LayoutSeed::from_number(number).value();
            assert!((1..=i32::MAX as u32).contains(&value), "{number}: {value}");
        }
    }
}

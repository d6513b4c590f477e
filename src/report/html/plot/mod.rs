//! Plots as inline SVG: pure functions from numbers to markup.
//!
//! Positions are in the units of the view box, or in percent where a plot takes whatever width it is given.
//! Colours and strokes are the style sheet's business, so that they follow the reader's light or dark mode.

mod curves;
mod distribution;
mod forest;
mod pairs;
mod scale;
mod svg;

pub use curves::{Curve, CurvePoint, Curves, curves};
pub use distribution::{Side, distribution};
pub use forest::Forest;
pub use pairs::{Run, Strip, pairs};

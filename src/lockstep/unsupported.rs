//! Systems without preloading: there is no baton, and processes run one after the other.

use std::process::Command;

use crate::model::Side;

use super::{Turns, Unfit};

/// Never there.
#[derive(Debug)]
pub enum Preload {}

/// Never there.
#[derive(Debug)]
pub enum Baton {}

/// Never there.
#[derive(Debug, Clone)]
pub enum Attachment {}

#[allow(missing_docs)]
impl Preload {
    pub fn install() -> Result<Self, String> {
        Err("it is made for Linux with the GNU C library".to_owned())
    }

    pub fn baton(&self, _random: &mut fastrand::Rng) -> std::io::Result<Baton> {
        match *self {}
    }
}

#[allow(missing_docs)]
impl Baton {
    pub fn attachment(&self, _side: Side) -> Attachment {
        match *self {}
    }

    pub fn expect(&self, _side: Side) {
        match *self {}
    }

    pub fn has_arrived(&self, _side: Side) -> bool {
        match *self {}
    }

    pub fn begin(&self, _sides: &[Side]) {
        match *self {}
    }

    pub fn can_run(&self, _side: Side) -> bool {
        match *self {}
    }

    pub fn set_free(&self, _side: Side) {
        match *self {}
    }

    pub fn mend(&self) {
        match *self {}
    }

    pub fn turns(&self) -> Turns {
        match *self {}
    }

    pub fn unfit(&self, _side: Side) -> Option<Unfit> {
        match *self {}
    }
}

#[allow(missing_docs)]
impl Attachment {
    pub fn attach(&self, _command: &mut Command) {
        match *self {}
    }

    pub fn attach_with_speed(&self, _command: &mut Command, _speed: u32) {
        match *self {}
    }
}

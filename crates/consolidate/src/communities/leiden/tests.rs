//! Leiden on graphs with known answers.

use super::*;

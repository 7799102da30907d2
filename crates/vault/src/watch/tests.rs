//! Tests of a watch with ears of their own, and of the machine with a time of its own.

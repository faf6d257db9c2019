//! What each operation means, and what each kind of fault is reported for.
#![allow(missing_docs)]

mod support;
mod thin;

//! What a user says by environment variables.

use super::Error;
use std::{collections::BTreeMap, env, ffi::OsString};

/// What the environment says about dispatchers.
///
/// | variable | value | effect |
/// |---|---|---|
/// | [`FORCE`](Self::FORCE) | `dispatcher:variant`, several with commas between | these variants run, and nothing of these dispatchers is measured |
/// | | the same, or `?` alone | each dispatcher prints its name and its variants when it is made |
/// | [`PRINT_DEBUG`](Self::PRINT_DEBUG) | `1` | each dispatcher prints its variants, and which it chooses |
/// | | `0` or empty | nothing, as if it were not set |
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Environment {
    /// By dispatcher, the variant that is forced.
    pub forced: BTreeMap<String, String>,
    /// Whether dispatchers print their variants.
    pub lists: bool,
    /// Whether they also print what they choose.
    pub prints: bool,
}

impl Environment {
    /// The variable that forces variants.
    pub const FORCE: &str = "QD_PERFDISPATCH_FORCE";
    /// The variable that has dispatchers say what they do.
    pub const PRINT_DEBUG: &str = "QD_PERFDISPATCH_PRINT_DEBUG";

    /// Reads this process's variables.
    ///
    /// # Errors
    ///
    /// One of them is malformed: the message has its name, its value and what is expected.
    pub fn read() -> Result<Self, Error> {
        let [force, debug] = [Self::FORCE, Self::PRINT_DEBUG].map(|name| {
            let value = env::var_os(name).map(OsString::into_string).transpose();
            value.map_err(|value| Error::Environment {
                variable: name,
                value: value.to_string_lossy().into(),
                reason: "it is not UTF-8".into(),
            })
        });
        Self::parse(force?.as_deref(), debug?.as_deref())
    }

    /// As [`read`](Self::read), of these values of the variables.
    ///
    /// # Errors
    ///
    /// As for [`read`](Self::read).
    pub fn parse(force: Option<&str>, debug: Option<&str>) -> Result<Self, Error> {
        let force = force.unwrap_or_default();
        let debug = debug.unwrap_or_default();
        let prints = match debug.trim() {
            "" | "0" => false,
            "1" => true,
            _ => {
                return Err(Error::Environment {
                    variable: Self::PRINT_DEBUG,
                    value: debug.into(),
                    reason: "expected 0 or 1".into(),
                });
            }
        };
        let lists = !force.trim().is_empty();
        let forced = match force.trim() {
            "?" => BTreeMap::new(),
            _ => entries(force)?,
        };
        Ok(Self {
            forced,
            lists,
            prints,
        })
    }
}

/// `dispatcher:variant,…`. Spaces around names, and entries without anything, are left out.
fn entries(value: &str) -> Result<BTreeMap<String, String>, Error> {
    let malformed = |entry: &str, reason: String| Error::Environment {
        variable: Environment::FORCE,
        value: value.into(),
        reason: format!("malformed entry '{entry}': {reason}"),
    };
    let mut forced = BTreeMap::new();
    let entries = value.split(',').map(str::trim);
    for entry in entries.filter(|entry| !entry.is_empty()) {
        let names = entry.split_once(':');
        let names = names.map(|(dispatcher, variant)| (dispatcher.trim(), variant.trim()));
        let names = names.filter(|(dispatcher, variant)| {
            let names = [dispatcher, variant];
            names.iter().all(|name| !name.is_empty())
        });
        let Some((dispatcher, variant)) = names else {
            let expected = "expected 'dispatcher:variant', or '?' alone to list both";
            return Err(malformed(entry, expected.into()));
        };
        let before = forced.insert(dispatcher.to_string(), variant.to_string());
        if let Some(before) = before.filter(|before| before != variant) {
            let reason = format!("'{dispatcher}' was forced to '{before}' before");
            return Err(malformed(entry, reason));
        }
    }
    Ok(forced)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn forced(value: &str) -> Vec<(String, String)> {
        let read = Environment::parse(Some(value), None).expect("well-formed");
        read.forced.into_iter().collect()
    }

    fn message(force: &str, debug: &str) -> String {
        let error = Environment::parse(Some(force), Some(debug)).expect_err("malformed");
        error.to_string()
    }

    #[test]
    fn entries_name_a_dispatcher_and_a_variant() {
        let pair = |a: &str, b: &str| (a.to_string(), b.to_string());
        assert_eq!(forced("sum:wide"), [pair("sum", "wide")]);
        assert_eq!(
            forced(" sort : radix ,, sum:a::b, "),
            [pair("sort", "radix"), pair("sum", "a::b")]
        );
        assert_eq!(forced("sum:a,sum:a"), [pair("sum", "a")]);
    }

    #[test]
    fn what_is_not_set_forces_and_prints_nothing() {
        for force in [None, Some(""), Some("  ")] {
            for debug in [None, Some(""), Some("0")] {
                let read = Environment::parse(force, debug).expect("well-formed");
                assert_eq!(read, Environment::default(), "{force:?} {debug:?}");
            }
        }
    }

    #[test]
    fn a_question_mark_lists_and_so_does_any_entry() {
        for force in ["?", " ? ", "sum:wide"] {
            let read = Environment::parse(Some(force), None).expect("well-formed");
            assert!(read.lists && !read.prints, "{force}");
        }
        assert_eq!(forced("?"), []);
        let read = Environment::parse(None, Some("1")).expect("well-formed");
        assert!(read.prints && !read.lists);
    }

    #[test]
    fn what_is_malformed_is_said_with_the_variables_name_and_value() {
        let expected = "expected 'dispatcher:variant', or '?' alone to list both";
        for entry in ["sum", ":wide", "sum:", ":", "?"] {
            let value = format!("sort:radix, {entry} ");
            assert_eq!(
                message(&value, ""),
                format!("QD_PERFDISPATCH_FORCE='{value}': malformed entry '{entry}': {expected}")
            );
        }
        assert_eq!(
            message("sum:a,sum:b", ""),
            "QD_PERFDISPATCH_FORCE='sum:a,sum:b': malformed entry 'sum:b': 'sum' was forced to 'a' before"
        );
        assert_eq!(
            message("", "yes"),
            "QD_PERFDISPATCH_PRINT_DEBUG='yes': expected 0 or 1"
        );
    }
}

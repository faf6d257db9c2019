//! The value of `--arg NAME=`: a small language for data.
//!
//! ```text
//! value     := file | number | list | 'len(' name ')' | rows | generator [ extents ]
//! file      := a path that ends in .npy
//! list      := '[' [ item { ',' item } ] ']', items all numbers, or all lists of one shape
//! item      := number | list
//! rows      := 'rows(' name ')' [ '[' [ count ] ':' [ count ] ']' ]
//! generator := 'zeros' | 'poison' | 'const(' number ')' | 'iota' [ '(' options ')' ]
//!            | 'random' [ '(' options ')' ]
//! options   := name '=' number { ',' name '=' number }
//! extents   := '[' extent { ',' extent } ']'
//! extent    := a count | 'len(' name ')'
//! ```

use std::{fmt, path::PathBuf};

/// A parsed value.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// Data in a file.
    File(PathBuf),
    /// One element.
    Number(Number),
    /// The elements of a buffer, and its extents.
    List(Vec<Number>, Vec<u64>),
    /// One element: the rows of another argument.
    LengthOf(String),
    /// The same memory as rows of another argument: from one on up to another, which is not among them.
    RowsOf(String, u64, Option<u64>),
    /// Data by rule, with extents unless the argument's are known.
    Generated(Generator, Option<Vec<Extent>>),
}

/// A rule for elements.
#[derive(Clone, Debug, PartialEq)]
pub enum Generator {
    /// 0.
    Zeros,
    /// Nothing, as in a buffer that is not mentioned: every byte 0xA5, and to the
    /// interpreter not initialised.
    Poison,
    /// The same everywhere.
    Constant(Number),
    /// `start`, `start + step`, ….
    Iota {
        /// 0 if not given.
        start: Option<Number>,
        /// 1 if not given.
        step: Option<Number>,
    },
    /// Uniformly distributed, the same for the same seed on every machine.
    Random {
        /// 0 if not given.
        seed: Option<Number>,
        /// Smallest; for floats 0 if not given, for integers the type's.
        min: Option<Number>,
        /// Largest, for floats excluded; 1 or the type's if not given.
        max: Option<Number>,
    },
}

/// How many rows, or elements in a row.
#[derive(Clone, Debug, PartialEq)]
pub enum Extent {
    /// So many.
    Count(u64),
    /// As many as another argument has rows.
    LengthOf(String),
}

/// A number as it was written: what it means depends on the element type.
#[derive(Clone, Debug, PartialEq)]
pub struct Number {
    /// As written, without underscores.
    pub text: String,
}

/// What is wrong with a value, and where.
#[derive(Debug, PartialEq)]
pub struct ParseError {
    /// What is wrong.
    pub message: String,
    /// Characters before it.
    pub at: usize,
}

impl fmt::Display for ParseError {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str(&self.message)
    }
}

const EXPECTED: &str = "expected a .npy file, a number, [numbers], len(NAME), rows(NAME), \
                        zeros, poison, const(NUMBER), iota or random";

/// How deep lists may be, so that no text is too deep for the stack: more than any buffer's rank.
const DEEPEST: usize = 64;

type Result<T> = std::result::Result<T, ParseError>;

/// Reads a value.
pub fn parse(text: &str) -> Result<Value> {
    if text.ends_with(".npy") {
        return Ok(Value::File(text.into()));
    }
    let mut parser = Parser {
        characters: text.chars().collect(),
        at: 0,
    };
    let value = parser.value()?;
    parser.spaces();
    if parser.at < parser.characters.len() {
        return Err(parser.error("expected nothing behind the value"));
    }
    Ok(value)
}

struct Parser {
    characters: Vec<char>,
    at: usize,
}

impl Parser {
    fn error(&self, message: impl Into<String>) -> ParseError {
        self.error_at(self.at, message)
    }

    fn error_at(&self, at: usize, message: impl Into<String>) -> ParseError {
        ParseError {
            message: message.into(),
            at,
        }
    }

    fn spaces(&mut self) {
        while self
            .characters
            .get(self.at)
            .is_some_and(|c| c.is_whitespace())
        {
            self.at += 1;
        }
    }

    fn peek(&mut self) -> Option<char> {
        self.spaces();
        self.characters.get(self.at).copied()
    }

    fn accept(&mut self, character: char) -> bool {
        let found = self.peek() == Some(character);
        self.at += usize::from(found);
        found
    }

    fn expect(&mut self, character: char) -> Result<()> {
        if self.accept(character) {
            return Ok(());
        }
        Err(self.error(format!("expected '{character}'")))
    }

    fn take_while(&mut self, belongs: impl Fn(char) -> bool) -> String {
        self.spaces();
        let begin = self.at;
        while self.characters.get(self.at).is_some_and(|c| belongs(*c)) {
            self.at += 1;
        }
        self.characters[begin..self.at].iter().collect()
    }

    fn word(&mut self) -> String {
        self.take_while(|c| c.is_alphanumeric() || "_-.$".contains(c))
    }

    fn value(&mut self) -> Result<Value> {
        let begin = match self.peek() {
            None => return Err(self.error(EXPECTED)),
            Some('[') => {
                let mut numbers = Vec::new();
                let extents = self.list(&mut numbers, DEEPEST)?;
                return Ok(Value::List(numbers, extents));
            }
            Some(c) if c.is_ascii_digit() || "+-.".contains(c) => {
                return self.number().map(Value::Number);
            }
            Some(_) => self.at,
        };
        let word = self.word();
        let generator = match word.as_str() {
            "len" => return self.parenthesised_name().map(Value::LengthOf),
            "rows" => return self.rows(),
            "inf" | "nan" => return Ok(Value::Number(Number { text: word })),
            "zeros" => Generator::Zeros,
            "poison" => Generator::Poison,
            "const" => {
                self.expect('(')?;
                let number = self.number()?;
                self.expect(')')?;
                Generator::Constant(number)
            }
            "iota" => {
                let [start, step] = self.options("iota", ["start", "step"])?;
                Generator::Iota { start, step }
            }
            "random" => {
                let [seed, min, max] = self.options("random", ["seed", "min", "max"])?;
                Generator::Random { seed, min, max }
            }
            _ => {
                return Err(self.error_at(
                    begin,
                    format!("unknown value '{}': {EXPECTED}", self.rest(begin)),
                ));
            }
        };
        let extents = if self.peek() == Some('[') {
            Some(self.extents()?)
        } else {
            None
        };
        Ok(Value::Generated(generator, extents))
    }

    fn rows(&mut self) -> Result<Value> {
        let of = self.parenthesised_name()?;
        if !self.accept('[') {
            return Ok(Value::RowsOf(of, 0, None));
        }
        let from = self.row()?.unwrap_or(0);
        self.expect(':')?;
        let to = self.row()?;
        self.expect(']')?;
        Ok(Value::RowsOf(of, from, to))
    }

    /// A row's number, if there is one.
    fn row(&mut self) -> Result<Option<u64>> {
        self.spaces();
        let begin = self.at;
        let digits = self.take_while(|c| c.is_ascii_digit() || c == '_');
        let digits = digits.replace('_', "");
        let row = (!digits.is_empty()).then(|| digits.parse());
        row.transpose()
            .map_err(|_| self.error_at(begin, "expected a row's number"))
    }

    fn rest(&self, begin: usize) -> String {
        self.characters[begin..].iter().collect()
    }

    /// Reads a list, adds its numbers to these, and says which extents it has.
    fn list(&mut self, numbers: &mut Vec<Number>, depth: usize) -> Result<Vec<u64>> {
        if depth == 0 {
            return Err(self.error(format!("lists are at most {DEEPEST} deep")));
        }
        self.expect('[')?;
        let mut first: Option<Vec<u64>> = None;
        let mut length = 0;
        while !self.accept(']') {
            if length > 0 {
                self.expect(',')?;
            }
            let is_list = self.peek() == Some('[');
            let begin = self.at;
            let item = match is_list {
                true => self.list(numbers, depth - 1)?,
                false => {
                    numbers.push(self.number()?);
                    Vec::new()
                }
            };
            if *first.get_or_insert_with(|| item.clone()) != item {
                return Err(self.error_at(begin, "not of the shape of the list's first item"));
            }
            length += 1;
        }
        let mut extents = vec![length];
        extents.extend(first.unwrap_or_default());
        Ok(extents)
    }

    fn parenthesised_name(&mut self) -> Result<String> {
        self.expect('(')?;
        let name = self.take_while(|c| c != ')' && c != '[').trim().to_string();
        if name.is_empty() {
            return Err(self.error("expected an argument's name"));
        }
        self.expect(')')?;
        Ok(name)
    }

    fn options<const N: usize>(
        &mut self,
        of: &str,
        names: [&str; N],
    ) -> Result<[Option<Number>; N]> {
        let mut values = [const { None }; N];
        if !self.accept('(') {
            return Ok(values);
        }
        while !self.accept(')') {
            if values.iter().any(Option::is_some) {
                self.expect(',')?;
            }
            self.spaces();
            let begin = self.at;
            let word = self.word();
            let Some(which) = names.iter().position(|name| *name == word) else {
                return Err(self.error_at(
                    begin,
                    format!(
                        "unknown option '{word}' of {of}: expected {}",
                        names.join(", ")
                    ),
                ));
            };
            if values[which].is_some() {
                return Err(self.error_at(begin, format!("'{word}' is given twice")));
            }
            self.expect('=')?;
            values[which] = Some(self.number()?);
        }
        Ok(values)
    }

    fn extents(&mut self) -> Result<Vec<Extent>> {
        self.expect('[')?;
        let mut extents = Vec::new();
        loop {
            self.spaces();
            let begin = self.at;
            let word = self.word();
            extents.push(match word.as_str() {
                "len" => Extent::LengthOf(self.parenthesised_name()?),
                _ => Extent::Count(word.replace('_', "").parse().map_err(|_| {
                    self.error_at(begin, "expected a length: a count or len(NAME)")
                })?),
            });
            if self.accept(']') {
                return Ok(extents);
            }
            self.expect(',')?;
        }
    }

    fn number(&mut self) -> Result<Number> {
        self.spaces();
        let begin = self.at;
        // A sign belongs to the number, and so does one after an exponent's e.
        let mut text = String::new();
        while let Some(&c) = self.characters.get(self.at) {
            let exponent = text.ends_with(['e', 'E']) && !text.starts_with("0x");
            let sign = "+-".contains(c) && (text.is_empty() || exponent);
            if !(c.is_alphanumeric() || c == '.' || c == '_' || sign) {
                break;
            }
            text.push(c);
            self.at += 1;
        }
        let text = text.replace('_', "");
        let magnitude = text.trim_start_matches(['+', '-']);
        let hexadecimal = magnitude.strip_prefix("0x").is_some_and(|digits| {
            !digits.is_empty() && digits.chars().all(|c| c.is_ascii_hexdigit())
        });
        if text.parse::<f64>().is_ok() || hexadecimal {
            return Ok(Number { text });
        }
        let what = if text.is_empty() {
            "expected a number".into()
        } else {
            format!("'{text}' is no number")
        };
        Err(self.error_at(begin, what))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn number(text: &str) -> Number {
        Number { text: text.into() }
    }

    fn list<const N: usize>(numbers: [&str; N], extents: &[u64]) -> Value {
        Value::List(numbers.map(number).to_vec(), extents.to_vec())
    }

    #[test]
    fn each_kind_of_value() {
        let count = |n| Some(vec![Extent::Count(n)]);
        let length = |name: &str| Some(vec![Extent::LengthOf(name.into())]);
        for (text, value) in [
            ("a/b c.npy", Value::File("a/b c.npy".into())),
            ("-1e-5", Value::Number(number("-1e-5"))),
            ("200_000", Value::Number(number("200000"))),
            ("0xA5", Value::Number(number("0xA5"))),
            ("-inf", Value::Number(number("-inf"))),
            ("[]", Value::List(vec![], vec![0])),
            ("[ 1, -2 ]", list(["1", "-2"], &[2])),
            (
                "[[1, 2, 3], [4, 5, 6]]",
                list(["1", "2", "3", "4", "5", "6"], &[2, 3]),
            ),
            ("[[[7]], [[8]]]", list(["7", "8"], &[2, 1, 1])),
            ("len(a)", Value::LengthOf("a".into())),
            ("rows(a)", Value::RowsOf("a".into(), 0, None)),
            ("rows(a)[:5]", Value::RowsOf("a".into(), 0, Some(5))),
            ("rows(a)[1_0 : 20]", Value::RowsOf("a".into(), 10, Some(20))),
            ("zeros", Value::Generated(Generator::Zeros, None)),
            (
                "const(7)[3]",
                Value::Generated(Generator::Constant(number("7")), count(3)),
            ),
            (
                "iota(step=2)[len(a)]",
                Value::Generated(
                    Generator::Iota {
                        start: None,
                        step: Some(number("2")),
                    },
                    length("a"),
                ),
            ),
            (
                "random(seed=1, max=9)[1_000]",
                Value::Generated(
                    Generator::Random {
                        seed: Some(number("1")),
                        min: None,
                        max: Some(number("9")),
                    },
                    count(1000),
                ),
            ),
            (
                "zeros[len(a), 3]",
                Value::Generated(
                    Generator::Zeros,
                    Some(vec![Extent::LengthOf("a".into()), Extent::Count(3)]),
                ),
            ),
        ] {
            assert_eq!(parse(text), Ok(value), "{text}");
        }
    }

    #[test]
    fn errors_point_at_the_place() {
        let deep = "[".repeat(100_000);
        for (text, at, message) in [
            ("", 0, "expected a .npy file"),
            ("data.csv", 0, "unknown value 'data.csv'"),
            (
                "random(sed=1)[3]",
                7,
                "unknown option 'sed' of random: expected seed, min, max",
            ),
            ("random(seed=1,seed=2)", 14, "'seed' is given twice"),
            ("random(seed)", 11, "expected '='"),
            ("zeros[3", 7, "expected ','"),
            ("zeros[-3]", 6, "expected a length"),
            ("zeros[]", 6, "expected a length"),
            ("len()", 4, "expected an argument's name"),
            ("rows(a)[3]", 9, "expected ':'"),
            ("rows(a)[:x]", 9, "expected ']'"),
            ("[1, x]", 4, "'x' is no number"),
            (&*deep, 64, "lists are at most 64 deep"),
            ("[1, [2]]", 4, "not of the shape of the list's first item"),
            (
                "[[1, 2], [3]]",
                9,
                "not of the shape of the list's first item",
            ),
            ("1.2.3", 0, "'1.2.3' is no number"),
            ("3 4", 2, "expected nothing behind the value"),
        ] {
            let error = parse(text).expect_err(text);
            assert_eq!(error.at, at, "{text}: {error}");
            assert!(error.message.starts_with(message), "{text}: {error}");
        }
    }
}

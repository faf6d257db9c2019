//! The text of a kernel that overwrites, runs and compares.
//!
//! Elements are compared as integers of their width, since a NaN differs from itself.
//! Values of the text have names of three letters and more: shorter ones are for
//! buffers.

use super::{Repeated, Role};
use crate::Data;

/// It depends on the types of the buffers, not on their lengths. Parameters are in the
/// order of [`Role::arguments`], then the number of runs, and how often elements
/// of each result were wrong.
pub(super) fn text(of: &Repeated) -> String {
    let (mut parameters, mut before, mut behind) = (Vec::new(), String::new(), String::new());
    let mut results = 0;
    for (name, role) in &of.buffers {
        let buffer = Buffer::of(name, role);
        let mut declare = |suffix| parameters.push(buffer.parameter(suffix));
        declare("");
        match role {
            Role::Given(_) => continue,
            Role::Scratch(_) => before += &buffer.with_garbage(),
            Role::Result { .. } => {
                declare("_expected");
                parameters.push(format!("%{name}_live: memref<i32>"));
                before += &buffer.with_other_elements();
            }
            Role::InPlace { .. } => {
                declare("_expected");
                declare("_given");
                before += &buffer.as_given();
            }
        }
        if role.expected().is_some() {
            behind += &buffer.compared(results);
            results += 1;
        }
    }
    format!(
        "qd.grid.kernel @main({}, %round: memref<?xi32>, %wrong: memref<?xi32>) {{
  %zero = arith.constant 0 : index
  %first = arith.constant 1 : index
  %one = arith.constant 1 : i32
{before}  {}
{behind}  qd.grid.for_each \"count\" %i to %first {{
    %this = memref.load %round[%zero] : memref<?xi32>
    %next = arith.addi %this, %one : i32
    memref.store %next, %round[%zero] : memref<?xi32>
  }}
}}",
        parameters.join(", "),
        of.op,
    )
}

/// A buffer in the text.
struct Buffer<'a> {
    name: &'a str,
    /// Of rank 0.
    is_count: bool,
    element: &'static str,
    /// The integer of that width.
    word: &'static str,
}

impl<'a> Buffer<'a> {
    fn of(name: &'a str, role: &Role) -> Self {
        let (Role::Given(data)
        | Role::Scratch(data)
        | Role::Result { expected: data, .. }
        | Role::InPlace { expected: data, .. }) = role;
        let (element, word) = words(data);
        Self {
            name,
            is_count: matches!(data, Data::Count(_) | Data::LongCount(_)),
            element,
            word,
        }
    }

    fn parameter(&self, suffix: &str) -> String {
        let shape = if self.is_count { "" } else { "?x" };
        format!("%{}{suffix}: memref<{shape}{}>", self.name, self.element)
    }

    /// For each element `%i`.
    fn for_each(&self, what: &str, body: &str) -> String {
        let Self { name, element, .. } = self;
        format!(
            "  %{name}_{what} = memref.dim %{name}, %zero : memref<?x{element}>
  qd.grid.for_each \"{what} {name}\" %i to %{name}_{what} {{
{body}  }}\n"
        )
    }

    /// `%to` is the word of an element.
    fn load(&self, to: &str, suffix: &str) -> String {
        let Self {
            name,
            element,
            word,
            ..
        } = self;
        format!(
            "    %{to}_element = memref.load %{name}{suffix}[%i] : memref<?x{element}>
    %{to} = arith.bitcast %{to}_element : {element} to {word}\n"
        )
    }

    fn store(&self, from: &str) -> String {
        let Self {
            name,
            element,
            word,
            ..
        } = self;
        format!(
            "    %{from}_element = arith.bitcast %{from} : {word} to {element}
    memref.store %{from}_element, %{name}[%i] : memref<?x{element}>\n"
        )
    }

    /// Ones in every other run, and words that look random, others each time, in
    /// the runs between: some of those look like what an algorithm keeps there.
    fn with_garbage(&self) -> String {
        let word = self.word;
        let narrow = match word {
            "i64" => "    %random = arith.bitcast %mixed : i64 to i64\n",
            _ => "    %random = arith.trunci %mixed : i64 to i32\n",
        };
        let body = format!(
            "    %this = memref.load %round[%zero] : memref<?xi32>
    %run = arith.extui %this : i32 to i64
    %place = arith.index_cast %i : index to i64
    %step = arith.constant 0x9E3779B97F4A7C15 : i64
    %stride = arith.constant 0xD1B54A32D192ED03 : i64
    %half = arith.constant 29 : i64
    %of_place = arith.muli %place, %step : i64
    %of_run = arith.muli %run, %stride : i64
    %sum = arith.addi %of_place, %of_run : i64
    %sum_high = arith.shrui %sum, %half : i64
    %folded = arith.xori %sum, %sum_high : i64
    %product = arith.muli %folded, %stride : i64
    %product_high = arith.shrui %product, %half : i64
    %mixed = arith.xori %product, %product_high : i64
{narrow}    %ones = arith.constant -1 : {word}
    %parity = arith.andi %this, %one : i32
    %is_even = arith.cmpi ult, %parity, %one : i32
    %garbage = arith.select %is_even, %ones, %random : {word}
{}",
            self.store("garbage")
        );
        self.for_each("spoil", &body)
    }

    /// Where elements are to be written, others than those.
    fn with_other_elements(&self) -> String {
        let Self { name, word, .. } = self;
        let body = format!(
            "{}    %count = memref.load %{name}_live[] : memref<i32>
    %at = arith.index_cast %i : index to i32
    %is_live = arith.cmpi ult, %at, %count : i32
    %ones = arith.constant -1 : {word}
    %other = arith.xori %expected, %ones : {word}
    %before = arith.select %is_live, %other, %expected : {word}
{}",
            self.load("expected", "_expected"),
            self.store("before")
        );
        self.for_each("spoil", &body)
    }

    fn as_given(&self) -> String {
        let Self { name, element, .. } = self;
        let body = format!(
            "    %given = memref.load %{name}_given[%i] : memref<?x{element}>
    memref.store %given, %{name}[%i] : memref<?x{element}>\n"
        );
        self.for_each("restore", &body)
    }

    /// Counts the elements of the `nth` result that are wrong.
    fn compared(&self, nth: usize) -> String {
        let body = format!(
            "{}{}    %differs = arith.cmpi ne, %got, %expected : {}
    scf.if %differs {{
      %nth = arith.constant {nth} : index
      %before = qd.grid.atomic.rmw add %one, %wrong[%nth] device relaxed : memref<?xi32>
    }}\n",
            self.load("got", ""),
            self.load("expected", "_expected"),
            self.word,
        );
        self.for_each("compare", &body)
    }
}

/// The type of the elements, and the one by whose bits they are compared.
fn words(data: &Data) -> (&'static str, &'static str) {
    match data {
        Data::Bool(_) => ("i1", "i1"),
        Data::F16(_) => ("f16", "i16"),
        Data::BF16(_) => ("bf16", "i16"),
        Data::I8(_) => ("i8", "i8"),
        Data::I16(_) => ("i16", "i16"),
        Data::I32(_) | Data::Count(_) | Data::Number(_) => ("i32", "i32"),
        Data::I64(_) | Data::LongCount(_) => ("i64", "i64"),
        Data::F32(_) => ("f32", "i32"),
        Data::F64(_) => ("f64", "i64"),
        Data::Rows(of, _) => words(of),
    }
}

//! An algorithm as a kernel, and its arguments.

use qd_conformance::{
    Argument, Data, Expect, Input, generate, given, output, scratch, slots, waves,
};

/// All algorithms with a live count.
pub const ALGORITHMS: [&str; 7] = [
    "reduce",
    "exclusive_scan",
    "inclusive_scan",
    "select",
    "partition",
    "sort",
    "reduce_by_key",
];

/// A subgroup size for a case of a test: they take turns.
pub fn turn(nth: usize) -> u32 {
    waves()[nth % waves().len()]
}

/// An algorithm of one type of elements, which are keys and values alike.
#[derive(Clone)]
pub struct Kernel {
    pub algorithm: &'static str,
    pub element: &'static str,
    pub depth: u32,
    /// The type of the count.
    pub count: &'static str,
    /// How elements are combined, where they are.
    pub combiner: Combiner,
    /// A strategy, a tuning.
    pub choices: &'static str,
}

/// How elements are combined.
#[derive(Clone, Copy)]
pub enum Combiner {
    Kind(&'static str),
    /// An identity and a combiner, as after an algorithm's attributes.
    Region(&'static str),
}

impl Kernel {
    /// With an `i32` count, and sums.
    pub fn new(algorithm: &'static str, element: &'static str, depth: u32) -> Self {
        Self {
            algorithm,
            element,
            depth,
            count: "i32",
            combiner: Combiner::Kind("add"),
            choices: "",
        }
    }

    /// Its text.
    pub fn text(&self) -> String {
        let Self {
            algorithm,
            element,
            depth,
            count,
            choices,
            ..
        } = self;
        let wide = if element.ends_with("64") && self.combines() {
            "i64"
        } else {
            "i32"
        };
        let array = format!("memref<?x{element}>");
        let (kind, region) = match self.combiner {
            _ if matches!(*algorithm, "select" | "partition" | "sort") => ("", ""),
            Combiner::Kind(kind) => (kind, ""),
            Combiner::Region(region) => ("", region),
        };
        let (parameters, operands) = match *algorithm {
            "reduce" | "exclusive_scan" | "inclusive_scan" => (
                format!("%a: {array}, %o: {array}"),
                format!("{kind} ins(%a : {array}) outs(%o : {array})"),
            ),
            "select" | "partition" => (
                format!("%a: {array}, %f: memref<?xi32>, %o: {array}, %m: memref<i32>"),
                format!("ins(%a, %f : {array}, memref<?xi32>) outs(%o, %m : {array}, memref<i32>)"),
            ),
            "sort" => (
                format!("%k: {array}, %t: {array}, %v: memref<?xi32>, %w: memref<?xi32>"),
                format!(
                    "keys(%k, %t : {array}, {array}) values(%v, %w : memref<?xi32>, memref<?xi32>)"
                ),
            ),
            _ => (
                format!("%k: {array}, %v: {array}, %ko: {array}, %vo: {array}, %m: memref<i32>"),
                format!(
                    "{kind} ins(%k, %v : {array}, {array}) \
                     outs(%ko, %vo, %m : {array}, {array}, memref<i32>)"
                ),
            ),
        };
        format!(
            "qd.grid.kernel @main({parameters}, %s: memref<?x{wide}>, %n: memref<{count}>) {{
  qd.algo.{algorithm} {operands} scratch(%s : memref<?x{wide}>) count(%n : memref<{count}>) \
             log256_max_n = {depth} {choices} {region}
}}"
        )
    }

    /// Of `n` elements of these, which may be more. What follows results is compared
    /// as well.
    pub fn arguments(&self, elements: Data, n: usize) -> Vec<Argument> {
        let (element, length) = (self.element, elements.len());
        let result = || output(element, length, Expect::Same);
        // Flags of which no tile has as many as another.
        let flags = || Data::I32((0..length).map(|i| (i * i % 7 % 3) as i32).collect());
        let mut arguments = match self.algorithm {
            "reduce" => vec![given(elements), output(element, 3, Expect::Same)],
            "exclusive_scan" | "inclusive_scan" => vec![given(elements), result()],
            "select" | "partition" => vec![
                given(elements),
                given(flags()),
                result(),
                given(Data::Count(-1)),
            ],
            "sort" => {
                let places = Data::I32((0..length as i32).collect());
                let workspace = |element| output(element, length, Expect::Scratch);
                vec![
                    given(elements),
                    workspace(element),
                    given(places),
                    workspace("i32"),
                ]
            }
            _ => vec![
                given(generate(element, Input::Grouped, length, 1)),
                given(elements),
                result(),
                result(),
                given(Data::Count(-1)),
            ],
        };
        let slots = slots(self.algorithm, length, self.depth);
        arguments.push(scratch(
            if self.combines() { element } else { "i32" },
            slots,
        ));
        arguments.push(given(match self.count {
            "i64" => Data::LongCount(n as i64),
            _ => Data::Count(n as i32),
        }));
        arguments
    }

    /// Whether scratch is for elements, not for counts.
    fn combines(&self) -> bool {
        matches!(
            self.algorithm,
            "reduce" | "exclusive_scan" | "inclusive_scan"
        )
    }
}

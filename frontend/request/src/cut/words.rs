//! Text as words: the parts between whitespace and comments, with strings as one part. How words are
//! separated does not matter to MLIR, so that a slice of a text, written one word a line, keeps its
//! meaning, and its line numbers are word numbers.
//!
//! Words are not MLIR's tokens: `tensor<4xf32>` and `!llvm.ptr<1>` would mean something else with
//! spaces in them, and are one word each.

use std::{borrow::Cow, ops::Range, sync::Arc};

/// A place in words: byte `offset` of word `word`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Place {
    /// The word, from 0 on.
    pub word: usize,
    /// The byte of it, from 0 on.
    pub offset: usize,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Word {
    begin: u32,
    end: u32,
    /// Brackets, braces and parentheses around its beginning.
    depth: u32,
}

/// A text, and where its words are. Clones share them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Words(Arc<Scanned>);

#[derive(Debug, PartialEq, Eq)]
struct Scanned {
    text: Arc<str>,
    words: Vec<Word>,
    /// Where each line begins. None where each word is one.
    lines: Option<Vec<u32>>,
}

impl Words {
    /// The words of a text. None if a string has no end, or a bracket no partner: that is not MLIR.
    pub fn of(text: Arc<str>) -> Option<Self> {
        u32::try_from(text.len()).ok()?;
        let mut scanner = Scanner::new(text.as_bytes());
        while let Some(byte) = scanner.next() {
            scanner.take(byte)?;
        }
        scanner.end_word();
        let Scanner {
            words, lines, open, ..
        } = scanner;
        let lines = Some(lines);
        let scanned = || Scanned { text, words, lines };
        open.is_empty().then(|| Self(Arc::new(scanned())))
    }

    /// These words as a text of their own, a word a line, which comments and whitespace do not change.
    #[must_use]
    pub fn content(&self) -> Self {
        let mut next = 0;
        let each = self.0.words.iter().map(|word| {
            let (begin, end) = (next, next + word.end - word.begin);
            next = end + 1;
            Word {
                begin,
                end,
                ..*word
            }
        });
        Self(Arc::new(Scanned {
            words: each.collect(),
            text: self.joined(std::slice::from_ref(&(0..self.count()))).into(),
            lines: None,
        }))
    }

    /// How many there are.
    pub fn count(&self) -> usize {
        self.0.words.len()
    }

    /// A word.
    pub fn word(&self, index: usize) -> &str {
        let word = self.0.words[index];
        &self.0.text[word.begin as usize..word.end as usize]
    }

    /// How many brackets, braces and parentheses are around the beginning of a word.
    pub fn depth(&self, index: usize) -> u32 {
        self.0.words[index].depth
    }

    /// The line and the column of a place, both from 1 on.
    pub fn line_and_column(&self, place: Place) -> Option<(usize, usize)> {
        let at = self.0.words.get(place.word)?.begin as usize + place.offset;
        let Some(lines) = &self.0.lines else {
            return Some((place.word + 1, place.offset + 1));
        };
        let line = lines.partition_point(|begin| *begin as usize <= at);
        Some((line, at - lines[line - 1] as usize + 1))
    }

    /// Words that follow one another, each on a line of its own: of a [`content`](Self::content) as they stand in it.
    pub(super) fn lines_of(&self, range: Range<usize>) -> Cow<'_, str> {
        match (&self.0.lines, &self.0.words[range.clone()]) {
            (None, [first, .., last]) => {
                Cow::Borrowed(&self.0.text[first.begin as usize..=last.end as usize])
            }
            _ => Cow::Owned(self.joined(&[range])),
        }
    }

    /// Words, each on a line of its own.
    pub fn joined(&self, ranges: &[Range<usize>]) -> String {
        let words = ranges.iter().flat_map(|range| &self.0.words[range.clone()]);
        let length = words
            .clone()
            .map(|word| word.end - word.begin + 1)
            .sum::<u32>();
        let mut text = String::with_capacity(length as usize);
        for word in words {
            text += &self.0.text[word.begin as usize..word.end as usize];
            text.push('\n');
        }
        text
    }
}

/// The bytes that do nothing but go on with a word.
const IS_PLAIN: [bool; 256] = {
    let mut is_plain = [true; 256];
    let others = b" \t\r\n/\"([{)]}\0";
    let mut i = 0;
    while i < others.len() {
        is_plain[others[i] as usize] = false;
        i += 1;
    }
    is_plain
};

struct Scanner<'a> {
    text: &'a [u8],
    at: usize,
    /// Where the word began that is being read.
    begin: Option<u32>,
    depth_at_begin: u32,
    open: Vec<u8>,
    words: Vec<Word>,
    lines: Vec<u32>,
}

impl<'a> Scanner<'a> {
    fn new(text: &'a [u8]) -> Self {
        Self {
            text,
            at: 0,
            begin: None,
            depth_at_begin: 0,
            open: Vec::new(),
            words: Vec::new(),
            lines: vec![0],
        }
    }

    fn next(&self) -> Option<u8> {
        self.text.get(self.at).copied()
    }

    /// Takes what begins with this byte. None if it has no end.
    fn take(&mut self, byte: u8) -> Option<()> {
        if matches!(byte, b' ' | b'\t' | b'\r' | b'\n') {
            self.end_word();
            self.at += 1;
            if byte == b'\n' {
                self.lines.push(self.at as u32);
            }
            return Some(());
        }
        if self.text[self.at..].starts_with(b"//") {
            self.end_word();
            let rest = self.text[self.at..].iter();
            let length = rest.take_while(|byte| **byte != b'\n').count();
            self.at += length;
            return Some(());
        }
        if self.begin.is_none() {
            self.begin = Some(self.at as u32);
            self.depth_at_begin = self.open.len() as u32;
        }
        match byte {
            b'"' => self.at = end_of_string(self.text, self.at)?,
            b'(' | b'[' | b'{' => self.open.push(byte),
            b')' => self.close(b'(')?,
            b']' => self.close(b'[')?,
            b'}' => self.close(b'{')?,
            // MLIR's text ends here.
            0 => return None,
            _ => {
                let rest = self.text[self.at + 1..].iter();
                self.at += rest
                    .take_while(|byte| IS_PLAIN[usize::from(**byte)])
                    .count();
            }
        }
        self.at += 1;
        // What follows the end of an operation is a word of its own.
        if byte == b'}' && self.open.len() <= 1 {
            self.end_word();
        }
        Some(())
    }

    fn close(&mut self, bracket: u8) -> Option<()> {
        (self.open.pop() == Some(bracket)).then_some(())
    }

    fn end_word(&mut self) {
        if let Some(begin) = self.begin.take() {
            self.words.push(Word {
                begin,
                end: self.at as u32,
                depth: self.depth_at_begin,
            });
        }
    }
}

/// The closing quote of the string that begins at `at`.
pub(super) fn end_of_string(text: &[u8], at: usize) -> Option<usize> {
    let mut i = at + 1;
    loop {
        match text.get(i)? {
            b'"' => return Some(i),
            b'\n' => return None,
            b'\\' => i += 2,
            _ => i += 1,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(text: &str) -> Option<Vec<String>> {
        let words = Words::of(text.into())?;
        Some((0..words.count()).map(|i| words.word(i).into()).collect())
    }

    #[test]
    fn whitespace_and_comments_are_between_words() {
        let text = "a b// c\n  \"d  // e\"x\t@f(%g:!h<1>)->i32 {}i { } // j";
        let expected = [
            "a",
            "b",
            "\"d  // e\"x",
            "@f(%g:!h<1>)->i32",
            "{}",
            "i",
            "{",
            "}",
        ];
        assert_eq!(all(text).expect("words"), expected);
        assert_eq!(all("").expect("none"), [""; 0]);
        assert_eq!(all(r#""a\"b" c"#).expect("words"), [r#""a\"b""#, "c"]);
        for wrong in ["\"a", "\"a\nb\"", "(", "(]", "}", "\"\\", "a\0b"] {
            assert_eq!(all(wrong), None, "{wrong:?}");
        }
    }

    #[test]
    fn a_content_is_words_without_what_is_between_them() {
        let words = |text: &str| Words::of(text.into()).expect("words");
        for text in ["", "a {b // c\n  } \n\n\"d e\"", "{}{} (f)"] {
            let content = words(text).content();
            let lines: Vec<&str> = content.0.text.lines().collect();
            assert_eq!(all(text).expect("words"), lines);
            let again = words(&content.0.text);
            for begin in 0..lines.len() {
                let range = begin..lines.len();
                let joined = content.joined(std::slice::from_ref(&range));
                assert_eq!(content.lines_of(range), joined);
            }
            assert_eq!(content.0.words, again.0.words, "{text:?}");
            assert_eq!(content, again.content());
            assert_eq!(content, words(&format!("// e {{\n {text} ")).content());
            for (word, line) in lines.iter().enumerate() {
                let offset = line.len() - 1;
                let place = Place { word, offset };
                assert_eq!(content.line_and_column(place), again.line_and_column(place));
            }
        }
    }

    #[test]
    fn places_are_lines_and_columns() {
        let text = "ab // c\n\n  de{é}f\n";
        let words = Words::of(text.into()).expect("words");
        for (line, column, word, offset) in [
            (1, 1, 0, 0),
            (1, 2, 0, 1),
            (1, 3, 0, 2),
            (3, 3, 1, 0),
            (3, 6, 1, 3),
            (3, 9, 2, 0),
        ] {
            let place = Place { word, offset };
            assert_eq!(words.line_and_column(place), Some((line, column)));
        }
        assert_eq!(words.line_and_column(Place { word: 9, offset: 0 }), None);
    }
}

//! Edits of lists in source files. Each finds its place by what is there, and fails if it is not.

use anyhow::{Context, Result};

/// Inserts a line into the first run of lines that hold `mark` after at most a word (`pub mod x;`),
/// in alphabetical order of what follows it. The line takes over its neighbours' indentation.
pub fn insert_sorted(text: &str, mark: &str, line: &str) -> Result<String> {
    let key = |line: &str| {
        let line = line.trim_start();
        let line = line.strip_prefix("pub ").unwrap_or(line);
        line.strip_prefix(mark).map(str::to_owned)
    };
    let lines: Vec<&str> = text.lines().collect();
    let first = lines
        .iter()
        .position(|line| key(line).is_some())
        .with_context(|| format!("no line begins with '{mark}'"))?;
    let run = lines[first..]
        .iter()
        .take_while(|line| key(line).is_some())
        .count();
    let wanted = key(line).with_context(|| format!("'{line}' does not begin with '{mark}'"))?;
    let at = lines[first..first + run]
        .iter()
        .position(|line| key(line) > Some(wanted.clone()))
        .unwrap_or(run);
    let indent: String = lines[first].chars().take_while(|c| *c == ' ').collect();
    Ok(insert_line(&lines, first + at, &format!("{indent}{line}")))
}

/// Inserts a row at the end of the table that a line with `head` opens and `];` closes.
pub fn insert_into_table(text: &str, head: &str, row: &str) -> Result<String> {
    let lines: Vec<&str> = text.lines().collect();
    let open = lines
        .iter()
        .position(|line| line.contains(head))
        .with_context(|| format!("there is no '{head}'"))?;
    let close = lines[open..]
        .iter()
        .position(|line| *line == "];")
        .with_context(|| format!("'{head}' does not end in a line '];'"))?;
    Ok(insert_line(&lines, open + close, &format!("    {row}")))
}

/// Inserts a text before the last line that begins with `mark`.
pub fn insert_before_last(text: &str, mark: &str, insert: &str) -> Result<String> {
    let lines: Vec<&str> = text.lines().collect();
    let at = lines
        .iter()
        .rposition(|line| line.starts_with(mark))
        .with_context(|| format!("no line begins with '{mark}'"))?;
    let insert = insert.strip_suffix('\n').unwrap_or(insert);
    Ok(insert_line(&lines, at, insert))
}

fn insert_line(lines: &[&str], at: usize, line: &str) -> String {
    let (before, after) = lines.split_at(at);
    let mut text = [before, &[line], after].concat().join("\n");
    text.push('\n');
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_goes_where_it_belongs() {
        let text = "//! x\n\npub mod b;\nmod d;\n\nuse z;\n";
        let with = |line| insert_sorted(text, "mod ", line).unwrap();
        assert!(with("mod a;").contains("\n\nmod a;\npub mod b;\n"));
        assert!(with("mod c;").contains("pub mod b;\nmod c;\nmod d;\n"));
        assert!(with("mod e;").contains("mod d;\nmod e;\n\nuse z;"));
        assert!(insert_sorted("fn main() {}\n", "mod ", "mod a;").is_err());
    }

    #[test]
    fn indentation_is_kept() {
        let text = "fn f() {\n    r::<b>();\n}\n";
        let with = insert_sorted(text, "r::<", "r::<c>();").unwrap();
        assert_eq!(with, "fn f() {\n    r::<b>();\n    r::<c>();\n}\n");
    }

    #[test]
    fn a_row_goes_to_the_end_of_its_table() {
        let text = "const A: &[T] = &[\n    a,\n];\nconst B: &[T] = &[\n    b,\n];\n";
        let with = insert_into_table(text, "const A", "c,").unwrap();
        assert!(with.starts_with("const A: &[T] = &[\n    a,\n    c,\n];\nconst B"));
        assert!(insert_into_table(text, "const C", "c,").is_err());
    }

    #[test]
    fn a_text_goes_before_the_last_mark() {
        let text = "#ifndef A\n#endif\nx\n#endif // A\n";
        let with = insert_before_last(text, "#endif", "y\n\n").unwrap();
        assert_eq!(with, "#ifndef A\n#endif\nx\ny\n\n#endif // A\n");
    }
}

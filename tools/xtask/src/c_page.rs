//! The reference page of the C interface, made of the comments of its headers.

/// What a header declares, with the comment before it.
#[derive(Debug, PartialEq)]
struct Declaration<'a> {
    comment: String,
    code: &'a str,
}

impl<'a> Declaration<'a> {
    /// As in `qd_device_open`.
    fn name(&self) -> &'a str {
        let code = self.code.strip_prefix("#define ").unwrap_or(self.code);
        let is_record = code.contains('{') && !code.contains("static inline");
        let before = match (code.find('('), is_record) {
            (Some(at), false) if self.is_function() => &code[..at],
            _ if is_record => code.rsplit_once('}').map_or(code, |(_, name)| name),
            _ if self.is_constant() => return code.split(' ').next().unwrap_or_default(),
            // The name of a pointer to a function is in parentheses of its own.
            _ => code
                .split_once("(*")
                .and_then(|(_, name)| name.split(')').next())
                .unwrap_or(code),
        };
        let name = |c: char| !c.is_ascii_alphanumeric() && c != '_';
        before
            .trim_matches(name)
            .rsplit(name)
            .next()
            .unwrap_or_default()
    }

    fn is_constant(&self) -> bool {
        self.code.starts_with("#define ")
    }

    fn is_function(&self) -> bool {
        !self.is_constant() && !self.code.starts_with("typedef") && self.code.contains('(')
    }

    /// An inline function without its body.
    fn shown(&self) -> String {
        match self.code.split_once(" {") {
            Some((head, _)) if self.code.starts_with("static inline") => format!("{head};"),
            _ => self.code.to_owned(),
        }
    }
}

/// The page of these headers.
pub fn page(headers: &[&str]) -> String {
    let rules = headers
        .first()
        .and_then(|header| block(header))
        .unwrap_or_default();
    let all: Vec<_> = headers
        .iter()
        .flat_map(|header| declarations(header))
        .collect();
    let mut text = format!(
        "<!-- Generated from frontend/capi/include by `cargo xtask docs`, which is made of frontend/capi/src. \
         Edit that, not this. -->\n\n# The C interface\n\n{rules}\n\n## Functions\n"
    );
    for one in all.iter().filter(|one| one.is_function()) {
        text += &entry(one);
    }
    text += "\n## Types\n";
    let is_type = |one: &&Declaration<'_>| !one.is_function() && !one.is_constant();
    for one in all.iter().filter(is_type) {
        text += &entry(one);
    }
    text += "\n## Constants\n\n| name | value | what |\n|---|---|---|\n";
    for one in all.iter().filter(|one| one.is_constant()) {
        let value = one.code.rsplit(' ').next().unwrap_or_default();
        // It changes with each declaration.
        if one.name() != "QD_HEADER_HASH" {
            let what = one.comment.replace('\n', " ");
            text += &format!("| `{}` | {value} | {what} |\n", one.name());
        }
    }
    text
}

fn entry(one: &Declaration<'_>) -> String {
    let (name, code, comment) = (one.name(), one.shown(), &one.comment);
    format!("\n### `{name}`\n\n```c\n{code}\n```\n\n{comment}\n")
}

/// The first comment of a file.
fn block(header: &str) -> Option<String> {
    let (_, rest) = header.split_once("/*")?;
    let (comment, _) = rest.split_once("*/")?;
    Some(plain(comment))
}

/// A comment's text, without its stars.
fn plain(comment: &str) -> String {
    let lines = comment.trim_start_matches('*').lines().map(|line| {
        let line = line.trim();
        let line = line.strip_prefix('*').unwrap_or(line);
        line.strip_prefix(' ').unwrap_or(line).trim_end()
    });
    lines.collect::<Vec<_>>().join("\n").trim().to_owned()
}

/// What has a comment for documentation before it at the beginning of a line.
fn declarations(header: &str) -> Vec<Declaration<'_>> {
    let mut found = Vec::new();
    let mut rest = header;
    while let Some(at) = rest.find("\n/**") {
        let Some((comment, after)) = rest[at + 1..].split_once("*/") else {
            break;
        };
        let code = after.trim_start_matches('\n');
        let code = &code[..length(code)];
        found.push(Declaration {
            comment: plain(comment.trim_start_matches('/')),
            code: code.trim_end(),
        });
        rest = after;
    }
    found
}

/// Of the declaration that a text begins with: to the end of a macro's line, or of an inline function, or to the
/// semicolon that is in no braces.
fn length(text: &str) -> usize {
    if text.starts_with('#') {
        return text.find('\n').unwrap_or(text.len());
    }
    let is_inline = text.starts_with("static inline");
    let (mut depth, mut is_comment) = (0, false);
    for (at, c) in text.char_indices() {
        is_comment |= text[at..].starts_with("/*");
        is_comment &= !text[..at].ends_with("*/");
        match c {
            _ if is_comment => {}
            '{' => depth += 1,
            '}' if is_inline && depth == 1 => return at + 1,
            '}' => depth -= 1,
            ';' if depth == 0 => return at + 1,
            _ => {}
        }
    }
    text.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEADER: &str = "/* All of it.\n *\n * - one\n */\n#ifndef QD_H\n\n/** A number. */\n#define QD_ONE 1\n\n\
        /**\n * A thing; it is opaque.\n */\ntypedef struct qd_thing qd_thing;\n\n\
        /**\n * Two of them.\n */\ntypedef struct qd_two {\n  /**\n   * One; of two.\n   */\n  int a;\n} qd_two;\n\n\
        /**\n * Does it.\n */\nqd_status qd_do(const qd_thing *thing,\n                int number);\n\n\
        /** A two of one. */\nstatic inline qd_two qd_make(int a) {\n  qd_two two = {a};\n  return two;\n}\n";

    #[test]
    fn a_declaration_is_what_follows_its_comment() {
        let all = declarations(HEADER);
        let names: Vec<_> = all.iter().map(Declaration::name).collect();
        assert_eq!(names, ["QD_ONE", "qd_thing", "qd_two", "qd_do", "qd_make"]);
        assert_eq!(all[1].comment, "A thing; it is opaque.");
        assert!(all[2].code.ends_with("} qd_two;"));
        let functions: Vec<_> = all.iter().map(Declaration::is_function).collect();
        assert_eq!(functions, [false, false, false, true, true]);
    }

    #[test]
    fn the_page_has_the_rules_and_each_declaration_once() {
        let page = page(&[HEADER]);
        assert!(
            page.contains("# The C interface\n\nAll of it.\n\n- one\n\n## Functions\n"),
            "{page}"
        );
        for once in [
            "### `qd_do`\n\n```c\nqd_status qd_do(const qd_thing *thing,\n                int number);\n```\n\nDoes it.\n",
            "static inline qd_two qd_make(int a);\n```\n\nA two of one.\n",
            "| `QD_ONE` | 1 | A number. |\n",
        ] {
            assert_eq!(page.matches(once).count(), 1, "{once}: {page}");
        }
    }
}

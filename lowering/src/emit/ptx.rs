//! PTX as one module, and a workaround for ptxas.

/// The last line of what every module begins with.
const HEADER_END: &str = "\n.address_size 64\n";

/// One module of modules for the same device.
pub fn joined(modules: &[String]) -> String {
    let mut all = String::new();
    for text in modules {
        match text.split_once(HEADER_END) {
            Some((_, behind)) if !all.is_empty() => all += behind,
            _ => all += text,
        }
    }
    all
}

/// Gives narrow stores narrow registers.
///
/// `st.b32` of a 64-bit register stores its low word, says the PTX manual, and
/// LLVM writes half of an `f64` that way. Where an instruction on `f64` made the
/// register, ptxas 13.0 converts it to an integer and stores that
/// (`F2I.U32.F64.TRUNC`, seen on an H200 in sums kept in planes of words).
/// `cvt.u32.u64` of the same register is compiled as it should be.
pub fn narrow_stores(ptx: &str) -> String {
    let mut text = String::with_capacity(ptx.len());
    for line in ptx.lines() {
        match wide_source(line) {
            Some((store, source)) => {
                text += &format!(
                    "\t{{ .reg .b32 %word; cvt.u32.u64 %word, {source}; {store} %word; }}"
                );
            }
            None => text += line,
        }
        text.push('\n');
    }
    text
}

/// `st.global.b32 [%rd1],` and `%rd2`, if that is what the line does.
fn wide_source(line: &str) -> Option<(&str, &str)> {
    let statement = line.trim().strip_suffix(';')?;
    let (store, source) = statement.rsplit_once(' ')?;
    let (instruction, _) = store.split_once(char::is_whitespace)?;
    let narrow = [".b8", ".b16", ".b32"];
    (instruction.starts_with("st.")
        && narrow.iter().any(|width| instruction.ends_with(width))
        && source.starts_with("%rd")
        && !source.ends_with('}'))
    .then_some((store, source))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn modules_are_joined_behind_one_header() {
        let module = |body: &str| format!("//\n.version 8.0{HEADER_END}{body}\n");
        let both = module("a\nb");
        assert_eq!(joined(&[module("a"), module("b")]), both);
    }

    #[test]
    fn only_narrow_stores_of_wide_registers_change() {
        let same = "\tst.global.b64 \t[%rd6], %rd59;\n\tst.shared.b32 \t[%rd6+4], %r5;\n\
                    \tld.global.b32 \t%rd1, [%rd9];\n";
        assert_eq!(narrow_stores(same), same);
        assert_eq!(
            narrow_stores("\tst.global.b32 \t[%rd6+4], %rd59;\n"),
            "\t{ .reg .b32 %word; cvt.u32.u64 %word, %rd59; st.global.b32 \t[%rd6+4], %word; }\n"
        );
    }
}

//! PTX as one module, and workarounds for ptxas.

use std::collections::HashMap;

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

/// Puts a fence in place of the order of loads whose results nothing uses.
///
/// ptxas (12.9 to 13.5) removes such an acquiring load and keeps what orders it. In a loop it may lose with it the
/// descriptor of memory that other accesses share, and take it from registers that nothing has written
/// (`R2UR` at a kernel's begin): an illegal instruction on an H200, now and then.
pub fn used_acquires(ptx: &str) -> String {
    let mut text = String::with_capacity(ptx.len());
    // A function ends where nothing is in front of the brace.
    for function in ptx.split_inclusive("\n}\n") {
        if !function.contains(ACQUIRE) {
            text += function;
            continue;
        }
        let mut uses: HashMap<&str, usize> = HashMap::new();
        for register in registers(function) {
            *uses.entry(register).or_default() += 1;
        }
        for line in function.split_inclusive('\n') {
            match acquire(line).filter(|(_, _, register)| uses.get(register) == Some(&1)) {
                Some((scope, rest, _)) => {
                    text += &format!("\tld.relaxed.{scope}.{rest}\n\tfence.acq_rel.{scope};\n");
                }
                None => text += line,
            }
        }
    }
    text
}

const ACQUIRE: &str = "ld.acquire.";

/// `gpu`, `global.b32 %r1, [%rd1];` and `%r1`, if a line is such a load.
fn acquire(line: &str) -> Option<(&str, &str, &str)> {
    let (scope, rest) = line.trim().strip_prefix(ACQUIRE)?.split_once('.')?;
    Some((scope, rest, registers(rest).next()?))
}

/// The registers that a text names, in order.
fn registers(text: &str) -> impl Iterator<Item = &str> {
    let behind = text.split('%').skip(1);
    behind.map(|text| {
        let end = text.find(|c: char| !c.is_ascii_alphanumeric() && c != '_');
        &text[..end.unwrap_or(text.len())]
    })
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
    fn loads_that_nothing_uses_are_fences() {
        let used = ".visible .entry a()\n{\n\tld.acquire.gpu.global.b32 \t%r1, [%rd1];\n\
                    \tst.global.b32 \t[%rd2], %r1;\n}\n";
        let unused = ".visible .entry b()\n{\n\tld.acquire.gpu.global.b32 \t%r1, [%rd1];\n\
                      \tst.global.b32 \t[%rd1], %r10;\n}\n";
        let fence = "\tld.relaxed.gpu.global.b32 \t%r1, [%rd1];\n\tfence.acq_rel.gpu;\n";
        let changed = unused.replace("\tld.acquire.gpu.global.b32 \t%r1, [%rd1];\n", fence);
        assert_eq!(
            used_acquires(&format!("{used}{unused}")),
            format!("{used}{changed}")
        );
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

//! Running other programs: each is echoed so that it can be retyped, and a failure names it.

use std::io::{BufRead, BufReader, Read, Write, pipe};
use std::process::{Command, ExitStatus, Stdio};

use anyhow::{Context, Result, bail, ensure};

/// The command as one would type it.
pub fn describe(command: &Command) -> String {
    std::iter::once(command.get_program())
        .chain(command.get_args())
        .map(|word| quote(&word.to_string_lossy()))
        .collect::<Vec<_>>()
        .join(" ")
}

fn quote(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./=:,+%@".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', r"'\''"))
    }
}

fn echo(command: &Command) {
    eprintln!("$ {}", describe(command));
}

/// Runs a command on this terminal; an exit status other than 0 is an error.
pub fn run(command: &mut Command) -> Result<()> {
    echo(command);
    let status = command.status().with_context(|| cannot_start(command))?;
    ensure!(status.success(), "{}: {}", describe(command), status);
    Ok(())
}

/// Runs a command that reads `input`; an exit status other than 0 is an error.
pub fn run_with_input(mut command: Command, input: &str) -> Result<()> {
    echo(&command);
    let mut child = command
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .spawn()
        .with_context(|| cannot_start(&command))?;
    if let Some(mut stdin) = child.stdin.take() {
        stdin.write_all(input.as_bytes())?;
    }
    let status = child.wait()?;
    ensure!(status.success(), "{}: {}", describe(&command), status);
    Ok(())
}

/// Runs a command on this terminal while `watch` sees each line of its standard output. How it
/// ended is the caller's to judge.
pub fn run_watched(command: &mut Command, mut watch: impl FnMut(&str)) -> Result<ExitStatus> {
    echo(command);
    let mut child = command
        .stdout(Stdio::piped())
        .spawn()
        .with_context(|| cannot_start(command))?;
    if let Some(stdout) = child.stdout.take() {
        let mut reader = BufReader::new(stdout);
        // Bytes, not lines(): a test may print what is not UTF-8.
        let mut line = Vec::new();
        while reader.read_until(b'\n', &mut line)? > 0 {
            let text = String::from_utf8_lossy(&line);
            print!("{text}");
            watch(text.trim_end());
            line.clear();
        }
    }
    Ok(child.wait()?)
}

/// Runs a command quietly and returns its standard output; on failure the error holds its standard
/// error.
pub fn capture(command: &mut Command) -> Result<String> {
    let output = command
        .stdin(Stdio::null())
        .output()
        .with_context(|| cannot_start(command))?;
    if !output.status.success() {
        let stderr = String::from_utf8_lossy(&output.stderr);
        bail!(
            "{}: {}\n{}",
            describe(command),
            output.status,
            stderr.trim_end()
        );
    }
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

/// Runs a command quietly and returns all that it writes, errors included, and how it ended.
pub fn collect(command: &mut Command) -> Result<(String, ExitStatus)> {
    let (mut reader, writer) = pipe()?;
    command.stdin(Stdio::null());
    command.stdout(writer.try_clone()?).stderr(writer);
    let child = command.spawn();
    // Ours of its ends: while they are open, what is written has no end.
    command.stdout(Stdio::null()).stderr(Stdio::null());
    let mut child = child.with_context(|| cannot_start(command))?;
    let mut bytes = Vec::new();
    reader.read_to_end(&mut bytes)?;
    Ok((String::from_utf8_lossy(&bytes).into_owned(), child.wait()?))
}

fn cannot_start(command: &Command) -> String {
    format!("cannot start {}", describe(command))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_described_command_can_be_retyped() {
        let mut command = Command::new("qd-opt");
        command.args(["--to=grid", "a b.mlir", "it's"]);
        assert_eq!(describe(&command), r"qd-opt --to=grid 'a b.mlir' 'it'\''s'");
    }

    #[test]
    fn a_failure_names_the_command() {
        let error = run(Command::new("sh").args(["-c", "exit 3"])).unwrap_err();
        assert_eq!(error.to_string(), "sh -c 'exit 3': exit status: 3");
    }

    #[test]
    fn input_reaches_the_command() {
        let mut command = Command::new("grep");
        command.args(["-q", "two"]);
        run_with_input(command, "one\ntwo\n").unwrap();
        let mut command = Command::new("grep");
        command.args(["-q", "three"]);
        assert!(run_with_input(command, "one\ntwo\n").is_err());
    }

    #[test]
    fn watching_sees_each_line_and_the_status() {
        let mut lines = Vec::new();
        let mut command = Command::new("sh");
        command.args(["-c", "echo one; printf two; exit 1"]);
        let status = run_watched(&mut command, |line| lines.push(line.to_owned())).unwrap();
        assert_eq!(lines, ["one", "two"]);
        assert_eq!(status.code(), Some(1));
    }

    #[test]
    fn collecting_keeps_errors_in_their_place() {
        let mut command = Command::new("sh");
        command.args(["-c", "echo one; echo two >&2; echo three; exit 4"]);
        let (output, status) = collect(&mut command).unwrap();
        assert_eq!(output, "one\ntwo\nthree\n");
        assert_eq!(status.code(), Some(4));
    }

    #[test]
    fn capturing_reports_what_went_wrong() {
        let error = capture(Command::new("sh").args(["-c", "echo why >&2; exit 1"])).unwrap_err();
        assert!(error.to_string().ends_with("why"), "{error}");
    }
}

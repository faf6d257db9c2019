//! Winners in files.

use super::{
    super::{DeviceKey, Winners},
    *,
};
use std::fs;

fn key(device: &str, driver: &str) -> DeviceKey {
    DeviceKey {
        device: device.into(),
        driver: driver.into(),
    }
}

fn h200() -> DeviceKey {
    key("NVIDIA H200", "CUDA 13.0")
}

/// One that has measured geometries 1 and 2, of which `b` and `a` have won.
fn measured() -> Bench {
    let mut bench = Bench::new(Policy::default(), &[2, 1]);
    bench.calls_at(2, 4);
    bench.call.costs.reverse();
    bench.calls_at(1, 4);
    bench
}

fn saved() -> (tempfile::TempDir, std::path::PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("winners.json");
    let mut winners = Winners::open(&path).unwrap();
    assert!(winners.is_empty());
    measured().dispatcher.save(&mut winners, &h200()).unwrap();
    winners.write(&path).unwrap();
    (folder, path)
}

#[test]
fn what_was_saved_is_loaded() {
    let (_folder, path) = saved();
    let mut bench = Bench::new(Policy::default(), &[9, 9]);
    let winners = Winners::read(&path).unwrap();
    assert_eq!(bench.dispatcher.load(&winners, &h200()).unwrap(), 2);
    assert_eq!(bench.calls_at(1, 2), "aa");
    assert_eq!(bench.calls_at(2, 2), "bb");
    // Under capture, too.
    bench.call.is_captured = true;
    assert_eq!(bench.calls_at(2, 1), "b");
    assert!(bench.call_at(3).is_err());
    // They are measured again as others are, and warm up first: it is a new process.
    bench.call.is_captured = false;
    assert_eq!(bench.calls_at(1, 297), "a".repeat(297));
    assert_eq!(bench.calls_at(1, 4), "ab|a||b|");
}

#[test]
fn the_file_is_for_people_too() {
    let (_folder, path) = saved();
    let text = fs::read_to_string(&path).unwrap();
    let expected = r#"{
  "format": "qd winners",
  "version": 1,
  "tables": [
    {
      "dispatcher": "sum",
      "device": "NVIDIA H200",
      "driver": "CUDA 13.0",
      "variants": [
        {
          "name": "a",
          "code": ""
        },
        {
          "name": "b",
          "code": ""
        }
      ],
      "winners": [
        {
          "geometry": 1,
          "variant": "a"
        },
        {
          "geometry": 2,
          "variant": "b"
        }
      ]
    }
  ]
}
"#;
    assert_eq!(text, expected);
}

#[test]
fn devices_drivers_and_dispatchers_are_kept_apart() {
    let (_folder, path) = saved();
    let mut winners = Winners::read(&path).unwrap();
    let newer = key("NVIDIA H200", "CUDA 13.1");
    let error = measured().dispatcher.load(&winners, &newer).unwrap_err();
    let path = path.display().to_string();
    assert_eq!(
        error.to_string(),
        format!(
            "{path}: no winners of NVIDIA H200 with CUDA 13.1: there are those of NVIDIA H200 with CUDA 13.0"
        )
    );
    let (settings, _) = settings(Policy::default(), &Arc::default());
    let other = Dispatcher::<u32>::new("sort", variants("a b"), settings).unwrap();
    let error = other.load(&winners, &h200()).unwrap_err();
    assert_eq!(
        error.to_string(),
        format!("{path}: no winners of perf_dispatch 'sort': there are those of sum")
    );
    // Both may be in it beside those.
    measured().dispatcher.save(&mut winners, &newer).unwrap();
    other.save(&mut winners, &h200()).unwrap();
    measured().dispatcher.save(&mut winners, &h200()).unwrap();
    for key in [h200(), newer] {
        let bench = Bench::new(Policy::default(), &[1, 1]);
        assert_eq!(bench.dispatcher.load(&winners, &key).unwrap(), 2);
    }
    assert_eq!(other.load(&winners, &h200()).unwrap(), 0);
}

#[test]
fn without_winners_nothing_is_loaded() {
    let bench = Bench::new(Policy::default(), &[1, 1]);
    assert_eq!(
        bench.dispatcher.load(&Winners::default(), &h200()).unwrap(),
        0
    );
}

#[test]
fn winners_among_other_variants_are_refused() {
    let (_folder, path) = saved();
    let winners = Winners::read(&path).unwrap();
    let message = |variants: Vec<Variant>| {
        let (settings, _) = settings(Policy::default(), &Arc::default());
        let made = Dispatcher::<u32>::new("sum", variants, settings).unwrap();
        let error = made.load(&winners, &h200()).unwrap_err();
        assert!(made.winners().is_empty());
        error.to_string()
    };
    let text = message(variants("a b c"));
    assert!(
        text.ends_with("there are a, b, c, and there were a, b"),
        "{text}"
    );
    let mut changed = variants("a b");
    changed[1].code = "0123".into();
    let text = message(changed);
    assert!(text.ends_with("the code of 'b' has changed"), "{text}");
    // Their order does not matter.
    let (settings, _) = settings(Policy::default(), &Arc::default());
    let made = Dispatcher::<u32>::new("sum", variants("b a"), settings).unwrap();
    assert_eq!(made.load(&winners, &h200()).unwrap(), 2);
    assert_eq!(made.winner(&2), Some(0));
}

#[test]
fn geometries_of_another_type_are_refused() {
    let (_folder, path) = saved();
    let (settings, _) = settings(Policy::default(), &Arc::default());
    let made = Dispatcher::<(u32, u32)>::new("sum", variants("a b"), settings).unwrap();
    let error = made
        .load(&Winners::read(&path).unwrap(), &h200())
        .unwrap_err();
    let text = error.to_string();
    assert!(
        text.contains("winners.json") && text.contains("geometry 1: "),
        "{text}"
    );
}

#[test]
fn what_is_no_file_of_winners_is_refused() {
    let (_folder, path) = saved();
    let good = fs::read_to_string(&path).unwrap();
    let message = |from: &str, to: &str| {
        assert!(good.contains(from), "{from}");
        fs::write(&path, good.replacen(from, to, 1)).unwrap();
        let text = Winners::read(&path).expect_err("is malformed").to_string();
        let path = path.display().to_string();
        let text = text.strip_prefix(&format!("{path}: no winners of dispatchers: "));
        text.expect("names the file").to_string()
    };
    assert_eq!(
        message(&good, "{"),
        "EOF while parsing an object at line 1 column 1"
    );
    assert_eq!(
        message(&good, "[1]"),
        "invalid type: integer `1`, expected a string at line 1 column 2"
    );
    assert_eq!(
        message("qd winners", "notes"),
        "its format is 'notes', not 'qd winners'"
    );
    assert_eq!(
        message(r#""version": 1"#, r#""version": 2"#),
        "its version is 2, not 1"
    );
    let text = message(r#""tables""#, r#""rows""#);
    assert!(
        text.starts_with("unknown field `rows`") && text.contains("line 4"),
        "{text}"
    );
    let text = message(r#""variant": "b""#, r#""variant": "c""#);
    assert!(
        text.ends_with("'c' won and is none of its variants"),
        "{text}"
    );
    let text = message(r#""geometry": 2"#, r#""geometry": 1"#);
    assert!(text.ends_with("1 is in it twice"), "{text}");
    let twice = good.replace("\n  ]\n}\n", "\n  ,") + &good[good.find("    {").unwrap()..];
    let text = message(&good, &twice);
    assert!(
        text.ends_with("'sum' on NVIDIA H200 with CUDA 13.0 is in it twice"),
        "{text}"
    );
}

#[test]
fn a_file_that_cannot_be_read_or_written_is_an_error_with_its_path() {
    let folder = tempfile::tempdir().unwrap();
    let missing = folder.path().join("none").join("winners.json");
    for error in [
        Winners::read(&missing).unwrap_err(),
        Winners::default().write(&missing).unwrap_err(),
        Winners::open(folder.path()).unwrap_err(),
    ] {
        let text = error.to_string();
        let path = folder.path().display().to_string();
        assert!(
            matches!(error, Error::File { .. }) && text.starts_with(&path),
            "{text}"
        );
    }
    assert!(Winners::open(&missing).unwrap().is_empty());
}

#[test]
fn what_cannot_be_a_key_in_json_is_an_error() {
    #[derive(Clone, Debug, PartialEq, Eq, Hash, serde::Serialize)]
    struct Odd(std::collections::BTreeMap<(u8, u8), u8>);
    let (settings, _) = settings(Policy::default().repeating(None, None), &Arc::default());
    let made = Dispatcher::<Odd>::new("sum", variants("a"), settings).unwrap();
    let mut call = Fake {
        costs: vec![us(1)],
        ..Fake::default()
    };
    made.call(&Odd([((0, 1), 2)].into()), &mut call).unwrap();
    let mut winners = Winners::default();
    let error = made.save(&mut winners, &h200()).unwrap_err();
    assert!(
        error.to_string().contains("key must be a string"),
        "{error}"
    );
    assert!(winners.is_empty());
}

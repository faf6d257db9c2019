use super::*;
use std::thread;

fn key(name: &str) -> Key {
    Key::of([name.as_bytes()])
}

fn store() -> (tempfile::TempDir, Store) {
    let folder = tempfile::tempdir().expect("a folder");
    let store = Store::new(folder.path(), DEFAULT_SIZE);
    (folder, store)
}

fn said(store: &Store) -> Vec<String> {
    store.troubles().iter().map(Trouble::to_string).collect()
}

/// Sets when an entry was last used.
fn used(store: &Store, name: &str, ago: Duration) {
    let file = fs::File::options()
        .append(true)
        .open(store.path(&key(name)));
    let at = SystemTime::now() - ago;
    file.and_then(|file| file.set_modified(at))
        .expect("it is there");
}

#[test]
fn what_was_put_is_there_for_others_too() {
    let (folder, store) = store();
    assert_eq!(store.get(&key("k")), None);
    store.put(&key("k"), "k for cpu", b"code");
    assert_eq!(store.get(&key("k")).as_deref(), Some(&b"code"[..]));
    let other = Store::new(folder.path(), DEFAULT_SIZE);
    assert_eq!(other.get(&key("k")).as_deref(), Some(&b"code"[..]));
    assert_eq!(other.get(&key("l")), None);
    let counts = Counts {
        hits: 1,
        misses: 1,
        writes: 1,
    };
    assert_eq!(store.counts(), counts);
    assert_eq!(said(&store), [""; 0]);
    let list = other.list();
    assert_eq!(list.len(), 1);
    assert_eq!(list[0].0, key("k").to_string());
    assert_eq!(list[0].2.as_deref(), Some("k for cpu"));
}

#[test]
fn damage_is_found_said_and_repaired() {
    let (_folder, store) = store();
    for damage in [&b""[..], b"garbage", &[0; 1000]] {
        store.put(&key("k"), "k", b"code");
        fs::write(store.path(&key("k")), damage).expect("written");
        assert_eq!(store.get(&key("k")), None);
        let [said] = &said(&store)[..] else {
            panic!("said once");
        };
        assert!(said.ends_with("is damaged: it is compiled again"), "{said}");
        // It is gone: the next is a plain miss.
        assert_eq!(store.get(&key("k")), None);
        assert_eq!(store.troubles().len(), 0);
    }
    // An entry in another's place is none of its.
    store.put(&key("k"), "k", b"code");
    store.put(&key("l"), "l", b"other code");
    fs::copy(store.path(&key("l")), store.path(&key("k"))).expect("copied");
    assert_eq!(store.get(&key("k")), None);
    assert_eq!(store.get(&key("l")).as_deref(), Some(&b"other code"[..]));

    fs::write(store.path(&key("k")), "garbage").expect("written");
    let (whole, damaged) = store.verify();
    assert_eq!((whole, damaged), (1, vec![store.path(&key("k"))]));
    assert_eq!(store.verify(), (1, vec![]));
}

#[test]
fn the_least_recently_used_go() {
    let (_folder, mut store) = store();
    store.put(&key("seen"), "", &[1; 1000]);
    for (i, name) in ["a", "b", "c", "d"].into_iter().enumerate() {
        store.put(&key(name), "", &[2; 1000]);
        used(&store, name, Duration::from_secs(7200 - i as u64));
    }
    used(&store, "seen", Duration::from_secs(9000));
    assert_eq!(store.get(&key("seen")).map(|found| found.len()), Some(1000));
    // The two that were used longest ago are more than has to go.
    store.limit = 4500;
    store.sweep();
    let has = |name| store.get(&key(name)).is_some();
    assert_eq!(
        ["seen", "a", "b", "c", "d"].map(has),
        [true, false, false, true, true]
    );
    assert!(store.usage().bytes <= 4500);
    // What is larger than all of it is not kept, and drives nothing out.
    store.put(&key("large"), "", &[3; 5000]);
    assert!(!has("large") && has("d"));
    // A store that writes bounds it.
    for i in 0..20 {
        store.put(&key(&i.to_string()), "", &[4; 1000]);
        assert!(store.usage().bytes <= 4500);
    }
}

#[test]
fn parts_of_killed_writers_are_no_entries_and_go() {
    let (_folder, store) = store();
    store.put(&key("k"), "", b"code");
    let part = store.folder.join(PARTS).join("half");
    fs::write(&part, "co").expect("written");
    assert_eq!(store.usage().entries, 1);
    store.sweep();
    assert!(part.exists(), "its writer may be at work");
    let file = fs::File::options().append(true).open(&part);
    let at = SystemTime::now() - Duration::from_secs(7200);
    file.and_then(|file| file.set_modified(at))
        .expect("it is there");
    store.sweep();
    assert!(!part.exists());
    assert!(store.get(&key("k")).is_some());
}

#[test]
fn where_nothing_can_be_written_that_is_said_once() {
    let (folder, _) = store();
    // A file where the folder would be: not even root can write there.
    let file = folder.path().join("file");
    fs::write(&file, "").expect("written");
    let store = Store::new(&file, DEFAULT_SIZE);
    store.put(&key("k"), "", b"code");
    store.put(&key("l"), "", b"code");
    let said = said(&store);
    assert_eq!(said.len(), 1, "{said:?}");
    assert!(
        said[0].starts_with("the cache cannot be written: "),
        "{}",
        said[0]
    );
    assert_eq!(store.get(&key("k")), None);
    assert_eq!(store.counts().writes, 0);
    // What cannot be read is said, too.
    assert!(
        store.troubles()[0]
            .to_string()
            .starts_with("the cache cannot be read: ")
    );
}

#[test]
fn many_writers_and_readers_of_a_few_keys() {
    let (folder, _) = store();
    let path = folder.path();
    thread::scope(|scope| {
        for thread in 0..4_u8 {
            scope.spawn(move || {
                // So small that entries go all the time.
                let store = Store::new(path, 20_000);
                for i in 0..200_u32 {
                    let name = ((i * 7 + u32::from(thread)) % 10).to_string();
                    let contents = name.repeat(3000);
                    if let Some(found) = store.get(&key(&name)) {
                        assert!(found == contents.as_bytes());
                    }
                    store.put(&key(&name), &name, contents.as_bytes());
                }
                let said = said(&store);
                assert_eq!(said, [""; 0]);
            });
        }
    });
    let store = Store::new(path, 20_000);
    assert_eq!(store.verify().1, [""; 0].map(PathBuf::from));
    assert_eq!(files_in(&store.folder.join(PARTS)), 0);
    store.clear().expect("removed");
    assert!(!store.folder.exists());
    store.clear().expect("nothing to remove");
}

fn files_in(folder: &Path) -> usize {
    fs::read_dir(folder).expect("a folder").count()
}

#[test]
fn folder_and_size_are_what_the_environment_says() {
    let users = || Some(PathBuf::from("/home/of/caches"));
    assert_eq!(folder_of(None, users()), Some("/home/of/caches/qd".into()));
    assert_eq!(
        folder_of(Some("/there".into()), users()),
        Some("/there".into())
    );
    assert_eq!(folder_of(Some("".into()), users()), None);
    assert_eq!(folder_of(None, None), None);
    for (text, size) in [
        ("1000", Some(1000)),
        ("500M", Some(500 << 20)),
        ("2G", Some(2 << 30)),
        ("8K", Some(8192)),
        ("", None),
        ("G", None),
        ("-1", None),
        ("2 GB", None),
        ("99999999999999999999", None),
        ("99999999999G", None),
    ] {
        assert_eq!(parse_size(text), size, "{text}");
    }
}

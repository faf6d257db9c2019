//! A store that a team shares, on a server that speaks like Amazon's S3, and on servers that do not.

mod server;

use qd_store::{Key, Store, Trouble};
use server::{BUCKET, Server};
use std::{
    io::{Read, Write},
    net::TcpListener,
    path::Path,
    thread,
    time::{Duration, Instant},
};

fn key(name: &str) -> Key {
    Key::of([name.as_bytes()])
}

fn store(folder: &Path, variables: &[(String, String)]) -> Store {
    let url = format!("s3://{BUCKET}/qd/cache");
    Store::new(folder, 1 << 20).with_remote(&url, variables.to_vec())
}

/// A machine of its own: a folder that is empty.
fn machine() -> tempfile::TempDir {
    tempfile::tempdir().expect("a folder")
}

#[test]
fn what_one_machine_writes_another_finds_and_damage_is_repaired() {
    let server = Server::start();
    let variables = server.variables();
    let folders = [machine(), machine(), machine()];
    let stores = folders
        .each_ref()
        .map(|folder| store(folder.path(), &variables));
    assert_eq!(stores[0].get(&key("k")), None);
    for i in 0..40 {
        stores[0].put(&key(&i.to_string()), "k for cpu", &[i; 1000]);
    }
    stores[0].put(&key("k"), "k for cpu", b"compiled");
    // Another process has compiled the same meanwhile.
    stores[1].put(&key("k"), "k for cpu", b"compiled");
    stores[0].flush();
    stores[1].flush();
    assert_eq!(server.names().len(), 41);
    assert!(server.names()[0].starts_with("qd/cache/store-1/"));

    // One by one, and many together; then they are in the folder.
    assert_eq!(stores[2].get(&key("k")).as_deref(), Some(&b"compiled"[..]));
    let keys: Vec<Key> = (0..41).map(|i| key(&i.to_string())).collect();
    stores[2].fetch(&keys);
    let alone = Store::new(folders[2].path(), 1 << 20);
    for (i, key) in keys[..40].iter().enumerate() {
        assert_eq!(alone.get(key), Some(vec![i as u8; 1000]));
    }
    assert_eq!(alone.get(&keys[40]), None);
    assert_eq!(alone.get(&key("k")).as_deref(), Some(&b"compiled"[..]));
    for store in &stores {
        assert!(store.troubles().is_empty());
    }

    // Garbage is noticed, costs a warning, and is written anew.
    let digits = key("k").to_string();
    let name = format!("qd/cache/store-1/{}/{}", &digits[..2], &digits[2..]);
    assert!(server.names().contains(&name));
    server.put(&name, b"garbage");
    let folder = machine();
    let fourth = store(folder.path(), &variables);
    assert_eq!(fourth.get(&key("k")), None);
    let troubles = fourth.troubles();
    assert!(
        matches!(&troubles[..], [Trouble::RemoteDamaged(what)] if what.contains(&name)),
        "{troubles:?}"
    );
    fourth.put(&key("k"), "k for cpu", b"compiled");
    fourth.flush();
    let folder = machine();
    let fifth = store(folder.path(), &variables);
    assert_eq!(fifth.get(&key("k")).as_deref(), Some(&b"compiled"[..]));
    assert!(fifth.troubles().is_empty());
    // An entry under another's name is no entry, and neither is one that is longer than any.
    let other = std::fs::read(
        folders[0]
            .path()
            .join("store-1")
            .join(&digits[..2])
            .join(&digits[2..]),
    );
    let other = other.expect("it is there");
    for contents in [other, vec![0; 2 << 20]] {
        let digits = key("other").to_string();
        server.put(
            &format!("qd/cache/store-1/{}/{}", &digits[..2], &digits[2..]),
            &contents,
        );
        let folder = machine();
        let sixth = store(folder.path(), &variables);
        assert_eq!(sixth.get(&key("other")), None);
        assert!(matches!(&sixth.troubles()[..], [Trouble::RemoteDamaged(_)]));
    }
}

#[test]
fn a_bucket_that_is_not_there_costs_one_warning() {
    let server = Server::start();
    let folder = machine();
    let store = Store::new(folder.path(), 1 << 20).with_remote("s3://none/qd", server.variables());
    assert_eq!(store.get(&key("k")), None);
    store.put(&key("k"), "k for cpu", b"compiled");
    store.put(&key("l"), "l for cpu", b"compiled");
    store.flush();
    let troubles = store.troubles();
    assert!(
        matches!(&troubles[..], [Trouble::RemoteUnwritable(..)]),
        "{troubles:?}"
    );
    assert_eq!(store.get(&key("k")).as_deref(), Some(&b"compiled"[..]));
}

/// A server that says something of its own to everyone.
fn saying(answer: &'static [u8], then: Duration) -> Vec<(String, String)> {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = listener.local_addr().expect("it has one");
    thread::spawn(move || {
        for stream in listener.incoming() {
            let Ok(mut stream) = stream else { return };
            thread::spawn(move || {
                let _ = stream.read(&mut [0; 4096]);
                let _ = stream.write_all(answer);
                thread::sleep(then);
            });
        }
    });
    of_address(&address.to_string())
}

fn of_address(address: &str) -> Vec<(String, String)> {
    let of = |(name, value): (&str, &str)| (name.to_owned(), value.to_owned());
    let endpoint = format!("http://{address}");
    let all = [
        ("AWS_ENDPOINT_URL", &*endpoint),
        ("AWS_ALLOW_HTTP", "true"),
        ("AWS_ACCESS_KEY_ID", "test"),
        ("AWS_SECRET_ACCESS_KEY", "test"),
    ];
    all.map(of).to_vec()
}

#[test]
fn a_server_that_is_slow_or_gone_costs_a_warning_and_a_bounded_wait() {
    let gone = {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        of_address(&listener.local_addr().expect("it has one").to_string())
    };
    let long = Duration::from_secs(600);
    for (what, variables) in [
        ("gone", gone),
        ("silent", saying(b"", long)),
        (
            "slow",
            saying(b"HTTP/1.1 200 OK\r\nContent-Length: 99\r\n\r\nab", long),
        ),
        (
            "another",
            saying(b"220 mail.example ESMTP\r\n", Duration::ZERO),
        ),
        (
            "failing",
            saying(
                b"HTTP/1.1 500 No\r\nContent-Length: 0\r\n\r\n",
                Duration::ZERO,
            ),
        ),
        (
            "forbidding",
            saying(
                b"HTTP/1.1 403 No\r\nContent-Length: 0\r\n\r\n",
                Duration::ZERO,
            ),
        ),
    ] {
        let folder = machine();
        let begin = Instant::now();
        let store = store(folder.path(), &variables);
        let keys: Vec<Key> = (0..100).map(|i| key(&i.to_string())).collect();
        store.fetch(&keys);
        for key in &keys {
            assert_eq!(store.get(key), None);
            store.put(key, "k for cpu", b"compiled");
        }
        store.flush();
        let troubles = store.troubles();
        assert!(
            matches!(&troubles[..], [Trouble::Unreachable(..)]),
            "{what}: {troubles:?}"
        );
        assert_eq!(store.get(&keys[7]).as_deref(), Some(&b"compiled"[..]));
        drop(store);
        let took = begin.elapsed();
        assert!(took < Duration::from_secs(8), "{what}: {took:?}");
    }
}

#[test]
fn what_is_no_store_is_said() {
    for (url, variables) in [
        ("http://example.com", vec![]),
        ("s3://", vec![]),
        ("s3://bucket/a//b", vec![]),
        (
            "s3://bucket",
            vec![("AWS_ACCESS_KEY_ID".to_owned(), "test".to_owned())],
        ),
    ] {
        let folder = machine();
        let store = Store::new(folder.path(), 1 << 20).with_remote(url, variables);
        assert_eq!(store.get(&key("k")), None);
        let troubles = store.troubles();
        assert!(
            matches!(&troubles[..], [Trouble::NoRemote(..)]),
            "{url}: {troubles:?}"
        );
    }
}

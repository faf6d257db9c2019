//! A server that speaks like Amazon's S3, on a loopback port, for as long as a test runs.

use std::{
    io::{BufRead, BufReader, Read, Write},
    net::TcpStream,
    path::PathBuf,
    process::{Child, Command, Stdio},
    sync::mpsc,
    thread,
    time::Duration,
};

/// The bucket that it has.
pub const BUCKET: &str = "team";

/// Who asks past the store, with a signature that is not checked.
const OWNER: &str = "AWS4-HMAC-SHA256 Credential=test/20260101/us-east-1/s3/aws4_request, \
                     SignedHeaders=host, Signature=0";

/// The server.
pub struct Server {
    child: Child,
    address: String,
}

impl Server {
    /// Starts it, with an empty bucket.
    pub fn start() -> Self {
        let folder = std::env::var_os("CARGO_TARGET_DIR").map_or_else(
            || PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../target")),
            PathBuf::from,
        );
        let program = folder.join("s3-server/venv/bin/moto_server");
        assert!(
            program.exists(),
            "there is no {}: make it with cargo xtask setup",
            program.display()
        );
        let mut child = Command::new(program)
            .args(["-H", "127.0.0.1", "-p", "0"])
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the server starts");
        let stderr = BufReader::new(child.stderr.take().expect("it is piped"));
        let (send, receive) = mpsc::channel();
        thread::spawn(move || {
            // To its end: a server whose pipe is full stands still.
            for line in stderr.lines().map_while(Result::ok) {
                if let Some((_, address)) = line.split_once("Running on http://") {
                    let _ = send.send(address.trim().to_owned());
                }
            }
        });
        let address = receive.recv_timeout(Duration::from_secs(60));
        let server = Self {
            child,
            address: address.expect("the server says where it is"),
        };
        server.put("", b"");
        server
    }

    /// What a program that uses it has in its environment.
    pub fn variables(&self) -> Vec<(String, String)> {
        let of = |(name, value): (&str, &str)| (name.to_owned(), value.to_owned());
        let all = [
            ("AWS_ENDPOINT_URL", &*format!("http://{}", self.address)),
            ("AWS_ALLOW_HTTP", "true"),
            ("AWS_ACCESS_KEY_ID", "test"),
            ("AWS_SECRET_ACCESS_KEY", "test"),
            ("AWS_REGION", "us-east-1"),
        ];
        all.map(of).to_vec()
    }

    /// Writes an object past the store; the bucket itself by no name.
    pub fn put(&self, name: &str, contents: &[u8]) {
        let answer = self.ask("PUT", name, contents);
        assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
    }

    /// The names of all objects.
    pub fn names(&self) -> Vec<String> {
        let answer = self.ask("GET", "?list-type=2", b"");
        let keys = answer.split("<Key>").skip(1);
        keys.filter_map(|rest| Some(rest.split_once("</Key>")?.0.to_owned()))
            .collect()
    }

    fn ask(&self, how: &str, name: &str, contents: &[u8]) -> String {
        let mut stream = TcpStream::connect(&self.address).expect("it listens");
        let head = format!(
            "{how} /{BUCKET}/{name} HTTP/1.1\r\nHost: {}\r\nAuthorization: {OWNER}\r\nConnection: close\r\nContent-Length: {}\r\n\r\n",
            self.address,
            contents.len()
        );
        stream.write_all(head.as_bytes()).expect("it reads");
        stream.write_all(contents).expect("it reads");
        let mut answer = Vec::new();
        stream.read_to_end(&mut answer).expect("it answers");
        String::from_utf8_lossy(&answer).into_owned()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

//! Rings as kernels leave them, of which some are still printing.

use super::*;
use crate::objects::{fake::Mood, tests::fake};
use qd_artifact::{Dtype, Site};

/// A device whose ring a test writes.
struct Ring {
    device: Device,
    at: u64,
    site: u32,
    said: Arc<Mutex<String>>,
}

impl Ring {
    fn new() -> Self {
        let (device, _) = fake(Mood::default());
        let site = Site {
            text: "%d ".into(),
            phase: "p".into(),
            relation: None,
            printed: Some(vec![Dtype::I32]),
        };
        // Another kernel's, in front.
        device
            .0
            .noting("other", None, std::slice::from_ref(&site), None)
            .unwrap();
        let noting = device.0.noting("k", None, &[site], None).unwrap();
        assert_eq!(noting.record, 0);
        let said = Arc::new(Mutex::new(String::new()));
        let to = said.clone();
        device.on_print(Some(Arc::new(move |text| {
            to.lock().unwrap().push_str(text)
        })));
        Self {
            at: noting.ring,
            site: noting.first as u32,
            device,
            said,
        }
    }

    fn on(&self) -> RawStream {
        self.device.0.prints.ring.get().unwrap().stream
    }

    fn put(&self, word: usize, values: &[u32]) {
        let bytes: Vec<u8> = values
            .iter()
            .flat_map(|value| value.to_le_bytes())
            .collect();
        let at = self.at + (word * WORD) as u64;
        self.device.0.driver.upload(self.on(), at, &bytes).unwrap();
    }

    /// Completes a claim's record, which prints its number.
    fn complete(&self, claim: u32) {
        let record = prints::FIRST + claim as usize % prints::RECORDS * prints::RECORD;
        self.put(record, &[claim.wrapping_add(1), self.site, 0, 0, claim]);
    }

    fn claimed(&self, claims: u32) {
        self.put(prints::CLAIMED, &[claims]);
    }

    fn dropped(&self, claims: u32) {
        self.put(prints::DROPPED, &[claims]);
    }

    /// What is printed now, and how many claims were read or dropped by then.
    fn read(&self) -> (String, u32) {
        self.device.0.print(self.on()).unwrap();
        let at = self.at + (prints::READ * WORD) as u64;
        let read = self.device.0.read_words("", self.on(), at, 1).unwrap()[0];
        (std::mem::take(&mut *self.said.lock().unwrap()), read)
    }
}

#[test]
fn what_is_complete_is_printed_once_and_in_order() {
    let ring = Ring::new();
    assert_eq!(ring.read(), (String::new(), 0));
    ring.claimed(3);
    (0..3).for_each(|claim| ring.complete(claim));
    assert_eq!(ring.read(), ("0 1 2 ".into(), 3));
    assert_eq!(ring.read(), (String::new(), 3));
}

#[test]
fn what_another_stream_is_still_writing_is_printed_later() {
    let ring = Ring::new();
    ring.claimed(4);
    [0, 2, 3].into_iter().for_each(|claim| ring.complete(claim));
    assert_eq!(ring.read(), ("0 ".into(), 1));
    assert_eq!(ring.read(), (String::new(), 1));
    ring.complete(1);
    assert_eq!(ring.read(), ("1 2 3 ".into(), 4));
}

#[test]
fn what_did_not_fit_is_counted() {
    let ring = Ring::new();
    let full = prints::RECORDS as u32;
    (0..full).for_each(|claim| ring.complete(claim));
    ring.claimed(full + 5);
    ring.dropped(5);
    let (said, read) = ring.read();
    assert_eq!(read, full + 5);
    let last = format!(
        "{} [5 more prints did not fit: a device keeps 2048 until somebody waits for it]\n",
        full - 1
    );
    assert!(
        said.starts_with("0 1 2 ") && said.ends_with(&last),
        "{said}"
    );

    // A thread that did not see yet that there is room, between two that did.
    let [a, b, c] = [5, 6, 7].map(|more| full + more);
    ring.complete(a);
    ring.complete(c);
    ring.claimed(c + 1);
    ring.dropped(6);
    let (said, read) = ring.read();
    let one = "[1 more print did not fit: a device keeps 2048 until somebody waits for it]\n";
    assert_eq!((said, read), (format!("{a} {c} {one}"), b + 2));
}

#[test]
fn claims_go_round_the_ring_and_past_the_last_number() {
    let ring = Ring::new();
    let start = u32::MAX - 2;
    ring.device.0.prints.seen().claims = start;
    let claims: Vec<u32> = (0..6).map(|more| start.wrapping_add(more)).collect();
    claims.iter().for_each(|claim| ring.complete(*claim));
    ring.claimed(3);
    let expected: String = claims
        .iter()
        .map(|claim| format!("{} ", *claim as i32))
        .collect();
    assert_eq!(ring.read(), (expected, 3));
}

#[test]
fn what_is_left_is_printed_when_the_device_is_dropped() {
    let ring = Ring::new();
    ring.claimed(1);
    ring.complete(0);
    let said = ring.said.clone();
    drop(ring);
    assert_eq!(*said.lock().unwrap(), "0 ");
}

//! Checks and ordering of foreign memory, on a device that delays and reorders.

use super::*;
use crate::{
    args,
    objects::{
        Priority,
        fake::Mood,
        tests::{artifact, fake, wait_until},
    },
};
use std::sync::{
    Arc,
    atomic::{AtomicBool, Ordering},
};

/// Memory of the test's own, which says when it is no longer held.
struct Owner {
    values: Vec<i32>,
    is_gone: Arc<AtomicBool>,
}

impl Drop for Owner {
    fn drop(&mut self) {
        self.values.fill(-1);
        self.is_gone.store(true, Ordering::Relaxed);
    }
}

fn owner(values: &[i32]) -> (Box<Owner>, Foreign, Arc<AtomicBool>) {
    let is_gone = Arc::new(AtomicBool::new(false));
    let owner = Box::new(Owner {
        values: values.to_vec(),
        is_gone: is_gone.clone(),
    });
    let memory = foreign(&owner.values);
    (owner, memory, is_gone)
}

fn foreign(values: &[i32]) -> Foreign {
    Foreign {
        address: values.as_ptr() as u64,
        dtype: Dtype::I32,
        shape: vec![values.len() as u64],
        strides: None,
        read_only: false,
        ready: Ready::Now,
    }
}

#[test]
fn it_is_used_where_it_is_and_kept_until_its_last_use_has_ended() {
    for seed in 0..20 {
        let (device, log) = fake(Mood {
            seed,
            ..Mood::default()
        });
        let loaded = device.load(&artifact()).unwrap();
        let (set, next) = (
            loaded.kernel("set").unwrap(),
            loaded.kernel("next").unwrap(),
        );
        let [a, b] = [0, 1].map(|_| device.stream(Priority::Normal).unwrap());
        let (owner, memory, is_gone) = owner(&[1, 2, 3]);
        // Safety: the owner is kept until the last use.
        let x = unsafe { Buffer::import(&a, memory, Some(owner)) }.unwrap();
        let y = Buffer::new(&b, Dtype::I32, &[3]).unwrap();
        set.launch(&a, &args![&x.rows(1..2).unwrap(), 7]).unwrap();
        next.launch(&b, &args![&y, &x]).unwrap();
        let before = log.count("synchronize");
        drop(x);
        assert!(!is_gone.load(Ordering::Relaxed), "it is still read");
        assert_eq!(log.count("synchronize"), before, "nobody waits");
        assert_eq!(y.to_vec::<i32>(&b).unwrap(), [2, 8, 4], "seed {seed}");
        a.synchronize().unwrap();
        wait_until(|| is_gone.load(Ordering::Relaxed));
        assert_eq!(device.memory().live, 12, "it is not the device's");
    }
}

#[test]
fn it_is_kept_also_where_its_last_use_cannot_be_asked_for_at_once() {
    for call in ["record", "is_done"] {
        let run = |fails| {
            let (device, log) = fake(Mood {
                fails,
                ..Mood::default()
            });
            let set = device.load(&artifact()).unwrap().kernel("set").unwrap();
            let s = device.stream(Priority::Normal).unwrap();
            let (owner, memory, is_gone) = owner(&[1, 2, 3]);
            // Safety: the owner is kept until the last use.
            let x = unsafe { Buffer::import(&s, memory, Some(owner)) }.unwrap();
            set.launch(&s, &args![&x, 7]).unwrap();
            drop(x);
            assert!(
                !is_gone.load(Ordering::Relaxed),
                "{call}: it is still written"
            );
            wait_until(|| {
                s.synchronize().unwrap();
                is_gone.load(Ordering::Relaxed)
            });
            log.calls()
        };
        let calls = run(None);
        let at = calls.iter().position(|made| *made == call);
        run(Some((at.unwrap(), false)));
    }
}

#[test]
fn it_is_behind_what_makes_it() {
    for seed in 0..20 {
        let (device, log) = fake(Mood {
            seed,
            ..Mood::default()
        });
        let next = device.load(&artifact()).unwrap().kernel("next").unwrap();
        // Safety: the stream is the fake's, which has it until its end.
        let theirs = unsafe { device.wrap_stream(log.stream(), None) }.unwrap();
        let ours = device.stream(Priority::Normal).unwrap();
        let [mut x, mut y] = [[0, 0], [0, 0]];
        // Its owner writes it on the owner's stream.
        let write = |to: &mut [i32; 2], value| {
            let memory = foreign(to);
            // Safety: the memory is kept until the end of the test.
            let own = unsafe { Buffer::import(&theirs, memory, None) }.unwrap();
            own.write(&theirs, &[value, value]).unwrap();
        };
        write(&mut x, 4);
        let made = theirs.record().unwrap();
        write(&mut y, 5);
        let after = Foreign {
            ready: Ready::After(made),
            ..foreign(&x)
        };
        let in_order = Foreign {
            ready: Ready::InOrder,
            ..foreign(&y)
        };
        let out = Buffer::new(&ours, Dtype::I32, &[2]).unwrap();
        // Safety: the memory is kept until the end of the test.
        let x = unsafe { Buffer::import(&ours, after, None) }.unwrap();
        next.launch(&ours, &args![&out, &x]).unwrap();
        assert_eq!(out.to_vec::<i32>(&ours).unwrap(), [5, 5], "seed {seed}");
        // Safety: the memory is kept until the end of the test.
        let y = unsafe { Buffer::import(&theirs, in_order, None) }.unwrap();
        next.launch(&ours, &args![&out, &y]).unwrap();
        assert_eq!(out.to_vec::<i32>(&ours).unwrap(), [6, 6], "seed {seed}");
        drop(theirs);
        assert_eq!(log.count("close_stream"), 0, "it is not ours to close");
    }
}

#[test]
fn what_cannot_be_used_is_an_error_before_anything_runs() {
    let (device, log) = fake(Mood::default());
    let (other, _) = fake(Mood::default());
    let loaded = device.load(&artifact()).unwrap();
    let next = loaded.kernel("next").unwrap();
    let s = device.stream(Priority::Normal).unwrap();
    let t = other.stream(Priority::Normal).unwrap();
    let values = [0; 6];
    let import = |change: &dyn Fn(&mut Foreign)| {
        let mut memory = foreign(&values);
        change(&mut memory);
        // Safety: what is not right is refused before anybody uses it.
        unsafe { Buffer::import(&s, memory, None) }
    };
    let error = |outcome: Result<Buffer, Error>| outcome.expect_err("refused").to_string();
    let strided = |shape: &[u64], strides: &[i64]| {
        import(&|memory| {
            memory.shape = shape.to_vec();
            memory.strides = Some(strides.to_vec());
        })
    };
    for (shape, strides) in [
        (&[3][..], &[2][..]),
        (&[2, 3], &[1, 2]),
        (&[2, 2], &[3, 1]),
        (&[2, 3], &[3]),
        (&[3], &[-1]),
        (&[3], &[0]),
    ] {
        let error = error(strided(shape, strides));
        assert!(error.contains("are not contiguous"), "{error}");
    }
    for (shape, strides) in [
        (&[2, 3][..], &[3, 1][..]),
        (&[1, 6], &[99, 1]),
        (&[0, 3], &[-7, 2]),
        (&[], &[]),
    ] {
        strided(shape, strides).expect("they lie behind each other");
    }
    assert!(error(import(&|memory| memory.address = 0)).contains("is of device nobody"));
    import(&|memory| (memory.address, memory.shape) = (0, vec![0])).expect("of no bytes");
    assert!(error(import(&|memory| memory.shape = vec![u64::MAX, 4])).contains("not enough"));
    let far = t.record().unwrap();
    assert!(error(import(&|memory| memory.ready = Ready::After(far.clone()))).contains("an event"));

    let launch = |out: &Buffer, input: &Buffer| {
        let refused = next.launch(&s, &args![out, input]);
        refused.expect_err("refused").to_string()
    };
    let fine = import(&|_| ()).unwrap();
    let read_only = import(&|memory| memory.read_only = true).unwrap();
    let odd = import(&|memory| {
        memory.address += 2;
        memory.shape = vec![5];
    });
    // Safety: the memory is kept until the end of the test.
    let far = unsafe { Buffer::import(&t, foreign(&values), None) }.unwrap();
    let y = Buffer::new(&s, Dtype::I32, &[6]).unwrap();
    assert_eq!(
        launch(&read_only, &y),
        "kernel 'next' writes argument 'out', but was given a buffer that is read-only"
    );
    assert!(
        read_only
            .write(&s, &[0; 6])
            .unwrap_err()
            .to_string()
            .contains("read-only")
    );
    assert!(
        y.copy_to(&s, &read_only)
            .unwrap_err()
            .to_string()
            .contains("read-only")
    );
    assert_eq!(
        launch(&y, &odd.unwrap()),
        "kernel 'next': argument 'in' does not begin at a multiple of 4 bytes"
    );
    assert!(launch(&y, &far).contains("argument 'in' is of device"));
    // Two imports of the same memory, one of which is a part.
    let part = import(&|memory| {
        memory.address += 4;
        memory.shape = vec![2];
    });
    assert_eq!(
        launch(&fine, &part.unwrap()),
        "kernel 'next': argument 'out' overlaps argument 'in', of which one is written"
    );
    assert_eq!(log.count("replay"), 0, "nothing ran");
    // What is only read may be read twice, and what begins where another ends does not overlap.
    let halves = [0..3, 3..6].map(|rows| fine.rows(rows).unwrap());
    next.launch(&s, &args![&halves[0], &halves[1]]).unwrap();
    next.launch(&s, &args![&y, &read_only]).unwrap();
    s.synchronize().unwrap();
}

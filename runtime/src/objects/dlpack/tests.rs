//! DLPack with these tests as the other library, on the cpu: accepted and refused tensors, and
//! deleters, which are called once.

use super::*;
use crate::{
    Element, args,
    objects::{
        Device, DeviceOptions, Priority,
        fake::{Fake, Mood},
        tests::{BODIES, artifact, wait_until},
    },
};
use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering},
};

fn cpu() -> (Device, Stream) {
    // Its own, so that its counters are.
    let driver = crate::cpu::device(&"cpu".parse().unwrap(), &DeviceOptions::default());
    let device = Device::of(Box::new(driver.unwrap()));
    let stream = device.stream(Priority::Normal).unwrap();
    (device, stream)
}

/// Another library's array.
#[repr(C)]
struct Other<M, T> {
    managed: M,
    values: Vec<T>,
    shape: Vec<i64>,
    strides: Vec<i64>,
    deleted: Arc<AtomicUsize>,
}

unsafe extern "C" fn delete_other<M, T>(managed: *mut M) {
    // Safety: a deleter is called once, with what was leaked for it.
    let other = unsafe { Box::from_raw(managed.cast::<Other<M, T>>()) };
    other.deleted.fetch_add(1, Ordering::Relaxed);
}

type Versioned = ffi::DLManagedTensorVersioned;

fn tensor(code: ffi::DLDataTypeCode, bits: u8) -> ffi::DLTensor {
    ffi::DLTensor {
        data: std::ptr::null_mut(),
        device: ffi::DLDevice {
            device_type: ffi::DLDeviceType::CPU,
            device_id: 0,
        },
        ndim: 0,
        dtype: ffi::DLDataType {
            code,
            bits,
            lanes: 1,
        },
        shape: std::ptr::null_mut(),
        strides: std::ptr::null_mut(),
        byte_offset: 0,
    }
}

fn other<M, T>(managed: M, values: Vec<T>, shape: &[i64]) -> (Box<Other<M, T>>, Arc<AtomicUsize>) {
    let deleted = Arc::new(AtomicUsize::new(0));
    let mut strides = vec![1; shape.len()];
    for i in (1..shape.len()).rev() {
        strides[i - 1] = strides[i] * shape[i];
    }
    let other = Other {
        managed,
        values,
        shape: shape.to_vec(),
        strides,
        deleted: deleted.clone(),
    };
    (Box::new(other), deleted)
}

/// Six `i32` as two rows.
fn six() -> (Box<Other<Versioned, i32>>, Arc<AtomicUsize>) {
    let managed = Versioned {
        version: ffi::DLPackVersion { major: 1, minor: 3 },
        manager_ctx: std::ptr::null_mut(),
        deleter: Some(delete_other::<Versioned, i32>),
        flags: DlpackFlags::empty(),
        dl_tensor: tensor(ffi::DLDataTypeCode::INT, 32),
    };
    let (mut six, deleted) = other(managed, vec![1, 2, 3, 4, 5, 6], &[2, 3]);
    let tensor = &mut six.managed.dl_tensor;
    tensor.data = six.values.as_mut_ptr().cast();
    tensor.ndim = 2;
    tensor.shape = six.shape.as_mut_ptr();
    tensor.strides = six.strides.as_mut_ptr();
    (six, deleted)
}

fn capsule(six: Box<Other<Versioned, i32>>) -> Capsule {
    // Safety: the tensor is valid, and its deleter frees what is leaked here.
    unsafe { Capsule::versioned(Box::leak(six) as *mut _ as *mut Versioned) }.unwrap()
}

fn import(on: &Stream, capsule: &mut Capsule) -> Result<Buffer, Error> {
    // Safety: the memory is what the tensor says.
    unsafe { Buffer::from_dlpack(on, capsule, Ready::Now) }
}

fn wait_for(deleted: &AtomicUsize) {
    wait_until(|| deleted.load(Ordering::Relaxed) > 0);
    assert_eq!(deleted.load(Ordering::Relaxed), 1, "once");
}

#[test]
fn an_array_is_used_where_it_is_until_the_buffer_goes() {
    let (device, s) = cpu();
    let (six, deleted) = six();
    let address = six.values.as_ptr();
    let mut capsule = capsule(six);
    let buffer = import(&s, &mut capsule).unwrap();
    assert_eq!((buffer.dtype(), buffer.shape()), (Dtype::I32, &[2, 3][..]));
    assert_eq!(buffer.address(), address as u64);
    let row = buffer.rows(1..2).unwrap();
    drop(buffer);
    row.write(&s, &[7, 8, 9]).unwrap();
    // Safety: the address is of six elements, and the buffer is still held.
    assert_eq!(unsafe { *address.add(4) }, 8, "it is the same memory");
    assert_eq!(row.to_vec::<i32>(&s).unwrap(), [7, 8, 9]);
    drop(capsule);
    assert_eq!(deleted.load(Ordering::Relaxed), 0, "a view is held");
    drop(row);
    wait_for(&deleted);
    assert_eq!(device.memory().live, 0);
    assert_eq!(device.memory().allocations, 0, "nothing was copied");
}

#[test]
fn a_tensor_from_before_versions_is_taken() {
    let (_, s) = cpu();
    let managed = ffi::DLManagedTensor {
        dl_tensor: tensor(ffi::DLDataTypeCode::FLOAT, 64),
        manager_ctx: std::ptr::null_mut(),
        deleter: Some(delete_other::<ffi::DLManagedTensor, f64>),
    };
    let (mut one, deleted) = other(managed, vec![2.5], &[]);
    one.managed.dl_tensor.data = one.values.as_mut_ptr().cast();
    let raw = Box::leak(one) as *mut _ as *mut ffi::DLManagedTensor;
    // Safety: the tensor is valid, and its deleter frees what is leaked here.
    let mut capsule = unsafe { Capsule::legacy(raw) }.unwrap();
    let buffer = import(&s, &mut capsule).unwrap();
    assert!(buffer.shape().is_empty() && !buffer.is_read_only());
    assert_eq!(buffer.to_vec::<f64>(&s).unwrap(), [2.5]);
    drop(buffer);
    wait_for(&deleted);
}

#[test]
fn what_is_refused_is_let_go_once_and_nothing_was_done() {
    type Change = fn(&mut Other<Versioned, i32>);
    let cases: [(&str, Change); 18] = [
        ("of version 2.3", |o| o.managed.version.major = 2),
        ("of version 0.8", |o| {
            o.managed.version = ffi::DLPackVersion { major: 0, minor: 8 };
        }),
        ("complex 64", |o| {
            o.managed.dl_tensor.dtype.code = ffi::DLDataTypeCode::COMPLEX;
            o.managed.dl_tensor.dtype.bits = 64;
        }),
        ("i32 in vectors of 4", |o| {
            o.managed.dl_tensor.dtype.lanes = 4
        }),
        ("i32 in vectors of 0", |o| {
            o.managed.dl_tensor.dtype.lanes = 0
        }),
        ("i4", |o| o.managed.dl_tensor.dtype.bits = 4),
        ("bool1", |o| {
            o.managed.dl_tensor.dtype.code = ffi::DLDataTypeCode::BOOL;
            o.managed.dl_tensor.dtype.bits = 1;
        }),
        ("kind 10 of 8", |o| {
            o.managed.dl_tensor.dtype.code = ffi::DLDataTypeCode::FLOAT8_E4M3FN;
            o.managed.dl_tensor.dtype.bits = 8;
        }),
        ("is of device cuda:1", |o| {
            o.managed.dl_tensor.device.device_type = ffi::DLDeviceType::CUDA;
            o.managed.dl_tensor.device.device_id = 1;
        }),
        ("is of device DLPack's kind 7", |o| {
            o.managed.dl_tensor.device.device_type = ffi::DLDeviceType::VULKAN;
        }),
        ("are not contiguous", |o| o.strides[0] = 4),
        ("are not contiguous", |o| o.strides = vec![1, 2]),
        ("are not contiguous", |o| o.strides[1] = -1),
        ("of -1 dimensions", |o| o.managed.dl_tensor.ndim = -1),
        ("without a shape", |o| {
            o.managed.dl_tensor.shape = std::ptr::null_mut();
        }),
        ("an extent of -3", |o| o.shape[1] = -3),
        ("no address", |o| {
            o.managed.dl_tensor.data = std::ptr::null_mut();
            o.managed.dl_tensor.byte_offset = 64;
        }),
        ("beyond the address space", |o| {
            o.managed.dl_tensor.byte_offset = u64::MAX;
        }),
    ];
    let (device, s) = cpu();
    for (expected, change) in cases {
        let (mut six, deleted) = six();
        change(&mut six);
        // What was changed may have moved.
        if !six.managed.dl_tensor.shape.is_null() {
            six.managed.dl_tensor.shape = six.shape.as_mut_ptr();
        }
        six.managed.dl_tensor.strides = six.strides.as_mut_ptr();
        let mut capsule = capsule(six);
        let error = import(&s, &mut capsule).expect_err(expected).to_string();
        assert!(error.contains(expected), "{expected}: {error}");
        assert_eq!(deleted.load(Ordering::Relaxed), 1, "{expected}");
        assert!(capsule.is_spent());
        drop(capsule);
        assert_eq!(deleted.load(Ordering::Relaxed), 1, "{expected}");
    }
    let stats = device.memory();
    assert_eq!((stats.live, stats.allocations), (0, 0));
}

#[test]
fn what_is_allowed_is_taken() {
    type Change = fn(&mut Other<Versioned, i32>);
    let cases: [(&str, Change, &[u64], &[i32]); 7] = [
        (
            "any minor version",
            |o| o.managed.version.minor = 99,
            &[2, 3],
            &[1, 2, 3, 4, 5, 6],
        ),
        (
            "no strides",
            |o| o.managed.dl_tensor.strides = std::ptr::null_mut(),
            &[2, 3],
            &[1, 2, 3, 4, 5, 6],
        ),
        (
            "a stride of one row",
            |o| (o.shape[0], o.strides[0]) = (1, 77),
            &[1, 3],
            &[1, 2, 3],
        ),
        (
            "nothing, with strides",
            |o| (o.shape[0], o.strides[1]) = (0, 5),
            &[0, 3],
            &[],
        ),
        (
            "nothing, nowhere",
            |o| {
                o.shape[0] = 0;
                o.managed.dl_tensor.data = std::ptr::null_mut();
            },
            &[0, 3],
            &[],
        ),
        (
            "an offset",
            |o| (o.managed.dl_tensor.byte_offset, o.shape[0]) = (12, 1),
            &[1, 3],
            &[4, 5, 6],
        ),
        (
            "memory of the host that CUDA sees",
            |o| o.managed.dl_tensor.device.device_type = ffi::DLDeviceType::CUDAHOST,
            &[2, 3],
            &[1, 2, 3, 4, 5, 6],
        ),
    ];
    let (_, s) = cpu();
    for (what, change, shape, values) in cases {
        let (mut six, deleted) = six();
        change(&mut six);
        let mut capsule = capsule(six);
        let buffer = import(&s, &mut capsule).unwrap_or_else(|error| panic!("{what}: {error}"));
        assert_eq!(buffer.shape(), shape, "{what}");
        assert_eq!(buffer.to_vec::<i32>(&s).unwrap(), values, "{what}");
        drop(buffer);
        wait_for(&deleted);
    }
}

#[test]
fn read_only_stays_read_only() {
    let (_, s) = cpu();
    let (mut six, deleted) = six();
    six.managed.flags = DlpackFlags::READ_ONLY;
    let buffer = import(&s, &mut capsule(six)).unwrap();
    assert!(buffer.is_read_only());
    assert!(buffer.write(&s, &[0; 6]).is_err());
    let mut again = buffer.to_dlpack(&s, Form::Versioned).unwrap();
    let again = import(&s, &mut again).unwrap();
    assert!(again.is_read_only());
    let error = buffer
        .to_dlpack(&s, Form::Legacy)
        .expect_err("it cannot say so");
    assert!(error.to_string().contains("read-only"), "{error}");
    drop(buffer);
    assert_eq!(again.to_vec::<i32>(&s).unwrap(), [1, 2, 3, 4, 5, 6]);
    drop(again);
    // Of the second one, which holds the first.
    wait_for(&deleted);
}

#[test]
fn what_is_spent_is_an_error() {
    let (_, s) = cpu();
    let (six, deleted) = six();
    let mut capsule = capsule(six);
    assert!(!capsule.is_spent());
    assert!(capsule.take_legacy().is_err() && !capsule.is_spent());
    let buffer = import(&s, &mut capsule).unwrap();
    let errors = [
        import(&s, &mut capsule).expect_err("spent"),
        capsule.take_versioned().expect_err("spent"),
        capsule.take_legacy().expect_err("spent"),
        // Safety: null is refused, and not read.
        unsafe { Capsule::versioned(std::ptr::null_mut()) }.expect_err("none"),
        // Safety: as above.
        unsafe { Capsule::legacy(std::ptr::null_mut()) }.expect_err("none"),
    ];
    for error in errors {
        assert!(error.to_string().contains("taken already"), "{error}");
    }
    drop((buffer, capsule));
    wait_for(&deleted);
}

#[test]
fn what_nobody_takes_is_let_go() {
    let (device, s) = cpu();
    let (six, deleted) = six();
    drop(capsule(six));
    assert_eq!(deleted.load(Ordering::Relaxed), 1);
    let buffer = Buffer::from_slice(&s, &[1, 2]).unwrap();
    for form in [Form::Versioned, Form::Legacy] {
        drop(buffer.to_dlpack(&s, form).unwrap());
    }
    drop(buffer);
    assert_eq!(device.memory().live, 0);
}

/// As another implementation reads ours.
fn read_elsewhere<T: Element + dlpark::DlpackElement + PartialEq + Default>(values: &[T]) {
    let (device, s) = cpu();
    let buffer = Buffer::from_slice(&s, values).unwrap();
    let half = values.len() as u64 / 2;
    let rows = buffer.cast(buffer.dtype(), &[half, 2]).unwrap();
    let tail = rows.rows(1..half).unwrap();
    let expected = &values[2..2 * half as usize];
    for form in [Form::Versioned, Form::Legacy] {
        let mut capsule = tail.to_dlpack(&s, form).unwrap();
        macro_rules! check {
            ($tensor:expr) => {{
                let tensor = $tensor.expect("a tensor");
                let valid = tensor.validate_export().expect("valid");
                assert_eq!(valid.shape(), [half as i64 - 1, 2]);
                assert_eq!(valid.strides(), Some(&[2, 1][..]));
                assert_eq!(valid.data_ptr() as u64, tail.address());
                // Safety: nothing writes the elements, and they are of this type.
                let read = unsafe { valid.cpu_slice::<T>() }.expect("its elements");
                assert!(read == expected);
                drop(tensor);
            }};
        }
        match form {
            // Safety: the tensor was taken just now, and only here.
            Form::Versioned => check!(unsafe {
                dlpark::versioned::Dlpack::from_raw(capsule.take_versioned().unwrap())
            }),
            Form::Legacy => {
                // Safety: as above.
                check!(unsafe { dlpark::legacy::Dlpack::from_raw(capsule.take_legacy().unwrap()) })
            }
        }
    }
    // And back.
    let mut capsule = tail.to_dlpack(&s, Form::Versioned).unwrap();
    drop((tail, rows, buffer));
    let back = import(&s, &mut capsule).unwrap();
    assert_eq!(back.dtype(), <T as Element>::DTYPE);
    assert!(back.to_vec::<T>(&s).unwrap() == expected);
    assert!(device.memory().live > 0, "it is held");
    drop(back);
    wait_until(|| device.memory().live == 0);
}

#[test]
fn another_implementation_reads_what_is_given() {
    read_elsewhere(&[1_i8, -2, 3, 4]);
    read_elsewhere(&[1_u8, 2, 255, 4]);
    read_elsewhere(&[1_i16, -2, 3, 4, 5, 6]);
    read_elsewhere(&[1_u16, 2, 65535, 4]);
    read_elsewhere(&[1, -2, i32::MIN, 4]);
    read_elsewhere(&[1_u32, 2, u32::MAX, 4]);
    read_elsewhere(&[1_i64, -2, i64::MIN, 4]);
    read_elsewhere(&[1_u64, 2, u64::MAX, 4]);
    read_elsewhere(&[1.5_f32, -0.0, f32::INFINITY, 4.0]);
    read_elsewhere(&[1.5_f64, 2.0, 1e300, 4.0]);
}

#[test]
fn every_type_comes_back_as_it_was() {
    let (_, s) = cpu();
    for dtype in TYPES {
        let buffer = Buffer::zeros(&s, dtype, &[3]).unwrap();
        let mut capsule = buffer.to_dlpack(&s, Form::Versioned).unwrap();
        assert_eq!(import(&s, &mut capsule).unwrap().dtype(), dtype);
    }
    let empty = Buffer::zeros(&s, Dtype::F32, &[4, 0, 2]).unwrap();
    let mut capsule = empty.to_dlpack(&s, Form::Legacy).unwrap();
    assert_eq!(import(&s, &mut capsule).unwrap().shape(), [4, 0, 2]);
}

#[test]
fn what_another_library_still_does_is_waited_for() {
    // Its deleter may be called while its stream is being captured: what came before is no part of that.
    for (seed, is_captured) in (0..50).flat_map(|seed| [(seed, false), (seed, true)]) {
        let mood = Mood {
            seed,
            ..Mood::default()
        };
        let (mut fake, log) = Fake::new(mood, BODIES);
        fake.info.id.driver = "cpu".into();
        let device = Device::of(Box::new(fake));
        let a = device.stream(Priority::Normal).unwrap();
        let raw = log.stream();
        // Safety: the stream is the fake's, which has it until its end.
        let b = unsafe { device.wrap_stream(raw, None) }.unwrap();
        let set = device.load(&artifact()).unwrap().kernel("set").unwrap();
        let x = Buffer::new(&a, Dtype::I32, &[4]).unwrap();
        set.launch(&a, &args![&x, 1]).unwrap();
        let capsule = x.to_dlpack(&b, Form::Versioned).unwrap();
        // The array's stream has seen that it was given away, and nothing after that.
        assert_eq!(x.to_vec::<i32>(&a).unwrap(), [1; 4]);
        // What the library does is unknown here: the memory as a buffer that knows nothing of `x`.
        let foreign = Foreign {
            address: x.address(),
            dtype: Dtype::I32,
            shape: vec![4],
            strides: None,
            read_only: false,
            ready: Ready::Now,
        };
        // Safety: the memory is kept by a buffer until the end.
        let theirs = unsafe { Buffer::import(&b, foreign, None) }.unwrap();
        set.launch(&b, &args![&theirs, 2]).unwrap();
        if is_captured {
            log.capture(raw);
        }
        drop(capsule);
        if is_captured {
            drop(log.captured(raw));
        }
        assert_eq!(x.to_vec::<i32>(&a).unwrap(), [2; 4], "seed {seed}");
        drop(theirs);
    }
}

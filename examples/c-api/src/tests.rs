//! What a C program does, on this machine.

use super::*;
use std::{ffi::CString, ptr};

/// A handle, and what frees it.
struct Handle<T>(*mut T, unsafe extern "C" fn(*mut T));

impl<T> Drop for Handle<T> {
    fn drop(&mut self) {
        // Safety: the handle is what it was made with, and it is freed once.
        unsafe { self.1(self.0) };
    }
}

fn handle<T>(
    free: unsafe extern "C" fn(*mut T),
    make: impl FnOnce(*mut *mut T) -> c_int,
) -> Handle<T> {
    let mut made = ptr::null_mut();
    assert_eq!(make(&mut made), 0, "{}", error());
    Handle(made, free)
}

fn error() -> String {
    // Safety: the message is there until the next error of this thread.
    unsafe { CStr::from_ptr(qd_error()) }
        .to_str()
        .unwrap()
        .into()
}

fn array(values: &[i32], shape: &[u64]) -> QdArg {
    QdArg {
        word: values.as_ptr() as u64,
        dtype: c"i32".as_ptr(),
        rank: shape.len() as i32,
        read_only: 0,
        shape: shape.as_ptr(),
        strides: ptr::null(),
    }
}

fn missing() -> QdArg {
    QdArg {
        rank: -2,
        ..array(&[], &[])
    }
}

#[test]
fn a_scan_where_the_caller_has_its_arrays() {
    let source = include_str!("../kernels.mlir");
    let artifact = qd_frontend::compile_text(source, "cpu").unwrap();
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(file.path(), artifact.to_bytes()).unwrap();
    let path = CString::new(file.path().to_str().unwrap()).unwrap();
    // Safety: handles are used until they are freed, and arrays outlive the calls that use them.
    unsafe {
        let device = handle(qd_device_free, |to| qd_device_open(c"cpu".as_ptr(), to));
        let load = |to: *mut *mut _| qd_load_file(device.0, path.as_ptr(), to);
        let loaded = handle(qd_executable_free, load);
        let get = |to: *mut *mut _| qd_kernel_get(loaded.0, c"scan".as_ptr(), to);
        let scan = handle(qd_kernel_free, get);
        let stream = handle(qd_stream_free, |to| qd_stream_wrap(device.0, 0, to));
        // What a kernel needs is held by it.
        drop(loaded);

        let length = 1000;
        let values: Vec<i32> = (0..length).map(|i| i * i % 97).collect();
        let sums = vec![0_i32; values.len()];
        let extents = [length as u64];
        let n = [length];
        let mut given = [
            array(&values, &extents),
            array(&sums, &extents),
            missing(),
            array(&n, &[]),
        ];
        let mut rows = 0;
        let name = c"scratch".as_ptr();
        let asked = qd_minimum(scan.0, stream.0, name, given.as_ptr(), 4, &mut rows);
        assert_eq!(asked, 0, "{}", error());
        let scratch = vec![0_i32; rows as usize];
        let slots = [rows];
        given[2] = array(&scratch, &slots);
        assert_eq!(
            qd_launch(scan.0, stream.0, given.as_ptr(), 4, 0),
            0,
            "{}",
            error()
        );
        assert_eq!(qd_stream_synchronize(stream.0), 0);
        let mut total = 0;
        let expected: Vec<i32> = values
            .iter()
            .map(|value| {
                total += value;
                total
            })
            .collect();
        // The kernel writes it behind the compiler's back.
        let read = || -> Vec<i32> {
            let all = 0..sums.len();
            all.map(|i| sums.as_ptr().add(i).read_volatile()).collect()
        };
        assert!(read() == expected);

        // Scratch may be left out.
        sums.as_ptr().cast_mut().write_volatile(-1);
        given[2] = missing();
        let launched = qd_launch(scan.0, stream.0, given.as_ptr(), 4, 0);
        assert_eq!(launched, 0, "{}", error());
        assert_eq!(qd_stream_synchronize(stream.0), 0);
        assert!(read() == expected);
        given[2] = array(&scratch, &slots);

        let fails = |given: &[QdArg], text: &str| {
            let failed = qd_launch(scan.0, stream.0, given.as_ptr(), given.len(), 0);
            assert_eq!(failed, 1);
            assert!(error().contains(text), "{}", error());
        };
        fails(&given[..3], "takes 4 arguments");
        given[1] = missing();
        fails(&given, "given nothing");
        given[1] = array(&sums, &extents);
        given[1].strides = [2].as_ptr();
        fails(&given, "are not contiguous");
        given[1].strides = ptr::null();
        given[1].read_only = 1;
        fails(&given, "read-only");
        given[1] = array(&values, &extents);
        fails(&given, "overlaps");
        given[1].dtype = c"i31".as_ptr();
        fails(&given, "i31");
        given[1].dtype = ptr::null();
        fails(&given, "null");
        assert_eq!(qd_launch(ptr::null(), stream.0, given.as_ptr(), 4, 0), 1);
        assert!(error().contains("null"));
        let mut none = ptr::null_mut();
        assert_eq!(qd_device_open(c"abacus".as_ptr(), &mut none), 1);
        assert!(error().contains("abacus") && none.is_null());
    }
}

//! That the fake HIP runtime notices what HIP does not allow.

mod amd;

use amd::{apart, artifact, library};
use libloading::{Library, Symbol};
use std::{
    ffi::{c_char, c_int, c_void},
    ptr,
};

type Handle = *mut c_void;

/// The functions that the tests call, and one of each thing.
struct Fake {
    library: &'static Library,
    pool: Handle,
    streams: [Handle; 2],
    event: Handle,
    memory: Handle,
}

/// Calls a function of the library with arguments of the given types.
macro_rules! call {
    ($fake:expr, $name:ident($($argument:expr => $type:ty),*)) => {{
        let name = stringify!($name);
        // Safety: that is its type; the fake checks the arguments.
        unsafe {
            let function: Symbol<unsafe extern "C" fn($($type),*) -> c_int> =
                $fake.library.get(name).expect("it is there");
            function($($argument),*)
        }
    }};
}

/// Bytes of the memory that there is.
const BYTES: usize = 64;

impl Fake {
    fn open() -> Self {
        // Safety: its initialisers do nothing.
        let library = unsafe { Library::new(library()) }.expect("it loads");
        let mut fake = Self {
            library: Box::leak(Box::new(library)),
            pool: ptr::null_mut(),
            streams: [ptr::null_mut(); 2],
            event: ptr::null_mut(),
            memory: ptr::null_mut(),
        };
        assert_eq!(call!(fake, hipInit(0 => u32)), 0);
        let properties = [1, 0, 1, 0]
            .into_iter()
            .chain([0; 18])
            .collect::<Vec<i32>>();
        call!(fake, hipMemPoolCreate(&mut fake.pool => &mut Handle, properties.as_ptr() => *const i32));
        for stream in &mut fake.streams {
            call!(fake, hipStreamCreateWithPriority(stream => &mut Handle, 1 => u32, 0 => i32));
        }
        call!(fake, hipEventCreateWithFlags(&mut fake.event => &mut Handle, 0 => u32));
        call!(fake, hipMallocFromPoolAsync(
            &mut fake.memory => &mut Handle, BYTES => usize, fake.pool => Handle, fake.streams[0] => Handle
        ));
        fake
    }

    fn set(&self, offset: usize, bytes: usize, stream: Handle) -> c_int {
        let at = self.memory.wrapping_byte_add(offset);
        call!(self, hipMemsetD8Async(at => Handle, 7 => u8, bytes => usize, stream => Handle))
    }

    fn read(&self, to: &mut [u8], stream: Handle) -> c_int {
        let (to, from) = (to.as_mut_ptr().cast(), self.memory);
        call!(self, hipMemcpyAsync(
            to => Handle, from => Handle, 4 => usize, 2 => c_int, stream => Handle
        ))
    }

    fn synchronize(&self, stream: Handle) -> c_int {
        call!(self, hipStreamSynchronize(stream => Handle))
    }

    fn record(&self, stream: Handle) -> c_int {
        call!(self, hipEventRecord(self.event => Handle, stream => Handle))
    }

    fn wait(&self, stream: Handle) -> c_int {
        call!(self, hipStreamWaitEvent(stream => Handle, self.event => Handle, 0 => u32))
    }

    fn free(&self) -> c_int {
        call!(self, hipFreeAsync(self.memory => Handle, self.streams[0] => Handle))
    }

    /// A module of the fake's own format, and its kernel of two arguments.
    fn kernel(&self) -> (Handle, Handle) {
        let image = artifact::code("gfx1100").leak();
        let (mut module, mut function) = (ptr::null_mut(), ptr::null_mut());
        call!(self, hipModuleLoadData(&mut module => &mut Handle, image.as_ptr() => *const u8));
        call!(self, hipModuleGetFunction(
            &mut function => &mut Handle, module => Handle, c"describe".as_ptr() => *const c_char
        ));
        (module, function)
    }

    fn launch(&self, function: Handle, threads: u32, words: &[u64]) -> c_int {
        let mut bytes = size_of_val(words);
        let mut extra: [Handle; 5] = [
            ptr::without_provenance_mut(1),
            words.as_ptr().cast_mut().cast(),
            ptr::without_provenance_mut(2),
            (&raw mut bytes).cast(),
            ptr::without_provenance_mut(3),
        ];
        call!(self, hipModuleLaunchKernel(
            function => Handle, 1 => u32, 1 => u32, 1 => u32, threads => u32, 1 => u32, 1 => u32,
            0 => u32, self.streams[0] => Handle, ptr::null_mut() => Handle,
            extra.as_mut_ptr() => *mut Handle
        ))
    }
}

/// That the fake ends the process of a test's body with these words.
fn aborts(test: &str, words: &str, body: impl FnOnce(Fake)) {
    let Some(output) = apart(test, &[], || body(Fake::open())) else {
        return;
    };
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(!output.status.success(), "it goes on: {said}");
    assert!(said.contains(&format!("fake HIP: {words}")), "{said}");
}

/// Tests, each of which does something, and what the fake says of it.
macro_rules! violations {
    ($($name:ident: $words:literal, $body:expr;)*) => {$(
        #[test]
        fn $name() {
            aborts(stringify!($name), $words, $body);
        }
    )*};
}

violations! {
    no_handle: "hipStreamSynchronize: 0x5 is no stream", |fake| {
        fake.synchronize(ptr::without_provenance_mut(5));
    };
    a_handle_of_another_kind: "hipStreamSynchronize: ", |fake| {
        fake.synchronize(fake.event);
    };
    a_stream_that_was_destroyed: "hipStreamSynchronize: the stream ", |fake| {
        call!(fake, hipStreamDestroy(fake.streams[1] => Handle));
        fake.synchronize(fake.streams[1]);
    };
    a_stream_with_work: "hipStreamDestroy: 1 operations on the stream have not been done", |fake| {
        call!(fake, hipStreamDestroy(fake.streams[0] => Handle));
    };
    a_range_that_is_too_long: "hipMemsetD8Async: 2 bytes from ", |fake| {
        fake.set(BYTES - 1, 2, fake.streams[0]);
    };
    memory_behind_all: "hipMemsetD8Async: ", |fake| {
        fake.set(BYTES + 4096, 1, fake.streams[0]);
    };
    memory_that_was_freed: "hipMemsetD8Async: ", |fake| {
        fake.free();
        fake.set(0, 1, fake.streams[0]);
    };
    memory_that_is_freed_twice: "hipFreeAsync: ", |fake| {
        fake.free();
        fake.synchronize(fake.streams[0]);
        fake.free();
    };
    memory_before_its_stream_has_it: "hipMemsetD8Async: memory at ", |fake| {
        fake.set(0, 1, fake.streams[1]);
        fake.synchronize(fake.streams[1]);
    };
    memory_after_its_stream_has_freed_it: "hipMemsetD8Async: memory at ", |fake| {
        fake.record(fake.streams[0]);
        fake.wait(fake.streams[1]);
        fake.set(0, 1, fake.streams[1]);
        fake.free();
        fake.synchronize(fake.streams[0]);
        fake.synchronize(fake.streams[1]);
    };
    an_event_that_was_not_recorded: "hipStreamWaitEvent: the event was not recorded", |fake| {
        fake.wait(fake.streams[0]);
    };
    arguments_of_another_size: "hipModuleLaunchKernel: 8 bytes of arguments, and 'describe' takes 16", |fake| {
        fake.launch(fake.kernel().1, 64, &[0]);
    };
    too_many_threads: "hipModuleLaunchKernel: 1025 threads, and 'describe' takes 1024 at most", |fake| {
        fake.launch(fake.kernel().1, 1025, &[0, 0]);
    };
    a_module_that_is_under_way: "hipModuleUnload: 1 launches of its kernels", |fake| {
        let (module, function) = fake.kernel();
        fake.launch(function, 64, &[fake.memory.addr() as u64, 3]);
        call!(fake, hipModuleUnload(module => Handle));
    };
    a_function_of_no_module: "hipModuleLaunchKernel: the function ", |fake| {
        let (module, function) = fake.kernel();
        call!(fake, hipModuleUnload(module => Handle));
        fake.launch(function, 64, &[0, 0]);
    };
    what_is_left_at_the_end: "the process's end: a memory pool is left", |_| {};
}

#[test]
fn a_host_that_does_not_wait_sees_old_data() {
    let Some(output) = apart("a_host_that_does_not_wait_sees_old_data", &[], || {
        let fake = Fake::open();
        let [a, b] = fake.streams;
        let mut bytes = [0; 4];
        fake.set(0, 4, a);
        fake.read(&mut bytes, a);
        assert_eq!(bytes, [0; 4]);
        fake.record(a);
        assert_eq!(call!(fake, hipEventQuery(fake.event => Handle)), 600);
        // A stream that waits brings the other one with it.
        fake.wait(b);
        fake.synchronize(b);
        assert_eq!(bytes, [7; 4]);
        assert_eq!(call!(fake, hipEventQuery(fake.event => Handle)), 0);
        fake.free();
        for stream in fake.streams {
            fake.synchronize(stream);
            call!(fake, hipStreamDestroy(stream => Handle));
        }
        call!(fake, hipEventDestroy(fake.event => Handle));
        call!(fake, hipMemPoolDestroy(fake.pool => Handle));
    }) else {
        return;
    };
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{said}");
}

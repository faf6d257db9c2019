//! NVIDIA devices, through the CUDA driver.
//!
//! Modules are PTX with a kernel per body. Each of a kernel's parameters is a
//! 64-bit word, in the order of [`Launch::words`]; the driver compiles it when
//! it is loaded. Preparing a kernel copies its arguments to the device and makes
//! graphs of its actions (see [`graph`]), which runs replay; where each action is
//! to be timed, they are launched one by one.

mod capture;
mod device;
mod foreign;
mod graph;
mod loops;
mod moves;
mod replay;
mod resident;

use crate::{
    Argument, Driver, Error, Loaded, Options, Prepared, Timing,
    actions::{self, Action, Fill, If, Kind, Launch, Loop, Slot, Times},
    argument::{self, Shapes},
    control::Control,
    program::{self, Program},
    validate::{PlannedLaunch, body_names, launches, validate},
};
use cudarc::driver::{DriverError, result, sys};
use device::{Device, Event, Function, Memory, Module, Stream, failed, reason};
use graph::{Conditions, Maker, Segment};
use qd_artifact::{Artifact, Body, Format, Kernel};
pub(crate) use resident::device;
use std::collections::HashMap;

/// Drives the first NVIDIA device.
pub(crate) struct Cuda;

impl Driver for Cuda {
    fn load(&self, artifact: &Artifact) -> Result<Box<dyn Loaded>, Error> {
        let takes = |target: &str| capability(target).is_some();
        let program = Program::new(artifact, "an NVIDIA device", takes)?;
        let target = program.target();
        let _span = tracing::info_span!("load", target).entered();
        validate(program)?;
        let device = Device::open()?;
        if device.capability < capability(target).unwrap_or(0) {
            return Err(Error::Device(format!(
                "the artifact is for target '{target}', but {} is an sm_{}",
                device.name, device.capability
            )));
        }
        device.enter()?;
        let launched = body_names(program);
        let (mut modules, mut functions) = (Vec::new(), HashMap::new());
        for module in program.modules_of(Format::Ptx)? {
            let code = {
                let _span = tracing::info_span!("driver compiles").entered();
                Module::new(module.bytes())?
            };
            for Body { name, .. } in &module.bodies {
                if launched.contains(&**name) {
                    functions.insert(name.clone(), code.function(name)?);
                }
            }
            modules.push(code);
        }
        let functions = Functions(functions);
        functions.allow_dynamic_shared(program, &device)?;
        Ok(Box::new(OnDevice {
            loaded: program.without_code(),
            functions,
            conditions: Conditions::new(),
            _modules: modules,
            device,
        }))
    }
}

/// `nvptx:sm_90,wave=32` is 90.
fn capability(target: &str) -> Option<u32> {
    let name = target.split(',').next()?;
    name.strip_prefix("nvptx:sm_")?.parse().ok()
}

/// The bodies of an artifact.
struct Functions(HashMap<String, Function>);

impl Functions {
    /// A body of a launch: each has been looked up when the artifact was loaded.
    fn get(&self, body: &str) -> Function {
        self.0[body]
    }

    /// Has the driver allow what launches will ask for, which is set once and
    /// holds for graphs as well.
    fn allow_dynamic_shared(&self, program: Program<'_>, device: &Device) -> Result<(), Error> {
        for launch in launches(program) {
            let bytes = launch.dynamic_shared_bytes;
            if bytes == 0 {
                continue;
            }
            check_shared(&launch, &device.name, device.max_shared_bytes)?;
            let allowed = self.get(launch.body).allow_dynamic_shared(bytes);
            allowed.map_err(|e| failed(&asks_for_shared(&launch), e))?;
        }
        Ok(())
    }
}

/// `kernel 'k': phase 'p' asks for 61440 bytes of shared memory a block`.
fn asks_for_shared(launch: &PlannedLaunch<'_>) -> String {
    format!(
        "kernel '{}': phase '{}' asks for {} bytes of shared memory a block",
        launch.kernel, launch.phase, launch.dynamic_shared_bytes
    )
}

/// Whether a device of that name, whose blocks have so many bytes at most, has what
/// a launch will ask for.
fn check_shared(launch: &PlannedLaunch<'_>, device: &str, most: u32) -> Result<(), Error> {
    match launch.dynamic_shared_bytes <= most {
        true => Ok(()),
        false => Err(Error::Device(format!(
            "{}, but {device} has {most}",
            asks_for_shared(launch)
        ))),
    }
}

/// An artifact on a device.
struct OnDevice {
    loaded: program::Loaded,
    functions: Functions,
    /// If the driver has them; the host looks otherwise.
    conditions: Option<Conditions>,
    /// Owns what `functions` points to; goes before the device does.
    _modules: Vec<Module>,
    device: Device,
}

impl Drop for OnDevice {
    fn drop(&mut self) {
        // What is freed now belongs to the device's context. If that cannot be
        // entered, nothing can be freed.
        let _ = self.device.enter();
    }
}

// Safety: the driver's handles may be used from any thread that has entered the
// device's context.
unsafe impl Send for OnDevice {}
// Safety: as above; the stream is locked.
unsafe impl Sync for OnDevice {}

impl Loaded for OnDevice {
    fn artifact(&self) -> &Artifact {
        &self.loaded.artifact
    }

    fn prepare<'a>(
        &'a self,
        kernel: &str,
        arguments: &[Argument],
        options: &Options,
    ) -> Result<Box<dyn Prepared + 'a>, Error> {
        let (program, planned) = (self.loaded.program(), self.loaded.kernel(kernel)?);
        let kernel = planned.kernel;
        let _span = tracing::debug_span!("prepare", kernel = kernel.name).entered();
        argument::check(kernel, arguments)?;
        self.device.enter()?;
        let memory = allocate(kernel, arguments)?;
        let control = Control::new(program, planned, Memory::new).map_err(|_| {
            let left = device::memory_left();
            Error::OutOfMemory(format!("kernel '{}': its control{left}", kernel.name))
        })?;
        let words = control.memory().map_or(0, |memory| memory.address);
        let slots = arguments
            .iter()
            .zip(&memory)
            .map(|(argument, memory)| slot(argument, memory.as_ref()))
            .collect();
        let actions = actions::actions(program, planned, slots, words)?;
        let segments = match options.time_steps {
            true => Vec::new(),
            false => {
                let maker = Maker {
                    device: &self.device,
                    functions: &self.functions,
                    // Nobody counts iterations on the device.
                    conditions: self
                        .conditions
                        .as_ref()
                        .filter(|_| options.max_iterations.is_none()),
                };
                maker.segments(&actions)?
            }
        };
        let mut prepared = InMemory {
            loaded: self,
            kernel,
            shapes: Shapes::of(arguments),
            memory,
            control,
            actions,
            segments,
            stream: Stream::new()?,
            options: options.clone(),
        };
        prepared.write(arguments)?;
        Ok(Box::new(prepared))
    }
}

/// A kernel with its arguments on the device.
struct InMemory<'a> {
    loaded: &'a OnDevice,
    kernel: &'a Kernel,
    /// What the plan was evaluated for.
    shapes: Shapes,
    /// Every buffer's.
    memory: Vec<Option<Memory>>,
    control: Control<Memory>,
    actions: Vec<Action<'a>>,
    /// The actions as graphs, unless each is to be timed.
    segments: Vec<Segment>,
    stream: Stream,
    options: Options,
}

impl InMemory<'_> {
    fn failed(&self, what: &str, error: DriverError) -> Error {
        failed(&format!("kernel '{}': {what}", self.kernel.name), error)
    }
}

impl Drop for InMemory<'_> {
    fn drop(&mut self) {
        // As for what is loaded.
        let _ = self.loaded.device.enter();
    }
}

impl Prepared for InMemory<'_> {
    fn run(&mut self) -> Result<Timing, Error> {
        let _span = tracing::debug_span!("run", kernel = self.kernel.name).entered();
        self.loaded.device.enter()?;
        let clear = |memory: &Memory, bytes| memory.clear(bytes, &self.stream);
        let cleared = self.control.begin(clear);
        cleared.map_err(|e| self.failed("clearing its control", e))?;
        let run = Run {
            loaded: self.loaded,
            stream: &self.stream,
            options: &self.options,
        };
        let timing = match self.options.time_steps {
            true => run.one_by_one(&self.actions),
            false => run.as_graphs(&self.segments),
        };
        match timing {
            Ok(timing) => {
                self.control.end();
                Ok(timing)
            }
            Err(Error::Device(reason)) => {
                let kernel = &self.kernel.name;
                Err(Error::Device(format!("kernel '{kernel}': {reason}")))
            }
            Err(other) => Err(other),
        }
    }

    fn write(&mut self, arguments: &[Argument]) -> Result<(), Error> {
        self.shapes.check(self.kernel, arguments)?;
        self.loaded.device.enter()?;
        for (argument, memory) in arguments.iter().zip(&self.memory) {
            if let (Argument::Buffer(buffer), Some(memory)) = (argument, memory) {
                memory
                    .write(buffer.as_bytes(), &self.stream)
                    .map_err(|e| self.failed("copying to the device", e))?;
            }
        }
        let done = self.stream.wait();
        done.map_err(|e| self.failed("copying to the device", e))
    }

    fn read(&mut self, arguments: &mut [Argument]) -> Result<(), Error> {
        self.shapes.check(self.kernel, arguments)?;
        self.loaded.device.enter()?;
        for (argument, memory) in arguments.iter_mut().zip(&self.memory) {
            if let (Argument::Buffer(buffer), Some(memory)) = (argument, memory) {
                memory
                    .read(buffer.as_mut_bytes(), &self.stream)
                    .map_err(|e| self.failed("copying from the device", e))?;
            }
        }
        let done = self.stream.wait();
        done.map_err(|e| self.failed("copying from the device", e))
    }
}

/// Memory for every buffer.
fn allocate(kernel: &Kernel, arguments: &[Argument]) -> Result<Vec<Option<Memory>>, Error> {
    let pairs = arguments.iter().zip(&kernel.arguments);
    pairs
        .map(|(argument, declared)| {
            let Some(buffer) = argument.as_buffer() else {
                return Ok(None);
            };
            let memory = Memory::new(buffer.as_bytes().len()).map_err(|_| {
                Error::OutOfMemory(format!(
                    "kernel '{}': argument '{}', {} on the device{}",
                    kernel.name,
                    declared.name,
                    argument::describe_buffer(buffer.dtype(), buffer.shape()),
                    device::memory_left(),
                ))
            })?;
            Ok(Some(memory))
        })
        .collect()
}

fn slot(argument: &Argument, memory: Option<&Memory>) -> Slot {
    match (argument, memory) {
        (Argument::Buffer(buffer), Some(memory)) => Slot::Memory(actions::Memory {
            address: memory.address,
            bytes: buffer.as_bytes().len(),
            dtype: buffer.dtype(),
            shape: buffer.shape().to_vec(),
        }),
        (Argument::Scalar(scalar), _) => Slot::Scalar(scalar.bits),
        (Argument::Buffer(_), None) => unreachable!("every buffer has memory"),
    }
}

/// One run of a kernel.
struct Run<'a> {
    loaded: &'a OnDevice,
    stream: &'a Stream,
    options: &'a Options,
}

/// A step that was timed: its action, and the events before and behind it.
type Timed<'a, 'p> = (&'a Action<'p>, Event, Event);

impl Run<'_> {
    /// Launches graphs: only all of it is timed.
    fn as_graphs(&self, segments: &[Segment]) -> Result<Timing, Error> {
        let mut launches = 0;
        let begin = Event::record(self.stream)?;
        self.segments(segments, &mut launches)?;
        let end = Event::record(self.stream)?;
        self.wait()?;
        Ok(Timing {
            total: end.since(&begin)?,
            launches,
            steps: Vec::new(),
        })
    }

    fn segments(&self, segments: &[Segment], launches: &mut u64) -> Result<(), Error> {
        for segment in segments {
            match segment {
                Segment::Graph(graph) => {
                    // Safety: what the graph refers to lives until the run ends.
                    unsafe { result::graph::launch(graph.raw, self.stream.0) }
                        .map_err(|e| failed("launching a graph", e))?;
                    *launches += graph.launches;
                }
                Segment::Loop { kernel, flag, body } => {
                    self.repeat(kernel, *flag, || self.segments(body, launches))?;
                }
                Segment::If { condition, body } => {
                    if self.is_set(*condition)? {
                        self.segments(body, launches)?;
                    }
                }
            }
        }
        Ok(())
    }

    /// Launches each action by itself, with a clock before and behind it.
    fn one_by_one(&self, actions: &[Action<'_>]) -> Result<Timing, Error> {
        let mut timed = Vec::new();
        let begin = Event::record(self.stream)?;
        self.each(actions, &mut timed)?;
        let end = Event::record(self.stream)?;
        self.wait()?;
        let mut times = Times::default();
        for (action, begin, end) in &timed {
            times.add(action, end.since(begin)?);
        }
        Ok(Timing {
            total: end.since(&begin)?,
            launches: times.launches(),
            steps: times.into_steps(),
        })
    }

    fn each<'a, 'p>(
        &self,
        actions: &'a [Action<'p>],
        timed: &mut Vec<Timed<'a, 'p>>,
    ) -> Result<(), Error> {
        for action in actions {
            let begin = Event::record(self.stream)?;
            match &action.kind {
                Kind::Launch(launch) => self.launch(launch)?,
                Kind::Fill(fill) => self.fill(fill)?,
                Kind::Loop(Loop {
                    kernel,
                    flag,
                    actions,
                }) => {
                    self.repeat(kernel, *flag, || self.each(actions, timed))?;
                    continue;
                }
                Kind::If(If { condition, actions }) => {
                    if self.is_set(*condition)? {
                        self.each(actions, timed)?;
                    }
                    continue;
                }
                Kind::Nothing => continue,
            }
            timed.push((action, begin, Event::record(self.stream)?));
        }
        Ok(())
    }

    fn launch(&self, launch: &Launch<'_>) -> Result<(), Error> {
        if launch.blocks == 0 {
            return Ok(());
        }
        let grid = grid(&self.loaded.device, launch)?;
        let mut words = launch.words.clone();
        // Safety: the compiler made the body for these operands; what they point
        // to lives until the run ends.
        unsafe {
            result::launch_kernel(
                self.loaded.functions.get(launch.body).0,
                (grid, 1, 1),
                (launch.threads, 1, 1),
                launch.dynamic_shared_bytes,
                self.stream.0,
                &mut device::parameters(&mut words),
            )
        }
        .map_err(|e| launch.failed(&reason(e)))?;
        // Here a fault is known to be this launch's.
        self.stream.wait().map_err(|e| launch.failed(&reason(e)))
    }

    fn fill(&self, fill: &Fill) -> Result<(), Error> {
        for range in words_of(fill) {
            let Range {
                address,
                pitch,
                value,
                size,
                width,
                height,
            } = range;
            let stream = self.stream.0;
            // Safety: the range is within a buffer.
            let outcome = unsafe {
                match size {
                    1 => sys::cuMemsetD2D8Async(address, pitch, value as u8, width, height, stream),
                    2 => {
                        sys::cuMemsetD2D16Async(address, pitch, value as u16, width, height, stream)
                    }
                    _ => sys::cuMemsetD2D32Async(address, pitch, value, width, height, stream),
                }
            };
            outcome.result().map_err(|e| failed("a fill", e))?;
        }
        Ok(())
    }

    fn repeat(
        &self,
        kernel: &str,
        flag: u64,
        mut body: impl FnMut() -> Result<(), Error>,
    ) -> Result<(), Error> {
        let mut iterations = 0;
        loop {
            body()?;
            iterations += 1;
            if !self.is_set(flag)? {
                return Ok(());
            }
            if let Some(limit) = self.options.max_iterations.filter(|n| iterations >= *n) {
                return Err(Error::TooManyIterations {
                    kernel: kernel.into(),
                    limit,
                });
            }
        }
    }

    /// Whether a word on the device is not 0, once all before has ended.
    fn is_set(&self, word: u64) -> Result<bool, Error> {
        let mut read = [0i32];
        // Safety: within an argument's buffer or the kernel's control.
        unsafe { result::memcpy_dtoh_async(&mut read, word, self.stream.0) }
            .map_err(|e| failed("reading a word that decides what runs", e))?;
        self.wait()?;
        Ok(read != [0])
    }

    fn wait(&self) -> Result<(), Error> {
        self.stream.wait().map_err(|e| {
            let hint = match self.options.time_steps {
                true => "",
                false => " (timing each step would tell which)",
            };
            Error::Device(format!("a launch failed: {}{hint}", reason(e)))
        })
    }
}

/// The launch's blocks, if the device takes as many.
fn grid(device: &Device, launch: &Launch<'_>) -> Result<u32, Error> {
    u32::try_from(launch.blocks)
        .ok()
        .filter(|_| launch.blocks <= device.max_blocks)
        .ok_or_else(|| {
            launch.failed(&format!(
                "{} takes at most {} blocks",
                device.name, device.max_blocks
            ))
        })
}

/// A fill as the driver does it: `height` rows, `pitch` bytes apart, of `width`
/// elements of 1, 2 or 4 bytes.
struct Range {
    address: u64,
    pitch: usize,
    value: u32,
    size: u32,
    width: usize,
    height: usize,
}

/// Elements of 8 bytes are two columns of words, unless both are the same.
fn words_of(fill: &Fill) -> Vec<Range> {
    let count = fill.count as usize;
    let row = |size: usize, width: usize| Range {
        address: fill.address,
        pitch: 0,
        value: fill.value as u32,
        size: size as u32,
        width,
        height: 1,
    };
    let high = (fill.value >> 32) as u32;
    match fill.size {
        8 if high == fill.value as u32 => vec![row(4, 2 * count)],
        8 => [(0, fill.value as u32), (4, high)]
            .map(|(offset, value)| Range {
                address: fill.address + offset,
                pitch: 8,
                value,
                height: count,
                ..row(4, 1)
            })
            .into(),
        size => vec![row(size, count)],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn targets_and_capabilities() {
        assert_eq!(capability("nvptx:sm_90"), Some(90));
        assert_eq!(capability("nvptx:sm_100,wave=32"), Some(100));
        assert_eq!(capability("cpu"), None);
        assert_eq!(capability("nvptx:gfx90a"), None);
    }

    /// What ranges set, in bytes.
    fn bytes(fill: &Fill) -> Vec<u8> {
        let mut memory = vec![0xEE; fill.size * fill.count as usize + 8];
        for range in words_of(fill) {
            for row in 0..range.height {
                for column in 0..range.width {
                    let at =
                        range.address as usize + row * range.pitch + column * range.size as usize;
                    let value = &range.value.to_le_bytes()[..range.size as usize];
                    memory[at..at + value.len()].copy_from_slice(value);
                }
            }
        }
        memory
    }

    #[test]
    fn fills_set_every_element_and_no_more() {
        for size in [1, 2, 4, 8] {
            for value in [0x0102_0304_0506_0708, 0x0505_0505_0505_0505_u64] {
                let fill = Fill {
                    address: 0,
                    size,
                    count: 3,
                    value,
                };
                let mut expected = value.to_le_bytes()[..size].repeat(3);
                expected.extend([0xEE; 8]);
                assert_eq!(bytes(&fill), expected, "{size} bytes");
            }
        }
    }

    #[test]
    fn a_device_with_less_shared_memory_is_told_who_asks() {
        let launch = PlannedLaunch {
            kernel: "k",
            phase: "sweep",
            body: "k_sweep_0",
            dynamic_shared_bytes: 61_440,
        };
        assert!(check_shared(&launch, "a device", 61_440).is_ok());
        let error = check_shared(&launch, "a device", 61_439).unwrap_err();
        assert_eq!(
            error.to_string(),
            "kernel 'k': phase 'sweep' asks for 61440 bytes of shared memory a block, \
             but a device has 61439"
        );
    }

    #[test]
    fn without_a_device_there_is_a_message() {
        let Err(error) = Device::open() else {
            return;
        };
        assert!(error.to_string().contains("NVIDIA driver"), "{error}");
    }
}

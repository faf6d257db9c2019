//! Calls of kernels whose arguments say all: numbers, contiguous arrays of NumPy, tensors of PyTorch on a device, and the package's own
//! arrays. Others are Python's to look at.

use super::{
    dlpack::Stream,
    dtype::DType,
    launch::{Given, Kernel},
    memory::Memory,
    torch::Torch,
};
use pyo3::{
    exceptions::PyValueError,
    ffi, intern,
    prelude::*,
    types::{PyBool, PyFloat, PyInt, PyTuple, PyType},
};
use smallvec::SmallVec;
use std::{
    ffi::{c_char, c_int, c_void},
    sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError},
};

/// Extents, outermost first.
type Shape = SmallVec<[u64; 4]>;

/// Where an array of the package is, and what it is of.
#[pyclass(frozen)]
pub struct Place {
    dtype: DType,
    shape: Shape,
    /// The call of `init` that it is of.
    generation: u64,
    memory: Where,
}

#[derive(FromPyObject)]
enum Where {
    Device(Py<Memory>),
    /// An address of the host.
    Host(u64),
}

#[pymethods]
impl Place {
    #[new]
    fn new(dtype: &str, shape: Vec<u64>, generation: u64, memory: Where) -> PyResult<Self> {
        Ok(Self {
            dtype: named(dtype)?,
            shape: shape.into(),
            generation,
            memory,
        })
    }
}

fn named(dtype: &str) -> PyResult<DType> {
    let unknown = || PyValueError::new_err(format!("'{dtype}' is no type"));
    DType::named(dtype).ok_or_else(unknown)
}

/// What a parameter takes: a scalar, or an array of a type and a rank, or of any.
#[derive(FromPyObject)]
enum Takes {
    Scalar(String),
    Array(Option<String>, Option<usize>),
}

enum Parameter {
    Scalar(DType),
    Array(Option<DType>, Option<usize>),
}

/// A kernel that is compiled for some types of arrays.
struct Known {
    /// Of each array its type and rank.
    arrays: Vec<(DType, usize)>,
    /// Whether they may overlap.
    overlapping: bool,
    kernel: Py<Kernel>,
    /// What it takes beyond its arguments: arrays of the package, and None for a variable that several tasks have.
    appended: Vec<Option<Py<PyAny>>>,
}

/// What a kernel is called with, and what is compiled for that. Threads may call it while others add to it.
#[pyclass(frozen)]
pub struct Calls {
    generation: u64,
    is_host: bool,
    parameters: Vec<Parameter>,
    known: Mutex<Vec<Arc<Known>>>,
    /// NumPy's class of arrays, once a program has it.
    of_numpy: OnceLock<Py<PyType>>,
    /// PyTorch, once a program has it, where kernels run on its devices.
    torch: OnceLock<Torch>,
}

#[pymethods]
impl Calls {
    /// Of the parameters a scalar is the name of its type, and an array a pair of that and its rank, each None for any.
    #[new]
    fn new(generation: u64, is_host: bool, parameters: Vec<Takes>) -> PyResult<Self> {
        let parameters = parameters.into_iter().map(|takes| {
            Ok(match takes {
                Takes::Scalar(dtype) => Parameter::Scalar(named(&dtype)?),
                Takes::Array(dtype, rank) => {
                    Parameter::Array(dtype.map(|dtype| named(&dtype)).transpose()?, rank)
                }
            })
        });
        Ok(Self {
            generation,
            is_host,
            parameters: parameters.collect::<PyResult<_>>()?,
            known: Mutex::default(),
            of_numpy: OnceLock::new(),
            torch: OnceLock::new(),
        })
    }

    /// Takes note of a kernel.
    fn add(
        &self,
        arrays: Vec<(String, usize)>,
        overlapping: bool,
        kernel: Py<Kernel>,
        appended: Vec<Option<Py<PyAny>>>,
        of_numpy: Option<Py<PyType>>,
    ) -> PyResult<()> {
        let arrays = arrays
            .into_iter()
            .map(|(dtype, rank)| Ok((named(&dtype)?, rank)));
        let known = Known {
            arrays: arrays.collect::<PyResult<_>>()?,
            overlapping,
            kernel,
            appended,
        };
        self.all_known().push(Arc::new(known));
        if let Some(class) = of_numpy {
            self.of_numpy.get_or_init(|| class);
        }
        Ok(())
    }

    /// Takes note of PyTorch.
    fn ask_torch(&self, torch: Torch) {
        self.torch.get_or_init(|| torch);
    }

    /// Runs the kernel, and returns the bits of its results; None if Python has to look at the arguments.
    fn call(
        &self,
        py: Python<'_>,
        generation: Option<u64>,
        arguments: &Bound<'_, PyTuple>,
    ) -> PyResult<Option<Vec<u64>>> {
        if generation != Some(self.generation) || arguments.len() != self.parameters.len() {
            return Ok(None);
        }
        let mut taken = Taken::default();
        for (argument, parameter) in arguments.iter_borrowed().zip(&self.parameters) {
            let is_taken = match parameter {
                Parameter::Scalar(dtype) => match number(&argument, *dtype) {
                    Some(bits) => {
                        taken.given.push(Some(Given::Number(bits)));
                        true
                    }
                    None => false,
                },
                Parameter::Array(dtype, rank) => match self.array(py, &argument, &mut taken.stream)
                {
                    Some(array) => {
                        let is_wanted = dtype.is_none_or(|dtype| dtype == array.dtype)
                            && rank.is_none_or(|rank| rank == array.shape.len());
                        taken.push(array);
                        is_wanted
                    }
                    None => false,
                },
            };
            if !is_taken {
                return Ok(None);
            }
        }
        let overlapping = taken.is_overlapping();
        // Elsewhere arrays of the host are copied, each by itself.
        if overlapping && !self.is_host {
            return Ok(None);
        }
        let is_wanted = |known: &&Arc<Known>| {
            known.overlapping == overlapping && known.arrays.as_slice() == taken.arrays
        };
        // No lock is held while it runs.
        let known = self.all_known().iter().find(is_wanted).cloned();
        let Some(known) = known else {
            return Ok(None);
        };
        for appended in &known.appended {
            taken.given.push(match appended {
                None => None,
                Some(storage) => match self.place(py, storage.bind(py)) {
                    Some(place) => Some(place.get().given(py)),
                    None => return Ok(None),
                },
            });
        }
        let kernel = known.kernel.get();
        let stream = taken.stream.as_ref().map(|stream| &stream.get().0);
        kernel.run(py, &taken.given, stream, false).map(Some)
    }
}

/// The arguments of a call.
#[derive(Default)]
struct Taken {
    given: Vec<Option<Given>>,
    arrays: Vec<(DType, usize)>,
    /// The first address of each, and that after its last; those of the device are not compared with the host's.
    ranges: Vec<(bool, u64, u64)>,
    /// That of PyTorch, if an array is its.
    stream: Option<Py<Stream>>,
}

impl Taken {
    fn push(&mut self, array: Array) {
        self.given.push(Some(array.given));
        self.ranges.push(array.range);
        self.arrays.push((array.dtype, array.shape.len()));
        if array.shape.len() != 1 {
            let extents = array.shape.iter();
            self.given
                .extend(extents.map(|extent| Some(Given::Number(*extent))));
        }
    }

    fn is_overlapping(&self) -> bool {
        let ranges = self.ranges.iter().enumerate();
        ranges.into_iter().any(|(i, one)| {
            let others = &self.ranges[i + 1..];
            others
                .iter()
                .any(|other| one.0 == other.0 && one.1 < other.2 && other.1 < one.2)
        })
    }
}

/// An array among the arguments.
struct Array {
    given: Given,
    range: (bool, u64, u64),
    dtype: DType,
    shape: Shape,
}

impl Place {
    fn given(&self, py: Python<'_>) -> Given {
        match &self.memory {
            Where::Device(memory) => Given::Memory(memory.clone_ref(py)),
            Where::Host(address) => Given::Array(*address, self.shape.iter().product(), false),
        }
    }
}

impl Calls {
    fn all_known(&self) -> MutexGuard<'_, Vec<Arc<Known>>> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Where an array of the package is that lives, and lies as it is indexed.
    fn place<'py>(
        &self,
        py: Python<'py>,
        storage: &Bound<'py, PyAny>,
    ) -> Option<Bound<'py, Place>> {
        let place = storage.getattr(intern!(py, "_at")).ok()?;
        let place = place.cast_into::<Place>().ok()?;
        (place.get().generation == self.generation).then_some(place)
    }

    /// An array, if it can be given as it is. If it is PyTorch's, the launch is on its stream.
    fn array(
        &self,
        py: Python<'_>,
        argument: &Bound<'_, PyAny>,
        stream: &mut Option<Py<Stream>>,
    ) -> Option<Array> {
        let of_numpy = self.of_numpy.get();
        if of_numpy.is_some_and(|class| argument.get_type().is(class)) {
            return of_numpy_array(argument);
        }
        let torch = self.torch.get();
        if let Some(torch) = torch.filter(|torch| torch.has(argument)) {
            if stream.is_none() {
                *stream = Some(torch.stream(argument)?);
            }
            let (memory, dtype, shape) = torch.memory(argument, stream.as_ref()?.get())?;
            let (first, after) = memory.addresses();
            return Some(Array {
                given: Given::Memory(Py::new(py, memory).ok()?),
                range: (true, first, after),
                dtype,
                shape: shape.into(),
            });
        }
        let place = self.place(py, argument)?;
        let Place {
            dtype,
            shape,
            memory,
            ..
        } = place.get();
        let range = match memory {
            Where::Device(memory) => {
                let (first, after) = memory.get().addresses();
                (true, first, after)
            }
            Where::Host(first) => (false, *first, *first + bytes(*dtype, shape)),
        };
        Some(Array {
            given: place.get().given(py),
            range,
            dtype: *dtype,
            shape: shape.clone(),
        })
    }
}

fn bytes(dtype: DType, shape: &[u64]) -> u64 {
    shape.iter().product::<u64>() * dtype.stored().size() as u64
}

/// What `__array_struct__` gives: <https://numpy.org/doc/stable/reference/arrays.interface.html>.
#[repr(C)]
struct Interface {
    two: c_int,
    rank: c_int,
    kind: c_char,
    size: c_int,
    flags: c_int,
    shape: *const isize,
    strides: *const isize,
    data: *const c_void,
    descr: *const c_void,
}

impl Interface {
    const CONTIGUOUS: c_int = 0x1;
    const ALIGNED: c_int = 0x100;
    const NATIVE: c_int = 0x200;
    const WRITEABLE: c_int = 0x400;
}

fn of_numpy_array(array: &Bound<'_, PyAny>) -> Option<Array> {
    let capsule = array
        .getattr(intern!(array.py(), "__array_struct__"))
        .ok()?;
    // Safety: Python is attached; NumPy gives a capsule of such a struct, which lives as long as this.
    let interface = unsafe {
        let interface = ffi::PyCapsule_GetPointer(capsule.as_ptr(), std::ptr::null());
        interface.cast::<Interface>().as_ref()?
    };
    let needed = Interface::CONTIGUOUS | Interface::ALIGNED | Interface::NATIVE;
    if interface.two != 2 || interface.flags & needed != needed {
        return None;
    }
    let dtype = DType::of_kind(interface.kind as u8, 8 * interface.size as u32)?;
    let shape = match interface.rank {
        0 => Shape::new(),
        // Safety: it has so many extents, which are not negative.
        rank => unsafe { std::slice::from_raw_parts(interface.shape, rank as usize) }
            .iter()
            .map(|extent| *extent as u64)
            .collect(),
    };
    let length: u64 = shape.iter().product();
    // Places of elements are i32 in kernels.
    if length > i32::MAX as u64 {
        return None;
    }
    let first = interface.data as u64;
    let is_read_only = interface.flags & Interface::WRITEABLE == 0;
    Some(Array {
        given: Given::Array(first, length, is_read_only),
        range: (false, first, first + bytes(dtype, &shape)),
        dtype,
        shape,
    })
}

/// The bits of a number of a type, if it is one of Python's own that the type has.
fn number(value: &Bound<'_, PyAny>, dtype: DType) -> Option<u64> {
    let real = |value: f64| match dtype {
        DType::F32 => Some((value as f32).to_bits().into()),
        DType::F64 => Some(value.to_bits()),
        _ => None,
    };
    if let Ok(value) = value.cast_exact::<PyFloat>() {
        return real(value.value());
    }
    if value.is_exact_instance_of::<PyBool>() {
        return (dtype == DType::U1).then_some(value.is_truthy().ok()?.into());
    }
    if !value.is_exact_instance_of::<PyInt>() || dtype == DType::U1 {
        return None;
    }
    let number = match dtype {
        DType::U64 => value.extract::<u64>().ok()?.into(),
        _ => i128::from(value.extract::<i64>().ok()?),
    };
    if dtype.is_real() {
        // What reals have all of.
        return (number.unsigned_abs() <= 1 << 53).then(|| real(number as f64))?;
    }
    let unused = 64 - dtype.bits();
    dtype
        .holds(number)
        .then_some((number as u64) << unused >> unused)
}

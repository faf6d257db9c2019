//! Kernels of the driver's own, whose arguments can be patched as those of any launch: fills, and
//! a copy of a word for the host.
//!
//! A fill's module has pairs of 32 bits for 64-bit numbers, as not every device has 64-bit
//! integers. A block fills [`PART`] elements at a time.

use super::{
    device::Device,
    pipeline::{Code, Size},
    spirv,
};
use crate::{Error, objects::driver::Fault};
use ash::vk;
use std::{collections::HashMap, sync::Arc};

/// Threads of a block: every device takes as many.
const THREADS: u32 = 128;
/// Elements that a block fills at a time, as a power of two.
const PART_BITS: u32 = 12;
const PART: u32 = 1 << PART_BITS;
const MOST_BLOCKS: u64 = 4096;

/// Blocks that a fill of so many elements gets.
pub(super) fn fill_blocks(count: u64) -> u64 {
    count.div_ceil(u64::from(PART)).min(MOST_BLOCKS)
}

pub(super) struct Kernels(Code);

/// What is bound to dispatch a body.
pub(super) type Bound = (vk::Pipeline, vk::PipelineLayout);

impl Kernels {
    pub fn new(device: &Arc<Device>) -> Result<Self, Error> {
        let words = module();
        let declared = spirv::Module::read(&words)?;
        let wave = device.subgroups.usual;
        let asked = device.subgroups.ask(wave, &device.name, "vulkan:1.3");
        let asked = asked.map_err(Error::Device)?;
        let sizes: HashMap<_, _> = declared
            .entries
            .keys()
            .map(|name| (name.clone(), Size { wave, asked }))
            .collect();
        let binary: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
        Ok(Self(Code::new(device, &binary, declared, sizes, None)?))
    }

    /// Fills elements of `size` bytes. Its arguments: the address, the number, and the bits.
    pub fn fill(&self, size: usize) -> Result<Bound, Fault> {
        match size {
            4 => self.bound("fill_4"),
            8 => self.bound("fill_8"),
            _ => Err(Fault::Failed(format!("a fill of elements of {size} bytes"))),
        }
    }

    /// Copies a word of 32 bits. Its arguments: the source and the destination.
    pub fn look(&self) -> Result<Bound, Fault> {
        self.bound("look")
    }

    fn bound(&self, name: &str) -> Result<Bound, Fault> {
        let pipeline = self.0.pipeline(name, THREADS).map_err(Fault::Failed)?;
        Ok((pipeline, self.0.layout))
    }
}

// Storage classes.
const INPUT: u32 = 1;
const PUSHED: u32 = 9;
const BUFFER: u32 = 5349;
// Decorations.
const BLOCK: u32 = 2;
const STRIDE: u32 = 6;
const BUILT_IN: u32 = 11;
const OFFSET: u32 = 35;
// What threads know of themselves.
const BLOCKS: u32 = 24;
const BLOCK_ID: u32 = 26;
const THREAD_ID: u32 = 27;

/// A module under construction, in the sections that SPIR-V has.
#[derive(Default)]
struct Writer {
    bound: u32,
    entries: Vec<u32>,
    modes: Vec<u32>,
    decorations: Vec<u32>,
    globals: Vec<u32>,
    code: Vec<u32>,
}

/// Appends an instruction.
fn put(to: &mut Vec<u32>, opcode: u32, operands: &[u32]) {
    to.push((operands.len() as u32 + 1) << 16 | opcode);
    to.extend(operands);
}

/// What all three bodies are made of.
struct Common {
    void: u32,
    truth: u32,
    word: u32,
    pair: u32,
    triple: u32,
    function: u32,
    zero: u32,
}

impl Writer {
    fn id(&mut self) -> u32 {
        self.bound += 1;
        self.bound
    }

    /// A type, which has its id first.
    fn ty(&mut self, opcode: u32, operands: &[u32]) -> u32 {
        let id = self.id();
        put(&mut self.globals, opcode, &[&[id], operands].concat());
        id
    }

    fn pointer(&mut self, class: u32, to: u32) -> u32 {
        self.ty(32, &[class, to])
    }

    fn constant(&mut self, ty: u32, value: u32) -> u32 {
        let id = self.id();
        put(&mut self.globals, 43, &[ty, id, value]);
        id
    }

    fn variable(&mut self, class: u32, ty: u32) -> u32 {
        let pointer = self.pointer(class, ty);
        let id = self.id();
        put(&mut self.globals, 59, &[pointer, id, class]);
        id
    }

    /// A structure as memory has it.
    fn structure(&mut self, members: &[(u32, u32)]) -> u32 {
        let types: Vec<_> = members.iter().map(|member| member.0).collect();
        let id = self.ty(30, &types);
        put(&mut self.decorations, 71, &[id, BLOCK]);
        for (i, (_, offset)) in (0..).zip(members) {
            put(&mut self.decorations, 72, &[id, i, OFFSET, *offset]);
        }
        id
    }

    /// What is pushed: the address of such words.
    fn pushed(&mut self, words: u32) -> (u32, u32) {
        let pointer = self.pointer(BUFFER, words);
        let block = self.structure(&[(pointer, 0)]);
        (self.variable(PUSHED, block), pointer)
    }

    fn input(&mut self, ty: u32, built_in: u32) -> u32 {
        let id = self.variable(INPUT, ty);
        put(&mut self.decorations, 71, &[id, BUILT_IN, built_in]);
        id
    }

    /// An instruction of a body with a result.
    fn of(&mut self, opcode: u32, ty: u32, operands: &[u32]) -> u32 {
        let id = self.id();
        put(&mut self.code, opcode, &[&[ty, id], operands].concat());
        id
    }

    fn does(&mut self, opcode: u32, operands: &[u32]) {
        put(&mut self.code, opcode, operands);
    }

    /// A member of words in memory.
    fn member(&mut self, common: &Common, words: u32, i: u32, ty: u32) -> u32 {
        let pointer = self.pointer(BUFFER, ty);
        let i = self.constant(common.word, i);
        let at = self.of(65, pointer, &[words, i]);
        self.of(61, ty, &[at, 2, 8])
    }

    /// The first number of one of the inputs.
    fn first(&mut self, common: &Common, input: u32) -> u32 {
        let all = self.of(61, common.triple, &[input]);
        self.of(81, common.word, &[all, 0])
    }

    /// Begins a body, and yields the address of its words.
    fn begin(
        &mut self,
        common: &Common,
        name: &str,
        (pushed, pointer): (u32, u32),
        inputs: &[u32],
    ) -> u32 {
        let function = self.id();
        let mut text: Vec<u8> = name.bytes().collect();
        // A string ends with a 0, and a word.
        text.resize(name.len() / 4 * 4 + 4, 0);
        let (text, _) = text.as_chunks::<4>();
        let text: Vec<_> = text
            .iter()
            .map(|bytes| u32::from_le_bytes(*bytes))
            .collect();
        let entry = [&[5, function], &*text, &[pushed], inputs].concat();
        put(&mut self.entries, 15, &entry);
        put(&mut self.modes, 16, &[function, 17, THREADS, 1, 1]);
        self.does(54, &[common.void, function, 0, common.function]);
        let label = self.id();
        self.does(248, &[label]);
        let at_pushed = self.pointer(PUSHED, pointer);
        let at = self.of(65, at_pushed, &[pushed, common.zero]);
        self.of(61, pointer, &[at])
    }

    fn end(&mut self) {
        self.does(253, &[]);
        self.does(56, &[]);
    }
}

fn module() -> Vec<u32> {
    let mut w = Writer::default();
    let (void, truth) = (w.ty(19, &[]), w.ty(20, &[]));
    let word = w.ty(21, &[32, 0]);
    let (pair, triple) = (w.ty(23, &[word, 2]), w.ty(23, &[word, 3]));
    let function = w.ty(33, &[void]);
    let zero = w.constant(word, 0);
    let common = Common {
        void,
        truth,
        word,
        pair,
        triple,
        function,
        zero,
    };
    let [blocks, block, thread] =
        [BLOCKS, BLOCK_ID, THREAD_ID].map(|built_in| w.input(triple, built_in));
    for (name, element, size) in [("fill_4", word, 4), ("fill_8", pair, 8)] {
        fill(
            &mut w,
            &common,
            (name, element, size),
            [blocks, block, thread],
        );
    }
    look(&mut w, &common, thread);

    let mut words = vec![0x0723_0203, 0x0001_0600, 0, w.bound + 1, 0];
    // Shader; PhysicalStorageBufferAddresses; PhysicalStorageBuffer64, GLSL450.
    put(&mut words, 17, &[1]);
    put(&mut words, 17, &[5347]);
    put(&mut words, 14, &[5348, 1]);
    words.extend([w.entries, w.modes, w.decorations, w.globals, w.code].concat());
    words
}

/// `for c in block, block + blocks … : for j in thread, thread + threads … : data[c][j] = value`,
/// where the last part has fewer elements.
fn fill(
    w: &mut Writer,
    common: &Common,
    (name, element, size): (&str, u32, u32),
    [blocks, block, thread]: [u32; 3],
) {
    let (word, pair) = (common.word, common.pair);
    let whole = w.constant(word, PART);
    let part = w.ty(28, &[element, whole]);
    put(&mut w.decorations, 71, &[part, STRIDE, size]);
    let parts = w.ty(29, &[part]);
    put(&mut w.decorations, 71, &[parts, STRIDE, size * PART]);
    let data = w.structure(&[(parts, 0)]);
    let at_data = w.pointer(BUFFER, data);
    let words = w.structure(&[(at_data, 0), (pair, 8), (pair, 16)]);
    let pushed = w.pushed(words);
    let at_element = w.pointer(BUFFER, element);
    let [bits, above, mask, threads] =
        [PART_BITS, 32 - PART_BITS, PART - 1, THREADS].map(|value| w.constant(word, value));

    let words = w.begin(common, name, pushed, &[blocks, block, thread]);
    let data = w.member(common, words, 0, at_data);
    let count = w.member(common, words, 1, pair);
    let mut value = w.member(common, words, 2, pair);
    if size == 4 {
        value = w.of(81, word, &[value, 0]);
    }
    let (low, high) = (w.of(81, word, &[count, 0]), w.of(81, word, &[count, 1]));
    // Parts that are full, and elements of the last one.
    let low_part = w.of(194, word, &[low, bits]);
    let high_part = w.of(196, word, &[high, above]);
    let full = w.of(197, word, &[low_part, high_part]);
    let rest = w.of(199, word, &[low, mask]);
    let [blocks, block, thread] = [blocks, block, thread].map(|input| w.first(common, input));

    let labels: [u32; 10] = std::array::from_fn(|_| w.id());
    let [
        entry,
        outer,
        outer_test,
        outer_body,
        inner,
        inner_test,
        inner_body,
        inner_next,
        outer_next,
        done,
    ] = labels;
    let (next_part, next_element) = (w.id(), w.id());
    w.does(249, &[entry]);
    w.does(248, &[entry]);
    w.does(249, &[outer]);
    w.does(248, &[outer]);
    let c = w.of(245, word, &[block, entry, next_part, outer_next]);
    w.does(246, &[done, outer_next, 0]);
    w.does(249, &[outer_test]);
    w.does(248, &[outer_test]);
    let more = w.of(178, common.truth, &[c, full]);
    w.does(250, &[more, outer_body, done]);
    w.does(248, &[outer_body]);
    let is_full = w.of(176, common.truth, &[c, full]);
    let limit = w.of(169, word, &[is_full, whole, rest]);
    w.does(249, &[inner]);
    w.does(248, &[inner]);
    let j = w.of(245, word, &[thread, outer_body, next_element, inner_next]);
    let inner_done = w.id();
    w.does(246, &[inner_done, inner_next, 0]);
    w.does(249, &[inner_test]);
    w.does(248, &[inner_test]);
    let more = w.of(176, common.truth, &[j, limit]);
    w.does(250, &[more, inner_body, inner_done]);
    w.does(248, &[inner_body]);
    let at = w.of(65, at_element, &[data, common.zero, c, j]);
    w.does(62, &[at, value, 2, size]);
    w.does(249, &[inner_next]);
    w.does(248, &[inner_next]);
    w.does(128, &[word, next_element, j, threads]);
    w.does(249, &[inner]);
    w.does(248, &[inner_done]);
    w.does(249, &[outer_next]);
    w.does(248, &[outer_next]);
    w.does(128, &[word, next_part, c, blocks]);
    w.does(249, &[outer]);
    w.does(248, &[done]);
    w.end();
}

/// `if thread == 0: *to = *from`.
fn look(w: &mut Writer, common: &Common, thread: u32) {
    let cell = w.structure(&[(common.word, 0)]);
    let at_cell = w.pointer(BUFFER, cell);
    let words = w.structure(&[(at_cell, 0), (at_cell, 8)]);
    let pushed = w.pushed(words);
    let at_word = w.pointer(BUFFER, common.word);

    let words = w.begin(common, "look", pushed, &[thread]);
    let [from, to] = [0, 1].map(|i| w.member(common, words, i, at_cell));
    let thread = w.first(common, thread);
    let is_first = w.of(170, common.truth, &[thread, common.zero]);
    let (then, done) = (w.id(), w.id());
    w.does(247, &[done, 0]);
    w.does(250, &[is_first, then, done]);
    w.does(248, &[then]);
    let [from, to] = [from, to].map(|cell| w.of(65, at_word, &[cell, common.zero]));
    let value = w.of(61, common.word, &[from, 2, 4]);
    w.does(62, &[to, value, 2, 4]);
    w.does(249, &[done]);
    w.does(248, &[done]);
    w.end();
}

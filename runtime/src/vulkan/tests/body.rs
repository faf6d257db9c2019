//! Bodies for tests, in the form of the compiler's: no descriptors, an address
//! as the push constant.

use rspirv::{
    binary::Assemble,
    dr::{Builder, Operand},
    spirv::{
        AddressingModel, BuiltIn, Capability, Decoration, ExecutionMode, ExecutionModel,
        FunctionControl, MemoryAccess, MemoryModel, MemorySemantics, SelectionControl,
        StorageClass, Word,
    },
};

/// A module of several bodies.
pub(super) struct Module {
    b: Builder,
    void: Word,
    pub u32: Word,
    u64: Word,
    pushed: Word,
    inputs: Vec<(BuiltIn, Word)>,
}

/// What a body does, in terms of [`Body`].
pub(super) type Emit = fn(&mut Body<'_>);

/// Where a body is written.
pub(super) struct Body<'m> {
    module: &'m mut Module,
    words: Word,
}

impl Module {
    pub fn new() -> Self {
        let mut b = Builder::new();
        b.set_version(1, 6);
        for capability in [
            Capability::Shader,
            Capability::Int64,
            Capability::GroupNonUniform,
            Capability::VulkanMemoryModel,
            Capability::VulkanMemoryModelDeviceScope,
            Capability::PhysicalStorageBufferAddresses,
        ] {
            b.capability(capability);
        }
        b.memory_model(
            AddressingModel::PhysicalStorageBuffer64,
            MemoryModel::Vulkan,
        );
        let (void, u32, u64) = (b.type_void(), b.type_int(32, 0), b.type_int(64, 0));
        let block = b.type_struct([u64]);
        b.decorate(block, Decoration::Block, []);
        b.member_decorate(block, 0, Decoration::Offset, [Operand::LiteralBit32(0)]);
        let pointer = b.type_pointer(None, StorageClass::PushConstant, block);
        let pushed = b.variable(pointer, None, StorageClass::PushConstant, None);
        let u32x3 = b.type_vector(u32, 3);
        let mut inputs = Vec::new();
        for (which, r#type) in [
            (BuiltIn::WorkgroupId, u32x3),
            (BuiltIn::SubgroupId, u32),
            (BuiltIn::SubgroupSize, u32),
            (BuiltIn::SubgroupLocalInvocationId, u32),
        ] {
            let pointer = b.type_pointer(None, StorageClass::Input, r#type);
            let variable = b.variable(pointer, None, StorageClass::Input, None);
            b.decorate(variable, Decoration::BuiltIn, [Operand::BuiltIn(which)]);
            inputs.push((which, variable));
        }
        Self {
            b,
            void,
            u32,
            u64,
            pushed,
            inputs,
        }
    }

    pub fn capability(&mut self, capability: Capability) {
        self.b.capability(capability);
    }

    pub fn extension(&mut self, name: &str) {
        self.b.extension(name);
    }

    /// Adds a body, with execution modes besides its size.
    pub fn body(&mut self, name: &str, threads: u32, modes: &[(ExecutionMode, u32)], emit: Emit) {
        let r#type = self.b.type_function(self.void, []);
        let none = FunctionControl::NONE;
        let main = self.b.begin_function(self.void, None, none, r#type);
        let main = main.expect("a function");
        let mut interface = vec![self.pushed];
        interface.extend(self.inputs.iter().map(|input| input.1));
        self.b
            .entry_point(ExecutionModel::GLCompute, main, name, interface);
        self.b
            .execution_mode(main, ExecutionMode::LocalSize, [threads, 1, 1]);
        for (mode, width) in modes {
            self.b.execution_mode(main, *mode, [*width]);
        }
        self.b.begin_block(None).expect("a block");
        let pointer = self
            .b
            .type_pointer(None, StorageClass::PushConstant, self.u64);
        let zero = self.b.constant_bit32(self.u32, 0);
        let at = self.b.access_chain(pointer, None, self.pushed, [zero]);
        let words = self.b.load(self.u64, None, at.expect("a member"), None, []);
        let words = words.expect("a word");
        emit(&mut Body {
            module: self,
            words,
        });
        self.b.ret().expect("an open block");
        self.b.end_function().expect("an open function");
    }

    /// The module's bytes, little-endian.
    pub fn binary(self) -> Vec<u8> {
        let words = self.b.module().assemble();
        words.iter().flat_map(|word| word.to_le_bytes()).collect()
    }
}

impl Body<'_> {
    pub fn constant(&mut self, value: u64) -> Word {
        self.module.b.constant_bit64(self.module.u64, value)
    }

    pub fn add(&mut self, left: Word, right: Word) -> Word {
        let sum = self.module.b.i_add(self.module.u64, None, left, right);
        sum.expect("an open block")
    }

    pub fn times(&mut self, left: Word, right: Word) -> Word {
        let product = self.module.b.i_mul(self.module.u64, None, left, right);
        product.expect("an open block")
    }

    pub fn mul(&mut self, left: Word, right: u64) -> Word {
        let right = self.constant(right);
        self.times(left, right)
    }

    /// A number that is known to the device, as 64 bits; of vectors the `i`th.
    fn input(&mut self, which: BuiltIn, i: Option<u32>) -> Word {
        let m = &mut *self.module;
        let (_, variable) = m.inputs.iter().find(|input| input.0 == which).expect("one");
        let mut at = *variable;
        if let Some(i) = i {
            let pointer = m.b.type_pointer(None, StorageClass::Input, m.u32);
            let i = m.b.constant_bit32(m.u32, i);
            at = m.b.access_chain(pointer, None, at, [i]).expect("a member");
        }
        let value = m.b.load(m.u32, None, at, None, []).expect("a number");
        m.b.u_convert(m.u64, None, value).expect("a number")
    }

    /// The block's number.
    pub fn block(&mut self) -> Word {
        let x = self.input(BuiltIn::WorkgroupId, Some(0));
        let y = self.input(BuiltIn::WorkgroupId, Some(1));
        let row = self.mul(y, 65_535);
        self.add(row, x)
    }

    /// The thread's number in its block.
    pub fn thread(&mut self) -> Word {
        let subgroup = self.input(BuiltIn::SubgroupId, None);
        let size = self.subgroup_size();
        let first = self.times(subgroup, size);
        let lane = self.input(BuiltIn::SubgroupLocalInvocationId, None);
        self.add(first, lane)
    }

    pub fn subgroup_size(&mut self) -> Word {
        self.input(BuiltIn::SubgroupSize, None)
    }

    fn pointer(&mut self, r#type: Word, address: Word) -> Word {
        let m = &mut *self.module;
        let pointer =
            m.b.type_pointer(None, StorageClass::PhysicalStorageBuffer, r#type);
        let pointer = m.b.convert_u_to_ptr(pointer, None, address);
        pointer.expect("an open block")
    }

    /// A word of the launch; word 0 is how many blocks there are.
    pub fn word(&mut self, i: u64) -> Word {
        let offset = self.constant(8 * i);
        let address = self.add(self.words, offset);
        let pointer = self.pointer(self.module.u64, address);
        let aligned = [Operand::LiteralBit32(8)];
        let m = &mut *self.module;
        let value =
            m.b.load(m.u64, None, pointer, Some(MemoryAccess::ALIGNED), aligned);
        value.expect("an open block")
    }

    /// The address of an `i32` of a buffer.
    pub fn element(&mut self, buffer: Word, i: Word) -> Word {
        let offset = self.mul(i, 4);
        self.add(buffer, offset)
    }

    /// The `i32` at an address, as 64 bits.
    pub fn load(&mut self, address: Word) -> Word {
        let pointer = self.pointer(self.module.u32, address);
        let aligned = [Operand::LiteralBit32(4)];
        let m = &mut *self.module;
        let value =
            m.b.load(m.u32, None, pointer, Some(MemoryAccess::ALIGNED), aligned);
        let value = value.expect("an open block");
        m.b.u_convert(m.u64, None, value).expect("an open block")
    }

    /// Stores the low 32 bits.
    pub fn store(&mut self, address: Word, value: Word) {
        let pointer = self.pointer(self.module.u32, address);
        let aligned = [Operand::LiteralBit32(4)];
        let m = &mut *self.module;
        let value = m.b.u_convert(m.u32, None, value).expect("an open block");
        let stored =
            m.b.store(pointer, value, Some(MemoryAccess::ALIGNED), aligned);
        stored.expect("an open block");
    }

    /// Adds atomically to the `i32` at an address.
    pub fn atomic_add(&mut self, address: Word, value: u32) {
        let pointer = self.pointer(self.module.u32, address);
        let m = &mut *self.module;
        let device = m.b.constant_bit32(m.u32, 1);
        let relaxed = m.b.constant_bit32(m.u32, MemorySemantics::RELAXED.bits());
        let value = m.b.constant_bit32(m.u32, value);
        let added =
            m.b.atomic_i_add(m.u32, None, pointer, device, relaxed, value);
        added.expect("an open block");
    }

    /// What is done if the first number is less than the second.
    pub fn if_less(&mut self, left: Word, right: Word, then: impl FnOnce(&mut Self)) {
        let m = &mut *self.module;
        let bool = m.b.type_bool();
        let less = m.b.u_less_than(bool, None, left, right);
        let less = less.expect("an open block");
        let (inside, behind) = (m.b.id(), m.b.id());
        m.b.selection_merge(behind, SelectionControl::NONE)
            .expect("an open block");
        m.b.branch_conditional(less, inside, behind, [])
            .expect("an open block");
        m.b.begin_block(Some(inside)).expect("a block");
        then(self);
        let m = &mut *self.module;
        m.b.branch(behind).expect("an open block");
        m.b.begin_block(Some(behind)).expect("a block");
    }

    /// What one thread of the block does.
    pub fn once(&mut self, then: impl FnOnce(&mut Self)) {
        let (thread, one) = (self.thread(), self.constant(1));
        self.if_less(thread, one, then);
    }
}

//! A module as in our artifacts, for tests, with a parameter for each thing that may be
//! wrong with it.

use rspirv::{
    binary::Assemble,
    dr::{Builder, Operand},
    spirv::{
        AddressingModel, BuiltIn, Capability, Decoration, ExecutionMode, ExecutionModel,
        FunctionControl, MemoryAccess, MemoryModel, MemorySemantics, Scope, StorageClass,
    },
};

/// What the module is like.
pub struct Sample {
    pub version: (u8, u8),
    /// Whether pointers are addresses.
    pub physical: bool,
    /// 64-bit members of the first entry point's block of push constants.
    pub push_words: u32,
    /// Of the first entry point.
    pub local_size: Option<[u32; 3]>,
    pub model: ExecutionModel,
    /// The name of the second entry point.
    pub second: &'static str,
    /// Whether a variable has a descriptor set.
    pub bound: bool,
    /// What two variables are called.
    pub names: [&'static str; 2],
}

impl Default for Sample {
    fn default() -> Self {
        Self {
            version: (1, 6),
            physical: true,
            push_words: 1,
            local_size: Some([256, 1, 1]),
            model: ExecutionModel::GLCompute,
            second: "second",
            bound: false,
            names: ["shared", "flag"],
        }
    }
}

impl Sample {
    /// The module.
    ///
    /// The first entry point stores a word of the launch to its workgroup's memory
    /// and waits at a barrier; the second does nothing.
    pub fn words(&self) -> Vec<u32> {
        let mut b = Builder::new();
        b.set_version(self.version.0, self.version.1);
        for capability in [
            Capability::Shader,
            Capability::VulkanMemoryModel,
            Capability::PhysicalStorageBufferAddresses,
            Capability::Int64,
        ] {
            b.capability(capability);
        }
        b.extension("SPV_KHR_test");
        let functions = b.ext_inst_import("GLSL.std.450");
        let addressing = match self.physical {
            true => AddressingModel::PhysicalStorageBuffer64,
            false => AddressingModel::Logical,
        };
        b.memory_model(addressing, MemoryModel::Vulkan);

        let void = b.type_void();
        let plain = b.type_function(void, []);
        let uint = b.type_int(32, 0);
        let int = b.type_int(32, 1);
        let ulong = b.type_int(64, 0);
        let float = b.type_float(32, None);
        let word = |b: &mut Builder, value| b.constant_bit32(uint, value);
        let zero = word(&mut b, 0);
        let lane_scope = word(&mut b, Scope::Workgroup as u32);
        let ordered = MemorySemantics::ACQUIRE_RELEASE | MemorySemantics::WORKGROUP_MEMORY;
        let semantics = word(&mut b, ordered.bits());
        let count = word(&mut b, 64);
        let minus_one = b.constant_bit32(int, u32::MAX);
        for bits in [1.5f32, 1e-42, f32::NEG_INFINITY, f32::NAN] {
            b.constant_bit32(float, bits.to_bits());
        }

        // The launch's kernel arguments, after the address in the push constants.
        let words = b.type_struct([ulong]);
        b.decorate(words, Decoration::Block, []);
        let offset = |bytes| [Operand::LiteralBit32(bytes)];
        b.member_decorate(words, 0, Decoration::Offset, offset(0));
        let address = b.type_pointer(None, StorageClass::PhysicalStorageBuffer, words);
        let push = b.type_struct((0..self.push_words).map(|_| address));
        b.decorate(push, Decoration::Block, []);
        for i in 0..self.push_words {
            b.member_decorate(push, i, Decoration::Offset, offset(8 * i));
        }
        let push_pointer = b.type_pointer(None, StorageClass::PushConstant, push);
        let push = b.variable(push_pointer, None, StorageClass::PushConstant, None);
        b.name(push, "launch");
        let one = b.type_struct([address]);
        let one_pointer = b.type_pointer(None, StorageClass::PushConstant, one);
        let other = b.variable(one_pointer, None, StorageClass::PushConstant, None);

        let array = b.type_array(uint, count);
        let array = b.type_pointer(None, StorageClass::Workgroup, array);
        let shared = b.variable(array, None, StorageClass::Workgroup, None);
        b.name(shared, self.names[0]);
        let element = b.type_pointer(None, StorageClass::Workgroup, uint);
        let flag = b.variable(element, None, StorageClass::Workgroup, None);
        b.name(flag, self.names[1]);
        if self.bound {
            b.decorate(
                shared,
                Decoration::DescriptorSet,
                [Operand::LiteralBit32(3)],
            );
            b.decorate(shared, Decoration::Binding, [Operand::LiteralBit32(0)]);
        }
        let input = b.type_pointer(None, StorageClass::Input, uint);
        let lane = b.variable(input, None, StorageClass::Input, None);
        let index = [Operand::BuiltIn(BuiltIn::LocalInvocationIndex)];
        b.decorate(lane, Decoration::BuiltIn, index);

        let to_address = b.type_pointer(None, StorageClass::PushConstant, address);
        let to_word = b.type_pointer(None, StorageClass::PhysicalStorageBuffer, ulong);
        let fits = "the sample is well formed";
        let first = b
            .begin_function(void, None, FunctionControl::NONE, plain)
            .expect(fits);
        b.begin_block(None).expect(fits);
        let place = b.access_chain(to_address, None, push, [zero]).expect(fits);
        let place = b.load(address, None, place, None, []).expect(fits);
        let place = b.access_chain(to_word, None, place, [zero]).expect(fits);
        let aligned = [Operand::LiteralBit32(8)];
        let value = b
            .load(ulong, None, place, Some(MemoryAccess::ALIGNED), aligned)
            .expect(fits);
        let value = b.u_convert(uint, None, value).expect(fits);
        let sign = [Operand::IdRef(minus_one)];
        let value = {
            let absolute = b.ext_inst(int, None, functions, 5, sign).expect(fits);
            let absolute = b.bitcast(uint, None, absolute).expect(fits);
            b.i_add(uint, None, value, absolute).expect(fits)
        };
        let index = b.load(uint, None, lane, None, []).expect(fits);
        let slot = b.access_chain(element, None, shared, [index]).expect(fits);
        b.store(slot, value, Some(MemoryAccess::NON_PRIVATE_POINTER), [])
            .expect(fits);
        b.store(flag, zero, Some(MemoryAccess::NON_PRIVATE_POINTER), [])
            .expect(fits);
        b.control_barrier(lane_scope, lane_scope, semantics)
            .expect(fits);
        b.ret().expect(fits);
        b.end_function().expect(fits);
        let second = b
            .begin_function(void, None, FunctionControl::NONE, plain)
            .expect(fits);
        b.begin_block(None).expect(fits);
        b.ret().expect(fits);
        b.end_function().expect(fits);
        b.name(first, "first");

        b.entry_point(self.model, first, "first", [push, shared, flag, lane]);
        if let Some(size) = self.local_size {
            b.execution_mode(first, ExecutionMode::LocalSize, size);
        }
        b.entry_point(ExecutionModel::GLCompute, second, self.second, [other]);
        b.execution_mode(second, ExecutionMode::LocalSize, [64, 1, 1]);
        b.module().assemble()
    }
}

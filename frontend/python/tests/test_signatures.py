"""What is documented has the parameters and the defaults that the documentation says."""

import inspect

import pytest

import qd
from qd.simt import block, grid, reductions, subgroup, warp

OF_PACKAGE = {
    qd.ndarray: "dtype, shape",
    qd.field: 'dtype, shape=None, order=None, name="", offset=None, needs_grad=False, needs_dual=False',
    qd.loop_config: "*, block_dim=None, serialize=False, parallelize=None, block_dim_adaptive=True, bit_vectorize=False, name=None",
    qd.ndrange: "*dimensions, axes=None",
    qd.types.ndarray: "dtype=None, ndim=None",
    qd.Field.to_numpy: "self, dtype=None, *, copy=True",
    qd.Field.to_torch: "self, device=None, *, copy=True",
    qd.Field.from_numpy: "self, array",
    qd.Field.from_torch: "self, tensor",
    qd.Field.copy_from: "self, other",
    qd.Field.to_dlpack: "self, versioned=False",
    qd.Field.fill: "self, value",
    qd.lang.impl.get_max_shared_memory_bytes: "*, is_lowerbound_ok",
    qd.lang.misc.is_extension_supported: "arch, ext",
    qd.math.fns: "mask, base, offset",
    qd.algorithms.parallel_sort: "keys, values=None",
    qd.algorithms.PrefixSumExecutor: "length",
    qd.algorithms.PrefixSumExecutor.run: "self, input_arr",
}

# `deterministic` is beyond what the peer has.
OF_ALGORITHMS = {
    "reduce_{add,min,max}": "arr, out, scratch, n, dtype, log256_max_n, *, deterministic=False",
    "exclusive_scan_{add,min,max}": "arr, out, scratch, n, dtype, log256_max_n, *, deterministic=False",
    "select": "arr, flags, out, num_out, scratch, n, log256_max_n",
    "sort": "keys, tmp_keys, values, tmp_values, scratch, n, key_dtype, has_values, end_bit, log256_max_n",
    "reduce_by_key_add": "keys_in, values_in, keys_out, values_out, num_runs, scratch, n, value_dtype, log256_max_n, *, deterministic=False",
    "{reduce,exclusive_scan,sort}_scratch_slots": "N, log256_max_n=None",
    "{select,reduce_by_key}_scratch_slots": "N",
}

OF_SUBGROUP = {
    "{sync,mem_fence,elect,group_size,log2_group_size,invocation_id,barrier,memory_barrier}": "",
    "{ballot,ballot_full_subgroup}": "predicate",
    "ballot_first_n": "predicate, n",
    "{broadcast,shuffle}": "value, index",
    "broadcast_first": "value",
    "shuffle_{up,down}": "value, offset",
    "shuffle_xor": "value, mask",
    "lanemask_{lt,le,eq,gt,ge}": "lane_id",
}
# Those with a form of tiles, too.
OF_TILES = {
    "{all,any}_true": "predicate",
    "all_equal": "value",
    "{reduce,reduce_all}_{add,min,max}": "value",
    "segmented_reduce_{add,min,max}": "value, head_flag",
    "{inclusive,exclusive}_{add,mul,min,max,and,or,xor}": "value",
    "bitonic_sort_kv": "key, value",
}
OF_REDUCTIONS = {
    "{_inclusive_scan,_reduce}_tiled": "value, op, log2_size",
    "_exclusive_scan_tiled": "value, op, identity, log2_size",
    "_bin_{add,mul,min,max,and,or,xor}": "a, b",
    "_typed_{min,max}_identity": "value",
}
OF_BLOCK = {
    "{sync,mem_fence,mem_sync,thread_idx,global_thread_idx}": "",
    "sync_{all,any,count}_nonzero": "predicate",
    "SharedArray": "shape, dtype",
    "{reduce,reduce_all,inclusive_scan}": "value, block_dim, op, dtype",
    "exclusive_scan": "value, block_dim, op, identity, dtype",
    "{reduce,reduce_all,inclusive,exclusive}_{add,min,max}": "value, block_dim, dtype",
    "radix_rank_match_atomic_or": "key, block_dim, radix_bits, bit_start, num_bits, bins, excl_prefix",
}
OF_WARP = {
    "{all_nonzero,any_nonzero,unique}": "mask, predicate",
    "match_{any,all}": "mask, value",
    "ballot": "predicate",
    "active_mask": "",
    "shfl_sync_{i32,f32}": "mask, value, lane",
    "shfl_{up,down}_{i32,f32}": "mask, value, offset",
    "shfl_xor_i32": "mask, value, lanes",
    "sync": "mask",
}


def names(pattern):
    """All names of a pattern such as `a_{b,c}`."""
    before, brace, rest = pattern.partition("{")
    if not brace:
        return [before]
    choices, _, after = rest.partition("}")
    return [before + choice + end for choice in choices.split(",") for end in names(after)]


def of_modules():
    """The functions of each module, with their parameters."""
    tiled = {f"{pattern}_tiled": f"{parameters}, log2_size" for pattern, parameters in OF_TILES.items()}
    tables = [
        (qd.algorithms, OF_ALGORITHMS), (subgroup, {**OF_SUBGROUP, **OF_TILES, **tiled}), (reductions, OF_REDUCTIONS), (block, OF_BLOCK),
        (grid, {"{mem_fence,memfence}": ""}), (warp, OF_WARP),
    ]  # fmt: skip
    for module, table in tables:
        for pattern, parameters in table.items():
            for name in names(pattern):
                yield pytest.param(getattr(module, name), parameters, id=f"{module.__name__}.{name}")


def parameters_of(function):
    """The parameters with their kinds and defaults, without annotations."""
    return [(each.name, each.kind, each.default) for each in inspect.signature(function).parameters.values()]


def said(parameters):
    return parameters_of(eval(f"lambda {parameters}: None"))


@pytest.mark.parametrize("function, parameters", [*(pytest.param(*each, id=each[0].__qualname__) for each in OF_PACKAGE.items()), *of_modules()])
def test_parameters_and_defaults(function, parameters):
    assert parameters_of(function) == said(parameters)


def test_init_has_what_the_peer_has():
    """And `emulate` after it; all else is an option by its name."""
    text = "arch=None, default_fp=None, default_ip=None, enable_fallback=True, require_version=None, print_non_pure=False, src_ll_cache=True"
    assert parameters_of(qd.init) == said(f"{text}, emulate=False, **options")


def test_fields_and_ndarrays_are_asked_the_same():
    for name in ("to_numpy", "from_numpy", "to_torch", "from_torch", "copy_from", "fill", "to_dlpack"):
        assert getattr(qd.Ndarray, name) is getattr(qd.Field, name)


def test_the_defaults_of_perf_dispatch():
    """None stands for the module's constants, which a program may set: so a dispatcher says what they are."""
    given = parameters_of(qd.perf_dispatch)
    assert [name for name, *_ in given] == ["get_geometry_hash", "first_warmup", "warmup", "active", "repeat_after_count", "repeat_after_seconds"]
    assert {kind for _, kind, _ in given} == {inspect.Parameter.KEYWORD_ONLY} and given[0][2] is inspect.Parameter.empty

    def made(**says):
        @qd.perf_dispatch(get_geometry_hash=lambda a: 0, **says)
        def prototype(a): ...

        return [getattr(prototype, name) for name in ("num_first_warmup", "num_warmup", "num_active", "repeat_after_count", "repeat_after_seconds")]

    assert made() == [1, 0, 1, 300, None]
    assert made(repeat_after_seconds=2.0) == [1, 0, 1, None, 2.0]
    assert made(repeat_after_count=5, warmup=4) == [1, 4, 1, 5, None]

"""The FileCheck suite: lit's configuration, as LLVM's own suites have it.

`cargo xtask lit` builds the tools and runs it. By hand, with the tools built:

    QD_BIN_DIR=target/debug /usr/lib/llvm-22/bin/lit -v tests/filecheck
"""

import ctypes.util
import glob
import importlib.util
import os
import platform
import re
import shutil
import sys

# Test formats travel to lit's workers by name, so theirs must be a module that can be imported.
here = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, here)

from round_trip import RoundTripTest

llvm_bin = "/usr/lib/llvm-22/bin"
bin_dir = os.path.abspath(
    os.environ.get("QD_BIN_DIR", os.path.join(here, "..", "..", "target", "debug"))
)
qd_opt = os.path.join(bin_dir, "qd-opt")
if not os.path.exists(qd_opt):
    lit_config.fatal(f"{qd_opt} does not exist: build the tools, as `cargo xtask lit` does")

config.name = "qd"
config.suffixes = [".mlir"]
config.excludes = ["Inputs"]
config.test_source_root = here
config.test_exec_root = os.path.join(bin_dir, "filecheck")
config.test_format = RoundTripTest(qd_opt)

config.environment["PATH"] = os.pathsep.join([bin_dir, llvm_bin, config.environment["PATH"]])
# As upstream's suites: a misspelt prefix, or a variable kept for the next function, is an error.
config.environment["FILECHECK_OPTS"] = "-enable-var-scope --allow-unused-prefixes=false"


def tool(name, path):
    """Lets RUN lines call a tool by name; part of a path or of a flag is not its name."""
    config.substitutions.append((rf"(?<![\w./-]){re.escape(name)}(?![\w./-])", path))


for name in ["qd-cache", "qd-opt", "qd-query", "qd-reduce", "qd-run", "qd-translate"]:
    tool(name, os.path.join(bin_dir, name))
for name in ["FileCheck", "not", "split-file"]:
    tool(name, os.path.join(llvm_bin, name))
tool("mlir-opt-22", os.path.join(llvm_bin, "mlir-opt"))

# Our dialect and passes for `mlir-opt-22 --load-dialect-plugin=… --load-pass-plugin=…`.
config.substitutions.append(("%qd_plugin", os.path.join(bin_dir, "libqd_plugin.so")))
# The interpreter that has NumPy, whatever python3 is first on the PATH.
config.substitutions.append(("%python", sys.executable))
config.substitutions.append(("%lit", f"{sys.executable} {llvm_bin}/lit"))

# Features say what a test needs: `REQUIRES: numpy`. An architecture is the machine's, by LLVM's name.
if importlib.util.find_spec("numpy"):
    config.available_features.add("numpy")
if platform.machine() == "x86_64":
    config.available_features.add("x86")
# The judge of SPIR-V modules: every one that a test makes is put to it.
if shutil.which("spirv-val"):
    config.available_features.add("spirv-tools")
    config.environment["QD_SPIRV_VAL"] = "1"

# A Vulkan device on the CPU. Its subgroups have 8 lanes, and a test that wants others sets the width itself: 32 bits a
# lane. Caches would hold what was compiled for the width of an earlier test.
lavapipe = glob.glob("/usr/share/vulkan/icd.d/lvp_icd*.json") + glob.glob("/etc/vulkan/icd.d/lvp_icd*.json")
config.environment["QD_CACHE_DIR"] = ""
config.environment["QD_CACHE_REMOTE"] = ""
if lavapipe and ctypes.util.find_library("vulkan"):
    config.available_features.add("vulkan")
    config.environment["VK_DRIVER_FILES"] = lavapipe[0]
    config.environment["LP_NATIVE_VECTOR_WIDTH"] = "256"
    config.environment["MESA_SHADER_CACHE_DISABLE"] = "true"
    config.environment["GALLIVM_PERF"] = "nopt"
# What the layer finds is an error of the run. Conformance runs without it, as programs do.
if glob.glob("/usr/share/vulkan/explicit_layer.d/VkLayer_khronos_validation.json"):
    config.environment["QD_VULKAN_VALIDATION"] = "1"

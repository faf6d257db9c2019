"""The FileCheck tests of `my-opt`. `cargo test` runs them; by hand, with the program built:

    MY_BIN_DIR=target/debug /usr/lib/llvm-22/bin/lit -v tests
"""

import os

import lit.formats

llvm_bin = "/usr/lib/llvm-22/bin"
bin_dir = os.path.abspath(os.environ["MY_BIN_DIR"])

config.name = "my-passes"
config.suffixes = [".mlir"]
config.test_format = lit.formats.ShTest(execute_external=False)
config.test_source_root = os.path.dirname(os.path.abspath(__file__))
config.test_exec_root = os.path.join(bin_dir, "my-passes-filecheck")
config.environment["PATH"] = os.pathsep.join([bin_dir, llvm_bin, config.environment["PATH"]])

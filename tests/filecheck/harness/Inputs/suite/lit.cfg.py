"""Files for harness/round-trip.mlir, under the configuration of the whole suite."""

import os

here = os.path.dirname(os.path.abspath(__file__))
lit_config.load_config(config, os.path.join(here, "..", "..", "..", "lit.cfg.py"))

config.name = "round-trip"
config.test_source_root = here
config.test_exec_root = os.environ["QD_EXEC_ROOT"]

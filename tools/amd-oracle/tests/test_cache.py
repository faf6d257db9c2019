"""What the cache of compiled instructions is keyed by."""

import pathlib
import sys
import unittest

from .harness import OracleError  # noqa: F401  It puts the package on the path.
from amd_oracle import compile as compiler


class Keys(unittest.TestCase):
    def test_functions_depend_on_all_that_makes_their_text(self):
        modules = [m for n, m in sys.modules.items() if n == "amd_oracle.pcode" or n.startswith("amd_oracle.emit")]
        self.assertGreater(len(modules), 5)
        for module in modules:
            self.assertIn(pathlib.Path(module.__file__).read_bytes(), compiler.basis(), module.__name__)


if __name__ == "__main__":
    unittest.main()

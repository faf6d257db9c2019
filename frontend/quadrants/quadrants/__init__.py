"""`import quadrants` is `import qd`: the modules are the same objects."""

import sys

import qd

# This module makes place for the other.
del sys.modules[__name__]
qd.install_as_quadrants()

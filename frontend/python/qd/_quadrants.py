"""The name that programs for the peer import."""

import importlib
import importlib.util
import sys

NAME = "quadrants"


class _Finder:
    """Finds modules of that name: those of `qd`, which are the same objects."""

    @staticmethod
    def find_spec(name, path=None, target=None):
        if name != NAME and not name.startswith(f"{NAME}."):
            return None
        ours = "qd" + name[len(NAME) :]
        if importlib.util.find_spec(ours) is None:
            return None
        return importlib.util.spec_from_loader(name, _Loader(ours))


class _Loader:
    def __init__(self, ours):
        self.ours = ours

    def create_module(self, spec):
        module = importlib.import_module(self.ours)
        self.spec = module.__spec__
        return module

    def exec_module(self, module):
        # Import has put the other name's in its place.
        module.__spec__ = self.spec


def install_as_quadrants():
    """From here on `import quadrants` is `import qd`. An error where another package of that name is loaded already."""
    loaded = sys.modules.get(NAME)
    ours = importlib.import_module("qd")
    if loaded is not None and loaded is not ours:
        place = getattr(loaded, "__file__", None) or "memory"
        raise ImportError(f"another '{NAME}' is loaded already, from {place}")
    if not any(isinstance(finder, _Finder) for finder in sys.meta_path):
        sys.meta_path.insert(0, _Finder())
    sys.modules[NAME] = ours

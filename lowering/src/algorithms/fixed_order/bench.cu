// Elements of several values are measured beside the same in any order, not beside CUB.

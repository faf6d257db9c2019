"""Makes the files of bad-npy.mlir in the current folder."""

import numpy as np

good = np.array([1, 2, 2**32 - 1], dtype=np.uint32)
np.save("good.npy", good)
np.save("big-endian.npy", good.astype(">u4"))
np.save("signed.npy", good.view(np.int32))
np.save("float.npy", good.astype(np.float32))
np.save("wide.npy", good.astype(np.uint64))
np.save("half.npy", np.zeros(3, dtype=np.float16))
np.save("structured.npy", np.zeros(3, dtype=[("x", np.uint32), ("y", np.float32)]))
np.save("table.npy", np.zeros((3, 2), dtype=np.uint32))
np.save("fortran.npy", np.zeros((3, 2), dtype=np.uint32, order="F"))

with open("good.npy", "rb") as file:
    data = file.read()
for name, content in {
    "truncated": data[:-1],
    "header": data[:40],
    "longer": data + b"more",
    "text": b"1 2 3\n",
}.items():
    with open(name + ".npy", "wb") as file:
        file.write(content)

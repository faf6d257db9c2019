"""Reads what is needed of an AMD code object: segments, symbols, relocations, kernel descriptors, notes."""

import struct
from dataclasses import dataclass

MACHINE = {0x041: "gfx1100", 0x04C: "gfx942", 0x04E: "gfx1201", 0x03F: "gfx90a"}
FAMILY = {"gfx90a": "cdna", "gfx942": "cdna", "gfx1100": "rdna3", "gfx1201": "rdna4"}


class ElfError(Exception):
    """The file is no code object that can be executed."""


@dataclass
class Kernel:
    name: str
    entry: int
    shared: int
    private: int
    kernarg: int
    rsrc1: int
    rsrc2: int
    rsrc3: int
    properties: int
    preload: int
    max_threads: int
    vgprs: int
    agprs: int

    @property
    def wave(self):
        return 32 if self.properties >> 10 & 1 else 64


class CodeObject:
    def __init__(self, image):
        try:
            self.read(image)
        except (struct.error, IndexError, UnicodeDecodeError) as error:
            raise ElfError(f"malformed code object: {error}") from error

    def read(self, image):
        if image[:4] != b"\x7fELF" or image[4] != 2:
            raise ElfError("not a 64-bit ELF file")
        (_, machine, _, _, phoff, shoff, flags, _, phsize, phcount, shsize, shcount, _) = struct.unpack_from("<HHIQQQIHHHHHH", image, 16)
        if machine != 224:
            raise ElfError("not code for an AMD GPU")
        number = flags & 0xFF
        if number not in MACHINE:
            raise ElfError(f"unknown processor {number:#x}")
        self.architecture = MACHINE[number]
        self.family = FAMILY[self.architecture]
        self.segments = []
        for i in range(phcount):
            kind, _, offset, address, _, filesize, memsize, _ = struct.unpack_from("<IIQQQQQQ", image, phoff + i * phsize)
            if kind == 1:
                self.segments.append((address, image[offset:offset + filesize], memsize))
        if not self.segments:
            raise ElfError("nothing to load")
        size = max(a + m for a, _, m in self.segments)
        if size > 1 << 28:
            raise ElfError("too large")
        self.memory = bytearray(size)
        for address, data, _ in self.segments:
            self.memory[address:address + len(data)] = data
        self.sections = [struct.unpack_from("<IIQQQQIIQQ", image, shoff + i * shsize) for i in range(shcount)]
        self.symbols(image)
        self.kernels = [self.kernel(name[:-3], value) for name, (value, _, _) in self.names.items() if name.endswith(".kd")]

    def symbols(self, image):
        self.names, self.text, self.relocations, self.metadata = {}, [], [], {}
        for kind, link in ((s[1], s[6]) for s in self.sections):
            if kind not in (2, 11):
                continue
        for s in self.sections:
            _, kind, flags, address, offset, size, link, _, _, entry = s
            if kind in (2, 11) and entry:
                strings = self.sections[link][4]
                for at in range(offset, offset + size, entry):
                    name, info, _, _, value, length = struct.unpack_from("<IBBHQQ", image, at)
                    end = image.index(b"\0", strings + name)
                    self.names[image[strings + name:end].decode()] = (value, length, info & 15)
            elif kind == 4 and flags & 2:
                for at in range(offset, offset + size, 24):
                    place, info, addend = struct.unpack_from("<QQq", image, at)
                    if info & 0xFFFFFFFF != 13:
                        raise ElfError(f"relocation of kind {info & 0xffffffff}")
                    self.relocations.append((place, addend))
            elif kind == 7:
                self.note(image[offset:offset + size])
            elif kind == 1 and flags & 4:
                self.text.append((address, size))

    def note(self, data):
        at = 0
        while at + 12 <= len(data):
            name, size, kind = struct.unpack_from("<III", data, at)
            start = at + 12 + (name + 3 & ~3)
            if kind == 32:
                self.metadata, _ = unpack(data, start)
            at = start + (size + 3 & ~3)

    def kernel(self, name, at):
        shared, private, kernarg = struct.unpack_from("<III", self.memory, at)
        entry, = struct.unpack_from("<q", self.memory, at + 16)
        rsrc3, rsrc1, rsrc2, properties, preload = struct.unpack_from("<IIIHH", self.memory, at + 44)
        said = next((k for k in self.metadata.get("amdhsa.kernels", []) if k.get(".name") == name), {})
        if self.family == "cdna":
            total = ((rsrc1 & 63) + 1) * 8
            first_agpr = ((rsrc3 & 63) + 1) * 4
            vgprs, agprs = min(first_agpr, total), max(0, total - first_agpr)
        else:
            vgprs, agprs = ((rsrc1 & 63) + 1) * (8 if properties >> 10 & 1 else 4), 0
        return Kernel(name, at + entry, shared, private, kernarg, rsrc1, rsrc2, rsrc3, properties, preload,
                      said.get(".max_flat_workgroup_size", 1024), min(vgprs, 256), min(agprs, 256))


def unpack(data, at):
    """One MessagePack value and the offset behind it."""
    tag = data[at]
    at += 1
    if tag < 0x80:
        return tag, at
    if tag >= 0xE0:
        return tag - 256, at
    if tag < 0x90:
        return pairs(data, at, tag & 15)
    if tag < 0xA0:
        return items(data, at, tag & 15)
    if tag < 0xC0:
        return data[at:at + (tag & 31)].decode(), at + (tag & 31)
    if tag in (0xC0, 0xC2, 0xC3):
        return {0xC0: None, 0xC2: False, 0xC3: True}[tag], at
    sizes = {0xC4: ("B", 1), 0xC5: (">H", 2), 0xC6: (">I", 4), 0xD9: ("B", 1), 0xDA: (">H", 2), 0xDB: (">I", 4)}
    if tag in sizes:
        form, width = sizes[tag]
        count, = struct.unpack_from(form, data, at)
        at += width
        raw = data[at:at + count]
        return (raw if tag < 0xD0 else raw.decode()), at + count
    plain = {0xCA: (">f", 4), 0xCB: (">d", 8), 0xCC: ("B", 1), 0xCD: (">H", 2), 0xCE: (">I", 4), 0xCF: (">Q", 8),
             0xD0: ("b", 1), 0xD1: (">h", 2), 0xD2: (">i", 4), 0xD3: (">q", 8)}
    if tag in plain:
        form, width = plain[tag]
        return struct.unpack_from(form, data, at)[0], at + width
    if tag in (0xDC, 0xDD, 0xDE, 0xDF):
        form, width = (">H", 2) if tag in (0xDC, 0xDE) else (">I", 4)
        count, = struct.unpack_from(form, data, at)
        return (items if tag < 0xDE else pairs)(data, at + width, count)
    raise ElfError(f"metadata with tag {tag:#x}")


def items(data, at, count):
    out = []
    for _ in range(count):
        value, at = unpack(data, at)
        out.append(value)
    return out, at


def pairs(data, at, count):
    out = {}
    for _ in range(count):
        key, at = unpack(data, at)
        out[key], at = unpack(data, at)
    return out, at

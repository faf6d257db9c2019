//! Compiled kernels as plain data: binaries, launch plan, reflection. Knows no
//! IR.

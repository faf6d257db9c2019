//! Typed builders and accessors of the dialect's ops, made from their ODS.
//!
//! A module per family: `qd.simt.shuffle` is [`simt::ShuffleOperation`], with a
//! builder that the compiler holds to the op's operands, results and
//! attributes.
#![allow(missing_docs)]

macro_rules! family {
    ($name:ident, $file:literal) => {
        pub mod $name {
            mod generated {
                melior::dialect! {
                    name: "qd",
                    files: [$file],
                    include_directory_env_vars: ["QD_TD_DIR", "QD_MLIR_TD_DIR"],
                }
            }
            pub use generated::qd::*;
        }
    };
}

family!(simt, "QdSimt.td");
family!(grid, "QdGrid.td");
family!(algo, "QdAlgo.td");
family!(math, "QdMath.td");

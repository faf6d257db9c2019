// Each part that is IR goes alone, so that names may repeat; data is passed over.
// RUN: true

//--- a.mlir
func.func private @f()

//--- b.mlir
func.func private @f()

//--- data.txt
not IR

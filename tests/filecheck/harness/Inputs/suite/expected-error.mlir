// Only the chunk that is meant to be invalid is passed over.
// RUN: true

// expected-error @below {{block with no terminator}}
func.func @no_terminator() {
}

// -----

func.func private @f()

// Not valid, and nothing says that this is meant.
// RUN: true

func.func @no_terminator() {
}

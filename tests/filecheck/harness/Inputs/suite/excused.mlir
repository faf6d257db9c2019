// Not valid, and the file says why.
// NO-ROUNDTRIP: the missing terminator is the subject
// RUN: true

func.func @no_terminator() {
}

// An excuse needs a reason.
// NO-ROUNDTRIP:
// RUN: true

func.func private @f()

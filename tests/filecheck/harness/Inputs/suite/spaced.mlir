// Strings may hold what they like; between words stands one space.
// RUN: true

func.func private @kept() attributes {qd.name = "two  spaces ,"}

// -----

func.func private @lost() attributes {qd.spaced}

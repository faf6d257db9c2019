// The second function has what the tool forgets.
// RUN: true

func.func private @kept() attributes {kept}

// -----

func.func private @lost() attributes {lossy}

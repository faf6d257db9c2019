// What devices there are is known before anything is compiled, for people and for programs; the host is always one.
// RUN: qd-run --devices | FileCheck %s
// RUN: qd-run --devices=json | %python -c "import json, sys; cpu = json.load(sys.stdin)['devices'][0]; print(cpu['id'], cpu['target'], cpu['subgroup_sizes'], cpu['threads'], cpu['memory_bytes'] > 0)" | FileCheck %s --check-prefix=JSON
// RUN: not qd-run --devices %s 2>&1 | FileCheck %s --check-prefix=BOTH
// RUN: not qd-run 2>&1 | FileCheck %s --check-prefix=NEITHER

// CHECK: device {{ *}}target {{ *}}subgroups {{ *}}threads {{ *}}shared {{ *}}memory {{ *}}name
// CHECK: cpu {{ *}}cpu {{ *}}4, 8, 16, 32, 64 {{ *}}1024 {{ *}}-
// JSON: cpu cpu [4, 8, 16, 32, 64] 1024 True
// BOTH: error: the argument '--devices[=<FORMAT>]' cannot be used with one or more of the other specified arguments
// NEITHER: error: the following required arguments were not provided:
// NEITHER-NEXT: <FILE>

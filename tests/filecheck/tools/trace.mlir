// Every pass is a span, ours and upstream's, nested pipelines' included: in the
// file that --trace names, by its own name, and in what QD_LOG asks for.

// RUN: qd-opt %s --pass-pipeline='builtin.module(qd-expand-for-each,func.func(canonicalize,cse))' --trace=%t.json -o %t.out
// RUN: FileCheck %s --check-prefix=TRACE < %t.json
// RUN: env QD_LOG=info qd-opt %s --canonicalize -o %t.out 2>&1 | FileCheck %s --check-prefix=LOG
// RUN: env QD_LOG=warn qd-opt %s --canonicalize -o %t.out 2>&1 | FileCheck %s --allow-empty --check-prefix=QUIET
// RUN: not qd-opt %s --pass-pipeline='builtin.module(qd-select-subgroup-size{wave=48},cse)' --trace=%t.failed.json 2>&1 | FileCheck %s --check-prefix=ERROR
// RUN: FileCheck %s --check-prefix=FAILED < %t.failed.json

// TRACE: "name":"qd-expand-for-each"{{.*}}"ph":"B"
// TRACE: "name":"qd-expand-for-each"{{.*}}"ph":"E"
// TRACE: "name":"canonicalize"{{.*}}"ph":"B"
// TRACE: "name":"canonicalize"{{.*}}"ph":"E"
// TRACE: "name":"cse"{{.*}}"ph":"B"
// TRACE: "name":"cse"{{.*}}"ph":"E"
// LOG: INFO pass{name="canonicalize"}: {{.*}}close time.busy=
// QUIET-NOT: pass
// ERROR: error:
// FAILED: "name":"qd-select-subgroup-size"{{.*}}"ph":"E"
// FAILED-NOT: "name":"cse"

func.func @nothing() {
  return
}

// Without a device there is one message, located at the file, and nothing is written.

// DEFINE: %{run} = env CUDA_VISIBLE_DEVICES= qd-run %S/Inputs/add.mlir --arg a=[1] --arg b=[2] --arg out=[0] --arg n=1
// RUN: rm -f %t.npy
// RUN: not %{run} --target=nvptx:sm_90 --out out=%t.npy 2>&1 | FileCheck %s
// RUN: not ls %t.npy
// CHECK: qd-run: {{.*}}add.mlir: {{there is no NVIDIA driver: libcuda.so.1 cannot be loaded|the NVIDIA driver does not start: CUDA_ERROR_NO_DEVICE.*}}
// CHECK-NOT: {{.}}

// RUN: not %{run} --target=nvptx 2>&1 | FileCheck %s --check-prefix=NONE
// NONE: qd-run: target 'nvptx' {{.*}}sm_80, sm_90, sm_100
// RUN: not %{run} --target=nvptx:sm_50 2>&1 | FileCheck %s --check-prefix=UNKNOWN
// UNKNOWN: qd-run: target 'nvptx' has no architecture 'sm_50': expected one of sm_80, sm_90, sm_100
// RUN: not %{run} --target=nvptx:sm_90,wave=16 2>&1 | FileCheck %s --check-prefix=WAVE
// WAVE: qd-run: target 'nvptx:sm_90' has no wave of '16': expected one of 32

// An artifact can be made without a device, and says the same when it is run.
// RUN: qd-translate %S/Inputs/add.mlir --target=nvptx:sm_90 -o %t.qd
// RUN: not env CUDA_VISIBLE_DEVICES= qd-run %t.qd --arg a=[1] --arg b=[2] --arg out=[0] --arg n=1 2>&1 | FileCheck %s --check-prefix=ARTIFACT
// ARTIFACT: qd-run: {{.*}}.qd: {{there is no NVIDIA driver|the NVIDIA driver does not start}}
// RUN: not qd-run %t.qd --target=cpu --arg a=[1] --arg b=[2] --arg out=[0] --arg n=1 2>&1 | FileCheck %s --check-prefix=OTHER
// OTHER: the artifact was made for target 'nvptx:sm_90', not for 'cpu'

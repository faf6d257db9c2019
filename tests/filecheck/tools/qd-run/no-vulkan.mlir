// Without a Vulkan device, or with one whose subgroups have another size, there is one message, located at the file, and
// nothing is written.

// REQUIRES: vulkan

// DEFINE: %{data} = --arg a=[1] --arg b=[2] --arg out=[0] --arg n=1
// DEFINE: %{run} = qd-run %S/Inputs/add.mlir %{data}
// RUN: rm -f %t.npy
// RUN: not env VK_DRIVER_FILES=/nowhere.json %{run} --target=vulkan:1.3,subgroup=8 --out out=%t.npy 2>&1 | FileCheck %s --implicit-check-not=qd-run:
// RUN: not env VK_DRIVER_FILES=/nowhere.json %{run} --target=vulkan:1.3 --out out=%t.npy 2>&1 | FileCheck %s --implicit-check-not=qd-run:
// RUN: not ls %t.npy
// CHECK: qd-run: {{.*}}there is no Vulkan

// RUN: not %{run} --target=vulkan:1.3,subgroup=16 --out out=%t.npy 2>&1 | FileCheck %s --check-prefix=LANES
// RUN: not ls %t.npy
// LANES: qd-run: {{.*}}add.mlir: the artifact is for target 'vulkan:1.3,subgroup=16', not for vulkan:0 ({{.*}}), which takes vulkan:1.3,subgroup=8

// RUN: not %{run} --target=vulkan:1.3,subgroup=5 2>&1 | FileCheck %s --check-prefix=SIZE
// SIZE: qd-run: target 'vulkan:1.3' has no subgroup of '5': expected one of 4, 8, 16, 32, 64
// RUN: not %{run} --target=vulkan:1.3,wave=8 2>&1 | FileCheck %s --check-prefix=OPTION
// OPTION: qd-run: unknown option 'wave=8' of target 'vulkan:1.3': expected subgroup=N
// RUN: not %{run} --target=vulkan:1.2 2>&1 | FileCheck %s --check-prefix=VERSION
// VERSION: qd-run: target 'vulkan' has no architecture '1.2': expected one of 1.3

// An artifact can be made without a device, says the same when it is run, and runs where there is one. Left open, the
// subgroup is the device's.
// RUN: env VK_DRIVER_FILES=/nowhere.json qd-translate %S/Inputs/add.mlir --target=vulkan:1.3,subgroup=8 -o %t.qd
// RUN: not env VK_DRIVER_FILES=/nowhere.json qd-run %t.qd %{data} 2>&1 | FileCheck %s --check-prefix=ARTIFACT
// ARTIFACT: qd-run: {{.*}}.qd: there is no Vulkan
// RUN: qd-run %t.qd %{data} --print out | FileCheck %s --check-prefix=SUM
// RUN: env LP_NATIVE_VECTOR_WIDTH=128 %{run} --target=vulkan:1.3 --print out | FileCheck %s --check-prefixes=FOUR,SUM
// FOUR: add on vulkan:1.3,subgroup=4{{$}}
// SUM: out = [3]
// RUN: not qd-run %t.qd --target=cpu %{data} 2>&1 | FileCheck %s --check-prefix=OTHER
// OTHER: the artifact was made for target 'vulkan:1.3,subgroup=8', not for 'cpu'

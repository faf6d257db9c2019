// A Vulkan device is listed with the subgroup sizes and limits that it states, and its target names them.
// REQUIRES: vulkan
// RUN: env LP_NATIVE_VECTOR_WIDTH=128 qd-run --devices | FileCheck %s -DLANES=4
// RUN: env LP_NATIVE_VECTOR_WIDTH=512 qd-run --devices | FileCheck %s -DLANES=16
// RUN: env LP_NATIVE_VECTOR_WIDTH=128 qd-run --devices=json | %python -c "import json, sys; gpu = json.load(sys.stdin)['devices'][1]; print(gpu['id'], gpu['target'], gpu['subgroup_sizes'], gpu['shared_bytes'])" | FileCheck %s --check-prefix=JSON

// CHECK: device {{ *}}target {{ *}}subgroups {{ *}}threads {{ *}}shared {{ *}}memory {{ *}}name
// CHECK: vulkan:0 {{ *}}vulkan:1.3,subgroup=[[LANES]] {{ *}}[[LANES]] {{ *}}{{[0-9]+}} {{ *}}32 KiB {{.*}}llvmpipe
// CHECK: no device of cuda: 
// JSON: vulkan:0 vulkan:1.3,subgroup=4 [4] 32768

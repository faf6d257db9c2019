// On Vulkan, loops over a flag on the device, fills and dispatch do what ../control.mlir says; a loop that does not end is an
// error where one is asked for, and so is a dispatch that nothing is eligible for.

// REQUIRES: vulkan

// DEFINE: %{run} = qd-run %S/../control.mlir --target=vulkan:1.3
// RUN: %{run} --entry=count_down --arg steps=0 --arg flag=5 --print steps | FileCheck %s --check-prefix=FIVE
// FIVE: count_down on vulkan:1.3,subgroup=8
// FIVE: steps = 5
// RUN: not %{run} --entry=count_down --arg steps=0 --arg flag=0 --max-iterations=100 2>&1 | FileCheck %s --check-prefix=NO-END
// NO-END: qd-run: kernel 'count_down': a loop was still running after 100 iterations

// DEFINE: %{fill} = %{run} --entry=fill_by_length --arg value=7 --print a -q --arg a
// RUN: %{fill}=zeros[3] | FileCheck %s --check-prefix=SHORT
// SHORT: a = [7, 7, 0]
// RUN: %{fill}=zeros[4] | FileCheck %s --check-prefix=LONG
// LONG: a = [7, 7, 7, 7]
// RUN: not %{fill}=zeros[0] 2>&1 | FileCheck %s --check-prefix=NONE
// NONE: qd-run: {{.*}}fill_by_length

// Which distance has the worst delays?
//
// A group-by over 200,000 flights in one kernel: keep the flights that were
// more than 15 minutes late, bring those of equal distance together, and find
// the distance whose late flights were latest on average. Phases of our own and
// device-wide algorithms take turns; how many flights or distances there are at
// each step is known to the device alone.
//
//   qd-run flights.mlir --arg delay=delay.npy --arg distance=distance.npy \
//       --arg 'n=len(delay)' --print worst_distance --print worst_mean

qd.grid.kernel @flights(
    // The flights: minutes late, miles flown.
    %delay: memref<?xi32> {qd.name = "delay"},
    %distance: memref<?xi32> {qd.name = "distance"},
    %n: memref<i32> {qd.name = "n"},
    // The late ones: a flag for each flight, then delay and distance of those kept.
    %late: memref<?xi32> {qd.name = "late"},
    %late_delay: memref<?xi32> {qd.name = "late_delay"},
    %late_distance: memref<?xi32> {qd.name = "late_distance"},
    %num_late: memref<i32> {qd.name = "num_late"},
    // Per distance: its late flights' delays added up, their number, where they
    // begin among all late flights, their mean delay.
    %distances: memref<?xi32> {qd.name = "distances"},
    %totals: memref<?xi32> {qd.name = "totals"},
    %counts: memref<?xi32> {qd.name = "counts"},
    %offsets: memref<?xi32> {qd.name = "offsets"},
    %means: memref<?xf32> {qd.name = "means"},
    %num_distances: memref<i32> {qd.name = "num_distances"},
    // The answer.
    %worst_distance: memref<1xi32> {qd.name = "worst_distance"},
    %worst_mean: memref<1xf32> {qd.name = "worst_mean"},
    // Workspace: contents do not matter before or after.
    %ones: memref<?xi32> {qd.name = "ones"},
    %other_distance: memref<?xi32> {qd.name = "other_distance"},
    %other_delay: memref<?xi32> {qd.name = "other_delay"},
    %scratch: memref<?xi32> {qd.name = "scratch"},
    %more_scratch: memref<?xi32> {qd.name = "more_scratch"}) {
  %c0 = arith.constant 0 : index
  %one = arith.constant 1 : i32
  %minutes = arith.constant 15 : i32
  %flights = memref.dim %delay, %c0 : memref<?xi32>

  // Flag the late flights and keep them.
  qd.grid.for_each "mark late" %i to %flights count(%n : memref<i32>) {
    %d = memref.load %delay[%i] : memref<?xi32>
    %is_late = arith.cmpi sgt, %d, %minutes : i32
    %flag = arith.extui %is_late : i1 to i32
    memref.store %flag, %late[%i] : memref<?xi32>
  }
  qd.algo.select ins(%delay, %late : memref<?xi32>, memref<?xi32>)
      outs(%late_delay, %num_late : memref<?xi32>, memref<i32>)
      scratch(%scratch : memref<?xi32>) count(%n : memref<i32>) log256_max_n = 3
  qd.algo.select ins(%distance, %late : memref<?xi32>, memref<?xi32>)
      outs(%late_distance, %num_late : memref<?xi32>, memref<i32>)
      scratch(%scratch : memref<?xi32>) count(%n : memref<i32>) log256_max_n = 3

  // Equal distances become neighbours. They are below 2^16: two digits will do.
  qd.algo.sort keys(%late_distance, %other_distance : memref<?xi32>, memref<?xi32>)
      values(%late_delay, %other_delay : memref<?xi32>, memref<?xi32>)
      scratch(%scratch : memref<?xi32>) count(%num_late : memref<i32>)
      log256_max_n = 3 unsigned end_bit = 16

  // Add up and count each distance's delays. The count is a sum of ones; its
  // keys come out a second time and are not needed.
  qd.algo.reduce_by_key add ins(%late_distance, %late_delay : memref<?xi32>, memref<?xi32>)
      outs(%distances, %totals, %num_distances : memref<?xi32>, memref<?xi32>, memref<i32>)
      scratch(%scratch : memref<?xi32>) count(%num_late : memref<i32>) log256_max_n = 3
  qd.grid.fill %ones[%c0 to %flights] = %one : memref<?xi32>
  qd.algo.reduce_by_key add ins(%late_distance, %ones : memref<?xi32>, memref<?xi32>)
      outs(%other_distance, %counts, %num_distances : memref<?xi32>, memref<?xi32>, memref<i32>)
      scratch(%scratch : memref<?xi32>) count(%num_late : memref<i32>) log256_max_n = 3

  // Where each distance's flights begin among the sorted ones.
  qd.algo.exclusive_scan add ins(%counts : memref<?xi32>) outs(%offsets : memref<?xi32>)
      scratch(%scratch : memref<?xi32>) count(%num_distances : memref<i32>) log256_max_n = 3

  qd.grid.for_each "mean delay" %i to %flights count(%num_distances : memref<i32>) {
    %total = memref.load %totals[%i] : memref<?xi32>
    %count = memref.load %counts[%i] : memref<?xi32>
    %total_f = arith.sitofp %total : i32 to f32
    %count_f = arith.sitofp %count : i32 to f32
    %mean = arith.divf %total_f, %count_f : f32
    memref.store %mean, %means[%i] : memref<?xf32>
  }

  // The worst mean, and of equal ones the shorter distance: a combiner of our
  // own, which looks at both.
  qd.algo.reduce ins(%distances, %means : memref<?xi32>, memref<?xf32>)
      outs(%worst_distance, %worst_mean : memref<1xi32>, memref<1xf32>)
      scratch(%scratch, %more_scratch : memref<?xi32>, memref<?xi32>)
      count(%num_distances : memref<i32>) log256_max_n = 3
      identity [0x7FFFFFFF : i32, 0xFF800000 : f32] combiner {
  ^bb0(%left: i32, %left_mean: f32, %right: i32, %right_mean: f32):
    %worse = arith.cmpf ogt, %right_mean, %left_mean : f32
    %equal = arith.cmpf oeq, %right_mean, %left_mean : f32
    %shorter = arith.cmpi slt, %right, %left : i32
    %tie = arith.andi %equal, %shorter : i1
    %take_right = arith.ori %worse, %tie : i1
    %worst = arith.select %take_right, %right, %left : i32
    %mean = arith.select %take_right, %right_mean, %left_mean : f32
    qd.yield %worst, %mean : i32, f32
  }
}

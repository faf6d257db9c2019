//! Ordered accesses and races; blocks that wait for one another.

use crate::support::*;
use qd_interp::Argument;

const SHARED: &str = "memref<64xi32, #gpu.address_space<workgroup>>";

/// Each thread puts its value into shared memory and reads the one that is
/// `apart` (exclusive or) from its own.
fn shared(between: &str, apart: usize) -> String {
    map_text(
        "i32",
        "i32",
        &format!(
            "%s = qd.simt.block.shared : {SHARED}
             %zero = arith.constant 0 : i32
             memref.store %zero, %s[%t] : {SHARED}
             qd.simt.block.sync
             memref.store %x, %s[%t] : {SHARED}
             {between}
             %apart = arith.constant {apart} : index
             %i = arith.xori %t, %apart : index
             %r = memref.load %s[%i] : {SHARED}"
        ),
    )
}

fn input() -> Vec<Argument> {
    map_arguments::<i32, i32>(&(0..64).collect::<Vec<_>>())
}

fn races(text: &str, arguments: Vec<Argument>, wave: u32, words: &[&str]) {
    let fault = faults(text, arguments, wave, &[&["data race"], words].concat());
    assert_eq!(fault.notes.len(), 1, "names the other access: {fault}");
}

#[test]
fn shared_memory() {
    run(&shared("", 0), input(), 32);
    races(
        &shared("", 1),
        input(),
        32,
        &["memref.load", "memref.store", "one subgroup"],
    );
    races(&shared("", 33), input(), 32, &["one block"]);
    // A subgroup barrier orders its own lanes alone.
    run(&shared("qd.simt.sync", 1), input(), 32);
    // What comes after a barrier is not ordered by it.
    let again = format!("qd.simt.sync\n memref.store %x, %s[%t] : {SHARED}");
    races(&shared(&again, 1), input(), 32, &["one subgroup"]);
    let again = format!("qd.simt.block.sync\n memref.store %x, %s[%t] : {SHARED}");
    races(&shared(&again, 33), input(), 32, &["one block"]);
    races(&shared("qd.simt.sync", 33), input(), 32, &["one block"]);
    run(&shared("qd.simt.sync", 33), input(), 64);
    run(&shared("qd.simt.block.sync", 33), input(), 32);
    // Lanes that meet in a shuffle have not exchanged memory.
    let shuffle = "%u = arith.constant 1 : i32\n %v = qd.simt.shuffle xor %x, %u : i32";
    races(&shared(shuffle, 1), input(), 32, &["one subgroup"]);
}

/// A load must be over before another thread's store, too.
#[test]
fn store_after_load() {
    let text = |between: &str| {
        map_text(
            "i32",
            "i32",
            &format!(
                "%one = arith.constant 33 : index
                 %i = arith.xori %t, %one : index
                 %r = memref.load %in[%i] : memref<64xi32>
                 {between}
                 memref.store %x, %in[%t] : memref<64xi32>"
            ),
        )
    };
    races(
        &text(""),
        input(),
        64,
        &["this store", "another thread's load"],
    );
    run(&text("qd.simt.block.sync"), input(), 32);
}

#[test]
fn stores_to_one_element() {
    let text = |body: &str| phase("%a: memref<1xi32>", 2, 64, body);
    let clear = || vec![buffer(&[0i32])];
    let all = "%c0 = arith.constant 0 : index
      %v = arith.constant 1 : i32
      memref.store %v, %a[%c0] : memref<1xi32>";
    races(
        &text(all),
        clear(),
        32,
        &["another thread's store", "one subgroup"],
    );
    // One thread of each block.
    let leaders = "%c0 = arith.constant 0 : index
      %v = arith.constant 1 : i32
      %t = qd.simt.block.thread_id
      %p = arith.cmpi eq, %t, %c0 : index
      scf.if %p {
        memref.store %v, %a[%c0] : memref<1xi32>
      }";
    races(&text(leaders), clear(), 32, &["different blocks"]);
    let atomic = leaders.replace(
        "memref.store %v, %a[%c0]",
        "qd.grid.atomic.store %v, %a[%c0] device relaxed",
    );
    run(&text(&atomic), clear(), 32);
    // A scope that does not hold both is no scope.
    races(
        &text(&atomic.replace("device", "block")),
        clear(),
        32,
        &["atomic access", "different blocks"],
    );
    // An atomic and a plain access conflict.
    let mixed = format!("{atomic}\n %x = memref.load %a[%c0] : memref<1xi32>");
    races(&text(&mixed), clear(), 32, &["load", "atomic access"]);
}

/// The next phase sees the writes of every thread.
#[test]
fn phases_are_ordered() {
    let text = "
      qd.grid.kernel @k(%a: memref<128xi32>, %out: memref<128xi32>) {
        %c2 = arith.constant 2 : index
        %c127 = arith.constant 127 : index
        qd.grid.phase blocks(%c2) threads(64) {
          %b = qd.simt.block.id
          %d = qd.simt.block.dim
          %t = qd.simt.block.thread_id
          %o = arith.muli %b, %d : index
          %i = arith.addi %o, %t : index
          %v = arith.index_cast %i : index to i32
          memref.store %v, %a[%i] : memref<128xi32>
        }
        qd.grid.phase blocks(%c2) threads(64) {
          %b = qd.simt.block.id
          %d = qd.simt.block.dim
          %t = qd.simt.block.thread_id
          %o = arith.muli %b, %d : index
          %i = arith.addi %o, %t : index
          %j = arith.subi %c127, %i : index
          %v = memref.load %a[%j] : memref<128xi32>
          memref.store %v, %out[%i] : memref<128xi32>
        }
      }";
    for seed in 0..3 {
        let arguments = vec![buffer(&[0i32; 128]), buffer(&[0i32; 128])];
        let (out, report) = run_with(text, arguments, hostile(16, seed)).expect("no race");
        assert_eq!(values::<i32>(&out[1]), (0..128).rev().collect::<Vec<_>>());
        assert_eq!((report.phases, report.blocks), (2, 4));
    }
}

/// Block 0 writes data and then a flag; block 1 waits for the flag and reads
/// the data. `write` and `read` say how the flag is handled.
fn message(write: &str, read: &str, after: &str) -> String {
    phase(
        "%flag: memref<1xi32>, %data: memref<64xi32>, %out: memref<64xi32>",
        2,
        64,
        &format!(
            "%c0 = arith.constant 0 : index
             %zero = arith.constant 0 : i32
             %one = arith.constant 1 : i32
             %b = qd.simt.block.id
             %t = qd.simt.block.thread_id
             %writer = arith.cmpi eq, %b, %c0 : index
             %leader = arith.cmpi eq, %t, %c0 : index
             scf.if %writer {{
               %v = arith.index_cast %t : index to i32
               memref.store %v, %data[%t] : memref<64xi32>
               qd.simt.block.sync
               scf.if %leader {{
                 {write}
               }}
             }} else {{
               scf.if %leader {{
                 scf.while : () -> () {{
                   {read}
                   %wait = arith.cmpi eq, %f, %zero : i32
                   scf.condition(%wait)
                 }} do {{
                   scf.yield
                 }}
                 {after}
               }}
               qd.simt.block.sync
               %v = memref.load %data[%t] : memref<64xi32>
               memref.store %v, %out[%t] : memref<64xi32>
             }}"
        ),
    )
}

const RELEASE: &str = "qd.grid.atomic.store %one, %flag[%c0] device release : memref<1xi32>";
const ACQUIRE: &str = "%f = qd.grid.atomic.load %flag[%c0] device acquire : memref<1xi32>";

fn mailbox() -> Vec<Argument> {
    vec![buffer(&[0i32]), buffer(&[-1i32; 64]), buffer(&[-1i32; 64])]
}

#[test]
fn release_and_acquire() {
    let text = message(RELEASE, ACQUIRE, "");
    for wave in WAVES {
        let out = run(&text, mailbox(), wave);
        assert_eq!(values::<i32>(&out[2]), (0..64).collect::<Vec<_>>());
    }
    let (relaxed_store, relaxed_load) = (
        RELEASE.replace("release", "relaxed"),
        ACQUIRE.replace("acquire", "relaxed"),
    );
    races(
        &message(&relaxed_store, ACQUIRE, ""),
        mailbox(),
        32,
        &["different blocks"],
    );
    races(
        &message(RELEASE, &relaxed_load, ""),
        mailbox(),
        32,
        &["different blocks"],
    );
    races(
        &message(&RELEASE.replace("device", "block"), ACQUIRE, ""),
        mailbox(),
        32,
        &["atomic access"],
    );
    // Fences do as well, if they stand where they must.
    let fence = "qd.grid.mem_fence";
    let fenced = message(&format!("{fence}\n{relaxed_store}"), &relaxed_load, fence);
    run(&fenced, mailbox(), 32);
    races(
        &message(&relaxed_store, &relaxed_load, fence),
        mailbox(),
        32,
        &["different blocks"],
    );
    let narrow = message(
        &format!("qd.simt.block.mem_fence\n{relaxed_store}"),
        &relaxed_load,
        fence,
    );
    races(&narrow, mailbox(), 32, &["different blocks"]);
    // A fence after the store releases nothing.
    let late = message(&format!("{relaxed_store}\n{fence}"), &relaxed_load, fence);
    races(&late, mailbox(), 32, &["different blocks"]);
}

/// The narrowest scope, between two lanes of one subgroup.
#[test]
fn subgroup_scope() {
    let text = |write: &str, read: &str| {
        phase(
            "%flag: memref<1xi32>, %data: memref<1xi32>, %out: memref<1xi32>",
            1,
            64,
            &format!(
                "%c0 = arith.constant 0 : index
                 %c1 = arith.constant 1 : index
                 %seven = arith.constant 7 : i32
                 %t = qd.simt.block.thread_id
                 %zeroth = arith.cmpi eq, %t, %c0 : index
                 %first = arith.cmpi eq, %t, %c1 : index
                 scf.if %zeroth {{
                   memref.store %seven, %data[%c0] : memref<1xi32>
                   {write}
                 }}
                 scf.if %first {{
                   {read}
                   %v = memref.load %data[%c0] : memref<1xi32>
                   memref.store %v, %out[%c0] : memref<1xi32>
                 }}"
            ),
        )
    };
    let store = |order: &str| {
        format!("qd.grid.atomic.store %seven, %flag[%c0] subgroup {order} : memref<1xi32>")
    };
    let load = |order: &str| {
        format!("%f = qd.grid.atomic.load %flag[%c0] subgroup {order} : memref<1xi32>")
    };
    let clear = || vec![buffer(&[0i32]), buffer(&[0i32]), buffer(&[0i32])];
    let ordered = text(&store("release"), &load("acquire"));
    assert_eq!(values::<i32>(&run(&ordered, clear(), 32)[2]), [7]);
    let fence = "qd.simt.mem_fence";
    let fenced = text(
        &format!("{fence}\n{}", store("relaxed")),
        &format!("{}\n{fence}", load("relaxed")),
    );
    assert_eq!(values::<i32>(&run(&fenced, clear(), 32)[2]), [7]);
    let relaxed = text(&store("relaxed"), &load("relaxed"));
    races(&relaxed, clear(), 32, &["one subgroup"]);
}

/// A read-modify-write in between hands on what was released.
#[test]
fn release_sequences() {
    let write = format!(
        "{RELEASE}
         %old = qd.grid.atomic.rmw add %one, %flag[%c0] device relaxed : memref<1xi32>"
    );
    run(&message(&write, ACQUIRE, ""), mailbox(), 32);
    // A plain relaxed store in between does not.
    let write = format!("{RELEASE}\n {}", RELEASE.replace("release", "relaxed"));
    races(
        &message(&write, ACQUIRE, ""),
        mailbox(),
        32,
        &["different blocks"],
    );
}

/// Waiting for a block that has not started is no use on a full device; with
/// tickets, blocks wait only for those that have.
#[test]
fn tickets_and_look_back() {
    let text = phase(
        "%ticket: memref<1xi32>, %state: memref<16xi32>, %sums: memref<16xi32>, %in: memref<1024xi32>",
        16,
        64,
        "%s = qd.simt.block.shared : memref<1xi32, #gpu.address_space<workgroup>>
         %c0 = arith.constant 0 : index
         %c1 = arith.constant 1 : index
         %c64 = arith.constant 64 : index
         %zero = arith.constant 0 : i32
         %one = arith.constant 1 : i32
         %t = qd.simt.block.thread_id
         %leader = arith.cmpi eq, %t, %c0 : index
         scf.if %leader {
           %mine = qd.grid.atomic.rmw add %one, %ticket[%c0] device relaxed : memref<1xi32>
           memref.store %mine, %s[%c0] : memref<1xi32, #gpu.address_space<workgroup>>
         }
         qd.simt.block.sync
         %tile32 = memref.load %s[%c0] : memref<1xi32, #gpu.address_space<workgroup>>
         %tile = arith.index_cast %tile32 : i32 to index
         %o = arith.muli %tile, %c64 : index
         %i = arith.addi %o, %t : index
         %x = memref.load %in[%i] : memref<1024xi32>
         %sum = qd.simt.block.reduce add %x : i32
         scf.if %leader {
           %first = arith.cmpi eq, %tile, %c0 : index
           %before = scf.if %first -> i32 {
             scf.yield %zero : i32
           } else {
             %p = arith.subi %tile, %c1 : index
             scf.while : () -> () {
               %f = qd.grid.atomic.load %state[%p] device acquire : memref<16xi32>
               %wait = arith.cmpi eq, %f, %zero : i32
               scf.condition(%wait)
             } do {
               scf.yield
             }
             %v = memref.load %sums[%p] : memref<16xi32>
             scf.yield %v : i32
           }
           %total = arith.addi %before, %sum : i32
           memref.store %total, %sums[%tile] : memref<16xi32>
           qd.grid.atomic.store %one, %state[%tile] device release : memref<16xi32>
         }",
    );
    let x: Vec<i32> = noise(1, 1024)
        .into_iter()
        .map(|x| (x % 100) as i32)
        .collect();
    let expected: Vec<i32> = (1..=16).map(|tile| x[..tile * 64].iter().sum()).collect();
    let arguments = || {
        vec![
            buffer(&[0i32]),
            buffer(&[0i32; 16]),
            scratch(16),
            buffer(&x),
        ]
    };
    assert_eq!(values::<i32>(&run(&text, arguments(), 32)[2]), expected);
    for seed in 0..20 {
        let wave = WAVES[seed as usize % 5];
        let (out, _) = run_with(&text, arguments(), hostile(wave, seed)).expect("no fault");
        assert_eq!(values::<i32>(&out[2]), expected);
    }
    // By block number instead, some schedule gets stuck: it must end all the same.
    let by_id = text.replace(
        "%tile = arith.index_cast %tile32 : i32 to index",
        "%tile = qd.simt.block.id",
    );
    let stuck = (0..10).filter(|&seed| {
        let options = qd_interp::Options {
            fuel: 200_000,
            ..hostile(32, seed)
        };
        run_with(&by_id, arguments(), options).is_err()
    });
    assert!(stuck.count() > 0);
}

/// Blocks in order can still wait for a later one, since each can be stopped.
#[test]
fn waiting_for_a_later_block() {
    let text = message(RELEASE, ACQUIRE, "").replace("cmpi eq, %b, %c0", "cmpi ne, %b, %c0");
    let out = run(&text, mailbox(), 32);
    assert_eq!(values::<i32>(&out[2]), (0..64).collect::<Vec<_>>());
}

/// The last block to finish sums up: release and acquire in one ticket.
#[test]
fn last_block_done() {
    let text = |order: &str| {
        phase(
            "%count: memref<1xi32>, %parts: memref<8xi32>, %out: memref<1xi32>",
            8,
            64,
            &format!(
                "%c0 = arith.constant 0 : index
                 %c1 = arith.constant 1 : index
                 %c8 = arith.constant 8 : index
                 %one = arith.constant 1 : i32
                 %zero = arith.constant 0 : i32
                 %seven = arith.constant 7 : i32
                 %b = qd.simt.block.id
                 %t = qd.simt.block.thread_id
                 %leader = arith.cmpi eq, %t, %c0 : index
                 scf.if %leader {{
                   %v = arith.index_cast %b : index to i32
                   memref.store %v, %parts[%b] : memref<8xi32>
                   %old = qd.grid.atomic.rmw add %one, %count[%c0] device {order} : memref<1xi32>
                   %last = arith.cmpi eq, %old, %seven : i32
                   scf.if %last {{
                     %sum = scf.for %i = %c0 to %c8 step %c1 iter_args(%a = %zero) -> i32 {{
                       %p = memref.load %parts[%i] : memref<8xi32>
                       %s = arith.addi %a, %p : i32
                       scf.yield %s : i32
                     }}
                     memref.store %sum, %out[%c0] : memref<1xi32>
                   }}
                 }}"
            ),
        )
    };
    let arguments = || vec![buffer(&[0i32]), scratch(8), buffer(&[0i32])];
    for seed in 0..10 {
        let (out, _) = run_with(&text("acq_rel"), arguments(), hostile(16, seed)).expect("no race");
        assert_eq!(values::<i32>(&out[2]), [28]);
    }
    races(&text("relaxed"), arguments(), 16, &["different blocks"]);
    races(&text("release"), arguments(), 16, &["different blocks"]);
}

/// What a lane acquires, a barrier passes on to the others.
#[test]
fn barriers_pass_on_what_was_acquired() {
    // In `message`, only the leader acquires; without its barrier the other
    // threads know nothing.
    let text = message(RELEASE, ACQUIRE, "");
    let without = {
        let at = text
            .rfind("qd.simt.block.sync")
            .expect("the reader's barrier");
        format!(
            "{}{}",
            &text[..at],
            &text[at + "qd.simt.block.sync".len()..]
        )
    };
    run(&text, mailbox(), 16);
    // Unsynchronised, the outcome depends on the schedule; none is right.
    let options = options(16);
    assert!(run_with(&without, mailbox(), options).is_err());
}

//! Every transition of a geometry's state, by a fake clock.

use super::*;

/// The policy of the reference's text: 3 untimed rounds and 1 timed one, again after a second.
fn of_the_text() -> Policy {
    let second = Duration::from_secs(1);
    Policy {
        first_warmup: 3,
        warmup: 3,
        ..Policy::default()
    }
    .repeating(None, Some(second))
}

/// One that never tries again.
fn once() -> Policy {
    Policy::default().repeating(Some(0), None)
}

#[test]
fn by_default_calls_1_and_2_warm_up_3_and_4_are_timed_and_304_begins_again() {
    let mut bench = Bench::new(Policy::default(), &[2, 1]);
    assert_eq!(bench.calls(2), "ab");
    assert_eq!(bench.dispatcher.winner(&0), None);
    assert_eq!(bench.calls(2), "|a||b|");
    assert_eq!(bench.dispatcher.winner(&0), Some(1));
    assert_eq!(bench.dispatcher.times(&0), [Some(us(2)), Some(us(1))]);
    assert_eq!(bench.calls(299), "b".repeat(299));
    // Without another warm-up.
    assert_eq!(bench.calls(1), "|a|");
    assert_eq!(bench.dispatcher.winner(&0), None);
    assert_eq!(bench.calls(1), "|b|");
    assert_eq!(bench.calls(299), "b".repeat(299));
    assert_eq!(bench.calls(1), "|a|");
}

#[test]
fn the_policy_of_the_references_text_holds_as_it_says() {
    let mut bench = Bench::new(of_the_text(), &[1, 2, 3]);
    for _ in 0..2 {
        assert_eq!(bench.calls(9), "abcabcabc");
        assert_eq!(bench.calls(3), "|a||b||c|");
        assert_eq!(bench.calls(400), "a".repeat(400));
        bench.clock.advance(Duration::from_secs(1));
    }
    assert_eq!(bench.calls(1), "a");
    assert_eq!(bench.dispatcher.winner(&0), None, "it is the first warm-up");
}

#[test]
fn time_is_measured_from_the_choice() {
    let policy = Policy::default().repeating(None, Some(us(1000)));
    let mut bench = Bench::new(policy, &[2, 1]);
    bench.clock.advance(us(5000));
    bench.calls(4);
    bench.clock.advance(us(998));
    // 1 µs each: it is 998 and then 999 µs old.
    assert_eq!(bench.calls(2), "bb");
    assert_eq!(bench.calls(2), "|a||b|");
}

#[test]
fn another_evaluation_finds_what_has_become_faster() {
    let policy = Policy {
        warmup: 1,
        ..Policy::default()
    };
    let mut bench = Bench::new(policy.repeating(Some(3), None), &[1, 2]);
    assert_eq!(bench.calls(6), "ab|a||b|aa");
    bench.call.costs[0] = us(5);
    // With as many warm-ups as later ones have, of which the third call is the first.
    assert_eq!(bench.calls(4), "ab|a||b|");
    assert_eq!(bench.calls(2), "bb");
}

#[test]
fn the_least_mean_of_the_active_rounds_wins() {
    let policy = Policy {
        first_warmup: 0,
        active: 3,
        ..once()
    };
    let mut bench = Bench::new(policy, &[3, 4]);
    assert_eq!(bench.calls(2), "|a||b|");
    bench.call.costs = vec![us(9), us(4)];
    assert_eq!(bench.calls(4), "|a||b||a||b|");
    assert_eq!(bench.dispatcher.times(&0), [Some(us(7)), Some(us(4))]);
    assert_eq!(bench.calls(2), "bb");
}

#[test]
fn of_equal_times_the_first_variant_wins() {
    let mut bench = Bench::new(once(), &[2, 1, 1]);
    bench.calls(6);
    assert_eq!(bench.dispatcher.winner(&0), Some(1));
}

#[test]
fn a_slow_variant_runs_in_its_trials_only() {
    let policy = Policy::default().repeating(Some(10), None);
    let mut bench = Bench::new(policy, &[1, 1_000_000]);
    let calls = bench.calls(4 + 9 + 2 + 9 + 2 + 9);
    let [a, b] = ['a', 'b'].map(|name| calls.matches(name).count());
    assert_eq!((a, b), (31, 4));
}

#[test]
fn geometries_are_measured_by_themselves() {
    let mut bench = Bench::new(once(), &[2, 1]);
    bench.calls_at(1, 4);
    assert_eq!(bench.dispatcher.winner(&1), Some(1));
    bench.call.costs = vec![us(1), us(2)];
    assert_eq!(bench.calls_at(2, 4), "ab|a||b|");
    assert_eq!(bench.calls_at(2, 1), "a");
    assert_eq!(bench.calls_at(1, 1), "b");
    let mut winners = bench.dispatcher.winners();
    winners.sort_unstable();
    assert_eq!(winners, [(1, 1), (2, 0)]);
    bench.dispatcher.clear();
    assert_eq!(bench.calls_at(1, 1), "a");
}

#[test]
fn results_and_errors_are_the_variants() {
    let mut bench = Bench::new(once(), &[2, 1]);
    let results: Vec<_> = (0..6).map(|_| bench.call_at(0).expect("runs")).collect();
    assert_eq!(results, [0, 1, 0, 1, 1, 1]);
    bench.call.fails = vec![1];
    let error = bench.call_at(0).expect_err("fails");
    assert_eq!(error.to_string(), failure().to_string());
}

#[test]
fn the_only_eligible_variant_wins_without_a_trial() {
    let mut bench = Bench::new(Policy::default(), &[1, 9]);
    bench.call.refused = vec![0];
    assert_eq!(bench.calls(302), "b".repeat(302));
    assert_eq!(bench.dispatcher.winner(&0), Some(1));
    // Where it has been so long, all are tried that are eligible now.
    bench.call.refused.clear();
    let mut bench = Bench::new(Policy::default().repeating(Some(2), None), &[1, 9]);
    bench.call.refused = vec![0];
    assert_eq!(bench.calls(1), "b");
    bench.call.refused.clear();
    assert_eq!(bench.calls(5), "bab|a||b|");
    assert_eq!(bench.dispatcher.winner(&0), Some(0));
}

#[test]
fn variants_that_are_not_eligible_are_never_run() {
    let mut bench = Bench::new(once(), &[1, 3, 2]);
    bench.call.refused = vec![0];
    assert_eq!(bench.calls(5), "bc|b||c|c");
    // The winner's condition does not hold for these arguments: another one runs, and it stays.
    bench.call.refused = vec![2];
    assert_eq!(bench.calls(2), "aa");
    bench.call.refused = vec![0, 2];
    assert_eq!(bench.calls(1), "b");
    bench.call.refused.clear();
    assert_eq!(bench.calls(1), "c");
}

#[test]
fn no_eligible_variant_is_an_error_that_lists_them() {
    let mut bench = Bench::new(once(), &[1, 2]);
    bench.call.refused = vec![0, 1];
    let expected = "perf_dispatch 'sum': none of the variants a, b is eligible for 7";
    let error = bench.call_at(7).expect_err("none");
    assert_eq!(error.to_string(), expected);
    let error = bench.dispatcher.chosen(&7, &bench.call).expect_err("none");
    assert_eq!(error.to_string(), expected);
    // As well where there is a winner.
    bench.call.refused.clear();
    bench.calls(4);
    bench.call.refused = vec![0, 1];
    assert!(matches!(bench.call_at(0), Err(Error::NoEligible { .. })));
}

#[test]
fn a_variant_that_fails_in_its_trial_does_not_win() {
    let mut bench = Bench::new(once(), &[1, 2]);
    bench.call.fails = vec![0];
    // It fails before the second wait.
    assert_eq!(bench.calls(5), "ab|a|b|b");
    assert_eq!(bench.dispatcher.times(&0), [None, Some(us(2))]);
}

#[test]
fn where_all_fail_they_are_tried_again() {
    let mut bench = Bench::new(once(), &[1, 2]);
    bench.call.fails = vec![0, 1];
    assert_eq!(bench.calls(4), "ab|a|b");
    assert_eq!(bench.dispatcher.winner(&0), None);
    bench.call.fails.clear();
    assert_eq!(bench.calls(5), "ab|a||b|a");
}

/// As another, with a variant that panics.
struct Panics(Fake);

impl Call for Panics {
    type Output = usize;
    type Error = Error;

    fn synchronize(&mut self) -> Result<(), Error> {
        self.0.synchronize()
    }

    fn run(&mut self, variant: usize) -> Result<usize, Error> {
        assert_ne!(variant, 0, "a variant that panics");
        self.0.run(variant)
    }
}

#[test]
fn a_trial_that_panics_has_ended() {
    let mut bench = Bench::new(once(), &[1, 2]);
    let mut call = Panics(std::mem::take(&mut bench.call));
    for _ in 0..2 {
        let panics = || bench.dispatcher.call(&0, &mut call);
        std::panic::catch_unwind(std::panic::AssertUnwindSafe(panics)).expect_err("panics");
        bench.dispatcher.call(&0, &mut call).expect("runs");
    }
    assert_eq!(bench.dispatcher.winner(&0), Some(1));
}

#[test]
fn nothing_is_measured_under_capture() {
    let mut bench = Bench::new(Policy::default().repeating(Some(3), None), &[2, 1]);
    bench.call.is_captured = true;
    let refused = "perf_dispatch 'sum': no winner is known for 0, and nothing can be measured here, as on a stream under capture: call it outside of the capture until there is one, load saved winners, or freeze or force it";
    for _ in 0..3 {
        let error = bench.call_at(0).expect_err("is not measured");
        assert_eq!(error.to_string(), refused);
    }
    // Neither are trials under way: these begin at the first one.
    bench.call.is_captured = false;
    assert_eq!(bench.calls(3), "ab|a|");
    bench.call.is_captured = true;
    assert!(matches!(bench.call_at(0), Err(Error::NotMeasured { .. })));
    bench.call.is_captured = false;
    assert_eq!(bench.calls(1), "|b|");
    // Another evaluation is due, and waits until it can be.
    bench.call.is_captured = true;
    assert_eq!(bench.calls(10), "b".repeat(10));
    bench.call.is_captured = false;
    assert_eq!(bench.calls(1), "|a|");
    // Meanwhile there is the winner before.
    bench.call.is_captured = true;
    assert_eq!(bench.calls(2), "bb");
    bench.call.is_captured = false;
    assert_eq!(bench.calls(1), "|b|");
}

#[test]
fn under_capture_what_needs_no_measuring_runs() {
    let mut bench = Bench::new(once(), &[2, 1]);
    bench.call.is_captured = true;
    bench.call.refused = vec![0];
    assert_eq!(bench.calls(2), "bb");
    bench.call.refused.clear();
    bench.dispatcher.force("b").expect("is there");
    assert_eq!(bench.calls_at(1, 1), "b");
    bench.dispatcher.unforce();
    bench.dispatcher.freeze();
    assert_eq!(bench.calls_at(1, 1), "a");
}

#[test]
fn what_is_chosen_can_be_asked_for_without_a_call() {
    let mut bench = Bench::new(Policy::default().repeating(Some(3), None), &[2, 1]);
    let error = bench
        .dispatcher
        .chosen(&0, &bench.call)
        .expect_err("is not measured");
    assert!(matches!(error, Error::NotMeasured { .. }));
    bench.calls(4);
    for _ in 0..10 {
        assert_eq!(bench.dispatcher.chosen(&0, &bench.call).expect("won"), 1);
    }
    assert_eq!(bench.calls(2), "bb", "asking is no call");
    assert_eq!(bench.calls(1), "|a|");
    assert_eq!(
        bench
            .dispatcher
            .chosen(&0, &bench.call)
            .expect("won before"),
        1
    );
    bench.call.refused = vec![1];
    assert_eq!(
        bench
            .dispatcher
            .chosen(&0, &bench.call)
            .expect("is eligible"),
        0
    );
    bench.dispatcher.force("b").expect("is there");
    assert_eq!(
        bench.dispatcher.chosen(&5, &bench.call).expect("is forced"),
        1
    );
}

#[test]
fn frozen_winners_stay_and_nothing_is_tried() {
    let policy = Policy::default().repeating(Some(3), Some(us(100)));
    let mut bench = Bench::new(policy, &[2, 1]);
    bench.calls(4);
    bench.calls_at(1, 2);
    bench.dispatcher.freeze();
    assert!(bench.dispatcher.is_frozen());
    bench.clock.advance(us(1000));
    assert_eq!(bench.calls(20), "b".repeat(20));
    // Neither of geometries that are half measured or new.
    assert_eq!(bench.calls_at(1, 3), "aaa");
    assert_eq!(bench.calls_at(2, 3), "aaa");
    assert_eq!(
        bench
            .dispatcher
            .chosen(&2, &bench.call)
            .expect("is eligible"),
        0
    );
    assert_eq!(bench.dispatcher.winner(&2), None);
    bench.dispatcher.thaw();
    assert_eq!(bench.calls_at(1, 2), "|a||b|");
    assert_eq!(bench.calls(1), "|a|", "it is too old");
}

#[test]
fn calls_of_a_frozen_dispatcher_do_not_count() {
    let mut bench = Bench::new(Policy::default().repeating(Some(5), None), &[2, 1]);
    bench.calls(4);
    bench.dispatcher.freeze();
    assert_eq!(bench.calls(20), "b".repeat(20));
    bench.dispatcher.thaw();
    assert_eq!(bench.calls(5), "bbbb|a|");
}

#[test]
fn triggers_are_as_the_decorator_takes_them() {
    let of = |calls, after| {
        let policy = Policy::default().repeating(calls, after);
        (policy.most_calls(), policy.longest())
    };
    assert_eq!(of(None, None), (Some(300), None));
    assert_eq!(of(Some(5), None), (Some(5), None));
    assert_eq!(of(None, Some(us(5))), (None, Some(us(5))));
    assert_eq!(of(Some(5), Some(us(5))), (Some(5), Some(us(5))));
    assert_eq!(of(Some(0), None), (None, None));
    assert_eq!(of(None, Some(Duration::ZERO)), (None, None));
}

#[test]
fn what_is_no_dispatcher_is_refused() {
    let message = |name: &str, names: &[&str], policy: Policy| {
        let (settings, _) = settings(policy, &Arc::default());
        let variants = names.iter().map(|name| Variant::new(*name)).collect();
        let made = Dispatcher::<u32>::new(name, variants, settings);
        made.expect_err("is refused").to_string()
    };
    let policy = Policy::default();
    assert_eq!(
        message("sum", &[], policy),
        "perf_dispatch 'sum': there are no variants"
    );
    assert_eq!(
        message("sum", &["a", "b", "a"], policy),
        "perf_dispatch 'sum': there are two variants 'a'"
    );
    let inactive = Policy {
        active: 0,
        ..policy
    };
    assert_eq!(
        message("sum", &["a"], inactive),
        "perf_dispatch 'sum': the policy has no active rounds, so nothing is timed"
    );
    for (name, variant, what) in [
        ("", "a", "a dispatcher cannot be called ''"),
        ("x:y", "a", "a dispatcher cannot be called 'x:y'"),
        ("x,y", "a", "a dispatcher cannot be called 'x,y'"),
        ("x", "", "a variant cannot be called ''"),
        ("x", "a,b", "a variant cannot be called 'a,b'"),
        ("x", " a", "a variant cannot be called ' a'"),
    ] {
        let message = message(name, &[variant], policy);
        assert!(message.contains(what), "{message}");
    }
}

//! The exact choice beside every choice there is, and beside one class at a time.

use super::super::eliminate::MOST_CLASSES;
use super::*;
use fastrand::Rng;
use smallvec::smallvec;

fn way(number: usize, cost: u64, needs: &[usize]) -> Way {
    let needs = needs.into();
    Way {
        number,
        cost,
        needs,
    }
}

/// What a choice costs; none if a class that it uses needs itself, or has no way.
fn total(ways: &[Ways], roots: &[usize], choice: &[usize]) -> Option<u64> {
    fn enter(ways: &[Ways], class: usize, choice: &[usize], seen: &mut [u8]) -> Option<u64> {
        match seen[class] {
            1 => return None,
            2 => return Some(0),
            _ => seen[class] = 1,
        }
        let way = ways[class].iter().find(|way| way.number == choice[class])?;
        let mut total = way.cost;
        for need in &way.needs {
            total += enter(ways, *need, choice, seen)?;
        }
        seen[class] = 2;
        Some(total)
    }
    let mut seen = vec![0; ways.len()];
    let mut costs = roots
        .iter()
        .map(|root| enter(ways, *root, choice, &mut seen));
    costs.try_fold(0, |sum, cost| Some(sum + cost?))
}

/// The least cost of all choices there are.
fn least(ways: &[Ways], roots: &[usize]) -> Option<u64> {
    let mut choice = vec![0; ways.len()];
    let mut best: Option<u64> = None;
    loop {
        if let Some(cost) = total(ways, roots, &choice) {
            best = Some(best.map_or(cost, |best| best.min(cost)));
        }
        let mut at = 0;
        loop {
            if at == ways.len() {
                return best;
            }
            choice[at] += 1;
            if choice[at] < ways[at].len() {
                break;
            }
            choice[at] = 0;
            at += 1;
        }
    }
}

/// Changes one class at a time while that helps.
fn greedy(ways: &[Ways], roots: &[usize], given: &[usize]) -> Vec<usize> {
    let mut choice = given.to_vec();
    loop {
        let mut changed = false;
        for (class, of_class) in ways.iter().enumerate() {
            for number in 0..of_class.len() {
                let mut other = choice.clone();
                other[class] = number;
                let before = total(ways, roots, &choice);
                if total(ways, roots, &other).is_some_and(|cost| Some(cost) < before) {
                    (choice, changed) = (other, true);
                }
            }
        }
        if !changed {
            return choice;
        }
    }
}

#[test]
fn two_changes_that_help_together_alone_are_found() {
    // Two values by 10 each, or both of one that takes 15.
    let ways = vec![
        smallvec![way(0, 15, &[])],
        smallvec![way(0, 10, &[]), way(1, 1, &[0])],
        smallvec![way(0, 10, &[]), way(1, 1, &[0])],
    ];
    let given = [0, 0, 0];
    assert_eq!(greedy(&ways, &[1, 2], &given), given);
    let found = cheapest(ways.clone(), &[1, 2], &given);
    assert_eq!(found.choice, [0, 1, 1]);
    assert!(found.unsure.is_empty());
    assert_eq!(total(&ways, &[1, 2], &found.choice), Some(17));
}

#[test]
fn a_circle_is_no_solution() {
    // Each of two by the other for nothing, or by itself.
    let ways = vec![
        smallvec![way(0, 0, &[1]), way(1, 7, &[])],
        smallvec![way(0, 0, &[0]), way(1, 5, &[])],
    ];
    let found = cheapest(ways.clone(), &[0, 1], &[1, 1]);
    assert_eq!(found.choice, [0, 1]);
    assert_eq!(total(&ways, &[0, 1], &found.choice), Some(5));
}

/// The ways of a few classes, roots, and some solution to begin with.
type Problem = (Vec<Ways>, Vec<usize>, Vec<usize>);

/// One that has a solution.
fn some_problem(random: &mut Rng) -> Problem {
    loop {
        let count = random.usize(2..9);
        let ways: Vec<Ways> = (0..count)
            .map(|class| {
                // Mostly what comes before, and now and then anything: circles.
                let of_class = (0..random.usize(1..4)).map(|number| {
                    let needs = (0..random.usize(0..4)).map(|_| match random.u8(0..6) {
                        0 => random.usize(0..count),
                        _ => random.usize(0..class.max(1)),
                    });
                    let needs: Vec<usize> = needs.collect();
                    way(number, random.u64(0..6), &needs)
                });
                of_class.collect()
            })
            .collect();
        let roots: Vec<usize> = (0..random.usize(1..4))
            .map(|_| random.usize(0..count))
            .collect();
        if least(&ways, &roots).is_none() {
            continue;
        }
        loop {
            let given: Vec<usize> = ways.iter().map(|of| random.usize(0..of.len())).collect();
            if total(&ways, &roots, &given).is_some() {
                return (ways, roots, given);
            }
        }
    }
}

#[test]
fn no_choice_is_cheaper() {
    let mut random = Rng::with_seed(7);
    let (mut optimal, mut better, mut unsure) = (0, 0, 0);
    for _ in 0..4_000 {
        let (ways, roots, given) = some_problem(&mut random);
        let least = least(&ways, &roots);
        let found = cheapest(ways.clone(), &roots, &given);
        let cost = total(&ways, &roots, &found.choice);
        if !found.unsure.is_empty() {
            assert!(cost.is_some());
            unsure += 1;
            continue;
        }
        assert_eq!(cost, least, "{ways:?} {roots:?}");
        optimal += 1;
        let greedy = greedy(&ways, &roots, &given);
        better += usize::from(total(&ways, &roots, &greedy) > least);
    }
    assert!(
        optimal > 3_000 && better > 20 && unsure < 3,
        "{optimal} {better} {unsure}"
    );
}

/// Four values, each by itself or of one or both of two that they may share. Costs are of few, so that many have the same,
/// and other needs.
fn sharing(random: &mut Rng) -> Problem {
    let mut ways: Vec<Ways> = (0..2)
        .map(|_| smallvec![way(0, 14 + 6 * random.u64(0..2), &[])])
        .collect();
    if random.bool() {
        ways[0].push(way(1, 5, &[1]));
    }
    for _ in 0..4 {
        let needs: &[usize] = [&[0][..], &[1], &[0, 1]][random.usize(0..3)];
        ways.push(smallvec![way(0, 10, &[]), way(1, 1, needs)]);
    }
    (ways, (2..6).collect(), vec![0; 6])
}

/// The same problem several times, mostly with another cost, one need more or one root less.
fn copies((ways, roots, given): &Problem, random: &mut Rng) -> Vec<Problem> {
    let of = |_| {
        let (mut ways, mut roots) = (ways.clone(), roots.clone());
        let count = ways.len();
        let of_class = &mut ways[random.usize(0..count)];
        let at = random.usize(0..of_class.len());
        match random.u8(0..4) {
            0 => of_class[at].cost += random.u64(1..9),
            1 => of_class[at].needs.push(random.usize(0..count)),
            2 if roots.len() > 1 => drop(roots.pop()),
            _ => {}
        }
        (ways, roots, given.clone())
    };
    let all = (0..6).map(of);
    all.filter(|(ways, roots, given)| total(ways, roots, given).is_some())
        .collect()
}

#[test]
fn no_choice_is_cheaper_for_any_of_several_that_are_nearly_alike() {
    let mut random = Rng::with_seed(7);
    let sharing = (0..10).map(|_| (0..200).map(|_| sharing(&mut random)).collect());
    let mut all: Vec<Vec<Problem>> = sharing.collect();
    for _ in 0..1_000 {
        let problem = some_problem(&mut random);
        all.push(copies(&problem, &mut random));
    }
    let mut optimal = 0;
    for problems in all {
        let (mut ways, mut roots, mut given, mut sum) = (Vec::new(), Vec::new(), Vec::new(), 0);
        for (of, needed, some) in problems {
            let first = ways.len();
            sum += least(&of, &needed).expect("there is a solution");
            ways.extend(of.into_iter().map(|mut of| {
                let needs = of.iter_mut().flat_map(|way| &mut way.needs);
                needs.for_each(|need| *need += first);
                of
            }));
            roots.extend(needed.into_iter().map(|root| root + first));
            given.extend(some);
        }
        let found = cheapest(ways.clone(), &roots, &given);
        if found.unsure.is_empty() {
            assert_eq!(total(&ways, &roots, &found.choice), Some(sum));
            optimal += 1;
        }
    }
    assert!(optimal > 900, "{optimal}");
}

/// Pairs of values, each by itself or of what the pair shares: a group for each pair. What they share
/// has a way that needs a hub of all pairs.
fn pairs(count: usize) -> (Vec<Ways>, Vec<usize>, Vec<usize>) {
    let mut ways = vec![smallvec![way(0, 20, &[])]];
    let mut roots = Vec::new();
    for _ in 0..count {
        let shared = ways.len();
        ways.push(smallvec![way(0, 15, &[]), way(1, 14, &[0])]);
        for _ in 0..2 {
            roots.push(ways.len());
            ways.push(smallvec![way(0, 10, &[]), way(1, 1, &[shared])]);
        }
    }
    let given = vec![0; ways.len()];
    (ways, roots, given)
}

#[test]
fn what_all_may_share_is_weighed_against_all() {
    // Of 21 pairs on, it is worth 20 to save 1 of each.
    for (count, with) in [(18, 0), (19, 0), (21, 1), (2_000, 1)] {
        let (ways, roots, given) = pairs(count);
        let found = cheapest(ways.clone(), &roots, &given);
        assert!(found.unsure.is_empty(), "{count}");
        assert_eq!(found.choice[1], with, "{count}");
        let each = 17 * count as u64;
        let least = each.min(20 + each - count as u64);
        assert_eq!(total(&ways, &roots, &found.choice), Some(least));
    }
}

#[test]
fn neighbours_that_share_are_of_any_number() {
    // Of 16 on, a row of shared values, one more than there are users, takes less than what each has by itself.
    for (count, with) in [(14, 0), (16, 1), (2_000, 1)] {
        let mut ways: Vec<Ways> = (0..=count).map(|_| smallvec![way(0, 15, &[])]).collect();
        let of = |number: usize| smallvec![way(0, 16, &[]), way(1, 0, &[number, number + 1])];
        ways.extend((0..count).map(of));
        let roots: Vec<usize> = (count + 1..ways.len()).collect();
        let found = cheapest(ways, &roots, &vec![0; 2 * count + 1]);
        assert!(found.unsure.is_empty());
        assert!(roots.iter().all(|root| found.choice[*root] == with));
    }
}

#[test]
fn what_depends_on_too_much_at_once_stays_as_it_is_given() {
    // Each two of several values may be shared.
    let of = |shared: usize| {
        let mut ways: Vec<Ways> = (0..shared).map(|_| smallvec![way(0, 15, &[])]).collect();
        for one in 0..shared {
            let of = |other: usize| smallvec![way(0, 10, &[]), way(1, 0, &[one, other])];
            ways.extend((0..one).map(of));
        }
        let roots: Vec<usize> = (shared..ways.len()).collect();
        let given = vec![0; ways.len()];
        (cheapest(ways, &roots, &given), given)
    };
    let (found, given) = of(MOST_CLASSES);
    assert!(found.unsure.is_empty());
    assert_ne!(found.choice, given);
    let (found, given) = of(2 * MOST_CLASSES);
    assert!(!found.unsure.is_empty());
    assert_eq!(found.choice, given);
}

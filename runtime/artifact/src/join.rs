//! Artifacts of one source for several targets, as one.

use crate::{Access, Artifact, Kernel, Origins};
use std::collections::{HashMap, HashSet};

impl Artifact {
    /// All that artifacts of the same source hold: their targets, in this order, and of each
    /// kernel the plans for them. What is not in one of them has no plan for its targets.
    pub fn joined(parts: Vec<Artifact>) -> Artifact {
        let mut parts = parts.into_iter();
        let mut all = parts.next().unwrap_or_default();
        // Most often there is one, and nothing to look for.
        let mut numbers = HashMap::new();
        for part in parts {
            if numbers.is_empty() {
                let each = all.kernels.iter().enumerate();
                numbers.extend(each.map(|(i, kernel)| (kernel.name.clone(), i)));
            }
            let before = all.targets.len();
            all.targets.extend(part.targets);
            all.origins.extend(part.origins);
            for kernel in part.kernels {
                let number = *numbers
                    .entry(kernel.name.clone())
                    .or_insert(all.kernels.len());
                all.add(number, kernel, before);
            }
            for mut module in part.modules {
                module.target += before;
                all.modules.push(module);
            }
            let targets = all.targets.len();
            for kernel in &mut all.kernels {
                kernel.plans.resize(targets, None);
            }
        }
        all
    }

    /// All that artifacts for the same target hold, of parts of one source that have been compiled by
    /// themselves: each kernel and each body once, where it is found first.
    pub fn gathered(target: &str, parts: impl IntoIterator<Item = Artifact>) -> Artifact {
        let mut all = Artifact {
            targets: vec![target.into()],
            origins: vec![Origins::default()],
            ..Artifact::default()
        };
        let (mut kernels, mut modules) = (HashSet::new(), HashSet::new());
        for part in parts {
            for kernel in part.kernels {
                if kernels.insert(kernel.name.clone()) {
                    all.kernels.push(kernel);
                }
            }
            for module in part.modules {
                // A body's name holds a hash of what it does.
                if modules.insert(module.bodies.clone()) {
                    all.modules.push(module);
                }
            }
            for origins in part.origins {
                all.origins[0].add(origins);
            }
        }
        all
    }

    /// Adds a kernel whose plans are for the targets after those `before`, to that of its number, if there is one.
    fn add(&mut self, number: usize, kernel: Kernel, before: usize) {
        let Some(known) = self.kernels.get_mut(number) else {
            let plans = vec![None; before].into_iter().chain(kernel.plans);
            self.kernels.push(Kernel {
                plans: plans.collect(),
                ..kernel
            });
            return;
        };
        // What one target's algorithms leave alone another's may write.
        for (mine, theirs) in known.arguments.iter_mut().zip(&kernel.arguments) {
            if mine.access != theirs.access {
                mine.access = Access::ReadWrite;
            }
        }
        known.plans.extend(kernel.plans);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Argument, ArgumentKind, Body, Dtype, Format, Module, Plan};

    fn part(target: &str, kernels: &[&str], access: Access) -> Artifact {
        let kind = ArgumentKind::Buffer {
            dtype: Dtype::I32,
            shape: vec![None],
        };
        let kernel = |name: &&str| Kernel {
            name: name.to_string(),
            arguments: vec![Argument {
                access,
                ..Argument::new("a", kind.clone())
            }],
            plans: vec![Some(Plan {
                control: target.len() as u64,
                ..Plan::default()
            })],
        };
        let body = Body {
            name: target.into(),
            wave: 8,
        };
        Artifact {
            targets: vec![target.into()],
            kernels: kernels.iter().map(kernel).collect(),
            modules: vec![Module::new(0, Format::Ptx, vec![body], target.to_string())],
            ..Artifact::default()
        }
    }

    #[test]
    fn a_kernel_has_a_plan_for_each_target_that_has_one() {
        let all = Artifact::joined(vec![
            part("cpu", &["k", "l"], Access::Read),
            part("nvptx:sm_90", &["l", "m"], Access::Write),
        ]);
        assert_eq!(all.targets, ["cpu", "nvptx:sm_90"]);
        let plans: Vec<_> = all
            .kernels
            .iter()
            .map(|kernel| {
                let controls = kernel.plans.iter().map(|p| p.as_ref().map(|p| p.control));
                (&*kernel.name, controls.collect::<Vec<_>>())
            })
            .collect();
        let expected = [
            ("k", vec![Some(3), None]),
            ("l", vec![Some(3), Some(11)]),
            ("m", vec![None, Some(11)]),
        ];
        assert_eq!(plans, expected);
        let accesses = all.kernels.iter().map(|kernel| kernel.arguments[0].access);
        assert!(accesses.eq([Access::Read, Access::ReadWrite, Access::Write]));
        let modules = all.modules.iter().map(|m| (m.target, &m.bytes()[..]));
        assert!(modules.eq([(0, &b"cpu"[..]), (1, &b"nvptx:sm_90"[..])]));
    }
}

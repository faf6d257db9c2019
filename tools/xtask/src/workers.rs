//! Jobs that as many threads as there are cores take off one queue, in its order.

use std::collections::VecDeque;
use std::sync::Mutex;
use std::thread;

use anyhow::Result;

/// Does all of them. A thread ends with its first error, and the others go on.
pub fn share<T: Send>(
    jobs: impl IntoIterator<Item = T>,
    work: impl Fn(T) -> Result<()> + Sync,
) -> Result<()> {
    let jobs: Mutex<VecDeque<T>> = Mutex::new(jobs.into_iter().collect());
    let next = || jobs.lock().expect("nothing panics").pop_front();
    let until_none = || {
        while let Some(job) = next() {
            work(job)?;
        }
        Ok(())
    };
    let count = thread::available_parallelism().map_or(1, usize::from);
    thread::scope(|scope| {
        let workers: Vec<_> = (0..count).map(|_| scope.spawn(until_none)).collect();
        workers
            .into_iter()
            .try_for_each(|worker| worker.join().expect("nothing panics"))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use anyhow::bail;

    #[test]
    fn each_job_is_done_once() {
        let done = Mutex::new(Vec::new());
        share(0..100, |job| {
            done.lock().unwrap().push(job);
            Ok(())
        })
        .unwrap();
        let mut done = done.into_inner().unwrap();
        done.sort();
        assert_eq!(done, (0..100).collect::<Vec<_>>());
    }

    #[test]
    fn an_error_is_the_callers() {
        let error = share(0..3, |job| match job {
            1 => bail!("job 1"),
            _ => Ok(()),
        });
        assert_eq!(error.unwrap_err().to_string(), "job 1");
    }
}

//! Stores: what has been compiled before, on disk.

use crate::{
    artifact::path,
    handle::{c_text, free, get, handles, place, write},
    status::{Failure, call, qd_status},
};
use qd_frontend::store::Store;
use std::{
    ffi::{c_char, c_void},
    sync::Arc,
};

/// A folder with what has been compiled, which processes share.
pub struct qd_store(pub(crate) Arc<Store>);

handles!(qd_store => "store");

/// How often a store was asked in this process.
#[repr(C)]
pub struct qd_store_counts {
    /// Entries that were found.
    pub hits: u64,
    /// Entries that were not found, or were damaged.
    pub misses: u64,
    /// Entries that were written.
    pub writes: u64,
}

/// Opens the store in a folder, which is made when something is kept, with at most so many bytes; 0: 2 GiB.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn qd_store_open(
    folder: *const c_char,
    limit_bytes: u64,
    store: *mut *mut qd_store,
) -> qd_status {
    call!({
        let to = place(store)?;
        let limit = match limit_bytes {
            0 => qd_frontend::store::DEFAULT_SIZE,
            bytes => bytes,
        };
        to.give(qd_store(Arc::new(Store::new(path(folder)?, limit))));
        Ok(())
    })
}

/// Opens the store that the environment names: QD_CACHE_DIR, QD_CACHE_SIZE, QD_CACHE_REMOTE. It is null, and that is
/// no error, if QD_CACHE_DIR is empty. What is malformed there is said by qd_store_troubles().
#[unsafe(no_mangle)]
pub unsafe extern "C" fn qd_store_of_environment(store: *mut *mut qd_store) -> qd_status {
    call!({
        let to = place(store)?;
        if let Some(found) = Store::of_environment() {
            to.give(qd_store(Arc::new(found)));
        }
        Ok(())
    })
}

/// Frees a handle of a store. Sessions keep it.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn qd_store_free(store: *mut qd_store) -> qd_status {
    call!({ free(store) })
}

/// How often a store was asked.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn qd_store_count(
    store: *const qd_store,
    counts: *mut qd_store_counts,
) -> qd_status {
    call!({
        let counted = get(store)?.0.counts();
        write(
            counts,
            qd_store_counts {
                hits: counted.hits,
                misses: counted.misses,
                writes: counted.writes,
            },
        )
    })
}

/// Calls `trouble` with each thing that went wrong with a store since this was last called, and `data`. None of it
/// failed a compilation. What it gets is valid until it returns.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn qd_store_troubles(
    store: *const qd_store,
    trouble: Option<unsafe extern "C" fn(message: *const c_char, data: *mut c_void)>,
    data: *mut c_void,
) -> qd_status {
    call!({
        let trouble = trouble.ok_or_else(|| Failure::handle("`trouble` is null"))?;
        for one in get(store)?.0.troubles() {
            let message = c_text(one.to_string());
            trouble(message.as_ptr(), data);
        }
        Ok(())
    })
}

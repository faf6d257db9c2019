/* Memory of the fake HIP runtime. Addresses are never used twice, so that what was freed cannot be
 * mistaken for what came after it. */
#define _GNU_SOURCE
#include "hip.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

/* What there are addresses for. */
#define ROOM ((size_t)1 << 42)
#define PAGE ((size_t)4096)
/* Blocks begin at multiples of this, and of no more. */
#define ALIGNMENT ((size_t)256)
/* What is in new memory. */
#define ARBITRARY 0xA5

static uintptr_t room_begin, room_next;
static block **blocks;
static size_t count, capacity;
/* Memory that was released, for messages. */
static block **gone;
static size_t gone_count, gone_capacity;

static void push(block ***list, size_t *length, size_t *room, block *one) {
    if (*length == *room) {
        *room = *room ? 2 * *room : 64;
        *list = realloc(*list, *room * sizeof **list);
    }
    (*list)[(*length)++] = one;
}

/* Pages of a block, and one behind it that nobody may touch. */
static size_t pages(size_t bytes) {
    return (bytes + ALIGNMENT + PAGE - 1) / PAGE * PAGE + PAGE;
}

/* What a kernel may access: whole words, since an atomic on less is made on the word around it, and an
 * allocation's granule is more. */
static size_t words(size_t bytes) {
    return (bytes + 3) / 4 * 4;
}

block *block_new(size_t bytes, int device, pool *from) {
    if (!room_begin) {
        void *room = mmap(NULL, ROOM, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        if (room == MAP_FAILED)
            violation("the system has no addresses for the fake");
        room_begin = room_next = (uintptr_t)room;
    }
    size_t size = pages(bytes);
    if (size > ROOM - (room_next - room_begin))
        violation("the fake has given out all its addresses");
    if (mprotect((void *)room_next, size - PAGE, PROT_READ | PROT_WRITE))
        violation("the system has no memory");
    block *made = calloc(1, sizeof *made);
    made->base = room_next + ALIGNMENT;
    made->bytes = bytes;
    made->device = device;
    made->from = from;
    if (from) {
        made->defined = calloc(words(bytes), 1);
        memset(made->defined + bytes, 0xFF, words(bytes) - bytes);
    }
    memset((void *)made->base, ARBITRARY, words(bytes));
    room_next += size;
    push(&blocks, &count, &capacity, made);
    return made;
}

void block_release(block *one) {
    for (size_t i = 0; i < count; i++) {
        if (blocks[i] == one) {
            blocks[i] = blocks[--count];
            break;
        }
    }
    void *begin = (void *)(one->base - ALIGNMENT);
    madvise(begin, pages(one->bytes) - PAGE, MADV_DONTNEED);
    mprotect(begin, pages(one->bytes) - PAGE, PROT_NONE);
    free(one->defined);
    one->defined = NULL;
    one->is_gone = true;
    push(&gone, &gone_count, &gone_capacity, one);
}

static bool has(const block *one, uintptr_t address) {
    return address >= one->base && address - one->base < one->bytes;
}

block *block_at(uintptr_t address, bool freed) {
    for (size_t i = 0; i < count; i++)
        if (has(blocks[i], address) && (freed || !blocks[i]->is_freed))
            return blocks[i];
    return NULL;
}

block *block_of(const void *pointer, size_t bytes) {
    uintptr_t address = (uintptr_t)pointer;
    block *found = block_at(address, true);
    if (found && found->is_freed)
        violation("%p is in memory that was freed", pointer);
    if (found && bytes > found->bytes - (address - found->base))
        violation("%zu bytes from %p on leave an allocation of %zu bytes at %p", bytes, pointer,
                  found->bytes, (void *)found->base);
    if (found)
        return found;
    for (size_t i = 0; i < gone_count; i++)
        if (has(gone[i], address))
            violation("%p is in memory that was freed", pointer);
    if (address + bytes > room_begin && address < room_next)
        violation("%p is in no allocation", pointer);
    return NULL;
}

void block_check(const block *one) {
    if (one->is_gone)
        violation("memory at %p was released before: no event orders the streams",
                  (void *)one->base);
    if (!one->is_live)
        violation("memory at %p is not allocated yet: no event orders the streams",
                  (void *)one->base);
}

size_t regions(const oracle_region **all) {
    static oracle_region *found;
    static size_t room;
    size_t length = 0;
    if (room < count) {
        room = 2 * count;
        found = realloc(found, room * sizeof *found);
    }
    for (size_t i = 0; i < count; i++)
        if (blocks[i]->is_live)
            found[length++] =
                (oracle_region){blocks[i]->base, words(blocks[i]->bytes), blocks[i]->defined};
    *all = found;
    return length;
}

uint8_t *shadow(const block *one, uintptr_t address) {
    return one && one->defined ? one->defined + (address - one->base) : NULL;
}

size_t bytes_in_use(void) {
    size_t bytes = 0;
    for (size_t i = 0; i < count; i++)
        bytes += blocks[i]->from ? blocks[i]->bytes : 0;
    return bytes;
}

size_t blocks_in_use(void) {
    size_t used = 0;
    for (size_t i = 0; i < count; i++)
        used += !blocks[i]->is_freed;
    return used;
}

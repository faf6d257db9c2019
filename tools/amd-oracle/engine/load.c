/* Loads a code object: has the Python package translate it, maps the table, opens the compiled instructions. */
#define _GNU_SOURCE
#include "engine.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

/* The folder that holds the Python package: said, or where this library was built. */
static void package(char *path, size_t room) {
    const char *said = getenv("QD_AMD_ORACLE");
    if (said && *said) { snprintf(path, room, "%s", said); return; }
    Dl_info info;
    char folder[3072];
    if (dladdr((void *)(uintptr_t)oracle_load, &info) && info.dli_fname) {
        snprintf(folder, sizeof folder, "%s", info.dli_fname);
        char *slash = strrchr(folder, '/');
        if (slash) *slash = 0; else snprintf(folder, sizeof folder, ".");
        static const char *const near[] = {"", "/..", "/../tools/amd-oracle", "/../../tools/amd-oracle", "/../../../tools/amd-oracle"};
        for (size_t k = 0; k < sizeof near / sizeof *near; k++) {
            struct stat s;
            snprintf(path, room, "%s%s/amd_oracle/__main__.py", folder, near[k]);
            if (!stat(path, &s)) { snprintf(path, room, "%s%s", folder, near[k]); return; }
        }
    }
    snprintf(path, room, ".");
}

/* The translator, which stays for as long as this process does: it takes longer to start than to translate. */
static struct { pid_t process; int at; pthread_mutex_t mutex; } translator = {0, -1, PTHREAD_MUTEX_INITIALIZER};

static int start_translator(const char *folder, char *error, size_t room) {
    const char *python = getenv("QD_AMD_ORACLE_PYTHON");
    if (!python || !*python) python = "python3";
    int ends[2];
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends)) { snprintf(error, room, "socketpair: %s", strerror(errno)); return 0; }
    pid_t child = fork();
    if (child < 0) { close(ends[0]); close(ends[1]); snprintf(error, room, "fork: %s", strerror(errno)); return 0; }
    if (!child) {
        dup2(ends[1], 0);
        dup2(ends[1], 1);
        if (chdir(folder)) _exit(126);
        execlp(python, python, "-m", "amd_oracle", "serve", (char *)NULL);
        fprintf(stderr, "cannot run %s: %s\n", python, strerror(errno));
        _exit(127);
    }
    close(ends[1]);
    translator.process = child;
    translator.at = ends[0];
    return 1;
}

/* Sends the path of a code object, and reads the line that answers it. */
static int ask(const char *image, char *answer, size_t room) {
    char question[4100];
    size_t length = (size_t)snprintf(question, sizeof question, "%s\n", image), got = 0;
    if (send(translator.at, question, length, MSG_NOSIGNAL) != (ssize_t)length) return 0;
    for (;;) {
        ssize_t n = recv(translator.at, answer + got, 1, 0);
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0) return 0;
        if (answer[got] == '\n') break;
        if (got < room - 1) got++;
    }
    answer[got] = 0;
    return 1;
}

/* Has a code object translated; `table` is the path of what that makes. */
static int translate(const char *image, char *table, size_t room, char *error, size_t error_room) {
    char folder[4096], answer[8192];
    package(folder, sizeof folder);
    pthread_mutex_lock(&translator.mutex);
    int good = translator.at >= 0 || start_translator(folder, error, error_room);
    if (good && !ask(image, answer, sizeof answer)) {
        int status = 0;
        close(translator.at);
        translator.at = -1;
        while (waitpid(translator.process, &status, 0) < 0 && errno == EINTR) {}
        snprintf(error, error_room, "translating the code object: the translator ended with status %d (package in %s)",
                 WIFEXITED(status) ? WEXITSTATUS(status) : -1, folder);
        good = 0;
    } else if (good && strncmp(answer, "table ", 6) != 0) {
        snprintf(error, error_room, "translating the code object: %s", answer);
        good = 0;
    }
    pthread_mutex_unlock(&translator.mutex);
    if (good) snprintf(table, room, "%s", answer + 6);
    return good;
}

static int write_image(const void *image, size_t bytes, char *path, char *error, size_t room) {
    const char *folder = getenv("TMPDIR");
    snprintf(path, 4096, "%s/amd-oracle-XXXXXX", folder && *folder ? folder : "/tmp");
    int file = mkstemp(path);
    if (file < 0) { snprintf(error, room, "%s: %s", path, strerror(errno)); return 0; }
    for (size_t at = 0; at < bytes;) {
        ssize_t n = write(file, (const char *)image + at, bytes - at);
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0) { snprintf(error, room, "%s: %s", path, strerror(errno)); close(file); unlink(path); return 0; }
        at += (size_t)n;
    }
    close(file);
    return 1;
}

static const void *section(const oracle_module *m, int which, size_t bytes, size_t *count) {
    table_section s = m->header->section[which];
    if (s.offset > m->file_bytes || (bytes && s.count > (m->file_bytes - s.offset) / bytes)) return NULL;
    if (count) *count = s.count;
    return (const char *)m->file + s.offset;
}

static int open_libraries(oracle_module *m, char *error, size_t room) {
    const uint32_t *paths = section(m, SECTION_LIBRARIES, sizeof *paths, &m->library_count);
    if (!paths) return 0;
    m->libraries = calloc(m->library_count + 1, sizeof *m->libraries);
    m->plain = calloc(m->op_count + 1, sizeof *m->plain);
    m->shadowed = calloc(m->op_count + 1, sizeof *m->shadowed);
    m->issued = calloc(m->op_count + 1, sizeof *m->issued);
    if (!m->libraries || !m->plain || !m->shadowed || !m->issued) return 0;
    for (size_t k = 0; k < m->library_count; k++)
        if (paths[k] >= m->strings_count || !(m->libraries[k] = dlopen(m->strings + paths[k], RTLD_NOW | RTLD_LOCAL))) {
            snprintf(error, room, "compiled instructions: %s", dlerror());
            return 0;
        }
    for (size_t k = 0; k < m->op_count; k++) {
        const table_op *op = &m->ops[k];
        char name[64];
        if (op->library >= m->library_count) continue;
        snprintf(name, sizeof name, "v_%s", m->strings + op->function);
        *(void **)&m->plain[k] = dlsym(m->libraries[op->library], name);
        name[0] = 'u';
        *(void **)&m->shadowed[k] = dlsym(m->libraries[op->library], name);
        if (!m->plain[k] || !m->shadowed[k]) { snprintf(error, room, "compiled instructions lack %s", name); return 0; }
    }
    return 1;
}

static int load_image(oracle_module *m) {
    size_t count;
    const void *image = section(m, SECTION_IMAGE, 1, &m->image_bytes);
    const table_relocation *r = section(m, SECTION_RELOCATIONS, sizeof *r, &count);
    if (!image || !r || !(m->image = aligned_alloc(4096, (m->image_bytes + 4095) & ~(size_t)4095))) return 0;
    memcpy(m->image, image, m->image_bytes);
    for (size_t k = 0; k < count; k++) {
        u64 x = (u64)(uintptr_t)m->image + (u64)r[k].addend;
        if (m->image_bytes < 8 || r[k].place > m->image_bytes - 8) return 0;
        memcpy(m->image + r[k].place, &x, 8);
    }
    return 1;
}

oracle_module *oracle_load(const void *image, size_t bytes, char *error, size_t room) {
    char path[4096], table[8192], scratch[8];
    if (!room) { error = scratch; room = sizeof scratch; }
    error[0] = 0;
    if (!write_image(image, bytes, path, error, room)) return NULL;
    int translated = translate(path, table, sizeof table, error, room);
    unlink(path);
    if (!translated) return NULL;
    oracle_module *m = calloc(1, sizeof *m);
    struct stat s;
    int file = open(table, O_RDONLY | O_CLOEXEC);
    int good = m && file >= 0 && !fstat(file, &s) && (size_t)s.st_size > sizeof(table_header);
    if (good) {
        m->file_bytes = (size_t)s.st_size;
        m->file = mmap(NULL, m->file_bytes, PROT_READ, MAP_PRIVATE, file, 0);
        good = m->file != MAP_FAILED;
        if (!good) m->file = NULL;
    }
    if (file >= 0) close(file);
    if (good) {
        m->header = m->file;
        good = !memcmp(m->header->magic, "QDAMDOR1", 8)
            && (m->kernels = section(m, SECTION_KERNELS, sizeof *m->kernels, &m->kernel_count))
            && (m->instructions = section(m, SECTION_INSTRUCTIONS, sizeof *m->instructions, NULL))
            && (m->ops = section(m, SECTION_OPS, sizeof *m->ops, &m->op_count))
            && (m->index = section(m, SECTION_INDEX, sizeof *m->index, &m->index_count))
            && (m->strings = section(m, SECTION_STRINGS, 1, &m->strings_count)) && load_image(m) && open_libraries(m, error, room);
    }
    if (good) return m;
    if (!error[0]) snprintf(error, room, "unusable table %.200s", table);
    oracle_unload(m);
    return NULL;
}

void oracle_unload(oracle_module *m) {
    if (!m) return;
    for (size_t k = 0; m->libraries && k < m->library_count; k++)
        if (m->libraries[k]) dlclose(m->libraries[k]);
    free(m->libraries);
    free(m->plain);
    free(m->shadowed);
    free(m->issued);
    free(m->image);
    if (m->file) munmap(m->file, m->file_bytes);
    free(m);
}

const char *oracle_architecture(const oracle_module *m) {
    static const char *const names[] = {"gfx942", "gfx1100", "gfx1201", "gfx90a"};
    return names[m->header->architecture & 3];
}

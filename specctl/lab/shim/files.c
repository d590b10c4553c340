/* Opening, making, removing and writing files. */
#include "shim.h"

#include <sys/statfs.h>
#include <sys/statvfs.h>
#include <sys/uio.h>

#define WRITES(flags) (((flags) & O_ACCMODE) != O_RDONLY || ((flags) & (O_CREAT | O_TRUNC)))
#define MODE(flags) mode_t mode = 0; if ((flags) & (O_CREAT | O_TMPFILE)) { va_list a; va_start(a, flags); mode = va_arg(a, mode_t); va_end(a); }
#define HERE(p) char b_[PATH_MAX]; p = redirect(p, b_)
#define CHANGES(d, p) HERE(p); if (is_read_only(d, p)) return -1

#define OPEN(name) int name(const char *p, int flags, ...) { MODE(flags); HERE(p); \
    if (WRITES(flags) && is_read_only(AT_FDCWD, p)) return -1; \
    return REAL(name)(p, flags, mode); }
#define OPENAT(name) int name(int d, const char *p, int flags, ...) { MODE(flags); HERE(p); \
    if (WRITES(flags) && is_read_only(d, p)) return -1; \
    return REAL(name)(d, p, flags, mode); }
OPEN(open) OPEN(open64) OPENAT(openat) OPENAT(openat64)

#define FOPEN(name) FILE *name(const char *p, const char *how) { HERE(p); \
    if ((*how != 'r' || strchr(how, '+')) && is_read_only(AT_FDCWD, p)) return NULL; \
    return REAL(name)(p, how); }
FOPEN(fopen) FOPEN(fopen64)

int creat(const char *p, mode_t mode) { CHANGES(AT_FDCWD, p); return REAL(creat)(p, mode); }
int mkdir(const char *p, mode_t mode) { CHANGES(AT_FDCWD, p); return REAL(mkdir)(p, mode); }
int mkdirat(int d, const char *p, mode_t mode) { CHANGES(d, p); return REAL(mkdirat)(d, p, mode); }
int rmdir(const char *p) { CHANGES(AT_FDCWD, p); return REAL(rmdir)(p); }
int unlink(const char *p) { CHANGES(AT_FDCWD, p); return REAL(unlink)(p); }
int unlinkat(int d, const char *p, int f) { CHANGES(d, p); return REAL(unlinkat)(d, p, f); }
int chmod(const char *p, mode_t mode) { CHANGES(AT_FDCWD, p); return REAL(chmod)(p, mode); }
int fchmodat(int d, const char *p, mode_t mode, int f) { CHANGES(d, p); return REAL(fchmodat)(d, p, mode, f); }
int utimensat(int d, const char *p, const struct timespec t[2], int f) { CHANGES(d, p); return REAL(utimensat)(d, p, t, f); }

static int move(int from, const char **a, char *x, int to, const char **b, char *y) {
    *a = redirect(*a, x); *b = redirect(*b, y);
    return is_read_only(from, *a) || is_read_only(to, *b);
}
#define TWO(from, to) char x_[PATH_MAX], y_[PATH_MAX]; if (move(from, &a, x_, to, &b, y_)) return -1
int rename(const char *a, const char *b) { TWO(AT_FDCWD, AT_FDCWD); return REAL(rename)(a, b); }
int renameat(int d, const char *a, int e, const char *b) { TWO(d, e); return REAL(renameat)(d, a, e, b); }
int link(const char *a, const char *b) { TWO(AT_FDCWD, AT_FDCWD); return REAL(link)(a, b); }
int linkat(int d, const char *a, int e, const char *b, int f) { TWO(d, e); return REAL(linkat)(d, a, e, b, f); }
int symlink(const char *a, const char *p) { CHANGES(AT_FDCWD, p); return REAL(symlink)(a, p); }

int access(const char *p, int how) { HERE(p); if ((how & W_OK) && is_read_only(AT_FDCWD, p)) return -1; return REAL(access)(p, how); }
int faccessat(int d, const char *p, int how, int f) { HERE(p); if ((how & W_OK) && is_read_only(d, p)) return -1; return REAL(faccessat)(d, p, how, f); }
ssize_t readlink(const char *p, char *o, size_t n) { HERE(p); return REAL(readlink)(p, o, n); }
ssize_t readlinkat(int d, const char *p, char *o, size_t n) { HERE(p); return REAL(readlinkat)(d, p, o, n); }
int stat(const char *p, struct stat *s) { HERE(p); return REAL(stat)(p, s); }
int lstat(const char *p, struct stat *s) { HERE(p); return REAL(lstat)(p, s); }
int fstatat(int d, const char *p, struct stat *s, int f) { HERE(p); return REAL(fstatat)(d, p, s, f); }
int stat64(const char *p, struct stat64 *s) { HERE(p); return REAL(stat64)(p, s); }
int lstat64(const char *p, struct stat64 *s) { HERE(p); return REAL(lstat64)(p, s); }
int fstatat64(int d, const char *p, struct stat64 *s, int f) { HERE(p); return REAL(fstatat64)(d, p, s, f); }
int statx(int d, const char *p, int f, unsigned m, struct statx *s) { HERE(p); return REAL(statx)(d, p, f, m, s); }

/* ---- a full disk: files can be made, and nothing be written to them; /dev/shm is no disk --------- */
static int is_on_disk(int directory, const char *path) {
    return (is_within(directory, path, "/home") || is_within(directory, path, "/tmp")) && !is_within(directory, path, "/tmp/dev");
}
static int is_full(int fd) {
    struct stat64 found;
    if (!has_fault(FULL_DISK, NULL) || fstat64(fd, &found) || !S_ISREG(found.st_mode) || !is_on_disk(fd, NULL)) return 0;
    errno = ENOSPC;
    return 1;
}
ssize_t write(int fd, const void *data, size_t n) { return is_full(fd) ? -1 : REAL(write)(fd, data, n); }
ssize_t writev(int fd, const struct iovec *v, int n) { return is_full(fd) ? -1 : REAL(writev)(fd, v, n); }
ssize_t pwrite(int fd, const void *data, size_t n, off_t at) { return is_full(fd) ? -1 : REAL(pwrite)(fd, data, n, at); }
ssize_t pwrite64(int fd, const void *data, size_t n, off64_t at) { return is_full(fd) ? -1 : REAL(pwrite64)(fd, data, n, at); }

#define SPACE(name, type) int name(const char *p, struct type *s) { HERE(p); int rc = REAL(name)(p, s); \
    if (!rc && has_fault(FULL_DISK, NULL) && is_on_disk(AT_FDCWD, p)) s->f_bfree = s->f_bavail = 0; return rc; }
SPACE(statvfs, statvfs) SPACE(statvfs64, statvfs64) SPACE(statfs, statfs) SPACE(statfs64, statfs64)

/* The host's own processes in /proc, its name, its clock, and its lack of Python. */
#include "shim.h"

#include <dirent.h>
#include <pthread.h>
#include <spawn.h>
#include <sys/time.h>
#include <sys/utsname.h>
#include <time.h>

#define MAXOPEN 16
#define ENVIRONMENT_MAX (1 << 16)

static DIR *listings[MAXOPEN];                     /* of /proc, while they are open */
static pthread_mutex_t mu = PTHREAD_MUTEX_INITIALIZER;

static size_t content(const char *pid, const char *name, char *buffer, size_t size) {
    char path[64];
    snprintf(path, sizeof path, "/proc/%.20s/%s", pid, name);
    int fd = REAL(open)(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) return 0;
    size_t n = 0; ssize_t got;
    while (n < size && (got = read(fd, buffer + n, size - n)) > 0) n += (size_t)got;
    close(fd);
    return n;
}

/* A process of this host has its folder in the environment; one that wrote its title over that, or
 * has none that can be read as one, has this library of this host among its mappings. */
static int is_ours(const char *pid) {
    char *buffer = malloc(ENVIRONMENT_MAX), mark[PATH_MAX + 32];
    if (!buffer) return 1;
    size_t n = content(pid, "environ", buffer, ENVIRONMENT_MAX);
    int size = snprintf(mark, sizeof mark, "SPECCTL_LAB_HOST=%s", host_folder()) + 1;
    int found = n && memmem(buffer, n, mark, (size_t)size) != NULL;
    if (!found && n && !memmem(buffer, n, "PATH=", 5)) {
        n = content(pid, "maps", buffer, ENVIRONMENT_MAX);
        size = snprintf(mark, sizeof mark, "%s/lib/", host_folder());
        found = n && memmem(buffer, n, mark, (size_t)size) != NULL;
    }
    free(buffer);
    return found;
}

static void note(DIR *was, DIR *becomes) {
    pthread_mutex_lock(&mu);
    for (int i = 0; i < MAXOPEN; i++) if (listings[i] == was) { listings[i] = becomes; break; }
    pthread_mutex_unlock(&mu);
}
static int is_noted(const DIR *d) {
    for (int i = 0; i < MAXOPEN; i++) if (listings[i] == d) return 1;
    return 0;
}
DIR *opendir(const char *p) {
    char buffer[PATH_MAX];
    DIR *d = REAL(opendir)(redirect(p, buffer));
    if (d && host_folder() && (!strcmp(p, "/proc") || !strcmp(p, "/proc/"))) note(NULL, d);
    return d;
}
int closedir(DIR *d) { if (d && is_noted(d)) note(d, NULL); return REAL(closedir)(d); }
static int is_hidden(const DIR *d, const char *name) {
    if (!is_noted(d) || *name < '0' || *name > '9') return 0;
    int saved = errno, is_foreign = !is_ours(name);
    errno = saved;                                 /* readdir's own tells its end from a failure */
    return is_foreign;
}
struct dirent *readdir(DIR *d) { struct dirent *e; while ((e = REAL(readdir)(d)) && is_hidden(d, e->d_name)) {} return e; }
struct dirent64 *readdir64(DIR *d) { struct dirent64 *e; while ((e = REAL(readdir64)(d)) && is_hidden(d, e->d_name)) {} return e; }

/* ---- name ---------------------------------------------------------------------------------------- */
int gethostname(char *name, size_t size) {
    const char *own = getenv("SPECCTL_LAB_NAME");
    if (!own || !host_folder()) return REAL(gethostname)(name, size);
    snprintf(name, size, "%s", own);
    return 0;
}
int uname(struct utsname *u) {
    int rc = REAL(uname)(u);
    const char *own = getenv("SPECCTL_LAB_NAME");
    if (!rc && own && host_folder()) snprintf(u->nodename, sizeof u->nodename, "%s", own);
    return rc;
}

/* ---- clock --------------------------------------------------------------------------------------- */
static double skew_s(void) { double s = 0; return has_fault(CLOCK_SKEW, &s) ? s : 0; }
int clock_gettime(clockid_t clock, struct timespec *t) {
    int rc = REAL(clock_gettime)(clock, t);
    if (!rc && (clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE)) t->tv_sec += (time_t)skew_s();
    return rc;
}
int gettimeofday(struct timeval *restrict t, void *restrict zone) {
    int rc = REAL(gettimeofday)(t, zone);
    if (!rc && t) t->tv_sec += (time_t)skew_s();
    return rc;
}
time_t time(time_t *o) {
    struct timespec t;
    clock_gettime(CLOCK_REALTIME, &t);
    if (o) *o = t.tv_sec;
    return t.tv_sec;
}

/* ---- no Python ----------------------------------------------------------------------------------- */
static int is_absent(const char *path) {
    const char *slash = path ? strrchr(path, '/') : NULL, *name = slash ? slash + 1 : path;
    return name && !strncmp(name, "python", 6) && has_fault(NO_PYTHON, NULL);
}
#define EXEC(name, list) int name list { if (is_absent(p)) { errno = ENOENT; return -1; }
EXEC(execve, (const char *p, char *const a[], char *const e[])) return REAL(execve)(p, a, e); }
EXEC(execv, (const char *p, char *const a[])) return REAL(execv)(p, a); }
EXEC(execvp, (const char *p, char *const a[])) return REAL(execvp)(p, a); }
EXEC(execvpe, (const char *p, char *const a[], char *const e[])) return REAL(execvpe)(p, a, e); }
#define SPAWN(name) int name(pid_t *restrict pid, const char *restrict p, const posix_spawn_file_actions_t *restrict f, \
    const posix_spawnattr_t *restrict s, char *const a[restrict], char *const e[restrict]) \
    { return is_absent(p) ? ENOENT : REAL(name)(pid, p, f, s, a, e); }
SPAWN(posix_spawn) SPAWN(posix_spawnp)

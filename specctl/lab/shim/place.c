/* Which host this is, what is wrong with it, and which paths are its own. */
#include "shim.h"

#include <sys/syscall.h>
#include <time.h>

#define LOOK_S 0.1

static const char *const fault_name[N_FAULTS] = { "clock-skew", "full-disk", "read-only-home", "no-python" };
static struct { int is_on; double seconds; } faults[N_FAULTS];
static double looked_at;
static const char *const private_to_host[] = { "/tmp/specctl-", "/var/tmp/specctl-", "/dev/shm/specctl-" };

const char *host_folder(void) {
    const char *folder = getenv("SPECCTL_LAB_HOST");
    return folder && *folder == '/' ? folder : NULL;
}

static double monotonic(void) {
    struct timespec t;
    syscall(SYS_clock_gettime, CLOCK_MONOTONIC, &t);
    return t.tv_sec + t.tv_nsec / 1e9;
}

/* "key": NUMBER in a flat JSON object */
static double number(const char *json, const char *key, double otherwise) {
    const char *found = strstr(json, key);
    if (!found || !(found = strchr(found, ':'))) return otherwise;
    return strtod(found + 1, NULL);
}

static void look(const char *folder, double now) {
    char path[PATH_MAX], text[1024];
    for (int f = 0; f < N_FAULTS; f++) {
        snprintf(path, sizeof path, "%s/faults/%s", folder, fault_name[f]);
        int fd = (int)syscall(SYS_openat, AT_FDCWD, path, O_RDONLY | O_CLOEXEC, 0);
        if (fd < 0) { faults[f].is_on = 0; continue; }
        long n = syscall(SYS_read, fd, text, sizeof text - 1);
        syscall(SYS_close, fd);
        text[n > 0 ? n : 0] = 0;
        faults[f].seconds = number(text, "\"seconds\"", 0);
        faults[f].is_on = now >= number(text, "\"from_monotonic_s\"", 0);
    }
    looked_at = now;
}

int has_fault(enum fault fault, double *seconds) {
    const char *folder = host_folder();
    if (!folder) return 0;
    int saved = errno;
    double now = monotonic();
    if (now - looked_at > LOOK_S) look(folder, now);
    errno = saved;
    if (seconds) *seconds = faults[fault].seconds;
    return faults[fault].is_on;
}

const char *redirect(const char *path, char *buffer) {
    const char *folder;
    if (!path || *path != '/' || !(folder = host_folder())) return path;
    for (int i = 0; i < 3; i++) {
        if (strncmp(path, private_to_host[i], strlen(private_to_host[i]))) continue;
        if (!strncmp(path, folder, strlen(folder))) return path;
        if (snprintf(buffer, PATH_MAX, "%s/tmp%s", folder, path) >= PATH_MAX) return path;
        return buffer;
    }
    return path;
}

static int is_below(const char *path, const char *part) {
    const char *folder = host_folder();
    size_t n = folder ? strlen(folder) : 0, m = strlen(part);
    return folder && !strncmp(path, folder, n) && !strncmp(path + n, part, m) && (path[n + m] == '/' || !path[n + m]);
}

int is_within(int directory, const char *path, const char *part) {
    char whole[2 * PATH_MAX], link[40];
    if (path && *path == '/') return is_below(path, part);
    if (directory == AT_FDCWD) { if (!getcwd(whole, PATH_MAX)) return 0; }
    else {
        snprintf(link, sizeof link, "/proc/self/fd/%d", directory);
        long n = syscall(SYS_readlinkat, AT_FDCWD, link, whole, PATH_MAX - 1);
        if (n <= 0) return 0;
        whole[n] = 0;
    }
    if (path && *path) { strcat(whole, "/"); strncat(whole, path, PATH_MAX - 1); }
    return is_below(whole, part);
}

int is_read_only(int directory, const char *path) {
    int saved = errno, found = has_fault(READ_ONLY_HOME, NULL) && is_within(directory, path, "/home");
    errno = found ? EROFS : saved;
    return found;
}

/* The scenario file: read, re-read when it changes, and asked for values; and the start of every call. */
#include "fake.h"

#include <ctype.h>
#include <fcntl.h>
#include <math.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

const char *const err_text[N_ERRORS] = {
    "Success", "Uninitialized", "Invalid Argument", "Not Supported", "Insufficient Permissions",
    "Already Initialized", "Not Found", "Insufficient Size", "Insufficient External Power",
    "Driver Not Loaded", "Timeout", "Interrupt Request Issue", "NVML Shared Library Not Found",
    "Function Not Found", "Corrupted infoROM", "GPU is lost", "GPU requires reset",
    "GPU access blocked by the operating system", "Driver/library version mismatch",
    "In use by another client", "Insufficient Memory", "No data", "vGPU ECC not supported",
    "Insufficient Resources", "Invalid Frequency", "Argument version mismatch",
    "Requested functionality has been deprecated", "System is not in ready state" };
static const char *const err_name[N_ERRORS] = {
    "SUCCESS", "UNINITIALIZED", "INVALID_ARGUMENT", "NOT_SUPPORTED", "NO_PERMISSION",
    "ALREADY_INITIALIZED", "NOT_FOUND", "INSUFFICIENT_SIZE", "INSUFFICIENT_POWER",
    "DRIVER_NOT_LOADED", "TIMEOUT", "IRQ_ISSUE", "LIBRARY_NOT_FOUND", "FUNCTION_NOT_FOUND",
    "CORRUPTED_INFOROM", "GPU_IS_LOST", "RESET_REQUIRED", "OPERATING_SYSTEM",
    "LIB_RM_VERSION_MISMATCH", "IN_USE", "MEMORY", "NO_DATA", "VGPU_ECC_NOT_SUPPORTED",
    "INSUFFICIENT_RESOURCES", "FREQ_NOT_SUPPORTED", "ARGUMENT_VERSION_MISMATCH", "DEPRECATED",
    "NOT_READY" };

/* ---- scenario ---------------------------------------------------------- */
#define MAXKV 4096
struct dev devs[MAXGPU], migs[MAXGPU][MAXMIG];
static struct kv { int sec; char key[64], val[160]; } kvs[MAXKV]; /* sec: -2 system, -1 all gpus, n */
static int nkv;
int refs;
static struct timespec conf_mtime; static off_t conf_size = -1; static double next_check;
static double t0;
pthread_mutex_t mu = PTHREAD_MUTEX_INITIALIZER;

double now(void) { struct timespec t; clock_gettime(CLOCK_REALTIME, &t); return t.tv_sec + t.tv_nsec / 1e9; }
static char *trim(char *s) {
    while (isspace((unsigned char)*s)) s++;
    char *e = s + strlen(s);
    while (e > s && isspace((unsigned char)e[-1])) *--e = 0;
    return s;
}
void load(void) {
    double t = now();
    if (t < next_check) return;
    next_check = t + 0.02;                    /* at most 50 stat() a second */
    const char *path = getenv("FAKE_NVML_CONF"), *lab = lab_folder();
    static char own[512];
    struct stat st;
    if (!path && lab) { snprintf(own, sizeof own, "%s/gpus.ini", lab); path = own; }
    if (!path || stat(path, &st)) { nkv = 0; conf_size = -1; return; }
    if (st.st_size == conf_size && !memcmp(&st.st_mtim, &conf_mtime, sizeof conf_mtime)) { lab_look(); return; }
    FILE *f = fopen(path, "re");
    if (!f) return;
    char line[256]; int sec = -2; nkv = 0;
    if (t0 == 0) t0 = t;
    conf_size = st.st_size; conf_mtime = st.st_mtim;
    while (fgets(line, sizeof line, f) && nkv < MAXKV) {
        char *s = trim(line), *eq;
        if (*s == '#' || *s == ';' || !*s) continue;
        if (*s == '[') { if (sscanf(s, "[gpu %d]", &sec) != 1) sec = strncmp(s, "[gpu]", 5) ? -2 : -1; continue; }
        if (!(eq = strchr(s, '='))) continue;
        *eq = 0;
        kvs[nkv].sec = sec;
        snprintf(kvs[nkv].key, sizeof kvs->key, "%s", trim(s));
        snprintf(kvs[nkv].val, sizeof kvs->val, "%s", trim(eq + 1));
        nkv++;
    }
    fclose(f);
    lab_look();
}
const char *find(int sec, const char *key) {
    for (int i = nkv - 1; i >= 0; i--) if (kvs[i].sec == sec && !strcmp(kvs[i].key, key)) return kvs[i].val;
    return NULL;
}
static const char *look(const struct dev *d, const char *key) {
    char k[96];
    const char *v;
    if (!d) return find(-2, key);
    if (d->mig >= 0) { snprintf(k, sizeof k, "mig.%d.%s", d->mig, key); key = k; }
    if ((v = find(d->gpu, key)) || (v = find(-1, key))) return strcmp(v, "none") ? v : NULL;
    return NULL;
}
/* number: 12  1.5G  0x4  sin:mean:amp:period  rate:per_second[:start]  seq:dt:a,b,c */
double number(const char *v, double t) {
    double a = 0, b = 0, c = 1;
    if (sscanf(v, "sin:%lf:%lf:%lf", &a, &b, &c) >= 2) return fmax(0, a + b * sin(2 * M_PI * t / c));
    if (sscanf(v, "rate:%lf:%lf", &a, &b) >= 1) return b + a * t;
    if (sscanf(v, "seq:%lf:", &a) == 1) {
        const char *p = strchr(v + 4, ':') + 1;
        for (long n = a > 0 ? (long)(t / a) : 0; n > 0; n--) { const char *q = strchr(p, ','); if (!q) break; p = q + 1; }
        return strtod(p, NULL);
    }
    char *e; double x = strncmp(v, "0x", 2) ? strtod(v, &e) : (double)strtoull(v, &e, 16);
    switch (*e) { case 'K': return x * 1024; case 'M': return x * 1048576; case 'G': return x * 1073741824.0; }
    return x;
}
double clock_s(void) {                 /* seconds since first load, or frozen by [system] now = */
    const char *v = find(-2, "now");
    return v ? strtod(v, NULL) : now() - t0;
}
int plain_at(const struct dev *d, const char *key, double t, double *out) {
    const char *v = look(d, key);
    if (!v) return NOTSUP;
    *out = number(v, t);
    return OK;
}
int num_at(const struct dev *d, const char *key, double t, double *out) {
    int rc = plain_at(d, key, t, out);
    if (!rc) lab_value(d, key, out);
    return rc;
}
int code(const char *v) {
    for (int i = 0; i < N_ERRORS; i++) if (!strcmp(v, err_name[i])) return i;
    return isdigit((unsigned char)*v) ? atoi(v) : UNKNOWN;
}
static void trace(const char *fn, const struct dev *d, int rc) {
    static int fd = -2;
    if (fd == -2) { const char *p = getenv("FAKE_NVML_TRACE"); fd = p ? open(p, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644) : -1; }
    if (fd < 0) return;
    char b[160], g[16] = "-"; if (d) snprintf(g, sizeof g, d->mig < 0 ? "%d" : "%d.%d", d->gpu, d->mig);
    int n = snprintf(b, sizeof b, "%.0f %s %s %d\n", now() * 1e6, fn, g, rc);
    if (write(fd, b, n) < 0) return;
}
int is_dev(const void *h) {
    return (h >= (void *)devs && h < (void *)(devs + MAXGPU)) || (h >= (void *)migs && h < (void *)(migs + MAXGPU));
}
/* every call starts here: reload, check state, apply delay.<fn> and error.<fn> */
int enter(const char *fn, const void *h, const struct dev **d, int needs_dev) {
    char k[96]; const char *v; int rc = OK; double us = 0;
    pthread_mutex_lock(&mu);
    load();
    *d = needs_dev && is_dev(h) ? h : NULL;
    if (!refs) rc = UNINIT;
    else if (needs_dev && !*d) rc = INVALID;
    else {
        snprintf(k, sizeof k, "error.%s", fn);
        if ((v = look(*d, k)) || (v = find(-2, k)) || (*d && (v = look(*d, "error.*")))) rc = code(v);
        snprintf(k, sizeof k, "delay_us.%s", fn);
        if ((v = look(*d, k)) || (v = find(-2, k)) || (v = find(-2, "delay_us.*"))) us = number(v, clock_s());
    }
    pthread_mutex_unlock(&mu);
    trace(fn, *d, rc);
    if (us > 0) usleep((useconds_t)us);       /* outside the lock: other devices stay callable */
    return rc;
}
int get(const struct dev *d, const char *key, double *x) {
    pthread_mutex_lock(&mu);
    int rc = num_at(d, key, clock_s(), x);
    pthread_mutex_unlock(&mu);
    return rc;
}
int get32(const struct dev *d, const char *key, u32 *o) {
    double x; int rc;
    if (!o) return INVALID;
    if (!(rc = get(d, key, &x))) *o = (u32)(int64_t)x;
    return rc;
}
int get64(const struct dev *d, const char *key, u64 *o) {
    double x; int rc;
    if (!o) return INVALID;
    if (!(rc = get(d, key, &x))) *o = (u64)x;
    return rc;
}
u64 opt64(const struct dev *d, const char *key, u64 dflt) { u64 v; return get64(d, key, &v) ? dflt : v; }
int text(const struct dev *d, const char *key, char *buf, u32 n) {
    pthread_mutex_lock(&mu);
    const char *v = look(d, key); int rc = OK;
    if (!buf) rc = INVALID; else if (!v) rc = NOTSUP; else if (strlen(v) + 1 > n) rc = TOOSMALL; else strcpy(buf, v);
    pthread_mutex_unlock(&mu);
    return rc;
}
int key32(const struct dev *d, const char *base, const char *const *names, u32 n, u32 i, u32 *o) {
    char k[64];
    if (i >= n) return INVALID;
    snprintf(k, sizeof k, "%s.%s", base, names[i]);
    return get32(d, k, o);
}
int ngpus(void) { int n = (int)opt64(NULL, "gpus", 0); return n > MAXGPU ? MAXGPU : n; }
int ngpus_now(void) { const char *v = find(-2, "gpus"); int n = v ? atoi(v) : 0; return n > MAXGPU ? MAXGPU : n; }

int start(void) {
    pthread_mutex_lock(&mu);
    for (int g = 0; g < MAXGPU; g++) { devs[g] = (struct dev){ g, -1 }; for (int m = 0; m < MAXMIG; m++) migs[g][m] = (struct dev){ g, m }; }
    next_check = 0; load();
    const char *v = find(-2, "error.nvmlInit");
    int rc = v ? code(v) : nkv ? OK : NODRIVER;
    double us = (v = find(-2, "delay_us.nvmlInit")) ? number(v, 0) : 0;   /* persistence mode off: seconds */
    if (!rc) refs++;
    pthread_mutex_unlock(&mu);
    trace("nvmlInit", NULL, rc);
    if (us > 0) usleep((useconds_t)us);
    return rc;
}

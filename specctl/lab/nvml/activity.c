/* On a lab host the GPUs do what its living processes say they do (specctl/lab/activity.py).
 *
 *   SPECCTL_LAB_HOST/gpus.ini       the scenario, where FAKE_NVML_CONF names no other
 *   SPECCTL_LAB_HOST/activity/PID   what a process does to each GPU
 *
 * The scenario holds the idle values; `busy.*` beside them is what a GPU comes to at full load.
 * Temperature follows power with a time constant; energy and traffic are summed up while somebody
 * looks, each from the rates since the look before.
 */
#include "fake.h"

#include <ctype.h>
#include <dirent.h>
#include <math.h>
#include <time.h>

#define MAXACT 512
#define LOOK_S 0.05
#define WARMING_S 15.0

struct act { u32 pid; int gpu, mig; double memory, busy, memory_busy, watts, rates[4]; };
static struct act acts[MAXACT];
static int nacts;
static struct gpu { double memory, busy, memory_busy, watts, power_mw, celsius, energy_mj, rates[4], bytes[4]; int over; } gpus[MAXGPU];
static double looked_at;
static const char *const rate_name[] = { "pcie_rx_bytes_per_s", "pcie_tx_bytes_per_s", "nvlink_rx_bytes_per_s", "nvlink_tx_bytes_per_s" };

static double monotonic(void) { struct timespec t; clock_gettime(CLOCK_MONOTONIC, &t); return t.tv_sec + t.tv_nsec / 1e9; }

static int has_started_at(u32 pid, unsigned long long ticks) {
    char path[40], line[512]; unsigned long long found; const char *end;
    snprintf(path, sizeof path, "/proc/%u/stat", pid);
    FILE *f = fopen(path, "re");
    if (!f) return 0;
    size_t n = fread(line, 1, sizeof line - 1, f);
    fclose(f); line[n] = 0;
    if (!(end = strrchr(line, ')')) || end[2] == 'Z' || end[2] == 'X') return 0;
    return sscanf(end + 2, "%*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %*u %*u %*d %*d %*d %*d %*d %*d %llu", &found) == 1 && found == ticks;
}

static void take_pair(struct act *a, const char *word) {
    const char *eq = strchr(word, '=');
    if (!eq) return;
    size_t n = eq - word; double x = strtod(eq + 1, NULL);
    if (!strncmp(word, "memory_bytes", n) && n == 12) a->memory = x;
    else if (!strncmp(word, "memory_busy", n) && n == 11) a->memory_busy = x;
    else if (!strncmp(word, "busy", n) && n == 4) a->busy = x;
    else if (!strncmp(word, "watts", n) && n == 5) a->watts = x;
    else if (!strncmp(word, "mig", n) && n == 3) a->mig = (int)x;
    for (int i = 0; i < 4; i++) if (n == strlen(rate_name[i]) && !strncmp(word, rate_name[i], n)) a->rates[i] = x;
}

static void take_file(const char *folder, u32 pid) {
    char path[512], line[512], *save; unsigned long long ticks = 0; double until = INFINITY;
    snprintf(path, sizeof path, "%s/activity/%u", folder, pid);
    FILE *f = fopen(path, "re");
    if (!f) return;
    int is_alive = 0;
    while (fgets(line, sizeof line, f)) {
        if (sscanf(line, "start %llu", &ticks) == 1) { if (!(is_alive = has_started_at(pid, ticks))) break; continue; }
        if (sscanf(line, "busy_until %lf", &until) == 1) continue;
        struct act a = { .pid = pid, .mig = -1, .memory_busy = -1, .watts = -1 };
        if (!is_alive || nacts == MAXACT || sscanf(line, "gpu %d", &a.gpu) != 1 || a.gpu < 0 || a.gpu >= MAXGPU) continue;
        for (char *w = strtok_r(line, " \n", &save); w; w = strtok_r(NULL, " \n", &save)) take_pair(&a, w);
        if (monotonic() > until) { a.busy = a.memory_busy = 0; a.watts = 0; memset(a.rates, 0, sizeof a.rates); }
        if (a.memory_busy < 0) a.memory_busy = a.busy / 2;
        acts[nacts++] = a;
    }
    fclose(f);
}

static double plain(const struct dev *d, const char *key, double dflt) { double x; return plain_at(d, key, clock_s(), &x) ? dflt : x; }

static void sum_up(int g, double dt) {
    struct gpu *u = &gpus[g]; const struct dev *d = &devs[g];
    double idle = plain(d, "power.usage_mw", 0), full = plain(d, "busy.power_mw", idle), limit = plain(d, "power.limit_mw", 0);
    double cool = plain(d, "temp.gpu", 0), hot = plain(d, "busy.temp", cool), aim;
    int is_told = 0;
    u->energy_mj += u->power_mw * dt;
    for (int i = 0; i < 4; i++) { u->bytes[i] += u->rates[i] * dt; u->rates[i] = 0; }
    u->memory = u->busy = u->memory_busy = u->watts = 0;
    for (int i = 0; i < nacts; i++) {
        if (acts[i].gpu != g) continue;
        u->memory += acts[i].memory; u->busy += acts[i].busy; u->memory_busy += acts[i].memory_busy;
        if (acts[i].watts >= 0) { u->watts += acts[i].watts; is_told = 1; }
        for (int r = 0; r < 4; r++) u->rates[r] += acts[i].rates[r];
    }
    u->busy = fmin(1, u->busy); u->memory_busy = fmin(1, u->memory_busy);
    u->power_mw = idle + (is_told ? u->watts * 1000 : u->busy * (full - idle));
    u->over = limit > 0 && u->power_mw > limit;
    if (u->over) u->power_mw = limit;
    aim = cool + (full > idle ? (u->power_mw - idle) / (full - idle) : 0) * (hot - cool);
    u->celsius = looked_at ? aim + (u->celsius - aim) * exp(-dt / WARMING_S) : aim;
}

const char *lab_folder(void) { const char *f = getenv("SPECCTL_LAB_HOST"); return f && *f ? f : NULL; }

void lab_look(void) {
    const char *folder = lab_folder(); char path[512]; double t = monotonic();
    if (!folder || t - looked_at < LOOK_S) return;
    snprintf(path, sizeof path, "%s/activity", folder);
    DIR *dir = opendir(path); struct dirent *e;
    nacts = 0;
    while (dir && (e = readdir(dir))) if (isdigit((unsigned char)*e->d_name)) take_file(folder, (u32)strtoul(e->d_name, NULL, 10));
    if (dir) closedir(dir);
    for (int g = 0; g < ngpus_now(); g++) {
        if (!looked_at) gpus[g].energy_mj = plain(&devs[g], "power.usage_mw", 0) * t;
        sum_up(g, looked_at ? t - looked_at : 0);
    }
    looked_at = t;
}

static double migs_memory(const struct dev *d) {
    double sum = 0;
    for (int i = 0; i < nacts; i++) if (acts[i].gpu == d->gpu && acts[i].mig == d->mig) sum += acts[i].memory;
    return sum;
}

static double reasons(const struct gpu *u, const struct dev *d) {
    u32 bits = (u32)plain(d, "busy.throttle", 0) * (u->busy > 0);
    if (u->busy <= 0) bits |= 0x1;
    if (u->over) bits |= 0x4;
    if (u->celsius >= plain(d, "temp.limit.slowdown", INFINITY)) bits |= 0x20;
    return bits;
}

/* Where a lab's value differs from the scenario's: 1 and `out`, else 0. */
int lab_value(const struct dev *d, const char *key, double *out) {
    double idle = *out; char busy[64];
    if (!lab_folder() || !d) return 0;
    const struct gpu *u = &gpus[d->gpu];
    if (!strcmp(key, "mem.used")) { *out = idle + (d->mig < 0 ? u->memory : migs_memory(d)); return 1; }
    if (d->mig >= 0) return 0;
    if (!strcmp(key, "util.gpu")) *out = round(100 * u->busy);
    else if (!strcmp(key, "util.mem")) *out = round(100 * u->memory_busy);
    else if (!strcmp(key, "power.usage_mw") || !strcmp(key, "power.average_mw")) *out = u->power_mw;
    else if (!strcmp(key, "temp.gpu")) *out = round(u->celsius);
    else if (!strcmp(key, "temp.mem")) *out = idle + round(u->celsius - plain(d, "temp.gpu", 0));
    else if (!strcmp(key, "energy_mj")) *out = u->energy_mj;
    else if (!strcmp(key, "throttle")) *out = reasons(u, d);
    else if (!strcmp(key, "pcie.bytes.rx")) *out = u->bytes[0];
    else if (!strcmp(key, "pcie.bytes.tx")) *out = u->bytes[1];
    else if (!strcmp(key, "nvlink.kib.rx")) *out = u->bytes[2] / 1024 / plain(d, "nvlink.links", 1);
    else if (!strcmp(key, "nvlink.kib.tx")) *out = u->bytes[3] / 1024 / plain(d, "nvlink.links", 1);
    else if (u->busy > 0 && (!strncmp(key, "clock.", 6) || !strcmp(key, "pstate") || !strcmp(key, "pcie.gen"))) {
        snprintf(busy, sizeof busy, "busy.%s", key); *out = plain(d, busy, idle);
        if (u->celsius >= plain(d, "temp.limit.slowdown", INFINITY) && strncmp(key, "clock.mem", 9) && !strncmp(key, "clock.", 6)) *out *= 0.75;
    } else return 0;
    return 1;
}

/* The i-th process of a device, in the form of the scenario's proc.N, or 0. */
int lab_process(const struct dev *d, int i, u32 *pid, double *bytes, u32 *sm, u32 *mem) {
    for (int a = 0; a < nacts; a++) {
        if (acts[a].gpu != d->gpu || (d->mig >= 0 && acts[a].mig != d->mig) || i--) continue;
        *pid = acts[a].pid; *bytes = acts[a].memory;
        *sm = (u32)round(100 * acts[a].busy); *mem = (u32)round(100 * acts[a].memory_busy);
        return 1;
    }
    return 0;
}

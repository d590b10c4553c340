/* Process lists, in the row layouts of the different drivers. */
#include "fake.h"

/* processes:  proc.N = pid type(C|G|M) bytes [sm% mem% enc% dec% [gi ci]] */
struct proc { u32 pid; char type; double bytes; u32 sm, mem, enc, dec, gi, ci; };
static int procs(const struct dev *d, char type, struct proc *out) {
    char k[24], b[160], size[32]; int n = 0;
    for (int i = 0; i < 128; i++) {
        struct proc p = { .gi = ~0u, .ci = ~0u };
        snprintf(k, sizeof k, "proc.%d", i);
        if (text(d, k, b, sizeof b) || sscanf(b, "%u %c %31s %u %u %u %u %u %u", &p.pid, &p.type, size, &p.sm, &p.mem, &p.enc, &p.dec, &p.gi, &p.ci) < 3) continue;
        p.bytes = strcmp(size, "na") ? number(size, 0) : -1;
        if (type == '*' || p.type == type) out[n++] = p;
    }
    pthread_mutex_lock(&mu);
    for (int i = 0; n < 128 && (type == '*' || type == 'C'); i++) {
        struct proc p = { .type = 'C', .gi = ~0u, .ci = ~0u };
        if (!lab_process(d, i, &p.pid, &p.bytes, &p.sm, &p.mem)) break;
        out[n++] = p;
    }
    pthread_mutex_unlock(&mu);
    return n;
}
static void put(char *row, u64 v, int bytes) { memcpy(row, &v, bytes); }
static int running(const struct dev *d, char type, u32 *count, char *out, int row) {
    struct proc p[128]; int n = procs(d, type, p);
    if (!count) return INVALID;
    if ((u32)n > *count || (n && !out)) { *count = n; return TOOSMALL; }
    for (int i = 0; i < n; i++, out += row) {
        memset(out, 0, row); put(out, p[i].pid, 4); put(out + 8, p[i].bytes < 0 ? ~0ull : (u64)p[i].bytes, 8);
        if (row > 16) { put(out + 16, p[i].gi, 4); put(out + 20, p[i].ci, 4); }
    }
    *count = n; return OK;
}
#define PROCS(kind, letter) \
    API nvmlDeviceGet##kind##RunningProcesses(void *h, u32 *n, char *o) { DEV; return running(d, letter, n, o, 16); } \
    API nvmlDeviceGet##kind##RunningProcesses_v2(void *h, u32 *n, char *o) { DEV; return running(d, letter, n, o, 24); } \
    API nvmlDeviceGet##kind##RunningProcesses_v3(void *h, u32 *n, char *o) { DEV; return running(d, letter, n, o, PROC_V3_ROW); }
#ifndef PROC_V3_ROW
#define PROC_V3_ROW 24      /* 32 copies the short-lived R535 layout with usedGpuCcProtectedMemory */
#endif
PROCS(Compute, 'C') PROCS(Graphics, 'G') PROCS(MPSCompute, 'M')
struct putil { u32 pid; u64 ts; u32 sm, mem, enc, dec; };
API nvmlDeviceGetProcessUtilization(void *h, struct putil *o, u32 *count, u64 since) {
    DEV; (void)since; struct proc p[128]; int n = procs(d, '*', p);
    if (!count) return INVALID;
    if (!n) return NOTFOUND;
    if (!o || (u32)n > *count) { *count = n; return TOOSMALL; }
    for (int i = 0; i < n; i++) { o[i].pid = p[i].pid; o[i].ts = now() * 1e6; o[i].sm = p[i].sm; o[i].mem = p[i].mem; o[i].enc = p[i].enc; o[i].dec = p[i].dec; }
    *count = n; return OK; }

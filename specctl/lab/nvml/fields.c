/* Field values, utilisation samples and GPM metrics. */
#include "fake.h"

/* field values: field.<id>[.<scope>] in the file, else the alias below */
struct fv { u32 id, scope; long long ts, latency; u32 type; int rc; union { double d; u32 u; u64 ull; } v; };
static const struct { u32 id, type; const char *key; } alias[] = {
    { 1, 1, "ecc.mode" }, { 82, 1, "temp.mem" }, { 83, 3, "energy_mj" }, { 90, 1, "nvlink.mbps" }, { 91, 1, "nvlink.links" }, { 138, 3, "nvlink.kib.tx" },
    { 139, 3, "nvlink.kib.rx" }, { 140, 3, "nvlink.kib.tx" }, { 141, 3, "nvlink.kib.rx" }, { 164, 1, "nvlink.mbps" }, { 165, 1, "nvlink.state" },
    { 166, 1, "nvlink.version" }, { 185, 1, "power.average_mw" }, { 186, 1, "power.usage_mw" }, { 187, 1, "power.min_mw" }, { 188, 1, "power.max_mw" },
    { 189, 1, "power.default_mw" }, { 190, 1, "power.limit_mw" }, { 197, 3, "pcie.bytes.tx" }, { 198, 3, "pcie.bytes.rx" } };
API nvmlDeviceGetFieldValues(void *h, int n, struct fv *f) {
    DEV; char k[48]; if (!f || n < 1) return INVALID;
    for (int i = 0; i < n; i++) {
        double x; u32 type = 3;
        f[i].ts = now() * 1e6; f[i].latency = (long long)opt64(d, "field.latency_us", 0);
        snprintf(k, sizeof k, "field.%u.%u", f[i].id, f[i].scope); rc = get(d, k, &x);
        if (rc) { snprintf(k, sizeof k, "field.%u", f[i].id); rc = get(d, k, &x); }
        for (u32 a = 0; a < sizeof alias / sizeof *alias; a++) if (alias[a].id == f[i].id) { type = alias[a].type; if (rc) rc = get(d, alias[a].key, &x); }
        if (f[i].id >= 138 && f[i].id <= 141 && f[i].scope != ~0u && f[i].scope >= opt64(d, "nvlink.links", 0)) rc = NOTSUP;
        if (!rc && f[i].id >= 138 && f[i].id <= 141 && f[i].scope == ~0u) x *= opt64(d, "nvlink.links", 1);
        snprintf(k, sizeof k, "field.%u.type", f[i].id); type = (u32)opt64(d, k, type);
        f[i].rc = rc; f[i].type = type; f[i].v.ull = 0;
        if (!rc) { if (type == 0) f[i].v.d = x; else if (type == 1) f[i].v.u = (u32)(u64)x; else f[i].v.ull = (u64)x; }
    }
    return OK; }

/* samples: ring of 120 points, 1/6 s apart (what util samples look like on recent GPUs) */
static const char *const smp[] = { "power.usage_mw", "util.gpu", "util.mem", "util.enc", "util.dec", "clock.sm", "clock.mem" };
struct sample { u64 ts; union { u32 u; u64 ull; } v; };
API nvmlDeviceGetSamples(void *h, u32 kind, u64 since, u32 *type, u32 *count, struct sample *o) {
    DEV; double x, t = clock_s(), wall = now(); u32 got = 0; if (kind > 6 || !count || !type) return INVALID;
    *type = 1; if (!o) { *count = 120; return get(d, smp[kind], &x); }
    for (int i = 119; i >= 0 && got < *count; i--) {
        u64 ts = (wall - i / 6.0) * 1e6;
        pthread_mutex_lock(&mu); rc = num_at(d, smp[kind], t - i / 6.0, &x); pthread_mutex_unlock(&mu);
        if (rc) return rc;
        if (ts > since) { o[got].ts = ts; o[got].v.ull = 0; o[got++].v.u = (u32)x; }
    }
    *count = got; return got ? OK : NOTFOUND; }

/* GPM: value of metric N is key gpm.N, of the time of the second sample */
struct gpm { const struct dev *d; double t; };
API nvmlGpmQueryDeviceSupport(void *h, u32 *s) { DEV; if (!s) return INVALID; s[1] = (u32)opt64(d, "gpm", 0); return OK; }
API nvmlGpmSampleAlloc(struct gpm **o) { SYS; return (*o = calloc(1, sizeof **o)) ? OK : UNKNOWN; }
API nvmlGpmSampleFree(struct gpm *s) { free(s); return OK; }
API nvmlGpmSampleGet(void *h, struct gpm *s) { DEV; if (!opt64(d, "gpm", 0)) return NOTSUP; s->d = d; s->t = clock_s(); return OK; }
struct gpm_get { u32 version, n; struct gpm *a, *b; struct { u32 id; int rc; double v; const char *s, *l, *u; } m[]; };
API nvmlGpmMetricsGet(struct gpm_get *g) {
    SYS; char k[24]; if (!g || !g->a || !g->b || !g->b->d) return INVALID;
    for (u32 i = 0; i < g->n; i++) {
        snprintf(k, sizeof k, "gpm.%u", g->m[i].id);
        pthread_mutex_lock(&mu); g->m[i].rc = num_at(g->b->d, k, g->b->t, &g->m[i].v); pthread_mutex_unlock(&mu);
        g->m[i].s = g->m[i].l = "FAKE"; g->m[i].u = "";
    }
    return OK; }

/* MIG instances, Xid events, and the one setter. */
#include "fake.h"

#include <unistd.h>

/* MIG:  mig.mode = 1, mig.max = 7, mig.N.uuid / name / gi / ci / mem.total / mem.used / proc.N ... */
API nvmlDeviceIsMigDeviceHandle(void *h, u32 *o) { DEV; if (!o) return INVALID; *o = d->mig >= 0; return OK; }
API nvmlDeviceGetMigDeviceHandleByIndex(void *h, u32 i, void **o) {
    DEV; char b[96]; if (i >= MAXMIG || d->mig >= 0 || !o) return INVALID; if (!opt64(d, "mig.mode", 0)) return NOTSUP;
    if (text(&migs[d->gpu][i], "uuid", b, sizeof b)) return NOTFOUND;
    *o = &migs[d->gpu][i]; return OK; }
API nvmlDeviceGetDeviceHandleFromMigDeviceHandle(void *h, void **o) { DEV; if (d->mig < 0 || !o) return INVALID; *o = &devs[d->gpu]; return OK; }
struct attrs { u32 sm, a[5], gi, ci; u64 mb; };
API nvmlDeviceGetAttributes_v2(void *h, struct attrs *o) {
    DEV; if (d->mig < 0) return NOTSUP; memset(o, 0, sizeof *o); o->sm = opt64(d, "sms", 0); o->gi = opt64(d, "gi_slices", 1); o->ci = opt64(d, "ci_slices", 1);
    o->mb = opt64(d, "mem.total", 0) >> 20; return OK; }

/* Xid events: [gpu N] xid = 79 is reported once each time the value changes */
static u64 seen_xid[MAXGPU]; static char watch[MAXGPU];
API nvmlEventSetCreate(void **o) { SYS; *o = watch; return OK; }
API nvmlEventSetFree(void *s) { (void)s; return OK; }
API nvmlDeviceRegisterEvents(void *h, u64 mask, void *s) { DEV; (void)s; if (mask & 8) watch[d->gpu] = 1; return OK; }
API nvmlDeviceGetSupportedEventTypes(void *h, u64 *o) { DEV; *o = 0x1f; return OK; }
struct event { void *dev; u64 type, data; u32 gi, ci; };
API nvmlEventSetWait_v2(void *s, struct event *e, u32 ms) {
    SYS; (void)s;
    for (double end = now() + ms / 1e3;; usleep(10000)) {
        pthread_mutex_lock(&mu); load(); pthread_mutex_unlock(&mu);
        for (int g = 0; g < ngpus(); g++) {
            u64 x = opt64(&devs[g], "xid", 0);
            if (watch[g] && x != seen_xid[g]) { seen_xid[g] = x; if (x) { e->dev = &devs[g]; e->type = 8; e->data = x; e->gi = e->ci = ~0u; return OK; } }
        }
        if (now() >= end) return TIMEOUT;
    } }
/* a write that a test can allow or refuse:  power.settable = 1 ; otherwise NO_PERMISSION */
API nvmlDeviceSetPowerManagementLimit(void *h, u32 mw) { DEV; (void)mw; return opt64(d, "power.settable", 0) ? OK : NOPERM; }

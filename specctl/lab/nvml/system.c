/* Start, stop, versions, and how a handle is found. */
#include "fake.h"

API nvmlInit(void) { return start(); }
API nvmlInit_v2(void) { return start(); }
API nvmlInitWithFlags(u32 f) { (void)f; return start(); }
API nvmlShutdown(void) { SYS; refs--; return OK; }
__attribute__((visibility("default"))) const char *nvmlErrorString(int e) { return e >= 0 && e < N_ERRORS ? err_text[e] : "Unknown Error"; }
API nvmlSystemGetDriverVersion(char *b, u32 n) { SYS; return text(NULL, "driver_version", b, n); }
API nvmlSystemGetNVMLVersion(char *b, u32 n) { SYS; return text(NULL, "nvml_version", b, n); }
API nvmlSystemGetCudaDriverVersion(int *o) { SYS; return get32(NULL, "cuda_version", (u32 *)o); }
API nvmlSystemGetCudaDriverVersion_v2(int *o) { SYS; return get32(NULL, "cuda_version", (u32 *)o); }
API nvmlSystemGetProcessName(u32 pid, char *b, u32 n) {
    SYS; char p[40]; snprintf(p, sizeof p, "/proc/%u/cmdline", pid);
    FILE *f = fopen(p, "re"); if (!f || !b || !n) { if (f) fclose(f); return NOTFOUND; }
    size_t got = fread(b, 1, n - 1, f); b[got] = 0; fclose(f); return OK;
}
API nvmlDeviceGetCount(u32 *o) { SYS; if (!o) return INVALID; *o = ngpus(); return OK; }
API nvmlDeviceGetCount_v2(u32 *o) { SYS; if (!o) return INVALID; *o = ngpus(); return OK; }
static int by_index(u32 i, void **o) {          /* [gpu N] error.handle = GPU_IS_LOST refuses that one index */
    char b[96];
    if (!o || i >= (u32)ngpus()) return INVALID;
    if (!text(&devs[i], "error.handle", b, sizeof b)) return code(b);
    *o = &devs[i]; return OK;
}
API nvmlDeviceGetHandleByIndex(u32 i, void **o) { SYS; return by_index(i, o); }
API nvmlDeviceGetHandleByIndex_v2(u32 i, void **o) { SYS; return by_index(i, o); }
static int by_text(const char *key, const char *want, void **o) {
    char b[96]; int n = ngpus();
    if (!want || !o) return INVALID;
    for (int g = 0; g < n; g++) {
        if (!text(&devs[g], key, b, sizeof b) && !strcasecmp(b, want)) { *o = &devs[g]; return OK; }
        for (int m = 0; m < MAXMIG; m++) if (!text(&migs[g][m], key, b, sizeof b) && !strcmp(b, want)) { *o = &migs[g][m]; return OK; }
    }
    return NOTFOUND;
}
API nvmlDeviceGetHandleByUUID(const char *u, void **o) { SYS; return by_text("uuid", u, o); }
API nvmlDeviceGetHandleBySerial(const char *u, void **o) { SYS; return by_text("serial", u, o); }
API nvmlDeviceGetHandleByPciBusId(const char *u, void **o) { SYS; return by_text("pci.bus_id", u, o); }
API nvmlDeviceGetHandleByPciBusId_v2(const char *u, void **o) { SYS; return by_text("pci.bus_id", u, o); }

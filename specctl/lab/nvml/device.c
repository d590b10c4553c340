/* What one device answers: plain getters, one line each, and the calls that fill a struct. */
#include "fake.h"

static const char *const clk[] = { "graphics", "sm", "mem", "video" };
static const char *const dir[] = { "tx", "rx" };

/* ---- plain getters, one line each --------------------------------------- */
#define TEXT(fn, key) API fn(void *h, char *b, u32 n) { DEV; return text(d, key, b, n); }
#define U32(fn, key)  API fn(void *h, u32 *o) { DEV; return get32(d, key, o); }
#define U64(fn, key)  API fn(void *h, u64 *o) { DEV; return get64(d, key, o); }
#define TWO(fn, a, b) API fn(void *h, u32 *x, u32 *y) { DEV; rc = get32(d, a, x); return rc ? rc : get32(d, b, y); }
#define PICK(fn, base, names) API fn(void *h, u32 i, u32 *o) { DEV; return key32(d, base, names, sizeof names / sizeof *names, i, o); }
#define LINK(fn, key) API fn(void *h, u32 l, u32 *o) { DEV; char k[48]; if (l >= opt64(d, "nvlink.links", 0)) return NOTSUP; \
    snprintf(k, sizeof k, "nvlink.%u.%s", l, key); return get32(d, k, o) ? get32(d, "nvlink." key, o) : OK; }
TEXT(nvmlDeviceGetName, "name") TEXT(nvmlDeviceGetUUID, "uuid") TEXT(nvmlDeviceGetSerial, "serial")
TEXT(nvmlDeviceGetVbiosVersion, "vbios") TEXT(nvmlDeviceGetBoardPartNumber, "board_part")
TEXT(nvmlDeviceGetInforomImageVersion, "inforom")
U32(nvmlDeviceGetPowerUsage, "power.usage_mw") U32(nvmlDeviceGetEnforcedPowerLimit, "power.limit_mw")
U32(nvmlDeviceGetPowerManagementLimit, "power.limit_mw") U32(nvmlDeviceGetPowerManagementDefaultLimit, "power.default_mw")
U32(nvmlDeviceGetPowerManagementMode, "power.managed") U32(nvmlDeviceGetFanSpeed, "fan") U32(nvmlDeviceGetNumFans, "fans")
U32(nvmlDeviceGetPerformanceState, "pstate") U32(nvmlDeviceGetPowerState, "pstate") U32(nvmlDeviceGetComputeMode, "compute_mode")
U32(nvmlDeviceGetPersistenceMode, "persistence") U32(nvmlDeviceGetDisplayMode, "display_mode")
U32(nvmlDeviceGetDisplayActive, "display_active") U32(nvmlDeviceGetBrand, "brand") U32(nvmlDeviceGetArchitecture, "arch")
U32(nvmlDeviceGetCurrPcieLinkGeneration, "pcie.gen") U32(nvmlDeviceGetCurrPcieLinkWidth, "pcie.width")
U32(nvmlDeviceGetMaxPcieLinkGeneration, "pcie.max_gen") U32(nvmlDeviceGetMaxPcieLinkWidth, "pcie.max_width")
U32(nvmlDeviceGetGpuMaxPcieLinkGeneration, "pcie.max_gen") U32(nvmlDeviceGetPcieReplayCounter, "pcie.replays")
U32(nvmlDeviceGetPcieSpeed, "pcie.speed_mbps") U32(nvmlDeviceGetMultiGpuBoard, "multi_gpu_board")
U32(nvmlDeviceGetNumGpuCores, "cores") U32(nvmlDeviceGetMemoryBusWidth, "mem_bus_width")
U32(nvmlDeviceGetMaxMigDeviceCount, "mig.max") U32(nvmlDeviceGetGpuInstanceId, "gi") U32(nvmlDeviceGetComputeInstanceId, "ci")
U32(nvmlDeviceGetRetiredPagesPendingStatus, "retired_pending")
U64(nvmlDeviceGetTotalEnergyConsumption, "energy_mj") U64(nvmlDeviceGetSupportedClocksThrottleReasons, "throttle.supported")
U64(nvmlDeviceGetCurrentClocksThrottleReasons, "throttle") U64(nvmlDeviceGetCurrentClocksEventReasons, "throttle")
U64(nvmlDeviceGetSupportedClocksEventReasons, "throttle.supported")
TWO(nvmlDeviceGetEncoderUtilization, "util.enc", "util.period_us") TWO(nvmlDeviceGetDecoderUtilization, "util.dec", "util.period_us")
TWO(nvmlDeviceGetJpgUtilization, "util.jpg", "util.period_us") TWO(nvmlDeviceGetOfaUtilization, "util.ofa", "util.period_us")
TWO(nvmlDeviceGetEccMode, "ecc.mode", "ecc.mode")
TWO(nvmlDeviceGetMigMode, "mig.mode", "mig.mode") TWO(nvmlDeviceGetPowerManagementLimitConstraints, "power.min_mw", "power.max_mw")
TWO(nvmlDeviceGetCudaComputeCapability, "cc.major", "cc.minor")
API nvmlDeviceGetUtilizationRates(void *h, u32 *o) { DEV; if (!o) return INVALID; rc = get32(d, "util.gpu", o); return rc ? rc : get32(d, "util.mem", o + 1); }
PICK(nvmlDeviceGetClockInfo, "clock", clk) PICK(nvmlDeviceGetMaxClockInfo, "clock.max", clk)
PICK(nvmlDeviceGetApplicationsClock, "clock.app", clk) PICK(nvmlDeviceGetDefaultApplicationsClock, "clock.app", clk)
PICK(nvmlDeviceGetPcieThroughput, "pcie.kbps", dir)            /* KB/s; set delay_us for the real 20 ms */
LINK(nvmlDeviceGetNvLinkState, "state") LINK(nvmlDeviceGetNvLinkVersion, "version")
API nvmlDeviceGetNvLinkCapability(void *h, u32 l, u32 c, u32 *o) { DEV; (void)c; if (!o || l >= opt64(d, "nvlink.links", 0)) return NOTSUP; *o = 1; return OK; }
API nvmlDeviceGetNvLinkErrorCounter(void *h, u32 l, u32 c, u64 *o) { DEV; char k[48]; if (l >= opt64(d, "nvlink.links", 0)) return NOTSUP;
    snprintf(k, sizeof k, "nvlink.%u.err.%u", l, c); if (o) *o = opt64(d, k, 0); return o ? OK : INVALID; }
API nvmlDeviceGetIndex(void *h, u32 *o) { DEV; if (!o) return INVALID; *o = d->mig < 0 ? d->gpu : d->mig; return OK; }
API nvmlDeviceGetMinorNumber(void *h, u32 *o) { DEV; if (!o) return INVALID; *o = d->gpu; return OK; }
API nvmlDeviceGetFanSpeed_v2(void *h, u32 f, u32 *o) { DEV; if (f >= opt64(d, "fans", 0)) return NOTSUP; return get32(d, "fan", o); }
API nvmlDeviceGetTemperature(void *h, u32 s, u32 *o) { DEV; return s ? INVALID : get32(d, "temp.gpu", o); }
API nvmlDeviceGetTemperatureV(void *h, u32 *v) { DEV; if (v[0] != (12u | 1u << 24)) return BADVERSION; return v[1] ? INVALID : get32(d, "temp.gpu", v + 2); }
static const char *const thr[] = { "shutdown", "slowdown", "mem_max", "gpu_max" };
PICK(nvmlDeviceGetTemperatureThreshold, "temp.limit", thr)

/* ---- structs -------------------------------------------------------------- */
static void mem(const struct dev *d, u64 *total, u64 *reserved, u64 *freeb, u64 *used) {
    *total = opt64(d, "mem.total", 0); *reserved = opt64(d, "mem.reserved", 0); *used = opt64(d, "mem.used", 0);
    *freeb = *total > *used + *reserved ? *total - *used - *reserved : 0;
}
API nvmlDeviceGetMemoryInfo(void *h, u64 *m) {       /* v1: reserved is counted as used */
    DEV; u64 t, r, f, u; if (!m) return INVALID; if (get64(d, "mem.total", &t)) return NOTSUP;
    mem(d, &t, &r, &f, &u); m[0] = t; m[1] = f; m[2] = u + r; return OK; }
struct memv2 { u32 version; u64 total, reserved, free, used; };
API nvmlDeviceGetMemoryInfo_v2(void *h, struct memv2 *m) {
    DEV; u64 t; if (!m) return INVALID; if (m->version != (sizeof *m | 2u << 24)) return BADVERSION;
    if (get64(d, "mem.total", &t)) return NOTSUP;
    mem(d, &m->total, &m->reserved, &m->free, &m->used); return OK; }
API nvmlDeviceGetBAR1MemoryInfo(void *h, u64 *m) {
    DEV; if (!m) return INVALID; if ((rc = get64(d, "bar1.total", m))) return rc;
    m[2] = opt64(d, "bar1.used", 0); m[1] = m[0] - m[2]; return OK; }
struct pci { char legacy[16]; u32 domain, bus, device, id, subsys; char bus_id[32]; };
static int pci(const struct dev *d, struct pci *p) {
    char b[32] = ""; int rc;
    if (!p) return INVALID;
    if ((rc = text(d, "pci.bus_id", b, sizeof b))) return rc;
    memset(p, 0, sizeof *p); strcpy(p->bus_id, b); snprintf(p->legacy, 16, "%s", strlen(b) > 12 ? b + 4 : b);
    sscanf(b, "%x:%x:%x", &p->domain, &p->bus, &p->device);
    p->id = opt64(d, "pci.device_id", 0); p->subsys = opt64(d, "pci.subsystem_id", 0); return OK; }
API nvmlDeviceGetPciInfo(void *h, struct pci *p) { DEV; return pci(d, p); }
API nvmlDeviceGetPciInfo_v2(void *h, struct pci *p) { DEV; return pci(d, p); }
API nvmlDeviceGetPciInfo_v3(void *h, struct pci *p) { DEV; return pci(d, p); }
API nvmlDeviceGetTotalEccErrors(void *h, u32 type, u32 counter, u64 *o) {
    DEV; char k[32]; if (opt64(d, "ecc.mode", 0) == 0 || !o) return NOTSUP;
    snprintf(k, sizeof k, "ecc.%s.%s", counter ? "aggregate" : "volatile", type ? "uncorrected" : "corrected"); *o = opt64(d, k, 0); return OK; }
API nvmlDeviceGetMemoryErrorCounter(void *h, u32 type, u32 counter, u32 loc, u64 *o) { (void)loc; return nvmlDeviceGetTotalEccErrors(h, type, counter, o); }
API nvmlDeviceGetRemappedRows(void *h, u32 *c, u32 *u, u32 *pend, u32 *fail) {
    DEV; if ((rc = get32(d, "remap.corrected", c))) return rc;
    *u = opt64(d, "remap.uncorrected", 0); *pend = opt64(d, "remap.pending", 0); *fail = opt64(d, "remap.failed", 0); return OK; }
API nvmlDeviceGetViolationStatus(void *h, u32 policy, u64 *v) {
    DEV; char k[32]; snprintf(k, sizeof k, "violation_ns.%u", policy); if (!v) return INVALID; v[0] = now() * 1e6; return get64(d, k, v + 1); }
API nvmlDeviceGetTopologyCommonAncestor(void *h, void *o, u32 *l) { DEV; if (!is_dev(o) || !l) return INVALID; return get32(d, "topology", l); }

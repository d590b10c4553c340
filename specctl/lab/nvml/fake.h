/* Shared by the files of the stand-in for libnvidia-ml.so.1.
 *
 * Own work: no NVIDIA header or code is included; the struct layouts are the public ABI as
 * nvidia-ml-py's ctypes describe it.
 *
 *   FAKE_NVML_CONF   scenario file (re-read whenever its time or size changes); without it, on a
 *                    lab host, that host's gpus.ini, and its values follow activity.c
 *   FAKE_NVML_TRACE  append one line per call: "<us> <function> <gpu|-> <code>"
 *
 * A value is looked up as section [gpu N] key, then section [gpu] key; a key that is missing
 * everywhere makes the call answer NOT_SUPPORTED, as a real device without that feature does.
 */
#ifndef FAKE_H
#define FAKE_H
#define _GNU_SOURCE
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef unsigned int u32;
typedef unsigned long long u64;

enum {
    OK = 0, UNINIT = 1, INVALID = 2, NOTSUP = 3, NOPERM = 4, NOTFOUND = 6, TOOSMALL = 7,
    NODRIVER = 9, TIMEOUT = 10, NOFUNC = 13, BADVERSION = 25, UNKNOWN = 999
};
#define N_ERRORS 28
extern const char *const err_text[N_ERRORS];

#define MAXGPU 64
#define MAXMIG 8
struct dev { int gpu, mig; };                 /* mig = -1: the physical device */
extern struct dev devs[MAXGPU], migs[MAXGPU][MAXMIG];
extern pthread_mutex_t mu;                    /* held while the scenario is read or asked */
extern int refs;                              /* nvmlInit minus nvmlShutdown */

double now(void);                             /* wall clock, seconds */
double clock_s(void);                         /* seconds since first load, or frozen by [system] now = */
void load(void);                              /* re-read the scenario if it changed; mu held */
int ngpus(void);
int start(void);                              /* nvmlInit */
int is_dev(const void *handle);
int code(const char *name_or_number);
double number(const char *value, double t);
int num_at(const struct dev *d, const char *key, double t, double *out); /* mu held */
int plain_at(const struct dev *d, const char *key, double t, double *out); /* the scenario's; mu held */
int ngpus_now(void);                          /* mu held */

const char *lab_folder(void);                 /* of the lab host that this process runs on, or NULL */
void lab_look(void);                          /* mu held */
int lab_value(const struct dev *d, const char *key, double *out);        /* mu held */
int lab_process(const struct dev *d, int i, u32 *pid, double *bytes, u32 *sm, u32 *mem); /* mu held */

/* every call starts here: reload, check state, apply error.<fn> and delay_us.<fn>, trace */
int enter(const char *fn, const void *h, const struct dev **d, int needs_dev);

int get(const struct dev *d, const char *key, double *x);
int get32(const struct dev *d, const char *key, u32 *o);
int get64(const struct dev *d, const char *key, u64 *o);
u64 opt64(const struct dev *d, const char *key, u64 dflt);
int text(const struct dev *d, const char *key, char *buf, u32 n);
int key32(const struct dev *d, const char *base, const char *const *names, u32 n, u32 i, u32 *o);

#define SYS  const struct dev *d; int rc = enter(__func__, NULL, &d, 0); if (rc) return rc
#define DEV  const struct dev *d; int rc = enter(__func__, h, &d, 1); if (rc) return rc
#define API  __attribute__((visibility("default"))) int
#endif

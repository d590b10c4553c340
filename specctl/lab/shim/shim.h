/* Preloaded into every process of a lab host, so that a directory of this machine looks like a
 * host of its own:
 *
 *   /proc lists only the host's processes, uname names the host,
 *   what specctl puts below /tmp, /var/tmp and /dev/shm lies below SPECCTL_LAB_HOST/tmp,
 *
 * and so that the host can be given a wrong clock, a full disk, a read-only home, or no Python while
 * it runs: the files of SPECCTL_LAB_HOST/faults are looked at again all the time.
 *
 * What is not interposed: writes that the C library makes for its own FILEs, and the kernel's file
 * times.
 */
#ifndef SHIM_H
#define SHIM_H
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <unistd.h>

enum fault { CLOCK_SKEW, FULL_DISK, READ_ONLY_HOME, NO_PYTHON, N_FAULTS };

const char *host_folder(void);                     /* NULL outside a lab host */
int has_fault(enum fault fault, double *seconds);
const char *redirect(const char *path, char *buffer); /* buffer: PATH_MAX bytes */
int is_within(int directory, const char *path, const char *part); /* below host_folder()/part */
int is_read_only(int directory, const char *path);

/* REAL(open)(…): the C library's own function of that name */
#define REAL(name) ({ static __typeof__(name) *real_; if (!real_) *(void **)&real_ = dlsym(RTLD_NEXT, #name); real_; })
#endif

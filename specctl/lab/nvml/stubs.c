/* Every other function that some nvidia-ml-py asks for: there, and not supported. */
#include "fake.h"

#define STUB(fn) API fn(void) { const struct dev *d; int rc = enter(#fn, NULL, &d, 0); return rc ? rc : NOTSUP; }
#include "stubs.inc"

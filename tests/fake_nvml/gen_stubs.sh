#!/bin/sh
# The function names that some nvidia-ml-py looks up: gen_stubs.sh pynvml.py... > specctl/lab/nvml/stubs.txt
grep -ohE '_nvmlGetFunctionPointer\("nvml[A-Za-z0-9_]+"' "$@" | sed 's/.*("//;s/"//' | sort -u

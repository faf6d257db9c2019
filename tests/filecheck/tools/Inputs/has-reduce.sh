#!/bin/sh
# For qd-reduce, which takes another exit code than 0 to mean interesting: does a collective reach level grid?
! "$QD_OPT" "$1" --to=grid 2>/dev/null | grep -q 'qd.simt.reduce'

#!/bin/sh
# What the linker made of it: where libraries are looked for, and that no two libraries define one name.
. "$LRA_SOURCE/tests/cli/lib.sh"

# Every element of RUNPATH is a folder that nobody else can fill: absolute, or $ORIGIN, where the program itself lies.
# An empty one is the current directory.
if command -v readelf >/dev/null; then
    for program in "$probe" "$report" "$LRA_BUILD"/tests/base_test "$LRA_BUILD"/tests/model_test; do
        [ -e "$program" ] || continue
        readelf -d "$program" >elf || fail "readelf cannot read '$program'"
        grep -q 'NEEDED.*libc' elf || fail "readelf says nothing of '$program'"
        paths=$(sed -nE 's/.*\((RUNPATH|RPATH)\).*\[(.*)\]/\2/p' elf)
        [ -n "$paths" ] || continue
        printf '%s:' "$paths" | tr ':' '\n' | while IFS= read -r path; do
            case $path in
            *..*) echo "'$program' looks for libraries in '$path'" ;;
            /* | '$ORIGIN') ;;
            *) echo "'$program' looks for libraries in '$path'" ;;
            esac
        done >found
        [ ! -s found ] || complain "$(cat found)"
    done
else
    echo "skipped: RUNPATH (no readelf)"
fi

# The linker takes the first definition that it meets, and says nothing of another one in an archive.
if command -v nm >/dev/null; then
    nm -g "$LRA_BUILD"/liblra_*.a 2>/dev/null | awk '$2 ~ /^[TDBRC]$/ { print $3 }' | sort >names
    grep -q '^lra_file_read$' names || fail "nm finds no names in the libraries"
    uniq -d names >twice
    [ ! -s twice ] || complain "defined more than once: $(tr '\n' ' ' <twice)"
else
    echo "skipped: names defined twice (no nm)"
fi
exit $bad

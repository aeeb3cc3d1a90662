#!/bin/sh
# Files that are no files, and damaged or too large ones: one line, soon, and nothing that waits or grows for ever.
. "$LRA_SOURCE/tests/cli/lib.sh"

# FIFOs that nobody writes to, and devices without an end, wherever a file is expected.
mkfifo fifo
mkdir in
mkfifo in/basic_train.tsv in/basic_val.tsv in/basic_test.tsv
for file in fifo /dev/zero; do
    expect 1 "is not a regular file" lra-report show "$file"
    expect 1 "expected basic_train.tsv\|is not a regular file" lra-probe data listops --check "$file"
    expect 1 "no reviews" lra-probe data text --check "$file"
    expect 1 "is not a regular file" lra-probe train --data-dir "$file" --out o -q
    expect 1 "is not a regular file" lra-probe train --weights "$file" --out o -q
done
expect 1 "is not a regular file" lra-probe data listops --check in

# Names that are no UTF-8: a list of files in JSON says so, it is not empty; everything else works.
odd=$(printf 'in\377put')
if mkdir "$odd" 2>/dev/null; then
    lra-probe data listops --make 30 --out "$odd" -q >/dev/null || complain "data below a name that is no UTF-8"
    folder=$(dirname "$(find "$odd" -name basic_train.tsv)")
    expect 0 '' lra-probe data listops --check "$folder"
    expect 0 '' lra-probe data listops --check "$folder" --json
    says '"name": "basic_test.tsv"'
    expect 0 '' lra-probe data --all --check "$odd" --json -q
    says '"task": "listops"'
    cp "$folder/basic_train.tsv" "$odd/$odd.tsv"
    expect 1 "is not UTF-8" lra-probe data listops --check "$odd/$odd.tsv" --json
fi

# A member of an archive that is larger than a text may be.
if command -v tar >/dev/null && truncate -s 1100M basic_train.tsv 2>/dev/null && echo x >>basic_train.tsv && [ "${LRA_BUILD_TYPE:-}" != Debug ] &&
    tar -cSf large.tar basic_train.tsv; then
    expect 1 "basic_train.tsv. line 1 has 1 column" lra-probe data listops --out o --import large.tar
    rm basic_train.tsv large.tar
else
    echo "skipped: a large member (no tar, no sparse files, or sanitizers)"
fi

# gzip: its CRC and its length are the last eight bytes.
if command -v gzip >/dev/null && command -v tar >/dev/null; then
    mkdir made
    lra-probe data listops --make 30 --out made -q >/dev/null || fail "no ListOps files to pack"
    folder=$(dirname "$(find made -name basic_train.tsv)")
    tar -C "$folder" -cf - . | gzip >whole.gz
    expect 0 '' lra-probe data listops --out o --import whole.gz
    size=$(wc -c <whole.gz)
    for cut in 1 4 8 9; do
        head -c $((size - cut)) whole.gz >cut.gz
        expect 1 "ends early" lra-probe data listops --out o --import cut.gz
    done
    { head -c $((size - 8)) whole.gz && printf '\0\0\0\0' && tail -c 4 whole.gz; } >crc.gz
    expect 1 "gzip: incorrect data check" lra-probe data listops --out o --import crc.gz
    { head -c $((size - 4)) whole.gz && printf '\377\0\0\0'; } >length.gz
    expect 1 "gzip: incorrect length check" lra-probe data listops --out o --import length.gz
else
    echo "skipped: gzip (not installed)"
fi
exit $bad

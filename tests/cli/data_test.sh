#!/bin/sh
# lra-probe data: answers on stdout, one line on stderr for every fault, exit codes 1 and 2.
. "$LRA_SOURCE/tests/cli/lib.sh"


small='--set train=200 --set val=20 --set test=30 --out o'

# Help and usage.
expect 0 '' lra-probe data --help
says 'usage: lra-probe data TASK'
"$probe" data >out 2>err
[ $? -eq 2 ] && grep -q '^usage' err || complain "no arguments: no usage"

# Wrong words.
expect 2 "unknown task 'listop'; did you mean 'listops'" lra-probe data listop
expect 2 "unknown option '--mkae'; did you mean '--make'" lra-probe data listops --mkae 10
expect 2 "expected one of quick|small|paper" lra-probe data listops --preset quik
expect 2 "has no 'max-deth'; did you mean 'max-depth'" lra-probe data listops --set max-deth=3
expect 2 "max-depth" lra-probe data listops --set max-depth=three
expect 2 "'max-depth' is '99', expected an integer from 1 to 64" lra-probe data listops --set max-depth=99
expect 2 "none of 200000 trees" lra-probe data listops --set max-depth=1
expect 2 "'--make'" lra-probe data listops --make 2
expect 2 "make and --check exclude each other" lra-probe data listops --make 10 --check x
[ -e lra-out ] && complain "wrong usage left files"

# Describe, twice: made, then read; the same either way and for any number of threads.
# shellcheck disable=SC2086
expect 0 'rows prepared' lra-probe data listops $small --threads 1
says 'majority-by-operator'
cp out first
# shellcheck disable=SC2086
expect 0 '' lra-probe data listops $small
cmp -s out first || complain "read data differ from made data"
[ -s err ] && complain "reading prepared data said: $(cat err)"
# shellcheck disable=SC2086
expect 0 '' lra-probe data listops $small --threads 2 --out o2
cmp -s out first || complain "two threads make other data than one"
# shellcheck disable=SC2086
expect 0 '' lra-probe data listops $small --json
says '"fingerprint": "'
command -v python3 >/dev/null && { python3 -m json.tool out >/dev/null || complain "not JSON"; }
# shellcheck disable=SC2086
expect 0 '' lra-probe data listops $small --show 1
says '^test row 1, .* label [0-9]$'
# shellcheck disable=SC2086
expect 2 'row 31 of test, expected 1 to 30' lra-probe data listops $small --show 31

# Two at once: one makes the file, the other waits for it; both say the same.
"$probe" data listops --preset small --out o6 >out1 2>err1 &
"$probe" data listops --preset small --out o6 >out2 2>err2
first=$?
wait $!
second=$?
[ $first -eq 0 ] && [ $second -eq 0 ] || complain "two at once: exit $first and $second: $(cat err1 err2)"
cmp -s out1 out2 || complain "two at once say different things"
[ "$(cat err1 err2 | grep -c prepared)" -eq 1 ] || complain "two at once: not prepared once: $(cat err1 err2)"
ls o6/data | grep -q 'lock$' && complain "a lock is left"

# Make, refuse to overwrite, check, import.
expect 0 '' lra-probe data listops --make 72 --preset quick --out o -q
[ -s err ] && complain "-q is not quiet: $(cat err)"
dir=$(cat out)
[ "$(wc -l <"$dir/basic_test.tsv")" -eq 11 ] || complain "basic_test.tsv has not 10 rows and a header"
# The first rows are those of any other machine.
golden=$LRA_SOURCE/tests/golden/listops-rows.tsv
[ -z "${LRA_UPDATE_GOLDEN-}" ] || cp "$dir/basic_test.tsv" "$golden"
cmp -s "$dir/basic_test.tsv" "$golden" || complain "generated rows differ from $golden"
expect 1 'already exists; --force replaces it' lra-probe data listops --make 72 --preset quick --out o
expect 0 '' lra-probe data listops --make 72 --preset quick --out o --force
expect 0 '60 of 96,000 training, 2 of 2,000 validation and 10 of 2,000 test rows' lra-probe data listops --check "$dir"
says '^val rows  *2$'
expect 0 '' lra-probe data listops --check "$dir/basic_test.tsv" --json
says '"schema": 2'
says '"rows, all labels correct": 10'
expect 0 '' lra-probe data listops --data-dir o --out o3
says '^train  *60 '

# Files that are wrong.
expect 1 "there is no file or folder 'absent.tsv'" lra-probe data listops --check absent.tsv
expect 1 "there is no file or folder 'absent'" lra-probe data listops --import absent
expect 1 "there is no file or folder 'absent'" lra-probe data listops --data-dir absent
expect 2 '--data-dir and --import exclude each other' lra-probe data listops --import o --data-dir o
expect 2 '--make and --import exclude each other' lra-probe data listops --import o --make 9
t=$(printf '\t')
broken() { # TEXT PATTERN
    printf '%s\n' "Source${t}Target" "$1" >broken.tsv
    expect 1 "'broken.tsv' line 2.*$2" lra-probe data listops --check broken.tsv
}
broken "[MAXX 1 2 ]${t}2" "unknown token '\[MAXX'; expected one of"
broken "[MAX 1 2 ]" "1 column, expected 2"
broken "[MAX 1 2 ]${t}2${t}2" "more than 2 columns"
broken "[MAX 1 2 ]${t}10" "label is '10', expected 0 to 9"
broken "[MAX 1 2 ]${t}1" "label is 1, but the expression evaluates to 2"
broken "[MAX 1 2${t}2" "not closed"
: >empty.tsv
expect 1 "contains no rows" lra-probe data listops --check empty.tsv

# Pathfinder: files, check, import, the same data either way; images drawn.
expect 0 '' lra-probe data pathfinder-easy --make 40 --out p
images=$(cat out)
expect 0 '' lra-probe data pathfinder-easy --check "$images"
says '^images read  *40$'
says '^labels confirmed by traced paths, %  *\(100\|[89]\)'
expect 0 '' lra-probe data pathfinder-easy --import "$images" --out p
says '^train  *32 '
says '^marker-distance '
grep fingerprint out >imported
expect 0 '' lra-probe data pathfinder-easy --set images=40 --out p
grep fingerprint out | cmp -s - imported || complain "imported images differ from generated ones"
tar -czf p/lra_release.gz -C "$images" pathfinder32 || complain "tar"
for place in p/lra_release.gz p; do
    expect 0 '' lra-probe data pathfinder-easy --import $place --out p
    grep fingerprint out | cmp -s - imported || complain "$place: packed images differ from unpacked ones"
done
expect 0 '' lra-probe data pathfinder-easy --check p/lra_release.gz
says '^images read  *40$'
expect 1 "no 'curv_contour_length_14/metadata' of pathfinder32" lra-probe data pathfinder --check p/lra_release.gz
expect 0 '' lra-probe data pathfinder-easy --set images=40 --seeding uniform --out p
grep fingerprint out | cmp -s - imported && complain "uniform seeding makes the same images"
expect 0 '' lra-probe data pathfinder-easy --set images=40 --out p --show 2 --png p/row.png
says '^test row 2, 1024 tokens, label [01]$'
[ "$(wc -l <out)" -eq 33 ] || complain "an image of 32 rows takes $(wc -l <out) lines"
golden=$LRA_SOURCE/tests/golden/pathfinder-image.txt
[ -z "${LRA_UPDATE_GOLDEN-}" ] || cp out "$golden"
cmp -s out "$golden" || complain "a generated image differs from $golden"
[ "$(head -c 4 p/row.png | tail -c 3)" = PNG ] || complain "p/row.png is no PNG"
expect 0 '' lra-probe data pathfinder-easy --set images=40 --out p --sheet p/sheet.png
says '^row 4   mirrored top to bottom$'
[ "$(wc -l <out)" -eq 10 ] || complain "a sheet of $(wc -l <out) rows, expected 10"
[ "$(head -c 4 p/sheet.png | tail -c 3)" = PNG ] || complain "p/sheet.png is no PNG"
expect 1 "cannot write 'nowhere/sheet.png'" lra-probe data pathfinder-easy --set images=40 --out p --sheet nowhere/sheet.png
expect 2 "'listops' has no image augmentation" lra-probe data listops --set train=200 --set val=20 --set test=30 --out o --sheet x.png
expect 2 'exclude each other' lra-probe data pathfinder-easy --sheet x.png --show 1
rm -r "$images"/pathfinder32/curv_baseline/metadata
expect 1 "no 'curv_baseline/metadata' of pathfinder32" lra-probe data pathfinder-easy --check "$images"
expect 2 "has no effect on official files" lra-probe data pathfinder --import "$images" --set images=30
expect 2 "'size' is '33', expected 32, 64, 128 or 256" lra-probe data pathfinder --set size=33
expect 2 "are not images; remove --png" lra-probe data listops --set train=200 --set val=20 --set test=30 --out o --show 1 --png x.png
expect 2 "has no 'seeding'" lra-probe data listops --seeding uniform

# A damaged cache names the file; a folder that cannot be written is no crash.
for h5 in o2/data/listops-*.h5; do
    head -c 3000 "$h5" >cut && cp cut "$h5"
    # shellcheck disable=SC2086
    expect 1 "remove it; it is then made again" lra-probe data listops $small --out o2
done
: >file
# shellcheck disable=SC2086
expect 1 "file" lra-probe data listops $small --out file
if [ "$(id -u)" -ne 0 ]; then
    mkdir locked && chmod a-w locked
    # shellcheck disable=SC2086
    expect 1 "locked" lra-probe data listops $small --out locked
fi
if [ -w /dev/full ]; then
    "$probe" data listops --check "$dir" >/dev/full 2>err
    [ $? -eq 1 ] && grep -q 'cannot write' err || complain "a full disk went unnoticed"
fi
# Rows as arrays: a safetensors file with all splits, which the header names.
expect 0 '' "$probe" data xor --set train=64 --set val=32 --set test=32 --arrays rows.safetensors
for name in train/start train/tokens train/label val/start test/tokens '"goal":"class"'; do
    has rows.safetensors "$name"
done
[ "$(wc -c <rows.safetensors)" -ge $((128 * 320 * 4)) ] || complain "the arrays lack rows"
expect 2 "'*--arrays'* and '*--show'* exclude each other" "$probe" data xor --arrays a.safetensors --show 1
expect 1 "no/such" "$probe" data xor --set train=64 --set val=32 --set test=32 --arrays no/such/folder.safetensors

exit $bad

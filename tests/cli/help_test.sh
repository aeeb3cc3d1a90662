#!/bin/sh
# Every --help equals its golden file (tests/golden/help); LRA_UPDATE_GOLDEN=1 rewrites them.
set -u
golden=$LRA_SOURCE/tests/golden/help
tmp=$(mktemp -d) || exit 1
trap 'rm -rf "$tmp"' EXIT
bad=0
# compare NAME PROGRAM ARGS...
compare() {
    name=$1
    shift
    "$LRA_BUILD/$@" >"$tmp/out" 2>"$tmp/err" </dev/null || { echo "help_test: $*: exit $?"; bad=1; }
    [ -s "$tmp/err" ] && { echo "help_test: $*: stderr: $(cat "$tmp/err")"; bad=1; }
    awk 'length($0) > 100 {exit 1}' "$tmp/out" || { echo "help_test: $*: a line of more than 100 columns"; bad=1; }
    [ -z "${LRA_UPDATE_GOLDEN-}" ] || cp "$tmp/out" "$golden/$name.txt"
    diff -u "$golden/$name.txt" "$tmp/out" || bad=1
}
# commands PROGRAM: the names in the list that its help ends with.
commands() { "$LRA_BUILD/$1" --help | awk '/^commands:/ {on = 1; next} on && /^  [a-z]/ {print $1} on && /^$/ {exit}'; }
for program in lra-probe lra-report; do
    compare "$program" $program --help
    names=$(commands $program)
    [ -n "$names" ] || { echo "help_test: $program names no commands"; bad=1; }
    for command in $names; do
        compare "$program-$command" $program "$command" --help
        "$LRA_BUILD/$program" "$command" -h | cmp -s - "$golden/$program-$command.txt" || { echo "help_test: -h differs"; bad=1; }
    done
done
exit $bad

#!/bin/sh
# Every --help equals its golden file (tests/golden/help); LRA_UPDATE_GOLDEN=1 rewrites them.
. "$LRA_SOURCE/tests/cli/lib.sh"
golden=$LRA_SOURCE/tests/golden/help
# compare NAME PROGRAM ARGS...
compare() {
    name=$1
    shift
    "$LRA_BUILD/$@" >"$tmp/out" 2>"$tmp/err" </dev/null || complain "$*: exit $?"
    [ -s "$tmp/err" ] && complain "$*: stderr: $(cat "$tmp/err")"
    awk 'length($0) > 100 {exit 1}' "$tmp/out" || complain "$*: a line of more than 100 columns"
    [ -z "${LRA_UPDATE_GOLDEN-}" ] || cp "$tmp/out" "$golden/$name.txt"
    diff -u "$golden/$name.txt" "$tmp/out" || bad=1
}
# commands PROGRAM: the names in the list that its help ends with.
commands() { "$LRA_BUILD/$1" --help | awk '/^commands:/ {on = 1; next} on && /^  [a-z]/ {print $1} on && /^$/ {exit}'; }
# options FILE: the names of its options, each as often as it is listed.
options() { sed -n 's/^ \{2,6\}\(-[a-zA-Z], \)\{0,1\}\(--[a-z0-9-]*\).*/\2/p' "$1" | sort; }
for program in lra-probe lra-report; do
    compare "$program" $program --help
    "$LRA_BUILD/$program" --version >"$tmp/out" 2>&1 && grep -q '^libraries .*GSL [0-9]' "$tmp/out" &&
        grep -q '^licence .*GPL-3.0-or-later.*GSL.*sources: Apache-2.0$' "$tmp/out" || complain "--version: $(cat "$tmp/out")"
    names=$(commands $program)
    [ -n "$names" ] || complain "$program names no commands"
    for command in $names; do
        compare "$program-$command" $program "$command" --help
        twice=$(options "$golden/$program-$command.txt" | uniq -d)
        [ -z "$twice" ] || complain "$program $command lists twice: $twice"
        "$LRA_BUILD/$program" "$command" -h | cmp -s - "$golden/$program-$command.txt" || complain "-h differs"
    done
done
exit $bad

#!/bin/sh
# lra-probe data --all --check DIR: what is there is found wherever it lies, what is broken fails and is named, what is
# not there is "not found" whatever the task.
. "$LRA_SOURCE/tests/cli/lib.sh"

# check CODE LAST_LINE_OF_STDERR ARGS...
check() {
    code=$1 text=$2
    shift 2
    "$probe" data --all --check "$@" >out 2>err </dev/null
    rc=$?
    [ $rc -eq "$code" ] || complain "$*: exit $rc, expected $code: $(cat err)"
    case $(tail -n 1 err) in *"$text"*) ;; *) complain "$*: says '$(tail -n 1 err)', expected '$text'" ;; esac
}
# row TASK PATTERN: what the table says of a task
row() { grep -E "^$1 +$2\$" out >/dev/null || complain "$1: '$(grep "^$1 " out)', expected '$2'"; }

mkdir -p empty/folder/below
check 1 "no official files of any task in 'empty' or 3 levels below; 'lra-probe list tasks' lists the tasks" empty -q
[ -s out ] && complain "nothing found, and a table: $(cat out)"

# Two tasks, as deep as they may be; nothing else is taken for one of them.
"$probe" data listops --make 60 --out made -q >made.listops || complain "make listops"
"$probe" data pathfinder-easy --make 40 --out made -q >made.pathfinder || complain "make pathfinder"
mkdir -p all/a/b all/c
mv "$(cat made.listops)" all/a/b/listops && mv "$(cat made.pathfinder)"/* all/c/ || complain "move"
check 0 '' all -q
row listops '+[0-9]+ +[0-9]+ +[0-9]+ +10 +18 +0 +good +[a./]+'
row pathfinder-easy '+[0-9]+ +[0-9]+ +[0-9]+ +2 +256 +0 +good +[c.]'
row pathfinder '+- +- +- +- +- +- +not found +-'
[ -d lra-out ] && complain "a check writes"
check 0 '' all --json -q
if command -v python3 >/dev/null 2>&1; then
    python3 - out <<'END' || complain "JSON: $(head -c 300 out)"
import json, sys
rows = {r["task"]: r for r in json.load(open(sys.argv[1]))["tables"][0]["rows"]}
found = rows["listops"]
assert found["train"] + found["val"] + found["test"] == 60 and found["classes"] == 10, found
assert found["verdict"] == "good" and found["defects"] == 0, found
assert rows["pathfinder"]["verdict"] == "not found" and rows["pathfinder"]["message"], rows["pathfinder"]
END
fi

# Warnings stand below the table, once.
mkdir -p few/train/neg few/train/pos few/test/neg few/test/pos
for part in train test; do
    for k in 0 1 2; do
        echo "a review number $k" | tr -d '\n' >few/$part/neg/${k}_1.txt
        echo "a good review number $k" | tr -d '\n' >few/$part/pos/${k}_9.txt
    done
done
check 0 '' few -q
row text '+[0-9]+ +[0-9]+ +6 +2 +260 +0 +good +[.]'
[ -s err ] && complain "warnings on stderr: $(cat err)"
[ "$(grep -c '^text  *text: 12 of 25,000 training and 12' out)" -eq 0 ] && [ "$(grep -c '^text  .*published' out)" -eq 1 ] || complain "warnings: $(cat out)"

# A file that is not as listed is a defect, a wrong label a failure.
image=$(find all/c -name '*.png' | head -n 1)
rm "$image"
check 0 '' all
row pathfinder-easy '+[0-9]+ +[0-9]+ +[0-9]+ +2 +256 +1 +usable +[c.]'
sed '2s/.$/x/; 2s/.\(.\)$/\1/' all/a/b/listops/basic_test.tsv >changed && mv changed all/a/b/listops/basic_test.tsv
check 1 '1 of the 2 data sets found cannot be used' all
row listops '+- +- +- +- +- +- +failed +[a./]+'
grep -q "^listops .*basic_test.tsv' line 2: " out || complain "the failure is not explained: $(cat out)"

# Wrong use.
usage() {
    text=$1
    shift
    "$probe" data "$@" >out 2>err </dev/null
    rc=$?
    [ $rc -eq 2 ] && [ "$(cat err)" = "lra-probe: $text" ] || complain "data $*: exit $rc, $(cat err)"
}
usage "option '--all' needs '--check'" --all
usage "--all selects every task; remove 'listops' or --all" listops --all --check all
usage "--all and --set exclude each other" --all --check all --set level=hard
usage "too few arguments (usage: lra-probe data TASK|--all)" --json
check 1 "'none' is not a folder; expected a folder with official files below it" none
exit $bad

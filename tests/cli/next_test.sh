#!/bin/sh
# Every command that a program prints as the next one works as it is printed, from the folder it was printed in.
. "$LRA_SOURCE/tests/cli/lib.sh"

# next ARGS...: what `lra-probe ARGS...` prints as the next command; it runs into `out` and `err`.
next() {
    "$probe" "$@" >printed 2>&1 </dev/null || complain "$*: $(cat printed)"
    command=$(sed -n 's/^next:\{0,1\}  *//p' printed)
    case $command in "lra-probe "* | "lra-report "*) ;; *) complain "$*: prints no next command: $(cat printed)" ;; esac
    sh -c "$command" >out 2>err </dev/null || complain "$command: $(cat err)"
}

# What is made is the benchmark's; a preset, a size and a level are named by the command that reads them.
next data pathfinder --make 40
says '^level=hard size=32 \|level=hard sets=one size=32'
says '^train  *32 '
next data path-x --make 12
says 'level=hard sets=one size=128'
next data pathfinder --make 40 --preset quick
says 'level=easy sets=one size=32'
next data pathfinder --make 40 --set size=64 --set level=easy --out "o'p q"
says 'level=easy sets=one size=64'
next data pathfinder --make 20 --preset paper
says 'level=hard sets=three size=32'
next data listops --make 30
says '^train  *28 .* [0-9]\{3,4\} '
next data listops --make 30 --preset quick
next data bidmc-rr --make 20 --out b
says '^train  *14 '

# Tables and figures of a folder of any name.
small="--set train=640 --set val=64 --set test=64 --set epochs=1 --set width=8 --set hidden=8 --set layers=1 --precision f32"
next sweep $small --vary rate=0.002,0.004 --seeds 1 --out "o'p q"
says 'rate=0.002 '
"$probe" receptive-field $small --kernels 3,5 --seeds 1 --out "o'p q" -q >printed 2>err || complain "ladder: $(cat err)"
grep -q "^next  *lra-report figures --out 'o'.''p q'\$" printed || complain "ladder: $(cat printed)"

# The weights of a run are measured as it measured them, whatever its settings were.
"$probe" train --set train=640 --set val=64 --set test=64 --set epochs=1 --set width=8 --set hidden=8 --set layers=1 \
    --set rate=4e-3 --set kernel=3 --precision f32 --seed 3 --out "it's" -q >trained 2>err || complain "train: $(cat err)"
next export "$(ls "it's/runs")" w.safetensors --out "it's"
grep -q 'not trained' out || complain "$command: $(cat out)"
[ "$(sed -n 's/; .*//p' trained)" = "$(sed -n 's/; .*//p' out)" ] || complain "another accuracy: $(cat trained out)"
exit $bad

#!/bin/sh
# Options of all figures: width, size of text, title, greys; remarks are in the caption, not in the title; kernels of one tap
# and data whose intervals reach 0 are drawn.
. "$LRA_SOURCE/tests/cli/lib.sh"
results=$LRA_SOURCE/reports/measured/text-small/runs
command -v gnuplot >/dev/null || skip "gnuplot is not installed: nothing drawn"
draw() { # FOLDER ARGS...
    folder=$1
    shift
    "$report" figures --out "$folder" "$@" >out 2>err || complain "$*: $(cat err)"
}
expect 2 'width is 3, expected 0 or 6 to 40' "$report" figures --width 3 --out o "$results"
expect 2 'font-size' "$report" figures --font-size 40 --out o "$results"

# All that a folder allows: each figure is drawn or named with the reason; a folder that allows none is a failure.
mkdir all && cp -R "$results" all/runs && chmod -R u+w all
draw all --figure all --format svg
names=$("$report" list | sed -n 's/^figure  *\([^ ]*\) .*/\1/p')
for name in $names; do
    if [ -s "all/figures/$name.svg" ]; then
        ! grep -q "^figure $name: not drawn" err || complain "$name is drawn, and is not: $(cat err)"
    else
        grep -q "^figure $name: not drawn: ." err || complain "$name: neither drawn nor explained: $(cat err)"
    fi
done
for name in loc-T1 training; do [ -s "all/figures/$name.svg" ] || complain "no $name: $(cat err)"; done
mkdir nothing
"$report" figures --figure all --out nothing >out 2>err
[ $? -eq 1 ] && has err "none of the $(echo "$names" | wc -l) figures could be drawn" || complain "nothing to draw: $(cat err)"
[ ! -e nothing/figures ] || complain "a folder without a figure: $(find nothing)"

draw plain --format svg "$results"
grep -q '^caption: flags, explained.*: few-seeds' out || complain "no caption: $(cat out)"
grep -q '^# caption: flags, explained.*: few-seeds' plain/figures/loc-T1.gp || complain "the script has no caption"
grep -q '<desc>.*flags, explained.*: few-seeds' plain/figures/loc-T1.svg || complain "the image has no caption"
! grep -q '<title>.*few-seeds' plain/figures/loc-T1.svg || complain "flags are in the title"

# 12 cm are 454 pixels of 1/96 inch; 8 points are 10.67 of them, 10 points 13.33.
draw own --format svg --width 12 --font-size 10 --title "It's mine" --grey "$results"
grep -q 'width="45[34]"' own/figures/loc-T1.svg || complain "the figure is not 12 cm wide: $(grep width= own/figures/loc-T1.svg | head -n 1)"
grep -q 'font-size="13.3[34]"' own/figures/loc-T1.svg || complain "the text has not 10 points"
grep -q "set label 'It''s mine'" own/figures/loc-T1.gp || complain "the title is not drawn"
! grep -q 'text, small' own/figures/loc-T1.svg || complain "the figure's own title is there too"
grep -o '#[0-9a-fA-F]\{6\}' own/figures/loc-T1.gp | sort -u | grep -v '^#\(..\)\1\1$' >colours && complain "not grey: $(cat colours)"
draw none --format svg --title none "$results"
! grep -q "set label 'text" none/figures/loc-T1.gp || complain "a title is drawn without one"

# Kernels of one tap; information that is not above 0.
"$probe" train --task listops --preset quick --set kernel=1 --set train=640 --set val=64 --set test=64 --set epochs=1 \
    --threads 1 --quiet --out bag >out 2>err || fail "training: $(cat err)"
"$probe" kernels bag/runs/* --threads 1 --quiet --out bag >out 2>err || fail "kernels: $(cat err)"
draw bag --figure las-1 bag/runs/*
grep -q 'set xrange \[-0.5:0.5\]' bag/figures/las-1.gp || complain "one tap has no range: $(cat bag/figures/las-1.gp)"
[ -s bag/figures/las-1.png ] || complain "las-1 of K = 1 is not drawn"
draw bag --figure decay bag/runs/*
grep -q "set label 'kernel length 1: no decay'" bag/figures/decay.gp || complain "an empty panel says nothing"

"$probe" data listops --preset quick --set train=4000 --information --out bag --quiet >out 2>err || fail "information: $(cat err)"
draw bag --figure info bag/information/*
grep -q "'upper bound, interval includes 0'" bag/figures/info.gp || complain "values at or below 0 are not drawn"
exit $bad

#!/bin/sh
# Completion really completes: bash loads the scripts and is asked what it offers.
. "$LRA_SOURCE/tests/cli/lib.sh"
command -v bash >/dev/null 2>&1 || skip "bash is not installed"
golden=$LRA_SOURCE/tests/golden/manual
for program in lra-probe lra-report; do
    "$LRA_BUILD/$program" help --completion bash >"$tmp/$program.bash" || complain "$program: exit $?"
    bash -n "$tmp/$program.bash" || complain "$program: not bash"
done
# Golden but for the names of tables and figures, which grow.
sed "s/--\(table\|figure\)) values='.*'/--\1) values='...'/" "$tmp/lra-report.bash" >"$tmp/plain"
if [ -n "${LRA_UPDATE_GOLDEN-}" ]; then mkdir -p "$golden" && cp "$tmp/plain" "$golden/lra-report.bash"; fi
diff -u "$golden/lra-report.bash" "$tmp/plain" || bad=1

# What readline does: the words, split at '=' too, the cursor behind the last.
cat >"$tmp/ask" <<'END'
source "$1"
shift
COMP_WORDS=("$@") COMP_CWORD=$(($# - 1))
"_${1//-/_}"
printf '%s\n' "${COMPREPLY[@]}" | sort | paste -sd ' '
END
# offers 'EXPECTED WORDS' PROGRAM WORD...
offers() {
    expected=$1
    shift
    found=$(cd "$tmp" && bash "$tmp/ask" "$tmp/$1.bash" "$@" 2>"$tmp/err")
    [ -s "$tmp/err" ] && complain "$*: stderr: $(cat "$tmp/err")"
    [ "$found" = "$expected" ] || complain "$*: offers '$found', expected '$expected'"
}
# includes 'WORDS' PROGRAM WORD...: these and perhaps others
includes() {
    expected=$1
    shift
    found=$(cd "$tmp" && bash "$tmp/ask" "$tmp/$1.bash" "$@" 2>/dev/null)
    for word in $expected; do
        case " $found " in *" $word "*) ;; *) complain "$*: offers '$found', not '$word'" ;; esac
    done
}
mkdir -p "$tmp/lra-out/runs/listops-a" "$tmp/other/runs/image-b" "$tmp/a folder"
: >"$tmp/a file"
offers 'list listops' lra-probe lis
offers 'figures' lra-report fig
offers '--version' lra-probe --v
offers 'listops' lra-probe train --task listo
offers 'listops' lra-probe train -t listo
offers 'listops' lra-probe train --task = listo
includes 'listops pathfinder' lra-probe train --task =
offers 'resconv' lra-probe bench --model res
offers 'autoaugment' lra-probe bench --augment au
offers 'paper quick small' lra-probe receptive-field --preset ''
offers '--checkpoint-every' lra-probe train --check
offers '--precision --preset' lra-probe train --pre
includes '--help --json' lra-probe bench --
offers 'models' lra-probe list m
offers 'ceilings' lra-probe bench c
includes 'listops pathfinder' lra-probe data ''
includes 'kernel= epochs= level=' lra-probe train --set ''
offers 'epochs=' lra-probe train --set epo
offers '' lra-probe train --set kernel = 5
offers '' lra-probe train --seed ''
offers 'listops-a' lra-probe listops list
offers 'image-b' lra-probe listops --out other im
offers 'image-b' lra-probe listops --out = other im
offers 'a folder' lra-probe train --out 'a '
offers 'a file a folder' lra-report show 'a '
offers 'listops' lra-report tables --table li
includes 'loc-1 loc-2 loc-3 loc-T1' lra-report figures --figure ''
offers 'latex' lra-report tables --format la
includes 'published widest listops-a' lra-report tables --reference ''
offers 'tables' lra-report help tab
offers '' lra-probe nonsense ''
# has FILE TEXT of the shells that are only read
"$LRA_BUILD/lra-probe" help --completion zsh >"$tmp/zsh"
has "$tmp/zsh" "'(-t --task)'{-t,--task}'[task to learn ("
has "$tmp/zsh" "]:DIR:_files -/'"
"$LRA_BUILD/lra-probe" help --completion fish >"$tmp/fish"
has "$tmp/fish" " -l task -s t -x -a 'listops pathfinder "
has "$tmp/fish" " -l out -s o -x -a ' (__fish_complete_directories)'"
# Every option of every command is offered, and bash knows whom to ask.
for program in lra-probe lra-report; do
    for command in $("$LRA_BUILD/$program" --help | awk '/^commands:/ {on = 1; next} on && /^  [a-z]/ {print $1} on && /^$/ {exit}'); do
        includes "$("$LRA_BUILD/$program" "$command" --help | sed -n '/^options:/,/^notes:/p' | grep -oE '^ +(-., )?--[a-z0-9-]+' | grep -oE -- '--[a-z0-9-]+' | paste -sd ' ')" \
            $program "$command" --
    done
    # Other shells are not installed everywhere: every option and word of bash's script stands in theirs.
    for shell in zsh fish; do
        "$LRA_BUILD/$program" help --completion $shell >"$tmp/$program.$shell" || complain "$shell: exit $?"
        ! command -v $shell >/dev/null 2>&1 || $shell -n "$tmp/$program.$shell" || complain "$program: not $shell"
    done
    for command in $("$LRA_BUILD/$program" --help | awk '/^commands:/ {on = 1; next} on && /^  [a-z]/ {print $1} on && /^$/ {exit}'); do
        sed -n "/^    $command)/,/ ;;\$/p" "$tmp/$program.zsh" >"$tmp/zsh"
        grep -e "_from $command'" "$tmp/$program.fish" >"$tmp/fish"
        grep -q -e "-a $command -d" "$tmp/$program.fish" || complain "fish does not offer $command"
        for option in $("$LRA_BUILD/$program" "$command" --help | sed -n '/^options:/,/^notes:/p' | grep -oE '^ +(-., )?--[a-z0-9-]+' | grep -oE -- '--[a-z0-9-]+'); do
            grep -q -e "$option\([^a-z0-9-]\|\$\)" "$tmp/zsh" || complain "zsh: $program $command lacks $option"
            [ "$option" = --help ] || grep -q -e " -l ${option#--} " "$tmp/fish" || complain "fish: $program $command lacks $option"
        done
    done
    bash -c 'source "$1"; complete -p "$2"' - "$tmp/$program.bash" $program >"$tmp/out" 2>&1 ||
        complain "$program: no completion is defined: $(cat "$tmp/out")"
done
exit $bad

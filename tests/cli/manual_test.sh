#!/bin/sh
# Man pages: golden ones, every option in its page, no warning of the formatter, installed where man finds them.
. "$LRA_SOURCE/tests/cli/lib.sh"
golden=$LRA_SOURCE/tests/golden/manual

# Golden: pages that change seldom.
for page in lra-report lra-report-tables lra-probe-help; do
    program=${page%-tables} command=${page#lra-report-}
    [ "$page" = lra-report ] && command=
    [ "$page" = lra-probe-help ] && program=lra-probe command=help
    "$LRA_BUILD/$program" help --man $command >"$tmp/page" || complain "$page: exit $?"
    [ -z "${LRA_UPDATE_GOLDEN-}" ] || { mkdir -p "$golden" && cp "$tmp/page" "$golden/$page.1"; }
    diff -u "$golden/$page.1" "$tmp/page" || bad=1
done

# All of them in a folder: every option of --help stands in the page.
for program in lra-probe lra-report; do
    "$LRA_BUILD/$program" help --man --out "$tmp/man" >"$tmp/out" 2>"$tmp/err" || complain "$program: $(cat "$tmp/err")"
    [ -s "$tmp/out" ] && complain "$program: --out prints on stdout too"
    for file in "$LRA_SOURCE/tests/golden/help/$program"-*.txt; do
        name=$(basename "$file" .txt)
        [ -s "$tmp/man/$name.1" ] || { complain "no page $name.1"; continue; }
        tr -d '\\' <"$tmp/man/$name.1" | sed 's/f[BIR]//g' >"$tmp/plain"
        for option in $(grep -oE '^ +(-., )?--[a-z0-9-]+' "$file" | grep -oE -- '--[a-z0-9-]+$'); do
            grep -qF -e "$option" "$tmp/plain" || complain "$name.1 lacks $option"
        done
        grep -q "$name(1)" "$tmp/man/$program.1" || tr -d '\\' <"$tmp/man/$program.1" | grep -q "${name}fR(1)" ||
            complain "$program.1 does not name $name"
    done
done

# The formatter's opinion.
if command -v groff >/dev/null 2>&1 && groff -man -Tutf8 </dev/null >/dev/null 2>&1; then
    for page in "$tmp"/man/*.1; do
        groff -man -Tutf8 -ww -z "$page" 2>"$tmp/err" || complain "$page: groff failed"
        [ -s "$tmp/err" ] && complain "$page: $(cat "$tmp/err")"
    done
else
    echo "manual_test: groff is not installed: pages not formatted"
fi
if command -v mandoc >/dev/null 2>&1; then
    for page in "$tmp"/man/*.1; do
        mandoc -T lint -W error "$page" >"$tmp/err" 2>&1 || complain "$page: $(cat "$tmp/err")"
    done
else
    echo "manual_test: mandoc is not installed: pages not checked by it"
fi

# Installed, with the completion scripts where each shell looks for them; the manifest names every file.
cmake --install "$LRA_BUILD" --prefix "$tmp/usr" >"$tmp/out" 2>&1 || complain "install: $(cat "$tmp/out")"
for file in bin/lra-probe bin/lra-report share/man/man1/lra-probe.1 share/man/man1/lra-report-figures.1 \
    share/bash-completion/completions/lra-probe share/bash-completion/completions/lra-report \
    share/zsh/site-functions/_lra-probe share/zsh/site-functions/_lra-report \
    share/fish/vendor_completions.d/lra-probe.fish share/fish/vendor_completions.d/lra-report.fish; do
    [ -s "$tmp/usr/$file" ] || complain "not installed: $file"
done
find "$tmp/usr" ! -type d | sort >"$tmp/installed"
tr -d '\r' <"$LRA_BUILD/install_manifest.txt" | sed '$a\' | sort | diff - "$tmp/installed" >"$tmp/difference" ||
    complain "install_manifest.txt: $(head -3 "$tmp/difference")"
# The shells that are here find them there.
if command -v zsh >/dev/null 2>&1; then
    # shellcheck disable=SC2016
    zsh -f -c 'fpath=($1 $fpath); autoload -U compinit; compinit -D -u; echo $_comps[lra-probe] $_comps[lra-report]' \
        - "$tmp/usr/share/zsh/site-functions" >"$tmp/out" 2>&1
    [ "$(cat "$tmp/out")" = '_lra-probe _lra-report' ] || complain "zsh: $(cat "$tmp/out")"
fi
if command -v fish >/dev/null 2>&1; then
    XDG_DATA_DIRS=$tmp/usr/share HOME=$tmp PATH=$tmp/usr/bin:$PATH \
        fish -c 'complete -C "lra-probe train --task=listo"' >"$tmp/out" 2>&1
    grep -q '^--task=listops' "$tmp/out" || complain "fish: $(cat "$tmp/out")"
fi

# Wrong use.
wrong() {
    says=$1
    shift
    "$LRA_BUILD/lra-report" help "$@" >"$tmp/out" 2>"$tmp/err"
    [ $? = 2 ] || complain "help $*: not refused"
    [ "$(cat "$tmp/err")" = "lra-report: $says" ] || complain "help $*: says '$(cat "$tmp/err")'"
}
wrong "unknown command 'table'; did you mean 'tables'? ('lra-report --help' shows all)" --man table
wrong "option '--out' needs '--man'" --out "$tmp"
wrong "--completion covers the complete program; give it alone" --completion bash tables
wrong "'--man --out' writes the pages of all commands; remove 'tables'" --man --out "$tmp" tables
wrong "option '--completion' is 'tcsh', expected one of bash|zsh|fish" --completion tcsh
exit $bad

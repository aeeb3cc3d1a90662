# Completion for bash, made by 'lra-report help --completion bash' from its option tables.
_lra_report()
{
    local commands='tables figures show compare html list help --help --version'
    local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]} out=lra-out
    local options arguments values= i
    COMPREPLY=()
    # "--name=value" arrives as three words.
    if [[ $cur == = ]]; then
        cur=
    elif [[ $prev == = ]]; then
        prev=${COMP_WORDS[COMP_CWORD-2]}
        [[ $prev == -* ]] || return 0
    fi
    for ((i = 1; i < COMP_CWORD; i++)); do
        [[ ${COMP_WORDS[i]} == --out || ${COMP_WORDS[i]} == -o ]] || continue
        out=${COMP_WORDS[i+1]}
        [[ $out != = ]] || out=${COMP_WORDS[i+2]}
    done
    if ((COMP_CWORD == 1)); then
        values=$commands
    else
        _lra_report_command "${COMP_WORDS[1]}" "$prev"
    fi
    if [[ -z $values ]]; then
        if [[ $cur == -* ]]; then values=$options; else values=$arguments; fi
    fi
    for i in $values; do
        case $i in
            @any) ;;
            @files) _lra_report_paths -f ;;
            @folders) _lra_report_paths -d ;;
            @runs)
                _lra_report_paths -f
                mapfile -t -O ${#COMPREPLY[@]} COMPREPLY < <(
                    compgen -W "$(command ls "$out/runs" 2>/dev/null)" -- "$cur") ;;
            "$cur"*)
                COMPREPLY+=("$i")
                [[ $i != *= ]] || compopt -o nospace 2>/dev/null ;;
        esac
    done
    return 0
}
_lra_report_paths()
{
    compopt -o filenames 2>/dev/null
    mapfile -t -O ${#COMPREPLY[@]} COMPREPLY < <(compgen "$1" -- "$cur")
}
# Completions for command $1 after option $2.
_lra_report_command()
{
    case $1 in
        tables)
            options='--table --format --columns --wide --verbose --reference-results --task --model --label --reference --chance --out --quiet --help'
            arguments='@files'
            case $2 in
                --table) values='...' ;;
                --format|-f) values='text markdown md latex csv json html' ;;
                --columns|-c) values='@any' ;;
                --reference-results) values='@files' ;;
                --task|-t) values='@any' ;;
                --model|-m) values='@any' ;;
                --label) values='@any' ;;
                --reference) values='widest best published @runs' ;;
                --chance) values='majority uniform' ;;
                --out|-o) values='@folders' ;;
            esac ;;
        figures)
            options='--figure --format --width --font-size --title --grey --reference-results --task --model --label --reference --chance --out --quiet --help'
            arguments='@files'
            case $2 in
                --figure) values='...' ;;
                --format|-f) values='@any' ;;
                --width) values='@any' ;;
                --font-size) values='@any' ;;
                --title) values='@any' ;;
                --reference-results) values='@files' ;;
                --task|-t) values='@any' ;;
                --model|-m) values='@any' ;;
                --label) values='@any' ;;
                --reference) values='widest best published @runs' ;;
                --chance) values='majority uniform' ;;
                --out|-o) values='@folders' ;;
            esac ;;
        show)
            options='--json --out --quiet --help'
            arguments='@files'
            case $2 in
                --out|-o) values='@folders' ;;
            esac ;;
        compare)
            options='--format --wide --task --model --label --out --quiet --help'
            arguments='@runs'
            case $2 in
                --format|-f) values='text markdown md latex csv json html' ;;
                --task|-t) values='@any' ;;
                --model|-m) values='@any' ;;
                --label) values='@any' ;;
                --out|-o) values='@folders' ;;
            esac ;;
        html)
            options='--out --results --experiment --force --quiet --task --model --label --reference --chance --help'
            arguments='@runs'
            case $2 in
                --out|-o) values='@files' ;;
                --results) values='@folders' ;;
                --experiment) values='@any' ;;
                --task|-t) values='@any' ;;
                --model|-m) values='@any' ;;
                --label) values='@any' ;;
                --reference) values='widest best published @runs' ;;
                --chance) values='majority uniform' ;;
            esac ;;
        list)
            options='--json --out --quiet --help'
            arguments='papers'
            case $2 in
                --out|-o) values='@folders' ;;
            esac ;;
        help)
            options='--man --completion --out --quiet --verbose --help'
            arguments='tables figures show compare html list help'
            case $2 in
                --completion) values='bash zsh fish' ;;
                --out|-o) values='@folders' ;;
            esac ;;
    esac
}
complete -F _lra_report lra-report

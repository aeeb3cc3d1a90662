# Shared by gpu.sh and gpu_cells.sh: a session of processes that can be ended as a whole, and the archive of programs.

# session_of STAT: the session id in the text of a /proc/PID/stat (the program's name may hold blanks and brackets).
session_of() {
    # shellcheck disable=SC2086 # fields are separated by blanks
    set -- ${1##*) }
    echo "${4-}"
}
# signal_session SIGNAL ID: to all processes of a session, in whatever process group they are; waits for none.
signal_session() {
    for signal_stat in /proc/[0-9]*/stat; do
        signal_text=$(cat "$signal_stat" 2>/dev/null) || continue
        [ "$(session_of "$signal_text")" = "$2" ] || continue
        signal_pid=${signal_stat#/proc/}
        kill "-$1" "${signal_pid%/stat}" 2>/dev/null
    done
    [ -r /proc/self/stat ] || kill "-$1" "-$2" 2>/dev/null
    return 0
}
# end_session ID: kills it without waiting: a process that waits for a driver may not end at all.
end_session() { signal_session KILL "$1"; }
# unpack FILE DIR: the archive that './bootstrap build --portable' makes; xz is not everywhere, Python is.
unpack() {
    mkdir -p "$2" && "${LRA_PEER_PYTHON:-python3}" -c 'import lzma, sys, tarfile
tarfile.open(fileobj=lzma.open(sys.argv[1])).extractall(sys.argv[2])' "$1" "$2" ||
        { echo "$(basename "$0"): '$1' cannot be unpacked" >&2; return 1; }
}

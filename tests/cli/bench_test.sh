#!/bin/sh
# lra-probe bench: every kind runs, JSON holds what the text shows, wrong usage is one line.
. "$LRA_SOURCE/tests/cli/lib.sh"
small="--batch 2 --length 16 --seconds 0.01 --set layers=1 --set width=16 --set hidden=16"

# shellcheck disable=SC2086
for precision in f32 bf16; do
    expect 0 '' lra-probe bench step ops params $small --precision $precision
    says '^peaks      float32 [0-9]* GFLOP/s'
    says '^whole step '
    says '^conv_dw '
    says '^cross_entropy_grad '
    says 'encoder/layer0/conv/kernel (5,16,16) *1280$'
done
# shellcheck disable=SC2086
expect 0 '' lra-probe bench $small --json
says '"name": "whole step"'
says '"f32_flops": [1-9]'
says '"exps": [1-9]'

# The products of a step count attention, by the pairs that it computes.
expect 0 '' lra-probe bench step --model transformer --layers 1 --width 16 --heads 2 --batch 2 --length 16 \
    --seconds 0.01 --threads 1 --json
says '"name": "attention_grad"'
awk -F'[:,]' '/"name"/ { gsub(/[" ]/, "", $2); name = $2 }
    /"flops"/ { if (name == "wholestep") whole = $2
                else if (name ~ /^(conv|linear|matmul|attention)/) sum += $2 }
    END { exit !(whole > 0 && whole == sum) }' out || complain "whole step and its products differ"

# The trial of a level, on the CPU beside itself.
expect 0 '' lra-probe bench levels --precision bf16 --threads 1 -q
says '^dw differs by [0-9]'
grep -q ceilings out && complain "a trial of a level measures ceilings"
expect 0 '' lra-probe bench levels --threads 1 -q --json
says '"precision": "bf16"'
says '"allowed": 0.02'
says '"dw": [0-9]'
grep -q differs out && complain "text in a JSON document: $(cat out)"

# A step's memory: what it took is what the plan says and little more.
expect 0 '' lra-probe bench memory --batch 4 --length 2048 --set layers=2 --set width=64 --set hidden=256 --threads 1
says '^resconv .*(batch 4, length 2048, f32; workspace [0-9.]* MiB'
awk '/^resconv/ { sub(/.*workspace /, ""); planned = $1 } /^one step took/ { if ($5 == "MiB") took = $4 }
    END { exit !(took > 0.9 * planned && took < 2 * planned + 20) }' out || complain "not what was planned: $(cat out)"
expect 0 '' lra-probe bench memory --batch 4 --length 2048 --set layers=2 --set width=64 --set hidden=256 --threads 1 --json
says '"revision": '
says '"title": "resconv .*(batch 4, length 2048, f32; '
says '"parameter_bytes": [1-9]'
awk -F: '/"workspace_bytes"/ { planned = $2 + 0 } /"step_bytes"/ { took = $2 + 0 }
    END { exit !(planned > 1e6 && took > 0.9 * planned && took < 2 * planned + 2e7) }' out || complain "not what was planned: $(cat out)"
# A batch that no machine has room for is told before anything of its size is asked for.
for kind in memory 'ops --op attention'; do
    # shellcheck disable=SC2086
    expect 1 "^lra-probe: batch 1048576 of length 1048576 needs .* of workspace, found .* on 'cpu'; " lra-probe bench $kind \
        --batch 1048576 --length 1048576 --seconds 0.01
done
expect 2 "benchmark 'memory' cannot be combined" lra-probe bench step memory
# Asking attention takes time of its own and memory that grows as the length does, not as a map.
bytes_of() {
    awk -F: -v key="\"$1\"" '$1 ~ key { printf "%.0f", $2 }' out
}
set -- --model transformer --batch 1 --set layers=1 --set width=16 --set hidden=16 --threads 1 --seconds 0.01
expect 0 '' lra-probe bench attention "$@" --length 128 --json
short=$(bytes_of both_bytes)
[ "$short" -gt "$(bytes_of plain_bytes)" ] || complain "asking takes no memory: $(cat out)"
expect 0 '' lra-probe bench attention "$@" --length 1024 --json
awk -v a="$short" -v b="$(bytes_of both_bytes)" 'BEGIN { exit !(a > 0 && b < 8.5 * a && b < 4 * 4 * 1024 * 1024) }' ||
    complain "eight times the length takes $short and then: $(cat out)"
says '"heads_times": [0-9]'
expect 0 '' lra-probe bench attention "$@" --length 64
says '^with values .* ms .* workspace '
expect 2 "model 'resconv' has no attention;" lra-probe bench attention --length 64
# Of matrices that no attention op has, rows are told behind the pass, and counted: all rows take time.
for model in linear-transformer luna; do
    expect 0 '' lra-probe bench attention --model $model --batch 1 --set layers=1 --threads 1 --seconds 0.01 --length 256 --queries 0 --json
    tr -d ' ",' <out | awk -F: '$1 == "heads_times" || $1 == "values_times" { n += $2 > 1.5 } END { exit n != 2 }' ||
        complain "rows of $model are not counted: $(cat out)"
done
# What a benchmark does not read is refused, not left aside.
expect 2 "option '--op' applies only to the benchmarks ops" lra-probe bench step --op conv
expect 2 "option '--op' applies only to the benchmarks ops" lra-probe bench --op conv
expect 2 "option '--set' applies only to the benchmarks step, params, memory, attention" lra-probe bench levels --set kernel=3
expect 2 "option '--recompute' applies only to the benchmarks step, memory" lra-probe bench params ops --recompute layers

# A step that is counted.  By hand, of 16 tokens: the convolution is 2 16 (3 16) 32 FLOP; it reads 16 16 bf16, 3 16 32
# bf16, a bias of 32 float32, two lengths, and writes 16 32 bf16.  Its gradients: x from
# 16 32 and 3 16 32 bf16 and two lengths; the weights from 16 16 and 16 32 bf16 and two lengths, 3 16 32 float32.
# counted OP COLUMN VALUE: within 1e-9
counted() {
    awk -F, -v op="$1" -v column="$2" -v value="$3" '$1 == op { d = $column - value; found = d < 1e-9 && d > -1e-9 }
        END { exit !found }' out || complain "column $2 of '$1' is not $3: $(cat out)"
}
step="bench step --device cuda --predict --csv --precision bf16 --batch 2 --length 8 --set layers=1 --set width=16 --set hidden=32
    --set kernel=3 --launch 0"
# shellcheck disable=SC2086
{
    expect 0 '' lra-probe $step --peak 0.001 --copies 1000
    counted conv 3 4.9152e-5
    counted conv 4 0.004744
    counted conv 5 0.049152
    counted conv_dx 4 0.004616
    counted conv_dw 4 0.007688
    grep -q '^conv,1,.*,products$' out || complain "what limits the convolution: $(cat out)"
    expect 0 '' lra-probe $step --peak 1000000 --copies 0.001
    counted conv 5 0.004744
    grep -q '^conv,1,.*,bytes$' out || complain "what limits the convolution: $(cat out)"
    expect 0 '' lra-probe $step --peak 1000000 --copies 0.001 --launch 10
    counted conv 5 0.014744
}
awk -F, 'NR == 2 { whole = $5; next } NR > 2 && NF == 7 { sum += $5 } END { d = whole - sum; exit !(whole > 0 && d < 1e-9 && d > -1e-9) }' out ||
    complain "the ops are not the whole step: $(cat out)"
if [ "${LRA_BUILD_TYPE-}" != Debug ]; then # parameters of all 30 runs
    expect 0 '' lra-probe bench step --device cuda --predict --table1 --csv
    [ "$(grep -c '^\(image\|pathfinder\|text\|retrieval\|listops\),' out)" = 30 ] || complain "not 30 runs: $(cat out)"
    says '^image,5,64,1024,140800,'
    says '^pathfinder,61,128,1024,251250,'
    says '^text,7,16,1300,112560,'
    says '^retrieval,31,64,3997,137940,'
    says '^listops,11,32,1035,360000,'
fi
expect 2 "option '--predict' needs '--device cuda'" lra-probe bench step --predict
expect 2 "'--predict' applies only to 'bench step'" lra-probe bench ops --device cuda --predict
expect 2 "'--peak' needs '--predict'" lra-probe bench step --peak 5

if [ "${LRA_BUILD_TYPE-}" != Debug ]; then # makes the benchmark's own rows: slow with sanitizers
    expect 0 '' lra-probe bench data --seconds 0.01 --batch 64
    says '^listops quick: 72000 rows'
    says '^generate, all splits *72000 '
fi

# Batches beside steps: one task, every task, and why there is no row.
tiny="--preset quick --threads 1 --seconds 0.01 --set layers=1 --set width=8 --set hidden=8 --set kernel=3"
# shellcheck disable=SC2086
{
    expect 0 '' lra-probe bench data --task copy $tiny --set train=96 --set val=8 --set test=8 -q
    says '^copy *classify *[0-9.]* *[0-9.]* *[0-9.]* .*[0-9]$'
    says '^copy *pretrain-masked '
    says '^copy *pretrain-causal '
    says '^In all rows: preset quick, prec. [bf0-9]*, rows 96, length 128, batch 32, made/s [0-9]'
    grep -q denoise out && complain "copy has no words"
    expect 0 '' lra-probe bench data --all --augment operands $tiny --set train=600 --batch 16 --csv -q
    says '^task,preset,training,precision,rows,length,batch,loader_ms,step_ms,ratio,flag,'
    says '^listops,quick,classify + operands,[bf0-9]*,600,[0-9]*,16,0[.0-9]*[-e0-9]*,[0-9.]*,[0-9.]*,'
    [ "$(wc -l <out)" = 2 ] || complain "--augment operands is for ListOps alone"
    expect 0 '' lra-probe bench data --all --objective denoise $tiny --set batch=8 --json -q
    says '"message": "task .text. cannot be generated: --data-dir must name its files'
    says '"message": "objective .denoise.: .cumsum. has no words to replace'
    says '"task": "select-at"'
    says '"ratio": [1-9]'
}

expect 2 "'--data-dir' needs '--task TASK' or '--all'" lra-probe bench data --data-dir x
expect 2 "'--preset' needs '--task TASK' or '--all'" lra-probe bench data --preset quick
expect 2 "option '--task' applies only to 'bench data'" lra-probe bench data step --task xor
expect 2 "option '--all' applies only to 'bench data'" lra-probe bench --all
expect 2 "task 'image' has 'autoaugment', not 'd4'" lra-probe bench data --task image --augment d4
expect 2 "task 'copy' has no preset 'paper'" lra-probe bench data --task copy --preset paper
expect 2 "remove '--task copy' or --all" lra-probe bench data --all --task copy
expect 2 "objective 'denoise': 'cumsum' has no words" lra-probe bench data --task cumsum --objective denoise -q
expect 2 "unknown augmentation 'd5'; did you mean 'd4'" lra-probe bench data --all --augment d5
expect 2 "did you mean 'kernel'" lra-probe bench data --task xor --set kernle=3 -q
expect 2 "'image' cannot be generated: --data-dir must name its files" lra-probe bench data --task image
expect 2 "unknown benchmark 'stepp'; did you mean 'step'" lra-probe bench stepp
expect 2 "unknown model 'rescon'; did you mean 'resconv'" lra-probe bench --model rescon
expect 2 "'kernle'.*did you mean 'kernel'" lra-probe bench step --set kernle=3
expect 2 "'--batch' is '0', expected an integer" lra-probe bench --batch 0
exit $bad

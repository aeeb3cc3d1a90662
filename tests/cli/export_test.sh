#!/bin/sh
# Weights out of a run and into another: export, train --weights, and what is refused.
. "$LRA_SOURCE/tests/cli/lib.sh"
small="--set train=640 --set val=64 --set test=64 --set epochs=1 --set width=8 --set hidden=8 --set layers=1 --out o -q"
expect 0 '' lra-probe train $small
run=$(echo o/runs/*)

expect 0 '' lra-probe export "$run" w.safetensors
says "wrote w.safetensors: 11 arrays"
expect 1 "already exists; --force replaces it" lra-probe export "$run" w.safetensors
expect 0 '' lra-probe export "$run" w.safetensors --force --last
expect 2 "unknown run 'none'" lra-probe export ./none x
expect 1 "'o' is not the folder of a run" lra-probe export o x
expect 1 "cannot write 'none/x'" lra-probe export "$run" none/x
[ ! -e x ] || complain "a file although the export failed"

# As they are: the predictions of the run they came from.
expect 2 "option '--evaluate' needs '--weights FILE'" lra-probe train $small --evaluate
expect 0 '' lra-probe export "$run" best.safetensors
expect 0 '' lra-probe train $small
cp out first
expect 0 '' lra-probe train $small --weights best.safetensors --evaluate
cp out second
grep -q "not trained" second || complain "--evaluate: $(cat second)"
[ "$(sed -n 's/; .*//p' first)" = "$(sed -n 's/; .*//p' second)" ] || complain "another accuracy: $(cat first second)"

# The other way: a run of its own, which the same command finds finished.
expect 0 '' lra-probe train $small --weights w.safetensors
cp out first
expect 0 '' lra-probe train $small --weights w.safetensors
cp out second
cmp -s first second || complain "the same command prints another result"
[ "$(ls o/runs | wc -l)" -eq 3 ] || complain "runs: $(ls o/runs)"
expect 1 "has shape (8,8,5), expected (8,8,7)" lra-probe train $small --set kernel=7 --weights w.safetensors
expect 1 "cannot open 'none'" lra-probe train $small --weights none
head -c 700 w.safetensors >cut
expect 1 "'cut'" lra-probe train $small --weights cut

# Gradients: of a run, of a fresh model in every precision.
expect 0 '' lra-probe export --gradients "$run" g.safetensors
says "wrote g.safetensors: 27 arrays of '$run/best.h5'"
head -c 20000 g.safetensors | grep -aq '"grad/head/w"' || complain "no gradient of head/w"
head -c 20000 g.safetensors | grep -aq '"lra.task":"listops"' || complain "no task"
expect 1 "already exists" lra-probe export --gradients "$run" g.safetensors
expect 0 '' lra-probe export --gradients "$run" g.safetensors --force --last
for precision in f64 f32 bf16; do
    expect 0 '' lra-probe export --gradients --model s4d --set layers=1 --width 8 --precision $precision $precision.st
    says "arrays of 's4d' at initialisation"
    head -c 20000 $precision.st | grep -aq "\"lra.precision\":\"$precision\"" || complain "$precision: not said"
done
expect 0 '' lra-probe export --gradients --model s4d --set layers=1 --width 8 --precision f64 again.st
cmp -s f64.st again.st || complain "the same command wrote other gradients"
expect 0 '' lra-probe export --gradients --model s4d --set layers=1 --width 8 --precision f64 --seed 2 again.st --force
cmp -s f64.st again.st && complain "another seed, the same gradients"
expect 2 "option '--model' needs '--gradients'" lra-probe export --model s4d x
expect 2 "option '--batch' needs '--gradients --model MODEL'" lra-probe export "$run" x --batch 3
expect 2 "found both a RUN and '--model'" lra-probe export --gradients --model s4d "$run" x
expect 2 "option '--last' needs a RUN" lra-probe export --gradients --model s4d x --last
expect 2 "expected RUN FILE" lra-probe export x
expect 2 "unknown model 's4dd'" lra-probe export --gradients --model s4dd x
expect 1 "cannot write 'none/x'" lra-probe export --gradients --model s4d none/x
# Names of another program: both sides of the difference, and no folder of a run.
head='{"model.a":{"dtype":"F32","shape":[1],"data_offsets":[0,4]},"model.b":{"dtype":"F32","shape":[1],"data_offsets":[4,8]}}'
printf "\\$(printf %03o ${#head})\\000\\000\\000\\000\\000\\000\\000%s\\000\\000\\000\\000\\000\\000\\000\\000" "$head" >foreign.safetensors
for dry in '' --dry-run; do
    expect 1 "2 of its 2 arrays are unknown, the first is 'model.a'; 11 of the model's 11 arrays are missing, the first is 'param/embed/table'; 'lra-probe export'" \
        lra-probe train $small $dry --weights foreign.safetensors --out p
done
# Files of other programs are recognised, and leave nothing in the folder of runs.
printf 'PK\003\004\000\000\010\010\000\000model/data.pklFB' >model.pt
printf 'PK\003\004-\000\000\000\000\000\000\000a.npy\001\000' >arrays.npz
printf '\200\002\212\nl\374\234F\371 j\250P\031.' >old.pt
expect 1 "'model.pt' is a PyTorch zip; save with safetensors" lra-probe train $small --weights model.pt --out p
expect 1 "'arrays.npz' is a NumPy zip (npz); save with safetensors" lra-probe train $small --weights arrays.npz --out p
expect 1 "'old.pt' is a Python pickle" lra-probe train $small --weights old.pt --out p
cp old.pt pytorch_model.bin
expect 1 "'pytorch_model.bin' is a Python pickle .*safetensors.torch.save_file" lra-probe train $small --weights pytorch_model.bin --out p
printf '\001\002\003\004\005\006\007\010\011' >floats.bin
expect 1 "'floats.bin' is no safetensors file: " lra-probe train $small --weights floats.bin --out p
expect 1 "'$run/best.h5' is an HDF5 file; 'lra-probe export RUN FILE' saves the weights of a run" lra-probe train $small --weights "$run/best.h5" --out p
expect 1 "'$run' is the folder of a run, expected a safetensors file: 'lra-probe export RUN FILE'" lra-probe train $small --weights "$run" --out p
expect 1 "expected" lra-probe train $small --weights w.safetensors --set width=4 --out p
[ -z "$(find p -path '*/runs/*' 2>/dev/null)" ] || complain "left behind: $(find p)"
exit $bad

#!/bin/sh
# lra-probe data TASK --check: official files wherever they lie, their SHA-256, how many of the published rows there are,
# rows in several splits, noise, and what is wrong with files.
. "$LRA_SOURCE/tests/cli/lib.sh"
tab=$(printf '\t')
# fact NAME VALUE: what was said last
fact() { grep -qE "^$1 +$2\$" out || complain "'$1' is '$(grep -F -e "$1" out)', expected $2"; }
# bytes N FILE: N bytes that have nothing to do with each other
bytes() { LC_ALL=C awk -v n="$1" 'BEGIN { srand(7); for (i = 0; i < n; i++) printf "%c", 1 + int(255 * rand()) }' >"$2"; }

# ---- ListOps: archives and folders, sums, sizes, leaks -------------------------------------------------------
"$probe" data listops --make 60 --preset quick --out made -q >dir 2>err || complain "make: $(cat err)"
made=$(cat dir)
mkdir -p deep/a/b && cp "$made"/*.tsv deep/a/b/
tar czf lra_release.gz -C deep a
expect 0 'listops: 50 of 96,000 training, 2 of 2,000 validation and 8 of 2,000 test rows' lra-probe data listops --check deep
grep '^fingerprint' out >fingerprint
fact 'train rows in the files' 50
fact 'train rows, published' 96000
fact 'test rows that also occur in train' 0
if command -v sha256sum >/dev/null 2>&1; then
    for file in basic_train.tsv basic_val.tsv basic_test.tsv; do
        says "^$(sha256sum <"$made/$file" | cut -c 1-64) .* a/b/$file\$"
    done
fi
expect 0 '' lra-probe data listops --check lra_release.gz
grep -q -f fingerprint out || complain "the archive has another fingerprint than the folder"
[ "$(grep -c 'lra_release.gz$' out)" -eq 1 ] || complain "not the sum of the archive: $(cat out)"
xz -k deep/a/b/basic_val.tsv 2>/dev/null && {
    expect 0 '' lra-probe data listops --check deep/a/b/basic_val.tsv.xz
    fact 'rows, all labels correct' 2
}
# A test row into the training file, with another label in the way.
sed -n 2p deep/a/b/basic_test.tsv >row
cat row row >>deep/a/b/basic_train.tsv
printf '\r\n' >>deep/a/b/basic_train.tsv
expect 0 '0 of 2 validation and 1 of 8 test rows also occur in training' lra-probe data listops --check deep
fact 'test rows that also occur in train' 1
fact 'repeated train rows' 1
expect 0 '' lra-probe data listops --import deep --out o
says '^test  *8 .* 1$'
# Rows that are wrong: counted, the first is named, also behind a byte order mark.
{
    printf '\357\273\277'
    cat "$made/basic_val.tsv"
    printf '[MAX 1 2 ]%s1\n[MAX 1 %s2\n' "$tab" "$tab"
} >deep/a/b/basic_val.tsv
expect 1 "basic_val.tsv' line 4: label is 1, but the expression evaluates to 2; wrong rows: 2 of 4" lra-probe data listops --check deep
expect 1 "basic_val.tsv' line 4: label is 1, but the expression evaluates to 2; wrong rows: 2 of 4" lra-probe data listops --import deep --out o2
mkdir none && : >none/basic_train.tsv && : >none/text8
expect 1 "no 'basic_train.tsv' in 'none' or 3 levels below (found empty files); expected" lra-probe data listops --check none
expect 1 "no file 'text8' in 'none' or 2 levels below (found empty files); expected" lra-probe data text8 --check none
expect 2 "task 'xor' has no official files" lra-probe data xor --check deep

# ---- streams, like any other task ----------------------------------------------------------------------------
mkdir text
awk 'BEGIN { for (i = 0; i < 900; i++) printf "the quick brown fox jumps over the lazy dog " }' >text/text8
gzip -k text/text8 && mv text/text8.gz one.gz
expect 0 'text8: 39,600 of 100,000,000 tokens' lra-probe data text8 --check text
fact 'train, distinct tokens' 27
grep -q 'test windows that also occur in train  *3$' out || complain "windows: $(cat out)"
expect 0 '' lra-probe data text8 --check one.gz
{ printf '\357\273\277' && cat text/text8; } >with_mark
expect 0 '39,600 of' lra-probe data text8 --check with_mark

# ---- noise in the form of data -------------------------------------------------------------------------------
mkdir noise
bytes 30730 plain
record() { head -c $(($1 * 3072 + 3072)) "$2" | tail -c 3072; }
for k in 0 1 2 3 4 5 6 7 8; do printf '\003' && record $k plain; done >noise/data_batch_1.bin
cp noise/data_batch_1.bin noise/test_batch.bin
expect 0 'correlation of -\{0,1\}0.0.*, of published rows 0.92: the files look like noise' lra-probe data image --check noise
fact 'test rows that also occur in train' 8
mkdir alike && head -c 20000 /dev/zero | tr '\000' a >alike/text8
expect 0 'has an entropy of 0.00 bits: nearly all tokens are equal' lra-probe data text8 --check alike
if grep -q noise err; then complain "letters that are all one: $(cat err)"; fi
# Records that are there, and all left out, are no missing file.
mkdir labels
for part in data_batch_1 test_batch; do { printf '\310' && record 0 plain; } >labels/$part.bin; done
expect 1 "'labels': 0 training and 0 test records, and 2 with a label above 9" lra-probe data image --check labels

# ---- MNIST with bytes behind its end, unknown words, Parquet -------------------------------------------------
idx() { # FILE HEADER N: a file of N zeros
    { printf "$2" && head -c "$3" /dev/zero; } >"$1"
}
mkdir digits
for part in train t10k; do
    idx digits/$part-images-idx3-ubyte '\0\0\010\003\0\0\0\004\0\0\0\034\0\0\0\034' $((4 * 784))
    idx digits/$part-labels-idx1-ubyte '\0\0\010\001\0\0\0\004' 4
done
expect 0 '' lra-probe data smnist --check digits
fact 'bytes after the last item' 0
printf 'more' >>digits/t10k-labels-idx1-ubyte
expect 0 "4 bytes after the last item are excluded, the first of them in 't10k-labels-idx1-ubyte'" lra-probe data smnist --check digits
fact 'bytes after the last item' 4
mkdir parquet
printf 'PAR1....PAR1' >parquet/train-00000-of-00001.parquet
for task in text image smnist wikitext-103; do
    expect 1 "'train-00000-of-00001.parquet' is Parquet, which is not supported; expected" lra-probe data $task --check parquet
    grep -q '^warning: .*python3 -c "import ' err || complain "$task: no conversion: $(cat err)"
done
expect 1 'is Parquet, which is not supported; expected enwik8.zip' lra-probe data enwik8 --check parquet/train-00000-of-00001.parquet
expect 1 'is Parquet' lra-probe data image --import parquet --out o3

# ---- JSON ----------------------------------------------------------------------------------------------------
expect 0 '' lra-probe data smnist --check digits --json
says '"sha256": "[0-9a-f]\{64\}"'
says '"train rows, published": 60000'
command -v python3 >/dev/null && { python3 -m json.tool out >/dev/null || complain "not JSON"; }
exit $bad

#!/bin/sh
# Tasks of text from official files at the command line: reviews, pairs of papers, language streams; what is missing is
# named, what is odd is said, a training run starts from an archive.
. "$LRA_SOURCE/tests/cli/lib.sh"
# Reviews: 40 for training, 8 for testing.
i=0
for part in train test; do
    for class in neg pos; do
        mkdir -p d/aclImdb/$part/$class
        [ $class = neg ] && rating=2 || rating=9
        [ $part = train ] && n=20 || n=4
        i=0
        while [ $i -lt $n ]; do
            printf 'review %d of %s, long enough to be cut here or there' $i $class >d/aclImdb/$part/$class/${i}_$rating.txt
            i=$((i + 1))
        done
    done
done
expect 1 'aclImdb_v1.tar.gz.*https://' lra-probe data text
expect 1 "there is no file or folder 'absent'" lra-probe data text --import absent --out o
mkdir empty
expect 1 "no reviews train/neg/ID_RATING.txt in 'empty' or two levels below; expected aclImdb" lra-probe data text --import empty --out o
expect 0 'text: 40 of 25,000 training and 8 of 25,000 test rows; results cannot' lra-probe data text --import d --set length=32 --out o
says '^train  *36 .* 32 '
says '^val  *4 '
says '^test  *8 '
says '^vocabulary 260$'
grep fingerprint out >folder
(cd d && tar cf ../imdb.tar aclImdb)
expect 0 '' lra-probe data text --import imdb.tar --set length=32 --out o
grep fingerprint out | cmp -s - folder || complain "the archive differs from the folder"
expect 0 '' lra-probe data text --import d --set length=32 --out o --show 1
says '^review 0 of neg, long enough to$'
expect 0 '' lra-probe data text --import d --set vocab=chars15 --set length=32 --out o --show 5
says '^test row 5, 32 '
expect 0 '' lra-probe data text --import d --set vocab=chars15 --out o --json
says '"vocabulary": [0-9]'
expect 0 'selected on test' lra-probe data text --import d --set val=test --out o
says '^val  *8 '
expect 0 '' lra-probe data text --check d
says '^train neg  *20$'
expect 2 "'vocab' is 'words', expected bytes or chars15" lra-probe data text --import d --set vocab=words
expect 2 "cannot be generated" lra-probe data text --make 10 --out o
if [ "${LRA_BUILD_TYPE-}" != Debug ]; then
    expect 0 '' lra-probe train --task text --data-dir d --out o --precision f32 --set length=64 --set epochs=1 --set batch=4 \
        --set layers=1 --set width=8 --set hidden=8 --set val=test
    grep -q selected err || complain "selection on test is not said"
fi

# Pairs: ids alone are explained.
tab=$(printf '\t')
mkdir -p ids
printf '1.0%sA00-1000%sA00-1001\n' "$tab" "$tab" >ids/new_aan_pairs.train.tsv
expect 1 'has 3 columns (ids without texts)' lra-probe data retrieval --import ids --out o
expect 1 'no pairs in a file .new_aan_pairs.train.tsv' lra-probe data retrieval --import d --out o

# Streams.
mkdir -p w
printf ' a b a \n b c \n' >w/valid.txt
printf ' a d \n b \n' >w/test.txt
expect 1 "no training text in 'w'.*--set training=valid" lra-probe data wikitext-103 --import w --out o
expect 0 'not comparable with published' lra-probe data wikitext-103 --import w --set training=valid --set context=2 --out o --show 1
says '^b $'
printf 'forty bytes at least are divided in three' >w/any
expect 0 'enwik8: 41 of 100,000,000 tokens; results cannot' lra-probe data enwik8 --import w/any --set context=2 --out o
expect 1 'the val split has 0 tokens, expected at least 2' lra-probe data enwik8 --import w/valid.txt --set context=2 --out o
expect 1 'byte 8 is 10, expected a to z or a blank' lra-probe data text8 --import w/valid.txt --set context=2 --out o
exit $bad

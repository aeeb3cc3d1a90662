/* The published movie reviews of IMDB (Maas et al. 2011): one file for each review,
 * aclImdb/{train,test}/{neg,pos}/ID_RATING.txt. */
#ifndef LRA_DATASETS_FORMATS_IMDB_H
#define LRA_DATASETS_FORMATS_IMDB_H

#include "datasets/formats/visit.h"
#include "datasets/loader/digest.h"
#include "kernels/base/core/mem.h"

#define LRA_IMDB_SOURCE                                                                            \
    "aclImdb_v1.tar.gz, unpacked or not: https://ai.stanford.edu/~amaas/data/sentiment/"

/* Python program that converts Parquet files with the columns text and label. These have no
 * ratings; they are set to 1 (negative) and 10 (positive). */
#define LRA_IMDB_PARQUET                                                                           \
    "import glob,os,pandas as p;[(os.makedirs(d,exist_ok=True),open(d+f'/{i}_{1+9*y}.txt','w',"    \
    "encoding='utf8',newline='').write(t)) for s in ('train','test') for i,(t,y) in "              \
    "enumerate(p.concat(map(p.read_parquet,sorted(glob.glob('**/'+s+'-*.parquet',"                 \
    "recursive=True))))[['text','label']].values) for d in ['aclImdb/'+s+('/neg','/pos')[y]]]"
enum {
    LRA_IMDB_PUBLISHED = 12500 /* reviews in each part and class of the published data set */,
    LRA_IMDB_RATINGS = 11
};

typedef struct {
    int part, label; /* part: 0 train, 1 test; label: 0 neg, 1 pos */
    int32_t id, rating;
    uint64_t hash; /* hash of the complete text */
    size_t at, n;  /* offset and length of the stored text in `text`, in bytes */
} lra_review;

typedef struct {
    size_t keep; /* maximum number of stored bytes of a review, 0: all */
    int64_t n, capacity;
    lra_review *review;
    char *text; /* texts of all reviews, concatenated */
    size_t n_text, text_capacity;
    int64_t n_repeated;  /* repeated files (the path contains several copies); stored once */
    int64_t n_strange;   /* files whose rating contradicts the label of their folder; kept */
    int64_t n_unnamed;   /* skipped .txt files, whose name is not ID_RATING.txt */
    int64_t count[2][2]; /* [part][label] number of reviews */
} lra_reviews;

/* Filter of files: returns true if the name is that of a review, at any depth. */
bool lra_reviews_wanted(void *reviews, const char *name);
/* Adds a review; part, label, id and rating follow from the file name. */
int lra_reviews_add(lra_reviews *r, const char *name, const char *bytes, size_t n, lra_err *e);
/* Sorts the reviews (train before test, neg before pos, by id) and removes repeated ones. Fails if
 * two files of the same review have different texts. */
int lra_reviews_sort(lra_reviews *r, lra_err *e);
/* Reads all reviews from the folder, archive or archives at a path. Fails unless every part and
 * class has reviews; warns about irregularities. Nullable: walk (files that the walk skipped). */
int lra_reviews_read(lra_reviews *r, const char *path, lra_walk *walk, lra_err *e);
/* Hashes the files that lra_reviews_read() reads. */
int lra_reviews_hash(const char *path, lra_digest *to, lra_err *e);
void lra_reviews_free(lra_reviews *r);

#endif

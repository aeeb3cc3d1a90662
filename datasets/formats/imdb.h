/* The movie reviews of IMDB (Maas et al. 2011) as they are published: one file a review,
 * aclImdb/{train,test}/{neg,pos}/ID_RATING.txt. */
#ifndef LRA_DATASETS_FORMATS_IMDB_H
#define LRA_DATASETS_FORMATS_IMDB_H

#include "datasets/formats/visit.h"
#include "datasets/loader/digest.h"
#include "kernels/base/core/mem.h"

#define LRA_IMDB_SOURCE                                                                            \
    "aclImdb_v1.tar.gz, unpacked or not: https://ai.stanford.edu/~amaas/data/sentiment/"

/* Columns text, label; ratings are not kept there and become 1 and 10. */
#define LRA_IMDB_PARQUET                                                                           \
    "import glob,os,pandas as p;[(os.makedirs(d,exist_ok=True),open(d+f'/{i}_{1+9*y}.txt','w',"    \
    "encoding='utf8',newline='').write(t)) for s in ('train','test') for i,(t,y) in "              \
    "enumerate(p.concat(map(p.read_parquet,sorted(glob.glob('**/'+s+'-*.parquet',"                 \
    "recursive=True))))[['text','label']].values) for d in ['aclImdb/'+s+('/neg','/pos')[y]]]"
enum { LRA_IMDB_PUBLISHED = 12500 /* reviews of every part and class */, LRA_IMDB_RATINGS = 11 };

typedef struct {
    int part, label; /* 0: train, 1: test; 0: neg, 1: pos */
    int32_t id, rating;
    uint64_t hash; /* of the whole text */
    size_t at, n;  /* its bytes, as far as they are kept */
} lra_review;

typedef struct {
    size_t keep; /* bytes of a review that are kept, 0: all */
    int64_t n, capacity;
    lra_review *review;
    char *text; /* all of them, one behind the other */
    size_t n_text, text_capacity;
    int64_t n_repeated;  /* files that were there twice, from several copies; kept once */
    int64_t n_strange;   /* files with a rating that does not go with their folder; kept */
    int64_t n_unnamed;   /* .txt files whose name is not ID_RATING.txt; left out */
    int64_t count[2][2]; /* [part][label] */
} lra_reviews;

/* Takes a file: true when its name is that of a review, as far down as it may be. */
bool lra_reviews_wanted(void *reviews, const char *name);
/* Adds a review by the name of its file. */
int lra_reviews_add(lra_reviews *r, const char *name, const char *bytes, size_t n, lra_err *e);
/* Puts them into the fixed order (train before test, neg before pos, by id) and drops repeated
 * ones.  The same review with two texts is a failure. */
int lra_reviews_sort(lra_reviews *r, lra_err *e);
/* All of the above for the folder, archive or archives at a path, complete as far as every part and
 * class has reviews; warns of what is odd.  Nullable: walk (what the walk left out) */
int lra_reviews_read(lra_reviews *r, const char *path, lra_walk *walk, lra_err *e);
/* Hash of the files that lra_reviews_read() would read. */
int lra_reviews_hash(const char *path, lra_digest *to, lra_err *e);
void lra_reviews_free(lra_reviews *r);

#endif

/* Determines the network of a run and the targets of its batches. */
#include "models/training/run_network.h"

#include "models/training/objective.h"

const lra_objective *lra_session_objective(const lra_train_spec *s)
{
    return s->objective ? s->objective : &lra_objective_classify;
}

lra_network_spec lra_session_network(const lra_train_spec *s)
{
    return lra_objective_network(lra_session_objective(s), s->data, s->pool);
}

lra_loss_mask lra_session_loss_mask(const lra_train_spec *s, const lra_batch *b)
{
    if (lra_session_objective(s)->pretrains)
        return (lra_loss_mask){
            .label = b->word, .target = b->value_target, .target_mask = b->value_mask};
    return (lra_loss_mask){.label = b->label, .target = b->target, .target_mask = b->target_mask};
}

// The models as the server describes them with the experiment `train` (GET /api/experiments): which parameters each takes,
// and the variants that the first chapter compares. Nothing about a model is written here a second time.

// The lab's task on sentences and the model for it.
export const SENTENCES = { task: "reviews", model: "transformer" };

// Returns { task: the chapter's, variants: [{ id, label, parameters, extra: compared only if asked for }] in the order of
// their colours, variantOf(parameters) of a run, colorOf(model), takes(model, name of a parameter), absent(model): parameters it does not take, hasAttention(model),
// ofVariants: parameters in which the variants differ, ofSome: further parameters that only some of the models take }.
export function describeModels(page) {
    const { schema, variants } = page.experiment("train");
    const names = Object.keys(schema.properties);
    const task = schema.properties.task.default;
    const takes = (model, name) => schema.properties[name]["x-applies-to"]?.model.includes(model) ?? true;
    const bySpecificity = [...variants].sort(
        (a, b) => Object.keys(b.parameters).length - Object.keys(a.parameters).length,
    );
    const variantOf = (parameters) =>
        parameters.task === task
            ? bySpecificity.find((variant) =>
                  Object.entries(variant.parameters).every(([name, value]) => parameters[name] === value),
              )
            : undefined;
    return {
        task,
        variants,
        variantOf,
        takes,
        colorOf: (model) => {
            const index = variants.indexOf(variantOf({ task, model }));
            return index < 0 ? undefined : index;
        },
        absent: (model) => names.filter((name) => !takes(model, name)),
        // A mask hides steps from attention, so only attention has one.
        hasAttention: (model) => takes(model, "mask"),
        ofVariants: names.filter((name) => variants.some(({ parameters }) => name in parameters)),
        ofSome: names.filter(
            (name) =>
                variants.every(({ parameters }) => !(name in parameters)) &&
                variants.some(({ parameters }) => !takes(parameters.model, name)),
        ),
    };
}

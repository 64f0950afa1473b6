/* JSON Schemas as text, assembled by the preprocessor: see openapi_schemas.h. */
#include "server/api/openapi_schemas.h"

#define REFERENCE(name) "{\"$ref\":\"#/components/schemas/" name "\"}"
#define LIST_OF(schema) "{\"type\":\"array\",\"items\":" schema "}"
#define STRING          "{\"type\":\"string\"}"
#define INTEGER         "{\"type\":\"integer\"}"
#define NUMBER          "{\"type\":\"number\"}"
#define BOOLEAN         "{\"type\":\"boolean\"}"
#define NUMBER_OR_NULL  "{\"type\":[\"number\",\"null\"]}"
#define STRING_OR_NULL  "{\"type\":[\"string\",\"null\"]}"
#define TIME_OR_NULL    "{\"type\":[\"string\",\"null\"],\"format\":\"date-time\"}"
#define LABEL           "{\"type\":[\"string\",\"integer\"]}"
#define INTEGERS        LIST_OF(INTEGER)
#define NUMBERS         LIST_OF(NUMBER)
#define STRINGS         LIST_OF(STRING)
#define BOOLEANS        LIST_OF(BOOLEAN)
#define MATRIX          "{\"type\":\"array\",\"items\":{\"type\":\"array\",\"items\":{\"type\":\"number\"}}}"
#define PROGRESS                                                                                             \
    "{\"type\":\"object\",\"properties\":{\"done\":" INTEGER ",\"total\":" INTEGER ",\"unit\":" STRING "}}"
#define MAP_OF(schema, description)                                                                          \
    "{\"type\":\"object\",\"description\":\"" description "\",\"additionalProperties\":" schema "}"
#define OBJECT(properties) "{\"type\":\"object\",\"properties\":{" properties "}}"

const struct openapi_schema openapi_schemas[] = {
    {"Fault", OBJECT("\"field\":" STRING ",\"message\":" STRING)},
    {"Problem", OBJECT("\"type\":" STRING ",\"title\":" STRING ",\"status\":" INTEGER ",\"detail\":" STRING
                       ",\"errors\":" LIST_OF(REFERENCE("Fault")) ",\"runs\":" STRINGS)},
    {"Run", OBJECT("\"id\":" STRING ",\"experiment\":" STRING ",\"name\":" STRING
                   ",\"parameters\":{\"type\":\"object\"},\"dataset_digest\":" STRING_OR_NULL
                   ",\"state\":" REFERENCE(
                       "RunState") ",\"progress\":" PROGRESS ",\"created_at\":" TIME_OR_NULL
                                   ",\"started_at\":" TIME_OR_NULL ",\"finished_at\":" TIME_OR_NULL
                                   ",\"result\":{\"type\":[\"object\",\"null\"]},\"result_omitted\":" BOOLEAN
                                   ",\"error\":" STRING_OR_NULL ",\"damaged\":" STRINGS
                                   ",\"comparison\":" STRING_OR_NULL ",\"may_delete\":" BOOLEAN)},
    {"RunList", OBJECT("\"runs\":" LIST_OF(REFERENCE("Run")) ",\"next\":" STRING_OR_NULL)},
    {"EpochMetrics", OBJECT("\"epoch\":" INTEGER ",\"train_loss\":" NUMBER_OR_NULL
                            ",\"test_accuracy\":" NUMBER_OR_NULL ",\"seconds\":" NUMBER)},
    {"Metrics", OBJECT("\"rows\":" LIST_OF(REFERENCE("EpochMetrics")))},
    {"Attention",
     OBJECT("\"epoch\":" INTEGER ",\"epochs_kept\":" INTEGERS ",\"example\":" INTEGER ",\"examples\":" INTEGER
            ",\"layer\":" INTEGER ",\"head\":" LABEL ",\"heads\":" INTEGER ",\"layers\":" INTEGER
            ",\"query_from\":" INTEGER ",\"queries\":" INTEGER ",\"query_labels\":" STRINGS
            ",\"key_labels\":" STRINGS ",\"weights\":" MATRIX)},
    {"MeanAttention", OBJECT("\"epoch\":" INTEGER ",\"weights\":" NUMBERS ",\"argmax\":" INTEGER
                             ",\"first\":" NUMBER ",\"rest\":" NUMBER_OR_NULL)},
    {"PredictionRequest", OBJECT("\"sequences\":" MATRIX ",\"texts\":" STRINGS)},
    {"Prediction", OBJECT("\"label\":" LABEL ",\"class_index\":" INTEGER ",\"probabilities\":" NUMBERS
                          ",\"logits\":" NUMBERS ",\"tokens\":" STRINGS ",\"unknown\":" BOOLEANS
                          ",\"attention\":{\"type\":[\"array\",\"null\"],\"items\":" NUMBERS
                          "},\"attention_by_head\":{\"type\":\"array\"}")},
    {"Predictions",
     OBJECT("\"classes\":" LIST_OF(LABEL) ",\"predictions\":" LIST_OF(REFERENCE("Prediction")))},
    {"ComparisonRow",
     OBJECT("\"label\":" STRING ",\"runs\":" LIST_OF(STRING_OR_NULL) ",\"accuracies\":" LIST_OF(
         NUMBER_OR_NULL) ",\"mean\":" NUMBER_OR_NULL ",\"worst\":" NUMBER_OR_NULL
                         ",\"parameter_count\":{\"type\":[\"integer\",\"null\"]},"
                         "\"seconds\":" NUMBER_OR_NULL)},
    {"Comparison",
     OBJECT("\"id\":" STRING ",\"experiment\":" STRING ",\"name\":" STRING ",\"state\":" REFERENCE(
         "RunState") ",\"progress\":" PROGRESS ",\"created_at\":" TIME_OR_NULL ",\"seeds\":" INTEGERS
                     ",\"damaged\":" BOOLEAN ",\"runs\":" STRINGS
                     ",\"rows\":" LIST_OF(REFERENCE("ComparisonRow")) ",\"may_delete\":" BOOLEAN)},
    {"ComparisonList",
     OBJECT("\"comparisons\":" LIST_OF(REFERENCE("Comparison")) ",\"next\":" STRING_OR_NULL)},
    {"Experiment",
     OBJECT("\"name\":" STRING ",\"title\":" STRING ",\"summary\":" STRING ",\"trains_model\":" BOOLEAN
            ",\"parameters\":" REFERENCE("ParameterSchemas") ",\"variants\":" LIST_OF(REFERENCE("Variant")))},
    {"Variant", OBJECT("\"id\":" STRING ",\"label\":" STRING ",\"parameters\":{\"type\":\"object\"}")},
    {"ParameterSchemas",
     OBJECT("\"properties\":" MAP_OF(REFERENCE("ParameterSchema"), "The JSON Schema of each parameter."))},
    {"ParameterSchema",
     OBJECT("\"title\":" STRING ",\"description\":" STRING ",\"default_note\":" STRING
            ",\"choice_titles\":" MAP_OF(STRING, "The title of each choice.") ",\"applies_to\":" MAP_OF(
                STRINGS, "This parameter has an effect only if another one has one of these values."))},
    {"ExperimentList", OBJECT("\"experiments\":" LIST_OF(REFERENCE("Experiment")) ",\"run_states\":" LIST_OF(
                           OBJECT("\"name\":" STRING ",\"ended\":" BOOLEAN)))},
    {"Dataset",
     OBJECT("\"name\":" STRING ",\"kind\":" STRING ",\"source\":" STRING ",\"summary\":" STRING
            ",\"decisive_words\":" LIST_OF(STRINGS) ",\"rows\":" INTEGER ",\"classes\":" INTEGER
                                                    ",\"words\":" INTEGER ",\"size_bytes\":" INTEGER
                                                    ",\"digest\":" STRING ",\"created_at\":" TIME_OR_NULL
                                                    ",\"may_delete\":{\"type\":\"boolean\"}")},
    {"DatasetList", OBJECT("\"datasets\":" LIST_OF(REFERENCE("Dataset")))},
    {"Example", OBJECT("\"index\":" INTEGER ",\"label\":" LABEL ",\"class_index\":" INTEGER
                       ",\"values\":" NUMBERS ",\"text\":" STRING ",\"tokens\":" STRINGS
                       ",\"unknown\":" BOOLEANS ",\"decisive_position\":{\"type\":[\"integer\",\"null\"]}")},
    {"Examples", OBJECT("\"name\":" STRING ",\"split\":" STRING ",\"total\":" INTEGER ",\"offset\":" INTEGER
                        ",\"examples\":" LIST_OF(REFERENCE("Example")))},
    {"Health", OBJECT("\"status\":" STRING ",\"version\":" STRING ",\"workers\":" INTEGER
                      ",\"running\":" INTEGER ",\"queued\":" INTEGER)},
    {"SessionRequest", OBJECT("\"token\":" STRING)},
    {"Session", OBJECT("\"access\":" REFERENCE("AccessChoice") ",\"role\":" REFERENCE(
                    "AccessRole") ",\"students\":" REFERENCE("StudentRights") ",\"may_run\":" BOOLEAN
                                                                              ",\"limits\":{\"type\":["
                                                                              "\"object\",\"null\"]}")},
    {"OpenApi", "{\"type\":\"object\"}"},
};

const size_t openapi_schema_count = sizeof openapi_schemas / sizeof *openapi_schemas;

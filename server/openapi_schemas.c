#include "server/openapi_schemas.h"

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
#define MATRIX          LIST_OF(LIST_OF(NUMBER))
#define STATE           "{\"type\":\"string\",\"enum\":[\"queued\",\"running\",\"succeeded\",\"failed\",\"cancelled\"]}"
#define PROGRESS                                                                                             \
    "{\"type\":\"object\",\"properties\":{\"done\":" INTEGER ",\"total\":" INTEGER ",\"unit\":" STRING "}}"
#define OBJECT(properties) "{\"type\":\"object\",\"properties\":{" properties "}}"

const struct openapi_schema openapi_schemas[] = {
    {"Problem", OBJECT("\"type\":" STRING ",\"title\":" STRING ",\"status\":" INTEGER ",\"detail\":" STRING
                       ",\"errors\":" LIST_OF(OBJECT("\"field\":" STRING ",\"message\":" STRING)))},
    {"Run",
     OBJECT("\"id\":" STRING ",\"experiment\":" STRING ",\"name\":" STRING
            ",\"parameters\":{\"type\":\"object\"},\"state\":" STATE ",\"progress\":" PROGRESS
            ",\"created_at\":" TIME_OR_NULL ",\"started_at\":" TIME_OR_NULL ",\"finished_at\":" TIME_OR_NULL
            ",\"result\":{\"type\":[\"object\",\"null\"]},\"error\":" STRING_OR_NULL
            ",\"comparison\":" STRING_OR_NULL)},
    {"RunList", OBJECT("\"runs\":" LIST_OF(REFERENCE("Run")) ",\"next\":" STRING_OR_NULL)},
    {"Metrics",
     OBJECT("\"rows\":" LIST_OF(OBJECT("\"epoch\":" INTEGER ",\"train_loss\":" NUMBER_OR_NULL
                                       ",\"test_accuracy\":" NUMBER_OR_NULL ",\"seconds\":" NUMBER)))},
    {"Attention",
     OBJECT("\"epoch\":" INTEGER ",\"epochs_kept\":" LIST_OF(
         INTEGER) ",\"example\":" INTEGER ",\"examples\":" INTEGER ",\"layer\":" INTEGER ",\"head\":" LABEL
                  ",\"heads\":" INTEGER ",\"layers\":" INTEGER ",\"query_labels\":" LIST_OF(
                      STRING) ",\"key_labels\":" LIST_OF(STRING) ",\"weights\":" MATRIX)},
    {"MeanAttention", OBJECT("\"epoch\":" INTEGER ",\"weights\":" LIST_OF(
                          NUMBER) ",\"argmax\":" INTEGER ",\"first\":" NUMBER ",\"rest\":" NUMBER_OR_NULL)},
    {"PredictionRequest", OBJECT("\"sequences\":" MATRIX ",\"texts\":" LIST_OF(STRING))},
    {"Predictions",
     OBJECT("\"classes\":" LIST_OF(LABEL) ",\"predictions\":" LIST_OF(OBJECT(
         "\"label\":" LABEL ",\"class_index\":" INTEGER
         ",\"probabilities\":" LIST_OF(NUMBER) ",\"logits\":" LIST_OF(NUMBER) ",\"tokens\":" LIST_OF(
             STRING) ",\"unknown\":" LIST_OF(BOOLEAN) ",\"attention\":{\"type\":[\"array\",\"null\"],"
                                                      "\"items\":" LIST_OF(NUMBER) "}"
                                                                                   ",\"attention_by_"
                                                                                   "head\":" LIST_OF(
                                                                                       LIST_OF(MATRIX)))))},
    {"Comparison", OBJECT("\"id\":" STRING ",\"experiment\":" STRING ",\"state\":" STATE
                          ",\"progress\":" PROGRESS ",\"runs\":" LIST_OF(STRING) ",\"rows\":" LIST_OF(
                              OBJECT("\"label\":" STRING ",\"accuracies\":" LIST_OF(
                                  NUMBER_OR_NULL) ",\"mean\":" NUMBER_OR_NULL ",\"worst\":" NUMBER_OR_NULL
                                                  ",\"parameter_count\":{\"type\":[\"integer\",\"null\"]}"
                                                  ",\"seconds\":" NUMBER_OR_NULL)))},
    {"ComparisonList",
     OBJECT("\"comparisons\":" LIST_OF(REFERENCE("Comparison")) ",\"next\":" STRING_OR_NULL)},
    {"ExperimentList", OBJECT("\"experiments\":" LIST_OF(
                           OBJECT("\"name\":" STRING ",\"title\":" STRING ",\"summary\":" STRING
                                  ",\"trains_model\":" BOOLEAN ",\"parameters\":{\"type\":\"object\"}")))},
    {"Dataset", OBJECT("\"name\":" STRING ",\"kind\":" STRING ",\"source\":" STRING ",\"rows\":" INTEGER
                       ",\"classes\":" INTEGER ",\"words\":" INTEGER ",\"size_bytes\":" INTEGER
                       ",\"created_at\":" TIME_OR_NULL)},
    {"DatasetList", OBJECT("\"datasets\":" LIST_OF(REFERENCE("Dataset")))},
    {"Examples",
     OBJECT("\"name\":" STRING ",\"split\":" STRING ",\"total\":" INTEGER ",\"offset\":" INTEGER
            ",\"examples\":" LIST_OF(OBJECT(
                "\"index\":" INTEGER ",\"label\":" LABEL ",\"class_index\":" INTEGER ",\"values\":" LIST_OF(
                    NUMBER) ",\"text\":" STRING
                            ",\"tokens\":" LIST_OF(STRING) ",\"unknown\":" LIST_OF(
                                BOOLEAN) ",\"decisive_position\":{\"type\":[\"integer\",\"null\"]}")))},
    {"Health", OBJECT("\"status\":" STRING ",\"version\":" STRING ",\"workers\":" INTEGER
                      ",\"running\":" INTEGER ",\"queued\":" INTEGER)},
    {"OpenApi", "{\"type\":\"object\"}"},
};

const size_t openapi_schema_count = sizeof openapi_schemas / sizeof *openapi_schemas;

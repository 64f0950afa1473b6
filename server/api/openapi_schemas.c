/* Tables of members, whose JSON Schemas the preprocessor assembles as text: see openapi_schemas.h. */
#include "server/api/openapi_schemas.h"

#include "server/formats/json_writer.h"

#include <stdio.h>

#define REFERENCE(name)  "{\"$ref\":\"#/components/schemas/" name "\"}"
#define LIST_OF(schema)  "{\"type\":\"array\",\"items\":" schema "}"
#define STRING           "{\"type\":\"string\"}"
#define INTEGER          "{\"type\":\"integer\"}"
#define COUNT            "{\"type\":\"integer\",\"minimum\":0}"
#define NUMBER           "{\"type\":\"number\"}"
#define BOOLEAN          "{\"type\":\"boolean\"}"
#define TIME             "{\"type\":\"string\",\"format\":\"date-time\"}"
#define COUNT_OR_NULL    "{\"type\":[\"integer\",\"null\"],\"minimum\":0}"
#define NUMBER_OR_NULL   "{\"type\":[\"number\",\"null\"]}"
#define STRING_OR_NULL   "{\"type\":[\"string\",\"null\"]}"
#define TIME_OR_NULL     "{\"type\":[\"string\",\"null\"],\"format\":\"date-time\"}"
#define LABEL            "{\"type\":[\"string\",\"integer\"]}"
#define LABEL_OR_BOOLEAN "{\"type\":[\"string\",\"number\",\"boolean\"]}"
#define COUNTS           LIST_OF(COUNT)
#define STRINGS          LIST_OF(STRING)
#define BOOLEANS         LIST_OF(BOOLEAN)
/* A number that is not finite is null. */
#define NUMBERS LIST_OF(NUMBER_OR_NULL)
#define MATRIX  LIST_OF(NUMBERS)
#define MAP_OF(schema, description)                                                                          \
    "{\"type\":\"object\",\"description\":\"" description "\",\"additionalProperties\":" schema "}"
#define ANY_OBJECT(description)         "{\"type\":\"object\",\"description\":\"" description "\"}"
#define ANY_OBJECT_OR_NULL(description) "{\"type\":[\"object\",\"null\"],\"description\":\"" description "\"}"

#define MEMBER(member, schema)                                                                               \
    { .name = (member), .json = (schema) }
#define OPTIONAL(member, schema)                                                                             \
    { .name = (member), .json = (schema), .is_optional = true }
#define OBJECT(...)                                                                                          \
    (const struct openapi_member[]) {                                                                        \
        __VA_ARGS__, {                                                                                       \
            .name = NULL                                                                                     \
        }                                                                                                    \
    }

const struct openapi_schema openapi_schemas[] = {
    {"Fault", OBJECT(MEMBER("field", STRING), MEMBER("message", STRING))},
    {"Problem", OBJECT(MEMBER("type", STRING), MEMBER("title", STRING),
                       MEMBER("status", "{\"type\":\"integer\",\"minimum\":400,\"maximum\":599}"),
                       MEMBER("detail", STRING), OPTIONAL("errors", LIST_OF(REFERENCE("Fault"))),
                       OPTIONAL("runs", STRINGS))},
    {"Progress", OBJECT(MEMBER("done", COUNT), MEMBER("total", COUNT), MEMBER("unit", STRING))},
    {"Run",
     OBJECT(MEMBER("id", STRING), MEMBER("experiment", STRING), MEMBER("name", STRING),
            MEMBER("parameters", ANY_OBJECT("The experiment's parameters, all of them.")),
            MEMBER("dataset_digest", STRING_OR_NULL), MEMBER("state", REFERENCE("RunState")),
            MEMBER("progress", REFERENCE("Progress")), MEMBER("created_at", TIME),
            MEMBER("started_at", TIME_OR_NULL), MEMBER("finished_at", TIME_OR_NULL),
            MEMBER("kernels", STRING_OR_NULL),
            MEMBER("result", ANY_OBJECT_OR_NULL("The experiment's result; null until the run succeeds.")),
            OPTIONAL("parameters_omitted", BOOLEAN), OPTIONAL("result_omitted", BOOLEAN),
            MEMBER("error", STRING_OR_NULL), OPTIONAL("damaged", STRINGS),
            MEMBER("comparison", STRING_OR_NULL), OPTIONAL("may_delete", BOOLEAN))},
    {"RunList", OBJECT(MEMBER("runs", LIST_OF(REFERENCE("Run"))), MEMBER("next", STRING_OR_NULL))},
    {"EpochEvent", OBJECT(MEMBER("run", STRING), MEMBER("epoch", COUNT), MEMBER("train_loss", NUMBER_OR_NULL),
                          MEMBER("test_accuracy", NUMBER_OR_NULL), MEMBER("seconds", NUMBER))},
    {"StepEvent", OBJECT(MEMBER("run", STRING), MEMBER("step", COUNT), MEMBER("loss", NUMBER_OR_NULL))},
    {"AttentionEvent", OBJECT(MEMBER("run", STRING), MEMBER("epoch", COUNT))},
    {"EpochMetrics", OBJECT(MEMBER("epoch", COUNT), MEMBER("train_loss", NUMBER_OR_NULL),
                            MEMBER("test_accuracy", NUMBER_OR_NULL), MEMBER("seconds", NUMBER))},
    {"Metrics", OBJECT(MEMBER("rows", LIST_OF(REFERENCE("EpochMetrics"))))},
    {"Attention",
     OBJECT(MEMBER("epoch", COUNT), MEMBER("epochs_kept", COUNTS), MEMBER("example", COUNT),
            MEMBER("examples", COUNT), MEMBER("layer", COUNT), MEMBER("head", LABEL), MEMBER("heads", COUNT),
            MEMBER("layers", COUNT), MEMBER("query_from", COUNT), MEMBER("queries", COUNT),
            MEMBER("query_labels", STRINGS), MEMBER("key_labels", STRINGS), MEMBER("weights", MATRIX))},
    {"MeanAttention", OBJECT(MEMBER("epoch", COUNT), MEMBER("weights", NUMBERS), MEMBER("argmax", COUNT),
                             MEMBER("first", NUMBER_OR_NULL), MEMBER("rest", NUMBER_OR_NULL))},
    {"Gradient",
     OBJECT(MEMBER("epoch", COUNT), MEMBER("epochs_kept", LIST_OF(COUNT)), MEMBER("examples", COUNT),
            MEMBER("loss", NUMBER_OR_NULL), MEMBER("gradient", NUMBERS), MEMBER("first", NUMBER_OR_NULL),
            MEMBER("last", NUMBER_OR_NULL), MEMBER("ratio", NUMBER_OR_NULL))},
    {"Prediction",
     OBJECT(MEMBER("label", LABEL), MEMBER("class_index", COUNT), MEMBER("probabilities", NUMBERS),
            MEMBER("logits", NUMBERS), OPTIONAL("tokens", STRINGS), OPTIONAL("unknown", BOOLEANS),
            MEMBER("attention", "{\"type\":[\"array\",\"null\"],\"items\":" NUMBERS "}"),
            OPTIONAL("attention_by_head", LIST_OF(LIST_OF(MATRIX))))},
    {"Predictions",
     OBJECT(MEMBER("classes", LIST_OF(LABEL)), MEMBER("predictions", LIST_OF(REFERENCE("Prediction"))))},
    {"ComparisonRow",
     OBJECT(MEMBER("label", STRING), MEMBER("runs", LIST_OF(STRING_OR_NULL)), MEMBER("accuracies", NUMBERS),
            MEMBER("mean", NUMBER_OR_NULL), MEMBER("worst", NUMBER_OR_NULL),
            MEMBER("parameter_count", COUNT_OR_NULL), MEMBER("seconds", NUMBER_OR_NULL))},
    {"Comparison",
     OBJECT(MEMBER("id", STRING), MEMBER("experiment", STRING), MEMBER("name", STRING),
            MEMBER("state", REFERENCE("RunState")), MEMBER("progress", REFERENCE("Progress")),
            MEMBER("created_at", TIME), MEMBER("seeds", LIST_OF(COUNT_OR_NULL)), OPTIONAL("damaged", BOOLEAN),
            MEMBER("runs", STRINGS), MEMBER("rows", LIST_OF(REFERENCE("ComparisonRow"))),
            MEMBER("may_delete", BOOLEAN))},
    {"ComparisonList",
     OBJECT(MEMBER("comparisons", LIST_OF(REFERENCE("Comparison"))), MEMBER("next", STRING_OR_NULL))},
    {"Experiment",
     OBJECT(MEMBER("name", STRING), MEMBER("title", STRING), MEMBER("summary", STRING),
            MEMBER("trains_model", BOOLEAN), MEMBER("parameters", REFERENCE("ParameterSchemas")),
            MEMBER("variants", LIST_OF(REFERENCE("Variant"))))},
    {"Variant", OBJECT(MEMBER("id", STRING), MEMBER("label", STRING),
                       MEMBER("parameters", ANY_OBJECT("Those in which the variant differs.")),
                       MEMBER("extra", BOOLEAN))},
    {"ParameterSchemas",
     OBJECT(MEMBER("type", "{\"const\":\"object\"}"),
            MEMBER("properties", MAP_OF(REFERENCE("ParameterSchema"), "The JSON Schema of each parameter.")),
            MEMBER("additionalProperties", "{\"const\":false}"))},
    {"ParameterSchema",
     OBJECT(MEMBER("title", STRING), MEMBER("description", STRING), MEMBER("type", STRING),
            OPTIONAL("default", "{}"), OPTIONAL("enum", STRINGS), OPTIONAL("examples", STRINGS),
            OPTIONAL("minimum", NUMBER), OPTIONAL("exclusiveMinimum", NUMBER), OPTIONAL("maximum", NUMBER),
            OPTIONAL("maxLength", COUNT), OPTIONAL("minItems", COUNT), OPTIONAL("maxItems", COUNT),
            OPTIONAL("items", ANY_OBJECT("The JSON Schema of a list's members.")),
            OPTIONAL("x-default-note", STRING),
            OPTIONAL("x-choice-titles", MAP_OF(STRING, "The title of each choice.")),
            OPTIONAL("x-applies-to",
                     MAP_OF(STRINGS,
                            "This parameter has an effect only if another one has one of these values.")))},
    {"LayerParameter", OBJECT(MEMBER("name", STRING), MEMBER("shape", COUNTS))},
    {"Layer",
     OBJECT(MEMBER("name", STRING), MEMBER("type", STRING), MEMBER("code", STRING), MEMBER("shape", COUNTS),
            MEMBER("parameter_count", COUNT), MEMBER("parameters", LIST_OF(REFERENCE("LayerParameter"))))},
    {"Layers", OBJECT(MEMBER("layers", LIST_OF(REFERENCE("Layer"))), MEMBER("parameter_count", COUNT))},
    {"RunStateKind", OBJECT(MEMBER("name", REFERENCE("RunState")), MEMBER("ended", BOOLEAN))},
    {"ExperimentList", OBJECT(MEMBER("experiments", LIST_OF(REFERENCE("Experiment"))),
                              MEMBER("run_states", LIST_OF(REFERENCE("RunStateKind"))))},
    {"Dataset",
     OBJECT(MEMBER("name", STRING), MEMBER("kind", "{\"enum\":[\"text\",\"numbers\"]}"),
            MEMBER("source", "{\"enum\":[\"drawn\",\"given\"]}"), OPTIONAL("summary", STRING),
            OPTIONAL("decisive_words", LIST_OF(STRINGS)), OPTIONAL("rows", COUNT), MEMBER("classes", COUNT),
            OPTIONAL("words", COUNT), OPTIONAL("size_bytes", COUNT), OPTIONAL("digest", STRING),
            OPTIONAL("created_at", TIME), OPTIONAL("may_delete", BOOLEAN))},
    {"DatasetList",
     OBJECT(MEMBER("datasets", LIST_OF(REFERENCE("Dataset"))), MEMBER("next", STRING_OR_NULL))},
    {"Example", OBJECT(MEMBER("index", COUNT), MEMBER("label", LABEL), MEMBER("class_index", COUNT),
                       OPTIONAL("values", NUMBERS), OPTIONAL("text", STRING), OPTIONAL("tokens", STRINGS),
                       OPTIONAL("unknown", BOOLEANS), OPTIONAL("decisive_position", COUNT_OR_NULL))},
    {"Examples", OBJECT(MEMBER("name", STRING), MEMBER("split", "{\"enum\":[\"train\",\"test\"]}"),
                        MEMBER("total", COUNT), MEMBER("offset", COUNT),
                        MEMBER("examples", LIST_OF(REFERENCE("Example"))))},
    {"Health", OBJECT(MEMBER("status", STRING), MEMBER("version", STRING), MEMBER("kernels", STRING),
                      MEMBER("workers", COUNT), MEMBER("running", COUNT), MEMBER("queued", COUNT),
                      MEMBER("disk_free_bytes", COUNT), MEMBER("database_bytes", COUNT))},
    {"Usage", OBJECT(MEMBER("owner", STRING), MEMBER("bytes", COUNT), MEMBER("runs", COUNT))},
    {"Storage",
     OBJECT(MEMBER("disk_bytes", COUNT), MEMBER("free_bytes", COUNT), MEMBER("margin_bytes", COUNT),
            MEMBER("reserve_bytes", COUNT), MEMBER("database_bytes", COUNT), MEMBER("used_bytes", COUNT),
            MEMBER("log_bytes", COUNT), MEMBER("limit_bytes", COUNT_OR_NULL),
            MEMBER("own_limit_bytes", COUNT_OR_NULL), MEMBER("own_bytes", COUNT),
            MEMBER("owners", LIST_OF(REFERENCE("Usage"))))},
    {"Deletion", OBJECT(MEMBER("deleted", COUNT), MEMBER("are_left", BOOLEAN))},
    {"StudentLimits",
     OBJECT(MEMBER("queued_runs", COUNT), MEMBER("epochs", COUNT), MEMBER("width", COUNT),
            MEMBER("sequence_length", COUNT), MEMBER("examples", COUNT), MEMBER("memory_mb", COUNT),
            MEMBER("seconds", COUNT), MEMBER("data_mb", COUNT), MEMBER("disk_mb", COUNT))},
    {"Session", OBJECT(MEMBER("access", REFERENCE("AccessChoice")), MEMBER("role", REFERENCE("AccessRole")),
                       MEMBER("students", REFERENCE("StudentRights")), MEMBER("may_run", BOOLEAN),
                       MEMBER("limits", "{\"oneOf\":[" REFERENCE("StudentLimits") ",{\"type\":\"null\"}]}"))},
    {"OpenApi", OBJECT(MEMBER("openapi", STRING), MEMBER("info", ANY_OBJECT("Title, version, licence.")),
                       MEMBER("servers", LIST_OF(ANY_OBJECT("The service itself."))),
                       MEMBER("paths", ANY_OBJECT("Every call.")),
                       MEMBER("components", ANY_OBJECT("What the calls refer to.")))},
};

const size_t openapi_schema_count = sizeof openapi_schemas / sizeof *openapi_schemas;

/* What follows `data:` in each kind of event. */
static const struct {
    const char *event, *schema;
} event_schemas[] = {
    {"state", "Run"}, {"epoch", "EpochEvent"}, {"step", "StepEvent"}, {"attention", "AttentionEvent"},
    {"end", "Run"},
};

void openapi_write_event_schema(struct text *text) {
    json_write_begin_object(text, "Event");
    json_write_begin_array(text, "oneOf");
    for (size_t i = 0; i < sizeof event_schemas / sizeof *event_schemas; i++) {
        char properties[200];
        snprintf(properties, sizeof properties,
                 "{\"id\":" STRING ",\"event\":{\"const\":\"%s\"},\"data\":" REFERENCE("%s") "}",
                 event_schemas[i].event, event_schemas[i].schema);
        json_write_begin_object(text, NULL);
        json_write_string(text, "type", "object");
        json_write_raw(text, "properties", properties);
        json_write_raw(text, "required", "[\"id\",\"event\",\"data\"]");
        json_write_end_object(text);
    }
    json_write_end_array(text);
    json_write_end_object(text);
}

void openapi_write_schema(struct text *text, const struct openapi_schema *schema) {
    const struct openapi_member *member;
    json_write_begin_object(text, schema->name);
    json_write_string(text, "type", "object");
    json_write_begin_object(text, "properties");
    for (member = schema->members; member->name; member++)
        json_write_raw(text, member->name, member->json);
    json_write_end_object(text);
    json_write_begin_array(text, "required");
    for (member = schema->members; member->name; member++)
        if (!member->is_optional)
            json_write_string(text, NULL, member->name);
    json_write_end_array(text);
    json_write_end_object(text);
}

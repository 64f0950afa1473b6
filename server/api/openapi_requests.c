/* The bodies that routes take, in openapi.json: an experiment's parameters come from its declaration. */
#include "server/api/openapi_parts.h"

#include "core/experiments/experiments.h"
#include "server/api/parameters.h"
#include "server/formats/json_parameters.h"
#include "server/formats/json_writer.h"

#include <string.h>

void openapi_write_request_body(struct text *text, const struct route *route) {
    if (route->body == BODY_NONE)
        return;
    json_write_begin_object(text, "requestBody");
    json_write_boolean(text, "required", true);
    json_write_begin_object(text, "content");
    if (route->body == BODY_JSON)
        openapi_write_media_type(text, FORMAT_JSON, route->request_schema);
    for (size_t i = 0; route->body == BODY_DATASET && dataset_formats[i].format != FORMAT_NONE; i++)
        openapi_write_media_type(text, dataset_formats[i].format, NULL);
    json_write_end_object(text);
    json_write_end_object(text);
}

static void write_name(struct text *text, const char *member) {
    json_write_begin_object(text, member);
    json_write_string(text, "type", "string");
    json_write_integer(text, "maxLength", API_NAME_MAXIMUM);
    json_write_end_object(text);
}

static void write_bounds(struct text *text, const char *least, const char *most, int64_t maximum) {
    json_write_integer(text, least, 1);
    json_write_integer(text, most, maximum);
}

/* The members that are no parameters. */
static void write_common_members(struct text *text, const struct experiment *experiment) {
    json_write_begin_object(text, "experiment");
    json_write_string(text, "const", experiment->name);
    json_write_end_object(text);
    write_name(text, "name");
}

static void begin_request(struct text *text, const struct experiment *experiment) {
    json_write_begin_object(text, NULL);
    json_write_string(text, "title", experiment->title);
    json_write_string(text, "description", experiment->summary);
    json_write_string(text, "type", "object");
    json_write_begin_object(text, "properties");
}

static void end_request(struct text *text, const char *required) {
    json_write_end_object(text);
    json_write_raw(text, "required", required);
    json_write_boolean(text, "additionalProperties", false);
    json_write_end_object(text);
}

static void write_run_request(struct text *text, const struct experiment *experiment) {
    begin_request(text, experiment);
    write_common_members(text, experiment);
    for (size_t i = 0; i < experiment->parameter_count; i++)
        json_write_parameter_schema(text, experiment->parameters[i].name, &experiment->parameters[i]);
    end_request(text, "[\"experiment\"]");
}

/* The parameters of a comparison and of its variants are those of a run: they refer to the schema of the
 * run's request, which is the one with this index. A comparison takes its seeds for all variants alike. */
static void write_parameter_references(struct text *text, const struct experiment *experiment, size_t index,
                                       bool in_variant) {
    for (size_t i = 0; i < experiment->parameter_count; i++) {
        const char *name = experiment->parameters[i].name;
        char target[128];
        if (in_variant && strcmp(name, API_SEED_PARAMETER) == 0)
            continue;
        snprintf(target, sizeof target, "#/components/schemas/RunRequest/oneOf/%zu/properties/%s", index,
                 name);
        json_write_begin_object(text, name);
        json_write_string(text, "$ref", target);
        json_write_end_object(text);
    }
}

static void write_seeds(struct text *text) {
    json_write_begin_object(text, "seeds");
    json_write_string(text, "description", "One run of each variant for each seed; instead of seed.");
    json_write_string(text, "type", "array");
    write_bounds(text, "minItems", "maxItems", API_SEEDS_MAXIMUM);
    json_write_begin_object(text, "items");
    json_write_string(text, "type", "integer");
    json_write_integer(text, "minimum", 0);
    json_write_number(text, "maximum", SEED_MAXIMUM);
    json_write_end_object(text);
    json_write_end_object(text);
}

static void write_variants(struct text *text, const struct experiment *experiment, size_t index) {
    json_write_begin_object(text, "variants");
    json_write_string(text, "type", "array");
    write_bounds(text, "minItems", "maxItems", API_VARIANTS_MAXIMUM);
    json_write_begin_object(text, "items");
    json_write_string(text, "type", "object");
    json_write_begin_object(text, "properties");
    write_name(text, "label");
    write_parameter_references(text, experiment, index, true);
    end_request(text, "[\"label\"]");
    json_write_end_object(text);
}

static void write_comparison_request(struct text *text, const struct experiment *experiment, size_t index) {
    begin_request(text, experiment);
    write_common_members(text, experiment);
    if (api_takes_seed(experiment))
        write_seeds(text);
    write_variants(text, experiment, index);
    write_parameter_references(text, experiment, index, false);
    end_request(text, "[\"experiment\",\"variants\"]");
}

/* Sequences or texts, not both: the other members are refused. */
static void write_prediction_request(struct text *text) {
    json_write_begin_object(text, "PredictionRequest");
    json_write_begin_array(text, "oneOf");
    for (size_t texts = 0; texts < 2; texts++) {
        const char *member = texts ? "texts" : "sequences";
        json_write_begin_object(text, NULL);
        json_write_string(text, "type", "object");
        json_write_begin_object(text, "properties");
        json_write_begin_object(text, member);
        json_write_string(text, "type", "array");
        write_bounds(text, "minItems", "maxItems", API_INPUTS_MAXIMUM);
        json_write_begin_object(text, "items");
        json_write_string(text, "type", texts ? "string" : "array");
        if (texts) {
            json_write_integer(text, "maxLength", API_INPUT_TEXT_MAXIMUM);
        } else {
            write_bounds(text, "minItems", "maxItems", API_INPUT_LENGTH_MAXIMUM);
            json_write_raw(text, "items", "{\"type\":\"number\"}");
        }
        json_write_end_object(text);
        json_write_end_object(text);
        end_request(text, texts ? "[\"texts\"]" : "[\"sequences\"]");
    }
    json_write_end_array(text);
    json_write_end_object(text);
}

void openapi_write_request_schemas(struct text *text) {
    json_write_begin_object(text, "RunRequest");
    json_write_begin_array(text, "oneOf");
    for (size_t i = 0; experiment_table[i]; i++)
        write_run_request(text, experiment_table[i]);
    json_write_end_array(text);
    json_write_end_object(text);
    json_write_begin_object(text, "ComparisonRequest");
    json_write_begin_array(text, "oneOf");
    for (size_t i = 0; experiment_table[i]; i++)
        write_comparison_request(text, experiment_table[i], i);
    json_write_end_array(text);
    json_write_end_object(text);
    write_prediction_request(text);
    json_write_raw(
        text, "SessionRequest",
        "{\"type\":\"object\",\"properties\":{\"token\":{\"type\":\"string\"}},\"required\":[\"token\"],"
        "\"additionalProperties\":false}");
}

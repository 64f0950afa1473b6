/* Every experiment with the schema of its parameters. */
#include "server/api/api.h"
#include "server/formats/json_parameters.h"
#include "server/formats/json_writer.h"

void api_experiments_list(struct request *request) {
    struct text text = {0};
    json_write_begin_object(&text, NULL);
    json_write_begin_array(&text, "experiments");
    for (size_t i = 0; experiment_table[i]; i++) {
        const struct experiment *experiment = experiment_table[i];
        json_write_begin_object(&text, NULL);
        json_write_string(&text, "name", experiment->name);
        json_write_string(&text, "title", experiment->title);
        json_write_string(&text, "summary", experiment->summary);
        json_write_boolean(&text, "trains_model", experiment->trains_model);
        json_write_schema(&text, "parameters", experiment->parameters, experiment->parameter_count);
        json_write_end_object(&text);
    }
    json_write_end_array(&text);
    json_write_end_object(&text);
    response_set_text(&request->response, 200, "application/json", &text);
}

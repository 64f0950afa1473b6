/* The API: all its calls, one file per resource, in one table of routes.
 *
 * service.h owns all parts of a running daemon. routes.c names, for each path, its handler here, which fills
 * in request->response; openapi.c describes the same table. Handlers reach the service's parts through
 * request->service.
 *
 * May call http, access, runs, store, formats, system and core. Called only by commands. */
#ifndef ATTNLAB_SERVER_API_API_H
#define ATTNLAB_SERVER_API_API_H

#include "server/api/service.h"
#include "server/http/answer.h"
#include "server/http/credentials.h"
#include "server/http/gate.h"
#include "server/http/request.h"

extern const struct route_table api_routes;

void api_session_get(struct request *request);
void api_session_create(struct request *request);
void api_session_delete(struct request *request);
void api_runs_create(struct request *request);
void api_runs_list(struct request *request);
void api_runs_get(struct request *request);
void api_runs_cancel(struct request *request);
void api_runs_delete(struct request *request);
void api_runs_delete_many(struct request *request);
void api_storage_get(struct request *request);
void api_events_of_run(struct request *request);
void api_events_of_all(struct request *request);
void api_metrics_get(struct request *request);
void api_attention_get(struct request *request);
void api_attention_mean_get(struct request *request);
void api_gradient_get(struct request *request);
void api_weights_get(struct request *request);
void api_predictions_create(struct request *request);
void api_comparisons_create(struct request *request);
void api_comparisons_list(struct request *request);
void api_comparisons_get(struct request *request);
void api_comparisons_cancel(struct request *request);
void api_comparisons_delete(struct request *request);
void api_experiments_list(struct request *request);
void api_layers_get(struct request *request);
void api_datasets_list(struct request *request);
void api_datasets_create(struct request *request);
void api_datasets_delete(struct request *request);
void api_datasets_examples(struct request *request);
void api_health_get(struct request *request);
void api_openapi_get(struct request *request);
void api_prometheus_get(struct request *request);

/* The formats of the resources that are available in more than JSON, for the table of routes. */
extern const struct export api_events_exports[];
extern const struct export api_metrics_exports[];
extern const struct export api_attention_exports[];
extern const struct export api_attention_mean_exports[];
extern const struct export api_weights_exports[];
extern const struct export api_comparisons_exports[];
extern const struct export api_examples_exports[];
extern const struct export api_prometheus_exports[];

#endif

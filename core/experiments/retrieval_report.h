/* What the retrieval experiment has found, and how it is written down.
 *
 * {"queries", "database", "splits", "size", "image_count", "parameter_count", "embedded", "seconds",
 *  "rows": [{"space": "mobilenet_v2" | "raw_pixels", "dimensions", "top1", "spread", "standard_error",
 *            "top1_by_split": [...]}],
 *  "chance", "agreement": {"both", "only_mobilenet_v2", "only_raw_pixels", "neither"},
 *  "class_names": [10], "image_rows", "image_columns",
 *  "neighbours": [{"query": {"index", "label"},
 *                  "mobilenet_v2": [{"index", "database_index", "label", "similarity", "right"}, ... nearest
 * first], "raw_pixels": [the same]}], "images": [{"index", "label", "pixels": [rows * columns whole numbers,
 * 0 to 255]}]}
 *
 * `index` counts in the image file, `database_index` in the split's database; every index that occurs in
 * neighbours occurs once in images. top1, agreement: shares and counts over all splits; spread: the standard
 * deviation over the splits, null for one; standard_error: what chance alone does to the top1 of a split of
 * this size, sqrt(top1 (1 - top1) / queries). class_names is empty where the labels are not 0 to 9. */
#ifndef ATTNLAB_CORE_EXPERIMENTS_RETRIEVAL_REPORT_H
#define ATTNLAB_CORE_EXPERIMENTS_RETRIEVAL_REPORT_H
#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* What libyaml found wrong with a text, in words that say what to do. */
#ifndef PREJIT_YAML_PROBLEM_H
#define PREJIT_YAML_PROBLEM_H

#include <yaml.h>

#include "base/error.h"
#include "yaml/source.h"

/** Sets the error for a parser whose yaml_parser_parse failed: PJ_ERROR_FORMAT "name:line:column: …", or
 * PJ_ERROR_NO_MEMORY. */
int pj_yaml_problem(const yaml_parser_t *parser, struct pj_yaml_source *source, const char *name,
                    struct pj_error **err);

#endif

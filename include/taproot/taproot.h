// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "taproot/constraints.h"
#include "taproot/cuda.h"
#include "taproot/decode.h"
#include "taproot/dependency_trees.h"
#include "taproot/draw.h"
#include "taproot/estimate.h"
#include "taproot/factorization.h"
#include "taproot/labels.h"
#include "taproot/query.h"
#include "taproot/sample.h"
#include "taproot/scores.h"
#include "taproot/tree.h"
#include "taproot/types.h"
#include "taproot/version.h"
#include "taproot/without_replacement.h"

// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace taproot::detail {

/// The t with P(|T| <= t) = level, where T has Student's t distribution with `degrees` degrees of
/// freedom, not necessarily a whole number. Relative error 1e-6 or less. +inf if t exceeds double's
/// range, as it does where `degrees` tends to 0. For level in (0, 1) and degrees >= 0; NaN if one
/// of them is NaN.
double student_quantile(double level, double degrees);

}  // namespace taproot::detail

// SPDX-License-Identifier: Apache-2.0
//
// The beta distribution, whose distribution function is the incomplete beta function I_x(a, b).
#pragma once

namespace taproot::detail {

/// The continued fraction of I_x(a, b) (Abramowitz and Stegun 26.5.8), by the method of Lentz, so
/// that I_x(a, b) = x^a (1 - x)^b / (a B(a, b)) times it. It converges fast for
/// x < (a + 1) / (a + b + 2).
double beta_continued_fraction(double a, double b, double x);

/// The x with I_x(a, b) = probability, with a relative error of 1e-8 or less for a and b of 1/2 to
/// 1e6. For finite a, b > 0 and probability in (0, 1); NaN if one of them is NaN.
double beta_quantile(double probability, double a, double b);

}  // namespace taproot::detail

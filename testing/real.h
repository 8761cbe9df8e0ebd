// SPDX-License-Identifier: Apache-2.0
// Multiprecision numbers with error bounds, and the loop that raises the precision until they hold.
#pragma once

#include <boost/multiprecision/mpfr.hpp>
#include <functional>
#include <optional>
#include <vector>

namespace taproot::oracle {

using Real = boost::multiprecision::number<boost::multiprecision::mpfr_float_backend<0>,
                                           boost::multiprecision::et_off>;

// Sets the decimal digits of every Real made in its lifetime, and the widest exponents MPFR has
// (the default range ends at 2^-2^30 and would flush exp(-1e9) to zero).
class PrecisionScope {
 public:
  explicit PrecisionScope(int digits);
  ~PrecisionScope();
  PrecisionScope(const PrecisionScope&) = delete;
  PrecisionScope& operator=(const PrecisionScope&) = delete;

 private:
  unsigned digits_;
  mpfr_exp_t emin_;
  mpfr_exp_t emax_;
};

// |value - truth| <= error.
struct Bounded {
  Real value;
  Real error;
};

// An evaluation at unit roundoff 10^-digits; nullopt where that is too coarse to bound anything.
// It runs with 40 guard digits, so that sums, products and arguments of exp up to 1e15 cost
// nothing.
using Evaluation = std::function<std::optional<std::vector<Bounded>>(int digits)>;

// Raises `digits` until every error is below 1e-25 relative (1e-356 absolute, where a double
// has nothing left to round), then demands that a second run with more digits agrees. Returns the
// values of that run, rounded to double. Throws std::runtime_error beyond 2^17 digits.
std::vector<double> certify(const Evaluation& evaluate);

}  // namespace taproot::oracle

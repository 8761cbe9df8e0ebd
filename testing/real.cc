// SPDX-License-Identifier: Apache-2.0
#include "testing/real.h"

#include <cstddef>
#include <stdexcept>

namespace taproot::oracle {
namespace {

constexpr int kFirstDigits = 40;
constexpr int kGuardDigits = 40;
constexpr int kMaxDigits = 1 << 17;

// 1e-25 of |value|, or of 2^-1100 (well below the smallest subnormal, 2^-1074) if that is more.
Real tolerance(const Real& value) {
  const Real floor = ldexp(Real(1), -1100);
  const Real size = abs(value);
  return (size > floor ? size : floor) * Real("1e-25");
}

bool are_sharp(const std::vector<Bounded>& results) {
  for (const Bounded& result : results) {
    if (!isfinite(result.value) || !(result.error <= tolerance(result.value))) return false;
  }
  return true;
}

bool agree(const std::vector<Bounded>& a, const std::vector<Bounded>& b) {
  for (std::size_t i = 0; i < b.size(); ++i) {
    if (!(abs(a[i].value - b[i].value) <= tolerance(b[i].value))) return false;
  }
  return a.size() == b.size();
}

}  // namespace

PrecisionScope::PrecisionScope(int digits)
    : digits_(Real::default_precision()), emin_(mpfr_get_emin()), emax_(mpfr_get_emax()) {
  Real::default_precision(static_cast<unsigned>(digits));
  mpfr_set_emin(mpfr_get_emin_min());
  mpfr_set_emax(mpfr_get_emax_max());
}

PrecisionScope::~PrecisionScope() {
  Real::default_precision(digits_);
  mpfr_set_emin(emin_);
  mpfr_set_emax(emax_);
}

std::vector<double> certify(const Evaluation& evaluate) {
  std::optional<std::vector<Bounded>> previous;
  for (int digits = kFirstDigits; digits <= kMaxDigits;) {
    const PrecisionScope scope(digits + kGuardDigits);
    std::optional<std::vector<Bounded>> current = evaluate(digits);
    if (current && !are_sharp(*current)) current.reset();
    if (current && previous && agree(*previous, *current)) {
      std::vector<double> rounded;
      rounded.reserve(current->size());
      for (const Bounded& result : *current) rounded.push_back(result.value.convert_to<double>());
      return rounded;
    }
    // A second opinion needs other rounding errors, not twice the digits.
    digits = current ? digits + digits / 4 + 20 : 2 * digits;
    previous = std::move(current);
  }
  throw std::runtime_error("[certify] the problem needs more digits than the oracle allows");
}

}  // namespace taproot::oracle

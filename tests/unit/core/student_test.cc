// SPDX-License-Identifier: Apache-2.0
#include "core/student.h"

#include <gtest/gtest.h>

#include <boost/math/distributions/students_t.hpp>
#include <cmath>

namespace taproot::detail {
namespace {

TEST(StudentQuantile, IsBoosts) {
  for (const double degrees : {0.1, 0.5, 1.0, 2.0, 3.25, 22.7, 29.0, 31.9, 1e3, 1e6, 1e9}) {
    for (const double level : {1e-3, 0.5, 0.9, 0.95, 0.999, 1 - 1e-9}) {
      const boost::math::students_t law(degrees);
      const double expected = boost::math::quantile(boost::math::complement(law, (1 - level) / 2));
      EXPECT_NEAR(student_quantile(level, degrees) / expected, 1, 1e-6) << level << " " << degrees;
    }
  }
}

TEST(StudentQuantile, HasEnds) {
  EXPECT_EQ(student_quantile(0.95, 0), HUGE_VAL);
  EXPECT_EQ(student_quantile(0.95, 1e-3), HUGE_VAL);
  EXPECT_NEAR(student_quantile(0.95, HUGE_VAL), 1.959963984540054, 1e-12);
  EXPECT_TRUE(std::isnan(student_quantile(0.95, NAN)));
  EXPECT_TRUE(std::isnan(student_quantile(NAN, 3)));
}

}  // namespace
}  // namespace taproot::detail

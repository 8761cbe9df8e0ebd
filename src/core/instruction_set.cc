// SPDX-License-Identifier: Apache-2.0
#include <string>

#include "taproot/version.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "core/instruction_set.cc"
#include "hwy/foreach_target.h"  // IWYU pragma: keep
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace taproot::detail::HWY_NAMESPACE {
namespace {

// Compiled once per target, like the kernels, so that it tells which of them run.
const char* target_name() { return hwy::TargetName(HWY_TARGET); }

}  // namespace
}  // namespace taproot::detail::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace taproot {
namespace detail {

HWY_EXPORT(target_name);

namespace {

std::string chosen_target() { return HWY_DYNAMIC_DISPATCH(target_name)(); }

std::string compiler() {
#if defined(__clang__)
  return "Clang " + std::to_string(__clang_major__) + "." + std::to_string(__clang_minor__) + "." +
         std::to_string(__clang_patchlevel__);
#elif defined(__GNUC__)
  return "GCC " + std::to_string(__GNUC__) + "." + std::to_string(__GNUC_MINOR__) + "." +
         std::to_string(__GNUC_PATCHLEVEL__);
#else
  return "an unknown compiler";
#endif
}

}  // namespace
}  // namespace detail

std::string instruction_set() {
  const std::string name = detail::chosen_target();  // Highway's word for it.
  if (name == "AVX3") return "AVX-512";
  if (name == "SCALAR" || name == "EMU128") return "scalar";
  return name.starts_with("NEON") ? "NEON" : name;
}

std::string build_description() {
  return detail::compiler() + ", Highway " + std::to_string(HWY_MAJOR) + "." +
         std::to_string(HWY_MINOR) + "." + std::to_string(HWY_PATCH) +
#if defined(TAPROOT_WITH_TBB)
         ", threads of TBB";
#else
         ", own threads";
#endif
}

}  // namespace taproot
#endif  // HWY_ONCE

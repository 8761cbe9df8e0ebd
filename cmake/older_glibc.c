// SPDX-License-Identifier: Apache-2.0
// What programs compiled with Debian 12's headers, and its libstdc++.a and libgcc_eh.a of GCC 12,
// ask of a glibc later than 2.28. Linked, hidden, into what is built for 2.28
// (scripts/older_glibc.sh).
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/random.h>
#include <sys/stat.h>

// Since 2.32. False is always right: reference counts are then always atomic.
char __libc_single_threaded = 0;

// Since 2.36; std::random_device.
uint32_t arc4random(void) {
  uint32_t number;
  while (getrandom(&number, sizeof number, 0) != sizeof number) {
    if (errno != EINTR) abort();
  }
  return number;
}

// Since 2.33. Before, these were calls of functions that also take the version of the structure.
#if defined(__x86_64__)
enum { kStatVersion = 1 };
#elif defined(__aarch64__)
enum { kStatVersion = 0 };
#endif
int __xstat(int version, const char* path, struct stat* status);
int __lxstat(int version, const char* path, struct stat* status);
int __fxstat(int version, int file, struct stat* status);
int __fxstat64(int version, int file, struct stat64* status);
int stat(const char* path, struct stat* status) { return __xstat(kStatVersion, path, status); }
int lstat(const char* path, struct stat* status) { return __lxstat(kStatVersion, path, status); }
int fstat(int file, struct stat* status) { return __fxstat(kStatVersion, file, status); }
int fstat64(int file, struct stat64* status) { return __fxstat64(kStatVersion, file, status); }

struct search {
  uintptr_t address;
  struct dl_find_object* found;
};

static int look(struct dl_phdr_info* object, size_t size, void* data) {
  (void)size;
  const struct search* search = data;
  uintptr_t begin = 0, end = 0;
  void* frames = NULL;
  for (int i = 0; i < object->dlpi_phnum; ++i) {
    const ElfW(Phdr)* part = &object->dlpi_phdr[i];
    const uintptr_t address = object->dlpi_addr + part->p_vaddr;
    if (part->p_type == PT_GNU_EH_FRAME) frames = (void*)address;
    if (part->p_type == PT_LOAD && search->address - address < part->p_memsz) {
      begin = address;
      end = address + part->p_memsz;
    }
  }
  if (end == 0 || frames == NULL) return 0;
  *search->found = (struct dl_find_object){
      .dlfo_map_start = (void*)begin, .dlfo_map_end = (void*)end, .dlfo_eh_frame = frames};
  return 1;
}

// Since 2.35; the unwinder, which reads dlfo_eh_frame. GCC 11 and older asked dl_iterate_phdr
// themselves.
int _dl_find_object(void* address, struct dl_find_object* found) {
  struct search search = {(uintptr_t)address, found};
  return dl_iterate_phdr(look, &search) == 1 ? 0 : -1;
}

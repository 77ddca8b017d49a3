// Looking at tasks that belong to others, and may end meanwhile: memory is copied by the kernel, which says when there
// is none.

#define _GNU_SOURCE
#include "CPlatform.h"

#include <dlfcn.h>
#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

// What the runtime says of itself to debuggers. Weak: an older one says less.
extern uint32_t _swift_concurrency_debug_internal_layout_version __attribute__((weak));
extern bool _swift_concurrency_debug_supportsPriorityEscalation __attribute__((weak));
extern const void *const _swift_concurrency_debug_asyncTaskMetadata __attribute__((weak));
extern char *swift_demangle(
    const char *name, size_t length, char *buffer, size_t *size, uint32_t flags) __attribute__((weak));

bool cplatform_read_memory(uintptr_t address, void *buffer, size_t size) {
  const struct iovec local = {.iov_base = buffer, .iov_len = size};
  const struct iovec remote = {.iov_base = (void *)address, .iov_len = size};
  return process_vm_readv(getpid(), &local, 1, &remote, 1, 0) == (ssize_t)size;
}

uintptr_t cplatform_task_metadata(void) {
  // Version 1 is that of Swift 6.1 to 6.3. Priorities that are raised through the system lay a task out differently.
  if (sizeof(void *) != 8 || !&_swift_concurrency_debug_internal_layout_version ||
      _swift_concurrency_debug_internal_layout_version != 1 || !&_swift_concurrency_debug_supportsPriorityEscalation ||
      _swift_concurrency_debug_supportsPriorityEscalation || !&_swift_concurrency_debug_asyncTaskMetadata) {
    return 0;
  }
  return (uintptr_t)_swift_concurrency_debug_asyncTaskMetadata;
}

uintptr_t cplatform_task_function(void *task) { return cplatform_task_metadata() ? ((const uintptr_t *)task)[7] : 0; }

bool cplatform_is_in_image(uintptr_t address) {
  Dl_info info;
  return address && dladdr((void *)address, &info) != 0;
}

char *cplatform_demangled(const char *name) {
  return swift_demangle ? swift_demangle(name, strlen(name), NULL, NULL, 0) : NULL;
}

/// The function of a file that holds an address, among all that the linker knew: the dynamic symbols alone lack most
/// functions of a program.
static bool find_function(
    const char *file, size_t length, uintptr_t base, uintptr_t address, char *name, size_t size) {
  const ElfW(Ehdr) *header = (const ElfW(Ehdr) *)file;
  if (length < sizeof *header || memcmp(header->e_ident, ELFMAG, SELFMAG) != 0 ||
      header->e_shentsize != sizeof(ElfW(Shdr)) || header->e_shoff > length ||
      header->e_shnum > (length - header->e_shoff) / sizeof(ElfW(Shdr))) {
    return false;
  }
  const uintptr_t offset = header->e_type == ET_EXEC ? address : address - base;
  const ElfW(Shdr) *sections = (const ElfW(Shdr) *)(file + header->e_shoff);
  for (int index = 0; index < header->e_shnum; index++) {
    const ElfW(Shdr) *table = &sections[index];
    if (table->sh_type != SHT_SYMTAB || table->sh_link >= header->e_shnum) continue;
    const ElfW(Shdr) *names = &sections[table->sh_link];
    if (table->sh_offset > length || table->sh_size > length - table->sh_offset || names->sh_offset > length ||
        names->sh_size > length - names->sh_offset) {
      return false;
    }
    const ElfW(Sym) *symbols = (const ElfW(Sym) *)(file + table->sh_offset);
    for (size_t number = 0; number < table->sh_size / sizeof *symbols; number++) {
      const ElfW(Sym) *symbol = &symbols[number];
      if ((symbol->st_info & 0xF) != STT_FUNC || offset < symbol->st_value ||
          offset - symbol->st_value >= symbol->st_size || symbol->st_name >= names->sh_size) {
        continue;
      }
      snprintf(name, size, "%.*s", (int)(names->sh_size - symbol->st_name), file + names->sh_offset + symbol->st_name);
      return true;
    }
  }
  return false;
}

bool cplatform_function_name(uintptr_t address, char *name, size_t size) {
  Dl_info info;
  if (!address || !dladdr((void *)address, &info) || !info.dli_fname) return false;
  const uintptr_t base = (uintptr_t)info.dli_fbase;
  // The path that the program was called by may not lead there from here.
  const bool is_program = getauxval(AT_PHDR) - base < 4096;
  const int descriptor = open(is_program ? "/proc/self/exe" : info.dli_fname, O_RDONLY | O_CLOEXEC);
  struct stat facts;
  bool is_found = false;
  if (descriptor >= 0 && fstat(descriptor, &facts) == 0 && facts.st_size > 0) {
    const size_t length = (size_t)facts.st_size;
    char *file = mmap(NULL, length, PROT_READ, MAP_PRIVATE, descriptor, 0);
    if (file != MAP_FAILED) {
      is_found = find_function(file, length, base, address, name, size);
      munmap(file, length);
    }
  }
  if (descriptor >= 0) close(descriptor);
  return is_found;
}

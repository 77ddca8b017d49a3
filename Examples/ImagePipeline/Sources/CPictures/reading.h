#include <setjmp.h>

#include "include/CPictures.h"

/// `file` comes first: a pointer to it is a pointer to the whole.
struct reading {
  cpictures_file file;
  jmp_buf stop;
  const uint8_t *bytes;
  size_t count;
  bool is_png;
  void *library;
};

// Each leaves by `stop`, with a message, when there is an error.
void jpeg_head(struct reading *reading);
void jpeg_pixels(struct reading *reading, unsigned eighths, uint8_t *pixels);
void jpeg_close(struct reading *reading);
void png_head(struct reading *reading);
void png_pixels(struct reading *reading, uint8_t *pixels);
void png_close(struct reading *reading);

#include "reading.h"

#include <stdlib.h>

cpictures_file *cpictures_open(const uint8_t *bytes, size_t count, bool is_png) {
  struct reading *reading = calloc(1, sizeof *reading);
  if (!reading) return NULL;
  reading->bytes = bytes;
  reading->count = count;
  reading->is_png = is_png;
  return &reading->file;
}

bool cpictures_read_head(cpictures_file *file) {
  struct reading *reading = (struct reading *)file;
  if (setjmp(reading->stop) != 0) return false;
  if (reading->is_png) {
    png_head(reading);
  } else {
    jpeg_head(reading);
  }
  return true;
}

bool cpictures_read_pixels(cpictures_file *file, unsigned eighths, uint8_t *pixels) {
  struct reading *reading = (struct reading *)file;
  if (setjmp(reading->stop) != 0) return false;
  if (reading->is_png) {
    png_pixels(reading, pixels);
  } else {
    jpeg_pixels(reading, eighths, pixels);
  }
  return true;
}

void cpictures_close(cpictures_file *file) {
  struct reading *reading = (struct reading *)file;
  if (reading->is_png) {
    png_close(reading);
  } else {
    jpeg_close(reading);
  }
  free(reading);
}

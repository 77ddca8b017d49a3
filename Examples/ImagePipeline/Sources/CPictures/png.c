#include "reading.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <png.h>

struct png_reading {
  png_structp png;
  png_infop info;
  /// How many bytes have been read.
  size_t place;
};

static void stop(png_structp png, png_const_charp text) {
  struct reading *reading = png_get_error_ptr(png);
  snprintf(reading->file.message, sizeof reading->file.message, "%s", text);
  longjmp(reading->stop, 1);
}

/// A chunk with a wrong checksum is left out by the library, which warns. Pixels are lost when the chunk is about them:
/// their alpha, and the scale of their colours. A wrong checksum of all pixels is a warning too, since they have been
/// read by then.
static void warn(png_structp png, png_const_charp text) {
  static const char *const losses[] = {
    "tRNS: CRC error", "gAMA: CRC error", "sRGB: CRC error", "IDAT: incorrect data check"
  };
  for (size_t index = 0; index < sizeof losses / sizeof *losses; index++)
    if (strcmp(text, losses[index]) == 0) stop(png, text);
}

static void next_bytes(png_structp png, png_bytep bytes, size_t count) {
  struct reading *reading = png_get_io_ptr(png);
  struct png_reading *own = reading->library;
  if (count > reading->count - own->place) stop(png, "the file ends too early");
  memcpy(bytes, reading->bytes + own->place, count);
  own->place += count;
}

void png_head(struct reading *reading) {
  struct png_reading *own = reading->library = calloc(1, sizeof *own);
  if (!own) longjmp(reading->stop, 1);
  own->png = png_create_read_struct(PNG_LIBPNG_VER_STRING, reading, stop, warn);
  if (!own->png || !(own->info = png_create_info_struct(own->png))) longjmp(reading->stop, 1);
  png_set_read_fn(own->png, reading, next_bytes);
  png_set_benign_errors(own->png, 1);
  // The program has a limit of its own, and says a picture is too large in its own words.
  png_set_user_limits(own->png, PNG_UINT_31_MAX, PNG_UINT_31_MAX);
  // Of what is not needed for the pixels, nothing but this is read.
  png_set_keep_unknown_chunks(own->png, PNG_HANDLE_CHUNK_NEVER, NULL, -1);
  png_set_keep_unknown_chunks(own->png, PNG_HANDLE_CHUNK_AS_DEFAULT, (png_const_bytep) "eXIf\0gAMA\0sRGB", 3);
  png_read_info(own->png, own->info);
  reading->file.width = png_get_image_width(own->png, own->info);
  reading->file.height = png_get_image_height(own->png, own->info);
}

void png_pixels(struct reading *reading, uint8_t *pixels) {
  struct png_reading *own = reading->library;
  // Colours become sRGB. Without a word in the file they are sRGB.
  png_set_alpha_mode_fixed(own->png, PNG_ALPHA_PNG, PNG_DEFAULT_sRGB);
  png_set_expand(own->png);
  png_set_scale_16(own->png);
  png_set_gray_to_rgb(own->png);
  png_set_add_alpha(own->png, 255, PNG_FILLER_AFTER);
  int passes = png_set_interlace_handling(own->png);
  png_read_update_info(own->png, own->info);
  size_t row_count = (size_t)reading->file.width * 4;
  if (png_get_rowbytes(own->png, own->info) != row_count) stop(own->png, "a row has an odd size");
  for (int pass = 0; pass < passes; pass++)
    for (uint32_t row = 0; row < reading->file.height; row++) png_read_row(own->png, pixels + row * row_count, NULL);
  png_read_end(own->png, own->info);
  png_uint_32 count = 0;
  png_bytep exif = NULL;
  if (png_get_eXIf_1(own->png, own->info, &count, &exif) == 0) return;
  reading->file.exif = exif;
  reading->file.exif_count = count;
}

void png_close(struct reading *reading) {
  struct png_reading *own = reading->library;
  if (own) png_destroy_read_struct(&own->png, &own->info, NULL);
  free(own);
}

#ifndef CPICTURES_H
#define CPICTURES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/// A JPEG or PNG file that is being read. libjpeg and libpng leave a call by `longjmp` when they find an error, and
/// Swift must not be left that way: so their calls stand in this module.
typedef struct {
  /// As the file has them, in pixels.
  uint32_t width, height;
  /// CMYK, or a kind of it.
  bool has_printing_colours;
  /// The EXIF data behind their name, NULL where there are none. They belong to the file. A PNG file may tell them
  /// behind its pixels.
  const uint8_t *exif;
  size_t exif_count;
  /// Why a function returned false, in the words of the library.
  char message[256];
} cpictures_file;

/// - Parameter bytes: must stay until the file is closed.
/// - Returns: NULL when there is no memory.
cpictures_file *cpictures_open(const uint8_t *bytes, size_t count, bool is_png);
bool cpictures_read_head(cpictures_file *file);
/// Reads red, green, blue and alpha of each pixel, and the rest of the file. False for a file that has lost pixels.
/// - Parameter eighths: how large the picture becomes, in eighths of its size, rounded up; 8 for a PNG file.
bool cpictures_read_pixels(cpictures_file *file, unsigned eighths, uint8_t *pixels);
void cpictures_close(cpictures_file *file);

/// What the bytes of a pixel are.
typedef enum { cpictures_rgba, cpictures_grey, cpictures_cmyk } cpictures_colours;

/// Makes a JPEG file: give the result to `free`.
/// - Parameters:
///   - keeps_detail: whether colours have as much detail as the brightness, and not half of it.
///   - message: why there is no file, at most 256 characters.
/// - Returns: NULL when the library cannot make it.
uint8_t *cpictures_write_jpeg(
    const uint8_t *pixels, uint32_t width, uint32_t height, cpictures_colours colours, int quality, bool keeps_detail,
    bool is_progressive, size_t *count, char *message);

#endif

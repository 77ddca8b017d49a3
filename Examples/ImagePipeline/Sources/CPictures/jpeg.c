#include "reading.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jpeglib.h>

#include <jerror.h>

_Static_assert(JMSG_LENGTH_MAX <= sizeof(((cpictures_file *)0)->message), "a message of libjpeg has room");

/// The library's own structure comes first, so that its callbacks find the rest.
struct jpeg_reading {
  struct jpeg_decompress_struct jpeg;
  struct jpeg_error_mgr errors;
  struct jpeg_progress_mgr progress;
  struct reading *reading;
  bool lacks_end;
};

static void stop(j_common_ptr jpeg) {
  struct reading *reading = ((struct jpeg_reading *)jpeg)->reading;
  jpeg->err->format_message(jpeg, reading->file.message);
  longjmp(reading->stop, 1);
}

/// A warning ends the reading when pixels are lost. The others are about bytes that no pixel is made of.
static void warn(j_common_ptr jpeg, int level) {
  if (level >= 0) return;
  switch (jpeg->err->msg_code) {
    case JWRN_JFIF_MAJOR:
    case JWRN_ADOBE_XFORM:
    case JWRN_NOT_SEQUENTIAL: return;
    case JWRN_JPEG_EOF: ((struct jpeg_reading *)jpeg)->lacks_end = true; return;
    case JWRN_EXTRANEOUS_DATA:
      // In front of a restart mark they are pixels that were not understood. Else they are padding, or what a camera
      // writes there.
      if (jpeg->err->msg_parm.i[1] < JPEG_RST0 || jpeg->err->msg_parm.i[1] > JPEG_RST0 + 7) return;
  }
  stop(jpeg);
}

/// A small file can ask for the same pixels again and again.
static void limit_scans(j_common_ptr jpeg) {
  if (((j_decompress_ptr)jpeg)->input_scan_number <= 500) return;
  struct reading *reading = ((struct jpeg_reading *)jpeg)->reading;
  snprintf(reading->file.message, sizeof reading->file.message, "more than 500 scans");
  longjmp(reading->stop, 1);
}

/// Whether the file has told all of each pixel, though the file has no end mark. The library warns of a scan that
/// breaks off; a scan that is missing altogether is seen here.
static bool is_complete(const struct jpeg_decompress_struct *jpeg) {
  if (jpeg->arith_code) return false;
  for (int component = 0; component < jpeg->num_components; component++) {
    if (!jpeg->comp_info[component].quant_table) return false;
    for (int place = 0; jpeg->coef_bits && place < DCTSIZE2; place++)
      if (jpeg->coef_bits[component][place] != 0) return false;
  }
  return true;
}

void jpeg_head(struct reading *reading) {
  struct jpeg_reading *own = reading->library = calloc(1, sizeof *own);
  if (!own) longjmp(reading->stop, 1);
  struct jpeg_decompress_struct *jpeg = &own->jpeg;
  own->reading = reading;
  jpeg->err = jpeg_std_error(&own->errors);
  own->errors.error_exit = stop;
  own->errors.emit_message = warn;
  jpeg_create_decompress(jpeg);
  own->progress.progress_monitor = limit_scans;
  jpeg->progress = &own->progress;
  jpeg_mem_src(jpeg, reading->bytes, reading->count);
  jpeg_save_markers(jpeg, JPEG_APP0 + 1, 0xFFFF);
  jpeg_read_header(jpeg, TRUE);
  reading->file.width = jpeg->image_width;
  reading->file.height = jpeg->image_height;
  reading->file.has_printing_colours = jpeg->jpeg_color_space == JCS_CMYK || jpeg->jpeg_color_space == JCS_YCCK;
  for (jpeg_saved_marker_ptr marker = jpeg->marker_list; marker && !reading->file.exif; marker = marker->next) {
    if (marker->data_length < 6 || memcmp(marker->data, "Exif\0\0", 6) != 0) continue;
    reading->file.exif = marker->data + 6;
    reading->file.exif_count = marker->data_length - 6;
  }
}

void jpeg_pixels(struct reading *reading, unsigned eighths, uint8_t *pixels) {
  struct jpeg_reading *own = reading->library;
  struct jpeg_decompress_struct *jpeg = &own->jpeg;
  jpeg->out_color_space = JCS_EXT_RGBA;
  jpeg->scale_num = eighths;
  jpeg->scale_denom = 8;
  jpeg_start_decompress(jpeg);
  while (jpeg->output_scanline < jpeg->output_height) {
    JSAMPROW row = pixels + (size_t)jpeg->output_scanline * jpeg->output_width * 4;
    jpeg_read_scanlines(jpeg, &row, 1);
  }
  bool is_whole = !own->lacks_end || is_complete(jpeg);
  jpeg_finish_decompress(jpeg);
  if (!is_whole) ERREXIT(jpeg, JWRN_JPEG_EOF);
}

void jpeg_close(struct reading *reading) {
  struct jpeg_reading *own = reading->library;
  if (own) jpeg_destroy_decompress(&own->jpeg);
  free(own);
}

struct jpeg_writing {
  struct jpeg_compress_struct jpeg;
  struct jpeg_error_mgr errors;
  jmp_buf stop;
  char *message;
};

static void stop_writing(j_common_ptr jpeg) {
  struct jpeg_writing *own = (struct jpeg_writing *)jpeg;
  jpeg->err->format_message(jpeg, own->message);
  longjmp(own->stop, 1);
}

uint8_t *cpictures_write_jpeg(
    const uint8_t *pixels, uint32_t width, uint32_t height, cpictures_colours colours, int quality, bool keeps_detail,
    bool is_progressive, size_t *count, char *message) {
  struct jpeg_writing own = {.message = message};
  unsigned char *volatile result = NULL;
  struct { unsigned char *bytes; unsigned long count; } file = {NULL, 0};
  own.jpeg.err = jpeg_std_error(&own.errors);
  own.errors.error_exit = stop_writing;
  if (setjmp(own.stop) == 0) {
    jpeg_create_compress(&own.jpeg);
    jpeg_mem_dest(&own.jpeg, &file.bytes, &file.count);
    own.jpeg.image_width = width;
    own.jpeg.image_height = height;
    own.jpeg.input_components = colours == cpictures_grey ? 1 : 4;
    own.jpeg.in_color_space =
        colours == cpictures_rgba ? JCS_EXT_RGBA : colours == cpictures_grey ? JCS_GRAYSCALE : JCS_CMYK;
    jpeg_set_defaults(&own.jpeg);
    jpeg_set_quality(&own.jpeg, quality, TRUE);
    if (keeps_detail) own.jpeg.comp_info[0].h_samp_factor = own.jpeg.comp_info[0].v_samp_factor = 1;
    if (is_progressive) jpeg_simple_progression(&own.jpeg);
    jpeg_start_compress(&own.jpeg, TRUE);
    while (own.jpeg.next_scanline < height) {
      JSAMPROW row = (JSAMPROW)pixels + (size_t)own.jpeg.next_scanline * width * own.jpeg.input_components;
      jpeg_write_scanlines(&own.jpeg, &row, 1);
    }
    jpeg_finish_compress(&own.jpeg);
    result = file.bytes;
    *count = file.count;
  }
  jpeg_destroy_compress(&own.jpeg);
  return result;
}

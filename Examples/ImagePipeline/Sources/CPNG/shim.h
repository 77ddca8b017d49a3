#include <png.h>

/// The most bytes that the PNG file of an image can take. libpng offers this as a macro, which Swift cannot call.
static inline png_alloc_size_t cpng_maximum_size(const png_image *image) { return PNG_IMAGE_PNG_SIZE_MAX(*image); }

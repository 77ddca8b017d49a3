/* The functions of SleepWord for the models: looked up in the table that the Swift functions wrote. */
static const signed char sleep_words[][16] = {
#define WORD(...) {__VA_ARGS__},
#include "sleep_word_transitions.txt"
#undef WORD
};

/* Where the columns of a function begin; the place or worker count, from 1, is added. */
enum { REACTION = 3, MAY_SEARCH = 7, HAS_SURPLUS = 11 };

/* 255 for a word that the table does not know: the model then stops, for it knows no such answer. */
static int sleep_word_look_up(int column, int searching, int sleeping, int blocked, int live, int count)
{
  static short index[1 << 13];
  static int filled;
  unsigned row;
  if (!filled) {
    for (row = 0; row < sizeof sleep_words / sizeof *sleep_words; row++) {
      const signed char *known = sleep_words[row];
      index[known[0] | known[1] << 3 | known[2] << 6 | known[3] << 10] = row + 1;
    }
    filled = 1;
  }
  if (searching > 7 || sleeping > 7 || blocked < 0 || blocked > 15 || live > 7 || count < 1 || count > 4) return 255;
  row = index[searching | sleeping << 3 | blocked << 6 | live << 10];
  return row ? sleep_words[row - 1][column + count] : 255;
}

/* The functions of StateWord for the models: looked up in the table that the Swift functions wrote. */
static const int state_words[][25] = {
#define WORD(...) {__VA_ARGS__},
#include "state_word_transitions.txt"
#undef WORD
};

/* Flags of StateWord that no function but the models' actors looks at, and the count, from bit 20 up. */
#define PASSED_THROUGH 0x22300
#define NO_WORD 0xffffff

/* Passes through, too, and refuses the one-step finish: StateWordModelTests holds both. */
#define QUEUE_WANTED_FLAG 0x80000

/* Columns. */
enum { MAY_LEAVE = 1, RELEASE = 2, CANCEL = 4, CLAIM = 6, FINISH = 22, WAITER_CLAIM = 23 };

static const int *state_word_row(int word)
{
  static short index[1 << 14];
  static int filled;
  unsigned row, key;
  if (!filled) {
    for (row = 0; row < sizeof state_words / sizeof *state_words; row++) {
      int known = state_words[row][0];
      index[(known & 0xff) | (known & 0x400) >> 2 | (known & 0x1000) >> 3 | known >> 20 << 10] = row + 1;
    }
    filled = 1;
  }
  word &= ~(PASSED_THROUGH | QUEUE_WANTED_FLAG);
  if (word >> 20 > 7 || word < 0) return 0;
  key = (word & 0xff) | (word & 0x400) >> 2 | (word & 0x1000) >> 3 | word >> 20 << 10;
  return index[key] && state_words[index[key] - 1][0] == word ? state_words[index[key] - 1] : 0;
}

/* A function's next word, with the flags that pass through; NO_WORD for nil, and for a word that the table does not
 * know. */
static int state_word_next(int word, int column)
{
  const int *row = state_word_row(word);
  if (!row || row[column] == NO_WORD || (column == FINISH && word & QUEUE_WANTED_FLAG)) return NO_WORD;
  return row[column] | (word & (PASSED_THROUGH | QUEUE_WANTED_FLAG));
}

/* What it decides besides, or 255. */
static int state_word_action(int word, int column)
{
  const int *row = state_word_row(word);
  return row ? row[column == MAY_LEAVE ? column : column + 1] : 255;
}

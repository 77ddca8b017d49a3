#include "UnbalancedTree.h"

#include <math.h>

static uint32_t rotate(uint32_t word, int bits) { return word << bits | word >> (32 - bits); }

void uts_sha1(const uint32_t *message, uint32_t count, uint32_t digest[5]) {
  uint32_t block[16] = {0};
  for (uint32_t word = 0; word < count; ++word) block[word] = message[word];
  block[count] = 0x80000000;
  block[15] = count * 32;
  uint32_t a = 0x67452301, b = 0xefcdab89, c = 0x98badcfe, d = 0x10325476, e = 0xc3d2e1f0;
  digest[0] = a, digest[1] = b, digest[2] = c, digest[3] = d, digest[4] = e;
  for (int round = 0; round < 80; ++round) {
    uint32_t *word = &block[round & 15];
    if (round >= 16) {
      *word = rotate(block[(round - 3) & 15] ^ block[(round - 8) & 15] ^ block[(round - 14) & 15] ^ *word, 1);
    }
    uint32_t mixed = round < 20   ? ((b & c) | (~b & d)) + 0x5a827999
                     : round < 40 ? (b ^ c ^ d) + 0x6ed9eba1
                     : round < 60 ? ((b & c) | (b & d) | (c & d)) + 0x8f1bbcdc
                                  : (b ^ c ^ d) + 0xca62c1d6;
    uint32_t sum = rotate(a, 5) + mixed + e + *word;
    e = d, d = c, c = rotate(b, 30), b = a, a = sum;
  }
  digest[0] += a, digest[1] += b, digest[2] += c, digest[3] += d, digest[4] += e;
}

struct uts_node uts_root(uint32_t seed) {
  // 16 bytes of zero and the seed.
  uint32_t message[5] = {0, 0, 0, 0, seed};
  struct uts_node root = {.depth = 0};
  uts_sha1(message, 5, root.words);
  return root;
}

struct uts_node uts_child(struct uts_node parent, uint32_t index) {
  uint32_t message[6];
  for (int word = 0; word < 5; ++word) message[word] = parent.words[word];
  message[5] = index;
  struct uts_node child = {.depth = parent.depth + 1};
  uts_sha1(message, 6, child.words);
  return child;
}

uint32_t uts_children(struct uts_node node, uint32_t depth) {
  if (node.depth >= depth) return 0;
  // Geometrically distributed, 4 children on average: with probability 4/5 there is one more.
  double uniform = (node.words[4] & 0x7fffffff) / 2147483648.0;
  double children = log(1 - uniform) / log(4 / 5.0);
  return children < uts_most_children ? (uint32_t)children : uts_most_children;
}

uint64_t uts_nodes(struct uts_node node, uint32_t depth) {
  uint64_t sum = 1;
  uint32_t count = uts_children(node, depth);
  for (uint32_t index = 0; index < count; ++index) sum += uts_nodes(uts_child(node, index), depth);
  return sum;
}

#ifndef OPBENCH_UNBALANCED_TREE_H
#define OPBENCH_UNBALANCED_TREE_H

#include <stdint.h>

// The nodes of Unbalanced Tree Search, tree T1: see UnbalancedTreeSearch.swift. The library's own program and the
// peers in all languages link one object of this code. A compiler changes the cost of a node by up to 1.8 times, which
// would be read as a difference between schedulers.

/// A node: what stands for its random numbers, and its depth.
struct uts_node {
  uint32_t words[5];
  uint32_t depth;
};

/// SHA-1 (FIPS 180-4) of at most 13 words, which are one block. Not for anything that must be secure.
void uts_sha1(const uint32_t *message, uint32_t count, uint32_t digest[5]);

/// The root of the tree with this seed.
struct uts_node uts_root(uint32_t seed);

/// A child: its state is the hash of the parent's state and of the child's index.
struct uts_node uts_child(struct uts_node parent, uint32_t index);

/// How many children a node has in the tree that is cut off at `depth`: at most `uts_most_children`.
uint32_t uts_children(struct uts_node node, uint32_t depth);

/// The nodes of a subtree of the tree that is cut off at `depth`, by plain recursion.
uint64_t uts_nodes(struct uts_node node, uint32_t depth);

enum { uts_most_children = 100 };

#endif

// The methods of Native.java: the clocks and counters of all peers, which Java has not, and the nodes of a tree.
#include <jni.h>

#include "protocol.hpp"

extern "C" {
#include "UnbalancedTree.h"

static uts_node nodeOf(JNIEnv *java, jintArray array) {
  uts_node node;
  static_assert(sizeof node == 6 * sizeof(jint));
  java->GetIntArrayRegion(array, 0, 6, reinterpret_cast<jint *>(&node));
  return node;
}
static void write(JNIEnv *java, const uts_node &node, jintArray array) {
  java->SetIntArrayRegion(array, 0, 6, reinterpret_cast<const jint *>(&node));
}

JNIEXPORT void JNICALL Java_Native_counters(JNIEnv *java, jclass, jlongArray counters) {
  auto now = Counters::read();
  jlong values[] = {jlong(now.wall), jlong(now.cpu), now.voluntary, now.involuntary};
  java->SetLongArrayRegion(counters, 0, 4, values);
}

JNIEXPORT void JNICALL Java_Native_begin(JNIEnv *, jclass, jlong place) { begin(uint64_t(place)); }

JNIEXPORT void JNICALL Java_Native_stop(JNIEnv *, jclass) { stop(); }

JNIEXPORT void JNICALL Java_Native_utsRoot(JNIEnv *java, jclass, jint seed, jintArray root) {
  write(java, uts_root(uint32_t(seed)), root);
}

JNIEXPORT void JNICALL Java_Native_utsChild(JNIEnv *java, jclass, jintArray parent, jint index, jintArray child) {
  write(java, uts_child(nodeOf(java, parent), uint32_t(index)), child);
}

JNIEXPORT jint JNICALL Java_Native_utsChildren(JNIEnv *java, jclass, jintArray node, jint depth) {
  return jint(uts_children(nodeOf(java, node), uint32_t(depth)));
}

JNIEXPORT jlong JNICALL Java_Native_utsNodes(JNIEnv *java, jclass, jintArray node, jint depth) {
  return jlong(uts_nodes(nodeOf(java, node), uint32_t(depth)));
}
}

// The methods of Native.java: the clocks and counters of all peers, which Java has not.
#include <jni.h>

#include "protocol.hpp"

extern "C" {

JNIEXPORT void JNICALL Java_Native_counters(JNIEnv *java, jclass, jlongArray counters) {
  auto now = Counters::read();
  jlong values[] = {jlong(now.wall), jlong(now.cpu), now.voluntary, now.involuntary};
  java->SetLongArrayRegion(counters, 0, 4, values);
}

JNIEXPORT void JNICALL Java_Native_begin(JNIEnv *, jclass, jlong place) { begin(uint64_t(place)); }
}

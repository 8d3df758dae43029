/*
 * Preloaded into a test process: fdatasync and fsync fail with EIO while the file named by FAULTY_DISK_FLAG exists,
 * as they do when a disk can no longer write what the page cache holds.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>

static int is_broken(void) {
  const char *flag = getenv("FAULTY_DISK_FLAG");
  struct stat found;
  return flag != NULL && stat(flag, &found) == 0;
}

static int sync_or_fail(const char *name, int descriptor) {
  int (*real)(int) = (int (*)(int))dlsym(RTLD_NEXT, name);
  if (is_broken()) {
    errno = EIO;
    return -1;
  }
  return real(descriptor);
}

int fdatasync(int descriptor) { return sync_or_fail("fdatasync", descriptor); }
int fsync(int descriptor) { return sync_or_fail("fsync", descriptor); }

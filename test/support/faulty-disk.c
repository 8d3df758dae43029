/*
 * Preloaded into a test process: fdatasync, fsync and writes through to a journal fail with EIO while the file named by
 * FAULTY_DISK_FLAG exists, as they do when a disk can no longer write what the page cache holds. LMDB's own write through,
 * of its meta page, goes on: LMDB refuses every read after that has failed, and the tests look at what can be read.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

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

/* Opened with O_DSYNC, and a journal by its name. */
static int is_journal(int descriptor) {
  char link[64], path[4096];
  if ((fcntl(descriptor, F_GETFL) & O_DSYNC) == 0) return 0;
  snprintf(link, sizeof link, "/proc/self/fd/%d", descriptor);
  ssize_t length = readlink(link, path, sizeof path - 1);
  if (length < 0) return 0;
  path[length] = 0;
  return strstr(path, "/journal-") != NULL;
}

static ssize_t write_or_fail(const char *name, int descriptor, const void *bytes, size_t size, off_t at) {
  ssize_t (*real)(int, const void *, size_t, off_t) = (ssize_t (*)(int, const void *, size_t, off_t))dlsym(RTLD_NEXT, name);
  if (is_journal(descriptor) && is_broken()) {
    errno = EIO;
    return -1;
  }
  return real(descriptor, bytes, size, at);
}

ssize_t pwrite(int descriptor, const void *bytes, size_t size, off_t at) {
  return write_or_fail("pwrite", descriptor, bytes, size, at);
}
ssize_t pwrite64(int descriptor, const void *bytes, size_t size, off_t at) {
  return write_or_fail("pwrite64", descriptor, bytes, size, at);
}

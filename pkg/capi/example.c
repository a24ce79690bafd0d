/* Places the pending pods of a cluster and prints where they go: example FILE [RELEASE].
 * cc -std=c99 example.c $(pkg-config --cflags --libs berth) */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "berth.h"

static int failed(const char* what) {
  fprintf(stderr, "%s: %s\n", what, berth_last_error());
  return 1;
}

int main(int argc, char** argv) {
  berth_input input = {0};
  berth_cluster* cluster = NULL;
  berth_pods* pods = NULL;
  char options[64] = "";
  size_t count = 0, i;
  int32_t* nodes;
  if (argc < 2) return 2;
  input.path = argv[1];
  if (argc > 2) snprintf(options, sizeof(options), "{\"release\": \"%.20s\"}", argv[2]);
  if (berth_open(options, strlen(options), &input, 1, &cluster) != BERTH_OK) return failed(argv[1]);
  if (berth_pending(cluster, &pods) != BERTH_OK) return failed("pending");
  if (berth_pods_count(pods, &count) != BERTH_OK) return failed("count");
  nodes = malloc((count + 1) * sizeof(*nodes));
  if (nodes == NULL) return 1;
  if (berth_schedule(cluster, pods, 0, count, nodes) != BERTH_OK) return failed("schedule");
  for (i = 0; i < count; ++i) {
    const char *pod = NULL, *node = "-";
    if (berth_pod_name(pods, i, &pod) != BERTH_OK) return failed("name");
    if (nodes[i] >= 0 && berth_node_name(cluster, (size_t)nodes[i], &node) != BERTH_OK) return failed("node");
    printf("%s %s\n", pod, node);
  }
  free(nodes);
  /* Handles that are closed, of the wrong kind or NULL are errors. */
  if (berth_close_pods(pods) != BERTH_OK || berth_close(cluster) != BERTH_OK) return failed("close");
  if (berth_close(cluster) != BERTH_BAD_HANDLE || berth_close(NULL) != BERTH_BAD_HANDLE) return 3;
  if (berth_close((berth_cluster*)pods) != BERTH_BAD_HANDLE) return 3;
  return 0;
}

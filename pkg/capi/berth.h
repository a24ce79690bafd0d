/* The scheduling engine as a library: what a release of kube-scheduler decides, by calls (libberth.so.1).
 *
 * Plain C. Handles are opaque: they are looked up and never followed, so a handle that is closed, of the wrong kind or
 * made up is an error (BERTH_BAD_HANDLE). Each handle is used by one thread at a time, a second one gets BERTH_BUSY;
 * different handles may be used at the same time. The library has no threads but those of episodes, and no signal
 * handlers.
 *
 * Functions return BERTH_OK or a negative code; berth_last_error() then says in words what is wrong, and output
 * parameters are as they were unless stated otherwise. Texts are UTF-8; names of nodes, pods and resources that are
 * not, or have a NUL character, are errors. Sizes are in bytes. Amounts of resources are in the unit of the resource:
 * cpu in thousandths, memory and storage in bytes, all else as counted.
 *
 * A node has an index from 0 to berth_node_count() - 1, which it keeps while it exists. The index of a node that was
 * removed is unused, with an empty name, until another node gets it. */
#pragma once
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif
#ifdef __GNUC__
#pragma GCC visibility push(default)
#endif

#define BERTH_ABI_VERSION 1

enum {
  BERTH_OK = 0,
  BERTH_INVALID = -1,    /* an argument or input is wrong */
  BERTH_BAD_HANDLE = -2, /* NULL, closed, or of another kind */
  BERTH_BUSY = -3,       /* the handle is in use: by another thread, or by the call that runs this callback */
  BERTH_CALLBACK = -4,   /* a callback failed */
  BERTH_INTERNAL = -5    /* a mistake of the library; close the handle */
};

typedef struct berth_cluster berth_cluster; /* nodes, placed pods, all else that rules read, and a scheduler */
typedef struct berth_pods berth_pods;       /* a list of pods to place, numbered from 0 */
typedef struct berth_episode berth_episode; /* a cluster in simulated time, in which an agent chooses nodes */

uint32_t berth_abi_version(void);
/* Returns the library's version; valid for ever. */
const char* berth_version(void);
/* Returns why the last call of this thread failed; valid until the thread's next call that fails. Never NULL. */
const char* berth_last_error(void);

/* One input: a file or folder (path), or a text in memory. Either may be compressed by gzip. */
struct berth_input {
  const char* path; /* NULL for a text */
  const char* text;
  size_t size;      /* of the text */
  const char* name; /* of the text, for messages; may be NULL */
};
typedef struct berth_input berth_input;

/* Opens a cluster with the objects of the inputs, which are what `schedsim run` reads: objects, Lists, documents as
 * JSON or YAML, or one Scenario. `options` is a JSON object, or NULL: release (its name), provider, policy {...} or
 * configuration {...} (objects, or texts in JSON or YAML; a configuration without a release is for the first that reads
 * its version), featureGates {"PodPriority": true}, hardPodAffinitySymmetricWeight 1..100, preempt,
 * percentageOfNodesToScore, ignoreUnknownFields, ties "turn" (as the release), "first" (in the order in which the
 * release numbers them) or "random", seed. An option that does not exist is an error. The cluster is to be closed. */
int32_t berth_open(const char* options, size_t options_size, const berth_input* inputs, size_t inputs_count,
                   berth_cluster** out);
/* A table of nodes or pods. Arrays over rows and columns have one row after another; those of the last group may be
 * NULL. Nothing of it is kept. A node without an amount of pods takes none. */
struct berth_table {
  size_t rows;
  const char* const* names; /* by row */
  const char* const* resources;
  size_t resources_count;
  const double* amounts;   /* [rows][resources]: what a node offers, or a pod requests; whole numbers; NaN: nothing */
  const char* const* keys; /* of labels */
  size_t keys_count;
  const char* const* values; /* of all labels: each is written once */
  size_t values_count;
  const int32_t* labels; /* [rows][keys]: the number of a value; -1: the row has no label of this key */

  const uint8_t* unschedulable; /* of nodes; NULL: none is */
  const char* const* spaces;    /* of pods: namespaces; NULL: "default" */
  const int32_t* selectors;     /* of pods, [rows][keys] as labels: their nodeSelector */
  const int32_t* nodes;         /* of pods: the row of the node they are on; -1: none, they are pending */
  const int32_t* priorities;    /* of pods */
};
typedef struct berth_table berth_table;
/* Opens a cluster with the nodes and pods of tables; `pods` may be NULL. Options are those of berth_open. */
int32_t berth_open_tables(const char* options, size_t options_size, const berth_table* nodes, const berth_table* pods,
                          berth_cluster** out);
/* Opens a copy of the cluster as it is now: nodes, objects, placed pods, the state of ties. Rules of callbacks are not
 * copied. Indexes differ if nodes were removed. */
int32_t berth_copy(berth_cluster* cluster, berth_cluster** out);
/* Write the cluster as it is now as a text (JSON), and open a cluster of such a text, which may be compressed by gzip:
 * it is as a copy would be, and has the inputs, so that no file is needed. Assumed pods count as bound, as in a copy.
 * The text is valid until the next call of this function on the cluster; it is for the version of the library that
 * wrote it and later ones. */
int32_t berth_snapshot(berth_cluster* cluster, const char** text, size_t* size);
int32_t berth_restore(const char* text, size_t size, berth_cluster** out);
int32_t berth_close(berth_cluster* cluster);
/* Writes what reading the inputs had to say, one warning a line; valid until the cluster is closed. */
int32_t berth_warnings(berth_cluster* cluster, const char** text, size_t* size);

/* Nodes. A name is valid until the node is removed or the cluster is closed. */
int32_t berth_node_count(berth_cluster* cluster, size_t* count);
int32_t berth_node_name(berth_cluster* cluster, size_t node, const char** name);
/* Writes the index, or -1 if there is no such node. */
int32_t berth_node_index(berth_cluster* cluster, const char* name, int32_t* node);
int32_t berth_remove_node(berth_cluster* cluster, const char* name);
/* Adds the objects of a text, or replaces those of the same name: nodes, pods with a node, and all else that rules
 * read. Writes how many there were; a text with pods without a node is an error. */
int32_t berth_apply(berth_cluster* cluster, const char* text, size_t size, const char* name, size_t* objects);

/* Pods to place: those of the inputs, in their order, or those of a text (workloads make theirs). To be closed; they
 * may outlive the cluster, and be used with other clusters of the same release. */
int32_t berth_pending(berth_cluster* cluster, berth_pods** out);
int32_t berth_read_pods(berth_cluster* cluster, const char* text, size_t size, const char* name, berth_pods** out);
int32_t berth_close_pods(berth_pods* pods);
int32_t berth_pods_count(berth_pods* pods, size_t* count);
/* Writes "namespace/name", valid until the pods are closed. */
int32_t berth_pod_name(berth_pods* pods, size_t pod, const char** name);

/* Decides for pods first .. first + count - 1, one after another, and assumes each on its node before the next. Writes
 * the index of the node, or -1, for each. A pod that cannot be placed is no error: berth_reason says why. */
int32_t berth_schedule(berth_cluster* cluster, berth_pods* pods, size_t first, size_t count, int32_t* nodes);
/* Writes why the pod was not placed when it was last tried; empty if it was. Valid until it is tried again or the pods
 * are closed. */
int32_t berth_reason(berth_pods* pods, size_t pod, const char** text, size_t* size);

/* Places a pod on a node without a decision; takes an assumed pod back; confirms that it is bound; deletes a placed pod
 * by "namespace/name". */
int32_t berth_assume(berth_cluster* cluster, berth_pods* pods, size_t pod, int32_t node);
int32_t berth_forget(berth_cluster* cluster, berth_pods* pods, size_t pod);
int32_t berth_bind(berth_cluster* cluster, berth_pods* pods, size_t pod, int32_t node);
int32_t berth_delete_pod(berth_cluster* cluster, const char* name);

/* Looks at one pod and decides nothing. `nodes` is the length of the arrays: berth_node_count(). feasible[n] is 1 where
 * the pod fits; totals[n] is the weighted sum of all scores there, those of rules of yours included, and 0 elsewhere
 * and if fewer than two nodes fit, as such a pod is not scored. The pod would go to one of the nodes with the best
 * total. Either array may be NULL. */
int32_t berth_scores(berth_cluster* cluster, berth_pods* pods, size_t pod, size_t nodes, uint8_t* feasible,
                     double* totals);
/* The rules of the release that score the pod, and their scores: rule r on node n at scores[r * nodes + n], 0 where the
 * pod does not fit. A name is valid until the cluster is closed. */
int32_t berth_rule_count(berth_cluster* cluster, berth_pods* pods, size_t pod, size_t* count);
int32_t berth_rule(berth_cluster* cluster, berth_pods* pods, size_t pod, size_t rule, const char** name,
                   int64_t* weight);
int32_t berth_rule_scores(berth_cluster* cluster, berth_pods* pods, size_t pod, size_t rules, size_t nodes,
                          double* scores);
/* Writes why the pod would go where it would, or what keeps it pending, as `schedsim explain -o json`. Valid until the
 * next call of this function on the cluster, or its close. */
int32_t berth_explain(berth_cluster* cluster, berth_pods* pods, size_t pod, const char** json, size_t* size);

/* Writes allocatable and requested amounts of one resource ("cpu", "memory", "pods", "ephemeral-storage", or any other
 * name) for all nodes. Either array may be NULL. */
int32_t berth_amounts(berth_cluster* cluster, const char* resource, size_t nodes, double* allocatable,
                      double* requested);
/* Writes what the pod requests of a resource. */
int32_t berth_request(berth_cluster* cluster, berth_pods* pods, size_t pod, const char* resource, double* amount);

/* A rule of yours. It is called once a pod with the nodes that fit by the rules before it: feasible[n] is 1. A priority
 * writes scores[n], finite numbers of any size; a predicate clears feasible[n] where the pod may not go. It returns 0,
 * or anything else after it wrote why to `error`. It must not use the cluster, which is BERTH_BUSY meanwhile; it may
 * use other ones. Arguments are valid during the call. */
struct berth_question {
  const char* pod;    /* "namespace/name" */
  uint64_t template_; /* equal for pods of one template, while one of them exists */
  size_t nodes;
  uint8_t* feasible;
  double* scores;         /* NULL for a predicate; zeros before the call */
  const double* requests; /* of the pod, by the resources of berth_use_columns */
  size_t resources;       /* how many these are */
  char* error;
  size_t error_size;
};
typedef struct berth_question berth_question;
typedef int32_t (*berth_rule_function)(void* user, berth_question* question);
/* Add a rule; its name is any text that is not empty. The total of a node is that of the release plus
 * weight * score. */
int32_t berth_add_priority(berth_cluster* cluster, const char* name, double weight, berth_rule_function rule,
                           void* user);
int32_t berth_add_predicate(berth_cluster* cluster, const char* name, berth_rule_function rule, void* user);

/* Columns for rules and agents. berth_resources writes the names of all resources that nodes offer or placed pods
 * request, each ended by a line feed: cpu, memory, ephemeral-storage, pods, then the others in ascending order. Valid
 * until the next call of this function on the cluster. */
int32_t berth_resources(berth_cluster* cluster, const char** names, size_t* size);
/* Gives arrays of yours to the cluster: allocatable[n * count + r] and free[n * count + r] are what node n offers of
 * resource r, and what is left of it. The library writes what has changed before it calls a rule, and in berth_refresh,
 * berth_feasible and berth_step. The arrays must stay where they are until other ones, or NULL twice for none, are
 * given. When the number of nodes has changed, new arrays are needed: BERTH_INVALID before that. */
int32_t berth_use_columns(berth_cluster* cluster, const char* const* resources, size_t count, size_t nodes,
                          double* allocatable, double* free);
int32_t berth_refresh(berth_cluster* cluster);

/* For agents that choose themselves. berth_feasible marks where a pod fits (feasible[n] is 1) and writes what it
 * requests of the resources in use; `requests` may be NULL. berth_step first places `pod` on `node` without asking
 * whether it fits there, or leaves it pending if `node` is -1, and then does so for the pod `next`; if that is the
 * number of pods, it marks nothing. */
int32_t berth_feasible(berth_cluster* cluster, berth_pods* pods, size_t pod, size_t nodes, uint8_t* feasible,
                       double* requests);
int32_t berth_step(berth_cluster* cluster, berth_pods* pods, size_t pod, int32_t node, size_t next, size_t nodes,
                   uint8_t* feasible, double* requests);

/* An episode in simulated time: pods arrive, wait, run and end as in `schedsim simulate`. Whenever a pod that is tried
 * fits some nodes by the rules of the release, an agent chooses one of them or leaves the pod waiting. A pod that fits
 * nowhere, or was left, is tried again when the release would.
 *
 * berth_begin begins one with the cluster as it is now, and leaves the cluster as it is. Pod i of the list comes at
 * arrivals[i] and runs for durations[i], in seconds; NULL: all at 0, for ever, as is an infinite duration. `options` is
 * a JSON object, or NULL: arrivals (the path of a CSV, as of --arrivals: more pods), generate (a list of texts as of
 * --generate), seed, bindDelay, startDelay, endDelay, until (times such as "90s" or "2d"). The arrays are as those of
 * berth_use_columns; they are written before each question and must stay until the episode is closed. The episode has
 * a thread of its own, which only runs while berth_next waits for it. */
int32_t berth_begin(berth_cluster* cluster, berth_pods* pods, const double* arrivals, const double* durations,
                    const char* options, size_t options_size, const char* const* resources, size_t count, size_t nodes,
                    double* allocatable, double* free, berth_episode** out);
/* Places the pod that was told last on `node`, where it fits, or leaves it (-1); at the first call there is none, and
 * `node` is not read. Then lets time pass until there is a choice for a pod: writes "namespace/name" (NULL: the episode
 * is over), where it fits, what it requests of the resources, and the time in seconds. Any of the last three may be
 * NULL. The name is valid until the next call. */
int32_t berth_next(berth_episode* episode, int32_t node, size_t nodes, const char** pod, uint8_t* feasible,
                   double* requests, double* seconds);
/* Writes how it went, once it is over: {"pods", "placed", "neverPlaced", "waitSeconds": {"p50", "p90", "p99", "max"},
 * "attempts", "preemptions", "evictions", "makespanSeconds", "endSeconds", "cut"}. Valid until the episode is closed.
 */
int32_t berth_outcome(berth_episode* episode, const char** json, size_t* size);
int32_t berth_end(berth_episode* episode);

/* Finds out whom to evict so that a pod fits that does not fit now: writes {"node", "victims", "nominatedToClear",
 * "error"}; an empty node: nobody helps. If `apply` is not 0, the victims are taken from the node. The cluster is to be
 * opened with the option preempt. Rules of yours are not asked about victims. The text is valid until the next call of
 * this function on the cluster. */
int32_t berth_preempt(berth_cluster* cluster, berth_pods* pods, size_t pod, int32_t apply, const char** json,
                      size_t* size);

/* Write the value of a label, valid until the next call on the handle; NULL if there is none. */
int32_t berth_node_label(berth_cluster* cluster, size_t node, const char* key, const char** value);
int32_t berth_pod_label(berth_pods* pods, size_t pod, const char* key, const char** value);

/* A pod came to a node (placed is 1), or left it (0). Valid during the call. */
struct berth_event {
  const char* pod; /* "namespace/name" */
  uint64_t template_;
  size_t node;
  int32_t placed;
  size_t resources;       /* how many resources are in use (berth_use_columns) */
  const double* requests; /* of the pod, by these */
};
typedef struct berth_event berth_event;
typedef void (*berth_hook_function)(void* user, const berth_event* event);
/* Sets what is told of pods that come and go, for rules with a state of their own; NULL: nothing. It is first told of
 * the pods that are on nodes now. It must not use the cluster. */
int32_t berth_set_hook(berth_cluster* cluster, berth_hook_function hook, void* user);

/* Sets what gets the messages of the engine, which are not written anywhere else; NULL: nothing. Those of berth_open
 * are among berth_warnings. Severities: 0 information, 1 warning, 2 error, 3 a broken invariant, which the call then
 * returns as BERTH_INTERNAL. `text` is valid during the call. */
typedef void (*berth_log_function)(void* user, int32_t severity, const char* text);
int32_t berth_set_log(berth_cluster* cluster, berth_log_function log, void* user);

#ifdef __GNUC__
#pragma GCC visibility pop
#endif
#ifdef __cplusplus
}
#endif

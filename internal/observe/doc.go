// Package observe sets up logging and metrics of a node: one slog logger in one format, with the loggers of the libraries (hclog,
// package log) bridged into it, and one Prometheus registry that also has the metrics of raft and memberlist.
//
// Invariants: a library's message keeps its meaning but not its level (raft logs every configuration change at info; raftLevels
// says which level an operator wants), a warning that repeats is written once in ten seconds with the count of what was left out,
// and a metric that was reported once never disappears. cmd/trireme calls it once at start; tests may make as many loggers and
// registries as they like.
package observe

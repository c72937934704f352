// Command jepsen runs workloads against a cluster of real processes while it injects
// faults, judges what the clients saw, and prints one JSON summary and, for each run,
// whether it reached its goals. It exits with 1 if anything went wrong or a goal was
// missed.
package main

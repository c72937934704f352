// Package workload holds the client programs of a fault run. Each uses only operations
// whose results a checker can judge, and records all of them.
package workload

// Package blocking has many clients wait for the elements of one list, on all nodes, and
// checks which client received which element: each element once, and clients of a node in
// the order in which they began to wait.
package blocking

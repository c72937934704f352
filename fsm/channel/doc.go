// Package channel counts the subscribers of channels. Who subscribes is known to the
// node that holds the connection alone; how many there are is replicated, so that
// PUBLISH and PUBSUB answer from the log what holds for all nodes at that place in it.
package channel

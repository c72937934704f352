// Command go-transfer serves a transfer of money between two keys as a durable function. The step that moves the money brings Redis commands:
// they take effect in the log entry that records the step, all of them once, or none. So nothing is moved twice, whatever is retried.
//
//	trireme dev &
//	. .trireme/env
//	go run ./docs/examples/go-transfer
package main

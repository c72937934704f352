// Command go-report serves a report as a durable function: two sources are read in parallel, one of them by a request that the server makes,
// and the report is written once both are there.
//
//	trireme dev &
//	. .trireme/env
//	go run ./docs/examples/go-report
package main

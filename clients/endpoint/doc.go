// Package endpoint serves workflows that are written in Go, over the protocol by which
// the published SDKs talk to a server: for tests, acceptance runs and benchmarks that need
// an endpoint without an SDK in the way, and for the shop of "trireme dev --demo". It is the
// start of durable functions in Go.
//
// A workflow is a function that is run again for every delivery, over the results that the
// delivery carries, until it comes to something new: that is done, submitted, and the
// function abandoned. It must come to the same steps in the same order each time.
package endpoint

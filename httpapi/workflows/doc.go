// Package workflows is the HTTP API of workflows under /v2: the requests of SDKs that run a workflow, and the
// queries of people about runs. It parses, calls one operation or one read, and encodes.
package workflows

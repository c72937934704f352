// Package workflows is the HTTP surface of workflows under /v2: what SDKs send while they run a workflow, and what people
// ask about runs. It parses, calls one operation or one read, and encodes.
package workflows

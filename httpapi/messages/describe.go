package messages

import _ "embed"

// openAPI describes every path of /v2, in OpenAPI 3.1. It is written by hand, and the
// tests hold every reply that they get against it.
//
//go:embed openapi.yaml
var openAPI []byte

// describePath is where the description is served, to everybody: it says nothing about
// this cluster.
const describePath = "openapi.yaml"

func (q *request) describe() {
	q.w.Header()["Content-Type"] = []string{"application/yaml"}
	q.w.Write(openAPI)
}

package messages

import _ "embed"

// openAPI describes every path of /v2, in OpenAPI 3.1. It is written by hand, and the
// tests hold every reply that they get against it.
//
//go:embed openapi.yaml
var openAPI []byte

// describe serves the description to every client: it says nothing about this cluster.
func (re *request) describe() error {
	re.w.Header()["Content-Type"] = []string{"application/yaml"}
	_, _ = re.w.Write(openAPI) // an error means that the client has gone
	return nil
}

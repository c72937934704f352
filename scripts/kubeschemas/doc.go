// Command kubeschemas writes deploy/kubernetes/schemas: JSON Schemas of the kinds of Kubernetes that the chart makes, cut from
// what Kubernetes and the Prometheus operator publish.
//
//	go run ./scripts/kubeschemas
//
// It downloads their modules into Go's module cache. Unknown fields are refused, as `kubectl apply --validate=strict` does.
package main

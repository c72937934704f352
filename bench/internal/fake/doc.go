// Package fake is a minimal HTTP server that looks like the product to the benchmark's
// own tests. It is never measured and never part of a result.
package fake

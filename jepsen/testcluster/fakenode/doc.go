// Package fakenode turns a test binary into a small replacement for the product, so that
// the harness itself can be tested: processes that share one file behind a lock, which is
// linearizable and survives kill -9. Its options make it misbehave (stale reads, lost
// writes, doubled additions, wrong outcomes), and tests demand that each is found.
package fakenode

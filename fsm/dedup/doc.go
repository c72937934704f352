// Package dedup keeps the replies of writes with a request id, so that a repeated write returns the first reply
// instead of being applied again.
//
// Records live for Retention of cluster time. The table has a fixed size and refuses
// new ids when it is full: forgetting early would break the promise silently.
package dedup

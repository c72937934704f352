// Package dedup remembers the replies of writes that carried an id of the client's, so
// that a repeated one gets the reply of the first instead of being applied again.
//
// Records live for Retention of cluster time. The table has a fixed size and refuses
// new ids when it is full: forgetting early would break the promise silently.
package dedup

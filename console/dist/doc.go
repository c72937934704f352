// Package dist holds the console built from console/src, compressed as it is served. `make console` writes the
// files; a build with the tag noconsole has none.
//
// Read is all there is of it; httpapi/console calls it.
package dist

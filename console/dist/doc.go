// Package dist holds the console as it was built from console/src, packed for its way to
// browsers. `make console` writes the files; a build with the tag noconsole has none.
//
// Read is all there is of it; httpapi/console calls it.
package dist

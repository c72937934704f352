// Package dist holds the console built from console/src, compressed as it is served. `make console` writes the
// files; a build with the tag noconsole has none.
//
// httpapi/console reads them all at its start.
package dist

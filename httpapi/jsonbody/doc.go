// Package jsonbody reads JSON objects from the bodies of requests that control a node (/admin, /test), and says in JSON's
// words what is wrong with JSON that a client has sent.
//
// No error names a type of this program, because clients don't know them. The packages of httpapi are its callers.
package jsonbody

// Package console serves the console of a node: the pages, sign-in, and the API under the console's own path. The
// console has no rights of its own: a session stands for the credential that opened it. The API that all clients call
// judges every request as if it came with that credential.
//
// Console is an http.Handler; httpapi makes it over its own server and calls it. A session is kept only in its cookie,
// and the log records ended ones: no node remembers any.
package console

// Package console serves the console of a node: the pages, sign-in, and the API under the
// console's own path. The console has no rights of its own: a session stands for the
// credential that it was opened with, and every request is judged by the API that
// everybody else calls, as if it came with that credential.
//
// Console is an http.Handler; httpapi makes it over its own server and calls it. A session is
// kept in its cookie alone, and ended ones in the log: no node remembers any.
package console

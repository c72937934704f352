// Package testgate holds goroutines of the product up at one place of a test, and gives every wait of a test an end.
//
// A test that holds a handler or a hook up with a channel of its own hangs when it fails before it lets go: its cleanup waits for
// a server, and the server for the handler. A Gate opens when the test is over, however it ended, before any cleanup
// runs. Receive fails the test, with the name of what did not come, where a bare receive would wait until the package's
// time is over and end it without one.
package testgate

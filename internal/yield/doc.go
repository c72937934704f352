// Package yield lets goroutines that compute for long give way to all others, to those too that wait for the network.
//
// Go's scheduler takes the processor from a goroutine that computes only after 10 ms, and looks for connections that have
// become readable only when a processor has nothing to run, or every 10 ms. runtime.Gosched changes the first, but not the
// second: the goroutine that has called it is ready again at once, so the processor always has something to run. A request
// that arrives meanwhile waits for 10 ms, and so does each of its steps on another connection.
package yield

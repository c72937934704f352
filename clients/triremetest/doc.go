// Package triremetest runs development servers of Trireme in Go tests, with a clock that the
// test owns.
//
//	func TestReminder(t *testing.T) {
//		s := triremetest.Start(t)
//		sink := s.Sink("reminders")
//		// ... publish to sink.URL with a delay of a week ...
//		s.Advance(t, 7*24*time.Hour)
//		if got := sink.Received(t); len(got) != 1 { ... }
//	}
//
// Each Server has a cluster of its own, of one node, in the process of the test, and nothing on
// disk that outlives it, so tests may run in parallel. It needs no binary and no other process.
// It serves the keyspace and /v2 over HTTP. What only the whole program has, such as backups,
// files of messages, spans and the RESP port, is served by StartProcess.
//
// Time stands still until a method moves it. Moving it runs everything that becomes due on
// the way, in order, and returns when nothing is under way any more.
package triremetest

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
// Each Server is a process of its own with nothing on disk that outlives it, so tests may
// run in parallel. The binary is that of the environment variable TRIREME_BIN, or else one
// that is built from this module.
//
// Time stands still until a method moves it. Moving it runs everything that becomes due on
// the way, in order, and returns when nothing is under way any more.
package triremetest

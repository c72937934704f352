package resp

// Attached returns the number of connections that the event loop serves.
func (s *Server) Attached() int { return s.loop.loop.Attached() }

// AttachRounds exports attachRounds: the rounds of simple commands after which a connection attaches.
const AttachRounds = attachRounds

// Parked returns the number of blocked connections that have no goroutine.
func (s *Server) Parked() int { return s.parked.loop.Attached() }

package resp

// Attached is how many connections the event loop serves.
func (s *Server) Attached() int {
	s.loop.mu.Lock()
	defer s.loop.mu.Unlock()
	return len(s.loop.conns)
}

// AttachRounds is how many rounds of simple commands attach a connection.
const AttachRounds = attachRounds

package resp

// Attached is how many connections the event loop serves.
func (s *Server) Attached() int { return s.loop.loop.Attached() }

// AttachRounds is how many rounds of simple commands attach a connection.
const AttachRounds = attachRounds

package httpapi

import "github.com/gin-gonic/gin"

// drain makes clients leave this node before it is stopped, and answers when the time for that is over.
func (s *Server) drain(g *gin.Context) {
	err := s.admin.Drain(g.Request.Context())
	s.respond(g, gin.H{"result": "OK"}, err)
}

package httpapi

import (
	"net/http"
	"strconv"

	"github.com/gin-gonic/gin"
)

// Client is a connection of the RESP listener of this node.
type Client struct {
	ID          uint64 `json:"id"`
	Addr        string `json:"addr"`
	Name        string `json:"name"`
	Database    string `json:"database"`
	User        string `json:"user"`
	Command     string `json:"command"` // the last one
	AgeSeconds  int64  `json:"ageSeconds"`
	IdleSeconds int64  `json:"idleSeconds"`
}

// Clients are the connections of the RESP listener.
type Clients interface {
	// List returns the connections in the order of their ids.
	List() []Client
	// Kill closes the connection with that id, and reports whether there was one.
	Kill(id uint64) bool
}

func (s *Server) listClients(g *gin.Context) {
	list := []Client{}
	if s.clients != nil {
		list = append(list, s.clients.List()...)
	}
	g.JSON(http.StatusOK, gin.H{"clients": list})
}

func (s *Server) killClient(g *gin.Context) {
	id, err := strconv.ParseUint(g.Param("id"), 10, 64)
	if err != nil {
		s.refuseOps(g, http.StatusBadRequest, "ERR a connection's id is a number")
		return
	}
	if s.clients == nil || !s.clients.Kill(id) {
		s.refuseOps(g, http.StatusNotFound, "ERR no connection of this node has that id")
		return
	}
	g.JSON(http.StatusOK, gin.H{"result": "OK"})
}

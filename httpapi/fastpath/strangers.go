package fastpath

import (
	"errors"
	"sync/atomic"
)

// A connection that has shown no token has a first buffer of its own. Beyond that it needs a share of the memory that
// all such connections may hold together: however many there are, they take no more than that. Requests whose line and
// header fit the first buffer need no share.

// errCrowded says that connections without a token hold all that they may.
var errCrowded = errors.New("fastpath: connections without a token hold all that they may")

// share is one connection's part, in bytes, of the memory for all strangers. Its methods are safe for concurrent use.
type share struct {
	n atomic.Int64
}

// hold sets the share to n bytes if there is room, and releases all of it if not. There is always room for a smaller share.
func (s *Server) hold(one *share, n int64) bool {
	old := one.n.Swap(n)
	if used := s.strangers.Add(n - old); n <= old || s.MaxStrangers <= 0 || used <= s.MaxStrangers {
		return true
	}
	s.release(one)
	return false
}

// release releases the share.
func (s *Server) release(one *share) { s.strangers.Add(-one.n.Swap(0)) }

// hold counts the connection's buffer.
func (co *conn) hold() bool {
	size := int64(cap(co.in) - firstRead)
	if co.state == nil || size <= 0 || co.state.HasLoggedIn() {
		if co.share.n.Load() > 0 {
			co.s.release(co.share)
		}
		return true
	}
	return co.s.hold(co.share, size)
}

// count counts what net/http reads of a stranger's request before it is answered.
func (bc *bufferedConn) count(n int) error {
	switch {
	case bc.state == nil:
	case bc.state.HasLoggedIn():
		bc.server.release(bc.share)
	case !bc.server.hold(bc.share, bc.share.n.Load()+int64(n)):
		return errCrowded
	}
	return nil
}

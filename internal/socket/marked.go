package socket

import "net"

// Marks follows how much of a connection's input was read. Begin is called before each attempt to take bytes: whatever was taken
// before has been dealt with. Wait is called when there are none, before the reader waits.
type Marks interface {
	Begin()
	Wait()
}

// Marked is nc with marks for its reads.
type Marked struct {
	net.Conn
	read func([]byte) (int, error)
}

// NewMarked returns nc with marks.
func NewMarked(nc net.Conn, m Marks) *Marked { return &Marked{nc, ReadMarked(nc, m)} }

// Read is nc's.
func (m *Marked) Read(b []byte) (int, error) { return m.read(b) }

// NetConn is the connection without marks.
func (m *Marked) NetConn() net.Conn { return m.Conn }

// readUnaware marks reads of a connection that can't be asked whether there is input: it is told to wait before each.
func readUnaware(nc net.Conn, m Marks) func([]byte) (int, error) {
	return func(b []byte) (int, error) {
		m.Begin()
		m.Wait()
		n, err := nc.Read(b)
		m.Begin()
		return n, err
	}
}

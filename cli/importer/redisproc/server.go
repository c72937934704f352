package redisproc

import (
	"bufio"
	"errors"
	"fmt"
	"net"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/trireme-dev/trireme/fsm/reply"
	"github.com/trireme-dev/trireme/resp/protocol"
)

// ErrMissing says that there is no redis-server to run.
var ErrMissing = errors.New("redisproc: no redis-server here")

// Server is a redis-server with one connection to it, for one goroutine.
type Server struct {
	cmd  *exec.Cmd
	conn net.Conn
	in   *bufio.Reader
	out  *bufio.Writer
}

// The times that a server has to start and to answer.
const (
	startTimeout = 20 * time.Second
	replyTimeout = 5 * time.Minute
)

// Start runs a redis-server that keeps its files in dir; args are further settings. It is
// killed by Close.
func Start(dir string, args ...string) (*Server, error) {
	path, err := exec.LookPath("redis-server")
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrMissing, err)
	}
	socket := filepath.Join(dir, "s")
	s := &Server{cmd: exec.Command(path, append([]string{"--port", "0", "--unixsocket", socket, "--save", "", "--appendonly", "no", "--dir", dir}, args...)...)}
	if err := s.cmd.Start(); err != nil {
		return nil, fmt.Errorf("start redis-server: %w", err)
	}
	for deadline := time.Now().Add(startTimeout); ; time.Sleep(10 * time.Millisecond) {
		if s.conn, err = net.Dial("unix", socket); err == nil {
			break
		}
		if time.Now().After(deadline) {
			return nil, errors.Join(fmt.Errorf("redis-server doesn't answer: %w", err), s.Close())
		}
	}
	s.in, s.out = bufio.NewReaderSize(s.conn, 1<<16), bufio.NewWriterSize(s.conn, 1<<16)
	if _, err := s.Do("HELLO", "3"); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	if err := s.loaded(); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}

// loaded waits until the server has read the file in its folder.
func (s *Server) loaded() error {
	for deadline := time.Now().Add(replyTimeout); ; time.Sleep(10 * time.Millisecond) {
		v, err := s.Do("PING")
		switch {
		case err != nil:
			return err
		case !v.IsError():
			return nil
		case !strings.HasPrefix(v.Text(), "LOADING") || time.Now().After(deadline):
			return fmt.Errorf("redis-server doesn't load its file: %s", v.Text())
		}
	}
}

// Close kills the server.
func (s *Server) Close() error {
	if s.conn != nil {
		s.conn.Close()
	}
	err := s.cmd.Process.Kill()
	_ = s.cmd.Wait() // it was killed
	return err
}

// Send puts a command into the buffer; Receive reads the reply to the first that has
// none yet, after Flush.
func (s *Server) Send(words ...string) error {
	fmt.Fprintf(s.out, "*%d\r\n", len(words))
	for _, w := range words {
		fmt.Fprintf(s.out, "$%d\r\n", len(w))
		s.out.WriteString(w)
		s.out.WriteString("\r\n")
	}
	return nil
}

// Flush sends what Send has put into the buffer.
func (s *Server) Flush() error {
	if err := s.conn.SetDeadline(time.Now().Add(replyTimeout)); err != nil {
		return err
	}
	return s.out.Flush()
}

// Receive reads one reply; doubles are printed alike, whatever the version prints. A reply
// that is an error is no error of Receive.
func (s *Server) Receive() (reply.Value, error) {
	v, err := protocol.ReadReply(s.in)
	return protocol.ByValue(v), err
}

// Do sends one command and reads its reply.
func (s *Server) Do(words ...string) (reply.Value, error) {
	if err := errors.Join(s.Send(words...), s.Flush()); err != nil {
		return reply.Value{}, err
	}
	return s.Receive()
}

package transport

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"time"

	"github.com/trireme-dev/trireme/fsm/env"
	"github.com/trireme-dev/trireme/fsm/wire"
)

// Magic begins every connection, a byte for its purpose follows.
const Magic = "TRIR\x01"

// HandshakeTimeout bounds the handshake of an accepted connection.
const HandshakeTimeout = 2 * time.Second

const (
	maxHello  = 4 << 10
	maxReason = 2 << 10
)

// Purpose says what a connection is for.
type Purpose byte

// The purposes.
const (
	ForRaft      Purpose = 'R' // raft's own transport
	ForRPC       Purpose = 'P' // our calls
	ForWatch     Purpose = 'W' // silent: cluster/consensus/failover watches for its end
	ForDiscovery Purpose = 'D' // which cluster this is; on the gossip port, see cluster/membership
)

// The answers to a Hello.
const (
	accepted   byte = iota // the connection is accepted
	rejected               // it isn't, and the text says why
	removed                // it isn't, because the caller was removed from the cluster
	rolledBack             // it isn't, because the caller runs on an older copy of its data
	copied                 // it isn't, because another process of the caller's disk runs
)

// Why another node rejects this one, or this one another.
var (
	// ErrRejected says that another node rejected a connection: its text says why.
	ErrRejected = errors.New("cluster: connection refused by the other node")
	// ErrRemoved says that the cluster has removed the calling node.
	ErrRemoved = errors.New("the node was removed from the cluster")
	// ErrRolledBack says that a node's data directory is an older copy of what it had: a process of the same disk that
	// the directory knows nothing of has spoken with the other node. Such a voter has forgotten whom it voted for and
	// what it acknowledged.
	ErrRolledBack = errors.New("the node's data directory is an older copy")
	// ErrCopied says that a node's data directory is a copy of one on which another process runs that was there first.
	ErrCopied = errors.New("another process runs on the node's data directory")
)

// Process is one of the processes that a disk has had: which of its starts it was, and a name that it drew.
type Process struct {
	Boot uint64 `json:"boot"`
	Name string `json:"process"`
}

// Hello says who calls.
type Hello struct {
	Cluster, Node, Disk string
	// To is the node that the caller means to reach, empty if it doesn't know.
	To string
	// Arch and Level are the processor architecture and the highest feature level of the caller's binary; the oldest
	// versions don't send them.
	Arch  string
	Level env.Level
	// Processes are the processes of the caller's disk, up to the one that calls; none if the caller takes no part in incarnation checks.
	Processes []Process
	// Proved says that the connection is mutual TLS and the caller's certificate names Node. It is not sent.
	Proved bool
}

func (h Hello) encode(p Purpose) []byte {
	var w wire.Writer
	w.Fixed([]byte(Magic))
	w.Fixed([]byte{byte(p)})
	w.Record(func(w *wire.Writer) {
		w.String(h.Cluster)
		w.String(h.Node)
		w.String(h.Disk)
		w.String(h.To)
		w.String(h.Arch)
		w.Uvarint(uint64(h.Level))
		w.Uvarint(uint64(len(h.Processes)))
		for _, p := range h.Processes {
			w.Uvarint(p.Boot)
			w.String(p.Name)
		}
	})
	return w.B
}

// decodeHello reads a Hello's record. Fields after the known ones are of later versions and ignored: whether two
// versions work together is judged by the level.
func decodeHello(body []byte) (Hello, error) {
	r := wire.NewReader(body)
	h := Hello{Cluster: r.String(), Node: r.String(), Disk: r.String()}
	if r.Len() > 0 {
		h.To, h.Arch, h.Level = r.String(), r.String(), env.Level(r.Uvarint())
	}
	if r.Len() > 0 {
		h.Processes = make([]Process, r.Count(2))
		for i := range h.Processes {
			h.Processes[i] = Process{r.Uvarint(), r.String()}
		}
	}
	return h, r.Err()
}

// ReadHead reads what begins every connection.
func ReadHead(c net.Conn) (Purpose, error) {
	head := make([]byte, len(Magic)+1)
	if _, err := io.ReadFull(c, head); err != nil {
		return 0, err
	}
	if head[0] == recordHandshake {
		return 0, errTLSCaller
	}
	if string(head[:len(Magic)]) != Magic {
		return 0, errors.New("cluster: the caller does not speak the cluster's protocol")
	}
	return Purpose(head[len(Magic)]), nil
}

func readHello(c net.Conn) (h Hello, what Purpose, err error) {
	if what, err = ReadHead(c); err != nil {
		return h, 0, err
	}
	if what != ForRaft && what != ForRPC && what != ForWatch {
		return h, 0, fmt.Errorf("cluster: unknown purpose %q", what)
	}
	n, err := ReadUvarint(c)
	if err != nil || n > maxHello {
		return h, 0, fmt.Errorf("cluster: hello of %d bytes, at most %d expected: %w", n, maxHello, err)
	}
	body := make([]byte, n)
	if _, err := io.ReadFull(c, body); err != nil {
		return h, 0, err
	}
	h, err = decodeHello(body)
	return h, what, err
}

// ReadUvarint reads byte by byte, so that nothing after the number is consumed.
func ReadUvarint(r io.Reader) (v uint64, err error) {
	var b [1]byte
	for shift := 0; shift < 64; shift += 7 {
		if _, err := io.ReadFull(r, b[:]); err != nil {
			return 0, err
		}
		v |= uint64(b[0]&0x7f) << shift
		if b[0] < 0x80 {
			return v, nil
		}
	}
	return 0, errors.New("cluster: number too long")
}

// writeRejection tells the caller why its connection is not accepted.
func writeRejection(c net.Conn, why error) {
	answer := rejected
	switch {
	case errors.Is(why, ErrRemoved):
		answer = removed
	case errors.Is(why, ErrRolledBack):
		answer = rolledBack
	case errors.Is(why, ErrCopied):
		answer = copied
	}
	text := strings.TrimPrefix(why.Error(), ErrRejected.Error()+": ") // the caller says that itself, and this too:
	text = strings.TrimPrefix(text, ErrRolledBack.Error()+": ")
	text = strings.TrimPrefix(text, ErrCopied.Error()+": ")
	var w wire.Writer
	w.Fixed([]byte{answer})
	w.String(text[:min(len(text), maxReason)])
	_ = c.SetWriteDeadline(time.Now().Add(HandshakeTimeout))
	_, _ = c.Write(w.B) // best effort: the caller may not read
}

func readAccepted(c net.Conn) error {
	var b [1]byte
	if _, err := io.ReadFull(c, b[:]); err != nil {
		return fmt.Errorf("cluster: hello not answered: %w", err)
	}
	if b[0] == accepted {
		return nil
	}
	n, err := ReadUvarint(c)
	if err != nil {
		return ErrRejected
	}
	why, _ := io.ReadAll(io.LimitReader(bufio.NewReader(c), int64(min(n, maxReason)))) // what came of it
	switch b[0] {
	case removed:
		return fmt.Errorf("%w: %w: %s", ErrRejected, ErrRemoved, why)
	case rolledBack:
		return fmt.Errorf("%w: %w: %s", ErrRejected, ErrRolledBack, why)
	case copied:
		return fmt.Errorf("%w: %w: %s", ErrRejected, ErrCopied, why)
	}
	return fmt.Errorf("%w: %s", ErrRejected, why)
}

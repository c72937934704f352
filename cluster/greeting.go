package cluster

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"time"

	"trireme/fsm/env"
	"trireme/fsm/wire"
)

// The cluster port carries everything between nodes. A connection opens with a
// greeting that says who calls whom, of which cluster and disk, and for what; the other
// side answers one byte, 0 if it takes the connection, or says why not.
const (
	portMagic   = "TRIR\x01"
	greetTime   = 2 * time.Second
	maxGreeting = 4 << 10
	maxRefusal  = 2 << 10
)

// purpose is what a connection is for.
type purpose byte

const (
	forRaft     purpose = 'R' // raft's own transport
	forPeer     purpose = 'P' // our calls
	forWatch    purpose = 'W' // silent: the hint watches for its end
	forDiscover purpose = 'D' // which cluster this is; on the gossip port, see discover.go
)

// The answers to a greeting.
const (
	taken      byte = iota // the connection is taken
	refused                // it isn't, and the text says why
	removed                // it isn't, because the caller was removed from the cluster
	rolledBack             // it isn't, because the caller runs on an older copy of its data
)

// Why another node refuses this one, or this one another.
var (
	// ErrRefused says that another node refused a connection: its text says why.
	ErrRefused = errors.New("cluster: connection refused by the other node")
	// ErrRemoved says that the cluster has removed the calling node.
	ErrRemoved = errors.New("the node was removed from the cluster")
	// ErrArchitecture says that two nodes run on different kinds of processor: their
	// floating-point results may differ, and so their states.
	ErrArchitecture = errors.New("all nodes of a cluster run on one processor architecture")
	// ErrLevel says that a node's binary is older than what the cluster's log asks for.
	ErrLevel = errors.New("the node's version is too old for this cluster")
	// ErrAnotherNode says that a call was meant for another node than the one that now
	// has that address.
	ErrAnotherNode = errors.New("another node has this address now")
)

// greeting says who calls.
type greeting struct {
	cluster, node, disk string
	// to is the node that the caller means to reach, empty if it doesn't know.
	to string
	// arch and level are the processor architecture and the highest feature level of
	// the caller's binary; callers of old don't say.
	arch  string
	level env.Level
	// processes are those that the caller's disk has had, up to the one that calls; none if it takes no part.
	processes []started
}

func (g greeting) encode(p purpose) []byte {
	var w wire.Writer
	w.Fixed([]byte(portMagic))
	w.Fixed([]byte{byte(p)})
	w.Record(func(w *wire.Writer) {
		w.String(g.cluster)
		w.String(g.node)
		w.String(g.disk)
		w.String(g.to)
		w.String(g.arch)
		w.Uvarint(uint64(g.level))
		w.Uvarint(uint64(len(g.processes)))
		for _, p := range g.processes {
			w.Uvarint(p.Boot)
			w.String(p.Process)
		}
	})
	return w.B
}

// decodeGreeting reads a greeting's record. Fields behind those known are of later
// versions, and left alone: whether two versions get along is judged by the level.
func decodeGreeting(body []byte) (greeting, error) {
	r := wire.NewReader(body)
	g := greeting{cluster: r.String(), node: r.String(), disk: r.String()}
	if r.Len() > 0 {
		g.to, g.arch, g.level = r.String(), r.String(), env.Level(r.Uvarint())
	}
	if r.Len() > 0 {
		g.processes = make([]started, r.Count(2))
		for i := range g.processes {
			g.processes[i] = started{r.Uvarint(), r.String()}
		}
	}
	return g, r.Err()
}

// readHead reads what begins every connection.
func readHead(c net.Conn) (purpose, error) {
	head := make([]byte, len(portMagic)+1)
	if _, err := io.ReadFull(c, head); err != nil {
		return 0, err
	}
	if head[0] == recordHandshake {
		return 0, errSpeaksUs
	}
	if string(head[:len(portMagic)]) != portMagic {
		return 0, errors.New("cluster: not a node of ours")
	}
	return purpose(head[len(portMagic)]), nil
}

func readGreeting(c net.Conn) (g greeting, what purpose, err error) {
	if what, err = readHead(c); err != nil {
		return g, 0, err
	}
	if what != forRaft && what != forPeer && what != forWatch {
		return g, 0, fmt.Errorf("cluster: unknown purpose %q", what)
	}
	n, err := readUvarint(c)
	if err != nil || n > maxGreeting {
		return g, 0, fmt.Errorf("cluster: greeting of %d bytes: %w", n, err)
	}
	body := make([]byte, n)
	if _, err := io.ReadFull(c, body); err != nil {
		return g, 0, err
	}
	g, err = decodeGreeting(body)
	return g, what, err
}

// readUvarint reads byte by byte, so that nothing behind the number is taken.
func readUvarint(r io.Reader) (v uint64, err error) {
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

// writeRefusal tells the caller why its connection is not taken.
func writeRefusal(c net.Conn, why error) {
	answer := refused
	switch {
	case errors.Is(why, ErrRemoved):
		answer = removed
	case errors.Is(why, ErrRolledBack):
		answer = rolledBack
	}
	text := strings.TrimPrefix(why.Error(), ErrRefused.Error()+": ") // the caller says that itself, and this too:
	text = strings.TrimPrefix(text, ErrRolledBack.Error()+": ")
	var w wire.Writer
	w.Fixed([]byte{answer})
	w.String(text[:min(len(text), maxRefusal)])
	_ = c.SetWriteDeadline(time.Now().Add(greetTime))
	_, _ = c.Write(w.B) // the caller is told as far as it listens
}

func readConsent(c net.Conn) error {
	var b [1]byte
	if _, err := io.ReadFull(c, b[:]); err != nil {
		return fmt.Errorf("cluster: greeting not answered: %w", err)
	}
	if b[0] == taken {
		return nil
	}
	n, err := readUvarint(c)
	if err != nil {
		return ErrRefused
	}
	why, _ := io.ReadAll(io.LimitReader(bufio.NewReader(c), int64(min(n, maxRefusal)))) // what came of it
	switch b[0] {
	case removed:
		return fmt.Errorf("%w: %w: %s", ErrRefused, ErrRemoved, why)
	case rolledBack:
		return fmt.Errorf("%w: %w: %s", ErrRefused, ErrRolledBack, why)
	}
	return fmt.Errorf("%w: %s", ErrRefused, why)
}

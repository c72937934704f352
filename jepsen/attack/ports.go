package attack

import (
	"context"
	"crypto/tls"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/trireme-dev/trireme/fsm"
	"github.com/trireme-dev/trireme/fsm/acl"
	"github.com/trireme-dev/trireme/fsm/wire"
	"github.com/trireme-dev/trireme/internal/certs"
)

// The protocol of the cluster port, written down once more, as an attacker would.
const (
	magic    = "TRIR\x01"
	purposes = "RPWX"
	// lastCall is above every kind of call that a node knows; the first one is 2.
	lastCall = 40
)

// silence bounds an attacker's wait for the answer of a port that should give none. It is the time limit of
// the handshake and more: by then the port has closed the connection.
const silence = 5 * time.Second

// hello returns the handshake of n2 as a process that the cluster has never seen, for a purpose.
func (t *Target) hello(purpose byte) ([]byte, error) {
	var id struct {
		Disk    string `json:"disk_id"`
		Cluster string `json:"cluster_id"`
	}
	text, err := os.ReadFile(filepath.Join(t.Nodes[1].DataDir, "identity.json"))
	if err == nil {
		err = json.Unmarshal(text, &id)
	}
	if err == nil && (id.Disk == "" || id.Cluster == "") {
		err = errors.New("has no ids")
	}
	if err != nil {
		return nil, fmt.Errorf("identity of n2: %w", err)
	}
	var w wire.Writer
	w.Fixed([]byte(magic))
	w.Fixed([]byte{purpose})
	w.Record(func(w *wire.Writer) {
		for _, text := range []string{id.Cluster, t.Nodes[1].ID, id.Disk, "", arch} {
			w.String(text)
		}
		w.Uvarint(2) // the level
		w.Uvarint(1)
		w.Uvarint(999)
		w.String("forged")
	})
	return w.B, nil
}

// foreign is TLS with the certificate of n2 that another authority has signed.
func (t *Target) foreign() (*tls.Config, error) {
	secrets, err := certs.ParseSecrets(certs.NewSecret())
	if err != nil {
		return nil, err
	}
	_, pair, err := certs.FromSecrets(secrets, t.Nodes[1].ID, slog.New(slog.DiscardHandler))
	if err != nil {
		return nil, err
	}
	return &tls.Config{InsecureSkipVerify: true, MinVersion: tls.VersionTLS13, Certificates: []tls.Certificate{*pair.Get()}}, nil
}

// dialPort opens a connection to a node's cluster port, with TLS if a configuration is given.
func (t *Target) dialPort(node int, secure *tls.Config) (net.Conn, error) {
	raw, err := net.DialTimeout("tcp", t.Nodes[node].Cluster, silence)
	if err != nil || secure == nil {
		return raw, err
	}
	return tls.Client(raw, secure), nil
}

// say writes to a cluster port and returns what it answers until it closes the connection. An alert of TLS is no
// answer.
func (t *Target) say(node int, secure *tls.Config, text []byte) (answer []byte, err error) {
	c, err := t.dialPort(node, secure)
	if err != nil {
		return nil, err
	}
	defer c.Close()
	if err := c.SetDeadline(time.Now().Add(silence)); err != nil {
		return nil, err
	}
	if _, err := c.Write(text); err != nil {
		return nil, nil // closed already
	}
	answer, err = io.ReadAll(c)
	if ne := net.Error(nil); errors.As(err, &ne) && ne.Timeout() {
		return answer, fmt.Errorf("n%d has kept a stranger's connection for %v", node+1, silence)
	}
	return answer, nil // however it has ended
}

// forgedHellos says to every node that it is n2, of a process that n2's disk has never had.
func forgedHellos(_ context.Context, t *Target) (string, error) {
	foreign, err := t.foreign()
	if err != nil {
		return "", err
	}
	count := 0
	for node := range t.Nodes {
		for _, purpose := range []byte(purposes) {
			text, err := t.hello(purpose)
			if err != nil {
				return "", err
			}
			for _, secure := range []*tls.Config{nil, foreign} {
				count++
				if answer, err := t.say(node, secure, text); err != nil || len(answer) > 0 {
					return "", fmt.Errorf("a forged hello for %q is answered by %q, %v", purpose, answer, err)
				}
			}
		}
	}
	for node := range t.Nodes {
		if r := t.ask(context.Background(), node, http.MethodGet, "/readyz", "", nil); r.status != http.StatusOK {
			return "", fmt.Errorf("n%d: %s", node+1, r)
		}
	}
	return fmt.Sprintf("%d hellos, none answered, all nodes ready", count), nil
}

// proposals calls every kind of call with the proposal of an ACL user that may do everything.
func proposals(ctx context.Context, t *Target) (string, error) {
	foreign, err := t.foreign()
	if err != nil {
		return "", err
	}
	var row [][]byte
	for _, word := range []string{"ACL", "SETUSER", "intruder", "on", "nopass", "+@all", "~*"} {
		row = append(row, []byte(word))
	}
	var body wire.Writer
	body.Uvarint(uint64(fsm.Exec.Code))
	body.Fixed(fsm.Exec.Body(fsm.Batch{As: acl.Trusted(acl.DefaultName), Rows: [][][]byte{row}}))
	text, err := t.hello('P')
	if err != nil {
		return "", err
	}
	for kind := byte(2); kind < lastCall; kind++ {
		text = binary.LittleEndian.AppendUint32(text, uint32(len(body.B)))
		text = binary.LittleEndian.AppendUint64(text, uint64(kind))
		text = append(append(text, kind), body.B...)
	}
	for node := range t.Nodes {
		for _, secure := range []*tls.Config{nil, foreign} {
			if answer, err := t.say(node, secure, text); err != nil || len(answer) > 0 {
				return "", fmt.Errorf("n%d answers a proposal by %q, %v", node+1, answer, err)
			}
		}
	}
	r := t.ask(ctx, 0, http.MethodPost, "/", defaultToken, words([]string{"ACL", "USERS"}))
	if !r.says(http.StatusOK, "default") || strings.Contains(string(r.body), "intruder") {
		return "", fmt.Errorf("the users are %s", r)
	}
	return fmt.Sprintf("%d calls on 6 connections, none answered, no user made", 6*(lastCall-2)), nil
}

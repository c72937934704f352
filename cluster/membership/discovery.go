package membership

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"

	"github.com/trireme-dev/trireme/cluster/transport"
	"github.com/trireme-dev/trireme/fsm/wire"
)

// A node that wants to join knows gossip addresses and nothing else: not the cluster's id, without which it can't even
// gossip, nor where its servers are. It asks for both on the gossip port, over TCP: the magic of the cluster port, the
// purpose 'D' and a nonce. The answer says in one byte whether it is sealed with the gossip key, and then the cluster's
// id and its servers as JSON, sealed for that nonce if the cluster has a key. A caller without the key learns nothing.

// Peer is a node and its cluster address.
type Peer struct{ ID, Addr string }

// Discovery is the answer of a cluster to a node that wants to join.
type Discovery struct {
	Cluster string
	Servers []Peer
}

// ErrGossipKey says that two nodes don't have the same gossip key.
var ErrGossipKey = errors.New("the gossip keys differ")

const (
	nonceSize    = 16
	maxDiscovery = 64 << 10
)

// The forms of an answer.
const (
	discoverOpen byte = iota
	discoverSealed
)

// AskDiscovery asks a gossip port over an open connection. The error is ErrGossipKey if the two keys differ.
func AskDiscovery(c net.Conn, key []byte) (d Discovery, err error) {
	nonce := make([]byte, nonceSize)
	_, _ = rand.Read(nonce) // never fails (crypto/rand)
	if _, err := c.Write(append([]byte(transport.Magic+string(transport.ForDiscovery)), nonce...)); err != nil {
		return d, err
	}
	var form [1]byte
	if _, err := io.ReadFull(c, form[:]); err != nil {
		return d, err
	}
	size, err := transport.ReadUvarint(c)
	if err != nil || size > maxDiscovery {
		return d, fmt.Errorf("answer of %d bytes: %w", size, err)
	}
	body := make([]byte, size)
	if _, err := io.ReadFull(c, body); err != nil {
		return d, err
	}
	if body, err = unseal(form[0], key, nonce, body); err != nil {
		return d, err
	}
	return d, json.Unmarshal(body, &d)
}

// answerDiscovery answers a question whose head has been read.
func answerDiscovery(c net.Conn, key []byte, d Discovery) error {
	nonce := make([]byte, nonceSize)
	if _, err := io.ReadFull(c, nonce); err != nil {
		return err
	}
	body, err := json.Marshal(d)
	if err != nil {
		return err
	}
	form, body, err := seal(key, nonce, body)
	if err != nil {
		return err
	}
	var w wire.Writer
	w.Fixed([]byte{form})
	w.Bytes(body)
	_, err = c.Write(w.B)
	return err
}

// seal encrypts an answer for the nonce of its question, if there is a key.
func seal(key, nonce, body []byte) (form byte, sealed []byte, err error) {
	if len(key) == 0 {
		return discoverOpen, body, nil
	}
	box, err := gcm(key)
	if err != nil {
		return 0, nil, err
	}
	own := make([]byte, box.NonceSize())
	_, _ = rand.Read(own) // never fails (crypto/rand)
	return discoverSealed, box.Seal(own, own, body, nonce), nil
}

// unseal reads what seal wrote. Its errors say which of the two has which key.
func unseal(form byte, key, nonce, body []byte) ([]byte, error) {
	switch {
	case form == discoverOpen && len(key) == 0:
		return body, nil
	case form == discoverOpen:
		return nil, fmt.Errorf("%w: this node has one, the cluster has none", ErrGossipKey)
	case len(key) == 0:
		return nil, fmt.Errorf("%w: the cluster has one, this node has none: give it the cluster's --cluster-secret-file or --gossip-key-file", ErrGossipKey)
	}
	box, err := gcm(key)
	if err != nil {
		return nil, err
	}
	if len(body) < box.NonceSize() {
		return nil, io.ErrUnexpectedEOF
	}
	open, err := box.Open(nil, body[:box.NonceSize()], body[box.NonceSize():], nonce)
	if err != nil {
		return nil, fmt.Errorf("%w: this node's gossip key is not the cluster's", ErrGossipKey)
	}
	return open, nil
}

func gcm(key []byte) (cipher.AEAD, error) {
	block, err := aes.NewCipher(key)
	if err != nil {
		return nil, err
	}
	return cipher.NewGCM(block)
}

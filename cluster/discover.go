package cluster

import (
	"context"
	"crypto/aes"
	"crypto/cipher"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"sync"
	"time"

	"trireme/fsm/wire"
)

// A node that wants to join knows gossip addresses and nothing else: not the cluster's
// id, without which it can't even gossip, nor where its servers are. It asks for both on
// the gossip port, over TCP: the magic of the cluster port, the purpose 'D' and a nonce.
// The answer says in one byte whether it is sealed with the gossip key, and then the
// cluster's id and its servers as JSON, sealed for that nonce if the cluster has a key.
// Whoever has no key learns nothing by it.

// discovery is what a cluster tells a node that wants to join.
type discovery struct {
	Cluster string
	Servers []Peer

	from string // who said so
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

// discover asks all addresses of Options.Join which cluster they are of, and believes the first that says so. Addresses
// of two clusters are refused: which one the node would belong to would be a matter of which answers.
func (n *Node) discover(ctx context.Context) (d discovery, err error) {
	found, failed := make([]discovery, len(n.opts.Join)), make([]error, len(n.opts.Join))
	var asked sync.WaitGroup
	for i, addr := range n.opts.Join {
		asked.Go(func() { found[i], failed[i] = n.discoverAt(ctx, addr) })
	}
	asked.Wait()
	for i, addr := range n.opts.Join {
		switch known := d.from != ""; {
		case failed[i] == nil && !known:
			d, err = found[i], nil
			d.from = addr
		case failed[i] == nil && found[i].Cluster != d.Cluster:
			return d, fmt.Errorf("%w: --join names two clusters, %s of cluster id %s and %s of %s: give addresses of one", ErrOtherCluster, d.from, d.Cluster, addr, found[i].Cluster)
		case failed[i] != nil && !known:
			err = fmt.Errorf("%s: %w", addr, failed[i])
			if errors.Is(err, ErrGossipKey) || errors.Is(err, ErrRefused) || errors.Is(err, ErrCertificate) {
				return d, err
			}
		}
	}
	return d, err
}

// discoverAt asks one gossip port. It may be a cluster port as well, which doesn't
// know the question but says hello.
func (n *Node) discoverAt(ctx context.Context, addr string) (d discovery, err error) {
	c, err := n.opts.Dial("tcp", addr, dialTime)
	if err != nil {
		return d, err
	}
	defer c.Close()
	_ = c.SetDeadline(time.Now().Add(greetTime))
	if d, err = askDiscovery(c, n.opts.GossipKey); err == nil || errors.Is(err, ErrGossipKey) {
		return d, err
	}
	ask, cancel := context.WithTimeout(ctx, greetTime)
	defer cancel()
	h, helloErr := n.peers.hello(ask, addr)
	switch {
	case errors.Is(helloErr, ErrRefused), errors.Is(helloErr, ErrCertificate):
		return d, helloErr
	case helloErr != nil:
		return d, fmt.Errorf("it doesn't answer as a gossip or cluster port does: %w", err)
	case h.Node == n.opts.NodeID && h.Disk == n.identity.DiskID:
		return d, errors.New("that is this node itself")
	case h.Cluster == "" || len(h.Servers) == 0:
		return d, fmt.Errorf("%s there belongs to no cluster yet", h.Node)
	}
	return discovery{Cluster: h.Cluster, Servers: h.Servers}, nil
}

// askDiscovery asks over an open connection.
func askDiscovery(c net.Conn, key []byte) (d discovery, err error) {
	nonce := make([]byte, nonceSize)
	_, _ = rand.Read(nonce) // never fails (crypto/rand)
	if _, err := c.Write(append([]byte(portMagic+string(forDiscover)), nonce...)); err != nil {
		return d, err
	}
	var form [1]byte
	if _, err := io.ReadFull(c, form[:]); err != nil {
		return d, err
	}
	size, err := readUvarint(c)
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
func answerDiscovery(c net.Conn, key []byte, d discovery) error {
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
		return nil, fmt.Errorf("%w: the cluster has one, this node has none: give it the cluster's --gossip-key", ErrGossipKey)
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
		return nil, fmt.Errorf("%w: this node's --gossip-key is not the cluster's", ErrGossipKey)
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

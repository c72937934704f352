//go:build !linux

package socket

import (
	"errors"
	"net"
)

// Poller waits until some of many sockets are readable; this system has none.
type Poller struct{}

// NewPoller returns errors.ErrUnsupported.
func NewPoller() (*Poller, error) { return nil, errors.ErrUnsupported }

// Add returns errors.ErrUnsupported.
func (*Poller) Add(net.Conn, uint64) error { return errors.ErrUnsupported }

// AddLevel returns errors.ErrUnsupported.
func (*Poller) AddLevel(net.Conn, uint64) error { return errors.ErrUnsupported }

// Ready returns errors.ErrUnsupported.
func (*Poller) Ready([]uint64) ([]uint64, error) { return nil, errors.ErrUnsupported }

// Remove does nothing.
func (*Poller) Remove(net.Conn) error { return nil }

// Wait returns errors.ErrUnsupported.
func (*Poller) Wait([]uint64) ([]uint64, error) { return nil, errors.ErrUnsupported }

// Close does nothing.
func (*Poller) Close() error { return nil }

//go:build !linux

package socket

import (
	"errors"
	"net"
)

// Watch tells which of many sockets have something to be read; there is none here.
type Watch struct{}

// NewWatch gives errors.ErrUnsupported.
func NewWatch() (*Watch, error) { return nil, errors.ErrUnsupported }

// Add gives errors.ErrUnsupported.
func (*Watch) Add(net.Conn, uint64) error { return errors.ErrUnsupported }

// Remove does nothing.
func (*Watch) Remove(net.Conn) error { return nil }

// Wait gives errors.ErrUnsupported.
func (*Watch) Wait([]uint64) ([]uint64, error) { return nil, errors.ErrUnsupported }

// Close does nothing.
func (*Watch) Close() error { return nil }

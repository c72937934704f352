//go:build !unix

package resp

import "net"

// tryWriter tries nothing where sockets have no simple way to.
func tryWriter(net.Conn) func([]byte) (int, error) {
	return func([]byte) (int, error) { return 0, nil }
}

func reader(nc net.Conn) func([]byte) (int, error) { return nc.Read }

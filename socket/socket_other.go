//go:build !unix

package socket

import "net"

// Reader is nc's Read.
func Reader(nc net.Conn) func([]byte) (int, error) { return nc.Read }

// Writer is nc's Write.
func Writer(nc net.Conn) func([]byte) (int, error) { return nc.Write }

// Taker takes nothing where sockets have no simple way to.
func Taker(net.Conn) func([]byte) (int, error) {
	return func([]byte) (int, error) { return 0, nil }
}

// Trier tries nothing where sockets have no simple way to.
func Trier(net.Conn) func([]byte) (int, error) {
	return func([]byte) (int, error) { return 0, nil }
}

package testcluster

import (
	"net"
	"strconv"

	"github.com/trireme-dev/trireme/internal/testports"
)

const loopbackHost = "127.0.0.1"

// Block is a reserved run of ports on loopback.
type Block = testports.Block

// ReserveBlock draws a free block of ports.
func ReserveBlock() (*Block, error) { return testports.Reserve() }

func loopback(port int) string { return net.JoinHostPort(loopbackHost, strconv.Itoa(port)) }

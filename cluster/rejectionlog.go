package cluster

import (
	"log/slog"
	"net"
	"sync"
	"time"
)

// rejectionLog logs the connections that are rejected: each reason of a host at most once every repeatRejection.
type rejectionLog struct {
	log *slog.Logger

	mu     sync.Mutex
	logged map[string]time.Time
}

const (
	// repeatRejection is the least time between two log lines with the same reason.
	repeatRejection = 10 * time.Second
	// maxRejections bounds the reasons that are remembered.
	maxRejections = 256
)

func (rl *rejectionLog) report(from net.Addr, why error) {
	host, _, _ := net.SplitHostPort(from.String()) // without a port the reason alone is the key
	rl.mu.Lock()
	defer rl.mu.Unlock()
	key := host + why.Error()
	if time.Since(rl.logged[key]) < repeatRejection {
		return
	}
	if len(rl.logged) >= maxRejections {
		clear(rl.logged)
	}
	rl.logged[key] = time.Now()
	rl.log.Warn("a connection to the cluster port is rejected", "from", from, "reason", why)
}

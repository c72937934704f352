package cluster

import (
	"log/slog"
	"net"
	"sync"
	"time"
)

// rejectionLog logs whose connections are not accepted, each reason once in a while.
type rejectionLog struct {
	log *slog.Logger

	mu     sync.Mutex
	logged map[string]time.Time
}

const (
	// repeatRejection is how long a reason is not logged again.
	repeatRejection = 10 * time.Second
	// maxRejections is how many reasons are remembered.
	maxRejections = 256
)

func (r *rejectionLog) report(from net.Addr, why error) {
	host, _, _ := net.SplitHostPort(from.String()) // without a port the reason alone is the key
	r.mu.Lock()
	defer r.mu.Unlock()
	key := host + why.Error()
	if time.Since(r.logged[key]) < repeatRejection {
		return
	}
	if len(r.logged) >= maxRejections {
		clear(r.logged)
	}
	r.logged[key] = time.Now()
	r.log.Warn("a connection to the cluster port is rejected", "from", from, "reason", why)
}

package deliveries

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/trireme-dev/trireme/jepsen/testcluster"
)

// Killer kills leaders with kill -9 and starts them again.
type Killer struct {
	Cluster *testcluster.Cluster
	// Down is the time for which a killed node stays down.
	Down time.Duration

	mu    sync.Mutex
	kills []time.Time
}

// readyTime bounds the start of a node.
const readyTime = 30 * time.Second

// Kill kills the leader, waits, starts it again, and waits until it is ready.
func (k *Killer) Kill(ctx context.Context) error {
	leader, err := k.Cluster.WaitLeader(ctx)
	if err != nil {
		return fmt.Errorf("find the leader: %w", err)
	}
	node := k.Cluster.Nodes[leader.Node]
	k.mu.Lock()
	k.kills = append(k.kills, time.Now())
	k.mu.Unlock()
	if err := node.Kill(); err != nil {
		return err
	}
	Sleep(ctx, k.Down)
	if err := node.Start(); err != nil { // also when ctx has ended: nothing stays broken
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, readyTime)
	defer cancel()
	return k.Cluster.WaitReady(ctx)
}

// Every kills the leader again and again, counted from the start of each, until ctx ends.
func (k *Killer) Every(ctx context.Context, every time.Duration) error {
	for {
		began := time.Now()
		if Sleep(ctx, every/2); ctx.Err() != nil {
			return nil
		}
		if err := k.Kill(context.WithoutCancel(ctx)); err != nil {
			return err
		}
		Sleep(ctx, every-time.Since(began))
	}
}

// Kills are the moments at which leaders were killed.
func (k *Killer) Kills() []time.Time {
	k.mu.Lock()
	defer k.mu.Unlock()
	return append([]time.Time(nil), k.kills...)
}

// Sleep waits, or returns with the end of ctx.
func Sleep(ctx context.Context, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
}

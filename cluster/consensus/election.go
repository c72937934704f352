package consensus

import (
	"context"
	"encoding/json"
	"errors"
	"net"
	"time"

	"github.com/hashicorp/raft"

	"github.com/trireme-dev/trireme/cluster/consensus/failover"
	"github.com/trireme-dev/trireme/cluster/consensus/replication"
	"github.com/trireme-dev/trireme/cluster/transport"
)

const (
	// consentTimeout bounds the question for consent to a campaign.
	consentTimeout = 100 * time.Millisecond
	// campaignTimeout bounds how long raft may take to begin a campaign.
	campaignTimeout = time.Second
)

var errNoCampaign = errors.New("cluster: raft did not begin a campaign")

// watchLeader makes this node campaign when its leader's process has died, or when a majority hears nothing from the leader.
func (r *Replica) watchLeader() *failover.Watcher {
	return failover.Start(failover.Config{
		Raft: r.raft, ID: raft.ServerID(r.c.ID), Campaign: r.Campaign, Silent: r.leaderSilent, SlowDisk: r.c.SlowDisk,
		Ask: func(s raft.Server, q failover.Ask) (failover.Answer, error) {
			return r.askConsent(string(s.Address), q)
		},
		Watch: func(addr raft.ServerAddress, timeout time.Duration) (net.Conn, error) {
			return r.c.Mux.DialPeer(string(addr), transport.ForWatch, timeout)
		},
		Log: func(s string) { r.c.Log.Info("failover: " + s) },
	})
}

// Campaign makes this node a candidate of the next term, whatever its role: a leader steps down. It is the library's
// TimeoutNow, which a leader sends to its successor: nothing else makes raft campaign before its timer has ended. The other
// voters vote although they have a leader, so only a node with their consent may call it.
func (r *Replica) Campaign() error {
	ctx, cancel := context.WithTimeoutCause(r.ctx, campaignTimeout, errNoCampaign)
	defer cancel()
	_, err := replication.Call(ctx, r.transport.toRaft, &raft.TimeoutNowRequest{RPCHeader: r.transport.sender.Header})
	return err
}

// askConsent asks another voter to agree to a campaign.
func (r *Replica) askConsent(addr string, q failover.Ask) (a failover.Answer, err error) {
	ctx, cancel := context.WithTimeout(context.Background(), consentTimeout)
	defer cancel()
	b, err := json.Marshal(q)
	if err != nil {
		return a, err
	}
	b, err = r.c.Pool.Ask(ctx, addr, r.c.Calls.Campaign, b)
	if err != nil {
		return a, err
	}
	return a, json.Unmarshal(b, &a)
}

// answerConsent answers another voter that asks for consent.
func (r *Replica) answerConsent(payload []byte, answer func([]byte, error)) {
	var q failover.Ask
	if err := json.Unmarshal(payload, &q); err != nil {
		answer(nil, err)
		return
	}
	answer(json.Marshal(r.watcher.Answer(q)))
}

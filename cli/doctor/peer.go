package doctor

import (
	"fmt"
	"time"

	"github.com/trireme-dev/trireme/cluster"
)

const (
	// slowReach is a time for a connection and an answer that slows elections and every
	// write.
	slowReach = 100 * time.Millisecond
	// A leader follows the clocks of a majority only if they are within 500 ms of one another.
	farClock  = 500 * time.Millisecond
	nearClock = 100 * time.Millisecond
)

// Peers judges all other nodes: whether each is reached and reaches back, its clock, its
// certificate, its gossip key. own is this node's cluster address.
func Peers(own string, peers []cluster.PeerReport, now time.Time) (all []Finding) {
	if len(peers) == 0 {
		return []Finding{found(checkPeer, "", OK, "", "there is no other node")}
	}
	for _, p := range peers {
		all = append(all, reachFindings(p, own)...)
		if p.There.Err != nil {
			continue
		}
		all = append(all, clockFinding(p))
		if p.SlowDisk > 0 {
			all = append(all, SlowDisk(p.ID, p.SlowDisk))
		}
		if !p.Until.IsZero() {
			advice := peerAdvice
			if p.Signed {
				advice = secretAdvice
			}
			if f := expiryFinding(p.ID, advice, p.From, p.Until, now); f.Level != OK {
				all = append(all, f)
			}
		}
		if p.Gossip != "" {
			all = append(all, gossipFinding(p))
		}
	}
	return all
}

func reachFindings(p cluster.PeerReport, own string) []Finding {
	if p.There.Err != nil {
		return []Finding{found(checkPeer, p.ID, Failure,
			fmt.Sprintf("see that %s runs and that this machine reaches %s (firewall, address, certificate)", p.ID, p.Addr), "it is not reached at %s: %v", p.Addr, p.There.Err)}
	}
	all := []Finding{reachFinding(p.ID, "reached at "+p.Addr, p.There.Took)}
	switch {
	case p.Back.Unasked:
		all = append(all, found(checkPeer, p.ID, Warning, "bring it to this node's version, then look again", "whether it reaches this node can't be known: its version doesn't try"))
	case p.Back.Err != nil:
		all = append(all, found(checkPeer, p.ID, Failure,
			fmt.Sprintf("see that %s reaches %s: the firewall on the way, and --cluster-advertise of this node", p.ID, own), "it does not reach this node at %s: %v", own, p.Back.Err))
	default:
		all = append(all, reachFinding(p.ID, "reaches this node at "+own, p.Back.Took))
	}
	return all
}

func reachFinding(id, what string, took time.Duration) Finding {
	level := OK
	if took >= slowReach {
		level = Warning
	}
	return found(checkPeer, id, level, "look at the network between the nodes, and at how busy both are: every write waits for it", "%s in %s", what, round(took))
}

func clockFinding(p cluster.PeerReport) Finding {
	const do = "let a time service (chrony, systemd-timesyncd) keep both clocks: a new leader trusts its own only if a majority agrees"
	off := p.Offset.Abs() - p.Blur // at least this much
	level := OK
	switch {
	case off >= farClock:
		level = Failure
	case off >= nearClock:
		level = Warning
	}
	if level == OK && p.Offset.Abs() <= p.Blur {
		return found(checkClock, p.ID, level, do, "its clock agrees within %s", round(p.Offset.Abs()+p.Blur))
	}
	return found(checkClock, p.ID, level, do, "its clock is %s %s, known within %s", round(p.Offset.Abs()), aheadOf(p.Offset), round(p.Blur))
}

func aheadOf(d time.Duration) string {
	if d < 0 {
		return "behind"
	}
	return "ahead"
}

func gossipFinding(p cluster.PeerReport) Finding {
	if p.Key != nil {
		return found(checkGossip, p.ID, Failure, "give all nodes the same --gossip-key, and let the gossip address through", "asked at %s: %v", p.Gossip, p.Key)
	}
	return found(checkGossip, p.ID, OK, "", "the keys agree")
}

// Versions judges this node's version and level against those of the others, and the
// level in force, 0 if that isn't known.
func Versions(version string, level, inForce uint32, peers []cluster.PeerReport) []Finding {
	differ := false
	all := []Finding{}
	for _, p := range peers {
		if p.There.Err != nil {
			continue
		}
		if p.Version != version || p.Level != level {
			differ = true
			all = append(all, found(checkVersion, p.ID, Warning, "finish the upgrade: bring all nodes to one version",
				"it runs %s (feature level %d), this node %s (%d)", p.Version, p.Level, version, level))
		}
	}
	switch {
	case inForce > level:
		all = append(all, found(checkVersion, "", Failure, "start this node with a newer version", "the cluster is at feature level %d, this version knows %d", inForce, level))
	case !differ && inForce == 0:
		all = append(all, found(checkVersion, "", OK, "", "%s, feature level %d", version, level))
	case !differ:
		all = append(all, found(checkVersion, "", OK, "", "%s on all nodes that answer, feature level %d, in force %d", version, level, inForce))
	}
	return all
}

// State judges whether a node that runs serves: ready is nil, or says what is missing.
func State(ready error, leader string) Finding {
	if ready != nil {
		return found(checkState, "", Failure, "see that a majority of the nodes runs and reach one another", "%v", ready)
	}
	return found(checkState, "", OK, "", "ready; %s leads", leader)
}

// SlowDisk says how long the disk of a running node has been slow.
func SlowDisk(node string, lasted time.Duration) Finding {
	return found(checkRunning, node, Warning, "look at the disk, and at what else writes to it: with a second slow disk every write waits for one of them",
		"its disk has been slow for %s; the node gives leadership away as long as the others' disks are fast", lasted.Round(time.Second))
}

// ClusterTime says how far cluster time is ahead of the wall clocks of a majority, or behind them if that is negative, and for
// how long it has been.
func ClusterTime(ahead, lasts time.Duration) Finding {
	where := "ahead of"
	if ahead < 0 {
		where = "behind"
	}
	return found(checkClock, "", Warning, "see that a time service (chrony, systemd-timesyncd) keeps the clocks of all nodes: schedules, Svc-Not-Before and EXPIREAT wait for them, and the difference ends by itself",
		"cluster time has been %v %s the clocks of a majority for %v", ahead.Abs().Round(100*time.Millisecond), where, lasts.Round(time.Second))
}

// Poison says before which entry of the log a node waits for its operator.
func Poison(node string, index uint64, database, operation string) Finding {
	if database == "" {
		return found(checkState, node, Failure, "start all nodes with a version in which the fault is mended: no quarantine helps, because the entry ended the node in the work of no database",
			"waits before log entry %d (%s), which has ended it twice", index, operation)
	}
	return found(checkState, node, Failure, "have the cluster go on without the database: trireme recover --quarantine "+database,
		"waits before log entry %d (%s), which has ended it twice in the work of database %s", index, operation, database)
}

// Settings judges settings that were refused: why says which and what to do.
func Settings(why error) Finding {
	return found(checkSettings, "", Failure, "correct the setting; `trireme serve --help` lists all", "%v", why)
}

// Start judges what would keep a node from starting: why says what and what to do.
func Start(why error) Finding {
	return found(checkStart, "", Failure, "the node would not start, or not find its cluster: correct the findings above", "%v", why)
}

// Unasked says that a node runs that could not be asked.
func Unasked() Finding {
	return found(checkState, "", Warning, "set TRIREME_ADMIN_TOKEN, and TRIREME_URL if need be: the node then diagnoses itself and the other nodes",
		"a process has the data directory open and was not asked")
}

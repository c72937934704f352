package queue

import (
	"fmt"
	"strings"

	"github.com/trireme-dev/trireme/fsm/cow"
)

// dump is a tree as text.
func dump[K, V any](t *cow.BTree[K, V]) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%d:", t.Len())
	t.All(func(k K, v V) bool {
		fmt.Fprintf(&b, " %v=%v", k, v)
		return true
	})
	return b.String()
}

// indices are all orders that are kept beside the records, as text.
func indices(s *Store) []string {
	return []string{
		"backlog " + dump(s.places.backlog), "slots " + dump(s.places.slots), "holding " + dump(s.places.holding), "due " + dump(s.places.due),
		"waiting " + dump(s.places.waiting), "running " + dump(s.places.running), "parked " + dump(s.places.parked), "leases " + dump(s.places.leases),
		"queues " + dump(s.queues.byName), "doomed " + dump(s.queues.deleted), "flows " + dump(s.flows.byName), "openings " + dump(s.flows.openings),
		"idle " + dump(s.flows.idle), "groups " + dump(s.groups.names), "ticks " + dump(s.schedules.ticks), "dedups " + dump(s.dedups.ends),
		"hurried " + dump(s.places.hurried.all), fmt.Sprint("first ", s.places.hurried.first), "lines " + dump(s.places.shares.lines), "turns " + dump(s.places.shares.turns), "debts " + dump(s.places.shares.debts),
		"idle shares " + dump(s.places.shares.idle), fmt.Sprint("urgent ", s.places.urgent, s.places.shares.memory),
		"keys " + dump(s.gathered.keys), "members " + dump(s.gathered.members), fmt.Sprint("triggers ", s.triggers.byName.Len(), len(s.triggers.rules)),
		fmt.Sprint("memory ", s.memory.live, s.memory.done, s.memory.dead, s.memory.fixed, s.trimmable),
	}
}

// checkStore fails unless all derived state follows from the records.
func checkStore(t tb, s *Store) {
	t.Helper()
	again := indices(restored(t, s))
	for i, have := range indices(s) {
		if have != again[i] {
			t.Fatalf("an index differs from what the records say\nhave %s\nwant %s", have, again[i])
		}
	}
	hosts := map[string]int{}
	live := map[uint64]int{}
	s.messages.All(func(_ uint64, m *Message) bool {
		if m.place == placeActive {
			hosts[m.claim.host]++
		}
		if m.flow != 0 && m.place != placeDone {
			live[m.flow]++
		}
		if m.place == placeDone {
			if !m.state.Final() {
				t.Fatalf("%s is done in state %s", m.ID, m.state)
			}
			_, event := s.events.byNo.Get(m.last)
			_, dead := s.dead.Get(Stamp{m.at, m.Seq})
			_, holds := s.places.holding.Get(member{m.queue, m.Seq})
			if !event && !dead && !holds {
				t.Fatalf("%s is kept for nothing", m.ID)
			}
		}
		return true
	})
	s.hosts.All(func(name string, h *host) bool {
		parked := waits(s.places.parked, h.no)
		if hosts[name] != h.active || h.active == 0 && !parked {
			t.Fatalf("host %s counts %d attempts, there are %d (parked %v)", name, h.active, hosts[name], parked)
		}
		delete(hosts, name)
		return true
	})
	if len(hosts) > 0 {
		t.Fatalf("hosts are not counted: %v", hosts)
	}
	s.flows.byNo.All(func(no uint64, f *FlowKey) bool {
		if live[no] != f.live {
			t.Fatalf("key %s counts %d messages, there are %d", f.Key, f.live, live[no])
		}
		return true
	})
	s.queues.byNo.All(func(no uint64, q *Queue) bool {
		used := count(s.places.slots, no) + count(s.places.holding, no)
		if waits(s.places.backlog, no) && !q.Paused && used < q.Parallelism {
			t.Fatalf("queue %s uses %d of %d slots and has messages without one", q.Name, used, q.Parallelism)
		}
		return true
	})
	checkShares(t, s)
	s.places.parked.All(func(m inLine, _ struct{}) bool {
		found := false
		s.hosts.All(func(_ string, h *host) bool { found = found || h.no == m.of; return !found })
		if !found {
			t.Fatalf("message %d is parked for a host that nobody knows", m.seq)
		}
		return true
	})
}

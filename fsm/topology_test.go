package fsm_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/trireme-dev/trireme/fsm"
	"github.com/trireme-dev/trireme/fsm/acl"
	"github.com/trireme-dev/trireme/fsm/command"
	"github.com/trireme-dev/trireme/fsm/reply"
)

// TestClusterIsToldAlike registers three nodes and asks each of them about the cluster:
// they differ in who is themselves, and in nothing else, also after a snapshot.
func TestClusterIsToldAlike(t *testing.T) {
	m := fsm.NewMachine()
	index := uint64(0)
	apply := func(code uint16, body []byte) {
		index++
		entry := fsm.Entry{Stamp: 1000, Term: 7, Requests: []fsm.Request{{Code: code, Body: body}}}
		if o, err := m.Apply(index, 7, entry.Encode()); err != nil || o[0].Err != nil {
			t.Fatalf("%v, %+v", err, o)
		}
	}
	apply(fsm.NewTerm.Code, fsm.NewTerm.Body(fsm.Term{Number: 7, Leader: "n2"}))
	for i := range 3 {
		apply(fsm.Register.Code, fsm.Register.Body(fsm.Registration{Node: fmt.Sprint("n", i+1), Disk: "d", Boot: 1, RESP: fmt.Sprint("h", i+1, ":6379")}))
	}
	ask := func(m *fsm.Machine, node string, words ...string) (v reply.Value) {
		m.SetHost(&command.Host{NodeID: node})
		var argv [][]byte
		for _, w := range words {
			argv = append(argv, []byte(w))
		}
		m.View(0, [16]byte{}, func(view *fsm.View) { v = view.Exec(acl.Trusted(acl.DefaultName), command.RESP, argv) })
		return v
	}
	ids := map[string]bool{}
	for _, node := range []string{"n1", "n2", "n3"} {
		id := ask(m, node, "CLUSTER", "MYID").Text()
		ids[id] = true
		lines := strings.Split(strings.TrimSuffix(ask(m, node, "CLUSTER", "NODES").Text(), "\n"), "\n")
		if len(id) != 40 || len(lines) != 3 || !strings.Contains(lines[0], " h2:6379@16379 ") || !strings.Contains(lines[0], "master - 0 0 7 connected 0-16383") {
			t.Fatalf("%s: %q", node, lines)
		}
		for _, line := range lines {
			if mine := strings.HasPrefix(line, id); strings.Contains(line, "myself") != mine {
				t.Errorf("%s is %s: %s", node, id, line)
			}
			if follows := strings.Fields(line)[3]; follows != "-" && !strings.HasPrefix(lines[0], follows) {
				t.Errorf("%s: %s", node, line)
			}
		}
		for _, words := range [][]string{{"CLUSTER", "SLOTS"}, {"CLUSTER", "SHARDS"}, {"CLUSTER", "INFO"}, {"CLUSTER", "MYSHARDID"}} {
			if one, other := ask(m, node, words...), ask(m, "n1", words...); !one.Equal(other) {
				t.Errorf("%v: %s is told %v, n1 %v", words, node, one, other)
			}
		}
	}
	if len(ids) != 3 {
		t.Errorf("ids %v", ids)
	}
	slots := ask(m, "n3", "CLUSTER", "SLOTS").Elems()
	if len(slots) != 1 || len(slots[0].Elems()) != 5 || slots[0].Elems()[2].Elems()[0].Text() != "h2" || slots[0].Elems()[2].Elems()[1].Int() != 6379 {
		t.Fatalf("%v", slots)
	}
	if lines := ask(m, "n1", "CLUSTER", "REPLICAS", slots[0].Elems()[2].Elems()[2].Text()).Elems(); len(lines) != 2 {
		t.Errorf("%v", lines)
	}
	restored := fsm.NewMachine()
	var snapshot strings.Builder
	if err := m.Fork().Write(&snapshot); err != nil {
		t.Fatal(err)
	}
	if err := restored.Restore(strings.NewReader(snapshot.String())); err != nil {
		t.Fatal(err)
	}
	if one, other := ask(m, "n1", "CLUSTER", "NODES"), ask(restored, "n1", "CLUSTER", "NODES"); !one.Equal(other) {
		t.Errorf("%v after a snapshot, %v before", other, one)
	}
}

// TestClusterWithoutPorts: nodes without a RESP port are known, but clients are not sent
// to them as long as there is another.
func TestClusterWithoutPorts(t *testing.T) {
	m := fsm.NewMachine()
	for i, resp := range []string{"", "0.0.0.0:7000", "[::1]:7001"} {
		entry := fsm.Entry{Stamp: 1000, Term: 1, Requests: []fsm.Request{{Code: fsm.Register.Code, Body: fsm.Register.Body(fsm.Registration{Node: fmt.Sprint("n", i), Disk: "d", Boot: 1, RESP: resp})}}}
		if _, err := m.Apply(uint64(i+1), 1, entry.Encode()); err != nil {
			t.Fatal(err)
		}
	}
	var slots reply.Value
	m.View(0, [16]byte{}, func(view *fsm.View) {
		slots = view.Exec(acl.Trusted(acl.DefaultName), command.OriginHTTP, [][]byte{[]byte("CLUSTER"), []byte("SLOTS")})
	})
	row := slots.Elems()[0].Elems()
	if len(row) != 4 || row[2].Elems()[0].Text() != "" || row[2].Elems()[1].Int() != 7000 || row[3].Elems()[0].Text() != "::1" {
		t.Errorf("%v", slots)
	}
}

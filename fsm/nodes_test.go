package fsm_test

import (
	"bytes"
	"reflect"
	"testing"

	"github.com/trireme-dev/trireme/fsm"
)

// TestNodesAreRememberedForEver admits nodes, has one leave, and finds that its id, and
// a known id with another disk, are never taken again, on this machine and on one that
// is restored from its snapshot.
func TestNodesAreRememberedForEver(t *testing.T) {
	m, index := fsm.NewMachine(), uint64(0)
	apply := func(m *fsm.Machine, code uint16, body []byte) any {
		t.Helper()
		index++
		entry := fsm.Entry{Stamp: 1000, Term: 7, Requests: []fsm.Request{{Code: code, Body: body}}}
		o, err := m.Apply(index, 7, entry.Encode())
		if err != nil || o[0].Err != nil {
			t.Fatalf("%v, %+v", err, o)
		}
		return o[0].Value
	}
	admit := func(m *fsm.Machine, r fsm.NodeRecord) fsm.NodeRecord {
		t.Helper()
		return apply(m, fsm.AdmitNode.Code, fsm.AdmitNode.Body(r)).(fsm.NodeRecord)
	}
	register := func(m *fsm.Machine, node, disk string) uint64 {
		t.Helper()
		return apply(m, fsm.Register.Code, fsm.Register.Body(fsm.Registration{Node: node, Disk: disk, Boot: 1})).(fsm.Session).ID
	}
	remove := func(m *fsm.Machine, r fsm.NodeRef) { apply(m, fsm.RemoveNode.Code, fsm.RemoveNode.Body(r)) }

	for _, r := range []fsm.NodeRecord{{Node: "n2", Disk: "d2"}, {Node: "n1", Disk: "d1"}, {Node: "n4", Disk: "d4", Replaces: "n2"}} {
		if got := admit(m, r); got != r {
			t.Fatalf("admitted %+v, remembered is %+v", r, got)
		}
	}
	if got := admit(m, fsm.NodeRecord{Node: "n4", Disk: "d4"}); got.Replaces != "n2" {
		t.Errorf("an admission that was repeated forgot whose place the node takes: %+v", got)
	}
	if got := admit(m, fsm.NodeRecord{Node: "n1", Disk: "other"}); got.Disk != "d1" {
		t.Errorf("a known id was given to another disk: %+v", got)
	}
	if register(m, "n1", "other") != 0 || register(m, "n1", "d1") == 0 || register(m, "n2", "d2") == 0 {
		t.Error("sessions don't follow the disks")
	}
	remove(m, fsm.NodeRef{Node: "n2", Leaving: true})
	if register(m, "n2", "d2") == 0 {
		t.Error("a node that leaves has no session while it finishes what it does")
	}
	remove(m, fsm.NodeRef{Node: "n2"})
	remove(m, fsm.NodeRef{Node: "n2", Leaving: true}) // late
	var snapshot bytes.Buffer
	if err := m.Fork().Write(&snapshot); err != nil {
		t.Fatal(err)
	}
	restored := fsm.NewMachine()
	if err := restored.Restore(&snapshot); err != nil {
		t.Fatal(err)
	}
	want := []fsm.NodeRecord{{Node: "n1", Disk: "d1"}, {Node: "n2", Disk: "d2", Status: fsm.Removed}, {Node: "n4", Disk: "d4", Replaces: "n2"}}
	for _, one := range []*fsm.Machine{m, restored} {
		var got []fsm.NodeRecord
		one.View(0, [16]byte{}, func(v *fsm.View) { got = v.Nodes() })
		if !reflect.DeepEqual(got, want) {
			t.Errorf("remembered is %+v", got)
		}
	}
	at := index
	for _, one := range []*fsm.Machine{m, restored} {
		index = at
		if got := admit(one, fsm.NodeRecord{Node: "n2", Disk: "d2"}); got.Status != fsm.Removed {
			t.Errorf("a removed node came back: %+v", got)
		}
		if register(one, "n2", "d2") != 0 {
			t.Error("a removed node has a session")
		}
	}
	if m.Fork().Digest() != restored.Fork().Digest() {
		t.Error("the restored machine went another way")
	}
}

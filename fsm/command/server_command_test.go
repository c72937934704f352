package command_test

import (
	"strings"
	"testing"

	"github.com/trireme-dev/trireme/fsm"
	"github.com/trireme-dev/trireme/fsm/acl"
	"github.com/trireme-dev/trireme/fsm/command"
	"github.com/trireme-dev/trireme/fsm/reply"
)

func view(m *fsm.Machine, origin command.Origin, words ...string) (v reply.Value) {
	var argv [][]byte
	for _, w := range words {
		argv = append(argv, []byte(w))
	}
	m.View(0, [16]byte{}, func(view *fsm.View) { v = view.Exec(acl.Trusted(acl.DefaultName), origin, argv) })
	return v
}

// TestCommandTellsTheTable compares COMMAND with its subcommands, whose replies grow
// with every family.
func TestCommandTellsTheTable(t *testing.T) {
	m := newMachine(t)
	whole, names := view(m, command.RESP, "COMMAND"), []string{}
	for _, name := range view(m, command.RESP, "COMMAND", "LIST").Elems() {
		if !strings.Contains(name.Text(), "|") { // those of subcommands stand behind
			names = append(names, name.Text())
		}
	}
	count := view(m, command.RESP, "COMMAND", "COUNT").Int()
	if count < 40 || len(whole.Elems()) != int(count) || len(names) != int(count) {
		t.Fatalf("COMMAND %d, COUNT %d, LIST %d", len(whole.Elems()), count, len(names))
	}
	for i, e := range whole.Elems() {
		name := names[i]
		if e.Elems()[0].Text() != name || len(e.Elems()) != 10 {
			t.Errorf("%s: %v", name, e)
		}
		if one := view(m, command.RESP, "COMMAND", "INFO", name); !one.Elems()[0].Equal(e) {
			t.Errorf("INFO %s: %v, want %v", name, one, e)
		}
	}
	if docs := view(m, command.RESP, "COMMAND", "DOCS"); len(docs.Elems()) == 0 {
		t.Error("no docs")
	}
	if v := view(m, command.OriginHTTP, "COMMAND"); len(v.Elems()) != 0 || v.Kind() != reply.KindArray {
		t.Errorf("over HTTP: %v", v)
	}
}

// TestHostIsTold asks a node that knows itself, first as leader, then as follower.
func TestHostIsTold(t *testing.T) {
	m := fsm.NewMachine()
	m.SetHost(&command.Host{NodeID: "n1", Version: "v1", Port: 8080, SavedMs: 5000, Leads: true, Leader: "h1:1", Others: []string{"h2:2", "h3:3"}})
	if v := view(m, command.RESP, "ROLE"); v.Elems()[0].Text() != "master" || len(v.Elems()[2].Elems()) != 2 || v.Elems()[2].Elems()[1].Elems()[1].Text() != "3" {
		t.Errorf("%v", v)
	}
	if v := view(m, command.RESP, "LASTSAVE"); v.Int() != 5 {
		t.Errorf("%v", v)
	}
	m.SetHost(&command.Host{NodeID: "n1", Leader: "h2:2"})
	if v := view(m, command.RESP, "ROLE"); v.Elems()[0].Text() != "slave" || v.Elems()[1].Text() != "h2" || v.Elems()[2].Int() != 2 || v.Elems()[3].Text() != "connected" {
		t.Errorf("%v", v)
	}
	if v := view(m, command.RESP, "INFO", "replication"); v.Text() != "# Replication\r\nrole:slave\r\nmaster_host:h2\r\nmaster_port:2\r\nmaster_link_status:up\r\nmaster_sync_in_progress:0\r\nslave_repl_offset:0\r\nslave_read_only:0\r\nconnected_slaves:0\r\nmaster_repl_offset:0\r\n" {
		t.Errorf("%v", v)
	}
}

package cluster_test

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/trireme-dev/trireme/cluster"
	"github.com/trireme-dev/trireme/cluster/clustertest"
	"github.com/trireme-dev/trireme/cluster/payloads"
	"github.com/trireme-dev/trireme/fsm"
	"github.com/trireme-dev/trireme/fsm/queue"
)

// bodyOf returns the body of a message as a node reads it from its own state.
func bodyOf(t *testing.T, n *cluster.Node, id queue.ID) (body []byte) {
	t.Helper()
	found := false
	_, err := n.Read(t.Context(), fsm.Reading{}, func(v *fsm.View) { // once it has applied what was published
		m, ok := v.Messages().Message(id, v.Now())
		if found = ok; ok {
			body = m.Content.Body
		}
	})
	if err != nil || !found {
		t.Fatalf("the message is there: %v (%v)", found, err)
	}
	return body
}

// TestDamagedBodyComesFromAnotherNode: all nodes have the bodies of waiting messages on their disks; those that are damaged on one
// are read right, because another node has them, and a node that starts again has them all.
func TestDamagedBodyComesFromAnotherNode(t *testing.T) {
	c := clustertest.Start(t, 3, nil)
	var ids []queue.ID
	body := func(i int) []byte { return bytes.Repeat([]byte{byte('a' + i)}, 3000+i) }
	for i := range 20 {
		p := queue.Publication{URL: "http://127.0.0.1:1", Body: body(i)}
		p.Delay, p.Given = 3_600_000, queue.GivenDelay
		out, err := fsm.Do(context.Background(), c.Nodes[i%3], fsm.Publish, queue.Publications{Items: []queue.Publication{p}})
		if err != nil {
			t.Fatal(err)
		}
		ids = append(ids, out.Items[0].Messages[0].ID)
	}
	for i := range c.Nodes {
		if _, err := c.Read(i, "GET", "none"); err != nil { // it has applied what was published
			t.Fatal(err)
		}
		if err := c.Nodes[i].MovePayloads(); err != nil {
			t.Fatal(err)
		}
	}
	files, err := filepath.Glob(filepath.Join(c.Dirs[1], payloads.Dir, "*.seg"))
	if err != nil || len(files) != 1 {
		t.Fatal(files, err)
	}
	damaged, err := os.ReadFile(files[0])
	if err != nil {
		t.Fatal(err)
	}
	for i := range damaged {
		damaged[i] ^= 0x55
	}
	if err := os.WriteFile(files[0], damaged, 0o600); err != nil {
		t.Fatal(err)
	}
	for i, id := range ids {
		for at := range c.Nodes {
			if got := bodyOf(t, c.Nodes[at], id); !bytes.Equal(got, body(i)) {
				t.Errorf("node %d has another body of message %d: %d bytes", at, i, len(got))
			}
		}
	}
	c.Stop(1)
	if err := c.Open(1); err != nil {
		t.Fatal(err)
	}
	c.WaitReady()
	if _, err := c.Read(1, "GET", "none"); err != nil {
		t.Fatal(err)
	}
	for i, id := range ids {
		if got := bodyOf(t, c.Nodes[1], id); !bytes.Equal(got, body(i)) {
			t.Errorf("after a start the node has another body of message %d", i)
		}
	}
}

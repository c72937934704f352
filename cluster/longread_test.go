package cluster_test

import (
	"context"
	"errors"
	"runtime"
	"testing"

	"github.com/trireme-dev/trireme/cluster/clustertest"
	"github.com/trireme-dev/trireme/fsm"
	"github.com/trireme-dev/trireme/fsm/acl"
	"github.com/trireme-dev/trireme/fsm/command"
	"github.com/trireme-dev/trireme/internal/testgate"
)

// TestLongReadsShareANode runs as many long reads of one database on a node as it may have. One more waits until its
// time is over. Its short reads and the long reads of others are served, and so are its own long reads when the first
// have ended.
func TestLongReadsShareANode(t *testing.T) {
	c := clustertest.Start(t, 1, nil)
	awaitLevel(t, c)
	n := c.Nodes[0]
	for _, name := range []string{"hog", "neighbour"} {
		tokens := fsm.DatabaseTokens{Name: name}
		tokens.Standard[0], tokens.ReadOnly[0] = 1, 2
		if _, err := fsm.Do(context.Background(), n, fsm.CreateDatabase, tokens); err != nil {
			t.Fatal(err)
		}
	}
	most := max(1, runtime.GOMAXPROCS(0)/2)
	leave, ended := testgate.New(t), make(chan error, most)
	for i := range most {
		go func() {
			_, err := n.Read(context.Background(), fsm.Reading{Long: true, Database: "hog"}, func(*fsm.View) { leave.Wait() })
			ended <- err
		}()
		leave.Reached(i + 1)
	}
	script := func(db string) func(*fsm.View) {
		as := acl.Trusted(acl.DefaultName)
		as.DB = db
		return func(v *fsm.View) {
			v.Exec(as, command.RESP, [][]byte{[]byte("EVAL_RO"), []byte("return 1"), []byte("0")})
		}
	}
	for name, r := range map[string]fsm.Reading{"said": {Long: true, Database: "hog"}, "found out": {Database: "hog"}} {
		ctx, cancel := context.WithCancel(context.Background())
		got := make(chan error, 1)
		go func() {
			_, err := n.Read(ctx, r, script("hog"))
			got <- err
		}()
		eventually(t, "the read waits for its turn", func() bool { return figure(t, c.Nodes, "trireme_reads_held") == 1 })
		cancel()
		if err := testgate.Receive(t, "the end of a read that has waited", got); !errors.Is(err, fsm.ErrReadShare) {
			t.Errorf("a long read too many, as is %s: %v", name, err)
		}
	}
	if _, err := n.Read(context.Background(), fsm.Reading{Database: "hog"}, func(*fsm.View) {}); err != nil {
		t.Errorf("a short read: %v", err)
	}
	for db, r := range map[string]fsm.Reading{"neighbour": {Database: "neighbour"}, "": {Long: true}} {
		if _, err := n.Read(context.Background(), r, script(db)); err != nil {
			t.Errorf("a long read of database %q: %v", db, err)
		}
	}
	leave.Open()
	for range most {
		if err := testgate.Receive(t, "the end of a long read", ended); err != nil {
			t.Error(err)
		}
	}
	if _, err := n.Read(context.Background(), fsm.Reading{Database: "hog"}, script("hog")); err != nil {
		t.Errorf("afterwards: %v", err)
	}
	if held := figure(t, c.Nodes, "trireme_reads_held"); held != 0 {
		t.Errorf("%v are held when all is done", held)
	}
}

package membership

import (
	"context"
	"io"
	"log"
	"testing"
	"time"
)

func openMembers(t *testing.T, id, cluster string, key []byte, seeds ...string) *Members {
	t.Helper()
	m, err := OpenMembers(MembersOptions{
		NodeID: id, ClusterID: cluster, Bind: "127.0.0.1:0", Key: key, HTTP: "127.0.0.1:1", Version: "v1", Level: 1,
		Seeds:  func(context.Context) []string { return seeds },
		Logger: log.New(io.Discard, "", 0),
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { m.Close() })
	return m
}

// awaitMembers returns when m sees exactly the nodes of ids.
func awaitMembers(t *testing.T, m *Members, ids ...string) {
	t.Helper()
	var seen []Member
	for deadline := time.Now().Add(time.Minute); time.Now().Before(deadline); time.Sleep(10 * time.Millisecond) {
		seen = m.List()
		same := len(seen) == len(ids)
		for i := range seen {
			same = same && seen[i].ID == ids[i]
		}
		if same {
			return
		}
	}
	t.Fatalf("members are %v, want %v", seen, ids)
}

func TestMembersFindEachOther(t *testing.T) {
	key := []byte("0123456789abcdef")
	a := openMembers(t, "n1", "one", key)
	b := openMembers(t, "n2", "one", key, a.Addr())
	c := openMembers(t, "n3", "one", key, b.Addr())
	for _, m := range []*Members{a, b, c} {
		awaitMembers(t, m, "n1", "n2", "n3")
	}
	if got := a.List()[1]; got != (Member{ID: "n2", Cluster: "one", HTTP: "127.0.0.1:1", Version: "v1", Level: 1}) {
		t.Errorf("n1 knows n2 as %+v", got)
	}
	if err := b.Close(); err != nil {
		t.Fatal(err)
	}
	awaitMembers(t, a, "n1", "n3")
}

func TestMembersOfAnotherClusterAreRefused(t *testing.T) {
	a := openMembers(t, "n1", "one", nil)
	for name, stranger := range map[string]*Members{
		"another label": openMembers(t, "n2", "two", nil),
		"another key":   openMembers(t, "n3", "one", []byte("0123456789abcdef")),
	} {
		if err := stranger.Join([]string{a.Addr()}); err == nil {
			t.Errorf("%s: the join was taken", name)
		}
	}
	awaitMembers(t, a, "n1")
}

// The label keeps strangers away by itself; the delegate is for those who got past it.
func TestDelegateRefusesStrangers(t *testing.T) {
	a := openMembers(t, "n1", "one", nil)
	b := openMembers(t, "n2", "two", nil)
	ours, theirs := &delegate{cluster: "one"}, b.list.LocalNode()
	if err := ours.NotifyAlive(theirs); err == nil {
		t.Error("a stranger is taken as alive")
	}
	if err := ours.NotifyMerge(append(a.list.Members(), theirs)); err == nil {
		t.Error("a list with a stranger in it is merged")
	}
	if err := ours.NotifyMerge(a.list.Members()); err != nil {
		t.Errorf("a list of our own is refused: %v", err)
	}
}

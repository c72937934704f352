package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/trireme-dev/trireme/fsm"
	"github.com/trireme-dev/trireme/jepsen/mutant"
	"github.com/trireme-dev/trireme/jepsen/testcluster"
)

const (
	poisonedDB = "shop"
	// poisonKeys is the number of keys in each database before the entry, and of those that default gets after it.
	poisonKeys = 50
	// poisonEnds bounds the number of times that each process ends at the entry.
	poisonEnds  = 2
	poisonLimit = 3 * time.Minute // of each step; a node needs seconds
)

// poisoned is the run poison: a planted fault ends every node at one entry of a database, whatever starts it again. At the third
// start they wait. The operator takes the database out, and everything else is served, everything acknowledged is there, and all
// nodes have the same state, also after they are killed again.
func poisoned(ctx context.Context, s *session) error {
	binary, err := testcluster.Build(filepath.Join(s.dir, "bin", "poison"), testcluster.BuildOptions{Race: s.race, Fault: &mutant.Poison})
	if err != nil {
		return err
	}
	dir, err := s.scratch()
	if err != nil {
		return err
	}
	c, err := testcluster.NewCluster(testcluster.Options{Binary: binary, Dir: dir})
	if err != nil {
		return err
	}
	s.cluster = c
	for _, n := range c.Nodes {
		n.Excuse() // they end by themselves
	}
	if err := errors.Join(c.Start(), waitReady(ctx, c, poisonLimit)); err != nil {
		return err
	}
	p := &poisoning{s: s, c: c, binary: binary}
	for _, step := range []struct {
		what string
		do   func(context.Context) error
	}{
		{"two databases were filled", p.fill},
		{"every node ended twice and waits", p.poison},
		{"they say so, and answer nothing", p.waiting},
		{"the operator's word for a database that is not it was refused", p.wrongWord},
		{"the cluster goes on without the database", p.word},
		{"everything else is there, on all nodes alike", p.others},
		{"so it is after all were killed", p.again},
		{"the database is back as it was before the entry", p.release},
	} {
		began := time.Now()
		within, cancel := context.WithTimeout(ctx, poisonLimit)
		err := step.do(within)
		cancel()
		if err != nil {
			return fmt.Errorf("%q did not come true: %w", step.what, err)
		}
		s.printf("%s (%v)", step.what, time.Since(began).Round(time.Millisecond))
	}
	return nil
}

// poisoning is the state of the run.
type poisoning struct {
	s      *session
	c      *testcluster.Cluster
	binary string
	shop   string // the token of the database
	later  int    // how many keys default has got behind the entry
}

// inShop sends a command to a node's database shop.
func (p *poisoning) inShop(ctx context.Context, node int, words ...string) (status int, reply string, err error) {
	client := testcluster.NewClient(p.c.Nodes[node].HTTP, p.shop)
	defer client.Close()
	body, err := json.Marshal(words)
	if err != nil {
		return 0, "", err
	}
	status, _, text, err := client.Call(ctx, http.MethodPost, "/db/"+poisonedDB, map[string]string{"Content-Type": "application/json"}, body)
	return status, string(text), err
}

// fill writes to both databases, through all nodes in turn.
func (p *poisoning) fill(ctx context.Context) error {
	status, body, err := p.c.Nodes[0].Admin().PostBody(ctx, "/admin/databases", map[string]string{"name": poisonedDB})
	var made struct{ Token string }
	if err == nil {
		err = json.Unmarshal(body, &made)
	}
	if err != nil || status != http.StatusCreated {
		return fmt.Errorf("create %s: status %d %s: %w", poisonedDB, status, body, err)
	}
	p.shop = made.Token
	for i := range poisonKeys {
		node := i % p.c.Size()
		if status, reply, err := p.inShop(ctx, node, "SET", fmt.Sprint("k", i), "v"); err != nil || status != http.StatusOK {
			return fmt.Errorf("write to %s: status %d %s: %w", poisonedDB, status, reply, err)
		}
		if r := p.c.Do(ctx, node, "SET", fmt.Sprint("k", i), "v"); r.Status != http.StatusOK {
			return fmt.Errorf("write to default: %+v", r)
		}
	}
	return nil
}

// poison sends the entry, and starts every process that has ended, as a service manager does, until all nodes wait.
func (p *poisoning) poison(ctx context.Context) error {
	if status, reply, err := p.inShop(ctx, 0, "SET", mutant.PoisonWord, "1"); err == nil && status == http.StatusOK {
		return fmt.Errorf("the nodes live: status %d %s", status, reply)
	}
	ends := make([]int, p.c.Size())
	return testcluster.Poll(ctx, 20*time.Millisecond, func() error {
		waiting := 0
		for i, n := range p.c.Nodes {
			if n.Pid() == 0 {
				if ends[i]++; ends[i] > poisonEnds {
					return testcluster.Permanent(fmt.Errorf("%s ended %d times:\n%s", n.ID, ends[i], n.Tail(20)))
				}
				if err := n.Start(); err != nil {
					return testcluster.Permanent(err)
				}
				continue
			}
			if waits, _ := p.poisonOf(ctx, n); waits != "" {
				waiting++
			}
		}
		if waiting < p.c.Size() {
			return fmt.Errorf("%d nodes wait; ends: %v", waiting, ends)
		}
		return nil
	})
}

// poisonOf is the database of the entry before which a node says that it waits itself.
func (p *poisoning) poisonOf(ctx context.Context, n *testcluster.Node) (database string, index uint64) {
	ctx, cancel := context.WithTimeout(ctx, 2*time.Second)
	defer cancel()
	status, body, err := n.Admin().Get(ctx, "/admin/cluster")
	var view struct {
		Nodes []struct {
			ID     string
			Poison *struct {
				Index    uint64
				Database string
			}
		}
	}
	if err != nil || status != http.StatusOK || json.Unmarshal(body, &view) != nil {
		return "", 0
	}
	for _, one := range view.Nodes {
		if one.ID == n.ID && one.Poison != nil {
			return one.Poison.Database, one.Poison.Index
		}
	}
	return "", 0
}

// waiting checks what nodes say that wait.
func (p *poisoning) waiting(ctx context.Context) error {
	for i, n := range p.c.Nodes {
		if database, index := p.poisonOf(ctx, n); database != poisonedDB || index == 0 {
			return fmt.Errorf("%s waits before entry %d of %q", n.ID, index, database)
		}
		for _, words := range [][]string{{"GET", "k1"}, {"SET", "k", "v"}} {
			if r := p.c.Do(ctx, i, words...); r.Status != http.StatusServiceUnavailable || !strings.Contains(r.Error, fsm.ErrPoison.Error()) {
				return fmt.Errorf("%s answers %v with %+v", n.ID, words, r)
			}
		}
		if status, body, err := n.Admin().Get(ctx, "/readyz"); err != nil || status != http.StatusServiceUnavailable || !strings.Contains(string(body), fsm.ErrPoison.Error()) {
			return fmt.Errorf("/readyz of %s: %d %s: %w", n.ID, status, body, err)
		}
	}
	if out, code := p.command(ctx, "recover"); code != 0 || strings.Count(out, "recover --quarantine "+poisonedDB) != p.c.Size() {
		return fmt.Errorf("trireme recover: exit code %d\n%s", code, out)
	}
	return nil
}

// command runs the command line against the first node.
func (p *poisoning) command(ctx context.Context, words ...string) (out string, code int) {
	cmd := exec.CommandContext(ctx, p.binary, append(words, "--url", "http://"+p.c.Nodes[0].HTTP)...)
	cmd.Env = append(os.Environ(), "TRIREME_ADMIN_TOKEN="+testcluster.AdminToken)
	b, err := cmd.CombinedOutput()
	if cmd.ProcessState == nil {
		return err.Error(), -1
	}
	return string(b), cmd.ProcessState.ExitCode()
}

// wrongWord names a database that the entry is not of.
func (p *poisoning) wrongWord(ctx context.Context) error {
	if out, code := p.command(ctx, "recover", "--quarantine", "default"); code == 0 || !strings.Contains(out, "of database "+poisonedDB) {
		return fmt.Errorf("exit code %d\n%s", code, out)
	}
	return nil
}

// word gives the right one.
func (p *poisoning) word(ctx context.Context) error {
	if out, code := p.command(ctx, "recover", "--quarantine", poisonedDB); code != 0 {
		return fmt.Errorf("exit code %d\n%s", code, out)
	}
	return p.c.WaitReady(ctx)
}

// others checks that default has everything, takes more, that shop is in quarantine, and that the states are equal.
func (p *poisoning) others(ctx context.Context) error {
	for i, n := range p.c.Nodes {
		for k := range poisonKeys + p.later {
			if r := p.c.Do(ctx, i, "GET", fmt.Sprint("k", k)); string(r.Result) != `"v"` {
				return fmt.Errorf("%s: k%d is %+v", n.ID, k, r)
			}
		}
		for _, words := range [][]string{{"GET", "k1"}, {"SET", "k", "v"}} {
			if status, reply, err := p.inShop(ctx, i, words...); err != nil || status != http.StatusServiceUnavailable || !strings.Contains(reply, "in quarantine") {
				return fmt.Errorf("%s answers %v of %s: status %d %s: %w", n.ID, words, poisonedDB, status, reply, err)
			}
		}
	}
	for i := range p.c.Nodes {
		if r := p.c.Do(ctx, i, "SET", fmt.Sprint("k", poisonKeys+p.later), "v"); r.Status != http.StatusOK {
			return fmt.Errorf("a write through %s: %+v", p.c.Nodes[i].ID, r)
		}
		p.later++
	}
	return p.equal(ctx)
}

// equal waits until all nodes have the same state: backups of what each has, without asking the others.
func (p *poisoning) equal(ctx context.Context) error {
	return testcluster.Poll(ctx, 100*time.Millisecond, func() error {
		states := map[string]bool{}
		for _, n := range p.c.Nodes {
			status, body, err := n.Admin().Get(ctx, "/admin/backup?stale=true")
			if err != nil || status != http.StatusOK {
				return fmt.Errorf("a backup of %s: status %d: %w", n.ID, status, err)
			}
			b, err := fsm.CheckBackup(bytes.NewReader(body))
			if err != nil {
				return fmt.Errorf("a backup of %s: %w", n.ID, err)
			}
			states[fmt.Sprint(b.Index, " ", b.Digest)] = true
		}
		if len(states) > 1 {
			return fmt.Errorf("the nodes have different states: %v", states)
		}
		return nil
	})
}

// again kills all nodes, which then apply their logs anew.
func (p *poisoning) again(ctx context.Context) error {
	if err := errors.Join(everyNode(p.c, (*testcluster.Node).Kill), p.c.Start(), p.c.WaitReady(ctx)); err != nil {
		return err
	}
	return p.others(ctx)
}

// release ends the quarantine.
func (p *poisoning) release(ctx context.Context) error {
	if out, code := p.command(ctx, "recover", "--release", poisonedDB); code != 0 {
		return fmt.Errorf("exit code %d\n%s", code, out)
	}
	for i, n := range p.c.Nodes {
		for k := range poisonKeys {
			if status, reply, err := p.inShop(ctx, i, "GET", fmt.Sprint("k", k)); err != nil || status != http.StatusOK || !strings.Contains(reply, `"v"`) {
				return fmt.Errorf("%s: k%d of %s: status %d %s: %w", n.ID, k, poisonedDB, status, reply, err)
			}
		}
		if status, reply, err := p.inShop(ctx, i, "SET", "after", "1"); err != nil || status != http.StatusOK {
			return fmt.Errorf("%s: a write to %s: status %d %s: %w", n.ID, poisonedDB, status, reply, err)
		}
	}
	return p.equal(ctx)
}

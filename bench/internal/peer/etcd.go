package peer

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/trireme-dev/trireme/bench/internal/load"
	"github.com/trireme-dev/trireme/bench/internal/proc"
)

// etcdMembers is the size of the peer cluster, the same as ours.
const etcdMembers = 3

// Etcd is three etcd members with their HTTP gateways.
type Etcd struct {
	Dialect
	URLs     []string
	children []*proc.Child
	dirs     []string
}

// StartEtcd starts three members with etcd's defaults and waits for a leader.
func (en *Env) StartEtcd(ctx context.Context) (*Etcd, error) {
	bin, err := program(en.Etcd)
	if err != nil {
		return nil, err
	}
	addrs, err := en.Ports.Addrs(2 * etcdMembers)
	if err != nil {
		return nil, err
	}
	e := &Etcd{Dialect: etcdDialect()}
	var members []string
	for i := range etcdMembers {
		e.URLs = append(e.URLs, "http://"+addrs[i])
		members = append(members, fmt.Sprintf("e%d=http://%s", i+1, addrs[etcdMembers+i]))
	}
	for i := range etcdMembers {
		if err := en.startMember(e, bin, i, "http://"+addrs[etcdMembers+i], strings.Join(members, ",")); err != nil {
			return nil, errors.Join(err, e.Stop())
		}
	}
	limit, cancel := within(ctx)
	defer cancel()
	for i, c := range e.children {
		if err := c.Await(limit, func() error { _, err := get(limit, e.URLs[i]+"/health", ""); return err }); err != nil {
			return nil, errors.Join(err, e.Stop())
		}
	}
	return e, nil
}

// startMember starts member i.
func (en *Env) startMember(e *Etcd, bin string, i int, peerURL, cluster string) error {
	name := fmt.Sprintf("e%d", i+1)
	dir, err := en.dir("etcd-" + name)
	if err != nil {
		return err
	}
	child, err := proc.Start(en.Logs, "etcd-"+name, nil, bin, "-name", name, "-dir", dir,
		"-client", e.URLs[i], "-peer", peerURL, "-cluster", cluster)
	if err != nil {
		return err
	}
	e.children, e.dirs = append(e.children, child), append(e.dirs, dir)
	return nil
}

// Leader returns the client URL of the member that leads.
func (e *Etcd) Leader(ctx context.Context) (string, error) {
	for _, u := range e.URLs {
		b, err := call(ctx, "POST", u+"/v3/maintenance/status", "", strings.NewReader("{}"))
		if err != nil {
			return "", err
		}
		var s struct {
			Header struct {
				Member string `json:"member_id"`
			} `json:"header"`
			Leader string `json:"leader"`
		}
		if err := json.Unmarshal(b, &s); err != nil {
			return "", fmt.Errorf("etcd status: %w", err)
		}
		if s.Leader == s.Header.Member {
			return u, nil
		}
	}
	return "", errors.New("etcd has no leader")
}

// Version returns the version that the first member reports, or the error.
func (e *Etcd) Version(ctx context.Context) string {
	b, err := get(ctx, e.URLs[0]+"/version", "")
	if err != nil {
		return err.Error()
	}
	var v struct {
		Server string `json:"etcdserver"`
	}
	if err := json.Unmarshal(b, &v); err != nil {
		return err.Error()
	}
	return v.Server
}

// Preload writes keys in order through the leader.
func (e *Etcd) Preload(ctx context.Context, keys int) error {
	leader, err := e.Leader(ctx)
	if err != nil {
		return err
	}
	return preload(ctx, At(e.Fill, leader), keys, "etcd")
}

// Stop ends the members and removes their data.
func (e *Etcd) Stop() error {
	var errs []error
	for _, c := range e.children {
		errs = append(errs, c.Kill())
	}
	for _, d := range e.dirs {
		errs = append(errs, os.RemoveAll(d))
	}
	return errors.Join(errs...)
}

// preload runs a Fill spec for at least keys keys and wants every reply good.
func preload(ctx context.Context, fill load.Spec, keys int, name string) error {
	rows := max(fill.Rows, 1)
	fill.Name, fill.Conns, fill.Requests = "loading keys into "+name, 8, uint64((keys+rows-1)/rows)
	fill.Timeout = startLimit
	r, err := load.Run(ctx, fill)
	if err != nil {
		return err
	}
	return r.Failed()
}

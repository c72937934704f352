package scenario

import (
	"context"
	"errors"

	"github.com/trireme-dev/trireme/bench/internal/load"
	"github.com/trireme-dev/trireme/bench/internal/peer"
)

// httpConns is the number of connections of rows 1 to 5.
const httpConns = 64

// side is one server or cluster of a row: what to measure, and how to end it.
type side struct {
	set, get *subject
	leader   *peer.Node // ours only
	urls     []string   // of all nodes, ours only
	stop     func()
}

// absent is the side of a server that could not be started or prepared. Its
// subjects carry the reason into the rows.
func absent(name string, err error) side {
	return side{set: &subject{name: name + " SET", err: err}, get: &subject{name: name + " GET", err: err}, stop: func() {}}
}

// over completes a dialect's spec for the HTTP rows.
func (b *Bench) over(spec load.Spec, urls ...string) load.Spec {
	spec = peer.At(spec, urls...)
	spec.Conns, spec.Keys = httpConns, b.Keys
	return spec
}

// stopping returns a function that ends s and logs what goes wrong: the
// figures stand either way.
func (b *Bench) stopping(s interface{ Stop() error }) func() {
	return func() {
		if err := s.Stop(); err != nil {
			b.Log("  stopping: %v", err)
		}
	}
}

// cluster starts three nodes of the product and loads keys.
func (b *Bench) cluster(ctx context.Context) (*peer.Trireme, error) {
	t, err := b.Env.StartCluster(ctx)
	if err != nil {
		return nil, err
	}
	if err := t.Preload(ctx, b.Keys); err != nil {
		return nil, errors.Join(err, t.Stop())
	}
	b.noteVersion(ctx, t)
	return t, nil
}

// noteVersion puts our version into the report.
func (b *Bench) noteVersion(ctx context.Context, t *peer.Trireme) {
	s, err := t.Status(ctx)
	if err != nil || len(s.Nodes) == 0 {
		b.Log("  no version of ours: %v", err)
		return
	}
	b.Servers["trireme"] = s.Nodes[0].Version
}

// writeURLs returns the URLs that take writes: the leader's, or those of all nodes.
func (b *Bench) writeURLs(leader string, all []string) []string {
	if b.WritesToAll {
		return all
	}
	return []string{leader}
}

// ourCluster is three nodes of the product: writes as b.WritesToAll says, reads
// through all.
func (b *Bench) ourCluster(ctx context.Context) side {
	t, err := b.cluster(ctx)
	if err != nil {
		return absent("ours", err)
	}
	leader, _, _, err := t.Leader(ctx)
	if err != nil {
		return absent("ours", errors.Join(err, t.Stop()))
	}
	return side{
		set:    b.loading("ours SET", b.over(t.Set, b.writeURLs(leader.URL, t.URLs())...)),
		get:    b.loading("ours GET", b.over(t.Get, t.URLs()...)),
		leader: leader, urls: t.URLs(), stop: b.stopping(t),
	}
}

// ourDev is a node of the product.
func (b *Bench) ourDev(ctx context.Context) side {
	t, err := b.Env.StartDev(ctx)
	if err != nil {
		return absent("ours", err)
	}
	if err := t.Preload(ctx, b.Keys); err != nil {
		return absent("ours", errors.Join(err, t.Stop()))
	}
	return side{
		set:    b.loading("ours SET", b.over(t.Set, t.URLs()...)),
		get:    b.loading("ours GET", b.over(t.Get, t.URLs()...)),
		leader: t.Nodes[0], stop: b.stopping(t),
	}
}

// etcd is three etcd members, addressed as our nodes are.
func (b *Bench) etcd(ctx context.Context) side {
	e, err := b.Env.StartEtcd(ctx)
	if err != nil {
		return absent("etcd", err)
	}
	leader, err := e.Leader(ctx)
	if err == nil {
		err = e.Preload(ctx, b.Keys)
	}
	if err != nil {
		return absent("etcd", errors.Join(err, e.Stop()))
	}
	b.Servers["etcd"] = e.Version(ctx)
	return side{
		set:  b.loading("etcd SET", b.over(e.Set, b.writeURLs(leader, e.URLs)...)),
		get:  b.loading("etcd GET", b.over(e.Get, e.URLs...)),
		stop: b.stopping(e),
	}
}

// webdis is webdis in front of a durable redis-server.
func (b *Bench) webdis(ctx context.Context) side {
	w, err := b.Env.StartWebdis(ctx)
	if err != nil {
		return absent("webdis", err)
	}
	if err := w.Redis.Fill(b.Keys); err != nil {
		return absent("webdis", errors.Join(err, w.Stop()))
	}
	b.noteRedis(w.Redis)
	return side{
		set:  b.loading("webdis SET", b.over(w.Set, w.URL)),
		get:  b.loading("webdis GET", b.over(w.Get, w.URL)),
		stop: b.stopping(w),
	}
}

// noteRedis puts redis-server's version into the report.
func (b *Bench) noteRedis(r *peer.Redis) {
	v, err := r.Info("redis_version")
	if err != nil {
		b.Log("  no version of redis-server: %v", err)
		return
	}
	b.Servers["redis-server"] = v
}

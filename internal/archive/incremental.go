package archive

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"slices"
	"sync"
	"time"

	"filippo.io/age"
)

// Source is a state that is to be kept.
type Source struct {
	// Cluster is the id of the cluster.
	Cluster string
	// Write writes the backup. It names payloads if Payloads is not nil.
	Write func(io.Writer) error
	// Payloads calls each with every payload that the backup names, in the same order each time, with some more than once. It is
	// nil for a backup that has everything in itself.
	Payloads func(each func(Payload) error) error
	// Key makes the ids of payloads: a secret of the cluster.
	Key [32]byte
}

const (
	// mostTaken bounds the time for which a backup is under way. A pack that no backup names is removed only after longer.
	mostTaken = 10 * time.Hour
	// condemnedFor is the time from when a pack is seen to be needed no more until it is removed. It is longer than mostTaken by
	// more than the clocks of nodes differ.
	condemnedFor = 20 * time.Hour
	// headReaders is the number of packs whose heads are read at the same time.
	headReaders = 8
	// checkedShare is the mean number of backups between two that read a pack whole.
	checkedShare = 16
)

// writing is an incremental backup that is under way.
type writing struct {
	a   Archive
	src Source
	to  []age.Recipient
	now time.Time
	log *slog.Logger
	// packSize and leastUsed are the constants, or those of a test.
	packSize, leastUsed int

	mu    sync.Mutex
	left  map[payloadID]bool // the payloads that no pack has that the backup is to name
	packs []string           // that the backup is to name
	bytes int64              // written
	fill  packing
}

// writeIncremental keeps a backup: packs with what the archive lacks, and then the manifest that names all packs it needs. It
// returns the number of bytes that it has written.
func (s *Schedule) writeIncremental(ctx context.Context, src Source, now time.Time) (written int64, name string, err error) {
	ctx, cancel := context.WithTimeout(ctx, mostTaken)
	defer cancel()
	w := &writing{
		a: s.Archive, src: src, to: s.Recipients, now: now, log: s.Log, left: map[payloadID]bool{},
		packSize: cmp.Or(s.packSize, packSize), leastUsed: cmp.Or(s.leastUsed, leastUsed),
	}
	w.src.Key = keyFor(src.Key, s.Recipients)
	name = manifestName(src.Cluster, now, len(s.Recipients) > 0)
	if err := src.Payloads(func(p Payload) error {
		w.left[idOf(&w.src.Key, p.Digest())] = true
		return ctx.Err()
	}); err != nil {
		return 0, name, err
	}
	if err := w.find(ctx); err != nil {
		return 0, name, fmt.Errorf("archive: read the packs in %s: %w", w.a, err)
	}
	err = src.Payloads(func(p Payload) error {
		id := idOf(&w.src.Key, p.Digest())
		if !w.left[id] {
			return ctx.Err()
		}
		delete(w.left, id)
		return w.pack(ctx, id, p)
	})
	if err == nil {
		err = w.flush(ctx)
	}
	if err != nil {
		return w.bytes, name, fmt.Errorf("archive: keep payloads in %s: %w", w.a, err)
	}
	n, err := put(ctx, w.a, name, func(out io.Writer) error { return writeManifest(out, w.packs, w.to, src.Write) })
	return w.bytes + n, name, err
}

// find chooses the packs to name among those that are there, and removes what they have from left.
func (w *writing) find(ctx context.Context) error {
	names, err := w.a.Names(ctx)
	if err != nil {
		return err
	}
	condemned, err := readCondemned(ctx, w.a, names, w.src.Cluster)
	if err != nil {
		return err
	}
	var (
		all  sync.WaitGroup
		turn = make(chan struct{}, headReaders)
	)
	for _, name := range names {
		p, ok := parsePack(name)
		if !ok || p.cluster != w.src.Cluster || condemned.has(p) || p.sealed != (len(w.to) > 0) {
			continue
		}
		turn <- struct{}{}
		all.Go(func() {
			defer func() { <-turn }()
			if err := w.consider(ctx, p); err != nil && ctx.Err() == nil {
				w.log.Warn("a pack in the archive is not used: what the backup needs of it is written again", "name", p.name, "error", err)
			}
		})
	}
	all.Wait()
	slices.Sort(w.packs)
	return ctx.Err()
}

// consider names a pack if the backup needs enough of it. One in checkedShare is read whole, so that damage is noticed sometime.
func (w *writing) consider(ctx context.Context, p packName) error {
	r, err := w.a.Get(ctx, p.name)
	if err != nil {
		return err
	}
	defer r.Close()
	var in io.Reader = r
	sum := sha256.New()
	check := rand.IntN(checkedShare) == 0
	if check {
		in = io.TeeReader(r, sum)
	}
	items, err := readPackHead(in)
	if err != nil {
		return err
	}
	if check {
		if _, err := io.Copy(io.Discard, in); err != nil {
			return err
		}
		if hex.EncodeToString(sum.Sum(nil)) != p.digest {
			return fmt.Errorf("%w: it has another digest than its name says", ErrDamaged)
		}
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	used := 0
	for i := range items {
		if w.left[items[i].id] {
			used += int(items[i].length)
		}
	}
	if used < w.leastUsed {
		return nil
	}
	for i := range items {
		delete(w.left, items[i].id)
	}
	w.packs = append(w.packs, p.name)
	return nil
}

// pack adds a payload to the pack that is filling.
func (w *writing) pack(ctx context.Context, id payloadID, p Payload) error {
	if n := p.Len(); w.fill.size > 0 && w.fill.size+n > w.packSize {
		if err := w.flush(ctx); err != nil {
			return err
		}
	}
	return w.fill.add(id, p.Bytes())
}

// flush keeps the pack that is filling.
func (w *writing) flush(ctx context.Context) error {
	if w.fill.size == 0 {
		return nil
	}
	file, digest, err := w.fill.end(w.to)
	if err != nil {
		return err
	}
	name := packNameOf(w.src.Cluster, w.now, digest, len(w.to) > 0)
	if err := w.a.Put(ctx, name, bytes.NewReader(file)); err != nil {
		return err
	}
	w.packs, w.bytes = append(w.packs, name), w.bytes+int64(len(file))
	return nil
}

// put keeps what write writes, and returns its length in bytes.
func put(ctx context.Context, a Archive, name string, write func(io.Writer) error) (int64, error) {
	r, w := io.Pipe()
	count := &counter{w: w}
	done := make(chan struct{})
	go func() {
		defer close(done)
		w.CloseWithError(write(count))
	}()
	err := a.Put(ctx, name, r)
	r.CloseWithError(err) // ends the writer when the archive has given up
	<-done
	if err != nil {
		return count.n, fmt.Errorf("archive: keep %s in %s: %w", name, a, err)
	}
	return count.n, nil
}

package archive

import (
	"bufio"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"slices"
	"strings"
	"time"
)

// Packs are removed in two steps, because a backup may be under way on another node that has seen a pack and is about to name it.
// First a pack that no backup names is condemned: a list in the archive has its name, and no backup that begins
// afterwards uses it. The pack is removed after condemnedFor if no backup names it then: those that had begun before have ended, or
// given up (mostTaken).

// condemned are the packs that no new backup may name.
type condemned struct {
	lists []condemnedList
	// before: all packs up to this time are, because a list is damaged.
	before time.Time
}

// condemnedList is a file with names of packs.
type condemnedList struct {
	name  string
	at    time.Time
	packs []string
}

func (c *condemned) has(p packName) bool {
	return !p.at.After(c.before) || slices.ContainsFunc(c.lists, func(l condemnedList) bool { return slices.Contains(l.packs, p.name) })
}

// condemnedName is the name of a new list.
func condemnedName(cluster string, at time.Time) string {
	return stem(cluster, at) + "-" + strings.ToLower(rand.Text()) + condemnedSuffix
}

// readCondemned reads the lists among the files with some names.
func readCondemned(ctx context.Context, a Archive, names []string, cluster string) (*condemned, error) {
	c := &condemned{}
	for _, name := range names {
		rest, is := strings.CutSuffix(name, condemnedSuffix)
		i := strings.LastIndexByte(rest, '-')
		if !is || i < 0 {
			continue
		}
		of, at, ok := parseStem(rest[:i])
		if !ok || of != cluster {
			continue
		}
		r, err := a.Get(ctx, name)
		if errors.Is(err, ErrNotThere) {
			continue // done meanwhile: what it lists is gone, or is named by a backup
		}
		if err != nil {
			return nil, err
		}
		packs, err := readList(r)
		r.Close()
		switch {
		case errors.Is(err, ErrDamaged):
			c.before = later(c.before, at)
		case err != nil:
			return nil, err
		}
		c.lists = append(c.lists, condemnedList{name: name, at: at, packs: packs})
	}
	return c, nil
}

func later(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}

// writeList writes names, one a line, and a checksum.
func writeList(packs []string) string {
	text := strings.Join(packs, "\n") + "\n"
	return text + fmt.Sprintf("crc32c %08x\n", crc32.Checksum([]byte(text), castagnoli))
}

// readList reads what writeList wrote. The errors are ErrDamaged and those of r.
func readList(r io.Reader) (packs []string, err error) {
	text, err := io.ReadAll(bufio.NewReader(r))
	if err != nil {
		return nil, err
	}
	lines := strings.Split(strings.TrimSuffix(string(text), "\n"), "\n")
	packs = lines[:len(lines)-1]
	if writeList(packs) != string(text) {
		return nil, fmt.Errorf("%w: it has another checksum than it says", ErrDamaged)
	}
	return packs, nil
}

// prunePacks removes the packs that no backup of the cluster names, in two steps. It removes nothing if it can't read which packs each
// backup names.
func prunePacks(ctx context.Context, a Archive, cluster string, now time.Time) (removed int, err error) {
	names, err := a.Names(ctx)
	if err != nil {
		return 0, err
	}
	c, err := readCondemned(ctx, a, names, cluster)
	if err != nil {
		return 0, err
	}
	needed, err := namedPacks(ctx, a, names, cluster)
	if err != nil {
		return 0, err
	}
	for _, l := range c.lists {
		if now.Sub(l.at) < condemnedFor {
			continue
		}
		for _, name := range l.packs {
			if needed[name] || !slices.Contains(names, name) {
				continue
			}
			if err := a.Remove(ctx, name); err != nil {
				return removed, fmt.Errorf("archive: remove %s: %w", name, err)
			}
			removed++
		}
		if err := a.Remove(ctx, l.name); err != nil {
			return removed, fmt.Errorf("archive: remove %s: %w", l.name, err)
		}
	}
	var list []string
	for _, name := range names {
		if p, ok := parsePack(name); ok && p.cluster == cluster && !needed[name] && now.Sub(p.at) > mostTaken && !c.has(p) {
			list = append(list, name)
		}
	}
	if len(list) == 0 {
		return removed, nil
	}
	return removed, a.Put(ctx, condemnedName(cluster, now), strings.NewReader(writeList(list)))
}

// namedPacks returns the packs that the backups of a cluster name.
func namedPacks(ctx context.Context, a Archive, names []string, cluster string) (map[string]bool, error) {
	needed := map[string]bool{}
	for _, name := range names {
		b, ok := ParseName(name)
		if !ok || !b.Packed || b.Cluster != cluster {
			continue
		}
		packs, err := packsOf(ctx, a, name)
		if errors.Is(err, ErrNotThere) {
			continue // removed meanwhile
		}
		if err != nil {
			return nil, fmt.Errorf("archive: %s: %w", name, err)
		}
		for _, p := range packs {
			needed[p] = true
		}
	}
	return needed, nil
}

// packsOf reads which packs a backup names.
func packsOf(ctx context.Context, a Archive, name string) ([]string, error) {
	r, err := a.Get(ctx, name)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	return readManifestHead(bufio.NewReader(r))
}

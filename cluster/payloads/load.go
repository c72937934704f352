package payloads

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"

	"github.com/trireme-dev/trireme/fsm/payload"
)

// loaders is the number of segments that a start reads at the same time.
const loaders = 4

// load takes in the segments on the disk, and removes what is none.
func (s *Store) load() error {
	files, err := os.ReadDir(s.dir)
	if err != nil {
		return fmt.Errorf("read the directory of payloads: %w", err)
	}
	var (
		turn  = make(chan struct{}, loaders)
		all   sync.WaitGroup
		mu    sync.Mutex
		fails []error
	)
	for _, f := range files {
		path := filepath.Join(s.dir, f.Name())
		no, err := strconv.ParseUint(strings.TrimSuffix(f.Name(), ".pay"), 16, 32)
		if err != nil || f.Name() != name(uint32(no)) {
			if err := os.RemoveAll(path); err != nil { // of a former version, which took its files for nothing after its end
				return fmt.Errorf("empty the directory of payloads: %w", err)
			}
			continue
		}
		turn <- struct{}{}
		all.Go(func() {
			defer func() { <-turn }()
			if err := s.loadSegment(path, uint32(no)); err != nil {
				mu.Lock()
				defer mu.Unlock()
				fails = append(fails, fmt.Errorf("read payloads: %w", err))
			}
		})
	}
	all.Wait()
	s.segments.created.Store(1) // names of files may not be durable yet
	return errors.Join(fails...)
}

// loadSegment takes in a segment.
func (s *Store) loadSegment(path string, no uint32) error {
	f, err := os.OpenFile(path, os.O_RDWR, 0o600)
	if err != nil {
		return err
	}
	info, err := f.Stat()
	if err != nil {
		return err
	}
	g := &segment{no: no, file: f}
	begin := make([]byte, beginSize)
	if _, err := f.ReadAt(begin, 0); err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	var items []item
	var size int64
	whole, ok := false, false
	if g.salt, ok = saltOf(begin); ok {
		items, size = readList(f, info.Size(), g.salt)
		if whole = items != nil; !whole {
			if items, size, err = s.salvage(f, g.salt); err != nil {
				return err
			}
		}
	}
	if len(items) == 0 {
		s.opts.Log.Info("a segment without payloads is removed", "file", path, "bytes", info.Size())
		return errors.Join(f.Close(), os.Remove(path))
	}
	g.count, g.size = len(items), size
	for i := range items {
		g.table.add(items[i])
		g.raw += int64(items[i].length)
		s.index.set(&items[i].digest, at(no, items[i].position))
	}
	if whole {
		g.synced = g.size
		g.table.completed(g.size)
	} else if err := s.complete(g); err != nil && g.synced < g.size {
		return err
	} else if err != nil {
		s.opts.Log.Warn("a segment of payloads was not completed", "file", path, "error", err) // the next start reads it whole again
	}
	s.segments.mu.Lock()
	defer s.segments.mu.Unlock()
	s.segments.all[no] = g
	s.segments.last = max(s.segments.last, no)
	s.segments.files.Add(1)
	s.segments.bytes.Add(g.size)
	return nil
}

// readList returns the list of a segment and the size of what precedes it. It returns nil if there is no sound one.
func readList(f *os.File, size int64, s salt) ([]item, int64) {
	end := make([]byte, listEnd)
	if size < int64(listEnd) {
		return nil, 0
	}
	if _, err := f.ReadAt(end, size-int64(listEnd)); err != nil {
		return nil, 0
	}
	n := listSize(end)
	if n == 0 || n > size-int64(beginSize) {
		return nil, 0
	}
	b := make([]byte, n)
	if _, err := f.ReadAt(b, size-n); err != nil {
		return nil, 0
	}
	items, ok := parseList(b, s)
	if !ok || len(items) == 0 {
		return nil, 0
	}
	return items, size - n
}

// salvage reads a segment whole and returns the payloads that are sound, wherever they are. What follows the last one is left to
// complete to overwrite.
func (s *Store) salvage(f *os.File, of salt) (items []item, size int64, err error) {
	b, err := os.ReadFile(f.Name())
	if err != nil {
		return nil, 0, err
	}
	seen, lost := map[payload.Digest]bool{}, 0
	for pos := beginSize; pos < len(b); {
		h, ok := parseHead(b[pos:], of)
		if ok {
			_, ok = h.unpack(b[pos:])
		}
		if !ok {
			lost++
			next := bytes.Index(b[pos+1:], []byte(headMagic))
			if next < 0 {
				break
			}
			pos += 1 + next
			continue
		}
		if !seen[h.digest] {
			seen[h.digest] = true
			items = append(items, item{position: uint32(pos), length: uint32(h.length), digest: h.digest})
		}
		pos += headSize + h.stored
		size = int64(pos)
	}
	s.opts.Log.Info("a segment of payloads was not complete, and is read whole", "file", f.Name(), "payloads", len(items), "bytes", size, "left", int64(len(b))-size, "faults", lost)
	return items, size, nil
}

package cluster

import (
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
)

const (
	// acquaintancesFile is where acquaintances are kept.
	acquaintancesFile = "acquaintances.json"
	// keptProcesses is how many of its processes a disk remembers. They fit into a greeting.
	keptProcesses = 64
)

// acquaintance is the last process of another node's disk that this node has spoken with.
type acquaintance struct {
	Disk string `json:"disk"`
	started
}

// acquaintances are those of a node, by node id, and the processes that its own disk has had. They are on the disk before
// any of them is spoken with. So whatever a process has promised to this node, a vote or an entry: nobody whose disk has
// forgotten that process is taken for its successor.
type acquaintances struct {
	dir    string
	warn   func(text string, args ...any)
	mine   []started
	known  atomic.Pointer[map[string]acquaintance] // never changed in place
	change sync.Mutex
}

// remembered is what the file holds.
type remembered struct {
	Mine  []started               `json:"mine"`
	Nodes map[string]acquaintance `json:"nodes"`
}

// checked is the file: what it holds, and the checksum of that. A flipped bit would otherwise turn a good node away.
type checked struct {
	Content json.RawMessage `json:"content"`
	Sum     string          `json:"sum"`
}

// openAcquaintances reads the file of a data directory and adds the process that begins now, the boot-th of the disk.
func openAcquaintances(dir string, boot uint64, process string, warn func(text string, args ...any)) (*acquaintances, error) {
	path := filepath.Join(dir, acquaintancesFile)
	was, err := readAcquaintances(path)
	if err != nil {
		return nil, fmt.Errorf("%s is damaged (%w); move the directory aside and let the node come back under a new id", path, err)
	}
	if was.Nodes == nil {
		was.Nodes = map[string]acquaintance{}
	}
	a := &acquaintances{dir: dir, warn: warn, mine: append(was.Mine, started{boot, process})}
	a.mine = a.mine[max(len(a.mine)-keptProcesses, 0):]
	a.known.Store(&was.Nodes)
	return a, a.save(was.Nodes)
}

// readAcquaintances reads the file, of which a directory of old has none.
func readAcquaintances(path string) (r remembered, err error) {
	b, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return r, nil
	}
	if err != nil {
		return r, err
	}
	var c checked
	if err := json.Unmarshal(b, &c); err != nil {
		return r, err
	}
	if checksum(c.Content) != c.Sum {
		return r, errors.New("checksum mismatch")
	}
	return r, json.Unmarshal(c.Content, &r)
}

func checksum(b []byte) string { return fmt.Sprintf("%08x", crc32.Checksum(b, castagnoli)) }

// meet judges a process of a node, and remembers it if it is a later one. The error is ErrRolledBack.
func (a *acquaintances) meet(node string, i introduction) error {
	if i.last().Process == "" {
		return nil
	}
	if known, err := a.judge(node, i); known || err != nil {
		return err
	}
	a.change.Lock()
	defer a.change.Unlock()
	if known, err := a.judge(node, i); known || err != nil { // another connection was quicker
		return err
	}
	next := maps.Clone(*a.known.Load())
	next[node] = acquaintance{i.disk, i.last()}
	if err := a.save(next); err != nil { // a full disk must not keep others out
		a.warn("the process of another node can't be remembered", "node", node, "error", err)
	}
	a.known.Store(&next)
	return nil
}

// judge tells whether a process is the last one known of its disk. The error says that it is no successor of that one.
func (a *acquaintances) judge(node string, i introduction) (known bool, err error) {
	last, some := (*a.known.Load())[node]
	now := i.last()
	switch {
	case !some || last.Disk != i.disk:
		return false, nil
	case now == last.started:
		return true, nil
	case now.Boot > last.Boot && i.follows(last.started):
		return false, nil
	}
	return false, fmt.Errorf("%w: it is start %d of the disk of %s, which knows nothing of start %d that was here before", ErrRolledBack, now.Boot, node, last.Boot)
}

// save writes the file. The checksum is of the content as it stands there.
func (a *acquaintances) save(known map[string]acquaintance) error {
	content, err := json.Marshal(remembered{a.mine, known})
	if err != nil {
		return err
	}
	b, err := json.Marshal(checked{content, checksum(content)})
	if err != nil {
		return err
	}
	return writeSynced(filepath.Join(a.dir, acquaintancesFile), append(b, '\n'), os.Rename)
}

package membership

import (
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"maps"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"

	"github.com/trireme-dev/trireme/cluster/transport"
)

const (
	// incarnationsFile is the name of the file that keeps incarnations, unchanged since the first release.
	incarnationsFile = "acquaintances.json"
	// KeptProcesses is the number of its newest processes that a disk remembers. They fit into a Hello.
	KeptProcesses = 64
)

// Incarnation identifies a process of a node: its disk's id and the newest processes recorded on that disk, the oldest
// first, the process itself last.
type Incarnation struct {
	Disk      string
	Processes []transport.Process
}

// Process returns the process itself; zero if it takes no part, or runs a version that doesn't send it.
func (i Incarnation) Process() (p transport.Process) {
	if n := len(i.Processes); n > 0 {
		p = i.Processes[n-1]
	}
	return p
}

// follows reports whether the disk remembers a process, or can't: it was too many starts ago.
func (i Incarnation) follows(before transport.Process) bool {
	for _, p := range i.Processes {
		if p.Boot == before.Boot {
			return p.Name == before.Name
		}
	}
	return len(i.Processes) == KeptProcesses && before.Boot < i.Processes[0].Boot
}

// peerProcess is the last process of another node's disk that this node has spoken with.
type peerProcess struct {
	Disk string `json:"disk"`
	transport.Process
}

// Incarnations are the last known processes of other nodes, by node id, and the processes of this node's own disk.
type Incarnations struct {
	dir    string
	warn   func(text string, args ...any)
	mine   []transport.Process
	known  atomic.Pointer[map[string]peerProcess] // never changed in place
	change sync.Mutex
}

// stored is the content of the file.
type stored struct {
	Mine  []transport.Process    `json:"mine"`
	Nodes map[string]peerProcess `json:"nodes"`
}

// checked is the file: what it holds, and the checksum of that. A flipped bit would otherwise turn a good node away.
type checked struct {
	Content json.RawMessage `json:"content"`
	Sum     string          `json:"sum"`
}

// OpenIncarnations reads the file of a data directory and adds the process that begins now, the boot-th of the disk.
func OpenIncarnations(dir string, boot uint64, warn func(text string, args ...any)) (*Incarnations, error) {
	return openIncarnations(dir, transport.Process{Boot: boot, Name: RandomHex(8)}, warn)
}

// RandomHex returns that many random bytes in hexadecimal.
func RandomHex(bytes int) string {
	b := make([]byte, bytes)
	_, _ = rand.Read(b) // never fails (crypto/rand)
	return hex.EncodeToString(b)
}

func openIncarnations(dir string, self transport.Process, warn func(text string, args ...any)) (*Incarnations, error) {
	path := filepath.Join(dir, incarnationsFile)
	was, err := readIncarnations(path)
	if err != nil {
		return nil, fmt.Errorf("%s is damaged (%w); move the directory aside and let the node come back under a new id", path, err)
	}
	if was.Nodes == nil {
		was.Nodes = map[string]peerProcess{}
	}
	s := &Incarnations{dir: dir, warn: warn, mine: append(was.Mine, self)}
	s.mine = s.mine[max(len(s.mine)-KeptProcesses, 0):]
	s.known.Store(&was.Nodes)
	return s, s.save(was.Nodes)
}

// readIncarnations reads the file, which directories of older versions don't have.
func readIncarnations(path string) (r stored, err error) {
	b, err := os.ReadFile(path)
	if errors.Is(err, os.ErrNotExist) {
		return r, nil
	}
	if err != nil {
		return r, err
	}
	var c checked
	if err := json.Unmarshal(b, &c); err != nil {
		return r, err
	}
	if Checksum(c.Content) != c.Sum {
		return r, errors.New("checksum mismatch")
	}
	return r, json.Unmarshal(c.Content, &r)
}

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// Checksum returns the sum that files of a data directory hold of their content.
func Checksum(b []byte) string { return fmt.Sprintf("%08x", crc32.Checksum(b, castagnoli)) }

// Mine returns the processes that this node's disk has had, this process last.
func (in *Incarnations) Mine() []transport.Process { return in.mine }

// Judge rejects a process that is no successor of the last known one of its disk. The error is transport.ErrRolledBack.
func (in *Incarnations) Judge(node string, i Incarnation) error {
	if i.Process().Name == "" {
		return nil
	}
	_, err := in.judge(node, i)
	return err
}

// Record does what Judge does, for a process that has proved itself, and remembers a process that is later than the known one.
func (in *Incarnations) Record(node string, i Incarnation) error {
	if i.Process().Name == "" {
		return nil
	}
	if known, err := in.judge(node, i); known || err != nil {
		return err
	}
	in.change.Lock()
	defer in.change.Unlock()
	if known, err := in.judge(node, i); known || err != nil { // another connection was quicker
		return err
	}
	next := maps.Clone(*in.known.Load())
	next[node] = peerProcess{i.Disk, i.Process()}
	if err := in.save(next); err != nil { // a full disk must not keep others out
		in.warn("the process of another node can't be recorded", "peer", node, "error", err)
	}
	in.known.Store(&next)
	return nil
}

// Follows reports whether another process of the same disk is the last known one of a node.
func (in *Incarnations) Follows(node string, i Incarnation) bool {
	last, found := (*in.known.Load())[node]
	return found && last.Disk == i.Disk && last.Process != i.Process()
}

// Current reports whether a process is the last known one of a node: the one that this node has dialed, and that proved itself.
func (in *Incarnations) Current(node string, i Incarnation) bool {
	last, found := (*in.known.Load())[node]
	return found && last.Name != "" && last.Disk == i.Disk && last.Process == i.Process()
}

// judge reports whether a process is the last one known of its disk. The error says that it is no successor of that one.
func (in *Incarnations) judge(node string, i Incarnation) (known bool, err error) {
	last, found := (*in.known.Load())[node]
	now := i.Process()
	switch {
	case !found || last.Disk != i.Disk:
		return false, nil
	case now == last.Process:
		return true, nil
	case now.Boot > last.Boot && i.follows(last.Process):
		return false, nil
	}
	return false, fmt.Errorf("%w: it is start %d of the disk of %s, which knows nothing of start %d that was here before", transport.ErrRolledBack, now.Boot, node, last.Boot)
}

// save writes the file. The checksum is of the content as it is written there.
func (in *Incarnations) save(known map[string]peerProcess) error {
	content, err := json.Marshal(stored{in.mine, known})
	if err != nil {
		return err
	}
	b, err := json.Marshal(checked{content, Checksum(content)})
	if err != nil {
		return err
	}
	return WriteSynced(filepath.Join(in.dir, incarnationsFile), append(b, '\n'), os.Rename)
}

// WriteSynced writes a file by way of a synced temporary one, which place puts under its name.
func WriteSynced(path string, data []byte, place func(from, to string) error) error {
	f, err := os.CreateTemp(filepath.Dir(path), filepath.Base(path)+".tmp*")
	if err != nil {
		return err
	}
	defer os.Remove(f.Name())
	if _, err := f.Write(data); err != nil {
		f.Close()
		return err
	}
	if err := errors.Join(f.Sync(), f.Close()); err != nil {
		return err
	}
	if err := place(f.Name(), path); err != nil {
		return err
	}
	d, err := os.Open(filepath.Dir(path))
	if err != nil {
		return err
	}
	defer d.Close()
	return d.Sync()
}

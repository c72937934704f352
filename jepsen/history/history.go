package history

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"
)

// Outcome says what a client knows about an operation afterwards.
type Outcome string

const (
	// OK means that the reply named a result, which is final.
	OK Outcome = "ok"
	// NotApplied means that the operation certainly took no effect and never will.
	NotApplied Outcome = "not-applied"
	// Unknown means that the operation may have taken effect, may still do so, or
	// may never; silence is of this kind.
	Unknown Outcome = "unknown"
)

// Malformed begins the Error of an operation whose reply named a result of a
// shape that its command never has.
const Malformed = "malformed result"

// Kind names what an operation does to its key.
type Kind string

const (
	// Read returns the key's value.
	Read Kind = "read"
	// Write sets the key to Value.
	Write Kind = "write"
	// Create sets the key to Value if it does not exist.
	Create Kind = "create"
	// CompareAndSet sets the key to Value if it holds Expect.
	CompareAndSet Kind = "cas"
	// Add increases the key by Delta and returns the sum.
	Add Kind = "add"
	// Append puts Value at the end of a list; only a part of a Transaction is one.
	Append Kind = "append"
	// Insert puts Value into a set.
	Insert Kind = "insert"
	// Members returns all members of a set, in List.
	Members Kind = "members"
	// Transaction performs its Parts as one, all or nothing.
	Transaction Kind = "transaction"
	// Move takes Delta from Key and gives it to the key that Value names, if there is
	// enough; Found says whether there was.
	Move Kind = "move"
	// Balances reads all accounts of the bank Key, into List.
	Balances Kind = "balances"
	// Expiring sets the key to Value for Delta milliseconds; Sum is the moment of its end
	// in cluster time, unix milliseconds.
	Expiring Kind = "expiring"
	// Timed reads a key together with cluster time, which Sum is.
	Timed Kind = "timed"
	// Publish hands in a message or starts a workflow run.
	Publish Kind = "publish"
)

// Part is one command of a Transaction.
type Part struct {
	Kind  Kind     `json:"kind"` // Append, or Read of a list or of a number
	Key   string   `json:"key"`
	Value string   `json:"value,omitempty"` // what an Append appends
	Delta int64    `json:"delta,omitempty"` // what an Add adds
	List  []string `json:"list,omitempty"`  // what a Read of a list returned
	Sum   int64    `json:"sum,omitempty"`   // what an Add or a Read of a number returned
}

// String renders the part and its result.
func (p Part) String() string {
	switch {
	case p.Kind == Append:
		return p.Key + " append " + p.Value
	case p.Kind == Add:
		return fmt.Sprintf("%s add %d -> %d", p.Key, p.Delta, p.Sum)
	case p.List == nil:
		return fmt.Sprintf("%s read -> %d", p.Key, p.Sum)
	default:
		return fmt.Sprintf("%s read -> %v", p.Key, p.List)
	}
}

// Never is the return time of an operation whose end is not known.
const Never = math.MaxInt64

// Op is one operation of one client. Call and Return are nanoseconds since the
// run began, by the monotonic clock of the one process that holds all clients.
type Op struct {
	Client  int     `json:"client"`
	Node    int     `json:"node"`
	Key     string  `json:"key"`
	Kind    Kind    `json:"kind"`
	Value   string  `json:"value,omitempty"`  // what a Write, Create or CompareAndSet stores
	Expect  string  `json:"expect,omitempty"` // what a CompareAndSet compares with
	Delta   int64   `json:"delta,omitempty"`  // what an Add adds
	Outcome Outcome `json:"outcome"`
	Found   bool    `json:"found,omitempty"` // Read: the key exists; Create, CompareAndSet: it was stored
	Read    string  `json:"read,omitempty"`  // Read: the value, if found
	Sum     int64   `json:"sum,omitempty"`   // Add: the reply
	Call    int64   `json:"call"`
	Return  int64   `json:"return"`
	Error   string  `json:"error,omitempty"`

	List    []string `json:"list,omitempty"`    // Members, Balances: what was read
	Parts   []Part   `json:"parts,omitempty"`   // of a Transaction
	Stale   bool     `json:"stale,omitempty"`   // asked for in the mode that may answer from the past
	Request string   `json:"request,omitempty"` // the request id under which it was sent, perhaps several times
	Place   Place    `json:"place"`             // where in the log it took effect, if the reply told
}

// Place is a position in the log: the index of an entry, and which request of that entry, and which
// row of that request where several ran together (NthOf). A read stands behind all of its entry.
type Place struct {
	Index uint64 `json:"index,omitempty"` // 0 is unknown
	Nth   int    `json:"nth,omitempty"`   // AfterEntry for a read
}

// AfterEntry is the Nth of what saw an entry as a whole.
const AfterEntry = math.MaxInt64

// NthOf is the Nth of a row, from 1, of a request; 0 is the request itself.
func NthOf(request, row int) int { return request<<16 | row }

// Known says whether the place is known.
func (p Place) Known() bool { return p.Index > 0 }

// Before says whether p is an earlier place than q.
func (p Place) Before(q Place) bool {
	return p.Index < q.Index || p.Index == q.Index && p.Nth < q.Nth
}

// Writes says whether the operation may change its key.
func (o Op) Writes() bool {
	if o.Kind != Transaction {
		return !slices.Contains([]Kind{Read, Members, Balances, Timed}, o.Kind)
	}
	return slices.ContainsFunc(o.Parts, func(p Part) bool { return p.Kind != Read })
}

// Known says whether the reply named a result.
func (o Op) Known() bool { return o.Outcome == OK }

// String renders the operation on one line for reports.
func (o Op) String() string {
	end := "never"
	if o.Return != Never {
		end = time.Duration(o.Return).Round(time.Microsecond).String()
	}
	return fmt.Sprintf("client %d node %d [%v, %s] %s", o.Client, o.Node+1,
		time.Duration(o.Call).Round(time.Microsecond), end, o.Describe())
}

// Describe renders the operation and its result without times.
func (o Op) Describe() string {
	switch o.Kind {
	case Read:
		return fmt.Sprintf("%s read -> %s", o.Key, o.result(o.Read))
	case CompareAndSet:
		return fmt.Sprintf("%s cas %s->%s -> %s", o.Key, o.Expect, o.Value, o.result("stored"))
	case Add:
		return fmt.Sprintf("%s add %d -> %s", o.Key, o.Delta, o.sum())
	case Members, Balances:
		return fmt.Sprintf("%s %s -> %s", o.Key, o.Kind, o.members())
	case Move:
		return fmt.Sprintf("move %d from %s to %s -> %s", o.Delta, o.Key, o.Value, o.result("done"))
	case Expiring:
		return fmt.Sprintf("%s set for %d ms -> until %s", o.Key, o.Delta, o.sum())
	case Timed:
		return fmt.Sprintf("%s read at %s -> %s", o.Key, o.sum(), o.result(o.Read))
	case Transaction:
		return fmt.Sprintf("%v -> %s", o.Parts, o.Outcome)
	default:
		return fmt.Sprintf("%s %s %s -> %s", o.Key, o.Kind, o.Value, o.result("stored"))
	}
}

func (o Op) result(found string) string {
	switch {
	case o.Outcome != OK:
		return string(o.Outcome)
	case o.Kind == Write:
		return "stored"
	case o.Found:
		return found
	default:
		return "nil"
	}
}

func (o Op) sum() string {
	if o.Outcome != OK {
		return string(o.Outcome)
	}
	return fmt.Sprint(o.Sum)
}

// members shows few members; a large set as its size.
func (o Op) members() string {
	switch {
	case o.Outcome != OK:
		return string(o.Outcome)
	case len(o.List) > 20:
		return fmt.Sprintf("%d members", len(o.List))
	default:
		return fmt.Sprint(o.List)
	}
}

// Recorder collects the operations of many clients.
type Recorder struct {
	start time.Time
	mu    sync.Mutex
	ops   []Op
}

// NewRecorder counts time from the moment given, which all recorders of a run share.
func NewRecorder(start time.Time) *Recorder { return &Recorder{start: start} }

// Now is the time since the run began, in nanoseconds.
func (r *Recorder) Now() int64 { return int64(time.Since(r.start)) }

// Add records one operation that has ended or was given up.
func (r *Recorder) Add(op Op) {
	r.mu.Lock()
	r.ops = append(r.ops, op)
	r.mu.Unlock()
}

// Ops returns a copy of what was recorded so far, in the order of the calls.
func (r *Recorder) Ops() []Op {
	r.mu.Lock()
	ops := slices.Clone(r.ops)
	r.mu.Unlock()
	slices.SortStableFunc(ops, func(a, b Op) int {
		switch {
		case a.Call < b.Call:
			return -1
		case a.Call > b.Call:
			return 1
		}
		return 0
	})
	return ops
}

// ByKey splits a history by key, keeping its order.
func ByKey(ops []Op) map[string][]Op {
	keys := map[string][]Op{}
	for _, op := range ops {
		keys[op.Key] = append(keys[op.Key], op)
	}
	return keys
}

// Save writes a history as one JSON object a line.
func Save(path string, ops []Op) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return fmt.Errorf("save history: %w", err)
	}
	file, err := os.Create(path)
	if err != nil {
		return fmt.Errorf("save history: %w", err)
	}
	buffer := bufio.NewWriter(file)
	lines := json.NewEncoder(buffer)
	for _, op := range ops {
		if err := lines.Encode(op); err != nil {
			file.Close()
			return fmt.Errorf("save history: %w", err)
		}
	}
	if err := buffer.Flush(); err != nil {
		file.Close()
		return fmt.Errorf("save history: %w", err)
	}
	return file.Close()
}

// Load reads what Save wrote.
func Load(path string) ([]Op, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("load history: %w", err)
	}
	defer file.Close()
	var ops []Op
	lines := json.NewDecoder(bufio.NewReader(file))
	for {
		var op Op
		switch err := lines.Decode(&op); err {
		case nil:
			ops = append(ops, op)
		case io.EOF:
			return ops, nil
		default:
			return nil, fmt.Errorf("load history %s: %w", path, err)
		}
	}
}

package workflow

import (
	"github.com/trireme-dev/trireme/fsm/jsondoc"
	"github.com/trireme-dev/trireme/fsm/queue"
	"github.com/trireme-dev/trireme/fsm/wire"
)

// NeedsLevel refuses what runs can be asked for from the level env.Files on.
const NeedsLevel = "keep-events, keep-values, updates, inline, deployments and forks need feature level 3: upgrade all nodes"

// MaxState is the most bytes of a run's state, and of an update.
const MaxState = 64 << 10

// Data holds what the steps of a run set beside their results: its state, and the updates that it accepts. A stored one is never modified.
type Data struct {
	// State is the run's state as JSON, nil if it has none. Version counts its changes, its removals among them.
	State   []byte
	Version uint64
	// Step and StepName are of the step that changed it last, At is the time of that, in unix milliseconds.
	Step     uint32
	StepName string
	At       int64
	// Declared says that the run accepts Updates in place of those of its start.
	Declared bool
	Updates  []Rule
	// Accepted are the ids of the updates that were accepted last, oldest first: those that their senders have named.
	Accepted []string
	// Values are those of keys that the run keeps, in the order of its log. ValuesMissed counts those beyond the most that it may keep.
	Values       []KeptValue
	ValuesMissed uint64
}

// Fields codes the value in its wire format.
func (d *Data) Fields(c *wire.Codec) {
	c.Bytes(&d.State)
	c.Uvarint(&d.Version)
	wire.Uint(c, &d.Step)
	c.Text(&d.StepName)
	c.Varint(&d.At)
	c.Bool(&d.Declared)
	wire.List(c, &d.Updates, 2)
	c.Texts(&d.Accepted)
	if c.More(len(d.Values) > 0 || d.ValuesMissed > 0) {
		wire.List(c, &d.Values, 6)
		c.Uvarint(&d.ValuesMissed)
	}
}

// size is the logical memory in bytes.
func (d *Data) size() int64 {
	if d == nil {
		return 0
	}
	n := int64(dataCost+len(d.State)+len(d.StepName)) + rulesSize(d.Updates)
	for _, id := range d.Accepted {
		n += 24 + int64(len(id))
	}
	for i := range d.Values {
		n += d.Values[i].size()
	}
	return n
}

// dataCost is the logical overhead of Data in bytes.
const dataCost = 200

// told holds the state and updates that a step sets, as read from its result.
type told struct {
	state    []byte // as JSON, nil if it says nothing
	declared bool
	updates  []Rule
}

// readTold reads what a step says of its run.
func readTold(n *Submission) (t told, wrong *queue.Error) {
	if len(n.State) > 0 {
		if len(n.State) > MaxState {
			return t, refusal(ErrRefused, "the state of the run is too large, and nothing was recorded. Limit: %d bytes, Actual: %d. Setting: none, it is fixed",
				MaxState, len(n.State))
		}
		if _, err := jsondoc.Parse(n.State); err != nil {
			return t, refusal(ErrRefused, "the state of the run is no JSON that can be kept, and nothing was recorded: %s", err)
		}
		t.state = n.State
	}
	if len(n.Updates) > 0 {
		if t.updates, wrong = ReadUpdates(n.Updates); wrong != nil {
			return t, refusal(ErrRefused, "%s, and nothing was recorded", wrong.Text)
		}
		t.declared = true
	}
	return t, nil
}

// tell notes what a step has said of its run.
func (wo *work) tell(n *Submission, t told) {
	if t.state == nil && !t.declared {
		return
	}
	wo.change(func(d *Data) {
		if t.state != nil {
			d.State, d.Version, d.At = owned(t.state), d.Version+1, wo.e.Now
			d.Step, d.StepName = n.Step.Number(), ownedText(n.Step.Name)
			if string(t.state) == "null" {
				d.State = nil
			}
		}
		if t.declared {
			d.Declared, d.Updates = true, ownedRules(t.updates)
		}
	})
}

// change replaces the data of the run.
func (wo *work) change(f func(*Data)) {
	d := &Data{}
	if wo.r.Data != nil {
		*d = *wo.r.Data
	}
	f(d)
	wo.count(d.size() - wo.r.Data.size())
	wo.r.Data = d
}

// tellPrice returns the growth by what a step says of its run, and the work of reading it.
func tellPrice(n *Submission) (work, growth int64) {
	if len(n.State)+len(n.Updates) == 0 {
		return 0, 0
	}
	growth = dataCost + int64(len(n.State)+len(n.Step.Name)) + declaredSize(n.Updates)
	return parseWork(len(n.State)) + declaredWork(n.Updates), growth
}

// parseWork is the work of reading so many bytes of JSON.
func parseWork(bytes int) int64 { return operation + 8*bytesWork(int64(bytes)) }

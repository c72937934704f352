package command

import (
	"math"
	"strconv"

	"github.com/trireme-dev/trireme/fsm/env"
	"github.com/trireme-dev/trireme/fsm/glob"
	"github.com/trireme-dev/trireme/fsm/jsondoc"
	"github.com/trireme-dev/trireme/fsm/keyspace"
	"github.com/trireme-dev/trireme/fsm/reply"
)

// The work of a request is bounded before it is done: an entry runs on every node, and again
// after a restart, so one that runs for minutes stops all of them. A step of work is an element
// read, or 64 bytes read, written or replied; making an element of a set costs more (about 100 ns
// a step). Work is computed from the words of a call and the state before it, never measured, so
// every node refuses the same calls.

const (
	bytesPerWork      = 64 // of text, in a step
	documentPerWork   = 16 // logical bytes of a JSON document, in a step
	writtenWord       = 4  // steps for each word of a write beyond those of writes of one element
	fewWords          = 5  // that a write of one element has
	documentMember    = 3  // steps to read a comma, a colon or a bracket of JSON, which stands for a value
	storedMember      = 4  // steps to make a member of a set, or of a sorted one
	combinedMember    = 12 // steps to bring a member of one set together with those of others
	sortedElement     = 24 // steps to put an element in order
	cellsPerWork      = 16 // of the table of LCS, in a step
	compileWork       = 4  // steps to compile an element of a regular expression
	expressionPerWork = 16 // elements of a regular expression, times bytes that it looks at, in a step
	pathPerWork       = 8  // bytes of a path, in a step
	scriptPerWork     = 8  // steps of a script, in one of work
	pipelineAllowance = 4  // budgets that the rows of one RESP pipeline have together
)

// work counts the steps that a request has used of its budget.
type work struct {
	used  int64 // by this transaction or row
	looks int64 // bytes that patterns have looked at and that are no step yet
	whole int64 // by earlier rows of the pipeline
	doc   *jsondoc.Work
	docs  int // what doc could spend when it was made
}

// NextRow begins another row of a pipeline. Rows that one HTTP request names share its budget;
// those of RESP are requests of their own that came together, and have four budgets in all.
func (tx *Tx) NextRow() {
	tx.NewBudget()
	tx.Began = tx.DB.Changes()
	if tx.Origin != OriginHTTP {
		tx.work.whole, tx.work.used = tx.work.whole+tx.work.used, 0
	}
}

// Worked returns the work of the rows so far, in steps; steps of scripts take less time.
func (tx *Tx) Worked() int64 {
	return tx.work.whole + tx.work.used + (tx.before+tx.Spent())/scriptPerWork
}

// allowed returns the steps that the row may still use.
func (tx *Tx) allowed() int64 {
	limit := tx.Limits.Work()
	left := limit - tx.work.used
	if limit < math.MaxInt64/pipelineAllowance {
		left = min(left, pipelineAllowance*limit-tx.work.whole-tx.work.used)
	}
	return left
}

// spend takes the work of a call off the budget, or is the refusal of a call that needs more
// than is left.
func (tx *Tx) spend(c *Command, argv [][]byte) *reply.Value {
	steps := tx.workOf(c, argv)
	if steps > tx.allowed() {
		return ptr(overWork(c, tx.work.whole+tx.work.used+steps, tx.Limits.Work()))
	}
	tx.work.used += steps
	return nil
}

// overspent is the refusal of a command that has found out on its way that it needs more than
// the budget, nil for any other. It must have changed nothing.
func (tx *Tx) overspent(c *Command) *reply.Value {
	if tx.allowed() >= 0 {
		return nil
	}
	return ptr(overWork(c, tx.work.whole+tx.work.used, tx.Limits.Work()))
}

func overWork(c *Command, steps, limit int64) reply.Value {
	return reply.Error("ERR max request work exceeded by '" + outward(c.Name) + "'. Limit: " + strconv.FormatInt(limit, 10) +
		" steps, Actual: " + strconv.FormatInt(steps, 10) + " steps. Setting: max-request-work")
}

// refuseWork is the refusal of a transaction whose rows together need more than the budget,
// by the state before the first of them. Each is judged once more when its turn has come.
func (tx *Tx) refuseWork(rows [][][]byte) *reply.Value {
	if tx.DB == nil {
		return nil
	}
	steps, limit := int64(0), tx.Limits.Work()
	for _, argv := range rows {
		c := tx.Table.Find(argv)
		if steps += tx.workOf(c, argv); steps > limit {
			return ptr(overWork(c, steps, limit))
		}
	}
	return nil
}

// Replied counts the reply of a row among the work of its request, which its next rows then
// lack.
func (tx *Tx) Replied(v *reply.Value) {
	tx.work.used += ReplyWork(v)
}

// ReplyWork is the work of a reply, in steps: its elements and its bytes.
func ReplyWork(v *reply.Value) int64 {
	steps := int64(len(v.Text())/bytesPerWork) + 1
	elems := v.Elems()
	for i := range elems {
		steps += ReplyWork(&elems[i])
	}
	return steps
}

// workOf is the work of a call by the state before it.
func (tx *Tx) workOf(c *Command, argv [][]byte) int64 {
	steps := wordsWork(c, argv)
	if tx.DB == nil {
		return steps
	}
	if tx.Config != nil && tx.Config.Notify != 0 && c.Flags&Write != 0 {
		steps += tx.eventWork(c, argv)
	}
	if len(tx.Triggers) > 0 && c.Flags&Write != 0 {
		steps += tx.triggerPrice(c, argv).Work
	}
	if c.Work != nil {
		return steps + c.Work(tx, argv)
	}
	if reach := c.reach(argv); reach > maxString {
		return steps // the command refuses it
	} else if reach > 0 {
		return steps + reach/bytesPerWork
	}
	switch c.Cost {
	case costKeyspace, costSlots:
		steps += int64(tx.DB.Len())
	case costValues, costShown, costCounted:
		steps += tx.volumes(c, argv)
	case costUser, costUsers:
		steps += tx.usersWork(c, argv)
	case costSort:
		steps += sortedElement * tx.volume(argv[1]) // what STORE replaces is not looked at
	}
	return steps
}

// eventsOfKey is the number of events of a key that a call names, one on each kind of channel.
const eventsOfKey = 2

// eventWork is the work of matching the events of the keys that a call names with the patterns of subscribers.
func (tx *Tx) eventWork(c *Command, argv [][]byte) int64 {
	keys := c.Keys.Positions(argv)
	longest := 0
	for _, at := range keys {
		longest = max(longest, len(argv[at]))
	}
	return tx.matchWork(eventsOfKey*int64(len(keys)), len(keyspaceChannel)+longest)
}

// matchWork is the work of matching so many channels, each with a name of so many bytes, with all patterns of subscribers. It stops
// looking at patterns where that is more than the row may use: a row that is refused costs no more than one that is not.
func (tx *Tx) matchWork(channels int64, name int) int64 {
	looks, most := int64(0), max(tx.allowed(), 0)
	tx.Channels.EachPattern(func(pattern string) bool {
		looks += channels * (looksPerMatch + glob.Work(pattern, name))
		return looks/bytesPerWork <= most
	})
	return looks / bytesPerWork
}

// volumes is the volume of the values of all keys that a call names, each as often as it is
// named.
func (tx *Tx) volumes(c *Command, argv [][]byte) (sum int64) {
	for _, at := range c.Keys.Positions(argv) {
		sum += tx.volume(argv[at])
	}
	return sum
}

// volume returns the steps of reading the whole value of a key.
func (tx *Tx) volume(key []byte) int64 {
	o := tx.DB.Peek(tx.Env, key)
	switch o.Type() {
	case keyspace.None:
		return 0
	case keyspace.String:
		return 1 + int64(o.Len()/bytesPerWork)
	case keyspace.JSON:
		return 1 + o.Size()/documentPerWork
	}
	return max(int64(elementsIn(o)), o.Size()/bytesPerWork)
}

// elementsIn returns the number of elements of a container.
func elementsIn(o *keyspace.Object) int {
	if o == nil {
		return 0
	}
	if c, ok := o.Data().(interface{ Len() int }); ok {
		return c.Len()
	}
	return 0
}

// jsonWork limits the values that the paths of this command may visit. The visited ones
// count among the work of the request.
func (tx *Tx) jsonWork() *jsondoc.Work {
	tx.work.docs = int(max(0, min(jsondoc.MaxWork, tx.allowed())))
	if tx.Bounded { // what takes longer is run again on a fork
		tx.work.docs = min(tx.work.docs, env.MaxInlineCost/stepsPerElement)
	}
	tx.work.doc = jsondoc.NewWorkOf(tx.work.docs)
	return tx.work.doc
}

// spendFound takes work off the budget that a command finds on its way, before it does it, and reports whether it may. A
// command that only reads ends otherwise with any reply: the refusal takes its place, or the read is run again on a fork.
func (tx *Tx) spendFound(steps int64) bool {
	if tx.allowed() < 0 || tx.Charge(stepsPerElement*steps) {
		return false
	}
	tx.looked(int(min(steps*scriptPerWork, math.MaxInt32)))
	tx.work.used += steps
	return tx.allowed() >= 0
}

// lookAt takes elements that a command looks at off the budget, before it does, and reports whether it must stop: its reply is
// replaced then. The command must only read.
func (tx *Tx) lookAt(elements int64) (stop bool) {
	return !tx.spendFound(elements)
}

// overFound reports whether spendFound has said no.
func (tx *Tx) overFound() bool { return tx.allowed() < 0 || tx.OverBudget }

// refuseRead is the refusal of a command that has changed nothing and has used more than the budget.
func (tx *Tx) refuseRead(c *Command, argv [][]byte) *reply.Value {
	if !c.OnlyReads(argv) {
		return nil
	}
	return tx.overspent(c)
}

// spendDocument counts what the paths of a command have looked at.
func (tx *Tx) spendDocument() {
	if tx.work.doc != nil {
		used := int64(tx.work.docs - max(0, tx.work.doc.Left()))
		tx.work.used += used
		if tx.Charge(stepsPerElement * used); tx.Bounded && tx.work.doc.Err() != nil {
			tx.Charge(env.MaxInlineCost + 1)
		}
		tx.work.doc = nil
	}
}

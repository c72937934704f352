package command

import (
	"math"
	"strconv"

	"github.com/trireme-dev/trireme/fsm/env"
	"github.com/trireme-dev/trireme/fsm/jsondoc"
	"github.com/trireme-dev/trireme/fsm/keyspace"
	"github.com/trireme-dev/trireme/fsm/reply"
)

// The work of a request is bounded before it is done: an entry runs on every node, and again
// after a restart, so one that runs for minutes stops all of them. A step of work is an element
// read, or 64 bytes read, written or replied; making an element of a set costs more (about 100 ns
// a step). Work is computed from the words of a call and the state before it, never measured, so
// every node refuses the same calls. It counts from feature level 2 on; entries of level 1 do what
// they did.

// DefaultMaxWork and DefaultMaxScript are the limits of a cluster that sets none: about a
// second of work, and about a second and a half of Lua.
const (
	DefaultMaxWork   = 10_000_000
	DefaultMaxScript = 100_000_000
)

// Unlimited is a limit that Limits stores for none, where 0 is the default.
const Unlimited = -1

// limitOr is a limit as it is in force: math.MaxInt64 for none.
func limitOr(limit, standard int64) int64 {
	switch {
	case limit == 0:
		return standard
	case limit < 0:
		return math.MaxInt64
	}
	return limit
}

// Work is the most steps of work of one request, math.MaxInt64 for no limit.
func (l *Limits) Work() int64 { return limitOr(l.MaxWork, DefaultMaxWork) }

// Script is the most steps that the scripts of a transaction or a row may use, math.MaxInt64
// for no limit.
func (l *Limits) Script() int64 { return limitOr(l.MaxScript, DefaultMaxScript) }

// WorkSetting and ScriptSetting are the limits as people set them: 0 = unlimited.
func (l *Limits) WorkSetting() int64 { return settingOf(l.Work()) }

// ScriptSetting is that of scripts.
func (l *Limits) ScriptSetting() int64 { return settingOf(l.Script()) }

func settingOf(limit int64) int64 {
	if limit == math.MaxInt64 {
		return 0
	}
	return limit
}

// SetWork takes both limits as people set them. A default is stored as 0, which nodes of the
// version before understand.
func (l *Limits) SetWork(request, script int64) {
	l.MaxWork, l.MaxScript = storedLimit(request, DefaultMaxWork), storedLimit(script, DefaultMaxScript)
}

func storedLimit(setting, standard int64) int64 {
	switch setting {
	case 0:
		return Unlimited
	case standard:
		return 0
	}
	return setting
}

const (
	bytesPerWork      = 64 // of text, in a step
	documentPerWork   = 16 // logical bytes of a JSON document, in a step
	storedMember      = 4  // steps to make a member of a set, or of a sorted one
	sortedElement     = 8  // steps to put an element in order
	cellsPerWork      = 16 // of the table of LCS, in a step
	pipelineAllowance = 4  // budgets that the rows of one RESP pipeline have together
)

// work is what a request has used of its budget.
type work struct {
	used  int64 // by this transaction or row
	whole int64 // by earlier rows of the pipeline
	doc   *jsondoc.Work
	docs  int // what doc could spend when it was made
}

// NextRow begins another row of a pipeline. Rows that one HTTP request names share its budget;
// those of RESP are requests of their own that came together, and have four budgets in all.
func (tx *Tx) NextRow() {
	tx.NewBudget()
	if tx.Origin != OriginHTTP {
		tx.work.whole, tx.work.used = tx.work.whole+tx.work.used, 0
	}
}

// allowed is how many steps the row may still use.
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
	if tx.Level < env.Level2 || tx.allowed() >= 0 {
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
	if tx.Level < env.Level2 || tx.DB == nil {
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
	if tx.Level >= env.Level2 {
		tx.work.used += replyWork(v)
	}
}

func replyWork(v *reply.Value) int64 {
	steps := int64(len(v.Text())/bytesPerWork) + 1
	elems := v.Elems()
	for i := range elems {
		steps += replyWork(&elems[i])
	}
	return steps
}

// workOf is the work of a call by the state before it.
func (tx *Tx) workOf(c *Command, argv [][]byte) int64 {
	steps := int64(len(argv))
	if tx.DB == nil {
		return steps
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
	case costSort:
		steps += sortedElement * tx.volumes(c, argv)
	}
	return steps
}

// volumes is the volume of the values of all keys that a call names, each as often as it is
// named.
func (tx *Tx) volumes(c *Command, argv [][]byte) (sum int64) {
	for _, at := range c.Keys.Positions(argv) {
		sum += tx.volume(argv[at])
	}
	return sum
}

// volume is how many steps it takes to read the whole value of a key.
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

// elementsIn is how many elements a container has.
func elementsIn(o *keyspace.Object) int {
	if c, ok := o.Data().(interface{ Len() int }); ok {
		return c.Len()
	}
	return 0
}

// The work of commands whose words say more about it than their keys do.

// wordsWork is that of writes that look at no more of a value than they change.
func wordsWork(_ *Tx, argv [][]byte) (steps int64) {
	for _, word := range argv {
		steps += int64(len(word) / bytesPerWork)
	}
	return steps
}

// shownWork is that of reads whose reply has the whole value of every key, as often as it is
// named.
func shownWork(tx *Tx, argv [][]byte) int64 { return tx.volumes(tx.Table.Find(argv), argv) }

// bitOpWork reads all sources and writes one that is as long as the longest.
func bitOpWork(tx *Tx, argv [][]byte) (sum int64) {
	longest := int64(0)
	for _, key := range argv[min(3, len(argv)):] {
		n := tx.volume(key)
		sum, longest = sum+n, max(longest, n)
	}
	return sum + longest
}

// sources are the volumes of the keys that a combination of sets reads: all but the first
// where that is the destination.
func (tx *Tx) sources(argv [][]byte) (volumes []int64) {
	c := tx.Table.Find(argv)
	places := c.Keys.Positions(argv)
	if len(places) > 0 && c.Flags&Write != 0 {
		places = places[1:]
	}
	for _, at := range places {
		volumes = append(volumes, tx.volume(argv[at]))
	}
	return volumes
}

// unionWork reads all sets and makes one of all of their members.
func unionWork(tx *Tx, argv [][]byte) (steps int64) {
	for _, n := range tx.sources(argv) {
		steps += storedMember * n
	}
	return steps
}

// intersectionWork looks each member of the smallest set up in all others.
func intersectionWork(tx *Tx, argv [][]byte) int64 {
	volumes := tx.sources(argv)
	if len(volumes) == 0 {
		return 0
	}
	least := volumes[0]
	for _, n := range volumes {
		least = min(least, n)
	}
	return least * (int64(len(volumes)) + storedMember)
}

// differenceWork reads all sets and makes one of members of the first.
func differenceWork(tx *Tx, argv [][]byte) (steps int64) {
	for i, n := range tx.sources(argv) {
		if i == 0 {
			n *= 1 + storedMember
		}
		steps += n
	}
	return steps
}

// differenceCountWork looks each member of the first set up in all others.
func differenceCountWork(tx *Tx, argv [][]byte) int64 {
	volumes := tx.sources(argv)
	if len(volumes) == 0 {
		return 0
	}
	return volumes[0] * int64(len(volumes))
}

// lcsWork fills a table of the lengths of both strings.
func lcsWork(tx *Tx, argv [][]byte) int64 {
	a, b := tx.DB.Peek(tx.Env, argv[1]), tx.DB.Peek(tx.Env, argv[2])
	if a.Type() != keyspace.String || b.Type() != keyspace.String {
		return 0
	}
	if a.Len() > 0 && b.Len() > maxLCSCells/a.Len() {
		return 0 // the command refuses it
	}
	return int64(a.Len()/cellsPerWork+1) * int64(b.Len()+1)
}

// fieldsWork shows the values of the fields that are named, as often as they are.
func fieldsWork(tx *Tx, argv [][]byte) (steps int64) {
	o := tx.DB.Peek(tx.Env, argv[1])
	if o.Type() != keyspace.Hash {
		return 0
	}
	hash, ok := o.Data().(*keyspace.Fields)
	if !ok {
		return 0
	}
	for _, field := range argv[2:] {
		if text, _, found := hash.Get(tx.Now, keyspace.Alias(field)); found {
			steps += int64(len(text) / bytesPerWork)
		}
	}
	return steps
}

// drawWork shows so many elements at random, the same one more than once if the count is
// negative.
func drawWork(tx *Tx, argv [][]byte) int64 {
	if len(argv) < 3 {
		return 0
	}
	n, _ := ParseInt(argv[2])
	volume, elements := tx.volume(argv[1]), int64(1)
	if o := tx.DB.Peek(tx.Env, argv[1]); o != nil {
		elements = max(1, int64(elementsIn(o)))
	}
	switch {
	case n >= 0:
		return min(n, volume)
	case n < -maxRepeats || volume == 0:
		return 0 // the command refuses it, or has nothing to draw
	}
	return -n * (1 + volume/elements)
}

// trimWork removes elements of a list, or keeps others.
func trimWork(tx *Tx, argv [][]byte) int64 {
	o := tx.DB.Peek(tx.Env, argv[1])
	if o.Type() != keyspace.List {
		return 0
	}
	n := int64(elementsIn(o))
	from, ok1 := ParseInt(argv[2])
	to, ok2 := ParseInt(argv[3])
	if !ok1 || !ok2 {
		return 0 // the command refuses it
	}
	if from < 0 {
		from += n
	}
	if to < 0 {
		to += n
	}
	kept := max(0, min(to, n-1)-max(from, 0)+1)
	return min(kept, n-kept)
}

// streamsWork reads so many entries of each stream, as often as it is named.
func streamsWork(tx *Tx, argv [][]byte) (steps int64) {
	count := int64(math.MaxInt64)
	for i := 1; i+1 < len(argv); i++ {
		if EqualFold(argv[i], "STREAMS") {
			break
		}
		if EqualFold(argv[i], "COUNT") {
			if n, ok := ParseInt(argv[i+1]); ok && n > 0 {
				count = n
			}
		}
	}
	c := tx.Table.Find(argv)
	for _, at := range c.Keys.Positions(argv) {
		volume := tx.volume(argv[at])
		if o := tx.DB.Peek(tx.Env, argv[at]); o != nil {
			if n := int64(elementsIn(o)); n > count {
				volume = volume / n * count
			}
		}
		steps += volume
	}
	return steps
}

// jsonWork is how many values the paths of this command may look at. What they have looked at
// counts among the work of the request.
func (tx *Tx) jsonWork() *jsondoc.Work {
	if tx.Level < env.Level2 {
		return jsondoc.NewWork()
	}
	tx.work.docs = int(max(0, min(jsondoc.MaxWork, tx.allowed())))
	tx.work.doc = jsondoc.NewWorkOf(tx.work.docs)
	return tx.work.doc
}

// spendDocument counts what the paths of a command have looked at.
func (tx *Tx) spendDocument() {
	if tx.work.doc != nil {
		tx.work.used += int64(tx.work.docs - max(0, tx.work.doc.Left()))
		tx.work.doc = nil
	}
}

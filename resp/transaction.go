package resp

import (
	"strconv"
	"strings"
	"time"

	"github.com/trireme-dev/trireme/fsm"
	"github.com/trireme-dev/trireme/fsm/command"
	"github.com/trireme-dev/trireme/fsm/reply"
)

// transaction holds the commands that a connection has queued since MULTI and the keys that it
// watches.
type transaction struct {
	open        bool
	failed      bool // a command could not be queued
	rows        []queued
	bytes       int
	memory      int64 // bytes that rows take
	watch       fsm.Watch
	watchMemory int64 // bytes that watch takes
}

// queued is a command of a transaction; its words are its own.
type queued struct {
	row  *command.Command
	argv [][]byte
}

// whileQueueing are the commands that run at once although a transaction is being queued.
var whileQueueing = map[string]bool{"exec": true, "discard": true, "multi": true, "watch": true, "quit": true, "reset": true}

func (c *conn) multi([][]byte) {
	if c.tx.open {
		c.emit(reply.Error("ERR MULTI calls can not be nested"))
		return
	}
	c.tx.open = true
	c.info.set(func(t *attributes) { t.queued = 0 })
	c.emit(reply.OK())
}

// queue keeps a command for EXEC. One that can't run makes the transaction fail.
func (c *conn) queue(row *command.Command, argv [][]byte) {
	c.runPipeline()
	c.noteCommand(row)
	refusal := c.queueable(row, argv)
	if refusal != nil {
		c.tx.failed = true
		c.emit(*refusal)
		return
	}
	c.tx.rows = append(c.tx.rows, queued{row, copyWords(argv)})
	c.info.set(func(t *attributes) { t.queued, t.queuedBytes = len(c.tx.rows), c.tx.bytes })
	c.emit(reply.Status("QUEUED"))
}

func (c *conn) queueable(row *command.Command, argv [][]byte) *reply.Value {
	if _, refusal := c.check(argv); refusal != nil {
		return refusal
	}
	if !row.Queues() {
		return refusal("ERR Command not allowed inside a transaction")
	}
	c.tx.bytes += lengthOf(argv) + len(argv)*wordCost
	switch {
	case len(c.tx.rows) >= c.s.limits.Rows:
		return refusal("ERR transaction has more than " + strconv.Itoa(c.s.limits.Rows) + " commands. Setting: max-rows")
	case c.tx.bytes > c.s.limits.RequestBytes:
		return refusal("ERR transaction is longer than " + strconv.Itoa(c.s.limits.RequestBytes) + " bytes. Setting: max-request-size")
	}
	size := memoryOf(argv, wordMemory) + wordMemory
	if err := c.charge(size); err != nil {
		v := outOfMemory(err)
		return &v
	}
	c.tx.memory += size
	return nil
}

// wordCost is the overhead of a word in a log entry, in bytes.
const wordCost = 4

// copyWords copies argv out of the read buffer, into one allocation.
func copyWords(argv [][]byte) [][]byte {
	text := make([]byte, 0, lengthOf(argv))
	words := make([][]byte, len(argv))
	for i, word := range argv {
		at := len(text)
		text = append(text, word...)
		words[i] = text[at:len(text):len(text)]
	}
	return words
}

// clearTransaction ends the transaction and its watches.
func (c *conn) clearTransaction() {
	c.tx = transaction{}
	c.info.set(func(t *attributes) { t.queued, t.queuedBytes, t.watches = -1, 0, 0 })
}

func (c *conn) discard([][]byte) {
	if !c.tx.open {
		c.emit(reply.Error("ERR DISCARD without MULTI"))
		return
	}
	c.clearTransaction()
	c.emit(reply.OK())
}

// watch records the versions of keys in the newest state.
func (c *conn) watch(argv [][]byte) {
	if c.tx.open {
		c.emit(reply.Error("ERR WATCH inside MULTI is not allowed"))
		return
	}
	if size := c.watchedBytes(argv[1:]); size > c.s.limits.RequestBytes {
		c.emit(reply.Error("ERR watched keys are longer than " + strconv.Itoa(c.s.limits.RequestBytes) + " bytes. Setting: max-request-size"))
		return
	}
	memory := memoryOf(argv[1:], blockedMemory)
	if !c.admit(memory) {
		return
	}
	c.tx.watchMemory += memory
	_, err := c.s.engine.Read(c.s.life, fsm.Reading{Database: c.as.DB}, func(v *fsm.View) { v.Watch(c.as, &c.tx.watch, argv[1:]) })
	if err != nil {
		c.emit(failureOf(err, false))
		return
	}
	c.info.set(func(t *attributes) { t.watches = len(c.tx.watch.Keys) })
	c.emit(reply.OK())
}

// watchedBytes returns the length, in bytes of a log entry, of the watched keys and of more keys. They become part of their
// transaction's entry, so Limits.RequestBytes bounds them.
func (c *conn) watchedBytes(more [][]byte) int {
	n := lengthOf(more) + wordCost*(len(more)+len(c.tx.watch.Keys))
	for i := range c.tx.watch.Keys {
		n += len(c.tx.watch.Keys[i].Key)
	}
	return n
}

// scriptDebug answers as its row does, except within a transaction or a pipeline: there Redis refuses
// to start or end a session of the debugger.
func (c *conn) scriptDebug(argv [][]byte) {
	if c.answered > 0 {
		c.emit(reply.Error("ERR SCRIPT DEBUG must be called outside a pipeline"))
		return
	}
	var answer reply.Value
	c.s.engine.Local(func(v *fsm.View) { answer = v.Exec(c.as, command.RESP, argv) })
	c.emit(answer)
}

func (c *conn) unwatch([][]byte) {
	c.tx.watch, c.tx.watchMemory = fsm.Watch{}, 0
	c.info.set(func(t *attributes) { t.watches = 0 })
	c.emit(reply.OK())
}

// exec runs the queued commands as one transaction.
func (c *conn) exec([][]byte) {
	tx := c.tx
	switch {
	case !tx.open:
		c.emit(reply.Error("ERR EXEC without MULTI"))
		return
	case tx.failed:
		c.clearTransaction()
		c.emit(reply.Error("EXECABORT Transaction discarded because of previous errors."))
		return
	}
	c.clearTransaction()
	var rows [][][]byte // those that the engine runs
	for _, q := range tx.rows {
		if c.s.own[q.row] == nil {
			rows = append(rows, q.argv)
		}
	}
	for _, q := range tx.rows {
		c.awaitUncounted(q.row)
	}
	granted, beyond := c.takeQuota(len(rows), true)
	if granted < len(rows) {
		c.emit(discarded(beyond))
		return
	}
	c.trackTransaction(tx.rows)
	began := time.Now()
	values, refusal := c.runTransaction(&tx, rows)
	c.scriptsAnswered(&fsm.Results{}, nil) // of those that were not sent
	if refusal != nil {
		c.auditFailure(rows, *refusal)
		c.emit(*refusal)
		return
	}
	c.countCalls(rows, values, time.Since(began))
	c.answerTransaction(&tx, values)
	c.monitorRows(rows, values)
	c.flushDone(true)
	if c.reportsOwnWrites() && !c.ending {
		c.ending = c.flush() != nil
	}
}

// discarded returns the answer to EXEC when the whole transaction is refused because of why.
func discarded(why reply.Value) reply.Value {
	text := why.Text()
	if strings.HasPrefix(text, "TRYAGAIN ") || strings.HasPrefix(text, "UNKNOWN ") || text == textNoAuth {
		return why
	}
	return reply.Error("EXECABORT Transaction discarded because of: " + text)
}

// runTransaction runs the rows atomically. A non-nil refusal is the answer to EXEC, and no row
// has run.
func (c *conn) runTransaction(tx *transaction, rows [][][]byte) ([]reply.Value, *reply.Value) {
	var results fsm.Results
	var err error
	writes := false
	for _, argv := range rows {
		row := c.s.table.Find(argv)
		writes = writes || !row.OnlyReads(argv)
	}
	switch {
	case writes:
		results, err = c.propose(fsm.Batch{Origin: command.RESP, Mode: fsm.Transaction, Rows: rows, Watch: tx.watch})
	case len(rows) > 0 || len(tx.watch.Keys) > 0:
		results, err = c.viewTransaction(tx, rows)
	}
	var refusal reply.Value
	switch {
	case err != nil:
		refusal = discarded(failureOf(err, writes))
	case results.Discarded && results.Values[0].IsNil():
		refusal = reply.NilArray()
	case results.Discarded:
		refusal = discarded(results.Values[0])
	default:
		return results.Values, nil
	}
	return nil, &refusal
}

// viewTransaction runs rows that only read on one view.
func (c *conn) viewTransaction(tx *transaction, rows [][][]byte) (out fsm.Results, err error) {
	defer c.readScripts(rows)()
	_, err = c.s.engine.Read(c.s.life, fsm.Reading{Database: c.as.DB}, func(v *fsm.View) {
		if !v.Authorized(c.as) {
			c.login(v, &c.credential)
		}
		c.interruptible(v)
		out, c.scriptCalled = fsm.Results{}, nil // a read may be run again
		left := c.s.limits.TransactionReplyBytes
		refusal := v.Refuse(c.as, command.RESP, rows)
		switch {
		case !v.Unchanged(c.as, &tx.watch):
			out = fsm.Results{Discarded: true, Values: []reply.Value{reply.NilArray()}}
			return
		case refusal != nil:
			out = fsm.Results{Discarded: true, Values: []reply.Value{*refusal}}
			return
		}
		for i, argv := range rows {
			out.Values = append(out.Values, v.Exec(c.as, command.RESP, argv))
			c.noteCalls(v, i)
			if left -= reply.Size(out.Values[len(out.Values)-1:], left); left <= 0 {
				out = fsm.Results{Discarded: true, Values: []reply.Value{reply.Error("ERR the replies of the transaction take more than " +
					strconv.Itoa(c.s.limits.TransactionReplyBytes) + " bytes of memory, read less in one transaction")}}
				return
			}
		}
	})
	return out, err
}

// answerTransaction answers EXEC: values holds the results of the rows that the engine ran. Commands
// about the connection run now, each in its place.
func (c *conn) answerTransaction(tx *transaction, values []reply.Value) {
	if !c.mute {
		c.answered++
		c.replies = append(strconv.AppendInt(append(c.replies, '*'), int64(len(tx.rows)), 10), '\r', '\n')
	}
	c.answering = true
	defer func() { c.answering = false }()
	for _, q := range tx.rows {
		if own := c.s.own[q.row]; own != nil {
			own(c, q.argv)
			c.mute = c.silent || c.skipNext // CLIENT REPLY holds from the next row on
			c.skipNext = false
			continue
		}
		c.emit(values[0])
		values = values[1:]
	}
}

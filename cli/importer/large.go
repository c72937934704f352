package importer

import (
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/trireme-dev/trireme/fsm/env"
	"github.com/trireme-dev/trireme/fsm/keyspace"
	"github.com/trireme-dev/trireme/fsm/rdb"
)

// large is a value that doesn't fit into a request. It is put together under a name of
// its own, and gets its key when it is whole.
type large struct {
	entry
	expire int64
	value  []byte // after its type
}

// maxDecoded bounds the memory of a decoded value in this process, in bytes.
const maxDecoded = 4 << 30

// errPart is the error of a part of a value that a node doesn't take.
var errPart = errors.New("a part of the value was refused")

// sendLarge sends a value in parts; only an error that concerns all keys is given.
func (p *pool) sendLarge(l *large) error {
	v, err := rdb.Decode(l.value, time.Now().UnixMilli(), maxDecoded)
	if err != nil {
		p.report.fail(l.name, err.Error())
		return nil
	}
	w := &partWriter{pool: p, name: fmt.Sprintf("trireme:import:%s:%d", p.client.run, p.client.sent.Add(1))}
	kept, err := w.value(l, v)
	switch {
	case errors.Is(err, errPart):
		p.report.fail(l.name, err.Error())
		_, err = p.client.pipeline(p.ctx, append(appendCommand([]byte("["), "DEL", w.name), ']'), 1)
		return err
	case err != nil:
		return err
	case kept:
		p.report.add(func(r *Report) { r.Kept++ })
	default:
		p.report.took(&l.entry)
	}
	return nil
}

// partWriter gathers commands that put a value together, and sends them in their order.
type partWriter struct {
	pool    *pool
	name    string
	batch   requestBatch
	bytes   int      // of the words that are open
	open    []string // words of a command that takes more
	scratch []byte
	err     error
	last    answer
}

// partBytes returns the bytes of a value in one command. Escaping makes them at most six times as
// many, for which a request has room.
func (w *partWriter) partBytes() int { return max(1, w.pool.o.MaxRequest/8) }

// row adds a command.
func (w *partWriter) row(words ...string) {
	if w.err != nil {
		return
	}
	row := appendCommand(w.scratch[:0], words...)
	w.scratch = row
	if len(row)+2 > w.pool.o.MaxRequest {
		w.err = fmt.Errorf("%w: one element alone has more than the %d bytes of a request", errPart, w.pool.o.MaxRequest)
		return
	}
	if len(w.batch.body)+len(row)+2 > w.pool.o.Bytes || len(w.batch.entries) >= w.pool.o.Rows {
		w.flush()
	}
	w.batch.open(entry{name: w.name})
	w.batch.body = append(w.batch.body, row...)
}

// more adds words to a command of many elements, which begins with head.
func (w *partWriter) more(head string, words ...string) {
	if len(w.open) == 0 {
		w.open = append(w.open, head, w.name)
	}
	for _, word := range words {
		w.open = append(w.open, word)
		w.bytes += len(word) + 8
	}
	if w.bytes >= w.partBytes() {
		w.close()
	}
}

// close ends a command of many elements.
func (w *partWriter) close() {
	if len(w.open) > 0 {
		w.row(w.open...)
	}
	w.open, w.bytes = w.open[:0], 0
}

// flush sends what was gathered.
func (w *partWriter) flush() {
	if w.err != nil || len(w.batch.entries) == 0 {
		return
	}
	answers, err := w.pool.client.pipeline(w.pool.ctx, append(w.batch.body, ']'), len(w.batch.entries))
	w.batch = requestBatch{}
	if w.err = err; err != nil {
		return
	}
	for _, a := range answers {
		if err := fatal(a.Error); err != nil {
			w.err = err
			return
		}
		if a.Error != "" {
			w.err = fmt.Errorf("%w: %s", errPart, a.Error)
			return
		}
		w.last = a
	}
}

// value assembles a value under its key; kept says that the key exists and
// was left as it was.
func (w *partWriter) value(l *large, v rdb.Value) (kept bool, err error) {
	switch data := v.Data.(type) {
	case nil:
		for size, at := w.partBytes(), 0; at < len(v.Text); at += size {
			w.row("APPEND", w.name, v.Text[at:min(at+size, len(v.Text))])
		}
	case *keyspace.Elements:
		data.Ascend(0, func(_ int, e string) bool {
			w.more("RPUSH", e)
			return true
		})
	case *keyspace.Members:
		data.All(func(member string) bool {
			w.more("SADD", member)
			return true
		})
	case *keyspace.ZSet:
		data.Each(0, func(s keyspace.Scored) bool {
			w.more("ZADD", strconv.FormatFloat(s.Score, 'g', -1, 64), s.Member)
			return true
		})
	case *keyspace.Fields:
		w.fields(data)
	case *keyspace.StreamLog:
		w.stream(data)
	default:
		return false, fmt.Errorf("%w: a value of this type can't be sent in parts", errPart)
	}
	w.close()
	return w.rename(l)
}

// fields sends the fields of a hash, then the deadlines of those that have one.
func (w *partWriter) fields(hash *keyspace.Fields) {
	now := env.At(time.Now().UnixMilli())
	hash.All(now, func(field, value string) bool {
		w.more("HSET", field, value)
		return true
	})
	w.close()
	hash.AllTimed(now, func(field, _ string, at keyspace.Deadline) bool {
		if at != 0 {
			w.row("HPEXPIREAT", w.name, strconv.FormatInt(at.Millis(), 10), "FIELDS", "1", field)
		}
		return true
	})
}

// rename renames a complete value to its key.
func (w *partWriter) rename(l *large) (kept bool, err error) {
	if l.expire != 0 {
		w.row("PEXPIREAT", w.name, strconv.FormatInt(l.expire, 10))
	}
	if w.pool.o.Replace {
		w.row("RENAME", w.name, l.name)
		w.flush()
		return false, w.err
	}
	w.row("RENAMENX", w.name, l.name)
	w.flush()
	if w.err != nil || string(w.last.Result) != "0" {
		return false, w.err
	}
	w.row("DEL", w.name)
	w.flush()
	return true, w.err
}

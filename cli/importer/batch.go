package importer

import (
	"fmt"
	"strconv"

	"github.com/trireme-dev/trireme/fsm/rdb"
)

// entry is a row of a batch.
type entry struct {
	name      string
	kind      string // of the value
	functions bool
}

// requestBatch is a request that fills. Its body is a JSON array of commands.
type requestBatch struct {
	number  int64 // in the order of the file
	last    int64 // key of the file that it ends with, counted from 1
	body    []byte
	entries []entry
	large   *large // instead of a body: a value that is sent in parts
}

// open begins the row of an entry.
func (b *requestBatch) open(e entry) {
	if b.body == nil {
		b.body = append(make([]byte, 0, defaultBytes/4), '[')
	}
	if len(b.entries) > 0 {
		b.body = append(b.body, ',')
	}
	b.entries = append(b.entries, e)
}

// words writes a command.
func (b *requestBatch) words(words ...string) { b.body = appendCommand(b.body, words...) }

// appendCommand writes a command as JSON.
func appendCommand(dst []byte, words ...string) []byte {
	dst = append(dst, '[')
	for i, w := range words {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = appendWord(dst, w)
	}
	return append(dst, ']')
}

// appendWord writes a word as a JSON string. Bytes that are no UTF-8 are kept as they are:
// a node takes them so.
func appendWord(dst []byte, w string) []byte {
	const digits = "0123456789abcdef"
	dst = append(dst, '"')
	from := 0
	for i := range len(w) {
		c := w[i]
		if c >= ' ' && c != '"' && c != '\\' {
			continue
		}
		dst = append(dst, w[from:i]...)
		if from = i + 1; c < ' ' {
			dst = append(dst, '\\', 'u', '0', '0', digits[c>>4], digits[c&0xF])
		} else {
			dst = append(dst, '\\', c)
		}
	}
	return append(append(dst, w[from:]...), '"')
}

// kindOf names the type of a value as TYPE does.
func kindOf(t rdb.Type) string {
	switch t {
	case rdb.TypeString:
		return "string"
	case rdb.TypeList, rdb.TypeListZiplist, rdb.TypeListQuicklist, rdb.TypeListQuicklist2:
		return "list"
	case rdb.TypeSet, rdb.TypeSetIntset, rdb.TypeSetListpack:
		return "set"
	case rdb.TypeZSet, rdb.TypeZSet2, rdb.TypeZSetZiplist, rdb.TypeZSetListpack:
		return "zset"
	case rdb.TypeStream, rdb.TypeStream2, rdb.TypeStream3:
		return "stream"
	case rdb.TypeModule2:
		return "module"
	case rdb.TypeHash, rdb.TypeHashZiplist, rdb.TypeHashListpack, rdb.TypeHashTimed, rdb.TypeHashTimedRC, rdb.TypeListpackTimed, rdb.TypeListpackTimedRC:
		return "hash"
	}
	return fmt.Sprintf("type %d", t)
}

// send puts a key into the batch, or sends it in parts.
func (p *pool) send(item *rdb.Item) {
	payload := rdb.Frame(item.Value)
	words := []string{"RESTORE", string(item.Name), strconv.FormatInt(item.Expire, 10), string(payload), "ABSTTL"}
	if p.o.Replace {
		words = append(words, "REPLACE")
	}
	row := appendCommand(p.row[:0], words...)
	p.row = row
	e := entry{name: string(item.Name), kind: kindOf(item.Type)}
	if len(row)+2 > p.o.MaxRequest {
		p.flush()
		p.batch.large = &large{entry: e, expire: item.Expire, value: append([]byte(nil), item.Value...)}
		p.flush()
		return
	}
	if len(p.batch.body)+len(row)+2 > p.o.Bytes {
		p.flush()
	}
	p.batch.open(e)
	p.batch.body = append(p.batch.body, row...)
	p.flushIfFull()
}

func (p *pool) flushIfFull() {
	if len(p.batch.entries) >= p.o.Rows || len(p.batch.body) >= p.o.Bytes {
		p.flush()
	}
}

// flush hands the batch to a worker, and waits until one is free.
func (p *pool) flush() {
	b := p.batch
	if len(b.entries) == 0 && b.large == nil {
		return
	}
	if b.large == nil {
		b.body = append(b.body, ']')
	}
	b.number, b.last = p.batches, p.seen
	p.batches++
	p.batch = &requestBatch{}
	select {
	case p.work <- b:
	case <-p.ctx.Done():
	}
}

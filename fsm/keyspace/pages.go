package keyspace

import (
	"cmp"
	"strings"
	"unsafe"

	"github.com/trireme-dev/trireme/fsm/cow"
	"github.com/trireme-dev/trireme/fsm/env"
	"github.com/trireme-dev/trireme/fsm/wire"
)

// pageSize is the unit that a long string is copied in.
const pageSize = 4096

// flatMax is the length up to which a string is copied whole when a part of it is
// written.
const flatMax = 2 * pageSize

// paged is a long string that is written in places: SETBIT on a bitmap of 512 MiB
// copies a page of it, once for every fork. Pages of zeros take no room.
type paged struct {
	Owned
	length int
	pages  *cow.BTree[int, page]
	writer *pageWriter
}

// page is part of a string; its bytes behind the string's end are zeros.
type page struct {
	bytes  *[pageSize]byte
	writer *pageWriter // which may change bytes in place; nil: none
}

// pageWriter tells the pages of one version of a string from those that it shares. It
// has a size, so that two of them never share an address.
type pageWriter struct{ _ byte }

func (p *paged) Type() Type            { return String }
func (p *paged) Size() int64           { return int64(p.length) }
func (p *paged) Encode(w *wire.Writer) { w.String(p.text()) }

func (p *paged) Clone() Container {
	return &paged{length: p.length, pages: p.pages.Snapshot(), writer: new(pageWriter)}
}

// newPaged cuts text into pages. Whole pages are not copied: text is immutable, so
// the pages must not be changed.
func newPaged(text string) *paged {
	b := cow.NewBuilder[int, page](func(n int) uint64 { return uint64(n) }, cmp.Compare)
	for at := 0; at < len(text); at += pageSize {
		part := text[at:min(at+pageSize, len(text))]
		switch {
		case strings.Trim(part, "\x00") == "":
		case len(part) == pageSize:
			b.Add(at/pageSize, page{bytes: (*[pageSize]byte)(unsafe.Pointer(unsafe.StringData(part)))})
		default:
			last := new([pageSize]byte)
			copy(last[:], part)
			b.Add(at/pageSize, page{bytes: last})
		}
	}
	return &paged{length: len(text), pages: b.Tree(), writer: new(pageWriter)}
}

// write puts part at an offset; the string grows if it must.
func (p *paged) write(offset int, part []byte) {
	p.length = max(p.length, offset+len(part))
	for len(part) > 0 {
		at := offset % pageSize
		n := copy(p.own(offset / pageSize)[at:], part)
		offset, part = offset+n, part[n:]
	}
}

// own is a page that may be changed.
func (p *paged) own(number int) *[pageSize]byte {
	slot, _, had := p.pages.Upsert(number, nil)
	if !had || slot.writer != p.writer {
		fresh := new([pageSize]byte)
		if had {
			*fresh = *slot.bytes
		}
		*slot = page{fresh, p.writer}
	}
	return slot.bytes
}

var zeros = string(make([]byte, pageSize))

// pieces calls f for the bytes between two places, piece by piece, until it returns
// false. A piece is valid until the string is written to.
func (p *paged) pieces(from, to int, f func(s string) bool) {
	for from < to {
		at := from % pageSize
		n := min(pageSize-at, to-from)
		piece := zeros[:n]
		if pg, ok := p.pages.Get(from / pageSize); ok {
			piece = unsafe.String(&pg.bytes[at], n)
		}
		if !f(piece) {
			return
		}
		from += n
	}
}

func (p *paged) part(from, to int) string {
	out := make([]byte, 0, to-from)
	p.pieces(from, to, func(s string) bool {
		out = append(out, s...)
		return true
	})
	return Adopt(out)
}

func (p *paged) text() string { return p.part(0, p.length) }

// Len is the length of a String object in bytes, 0 of nil.
func (o *Object) Len() int {
	switch {
	case o == nil:
		return 0
	case o.form == holding:
		return int(o.Data().Size())
	case o.Cold():
		return o.coldLen()
	}
	return len(o.flat())
}

// InPages reports whether a String object is kept in pages, so that its text is copied when it is read.
func (o *Object) InPages() bool {
	_, ok := o.Data().(*paged)
	return ok
}

// Part are the bytes of a String object from from to to, to excluded. It may be kept.
func (o *Object) Part(from, to int) string {
	if p, ok := o.Data().(*paged); ok {
		return p.part(from, to)
	}
	return o.span(from, to)
}

// Byte is the byte of a String object at a place, 0 behind its end and of nil.
func (o *Object) Byte(at int) byte {
	if at >= o.Len() {
		return 0
	}
	if p, ok := o.Data().(*paged); ok {
		if pg, ok := p.pages.Get(at / pageSize); ok {
			return pg.bytes[at%pageSize]
		}
		return 0
	}
	if s := o.span(at, at+1); s != "" {
		return s[0]
	}
	return 0
}

// Pieces calls f for the bytes of a String object from from to to, to excluded, piece
// by piece in order, until it returns false. A piece holds only until f returns.
func (o *Object) Pieces(from, to int, f func(s string) bool) {
	if from >= to {
		return
	}
	if p, ok := o.Data().(*paged); ok {
		p.pieces(from, to, f)
		return
	}
	f(o.span(from, to))
}

// WriteAt stores the text of o, which may be nil, with part at an offset, and keeps
// its deadline; gaps are zeros. It returns the new length. A long string is copied only
// where it is written.
func (db *DB) WriteAt(e *env.Env, key []byte, o *Object, offset int, part []byte) int {
	length, expire := max(o.Len(), offset+len(part)), Deadline(0)
	if o != nil {
		expire = o.Expire
	}
	if length <= flatMax {
		flat := make([]byte, length)
		if o != nil {
			copy(flat, o.Text())
		}
		copy(flat[offset:], part)
		db.SetText(e, key, Adopt(flat), expire)
		return length
	}
	if o == nil {
		o = &Object{}
	}
	if _, ok := o.Data().(*paged); !ok {
		p := newPaged(o.Text())
		p.epoch = db.epoch
		p.write(offset, part)
		db.PutContainer(e, key, p, expire)
		return length
	}
	before := o.Data().Size()
	db.Mutable(e, key, o).(*paged).write(offset, part)
	db.Changed(e, key, before)
	return length
}

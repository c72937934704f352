package queue

import (
	"encoding/base64"
	"slices"
	"unicode/utf8"

	"github.com/trireme-dev/trireme/fsm/env"
	"github.com/trireme-dev/trireme/fsm/wire"
)

// A batch is one message that delivers many publications. Each of them is a part: it has an id, and until the first attempt the line that
// it adds to the body. Lines are put together once, by the claim of that attempt, so that a publication costs what it brings, however
// many are there. After that a part says only which message has delivered it.

// batchType is the Content-Type of a batch: a JSON object in each line.
const batchType = "application/x-ndjson"

// part is a publication in a batch. A stored one is never modified: a change replaces it.
type part struct {
	salt  uint64 // of its id
	batch uint64 // the number of the message that delivers it
	line  []byte // nil once it is in the message's body, or was taken out
}

// partCost is the logical overhead of a part, in bytes.
const partCost = 120

// addToBatch adds a publication to the batch of its key, or begins one.
func (s *Store) addToBatch(e *env.Env, c *Content) Published {
	key := c.gatherKey()
	id := s.NewID(e)
	line := lineOf(id, e.Now, c)
	seq, found := s.gathered.keys.Get(key)
	if found {
		if n, _ := s.gathered.open.Get(seq); n.bytes+int64(len(line)) > s.batchBytes(c.Gather) {
			s.closeBatch(seq, key, e.Now)
			found = false
		}
	}
	var n gathering
	if found {
		old, _ := s.gathered.open.Get(seq)
		n = *old
		n.keepCommon(c)
	} else {
		seq = s.beginBatch(e, c)
		s.gathered.keys.Set(key, seq)
		n = gathering{first: e.Now, header: ownFields(c.itemHeader()), labels: ownTexts(c.Labels)}
	}
	n.count, n.bytes = n.count+1, n.bytes+int64(len(line))
	s.setGathering(seq, &n)
	s.addPart(id, &part{salt: id.Salt, batch: seq, line: line})
	m, _ := s.messages.Get(seq)
	m = copyOf(m)
	s.recordPart(m, e.Now, Created, id)
	s.store(m)
	if n.count >= c.Gather.Size || n.bytes >= s.batchBytes(c.Gather) {
		s.closeBatch(seq, key, e.Now)
	}
	return Published{ID: id, Batch: m.ID}
}

// beginBatch makes the message of a batch, which has no body yet, and returns its number.
func (s *Store) beginBatch(e *env.Env, c *Content) uint64 {
	whole := *c
	whole.Body, whole.CallerIP, whole.Options = nil, "", c.InTrace(TraceContext{})
	return s.create(e, &whole, nil).Seq
}

// batchBytes is the most bytes of a batch's body.
func (s *Store) batchBytes(g *Gather) int64 {
	if most := s.settings.MaxMessage; most > 0 {
		return min(g.Bytes, most)
	}
	return g.Bytes
}

// closeBatch has a batch take no more: it is due.
func (s *Store) closeBatch(seq uint64, key dedupKey, now int64) {
	s.gathered.keys.Delete(key)
	n, _ := s.gathered.open.Get(seq)
	full := *n
	full.full = true
	s.setGathering(seq, &full)
	if m, _ := s.messages.Get(seq); m.at > now && (m.place == placeDue || m.place == placeBacklog) {
		m = copyOf(m)
		s.places.remove(m)
		s.enter(m, m.place, now, now)
		s.store(m)
	}
}

// keepCommon keeps of a batch's header and labels those that a publication has too.
func (ga *gathering) keepCommon(c *Content) {
	own := c.itemHeader()
	if lacks := func(f Field) bool { return !slices.Contains(own, f) }; slices.ContainsFunc(ga.header, lacks) {
		ga.header = slices.DeleteFunc(slices.Clone(ga.header), lacks)
	}
	if lacks := func(l string) bool { return !slices.Contains(c.Labels, l) }; slices.ContainsFunc(ga.labels, lacks) {
		ga.labels = slices.DeleteFunc(slices.Clone(ga.labels), lacks)
	}
}

// itemHeader is the header of a publication without what concerns its body alone.
func (co *Content) itemHeader() []Field {
	return slices.DeleteFunc(slices.Clone(co.Header), func(f Field) bool {
		return sameName(f.Name, "Content-Type") || sameName(f.Name, "Content-Encoding")
	})
}

// lineOf is the line of a publication in the body of its batch.
func lineOf(id ID, now int64, c *Content) []byte {
	j := object{b: make([]byte, 0, lineSize(c.Header, c.Labels, c.Body))}
	j.open()
	j.text("messageId", id.String())
	j.number("createdAt", now)
	if len(c.Header) > 0 {
		j.header("header", c.Header)
	}
	if len(c.Labels) > 0 {
		j.key("labels")
		j.b = append(j.b, '[')
		for i, l := range c.Labels {
			if i > 0 {
				j.b = append(j.b, ',')
			}
			j.b = quote(j.b, l)
		}
		j.b = append(j.b, ']')
	}
	if utf8.Valid(c.Body) {
		j.text("body", string(c.Body))
	} else {
		j.text("bodyBase64", base64.StdEncoding.EncodeToString(c.Body))
	}
	j.close()
	return append(j.b, '\n')
}

// lineSize is at least the length of a line, and not much more.
func lineSize(header []Field, labels []string, body []byte) int64 {
	n := int64(128)
	for _, f := range header {
		n += int64(quotedSize(f.Name)+quotedSize(f.Value)) + 4
	}
	for _, l := range labels {
		n += int64(quotedSize(l)) + 1
	}
	if utf8.Valid(body) {
		return n + int64(quotedSize(string(body)))
	}
	return n + int64(base64.StdEncoding.EncodedLen(len(body)))
}

// quotedSize is the length of a JSON string.
func quotedSize(s string) int {
	n := 2 + len(s)
	for i := range len(s) {
		switch c := s[i]; {
		case c == '"' || c == '\\', c < ' ' && shortEscapes[c] != 0:
			n++
		case c < ' ':
			n += 5
		case c >= utf8.RuneSelf && !utf8.ValidString(s):
			return 2 + 6*len(s)
		}
	}
	return n
}

func (s *Store) addPart(id ID, p *part) {
	s.gathered.parts.Set(id.Seq, p)
	s.gathered.members.Set(member{p.batch, id.Seq}, struct{}{})
	s.memory.fixed += partCost
	s.memory.live += int64(len(p.line))
}

// takeLines takes the lines of a batch's parts, in their order, and returns those that fit into so many bytes.
func (s *Store) takeLines(batch uint64, bytes int) []byte {
	body := make([]byte, 0, bytes)
	for _, seq := range s.members(s.gathered.members, batch) {
		p, _ := s.gathered.parts.Get(seq)
		if bytes > 0 {
			body = append(body, p.line...)
		}
		s.dropLine(seq, p)
	}
	return body
}

// dropLine has a part say only which message has delivered it.
func (s *Store) dropLine(seq uint64, p *part) {
	s.memory.live -= int64(len(p.line))
	s.gathered.parts.Set(seq, &part{salt: p.salt, batch: p.batch})
}

// dropParts forgets the parts of a batch.
func (s *Store) dropParts(batch uint64) {
	for _, seq := range s.members(s.gathered.members, batch) {
		s.gathered.parts.Delete(seq)
		s.gathered.members.Delete(member{batch, seq})
		s.memory.fixed -= partCost
	}
}

// batchOf is the message that delivers the publication of an id, nil if that is no part of a batch.
func (s *Store) batchOf(id ID) *Message {
	p, ok := s.gathered.parts.Get(id.Seq)
	if !ok || p.salt != id.Salt {
		return nil
	}
	m, _ := s.messages.Get(p.batch)
	return m
}

// whole is the message of an id, or the one that delivers it with others; nil if there is none.
func (s *Store) whole(id ID) *Message {
	if m := s.find(id); m != nil {
		return m
	}
	return s.batchOf(id)
}

// cancelPart takes a publication out of a batch that has not begun, and reports whether it was there. The last one takes the batch along.
func (s *Store) cancelPart(e *env.Env, id ID) bool {
	old := s.batchOf(id)
	if old == nil {
		return false
	}
	n, gathers := s.gathered.open.Get(old.Seq)
	p, _ := s.gathered.parts.Get(id.Seq)
	if !gathers || p.line == nil {
		return false
	}
	m := copyOf(old)
	s.recordPart(m, e.Now, Canceled, id)
	s.store(m)
	less := *n
	less.count, less.bytes = n.count-1, n.bytes-int64(len(p.line))
	s.setGathering(old.Seq, &less)
	s.dropLine(id.Seq, p)
	if less.count == 0 {
		s.cancel(e, old.Seq)
	}
	return true
}

// recordPart appends an event of a part to the message of its batch, which the caller stores afterwards. The state of the message stays.
func (s *Store) recordPart(m *Message, now int64, state State, id ID) {
	is := m.state
	s.record(m, now, Event{State: state, detail: &eventDetail{part: id}})
	m.state = is
}

// loadPart takes in a part that was saved.
func (s *Store) loadPart(r *wire.Reader) error {
	var id ID
	p := &part{}
	r.Get(&id)
	p.salt, p.batch = id.Salt, r.Uvarint()
	if line := r.Bytes(); len(line) > 0 {
		p.line = slices.Clone(line)
	}
	if err := r.Done(); err != nil {
		return err
	}
	if _, found := s.messages.Get(p.batch); !found {
		return errRecord
	}
	s.addPart(id, p)
	return nil
}

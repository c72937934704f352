package reply

import "strconv"

// Stream encodes v like AppendRESP2, or AppendRESP3 if resp3, but in parts: whenever b has
// at least size bytes it is passed to flush, which returns the buffer to continue with. A
// reply of any size is encoded in little more than size bytes.
func Stream(b []byte, v Value, resp3 bool, size int, flush func([]byte) []byte) []byte {
	s := stream{resp3: resp3, size: size, flush: flush}
	return s.value(b, v)
}

type stream struct {
	resp3 bool
	size  int
	flush func([]byte) []byte
}

func (s *stream) value(b []byte, v Value) []byte {
	if v.kind == KindForms {
		if s.resp3 {
			return s.value(b, v.RESP3())
		}
		return s.value(b, v.RESP2())
	}
	switch {
	case len(v.elems) > 0:
		return s.aggregate(b, v)
	case len(v.text) >= s.size && (v.kind == KindBulk || v.kind == KindVerbatim):
		return s.long(b, v)
	case s.resp3:
		b = AppendRESP3(b, v)
	default:
		b = AppendRESP2(b, v)
	}
	if len(b) >= s.size {
		b = s.flush(b)
	}
	return b
}

// long encodes a long text in parts.
func (s *stream) long(b []byte, v Value) []byte {
	if s.resp3 && v.kind == KindVerbatim {
		b = append(appendCount(b, '=', len(v.text)+len("txt:")), "txt:"...)
	} else {
		b = appendCount(b, '$', len(v.text))
	}
	for text := v.text; text != ""; {
		n := min(len(text), s.size)
		b = append(b, text[:n]...)
		if text = text[n:]; len(b) >= s.size {
			b = s.flush(b)
		}
	}
	return append(b, '\r', '\n')
}

// heads are the marks of aggregates in RESP3.
var heads = map[Kind]byte{KindArray: '*', KindMap: '%', KindKeyed: '%', KindSet: '~', KindPush: '>', KindPairs: '*'}

func (s *stream) aggregate(b []byte, v Value) []byte {
	n, pairs := len(v.elems), 0
	switch {
	case !s.resp3 && v.kind == KindKeyed, s.resp3 && v.kind == KindPairs:
		n, pairs = n/2, 2
	case s.resp3 && (v.kind == KindMap || v.kind == KindKeyed):
		n /= 2
	}
	mark := byte('*')
	if s.resp3 {
		mark = heads[v.kind]
	}
	b = append(strconv.AppendInt(append(b, mark), int64(n), 10), '\r', '\n')
	for i, e := range v.elems {
		if pairs > 0 && i%pairs == 0 {
			b = appendCount(b, '*', pairs)
		}
		b = s.value(b, e)
	}
	return b
}

// valueSize is the memory of a Value without its texts and elements, in bytes.
const valueSize = 56

// Size returns the memory that values take in bytes, texts included, or limit if that is
// less. It stops counting there, so its cost is bounded by the limit and not by the values.
func Size(values []Value, limit int) int {
	size := 0
	for i := range values {
		v := &values[i]
		if size += valueSize + len(v.text); size < limit && len(v.elems) > 0 {
			size += Size(v.elems, limit-size)
		}
		if size >= limit {
			return limit
		}
	}
	return size
}

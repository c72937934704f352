package jsondoc

import (
	"errors"
	"strconv"
)

// ErrTooLong says that a text or a document would be longer than is allowed.
var ErrTooLong = errors.New("document exceeds the maximum allowed size")

// MaxText is the greatest length of a text in bytes, and the greatest logical size of a
// document: that of a string in Redis.
const MaxText = 512 << 20

// Format is the layout of a text. The zero Format has no blanks.
type Format struct {
	Indent  string // before an element, once for each level
	Newline string // before an element and before the end of a container
	Space   string // behind the colon of a member
}

// Text is v as JSON text.
func Text(v Value) (string, error) { return Format{}.Text(v) }

// Text is v as JSON text in this layout. ErrTooLong says that it has more than MaxText
// bytes.
func (f Format) Text(v Value) (string, error) {
	w := writer{format: f, limit: MaxText}
	return w.text(v)
}

// writer makes a text. It stops to write once there is more than its limit.
type writer struct {
	b      []byte
	format Format
	limit  int
	level  int
}

func (w *writer) text(v Value) (string, error) {
	w.value(v)
	if len(w.b) > w.limit {
		return "", ErrTooLong
	}
	return string(w.b), nil
}

func (w *writer) value(v Value) {
	switch v := v.(type) {
	case Null:
		w.b = append(w.b, "null"...)
	case Bool:
		w.b = strconv.AppendBool(w.b, bool(v))
	case Int:
		w.b = strconv.AppendInt(w.b, int64(v), 10)
	case Uint:
		w.b = strconv.AppendUint(w.b, uint64(v), 10)
	case Double:
		w.b = appendDouble(w.b, float64(v))
	case String:
		w.b = AppendString(w.b, string(v))
	case *Array:
		w.array(v)
	case *Object:
		w.object(v)
	}
}

func (w *writer) array(a *Array) {
	w.b = append(w.b, '[')
	w.level++
	a.All(func(i int, v Value) bool {
		w.separate(i > 0)
		w.value(v)
		return len(w.b) <= w.limit
	})
	w.end(a.Len() > 0, ']')
}

func (w *writer) object(o *Object) {
	w.b = append(w.b, '{')
	w.level++
	more := false
	o.All(func(key string, v Value) bool {
		w.separate(more)
		more = true
		w.b = append(AppendString(w.b, key), ':')
		w.b = append(w.b, w.format.Space...)
		w.value(v)
		return len(w.b) <= w.limit
	})
	w.end(more, '}')
}

// separate writes what stands before an element.
func (w *writer) separate(comma bool) {
	if comma {
		w.b = append(w.b, ',')
	}
	w.line()
}

// end closes a container.
func (w *writer) end(any bool, with byte) {
	w.level--
	if any {
		w.line()
	}
	w.b = append(w.b, with)
}

func (w *writer) line() {
	if len(w.b) > w.limit {
		return
	}
	w.b = append(w.b, w.format.Newline...)
	for i := 0; i < w.level && len(w.b) <= w.limit; i++ {
		w.b = append(w.b, w.format.Indent...)
	}
}

// escapes are the letters behind a backslash for the control characters that have one.
var escapes = [' ']byte{'\b': 'b', '\t': 't', '\n': 'n', '\f': 'f', '\r': 'r'}

// AppendString writes s, which is valid UTF-8, in quotes. Only what JSON forbids is
// escaped.
func AppendString(dst []byte, s string) []byte {
	const hex = "0123456789abcdef"
	dst = append(dst, '"')
	start := 0
	for i := range len(s) {
		c := s[i]
		if c >= ' ' && c != '"' && c != '\\' {
			continue
		}
		dst = append(dst, s[start:i]...)
		start = i + 1
		switch {
		case c >= ' ':
			dst = append(dst, '\\', c)
		case escapes[c] != 0:
			dst = append(dst, '\\', escapes[c])
		default:
			dst = append(dst, '\\', 'u', '0', '0', hex[c>>4], hex[c&15])
		}
	}
	return append(append(dst, s[start:]...), '"')
}

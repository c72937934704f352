package messages

import (
	"bytes"
	"encoding/json"
	"strings"
	"unicode/utf8"
)

// item is one message of a batch.
type item struct {
	Destination string               `json:"destination"`
	Headers     map[string]oneOrMore `json:"headers"`
	Body        *looseText           `json:"body"`
	Queue       *string              `json:"queue"`
}

// looseText is a text, or any other JSON value as it is written: a client sends the body of a call as an object.
type looseText string

// UnmarshalJSON reads either form.
func (t *looseText) UnmarshalJSON(b []byte) error {
	if len(b) > 0 && b[0] == '"' {
		if text, ok := plainString(b); ok {
			*t = looseText(text)
			return nil
		}
		return json.Unmarshal(b, (*string)(t))
	}
	*t = looseText(b)
	return nil
}

// oneOrMore is a text or a list of texts.
type oneOrMore []string

// UnmarshalJSON reads either form.
func (om *oneOrMore) UnmarshalJSON(b []byte) error {
	if text, ok := plainString(b); ok { // as nearly all are: a decoder for each header would be a third of reading a batch
		*om = oneOrMore{text}
		return nil
	}
	var one string
	if err := json.Unmarshal(b, &one); err == nil {
		*om = oneOrMore{one}
		return nil
	}
	return json.Unmarshal(b, (*[]string)(om))
}

// plainString reads a JSON string, which its caller has found well-formed. ok is false for texts that need more work:
// escapes by number, and bytes that are not UTF-8.
func plainString(b []byte) (text string, ok bool) {
	if len(b) < 2 || b[0] != '"' || b[len(b)-1] != '"' || !utf8.Valid(b) {
		return "", false
	}
	b = b[1 : len(b)-1]
	at := bytes.IndexByte(b, '\\')
	if at < 0 {
		return string(b), true
	}
	var out strings.Builder
	out.Grow(len(b))
	for ; at >= 0; at = bytes.IndexByte(b, '\\') {
		if at+1 == len(b) || unescaped[b[at+1]] == 0 {
			return "", false
		}
		out.Write(b[:at])
		out.WriteByte(unescaped[b[at+1]])
		b = b[at+2:]
	}
	out.Write(b)
	return out.String(), true
}

// unescaped maps a letter after a backslash to the character that it stands for.
var unescaped = [256]byte{'"': '"', '\\': '\\', '/': '/', 'b': '\b', 'f': '\f', 'n': '\n', 'r': '\r', 't': '\t'}

// readItems reads a batch in the form that SDKs write, in one pass and without a copy of each text: known fields, strings
// for values, no escapes by number, no null. ok is false for any other form, which encoding/json reads; it may not be
// JSON at all. Reading batches was a tenth of the processor time of a workflow on the leader.
func readItems(body []byte) (items []item, ok bool) {
	if !utf8.Valid(body) {
		return nil, false
	}
	r := itemReader{text: string(body)}
	if !r.take('[') {
		return nil, false
	}
	items = []item{}
	if !r.take(']') {
		for {
			var m item
			if !r.item(&m) {
				return nil, false
			}
			items = append(items, m)
			if r.take(']') {
				break
			}
			if !r.take(',') {
				return nil, false
			}
		}
	}
	r.blanks()
	return items, r.at == len(r.text)
}

// itemReader reads JSON in text from at.
type itemReader struct {
	text string
	at   int
}

func (r *itemReader) blanks() {
	for r.at < len(r.text) {
		switch r.text[r.at] {
		case ' ', '\t', '\r', '\n':
			r.at++
		default:
			return
		}
	}
}

// take reports whether c comes next, after blanks, and moves past it.
func (r *itemReader) take(c byte) bool {
	r.blanks()
	if r.at == len(r.text) || r.text[r.at] != c {
		return false
	}
	r.at++
	return true
}

// members reads an object, and calls value with each name to read the value after it.
func (r *itemReader) members(value func(name string) bool) bool {
	if !r.take('{') {
		return false
	}
	if r.take('}') {
		return true
	}
	for {
		name, ok := r.string()
		if !ok || !r.take(':') || !value(name) {
			return false
		}
		if r.take('}') {
			return true
		}
		if !r.take(',') {
			return false
		}
	}
}

func (r *itemReader) item(m *item) bool {
	return r.members(func(name string) (ok bool) {
		switch name {
		case "destination":
			m.Destination, ok = r.string()
		case "queue":
			var queue string
			queue, ok = r.string()
			m.Queue = &queue
		case "body":
			var text string
			text, ok = r.string()
			m.Body = (*looseText)(&text)
		case "headers":
			if m.Headers == nil {
				m.Headers = map[string]oneOrMore{}
			}
			ok = r.members(func(name string) (ok bool) {
				m.Headers[name], ok = r.values()
				return ok
			})
		}
		return ok
	})
}

// values reads a string or a list of strings.
func (r *itemReader) values() (list oneOrMore, ok bool) {
	if !r.take('[') {
		one, ok := r.string()
		return oneOrMore{one}, ok
	}
	list = oneOrMore{}
	if r.take(']') {
		return list, true
	}
	for {
		one, ok := r.string()
		if !ok {
			return nil, false
		}
		list = append(list, one)
		if r.take(']') {
			return list, true
		}
		if !r.take(',') {
			return nil, false
		}
	}
}

// string reads a string, which shares the memory of the whole unless it has escapes.
func (r *itemReader) string() (string, bool) {
	if !r.take('"') {
		return "", false
	}
	var out []byte
	from := r.at
	for ; r.at < len(r.text); r.at++ {
		switch c := r.text[r.at]; {
		case c == '"':
			r.at++
			if out == nil {
				return r.text[from : r.at-1], true
			}
			return string(append(out, r.text[from:r.at-1]...)), true
		case c < ' ':
			return "", false
		case c == '\\':
			if r.at+1 == len(r.text) || unescaped[r.text[r.at+1]] == 0 {
				return "", false
			}
			if out == nil {
				out = make([]byte, 0, r.at-from+64)
			}
			out = append(append(out, r.text[from:r.at]...), unescaped[r.text[r.at+1]])
			r.at++
			from = r.at + 1
		}
	}
	return "", false
}

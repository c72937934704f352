package queue

import (
	"strings"
	"unsafe"

	"trireme/fsm/wire"
)

// Field is one line of a header. Repeated names keep all their values, in order.
type Field struct{ Name, Value string }

// Value is the first value of a name in a header, in any case of letters.
func Value(header []Field, name string) string {
	for _, f := range header {
		if strings.EqualFold(f.Name, name) {
			return f.Value
		}
	}
	return ""
}

func encodeHeader(w *wire.Writer, header []Field) {
	w.Uvarint(uint64(len(header)))
	for _, f := range header {
		w.String(f.Name)
		w.String(f.Value)
	}
}

func decodeHeader(r *wire.Reader) []Field {
	n := r.Count(2)
	if n == 0 {
		return nil
	}
	header := make([]Field, n)
	for i := range header {
		header[i] = Field{text(r), text(r)}
	}
	return header
}

func headerSize(header []Field) (n int64) {
	for _, f := range header {
		n += int64(len(f.Name) + len(f.Value) + 32)
	}
	return n
}

// text reads a string that aliases the reader's input. Records of this package are decoded from bytes that are never
// written again: entries of the log, and the data of messages.
func text(r *wire.Reader) string {
	b := r.Bytes()
	return unsafe.String(unsafe.SliceData(b), len(b))
}

func encodeTexts(w *wire.Writer, list []string) {
	w.Uvarint(uint64(len(list)))
	for _, s := range list {
		w.String(s)
	}
}

func decodeTexts(r *wire.Reader) []string {
	n := r.Count(1)
	if n == 0 {
		return nil
	}
	list := make([]string, n)
	for i := range list {
		list[i] = text(r)
	}
	return list
}

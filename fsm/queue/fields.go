package queue

import (
	"strings"

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
		header[i] = Field{r.Alias(), r.Alias()}
	}
	return header
}

func headerSize(header []Field) (n int64) {
	for _, f := range header {
		n += int64(len(f.Name) + len(f.Value) + 32)
	}
	return n
}
